//! `flitwise verify --accuracy --set streams`: errors of the mediaworm model over random streams of frames.

use flitwise_models::mediaworm;
use flitwise_models::model::{Model, Options};
use flitwise_models::quantity::Quantity;
use flitwise_models::scenario::{ClassKind, Fault, Scenario};
use flitwise_validation::accuracy::ErrorOf;
use flitwise_validation::accuracy::streams::{self, JUDGED, StreamCase, StreamKind, StreamPlan, target};
use flitwise_validation::accuracy::summary::Target;
use flitwise_validation::answer::Simulation;
use flitwise_validation::campaign;
use flitwise_validation::experiment::Settings;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Format, Verify};
use crate::campaign::{Campaign, Defaults, Means};
use crate::outcome::Ended;
use crate::output::{self, Page, Rows, percent};

/// What `--set` calls it.
pub(super) const SET: &str = "streams";

/// Regions, and how their names end in titles.
const REGIONS: [(&str, bool); 2] = [("one router", false), ("fat meshes", true)];

/// The whole answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StreamAccuracyDocument {
    /// `flitwise.stream-accuracy/1`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// What the systems were drawn from.
    set_seed: u64,
    /// Where the random numbers of all simulations come from.
    seed: u64,
    /// Wanted 95 % half-width of the network latency of the worst class, as a share of it.
    wanted_precision: f64,
    /// Shares of the load at which the model has the first class saturate.
    loads: Vec<f64>,
    /// Whether it was interrupted; what was not simulated is missing.
    partial: bool,
    /// Mean and worst of errors by region and by family, beside what is aimed at.
    summary: Vec<Row>,
    /// All systems.
    cases: Vec<CaseEntry>,
}

/// Errors of one kind, taken together.
#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    /// `one router`, `fat meshes`, or a family.
    group: String,
    /// Kind of the classes.
    kind: ClassKind,
    /// What the errors are of.
    quantity: Quantity,
    /// Share of the load of saturation; `null`: all of them.
    load: Option<f64>,
    /// Errors known.
    count: usize,
    /// Points where the model says nothing.
    missing: usize,
    /// Mean of the absolute errors \[percent\].
    mean: Option<f64>,
    /// The largest error, with its sign \[percent\].
    worst: Option<f64>,
    /// Where that is.
    worst_at: Option<String>,
    /// Mean of the simulation's own half-widths \[percent\].
    noise: Option<f64>,
    /// What is aimed at \[percent\]; `null`: nothing.
    target: Option<Target>,
    /// Whether it is reached, and all is known.
    met: Option<bool>,
}

/// A system.
#[derive(Debug, Serialize, JsonSchema)]
struct CaseEntry {
    /// Family and number.
    name: String,
    /// Its family.
    family: String,
    /// Source of its streams: `cbr`, `vbr` or `mpeg2`.
    source: &'static str,
    /// Load of a node's link at which the model has the first class saturate.
    saturation_load_flits_per_cycle: f64,
    #[serde(skip)]
    over_hops: bool,
    #[serde(skip)]
    words: [String; 3],
    /// At every load.
    points: Vec<PointEntry>,
}

/// A system at one load.
#[derive(Debug, Serialize, JsonSchema)]
struct PointEntry {
    /// Share of the load at which the model has the first class saturate.
    load: f64,
    /// As a scenario file (TOML).
    scenario: String,
    /// Independent runs behind the numbers.
    replications: u32,
    /// Messages measured.
    messages: u64,
    /// Simulated deviation of the intervals of frames, as a share of the interval \[percent\].
    frame_interval_deviation_percent: Option<f64>,
    /// By class.
    classes: Vec<ClassEntry>,
}

/// A class at one point.
#[derive(Debug, Serialize, JsonSchema)]
struct ClassEntry {
    /// Name of the class.
    class: String,
    /// How links treat it.
    kind: ClassKind,
    /// Whether the simulation found it saturated.
    saturated: bool,
    /// Model minus simulation.
    errors: Vec<ErrorOf>,
}

pub(super) fn run(args: &Verify) -> Result<(), Ended> {
    let plan = StreamPlan::streams();
    // what the tables need: no finer than the plan, unless it is asked for
    let precision = percent(plan.precision);
    let defaults = Defaults { precision: &precision, max_messages: "1e7" };
    let (campaign, ()) = Ended::both(Campaign::read_or(&args.campaign, defaults), of_model(args))?;
    let cases = super::chosen(args, plan.cases(), |case| (&case.family, &case.name))?;
    let mut document = StreamAccuracyDocument::new(&plan, &campaign.settings);
    if args.list {
        document.cases = cases.iter().map(|case| CaseEntry::new(case, &plan)).collect::<Result<_, _>>()?;
        return document.write(args.format);
    }
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let mut faults = Vec::new();
    document.partial = campaign.each(&names, |at, means| {
        match judged(&plan, &cases[at], &campaign.settings, means) {
            Ok(entry) => document.cases.push(entry?),
            Err(found) => faults.extend(found),
        }
        Some(())
    });
    if !faults.is_empty() {
        return Err(Ended::faults(&faults));
    }
    document.summarize();
    document.write(args.format)?;
    if document.partial { Err(Ended::Interrupted) } else { Ok(()) }
}

/// One model answers these systems.
fn of_model(args: &Verify) -> Result<(), Ended> {
    match args.model {
        None | Some(Model::Mediaworm) => Ok(()),
        Some(model) => Err(Ended::input(format!(
            "--model {model}: found a set of streams of frames, which the mediaworm model answers, wanted no other \
             --model with it"
        ))),
    }
}

/// The model beside the simulation of one system; `None` if it was interrupted.
fn judged(
    plan: &StreamPlan,
    case: &StreamCase,
    settings: &Settings,
    means: &mut Means<'_>,
) -> Result<Option<CaseEntry>, Vec<Fault>> {
    let mut entry = CaseEntry::new(case, plan).map_err(|_| Vec::new())?;
    for load in &plan.loads {
        let scenario = case.at(*load)?;
        let max_messages = settings.max_messages.min(plan.max_messages(&scenario));
        let settings = Settings { max_messages, ..settings.clone() };
        let scenarios = std::slice::from_ref(&scenario);
        let outcome = campaign::run(scenarios, &settings, means.store, means.stop, means.listener)?;
        let Some(simulation) = outcome.simulations.into_iter().next().flatten() else { return Ok(None) };
        entry.points.push(PointEntry::new(case.kind(), *load, &scenario, &simulation));
    }
    Ok(Some(entry))
}

impl PointEntry {
    fn new(kind: StreamKind, load: f64, scenario: &Scenario, simulation: &Simulation) -> Self {
        let answer = mediaworm::solve(scenario, &Options::default()).map_err(|failure| failure.to_string());
        let classes = simulation.classes.iter().enumerate().map(|(at, class)| {
            let answer = answer.as_ref().map(|answer| &answer.classes[at]).map_err(String::as_str);
            let errors = streams::judge(kind, class, answer);
            ClassEntry { class: class.name.clone(), kind: class.kind, saturated: class.saturated, errors }
        });
        let deviation = simulation.classes[0].value(Quantity::FrameIntervalDeviation.into());
        let interval = scenario.frames(0).map(|frames| frames.interval);
        Self {
            load,
            scenario: scenario.spec().to_toml(),
            replications: simulation.run.replications,
            messages: simulation.run.messages,
            frame_interval_deviation_percent: deviation
                .zip(interval)
                .map(|(found, t)| 100.0 * found.value / t),
            classes: classes.collect(),
        }
    }
}

impl CaseEntry {
    fn new(case: &StreamCase, plan: &StreamPlan) -> Result<Self, Ended> {
        let scenario = case.at(plan.loads[0]).map_err(|faults| Ended::faults(&faults))?;
        let router = scenario.router();
        let class = |class: &flitwise_models::scenario::ClassSpec| {
            format!("{} {}x{}", class.name, class.virtual_channels, class.message_flits)
        };
        let classes: Vec<String> = scenario.classes().iter().map(class).collect();
        Ok(Self {
            name: case.name.clone(),
            family: case.family.clone(),
            source: case.kind().word(),
            saturation_load_flits_per_cycle: case.saturation_load,
            over_hops: scenario.topology().most_hops() > 0,
            words: [
                scenario.topology().short_name(),
                format!("{}, {}", router.crossbar.word(), router.scheduler.word()),
                classes.join(", "),
            ],
            points: Vec::new(),
        })
    }
}

/// An error and where it is from.
type Found<'e> = (&'e CaseEntry, &'e PointEntry, &'e ClassEntry, &'e ErrorOf);

impl StreamAccuracyDocument {
    fn new(plan: &StreamPlan, settings: &Settings) -> Self {
        Self {
            schema: "flitwise.stream-accuracy/1",
            flitwise_version: env!("CARGO_PKG_VERSION"),
            set_seed: plan.seed,
            seed: settings.seed,
            wanted_precision: settings.precision,
            loads: plan.loads.clone(),
            partial: false,
            summary: Vec::new(),
            cases: Vec::new(),
        }
    }

    fn groups(&self) -> Vec<(String, Vec<&CaseEntry>)> {
        let of_region = |(name, over_hops): (&str, bool)| {
            (name.to_owned(), self.cases.iter().filter(|case| case.over_hops == over_hops).collect())
        };
        let mut families: Vec<&str> = self.cases.iter().map(|case| case.family.as_str()).collect();
        families.dedup();
        let of_family =
            |name: &str| (name.to_owned(), self.cases.iter().filter(|case| case.family == name).collect());
        REGIONS.into_iter().map(of_region).chain(families.into_iter().map(of_family)).collect()
    }

    fn summarize(&mut self) {
        let loads: Vec<Option<f64>> = self.loads.iter().copied().map(Some).chain([None]).collect();
        let mut summary = Vec::new();
        for (group, cases) in self.groups() {
            let found: Vec<Found<'_>> = cases
                .iter()
                .flat_map(|case| case.points.iter().map(move |point| (*case, point)))
                .flat_map(|(case, point)| point.classes.iter().map(move |class| (case, point, class)))
                .flat_map(|(case, point, class)| {
                    class.errors.iter().map(move |error| (case, point, class, error))
                })
                .collect();
            for kind in [ClassKind::RealTime, ClassKind::BestEffort] {
                for quantity in JUDGED {
                    for load in &loads {
                        let is_it = |(_, point, class, error): &&Found<'_>| {
                            (class.kind, error.measure.quantity) == (kind, quantity)
                                && load.is_none_or(|load| load == point.load)
                        };
                        let found: Vec<Found<'_>> = found.iter().filter(is_it).copied().collect();
                        summary.extend(row(&group, kind, quantity, *load, &found));
                    }
                }
            }
        }
        self.summary = summary;
    }

    fn find(&self, group: &str, kind: ClassKind, quantity: Quantity, load: Option<f64>) -> Option<&Row> {
        self.summary
            .iter()
            .find(|row| row.group == group && (row.kind, row.quantity, row.load) == (kind, quantity, load))
    }

    fn write(&self, format: Format) -> Result<(), Ended> {
        match format {
            Format::Json => output::write_json_line(self),
            Format::Csv => self.csv(),
            Format::Table => output::write_coloured(&self.page(false)),
            Format::Markdown => output::write(self.page(true).as_bytes()),
        }
    }

    fn page(&self, markdown: bool) -> String {
        let mut page = Page::new(markdown);
        let set = format!("set {SET}, drawn from {}", self.set_seed);
        if self.summary.is_empty() {
            page.rows(&self.listed(markdown));
            return page.end(&format!("{} systems; {set}", self.cases.len()));
        }
        for (region, _) in REGIONS {
            page.section(&format!("{region}, all loads"), &self.all_loads(region, markdown));
        }
        page.legend(
            "model minus simulation [%]; noise: the simulation's own 95 % half-width, mean of all points",
        );
        page.section(
            "By load, as a share of that at which the model has a class saturate",
            &self.by_load(markdown),
        );
        page.legend("mean of absolute errors / worst [%]");
        page.section("By family, all loads", &self.by_family(markdown));
        page.legend("mean of absolute errors / worst [%]");
        page.remarks(&self.remarks());
        let points: usize = self.cases.iter().map(|case| case.points.len()).sum();
        page.end(&format!(
            "model mediaworm: {} systems, {points} points; {set}; seed {}, precision {}",
            self.cases.len(),
            self.seed,
            percent(self.wanted_precision)
        ))
    }

    fn listed(&self, markdown: bool) -> Rows {
        let heads =
            ["system", "network", "source", "crossbar, scheduler", "classes: lanes x M", "saturates at"];
        let mut rows = Rows::new(&heads, markdown);
        for case in &self.cases {
            let [network, router, classes] = case.words.clone();
            let load = format!("{:.3}", case.saturation_load_flits_per_cycle);
            rows.add([case.name.clone(), network, case.source.to_owned(), router, classes, load]);
        }
        rows
    }

    fn all_loads(&self, region: &str, markdown: bool) -> Rows {
        let heads = [
            "classes",
            "quantity",
            "points",
            "mean",
            "worst",
            "noise",
            "target\nmean / worst",
            "",
            "worst at",
        ];
        let mut rows = Rows::new(&heads, markdown);
        for row in self.summary.iter().filter(|row| row.group == region && row.load.is_none()) {
            let met = match (row.met, row.missing) {
                (None, _) => String::new(),
                (Some(true), _) => "met".to_owned(),
                (Some(false), 0) => "missed".to_owned(),
                (Some(false), missing) => format!("{missing} silent"),
            };
            rows.add([
                row.kind.word().to_owned(),
                row.quantity.word().to_owned(),
                row.count.to_string(),
                row.mean.map_or("-".to_owned(), |mean| format!("{mean:.2}")),
                row.worst.map_or("-".to_owned(), |worst| format!("{worst:+.1}")),
                row.noise.map_or("-".to_owned(), |noise| format!("{noise:.2}")),
                row.target.map_or("-".to_owned(), |target| format!("{} / {}", target.mean, target.worst)),
                met,
                row.worst_at.clone().unwrap_or_default(),
            ]);
        }
        rows
    }

    /// One column per load.
    fn by_load(&self, markdown: bool) -> Rows {
        let loads = self.loads.iter().map(|load| format!("{load}"));
        let heads: Vec<String> = ["", "quantity"].map(str::to_owned).into_iter().chain(loads).collect();
        let mut rows = Rows::new(&heads, markdown);
        for (region, _) in REGIONS {
            for (kind, quantity) in asked() {
                let of = |load: &f64| self.find(region, kind, quantity, Some(*load));
                if self.loads.iter().any(|load| of(load).is_some()) {
                    let head = [format!("{region}, {}", kind.word()), quantity.word().to_owned()];
                    rows.add(head.into_iter().chain(self.loads.iter().map(|load| pair(of(load)))));
                }
            }
        }
        rows
    }

    /// One column per quantity.
    fn by_family(&self, markdown: bool) -> Rows {
        let heads: Vec<String> =
            ["".to_owned()].into_iter().chain(JUDGED.map(|one| output::two_lines(one.name()))).collect();
        let mut rows = Rows::new(&heads, markdown);
        let mut families: Vec<&str> = self.cases.iter().map(|case| case.family.as_str()).collect();
        families.dedup();
        for family in families {
            for kind in [ClassKind::RealTime, ClassKind::BestEffort] {
                let cells = JUDGED.map(|quantity| pair(self.find(family, kind, quantity, None)));
                if cells.iter().any(|cell| !cell.is_empty()) {
                    rows.add([format!("{family}, {}", kind.word())].into_iter().chain(cells));
                }
            }
        }
        rows
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.partial {
            remarks.push("interrupted: what had not been simulated is missing".to_owned());
        }
        let constant = self.cases.iter().filter(|case| case.source == StreamKind::Cbr.word());
        let deviations = constant
            .flat_map(|case| case.points.iter().filter_map(|one| one.frame_interval_deviation_percent));
        if let Some(most) = deviations.reduce(f64::max) {
            remarks.push(format!(
                "frames of one length (cbr): the model has no deviation of intervals, the simulation {most:.3} % of \
                 the interval at most; not judged"
            ));
        }
        let classes = self.cases.iter().flat_map(|case| &case.points).flat_map(|point| &point.classes);
        let saturated = classes.filter(|class| class.saturated).count();
        if saturated > 0 {
            remarks
                .push(format!("the simulation found {saturated} classes saturated that the model does not"));
        }
        remarks
    }

    /// One row per group, kind, load and quantity.
    fn csv(&self) -> Result<(), Ended> {
        let mut rows = csv::Writer::from_writer(Vec::new());
        rows.write_record([
            "group",
            "kind",
            "load",
            "quantity",
            "count",
            "missing",
            "mean_percent",
            "worst_percent",
            "noise_percent",
            "target_mean_percent",
            "target_worst_percent",
            "met",
            "worst_at",
        ])?;
        let real = |number: Option<f64>| number.map_or_else(String::new, |number| format!("{number:.3}"));
        for row in &self.summary {
            rows.write_record([
                row.group.clone(),
                row.kind.word().to_owned(),
                row.load.map_or_else(|| "all".to_owned(), |load| load.to_string()),
                row.quantity.word().to_owned(),
                row.count.to_string(),
                row.missing.to_string(),
                real(row.mean),
                real(row.worst),
                real(row.noise),
                real(row.target.map(|target| target.mean)),
                real(row.target.map(|target| target.worst)),
                row.met.map_or_else(String::new, |met| met.to_string()),
                row.worst_at.clone().unwrap_or_default(),
            ])?;
        }
        output::write_csv(rows)
    }
}

/// Kinds of classes with what is judged of them.
fn asked() -> impl Iterator<Item = (ClassKind, Quantity)> {
    let kinds = [ClassKind::RealTime, ClassKind::BestEffort];
    kinds.into_iter().flat_map(|kind| JUDGED.map(|quantity| (kind, quantity)))
}

/// `None` if there is nothing.
fn row(
    group: &str,
    kind: ClassKind,
    quantity: Quantity,
    load: Option<f64>,
    found: &[Found<'_>],
) -> Option<Row> {
    found.first()?;
    let known: Vec<(f64, &Found<'_>)> = found.iter().filter_map(|one| Some((one.3.error?, one))).collect();
    let mean =
        |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let absolute: Vec<f64> = known.iter().map(|(error, _)| error.abs()).collect();
    let noise: Vec<f64> = known.iter().filter_map(|(_, one)| one.3.noise).collect();
    let worst = known.iter().max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
    let target = target(quantity, kind);
    let missing = found.len() - known.len();
    let keeps = |target: Target| {
        let within = |value: Option<f64>, most: f64| value.is_some_and(|value| value <= most);
        missing == 0
            && within(mean(&absolute), target.mean)
            && within(worst.map(|worst| worst.0.abs()), target.worst)
    };
    Some(Row {
        group: group.to_owned(),
        kind,
        quantity,
        load,
        count: known.len(),
        missing,
        mean: mean(&absolute),
        worst: worst.map(|(error, _)| *error),
        worst_at: worst.map(|(_, (case, point, ..))| format!("{} {}", case.name, point.load)),
        noise: mean(&noise),
        target,
        met: target.map(keeps),
    })
}

/// Mean and worst.
fn pair(row: Option<&Row>) -> String {
    match row.map(|row| (row.mean, row.worst)) {
        None => String::new(),
        Some((Some(mean), Some(worst))) => format!("{mean:.1} / {worst:+.1}"),
        Some(_) => "silent".to_owned(),
    }
}
