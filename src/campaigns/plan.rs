//! `flitwise campaign plan`.

use flitwise_experiment as experiment;
use flitwise_language::scenario::{Scenario, Setting};
use flitwise_validation::campaign::{CampaignBlock, Folder};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Means, ReportRequest, Session};
use crate::args::Format;
use crate::args::campaigns::CampaignPlan;
use crate::figure::FigureRequest;
use crate::outcome::Exit;
use crate::output::{self, Rows, percent};

/// The answer of `flitwise campaign plan --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CampaignPlanDocument {
    /// `flitwise.campaign-plan/1`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// Hash of all blocks and what they are to do, 64 hex digits.
    fingerprint: String,
    /// In the order in which one machine would come to them.
    blocks: Vec<Block>,
    /// Figures of channels in detail, which no store keeps: whoever writes the outputs simulates them.
    not_kept: Vec<String>,
}

/// What can be simulated independently of all else.
#[derive(Debug, Serialize, JsonSchema)]
struct Block {
    /// From 1.
    number: usize,
    /// Hash of its key in the store, 64 hex digits.
    key: String,
    /// Name of the scenario.
    scenario: String,
    /// Values that a study sets, coupled ones included.
    set: Vec<Setting>,
    /// How the switches work.
    organisation: String,
    /// Where all random numbers come from.
    seed: u64,
    /// Independent runs at first, of packet switches at most; a finer precision adds more.
    replications: u32,
    /// What is asked of it, one after another.
    goals: Vec<BlockGoal>,
    /// Who asks.
    asked_by: Vec<String>,
}

/// What decides when a simulation ends.
#[derive(Debug, Serialize, JsonSchema)]
struct BlockGoal {
    /// Wanted 95 % half-width of the network latency of the worst class, as a share of it.
    wanted_precision: f64,
    /// Messages measured after which to stop anyway.
    max_messages: u64,
}

pub(super) fn run(args: &CampaignPlan) -> Result<(), Exit> {
    let folder = Folder::at(&args.file);
    let session = if args.file.is_dir() {
        Session::of_folder(&folder, &Means::default())?
    } else {
        Session::read(&args.file, &folder, &Means::default())?
    };
    let document = document(&session);
    match args.format {
        Format::Json => output::write_json(&document),
        Format::Csv => csv(&document),
        Format::Table => output::write(table(&document, false).as_bytes()),
        Format::Markdown => output::write(table(&document, true).as_bytes()),
    }
}

fn document(session: &Session) -> CampaignPlanDocument {
    let blocks = session.plan.blocks.iter().enumerate();
    let detailed = |wanted: &[FigureRequest], of: &str| -> Vec<String> {
        let wanted =
            wanted.iter().filter(|one| one.figure.wants_details() && !one.figure.scenarios().is_empty());
        wanted.map(|one| format!("{of}figure {}", one.typed)).collect()
    };
    let mut not_kept = detailed(&session.file.figures, "");
    if let Some(ReportRequest { scope, .. }) = &session.report {
        not_kept.extend(detailed(&scope.figures, "report: "));
    }
    CampaignPlanDocument {
        schema: "flitwise.campaign-plan/1",
        flitwise_version: env!("CARGO_PKG_VERSION"),
        fingerprint: session.plan.fingerprint(),
        blocks: blocks.map(|(at, block)| Block::of(at + 1, block)).collect(),
        not_kept,
    }
}

impl Block {
    fn of(number: usize, block: &CampaignBlock) -> Self {
        let scenario = &block.scenario;
        let goals = block.goals.iter();
        Self {
            number,
            key: block.key.hash().to_owned(),
            scenario: scenario.spec().name.clone(),
            set: block.set.clone(),
            organisation: organisation(scenario),
            // an empty block has no goal
            seed: block.goals.first().map_or(0, |goal| goal.seed),
            replications: experiment::usual_replications(scenario),
            goals: goals
                .map(|goal| BlockGoal { wanted_precision: goal.precision, max_messages: goal.max_messages })
                .collect(),
            asked_by: block.askers.clone(),
        }
    }

    fn set_words(&self) -> String {
        let words = self.set.iter().map(|setting| format!("{}={}", setting.key, setting.value));
        words.collect::<Vec<_>>().join(" ")
    }

    fn precisions(&self, word: impl Fn(f64) -> String) -> String {
        let words = self.goals.iter().map(|goal| word(goal.wanted_precision));
        let mut words: Vec<String> = words.collect();
        words.dedup();
        words.join(", ")
    }

    fn max_messages(&self) -> String {
        let mut words: Vec<String> = self.goals.iter().map(|goal| goal.max_messages.to_string()).collect();
        words.dedup();
        words.join(", ")
    }
}

/// How the switches of a scenario work, in words.
fn organisation(scenario: &Scenario) -> String {
    match scenario.switch() {
        Some(switch) => format!("packets, {}", switch.organisation.word()),
        None => {
            let router = scenario.router();
            format!("wormhole, {}, {}", router.crossbar.word(), router.scheduler.word())
        }
    }
}

/// One row per block.
fn csv(document: &CampaignPlanDocument) -> Result<(), Exit> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    rows.write_record([
        "block",
        "key",
        "scenario",
        "set",
        "organisation",
        "seed",
        "replications",
        "wanted_precision",
        "max_messages",
        "asked_by",
    ])?;
    for block in &document.blocks {
        rows.write_record([
            &block.number.to_string(),
            &block.key,
            &block.scenario,
            &block.set_words(),
            &block.organisation,
            &block.seed.to_string(),
            &block.replications.to_string(),
            &block.precisions(|share| share.to_string()),
            &block.max_messages(),
            &block.asked_by.join(", "),
        ])?;
    }
    output::write_csv(rows)
}

fn table(document: &CampaignPlanDocument, markdown: bool) -> String {
    let heads = ["block", "scenario", "set", "organisation", "seed", "replications", "precision", "asked by"];
    let mut rows = Rows::new(&heads, markdown);
    for block in &document.blocks {
        rows.add([
            block.number.to_string(),
            block.scenario.clone(),
            block.set_words(),
            block.organisation.clone(),
            block.seed.to_string(),
            block.replications.to_string(),
            block.precisions(percent),
            asked_by(&block.asked_by),
        ]);
    }
    let mut text = rows.to_string();
    let count = document.blocks.len();
    let plural = if count == 1 { "block" } else { "blocks" };
    text.push_str(&format!("\n{count} {plural}\n"));
    if !document.not_kept.is_empty() {
        let names = document.not_kept.join(", ");
        let line =
            format!("simulated by whoever writes the outputs, as no store keeps channels in detail: {names}");
        text.push_str(&output::folded(&line));
    }
    text
}

/// The first who ask, and how many more there are.
fn asked_by(askers: &[String]) -> String {
    const SHOWN: usize = 2;
    match askers.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        Some(more) => format!("{} and {more} more", askers[..SHOWN].join(", ")),
        None => askers.join(", "),
    }
}
