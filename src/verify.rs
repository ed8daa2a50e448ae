//! `flitwise verify`.

use std::path::{Path, PathBuf};

use flitwise_experiment::answer::Simulation;
use flitwise_language::scenario::Scenario;
use flitwise_validation::claims::{Claim, Judgement, Kind, Origin, Registry, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Format, Verify};
use crate::campaign::Campaign;
use crate::input;
use crate::outcome::Exit;
use crate::output::{self, Rows, folded, percent};

/// The answer of `flitwise verify --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct VerifyDocument {
    /// `flitwise.verify/1`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// Where all random numbers come from.
    seed: u64,
    /// Wanted 95 % half-width of the network latency of the worst class, as a share of it.
    wanted_precision: f64,
    /// Whether it was interrupted; claims that were not simulated are missing.
    pub(crate) partial: bool,
    /// Simulations behind the claims, one per claim and scenario.
    simulations: usize,
    /// Those that rest on more replications than were asked for: the store had them.
    more_than_asked: usize,
    /// How many there are of each.
    summary: Summary,
    /// The claims, in the order of the registry.
    claims: Vec<ClaimReport>,
}

/// How many there are of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Summary {
    /// Claims that hold.
    held: usize,
    /// Claims that do not.
    not_held: usize,
    /// Claims of which one cannot tell.
    undecided: usize,
    /// Claims, held or not, whose verdict is another than expected.
    changed: usize,
}

/// A claim and what came of it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ClaimReport {
    /// Its name in the registry.
    pub(crate) name: String,
    /// The claim, in a sentence.
    pub(crate) text: String,
    /// Who says so, and where.
    pub(crate) source: String,
    /// What is claimed.
    #[serde(flatten)]
    kind: Kind,
    /// Whether the claim is that this is not so.
    negated: bool,
    /// Whose numbers are judged; of an agreement the model that the simulation is to agree with.
    pub(crate) by: Origin,
    /// What is expected to come out.
    expected: Verdict,
    /// Why, where it is not expected to hold.
    pub(crate) reason: Option<String>,
    /// What came out.
    #[serde(flatten)]
    pub(crate) judgement: Judgement,
}

impl ClaimReport {
    fn of(claim: &Claim, simulations: &[Simulation]) -> Self {
        Self {
            name: claim.name.clone(),
            text: claim.text.clone(),
            source: claim.source.clone(),
            kind: claim.kind,
            negated: claim.negated,
            by: claim.by,
            expected: claim.expected,
            reason: claim.reason.clone(),
            judgement: claim.judge(simulations),
        }
    }

    /// Whether that was expected.
    pub(crate) fn state(&self) -> &'static str {
        match self.judgement.verdict {
            Verdict::Undecided => "OPEN",
            verdict if verdict == self.expected => "expected",
            _ => "CHANGED",
        }
    }
}

pub(crate) fn run(args: &Verify) -> Result<(), Exit> {
    let (campaign, registry) = Exit::both(Campaign::read(&args.campaign), registry(args))?;
    let document = document(&registry, &campaign)?;
    write(&document, args.format)?;
    if document.partial {
        return Err(Exit::Interrupted);
    }
    match document.summary {
        Summary { changed: 0, undecided: 0, .. } => Ok(()),
        Summary { changed, undecided, .. } => {
            let verdicts = if changed == 1 { "verdict has" } else { "verdicts have" };
            let is = if undecided == 1 { "is" } else { "are" };
            Err(Exit::Differs(format!("{changed} {verdicts} changed, {undecided} {is} undecided")))
        }
    }
}

/// What came of a registry, as a document.
pub(crate) fn document(registry: &Registry, campaign: &Campaign) -> Result<VerifyDocument, Exit> {
    let RegistryReport { claims, simulations, more_than_asked, partial } = judged(registry, campaign)?;
    Ok(VerifyDocument {
        schema: "flitwise.verify/1",
        flitwise_version: env!("CARGO_PKG_VERSION"),
        seed: campaign.settings.seed,
        wanted_precision: campaign.settings.precision,
        partial,
        simulations,
        more_than_asked,
        summary: summary(&claims),
        claims,
    })
}

/// The claims to check, or everything that is wrong with them.
fn registry(args: &Verify) -> Result<Registry, Exit> {
    let mut registry = match args.files.as_slice() {
        [] => Registry::built_in(),
        files => from_files(files)?,
    };
    if !args.only.is_empty() {
        registry.keep_named(&args.only).map_err(|unknown| {
            let message = |(name, near): (String, Option<String>)| {
                let help = near.map_or_else(
                    || "flitwise verify --quick prints names".to_owned(),
                    |near| format!("did you mean {near}?"),
                );
                format!("--only {name}: found no claim of that name\n  help: {help}")
            };
            Exit::BadInput(unknown.into_iter().map(message).collect())
        })?;
    }
    if args.quick {
        registry.claims.retain(|claim| claim.quick);
    }
    if let Some(model) = args.model {
        registry.claims.iter_mut().for_each(|claim| claim.set_model(model));
    }
    if registry.claims.is_empty() {
        let found = "found no claim to check";
        let wanted = if args.quick { "wanted one with quick = true" } else { "wanted [[claim]] tables" };
        return Err(Exit::input(format!("{found}, {wanted}")));
    }
    Ok(registry)
}

fn from_files(files: &[PathBuf]) -> Result<Registry, Exit> {
    let mut registry = Registry::default();
    let mut faults = Vec::new();
    for path in files {
        match from_file(path) {
            Ok(more) => {
                if let Err(twice) = registry.join(more) {
                    let message = |name| {
                        format!("{}: found a second claim {name}, wanted a name of its own", path.display())
                    };
                    faults.extend(twice.into_iter().map(message));
                }
            }
            Err(Exit::BadInput(found)) => faults.extend(found),
            Err(other) => return Err(other),
        }
    }
    if faults.is_empty() { Ok(registry) } else { Err(Exit::BadInput(faults)) }
}

fn from_file(path: &Path) -> Result<Registry, Exit> {
    let (name, text) = input::read(path)?;
    // scenario files are named from where the registry is
    let folder = path.parent().unwrap_or(Path::new(""));
    let load = |file: &str| input::named_in(&name, folder, file);
    Registry::from_toml(&name, &text, &load).map_err(|faults| Exit::faults(&faults))
}

/// What came of a registry.
pub(crate) struct RegistryReport {
    /// Claims whose simulations are complete, in the order of the registry.
    pub(crate) claims: Vec<ClaimReport>,
    /// Simulations behind them.
    simulations: usize,
    /// Those that rest on more than was asked for.
    more_than_asked: usize,
    /// Whether it was interrupted.
    pub(crate) partial: bool,
}

/// The scenarios that claims want simulated, by precision.
pub(crate) struct ClaimGroups {
    /// The precision of each claim, and how many scenarios it has.
    wanted: Vec<(f64, usize)>,
    /// By precision, the coarse ones first: what they find is the beginning of the fine ones.
    pub(crate) groups: Vec<(f64, Vec<ClaimScenario>)>,
}

/// A scenario that a claim wants simulated.
pub(crate) struct ClaimScenario {
    /// Its place in the registry.
    pub(crate) claim: usize,
    pub(crate) scenario: Scenario,
}

impl ClaimGroups {
    pub(crate) fn of(registry: &Registry, campaign: &Campaign) -> Self {
        let usual = campaign.settings.precision;
        let mut wanted = Vec::with_capacity(registry.claims.len());
        let mut groups: Vec<(f64, Vec<ClaimScenario>)> = Vec::new();
        for (claim, one) in registry.claims.iter().enumerate() {
            let precision = one.precision.map_or(usual, |own| own.min(usual));
            let scenarios = one.scenarios();
            wanted.push((precision, scenarios.len()));
            let scenarios = scenarios.into_iter().map(|scenario| ClaimScenario { claim, scenario });
            match groups.iter_mut().find(|(of_group, _)| *of_group == precision) {
                Some((_, group)) => group.extend(scenarios),
                None => groups.push((precision, scenarios.collect())),
            }
        }
        groups.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        Self { wanted, groups }
    }
}

/// Every claim that could be judged, and whether the simulation was interrupted.
pub(crate) fn judged(registry: &Registry, campaign: &Campaign) -> Result<RegistryReport, Exit> {
    let ClaimGroups { wanted, groups } = ClaimGroups::of(registry, campaign);
    let precisions: Vec<f64> = groups.iter().map(|(precision, _)| *precision).collect();
    let bare = |group: Vec<ClaimScenario>| group.into_iter().map(|one| one.scenario).collect();
    let groups: Vec<(f64, Vec<Scenario>)> =
        groups.into_iter().map(|(precision, group)| (precision, bare(group))).collect();
    let slices: Vec<(f64, &[Scenario])> =
        groups.iter().map(|(precision, scenarios)| (*precision, scenarios.as_slice())).collect();
    let outcomes = campaign.run_each(&slices).map_err(|faults| Exit::faults(&faults))?;
    let partial = outcomes.iter().any(|outcome| outcome.interrupted);

    let mut found: Vec<_> = outcomes.into_iter().map(|outcome| outcome.simulations.into_iter()).collect();
    let (mut claims, mut simulated, mut more_than_asked) = (Vec::new(), 0, 0);
    for (claim, (precision, scenarios)) in registry.claims.iter().zip(&wanted) {
        let group = precisions.iter().position(|one| one == precision).expect("made from the same claims");
        let of_claim: Vec<Option<Simulation>> = found[group].by_ref().take(*scenarios).collect();
        let complete: Option<Vec<Simulation>> = of_claim.into_iter().collect();
        let Some(simulations) = complete else { continue };
        simulated += simulations.len();
        more_than_asked += simulations.iter().filter(|one| one.run.more_than_asked).count();
        claims.push(ClaimReport::of(claim, &simulations));
    }
    Ok(RegistryReport { claims, simulations: simulated, more_than_asked, partial })
}

pub(crate) fn summary(claims: &[ClaimReport]) -> Summary {
    let count = |verdict| claims.iter().filter(|claim| claim.judgement.verdict == verdict).count();
    Summary {
        held: count(Verdict::Held),
        not_held: count(Verdict::NotHeld),
        undecided: count(Verdict::Undecided),
        changed: claims.iter().filter(|claim| claim.state() == "CHANGED").count(),
    }
}

fn write(document: &VerifyDocument, format: Format) -> Result<(), Exit> {
    match format {
        Format::Json => output::write_json(document),
        Format::Csv => output::write(&csv(document)?),
        Format::Table => output::write_coloured(&table(document)),
        Format::Markdown => output::write(markdown(document).as_bytes()),
    }
}

/// One row per claim.
pub(crate) fn csv(document: &VerifyDocument) -> Result<Vec<u8>, Exit> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    rows.write_record(["name", "verdict", "expected", "kind", "by", "measured", "source", "text", "reason"])?;
    for claim in &document.claims {
        rows.write_record([
            claim.name.as_str(),
            claim.judgement.verdict.word(),
            claim.expected.word(),
            claim.kind.word(),
            claim.by.word(),
            claim.judgement.measured.as_str(),
            claim.source.as_str(),
            claim.text.as_str(),
            claim.reason.as_deref().unwrap_or_default(),
        ])?;
    }
    output::csv_bytes(rows)
}

/// One line per claim, however long, so that lines can be searched; then what does not hold.
fn table(document: &VerifyDocument) -> String {
    let longest = |of: &dyn Fn(&ClaimReport) -> usize| document.claims.iter().map(of).max().unwrap_or(0);
    let names = longest(&|claim| claim.name.chars().count());
    let sources = longest(&|claim| claim.source.chars().count());
    let mut text = String::new();
    for claim in &document.claims {
        let ClaimReport { name, source, judgement, .. } = claim;
        let (state, verdict) = (claim.state(), judgement.verdict.word());
        let colour = match (state, judgement.verdict) {
            ("expected", Verdict::Held) => anstyle::AnsiColor::Green.on_default(),
            ("expected", _) => anstyle::AnsiColor::Yellow.on_default(),
            _ => anstyle::AnsiColor::Red.on_default().bold(),
        };
        let measured = &judgement.measured;
        text.push_str(&format!(
            "{name:names$}  {colour}{verdict:9}  {state:8}{colour:#}  {source:sources$}  {measured}\n"
        ));
    }
    let remarks = remarks(document);
    if !remarks.is_empty() {
        text.push('\n');
    }
    for remark in remarks {
        text.push_str(&folded(&remark));
    }
    text.push_str(&format!("\n{}\n", account(document)));
    text
}

pub(crate) fn markdown(document: &VerifyDocument) -> String {
    let mut rows = Rows::new(&["claim", "verdict", "", "source", "measured"], true);
    for claim in &document.claims {
        rows.add([
            claim.name.clone(),
            claim.judgement.verdict.word().to_owned(),
            claim.state().to_owned(),
            claim.source.clone(),
            claim.judgement.measured.clone(),
        ]);
    }
    let remarks: Vec<String> = remarks(document).iter().map(|remark| format!("- {remark}\n")).collect();
    let gap = if remarks.is_empty() { "" } else { "\n" };
    format!("{rows}{gap}{}\n{}\n", remarks.concat(), account(document))
}

/// What does not hold, and why, or what was claimed if nobody has said why.
fn remarks(document: &VerifyDocument) -> Vec<String> {
    let remark = |claim: &ClaimReport| {
        let ClaimReport { name, text, expected, reason, .. } = claim;
        match (claim.state(), reason) {
            ("expected", _) if claim.judgement.verdict == Verdict::Held => None,
            ("expected", Some(reason)) => Some(format!("{name}: {text} Not held: {reason}")),
            (state, _) => Some(format!("{name}: {state}, expected {}: {text}", expected.word())),
        }
    };
    let more = (document.more_than_asked > 0).then(|| {
        format!(
            "{} of {} simulations rest on more replications than their claim asks for, kept from before or simulated \
             for other claims; --fresh takes those asked for alone",
            document.more_than_asked, document.simulations
        )
    });
    document.claims.iter().filter_map(remark).chain(more).collect()
}

fn account(document: &VerifyDocument) -> String {
    let Summary { held, not_held, undecided, changed } = document.summary;
    let claims = held + not_held + undecided;
    let (seed, precision) = (document.seed, percent(document.wanted_precision));
    let plural = if claims == 1 { "claim" } else { "claims" };
    let as_expected = claims - changed - undecided;
    format!(
        "{claims} {plural}: {held} held, {not_held} not held, {undecided} undecided; {as_expected} as expected, \
         {changed} changed; seed {seed}, precision {precision}"
    )
}
