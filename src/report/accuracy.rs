//! The report's section on the accuracy of the refined model over random scenarios.

use flitwise_language::scenario::ClassKind;
use flitwise_models::accuracy::{self, ErrorRow};
use serde::Serialize;

use crate::output::percent;

/// Errors over one set of scenarios.
#[derive(Debug, Serialize)]
pub(super) struct AccuracyTable {
    title: &'static str,
    about: &'static str,
    command: &'static str,
    /// Shares of the saturation load: heads of the columns.
    loads: Vec<String>,
    rows: Vec<AccuracyRow>,
}

/// Routers or cubes, one kind of class, one quantity.
#[derive(Debug, Serialize)]
struct AccuracyRow {
    network: &'static str,
    kind: &'static str,
    quantity: &'static str,
    /// Mean and worst by load.
    errors: Vec<String>,
    target: String,
}

const NETWORKS: [(&str, &str); 2] = [("all routers", "routers"), ("all cubes", "n-cubes")];
const QUANTITIES: [(&str, &str); 5] = [
    ("network-latency", "network latency"),
    ("waiting", "waiting"),
    ("p99", "99th percentile"),
    ("miss-probability", "miss probability"),
    ("saturation-load", "saturation load"),
];

/// What was measured, the set that counts first.
pub(super) fn tables() -> Vec<AccuracyTable> {
    vec![
        table(
            "Held-out set",
            "simulated blind and looked at once, after the model was frozen",
            "flitwise verify --accuracy --set holdout",
            accuracy::holdout(),
        ),
        table(
            "Tuning set",
            "the forms of the model's steps were chosen on it",
            "flitwise verify --accuracy --set tuning",
            accuracy::tuning(),
        ),
    ]
}

fn table(
    title: &'static str,
    about: &'static str,
    command: &'static str,
    measured: &[ErrorRow],
) -> AccuracyTable {
    let mut loads: Vec<f64> = measured.iter().filter_map(|row| row.load_share_of_saturation).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    let mut rows = Vec::new();
    for (family, network) in NETWORKS {
        for kind in ClassKind::ALL.map(ClassKind::word) {
            for (quantity, shown) in QUANTITIES {
                let of = |load: Option<f64>| {
                    measured.iter().find(|row| {
                        (row.family, row.kind, row.quantity, row.load_share_of_saturation)
                            == (family, kind, quantity, load)
                    })
                };
                let Some(all) = of(None) else { continue };
                // a saturation load has no load of its own
                let at = |load: &f64| of(Some(*load)).map_or_else(String::new, mean_and_worst);
                let mut errors: Vec<String> = loads.iter().map(at).collect();
                errors.push(mean_and_worst(all));
                rows.push(AccuracyRow { network, kind, quantity: shown, errors, target: target(all) });
            }
        }
    }
    let mut loads: Vec<String> = loads.into_iter().map(percent).collect();
    loads.push("all".to_owned());
    AccuracyTable { title, about, command, loads, rows }
}

fn mean_and_worst(row: &ErrorRow) -> String {
    match row.unit {
        "absolute" => format!("{:.3} / {:+.3}", row.mean, row.worst),
        _ => format!("{:.1} / {:+.1} %", row.mean, row.worst),
    }
}

fn target(row: &ErrorRow) -> String {
    let unit = if row.unit == "absolute" { "" } else { " %" };
    match (row.target_mean, row.target_worst) {
        (Some(mean), Some(worst)) => format!("{mean} / {worst}{unit}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_cell_for_every_load() {
        let tables = tables();
        assert_eq!(tables.len(), 2);
        for table in tables {
            assert_eq!(table.rows.len(), 2 * 2 * QUANTITIES.len(), "{}", table.title);
            assert!(table.rows.iter().all(|row| row.errors.len() == table.loads.len()));
            assert!(table.rows.iter().all(|row| row.errors.last().is_some_and(|cell| cell.contains('/'))));
        }
    }
}
