//! Draws scenarios of the kind `streams`: streams of frames beside best effort, on which the mediaworm model is judged.
//!
//! Loads are shares of the one at which the *model* has the first class saturate. Along the load streams are added; the
//! interval of their frames is adjusted by less than half a stream, so that loads are met exactly.

use flitwise_language::scenario::{Fault, Scenario, Scheduler, Sequences, words_of};
use flitwise_models::mediaworm;
use flitwise_models::model::Options;

use super::draw::{Draw, rounded, whole_at};
use super::family::{Family, Key, Unfit, Wiring};
use flitwise_simulator::MAX_PORTS;

/// Load of a node's link at which a scenario is drawn before its load of saturation is known \[flits/cycle\].
const DRAWN_LOAD: f64 = 0.25;
/// More streams on a virtual channel than any has.
const ANY_STREAMS: u32 = 10_000;

/// Meshes and tori have two dimensions.
pub(super) const WIRINGS: &[Wiring] = &[
    Wiring { topology: "router", size: "ports", within: [2, MAX_PORTS], least_lanes: 1 },
    Wiring { topology: "mesh", size: "radix", within: [2, 8], least_lanes: 1 },
    Wiring { topology: "torus", size: "radix", within: [2, 8], least_lanes: 2 },
];

pub(super) const KEYS: &[Key] = &[
    Key::size("ports"),
    Key::size("radix"),
    Key::whole("nodes_per_router", [1, 16], [1, 1]).of(&["mesh", "torus"]),
    Key::whole("links", [1, 8], [1, 1]).of(&["mesh"]),
    Key::whole("real_time_channels", [1, 32], [13, 13]),
    Key::chance("best_effort"),
    Key::whole("best_effort_channels", [1, 32], [3, 3]),
    // share of the flits that are real time where there is best effort
    Key::bounds("real_time_share", [1e-3, 1.0], [0.8, 0.8]),
    Key::any_of("crossbars", || words_of("router.crossbar"), "full"),
    Key::any_of(
        "schedulers",
        || Scheduler::OF_CLASSES.map(Scheduler::word).to_vec(),
        "fine-grained-virtual-clock",
    ),
    // all frames of one length, of normal lengths, or a pattern of I, P and B frames
    Key::any_of("sources", || vec!["cbr", "vbr", "mpeg2"], "vbr"),
    // mean length, and deviation as a share of it
    Key::bounds("frame_flits", [1.0, 1e6], [100.0, 800.0]),
    Key::bounds("frame_deviation", [1e-4, 10.0], [0.2, 0.2]),
    // load of a stream [flits/cycle]
    Key::bounds("stream", [1e-4, 1.0], [0.01, 0.04]),
    Key::any_of("placements", || words_of("class.*.source.placement"), "balanced"),
    Key::whole("message_flits", [2, 4096], [20, 20]),
    Key::whole("buffer_messages", [1, 16], [1, 1]),
    // further classes have virtual channels, lengths, frames and streams of their own
    Key::whole("real_time_classes", [1, 4], [1, 1]),
    Key::whole("best_effort_classes", [1, 4], [1, 1]),
];

/// A scenario but for its load.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Streams {
    /// The tables `[units]`, `[network]` and `[router]`.
    head: String,
    real_time: Vec<RealTime>,
    /// Share of the flits that is not real time.
    best_effort_share: f64,
    best_effort: Vec<BestEffort>,
    placement: &'static str,
}

/// A class of streams.
#[derive(Clone, Debug, PartialEq)]
struct RealTime {
    channels: u32,
    message_flits: u32,
    source: &'static str,
    /// Keys of the source that say how long frames are.
    frames: String,
    /// Load of a stream \[flits/cycle\].
    stream: f64,
    /// Share of the flits of real time.
    part: f64,
    /// Streams that a virtual channel of capped placement has room for.
    streams_per_vc: u32,
}

/// A class of best effort.
#[derive(Clone, Debug, PartialEq)]
struct BestEffort {
    channels: u32,
    message_flits: u32,
    /// Share of the flits of best effort.
    part: f64,
}

impl RealTime {
    /// A class of a family; lengths of messages and virtual channels are drawn elsewhere.
    fn drawn(draw: &mut Draw, family: &Family, (channels, message_flits): (u32, u32)) -> Self {
        let source = draw.one_of(family.words("sources"));
        let frame = rounded(draw.between(family.bounds("frame_flits")), 3);
        let deviation = rounded(draw.between(family.bounds("frame_deviation")), 2);
        let frames = match source {
            "cbr" => format!("frame = {frame}"),
            "vbr" => format!("frame = {frame}, frame_deviation = {}", rounded(deviation * frame, 3)),
            _ => {
                let one = draw.evenly([1, 7]);
                let scale = rounded(frame / mean_flits_of(one), 3);
                format!("sequences = [{one}], frame_variation = {deviation}, frame_scale = {scale}")
            }
        };
        let stream = rounded(draw.between(family.bounds("stream")), 3);
        Self { channels, message_flits, source, frames, stream, part: 1.0, streams_per_vc: ANY_STREAMS }
    }

    /// Its load at a load of real time, and as many streams as come nearest.
    fn at(&self, real_time: f64) -> (f64, f64) {
        let load = self.part * real_time;
        (load, (load / self.stream).round().max(1.0))
    }
}

impl Streams {
    /// System `index` of a family.
    pub(super) fn drawn(draw: &mut Draw, family: &Family, index: u32) -> Self {
        let head = head(draw, family, index);
        let real_time_channels = draw.whole(family.whole("real_time_channels"));
        let has_best_effort = draw.chance(family.number("best_effort"));
        let channels = draw.whole(family.whole("best_effort_channels"));
        let part = rounded(1.0 - draw.between(family.bounds("real_time_share")), 3);
        let message_flits = head.message_flits;
        let first = RealTime::drawn(draw, family, (real_time_channels, message_flits));
        let placement = draw.one_of(family.words("placements"));
        let best_effort = BestEffort { channels, message_flits, part: 1.0 };
        let mut streams = Self {
            head: head.text,
            real_time: vec![first],
            best_effort_share: if has_best_effort { part } else { 0.0 },
            best_effort: if has_best_effort { vec![best_effort] } else { Vec::new() },
            placement,
        };
        streams.add_classes(draw, family);
        streams
    }

    /// Further classes of either kind, which share its flits at random.
    fn add_classes(&mut self, draw: &mut Draw, family: &Family) {
        let mut count = |key: &str| match family.whole(key) {
            [1, 1] => 1,
            bounds => draw.evenly(bounds),
        };
        let [real_time, best_effort] = ["real_time_classes", "best_effort_classes"].map(&mut count);
        for _ in 1..real_time {
            let size = ["real_time_channels", "message_flits"].map(|key| draw.whole(family.whole(key)));
            self.real_time.push(RealTime::drawn(draw, family, (size[0], size[1])));
        }
        share_out(draw, &mut self.real_time, |class| &mut class.part);
        for _ in 1..if self.best_effort.is_empty() { 1 } else { best_effort } {
            let size = ["best_effort_channels", "message_flits"].map(|key| draw.whole(family.whole(key)));
            self.best_effort.push(BestEffort { channels: size[0], message_flits: size[1], part: 1.0 });
        }
        share_out(draw, &mut self.best_effort, |class| &mut class.part);
    }

    /// Multiple of the load as drawn at which the model has the first class saturate.
    pub(super) fn saturation_factor(&mut self, name: &str, scenario: &Scenario) -> Result<f64, Unfit> {
        let answer = mediaworm::solve(scenario, &Options::default()).map_err(|failure| Unfit {
            found: format!("{name}, of which {}", failure.lines(|_| String::new()).join("; ")),
            wanted: "what the mediaworm model answers".to_owned(),
        })?;
        let factors = answer.classes.iter().filter_map(|class| Some(class.lanes.as_ref()?.at_load_factor));
        let load = rounded(DRAWN_LOAD * factors.fold(f64::INFINITY, f64::min), 6);
        // as in the paper, virtual channels have just the room for the streams of a full link
        let real_time = self.of_real_time(load);
        for class in &mut self.real_time {
            let streams = class.part * real_time / class.stream;
            class.streams_per_vc = ((streams / f64::from(class.channels)).ceil() + 1.0) as u32;
        }
        Ok(load / DRAWN_LOAD)
    }

    /// What real time has of a load.
    fn of_real_time(&self, load: f64) -> f64 {
        load * (1.0 - self.best_effort_share)
    }

    /// The scenario at a multiple of the load as drawn; `scenario` reads a text.
    pub(super) fn at(
        &self,
        factor: f64,
        scenario: &dyn Fn(&str) -> Result<Scenario, Vec<Fault>>,
    ) -> Result<Scenario, Vec<Fault>> {
        let load = factor * DRAWN_LOAD;
        let real_time = self.of_real_time(load);
        let wanted: Vec<(f64, f64)> = self.real_time.iter().map(|class| class.at(real_time)).collect();
        // headers count, too: a frame that takes a cycle says how many flits it is
        let any: Vec<(f64, f64)> = wanted.iter().map(|(_, count)| (*count, 1e6)).collect();
        let probe = scenario(&self.text(&any, 1e-3))?;
        let interval = |(class, (load, count)): (usize, &(f64, f64))| {
            (*count, count * (probe.flit_rate(class) * 1e6 / count) / load)
        };
        let streams: Vec<(f64, f64)> = wanted.iter().enumerate().map(interval).collect();
        scenario(&self.text(&streams, load - real_time))
    }

    /// The scenario with so many streams of each class and such intervals of their frames, and a load of best effort.
    fn text(&self, streams: &[(f64, f64)], best_effort: f64) -> String {
        let Self { head, placement, .. } = self;
        let name = |kind: &str, place: usize| match place {
            0 => kind.to_owned(),
            _ => format!("{kind}{}", place + 1),
        };
        let mut text = head.clone();
        for (place, (class, (count, interval))) in self.real_time.iter().zip(streams).enumerate() {
            let RealTime { channels, message_flits, source, frames, streams_per_vc, .. } = class;
            let most = match *placement {
                "capped" => format!(", streams_per_vc = {streams_per_vc}"),
                _ => String::new(),
            };
            let frames = format!(
                "{frames}, streams = {count}, frame_interval = {interval}, placement = \"{placement}\"{most}"
            );
            text += &format!(
                "[[class]]\nname = \"{}\"\nkind = \"real-time\"\nvirtual_channels = {channels}\n\
                 message_flits = {message_flits}\nsource = {{ kind = \"{source}\", {frames} }}\n",
                name("RT", place)
            );
        }
        for (place, BestEffort { channels, message_flits, part }) in self.best_effort.iter().enumerate() {
            text += &format!(
                "[[class]]\nname = \"{}\"\nkind = \"best-effort\"\nvirtual_channels = {channels}\n\
                 message_flits = {message_flits}\nload = {}\n",
                name("BE", place),
                part * best_effort
            );
        }
        text
    }
}

/// Shares flits among classes at random, if there are several.
fn share_out<T>(draw: &mut Draw, classes: &mut [T], part: impl Fn(&mut T) -> &mut f64) {
    if classes.len() < 2 {
        return;
    }
    let weights: Vec<f64> = classes.iter().map(|_| draw.between([0.5, 2.0])).collect();
    let sum: f64 = weights.iter().sum();
    for (class, weight) in classes.iter_mut().zip(weights) {
        *part(class) = weight / sum;
    }
}

/// Tables of a scenario in front of its classes, and the length of its messages.
struct Head {
    text: String,
    message_flits: u32,
}

fn head(draw: &mut Draw, family: &Family, index: u32) -> Head {
    let stratum = (f64::from(index) + draw.share()) / f64::from(family.count);
    let network = if family.wiring.is_lattice() {
        let [x, y] = [family.size(); 2].map(|size| draw.evenly(size));
        let [each, links] = ["nodes_per_router", "links"].map(|key| draw.evenly(family.whole(key)));
        let links = if family.topology() == "mesh" { format!("\nlinks = {links}") } else { String::new() };
        format!("radix = [{x}, {y}]\nnodes_per_router = {each}{links}")
    } else {
        format!("ports = {}", whole_at(stratum, family.size()))
    };
    let message_flits = draw.whole(family.whole("message_flits"));
    let crossbar = draw.one_of(family.words("crossbars"));
    let scheduler = draw.one_of(family.words("schedulers"));
    let text = format!(
        "[units]\nlink = \"400 Mbps\"\nflit_bits = 32\n[network]\ntopology = \"{}\"\n{network}\n[router]\n\
         buffer_flits = {}\ncrossbar = \"{crossbar}\"\nscheduler = \"{scheduler}\"\nvc_choice = \"drawn\"\n",
        family.topology(),
        message_flits * draw.evenly(family.whole("buffer_messages")),
    );
    Head { text, message_flits }
}

/// Mean length of the frames of a recorded sequence in flits of 32 bits, at scale 1.
fn mean_flits_of(sequence: u32) -> f64 {
    // an I frame, three P and eight B frames
    let mean = |[i, p, b]: [f64; 3]| (i + 3.0 * p + 8.0 * b) / 12.0;
    let sequence = Sequences::of(&[sequence]);
    sequence.map_or(1.0, |one| one.frame_kilobits().map(mean).sum::<f64>() * 1e3 / 32.0)
}
