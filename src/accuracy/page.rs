//! Tables of errors, as text and as CSV.

use flitwise_models::quantity::Quantity;
use flitwise_models::scenario::{ClassKind, Document};
use flitwise_validation::accuracy::summary::{self, Row, Target};
use flitwise_validation::accuracy::{ErrorUnit, JUDGED, error_unit};

use super::document::{AccuracyDocument, CaseEntry};
use crate::outcome::Ended;
use crate::output::{self, Page, Rows, percent, two_lines};

/// What is shown of all families together, and the name it has in the summary.
const TOGETHER: [(&str, &str); 3] =
    [("Routers", "all routers"), ("Cubes", "all cubes"), ("Meshes and tori", "all meshes and tori")];

pub(super) fn page(document: &AccuracyDocument, markdown: bool) -> String {
    let mut page = Page::new(markdown);
    if document.summary.is_empty() {
        page.rows(&scenarios(&document.cases, markdown));
        return page.end(&account(document));
    }
    for (name, group) in TOGETHER {
        for kind in ClassKind::ALL {
            let title = format!("{name}, {}, all loads", kind.word());
            page.section(&title, &all_loads(document, group, kind, markdown));
        }
    }
    page.legend("model minus simulation; noise: the simulation's own 95 % half-width, mean of all points");
    let unit = "mean of absolute errors / worst, in percent; of miss probabilities as they are";
    page.section("By load, as a share of saturation", &by_load(document, markdown));
    page.legend(unit);
    page.section("By family, all loads", &by_family(document, markdown));
    page.legend(unit);
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
            let bursty = if class.source.is_bursty() { "~" } else { "" };
            let load = class.rate * f64::from(class.message_flits);
            format!("{}{vtick}{bursty} {load:.3}x{}", class.name, class.message_flits)
        };
        let classes: Vec<String> = scenario.classes().iter().map(class).collect();
        let network = scenario.topology().short_name();
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
    error_unit(quantity) == ErrorUnit::Absolute
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
    if is_absolute(row.quantity) { format!("{mean} / {worst}") } else { format!("{mean} / {worst} %") }
}

fn met(row: &Row) -> String {
    match (row.met, row.missing) {
        (true, _) => "met".to_owned(),
        (false, 0) => "missed".to_owned(),
        (false, missing) => format!("{missing} silent"),
    }
}

/// One row per quantity.
fn all_loads(document: &AccuracyDocument, group: &str, kind: ClassKind, markdown: bool) -> Rows {
    let heads = ["quantity", "points", "mean", "worst", "noise", "target\nmean / worst", "", "worst at"];
    let mut rows = Rows::new(&heads, markdown);
    for row in JUDGED.iter().filter_map(|quantity| find(document, group, kind, *quantity, None)) {
        rows.add([
            row.quantity.word().to_owned(),
            row.count.to_string(),
            shown(row.quantity, row.mean, false),
            shown(row.quantity, row.worst, true),
            shown(row.quantity, row.noise, false),
            target(row),
            met(row),
            row.worst_at.clone().unwrap_or_default(),
        ]);
        if let Some(cycles) = row.mean_cycles {
            let mut cells = vec![String::new(); heads.len()];
            cells[0] = "  in cycles".to_owned();
            cells[2] = format!("{cycles:.2}");
            cells[5] = format!("or {}", summary::WAITING_CYCLES);
            rows.add(cells);
        }
    }
    rows
}

/// Mean and worst, without unit.
fn pair(row: Option<&Row>) -> String {
    let Some(row) = row else { return String::new() };
    match (row.mean, row.worst) {
        (Some(mean), Some(worst)) if is_absolute(row.quantity) => format!("{mean:.3} / {worst:+.3}"),
        (Some(mean), Some(worst)) if mean < 9.95 => format!("{mean:.1} / {worst:+.1}"),
        (Some(mean), Some(worst)) => format!("{mean:.0} / {worst:+.0}"),
        _ => "silent".to_owned(),
    }
}

/// One column per load.
fn by_load(document: &AccuracyDocument, markdown: bool) -> Rows {
    let loads: Vec<String> = document.loads.iter().map(|load| format!("{load}")).collect();
    let mut heads = vec!["", "quantity"];
    heads.extend(loads.iter().map(String::as_str));
    let mut rows = Rows::new(&heads, markdown);
    for (name, group) in TOGETHER {
        for kind in ClassKind::ALL {
            for quantity in JUDGED {
                let of = |load: &f64| find(document, group, kind, quantity, Some(*load));
                if document.loads.iter().all(|load| of(load).is_none()) {
                    continue;
                }
                let mut cells = vec![format!("{name}, {}", kind.word()), quantity.word().to_owned()];
                cells.extend(document.loads.iter().map(|load| pair(of(load))));
                rows.add(cells);
            }
        }
    }
    rows
}

/// One column per quantity, short of room: without what the others nearly say.
fn by_family(document: &AccuracyDocument, markdown: bool) -> Rows {
    let quantities = JUDGED.into_iter().filter(|quantity| ![Quantity::P50, Quantity::P90].contains(quantity));
    let quantities: Vec<Quantity> = quantities.collect();
    let mut heads = vec!["family".to_owned()];
    heads.extend(quantities.iter().map(|quantity| two_lines(quantity.name())));
    let mut rows = Rows::new(&heads, markdown);
    let mut families: Vec<&str> = document.cases.iter().map(|case| case.family.as_str()).collect();
    families.dedup();
    for family in families {
        for kind in ClassKind::ALL {
            let of = |quantity: Quantity| find(document, family, kind, quantity, None);
            if quantities.iter().all(|quantity| of(*quantity).is_none()) {
                continue;
            }
            let short = if kind == ClassKind::RealTime { "RT" } else { "BE" };
            let mut cells = vec![format!("{family}, {short}")];
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
    let counted = |count: usize, of: &str| format!("{count} {of}{}", if count == 1 { "" } else { "s" });
    let cases = counted(document.cases.len(), "scenario");
    let points = counted(document.cases.iter().map(|case| case.points.len()).sum(), "point");
    let set = format!("set {}, drawn from {}", document.set, document.set_seed);
    if document.summary.is_empty() {
        return format!("{cases}; {set}");
    }
    format!(
        "model {}: {cases}, {points}; {set}; seed {}, precision {}",
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
