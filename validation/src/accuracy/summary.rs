//! Tables of errors beside their targets.

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassKind, NetworkSpec};
use schemars::JsonSchema;
use serde::Serialize;

use super::Plan;
use super::errors::ErrorOf;

/// An error and where it was found.
#[derive(Clone, Debug)]
pub struct PlacedError<'e> {
    /// Family of the scenario.
    pub family: &'e str,
    /// What it is found in.
    pub network: Network,
    /// What it is found in, such as `router-07 R1 0.85`.
    pub place: String,
    /// Kind of the class.
    pub kind: ClassKind,
    /// Share of the load at which the first class saturates; `None` for that load itself.
    pub load: Option<f64>,
    /// The error.
    pub error: &'e ErrorOf,
}

/// Networks that have targets of their own, in the order of looser targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Network {
    /// A single router.
    Router,
    /// A hypercube.
    Cube,
    /// A mesh or torus.
    Lattice,
    /// A fat tree or a graph whose routes are fixed or drawn.
    Tree,
    /// A fat tree whose switches choose.
    Adaptive,
}

impl Network {
    /// All.
    pub const ALL: [Self; 5] = [Self::Router, Self::Cube, Self::Lattice, Self::Tree, Self::Adaptive];

    /// Its name in a plan.
    pub fn word(self) -> &'static str {
        match self {
            Self::Router => "router",
            Self::Cube => "cube",
            Self::Lattice => "lattice",
            Self::Tree => "tree",
            Self::Adaptive => "adaptive",
        }
    }

    /// Of a scenario.
    pub fn of(network: &NetworkSpec) -> Self {
        let topology = network.topology();
        match network.routing() {
            _ if topology.is_adaptive() => Self::Adaptive,
            Some(_) => Self::Tree,
            None if topology.most_hops() == 0 => Self::Router,
            None if topology.as_hypercube().is_some() => Self::Cube,
            _ => Self::Lattice,
        }
    }
}

/// How far off a model may be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Target {
    /// Mean of the absolute errors \[unit of the errors\].
    pub mean: f64,
    /// The worst of them \[unit of the errors\].
    pub worst: f64,
}

/// What is aimed at in some errors of a set.
#[derive(Clone, Debug, PartialEq)]
pub struct Aim {
    /// Of these quantities; of all if empty.
    pub quantities: Vec<Quantity>,
    /// Of classes of this kind.
    pub kind: Option<ClassKind>,
    /// In these networks; in all if empty.
    pub networks: Vec<Network>,
    /// Up to this load, as a share of the one at which the first class saturates.
    pub up_to: Option<f64>,
    /// The target.
    pub target: Target,
}

impl Aim {
    /// Whether it is one of these errors; `load` is `None` for those at all loads.
    fn fits(&self, quantity: Quantity, kind: ClassKind, network: Network, load: Option<f64>) -> bool {
        (self.quantities.is_empty() || self.quantities.contains(&quantity))
            && self.kind.is_none_or(|only| only == kind)
            && (self.networks.is_empty() || self.networks.contains(&network))
            && self.up_to.is_none_or(|up_to| load.is_some_and(|load| load <= up_to))
    }
}

/// Waiting may be off by so many cycles, whatever share of it that is.
pub const WAITING_CYCLES: f64 = 0.5;

/// Groups of networks in a summary; families follow them.
const GROUPS: [(&str, &[Network]); 5] = [
    ("all", &Network::ALL),
    ("all routers", &[Network::Router]),
    ("all cubes", &[Network::Cube]),
    ("all meshes and tori", &[Network::Lattice]),
    ("all trees and graphs", &[Network::Tree, Network::Adaptive]),
];

/// Errors of one kind, taken together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Family, or a group of networks: `all`, `all routers`, `all cubes`, `all meshes and tori`,
    /// `all trees and graphs`.
    pub family: String,
    /// Kind of the classes.
    pub kind: ClassKind,
    /// Share of the saturation load; `null`: all of them, or there is none.
    pub load: Option<f64>,
    /// What the errors are of.
    pub quantity: Quantity,
    /// Errors known.
    pub count: usize,
    /// Points where the model says nothing.
    pub missing: usize,
    /// Mean of the absolute errors \[percent; of a miss probability as it is\].
    pub mean: Option<f64>,
    /// The largest error, with its sign \[same\].
    pub worst: Option<f64>,
    /// Where that is.
    pub worst_at: Option<String>,
    /// Mean of the absolute differences of waiting \[cycles\].
    pub mean_cycles: Option<f64>,
    /// Mean of the simulation's own half-widths \[unit of the errors\].
    pub noise: Option<f64>,
    /// What is aimed at; `null`: nothing.
    pub target: Option<Target>,
    /// Whether it is reached by what is known, and all is known; `null`: nothing is aimed at.
    pub met: Option<bool>,
}

/// Rows of all groups and all families; each at every load and at all loads.
pub fn rows(found: &[PlacedError<'_>], plan: &Plan) -> Vec<Row> {
    let mut families: Vec<&str> = Vec::new();
    for one in found {
        if !families.contains(&one.family) {
            families.push(one.family);
        }
    }
    let mut groups: Vec<(String, Vec<&PlacedError<'_>>)> = Vec::new();
    for (name, networks) in GROUPS {
        let members = found.iter().filter(|one| networks.contains(&one.network));
        groups.push((name.to_owned(), members.collect()));
    }
    for family in families {
        groups.push((family.to_owned(), found.iter().filter(|one| one.family == family).collect()));
    }
    let mut loads: Vec<f64> = found.iter().filter_map(|one| one.load).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    let bands: Vec<Option<f64>> = std::iter::once(None).chain(loads.into_iter().map(Some)).collect();

    let mut rows = Vec::new();
    for (name, members) in &groups {
        for kind in ClassKind::DATA {
            for quantity in &plan.quantities {
                let of_quantity =
                    |one: &&&PlacedError<'_>| one.kind == kind && one.error.measure.quantity == *quantity;
                let of_quantity: Vec<&PlacedError<'_>> =
                    members.iter().filter(of_quantity).copied().collect();
                for band in &bands {
                    let in_band = |one: &&&PlacedError<'_>| band.is_none() || one.load == *band;
                    let of_row: Vec<&PlacedError<'_>> = of_quantity.iter().filter(in_band).copied().collect();
                    rows.extend(row(name, (kind, *band, *quantity), &plan.aims, &of_row));
                }
            }
        }
    }
    rows
}

/// `None` if there is nothing.
fn row(
    family: &str,
    (kind, load, quantity): (ClassKind, Option<f64>, Quantity),
    aims: &[Aim],
    found: &[&PlacedError<'_>],
) -> Option<Row> {
    // of several networks together the loosest
    let network = found.iter().map(|one| one.network).max()?;
    let known: Vec<(f64, &PlacedError<'_>)> =
        found.iter().filter_map(|one| Some((one.error.error?, *one))).collect();
    let mean =
        |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let absolute: Vec<f64> = known.iter().map(|(error, _)| error.abs()).collect();
    let worst = known.iter().max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
    let noise: Vec<f64> = known.iter().filter_map(|(_, one)| one.error.noise).collect();
    let differences = known.iter().filter_map(|(_, one)| one.error.difference().map(f64::abs));
    let is_waiting = quantity == Quantity::Waiting;
    let target = aims.iter().find(|aim| aim.fits(quantity, kind, network, load)).map(|aim| aim.target);
    let missing = found.len() - known.len();
    let meets = |target: Target| {
        let counted = known.iter().map(|(error, one)| counted(*error, one.error, target));
        let counted: Vec<f64> = counted.collect();
        let keeps = |value: Option<f64>, most: f64| value.is_some_and(|value| value <= most);
        missing == 0
            && keeps(mean(&counted), target.mean)
            && keeps(counted.iter().copied().reduce(f64::max), target.worst)
    };
    Some(Row {
        family: family.to_owned(),
        kind,
        load,
        quantity,
        count: known.len(),
        missing,
        mean: mean(&absolute),
        worst: worst.map(|(error, _)| *error),
        worst_at: worst.map(|(_, one)| one.place.clone()),
        mean_cycles: is_waiting.then(|| mean(&differences.collect::<Vec<_>>())).flatten(),
        noise: mean(&noise),
        target,
        met: target.map(meets),
    })
}

/// What an error counts as: waiting that is off by half a cycle at most keeps the target at any share.
fn counted(error: f64, of: &ErrorOf, target: Target) -> f64 {
    let is_small = of.difference().is_some_and(|difference| difference.abs() <= WAITING_CYCLES);
    let absolute = error.abs();
    if of.measure.quantity == Quantity::Waiting && is_small { absolute.min(target.mean) } else { absolute }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(quantity: Quantity, model: Option<f64>, simulated: f64) -> ErrorOf {
        let model = model.ok_or_else(|| "it does not say".to_owned());
        ErrorOf::new(quantity, model, simulated, Some(0.5))
    }

    fn found(error: &ErrorOf, load: f64) -> PlacedError<'_> {
        let kind = ClassKind::RealTime;
        PlacedError {
            family: "a",
            network: Network::Router,
            place: format!("a-01 R1 {load}"),
            kind,
            load: Some(load),
            error,
        }
    }

    fn plan(name: &str) -> Plan {
        Plan::registered(name).unwrap()
    }

    fn of_scenarios(found: &[PlacedError<'_>]) -> Vec<Row> {
        rows(found, &plan("tuning"))
    }

    fn of_all<'r>(rows: &'r [Row], family: &str, load: Option<f64>) -> &'r Row {
        rows.iter().find(|row| row.family == family && row.load == load).unwrap()
    }

    #[test]
    fn a_row_has_mean_worst_and_noise_of_its_errors() {
        let errors = [(102.0, 100.0), (99.0, 100.0), (50.0, 50.0)];
        let errors = errors.map(|(model, simulated)| error(Quantity::NetworkLatency, Some(model), simulated));
        let all = of_scenarios(&[found(&errors[0], 0.3), found(&errors[1], 0.8), found(&errors[2], 0.8)]);
        let row = of_all(&all, "a", None);
        assert_eq!((row.count, row.missing, row.mean, row.worst), (3, 0, Some(1.0), Some(2.0)));
        assert_eq!(row.worst_at.as_deref(), Some("a-01 R1 0.3"));
        // 0.5 of 100, 100 and 50
        assert!((row.noise.unwrap() - 2.0 / 3.0).abs() < 1e-12);
        assert!(row.met == Some(true), "1 % and 2 % of 1 % and 3 %");
        let row = of_all(&all, "a", Some(0.8));
        assert_eq!((row.count, row.mean, row.worst), (2, Some(0.5), Some(-1.0)));
        assert_eq!(
            of_all(&all, "all routers", None),
            &Row { family: "all routers".into(), ..of_all(&all, "a", None).clone() }
        );
        assert!(all.iter().all(|row| row.family != "all cubes"));
    }

    #[test]
    fn a_target_is_missed_by_the_worst_or_by_silence() {
        let good = error(Quantity::NetworkLatency, Some(100.0), 100.0);
        let bad = error(Quantity::NetworkLatency, Some(103.5), 100.0);
        let silent = error(Quantity::NetworkLatency, None, 100.0);
        let nine: Vec<PlacedError<'_>> = (0..9).map(|_| found(&good, 0.5)).collect();
        let with = |one| of_scenarios(&[nine.clone(), vec![found(one, 0.5)]].concat());
        let row = with(&bad);
        let row = of_all(&row, "a", None);
        assert!(row.met == Some(false) && row.mean.unwrap() < 1.0 && row.worst == Some(3.5));
        let row = with(&silent);
        let row = of_all(&row, "a", None);
        assert!(row.met == Some(false) && row.missing == 1 && row.count == 9 && row.mean == Some(0.0));
        assert!(of_all(&with(&good), "a", None).met == Some(true));
    }

    #[test]
    fn waiting_may_be_off_by_half_a_cycle() {
        let small = error(Quantity::Waiting, Some(1.4), 1.0);
        let row = of_scenarios(&[found(&small, 0.5)]);
        let row = of_all(&row, "a", None);
        assert!(row.met == Some(true), "0.4 cycles");
        assert!((row.mean.unwrap() - 40.0).abs() < 1e-9 && (row.mean_cycles.unwrap() - 0.4).abs() < 1e-9);
        let large = error(Quantity::Waiting, Some(1.6), 1.0);
        assert_eq!(of_all(&of_scenarios(&[found(&large, 0.5)]), "a", None).met, Some(false));
    }

    #[test]
    fn routers_and_cubes_have_targets_of_their_own() {
        let aims = plan("networks").aims;
        let target = |quantity, kind, network, load| {
            aims.iter().find(|aim| aim.fits(quantity, kind, network, load)).unwrap().target
        };
        let miss = |network| target(Quantity::MissProbability, ClassKind::RealTime, network, None).mean;
        assert_eq!(Network::ALL.map(miss), [0.005, 0.01, 0.01, 0.01, 0.01]);
        let latency =
            |network, load| target(Quantity::TotalLatency, ClassKind::BestEffort, network, load).worst;
        assert_eq!(latency(Network::Cube, None), 5.0);
        assert_eq!(
            [Some(0.5), Some(0.8), None].map(|load| latency(Network::Lattice, load)),
            [8.0, 15.0, 15.0]
        );
    }

    #[test]
    fn streams_have_quantities_and_targets_of_their_own() {
        let errors = [(Quantity::FrameIntervalDeviation, 104.0), (Quantity::Waiting, 300.0)];
        let errors = errors.map(|(quantity, model)| error(quantity, Some(model), 100.0));
        let mesh = |error| PlacedError { network: Network::Lattice, ..found(error, 0.5) };
        let all = rows(&[found(&errors[0], 0.5), mesh(&errors[0]), mesh(&errors[1])], &plan("streams"));
        let row = of_all(&all, "all routers", None);
        assert_eq!((row.count, row.target.map(|target| target.worst), row.met), (1, Some(5.0), Some(true)));
        let waiting = all.iter().find(|row| row.quantity == Quantity::Waiting).unwrap();
        assert_eq!((waiting.target, waiting.met), (None, None));
    }
}
