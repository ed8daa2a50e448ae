//! Heat map of a quantity over two axes. All cells have the same size.

use flitwise_experiment::answer::ConfidenceInterval;
use flitwise_language::quantity::Measure;
use flitwise_language::scenario::{DeadlineSpec, Scenario};
use flitwise_models::answer::Answer;

use super::*;
use crate::assemble::{needs_distribution, noting, solved};
use crate::draw::canvas::{Anchor, Area, Canvas, Pen};
use crate::draw::font::Face;
use crate::draw::frame::{GAP, centred_lines, y_label};
use crate::draw::legend::{self, Entry, Sample, Surface};
use crate::draw::palette::{RGBColor, legible_on, on_scale};
use crate::draw::scale::{Scale, label, quantile, robust_top, short};
use crate::draw::tiles::{self, Tiles};

/// A quantity over two axes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HeatMap {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What the colours stand for.
    pub z: Axis,
    /// Columns.
    pub xs: Vec<f64>,
    /// Rows.
    pub ys: Vec<f64>,
    /// Side by side, with one scale of colours.
    pub panels: Vec<HeatPanel>,
}

/// One map.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HeatPanel {
    /// What stands above it.
    pub label: String,
    /// Where its numbers come from.
    pub origin: Origin,
    /// `cells[row][column]`.
    pub cells: Vec<Vec<HeatCell>>,
}

/// One cell of a map.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HeatCell {
    /// The quantity; `None` if there is no such number.
    pub z: Option<f64>,
    /// Half-width of its 95 % interval, for simulations.
    pub half_width_95: Option<f64>,
    /// Whether the class is saturated there.
    pub saturated: bool,
}

/// A quantity of one class over two sweeps.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// What varies from left to right.
    x: Sweep,
    /// What varies from the bottom up.
    y: Sweep,
    /// What is drawn.
    measure: Measure,
    /// Of which class.
    class: Option<String>,
}

impl FigureFile for Question {
    const WORD: &'static str = "heat-map";
    const KEYS: &'static [&'static str] = &["x", "y", "z", "sources"];

    fn read(reading: &mut Reading<'_>, root: &Table<'_>, _: Option<&Scenario>) -> Option<Self> {
        let (x, y) = (reading.sweep(root, "x"), reading.sweep(root, "y"));
        let help = "add  [z]  with  quantity = \"network-latency\"  and  class = \"BE\"";
        reading.reader.require(root, "z", "a [z] table", Some(help));
        let z = reading.reader.table(root, "z")?;
        reading.reader.require(&z, "class", "the name of a class", None);
        let class = reading.reader.text(&z, "class");
        let measures = reading.measures(&z)?;
        if measures.len() > 1 {
            reading.refuse(&z, "at", format!("{} deadlines", measures.len()), "one in a heat-map");
        }
        if let (Some(x), Some(y)) = (&x, &y)
            && x.key == y.key
        {
            reading.refuse(root, "y", format!("the key {} again", y.key), "a key other than that of [x]");
        }
        let measure = measures.into_iter().next();
        Some(Self { x: x?, y: y?, measure: measure?, class })
    }
}

impl FigureKind for Question {
    fn points(&self) -> Vec<Spot<'_>> {
        let row = |row: &f64| {
            let at = *row;
            let spot =
                move |column: &f64| Spot { variant: None, at: vec![(&self.x, *column), (&self.y, at)] };
            self.x.values.iter().map(spot)
        };
        self.y.values.iter().flat_map(row).collect()
    }

    fn swept(&self) -> Option<&Sweep> {
        Some(&self.x)
    }

    fn row_axis(&self) -> Option<&Axis> {
        Some(&self.y.axis)
    }

    fn rows(&self) -> Vec<String> {
        self.y.values.iter().map(f64::to_string).collect()
    }

    fn deadlines(&self) -> Vec<DeadlineSpec> {
        self.measure.deadline().into_iter().collect()
    }

    fn class(&self) -> Option<(&'static str, &str)> {
        Some(("z", self.class.as_deref()?))
    }

    fn content(&self, figure: &Figure, runs: Runs<'_>, notes: &mut Vec<Note>) -> Content {
        let Self { x, y, measure, .. } = self;
        let class = figure.class_indices().first().copied().unwrap_or(0);
        let name = &figure.scenario.classes()[class].name;
        let mut panels = Vec::new();
        for model in figure.models() {
            let rows = y.values.iter().map(|row| {
                let at = |column| figure.at(None, &[(x, column), (y, *row)]).ok();
                let answers = solved(
                    model,
                    &x.values,
                    at,
                    needs_distribution(&[*measure]),
                    noting(notes, &row.to_string()),
                );
                let cell = |answer: &Option<Answer>| {
                    let class = answer.as_ref().map(|answer| &answer.classes[class]);
                    HeatCell {
                        z: class.and_then(|class| class.value(*measure)),
                        half_width_95: None,
                        saturated: class.is_some_and(|class| class.saturated),
                    }
                };
                answers.iter().map(cell).collect()
            });
            let cells: Vec<Vec<HeatCell>> = rows.collect();
            let label = Origin::from(model).legend().to_owned();
            // of a model that has no answer at all there is a note, not an empty map
            if cells.iter().flatten().any(|cell| cell.z.is_some() || cell.saturated) {
                panels.push(HeatPanel { label, origin: Origin::from(model), cells });
            }
        }
        if figure.has(Origin::Simulation) {
            let cell = |simulation: &Simulation| {
                let class = &simulation.classes[class];
                let found = class.value(*measure);
                HeatCell {
                    z: found.map(|found| found.value),
                    half_width_95: found.and_then(ConfidenceInterval::half_width_95),
                    saturated: class.saturated,
                }
            };
            let rows = runs.simulations.chunks(x.values.len());
            let cells = rows.map(|row| row.iter().map(cell).collect()).collect();
            panels.push(HeatPanel { label: "simulation".to_owned(), origin: Origin::Simulation, cells });
        }
        Content::HeatMap(HeatMap {
            x: x.axis.clone(),
            y: y.axis.clone(),
            z: Axis {
                label: format!("{name} {}", measure.name()),
                unit: measure.quantity.unit().word().to_owned(),
                logarithmic: false,
            },
            xs: x.values.clone(),
            ys: y.values.clone(),
            panels,
        })
    }
}

impl Chart for HeatMap {
    fn table(&self) -> rows::Table {
        let (x, y, z) = (column("x", &self.x), column("y", &self.y), column("z", &self.z));
        let width = column("half_width_95", &self.z);
        let heads = ["panel", "origin", &x, &y, &z, &width, "saturated"];
        let rows = self.panels.iter().flat_map(|panel| {
            let rows = panel.cells.iter().zip(&self.ys);
            rows.flat_map(move |(cells, y)| {
                cells.iter().zip(&self.xs).map(move |(cell, x)| {
                    vec![
                        panel.label.clone(),
                        panel.origin.word().to_owned(),
                        x.to_string(),
                        y.to_string(),
                        number(cell.z),
                        number(cell.half_width_95),
                        cell.saturated.to_string(),
                    ]
                })
            })
        });
        rows::Table::new(&heads, rows)
    }

    fn origins(&self) -> Vec<Origin> {
        self.panels.iter().map(|panel| panel.origin).collect()
    }

    fn description(&self) -> String {
        format!("Heat map: {} over {} and {}", label(&self.z), label(&self.x), label(&self.y))
    }

    fn draw(&self, canvas: &mut Canvas<'_>, top: f64, room: Option<f64>) -> f64 {
        let z = z_scale(self);
        let after_bar = draw_scale(canvas, &self.z, z, is_capped(self, z), top);
        let legend_end = legend::draw(canvas, &legend_entries(canvas, self, z), after_bar);
        let (xs, ys): (Vec<String>, Vec<String>) =
            (self.xs.iter().map(|x| short(*x)).collect(), self.ys.iter().map(|y| short(*y)).collect());
        let x_label = canvas.text.wrap(&label(&self.x), canvas.width - 2.0 * canvas.margin, 3);
        let foot = x_label.len() as f64 * canvas.text.line_height();

        let gaps = (canvas.text.size, canvas.small.line_height() + canvas.text.line_height() + 2.0 * GAP);
        let right = canvas.width - canvas.margin;
        let tiles = Tiles::new(self.panels.len(), right - 5.0 * canvas.text.size, 13.0 * canvas.text.size);
        let (columns, rows) = (tiles.columns as f64, tiles.rows as f64);
        let numbers = ys.iter().map(|text| canvas.small.width(text)).fold(0.0, f64::max) + 2.0 * GAP;
        // the label may take two lines; how many is known only with the height
        let roughly = (right - 4.0 * canvas.text.size - numbers) / columns;
        let height = match room {
            Some(room) => ((room - (legend_end - top) - foot - rows * gaps.1) / rows).max(20.0),
            None => (roughly * 0.85).clamp(90.0, 420.0),
        };
        let all_rows = rows * (height + gaps.1) - gaps.1;
        let y_lines = canvas.text.wrap(&label(&self.y), all_rows, 3);
        let left = canvas.margin * 0.6 + y_lines.len() as f64 * canvas.text.line_height() + numbers;
        let width = ((right - left - (columns - 1.0) * gaps.0) / columns).max(1.0);
        let from = (left, legend_end + canvas.text.line_height() + GAP);
        let mut uncertain = false;
        for (index, panel) in self.panels.iter().enumerate() {
            let area = tiles.area(index, from, (width, height), gaps);
            let labels = self.panels.iter().map(|one| one.label.as_str());
            tiles::heading(canvas, &panel.label, labels, area);
            uncertain |= draw_cells(canvas, self, panel, z, area);
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
