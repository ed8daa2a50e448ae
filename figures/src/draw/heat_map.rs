//! Heat map of a quantity over two axes. All cells have the same size.

use plotters::style::RGBColor;

use super::canvas::{Anchor, Area, Canvas, Pen};
use super::font::Face;
use super::frame::{GAP, centred_lines, y_label};
use super::legend::{self, Entry, Sample, Surface};
use super::palette::{legible_on, on_scale};
use super::scale::{Scale, label, quantile, robust_top, short};
use super::tiles::{self, Tiles};
use crate::picture::{Axis, HeatCell, HeatMap, HeatPanel};

/// Draws below `top`, in `room` if the height is given; the height where it ends.
pub(super) fn draw(canvas: &mut Canvas, map: &HeatMap, top: f64, room: Option<f64>) -> f64 {
    let z = z_scale(map);
    let after_bar = draw_scale(canvas, &map.z, z, is_capped(map, z), top);
    let legend_end = legend::draw(canvas, &legend_entries(canvas, map, z), after_bar);
    let (xs, ys): (Vec<String>, Vec<String>) =
        (map.xs.iter().map(|x| short(*x)).collect(), map.ys.iter().map(|y| short(*y)).collect());
    let x_label = canvas.text.wrap(&label(&map.x), canvas.width - 2.0 * canvas.margin, 3);
    let foot = x_label.len() as f64 * canvas.text.line_height();

    let gaps = (canvas.text.size, canvas.small.line_height() + canvas.text.line_height() + 2.0 * GAP);
    let right = canvas.width - canvas.margin;
    let tiles = Tiles::new(map.panels.len(), right - 5.0 * canvas.text.size, 13.0 * canvas.text.size);
    let (columns, rows) = (tiles.columns as f64, tiles.rows as f64);
    let numbers = ys.iter().map(|text| canvas.small.width(text)).fold(0.0, f64::max) + 2.0 * GAP;
    // the label may take two lines; how many is known only with the height
    let roughly = (right - 4.0 * canvas.text.size - numbers) / columns;
    let height = match room {
        Some(room) => ((room - (legend_end - top) - foot - rows * gaps.1) / rows).max(20.0),
        None => (roughly * 0.85).clamp(90.0, 420.0),
    };
    let all_rows = rows * (height + gaps.1) - gaps.1;
    let y_lines = canvas.text.wrap(&label(&map.y), all_rows, 3);
    let left = canvas.margin * 0.6 + y_lines.len() as f64 * canvas.text.line_height() + numbers;
    let width = ((right - left - (columns - 1.0) * gaps.0) / columns).max(1.0);
    let from = (left, legend_end + canvas.text.line_height() + GAP);
    let mut uncertain = false;
    for (index, panel) in map.panels.iter().enumerate() {
        let area = tiles.area(index, from, (width, height), gaps);
        tiles::heading(canvas, &panel.label, area);
        uncertain |= draw_cells(canvas, map, panel, z, area);
        canvas.frame(area, canvas.thin(canvas.palette.muted));
        tiles::numbers_below(canvas, &xs, area);
        if tiles.is_first_of_row(index) {
            tiles::numbers_left(canvas, &ys, area);
        }
    }
    y_label(canvas, &y_lines, left - numbers, from.1 + all_rows / 2.0);
    let end = from.1 + all_rows + 2.0 * GAP + canvas.small.line_height();
    let end = centred_lines(canvas, &x_label, (left + right) / 2.0, end);
    // only now it is known whether there was room for any
    if !uncertain {
        return end;
    }
    legend::draw(canvas, &[Entry::new(Sample::None, "±: half-width of the 95 % interval")], end + GAP)
}

fn cells(map: &HeatMap) -> impl Iterator<Item = &HeatCell> {
    map.panels.iter().flat_map(|panel| panel.cells.iter().flatten())
}

/// Over all steady cells; in each panel up to four times the median, what is above has the last colour.
fn z_scale(map: &HeatMap) -> Scale {
    let limited = !map.z.logarithmic && !map.z.unit.is_empty();
    let mut values = Vec::new();
    for panel in &map.panels {
        let steady = panel.cells.iter().flatten().filter(|cell| !cell.saturated);
        let of_panel: Vec<f64> = steady.filter_map(|cell| cell.z).collect();
        let top = if limited { robust_top(&of_panel) } else { None };
        values.extend(of_panel.into_iter().map(|value| top.map_or(value, |top| value.min(top))));
    }
    // colours from the smallest to the largest, not from zero: a colour has no height to compare
    let (least, most) = (quantile(&values, 0.0), quantile(&values, 1.0));
    let exactly = least.zip(most).and_then(|(from, to)| Scale::exactly(from, to, map.z.logarithmic));
    exactly.unwrap_or_else(|| Scale::around(values, map.z.logarithmic, 0.0))
}

fn legend_entries(canvas: &Canvas, map: &HeatMap, z: Scale) -> Vec<Entry> {
    let mut entries = Vec::new();
    if cells(map).any(|cell| cell.saturated) {
        entries.push(Entry::new(
            Sample::Swatch { colour: canvas.palette.muted, surface: Surface::Hatched },
            "hatched: saturated",
        ));
    }
    if cells(map).any(|cell| cell.z.is_none() && !cell.saturated) {
        entries.push(Entry::new(Sample::EmptyCell, "empty: no such number"));
    }
    if is_capped(map, z) {
        entries.push(Entry::new(Sample::None, "+: beyond the scale, in its last colour"));
    }
    entries
}

/// Whether a steady cell lies beyond the scale.
fn is_capped(map: &HeatMap, z: Scale) -> bool {
    cells(map).any(|cell| !cell.saturated && cell.z.is_some_and(|value| value > z.to))
}

/// The bar of colours over the width, its label above and its numbers below.
pub(super) fn draw_scale(canvas: &mut Canvas, axis: &Axis, z: Scale, is_capped: bool, top: f64) -> f64 {
    let most = canvas.width - 2.0 * canvas.margin;
    let (left, width) = (canvas.margin + 1.5 * canvas.text.size, most - 3.0 * canvas.text.size);
    let lines = canvas.text.wrap(&label(axis), most, 3);
    let from = centred_lines(canvas, &lines, canvas.width / 2.0, top) + 2.0;
    let bar = Area { left, right: left + width, top: from, bottom: from + canvas.text.size * 0.8 };
    const STEPS: usize = 64;
    for step in 0..STEPS {
        let at = |step: usize| left + width * step as f64 / STEPS as f64;
        // half a pixel of overlap: no seams between the steps
        let area = Area { left: at(step), right: (at(step + 1) + 0.5).min(bar.right), ..bar };
        canvas.fill(area, on_scale((step as f64 + 0.5) / STEPS as f64));
    }
    canvas.frame(bar, canvas.thin(canvas.palette.muted));
    let ticks = z.ticks(((width / canvas.small.size / 4.5) as usize).clamp(3, 8));
    for (value, text) in ticks {
        let Some(share) = z.share(value) else { continue };
        let x = left + width * share;
        canvas.line((x, bar.bottom), (x, bar.bottom + GAP), canvas.thin(canvas.palette.muted));
        let place = (x, bar.bottom + GAP + canvas.small.line_height() / 2.0);
        canvas.text(&text, place, Anchor::Middle, canvas.small, canvas.palette.text);
    }
    if is_capped {
        let place = (bar.right + 0.3 * canvas.text.size, bar.centre().1);
        canvas.text("+", place, Anchor::Start, canvas.text, canvas.palette.text);
    }
    bar.bottom + GAP + canvas.small.line_height() + GAP
}

/// Draws a map; whether it says how uncertain its values are.
fn draw_cells(canvas: &mut Canvas, map: &HeatMap, panel: &HeatPanel, z: Scale, area: Area) -> bool {
    let (columns, rows) = (map.xs.len().max(1) as f64, map.ys.len().max(1) as f64);
    let (width, height) = (area.width() / columns, area.height() / rows);
    let face = face_of_cells(canvas, panel, width, height);
    let mut uncertain = false;
    for (row, cells) in panel.cells.iter().enumerate().take(map.ys.len()) {
        for (column, cell) in cells.iter().enumerate().take(map.xs.len()) {
            let left = area.left + column as f64 * width;
            let bottom = area.bottom - row as f64 * height;
            let cell_area = Area { left, right: left + width, top: bottom - height, bottom };
            uncertain |= draw_cell(canvas, cell, z, cell_area, face);
        }
    }
    uncertain
}

/// A face in which all values of a panel go into their cells, if it is still legible.
fn face_of_cells(canvas: &Canvas, panel: &HeatPanel, width: f64, height: f64) -> Option<Face> {
    let values = panel.cells.iter().flatten().filter_map(|cell| cell.z);
    let widest = values.map(|value| canvas.small.width(&short(value))).fold(1.0, f64::max);
    let size = canvas.small.size;
    let size = size.min(size * 0.86 * width / widest).min(height * 0.8);
    (size >= 6.5).then_some(Face { size, bold: false })
}

fn draw_cell(canvas: &mut Canvas, cell: &HeatCell, z: Scale, area: Area, face: Option<Face>) -> bool {
    if cell.saturated {
        let palette = canvas.palette;
        canvas.fill(area, palette.faded(palette.muted, 0.72));
        canvas.hatch(area, 5.0, Pen { colour: palette.muted, width: 1.0 });
        return false;
    }
    let Some((value, share)) = cell.z.and_then(|value| Some((value, z.share(value)?))) else { return false };
    let colour = on_scale(share);
    canvas.fill(area, colour);
    face.is_some_and(|face| write_cell(canvas, (cell, value), area, face, legible_on(colour)))
}

/// The value and, if there is room, how uncertain it is; whether there was.
fn write_cell(
    canvas: &mut Canvas,
    (cell, value): (&HeatCell, f64),
    area: Area,
    face: Face,
    colour: RGBColor,
) -> bool {
    let (x, y) = area.centre();
    let below = Face { size: face.size * 0.85, bold: false };
    let uncertain = cell.half_width_95.map(|half| format!("±{}", rounded(half)));
    let uncertain = uncertain.filter(|text| {
        below.width(text) <= 0.95 * area.width()
            && face.line_height() + below.line_height() <= area.height()
            && below.size >= 6.0
    });
    let lift = if uncertain.is_some() { 0.5 * below.line_height() } else { 0.0 };
    canvas.text(&short(value), (x, y - lift), Anchor::Middle, face, colour);
    if let Some(text) = &uncertain {
        canvas.text(text, (x, y + 0.5 * face.line_height()), Anchor::Middle, below, colour);
    }
    uncertain.is_some()
}

/// An uncertainty: two digits are enough.
fn rounded(half_width: f64) -> String {
    let power = 10f64.powf(half_width.abs().log10().floor() - 1.0);
    let rounded = (half_width / power).round() * power;
    short(if rounded.is_finite() { rounded } else { half_width })
}
