//! Stamps on an output link: which flits wait there in each cycle, the stamps that the scheduler gave them, and which
//! of them the link takes.

use flitwise_language::document::one_of;
use flitwise_language::scenario::{Crossbar, Scenario, Scheduler};
use flitwise_simulator::record::{Record, record, unrecorded};

use super::pipeline::too_large;
use super::*;
use crate::draw::canvas::{Anchor, Area, Canvas, Pen};
use crate::draw::font::Face;
use crate::draw::frame::GAP;
use crate::draw::legend::{self, Entry, Sample, Surface};
use crate::draw::palette::legible_on;
use crate::picture::class_styles;

/// Cycles that are drawn unless the file says which, and the most of them.
const USUAL_WINDOW: u64 = 24;
const MOST_WINDOW: u64 = 60;
/// Cycles that are searched for a window, unless the file says which.
const SEARCHED: u64 = 2_000;
/// Most virtual channels of a link.
const MOST_LANES: usize = 8;
/// Flits of a queue that are drawn, the front one included.
const QUEUE: usize = 4;
/// Most pairs of lanes of a router, times cycles.
const MOST_WORK: f64 = 2e9;
/// Schedulers that compare stamps.
const STAMPING: [Scheduler; 5] = [
    Scheduler::VirtualClock,
    Scheduler::VirtualClockPersistent,
    Scheduler::FairQueueing,
    Scheduler::FineGrainedVirtualClock,
    Scheduler::FineGrainedFairQueueing,
];

/// Flits before an output link of a router.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Stamps {
    /// The output port.
    pub port: u32,
    /// The first cycle and the last one.
    pub first: u64,
    /// See there.
    pub last: u64,
    /// The last cycle that is drawn.
    pub until: Option<u64>,
    /// Cycles of its moments.
    pub times: Vec<u64>,
    /// One for each virtual channel.
    pub rows: Vec<StampRow>,
}

/// A virtual channel of the link.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StampRow {
    /// Its class, and of several virtual channels which.
    pub label: String,
    /// Its Vtick \[cycles/flit\]; `null` of best effort, whose flits go when no stamp waits.
    pub vtick: Option<f64>,
    /// The style of its class.
    pub style: usize,
    /// In the order in which they come.
    pub flits: Vec<StampedFlit>,
}

/// A flit in the output buffer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StampedFlit {
    /// Messages that entered the network before its own.
    pub message: u64,
    /// Its place in the message, 1 for the header.
    pub flit: u32,
    /// The cycle in which it comes out of the crossbar: the link can take it in the next.
    pub joined: u64,
    /// The cycle in which the link takes it; `null` if it had not when the record ended.
    pub sent: Option<u64>,
    /// Its stamp.
    pub stamp: f64,
}

impl StampedFlit {
    /// Whether the link can take it in a cycle.
    fn waits(&self, cycle: u64) -> bool {
        self.joined < cycle && self.sent.is_none_or(|sent| sent >= cycle)
    }
}

impl StampRow {
    /// The flits that the link can take in a cycle, the front one first.
    fn queue(&self, cycle: u64) -> impl Iterator<Item = &StampedFlit> {
        self.flits.iter().filter(move |flit| flit.waits(cycle))
    }

    /// The front flit as it is said.
    fn front(&self, flit: &StampedFlit) -> String {
        match self.vtick {
            Some(_) => format!("{} {}", self.label, number_of(flit.stamp)),
            None => self.label.clone(),
        }
    }
}

/// An output link over a window of cycles.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    port: Option<u32>,
    /// Cycles of its moments; empty: every cycle of the window.
    times: Vec<u64>,
}

impl FigureFile for Question {
    const WORD: &'static str = "stamps";
    const KEYS: &'static [&'static str] = &["port", "x"];

    fn sources() -> (&'static [Origin], Vec<Origin>) {
        (&[], Vec::new())
    }

    fn read(reading: &mut Reading<'_>, root: &Table<'_>, scenario: Option<&Scenario>) -> Option<Self> {
        let port = reading.reader.whole(root, "port");
        let times = reading.cycles(root, MOST_WINDOW as usize);
        if let (Some(first), Some(last)) = (times.first(), times.last())
            && last - first >= MOST_WINDOW
            && let Some(x) = reading.reader.table(root, "x")
        {
            let wanted = format!("a window of at most {MOST_WINDOW} cycles");
            reading.refuse(&x, "values", format!("cycles {first} to {last}"), &wanted);
        }
        let ports = scenario?.topology().ports();
        if let Some(port) = port.filter(|port| *port >= ports) {
            reading.refuse(root, "port", port.to_string(), &format!("an output port, 0 to {}", ports - 1));
        }
        Some(Self { port, times })
    }
}

impl FigureKind for Question {
    fn is_settled(&self) -> bool {
        true
    }

    fn refused(&self, scenario: &Scenario, place: &Place) -> Vec<Fault> {
        if let Err(faults) = flitwise_simulator::supports(scenario) {
            return faults;
        }
        let without = without_stamps(scenario).map(|(key, found, wanted)| {
            let (place, key) = (place.clone(), key.to_owned());
            Fault { place, key, found, wanted, help: None }
        });
        let cycles = self.window().map_or(SEARCHED, |(_, last)| last + 1);
        without.or_else(|| too_large(scenario, MOST_WORK / cycles as f64, place)).into_iter().collect()
    }

    fn content(&self, figure: &Figure, _: Runs<'_>, notes: &mut Vec<Note>) -> Content {
        let scenario = figure.scenario();
        let cycles = self.window().map_or(SEARCHED, |(_, last)| last + 1);
        // until the last flits that are drawn have left
        let record = record(scenario, SEED, cycles + MOST_WINDOW);
        let record = record.unwrap_or(Record { cycles: 0, messages: Vec::new() });
        let ports = self.port.map_or(0..scenario.topology().ports(), |port| port..port + 1);
        let links: Vec<(u32, Vec<StampRow>)> =
            ports.map(|port| (port, rows_of_port(scenario, &record, port))).collect();
        let best = links.iter().map(|(port, rows)| {
            let (first, last, met) = match self.window() {
                Some((first, last)) => (first, last, (first..=last).map(|cycle| meeting(rows, cycle)).sum()),
                None => busiest(rows, cycles),
            };
            (met, (*port, first, last), rows)
        });
        // of equal ones the first
        let best = best.reduce(|best, other| if other.0 > best.0 { other } else { best });
        let Some((met, (port, first, last), rows)) = best else {
            let empty =
                Stamps { port: 0, first: 0, last: 0, until: None, times: Vec::new(), rows: Vec::new() };
            return Content::Stamps(empty);
        };
        if met == 0 {
            let text = format!("no two classes with stamps wait at once in cycles {first} to {last}");
            notes.push(Note { place: note::Place::default(), text });
        }
        let drawn = |row: &StampRow| StampRow {
            flits: row
                .flits
                .iter()
                .filter(|flit| (first..=last).any(|cycle| flit.waits(cycle)))
                .copied()
                .collect(),
            ..row.clone()
        };
        let times = if self.times.is_empty() { (first..=last).collect() } else { self.times.clone() };
        Content::Stamps(Stamps {
            port,
            first,
            last,
            until: None,
            times,
            rows: rows.iter().map(drawn).collect(),
        })
    }
}

impl Question {
    /// The cycles that the file names: a single one is the last of the window.
    fn window(&self) -> Option<(u64, u64)> {
        let (first, last) = (*self.times.first()?, *self.times.last()?);
        let from = if first == last { last.saturating_sub(USUAL_WINDOW - 1) } else { first };
        Some((from, last))
    }
}

/// Why a scenario's links have no stamps to draw: key, what was found, what is wanted.
fn without_stamps(scenario: &Scenario) -> Option<(&'static str, String, String)> {
    let (router, network) = (scenario.data_router(), scenario.topology());
    let lanes = scenario.virtual_channels().iter().map(|block| block.end).max().unwrap_or(0);
    let at_scenario = |found: String, wanted: String| Some(("scenario", found, wanted));
    if network.routers() > 1 {
        return at_scenario(
            network.name(),
            "a single router, whose output links always have room behind".to_owned(),
        );
    }
    if let Some(found) = unrecorded(scenario) {
        return at_scenario(found.to_owned(), "a router without them".to_owned());
    }
    if !STAMPING.contains(&router.scheduler) {
        let wanted = one_of(STAMPING.map(Scheduler::word));
        return Some(("scenario.router.scheduler", format!("\"{}\"", router.scheduler.word()), wanted));
    }
    if router.crossbar == Crossbar::Multiplexed {
        let wanted = "a full one, so that the scheduler decides at the link".to_owned();
        return Some(("scenario.router.crossbar", "a multiplexed crossbar".to_owned(), wanted));
    }
    if lanes > MOST_LANES {
        return at_scenario(format!("{lanes} virtual channels"), format!("at most {MOST_LANES}"));
    }
    None
}

/// The flits that come to an output port, by virtual channel.
fn rows_of_port(scenario: &Scenario, record: &Record, port: u32) -> Vec<StampRow> {
    let styles = class_styles(scenario.spec());
    let classes = scenario.classes().iter().zip(scenario.virtual_channels()).enumerate();
    let mut rows: Vec<StampRow> = classes
        .flat_map(|(at, (class, block))| {
            let (style, count) = (styles[at], block.len());
            block.enumerate().map(move |(number, _)| {
                let vtick = Some(class.lane_vtick()).filter(|vtick| vtick.is_finite() && *vtick > 0.0);
                let which = if count > 1 { format!(" {}", number + 1) } else { String::new() };
                StampRow { label: format!("{}{which}", class.name), vtick, style, flits: Vec::new() }
            })
        })
        .collect();
    for message in &record.messages {
        let Some((to, lane)) = message.lanes.first().and_then(|lanes| lanes.output) else { continue };
        let Some(row) = rows.get_mut(lane).filter(|_| to == port as usize) else { continue };
        let flits = message.flits.iter().enumerate().filter_map(|(at, flit)| {
            Some(StampedFlit {
                message: message.serial?,
                flit: at as u32 + 1,
                joined: *flit.crossed.first()?,
                sent: flit.left.get(1).copied(),
                stamp: *flit.stamps.first()?,
            })
        });
        row.flits.extend(flits);
    }
    rows.iter_mut().for_each(|row| row.flits.sort_by_key(|flit| flit.joined));
    rows
}

/// Whether two virtual channels with stamps have flits at once.
fn meet(rows: &[StampRow], cycle: u64) -> bool {
    rows.iter().filter(|row| row.vtick.is_some() && row.queue(cycle).next().is_some()).count() > 1
}

/// Virtual channels with flits in a cycle in which two with stamps meet; else none.
fn meeting(rows: &[StampRow], cycle: u64) -> usize {
    let all = || rows.iter().filter(|row| row.queue(cycle).next().is_some());
    if meet(rows, cycle) { all().count() } else { 0 }
}

/// The first window in which most virtual channels meet, up to a cycle: its ends, and [`meeting`] over its cycles.
fn busiest(rows: &[StampRow], end: u64) -> (u64, u64, usize) {
    // by cycle: virtual channels with flits, and those of them that have stamps
    let mut waiting = vec![(0_usize, 0_usize); end as usize + 1];
    for row in rows {
        let mut covered = 0;
        for flit in &row.flits {
            let last = flit.sent.unwrap_or(end).min(end);
            for cycle in covered.max(flit.joined + 1)..=last {
                let (all, stamped) = &mut waiting[cycle as usize];
                *all += 1;
                *stamped += usize::from(row.vtick.is_some());
            }
            covered = covered.max(last + 1);
        }
    }
    let met = |cycle: u64| match waiting[cycle as usize] {
        (all, 2..) => all,
        _ => 0,
    };
    let window = USUAL_WINDOW.min(end);
    let mut count: usize = (0..window).map(met).sum();
    let mut best = (0, count);
    for first in 1..=(end - window) {
        count += met(first + window - 1);
        count -= met(first - 1);
        if count > best.1 {
            best = (first, count);
        }
    }
    (best.0, best.0 + window - 1, best.1)
}

/// A stamp as it is printed.
fn number_of(stamp: f64) -> String {
    if stamp.fract() == 0.0 { format!("{stamp:.0}") } else { format!("{stamp:.1}") }
}

impl Stamps {
    /// The virtual channel whose flit the link takes in a cycle, and the flit.
    fn taken(&self, cycle: u64) -> Option<(&StampRow, &StampedFlit)> {
        let sent = |row: &StampRow| row.flits.iter().position(|flit| flit.sent == Some(cycle));
        self.rows.iter().find_map(|row| Some((row, &row.flits[sent(row)?])))
    }

    fn shows(&self, cycle: u64) -> bool {
        self.until.is_none_or(|until| cycle <= until)
    }

    /// What the link does in a cycle.
    fn sentence(&self, cycle: u64) -> String {
        let Some((taken, flit)) = self.taken(cycle) else {
            return format!("cycle {cycle}: the link is idle");
        };
        let others = self.rows.iter().filter(|row| row.label != taken.label);
        let fronts: Vec<String> =
            others.filter_map(|row| Some(row.front(row.queue(cycle).next()?))).collect();
        let fronts: Vec<&str> = fronts.iter().map(String::as_str).collect();
        let before = if fronts.is_empty() { String::new() } else { format!(" before {}", listed(&fronts)) };
        format!("cycle {cycle}: the link takes {}{before}", taken.front(flit))
    }
}

impl Chart for Stamps {
    fn table(&self) -> rows::Table {
        let heads = ["virtual_channel", "message", "flit", "joined_cycle", "sent_cycle", "stamp"];
        let rows = self.rows.iter().flat_map(|row| {
            let shown = row.flits.iter().filter(|flit| self.shows(flit.joined + 1));
            shown.map(move |flit| {
                let stamp = if row.vtick.is_some() { flit.stamp.to_string() } else { String::new() };
                let sent = flit.sent.filter(|sent| self.shows(*sent));
                vec![
                    row.label.clone(),
                    (flit.message + 1).to_string(),
                    flit.flit.to_string(),
                    flit.joined.to_string(),
                    sent.map_or_else(String::new, |sent| sent.to_string()),
                    stamp,
                ]
            })
        });
        rows::Table::new(&heads, rows)
    }

    fn origins(&self) -> Vec<Origin> {
        vec![Origin::Simulation]
    }

    fn description(&self) -> String {
        let cycles = match self.until {
            Some(until) => until..=until,
            None => self.first..=self.last,
        };
        let cycles: Vec<String> = cycles.map(|cycle| self.sentence(cycle)).collect();
        format!("Stamps of flits before the link of output port {}: {}", self.port, cycles.join("; "))
    }

    fn moments(&self) -> Vec<Content> {
        let at = |cycle: &u64| Self { until: Some(*cycle), times: vec![*cycle], ..self.clone() };
        self.times.iter().map(|cycle| Content::Stamps(at(cycle))).collect()
    }

    fn draw(&self, canvas: &mut Canvas<'_>, top: f64, _: Option<f64>) -> f64 {
        let start = draw_legend(canvas, top) + GAP;
        let strip = Strip::new(canvas, self);
        let mut y = start;
        for number in 0..strip.count {
            let first = self.first + number * strip.columns;
            let last = (first + strip.columns - 1).min(self.last);
            draw_strip(canvas, self, &strip, (first, last), y);
            y += strip.height(self) + 0.6 * canvas.text.line_height();
        }
        // a line for what the present cycle does, also where none is present
        let sentence = match self.until {
            Some(until) => self.sentence(until),
            None => format!("output port {}, cycles {} to {}", self.port, self.first, self.last),
        };
        let line = canvas.text.line_height();
        let (face, words) = canvas.text.fit(&sentence, canvas.width - 2.0 * canvas.margin);
        canvas.text(&words, (canvas.margin, y + line / 2.0), Anchor::Start, face, canvas.palette.text);
        y + line
    }
}

fn draw_legend(canvas: &mut Canvas, top: f64) -> f64 {
    let (palette, colour) = (canvas.palette, canvas.palette.series(0));
    let swatch = |colour| Sample::Swatch { colour, surface: Surface::Solid };
    let entries = [
        Entry::new(Sample::None, "numbers: stamps; a row for each virtual channel, front flit at the bottom"),
        Entry::new(swatch(colour), "the link takes it: smallest stamp at the front"),
        Entry::new(swatch(palette.faded(colour, FRONT)), "waits at the front"),
        Entry::new(swatch(palette.faded(colour, BEHIND)), "waits behind"),
    ];
    legend::draw(canvas, &entries, top)
}

/// How much of the background is in the colour of a flit that waits: at the front, and behind it.
const FRONT: f64 = 0.6;
const BEHIND: f64 = 0.82;

/// Sizes of a strip of cycles.
struct Strip {
    /// Cycles of a strip, and strips.
    columns: u64,
    count: u64,
    left: f64,
    column: f64,
    /// Heights: of a front flit, of one behind it, and of the numbers of cycles.
    front: f64,
    behind: f64,
    ruler: f64,
    /// By row: flits of its longest queue that are drawn.
    queues: Vec<usize>,
}

impl Strip {
    fn new(canvas: &Canvas, stamps: &Stamps) -> Self {
        let small = canvas.small;
        let labels = stamps.rows.iter().map(|row| small.width(&row.label));
        let vticks = stamps.rows.iter().map(|row| small.width(&vtick_words(row)) * 0.85);
        let label = labels.chain(vticks).chain([small.width("link")]).fold(0.0, f64::max);
        let left = canvas.margin + label.min(0.25 * canvas.width) + 2.0 * GAP;
        let across = canvas.width - canvas.margin - left;
        let flits = stamps.rows.iter().filter(|row| row.vtick.is_some()).flat_map(|row| &row.flits);
        let numbers = flits.map(|flit| number_of(flit.stamp)).chain([stamps.last.to_string()]);
        let bold = Face { bold: true, ..small };
        let widest = numbers.map(|number| bold.width(&number)).fold(0.0, f64::max).min(across) + 3.0;
        let window = (stamps.last.saturating_sub(stamps.first) + 1).min(10 * MOST_WINDOW);
        let fitting = ((across / widest).floor() as u64).clamp(1, window);
        let count = window.div_ceil(fitting);
        let columns = window.div_ceil(count);
        let column = (across / columns as f64).min(4.5 * small.size);
        let longest = |row: &StampRow| {
            let lengths =
                (stamps.first..stamps.first + window).map(|cycle| row.queue(cycle).take(QUEUE).count());
            lengths.max().unwrap_or(0).max(1)
        };
        Self {
            columns,
            count,
            left,
            column,
            front: 2.1 * small.size,
            behind: 1.25 * small.size,
            ruler: 1.2 * small.line_height(),
            queues: stamps.rows.iter().map(longest).collect(),
        }
    }

    /// Of a row with the space below it.
    fn row(&self, at: usize) -> f64 {
        let behind = self.queues.get(at).copied().unwrap_or(1).saturating_sub(1) as f64;
        self.front + behind * self.behind + 2.0 * GAP
    }

    fn height(&self, stamps: &Stamps) -> f64 {
        let rows: f64 = (0..stamps.rows.len()).map(|at| self.row(at)).sum();
        self.ruler + rows + self.front + GAP
    }
}

fn vtick_words(row: &StampRow) -> String {
    row.vtick.map_or_else(|| "no stamp".to_owned(), |vtick| format!("Vtick {}", number_of(vtick)))
}

fn draw_strip(canvas: &mut Canvas, stamps: &Stamps, strip: &Strip, (first, last): (u64, u64), top: f64) {
    let (palette, small) = (canvas.palette, canvas.small);
    let x = |cycle: u64| strip.left + (cycle - first) as f64 * strip.column;
    let bottom = top + strip.height(stamps) - GAP;
    for cycle in first..=last {
        let is_now = stamps.until == Some(cycle);
        let middle = x(cycle) + strip.column / 2.0;
        canvas.line((middle, top + strip.ruler), (middle, bottom), canvas.thin(palette.grid));
        let (face, colour) =
            if is_now { (Face { bold: true, ..small }, palette.text) } else { (small, palette.muted) };
        let place = (middle, top + strip.ruler / 2.0);
        canvas.text(&cycle.to_string(), place, Anchor::Middle, face, colour);
    }
    let mut y = top + strip.ruler;
    for (at, row) in stamps.rows.iter().enumerate() {
        let floor = y + strip.row(at) - 2.0 * GAP;
        draw_label(canvas, row, strip, floor);
        for cycle in (first..=last).filter(|cycle| stamps.shows(*cycle)) {
            let column = Area { left: x(cycle), right: x(cycle) + strip.column, top: y, bottom: floor };
            draw_queue(canvas, row, strip, cycle, column);
        }
        y = floor + 2.0 * GAP;
    }
    draw_link(canvas, stamps, strip, (first, last), y);
    if let Some(now) = stamps.until.filter(|now| (first..=last).contains(now)) {
        let frame =
            Area { left: x(now), right: x(now) + strip.column, top: top + strip.ruler, bottom: bottom + 1.0 };
        canvas.frame(frame, Pen { colour: palette.text, width: 1.4 });
    }
}

/// The name of a virtual channel and its Vtick, beside the front flits.
fn draw_label(canvas: &mut Canvas, row: &StampRow, strip: &Strip, floor: f64) {
    let (small, room) = (canvas.small, strip.left - canvas.margin - GAP);
    let bold = Face { bold: true, ..small };
    let (face, name) = bold.fit(&row.label, room);
    let y = floor - strip.front / 2.0;
    let aside = 0.42 * small.line_height();
    canvas.text(&name, (canvas.margin, y - aside), Anchor::Start, face, canvas.palette.series(row.style));
    let (face, words) = Face { size: 0.85 * small.size, ..small }.fit(&vtick_words(row), room);
    canvas.text(&words, (canvas.margin, y + aside), Anchor::Start, face, canvas.palette.muted);
}

/// The flits of a virtual channel that the link can take in a cycle.
fn draw_queue(canvas: &mut Canvas, row: &StampRow, strip: &Strip, cycle: u64, column: Area) {
    let (palette, small) = (canvas.palette, canvas.small);
    let waiting: Vec<&StampedFlit> = row.queue(cycle).collect();
    let mut floor = column.bottom;
    for (place, flit) in waiting.iter().enumerate().take(QUEUE) {
        let height = if place == 0 { strip.front } else { strip.behind };
        let is_taken = flit.sent == Some(cycle);
        let share = if place == 0 { FRONT } else { BEHIND };
        let colour = palette.series(row.style);
        let fill = if is_taken { colour } else { palette.faded(colour, share) };
        let cell = Area { top: floor - height, bottom: floor, ..column };
        canvas.fill(cell.shrunk(0.7), fill);
        // as many as are not drawn, in the uppermost one
        let rest = waiting.len() - place - 1;
        let words = match (place + 1 == QUEUE && rest > 0, row.vtick) {
            (true, _) => format!("+{}", rest + 1),
            (false, Some(_)) => number_of(flit.stamp),
            (false, None) => String::new(),
        };
        let size = if place == 0 { small.size } else { 0.85 * small.size };
        let face = Face { size, bold: is_taken };
        if !words.is_empty() && face.width(&words) <= cell.width() {
            canvas.text(&words, cell.centre(), Anchor::Middle, face, legible_on(fill));
        }
        floor -= height;
    }
}

/// What the link takes, cycle by cycle.
fn draw_link(canvas: &mut Canvas, stamps: &Stamps, strip: &Strip, (first, last): (u64, u64), top: f64) {
    let (palette, small) = (canvas.palette, canvas.small);
    let (floor, bold) = (top + strip.front, Face { bold: true, ..small });
    canvas.text("link", (canvas.margin, (top + floor) / 2.0), Anchor::Start, bold, palette.text);
    let end = strip.left + (last + 1).saturating_sub(first) as f64 * strip.column;
    canvas.frame(Area { left: strip.left, right: end, top, bottom: floor }, canvas.thin(palette.muted));
    for cycle in (first..=last).filter(|cycle| stamps.shows(*cycle)) {
        let Some((row, _)) = stamps.taken(cycle) else { continue };
        let left = strip.left + (cycle - first) as f64 * strip.column;
        let cell = Area { left, right: left + strip.column, top, bottom: floor };
        let fill = palette.series(row.style);
        canvas.fill(cell.shrunk(0.7), fill);
        let (face, words) = small.fit(&row.label, strip.column - 2.0);
        canvas.text(&words, cell.centre(), Anchor::Middle, face, legible_on(fill));
    }
}

#[cfg(test)]
mod tests {
    use flitwise_language::scenario::Preset;

    use super::*;

    fn scenario(settings: &[(&str, &str)]) -> Scenario {
        let mut document = Preset::find("router16").unwrap().document();
        for (key, value) in settings {
            document.set(key, value, &Place::Program).unwrap();
        }
        document.scenario().unwrap()
    }

    /// The link takes the smallest stamp of the front flits, best effort when none waits, and is idle when nothing
    /// does. Behind other flits stamps rise by `Vtick` at least (S2), with clocks that persist always (S3, S4).
    #[test]
    fn the_link_takes_the_smallest_stamp() {
        for scheduler in ["\"virtual-clock\"", "\"virtual-clock-persistent\"", "\"fair-queueing\""] {
            let scenario = scenario(&[("class.*.rate", "0.008"), ("router.scheduler", scheduler)]);
            let record = record(&scenario, 1, 1_000).unwrap();
            let mut contested = 0;
            for port in 0..16 {
                let rows = rows_of_port(&scenario, &record, port);
                for row in rows.iter().filter(|row| row.vtick.is_some()) {
                    // where clocks persist always, else behind other flits
                    let is_behind = |pair: &&[StampedFlit]| {
                        scheduler != "\"virtual-clock\""
                            || pair[0].sent.is_none_or(|sent| sent > pair[1].joined)
                    };
                    for pair in row.flits.windows(2).filter(is_behind) {
                        assert!(pair[1].stamp >= pair[0].stamp + row.vtick.unwrap(), "{scheduler} {pair:?}");
                    }
                }
                let link = Stamps { port, first: 0, last: 0, until: None, times: Vec::new(), rows };
                for cycle in 0..1_000 {
                    let fronts = || link.rows.iter().filter_map(|row| Some((row, row.queue(cycle).next()?)));
                    let stamped = fronts().filter(|(row, _)| row.vtick.is_some());
                    let least = stamped.map(|(_, flit)| flit.stamp).reduce(f64::min);
                    match (link.taken(cycle), least) {
                        (None, _) => assert_eq!(fronts().count(), 0, "cycle {cycle}"),
                        (Some((row, flit)), Some(least)) => {
                            assert_eq!((flit.stamp, row.vtick.is_some()), (least, true), "cycle {cycle}");
                        }
                        (Some((row, _)), None) => assert_eq!(row.vtick, None, "cycle {cycle}"),
                    }
                    contested += usize::from(meet(&link.rows, cycle));
                }
            }
            assert!(contested > 100, "{contested}");
        }
    }

    /// S2 from the record: behind others the clock goes on by `Vtick`, at an empty queue it starts at the present.
    #[test]
    fn stamps_are_those_of_virtual_clock() {
        let scenario = scenario(&[("class.*.rate", "0.008")]);
        let record = record(&scenario, 1, 1_000).unwrap();
        let mut checked = 0;
        for port in 0..16 {
            for row in rows_of_port(&scenario, &record, port) {
                let Some(vtick) = row.vtick else { continue };
                let (mut clock, mut before) = (0.0_f64, None::<StampedFlit>);
                for flit in &row.flits {
                    let now = flit.joined as f64;
                    // a flit that leaves in the cycle in which another one comes makes room before it
                    let queued = before.is_some_and(|other| other.sent.is_none_or(|sent| sent > flit.joined));
                    clock = if queued { now.max(clock) + vtick } else { now + vtick };
                    assert!(
                        (flit.stamp - clock).abs() < 1e-9,
                        "port {port}, {}: {flit:?} {clock}",
                        row.label
                    );
                    before = Some(*flit);
                    checked += 1;
                }
            }
        }
        assert!(checked > 1_000, "{checked}");
    }

    #[test]
    fn what_has_no_stamps_is_refused() {
        let refused = |scenario: &Scenario| {
            let question = Question { port: None, times: Vec::new() };
            question.refused(scenario, &Place::Program).first().map(ToString::to_string).unwrap_or_default()
        };
        assert_eq!(refused(&scenario(&[])), "");
        let fifo = scenario(&[("router.scheduler", "\"round-robin\"")]);
        assert!(refused(&fifo).contains("virtual-clock"), "{}", refused(&fifo));
        let mesh = Preset::find("mesh4x4").unwrap().scenario();
        assert!(refused(&mesh).contains("a single router"), "{}", refused(&mesh));
    }

    /// A window is found where classes meet; files may name it, and the port.
    #[test]
    fn a_window_is_found_or_named() {
        let read = |keys: &str| {
            let text = format!(
                "title = \"a\"\nkind = \"stamps\"\n{keys}\n[scenario]\npreset = \"router16\"\n\
                 set = {{ \"class.*.rate\" = 0.008 }}\n"
            );
            Figure::from_toml("t.toml", &text, "t", &|_: &str| Err(Vec::new()))
        };
        let drawn = |keys: &str| match read(keys).unwrap().picture(&[]).content {
            Content::Stamps(drawn) => drawn,
            other => panic!("{other:?}"),
        };
        let found = drawn("");
        assert_eq!((found.last - found.first + 1, found.times.len()), (USUAL_WINDOW, 24));
        let met = (found.first..=found.last).filter(|cycle| meet(&found.rows, *cycle)).count();
        assert!(met > 12, "{met}");
        let named = drawn("port = 3\nx = { values = [300, 310] }");
        assert_eq!((named.port, named.first, named.last, &named.times[..]), (3, 300, 310, &[300, 310][..]));
        assert!(read("port = 16").unwrap_err()[0].to_string().contains("0 to 15"));
        assert!(read("x = { values = [0, 100] }").unwrap_err()[0].to_string().contains("at most 60 cycles"));
    }
}
