//! Layout of panels in rows, and axes of categories.

use super::canvas::{Anchor, Area, Canvas};
use super::font::Face;
use super::frame::GAP;

/// Places of panels.
#[derive(Clone, Debug)]
pub(crate) struct Tiles {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

impl Tiles {
    /// As few rows as `width` allows for panels of at least `narrowest` each, filled evenly.
    pub(crate) fn new(count: usize, width: f64, narrowest: f64) -> Self {
        let most = ((width / narrowest.max(1.0)).floor() as usize).clamp(1, count.max(1));
        let rows = count.max(1).div_ceil(most);
        Self { columns: count.max(1).div_ceil(rows), rows }
    }

    /// The frame of panel `index` among frames of `size` with `gaps` between them.
    pub(crate) fn area(&self, index: usize, from: (f64, f64), size: (f64, f64), gaps: (f64, f64)) -> Area {
        let (row, column) = (index / self.columns, index % self.columns);
        let left = from.0 + column as f64 * (size.0 + gaps.0);
        let top = from.1 + row as f64 * (size.1 + gaps.1);
        Area { left, top, right: left + size.0, bottom: top + size.1 }
    }

    /// Whether the numbers of the vertical axis stand at this panel.
    pub(crate) fn is_first_of_row(&self, index: usize) -> bool {
        index.is_multiple_of(self.columns)
    }
}

/// The heading of a panel, centred above it, in the size in which all headings fit.
pub(crate) fn heading<'t>(
    canvas: &mut Canvas,
    text: &str,
    of_all: impl Iterator<Item = &'t str>,
    area: Area,
) {
    let sizes = of_all.map(|one| canvas.text.fit(one, area.width()).0.size);
    let face = Face { size: sizes.fold(canvas.text.size, f64::min), ..canvas.text };
    let text = face.shortened(text, area.width() + 0.5);
    let place = (area.centre().0, area.top - canvas.text.line_height() * 0.55);
    canvas.text(&text, place, Anchor::Middle, face, canvas.palette.text);
}

/// Numbers below categories of equal width, every so many that they do not touch.
pub(crate) fn numbers_below(canvas: &mut Canvas, texts: &[String], area: Area) {
    let slot = area.width() / texts.len().max(1) as f64;
    let widest = texts.iter().map(|text| canvas.small.width(text)).fold(0.0, f64::max);
    let every = ((widest + canvas.small.size * 0.6) / slot.max(0.01)).ceil().max(1.0) as usize;
    for (index, text) in texts.iter().enumerate().step_by(every) {
        let x = area.left + (index as f64 + 0.5) * slot;
        canvas.line((x, area.bottom), (x, area.bottom + GAP), canvas.thin(canvas.palette.muted));
        let place = (x, area.bottom + GAP + canvas.small.line_height() / 2.0);
        canvas.text(text, place, Anchor::Middle, canvas.small, canvas.palette.text);
    }
}

/// Numbers left of categories of equal height, from the bottom up, every so many that they do not touch.
pub(crate) fn numbers_left(canvas: &mut Canvas, texts: &[String], area: Area) {
    let slot = area.height() / texts.len().max(1) as f64;
    let every = (canvas.small.size * 1.3 / slot.max(0.01)).ceil().max(1.0) as usize;
    for (index, text) in texts.iter().enumerate().step_by(every) {
        let y = area.bottom - (index as f64 + 0.5) * slot;
        canvas.line((area.left - GAP, y), (area.left, y), canvas.thin(canvas.palette.muted));
        let place = (area.left - 1.5 * GAP, y);
        canvas.text(text, place, Anchor::End, canvas.small, canvas.palette.text);
    }
}
