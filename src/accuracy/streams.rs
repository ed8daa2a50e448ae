//! `flitwise verify --accuracy --set streams`: errors of the mediaworm model over random streams of frames.

use flitwise_experiment::Settings;
use flitwise_experiment::answer::Simulation;
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassKind, Fault, Scenario};
use flitwise_models::mediaworm;
use flitwise_models::model::{Model, Options};
use flitwise_validation::accuracy::ErrorOf;
use flitwise_validation::accuracy::streams::{self, JUDGED, StreamCase, StreamKind, StreamPlan};
use flitwise_validation::accuracy::summary::{self, Found, Network, Row, Tables};
use flitwise_validation::campaign;
use schemars::JsonSchema;
use serde::Serialize;

use super::page::{self, Account, Shown};
use crate::args::{Format, Verify};
use crate::campaign::{Campaign, Defaults, Means};
use crate::outcome::Ended;
use crate::output::{self, Page, Rows, percent};

const GROUPS: [(&str, &str); 2] = [("One router", "one router"), ("Several routers", "several routers")];

/// The whole answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StreamAccuracyDocument {
    /// `flitwise.stream-accuracy/2`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// `streams` or the file of the set.
    set: String,
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
    /// Means and worst of errors, beside what is aimed at.
    summary: Vec<Row>,
    /// All systems.
    cases: Vec<CaseEntry>,
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
    network: Network,
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

pub(super) fn run(args: &Verify, plan: &StreamPlan) -> Result<(), Ended> {
    // what the tables need: no finer than the plan, unless it is asked for
    let precision = percent(plan.precision);
    let defaults = Defaults { precision: &precision, max_messages: "1e7" };
    let (campaign, ()) = Ended::both(Campaign::read_or(&args.campaign, defaults), of_model(args))?;
    let cases = super::chosen(args, plan.cases().to_vec(), |case| (&case.family, &case.name))?;
    let mut document = StreamAccuracyDocument::new(args, plan, &campaign.settings);
    if args.list {
        let listed = cases.iter().map(|case| CaseEntry::new(case, plan)).collect::<Result<_, _>>();
        document.cases = listed.map_err(|faults: Vec<Fault>| Ended::faults(&faults))?;
        return document.write(args.format);
    }
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let mut faults = Vec::new();
    document.partial = campaign.each(&names, |at, means| {
        match judged(plan, &cases[at], &campaign.settings, means) {
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
    let mut entry = CaseEntry::new(case, plan)?;
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
    fn new(case: &StreamCase, plan: &StreamPlan) -> Result<Self, Vec<Fault>> {
        let scenario = case.at(plan.loads[0])?;
        let router = scenario.router();
        let class = |class: &flitwise_language::scenario::ClassSpec| {
            format!("{} {}x{}", class.name, class.virtual_channels, class.message_flits)
        };
        let classes: Vec<String> = scenario.classes().iter().map(class).collect();
        Ok(Self {
            name: case.name.clone(),
            family: case.family.clone(),
            source: case.kind().word(),
            saturation_load_flits_per_cycle: case.saturation_load,
            network: Network::of(scenario.spec().network),
            words: [
                scenario.topology().short_name(),
                format!("{}, {}", router.crossbar.word(), router.scheduler.word()),
                classes.join(", "),
            ],
            points: Vec::new(),
        })
    }
}

impl StreamAccuracyDocument {
    fn new(args: &Verify, plan: &StreamPlan, settings: &Settings) -> Self {
        Self {
            schema: "flitwise.stream-accuracy/2",
            flitwise_version: env!("CARGO_PKG_VERSION"),
            set: args.set.clone(),
            set_seed: plan.seed,
            seed: settings.seed,
            wanted_precision: settings.precision,
            loads: plan.loads.clone(),
            partial: false,
            summary: Vec::new(),
            cases: Vec::new(),
        }
    }

    /// Makes the table of all errors.
    fn summarize(&mut self) {
        let mut found = Vec::new();
        for case in &self.cases {
            for point in &case.points {
                for class in &point.classes {
                    let place = format!("{} {} {}", case.name, class.class, point.load);
                    found.extend(class.errors.iter().map(|error| Found {
                        family: &case.family,
                        network: case.network,
                        place: place.clone(),
                        kind: class.kind,
                        load: Some(point.load),
                        error,
                    }));
                }
            }
        }
        let summary = summary::rows(&found, &Tables::OF_STREAMS);
        self.summary = summary;
    }

    fn write(&self, format: Format) -> Result<(), Ended> {
        match format {
            Format::Json => output::write_json_line(self),
            Format::Csv => page::csv(&self.summary),
            Format::Table => output::write_coloured(&self.page(false)),
            Format::Markdown => output::write(self.page(true).as_bytes()),
        }
    }

    fn page(&self, markdown: bool) -> String {
        let mut page = Page::new(markdown);
        let is_listed = self.summary.is_empty();
        if is_listed {
            page.rows(&self.listed(markdown));
        } else {
            let shown = Shown {
                rows: &self.summary,
                loads: &self.loads,
                of_load: "that at which the model has a class saturate",
                groups: &GROUPS,
                quantities: &JUDGED,
                of_families: &JUDGED,
                families: page::families(self.cases.iter().map(|case| case.family.as_str())),
            };
            shown.on(&mut page, markdown);
            page.remarks(&self.remarks());
        }
        let account = Account {
            model: Model::Mediaworm.word(),
            counts: (self.cases.len(), self.cases.iter().map(|case| case.points.len()).sum()),
            set: &self.set,
            set_seed: self.set_seed,
            simulated: (!is_listed).then_some((self.seed, self.wanted_precision)),
        };
        page.end(&account.to_string())
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
}
