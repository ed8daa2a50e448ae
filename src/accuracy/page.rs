//! Tables of errors, as text and as CSV.

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassKind, Crossbar, Scenario};
use flitwise_models::accuracy::{Coverage, coverage};
use flitwise_validation::accuracy::summary::{self, Row, Target};
use flitwise_validation::accuracy::{ErrorUnit, error_unit};

use super::document::{AccuracyDocument, CaseEntry, ClassEntry};
use crate::args::{Format, Verify};
use crate::outcome::Exit;
use crate::output::{self, Page, Rows, percent, two_lines};

/// Titles of groups of networks, and the names that they have in the summary.
const GROUPS: [(&str, &str); 4] = [
    ("Routers", "all routers"),
    ("Cubes", "all cubes"),
    ("Meshes and tori", "all meshes and tori"),
    ("Trees and graphs", "all trees and graphs"),
];

/// Scenarios as they were drawn.
fn scenarios(cases: &[CaseEntry], markdown: bool) -> Rows {
    let are_known = cases.iter().any(|case| case.saturation_factor.is_some());
    let heads = ["scenario", "network", "P", "b\nflits", "scheduler", "classes", "saturates\nat"];
    let mut rows = Rows::new(&heads[..if are_known { 7 } else { 6 }], markdown);
    for CaseEntry { name, drawn, saturation_factor, .. } in cases {
        let router = drawn.router();
        let crossbar = match router.crossbar {
            Crossbar::Full => String::new(),
            other => format!("{}, ", other.word()),
        };
        let classes: Vec<String> = (0..drawn.classes().len()).map(|class| listed(drawn, class)).collect();
        let load: f64 = (0..drawn.classes().len()).map(|class| drawn.flit_rate(class)).sum();
        let cells = [
            name.clone(),
            drawn.topology().short_name(),
            router.pipeline_stages.to_string(),
            router.buffer_flits.to_string(),
            format!("{crossbar}{}", router.scheduler.word()),
            classes.join(", "),
        ];
        rows.add(cells.into_iter().chain(saturation_factor.map(|factor| format!("{:.3}", factor * load))));
    }
    rows
}

/// A class in a list: `v` where its Vtick is given, `~` where it is bursty, its load, length and virtual channels.
fn listed(scenario: &Scenario, class: usize) -> String {
    let spec = &scenario.classes()[class];
    let vtick = if spec.vtick.is_some() { "v" } else { "" };
    let bursty = if spec.source.is_bursty() { "~" } else { "" };
    let lanes = match spec.virtual_channels {
        1 => String::new(),
        several => format!(" on {several}"),
    };
    let load = scenario.flit_rate(class);
    format!("{}{vtick}{bursty} {load:.3}x{}{lanes}", spec.name, spec.message_flits)
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

impl AccuracyDocument {
    pub(super) fn write(&self, args: &Verify) -> Result<(), Exit> {
        match args.format {
            Format::Json => output::write_json_line(self),
            Format::Csv => output::write(self.csv().as_bytes()),
            Format::Table => output::write_coloured(&self.page(false)),
            Format::Markdown => output::write(self.page(true).as_bytes()),
        }
    }

    /// A row per class and point, below the command that makes it.
    fn csv(&self) -> String {
        let (set, model) = (&self.set, self.model.word());
        let command = format!("flitwise verify --accuracy --set {set} --model {model} --format csv");
        let (seed, precision) = (self.seed, percent(self.wanted_precision));
        let version = env!("CARGO_PKG_VERSION");
        let (errors, left_out) = self.errors();
        format!(
            "# {command}\n# flitwise {version}, seeds {} and {seed}, precision {precision}, at most {:e} flit hops a \
             point; {left_out} errors left out, whose simulated number is not known to 10 % (probabilities: to 0.03)\n\
             {errors}",
            self.set_seed, self.max_flit_hops
        )
    }

    fn page(&self, markdown: bool) -> String {
        let mut page = Page::new(markdown);
        if self.summary.is_empty() {
            page.rows(&scenarios(&self.cases, markdown));
        } else {
            self.tables(&mut page, markdown);
            page.remarks(&self.remarks());
        }
        page.end(&self.account())
    }

    /// Puts all tables on a page.
    fn tables(&self, page: &mut Page, markdown: bool) {
        for (title, group) in GROUPS {
            for kind in ClassKind::DATA {
                let title = format!("{title}, {}, all loads", kind.word());
                page.section(&title, &self.all_loads(group, kind, markdown));
            }
        }
        page.legend(
            "model minus simulation; noise: the simulation's own 95 % half-width, mean of all points",
        );
        let unit = "mean of absolute errors / worst, in percent; of miss probabilities as they are";
        page.section(
            "By load, as a share of that at which the model has a class saturate",
            &self.by_load(markdown),
        );
        page.legend(unit);
        page.section("By family, all loads", &self.by_family(markdown));
        page.legend(unit);
        page.section("Numbers within the error that solve tells: 90 % should be", &self.coverage(markdown));
    }

    fn find(&self, family: &str, kind: ClassKind, quantity: Quantity, load: Option<f64>) -> Option<&Row> {
        let is_it =
            |row: &&Row| row.family == family && (row.kind, row.quantity, row.load) == (kind, quantity, load);
        self.summary.iter().find(is_it)
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
        for (title, group) in GROUPS {
            for kind in ClassKind::DATA {
                for quantity in &self.quantities {
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

    /// One column per quantity but for some percentiles, for which there is no room.
    fn by_family(&self, markdown: bool) -> Rows {
        let is_left_out = |quantity: &Quantity| matches!(quantity, Quantity::P50 | Quantity::P90);
        let quantities: Vec<Quantity> =
            self.quantities.iter().copied().filter(|quantity| !is_left_out(quantity)).collect();
        let names = quantities.iter().map(|quantity| two_lines(quantity.name()));
        let heads: Vec<String> = ["family".to_owned()].into_iter().chain(names).collect();
        let mut rows = Rows::new(&heads, markdown);
        let mut families: Vec<&str> = self.cases.iter().map(|case| case.family.as_str()).collect();
        families.dedup();
        for family in families {
            for kind in ClassKind::DATA {
                let of = |quantity: &Quantity| self.find(family, kind, *quantity, None);
                if quantities.iter().any(|quantity| of(quantity).is_some()) {
                    let short = if kind == ClassKind::RealTime { "RT" } else { "BE" };
                    let cells = quantities.iter().map(|quantity| pair(of(quantity)));
                    rows.add([format!("{family}, {short}")].into_iter().chain(cells));
                }
            }
        }
        rows
    }

    /// How many numbers lie within the errors to expect.
    fn coverage(&self, markdown: bool) -> Rows {
        let mut rows =
            Rows::new(&["scenarios", "classes", "errors told", "within", "share", "not told"], markdown);
        for Coverage { region, kind, told, within, untold } in coverage(self.model, &self.errors().0) {
            let share = if told > 0 { percent(within as f64 / told as f64) } else { String::new() };
            let [told, within, untold] = [told, within, untold].map(|count| count.to_string());
            rows.add([region.name.to_owned(), kind.word().to_owned(), told, within, share, untold]);
        }
        rows
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.partial {
            remarks.push("interrupted: what had not been simulated is missing".to_owned());
        }
        let all = self.summary.iter().filter(|row| row.family == "all" && row.load.is_none());
        let silent: usize = all.map(|row| row.missing).sum();
        if silent > 0 {
            remarks.push(format!(
                "silent: the model gives no number, {silent} times in all; --format json says why for each"
            ));
        }
        let classes = || self.cases.iter().flat_map(|case| &case.points).flat_map(|point| &point.classes);
        let deviations = classes().filter_map(|class| class.constant_frame_interval_deviation_percent);
        if let Some(most) = deviations.reduce(f64::max) {
            remarks.push(format!(
                "frames of one length (cbr): the model has no deviation of intervals, the simulation {most:.3} % of \
                 the interval at most; not judged"
            ));
        }
        let only_simulated = |class: &&ClassEntry| {
            class.simulated.saturated && class.model.as_ref().is_some_and(|model| !model.saturated)
        };
        let saturated = classes().filter(only_simulated).count();
        if saturated > 0 {
            remarks
                .push(format!("the simulation found {saturated} classes saturated that the model does not"));
        }
        remarks
    }

    /// What was judged, and on what.
    fn account(&self) -> String {
        let counted = |count: usize, of: &str| format!("{count} {of}{}", if count == 1 { "" } else { "s" });
        let cases = counted(self.cases.len(), "scenario");
        let set = format!("set {}, drawn from {}", self.set, self.set_seed);
        if self.summary.is_empty() {
            return format!("{cases}; {set}");
        }
        let points = counted(self.cases.iter().map(|case| case.points.len()).sum(), "point");
        let precision = percent(self.wanted_precision);
        format!("model {}: {cases}, {points}; {set}; seed {}, precision {precision}", self.model, self.seed)
    }
}
