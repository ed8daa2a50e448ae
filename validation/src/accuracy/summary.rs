//! Tables of errors beside their targets.

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassKind, NetworkSpec};
use schemars::JsonSchema;
use serde::Serialize;

use super::errors::{ErrorOf, JUDGED};
use super::streams;

/// An error and where it was found.
#[derive(Clone, Debug)]
pub struct Found<'e> {
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
}

impl Network {
    /// Of a scenario.
    pub fn of(network: NetworkSpec) -> Self {
        let topology = network.topology();
        match topology.most_hops() {
            0 => Self::Router,
            _ if topology.as_hypercube().is_some() => Self::Cube,
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

/// Waiting may be off by so many cycles, whatever share of it that is.
pub const WAITING_CYCLES: f64 = 0.5;

impl Target {
    /// What is aimed at; `load` is a share of the one at which the first class saturates.
    pub fn of(quantity: Quantity, kind: ClassKind, network: Network, load: Option<f64>) -> Self {
        let (mean, worst) = match (quantity, kind) {
            (Quantity::NetworkLatency | Quantity::TotalLatency, _) if network == Network::Lattice => {
                if load.is_some_and(|load| load <= 0.5) { (2.0, 8.0) } else { (4.0, 15.0) }
            }
            (Quantity::Waiting, _) if network == Network::Lattice => (6.0, 20.0),
            (Quantity::SaturationLoad, _) if network == Network::Lattice => (3.0, 8.0),
            (Quantity::NetworkLatency | Quantity::TotalLatency, ClassKind::RealTime) => (1.0, 3.0),
            (Quantity::NetworkLatency | Quantity::TotalLatency, ClassKind::BestEffort) => (2.0, 5.0),
            (Quantity::Waiting, _) => (5.0, 10.0),
            (Quantity::P50 | Quantity::P90 | Quantity::P99, _) => (2.0, 5.0),
            (Quantity::MissProbability, _) if network > Network::Router => (0.01, 0.02),
            (Quantity::MissProbability, _) => (0.005, 0.01),
            _ => (1.0, 3.0),
        };
        Self { mean, worst }
    }
}

/// How the errors of a set are taken together.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    /// Groups of networks, each with its name in the summary; families follow them.
    pub groups: &'static [(&'static str, &'static [Network])],
    /// What errors are of.
    pub quantities: &'static [Quantity],
    /// What is aimed at; the load is a share of the one at which the first class saturates.
    pub target: fn(Quantity, ClassKind, Network, Option<f64>) -> Option<Target>,
}

impl Tables {
    /// Of a set of scenarios.
    pub const OF_SCENARIOS: Self = Self {
        groups: &[
            ("all", &[Network::Router, Network::Cube, Network::Lattice]),
            ("all routers", &[Network::Router]),
            ("all cubes", &[Network::Cube]),
            ("all meshes and tori", &[Network::Lattice]),
        ],
        quantities: &JUDGED,
        target: |quantity, kind, network, load| Some(Target::of(quantity, kind, network, load)),
    };
    /// Of a set of streams of frames.
    pub const OF_STREAMS: Self = Self {
        groups: &[
            ("one router", &[Network::Router]),
            ("several routers", &[Network::Cube, Network::Lattice]),
        ],
        quantities: &streams::JUDGED,
        target: |quantity, kind, _, _| streams::target(quantity, kind),
    };
}

/// Errors of one kind, taken together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Family, or a group of networks: `all`, `all routers`, `all cubes`, `all meshes and tori`; of streams of frames
    /// `one router`, `several routers`.
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
pub fn rows(found: &[Found<'_>], tables: &Tables) -> Vec<Row> {
    let mut families: Vec<&str> = Vec::new();
    for one in found {
        if !families.contains(&one.family) {
            families.push(one.family);
        }
    }
    let mut groups: Vec<(String, Vec<&Found<'_>>)> = Vec::new();
    for (name, networks) in tables.groups {
        let members = found.iter().filter(|one| networks.contains(&one.network));
        groups.push(((*name).to_owned(), members.collect()));
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
        for kind in ClassKind::ALL {
            for quantity in tables.quantities {
                let of_quantity =
                    |one: &&&Found<'_>| one.kind == kind && one.error.measure.quantity == *quantity;
                let of_quantity: Vec<&Found<'_>> = members.iter().filter(of_quantity).copied().collect();
                for band in &bands {
                    let in_band = |one: &&&Found<'_>| band.is_none() || one.load == *band;
                    let of_row: Vec<&Found<'_>> = of_quantity.iter().filter(in_band).copied().collect();
                    rows.extend(row(name, (kind, *band, *quantity), tables, &of_row));
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
    tables: &Tables,
    found: &[&Found<'_>],
) -> Option<Row> {
    // of several networks together the loosest
    let network = found.iter().map(|one| one.network).max()?;
    let known: Vec<(f64, &Found<'_>)> =
        found.iter().filter_map(|one| Some((one.error.error?, *one))).collect();
    let mean =
        |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let absolute: Vec<f64> = known.iter().map(|(error, _)| error.abs()).collect();
    let worst = known.iter().max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
    let noise: Vec<f64> = known.iter().filter_map(|(_, one)| one.error.noise).collect();
    let differences = known.iter().filter_map(|(_, one)| one.error.difference().map(f64::abs));
    let is_waiting = quantity == Quantity::Waiting;
    let target = (tables.target)(quantity, kind, network, load);
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

    fn found(error: &ErrorOf, load: f64) -> Found<'_> {
        let kind = ClassKind::RealTime;
        Found {
            family: "a",
            network: Network::Router,
            place: format!("a-01 R1 {load}"),
            kind,
            load: Some(load),
            error,
        }
    }

    fn of_scenarios(found: &[Found<'_>]) -> Vec<Row> {
        rows(found, &Tables::OF_SCENARIOS)
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
        let nine: Vec<Found<'_>> = (0..9).map(|_| found(&good, 0.5)).collect();
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
        let target = |network| Target::of(Quantity::MissProbability, ClassKind::RealTime, network, None);
        assert_eq!((target(Network::Router).mean, target(Network::Cube).mean), (0.005, 0.01));
        let latency =
            |network, load| Target::of(Quantity::TotalLatency, ClassKind::BestEffort, network, load).worst;
        assert_eq!(latency(Network::Cube, None), 5.0);
        assert_eq!(
            [Some(0.5), Some(0.8), None].map(|load| latency(Network::Lattice, load)),
            [8.0, 15.0, 15.0]
        );
    }

    #[test]
    fn streams_have_groups_and_targets_of_their_own() {
        let errors = [(Quantity::FrameIntervalDeviation, 104.0), (Quantity::Waiting, 300.0)];
        let errors = errors.map(|(quantity, model)| error(quantity, Some(model), 100.0));
        let mesh = |error| Found { network: Network::Lattice, ..found(error, 0.5) };
        let all = rows(&[found(&errors[0], 0.5), mesh(&errors[0]), mesh(&errors[1])], &Tables::OF_STREAMS);
        let row = of_all(&all, "one router", None);
        assert_eq!((row.count, row.target.map(|target| target.worst), row.met), (1, Some(5.0), Some(true)));
        let waiting = all.iter().filter(|row| row.quantity == Quantity::Waiting);
        let waiting: Vec<_> = waiting.map(|row| (row.family.as_str(), row.target, row.met)).collect();
        assert_eq!(waiting[0], ("several routers", None, None));
        assert!(all.iter().all(|row| row.family != "all"));
    }
}
