//! Congestion trees: stages of packet switches from left to right, ports coloured by what they hold.

use super::canvas::{Anchor, Area, Canvas, Pen};
use super::frame::GAP;
use super::heat_map::draw_scale;
use super::legend::{self, Entry, Sample};
use super::palette::on_scale;
use super::scale::Scale;
use super::tiles::{self, Tiles};
use crate::picture::{CongestionTree, TreePanel};

/// Lines of a switch on one side.
const SIDE: usize = 4;
/// In widths of a port: a link, and a crossbar between ingress and egress.
const LINK: f64 = 2.6;
const CROSSBAR: f64 = 0.5;
/// Between switches, in heights of a port.
const BETWEEN: f64 = 1.0;
/// Share of the scale from which on a link has the colour of the port before it.
const TELLING: f64 = 0.06;

/// Draws below `top`, in `room` if the height is given; the height where it ends.
pub(super) fn draw(canvas: &mut Canvas, tree: &CongestionTree, top: f64, room: Option<f64>) -> f64 {
    let held =
        tree.panels.iter().flat_map(|panel| &panel.columns).flat_map(|column| column.held.iter().copied());
    let most = held.filter(|held| held.is_finite()).fold(0.0, f64::max);
    let scale = Scale::exactly(0.0, most, false).unwrap_or_else(|| Scale::around([0.0, 1.0], false, 0.0));
    let below_bar = draw_scale(canvas, &tree.held, scale, false, top);
    let words = "left to right: injection ports of hosts, then ingress and egress of each stage";
    let start =
        legend::draw(canvas, &[Entry::new(Sample::None, words)], below_bar) + canvas.text.line_height() + GAP;

    let across = canvas.width - 2.0 * canvas.margin;
    let gaps = (1.2 * canvas.text.size, canvas.small.line_height() + canvas.text.line_height() + 2.0 * GAP);
    let (count, narrowest) = (tree.panels.len(), 6.5 * canvas.text.size);
    // a row for each variant, if its times go into one
    let tiles = match tree.times {
        times @ 1.. if across >= times as f64 * narrowest => {
            Tiles { columns: times, rows: count.div_ceil(times) }
        }
        _ => Tiles::new(count, across, narrowest),
    };
    let width = (across - (tiles.columns as f64 - 1.0) * gaps.0) / tiles.columns as f64;
    let height = match room {
        Some(room) => ((room - (start - top)) / tiles.rows as f64 - gaps.1).max(40.0),
        None => (1.5 * width).clamp(120.0, 420.0),
    };
    for (index, panel) in tree.panels.iter().enumerate() {
        let area = tiles.area(index, (canvas.margin, start), (width, height), gaps);
        tiles::heading(canvas, &panel.label, area);
        draw_panel(canvas, panel, &tree.hot, scale, area);
    }
    start + tiles.rows as f64 * (height + gaps.1) - canvas.text.line_height()
}

/// Where ports stand in a panel.
struct Places {
    area: Area,
    port: (f64, f64),
}

impl Places {
    fn new(panel: &TreePanel, area: Area) -> Self {
        let columns = panel.columns.len().max(1);
        let lines = panel.columns.first().map_or(1, |column| column.held.len().max(1));
        let stages = (columns - 1) as f64 / 2.0;
        // half a port is left for the mark of a hot host
        let widths = 1.5 + stages * (2.0 + LINK + CROSSBAR);
        let heights = lines as f64 + BETWEEN * ((lines - 1) / SIDE) as f64;
        Self { area, port: (area.width() / widths, area.height() / heights) }
    }

    fn port(&self, column: usize, line: usize) -> Area {
        let links = column.div_ceil(2) as f64 * LINK + (column / 2) as f64 * CROSSBAR;
        let left = self.area.left + (column as f64 + links) * self.port.0;
        let top = self.area.top + (line as f64 + BETWEEN * (line / SIDE) as f64) * self.port.1;
        Area { left, right: left + self.port.0, top, bottom: top + self.port.1 }
    }
}

fn draw_panel(canvas: &mut Canvas, panel: &TreePanel, hot: &[u32], scale: Scale, area: Area) {
    let places = Places::new(panel, area);
    let links = || {
        panel.columns.iter().enumerate().flat_map(|(column, ports)| {
            let link = move |(line, next): (usize, &u32)| {
                (column, line, *next as usize, ports.held.get(line).copied())
            };
            ports.next.iter().enumerate().map(link)
        })
    };
    // those with much to carry above the others
    for is_telling in [false, true] {
        for (column, line, next, held) in links() {
            let share = held.and_then(|held| scale.share(held)).unwrap_or(0.0);
            if (share >= TELLING) != is_telling {
                continue;
            }
            let (from, to) = (places.port(column, line), places.port(column + 1, next));
            let pen = if is_telling {
                Pen { colour: on_scale(share), width: 0.5 + share }
            } else {
                Pen { colour: canvas.palette.grid, width: 0.4 }
            };
            canvas.line((from.right, from.centre().1), (to.left, to.centre().1), pen);
        }
    }
    for (column, ports) in panel.columns.iter().enumerate() {
        for (line, held) in ports.held.iter().enumerate() {
            let Some(share) = scale.share(*held) else { continue };
            canvas.fill(places.port(column, line), on_scale(share));
        }
        // the words above the panels say that the first column is of hosts
        if column % 2 == 0 {
            continue;
        }
        let x = places.port(column, 0).right + CROSSBAR * places.port.0 / 2.0;
        let y = area.bottom + GAP + canvas.small.line_height() / 2.0;
        let name = ((column - 1) / 2).to_string();
        canvas.text(&name, (x, y), Anchor::Middle, canvas.small, canvas.palette.muted);
    }
    for host in hot {
        let Some(last) = panel.columns.len().checked_sub(1) else { continue };
        if panel.columns[last].held.len() > *host as usize {
            let port = places.port(last, *host as usize);
            let radius = (0.35 * places.port.0).clamp(1.5, 4.0);
            canvas.circle(
                (port.right + radius + 1.0, port.centre().1),
                radius,
                canvas.thin(canvas.palette.text),
            );
        }
    }
}
