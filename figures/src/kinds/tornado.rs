//! Tornado diagram: a bar for less and one for more of each parameter, sorted by length; made by sensitivities.

use super::*;
use crate::draw::canvas::{Anchor, Area, Canvas, Place};
use crate::draw::frame::{GAP, Panel, centred_lines};
use crate::draw::legend::{self, Entry, Sample, Surface};
use crate::draw::scale::{Scale, drawable, label, short};
use crate::draw::tiles;

/// Bars to either side of zero, one below the other.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Tornado {
    /// What the length of a bar stands for.
    pub x: Axis,
    /// What makes bars of one colour.
    pub less: String,
    /// What makes those of the other.
    pub more: String,
    /// What marks in the names of bars mean.
    pub marks: Vec<String>,
    /// One below the other, with one scale.
    pub panels: Vec<TornadoPanel>,
}

/// The bars of one number.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TornadoPanel {
    /// What stands above it.
    pub label: String,
    /// From the top down.
    pub bars: Vec<TornadoBar>,
}

/// What one parameter does to the number.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TornadoBar {
    /// The parameter.
    pub label: String,
    /// What less of it does; `None` if there is no such number.
    pub less: Option<f64>,
    /// What more of it does.
    pub more: Option<f64>,
}

impl Chart for Tornado {
    fn table(&self) -> rows::Table {
        let unit = |stem: &str| column(stem, &self.x);
        let (less, more) = (unit("less"), unit("more"));
        let heads = ["panel", "parameter", less.as_str(), more.as_str()];
        let rows = self.panels.iter().flat_map(|panel| {
            let row = |bar: &TornadoBar| {
                vec![panel.label.clone(), bar.label.clone(), number(bar.less), number(bar.more)]
            };
            panel.bars.iter().map(row)
        });
        rows::Table::new(&heads, rows)
    }

    fn origins(&self) -> Vec<Origin> {
        // the subtitle names the model
        Vec::new()
    }

    fn description(&self) -> String {
        let panels: Vec<&str> = self.panels.iter().map(|panel| panel.label.as_str()).collect();
        format!("Bars: {}, for {}", label(&self.x), listed(&panels))
    }

    fn draw(&self, canvas: &mut Canvas<'_>, top: f64, room: Option<f64>) -> f64 {
        let colour = canvas.palette.muted;
        let swatch = |surface| Sample::Swatch { colour, surface };
        let mut entries =
            vec![Entry::new(swatch(MORE), self.more.clone()), Entry::new(swatch(LESS), self.less.clone())];
        entries.extend(self.marks.iter().map(|mark| Entry::new(Sample::None, mark.clone())));
        let legend_end = legend::draw(canvas, &entries, top);

        let x = scale(self);
        let numbers: Vec<Vec<String>> =
            self.panels.iter().map(|panel| panel.bars.iter().map(written).collect()).collect();
        let (text, small, margin) = (canvas.text, canvas.small, canvas.margin);
        let names = self.panels.iter().flat_map(|panel| &panel.bars).map(|bar| small.width(&bar.label));
        let names = names.fold(0.0, f64::max).min(NAMES * canvas.width);
        let column = numbers.iter().flatten().map(|number| small.width(number)).fold(0.0, f64::max);
        let column = column.min(NAMES * canvas.width / 2.0);
        let left = margin + names + 2.0 * GAP;
        let right = (canvas.width - margin - column - 2.0 * GAP).max(left + 1.0);

        let bars = self.panels.iter().map(|panel| panel.bars.len().max(1)).sum::<usize>().max(1) as f64;
        let panels = self.panels.len() as f64;
        let x_label = text.wrap(&label(&self.x), canvas.width - 2.0 * margin, 3);
        let gap = text.line_height() + 2.0 * GAP;
        let below = 2.0 * GAP + small.line_height();
        let foot = x_label.len() as f64 * text.line_height();
        let around = (legend_end - top) + panels * (gap + below) + foot;
        let row = room.map_or(1.5 * small.size, |room| ((room - around) / bars).max(4.0));

        let mut y = legend_end;
        for (panel, numbers) in self.panels.iter().zip(&numbers) {
            y += gap;
            let height = row * panel.bars.len().max(1) as f64;
            let area = Area { left, right, top: y, bottom: y + height };
            let whole = Area { left: margin, right: canvas.width - margin, ..area };
            let labels = self.panels.iter().map(|one| one.label.as_str());
            tiles::heading(canvas, &panel.label, labels, whole);
            let axes = Panel { area, x, y: Scale { from: 0.0, to: 1.0, logarithmic: false } };
            axes.draw_columns(canvas, true);
            for (index, (bar, number)) in panel.bars.iter().zip(numbers).enumerate() {
                let middle = y + (index as f64 + 0.5) * row;
                draw_bar(canvas, &axes, bar, (middle, row));
                let (face, name) = small.fit(&bar.label, names);
                let colour = canvas.palette.text;
                canvas.text(&name, (left - 2.0 * GAP, middle), Anchor::End, face, colour);
                let (face, number) = small.fit(number, column);
                canvas.text(&number, (canvas.width - margin, middle), Anchor::End, face, colour);
            }
            if let Some(zero) = axes.place_x(0.0) {
                canvas.line((zero, area.top), (zero, area.bottom), canvas.thin(canvas.palette.text));
            }
            axes.draw_frame(canvas);
            y += height + below;
        }
        centred_lines(canvas, &x_label, (left + right) / 2.0, y)
    }
}

/// How bars of less and of more are filled: no colour, as colours stand for classes and parts.
const LESS: Surface = Surface::Hatched;
const MORE: Surface = Surface::Solid;
/// The most of the width that names may take.
const NAMES: f64 = 0.4;

/// As far to one side as to the other.
fn scale(tornado: &Tornado) -> Scale {
    let bars = tornado.panels.iter().flat_map(|panel| &panel.bars);
    let ends = bars.flat_map(|bar| [bar.less, bar.more]).flatten().filter(|end| drawable(*end, false));
    let reach = ends.fold(0.0_f64, |most, end| most.max(end.abs()));
    let reach = if reach > 1e-99 { 1.06 * reach } else { 1.0 };
    Scale { from: -reach, to: reach, logarithmic: false }
}

/// The length of the longer bar, or both where they are not each other's reverse.
fn written(bar: &TornadoBar) -> String {
    let signed = |end: f64| if end > 0.0 { format!("+{}", short(end)) } else { short(end) };
    match (bar.less, bar.more) {
        (Some(less), Some(more)) if (less + more).abs() <= 0.01 * less.abs().max(more.abs()) => signed(more),
        (Some(less), Some(more)) => format!("{} | {}", signed(less), signed(more)),
        (None, Some(more)) => signed(more),
        (Some(less), None) => format!("{} |", signed(less)),
        (None, None) => String::new(),
    }
}

/// More in the upper half of the row, less in the lower one.
fn draw_bar(canvas: &mut Canvas, axes: &Panel, bar: &TornadoBar, (middle, row): (f64, f64)) {
    let half = 0.4 * row;
    for (end, surface, top) in [(bar.more, MORE, middle - half), (bar.less, LESS, middle)] {
        let ends = axes.place_x(0.0).zip(end.and_then(|end| axes.place_x(end)));
        let Some((zero, end)) = ends else { continue };
        let (left, right): Place = if zero < end { (zero, end) } else { (end, zero) };
        let (left, right) = (left.max(axes.area.left), right.min(axes.area.right));
        let area = Area { left, right, top, bottom: top + half };
        if area.width() > 0.0 {
            let colour = canvas.palette.muted;
            legend::swatch(canvas, area, colour, surface);
        }
    }
}
