//! A canvas with fractions of pixels. The SVG backend of plotters below it has whole units only.

use std::convert::Infallible;

use plotters_backend::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, FontFamily, FontStyle,
    FontTransform,
};
use plotters_svg::SVGBackend;

use super::Style;
use super::font::{self, FAMILY, Face};
use super::palette::{Palette, RGBColor};

/// Units of the backend in a pixel.
const UNITS: f64 = 10.0;
/// Nothing is drawn further off than this \[px\].
const FARTHEST: f64 = 20_000.0;

/// A place on the canvas, from the upper left \[px\].
pub(crate) type Place = (f64, f64);

/// A rectangle \[px\].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Area {
    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(crate) fn centre(&self) -> Place {
        ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0)
    }

    pub(crate) fn shrunk(&self, by: f64) -> Self {
        Self { left: self.left + by, top: self.top + by, right: self.right - by, bottom: self.bottom - by }
    }

    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// The part of a straight line that lies inside (Liang and Barsky 1984).
    pub(crate) fn clip(&self, from: Place, to: Place) -> Option<(Place, Place)> {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        let sides = [
            (-dx, from.0 - self.left),
            (dx, self.right - from.0),
            (-dy, from.1 - self.top),
            (dy, self.bottom - from.1),
        ];
        for (direction, room) in sides {
            if direction == 0.0 {
                if room < 0.0 {
                    return None;
                }
            } else if direction < 0.0 {
                enter = enter.max(room / direction);
            } else {
                leave = leave.min(room / direction);
            }
        }
        let at = |share: f64| (from.0 + share * dx, from.1 + share * dy);
        // not `enter > leave`: false for NaN too
        (enter <= leave).then(|| (at(enter), at(leave)))
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pen {
    pub(crate) colour: RGBColor,
    /// \[px\]
    pub(crate) width: f64,
}

/// Which point of the text stands at its place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Where everything is drawn.
pub(crate) struct Canvas<'a> {
    backend: SVGBackend<'a>,
    /// How wide each text is to be set, in units of the backend, in the order of writing.
    lengths: Vec<u32>,
    pub(crate) palette: Palette,
    /// \[px\]
    pub(crate) width: f64,
    /// Face of labels and legends.
    pub(crate) text: Face,
    /// Face of ticks and numbers.
    pub(crate) small: Face,
    /// Free space at the border \[px\].
    pub(crate) margin: f64,
}

impl<'a> Canvas<'a> {
    pub(crate) fn new(buffer: &'a mut String, style: &Style) -> Self {
        let width = f64::from(style.width);
        // at one column of a paper (84 mm, 317 px) the default width is set in 6.5 points
        let size = (width / 36.0).clamp(10.5, 14.0);
        Self {
            backend: SVGBackend::with_string(buffer, (10, 10)),
            lengths: Vec::new(),
            palette: Palette::of(style.theme),
            width,
            text: Face { size, bold: false },
            small: Face { size: size * 0.88, bold: false },
            margin: size * 0.75,
        }
    }

    /// Ends the drawing; how wide each text is to be set.
    pub(crate) fn finish(mut self) -> Vec<u32> {
        // writing into a string cannot fail, here and below
        let _ = self.backend.present();
        self.lengths
    }

    pub(crate) fn thin(&self, colour: RGBColor) -> Pen {
        Pen { colour, width: self.palette.thin }
    }

    pub(crate) fn line(&mut self, from: Place, to: Place, pen: Pen) {
        let _ = self.backend.draw_line(units(from), units(to), &outline(pen));
    }

    pub(crate) fn path(&mut self, places: &[Place], pen: Pen) {
        if places.len() > 1 {
            let _ = self.backend.draw_path(places.iter().map(|place| units(*place)), &outline(pen));
        }
    }

    /// A closed outline.
    pub(crate) fn ring(&mut self, places: &[Place], pen: Pen) {
        let closed: Vec<Place> = places.iter().chain(places.first()).copied().collect();
        self.path(&closed, pen);
    }

    pub(crate) fn polygon(&mut self, places: &[Place], colour: RGBColor) {
        if places.len() > 2 {
            let _ = self.backend.fill_polygon(places.iter().map(|place| units(*place)), &colour);
        }
    }

    pub(crate) fn fill(&mut self, area: Area, colour: RGBColor) {
        let (from, to) = (units((area.left, area.top)), units((area.right, area.bottom)));
        if to.0 > from.0 && to.1 > from.1 {
            let _ = self.backend.draw_rect(from, to, &colour, true);
        }
    }

    pub(crate) fn frame(&mut self, area: Area, pen: Pen) {
        let Area { left, top, right, bottom } = area;
        self.ring(&[(left, top), (right, top), (right, bottom), (left, bottom)], pen);
    }

    pub(crate) fn disc(&mut self, centre: Place, radius: f64, colour: RGBColor) {
        let _ = self.backend.draw_circle(units(centre), whole(radius), &colour, true);
    }

    pub(crate) fn circle(&mut self, centre: Place, radius: f64, pen: Pen) {
        let _ = self.backend.draw_circle(units(centre), whole(radius), &outline(pen), false);
    }

    /// Diagonal lines over an area, `step` apart \[px\].
    pub(crate) fn hatch(&mut self, area: Area, step: f64, pen: Pen) {
        if area.width() <= 0.0 || area.height() <= 0.0 {
            return;
        }
        // on the grid of the whole canvas: hatches of neighbours go on into each other
        let first = ((area.left + area.top) / step).ceil() as i64;
        let last = ((area.right + area.bottom) / step).floor() as i64;
        for number in first..=last {
            let sum = number as f64 * step;
            let (from, to) = ((sum - area.top, area.top), (sum - area.bottom, area.bottom));
            if let Some((from, to)) = area.clip(from, to) {
                self.line(from, to, pen);
            }
        }
    }

    /// One line of text, its middle at the height of `place`.
    pub(crate) fn text(&mut self, text: &str, place: Place, anchor: Anchor, face: Face, colour: RGBColor) {
        self.write(text, place, anchor, face, colour, FontTransform::None);
    }

    /// One line of text, read from the bottom up.
    pub(crate) fn upright_text(&mut self, text: &str, place: Place, face: Face, colour: RGBColor) {
        self.write(text, place, Anchor::Middle, face, colour, FontTransform::Rotate270);
    }

    fn write(
        &mut self,
        text: &str,
        place: Place,
        anchor: Anchor,
        face: Face,
        colour: RGBColor,
        turn: FontTransform,
    ) {
        let horizontal = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        // the backend centres small letters; half of what capitals rise above them puts digits in the middle
        let lower = 0.09 * face.size;
        let place = match turn {
            FontTransform::None => (place.0, place.1 + lower),
            _ => (place.0 + lower, place.1),
        };
        // the backend divides by 1.24 to get the size of an em; to tenths, so that no digits trail
        let size = (face.size * UNITS).round() * 1.24;
        let style = TextStyle { colour, size, turn, style: face.style(), horizontal };
        let _ = self.backend.draw_text(&font::clean(text), &style, units(place));
        self.lengths.push((face.bundled_width(text) * UNITS).round().clamp(0.0, FARTHEST * UNITS) as u32);
    }
}

/// What stands around the drawing: its size, known only once all is drawn, and what it is in words.
pub(crate) struct Header<'a> {
    /// \[px\]
    pub(crate) height: f64,
    pub(crate) title: &'a str,
    /// For who cannot see it; may be empty.
    pub(crate) description: &'a str,
    /// As [`Canvas::finish`] gives it.
    pub(crate) lengths: &'a [u32],
}

/// The drawing with tag `<svg>`, title, description and background.
pub(crate) fn with_header(drawn: &str, style: &Style, header: &Header) -> String {
    let body = drawn.split_once('\n').map_or("", |(_, body)| body);
    // sums of heights round: no pixel more for that
    let (width, height) = (style.width, (header.height - 1e-6).clamp(1.0, FARTHEST).ceil() as u32);
    let RGBColor(red, green, blue) = Palette::of(style.theme).background;
    let mut svg = format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {} {}\" xmlns=\"http://www.w3.org/2000/svg\" \
         role=\"img\" stroke-linejoin=\"round\">\n",
        width * UNITS as u32,
        height * UNITS as u32
    );
    svg += &format!("<title>{}</title>\n", escaped(&font::clean(header.title)));
    if !header.description.is_empty() {
        svg += &format!("<desc>{}</desc>\n", escaped(&font::clean(header.description)));
    }
    svg += &format!(
        "<rect width=\"100%\" height=\"100%\" fill=\"#{red:02X}{green:02X}{blue:02X}\" stroke=\"none\"/>\n"
    );
    // the default; quotes inside text are escaped, so only attributes match
    svg += &with_lengths(body, header.lengths).replace(" opacity=\"1\"", "");
    svg
}

/// The drawing with the width of each text, so that a viewer that lacks the font squeezes or stretches another one.
fn with_lengths(body: &str, lengths: &[u32]) -> String {
    const TAG: &str = "<text ";
    // inside text the first sign of a tag is escaped, so only tags match
    let mut pieces = body.split(TAG);
    let mut svg = pieces.next().unwrap_or("").to_owned();
    let lengths = lengths.iter().copied().chain(std::iter::repeat(0));
    for (piece, length) in pieces.zip(lengths) {
        svg.push_str(TAG);
        if length > 0 {
            svg += &format!("textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\" ");
        }
        // the backend puts text on a line of its own; the line breaks would count as letters in some viewers
        svg += &piece.replacen(">\n", ">", 1).replacen("\n</text>", "</text>", 1);
    }
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn outline(pen: Pen) -> Outline {
    Outline { colour: pen.colour, width: whole(pen.width) }
}

/// How the backend draws a line.
struct Outline {
    colour: RGBColor,
    /// In its units.
    width: u32,
}

impl BackendStyle for Outline {
    fn color(&self) -> BackendColor {
        self.colour.color()
    }

    fn stroke_width(&self) -> u32 {
        self.width
    }
}

/// How the backend writes a text.
struct TextStyle {
    colour: RGBColor,
    size: f64,
    turn: FontTransform,
    style: FontStyle,
    horizontal: HPos,
}

impl BackendTextStyle for TextStyle {
    type FontError = Infallible;

    fn color(&self) -> BackendColor {
        self.colour.color()
    }

    fn size(&self) -> f64 {
        self.size
    }

    fn transform(&self) -> FontTransform {
        self.turn.clone()
    }

    fn style(&self) -> FontStyle {
        self.style
    }

    fn anchor(&self) -> Pos {
        Pos::new(self.horizontal, VPos::Center)
    }

    fn family(&self) -> FontFamily<'_> {
        FontFamily::Name(FAMILY)
    }

    /// SVG leaves the measuring to the viewer; ours is in [`super::font`].
    fn layout_box(&self, _: &str) -> Result<((i32, i32), (i32, i32)), Infallible> {
        Ok(((0, 0), (0, 0)))
    }

    fn draw<E, DrawFunc: FnMut(i32, i32, BackendColor) -> Result<(), E>>(
        &self,
        _: &str,
        _: BackendCoord,
        _: DrawFunc,
    ) -> Result<Result<(), E>, Infallible> {
        Ok(Ok(()))
    }
}

/// A length in units of the backend, at least one.
fn whole(length: f64) -> u32 {
    (length * UNITS).round().clamp(1.0, FARTHEST) as u32
}

/// A place in units of the backend; `as` takes NaN to zero, so nothing but numbers reaches the drawing.
fn units(place: Place) -> (i32, i32) {
    let unit = |length: f64| (length.clamp(-FARTHEST, FARTHEST) * UNITS).round() as i32;
    (unit(place.0), unit(place.1))
}
