//! Draws a picture as SVG and PNG.
//!
//! Drawing computes positions only; all numbers stand in the [`Picture`]. Text stays text, so that an SVG can be
//! searched. Each text states its width, so that it fits in any font of the viewer. The PNG is made from the SVG with
//! the bundled font, so that it is the same on every machine.
//!
//! ```
//! # use flitwise_figures::draw::{Style, Theme, png, svg};
//! # use flitwise_figures::picture::{Axis, Content, Lines, Picture};
//! # let axis = |label: &str, unit: &str| Axis { label: label.into(), unit: unit.into(), logarithmic: false };
//! # let content = Content::Lines(Lines {
//! #     x: axis("R1 load", "messages/cycle/node"), y: axis("network latency", "cycles"), y_range: None,
//! #     series: Vec::new(), errors: Vec::new(), panels: Vec::new(),
//! #     measured_as_curves: false,
//! #     printed_by: None,
//! # });
//! # let picture = Picture { name: "fig04a".into(), title: "Latency over load".into(),
//! #     subtitle: "16-port router".into(), content, notes: Vec::new() };
//! let drawn = svg(&picture, &Style { theme: Theme::Dark, ..Style::default() });
//! assert!(drawn.contains("R1 load [messages/cycle/node]"));
//! let pixels = png(&drawn, 2.0)?; // two pixels per unit of the SVG
//! assert!(pixels.starts_with(b"\x89PNG"));
//! # Ok::<(), flitwise_figures::draw::PngError>(())
//! ```
//!
//! # What is cut off
//!
//! Latencies grow without bound near saturation. Unless the picture gives its range, a vertical axis shows each series
//! up to four times the median of its steady values. It shows all values if the median is zero, if the axis is
//! logarithmic, or if the quantity has no unit, such as a probability. Curves end at the frame. A chevron at the frame
//! marks a simulated point beyond it. The axis of the panel of errors ends at twice the upper quartile of their sizes;
//! chevrons mark the outliers.

pub(crate) mod canvas;
pub(crate) mod description;
pub(crate) mod font;
pub(crate) mod frame;
pub(crate) mod legend;
pub(crate) mod palette;
mod parts;
mod png;
pub(crate) mod scale;
pub(crate) mod tiles;

pub use parts::parts_svg;
pub use png::{HAS_PNG, PngError, png};

use crate::picture::Picture;
use canvas::{Anchor, Canvas, Header};
use font::Face;

/// Colours of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Theme {
    /// Dark on white, for screens.
    #[default]
    Light,
    /// Light on nearly black, for screens.
    Dark,
    /// Black on white with thin lines, for paper.
    Print,
}

/// How a picture is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Style {
    /// Colours of the page.
    pub theme: Theme,
    /// Width \[px\]; 200 to 4000, which is for the caller to check: beyond it nothing fails, but nobody has looked.
    pub width: u32,
    /// Height \[px\], 200 to 4000; `None`: what the content needs. What does not fit makes the picture higher.
    pub height: Option<u32>,
}

impl Default for Style {
    /// Light, and wide enough for a screen; in one column of a paper (84 mm) its text has 6 points.
    fn default() -> Self {
        Self { theme: Theme::Light, width: 480, height: None }
    }
}

/// `picture` as SVG.
///
/// Takes any picture: what is no finite number is left out, and text of any length is wrapped or set smaller.
pub fn svg(picture: &Picture, style: &Style) -> String {
    let mut drawn = String::new();
    let mut canvas = Canvas::new(&mut drawn, style);
    let top = draw_heading(&mut canvas, picture);
    let margin = canvas.margin;
    let room = style.height.map(|height| f64::from(height) - top - margin);
    let end = picture.content.chart().draw(&mut canvas, top, room);
    let lengths = canvas.finish();
    let needed = end + margin;
    let height = style.height.map_or(needed, |height| needed.max(f64::from(height)));
    let header =
        Header { height, title: &picture.title, description: &description::of(picture), lengths: &lengths };
    canvas::with_header(&drawn, style, &header)
}

/// `picture` as text of about `columns` columns, for a terminal; `None` of a picture without curves.
pub fn text(picture: &Picture, columns: usize) -> Option<String> {
    let chart = picture.content.chart().text(columns)?;
    Some(format!("{}\n{}\n{chart}", picture.title, picture.subtitle))
}

/// Title and subtitle; the height where the content starts.
fn draw_heading(canvas: &mut Canvas, picture: &Picture) -> f64 {
    let (palette, text) = (canvas.palette, canvas.text);
    let title = Face { size: text.size * 1.15, bold: true };
    let mut y = canvas.margin;
    for (line, face, colour, most) in
        [(&picture.title, title, palette.text, 6), (&picture.subtitle, canvas.small, palette.muted, 8)]
    {
        for line in face.wrap_evenly(line, canvas.width - 2.0 * canvas.margin, most) {
            let place = (canvas.margin, y + face.line_height() / 2.0);
            canvas.text(&line, place, Anchor::Start, face, colour);
            y += face.line_height();
        }
    }
    y + 0.35 * text.size
}
