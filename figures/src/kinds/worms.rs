//! Worms: which buffers and links the flits of each message take at chosen cycles of one run, and which headers are
//! blocked.

mod places;

use flitwise_language::network::LinkEnd;
use flitwise_language::scenario::{Scenario, VcChoice};
use flitwise_simulator::record::{FlitPlace, Journey, Message, Record, record, unrecorded};

use super::pipeline::too_large;
use super::*;
use crate::draw::canvas::{Anchor, Area, Canvas, Pen};
use crate::draw::font::Face;
use crate::draw::frame::GAP;
use crate::draw::legend::{self, Entry, Sample};
use crate::draw::palette::{RGBColor, legible_on};
use crate::draw::tiles::{self, Tiles};
use places::{EDGE, Layout, rows};

/// Most routers, ports of a single router, virtual channels and slots of a buffer that are drawn.
const MOST_ROUTERS: u32 = 64;
const MOST_PORTS: u32 = 64;
const MOST_LANES: usize = 8;
const MOST_SLOTS: u32 = 64;
/// Most cycles at which messages are looked at, and those of them that a picture of all shows.
const MOST_TIMES: usize = 120;
const MOST_PANELS: usize = 3;
/// Most pairs of lanes of a router, times routers, times cycles.
const MOST_WORK: f64 = 2e9;

/// Messages under way at chosen cycles.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Worms {
    /// Routers from left to right; 1 by 1: a single router, whose ports are drawn.
    pub columns: u32,
    /// Routers from the bottom up.
    pub rows: u32,
    /// Ports of a router.
    pub ports: u32,
    /// Virtual channels of a link.
    pub lanes: u32,
    /// Slots of the input and output buffer of a virtual channel.
    pub buffer_flits: u32,
    /// Links between routers.
    pub links: Vec<WormLink>,
    /// One for each cycle.
    pub panels: Vec<WormsPanel>,
}

/// A link from router to router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WormLink {
    /// Router and output port where it starts.
    pub from: (u32, u32),
    /// Router and input port where it ends.
    pub to: (u32, u32),
}

/// The messages whose headers have left their sources, and their tails not the network, at the end of a cycle.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WormsPanel {
    /// The cycle.
    pub cycle: u64,
    /// In the order in which they entered the network.
    pub worms: Vec<Worm>,
}

/// A message under way.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Worm {
    /// The same in all panels.
    pub letter: String,
    /// Which colour it has.
    pub style: usize,
    /// Its class, whence it comes and where it goes.
    pub label: String,
    /// Flits that are still at the source, and those that have left the network.
    pub at_source: u32,
    /// See there.
    pub delivered: u32,
    /// What it takes, from its foremost flit in the network to the last.
    pub pieces: Vec<WormPiece>,
    /// The output buffer that its blocked header asks for: router, output port and virtual channel.
    pub asks: Option<(u32, u32, u32)>,
    /// Letters of the messages that its header waits for; empty if it is not blocked.
    pub blocked_by: Vec<String>,
}

/// What a message takes of a buffer or link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WormPiece {
    /// Which buffer or link.
    pub channel: WormChannel,
    /// The router that it belongs to.
    pub router: u32,
    /// The port there.
    pub port: u32,
    /// The virtual channel.
    pub lane: u32,
    /// Flits of other messages before its own.
    pub behind: u32,
    /// Flits of the message; 0 where it holds the channel and has no flit there.
    pub flits: u32,
    /// Whether its header is among them.
    pub has_header: bool,
}

/// A buffer or link, in the order of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WormChannel {
    /// The link from a node to an input port.
    Injection,
    /// The buffer of an input port.
    Input,
    /// The buffer of an output port.
    Output,
    /// The link behind an output port.
    Link,
}

/// Messages under way at chosen cycles.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    cycles: Vec<u64>,
}

impl FigureFile for Question {
    const WORD: &'static str = "worms";
    const KEYS: &'static [&'static str] = &["x"];

    fn sources() -> (&'static [Origin], Vec<Origin>) {
        (&[], Vec::new())
    }

    fn read(reading: &mut Reading<'_>, root: &Table<'_>, _: Option<&Scenario>) -> Option<Self> {
        reading.reader.require(root, "x", "an [x] table with values = cycles", None);
        Some(Self { cycles: reading.cycles(root, MOST_TIMES) })
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
        let cycles = self.cycles.last().copied().unwrap_or(0) + 1;
        let unreadable = unreadable(scenario).map(|(found, wanted)| {
            let (place, key) = (place.clone(), "scenario".to_owned());
            Fault { place, key, found, wanted, help: None }
        });
        unreadable.or_else(|| too_large(scenario, MOST_WORK / cycles as f64, place)).into_iter().collect()
    }

    fn content(&self, figure: &Figure, _: Runs<'_>, notes: &mut Vec<Note>) -> Content {
        let scenario = figure.scenario();
        let last = self.cycles.last().copied().unwrap_or(0);
        // a header on a link comes in a cycle later
        let record = record(scenario, SEED, last + 2).unwrap_or(Record { cycles: 0, messages: Vec::new() });
        let network = scenario.topology();
        let sides = network.sides();
        let side = |dimension: usize| sides.get(dimension).copied().unwrap_or(1);
        let shown = evenly(self.cycles.len(), MOST_PANELS).len();
        if shown < self.cycles.len() {
            let text = format!("{shown} of {} cycles are drawn; all are in the numbers", self.cycles.len());
            notes.push(Note { place: note::Place::default(), text });
        }
        Content::Worms(Worms {
            columns: side(0),
            rows: side(1),
            ports: network.ports(),
            lanes: lanes(scenario) as u32,
            buffer_flits: scenario.data_router().buffer_flits,
            links: links(scenario),
            panels: panels(scenario, &record, &self.cycles),
        })
    }
}

fn lanes(scenario: &Scenario) -> usize {
    scenario.virtual_channels().iter().map(|block| block.end).max().unwrap_or(1)
}

/// Links from router to router.
fn links(scenario: &Scenario) -> Vec<WormLink> {
    let network = scenario.topology();
    let from = (0..network.routers()).flat_map(|router| (0..network.ports()).map(move |port| (router, port)));
    let link = |(router, port)| match network.link_end(router, port) {
        LinkEnd::Input { router: next, port: input } => {
            Some(WormLink { from: (router, port), to: (next, input) })
        }
        _ => None,
    };
    from.filter_map(link).collect()
}

/// What of a scenario cannot be drawn, and what can.
fn unreadable(scenario: &Scenario) -> Option<(String, String)> {
    let (network, sides) = (scenario.topology(), scenario.topology().sides());
    let (name, buffer) = (network.name(), scenario.data_router().buffer_flits);
    if let Some(found) = unrecorded(scenario) {
        return Some((found.to_owned(), "routers with a scheduler for each link".to_owned()));
    }
    if sides.is_empty() && network.routers() > 1 || sides.len() > 2 {
        return Some((name, "one router, or a mesh, torus or cube of at most two dimensions".to_owned()));
    }
    let (most, found) = match network.routers() {
        1 => (MOST_PORTS, network.ports()),
        routers => (MOST_ROUTERS, routers),
    };
    if found > most {
        return Some((name, format!("at most {MOST_ROUTERS} routers, or one of {MOST_PORTS} ports")));
    }
    if network.routers() > 1 && (network.nodes() != network.routers() || has_two_links(scenario)) {
        let wanted = "one node at each router, and one link each way between neighbours";
        return Some((name, wanted.to_owned()));
    }
    let lanes = lanes(scenario);
    if lanes > MOST_LANES || buffer > MOST_SLOTS {
        let found = format!("{lanes} virtual channels with buffers of {buffer} flits");
        return Some((found, format!("at most {MOST_LANES}, of at most {MOST_SLOTS} flits")));
    }
    None
}

/// Whether two links would be drawn over each other.
fn has_two_links(scenario: &Scenario) -> bool {
    let sides = scenario.topology().sides();
    let columns = sides.first().copied().unwrap_or(1);
    let mut ways: Vec<(u32, (i8, i8))> =
        links(scenario).iter().map(|link| (link.from.0, direction(link, columns))).collect();
    let count = ways.len();
    ways.sort_unstable();
    ways.dedup();
    ways.len() < count
}

/// Which way a link leads: right and up are positive.
fn direction(link: &WormLink, columns: u32) -> (i8, i8) {
    let place = |router: u32| ((router % columns) as i64, (router / columns) as i64);
    let (from, to) = (place(link.from.0), place(link.to.0));
    // round the ring it is the other way
    let sign = |step: i64| if step.abs() > 1 { -step.signum() } else { step.signum() } as i8;
    (sign(to.0 - from.0), sign(to.1 - from.1))
}

/// A buffer or link: what it is, router, port and virtual channel.
type Slot = (WormChannel, u32, u32, u32);

/// Where the flits of a message are that are in the network: by flit, the header first.
fn places(message: &Message, cycle: u64, routers: usize) -> Vec<FlitPlace> {
    message.flits.iter().map(|flit| flit.place(cycle, routers)).collect()
}

/// The buffer or link of a place, and how far along the way it is.
fn slot(message: &Message, place: FlitPlace) -> Option<(usize, Slot)> {
    let at = |channel, router: usize, (port, lane): (usize, usize)| {
        (channel, router as u32, port as u32, lane as u32)
    };
    let lanes = |router: usize| message.lanes.get(router);
    let output = |router: usize| Some((lanes(router)?.router, lanes(router)?.output?));
    Some(match place {
        FlitPlace::Source | FlitPlace::Delivered => return None,
        FlitPlace::Link(0) => (0, at(WormChannel::Injection, lanes(0)?.router, lanes(0)?.input)),
        FlitPlace::Link(link) => {
            let (router, output) = output(link - 1)?;
            (3 * link, at(WormChannel::Link, router, output))
        }
        FlitPlace::Input(router) => {
            (3 * router + 1, at(WormChannel::Input, lanes(router)?.router, lanes(router)?.input))
        }
        FlitPlace::Output(router) => {
            let (number, output) = output(router)?;
            (3 * router + 2, at(WormChannel::Output, number, output))
        }
    })
}

/// The place that is so far along a way.
fn place_along(along: usize) -> FlitPlace {
    match along % 3 {
        0 => FlitPlace::Link(along / 3),
        1 => FlitPlace::Input(along / 3),
        _ => FlitPlace::Output(along / 3),
    }
}

/// A flit in the network.
struct FlitAt {
    message: usize,
    flit: usize,
    slot: Slot,
    along: usize,
    /// When it came there.
    since: u64,
}

fn panels(scenario: &Scenario, record: &Record, cycles: &[u64]) -> Vec<WormsPanel> {
    let network = scenario.topology();
    let routers = |message: &Message| {
        let (from, to) = (message.arrival.source, message.arrival.destination);
        network.hops(from, to) as usize + 1
    };
    let ways: Vec<usize> = record.messages.iter().map(routers).collect();
    let flits_at = |cycle: u64| {
        let mut flits = Vec::new();
        for (at, message) in record.messages.iter().enumerate() {
            for (flit, place) in places(message, cycle, ways[at]).into_iter().enumerate() {
                let Some((along, slot)) = slot(message, place) else { continue };
                let journey = &message.flits[flit];
                let since = match place {
                    FlitPlace::Output(router) => journey.crossed[router],
                    FlitPlace::Input(link) => journey.left[link] + journey.delay(link),
                    FlitPlace::Link(link) => journey.left[link],
                    _ => cycle,
                };
                flits.push(FlitAt { message: at, flit, slot, along, since });
            }
        }
        flits
    };
    let all: Vec<Vec<FlitAt>> = cycles.iter().map(|cycle| flits_at(*cycle)).collect();
    // a message may hold channels while all its flits are at the source or delivered
    let is_under_way = |at: usize, cycle: u64| {
        let flits = &record.messages[at].flits;
        let place = |flit: Option<&Journey>| flit.map(|flit| flit.place(cycle, ways[at]));
        place(flits.first()) != Some(FlitPlace::Source) && place(flits.last()) != Some(FlitPlace::Delivered)
    };
    let under_way = |cycle: u64| (0..record.messages.len()).filter(move |at| is_under_way(*at, cycle));
    // letters in the order in which messages entered, of those that are drawn
    let mut seen: Vec<usize> = cycles.iter().flat_map(|cycle| under_way(*cycle)).collect();
    seen.sort_unstable();
    seen.dedup();
    let moment = |(cycle, flits): (&u64, &Vec<FlitAt>)| {
        let moment = Moment { scenario, record, ways: &ways, cycle: *cycle, flits, seen: &seen };
        WormsPanel { cycle: *cycle, worms: under_way(*cycle).map(|message| moment.worm(message)).collect() }
    };
    cycles.iter().zip(&all).map(moment).collect()
}

/// The network at the end of a cycle.
struct Moment<'m> {
    scenario: &'m Scenario,
    record: &'m Record,
    /// By message: routers of its way.
    ways: &'m [usize],
    cycle: u64,
    flits: &'m [FlitAt],
    /// Messages that are drawn at any of the cycles.
    seen: &'m [usize],
}

impl Moment<'_> {
    fn letter(&self, message: usize) -> String {
        let mut number = self.seen.binary_search(&message).unwrap_or_default();
        let mut letters = String::new();
        loop {
            letters.insert(0, char::from(b'A' + (number % 26) as u8));
            match (number / 26).checked_sub(1) {
                Some(rest) => number = rest,
                None => return letters,
            }
        }
    }

    fn in_slot(&self, slot: Slot) -> impl Iterator<Item = &FlitAt> {
        self.flits.iter().filter(move |flit| flit.slot == slot)
    }

    fn worm(&self, at: usize) -> Worm {
        let message = &self.record.messages[at];
        let (places, arrival) = (places(message, self.cycle, self.ways[at]), message.arrival);
        let count = |wanted: FlitPlace| places.iter().filter(|place| **place == wanted).count() as u32;
        let own = || self.flits.iter().filter(|flit| flit.message == at);
        // it holds all between its header, wherever that is, and its tail
        let along = |place: FlitPlace| match place {
            FlitPlace::Source => 0,
            FlitPlace::Delivered => 3 * self.ways[at],
            place => slot(message, place).map_or(0, |(along, _)| along),
        };
        let [first, last] =
            [places.first(), places.last()].map(|place| place.map_or(0, |place| along(*place)));
        let pieces = (last..=first).rev().filter_map(|along| {
            let (_, slot) = slot(message, place_along(along))?;
            let (channel, router, port, lane) = slot;
            let there = || own().filter(move |flit| flit.along == along);
            let since = there().map(|flit| flit.since).min();
            let before = |flit: &&FlitAt| since.is_some_and(|since| flit.since < since);
            let behind = self.in_slot(slot).filter(|flit| flit.message != at).filter(before).count() as u32;
            let (flits, has_header) = (there().count() as u32, there().any(|flit| flit.flit == 0));
            let is_link = matches!(channel, WormChannel::Injection | WormChannel::Link);
            (flits > 0 || !is_link).then_some(WormPiece {
                channel,
                router,
                port,
                lane,
                behind,
                flits,
                has_header,
            })
        });
        let network = self.scenario.topology();
        let class = &self.scenario.classes()[usize::from(arrival.class)].name;
        let (from, to) = (network.address(arrival.source), network.address(arrival.destination));
        let (asks, owners) = self.blocked(at);
        Worm {
            letter: self.letter(at),
            style: self.seen.binary_search(&at).unwrap_or_default(),
            label: format!("{class}, node {from} to {to}"),
            at_source: count(FlitPlace::Source),
            delivered: count(FlitPlace::Delivered),
            pieces: pieces.collect(),
            asks,
            blocked_by: owners.into_iter().map(|owner| self.letter(owner)).collect(),
        }
    }

    /// The output buffer that a blocked header asks for, if it is at the front, and the messages that it waits for.
    fn blocked(&self, at: usize) -> (Option<(u32, u32, u32)>, Vec<usize>) {
        let nothing = (None, Vec::new());
        let message = &self.record.messages[at];
        let Some(header) = self.flits.iter().find(|flit| flit.message == at && flit.flit == 0) else {
            return nothing;
        };
        let ahead = |slot: Slot, until: u64| {
            let others = self.in_slot(slot).filter(|flit| flit.message != at && flit.since < until);
            let mut others: Vec<usize> = others.map(|flit| flit.message).collect();
            others.dedup();
            others
        };
        let router = header.along / 3;
        match header.slot.0 {
            WormChannel::Input => {
                let before = ahead(header.slot, header.since);
                if !before.is_empty() {
                    return (None, before);
                }
                let Some(output) = message.lanes[router].output else { return nothing };
                let is_asking = message.requested.get(router).is_some_and(|cycle| *cycle <= self.cycle);
                if !is_asking || message.granted.get(router).is_some_and(|cycle| *cycle <= self.cycle) {
                    return nothing;
                }
                let place = message.lanes[router].router;
                let owners = self.owners(place, output);
                let asks = (place as u32, output.0 as u32, output.1 as u32);
                if owners.is_empty() { nothing } else { (Some(asks), owners) }
            }
            WormChannel::Output => {
                // no room in the buffer behind the link
                let (_, number, port, lane) = header.slot;
                let LinkEnd::Input { router: next, port } = self.scenario.topology().link_end(number, port)
                else {
                    return nothing;
                };
                let input = (WormChannel::Input, next, port, lane);
                let is_full =
                    self.in_slot(input).count() >= self.scenario.data_router().buffer_flits as usize;
                if is_full { (None, ahead(input, u64::MAX)) } else { nothing }
            }
            _ => nothing,
        }
    }

    /// The messages that own output lanes which a header may take that asks for this one.
    fn owners(&self, router: usize, (port, lane): (usize, usize)) -> Vec<usize> {
        let is_free = self.scenario.data_router().vc_choice == VcChoice::Free;
        let blocks = self.scenario.virtual_channels();
        let group = blocks.iter().find(|block| is_free && block.contains(&lane)).cloned();
        let group = group.unwrap_or(lane..lane + 1);
        let owns = |message: &Message| {
            let tail = message.flits.last();
            message.lanes.iter().enumerate().any(|(at, lanes)| {
                let is_there = lanes.router == router
                    && lanes.output.is_some_and(|(other, lane)| other == port && group.contains(&lane));
                let is_granted = message.granted.get(at).is_some_and(|cycle| *cycle <= self.cycle);
                let has_crossed =
                    tail.and_then(|tail| tail.crossed.get(at)).is_some_and(|cycle| *cycle <= self.cycle);
                is_there && is_granted && !has_crossed
            })
        };
        let messages = self.record.messages.iter().enumerate();
        messages.filter(|(_, message)| owns(message)).map(|(at, _)| at).collect()
    }
}

impl Chart for Worms {
    fn table(&self) -> rows::Table {
        let heads = [
            "cycle",
            "message",
            "flits_of",
            "channel",
            "router",
            "port",
            "virtual_channel",
            "flits_before",
            "flits",
            "header",
            "blocked_by",
        ];
        let rows = self.panels.iter().flat_map(|panel| {
            panel.worms.iter().flat_map(move |worm| {
                worm.pieces.iter().map(move |piece| {
                    let channel = match piece.channel {
                        WormChannel::Injection => "injection",
                        WormChannel::Input => "input",
                        WormChannel::Output => "output",
                        WormChannel::Link => "link",
                    };
                    let numbers = [piece.router, piece.port, piece.lane, piece.behind, piece.flits];
                    let mut row = vec![
                        panel.cycle.to_string(),
                        worm.letter.clone(),
                        worm.label.clone(),
                        channel.to_owned(),
                    ];
                    row.extend(numbers.map(|number| number.to_string()));
                    let blocked = if piece.has_header { worm.blocked_by.join(" ") } else { String::new() };
                    row.extend([piece.has_header.to_string(), blocked]);
                    row
                })
            })
        });
        rows::Table::new(&heads, rows)
    }

    fn origins(&self) -> Vec<Origin> {
        vec![Origin::Simulation]
    }

    fn description(&self) -> String {
        let panels: Vec<String> =
            self.shown().map(|panel| format!("cycle {}: {}", panel.cycle, panel.sentence(true))).collect();
        format!("Messages under way, flit by flit, in buffers and on links: {}", panels.join("; "))
    }

    fn moments(&self) -> Vec<Content> {
        let at = |panel: &WormsPanel| Self { panels: vec![panel.clone()], ..self.clone() };
        self.panels.iter().map(|panel| Content::Worms(at(panel))).collect()
    }

    fn draw(&self, canvas: &mut Canvas<'_>, top: f64, room: Option<f64>) -> f64 {
        let words = [
            "squares: slots of buffers, outlined where a message holds them",
            "a colour and a letter: a message; ring: its header, double if it is blocked",
            "bar: the output that a blocked header asks for belongs to another message",
        ];
        let entries = words.map(|words| Entry::new(Sample::None, words));
        let start = legend::draw(canvas, &entries, top) + canvas.text.line_height() + GAP;
        let across = canvas.width - 2.0 * canvas.margin;
        // two lines of words below each panel, and the heading of the next one
        let (small, text) = (canvas.small.line_height(), canvas.text.line_height());
        let gaps = (1.5 * canvas.text.size, 2.0 * small + text + 2.0 * GAP);
        let shown: Vec<&WormsPanel> = self.shown().collect();
        let narrowest =
            if self.is_single() { 26.0 } else { 6.0 * f64::from(self.columns) } * canvas.text.size;
        let tiles = Tiles::new(shown.len(), across, narrowest);
        let width = (across - (tiles.columns as f64 - 1.0) * gaps.0) / tiles.columns as f64;
        let natural = if self.is_single() {
            f64::from(self.ports) * (f64::from(self.lanes) * 5.0 + 6.0).max(0.95 * small)
        } else {
            width / (f64::from(self.columns.max(1)) + EDGE) * rows(self)
        };
        let height = room.map_or(natural, |room| {
            natural.min(((room - (start - top)) / tiles.rows as f64 - gaps.1).max(60.0))
        });
        let headings: Vec<String> = shown.iter().map(|panel| format!("cycle {}", panel.cycle)).collect();
        for (index, panel) in shown.iter().enumerate() {
            let area = tiles.area(index, (canvas.margin, start), (width, height), gaps);
            tiles::heading(canvas, &headings[index], headings.iter().map(String::as_str), area);
            draw_panel(canvas, self, panel, area);
            let lines = canvas.small.wrap(&panel.sentence(false), width, 2);
            for (line, words) in lines.iter().enumerate() {
                let y = area.bottom + GAP + (line as f64 + 0.5) * small;
                canvas.text(words, (area.left, y), Anchor::Start, canvas.small, canvas.palette.muted);
            }
        }
        start + tiles.rows as f64 * (height + gaps.1) - text
    }
}

impl Worms {
    fn is_single(&self) -> bool {
        self.columns * self.rows <= 1
    }

    /// The panels that are drawn.
    fn shown(&self) -> impl Iterator<Item = &WormsPanel> {
        evenly(self.panels.len(), MOST_PANELS).into_iter().map(|at| &self.panels[at])
    }
}

impl WormsPanel {
    /// How many there are, and who waits for whom; with labels or without.
    fn sentence(&self, with_labels: bool) -> String {
        let blocked: Vec<&Worm> = self.worms.iter().filter(|worm| !worm.blocked_by.is_empty()).collect();
        let wait = |worm: &&Worm| {
            let others: Vec<&str> = worm.blocked_by.iter().map(String::as_str).collect();
            let label = if with_labels { format!(" ({})", worm.label) } else { String::new() };
            format!("{}{label} waits for {}", worm.letter, listed(&others))
        };
        let waits: Vec<String> = blocked.iter().map(wait).collect();
        let parted = if waits.is_empty() { "" } else { ": " };
        let count = self.worms.len();
        format!("{count} messages under way, {} blocked{parted}{}", blocked.len(), waits.join(", "))
    }
}

fn draw_panel(canvas: &mut Canvas, worms: &Worms, panel: &WormsPanel, area: Area) {
    let layout = Layout::new(worms, area);
    layout.draw_network(canvas);
    // bodies below flits, letters above all
    for worm in &panel.worms {
        draw_body(canvas, &layout, worm);
    }
    for worm in &panel.worms {
        draw_flits(canvas, &layout, worm);
    }
    let mut known: Vec<Area> = Vec::new();
    for worm in &panel.worms {
        draw_header(canvas, &layout, worm, &mut known);
    }
}

fn colour(canvas: &Canvas, worm: &Worm) -> RGBColor {
    canvas.palette.series(worm.style)
}

/// The way between the buffers that a message takes.
fn draw_body(canvas: &mut Canvas, layout: &Layout, worm: &Worm) {
    let pen =
        Pen { colour: canvas.palette.faded(colour(canvas, worm), 0.35), width: layout.thickness() * 0.4 };
    for pair in worm.pieces.windows(2) {
        canvas.path(&layout.way(&pair[1], &pair[0]), pen);
    }
    // what has left goes on, what is to come stands at the source
    if let Some(piece) = worm.pieces.first().filter(|_| worm.delivered > 0) {
        canvas.path(&layout.way_out(piece), pen);
    }
    if let Some(piece) = worm.pieces.last().filter(|_| worm.at_source > 0) {
        canvas.path(&layout.way_in(piece), pen);
    }
    let held = Pen { colour: colour(canvas, worm), width: 1.4 };
    for piece in
        worm.pieces.iter().filter(|piece| matches!(piece.channel, WormChannel::Input | WormChannel::Output))
    {
        if let Some(buffer) = layout.buffer(piece) {
            canvas.frame(buffer.area(), held);
        }
    }
}

fn draw_flits(canvas: &mut Canvas, layout: &Layout, worm: &Worm) {
    let colour = colour(canvas, worm);
    for piece in &worm.pieces {
        for number in 0..piece.flits {
            let Some(cell) = layout.cell(piece, piece.behind + number) else { continue };
            let inset = (0.08 * cell.width().min(cell.height())).min(0.8);
            canvas.fill(cell.shrunk(inset), colour);
        }
    }
}

/// The letter of a message at its header, or at its foremost flit; of a blocked one the bar, too.
fn draw_header(canvas: &mut Canvas, layout: &Layout, worm: &Worm, known: &mut Vec<Area>) {
    let (fill, palette) = (colour(canvas, worm), canvas.palette);
    // of one whose header has left, at the foremost buffer
    let is_buffer = |piece: &&WormPiece| {
        piece.flits > 0 && matches!(piece.channel, WormChannel::Input | WormChannel::Output)
    };
    let foremost =
        worm.pieces.iter().filter(|piece| piece.has_header).chain(worm.pieces.iter().filter(is_buffer));
    let Some(piece) = foremost.chain(&worm.pieces).next() else { return };
    let Some(cell) = layout.cell(piece, piece.behind) else { return };
    if let Some((router, port, lane)) = worm.asks {
        let asked = WormPiece {
            channel: WormChannel::Output,
            router,
            port,
            lane,
            behind: 0,
            flits: 0,
            has_header: false,
        };
        let way = layout.way(piece, &asked);
        legend::dashed(canvas, &way, 2, Pen { colour: fill, width: 1.8 });
        if let Some([from, to]) = layout.bar(&asked) {
            canvas.line(from, to, Pen { colour: palette.background, width: 6.0 });
            canvas.line(from, to, Pen { colour: palette.text, width: 3.2 });
        }
    }
    let size = (1.15 * layout.thickness()).clamp(7.0, canvas.small.size);
    let face = Face { size, bold: true };
    let radius = (face.width(&worm.letter) / 2.0).max(0.55 * size) + 0.12 * size;
    let (x, y) = cell.centre();
    let disc = Area { left: x - radius, right: x + radius, top: y - radius, bottom: y + radius };
    if known.iter().any(|other| other.overlaps(&disc)) {
        return;
    }
    known.push(disc);
    if !worm.blocked_by.is_empty() {
        canvas.disc((x, y), radius + 2.6, palette.text);
    }
    if piece.has_header {
        canvas.disc((x, y), radius + 1.2, palette.background);
    }
    canvas.disc((x, y), radius, fill);
    canvas.text(&worm.letter, (x, y), Anchor::Middle, face, legible_on(fill));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use flitwise_language::scenario::Preset;

    use super::*;

    fn blocked() -> (Scenario, Record) {
        let mut document = Preset::find("mesh4x4").unwrap().document();
        for (key, value) in [("router.buffer_flits", "4"), ("class.*.rate", "0.012")] {
            document.set(key, value, &Place::Program).unwrap();
        }
        let scenario = document.scenario().unwrap();
        let record = record(&scenario, 1, 302).unwrap();
        (scenario, record)
    }

    /// Every flit is at one place: buffers and links, the source, or beyond the network.
    #[test]
    fn flits_are_conserved() {
        let (scenario, record) = blocked();
        let cycles: Vec<u64> = (0..300).step_by(3).collect();
        for panel in panels(&scenario, &record, &cycles) {
            let mut taken: BTreeMap<_, u32> = BTreeMap::new();
            for worm in &panel.worms {
                let inside: u32 = worm.pieces.iter().map(|piece| piece.flits).sum();
                assert_eq!(inside + worm.at_source + worm.delivered, 16, "{worm:?}");
                for piece in &worm.pieces {
                    let slot = (piece.channel, piece.router, piece.port, piece.lane);
                    *taken.entry(slot).or_default() += piece.flits;
                    assert!(piece.behind + piece.flits <= 4, "{piece:?}");
                }
            }
            for ((channel, ..), flits) in taken {
                let room = if matches!(channel, WormChannel::Input | WormChannel::Output) { 4 } else { 1 };
                assert!(flits <= room, "cycle {}: {channel:?} {flits}", panel.cycle);
            }
        }
    }

    /// A blocked worm stands still, holds what it has, and what it waits for belongs to the other.
    #[test]
    fn a_blocked_worm_holds_its_channels() {
        let (scenario, record) = blocked();
        let cycles: Vec<u64> = (0..300).collect();
        let panels = panels(&scenario, &record, &cycles);
        let mut long = 0;
        for pair in panels.windows(2) {
            for worm in pair[0].worms.iter().filter(|worm| worm.asks.is_some()) {
                let (router, port, lane) = worm.asks.unwrap();
                let others: Vec<&Worm> =
                    pair[0].worms.iter().filter(|other| worm.blocked_by.contains(&other.letter)).collect();
                let holds = |other: &&Worm| {
                    let output = (WormChannel::Output, router, port, lane);
                    let next =
                        |piece: &WormPiece| (piece.channel, piece.router, piece.port, piece.lane) == output;
                    other.pieces.iter().any(next) || other.pieces.iter().any(|piece| piece.router == router)
                };
                assert!(!others.is_empty() && others.iter().all(holds), "{worm:?}");
                let Some(later) = pair[1].worms.iter().find(|one| one.letter == worm.letter) else {
                    panic!("a blocked message does not leave")
                };
                if later.asks.is_some() {
                    assert_eq!(later.pieces[0].channel, WormChannel::Input);
                    assert_eq!(later.pieces[0].router, worm.pieces[0].router);
                }
                let mut routers: Vec<u32> = worm.pieces.iter().map(|piece| piece.router).collect();
                routers.dedup();
                long += usize::from(routers.len() > 1);
            }
        }
        assert!(long > 20, "{long}");
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let refused = |preset: &str| {
            let scenario = Preset::find(preset).unwrap().scenario();
            Question { cycles: vec![100] }
                .refused(&scenario, &Place::Program)
                .first()
                .map(ToString::to_string)
        };
        assert_eq!(refused("mesh4x4"), None);
        assert_eq!(refused("router16"), None);
        assert_eq!(refused("torus8x8"), None);
        for preset in ["cube6", "fat-mesh", "router-nic"] {
            assert!(refused(preset).is_some(), "{preset}");
        }
    }
}
