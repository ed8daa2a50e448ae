//! Stacked bars: the models side by side, the published one of two pale, and the simulation hatched.

use flitwise_experiment::answer::ClassSimulation;
use flitwise_language::quantity::Quantity;
use flitwise_models::answer::Answer;
use flitwise_models::model::Model;

use super::*;
use crate::assemble::{noting, solved};
use crate::draw::canvas::{Area, Canvas, Pen};
use crate::draw::frame::{GAP, Panel, centred_lines, width_of_numbers, y_label};
use crate::draw::legend::{self, Entry, Sample, Surface};
use crate::draw::palette::RGBColor;
use crate::draw::scale::{Scale, drawable, label, quantile, robust_top, short};
use crate::draw::tiles::{self, Tiles};
use crate::picture::Part;

/// Stacked bars: panels side by side.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Stacked {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Names of the parts, from the bottom up.
    pub parts: Vec<String>,
    /// Which parts they are, which decides their colours.
    pub kinds: Vec<Part>,
    /// One per class.
    pub panels: Vec<StackedPanel>,
}

/// The bars of one class.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StackedPanel {
    /// What stands above it.
    pub label: String,
    /// Bars in the order of `x`; at one `x` one per origin, side by side.
    pub bars: Vec<Bar>,
}

/// A stacked bar.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Bar {
    /// Where on the horizontal axis.
    pub x: f64,
    /// Where its numbers come from.
    pub origin: Origin,
    /// Heights of the parts, from the bottom up; `None` where there is no such number.
    pub parts: Vec<Option<f64>>,
    /// Lower and upper end of the 95 % interval of the whole, for simulations.
    pub interval_95: Option<(f64, f64)>,
    /// Whether the class is saturated: the bar has no upper end.
    pub saturated: bool,
}

/// Parts of the latency over a sweep.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// What varies.
    x: Sweep,
    /// Which parts.
    parts: Parts,
}

/// How the latency of a message is told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parts {
    /// Transfer, blocking, sharing and waiting: what the paper names.
    Causes,
    /// Where a message waits, router by router, its transfer left out: what simulation and refined model tell apart.
    Places,
}

impl Parts {
    /// The same, as what is drawn.
    fn kinds(self) -> &'static [Part] {
        match self {
            Self::Causes => &[Part::Transfer, Part::Blocking, Part::Sharing, Part::Waiting],
            Self::Places => &[Part::Input, Part::Arbitration, Part::Output, Part::Gaps, Part::Waiting],
        }
    }

    /// The parts, from the bottom up.
    fn quantities(self) -> &'static [Quantity] {
        use Quantity::{Arbitration, Blocking, Gaps, Input, Output, Sharing, Transfer, Waiting};
        match self {
            Self::Causes => &[Transfer, Blocking, Sharing, Waiting],
            Self::Places => &[Input, Arbitration, Output, Gaps, Waiting],
        }
    }
}

/// What [`Parts::Places`] are called.
const PLACES: [&str; 5] =
    ["header in input buffers", "arbitration", "header in output buffers", "gaps behind it", "at the source"];

impl FigureFile for Question {
    const WORD: &'static str = "stacked";
    const KEYS: &'static [&'static str] = &["x", "classes", "sources", "parts"];

    fn read(reading: &mut Reading<'_>, root: &Table<'_>, _: Option<&Scenario>) -> Option<Self> {
        let (x, parts) = (reading.sweep(root, "x"), read_parts(reading, root));
        Some(Self { x: x?, parts: parts? })
    }
}

fn read_parts(reading: &mut Reading<'_>, root: &Table<'_>) -> Option<Parts> {
    if root.get("parts").is_none() {
        return Some(Parts::Causes);
    }
    reading.reader.word(root, "parts", &[Parts::Causes, Parts::Places], |parts| match parts {
        Parts::Causes => "causes",
        Parts::Places => "places",
    })
}

impl FigureKind for Question {
    fn points(&self) -> Vec<Spot<'_>> {
        self.x.values.iter().map(|value| Spot { variant: None, at: vec![(&self.x, *value)] }).collect()
    }

    fn swept(&self) -> Option<&Sweep> {
        Some(&self.x)
    }

    fn content(&self, figure: &Figure, runs: Runs<'_>, notes: &mut Vec<Note>) -> Content {
        let Self { x, parts: asked } = self;
        let parts = asked.quantities();
        let scenario = |value| figure.at(None, &[(x, value)]).ok();
        let answers: Vec<(Model, Vec<Option<Answer>>)> = figure
            .models()
            .map(|model| (model, solved(model, &x.values, scenario, false, noting(notes, ""))))
            .collect();
        let mut not_apart: Vec<Model> = Vec::new();
        let mut panel = |class: usize| {
            let mut bars = Vec::new();
            for (at, value) in x.values.iter().enumerate() {
                for (model, answers) in &answers {
                    let Some(class) = answers[at].as_ref().map(|answer| &answer.classes[class]) else {
                        continue;
                    };
                    let heights: Vec<Option<f64>> =
                        parts.iter().map(|part| class.value((*part).into())).collect();
                    let known = class.network_latency_cycles.is_some();
                    if *asked == Parts::Places && known && class.input_cycles.is_none() {
                        not_apart.push(*model);
                        continue;
                    }
                    bars.push(Bar {
                        x: *value,
                        origin: Origin::from(*model),
                        parts: heights,
                        interval_95: None,
                        saturated: class.saturated,
                    });
                }
                if let Some(class) = runs.simulations.get(at).map(|simulation| &simulation.classes[class]) {
                    bars.push(simulated_bar(*value, *asked, class));
                }
            }
            StackedPanel { label: figure.scenario.classes()[class].name.clone(), bars }
        };
        let panels = figure.class_indices().into_iter().map(&mut panel).collect();
        not_apart.dedup();
        let text = |model: &Model| format!("the {model} model does not tell places apart");
        notes.extend(not_apart.iter().map(|model| Note { place: note::Place::default(), text: text(model) }));
        let (label, parts) = match asked {
            Parts::Causes => ("Message latency", parts.iter().map(|part| part.name().to_owned()).collect()),
            Parts::Places => ("Time beyond that of a lone message", PLACES.map(str::to_owned).to_vec()),
        };
        Content::Stacked(Stacked {
            x: x.axis.clone(),
            y: Axis { label: label.to_owned(), unit: "cycles".to_owned(), logarithmic: false },
            parts,
            kinds: asked.kinds().to_vec(),
            panels,
        })
    }
}

/// What was simulated of a class, parted as it is asked.
fn simulated_bar(x: f64, asked: Parts, class: &ClassSimulation) -> Bar {
    let value = |quantity: Quantity| class.value(quantity.into());
    let whole = value(Quantity::TotalLatency);
    // a lone message takes the same time whenever it comes: no error of its own
    let left_out = match asked {
        Parts::Causes => 0.0,
        Parts::Places => value(Quantity::Transfer).map_or(0.0, |part| part.value),
    };
    let part = |part: &Quantity| value(*part).map(|part| part.value);
    Bar {
        x,
        origin: Origin::Simulation,
        parts: asked.quantities().iter().map(part).collect(),
        interval_95: whole.and_then(|whole| Some((whole.lower_95? - left_out, whole.upper_95? - left_out))),
        saturated: class.saturated,
    }
}

impl Chart for Stacked {
    fn table(&self) -> rows::Table {
        let (x, y) = (column("x", &self.x), column("y", &self.y));
        let (low, high) = (column("whole_lower_95", &self.y), column("whole_upper_95", &self.y));
        let heads = ["panel", "origin", &x, "part", &y, &low, &high, "saturated"];
        let rows = self.panels.iter().flat_map(|panel| {
            panel.bars.iter().flat_map(move |bar| {
                self.parts.iter().zip(&bar.parts).map(move |(part, height)| {
                    vec![
                        panel.label.clone(),
                        bar.origin.word().to_owned(),
                        bar.x.to_string(),
                        part.clone(),
                        number(*height),
                        number(bar.interval_95.map(|interval| interval.0)),
                        number(bar.interval_95.map(|interval| interval.1)),
                        bar.saturated.to_string(),
                    ]
                })
            })
        });
        rows::Table::new(&heads, rows)
    }

    fn origins(&self) -> Vec<Origin> {
        self.panels.iter().flat_map(|panel| panel.bars.iter().map(|bar| bar.origin)).collect()
    }

    fn description(&self) -> String {
        let panels: Vec<&str> = self.panels.iter().map(|panel| panel.label.as_str()).collect();
        let parts: Vec<&str> = self.parts.iter().map(String::as_str).collect();
        let axes = over(&self.y, &self.x);
        format!("Stacked bars: {axes}, for {}; parts: {}", listed(&panels), listed(&parts))
    }

    fn draw(&self, canvas: &mut Canvas<'_>, top: f64, room: Option<f64>) -> f64 {
        // each class has its own scale: best effort would flatten all others
        let scales: Vec<Scale> = self.panels.iter().map(y_scale).collect();
        let legend_end = legend::draw(canvas, &legend_entries(canvas, self, &scales), top);
        let x_label = canvas.text.wrap(&label(&self.x), canvas.width - 2.0 * canvas.margin, 3);
        let foot = x_label.len() as f64 * canvas.text.line_height();

        let gaps = (canvas.text.size, canvas.small.line_height() + canvas.text.line_height() + 2.0 * GAP);
        let right = canvas.width - canvas.margin;
        let roughly = right - 5.0 * canvas.text.size;
        let tiles = Tiles::new(self.panels.len(), roughly, 13.0 * canvas.text.size);
        let rows = tiles.rows as f64;
        let height = match room {
            Some(room) => ((room - (legend_end - top) - foot - rows * gaps.1) / rows).max(20.0),
            None => (canvas.width * HEIGHT).max(110.0),
        };
        let all_rows = rows * (height + gaps.1) - gaps.1;
        let y_lines = canvas.text.wrap(&label(&self.y), all_rows, 3);
        let widths = scales.iter().map(|y| width_of_numbers(canvas, *y, height));
        let numbers = widths.fold(0.0, f64::max);
        let gaps = (gaps.0 + numbers, gaps.1);
        let left = canvas.margin * 0.6 + y_lines.len() as f64 * canvas.text.line_height() + numbers;
        let columns = tiles.columns as f64;
        let width = ((right - left - (columns - 1.0) * gaps.0) / columns).max(1.0);
        let from = (left, legend_end + canvas.text.line_height() + GAP);

        let origins = origins(self);
        for (index, (content, y)) in self.panels.iter().zip(scales).enumerate() {
            let area = tiles.area(index, from, (width, height), gaps);
            let x = Scale { from: 0.0, to: 1.0, logarithmic: false };
            let panel = Panel { area, x, y };
            panel.draw_grid(canvas, true);
            let labels = self.panels.iter().map(|one| one.label.as_str());
            tiles::heading(canvas, &content.label, labels, area);
            draw_panel(canvas, &panel, (self, content), &origins);
            panel.draw_frame(canvas);
        }
        y_label(canvas, &y_lines, left - numbers, from.1 + all_rows / 2.0);
        let end = from.1 + all_rows + 2.0 * GAP + canvas.small.line_height();
        centred_lines(canvas, &x_label, (left + right) / 2.0, end)
    }
}

/// Height of a panel as a share of the width of the figure.
const HEIGHT: f64 = 0.42;

/// Heights of the parts; what is no number or below zero has none.
fn heights(bar: &Bar) -> impl Iterator<Item = f64> {
    bar.parts.iter().map(|part| part.filter(|height| drawable(*height, false)).unwrap_or(0.0).max(0.0))
}

fn is_empty(bar: &Bar) -> bool {
    heights(bar).sum::<f64>() <= 0.0
}

/// From zero to the tallest steady bar or interval of a panel, but of each origin at most four times the median.
fn y_scale(panel: &StackedPanel) -> Scale {
    let mut tops = Vec::new();
    for origin in Origin::ALL {
        let bars = panel.bars.iter().filter(|bar| bar.origin == origin && !bar.saturated);
        let values: Vec<f64> = bars
            .flat_map(|bar| [Some(heights(bar).sum()), bar.interval_95.map(|ends| ends.1)])
            .flatten()
            .collect();
        tops.extend(robust_top(&values));
    }
    if tops.iter().all(|top| *top <= 0.0) {
        let all = panel.bars.iter().map(|bar| heights(bar).sum());
        tops.extend(quantile(&all.collect::<Vec<f64>>(), 0.5));
    }
    Scale { from: 0.0, ..Scale::around(tops.into_iter().chain([0.0]), false, 0.08) }
}

fn legend_entries(canvas: &Canvas, stacked: &Stacked, scales: &[Scale]) -> Vec<Entry> {
    let part = |(index, name): (usize, &String)| {
        let colour = canvas.palette.part(kind(stacked, index));
        Entry::new(Sample::Swatch { colour, surface: Surface::Solid }, name.clone())
    };
    let mut entries: Vec<Entry> = stacked.parts.iter().enumerate().map(part).collect();
    let bars = || stacked.panels.iter().flat_map(|panel| &panel.bars);
    let origins = origins(stacked);
    for origin in &origins {
        let surface = surface(*origin, &origins);
        let text = match (surface, origin) {
            (_, Origin::Simulation) => "hatched: simulation with 95 % interval".to_owned(),
            (Surface::Pale, model) => format!("pale: {}", model.legend()),
            (_, model) => format!("solid: {}", model.legend()),
        };
        let colour = canvas.palette.muted;
        entries.push(Entry::new(Sample::Swatch { colour, surface }, text));
    }
    if bars().any(|bar| bar.saturated) {
        entries.push(Entry::new(Sample::Endless, "saturated: no upper end"));
    }
    let mut panels = stacked.panels.iter().zip(scales);
    let over = |bar: &Bar, y: &Scale| !bar.saturated && heights(bar).sum::<f64>() > y.to;
    if panels.any(|(panel, y)| panel.bars.iter().any(|bar| over(bar, y))) {
        entries.push(Entry::new(Sample::Beyond, "beyond the frame"));
    }
    entries
}

/// What the part at this place is.
fn kind(stacked: &Stacked, index: usize) -> Part {
    stacked.kinds.get(index).copied().unwrap_or(Part::ALL[index % Part::ALL.len()])
}

/// Whose bars there are, from left to right.
fn origins(stacked: &Stacked) -> Vec<Origin> {
    let bars = || stacked.panels.iter().flat_map(|panel| &panel.bars);
    Origin::ALL.into_iter().filter(|origin| bars().any(|bar| bar.origin == *origin)).collect()
}

/// A model is solid; beside the refined one the published one is pale.
fn surface(origin: Origin, among: &[Origin]) -> Surface {
    match origin {
        Origin::Simulation | Origin::Printed | Origin::Given | Origin::Exact => Surface::Hatched,
        Origin::PUBLISHED if among.contains(&Origin::REFINED) => Surface::Pale,
        Origin::Model(_) | Origin::Anchored => Surface::Solid,
    }
}

/// All places of bars, ascending.
fn places(panel: &StackedPanel) -> Vec<f64> {
    let mut xs: Vec<f64> = panel.bars.iter().map(|bar| bar.x).filter(|x| x.is_finite()).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    xs
}

fn draw_panel(
    canvas: &mut Canvas,
    panel: &Panel,
    (stacked, content): (&Stacked, &StackedPanel),
    origins: &[Origin],
) {
    let colours: Vec<RGBColor> =
        (0..stacked.parts.len()).map(|index| canvas.palette.part(kind(stacked, index))).collect();
    let xs = places(content);
    let slot = panel.area.width() / xs.len().max(1) as f64;
    // two places are kept free for two kinds of bars even if there is one
    let kinds = origins.len().max(2) as f64;
    let width = (slot * 0.76 / kinds).min(canvas.text.size * 2.5);
    let gap = 0.02 * slot;
    for (index, x) in xs.iter().enumerate() {
        let middle = panel.area.left + (index as f64 + 0.5) * slot;
        for bar in content.bars.iter().filter(|bar| bar.x == *x) {
            let at = origins.iter().position(|origin| *origin == bar.origin).unwrap_or(0);
            let at = if origins == [Origin::Simulation] { 1 } else { at };
            // models up to one another, the simulation a little apart from them
            let apart = if bar.origin == Origin::Simulation { gap } else { 0.0 };
            let left = middle + (at as f64 - kinds / 2.0) * width + apart;
            let look = (colours.as_slice(), surface(bar.origin, origins));
            draw_bar(canvas, panel, bar, look, (left, left + width));
        }
    }
    let numbers: Vec<String> = xs.iter().map(|x| short(*x)).collect();
    tiles::numbers_below(canvas, &numbers, panel.area);
}

fn draw_bar(
    canvas: &mut Canvas,
    panel: &Panel,
    bar: &Bar,
    (colours, surface): (&[RGBColor], Surface),
    (left, right): (f64, f64),
) {
    let area = panel.area;
    let mut below = 0.0;
    for (index, height) in heights(bar).enumerate() {
        let ends = panel.place_y(below).zip(panel.place_y(below + height));
        below += height;
        let Some((bottom, top)) = ends else { continue };
        let part = Area { left, right, top: top.max(area.top), bottom: bottom.min(area.bottom) };
        if part.height() > 0.0 {
            let colour = colours.get(index).copied().unwrap_or(canvas.palette.muted);
            legend::swatch(canvas, part, colour, surface);
        }
    }
    let over = panel.place_y(below).is_none_or(|top| top < area.top - 0.5);
    if bar.saturated || over {
        draw_open_end(canvas, panel, bar, (left, right), below);
    } else if let Some((low, high)) = bar.interval_95
        && let Some((low, high)) = panel.place_y(low).zip(panel.place_y(high))
    {
        let within = |y: f64| y.clamp(area.top, area.bottom);
        let colour = canvas.palette.text;
        legend::interval(canvas, (left + right) / 2.0, (within(low), within(high)), colour);
    }
}

/// A bar that has no end: dotted on to the frame, with an arrow there if it is saturated.
fn draw_open_end(canvas: &mut Canvas, panel: &Panel, bar: &Bar, (left, right): (f64, f64), sum: f64) {
    let area = panel.area;
    let pen = Pen { colour: canvas.palette.muted, width: canvas.palette.thin };
    let top = panel.place_y(sum).unwrap_or(area.top).clamp(area.top, area.bottom);
    let tip = ((left + right) / 2.0, area.top + 2.0);
    if bar.saturated {
        for x in [left, right] {
            legend::dashed(canvas, &[(x, top), (x, area.top)], 1, pen);
        }
        let (colour, halo) = (canvas.palette.text, canvas.palette.background);
        canvas.disc((tip.0, tip.1 + canvas.small.size * 0.36), canvas.small.size * 0.5, halo);
        legend::arrow(canvas, tip, colour);
    } else if !is_empty(bar) {
        let colour = canvas.palette.text;
        canvas.disc(
            (tip.0, tip.1 + canvas.small.size * 0.3),
            canvas.small.size * 0.45,
            canvas.palette.background,
        );
        legend::beyond(canvas, tip, true, colour);
    }
}
