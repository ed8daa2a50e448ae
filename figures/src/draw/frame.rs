//! A panel with axes: frame, grid, ticks, labels.

use super::canvas::{Anchor, Area, Canvas, Place};
use super::scale::Scale;

/// Length of tick marks, and the space between things that belong together \[px\].
pub(crate) const GAP: f64 = 4.0;

/// A rectangle with two axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Panel {
    pub(crate) area: Area,
    pub(crate) x: Scale,
    pub(crate) y: Scale,
}

impl Panel {
    pub(crate) fn place_x(&self, x: f64) -> Option<f64> {
        self.x.share(x).map(|share| self.area.left + share * self.area.width())
    }

    pub(crate) fn place_y(&self, y: f64) -> Option<f64> {
        self.y.share(y).map(|share| self.area.bottom - share * self.area.height())
    }

    pub(crate) fn place(&self, x: f64, y: f64) -> Option<Place> {
        Some((self.place_x(x)?, self.place_y(y)?))
    }

    /// Grid and ticks of both axes; numbers of the horizontal one only with `numbered`.
    pub(crate) fn draw_axes(&self, canvas: &mut Canvas, numbered: bool) {
        self.draw_grid(canvas, true);
        self.draw_columns(canvas, numbered);
        self.draw_frame(canvas);
    }

    /// Vertical grid lines with ticks and, with `numbered`, numbers of the horizontal axis.
    pub(crate) fn draw_columns(&self, canvas: &mut Canvas, numbered: bool) {
        let ticks = x_ticks(canvas, self.x, self.area.width());
        for (value, text) in ticks {
            let Some(x) = self.place_x(value) else { continue };
            let (top, bottom) = (self.area.top, self.area.bottom);
            canvas.line((x, top), (x, bottom), canvas.thin(canvas.palette.grid));
            canvas.line((x, bottom), (x, bottom + GAP), canvas.thin(canvas.palette.muted));
            if numbered {
                let place = (x, bottom + GAP + canvas.small.line_height() / 2.0);
                canvas.text(&text, place, Anchor::Middle, canvas.small, canvas.palette.text);
            }
        }
    }

    /// Horizontal grid lines; with `numbered` also ticks and numbers of the vertical axis.
    pub(crate) fn draw_grid(&self, canvas: &mut Canvas, numbered: bool) {
        for (value, text) in y_ticks(canvas, self.y, self.area.height()) {
            let Some(y) = self.place_y(value) else { continue };
            let (left, right) = (self.area.left, self.area.right);
            canvas.line((left, y), (right, y), canvas.thin(canvas.palette.grid));
            if !numbered {
                continue;
            }
            canvas.line((left - GAP, y), (left, y), canvas.thin(canvas.palette.muted));
            canvas.text(&text, (left - 1.5 * GAP, y), Anchor::End, canvas.small, canvas.palette.text);
        }
    }

    pub(crate) fn draw_frame(&self, canvas: &mut Canvas) {
        canvas.frame(self.area, canvas.thin(canvas.palette.muted));
    }
}

/// Ticks of a vertical axis of this height: about two lines apart, at least four if there is room.
fn y_ticks(canvas: &Canvas, scale: Scale, height: f64) -> Vec<(f64, String)> {
    let wanted = ((height / canvas.small.size / 2.2) as usize).clamp(3, 9);
    let most = ((height / canvas.small.size / 1.3) as usize).max(wanted);
    let enough =
        (wanted..=most).map(|count| scale.ticks(count)).find(|ticks| (4..=most).contains(&ticks.len()));
    enough.unwrap_or_else(|| scale.ticks(wanted))
}

/// Ticks of a horizontal axis of this width, as many as have room.
fn x_ticks(canvas: &Canvas, scale: Scale, width: f64) -> Vec<(f64, String)> {
    let mut ticks = Vec::new();
    for count in (1..=9).rev() {
        ticks = scale.ticks(count);
        let widest = ticks.iter().map(|tick| canvas.small.width(&tick.1)).fold(0.0, f64::max);
        if (widest + canvas.small.size) * ticks.len() as f64 <= width {
            break;
        }
    }
    ticks
}

/// How wide the numbers of a vertical axis are, with their tick marks.
pub(crate) fn width_of_numbers(canvas: &Canvas, scale: Scale, height: f64) -> f64 {
    let ticks = y_ticks(canvas, scale, height);
    ticks.iter().map(|tick| canvas.small.width(&tick.1)).fold(0.0, f64::max) + 2.0 * GAP
}

/// Writes text below each other, each line centred at `x`; the height where it ends.
pub(crate) fn centred_lines(canvas: &mut Canvas, lines: &[String], x: f64, top: f64) -> f64 {
    let mut y = top;
    for line in lines {
        let place = (x, y + canvas.text.line_height() / 2.0);
        canvas.text(line, place, Anchor::Middle, canvas.text, canvas.palette.text);
        y += canvas.text.line_height();
    }
    y
}

/// Writes the label of a vertical axis in lines, the last one with its right side at `right`.
pub(crate) fn y_label(canvas: &mut Canvas, lines: &[String], right: f64, y: f64) {
    for (number, line) in lines.iter().rev().enumerate() {
        let x = right - (number as f64 + 0.5) * canvas.text.line_height();
        canvas.upright_text(line, (x, y), canvas.text, canvas.palette.text);
    }
}
