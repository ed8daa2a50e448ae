//! Tables of README and guides that are made from the measured errors of the models.

use std::fmt::Write;

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::ClassKind;
use flitwise_models::accuracy::{self, ErrorTable, REGIONS, Region, coverage};
use flitwise_models::model::Model;

/// The sets drawn afresh, with the model that they are of.
const FRESH: [(Model, &str); 4] = [
    (Model::Refined, include_str!("../../../validation/registry/fresh/fresh-holdout.csv")),
    (Model::Refined, include_str!("../../../validation/registry/fresh/fresh-networks.csv")),
    (Model::Published, include_str!("../../../validation/registry/fresh/fresh-published.csv")),
    (Model::Mediaworm, include_str!("../../../validation/registry/fresh/fresh-streams.csv")),
];

/// Quantities that tables show.
const SHOWN: [Quantity; 5] = [
    Quantity::NetworkLatency,
    Quantity::Waiting,
    Quantity::P99,
    Quantity::MissProbability,
    Quantity::FrameIntervalDeviation,
];

/// The table of that name.
fn table(name: &str) -> String {
    match name {
        "trust" => trust(),
        "refined" => bounds(Model::Refined),
        "published" => bounds(Model::Published),
        "streams" => bounds(Model::Mediaworm),
        "worst" => worst(),
        "fresh" => fresh(),
        "quantities" => quantities(),
        _ => panic!("no table {name}"),
    }
}

/// The document with all of its tables as they should be.
pub(crate) fn renewed(text: &str) -> String {
    let mut anew = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        anew.push_str(line);
        anew.push('\n');
        let name = line.strip_prefix("<!-- table: ").and_then(|rest| rest.strip_suffix(" -->"));
        if let Some(name) = name {
            let end =
                lines.find(|line| *line == "<!-- end -->").unwrap_or_else(|| panic!("{name} has no end"));
            let _ = writeln!(anew, "\n{}\n{end}", table(name));
        }
    }
    anew
}

/// What 9 of 10 errors do not exceed; a dash where none is told.
fn bound(table: &ErrorTable, region: &Region, kind: ClassKind, quantity: Quantity, load: f64) -> String {
    match (table.bound(region, kind, quantity, load), accuracy::unit(quantity)) {
        (None, _) => "-".to_owned(),
        (Some(error), "percent") => format!("{error:.1}"),
        (Some(error), _) => format!("{error:.3}"),
    }
}

/// A few rows for the README: network latencies.
fn trust() -> String {
    let tables = accuracy::tables(Model::Refined);
    let percent = |load: &f64| format!(" {:.0} %", 100.0 * load);
    let loads: Vec<String> = tables[0].loads().iter().map(percent).collect();
    let rule = "---|".repeat(loads.len());
    let mut text = format!("| scenarios | classes |{} |\n|---|---|{rule}\n", loads.join(" |"));
    for (word, table) in
        [("router", &tables[0]), ("cube", &tables[0]), ("lattice", &tables[1]), ("tree", &tables[1])]
    {
        let region = REGIONS.iter().find(|region| region.word == word).unwrap();
        for kind in ClassKind::DATA {
            let cell = |load: &f64| match bound(table, region, kind, Quantity::NetworkLatency, *load) {
                none if none == "-" => none,
                bound => bound + " %",
            };
            let cells: Vec<String> = table.loads().iter().map(cell).collect();
            let _ = writeln!(text, "| {} | {} | {} |", region.name, kind.word(), cells.join(" | "));
        }
    }
    text
}

/// All regions of a model, at all loads.
fn bounds(model: Model) -> String {
    let tables = accuracy::tables(model);
    let shown: Vec<Quantity> =
        SHOWN.into_iter().filter(|quantity| tables[0].quantities.contains(quantity)).collect();
    let unit = |quantity: &Quantity| if accuracy::unit(*quantity) == "percent" { " [%]" } else { "" };
    let heads: Vec<String> =
        shown.iter().map(|quantity| format!("{}{}", quantity.name(), unit(quantity))).collect();
    let rule = "---|".repeat(heads.len());
    let mut text = format!("| scenarios | classes | {} |\n|---|---|{rule}\n", heads.join(" | "));
    for table in tables {
        for (region, kind) in regions(table) {
            let cell = |quantity: &Quantity| {
                let at = |load: &f64| bound(table, region, kind, *quantity, *load);
                table.loads().iter().map(at).collect::<Vec<_>>().join(" / ")
            };
            let cells: Vec<String> = shown.iter().map(cell).collect();
            let _ = writeln!(text, "| {} | {} | {} |", region.name, kind.word(), cells.join(" | "));
        }
    }
    text
}

/// Regions and kinds of classes that a table has rows of.
fn regions(table: &ErrorTable) -> Vec<(&'static Region, ClassKind)> {
    let all = REGIONS.iter().flat_map(|region| ClassKind::DATA.map(|kind| (region, kind)));
    let has_rows = |(region, kind): &(&Region, ClassKind)| {
        table.rows.iter().any(|row| row.region == *region && row.kind == *kind)
    };
    all.filter(has_rows).collect()
}

/// Numbers of freshly drawn scenarios within the errors told.
fn fresh() -> String {
    let mut text =
        "| model | scenarios | classes | errors told | within | none told |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for (model, table) in FRESH {
        for one in coverage(model, &ErrorTable::read(table)) {
            let share = match one.told {
                0 => "-".to_owned(),
                told => format!("{:.1} %", 100.0 * one.within as f64 / told as f64),
            };
            let (region, kind) = (one.region.name, one.kind.word());
            let _ =
                writeln!(text, "| {model} | {region} | {kind} | {} | {share} | {} |", one.told, one.untold);
        }
    }
    text
}

/// The quantities of a class.
fn quantities() -> String {
    let mut text = "| word | column | unit | part of | meaning |\n|---|---|---|---|---|\n".to_owned();
    for quantity in Quantity::ALL {
        let words = match (quantity.word(), quantity.head()) {
            (word, head) if head == word || head.contains([' ', '(']) => format!("`{word}`"),
            (word, head) => format!("`{word}`, `{head}`"),
        };
        let whole = quantity.whole().map_or("", |whole| whole.word());
        let (column, unit, meaning) = (quantity.field(), quantity.unit().word(), quantity.meaning());
        let _ = writeln!(text, "| {words} | `{column}` | {unit} | {whole} | {meaning} |");
    }
    text
}

/// The worst error of the network latency in every region.
fn worst() -> String {
    let mut text = "| scenarios | classes | worst error | where |\n|---|---|---|---|\n".to_owned();
    for table in accuracy::tables(Model::Refined) {
        for (region, kind) in regions(table) {
            let is_meant = |row: &&accuracy::ErrorRow| row.region == region && row.kind == kind;
            let known = table.rows.iter().filter(is_meant).filter_map(|row| Some((row.errors[0]?, row)));
            let Some((error, row)) = known.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs())) else { continue };
            let (case, class, load) = (&row.case, &row.class, 100.0 * row.load);
            let _ = writeln!(
                text,
                "| {} | {} | {error:+.1} % | {case}, {class} at {load:.0} % |",
                region.name,
                kind.word()
            );
        }
    }
    text
}
