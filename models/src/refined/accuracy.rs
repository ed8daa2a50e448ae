//! How far the refined model is off the simulation over random scenarios, as measured: the tables that
//! `flitwise verify --accuracy` made.

use std::sync::OnceLock;

use serde::Serialize;

/// `flitwise verify --accuracy --set holdout --model refined --format csv`
const HOLDOUT: &str = include_str!("accuracy/holdout.csv");
/// `flitwise verify --accuracy --set tuning --model refined --format csv`
const TUNING: &str = include_str!("accuracy/tuning.csv");

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
    /// What is aimed at for the mean.
    pub target_mean: f64,
    /// What is aimed at for the worst.
    pub target_worst: f64,
}

/// Errors over the held-out set: scenarios that were simulated blind and looked at once, after the model was frozen.
pub fn holdout() -> &'static [ErrorRow] {
    static ROWS: OnceLock<Vec<ErrorRow>> = OnceLock::new();
    ROWS.get_or_init(|| rows(HOLDOUT))
}

/// Errors over the set of scenarios that the forms of the model's steps were chosen on.
pub fn tuning() -> &'static [ErrorRow] {
    static ROWS: OnceLock<Vec<ErrorRow>> = OnceLock::new();
    ROWS.get_or_init(|| rows(TUNING))
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
        target_mean: target_mean.parse().ok()?,
        target_worst: target_worst.parse().ok()?,
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
    fn no_mean_exceeds_its_worst() {
        for row in holdout().iter().chain(tuning()) {
            assert!(row.mean >= 0.0 && row.mean <= row.worst.abs() + 1e-9, "{row:?}");
        }
    }
}
