//! How far models are off the simulation over random scenarios, as measured: the tables that
//! `flitwise verify --accuracy` made, and the errors to expect of an answer by them.

use std::sync::OnceLock;

use serde::Serialize;

use crate::answer::{ExpectedError, ExpectedErrors};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::ClassKind;

/// `flitwise verify --accuracy --set holdout --model refined --format csv`
const HOLDOUT: &str = include_str!("accuracy/holdout.csv");
/// `flitwise verify --accuracy --set tuning --model refined --format csv`
const TUNING: &str = include_str!("accuracy/tuning.csv");
/// `flitwise verify --accuracy --set streams --format csv`
const STREAMS: &str = include_str!("accuracy/streams.csv");

/// A line of a table: absolute errors of one quantity over the classes of many scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ErrorRow {
    /// Family of the scenarios, such as `router` or `all cubes`.
    pub family: &'static str,
    /// `real-time` or `best-effort`.
    pub kind: &'static str,
    /// Share of the load at which the first class saturates; `None`: of all loads.
    pub load_share_of_saturation: Option<f64>,
    /// Such as `network-latency`.
    pub quantity: &'static str,
    /// Errors behind it.
    pub count: u32,
    /// Places where the model gave no number and the simulation did.
    pub missing: u32,
    /// `percent` of the simulated value, or `absolute`.
    pub unit: &'static str,
    /// Mean of the absolute errors.
    pub mean: f64,
    /// The worst error, model minus simulation.
    pub worst: f64,
    /// Half-width of the simulation's own 95 % intervals, on average.
    pub noise: f64,
    /// What is aimed at for the mean; `None`: nothing.
    pub target_mean: Option<f64>,
    /// What is aimed at for the worst.
    pub target_worst: Option<f64>,
}

/// Errors of the refined model over the held-out set: scenarios that were simulated blind and looked at once, after the
/// model was frozen.
pub fn holdout() -> &'static [ErrorRow] {
    static ROWS: OnceLock<Vec<ErrorRow>> = OnceLock::new();
    ROWS.get_or_init(|| rows(HOLDOUT))
}

/// Errors of the refined model over the set of scenarios that the forms of its steps were chosen on.
pub fn tuning() -> &'static [ErrorRow] {
    static ROWS: OnceLock<Vec<ErrorRow>> = OnceLock::new();
    ROWS.get_or_init(|| rows(TUNING))
}

/// Errors of the mediaworm model over streams of frames that no constant of it was chosen on.
pub fn streams() -> &'static [ErrorRow] {
    static ROWS: OnceLock<Vec<ErrorRow>> = OnceLock::new();
    ROWS.get_or_init(|| rows(STREAMS))
}

/// By how much a load as a share of that of saturation may lie beyond one that was checked and still count as it.
pub const OFF: f64 = 0.05;

/// The errors to expect of a class at a load as a share of that at which the first class saturates: those of the lowest
/// load checked that is not clearly below it, or of the highest of all. `table` has loads in rising order.
pub fn expected(table: &[ErrorRow], family: &str, kind: ClassKind, share: f64) -> ExpectedErrors {
    let error = |quantity: Quantity| {
        let wanted = (family, kind.word(), quantity.word());
        let is_meant = |row: &&ErrorRow| (row.family, row.kind, row.quantity) == wanted;
        let mut at_loads = table.iter().filter(is_meant).filter(|row| row.load_share_of_saturation.is_some());
        let reaches = |row: &&ErrorRow| row.load_share_of_saturation.is_some_and(|load| load + OFF >= share);
        let found = at_loads.clone().find(reaches).or(at_loads.next_back())?;
        Some(ExpectedError { mean: found.mean, worst: found.worst.abs() })
    };
    ExpectedErrors {
        network_latency_percent: error(Quantity::NetworkLatency),
        waiting_percent: error(Quantity::Waiting),
        total_latency_percent: error(Quantity::TotalLatency),
        miss_probability: error(Quantity::MissProbability),
    }
}

fn rows(text: &'static str) -> Vec<ErrorRow> {
    text.lines().skip(1).filter_map(row).collect()
}

/// One line; `None` where a quantity has no error at all.
fn row(text: &'static str) -> Option<ErrorRow> {
    let fields: Vec<&'static str> = text.split(',').collect();
    let [
        family,
        kind,
        load,
        quantity,
        count,
        missing,
        mean,
        worst,
        noise,
        unit,
        target_mean,
        target_worst,
        ..,
    ] = *fields.as_slice()
    else {
        return None;
    };
    Some(ErrorRow {
        family,
        kind,
        load_share_of_saturation: match load {
            "all" => None,
            load => Some(load.parse().ok()?),
        },
        quantity,
        count: count.parse().ok()?,
        missing: missing.parse().ok()?,
        unit,
        mean: mean.parse().ok()?,
        worst: worst.parse().ok()?,
        noise: noise.parse().ok()?,
        target_mean: target_mean.parse().ok(),
        target_worst: target_worst.parse().ok(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_errors_of_both_sets_at_every_load() {
        let families = [
            "router",
            "router-short-buffer",
            "router-other-scheduler",
            "router-on-off",
            "cube",
            "cube-short-buffer",
            "cube-other-scheduler",
            "cube-on-off",
            "all routers",
            "all cubes",
            "all",
        ];
        let sets = [(holdout(), [0.25, 0.5, 0.7, 0.85].as_slice()), (tuning(), &[0.35, 0.65, 0.85])];
        for (rows, loads) in sets {
            for family in families {
                for quantity in ["network-latency", "waiting", "total-latency", "miss-probability"] {
                    let of = |load| {
                        rows.iter().any(|row| {
                            (row.family, row.kind, row.quantity, row.load_share_of_saturation)
                                == (family, "real-time", quantity, load)
                        })
                    };
                    assert!(of(None), "{family} {quantity}");
                    for load in loads {
                        assert!(of(Some(*load)), "{family} {quantity} {load:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn tables_are_in_rising_order_of_loads_and_errors_are_those_of_the_load_beside() {
        for table in [holdout(), tuning(), streams()] {
            let load = |row: &ErrorRow| row.load_share_of_saturation;
            let of_one =
                |a: &ErrorRow, b: &ErrorRow| (a.family, a.kind, a.quantity) == (b.family, b.kind, b.quantity);
            assert!(table.chunk_by(of_one).all(|rows| rows.is_sorted_by(|a, b| load(a) < load(b))));
        }
        let mean = |share| {
            let errors = expected(streams(), "all routers", ClassKind::RealTime, share);
            assert_eq!((errors.total_latency_percent, errors.miss_probability), (None, None));
            errors.network_latency_percent.unwrap().mean
        };
        let at = |load| {
            let is_it = |row: &&ErrorRow| {
                (row.family, row.kind, row.quantity, row.load_share_of_saturation)
                    == ("all routers", "real-time", "network-latency", Some(load))
            };
            streams().iter().find(is_it).unwrap().mean
        };
        assert_eq!([0.1, 0.549, 0.56, 0.99].map(mean), [0.5, 0.5, 0.7, 0.85].map(at));
        assert_eq!(expected(streams(), "nothing", ClassKind::RealTime, 0.5).waiting_percent, None);
    }

    #[test]
    fn no_mean_exceeds_its_worst() {
        for row in holdout().iter().chain(tuning()).chain(streams()) {
            assert!(row.mean >= 0.0 && row.mean <= row.worst.abs() + 1e-9, "{row:?}");
        }
    }
}
