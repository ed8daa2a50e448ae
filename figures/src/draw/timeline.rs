//! Time lines: a row for each stream, a tick for each frame that is delivered.

use super::canvas::{Anchor, Area, Canvas, Pen};
use super::frame::GAP;
use super::legend::{self, Entry, Sample, Surface};
use super::tiles::{self, Tiles};
use crate::picture::{Timeline, TimelinePanel};

/// Of a row, that a tick takes.
const TICK: f64 = 0.7;
/// Height of a row, in sizes of the text.
const ROW: f64 = 0.9;

/// Draws below `top`, in `room` if the height is given; the height where it ends.
pub(super) fn draw(canvas: &mut Canvas, timeline: &Timeline, top: f64, room: Option<f64>) -> f64 {
    let palette = canvas.palette;
    let swatch = |style: usize| Sample::Swatch { colour: palette.series(style), surface: Surface::Solid };
    let late = format!("late: more than {} intervals after the one before", timeline.late);
    let entries = [
        Entry::new(Sample::None, "a row for each stream, a tick for each frame delivered"),
        Entry::new(swatch(0), "in time"),
        Entry::new(swatch(1), late),
    ];
    let start = legend::draw(canvas, &entries, top) + canvas.text.line_height() + GAP;
    let across = canvas.width - 2.0 * canvas.margin;
    let (small, text) = (canvas.small.line_height(), canvas.text.line_height());
    // numbers below a panel and the heading of the next one
    let gaps = (1.5 * canvas.text.size, small + text + 2.0 * GAP);
    let count = timeline.panels.len();
    let tiles = Tiles::new(count, across, 16.0 * canvas.text.size);
    let width = (across - (tiles.columns as f64 - 1.0) * gaps.0) / tiles.columns as f64;
    let rows = timeline.panels.iter().map(|panel| panel.streams.len()).max().unwrap_or(0).max(1);
    let height = match room {
        Some(room) => ((room - (start - top) - text) / tiles.rows as f64 - gaps.1).max(40.0),
        None => rows as f64 * ROW * canvas.text.size,
    };
    for (index, panel) in timeline.panels.iter().enumerate() {
        let area = tiles.area(index, (canvas.margin, start), (width, height), gaps);
        tiles::heading(canvas, &panel.label, area);
        draw_panel(canvas, timeline, panel, area);
    }
    let end = start + tiles.rows as f64 * (height + gaps.1) - text;
    let name = format!("{} [{}]", timeline.x.label, timeline.x.unit);
    let (face, name) = canvas.small.fit(&name, across);
    canvas.text(&name, (canvas.width / 2.0, end + small / 2.0), Anchor::Middle, face, palette.text);
    end + small
}

fn draw_panel(canvas: &mut Canvas, timeline: &Timeline, panel: &TimelinePanel, area: Area) {
    let palette = canvas.palette;
    let end = if timeline.end.is_finite() && timeline.end > 0.0 { timeline.end } else { 1.0 };
    // room for half a tick and half a number at both ends
    let inset = canvas.small.size;
    let place = |time: f64| area.left + inset + time / end * (area.width() - 2.0 * inset);
    let widest = canvas.small.width(&format!("{end:.0}"));
    let whole = end.min(1e3) as u32;
    let slot = (area.width() - 2.0 * inset) / end;
    let every = ((widest + canvas.small.size * 0.6) / slot.max(0.01)).ceil().max(1.0) as usize;
    for interval in 0..=whole {
        let x = place(f64::from(interval));
        canvas.line((x, area.top), (x, area.bottom), canvas.thin(palette.grid));
        if (interval as usize).is_multiple_of(every) {
            let below = (x, area.bottom + GAP + canvas.small.line_height() / 2.0);
            canvas.text(&interval.to_string(), below, Anchor::Middle, canvas.small, palette.text);
        }
    }
    canvas.frame(area, canvas.thin(palette.muted));
    let row = area.height() / panel.streams.len().max(1) as f64;
    for (stream, frames) in panel.streams.iter().enumerate() {
        let middle = area.top + (stream as f64 + 0.5) * row;
        let mut before: Option<f64> = None;
        for time in frames.iter().copied().filter(|time| (0.0..=end).contains(time)) {
            let is_late = before.is_some_and(|before| time - before > timeline.late);
            let pen = Pen { colour: palette.series(usize::from(is_late)), width: palette.line };
            let (x, half) = (place(time), TICK * row / 2.0);
            canvas.line((x, middle - half), (x, middle + half), pen);
            before = Some(time);
        }
    }
}
