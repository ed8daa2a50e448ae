//! A picture: all numbers of a figure with their units.
//!
//! Drawing computes positions only.

use flitwise_language::scenario::{ClassKind, Scenario, ScenarioSpec};
use flitwise_models::model::Model;
use flitwise_models::published::LinkRecord;
use schemars::JsonSchema;
use serde::Serialize;

/// A figure with all its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Picture {
    /// Stem of its files, such as `fig04a`.
    pub name: String,
    /// What it shows, in one line.
    pub title: String,
    /// The system, in a few words: network, what is kept fixed.
    pub subtitle: String,
    /// What is drawn.
    #[serde(flatten)]
    pub content: Content,
    /// What one should know when looking at it.
    pub notes: Vec<String>,
}

/// What is drawn.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Content {
    /// Curves of models, points of simulations with their intervals.
    Lines(Lines),
    /// Bars of parts that add up, a panel per class.
    Stacked(Stacked),
    /// A quantity over two axes, a panel per source.
    HeatMap(HeatMap),
    /// States of a Markov chain, their probabilities and the rates between them.
    Chain(Chain),
    /// Loads of all links of a network.
    Network(NetworkMap),
    /// Stages of packet switches at chosen times, coloured by what their ports hold.
    CongestionTree(CongestionTree),
    /// Deliveries of the frames of streams.
    Timeline(Timeline),
    /// Which points of a plane are admissible, and what limits them.
    Region(Region),
    /// What a number gains and loses with each of others.
    Tornado(Tornado),
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Axis {
    /// What it stands for, without unit, such as `R1 load`.
    pub label: String,
    /// Its unit, such as `messages/cycle/node`; empty for a probability.
    pub unit: String,
    /// Whether it is logarithmic.
    pub logarithmic: bool,
}

/// Where numbers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The published model.
    Published,
    /// The refined model.
    Refined,
    /// The mediaworm model.
    Mediaworm,
    /// The analysis of congestion trees in packet switches.
    Recn,
    /// The refined model corrected by simulations.
    Anchored,
    /// The flit simulator.
    Simulation,
}

impl Origin {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Published, Self::Refined, Self::Mediaworm, Self::Recn, Self::Anchored, Self::Simulation];

    /// Those that a figure's file may name.
    pub const NAMED: [Self; 5] =
        [Self::Published, Self::Refined, Self::Mediaworm, Self::Recn, Self::Simulation];

    /// Those that the file of a figure over time may name, all of them unless it does.
    pub const OVER_TIME: [Self; 2] = [Self::Recn, Self::Simulation];

    /// What a figure shows that does not say: the published model, the model that answers by default, and the
    /// simulation; of a scenario that neither has, the model that does.
    pub fn usual(scenario: Option<&Scenario>) -> Vec<Self> {
        let usual = vec![Self::Published, Model::DEFAULT.into(), Self::Simulation];
        match scenario.map(Model::usual) {
            Some(Model::Recn) => vec![Self::Recn, Self::Simulation],
            _ => usual,
        }
    }

    /// The model, if it is one that answers without simulation.
    pub fn model(self) -> Option<Model> {
        match self {
            Self::Published => Some(Model::Published),
            Self::Refined => Some(Model::Refined),
            Self::Mediaworm => Some(Model::Mediaworm),
            Self::Recn => Some(Model::Recn),
            Self::Anchored | Self::Simulation => None,
        }
    }

    /// What it is called in legends.
    pub fn words(self) -> &'static str {
        match self {
            Self::Published => "published model",
            Self::Refined => "refined model",
            Self::Mediaworm => "mediaworm model",
            Self::Recn => "recn analysis",
            Self::Anchored => "anchored model",
            Self::Simulation => "simulation",
        }
    }

    /// What it is called in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Refined => "refined",
            Self::Mediaworm => "mediaworm",
            Self::Recn => "recn",
            Self::Anchored => "anchored",
            Self::Simulation => "simulation",
        }
    }
}

impl From<Model> for Origin {
    fn from(model: Model) -> Self {
        match model {
            Model::Published => Self::Published,
            Model::Refined => Self::Refined,
            Model::Mediaworm => Self::Mediaworm,
            Model::Recn => Self::Recn,
        }
    }
}

/// Curves and points.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Lines {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// From where to where the vertical axis is drawn; `None`: as the points need.
    pub y_range: Option<(f64, f64)>,
    /// What stands above each of several panels with the same axes; empty: there is one panel, without a heading.
    pub panels: Vec<String>,
    /// One per class, variant and origin.
    pub series: Vec<Series>,
    /// Model minus simulation, drawn below the main panel; empty: no such panel.
    pub errors: Vec<ErrorSeries>,
    /// Whether simulations are drawn as curves in a band, and models dashed: of many points side by side.
    #[serde(skip)]
    pub measured_as_curves: bool,
}

/// One curve, or points with intervals.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Series {
    /// What the legend says, such as `R1`, or `R1, b = 16`; without the origin and, if there are panels, without
    /// the panel.
    pub label: String,
    /// In which of the panels it is drawn, from 0.
    pub panel: usize,
    /// Which colour and marker it has: the same for the model and the simulation of one thing, and of a class the
    /// one of [`class_styles`].
    pub style: usize,
    /// Which shade of it, or dash: several variants of one thing; 0 for the first or only one.
    pub variant: usize,
    /// Where its numbers come from.
    pub origin: Origin,
    /// Its points, in the order of `x`.
    pub points: Vec<Point>,
    /// Where the class saturates: the first `x` found saturated, `None` if none was.
    pub saturated_from: Option<f64>,
}

/// A point of a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// Where on the horizontal axis.
    pub x: f64,
    /// Where on the vertical axis; `None` if there is no such number.
    pub y: Option<f64>,
    /// Lower end of the 95 % interval, for simulations and the anchored model.
    pub lower_95: Option<f64>,
    /// Upper end of the 95 % interval.
    pub upper_95: Option<f64>,
    /// Whether the class is saturated there.
    pub saturated: bool,
}

/// How far a model is off, in percent of the simulation (or in percentage points, see the axis).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ErrorSeries {
    /// As in [`Series`], but with the panel.
    pub label: String,
    /// Which model it is of.
    pub origin: Origin,
    /// As in [`Series`].
    pub style: usize,
    /// As in [`Series`].
    pub variant: usize,
    /// Difference in percent, with the interval that the simulation leaves.
    pub points: Vec<Point>,
}

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

/// One whole and its parts, as a bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// What the whole is.
    pub title: String,
    /// Unit of all numbers.
    pub unit: String,
    /// Which part each is, its name, and its size.
    pub parts: Vec<(Part, String, f64)>,
}

/// A part of a latency. Each has the same colour in all pictures, which no class has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// What a lone message takes.
    Transfer,
    /// Waiting of a header on its way.
    Blocking,
    /// Waiting of flits for the link, which others share.
    Sharing,
    /// Waiting at the source.
    Waiting,
    /// Of blocking: the header waits in input buffers.
    Input,
    /// Of blocking: the header waits for its output.
    Arbitration,
    /// Of sharing: the header waits for the link.
    Output,
    /// Of sharing: what follows the header falls behind.
    Gaps,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Transfer,
        Self::Blocking,
        Self::Sharing,
        Self::Waiting,
        Self::Input,
        Self::Arbitration,
        Self::Output,
        Self::Gaps,
    ];
}

/// The style of the best-effort class: black, triangles.
pub const BEST_EFFORT_STYLE: usize = 2;
/// Colours of styles, which repeat.
pub(crate) const COLOURS: usize = 5;

/// The style of each class, see [`Series::style`]: best effort has the same one in every picture, however many
/// real-time classes there are, and none of those has its colour.
pub fn class_styles(scenario: &ScenarioSpec) -> Vec<usize> {
    let mut others = (0..).filter(|style| style % COLOURS != BEST_EFFORT_STYLE);
    let mut style = |kind| match kind {
        ClassKind::BestEffort => BEST_EFFORT_STYLE,
        ClassKind::RealTime => others.next().unwrap_or(0),
    };
    scenario.classes.iter().map(|class| class.kind).map(&mut style).collect()
}

/// A Markov chain over the sets of classes that are present.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Chain {
    /// What comes and goes, in the order of bits: class names.
    pub members: Vec<String>,
    /// By set as a bit mask (bit `i` is `members[i]`): stationary probability.
    pub probabilities: Vec<f64>,
    /// All transitions.
    pub transitions: Vec<Transition>,
    /// By set and member: cycles per flit of the member in this set; `None` where it is not in it.
    pub cycles_per_flit: Vec<Vec<Option<f64>>>,
}

impl Chain {
    /// The chain of a link, Fig. 3 of the 2005 paper, with the numbers of a solve; `members` are its classes' names.
    pub fn of(link: &LinkRecord, members: Vec<String>) -> Self {
        let classes = members.len();
        let cycles = |set: usize| {
            let of = |class: usize| (set >> class & 1 == 1).then(|| link.shares.cycles_per_flit(class, set));
            (0..classes).map(of).collect()
        };
        let pairs = (0..link.states()).flat_map(|from| (0..classes).map(move |class| (class, from)));
        let transition = |(class, from)| Transition {
            from,
            to: from ^ (1_usize << class),
            rate_per_cycle: link.rate(class, from),
        };
        Self {
            members,
            probabilities: link.sharing.occupancy.clone(),
            transitions: pairs.map(transition).collect(),
            cycles_per_flit: (0..link.states()).map(cycles).collect(),
        }
    }
}

/// A transition of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Transition {
    /// From this set.
    pub from: usize,
    /// To this set.
    pub to: usize,
    /// At this rate \[1/cycle\].
    pub rate_per_cycle: f64,
}

/// Loads of all links of a network whose routers have coordinates.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NetworkMap {
    /// What the colours stand for.
    pub load: Axis,
    /// Routers from left to right, along dimension 0.
    pub columns: u32,
    /// Routers from the bottom up, along dimension 1.
    pub rows: u32,
    /// A plane of routers each, by their coordinates in other dimensions.
    pub panels: Vec<NetworkPanel>,
}

/// The routers of a plane and the links between them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NetworkPanel {
    /// What stands above it; empty of the only plane.
    pub label: String,
    /// By router, row by row: the load of its most loaded ejection link.
    pub routers: Vec<f64>,
    /// The same links as they were simulated; empty where nothing was.
    pub simulated_routers: Vec<SimulatedLoad>,
    /// Links within the plane; parallel ones once.
    pub links: Vec<NetworkLink>,
}

/// A link from router to router.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NetworkLink {
    /// Column and row of the router where it starts.
    pub from: (u32, u32),
    /// Column and row of the one where it ends.
    pub to: (u32, u32),
    /// Whether it joins the ends of a line to a ring.
    pub wraps: bool,
    /// Its load.
    pub load: f64,
    /// The same as it was simulated; `null` where nothing was.
    pub simulated: Option<SimulatedLoad>,
}

/// A load as it was simulated; of parallel links the mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SimulatedLoad {
    /// The load.
    pub load: f64,
    /// Half-width of its 95 % interval; `null` if too little was measured. Of parallel links the mean of their
    /// half-widths, an upper bound.
    pub half_width_95: Option<f64>,
}

impl NetworkMap {
    /// Whether simulated loads stand beside the exact ones.
    pub fn is_simulated(&self) -> bool {
        self.panels.iter().any(|panel| {
            !panel.simulated_routers.is_empty() || panel.links.iter().any(|link| link.simulated.is_some())
        })
    }
}

/// Ports of packet switches at chosen times.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CongestionTree {
    /// What the colours stand for.
    pub held: Axis,
    /// Panels side by side: one for each time.
    pub times: usize,
    /// Lines to which traffic goes that begins late: hot hosts.
    pub hot: Vec<u32>,
    /// One for each variant and time.
    pub panels: Vec<TreePanel>,
}

/// A network at a time of one run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TreePanel {
    /// What stands above it.
    pub label: String,
    /// The variant of the scenario; empty of the only one.
    pub variant: String,
    /// When \[us\].
    pub time_us: f64,
    /// From left to right: injection ports of hosts, then ingress and egress of each stage.
    pub columns: Vec<TreeColumn>,
}

/// Ports in the order of their lines.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TreeColumn {
    /// What the ports are, such as `stage 0, egress`.
    pub name: String,
    /// What each holds.
    pub held: Vec<f64>,
    /// The line of the next column to which the link of each leads; empty where there is none.
    pub next: Vec<u32>,
}

/// Deliveries of frames, stream by stream.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Timeline {
    /// Time since the first frame of a row.
    pub x: Axis,
    /// How far the axis goes.
    pub end: f64,
    /// An interval above which a frame is late \[unit of the axis\].
    pub late: f64,
    /// One for each variant.
    pub panels: Vec<TimelinePanel>,
}

/// Streams of a node in one run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TimelinePanel {
    /// The variant of the scenario; empty of the only one.
    pub label: String,
    /// By stream, from top to bottom: when its frames are delivered, the first one at 0.
    pub streams: Vec<Vec<f64>>,
}

/// Which points of a plane are admissible: those from the origin up to a frontier.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Region {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Where the frontier comes from.
    pub origin: Origin,
    /// What may limit it.
    pub limits: Vec<String>,
    /// Which colour each limit has: that of the class which it is about.
    pub limit_styles: Vec<usize>,
    /// The frontier, from the horizontal axis to the vertical one.
    pub frontier: Vec<Frontier>,
    /// A point to show beside it.
    pub mark: Option<Mark>,
}

/// A point of a frontier.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Frontier {
    /// Where on the horizontal axis.
    pub x: f64,
    /// Where on the vertical axis.
    pub y: f64,
    /// From where on, on the way from the origin: the origin itself, unless a limit is broken there, too; a frontier
    /// that is no further than this has nothing admissible on its way.
    pub from: (f64, f64),
    /// Which limit is reached, by its number from 0; `None`: none.
    pub limit: Option<usize>,
}

/// A point with a name.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Mark {
    /// Where on the horizontal axis.
    pub x: f64,
    /// Where on the vertical axis.
    pub y: f64,
    /// What the legend says.
    pub label: String,
}

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

#[cfg(test)]
mod tests {
    use flitwise_language::scenario::ClassSpec;

    use super::*;

    /// Best effort is black, whether there are two real-time classes, three or ten; no other class is.
    #[test]
    fn best_effort_has_one_style_in_all_pictures() {
        for real_time in 0..10 {
            let mut classes: Vec<ClassSpec> =
                (0..real_time).map(|class| ClassSpec::real_time(&format!("R{class}"), 0.001)).collect();
            classes.push(ClassSpec::best_effort("BE", 0.001));
            let mut styles = class_styles(&ScenarioSpec { classes, ..ScenarioSpec::default() });
            assert_eq!(styles.pop(), Some(BEST_EFFORT_STYLE));
            assert!(styles.iter().all(|style| style % COLOURS != BEST_EFFORT_STYLE), "{styles:?}");
            assert!(styles.windows(2).all(|pair| pair[0] < pair[1]), "{styles:?}");
        }
        assert_eq!(class_styles(&ScenarioSpec::default()), [0, 1, BEST_EFFORT_STYLE]);
    }
}
