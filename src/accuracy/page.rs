//! Tables of errors: for reading, and as rows.

use flitwise_models::scenario::{ClassKind, Document, NetworkSpec};
use flitwise_validation::accuracy::Quantity;
use flitwise_validation::accuracy::summary::{Row, Target};

use super::document::{AccuracyDocument, CaseEntry};
use crate::outcome::Ended;
use crate::output::{self, Page, Rows, percent};

/// The groups that make up the first table.
const TOGETHER: [&str; 3] = ["all", "all routers", "all cubes"];

pub(super) fn page(document: &AccuracyDocument, markdown: bool) -> String {
    let mut page = Page::new(markdown);
    if document.summary.is_empty() {
        page.rows(&scenarios(&document.cases, markdown));
        return page.end(&account(document));
    }
    let (whole, loads) = (together(document, markdown), by_load(document, markdown));
    page.section("All scenarios", &whole);
    page.legend("error: model minus simulation; noise: the simulation's own 95 % half-width, mean");
    page.section("By load, as a share of saturation: mean / worst", &loads);
    page.section("By family, all loads: mean / worst", &by_family(document, markdown));
    page.remarks(&remarks(document));
    page.end(&account(document))
}

fn scenarios(cases: &[CaseEntry], markdown: bool) -> Rows {
    let mut rows = Rows::new(&["scenario", "network", "P", "b\nflits", "scheduler", "classes"], markdown);
    for case in cases {
        let read = Document::parse(&case.name, &case.scenario).and_then(|document| document.scenario());
        let Ok(scenario) = read else { continue };
        let class = |class: &flitwise_models::scenario::ClassSpec| {
            let vtick = if class.vtick.is_some() { "v" } else { "" };
            let bursty = match class.source {
                flitwise_models::scenario::SourceSpec::Poisson => "",
                flitwise_models::scenario::SourceSpec::OnOff { .. } => "~",
            };
            let load = class.rate * f64::from(class.message_flits);
            format!("{}{vtick}{bursty} {load:.3}x{}", class.name, class.message_flits)
        };
        let classes: Vec<String> = scenario.classes().iter().map(class).collect();
        let network = match scenario.network() {
            NetworkSpec::Router { ports } => format!("{ports} ports"),
            NetworkSpec::Hypercube { dimension } => format!("{dimension}-cube"),
        };
        let router = scenario.router();
        rows.add([
            case.name.clone(),
            network,
            router.pipeline_stages.to_string(),
            router.buffer_flits.to_string(),
            router.scheduler.word().to_owned(),
            classes.join(", "),
        ]);
    }
    rows
}

fn is_absolute(quantity: Quantity) -> bool {
    quantity == Quantity::MissProbability
}

/// An error, with its unit.
fn shown(quantity: Quantity, error: Option<f64>, signed: bool) -> String {
    match error {
        None => "-".to_owned(),
        Some(error) if is_absolute(quantity) && signed => format!("{error:+.4}"),
        Some(error) if is_absolute(quantity) => format!("{error:.4}"),
        Some(error) if signed => format!("{error:+.1} %"),
        Some(error) => format!("{error:.2} %"),
    }
}

fn target(row: &Row) -> String {
    let Target { mean, worst } = row.target;
    let or = if row.quantity == Quantity::Waiting { " or 0.5 cycles" } else { "" };
    if is_absolute(row.quantity) { format!("{mean} / {worst}") } else { format!("{mean} / {worst} %{or}") }
}

fn met(row: &Row) -> String {
    let verdict = if row.met { "met" } else { "missed" };
    if row.missing == 0 { verdict.to_owned() } else { format!("{verdict}, {} silent", row.missing) }
}

fn of_kind(kind: ClassKind) -> &'static str {
    match kind {
        ClassKind::RealTime => "real-time",
        ClassKind::BestEffort => "best-effort",
    }
}

/// All loads of all scenarios, of all routers, of all cubes.
fn together(document: &AccuracyDocument, markdown: bool) -> Rows {
    let heads =
        ["scenarios", "class", "quantity", "points", "mean", "worst", "noise", "target", "", "worst at"];
    let mut rows = Rows::new(&heads, markdown);
    for row in &document.summary {
        // one target for routers, another for cubes
        let mixed = is_absolute(row.quantity) && row.family == "all";
        if row.load.is_some() || !TOGETHER.contains(&row.family.as_str()) || mixed {
            continue;
        }
        let cycles = row.mean_cycles.map_or_else(String::new, |cycles| format!(" ({cycles:.2} cycles)"));
        rows.add([
            row.family.clone(),
            of_kind(row.kind).to_owned(),
            row.quantity.word().to_owned(),
            row.count.to_string(),
            format!("{}{cycles}", shown(row.quantity, row.mean, false)),
            shown(row.quantity, row.worst, true),
            shown(row.quantity, row.noise, false),
            target(row),
            met(row),
            row.worst_at.clone().unwrap_or_default(),
        ]);
    }
    rows
}

fn pair(row: Option<&Row>) -> String {
    let Some(row) = row else { return "-".to_owned() };
    format!("{} / {}", shown(row.quantity, row.mean, false), shown(row.quantity, row.worst, true))
}

/// One column per load.
fn by_load(document: &AccuracyDocument, markdown: bool) -> Rows {
    let loads: Vec<String> = document.loads.iter().map(|load| format!("{load}")).collect();
    let mut heads = vec!["scenarios", "class", "quantity"];
    heads.extend(loads.iter().map(String::as_str));
    let mut rows = Rows::new(&heads, markdown);
    for group in ["all routers", "all cubes"] {
        for kind in ClassKind::ALL {
            for quantity in Quantity::ALL.into_iter().filter(|one| *one != Quantity::SaturationLoad) {
                let of = |load: Option<f64>| find(document, group, kind, quantity, load);
                if of(None).is_none() {
                    continue;
                }
                let mut cells = vec![group.to_owned(), of_kind(kind).to_owned(), quantity.word().to_owned()];
                cells.extend(document.loads.iter().map(|load| pair(of(Some(*load)))));
                rows.add(cells);
            }
        }
    }
    rows
}

/// One column per quantity, short of room: without percentiles.
fn by_family(document: &AccuracyDocument, markdown: bool) -> Rows {
    let quantities = [
        Quantity::NetworkLatency,
        Quantity::Waiting,
        Quantity::TotalLatency,
        Quantity::P99,
        Quantity::MissProbability,
        Quantity::SaturationLoad,
    ];
    let mut heads = vec!["family", "class"];
    heads.extend(quantities.iter().map(|quantity| quantity.word()));
    let mut rows = Rows::new(&heads, markdown);
    let mut families: Vec<&str> = document.summary.iter().map(|row| row.family.as_str()).collect();
    families.dedup();
    families.retain(|family| !TOGETHER.contains(family));
    for family in families {
        for kind in ClassKind::ALL {
            let of = |quantity: Quantity| find(document, family, kind, quantity, None);
            if quantities.iter().all(|quantity| of(*quantity).is_none()) {
                continue;
            }
            let mut cells = vec![family.to_owned(), of_kind(kind).to_owned()];
            cells.extend(quantities.iter().map(|quantity| pair(of(*quantity))));
            rows.add(cells);
        }
    }
    rows
}

fn find<'d>(
    document: &'d AccuracyDocument,
    family: &str,
    kind: ClassKind,
    quantity: Quantity,
    load: Option<f64>,
) -> Option<&'d Row> {
    let is_it =
        |row: &&Row| row.family == family && row.kind == kind && row.quantity == quantity && row.load == load;
    document.summary.iter().find(is_it)
}

fn remarks(document: &AccuracyDocument) -> Vec<String> {
    let mut remarks = Vec::new();
    if document.partial {
        remarks.push("interrupted: what had not been simulated is missing".to_owned());
    }
    let silent: usize = document
        .summary
        .iter()
        .filter(|row| row.family == "all" && row.load.is_none())
        .map(|row| row.missing)
        .sum();
    if silent > 0 {
        remarks.push(format!(
            "silent: the model gives no number, {silent} times in all; --format json says why for each"
        ));
    }
    remarks
}

fn account(document: &AccuracyDocument) -> String {
    let cases = document.cases.len();
    let points = document.cases.iter().map(|case| case.points.len()).sum::<usize>();
    let set = format!("set {}, drawn from {}", document.set, document.set_seed);
    if document.summary.is_empty() {
        return format!("{cases} scenarios; {set}");
    }
    format!(
        "model {}: {cases} scenarios at {points} points; {set}; seed {}, precision {}",
        document.model,
        document.seed,
        percent(document.wanted_precision)
    )
}

/// One row per family, kind, load and quantity.
pub(super) fn csv(document: &AccuracyDocument) -> Result<(), Ended> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    rows.write_record([
        "family",
        "kind",
        "load",
        "quantity",
        "count",
        "missing",
        "mean",
        "worst",
        "noise",
        "unit",
        "target_mean",
        "target_worst",
        "met",
        "mean_cycles",
        "worst_at",
    ])?;
    let real = |number: Option<f64>, digits: usize| {
        number.map_or_else(String::new, |number| format!("{number:.digits$}"))
    };
    for row in &document.summary {
        let digits = if is_absolute(row.quantity) { 5 } else { 3 };
        rows.write_record([
            row.family.clone(),
            row.kind.word().to_owned(),
            row.load.map_or_else(|| "all".to_owned(), |load| load.to_string()),
            row.quantity.word().to_owned(),
            row.count.to_string(),
            row.missing.to_string(),
            real(row.mean, digits),
            real(row.worst, digits),
            real(row.noise, digits),
            if is_absolute(row.quantity) { "absolute" } else { "percent" }.to_owned(),
            row.target.mean.to_string(),
            row.target.worst.to_string(),
            row.met.to_string(),
            real(row.mean_cycles, 3),
            row.worst_at.clone().unwrap_or_default(),
        ])?;
    }
    output::write_csv(rows)
}
