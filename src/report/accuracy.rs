//! The report's section on the errors to expect of the refined model.

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::ClassKind;
use flitwise_models::accuracy::{self, ErrorTable, REGIONS};
use flitwise_models::model::Model;
use serde::Serialize;

use crate::output::percent;

/// What 9 of 10 errors did not exceed.
#[derive(Debug, Serialize)]
pub(super) struct AccuracyTable {
    command: String,
    /// Shares of the load of saturation: heads of the columns.
    loads: Vec<String>,
    rows: Vec<AccuracyRow>,
}

/// A region, one kind of class, one quantity.
#[derive(Debug, Serialize)]
struct AccuracyRow {
    region: &'static str,
    kind: &'static str,
    quantity: &'static str,
    /// By load.
    errors: Vec<String>,
}

/// What was measured, a table for each set of scenarios.
pub(super) fn tables() -> Vec<AccuracyTable> {
    accuracy::tables(Model::Refined).iter().zip(["holdout", "networks"]).map(table).collect()
}

fn table((measured, set): (&ErrorTable, &str)) -> AccuracyTable {
    let loads = measured.loads();
    let mut rows = Vec::new();
    for region in &REGIONS {
        for kind in ClassKind::DATA {
            for quantity in
                [Quantity::NetworkLatency, Quantity::Waiting, Quantity::P99, Quantity::MissProbability]
            {
                let bound = |load: &f64| measured.bound(region, kind, quantity, *load);
                if loads.iter().any(|load| bound(load).is_some()) {
                    let cell = |load: &f64| match (bound(load), accuracy::unit(quantity)) {
                        (None, _) => "-".to_owned(),
                        (Some(error), "percent") => percent(error / 100.0),
                        (Some(error), _) => format!("{error:.3}"),
                    };
                    let errors = loads.iter().map(cell).collect();
                    let (region, kind, quantity) = (region.name, kind.word(), quantity.name());
                    rows.push(AccuracyRow { region, kind, quantity, errors });
                }
            }
        }
    }
    let loads = loads.into_iter().map(percent).collect();
    AccuracyTable { command: format!("flitwise verify --accuracy --set {set}"), loads, rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_cell_for_every_load() {
        let tables = tables();
        assert_eq!(tables.len(), 2);
        for table in tables {
            assert!(table.rows.len() >= 12, "{}", table.command);
            assert!(table.rows.iter().all(|row| row.errors.len() == table.loads.len()));
            assert!(table.rows.iter().all(|row| row.errors[0] != "-"));
        }
    }
}
