//! How far off the simulation an answer is, as measured over random scenarios.
//!
//! A table holds the errors of one model over a set of random scenarios, class by class and point by point: it is what
//! `flitwise verify --accuracy --format csv` prints, and its first line holds that command. Of an answer is told,
//! quantity by quantity, what 9 of 10 errors did not exceed in its [`Region`], for its kind of class, at its load: a
//! share of the load at which the model has the first class saturate.
//!
//! The bound at a load of the table is the error at place `0.9 (n + 1)` of the `n` in rising order, between two
//! of them where that is no whole number. One more of the same kind then lies within with probability 0.9,
//! whatever the law of the errors. Between two loads of the table the bound is interpolated; below the lowest it is
//! that of the lowest; beyond the highest there is none. Where the simulation finds a class saturated and the model
//! does not, the error is infinite.

use std::fmt;
use std::sync::OnceLock;

use crate::answer::{Answer, ExpectedError, Validity};
use crate::model::Model;
use crate::paths::ChannelLoads;
use crate::refined;
use flitwise_language::quantity::{Quantity, Unit};
use flitwise_language::scenario::{ClassKind, Crossbar, GraphRouting, Scenario, Scheduler};

/// The tables measured, by model.
const TABLES: [(Model, &str); 4] = [
    (Model::Published, include_str!("accuracy/published.csv")),
    (Model::Refined, include_str!("accuracy/holdout.csv")),
    (Model::Refined, include_str!("accuracy/networks.csv")),
    (Model::Mediaworm, include_str!("accuracy/streams.csv")),
];

/// The share of the errors that a bound covers.
pub const COVERED: f64 = 0.9;
/// A load this little beyond the highest measured counts as it.
const LITTLE: f64 = 0.005;
/// The columns of a table in front of the quantities.
const HEAD: &str = "case,load,factor,class,kind,region,network_latency_cycles";

/// Scenarios whose errors are alike.
#[derive(Debug, PartialEq, Eq)]
pub struct Region {
    /// Its name in tables.
    pub word: &'static str,
    /// Its name to readers; `b` is the length of a buffer, `M` that of a message.
    pub name: &'static str,
}

/// All regions.
pub const REGIONS: [Region; 20] = [
    Region { word: "router", name: "routers, b >= M" },
    Region { word: "router-short-buffer", name: "routers, b < M for some class" },
    Region { word: "router-other-scheduler", name: "routers, fair queueing or weighted round robin" },
    Region { word: "router-lanes", name: "routers, several virtual channels of a class" },
    Region { word: "router-on-off", name: "routers, ON/OFF sources" },
    Region { word: "cube", name: "cubes, b >= M" },
    Region { word: "cube-other", name: "cubes, b < M, fair queueing or weighted round robin" },
    Region { word: "cube-on-off", name: "cubes, ON/OFF sources" },
    Region { word: "lattice", name: "meshes and tori" },
    Region { word: "uneven", name: "networks with a hot node or a pattern" },
    Region { word: "tree", name: "fat trees, routes fixed or drawn" },
    Region { word: "tree-adaptive", name: "fat trees, adaptive-up" },
    Region { word: "graph", name: "graphs from a file, up-down" },
    Region { word: "tree-uneven", name: "fat trees and graphs with a hot node or a pattern" },
    Region { word: "streams-router", name: "streams of frames in a router" },
    Region { word: "streams-network", name: "streams of frames in a mesh" },
    Region { word: "streams-several", name: "several classes of streams or best effort in a router" },
    Region { word: "streams-shared", name: "streams of frames, full crossbars with fair queueing" },
    Region { word: "streams-in-order", name: "streams of frames with fifo in a router" },
    Region { word: "streams-torus", name: "streams of frames in a torus" },
];

impl Region {
    fn find(word: &str) -> Option<&'static Self> {
        REGIONS.iter().find(|region| region.word == word)
    }

    /// The region of a scenario; none where errors have not been measured of such systems.
    pub fn of(scenario: &Scenario) -> Option<&'static Self> {
        let (router, network, classes) = (scenario.router(), scenario.topology(), scenario.classes());
        let is_network = network.routers() > 1;
        let of_switches = match scenario.network().routing() {
            _ if network.is_adaptive() => Some("tree-adaptive"),
            Some(word) if word == GraphRouting::UpDown.word() => Some("graph"),
            Some(_) if network.rows() > 1 => Some("tree"),
            _ if is_network && network.sides().is_empty() => return None,
            _ => None,
        };
        if has_frames(scenario) {
            return of_switches.is_none().then(|| Self::of_frames(scenario)).flatten();
        }
        let is_bursty = classes.iter().any(|class| class.source.is_bursty());
        let has_lanes = classes.iter().any(|class| class.virtual_channels > 1);
        let is_short = classes.iter().any(|class| class.message_flits > router.buffer_flits);
        let is_even = (0..classes.len()).all(|class| scenario.is_uniform(class));
        let has_clocks = router.scheduler == Scheduler::VirtualClock;
        if !has_clocks && !matches!(router.scheduler, Scheduler::FairQueueing | Scheduler::WeightedRoundRobin)
        {
            return None;
        }
        if let Some(word) = of_switches {
            let is_measured = has_clocks && !is_bursty && !is_short && network.delays().is_empty();
            return Self::find(if is_even { word } else { "tree-uneven" }).filter(|_| is_measured);
        }
        let is_cube = network.as_hypercube().is_some();
        let word = match (is_even, is_bursty, has_clocks, has_lanes) {
            (true, false, true, _) if is_network && !is_cube && !is_short => "lattice",
            (false, false, true, _) if is_network && !is_short => "uneven",
            (true, ..) if is_network && !is_cube => return None,
            (true, true, true, false) if is_cube => "cube-on-off",
            (true, true, true, false) => "router-on-off",
            (true, false, _, false) if is_cube && (is_short || !has_clocks) => "cube-other",
            (true, false, true, false) if is_cube => "cube",
            (true, false, false, false) => "router-other-scheduler",
            (true, false, true, true) if !is_cube => "router-lanes",
            (true, false, true, false) if is_short => "router-short-buffer",
            (true, false, true, false) => "router",
            _ => return None,
        };
        Self::find(word)
    }

    /// The region of a scenario with streams of frames, none of them on circuits.
    fn of_frames(scenario: &Scenario) -> Option<&'static Self> {
        let (router, network, classes) = (scenario.router(), scenario.topology(), scenario.classes());
        let sends = |kind| classes.iter().filter(move |class| class.kind == kind && class.rate > 0.0);
        let has_several = ClassKind::DATA.into_iter().any(|kind| sends(kind).count() > 1);
        let is_full = router.crossbar == Crossbar::Full;
        let is_network = network.routers() > 1;
        let word = match router.scheduler {
            _ if scenario.circuits().is_some() || is_network && has_several => return None,
            Scheduler::Fifo if !is_network && !has_several => "streams-in-order",
            order if !order.is_fine_grained() => return None,
            _ if network.has_rings() => "streams-torus",
            _ if has_several => "streams-several",
            Scheduler::FineGrainedFairQueueing if is_full && is_network => return None,
            Scheduler::FineGrainedFairQueueing if is_full => "streams-shared",
            _ if is_network => "streams-network",
            _ => "streams-router",
        };
        Self::find(word)
    }
}

fn has_frames(scenario: &Scenario) -> bool {
    (0..scenario.classes().len()).any(|class| scenario.frames(class).is_some())
}

/// In what a scenario lies outside all that was simulated.
fn outside(scenario: &Scenario) -> Vec<String> {
    let mut outside = Vec::new();
    let mut within = |value: f64, (low, high): (f64, f64), what: &str| {
        if !(low..=high).contains(&value) {
            outside.push(format!("{what} {value}: simulated from {low} to {high}"));
        }
    };
    let (network, router) = (scenario.topology(), scenario.router());
    let (size, of) = network.size();
    let has_frames = has_frames(scenario);
    let simulated = match network.routers() {
        1 if has_frames => (4.0, 16.0),
        1 => (2.0, 64.0),
        _ if network.as_hypercube().is_some() => (2.0, 6.0),
        _ => (2.0, 512.0),
    };
    within(f64::from(size), simulated, of);
    if has_frames {
        return outside;
    }
    within(f64::from(router.pipeline_stages), (3.0, 7.0), "pipeline stages");
    within(f64::from(router.buffer_flits), (4.0, 128.0), "buffer flits");
    for class in scenario.classes() {
        within(f64::from(class.message_flits), (8.0, 128.0), &format!("message flits of {}", class.name));
    }
    let real_time = scenario.classes().iter().filter(|class| class.kind == ClassKind::RealTime).count();
    within(real_time as f64, (0.0, 4.0), "real-time classes");
    outside
}

/// Errors of a class at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorRow {
    /// The scenario, such as `router-07`.
    pub case: String,
    /// Its load, as a share of that at which the model has the first class saturate.
    pub load: f64,
    /// What its rates as drawn are multiplied by.
    pub factor: f64,
    /// Name of the class.
    pub class: String,
    /// How links treat it.
    pub kind: ClassKind,
    /// Where it belongs.
    pub region: &'static Region,
    /// What the model says, by which a change of the model is noticed \[cycles\].
    pub network_latency_cycles: Option<f64>,
    /// Model minus simulation by quantity of the table \[percent of the simulated; of probabilities as they are\]. None
    /// where either has no number, or the simulation too wide an interval.
    pub errors: Vec<Option<f64>>,
}

/// Errors of a model over a set of random scenarios.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorTable {
    /// Of what there are errors.
    pub quantities: Vec<Quantity>,
    /// All classes at all points.
    pub rows: Vec<ErrorRow>,
}

impl fmt::Display for ErrorTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.quantities.iter().map(|quantity| quantity.word()).collect();
        writeln!(f, "{HEAD},{}", words.join(","))?;
        for row in &self.rows {
            let ErrorRow { case, load, factor, class, kind, region, network_latency_cycles, errors } = row;
            let latency = network_latency_cycles.map_or(String::new(), |cycles| cycles.to_string());
            let (kind, region) = (kind.word(), region.word);
            write!(f, "{case},{load},{factor},{class},{kind},{region},{latency}")?;
            for (quantity, error) in self.quantities.iter().zip(errors) {
                let digits = if unit(*quantity) == "percent" { 2 } else { 4 };
                write!(f, ",{}", error.map_or(String::new(), |error| format!("{error:.digits$}")))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl ErrorTable {
    /// Reads a table; lines that are none, such as comments, are passed over.
    pub fn read(text: &str) -> Self {
        let mut lines = text.lines().skip_while(|line| !line.starts_with(HEAD));
        let words = lines.next().and_then(|line| line.get(HEAD.len() + 1..)).unwrap_or_default();
        let quantities = words.split(',').filter_map(Quantity::find).collect();
        let row = |line: &str| {
            let mut cells = line.split(',');
            let mut next = || cells.next();
            Some(ErrorRow {
                case: next()?.to_owned(),
                load: next()?.parse().ok()?,
                factor: next()?.parse().ok()?,
                class: next()?.to_owned(),
                kind: next().and_then(|word| ClassKind::DATA.into_iter().find(|kind| kind.word() == word))?,
                region: Region::find(next()?)?,
                network_latency_cycles: next()?.parse().ok(),
                errors: cells.map(|cell| cell.parse().ok()).collect(),
            })
        };
        Self { quantities, rows: lines.filter_map(row).collect() }
    }

    /// Measured loads, rising.
    pub fn loads(&self) -> Vec<f64> {
        let mut loads: Vec<f64> = self.rows.iter().map(|row| row.load).collect();
        loads.sort_by(f64::total_cmp);
        loads.dedup();
        loads
    }

    /// What 9 of 10 errors of a quantity do not exceed; none beyond the highest load, of too few errors, and where
    /// the simulation finds more than 1 in 10 saturated.
    pub fn bound(&self, region: &Region, kind: ClassKind, quantity: Quantity, load: f64) -> Option<f64> {
        let column = self.quantities.iter().position(|known| *known == quantity)?;
        let at = |load: f64| {
            let is_meant = |row: &&ErrorRow| row.region == region && row.kind == kind && row.load == load;
            let errors = self.rows.iter().filter(is_meant).filter_map(|row| *row.errors.get(column)?);
            nine_of_ten(errors.map(f64::abs).collect())
        };
        let loads = self.loads();
        let load = load.min(loads.last().copied().filter(|last| load <= last + LITTLE)?);
        let above = loads.iter().position(|known| *known >= load)?;
        let upper = at(loads[above]);
        let bound = match above.checked_sub(1).map(|below| loads[below]) {
            Some(below) if load < loads[above] => {
                let lower = at(below)?;
                lower + (load - below) / (loads[above] - below) * (upper? - lower)
            }
            _ => upper?,
        };
        Some(bound).filter(|bound| bound.is_finite())
    }
}

/// The value at place `0.9 (n + 1)` of `n`, counted from 1; none of fewer than 9.
fn nine_of_ten(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let place = COVERED * (values.len() + 1) as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    let value = *values.get(below.checked_sub(1)?)?;
    match values.get(below) {
        Some(next) if part > 0.0 => Some(value + part * (next - value)),
        None if part > 1e-9 => None,
        _ => Some(value),
    }
}

/// What errors of a quantity are counted in: percent of the simulated value, or absolute.
pub fn unit(quantity: Quantity) -> &'static str {
    if quantity.unit() == Unit::Probability { "absolute" } else { "percent" }
}

/// The tables of a model; none of one that was not measured.
pub fn tables(model: Model) -> &'static [ErrorTable] {
    static READ: [OnceLock<Vec<ErrorTable>>; Model::ALL.len()] =
        [const { OnceLock::new() }; Model::ALL.len()];
    let index = Model::ALL.iter().position(|known| *known == model).unwrap_or_default();
    READ[index].get_or_init(|| {
        let own = TABLES.iter().filter(|(of, _)| *of == model);
        own.map(|(_, text)| ErrorTable::read(text)).collect()
    })
}

/// What to expect of a model at a load as a share of that of saturation.
pub fn expected(model: Model, region: &Region, kind: ClassKind, load: f64) -> Vec<ExpectedError> {
    let of_table = |table: &'static ErrorTable| {
        table.quantities.iter().filter_map(move |quantity| {
            let nine_of_ten_within = table.bound(region, kind, *quantity, load)?;
            Some(ExpectedError { quantity: *quantity, unit: unit(*quantity).to_owned(), nine_of_ten_within })
        })
    };
    tables(model).iter().flat_map(of_table).collect()
}

/// Numbers of freshly drawn scenarios against the errors told of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// Where they belong.
    pub region: &'static Region,
    /// Kind of the classes.
    pub kind: ClassKind,
    /// Numbers that an error is told of.
    pub told: usize,
    /// Numbers of these that lie within.
    pub within: usize,
    /// Numbers that none is told of.
    pub untold: usize,
}

/// How many numbers of other scenarios lie within the errors that are told of a model.
pub fn coverage(model: Model, fresh: &ErrorTable) -> Vec<Coverage> {
    let mut found: Vec<Coverage> = REGIONS
        .iter()
        .flat_map(|region| {
            ClassKind::DATA.map(|kind| Coverage { region, kind, told: 0, within: 0, untold: 0 })
        })
        .collect();
    for row in &fresh.rows {
        let expected = expected(model, row.region, row.kind, row.load);
        let is_own = |one: &&mut Coverage| one.region == row.region && one.kind == row.kind;
        let Some(own) = found.iter_mut().find(is_own) else { continue };
        for (quantity, error) in fresh.quantities.iter().zip(&row.errors) {
            let Some(error) = error else { continue };
            match expected.iter().find(|one| one.quantity == *quantity) {
                None => own.untold += 1,
                Some(bound) => {
                    own.told += 1;
                    own.within += usize::from(error.abs() <= bound.nine_of_ten_within);
                }
            }
        }
    }
    found.retain(|one| one.told + one.untold > 0);
    found
}

/// The load as a share of that at which the model has the first class saturate: for the published model, too, the
/// refined one says where that is. None where the search takes too long.
fn load_share(scenario: &Scenario, answer: &Answer) -> Option<f64> {
    let factor = match answer.model {
        Model::Mediaworm => {
            let lanes = answer.classes.iter().filter_map(|class| class.lanes.as_ref());
            lanes.map(|lanes| lanes.at_load_factor).reduce(f64::min)?
        }
        Model::Published | Model::Refined => refined::saturation_factor(scenario)?,
        Model::RouterNic | Model::Admission | Model::Recn => return None,
    };
    Some(1.0 / factor)
}

/// Puts the errors to expect into the answer, or why there are none.
pub(crate) fn judge(scenario: &Scenario, answer: &mut Answer) {
    let model = answer.model;
    let region = Region::of(scenario).filter(|_| !tables(model).is_empty());
    let load = load_share(scenario, answer);
    if let (Some(region), Some(load)) = (region, load) {
        for class in answer.classes.iter_mut().filter(|class| !class.saturated) {
            class.expected_errors = expected(model, region, class.kind, load);
        }
    }
    let has_errors = answer.classes.iter().any(|class| !class.expected_errors.is_empty());
    let highest = tables(model).iter().flat_map(ErrorTable::loads).fold(0.0, f64::max);
    let unmeasured = match (region, load) {
        _ if has_errors => None,
        _ if tables(model).is_empty() => Some(format!("the {model} model")),
        (Some(_), None) => Some("loads whose share of that of saturation takes too long to find".to_owned()),
        (Some(_), Some(load)) if load > highest + LITTLE => {
            Some(format!("loads beyond {:.0} % of that of saturation", 100.0 * highest))
        }
        _ => Some("such a system".to_owned()),
    };
    let is_network = scenario.topology().routers() > 1 && model != Model::Recn;
    let bottleneck = is_network.then(|| ChannelLoads::of(scenario).bottleneck()).flatten();
    answer.validity = Some(Validity {
        region: region.map(|region| region.name.to_owned()),
        load_share_of_saturation: load,
        most_loaded_channel: bottleneck.map(|bound| bound.load),
        outside: if has_errors { outside(scenario) } else { Vec::new() },
        unmeasured,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Options;
    use flitwise_language::scenario::{NetworkSpec, PRESETS, ScenarioSpec};

    fn with_errors() -> Options {
        Options { expected_errors: true, distributions: false, saturation_loads: false, ..Options::default() }
    }

    fn errors(of: &[f64], load: f64) -> Vec<ErrorRow> {
        let row = |error: &f64| ErrorRow {
            case: "a-01".to_owned(),
            load,
            factor: 1.5,
            class: "R1".to_owned(),
            kind: ClassKind::RealTime,
            region: &REGIONS[0],
            network_latency_cycles: Some(40.25),
            errors: vec![Some(*error), None],
        };
        of.iter().map(row).collect()
    }

    #[test]
    fn nine_of_ten_is_at_its_place_among_the_errors() {
        let ramp = |count: u32| nine_of_ten((1..=count).rev().map(f64::from).collect());
        assert_eq!((ramp(8), ramp(9), ramp(19)), (None, Some(9.0), Some(18.0)));
        assert!((ramp(10).unwrap() - 9.9).abs() < 1e-12 && (ramp(99).unwrap() - 90.0).abs() < 1e-12);
        let saturated = nine_of_ten((1..=17).map(f64::from).chain([f64::INFINITY; 2]).collect());
        assert_eq!(saturated, Some(f64::INFINITY), "2 of 19 have no end");
    }

    #[test]
    fn bounds_are_interpolated_between_loads_and_end_with_them() {
        let ramp: Vec<f64> = (1..=9).map(|one| -f64::from(one)).collect();
        let twice: Vec<f64> = ramp.iter().map(|one| 2.0 * one).collect();
        let rows = [errors(&ramp, 0.5), errors(&twice, 0.75), errors(&twice[1..], 0.9)].concat();
        let table = ErrorTable { quantities: vec![Quantity::Waiting, Quantity::P99], rows };
        let at = |load| table.bound(&REGIONS[0], ClassKind::RealTime, Quantity::Waiting, load);
        assert_eq!([0.1, 0.5, 0.625, 0.75].map(at), [Some(9.0), Some(9.0), Some(13.5), Some(18.0)]);
        assert_eq!([0.8, 0.9, 0.99].map(at), [None; 3], "too few errors, and none beyond");
        assert_eq!(table.bound(&REGIONS[1], ClassKind::RealTime, Quantity::Waiting, 0.5), None);
        assert_eq!(table.bound(&REGIONS[0], ClassKind::BestEffort, Quantity::Waiting, 0.5), None);
        assert_eq!(ErrorTable::read(&format!("# a command\n{table}")), table);
    }

    #[test]
    fn every_region_of_a_table_has_bounds_and_those_of_the_refined_model_grow_with_the_load() {
        for model in [Model::Published, Model::Refined, Model::Mediaworm] {
            for table in tables(model) {
                let loads = table.loads();
                assert!(table.rows.len() > 100 && loads.len() >= 3);
                for region in &REGIONS {
                    if !table.rows.iter().any(|row| row.region == region) {
                        continue;
                    }
                    let at = |load: &f64| {
                        table.bound(region, ClassKind::RealTime, Quantity::NetworkLatency, *load).unwrap()
                    };
                    let bounds: Vec<f64> = loads.iter().map(at).collect();
                    let grows = bounds.first() < bounds.last();
                    assert!(grows || model != Model::Refined, "{} {bounds:?}", region.word);
                }
            }
        }
        assert!(tables(Model::Recn).is_empty());
    }

    #[test]
    fn errors_grow_with_the_load_and_limits_are_named() {
        let at = |factor: f64, ports: u32| {
            let mut spec = ScenarioSpec {
                network: NetworkSpec::Router { ports, self_traffic: None },
                ..ScenarioSpec::default()
            };
            spec.classes.iter_mut().for_each(|class| class.rate *= factor);
            Model::Refined.solve(&spec.check().unwrap(), &with_errors()).unwrap()
        };
        let latency = |answer: &Answer| answer.classes[2].expected_errors[0].nine_of_ten_within;
        let (low, high) = (at(0.3, 16), at(1.0, 16));
        assert!(latency(&low) < latency(&high));
        let share = |answer: &Answer| answer.validity.as_ref().unwrap().load_share_of_saturation.unwrap();
        assert!((share(&low) / share(&high) / 0.3 - 1.0).abs() < 0.005, "one load of saturation");
        assert!(high.validity.unwrap().outside.is_empty());
        assert!(at(0.3, 100).validity.unwrap().outside[0].starts_with("ports 100"));
        let full = at(1.3, 16);
        assert!(full.classes.iter().all(|class| class.expected_errors.is_empty()));
        assert!(full.validity.unwrap().unmeasured.unwrap().starts_with("loads beyond"));
    }

    #[test]
    fn every_preset_has_errors_or_the_reason_why_not() {
        for preset in PRESETS {
            let scenario = preset.scenario();
            for model in Model::ALL.into_iter().filter(|model| model.supports(&scenario).is_ok()) {
                let answer = model.solve(&scenario, &with_errors()).unwrap();
                let validity = answer.validity.as_ref().unwrap();
                let has_errors = answer.classes.iter().any(|class| !class.expected_errors.is_empty());
                assert_eq!(
                    validity.unmeasured.is_none(),
                    has_errors,
                    "{model} {}: {validity:?}",
                    scenario.spec().name
                );
            }
        }
    }
}
