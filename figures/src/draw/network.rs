//! Map of a network: routers as squares, links as arrows, coloured by their loads.

use super::canvas::{Anchor, Area, Canvas, Place};
use super::font::Face;
use super::frame::GAP;
use super::heat_map::draw_scale;
use super::legend::{self, Entry, Sample};
use super::palette::{legible_on, on_scale};
use super::scale::{Scale, short};
use super::tiles::{self, Tiles};
use crate::picture::{NetworkLink, NetworkMap, NetworkPanel};

/// Half the side of a router's square, in distances between routers.
const HALF_SIDE: f64 = 0.21;
/// From the middle of a link to the arrow of either way, and half the width of an arrow.
const ASIDE: f64 = 0.09;
const HALF_WIDTH: f64 = 0.045;

/// Draws below `top`, in `room` if the height is given; the height where it ends.
pub(super) fn draw(canvas: &mut Canvas, map: &NetworkMap, top: f64, room: Option<f64>) -> f64 {
    let views: &[View] = if map.is_simulated() { &[View::Exact, View::Simulated] } else { &[View::Exact] };
    let loads = map.panels.iter().flat_map(|panel| views.iter().flat_map(|view| view.loads(panel)));
    let most = loads.filter(|load| load.is_finite()).fold(0.0, f64::max);
    let scale = Scale::exactly(0.0, most, false).unwrap_or_else(|| Scale::around([0.0, 1.0], false, 0.0));
    let below_bar = draw_scale(canvas, &map.load, scale, false, top);
    let legend = Entry::new(Sample::None, "arrows: links each way; squares: ejection links");
    let start = legend::draw(canvas, &[legend], below_bar) + canvas.text.line_height() + GAP;

    let (columns, rows) = (f64::from(map.columns.max(1)), f64::from(map.rows.max(1)));
    let left = canvas.margin + canvas.small.width("00") + 2.0 * GAP;
    let across = canvas.width - canvas.margin - left;
    let gaps = (2.0 * canvas.text.size, canvas.small.line_height() + canvas.text.line_height() + 3.0 * GAP);
    let count = map.panels.len() * views.len();
    let tiles = match Tiles::new(views.len(), across, 13.0 * canvas.text.size).columns {
        // both views of a plane side by side
        columns @ 2.. => Tiles { columns, rows: map.panels.len() },
        _ => Tiles::new(count, across, 13.0 * canvas.text.size),
    };
    let (panels_across, panels_down) = (tiles.columns as f64, tiles.rows as f64);
    let width = (across - (panels_across - 1.0) * gaps.0) / panels_across;
    let mut step = width / columns;
    if let Some(room) = room {
        let height = (room - (start - top)) / panels_down - gaps.1;
        step = step.min((height / rows).max(1.0));
    }
    let size = (step * columns, step * rows);
    let panels = map.panels.iter().flat_map(|panel| views.iter().map(move |view| (panel, *view)));
    for (index, (panel, view)) in panels.enumerate() {
        let area = tiles.area(index, (left, start), size, gaps);
        draw_panel(canvas, map, (panel, view), scale, area);
        tiles::heading(canvas, &view.heading(panel, views.len() > 1), area);
        tiles::numbers_below(canvas, &numbers(map.columns), area);
        if tiles.is_first_of_row(index) {
            tiles::numbers_left(canvas, &numbers(map.rows), area);
        }
    }
    start + panels_down * (size.1 + gaps.1) - gaps.1 + canvas.small.line_height() + 2.0 * GAP
}

/// Which loads a panel shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    Exact,
    Simulated,
}

impl View {
    fn of_link(self, link: &NetworkLink) -> Option<f64> {
        match self {
            Self::Exact => Some(link.load),
            Self::Simulated => link.simulated.map(|found| found.load),
        }
    }

    fn of_routers(self, panel: &NetworkPanel) -> Vec<f64> {
        match self {
            Self::Exact => panel.routers.clone(),
            Self::Simulated => panel.simulated_routers.iter().map(|found| found.load).collect(),
        }
    }

    fn loads(self, panel: &NetworkPanel) -> Vec<f64> {
        let links = panel.links.iter().filter_map(|link| self.of_link(link));
        self.of_routers(panel).into_iter().chain(links).collect()
    }

    fn heading(self, panel: &NetworkPanel, is_named: bool) -> String {
        let name = match self {
            Self::Exact => "exact",
            Self::Simulated => "simulated",
        };
        match panel.label.as_str() {
            label if !is_named => label.to_owned(),
            "" => name.to_owned(),
            label => format!("{label}: {name}"),
        }
    }
}

fn numbers(count: u32) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}

fn draw_panel(
    canvas: &mut Canvas,
    map: &NetworkMap,
    (panel, view): (&NetworkPanel, View),
    scale: Scale,
    area: Area,
) {
    let step = area.width() / f64::from(map.columns.max(1));
    let at = |(column, row): (u32, u32)| -> Place {
        (area.left + (f64::from(column) + 0.5) * step, area.bottom - (f64::from(row) + 0.5) * step)
    };
    let colour = |load: f64| scale.share(load).map(on_scale);
    for link in &panel.links {
        let Some(colour) = view.of_link(link).and_then(colour) else { continue };
        for outline in arrows(link, at, step) {
            canvas.polygon(&outline, colour);
        }
    }
    let face = Face { size: canvas.small.size.min(0.14 * step), bold: false };
    for (index, load) in view.of_routers(panel).into_iter().enumerate() {
        let Some(colour) = colour(load) else { continue };
        let (column, row) = (index as u32 % map.columns.max(1), index as u32 / map.columns.max(1));
        let (x, y) = at((column, row));
        let half = HALF_SIDE * step;
        canvas.fill(Area { left: x - half, right: x + half, top: y - half, bottom: y + half }, colour);
        if face.size >= 6.0 {
            canvas.text(&short(load), (x, y), Anchor::Middle, face, legible_on(colour));
        }
    }
}

/// The outlines of a link's arrow: from square to square, or one out of the picture and one into it.
fn arrows(link: &NetworkLink, at: impl Fn((u32, u32)) -> Place, step: f64) -> Vec<[Place; 5]> {
    let (from, to) = (at(link.from), at(link.to));
    // to the right and up, or to the left and down; round the ring it is the other way
    let sign = |from: u32, to: u32| f64::from(u8::from(to > from)) - f64::from(u8::from(to < from));
    let turn = if link.wraps { -1.0 } else { 1.0 };
    let direction = (turn * sign(link.from.0, link.to.0), -turn * sign(link.from.1, link.to.1));
    let reach = (1.0 - 2.0 * HALF_SIDE) * step;
    if link.wraps {
        let half = reach / 2.0;
        let before = (0.5 - HALF_SIDE) * step + HALF_SIDE * step;
        let outside = (to.0 - before * direction.0, to.1 - before * direction.1);
        let first = (from.0 + HALF_SIDE * step * direction.0, from.1 + HALF_SIDE * step * direction.1);
        return vec![arrow(first, direction, half, step), arrow(outside, direction, half, step)];
    }
    let first = (from.0 + HALF_SIDE * step * direction.0, from.1 + HALF_SIDE * step * direction.1);
    vec![arrow(first, direction, reach, step)]
}

/// An arrow of a length from a place on, to the right of the middle of the link.
fn arrow(from: Place, (dx, dy): Place, length: f64, step: f64) -> [Place; 5] {
    let (right_x, right_y) = (-dy, dx);
    let at = |along: f64, aside: f64| {
        let aside = aside * step;
        (from.0 + along * dx + aside * right_x, from.1 + along * dy + aside * right_y)
    };
    let neck = length - 2.0 * HALF_WIDTH * step;
    [
        at(0.0, ASIDE - HALF_WIDTH),
        at(neck, ASIDE - HALF_WIDTH),
        at(length, ASIDE),
        at(neck, ASIDE + HALF_WIDTH),
        at(0.0, ASIDE + HALF_WIDTH),
    ]
}
