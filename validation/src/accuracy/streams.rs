//! Random streams of frames beside best effort, on which the mediaworm model is judged.
//!
//! Loads are shares of the one at which the *model* has the first class saturate: a simulated load of saturation takes
//! longer than all points of its scenario together. Along the load streams are added; the interval of their frames is
//! adjusted by less than half a stream, so that loads are met exactly.
//!
//! Frames of one length hardly jitter: the model says 0, and a share of a few cycles is no error worth telling. Their
//! deviation is not judged ([`judge`]), but given as a share of the interval.

use flitwise_language::document::{Document, Reader, Table};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassKind, Crossbar, Fault, Placement, Scenario, Scheduler, Sequences};
use flitwise_models::answer::ClassAnswer;
use flitwise_models::mediaworm;
use flitwise_models::model::Options;

use super::Topology;
use super::draw::{Draw, rounded, whole_at};
use super::errors::{ErrorOf, of_model};
use super::plan::{self, Head, bounds, refuse, share, whole_bounds, words};
use super::set::SetKind;
use super::summary::Target;
use flitwise_experiment as experiment;
use flitwise_experiment::answer::ClassSimulation;
use flitwise_simulator::MAX_PORTS;

pub(super) const FAMILY: &[&str] = &[
    "name",
    "count",
    "topology",
    "ports",
    "radix",
    "nodes_per_router",
    "links",
    "real_time_channels",
    "best_effort",
    "best_effort_channels",
    "real_time_share",
    "crossbars",
    "schedulers",
    "sources",
    "frame_flits",
    "frame_deviation",
    "stream",
    "placements",
    "message_flits",
    "buffer_messages",
];
const HEADS: &[(&str, &[&str])] = &[("[[family]]", FAMILY)];

/// Load of a node's link at which a scenario is drawn before its load of saturation is known \[flits/cycle\].
const DRAWN_LOAD: f64 = 0.25;

/// What the model is judged by.
pub const JUDGED: [Quantity; 4] =
    [Quantity::NetworkLatency, Quantity::Waiting, Quantity::FrameInterval, Quantity::FrameIntervalDeviation];

/// How far the model may be off \[percent\]; `None` where nothing is aimed at.
pub fn target(quantity: Quantity, kind: ClassKind) -> Option<Target> {
    let (mean, worst) = match (quantity, kind) {
        (Quantity::NetworkLatency, ClassKind::RealTime) => (5.0, 10.0),
        (Quantity::NetworkLatency, ClassKind::BestEffort) => (8.0, 20.0),
        // of every single one
        (Quantity::FrameIntervalDeviation, _) => (5.0, 5.0),
        _ => return None,
    };
    Some(Target { mean, worst })
}

/// All errors of one class at one point.
pub fn judge(
    kind: StreamKind,
    simulated: &ClassSimulation,
    answer: Result<&ClassAnswer, &str>,
) -> Vec<ErrorOf> {
    let is_judged =
        |quantity: &Quantity| *quantity != Quantity::FrameIntervalDeviation || kind != StreamKind::Cbr;
    let error = |quantity: Quantity| {
        let found = simulated.value(quantity.into())?;
        let model = answer.map_err(str::to_owned).and_then(|answer| of_model(quantity, answer));
        Some(ErrorOf::new(quantity, model, found.value, found.half_width_95()))
    };
    JUDGED.into_iter().filter(is_judged).filter_map(error).collect()
}

/// What systems are drawn from, and at which loads.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamPlan {
    /// What all systems are drawn from.
    pub seed: u64,
    /// Shares of the load at which the model has the first class saturate.
    pub loads: Vec<f64>,
    /// Wanted 95 % half-width of the network latency of the worst class, as a share of it.
    pub precision: f64,
    /// Flits times crossbars of a point's measured messages after which to stop anyway.
    pub max_flit_hops: f64,
    /// All systems, family by family.
    cases: Vec<StreamCase>,
}

/// Bounds that some of the systems share.
#[derive(Clone, Debug, PartialEq)]
struct StreamFamily {
    /// What tables call it.
    name: String,
    /// How many systems it has.
    count: u32,
    /// A router, or a mesh of two dimensions.
    topology: Topology,
    /// Ports, or routers along a dimension.
    size: [u32; 2],
    /// Nodes at a router of a mesh.
    nodes_per_router: [u32; 2],
    /// Parallel links of a mesh.
    links: [u32; 2],
    /// Virtual channels of real time.
    real_time_channels: [u32; 2],
    /// Probability that there is a best-effort class.
    best_effort: f64,
    /// Its virtual channels.
    best_effort_channels: [u32; 2],
    /// Share of the flits that are real time where there is best effort.
    real_time_share: [f64; 2],
    /// Any of these.
    crossbars: Vec<Crossbar>,
    /// Any of these.
    schedulers: Vec<Scheduler>,
    /// Any of these.
    sources: Vec<StreamKind>,
    /// Mean length of a frame \[flits\].
    frame_flits: [f64; 2],
    /// Its deviation, as a share of it.
    frame_deviation: [f64; 2],
    /// Load of a stream \[flits/cycle\].
    stream: [f64; 2],
    /// Any of these.
    placements: Vec<Placement>,
    /// `M`.
    message_flits: [u32; 2],
    /// `b_s`, in messages.
    buffer_messages: [u32; 2],
}

/// How long frames are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// All of one length.
    Cbr,
    /// Of normal lengths.
    Vbr,
    /// A pattern of I, P and B frames.
    Mpeg2,
}

impl StreamKind {
    /// All.
    pub const ALL: [Self; 3] = [Self::Cbr, Self::Vbr, Self::Mpeg2];

    /// Its name in a plan, and in a scenario.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cbr => "cbr",
            Self::Vbr => "vbr",
            Self::Mpeg2 => "mpeg2",
        }
    }
}

/// A system that was drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamCase {
    /// Family and number, such as `full-03`.
    pub name: String,
    /// Its family.
    pub family: String,
    /// Load of a node's link at which the model has the first class saturate \[flits/cycle\].
    pub saturation_load: f64,
    drawn: Drawn,
}

/// The scenario but for its load.
#[derive(Clone, Debug, PartialEq)]
struct Drawn {
    /// The tables `[network]` and `[router]`.
    head: String,
    message_flits: u32,
    real_time_channels: u32,
    /// Virtual channels of best effort, and the share of the flits that it has.
    best_effort: Option<(u32, f64)>,
    kind: StreamKind,
    /// Keys of the source that say how long frames are.
    frames: String,
    stream: f64,
    placement: Placement,
}

impl StreamPlan {
    /// The registered set.
    ///
    /// # Panics
    /// Never: it is sound (tested).
    pub fn streams() -> Self {
        let read = Self::from_toml("streams.toml", include_str!("../../registry/streams.toml"));
        read.unwrap_or_else(|faults| panic!("the built-in plan is broken: {faults:#?}"))
    }

    /// Reads and checks a plan's text; `text_name` is what messages call it.
    ///
    /// # Errors
    /// Every fault, each at its place.
    pub fn from_toml(text_name: &str, text: &str) -> Result<Self, Vec<Fault>> {
        Self::read(&Document::parse(text_name, text)?)
    }

    /// Reads and checks a plan, and draws its systems.
    pub(super) fn read(document: &Document) -> Result<Self, Vec<Fault>> {
        let mut reader = Reader::new(HEADS);
        let root = document.root();
        let Head { seed, loads, precision, max_flit_hops } = plan::head(&mut reader, &root, SetKind::Streams);
        let families = plan::families(&mut reader, &root, family, |family| &family.name);
        let mut cases = Vec::new();
        if reader.faults().is_empty() {
            let tables = reader.tables(&root, "family");
            for (family, table) in families.iter().zip(&tables) {
                match drawn(seed, family, &loads) {
                    Ok(drawn) => cases.extend(drawn),
                    Err(Unfit { found, wanted }) => {
                        let help = Some("other bounds of the family".to_owned());
                        reader.refuse(table.place, table.path.to_string(), found, wanted, help);
                    }
                }
            }
        }
        let (precision, max_flit_hops) = (precision.unwrap_or(0.02), max_flit_hops.unwrap_or(1e8));
        reader.finish(Self { seed, loads, precision, max_flit_hops, cases })
    }

    /// All systems, family by family.
    pub fn cases(&self) -> &[StreamCase] {
        &self.cases
    }

    /// Measured messages of a point of `scenario` after which to stop anyway.
    pub fn max_messages(&self, scenario: &Scenario) -> u64 {
        let classes = 0..scenario.classes().len();
        let rate: f64 = scenario.classes().iter().map(|class| class.rate).sum();
        let flits: f64 = classes.map(|class| scenario.flit_rate(class)).sum();
        (self.max_flit_hops * rate / (flits * (1.0 + scenario.topology().mean_hops()))).max(1.0) as u64
    }
}

/// The family of a table; `None` if something is wrong with it, which the reader knows.
fn family(reader: &mut Reader, table: &Table<'_>) -> Option<StreamFamily> {
    let before = reader.faults().len();
    reader.refuse_unknown(table, FAMILY);
    let (name, count) = plan::name_and_count(reader, table, "\"router\" or \"mesh\"");
    let topologies = [Topology::Router, Topology::Mesh];
    let found = reader.word(table, "topology", &topologies, Topology::word);
    let topology = found.unwrap_or_default();
    let is_router = topology == Topology::Router;
    let (size, most, unread) = if is_router {
        ("ports", MAX_PORTS, ["radix", "nodes_per_router", "links"].as_slice())
    } else {
        ("radix", 8, ["ports"].as_slice())
    };
    if found.is_some() {
        reader.require(table, size, "[least, most]", Some(&format!("{size} = [2, 8]")));
        for key in unread.iter().filter(|key| table.get(key).is_some()) {
            let found = format!("{key} of a {}", topology.word());
            refuse(reader, table, key, found, &format!("{size} only"), None);
        }
    }
    let mut real = |key: &str, within, default| bounds(reader, table, key, within).unwrap_or(default);
    let frame_flits = real("frame_flits", 1.0..=1e6, [100.0, 800.0]);
    let frame_deviation = real("frame_deviation", 1e-4..=10.0, [0.2, 0.2]);
    let stream = real("stream", 1e-4..=1.0, [0.01, 0.04]);
    let real_time_share = real("real_time_share", 1e-3..=1.0, [0.8, 0.8]);
    let crossbars = words(reader, table, "crossbars", (&Crossbar::ALL, Crossbar::word), Crossbar::Full);
    if table.get("schedulers").is_some() && !crossbars.contains(&Crossbar::Multiplexed) {
        let wanted = "none: full crossbars have fine-grained-virtual-clock";
        refuse(reader, table, "schedulers", "schedulers of full crossbars".to_owned(), wanted, None);
    }
    let family = StreamFamily {
        name,
        count,
        topology,
        size: whole_bounds(reader, table, size, 2..=most, [2, 8]),
        nodes_per_router: whole_bounds(reader, table, "nodes_per_router", 1..=16, [1, 1]),
        links: whole_bounds(reader, table, "links", 1..=8, [1, 1]),
        real_time_channels: whole_bounds(reader, table, "real_time_channels", 1..=32, [13, 13]),
        best_effort: share(reader, table, "best_effort", 0.0..=1.0).unwrap_or(0.0),
        best_effort_channels: whole_bounds(reader, table, "best_effort_channels", 1..=32, [3, 3]),
        real_time_share,
        crossbars,
        schedulers: words(
            reader,
            table,
            "schedulers",
            (&Scheduler::ALL, Scheduler::word),
            Scheduler::FineGrainedVirtualClock,
        ),
        sources: words(reader, table, "sources", (&StreamKind::ALL, StreamKind::word), StreamKind::Vbr),
        frame_flits,
        frame_deviation,
        stream,
        placements: words(
            reader,
            table,
            "placements",
            (&Placement::ALL, Placement::word),
            Placement::Balanced,
        ),
        message_flits: whole_bounds(reader, table, "message_flits", 2..=4096, [20, 20]),
        buffer_messages: whole_bounds(reader, table, "buffer_messages", 1..=16, [1, 1]),
    };
    (reader.faults().len() == before).then_some(family)
}

/// A system that is no scenario, or none that the model answers and the simulation knows.
struct Unfit {
    found: String,
    wanted: String,
}

impl Unfit {
    /// Of a system so called, by the first fault of its scenario.
    fn first(name: &str, faults: &[Fault]) -> Self {
        let Some(Fault { key, found, wanted, .. }) = faults.first() else {
            return Self { found: name.to_owned(), wanted: "scenarios".to_owned() };
        };
        Self { found: format!("{name}, drawn with {key} {found}"), wanted: wanted.clone() }
    }
}

/// All systems of a family.
fn drawn(seed: u64, family: &StreamFamily, loads: &[f64]) -> Result<Vec<StreamCase>, Unfit> {
    let mut cases = Vec::new();
    for index in 0..family.count {
        let case = case(seed, family, index)?;
        for load in loads {
            let scenario = case.at(*load).map_err(|faults| Unfit::first(&case.name, &faults))?;
            experiment::supports(&scenario).map_err(|faults| Unfit::first(&case.name, &faults))?;
        }
        cases.push(case);
    }
    Ok(cases)
}

/// System `index` of a family.
fn case(seed: u64, family: &StreamFamily, index: u32) -> Result<StreamCase, Unfit> {
    let mut draw = Draw::new(seed, &family.name, index);
    let stratum = (f64::from(index) + draw.share()) / f64::from(family.count);
    let network = match family.topology {
        Topology::Router => format!("topology = \"router\"\nports = {}", whole_at(stratum, family.size)),
        _ => format!(
            "topology = \"mesh\"\nradix = [{}, {}]\nnodes_per_router = {}\nlinks = {}",
            draw.evenly(family.size),
            draw.evenly(family.size),
            draw.evenly(family.nodes_per_router),
            draw.evenly(family.links)
        ),
    };
    let message_flits = draw.whole(family.message_flits);
    let crossbar = draw.one_of(&family.crossbars);
    // full crossbars have the one
    let scheduler = draw.one_of(&family.schedulers);
    let scheduler = if crossbar == Crossbar::Full { Scheduler::FineGrainedVirtualClock } else { scheduler };
    let head = format!(
        "[units]\nlink = \"400 Mbps\"\nflit_bits = 32\n[network]\n{network}\n[router]\nbuffer_flits = {}\n\
         crossbar = \"{}\"\nscheduler = \"{}\"\nvc_choice = \"drawn\"\n",
        message_flits * draw.evenly(family.buffer_messages),
        crossbar.word(),
        scheduler.word()
    );
    let real_time_channels = draw.whole(family.real_time_channels);
    let (has_best_effort, channels) =
        (draw.chance(family.best_effort), draw.whole(family.best_effort_channels));
    let part = rounded(1.0 - draw.between(family.real_time_share), 3);
    let kind = draw.one_of(&family.sources);
    let frame = rounded(draw.between(family.frame_flits), 3);
    let deviation = rounded(draw.between(family.frame_deviation), 2);
    let frames = match kind {
        StreamKind::Cbr => format!("frame = {frame}"),
        StreamKind::Vbr => format!("frame = {frame}, frame_deviation = {}", rounded(deviation * frame, 3)),
        StreamKind::Mpeg2 => {
            let one = draw.evenly([1, 7]);
            let scale = rounded(frame / mean_flits_of(one), 3);
            format!("sequences = [{one}], frame_variation = {deviation}, frame_scale = {scale}")
        }
    };
    let (stream, placement) = (rounded(draw.between(family.stream), 3), draw.one_of(&family.placements));
    let best_effort = has_best_effort.then_some((channels, part));
    let drawn =
        Drawn { head, message_flits, real_time_channels, best_effort, kind, frames, stream, placement };
    let name = format!("{}-{:02}", family.name, index + 1);
    let saturation_load = drawn.saturation_load(&name)?;
    Ok(StreamCase { name, family: family.name.clone(), saturation_load, drawn })
}

/// Mean length of the frames of a recorded sequence in flits of 32 bits, at scale 1.
fn mean_flits_of(sequence: u32) -> f64 {
    // an I frame, three P and eight B frames
    let mean = |[i, p, b]: [f64; 3]| (i + 3.0 * p + 8.0 * b) / 12.0;
    let sequence = Sequences::of(&[sequence]);
    sequence.map_or(1.0, |one| one.frame_kilobits().map(mean).sum::<f64>() * 1e3 / 32.0)
}

impl Drawn {
    /// The scenario at a load of a node's link \[flits/cycle\], with so many streams on a virtual channel at most.
    fn at(&self, name: &str, load: f64, streams_per_vc: u32) -> Result<Scenario, Vec<Fault>> {
        let real_time = load * (1.0 - self.best_effort.map_or(0.0, |(_, share)| share));
        let streams = (real_time / self.stream).round().max(1.0);
        // headers count, too: a frame that takes a cycle says how many flits it is
        let probe = self.text(name, streams, 1e6, 1e-3, streams as u32);
        let flits = Scenario::from_toml(name, &probe)?.flit_rate(0) * 1e6 / streams;
        let interval = streams * flits / real_time;
        let text = self.text(name, streams, interval, load - real_time, streams_per_vc);
        Scenario::from_toml(name, &text)
    }

    fn text(&self, name: &str, streams: f64, interval: f64, best_effort: f64, streams_per_vc: u32) -> String {
        let Self { head, message_flits, real_time_channels, kind, frames, placement, .. } = self;
        let most = match placement {
            Placement::Capped => format!(", streams_per_vc = {streams_per_vc}"),
            _ => String::new(),
        };
        let frames = format!(
            "{frames}, streams = {streams}, frame_interval = {interval}, placement = \"{}\"{most}",
            placement.word()
        );
        let mut text = format!(
            "name = \"{name}\"\n{head}[[class]]\nname = \"RT\"\nkind = \"real-time\"\nvirtual_channels = \
             {real_time_channels}\nmessage_flits = {message_flits}\nsource = {{ kind = \"{}\", {frames} }}\n",
            kind.word()
        );
        if let Some((channels, _)) = self.best_effort {
            text += &format!(
                "[[class]]\nname = \"BE\"\nkind = \"best-effort\"\nvirtual_channels = {channels}\nmessage_flits = \
                 {message_flits}\nload = {best_effort}\n"
            );
        }
        text
    }

    /// Load of a node's link at which the model has the first class saturate \[flits/cycle\].
    fn saturation_load(&self, name: &str) -> Result<f64, Unfit> {
        let scenario = self.at(name, DRAWN_LOAD, 10_000).map_err(|faults| Unfit::first(name, &faults))?;
        let answer = mediaworm::solve(&scenario, &Options::default()).map_err(|failure| Unfit {
            found: format!("{name}, of which {}", failure.lines(|_| String::new()).join("; ")),
            wanted: "what the mediaworm model answers".to_owned(),
        })?;
        let factors = answer.classes.iter().filter_map(|class| Some(class.lanes.as_ref()?.at_load_factor));
        Ok(rounded(DRAWN_LOAD * factors.fold(f64::INFINITY, f64::min), 6))
    }
}

impl StreamCase {
    /// How long its frames are.
    pub fn kind(&self) -> StreamKind {
        self.drawn.kind
    }

    /// The scenario at a share of the load at which the model has the first class saturate.
    ///
    /// # Errors
    /// What makes no sense at such a load.
    pub fn at(&self, share: f64) -> Result<Scenario, Vec<Fault>> {
        let real_time = self.saturation_load * (1.0 - self.drawn.best_effort.map_or(0.0, |(_, part)| part));
        // as in the paper, virtual channels have just the room for the streams of a full link
        let most = (real_time / self.drawn.stream / f64::from(self.drawn.real_time_channels)).ceil() + 1.0;
        self.drawn.at(&self.name, share * self.saturation_load, most as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_met_exactly_and_the_model_answers_all_systems() {
        let plan = StreamPlan::streams();
        let cases = plan.cases();
        assert_eq!(cases.len(), 24);
        for case in cases {
            for load in &plan.loads {
                let scenario = case.at(*load).unwrap();
                let classes = 0..scenario.classes().len();
                let found: f64 = classes.map(|class| scenario.flit_rate(class)).sum();
                let wanted = load * case.saturation_load;
                assert!((found / wanted - 1.0).abs() < 1e-6, "{}: {found}, {wanted}", case.name);
                let answer = mediaworm::solve(&scenario, &Options::default()).unwrap();
                assert!(!answer.saturated, "{} at {load}", case.name);
                flitwise_experiment::supports(&scenario).unwrap();
            }
        }
        // every kind of frame, crossbar and placement is there
        let texts: Vec<String> = cases.iter().map(|case| case.at(0.5).unwrap().spec().to_toml()).collect();
        for word in ["cbr", "vbr", "mpeg2", "multiplexed", "capped", "balanced", "fair-queueing"] {
            assert!(texts.iter().any(|text| text.contains(word)), "no {word}");
        }
    }

    #[test]
    fn all_faults_of_a_plan_come_at_once() {
        let text = "kind = \"streams\"\nseed = 1\nloads = [2]\nlod = 1\n\
                    [[family]]\nname = \"a\"\ncount = 0\ntopology = \"torus\"\n\
                    [[family]]\nname = \"b\"\ncount = 1\ntopology = \"router\"\nports = [4, 2]\nlinks = [1, 2]\n\
                    sources = [\"film\"]\nschedulers = [\"fifo\"]\n";
        let faults = StreamPlan::from_toml("t", text).unwrap_err();
        let keys: Vec<&str> = faults.iter().map(|fault| fault.key.as_str()).collect();
        assert_eq!(keys.len(), 8, "{keys:?}");
        for key in ["loads", "lod", "count", "topology", "ports", "links", "sources", "schedulers"] {
            assert!(keys.iter().any(|found| found.ends_with(key)), "{key}: {keys:?}");
        }
    }

    /// Bounds within those of every key may still give systems that are none.
    #[test]
    fn systems_that_cannot_be_are_told_at_their_family() {
        let refused = |bounds: &str| {
            let text = format!(
                "kind = \"streams\"\nseed = 1\nloads = [0.5]\n[[family]]\nname = \"a\"\ncount = 2\n\
                 topology = \"router\"\nports = [4, 4]\n{bounds}\n"
            );
            let faults = StreamPlan::from_toml("t", &text).unwrap_err();
            assert_eq!(faults.len(), 1, "{faults:?}");
            faults[0].to_string()
        };
        // what the model and the scenario do not take
        let found = refused("crossbars = [\"multiplexed\"]\nschedulers = [\"round-robin\"]");
        let expected = "t:4:1: family[1]: found a-01, of which router.scheduler: the mediaworm model";
        assert!(found.starts_with(expected), "{found}");
        let found = refused("sources = [\"mpeg2\"]\nframe_flits = [1, 1]");
        assert!(found.contains("class.RT.source.frame_scale"), "{found}");
    }
}
