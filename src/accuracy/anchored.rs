//! `flitwise verify --accuracy --set anchored`: errors and intervals of the anchored model over random families.

use flitwise_experiment::Settings;
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassKind, Fault, Scenario};
use flitwise_validation::accuracy::{Case, Part, Plan};
use flitwise_validation::anchored::FINER;
use flitwise_validation::anchored::truth::{Family, JUDGED, JudgedFamily, JudgedNumber, Summary, summary};
use flitwise_validation::campaign;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Format, Verify};
use crate::campaign::{Campaign, Means};
use crate::outcome::Exit;
use crate::output::{self, Page, Rows, percent};

/// The whole answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AnchoredAccuracyDocument {
    /// `flitwise.anchored-accuracy/1`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// Name of a registered set, or the file of the set.
    set: String,
    /// What the scenarios were drawn from.
    set_seed: u64,
    /// Families of so many axes.
    #[serde(skip)]
    parts: Vec<Part>,
    /// Where the random numbers of anchors come from; the judging simulations have the next one.
    seed: u64,
    /// Wanted half-width of the 95 % interval of every network latency, as a share of it.
    wanted_precision: f64,
    /// Whether it was interrupted; families that were not judged are missing.
    partial: bool,
    /// Errors and intervals, as shares or differences of probabilities.
    summary: Vec<Row>,
    /// All families.
    families: Vec<FamilyEntry>,
    /// Every number that was judged.
    judged: Vec<JudgedNumber>,
}

/// Errors of a quantity.
#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    /// Number of axes of the families.
    axes: usize,
    /// Kind of the classes.
    kind: ClassKind,
    /// Which quantity.
    quantity: Quantity,
    /// Its errors.
    #[serde(flatten)]
    errors: Summary,
}

/// A family.
#[derive(Debug, Serialize, JsonSchema)]
struct FamilyEntry {
    /// Its case and the number of its axes.
    name: String,
    /// Anchors placed.
    anchors: usize,
    /// Time spent in their simulations \[s\].
    simulation_seconds: f64,
    /// Errors of the network latency.
    network_latency: Summary,
}

pub(super) fn run(args: &Verify, plan: &Plan, cases: &[&Case], campaign: &Campaign) -> Result<(), Exit> {
    let families: Vec<(Part, Family)> = plan
        .parts
        .iter()
        .flat_map(|part| part.families(cases).into_iter().map(move |family| (*part, family)))
        .collect();
    let names: Vec<&str> = families.iter().map(|(_, family)| family.name.as_str()).collect();
    let precision = campaign.settings.precision;
    let settings = Settings { precision: FINER * precision, ..campaign.settings.clone() };
    let [anchors, judged] = [|part: Part| part.anchors, |part: Part| part.judged]
        .map(|of| families.iter().map(|(part, _)| of(*part)).sum::<usize>());
    let mut document = AnchoredAccuracyDocument {
        schema: "flitwise.anchored-accuracy/1",
        flitwise_version: env!("CARGO_PKG_VERSION"),
        set: args.set.clone(),
        set_seed: plan.seed,
        parts: plan.parts.clone(),
        seed: settings.seed,
        wanted_precision: precision,
        partial: false,
        summary: Vec::new(),
        families: Vec::new(),
        judged: Vec::new(),
    };
    if args.list {
        document.families = names.iter().map(|name| FamilyEntry::unjudged(name)).collect();
        return match args.format {
            Format::Json => output::write_json_line(&document),
            _ => output::write(format!("{}\n", names.join("\n")).as_bytes()),
        };
    }
    campaign.say(&format!(
        "{} families: up to {anchors} anchors and {judged} fresh simulations to ±{}, unless the store has them: \
         minutes",
        names.len(),
        percent(settings.precision)
    ));
    let mut faults = Vec::new();
    document.partial = campaign.each(&names, |at, means| {
        let (part, family) = &families[at];
        let found = part.judge(family, precision, &mut |scenario, is_anchor| {
            let seed = settings.seed.wrapping_add(u64::from(!is_anchor));
            let max_messages = settings.max_messages.min(plan.max_messages(scenario));
            let settings = Settings { seed, max_messages, ..settings.clone() };
            simulated(scenario, &settings, means).unwrap_or_else(|found| {
                faults.extend(found);
                None
            })
        });
        document.add(family, found?);
        Some(())
    });
    if !faults.is_empty() {
        return Err(Exit::faults(&faults));
    }
    document.summarize();
    write(&document, args.format)?;
    if document.partial { Err(Exit::Interrupted) } else { Ok(()) }
}

fn simulated(
    scenario: &Scenario,
    settings: &Settings,
    means: &mut Means<'_>,
) -> Result<Option<flitwise_experiment::answer::Simulation>, Vec<Fault>> {
    let scenarios = std::slice::from_ref(scenario);
    let outcome = campaign::run(scenarios, settings, means.store, &means.host, means.listener)?;
    Ok(outcome.simulations.into_iter().next().flatten())
}

impl FamilyEntry {
    fn unjudged(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            anchors: 0,
            simulation_seconds: 0.0,
            network_latency: Summary::default(),
        }
    }
}

impl AnchoredAccuracyDocument {
    fn add(&mut self, family: &Family, found: JudgedFamily) {
        let anchors = found.placed.anchored.anchors();
        let latency = |one: &&JudgedNumber| one.measure.quantity == Quantity::NetworkLatency;
        self.families.push(FamilyEntry {
            name: family.name.clone(),
            anchors: anchors.len(),
            simulation_seconds: anchors.iter().map(|one| one.simulation.run.simulation_seconds).sum(),
            network_latency: summary(found.judged.iter().filter(latency)),
        });
        self.judged.extend(found.judged);
    }

    fn summarize(&mut self) {
        for Part { axes, .. } in self.parts.clone() {
            for quantity in JUDGED {
                for kind in ClassKind::DATA {
                    let is_it = |one: &&JudgedNumber| {
                        (one.axes, one.kind, one.measure.quantity) == (axes, kind, quantity)
                    };
                    let errors = summary(self.judged.iter().filter(is_it));
                    if errors.count > 0 {
                        self.summary.push(Row { axes, kind, quantity, errors });
                    }
                }
            }
        }
    }

    /// A table for each number of axes.
    fn page(&self, markdown: bool) -> String {
        let mut page = Page::new(markdown);
        for Part { axes, anchors, .. } in &self.parts {
            let s = if *axes == 1 { "axis" } else { "axes" };
            page.section(&format!("{axes} {s}, {anchors} anchors"), &self.rows(*axes, markdown));
        }
        page.legend(
            "mean / worst error in percent, of miss probabilities in points; covered: by the 95 % intervals",
        );
        page.section("Network latency by family", &self.by_family(markdown));
        let anchors: usize = self.families.iter().map(|one| one.anchors).sum();
        let seconds: f64 = self.families.iter().map(|one| one.simulation_seconds).sum();
        let partial = if self.partial { "; interrupted, the rest is missing" } else { "" };
        page.end(&format!(
            "{} families, {anchors} anchors, {seconds:.0} s of all threads in their simulations; set {}, drawn \
             from {}; seed {}, precision {}{partial}",
            self.families.len(),
            self.set,
            self.set_seed,
            self.seed,
            percent(self.wanted_precision)
        ))
    }

    fn rows(&self, axes: usize, markdown: bool) -> Rows {
        let heads =
            ["quantity", "classes", "numbers", "published", "refined", "anchored", "half-width", "covered"];
        let mut rows = Rows::new(&heads, markdown);
        for Row { kind, quantity, errors, .. } in self.summary.iter().filter(|row| row.axes == axes) {
            let [published, refined, anchored] =
                [errors.published, Some(errors.refined), Some(errors.anchored)].map(pair);
            rows.add([
                quantity.name().to_owned(),
                kind.word().to_owned(),
                errors.count.to_string(),
                published,
                refined,
                anchored,
                format!("{:.2}", 100.0 * errors.half_width),
                format!("{:.1} %", 100.0 * errors.coverage),
            ]);
        }
        rows
    }

    fn by_family(&self, markdown: bool) -> Rows {
        let mut rows = Rows::new(&["family", "refined", "anchored", "half-width", "covered"], markdown);
        for FamilyEntry { name, network_latency: errors, .. } in &self.families {
            rows.add([
                name.clone(),
                pair(Some(errors.refined)),
                pair(Some(errors.anchored)),
                format!("{:.2}", 100.0 * errors.half_width),
                format!("{:.0} %", 100.0 * errors.coverage),
            ]);
        }
        rows
    }

    fn csv(&self) -> Result<(), Exit> {
        let mut rows = csv::Writer::from_writer(Vec::new());
        let models = ["published", "refined", "anchored"];
        let heads = models.iter().flat_map(|model| ["mean", "worst"].map(|what| format!("{model}_{what}")));
        let heads = ["axes", "kind", "quantity", "count"].map(str::to_owned).into_iter().chain(heads);
        rows.write_record(heads.chain(["half_width_95", "coverage"].map(str::to_owned)))?;
        for Row { axes, kind, quantity, errors } in &self.summary {
            let what = [
                axes.to_string(),
                kind.word().to_owned(),
                quantity.word().to_owned(),
                errors.count.to_string(),
            ];
            let of_models = [errors.published, Some(errors.refined), Some(errors.anchored)];
            let pairs = of_models.into_iter().flat_map(|pair| [0, 1].map(|at| pair.map(|pair| pair[at])));
            let numbers = pairs.chain([Some(errors.half_width), Some(errors.coverage)]);
            let texts =
                numbers.map(|number| number.map_or_else(String::new, |number| format!("{number:.5}")));
            rows.write_record(what.into_iter().chain(texts))?;
        }
        output::write_csv(rows)
    }
}

/// Mean and worst, in percent.
fn pair(errors: Option<[f64; 2]>) -> String {
    errors
        .map_or_else(|| "-".to_owned(), |[mean, worst]| format!("{:.2} / {:.1}", 100.0 * mean, 100.0 * worst))
}

fn write(document: &AnchoredAccuracyDocument, format: Format) -> Result<(), Exit> {
    match format {
        Format::Json => output::write_json_line(document),
        Format::Csv => document.csv(),
        Format::Table => output::write_coloured(&document.page(false)),
        Format::Markdown => output::write(document.page(true).as_bytes()),
    }
}
