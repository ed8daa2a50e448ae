//! Pipeline diagram: which stage each flit of the first messages is in, cycle by cycle, in one run.

use flitwise_language::scenario::Scenario;
use flitwise_simulator::diagram::{self, Diagram};
use flitwise_simulator::record::Message;

use super::*;
use crate::draw::canvas::{Anchor, Area, Canvas, Pen};
use crate::draw::font::Face;
use crate::draw::frame::GAP;
use crate::draw::palette::{Palette, RGBColor, legible_on, on_scale};
use crate::picture::Part;

/// Messages that are drawn, unless the file says how many, and the most of them.
const USUAL_MESSAGES: u32 = 3;
const MOST_MESSAGES: u32 = 12;
/// Most cycles at which the picture can be stopped.
const MOST_TIMES: usize = 240;
/// Columns of a panel at most: what a message does later is not drawn.
const MOST_COLUMNS: u64 = 160;
/// Most pairs of lanes of a router, times routers: what a cycle of the plain simulator costs.
const MOST_PAIRS: f64 = 1e6;

/// Stages of the flits of the first messages of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Pipeline {
    /// Stages of a router.
    pub stages: u32,
    /// The last cycle that is drawn; `null`: the last in which anything moves.
    pub until: Option<u64>,
    /// Cycles of its moments.
    pub times: Vec<u64>,
    /// One for each message, in the order in which they entered the network.
    pub panels: Vec<PipelinePanel>,
}

/// A message and its flits.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PipelinePanel {
    /// Its class, whence it comes and where it goes.
    pub label: String,
    /// The cycle of the first column.
    pub first: u64,
    /// When its tail has left the network; `null` if it has not.
    pub delivered: Option<u64>,
    /// From entering the network to that \[cycles\].
    pub network_latency: Option<u64>,
    /// At its source \[cycles\].
    pub waiting: Option<u64>,
    /// By flit, by column: `i` over the injection link, the number of a stage (a letter from 10 on), `.` waits in an
    /// input buffer, `:` waits in an output buffer, a space: nothing.
    pub flits: Vec<String>,
}

impl PipelinePanel {
    /// Cycles from its first one to its last.
    fn columns(&self) -> usize {
        self.flits.iter().map(|flit| flit.chars().count()).max().unwrap_or(0)
    }

    /// The state of the message in cycle `until`.
    fn state(&self, until: Option<u64>) -> String {
        let is_past = |cycle: u64| until.is_none_or(|until| cycle <= until);
        match (self.delivered, self.network_latency, self.waiting) {
            (Some(delivered), Some(latency), Some(waiting)) if is_past(delivered) => {
                format!("latency {latency} cycles, waiting {waiting}")
            }
            _ if !is_past(self.first) => "at its source".to_owned(),
            _ => "under way".to_owned(),
        }
    }
}

/// The first messages of a run.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    messages: u32,
    /// Cycles of its moments; empty: every cycle.
    times: Vec<u64>,
}

impl FigureFile for Question {
    const WORD: &'static str = "pipeline";
    const KEYS: &'static [&'static str] = &["messages", "x"];

    fn sources() -> (&'static [Origin], Vec<Origin>) {
        (&[], Vec::new())
    }

    fn read(reading: &mut Reading<'_>, root: &Table<'_>, _: Option<&Scenario>) -> Option<Self> {
        let messages = reading.reader.whole(root, "messages").unwrap_or(USUAL_MESSAGES);
        if !(1..=MOST_MESSAGES).contains(&messages) {
            let wanted = format!("1 to {MOST_MESSAGES}");
            reading.refuse(root, "messages", messages.to_string(), &wanted);
        }
        let times = reading.cycles(root, MOST_TIMES);
        Some(Self { messages, times })
    }
}

impl FigureKind for Question {
    fn is_settled(&self) -> bool {
        true
    }

    fn refused(&self, scenario: &Scenario, place: &Place) -> Vec<Fault> {
        match flitwise_simulator::supports(scenario) {
            Ok(()) => too_large(scenario, MOST_PAIRS, place).into_iter().collect(),
            Err(faults) => faults,
        }
    }

    fn content(&self, figure: &Figure, _: Runs<'_>, notes: &mut Vec<Note>) -> Content {
        let scenario = figure.scenario();
        let diagram = diagram::watch(scenario, SEED, self.messages).unwrap_or_default();
        let found = diagram.messages();
        let panels: Vec<PipelinePanel> = found
            .iter()
            .enumerate()
            .filter_map(|(at, (message, delivery))| {
                let mut panel = panel(scenario, &diagram, (at, message))?;
                panel.delivered = delivery.map(|one| one.delivered_cycle);
                panel.network_latency = delivery.map(|one| one.network_latency_cycles());
                panel.waiting = delivery.map(|one| one.waiting_cycles());
                Some(panel)
            })
            .collect();
        let mut note = |text: String| notes.push(Note { place: note::Place::default(), text });
        if panels.is_empty() {
            note(format!("no message in {} cycles", diagram.cycles()));
        }
        let is_cut = |panel: &PipelinePanel| {
            panel.delivered.is_none_or(|cycle| cycle >= panel.first + panel.columns() as u64)
        };
        if panels.iter().any(is_cut) {
            note(format!("of each message the first {MOST_COLUMNS} cycles are drawn"));
        }
        let (until, times) = match self.times.as_slice() {
            [] => (None, every_cycle(&panels)),
            times => (times.last().copied(), times.to_vec()),
        };
        Content::Pipeline(Pipeline { stages: scenario.data_router().pipeline_stages, until, times, panels })
    }
}

/// A scenario whose cycles take the plain simulator too long.
pub(super) fn too_large(scenario: &Scenario, most: f64, place: &Place) -> Option<Fault> {
    let network = scenario.topology();
    let lanes = scenario.virtual_channels().iter().map(|block| block.end).max().unwrap_or(0);
    let of_router = f64::from(network.ports()) * lanes as f64;
    let pairs = f64::from(network.routers()) * of_router * of_router;
    (pairs > most).then(|| Fault {
        place: place.clone(),
        key: "scenario".to_owned(),
        found: format!("{} with {lanes} virtual channels", network.name()),
        wanted: format!("at most {most:.0} pairs of lanes within routers, of which it has {pairs:.0}"),
        help: None,
    })
}

/// The flits of a message; none if it has not entered.
fn panel(scenario: &Scenario, diagram: &Diagram, (at, message): (usize, &Message)) -> Option<PipelinePanel> {
    let first = message.flits.first()?.left.first().copied()?;
    let end = first + MOST_COLUMNS;
    let line = |flit: usize| {
        let cells = diagram.cells(message, flit);
        let last = cells.last_key_value().map_or(first, |(cycle, _)| (*cycle).min(end - 1));
        (first..=last).map(|cycle| cells.get(&cycle).map_or(' ', |cell| cell.letter())).collect()
    };
    let network = scenario.topology();
    let arrival = message.arrival;
    let class = &scenario.classes()[usize::from(arrival.class)].name;
    let [from, to] = [arrival.source, arrival.destination].map(|node| network.address(node));
    Some(PipelinePanel {
        label: format!("message {}: {class}, node {from} to {to}", at + 1),
        first,
        delivered: None,
        network_latency: None,
        waiting: None,
        flits: (0..message.flits.len()).map(line).collect(),
    })
}

/// The cycles of all panels, as far as moments go.
fn every_cycle(panels: &[PipelinePanel]) -> Vec<u64> {
    let mut cycles: Vec<u64> =
        panels.iter().flat_map(|panel| panel.first..panel.first + panel.columns() as u64).collect();
    cycles.sort_unstable();
    cycles.dedup();
    cycles.truncate(MOST_TIMES);
    cycles
}

impl Chart for Pipeline {
    fn table(&self) -> rows::Table {
        let heads = ["message", "flit", "cycle", "stage"];
        let rows = self.panels.iter().enumerate().flat_map(move |(message, panel)| {
            panel.flits.iter().enumerate().flat_map(move |(flit, cells)| {
                let cells = (panel.first..).zip(cells.chars());
                let drawn = cells.filter(|(cycle, cell)| *cell != ' ' && self.shows(*cycle));
                drawn.map(move |(cycle, cell)| {
                    let stage = match cell {
                        'i' => "injection".to_owned(),
                        '.' => "waits in input buffer".to_owned(),
                        ':' => "waits in output buffer".to_owned(),
                        '-' => "on a link with a delay".to_owned(),
                        stage => stage.to_digit(36).map_or_else(String::new, |number| number.to_string()),
                    };
                    vec![(message + 1).to_string(), (flit + 1).to_string(), cycle.to_string(), stage]
                })
            })
        });
        rows::Table::new(&heads, rows)
    }

    fn origins(&self) -> Vec<Origin> {
        vec![Origin::Simulation]
    }

    fn description(&self) -> String {
        let panel = |panel: &PipelinePanel| {
            format!("{}, {} flits: {}", panel.label, panel.flits.len(), panel.state(self.until))
        };
        let panels: Vec<String> = self.panels.iter().map(panel).collect();
        let until = self.until.map_or_else(String::new, |cycle| format!(" up to cycle {cycle}"));
        format!(
            "Pipeline diagram{until}, a row for each flit, a column for each cycle: {}",
            panels.join("; ")
        )
    }

    fn moments(&self) -> Vec<Content> {
        let at = |cycle: &u64| Self { until: Some(*cycle), times: vec![*cycle], ..self.clone() };
        self.times.iter().map(|cycle| Content::Pipeline(at(cycle))).collect()
    }

    fn draw(&self, canvas: &mut Canvas<'_>, top: f64, room: Option<f64>) -> f64 {
        let below = draw_keys(canvas, self.stages, top);
        let text = canvas.text.line_height();
        let widest = self.panels.iter().map(|panel| panel.flits.len()).max().unwrap_or(0).to_string();
        let left = canvas.margin + canvas.small.width(&widest) + 2.0 * GAP;
        let across = canvas.width - canvas.margin - left;
        let columns = self.panels.iter().map(PipelinePanel::columns).max().unwrap_or(0).max(12);
        let column = (across / columns as f64).min(1.9 * canvas.text.size);
        let head = 2.2 * text;
        let rows =
            Rows::fitted(column, canvas.small.size, room.map(|room| (room - (below - top), self)), head);
        let mut y = below + 0.4 * text;
        for panel in &self.panels {
            let height = rows.height(panel.flits.len());
            let area = Area {
                left,
                right: left + column * columns as f64,
                top: y + head - 0.2 * text,
                bottom: y + head - 0.2 * text + height,
            };
            draw_panel(canvas, self, panel, (column, &rows), area);
            y = area.bottom + 0.9 * text;
        }
        y - 0.5 * text
    }
}

impl Pipeline {
    fn shows(&self, cycle: u64) -> bool {
        self.until.is_none_or(|until| cycle <= until)
    }

    /// What a cell is filled with.
    fn colour(&self, palette: &Palette, letter: char) -> RGBColor {
        stage_colour(palette, letter, self.stages)
    }
}

/// Flits of a message that have rows of full height; of longer ones the first and the last.
const FULL_ROWS: usize = 12;
const FIRST_ROWS: usize = 6;
const LAST_ROWS: usize = 3;

/// Heights of rows.
struct Rows {
    full: f64,
    thin: f64,
}

impl Rows {
    /// Rows for columns of this width, and lower ones where the height is given.
    fn fitted(column: f64, small: f64, room: Option<(f64, &Pipeline)>, head: f64) -> Self {
        let full = (0.95 * column).clamp(0.85 * small, 1.5 * small);
        let rows = Self { full, thin: 0.26 * full };
        let Some((room, pipeline)) = room else { return rows };
        let heights = pipeline.panels.iter().map(|panel| rows.height(panel.flits.len()));
        let (all, wanted) = (room - head * 1.3 * pipeline.panels.len() as f64, heights.sum::<f64>());
        let share = if wanted > all { (all / wanted).max(0.5) } else { 1.0 };
        Self { full: share * full, thin: share * rows.thin }
    }

    /// Whether a flit's row has the full height.
    fn is_full(flit: usize, flits: usize) -> bool {
        flits <= FULL_ROWS || flit < FIRST_ROWS || flit + LAST_ROWS >= flits
    }

    fn of(&self, flit: usize, flits: usize) -> f64 {
        if Self::is_full(flit, flits) { self.full } else { self.thin }
    }

    fn height(&self, flits: usize) -> f64 {
        (0..flits).map(|flit| self.of(flit, flits)).sum()
    }
}

/// What a cell of a stage or a wait is filled with.
fn stage_colour(palette: &Palette, letter: char, stages: u32) -> RGBColor {
    match letter {
        'i' | '-' => palette.faded(palette.part(Part::Transfer), 0.45),
        '.' => palette.faded(palette.part(Part::Blocking), 0.7),
        ':' => palette.faded(palette.part(Part::Sharing), 0.6),
        stage => {
            let number = f64::from(stage.to_digit(36).unwrap_or(1).max(1) - 1);
            on_scale(0.2 + 0.8 * number / f64::from(stages.max(2) - 1))
        }
    }
}

/// A cell with its letter, or with dots where a flit waits.
fn draw_cell(canvas: &mut Canvas, area: Area, letter: char, fill: RGBColor) {
    let inset = (0.06 * area.width()).min(0.6);
    canvas.fill(area.shrunk(inset), fill);
    let colour = legible_on(fill);
    let (x, y) = area.centre();
    let radius = (0.09 * area.width().min(area.height())).max(0.8);
    match letter {
        '.' => canvas.disc((x, y), radius, colour),
        ':' => {
            let aside = 0.18 * area.height();
            canvas.disc((x, y - aside), radius, colour);
            canvas.disc((x, y + aside), radius, colour);
        }
        _ => {
            let size = (0.95 * area.height() / 1.3).min(canvas.small.size);
            let face = Face { size, bold: false };
            let fits = |face: Face| face.width(&letter.to_string()) <= area.width();
            let face = if fits(face) { face } else { Face { size: size * 0.8, ..face } };
            if face.size >= 5.0 && fits(face) {
                canvas.text(&letter.to_string(), (x, y), Anchor::Middle, face, colour);
            }
        }
    }
}

/// What letters and colours mean, from left to right in as many rows as needed; the height where they end.
fn draw_keys(canvas: &mut Canvas, stages: u32, top: f64) -> f64 {
    let name = |number: u32| match number {
        1 => "input buffer",
        _ if number == stages => "link",
        _ if number + 1 == stages => "crossbar",
        _ if number + 2 == stages => "arbitration",
        _ => "routing",
    };
    let numbered =
        (1..=stages.min(35)).map(|number| (char::from_digit(number, 36).unwrap_or('+'), name(number)));
    let waits = [('.', "waits in input buffer"), (':', "waits in output buffer")];
    let keys: Vec<(char, &str)> =
        std::iter::once(('i', "injection link")).chain(numbered).chain(waits).collect();
    let (palette, face) = (canvas.palette, canvas.small);
    let (side, row) = (1.25 * face.size, 1.25 * face.line_height());
    let (mut x, mut y) = (canvas.margin, top);
    for (letter, words) in keys {
        let wide = side + 0.5 * face.size + face.width(words);
        if x > canvas.margin && x + wide > canvas.width - canvas.margin {
            (x, y) = (canvas.margin, y + row);
        }
        let middle = y + row / 2.0;
        let cell = Area { left: x, right: x + side, top: middle - side / 2.0, bottom: middle + side / 2.0 };
        draw_cell(canvas, cell, letter, stage_colour(&palette, letter, stages));
        canvas.text(words, (x + side + 0.4 * face.size, middle), Anchor::Start, face, palette.text);
        x += wide + 0.9 * face.size;
    }
    y + row
}

/// Cycles from one number of the ruler to the next.
const RULER: u64 = 10;

fn draw_panel(
    canvas: &mut Canvas,
    pipeline: &Pipeline,
    panel: &PipelinePanel,
    (column, rows): (f64, &Rows),
    area: Area,
) {
    draw_title(canvas, pipeline, panel, area);
    let (palette, columns) = (canvas.palette, panel.columns());
    let x = |at: usize| area.left + at as f64 * column;
    let now = pipeline.until.and_then(|until| until.checked_sub(panel.first)).map(|at| at as usize);
    let now = now.filter(|at| *at < columns);
    for at in 0..=columns {
        let cycle = panel.first + at as u64;
        if cycle.is_multiple_of(RULER / 2) && at < columns {
            canvas.line((x(at), area.top), (x(at), area.bottom), canvas.thin(palette.grid));
        }
    }
    draw_ruler(canvas, panel, (column, now), area);
    let mut y = area.top;
    for (flit, cells) in panel.flits.iter().enumerate() {
        let height = rows.of(flit, panel.flits.len());
        let cells: Vec<char> = cells
            .chars()
            .enumerate()
            .map(|(at, cell)| if pipeline.shows(panel.first + at as u64) { cell } else { ' ' })
            .collect();
        if Rows::is_full(flit, panel.flits.len()) {
            for (at, letter) in cells.iter().enumerate().filter(|(_, letter)| **letter != ' ') {
                let cell = Area { left: x(at), right: x(at + 1), top: y, bottom: y + height };
                draw_cell(canvas, cell, *letter, pipeline.colour(&palette, *letter));
            }
            let face = Face { size: canvas.small.size.min(0.8 * height), bold: false };
            let place = (area.left - 1.2 * GAP, y + height / 2.0);
            canvas.text(&(flit + 1).to_string(), place, Anchor::End, face, palette.muted);
        } else {
            draw_thin_row(canvas, pipeline, &cells, (column, Area { top: y, bottom: y + height, ..area }));
        }
        y += height;
    }
    if let Some(at) = now {
        let frame = Area { left: x(at), right: x(at + 1), top: area.top - 1.0, bottom: area.bottom + 1.0 };
        canvas.frame(frame, Pen { colour: palette.text, width: 1.4 });
    }
}

/// Equal cells of a thin row as one.
fn draw_thin_row(canvas: &mut Canvas, pipeline: &Pipeline, cells: &[char], (column, row): (f64, Area)) {
    let mut at = 0;
    for run in cells.chunk_by(|one, other| one == other) {
        let (left, right) = (row.left + at as f64 * column, row.left + (at + run.len()) as f64 * column);
        at += run.len();
        if run[0] != ' ' {
            let colour = pipeline.colour(&canvas.palette, run[0]);
            canvas.fill(Area { left, right, bottom: row.bottom - 0.2 * row.height(), ..row }, colour);
        }
    }
}

/// The message, and what has become of it.
fn draw_title(canvas: &mut Canvas, pipeline: &Pipeline, panel: &PipelinePanel, area: Area) {
    let (palette, text) = (canvas.palette, canvas.text);
    let (across, y) = (
        canvas.width - 2.0 * canvas.margin,
        area.top - canvas.small.line_height() - 0.7 * text.line_height(),
    );
    let bold = Face { bold: true, ..text };
    let (face, label) = bold.fit(&panel.label, 0.58 * across);
    canvas.text(&label, (canvas.margin, y), Anchor::Start, face, palette.text);
    // as wide as the last state, so that it does not change its size
    let rest = across - face.width(&label) - text.size;
    let size = canvas.small.fit(&panel.state(None), rest).0.size;
    let state = Face { size, ..canvas.small };
    let words = state.shortened(&panel.state(pipeline.until), rest + 0.5);
    canvas.text(&words, (canvas.width - canvas.margin, y), Anchor::End, state, palette.muted);
}

/// Numbers of cycles above the columns; that of the present one in bold.
fn draw_ruler(canvas: &mut Canvas, panel: &PipelinePanel, (column, now): (f64, Option<usize>), area: Area) {
    let (small, palette) = (canvas.small, canvas.palette);
    let x = |at: usize| area.left + (at as f64 + 0.5) * column;
    let y = area.top - 0.55 * small.line_height();
    let bold = Face { bold: true, ..small };
    let reach =
        |at: usize, face: Face| face.width(&(panel.first + at as u64).to_string()) / 2.0 + 0.2 * small.size;
    if let Some(at) = now {
        canvas.text(&(panel.first + at as u64).to_string(), (x(at), y), Anchor::Middle, bold, palette.text);
    }
    let every =
        RULER * (2.0 * reach(panel.columns(), small) / (column * RULER as f64)).ceil().max(1.0) as u64;
    for at in 0..panel.columns() {
        let cycle = panel.first + at as u64;
        let is_free = now.is_none_or(|now| (x(at) - x(now)).abs() > reach(at, small) + reach(now, bold));
        if cycle.is_multiple_of(every) && is_free && x(at) + reach(at, small) < canvas.width {
            canvas.text(&cycle.to_string(), (x(at), y), Anchor::Middle, small, palette.muted);
        }
    }
}

#[cfg(test)]
mod tests {
    use flitwise_language::scenario::{ClassSpec, NetworkSpec, Preset, ScenarioSpec};

    use super::*;
    use crate::draw::{Style, svg};

    /// The cells of a lone message are those that `simulate --watch` prints.
    #[test]
    fn a_lone_message_goes_stage_by_stage() {
        let mut spec = ScenarioSpec { classes: vec![ClassSpec::real_time("A", 1e-6)], ..Default::default() };
        spec.classes[0].message_flits = 3;
        spec.network = NetworkSpec::Hypercube { dimension: 1, self_traffic: None };
        let scenario = spec.check().unwrap();
        let diagram = diagram::watch(&scenario, 1, 1).unwrap();
        let panel = panel(&scenario, &diagram, (0, &diagram.messages()[0].0)).unwrap();
        assert_eq!(panel.flits, ["i1234512345", " i1..451..45", "  i1..451..45"]);
        let text = diagram.to_string();
        for (flit, line) in panel.flits.iter().enumerate() {
            assert!(text.contains(&format!("flit {:>3}  {line}", flit + 1)), "{text}");
        }
    }

    /// Every moment is as large as the whole, and shows a cycle more than the one before.
    #[test]
    fn moments_are_alike() {
        let text = "title = \"a\"\nkind = \"pipeline\"\nmessages = 2\n[scenario]\npreset = \"router16\"\n";
        let figure = Figure::from_toml("t.toml", text, "t", &|_: &str| Err(Vec::new())).unwrap();
        let whole = figure.picture(&[]);
        let moments = whole.moments();
        assert!((36..=MOST_TIMES).contains(&moments.len()), "{}", moments.len());
        let size = |picture: &crate::picture::Picture| {
            let drawn = svg(picture, &Style::default());
            let head = drawn.split_once("viewBox=\"").unwrap().1;
            head.split_once('"').unwrap().0.to_owned()
        };
        for moment in moments.iter().step_by(7) {
            assert_eq!(size(moment), size(&whole));
        }
        let rows: Vec<usize> =
            moments.iter().map(|moment| moment.content.chart().table().rows.len()).collect();
        assert!(rows.windows(2).all(|pair| pair[0] <= pair[1]) && rows[0] < rows[30], "{rows:?}");
        assert_eq!(rows.last(), Some(&whole.content.chart().table().rows.len()));
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let cube = Preset::find("cube7").unwrap().scenario();
        assert_eq!(too_large(&cube, MOST_PAIRS, &Place::Program), None);
        assert!(too_large(&cube, 1e3, &Place::Program).unwrap().to_string().contains("pairs of lanes"));
    }
}
