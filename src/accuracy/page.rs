//! Tables of errors, as text and as CSV.

use std::fmt;

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassKind, Document};
use flitwise_validation::accuracy::summary::{self, Row, Target};
use flitwise_validation::accuracy::{ErrorUnit, JUDGED, error_unit};

use super::document::{AccuracyDocument, CaseEntry};
use crate::outcome::Ended;
use crate::output::{self, Page, Rows, percent, two_lines};

/// What tables of a set show.
pub(super) struct Shown<'d> {
    /// Errors, taken together.
    pub(super) rows: &'d [Row],
    /// Shares of the load of saturation.
    pub(super) loads: &'d [f64],
    /// What that saturation is, in the title of a table.
    pub(super) of_load: &'static str,
    /// Titles of groups of networks, and the names that they have in the summary.
    pub(super) groups: &'static [(&'static str, &'static str)],
    pub(super) quantities: &'d [Quantity],
    /// Those of the table of families, which is short of room.
    pub(super) of_families: &'d [Quantity],
    pub(super) families: Vec<&'d str>,
}

/// How an answer ends: what was judged, and on what.
pub(super) struct Account<'d> {
    pub(super) model: &'d str,
    /// Scenarios, and points of them.
    pub(super) counts: (usize, usize),
    pub(super) set: &'d str,
    pub(super) set_seed: u64,
    /// Seed and wanted precision of simulations, where there are any.
    pub(super) simulated: Option<(u64, f64)>,
}

const OF_SCENARIOS: [(&str, &str); 3] =
    [("Routers", "all routers"), ("Cubes", "all cubes"), ("Meshes and tori", "all meshes and tori")];

pub(super) fn page(document: &AccuracyDocument, markdown: bool) -> String {
    let mut page = Page::new(markdown);
    if document.summary.is_empty() {
        page.rows(&scenarios(&document.cases, markdown));
        return page.end(&document.account().to_string());
    }
    let short = |quantity: &Quantity| ![Quantity::P50, Quantity::P90].contains(quantity);
    let of_families: Vec<Quantity> = JUDGED.into_iter().filter(short).collect();
    let shown = Shown {
        rows: &document.summary,
        loads: &document.loads,
        of_load: "saturation",
        groups: &OF_SCENARIOS,
        quantities: &JUDGED,
        of_families: &of_families,
        families: families(document.cases.iter().map(|case| case.family.as_str())),
    };
    shown.on(&mut page, markdown);
    page.remarks(&remarks(document));
    page.end(&document.account().to_string())
}

/// Families of cases, each once.
pub(super) fn families<'d>(of_cases: impl Iterator<Item = &'d str>) -> Vec<&'d str> {
    let mut families: Vec<&str> = of_cases.collect();
    families.dedup();
    families
}

fn scenarios(cases: &[CaseEntry], markdown: bool) -> Rows {
    let mut rows = Rows::new(&["scenario", "network", "P", "b\nflits", "scheduler", "classes"], markdown);
    for case in cases {
        let read = Document::parse(&case.name, &case.scenario).and_then(|document| document.scenario());
        let Ok(scenario) = read else { continue };
        let class = |class: &flitwise_language::scenario::ClassSpec| {
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
    let unit = if is_absolute(row.quantity) { "" } else { " %" };
    row.target.map_or_else(String::new, |Target { mean, worst }| format!("{mean} / {worst}{unit}"))
}

fn met(row: &Row) -> String {
    match (row.met, row.missing) {
        (Some(true), _) => "met".to_owned(),
        (None, 0) => String::new(),
        (Some(false), 0) => "missed".to_owned(),
        (_, missing) => format!("{missing} silent"),
    }
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

impl Shown<'_> {
    /// Puts all tables on a page.
    pub(super) fn on(&self, page: &mut Page, markdown: bool) {
        for (title, group) in self.groups {
            for kind in ClassKind::ALL {
                let title = format!("{title}, {}, all loads", kind.word());
                page.section(&title, &self.all_loads(group, kind, markdown));
            }
        }
        page.legend(
            "model minus simulation; noise: the simulation's own 95 % half-width, mean of all points",
        );
        let unit = "mean of absolute errors / worst, in percent; of miss probabilities as they are";
        page.section(&format!("By load, as a share of {}", self.of_load), &self.by_load(markdown));
        page.legend(unit);
        page.section("By family, all loads", &self.by_family(markdown));
        page.legend(unit);
    }

    fn find(&self, family: &str, kind: ClassKind, quantity: Quantity, load: Option<f64>) -> Option<&Row> {
        let is_it =
            |row: &&Row| row.family == family && (row.kind, row.quantity, row.load) == (kind, quantity, load);
        self.rows.iter().find(is_it)
    }

    /// One row per quantity.
    fn all_loads(&self, group: &str, kind: ClassKind, markdown: bool) -> Rows {
        let heads = ["quantity", "points", "mean", "worst", "noise", "target\nmean / worst", "", "worst at"];
        let mut rows = Rows::new(&heads, markdown);
        for row in self.quantities.iter().filter_map(|quantity| self.find(group, kind, *quantity, None)) {
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
                cells[5] = row.target.map_or(String::new(), |_| format!("or {}", summary::WAITING_CYCLES));
                rows.add(cells);
            }
        }
        rows
    }

    /// One column per load.
    fn by_load(&self, markdown: bool) -> Rows {
        let loads = self.loads.iter().map(|load| format!("{load}"));
        let heads: Vec<String> = ["", "quantity"].map(str::to_owned).into_iter().chain(loads).collect();
        let mut rows = Rows::new(&heads, markdown);
        for (title, group) in self.groups {
            for kind in ClassKind::ALL {
                for quantity in self.quantities {
                    let of = |load: &f64| self.find(group, kind, *quantity, Some(*load));
                    if self.loads.iter().any(|load| of(load).is_some()) {
                        let head = [format!("{title}, {}", kind.word()), quantity.word().to_owned()];
                        rows.add(head.into_iter().chain(self.loads.iter().map(|load| pair(of(load)))));
                    }
                }
            }
        }
        rows
    }

    /// One column per quantity.
    fn by_family(&self, markdown: bool) -> Rows {
        let names = self.of_families.iter().map(|quantity| two_lines(quantity.name()));
        let heads: Vec<String> = ["family".to_owned()].into_iter().chain(names).collect();
        let mut rows = Rows::new(&heads, markdown);
        for family in &self.families {
            for kind in ClassKind::ALL {
                let of = |quantity: &Quantity| self.find(family, kind, *quantity, None);
                if self.of_families.iter().any(|quantity| of(quantity).is_some()) {
                    let short = if kind == ClassKind::RealTime { "RT" } else { "BE" };
                    let cells = self.of_families.iter().map(|quantity| pair(of(quantity)));
                    rows.add([format!("{family}, {short}")].into_iter().chain(cells));
                }
            }
        }
        rows
    }
}

impl fmt::Display for Account<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: usize, of: &str| format!("{count} {of}{}", if count == 1 { "" } else { "s" });
        let (cases, points) = (counted(self.counts.0, "scenario"), counted(self.counts.1, "point"));
        let set = format!("set {}, drawn from {}", self.set, self.set_seed);
        match self.simulated {
            None => write!(f, "{cases}; {set}"),
            Some((seed, precision)) => write!(
                f,
                "model {}: {cases}, {points}; {set}; seed {seed}, precision {}",
                self.model,
                percent(precision)
            ),
        }
    }
}

impl AccuracyDocument {
    fn account(&self) -> Account<'_> {
        let simulated = (self.seed, self.wanted_precision);
        Account {
            model: &self.model,
            counts: (self.cases.len(), self.cases.iter().map(|case| case.points.len()).sum()),
            set: &self.set,
            set_seed: self.set_seed,
            simulated: (!self.summary.is_empty()).then_some(simulated),
        }
    }
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

/// One row per family, kind, load and quantity.
pub(super) fn csv(summary: &[Row]) -> Result<(), Ended> {
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
    for row in summary {
        let digits = if is_absolute(row.quantity) { 5 } else { 3 };
        let target =
            |of: fn(Target) -> f64| row.target.map_or_else(String::new, |target| of(target).to_string());
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
            target(|target| target.mean),
            target(|target| target.worst),
            row.met.map_or_else(String::new, |met| met.to_string()),
            real(row.mean_cycles, 3),
            row.worst_at.clone().unwrap_or_default(),
        ])?;
    }
    output::write_csv(rows)
}
