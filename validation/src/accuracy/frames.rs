//! Draws scenarios of the kind `streams`: streams of frames beside best effort, on which the mediaworm model is judged.
//!
//! Loads are shares of the one at which the *model* has the first class saturate. Along the load streams are added; the
//! interval of their frames is adjusted by less than half a stream, so that loads are met exactly.

use flitwise_language::document::{Reader, Table};
use flitwise_language::scenario::{Fault, Scenario, Scheduler, Sequences, words_of};
use flitwise_models::mediaworm;
use flitwise_models::model::Options;

use super::draw::{Draw, rounded, whole_at};
use super::family::{Family, Key, Unfit, Wiring};
use super::plan::refuse;
use flitwise_simulator::MAX_PORTS;

/// Load of a node's link at which a scenario is drawn before its load of saturation is known \[flits/cycle\].
const DRAWN_LOAD: f64 = 0.25;
/// More streams on a virtual channel than any has.
const ANY_STREAMS: u32 = 10_000;

/// A mesh has two dimensions.
pub(super) const WIRINGS: &[Wiring] = &[
    Wiring { topology: "router", size: "ports", within: [2, MAX_PORTS], least_lanes: 1 },
    Wiring { topology: "mesh", size: "radix", within: [2, 8], least_lanes: 1 },
];

pub(super) const KEYS: &[Key] = &[
    Key::size("ports"),
    Key::size("radix"),
    Key::whole("nodes_per_router", [1, 16], [1, 1]).of(&["mesh"]),
    Key::whole("links", [1, 8], [1, 1]).of(&["mesh"]),
    Key::whole("real_time_channels", [1, 32], [13, 13]),
    Key::chance("best_effort"),
    Key::whole("best_effort_channels", [1, 32], [3, 3]),
    // share of the flits that are real time where there is best effort
    Key::bounds("real_time_share", [1e-3, 1.0], [0.8, 0.8]),
    Key::any_of("crossbars", || words_of("router.crossbar"), "full"),
    Key::any_of("schedulers", || Scheduler::OF_CLASSES.map(Scheduler::word).to_vec(), FINE_GRAINED),
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
];

/// What full crossbars are drawn with.
const FINE_GRAINED: &str = "fine-grained-virtual-clock";

/// Refuses schedulers that nothing would have.
pub(super) fn check(family: &Family, reader: &mut Reader, table: &Table<'_>) {
    if table.get("schedulers").is_some() && !family.words("crossbars").contains(&"multiplexed") {
        let wanted = "none: full crossbars are drawn with fine-grained-virtual-clock";
        refuse(reader, table, "schedulers", "schedulers of full crossbars".to_owned(), wanted, None);
    }
}

/// A scenario but for its load.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Streams {
    /// The tables `[units]`, `[network]` and `[router]`.
    head: String,
    message_flits: u32,
    real_time_channels: u32,
    /// Virtual channels of best effort, and the share of the flits that it has.
    best_effort: Option<(u32, f64)>,
    source: &'static str,
    /// Keys of the source that say how long frames are.
    frames: String,
    /// Load of a stream \[flits/cycle\].
    stream: f64,
    placement: &'static str,
    /// Streams that a virtual channel of capped placement has room for.
    streams_per_vc: u32,
}

impl Streams {
    /// System `index` of a family.
    pub(super) fn drawn(draw: &mut Draw, family: &Family, index: u32) -> Self {
        let head = head(draw, family, index);
        let real_time_channels = draw.whole(family.whole("real_time_channels"));
        let has_best_effort = draw.chance(family.number("best_effort"));
        let channels = draw.whole(family.whole("best_effort_channels"));
        let part = rounded(1.0 - draw.between(family.bounds("real_time_share")), 3);
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
        Self {
            head: head.text,
            message_flits: head.message_flits,
            real_time_channels,
            best_effort: has_best_effort.then_some((channels, part)),
            source,
            frames,
            stream: rounded(draw.between(family.bounds("stream")), 3),
            placement: draw.one_of(family.words("placements")),
            streams_per_vc: ANY_STREAMS,
        }
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
        let real_time = load * (1.0 - self.best_effort_share());
        self.streams_per_vc =
            ((real_time / self.stream / f64::from(self.real_time_channels)).ceil() + 1.0) as u32;
        Ok(load / DRAWN_LOAD)
    }

    fn best_effort_share(&self) -> f64 {
        self.best_effort.map_or(0.0, |(_, share)| share)
    }

    /// The scenario at a multiple of the load as drawn; `scenario` reads a text.
    pub(super) fn at(
        &self,
        factor: f64,
        scenario: &dyn Fn(&str) -> Result<Scenario, Vec<Fault>>,
    ) -> Result<Scenario, Vec<Fault>> {
        let load = factor * DRAWN_LOAD;
        let real_time = load * (1.0 - self.best_effort_share());
        let streams = (real_time / self.stream).round().max(1.0);
        // headers count, too: a frame that takes a cycle says how many flits it is
        let probe = scenario(&self.text(streams, 1e6, 1e-3, streams as u32))?;
        let interval = streams * (probe.flit_rate(0) * 1e6 / streams) / real_time;
        scenario(&self.text(streams, interval, load - real_time, self.streams_per_vc))
    }

    fn text(&self, streams: f64, interval: f64, best_effort: f64, streams_per_vc: u32) -> String {
        let Self { head, message_flits, real_time_channels, source, frames, placement, .. } = self;
        let most = match *placement {
            "capped" => format!(", streams_per_vc = {streams_per_vc}"),
            _ => String::new(),
        };
        let frames = format!(
            "{frames}, streams = {streams}, frame_interval = {interval}, placement = \"{placement}\"{most}"
        );
        let mut text = format!(
            "{head}[[class]]\nname = \"RT\"\nkind = \"real-time\"\nvirtual_channels = {real_time_channels}\n\
             message_flits = {message_flits}\nsource = {{ kind = \"{source}\", {frames} }}\n"
        );
        if let Some((channels, _)) = self.best_effort {
            text += &format!(
                "[[class]]\nname = \"BE\"\nkind = \"best-effort\"\nvirtual_channels = {channels}\nmessage_flits = \
                 {message_flits}\nload = {best_effort}\n"
            );
        }
        text
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
        format!("radix = [{x}, {y}]\nnodes_per_router = {each}\nlinks = {links}")
    } else {
        format!("ports = {}", whole_at(stratum, family.size()))
    };
    let message_flits = draw.whole(family.whole("message_flits"));
    let crossbar = draw.one_of(family.words("crossbars"));
    let scheduler = draw.one_of(family.words("schedulers"));
    let scheduler = if crossbar == "full" { FINE_GRAINED } else { scheduler };
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
