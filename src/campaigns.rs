//! `flitwise campaign`: figures, claims, a report and studies, worked off by many processes.

mod file;
mod outputs;
mod plan;
mod run;
mod slurm;
mod status;
mod work;

use std::io;
use std::path::Path;

use flitwise_language::scenario::{Scenario, SourceSpec};
use flitwise_validation::campaign::{CampaignPlan, Folder, FolderError, Question, Stage};
use flitwise_validation::store::Store;

use crate::args::campaigns::CampaignCommand;
use crate::args::{self, CampaignArgs, Report, Theme};
use crate::campaign::Campaign;
use crate::figure::{self, FigureRequest};
use crate::outcome::Exit;
use crate::output;
use crate::report::{self, ReportScope};
use crate::verify::ClaimGroups;
use file::CampaignFile;

pub(crate) use outputs::StudyDocument;
pub(crate) use plan::CampaignPlanDocument;
pub(crate) use status::CampaignStatusDocument;

pub(crate) fn run(command: &CampaignCommand) -> Result<(), Exit> {
    match command {
        CampaignCommand::Plan(args) => plan::run(args),
        CampaignCommand::Run(args) => run::run(args),
        CampaignCommand::Work(args) => work::run(args),
        CampaignCommand::Status(args) => status::run(args),
        CampaignCommand::Template => output::write(slurm::TEMPLATE.as_bytes()),
    }
}

/// A campaign, read and planned.
struct Session {
    file: CampaignFile,
    /// How figures, claims and studies are simulated.
    campaign: Campaign,
    report: Option<ReportRequest>,
    plan: CampaignPlan,
    threads: Option<String>,
}

/// The pages of a report.
struct ReportRequest {
    args: Report,
    scope: ReportScope,
    campaign: Campaign,
}

/// How a session computes.
#[derive(Clone, Debug, Default)]
struct Means {
    threads: Option<String>,
    quiet: bool,
}

impl Session {
    /// Reads a campaign file and plans its blocks, or reports all that is wrong with it.
    fn read(path: &Path, folder: &Folder, means: &Means) -> Result<Self, Exit> {
        let file = CampaignFile::read(path)?;
        let campaign = Campaign::read(&file.args(means))?;
        let report = file.report.map(|kind| -> Result<ReportRequest, Exit> {
            let args = Report {
                out: folder.out().join("report"),
                quick: kind.is_quick(),
                paper: None,
                model: None,
                theme: Theme::Light,
                campaign: file.args(means),
            };
            let (scope, campaign) = (report::scope(&args)?, report::campaign(&args)?);
            Ok(ReportRequest { args, scope, campaign })
        });
        let report = report.transpose()?;
        let stages = stages(&file, &campaign, report.as_ref())?;
        let plan = CampaignPlan::of(&stages);
        Ok(Self { file, campaign, report, plan, threads: means.threads.clone() })
    }

    /// The campaign of a folder, whose version and blocks are checked.
    fn of_folder(folder: &Folder, means: &Means) -> Result<Self, Exit> {
        folder.check_version().map_err(|error| refused(&error))?;
        let session = Self::read(&folder.campaign_file(), folder, means)?;
        folder.check_plan(&session.plan.fingerprint()).map_err(|error| refused(&error))?;
        Ok(session)
    }

    /// The same with this store.
    fn with_store(self, store: &Store) -> Self {
        let report = self
            .report
            .map(|report| ReportRequest { campaign: report.campaign.with_store(store.clone()), ..report });
        Self { campaign: self.campaign.with_store(store.clone()), report, ..self }
    }
}

impl CampaignFile {
    /// The options of the ordinary commands that simulate as the file says.
    fn args(&self, means: &Means) -> CampaignArgs {
        args::CampaignArgs {
            precision: self.precision.clone(),
            seed: self.seed.clone(),
            max_messages: self.max_messages.clone(),
            store: None,
            no_store: true,
            fresh: false,
            threads: means.threads.clone(),
            quiet: means.quiet,
        }
    }
}

/// All that is simulated, in the order in which outputs are written.
fn stages(
    file: &CampaignFile,
    campaign: &Campaign,
    report: Option<&ReportRequest>,
) -> Result<Vec<Stage>, Exit> {
    let mut stages = vec![of_figures(&file.figures, campaign)];
    stages.extend(of_claims(&file.registry, campaign));
    if let Some(ReportRequest { scope, campaign, .. }) = report {
        stages.push(of_figures(&scope.figures, campaign));
        stages.extend(of_claims(&scope.registry, campaign));
    }
    for study in &file.studies {
        let question = |point: &file::StudyPoint| Question {
            asker: format!("study {}", study.name),
            set: point.set.clone(),
            scenario: point.scenario.clone(),
        };
        let questions = study.points.iter().map(question).collect();
        stages.push(Stage { settings: campaign.settings.clone(), questions });
    }
    let mut faults: Vec<String> = Vec::new();
    for question in stages.iter().flat_map(|stage| &stage.questions).filter(|one| has_trace(&one.scenario)) {
        let fault = format!(
            "{}: found messages of a trace, wanted drawn ones: no store keeps results of a trace\n  help: flitwise \
             simulate takes traces, one scenario at a time",
            question.asker
        );
        if !faults.contains(&fault) {
            faults.push(fault);
        }
    }
    if faults.is_empty() { Ok(stages) } else { Err(Exit::BadInput(faults)) }
}

fn has_trace(scenario: &Scenario) -> bool {
    scenario.classes().iter().any(|class| matches!(class.source, SourceSpec::Trace { .. }))
}

fn of_figures(figures: &[FigureRequest], campaign: &Campaign) -> Stage {
    let question = |(at, scenario): (usize, Scenario)| Question {
        asker: format!("figure {}", figures[at].typed),
        set: Vec::new(),
        scenario,
    };
    let questions = figure::kept_scenarios(figures).into_iter().map(question).collect();
    Stage { settings: campaign.settings.clone(), questions }
}

fn of_claims(registry: &flitwise_validation::claims::Registry, campaign: &Campaign) -> Vec<Stage> {
    let groups = ClaimGroups::of(registry, campaign).groups;
    let stage = |(precision, group): (f64, Vec<crate::verify::ClaimScenario>)| Stage {
        settings: campaign.settings_for(precision),
        questions: group
            .into_iter()
            .map(|one| Question {
                asker: format!("claim {}", registry.claims[one.claim].name),
                set: Vec::new(),
                scenario: one.scenario,
            })
            .collect(),
    };
    groups.into_iter().map(stage).collect()
}

/// What a folder cannot do: bad input, or an output that cannot be written.
fn refused(error: &FolderError) -> Exit {
    match error {
        FolderError::Io { source, .. } => Exit::Output(io::Error::new(source.kind(), error.to_string())),
        error if error.is_bad_input() => Exit::input(error.to_string()),
        error => Exit::Output(io::Error::other(error.to_string())),
    }
}
