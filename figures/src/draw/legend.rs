//! The legend above the panels, and the markers of points, intervals and saturation.

use super::canvas::{Anchor, Area, Canvas, Pen, Place};
use super::palette::RGBColor;
use super::palette::mixed;

/// What stands before the text of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sample {
    /// A curve in its dashes, points, or both.
    Styled { style: usize, dash: Option<(usize, Weight)>, marker: Option<(usize, usize)> },
    /// A curve of any series, in these dashes.
    Curve(usize, Weight),
    /// Curves of a model, or without them points with their interval, and their mark of saturation.
    Origin { curve: Option<(usize, Weight)>, saturation: Option<Filling> },
    /// A mark of saturation.
    Saturation,
    /// A number that a paper prints.
    Printed,
    /// A hollow marker of this shape that belongs to no series.
    Mark(usize),
    /// A curve and a point as they go on in saturation.
    Faded,
    /// What lies beyond the frame.
    Beyond,
    /// A filled rectangle.
    Swatch { colour: RGBColor, surface: Surface },
    /// A cell without a number.
    EmptyCell,
    /// A bar without end.
    Endless,
    /// Nothing: text only.
    None,
}

/// An entry of a legend.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) sample: Sample,
    pub(crate) text: String,
}

impl Entry {
    pub(crate) fn new(sample: Sample, text: impl Into<String>) -> Self {
        Self { sample, text: text.into() }
    }
}

/// Draws entries from left to right in as many rows as needed; the height where they end.
pub(crate) fn draw(canvas: &mut Canvas, entries: &[Entry], top: f64) -> f64 {
    let most = canvas.width - 2.0 * canvas.margin;
    let face = canvas.small;
    let row = face.line_height() * 1.08;
    let (mut x, mut y, mut rows) = (canvas.margin, top, 0);
    for entry in entries {
        let sample = sample_width(canvas, entry.sample);
        let lines = face.wrap(&entry.text, most - sample, 3);
        let text = lines.iter().map(|line| face.width(line)).fold(0.0, f64::max);
        if x > canvas.margin && x + sample + text > canvas.margin + most {
            (x, y, rows) = (canvas.margin, y + row * rows as f64, 0);
        }
        draw_sample(canvas, entry.sample, (x, y + row / 2.0), sample - 0.4 * face.size);
        for (number, line) in lines.iter().enumerate() {
            let place = (x + sample, y + row * (number as f64 + 0.5));
            canvas.text(line, place, Anchor::Start, face, canvas.palette.text);
        }
        rows = rows.max(lines.len().max(1));
        x += sample + text + 1.3 * face.size;
    }
    y + row * rows as f64
}

/// What a mark of saturation takes beside a sample \[em\].
const MARK_EMS: f64 = 1.2;

/// Width of a sample with the space after it.
fn sample_width(canvas: &Canvas, sample: Sample) -> f64 {
    let ems = match sample {
        Sample::Styled { dash: Some(_), .. } | Sample::Curve(..) | Sample::Faded => 3.0,
        Sample::Origin { curve, saturation } => {
            let marks = if saturation.is_some() { MARK_EMS } else { 0.0 };
            marks + if curve.is_some() { 3.0 } else { 1.3 }
        }
        Sample::Swatch { .. } | Sample::EmptyCell => 1.9,
        Sample::None => 0.0,
        _ => 1.3,
    };
    ems * canvas.small.size
}

fn draw_sample(canvas: &mut Canvas, sample: Sample, from: Place, width: f64) {
    let (middle, half) = ((from.0 + width / 2.0, from.1), canvas.small.size * 0.45);
    let (muted, text) = (canvas.palette.muted, canvas.palette.text);
    match sample {
        Sample::Curve(dash, weight) => {
            let pen = Pen { colour: muted, width: weight.width(canvas) };
            dashed(canvas, &[from, (from.0 + width, from.1)], dash, pen);
        }
        Sample::Styled { style, dash, marker: points } => {
            let colour = canvas.palette.series(style);
            if let Some((dash, weight)) = dash {
                let pen = Pen { colour, width: weight.width(canvas) };
                dashed(canvas, &[from, (from.0 + width, from.1)], dash, pen);
            }
            if let Some((style, variant)) = points {
                marker(canvas, middle, style, variant, colour);
            }
        }
        Sample::Origin { curve, saturation: mark } => {
            let width = width - mark.map_or(0.0, |_| MARK_EMS * canvas.small.size);
            let middle = (from.0 + width / 2.0, from.1);
            if let Some((dash, weight)) = curve {
                let pen = Pen { colour: muted, width: weight.width(canvas) };
                dashed(canvas, &[from, (from.0 + width, from.1)], dash, pen);
            } else {
                interval(canvas, middle.0, (middle.1 - 1.3 * half, middle.1 + 1.3 * half), muted);
                marker(canvas, middle, 0, 0, muted);
            }
            if let Some(filling) = mark {
                saturation(canvas, (from.0 + width + 1.8 * half, middle.1 + half), filling, muted);
            }
        }
        Sample::Printed => cross(canvas, middle, muted),
        Sample::Mark(shape) => marker(canvas, middle, shape, 1, text),
        Sample::Saturation => saturation(canvas, (middle.0, middle.1 + half), Filling::Full, muted),
        Sample::Faded => {
            let colour = canvas.palette.faded(text, FADED);
            let pen = Pen { colour, width: canvas.palette.thin };
            canvas.line(from, (from.0 + width, from.1), pen);
            marker(canvas, middle, 0, 0, colour);
        }
        Sample::Beyond => beyond(canvas, (middle.0, middle.1 - half), true, muted),
        Sample::Swatch { .. } | Sample::EmptyCell => {
            let area =
                Area { left: from.0, right: from.0 + width, top: from.1 - half, bottom: from.1 + half };
            if let Sample::Swatch { colour, surface } = sample {
                swatch(canvas, area, colour, surface);
            } else {
                canvas.frame(area, canvas.thin(muted));
            }
        }
        Sample::Endless => arrow(canvas, (middle.0, middle.1 - half), text),
        Sample::None => {}
    }
}

/// How much of the background is in the colour of what is not steady.
pub(crate) const FADED: f64 = 0.62;

/// How a rectangle is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    /// Its colour.
    Solid,
    /// A shade of it, with an outline.
    Pale,
    /// A shade of it, with lines and an outline.
    Hatched,
}

/// A filled rectangle.
pub(crate) fn swatch(canvas: &mut Canvas, area: Area, colour: RGBColor, surface: Surface) {
    if surface == Surface::Solid {
        canvas.fill(area, colour);
        return;
    }
    canvas.fill(area, canvas.palette.faded(colour, 0.72));
    if surface == Surface::Hatched {
        canvas.hatch(area, 5.0, Pen { colour, width: 1.0 });
    }
    canvas.frame(area, Pen { colour, width: 0.9 });
}

/// An arrow head pointing up, its tip at `tip`.
pub(crate) fn arrow(canvas: &mut Canvas, tip: Place, colour: RGBColor) {
    let half = canvas.small.size * 0.36;
    canvas.polygon(&[tip, (tip.0 + half, tip.1 + 1.7 * half), (tip.0 - half, tip.1 + 1.7 * half)], colour);
}

/// How heavy a curve is: alone, or as the one or the other of two models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// The only model.
    Alone,
    /// The lighter of two.
    Light,
    /// The heavier.
    Heavy,
}

impl Weight {
    /// Of a curve \[px\]; light and heavy differ by more than a factor of two, which is seen without colours.
    pub(crate) fn width(self, canvas: &Canvas) -> f64 {
        match self {
            Self::Alone => canvas.palette.line,
            Self::Light => 0.6 * canvas.palette.line,
            Self::Heavy => 1.3 * canvas.palette.line,
        }
    }
}

/// What is inside a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filling {
    /// Its colour.
    Full,
    /// A shade of it.
    Pale,
    /// Nothing.
    Hollow,
}

/// Where saturation starts: a triangle that points down to the frame, its tip at `tip`.
pub(crate) fn saturation(canvas: &mut Canvas, tip: Place, filling: Filling, colour: RGBColor) {
    let half = canvas.small.size * 0.38;
    let corners = [tip, (tip.0 + half, tip.1 - 1.8 * half), (tip.0 - half, tip.1 - 1.8 * half)];
    match filling {
        Filling::Full => canvas.polygon(&corners, colour),
        Filling::Pale => canvas.polygon(&corners, canvas.palette.faded(colour, FADED)),
        Filling::Hollow => {}
    }
    canvas.ring(&corners, Pen { colour, width: 1.1 });
}

/// A chevron at the edge of the frame: the point lies beyond it.
pub(crate) fn beyond(canvas: &mut Canvas, tip: Place, upwards: bool, colour: RGBColor) {
    let (half, down) = (canvas.small.size * 0.34, if upwards { 1.0 } else { -1.0 });
    let wing = tip.1 + down * 1.1 * half;
    canvas.path(&[(tip.0 - half, wing), tip, (tip.0 + half, wing)], Pen { colour, width: 1.3 });
}

/// An interval from one height to another.
pub(crate) fn interval(canvas: &mut Canvas, x: f64, (low, high): (f64, f64), colour: RGBColor) {
    let (pen, cap) = (Pen { colour, width: canvas.palette.thin.max(0.9) }, canvas.small.size * 0.22);
    canvas.line((x, low), (x, high), pen);
    canvas.line((x - cap, low), (x + cap, low), pen);
    canvas.line((x - cap, high), (x + cap, high), pen);
}

/// The mark of a style: shape by style, filling by variant.
pub(crate) fn marker(canvas: &mut Canvas, at: Place, style: usize, variant: usize, colour: RGBColor) {
    marker_of_size(canvas, at, style, variant, colour, 0.26);
}

/// The mark of a number that a paper prints.
pub(crate) fn cross(canvas: &mut Canvas, (x, y): Place, colour: RGBColor) {
    let (r, pen) = (canvas.small.size * 0.3, Pen { colour, width: 1.6 });
    canvas.line((x - r, y - r), (x + r, y + r), pen);
    canvas.line((x - r, y + r), (x + r, y - r), pen);
}

/// The same, smaller.
pub(crate) fn small_marker(canvas: &mut Canvas, at: Place, style: usize, variant: usize, colour: RGBColor) {
    marker_of_size(canvas, at, style, variant, colour, 0.14);
}

fn marker_of_size(canvas: &mut Canvas, at: Place, style: usize, variant: usize, colour: RGBColor, size: f64) {
    let radius = canvas.small.size * size;
    let palette = canvas.palette;
    let filling = match variant % 3 {
        0 => colour,
        1 => palette.background,
        _ => mixed(colour, palette.background, 0.55),
    };
    let pen = Pen { colour, width: 1.1 };
    if style.is_multiple_of(SHAPES) {
        canvas.disc(at, radius, filling);
        canvas.circle(at, radius, pen);
    } else {
        let corners = corners(style % SHAPES, at, radius);
        canvas.polygon(&corners, filling);
        canvas.ring(&corners, pen);
    }
}

/// Shapes of markers; one more than colours, so that the two together repeat late.
const SHAPES: usize = 6;

fn corners(shape: usize, (x, y): Place, r: f64) -> Vec<Place> {
    let regular = |count: usize, from: f64, radius: f64| -> Vec<Place> {
        let angle = |corner: usize| from + std::f64::consts::TAU * corner as f64 / count as f64;
        (0..count).map(|i| (x + radius * angle(i).sin(), y - radius * angle(i).cos())).collect()
    };
    match shape {
        1 => regular(4, std::f64::consts::FRAC_PI_4, 1.25 * r), // square
        2 => regular(3, 0.0, 1.4 * r),                          // triangle
        3 => regular(4, 0.0, 1.4 * r),                          // diamond
        4 => regular(3, std::f64::consts::PI, 1.4 * r),         // triangle upside down
        _ => regular(6, 0.0, 1.2 * r),                          // hexagon
    }
}

/// Dashes and gaps by variant \[px\]; none for an unbroken line.
fn pattern(variant: usize) -> &'static [f64] {
    const PATTERNS: [&[f64]; 5] =
        [&[], &[6.0, 3.0], &[1.6, 2.6], &[8.0, 2.5, 1.6, 2.5], &[12.0, 3.0, 3.0, 3.0]];
    PATTERNS[variant % PATTERNS.len()]
}

/// A path in the dashes of a variant.
pub(crate) fn dashed(canvas: &mut Canvas, places: &[Place], variant: usize, pen: Pen) {
    let pattern = pattern(variant);
    if pattern.is_empty() {
        canvas.path(places, pen);
        return;
    }
    let (mut piece, mut left) = (0_usize, pattern[0]);
    let mut dash: Vec<Place> = places.first().copied().into_iter().collect();
    for pair in places.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            if length <= left {
                left -= length;
                dash.push(to);
                break;
            }
            let share = left / length;
            from = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            dash.push(from);
            if piece.is_multiple_of(2) {
                canvas.path(&dash, pen);
            }
            dash = vec![from];
            piece = (piece + 1) % pattern.len();
            left = pattern[piece];
        }
    }
    if piece.is_multiple_of(2) {
        canvas.path(&dash, pen);
    }
}
