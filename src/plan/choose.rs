//! `flitwise plan choose`.

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{Scenario, ScenarioSpec, Setting};
use flitwise_models::design::choose::{Advice, BestChoice, Check, Optimum, Question, Trial};
use flitwise_models::design::max_load::Place;
use flitwise_models::design::{Objective, Over};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::anchored::{self, IntervalEnd};
use super::confirm::{self, Confirmation};
use super::{PlanDocument, PlanRequest, SCHEMA, VERSION, faults, requirements, saturated};
use crate::anchoring::Account;
use crate::args::plan::Choose;
use crate::args::{Format, ModelChoice};
use crate::outcome::Exit;
use crate::output::{self, Page, Rows, Time, cycles, percent, share};
use crate::signals::{Background, Next, soon, unless_stopped};

/// The answer of `flitwise plan choose --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChooseDocument {
    /// `flitwise.plan/3`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// `choose`.
    plan: &'static str,
    /// Which model answers.
    model: ModelChoice,
    /// The scenario before any value was changed.
    #[serde(serialize_with = "ScenarioSpec::serialize_plainly")]
    scenario: ScenarioSpec,
    /// What is minimised or maximised.
    objective: Objective,
    /// Whether it is maximised.
    maximise: bool,
    /// Whether the values keep all requirements; else they are those least beyond.
    feasible: bool,
    /// What to do: take the values, or keep the starting scenario.
    advice: Advice,
    /// The values to take; none if the starting scenario is as good.
    chosen: Vec<Setting>,
    /// The best objective that was found \[cycles, or a share\]; `null` if there is no such number.
    value: Option<f64>,
    /// The objective of the starting scenario \[cycles, or a share\]; `null` if it breaks a requirement or has no such
    /// number.
    start_value: Option<f64>,
    /// By how much the objective moves over all values that were tried and keep the requirements, and the starting
    /// scenario, as a share of it.
    moves_share: Option<f64>,
    /// How sure it is, if values were searched in ranges.
    check: Option<Check>,
    /// How each requirement stands at the best that was found.
    requirements: Vec<Place>,
    /// The best of every combination of listed values, the last list varying fastest.
    tried: Vec<Trial>,
    /// Scenarios solved.
    evaluations: u32,
    /// The simulation's verdicts, if they were asked for.
    confirmed: Option<Vec<Confirmation>>,
    /// How the anchored model was anchored; other models leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    anchoring: Option<Account>,
    /// Whether it was interrupted: the best of the combinations that were tried, and of simulations those done.
    partial: bool,
    /// What one should know about this answer.
    notes: Vec<String>,
}

pub(super) fn run(args: &Choose) -> Result<(), Exit> {
    let asked = PlanRequest::read(&args.required);
    let (asked, campaign) = Exit::both(asked, confirm::campaign(&args.confirm))?;
    let (option, typed, maximise) = match (&args.minimise, &args.maximise) {
        (Some(typed), _) => ("--minimise", typed, false),
        (None, Some(typed)) => ("--maximise", typed, true),
        (None, None) => return Err(Exit::input("found no objective, wanted --minimise or --maximise")),
    };
    let objective = Objective::read(option, typed, asked.scenario.spec()).map_err(faults);
    let with = |objective: Objective| {
        Question::read(asked.judge.clone(), asked.document.clone(), &args.vary, objective, maximise)
            .map_err(Exit::BadInput)
    };
    let (objective, question) = match objective {
        Ok(objective) => (objective.clone(), with(objective)?),
        // what is wrong with the values is said with what is wrong with the objective
        Err(Exit::BadInput(mut found)) => {
            let stand_in = Objective { over: Over::Max, class: None, measure: Quantity::Margin.into() };
            if let Err(Exit::BadInput(more)) = with(stand_in) {
                found.extend(more);
            }
            return Err(Exit::BadInput(found));
        }
        Err(ended) => return Err(ended),
    };
    if campaign.is_some() {
        confirm::supported(&asked.scenario)?;
    }
    let mut account = None;
    let question = if asked.is_anchored {
        if !args.required.requirements.is_empty() {
            anchored::check(&asked)?;
        }
        let (required, campaign) = (&args.required, &args.confirm.campaign);
        let family = anchored::of_keys(required, campaign, &asked, &args.vary, &question)?;
        account = Some(family.account.clone());
        question.judged_by(family.judge(&asked.judge, IntervalEnd::Middle))
    } else {
        question
    };
    let (found, stopped) = best(question)?;
    if let Err(failure) = &found.best.judged.answer {
        return Err(asked.failure(failure));
    }
    let (confirmed, interrupted) = match &campaign {
        Some(campaign) if found.advice == Advice::Take && stopped.is_none() => {
            let scenario = &found.best.scenario;
            let at = [(1.0, Some(scenario.clone())), (confirm::BEYOND, beyond(scenario))];
            let (confirmed, interrupted) = confirm::run(campaign, &asked.judge, at)?;
            (Some(confirmed), interrupted)
        }
        _ => (None, false),
    };
    let mut document = document(&asked, objective, maximise, found, confirmed);
    document.partial = stopped.is_some() || interrupted;
    document.notes.extend(account.iter().flat_map(Account::remarks));
    document.anchoring = account;
    match args.required.format {
        Format::Json => output::write_json(&PlanDocument::Choose(&document)),
        Format::Csv => csv(&document),
        Format::Table | Format::Markdown => {
            output::write_coloured(&page(&document, args.required.format == Format::Markdown))
        }
    }?;
    match stopped {
        Some(place) => Err(Exit::InterruptedAt(place)),
        None => confirm::end(document.confirmed.as_deref(), interrupted),
    }
}

/// The best of all combinations; or, after an interruption, of those that were tried, and how many these are.
fn best(question: Question) -> Result<(BestChoice, Option<String>), Exit> {
    let (optima, stopped) = search(&question);
    let tried =
        format!("all {} combinations were tried, the best is not judged yet", question.combinations());
    // how far from saturation the best one is takes solves of its own
    let conclude = move || question.conclude(optima);
    match stopped {
        Some(place) => match soon(conclude).flatten() {
            Some(found) => Ok((found, Some(place))),
            None => Err(Exit::InterruptedAt(place)),
        },
        None => match unless_stopped(conclude) {
            Some(Some(found)) => Ok((found, None)),
            Some(None) => Err(Exit::input("--vary: found no combination that makes a scenario")),
            None => Err(Exit::InterruptedAt(tried)),
        },
    }
}

/// The best values of every combination, in order; and how far it came if it was interrupted.
fn search(question: &Question) -> (Vec<Optimum>, Option<String>) {
    let count = question.combinations();
    let own = question.clone();
    let mut background = Background::begin(move |sender| {
        (0..count).into_par_iter().for_each_with(sender, |sender, index| {
            // nobody receives it once a signal came
            let _ = sender.send((index, own.optimum(index)));
        });
    });
    let mut tried: Vec<(usize, Option<Optimum>)> = Vec::new();
    let stopped = loop {
        match background.next() {
            Next::Found(one) => tried.push(one),
            Next::Done => break None,
            Next::Stopped => break Some(format!("{} of {count} combinations were tried", tried.len())),
        }
    };
    tried.sort_by_key(|(index, _)| *index);
    (tried.into_iter().filter_map(|(_, optimum)| optimum).collect(), stopped)
}

/// All rates a little higher.
fn beyond(scenario: &Scenario) -> Option<Scenario> {
    let mut spec = scenario.spec().clone();
    spec.classes.iter_mut().for_each(|class| class.rate *= confirm::BEYOND);
    spec.check().ok()
}

fn document(
    asked: &PlanRequest,
    objective: Objective,
    maximise: bool,
    found: BestChoice,
    confirmed: Option<Vec<Confirmation>>,
) -> ChooseDocument {
    let best = found.best;
    let mut notes = Vec::new();
    if let Ok(answer) = &best.judged.answer {
        notes.extend(saturated(&best.scenario, &asked.judge, answer));
        notes.extend(answer.notes.iter().cloned());
    }
    if !found.feasible {
        notes.push("no values keep all requirements: these are the least beyond them".to_owned());
    }
    let keeps_start = matches!(found.advice, Advice::Keep | Advice::Flat);
    ChooseDocument {
        schema: SCHEMA,
        flitwise_version: VERSION,
        plan: "choose",
        model: if asked.is_anchored {
            ModelChoice::Anchored
        } else {
            asked.judge.model_of(&best.scenario).into()
        },
        scenario: asked.scenario.spec().clone(),
        objective,
        maximise,
        feasible: found.feasible,
        advice: found.advice,
        chosen: if keeps_start { Vec::new() } else { best.settings },
        value: best.objective,
        start_value: found.start,
        moves_share: found.moves,
        check: best.check,
        requirements: found.requirements,
        tried: found.tried,
        evaluations: found.evaluations,
        confirmed,
        anchoring: None,
        partial: false,
        notes,
    }
}

impl ChooseDocument {
    /// What is varied.
    fn keys(&self) -> impl Iterator<Item = String> {
        self.tried.iter().take(1).flat_map(|tried| &tried.set).map(|setting| setting.key.clone())
    }

    /// Why nothing is recommended, if nothing is.
    fn refrains(&self, number: impl Fn(Option<f64>) -> String) -> Option<String> {
        let start = number(self.start_value);
        match self.advice {
            Advice::Keep => Some(format!(
                "nothing is recommended: the starting scenario has {start}, and no values are better by more than 0.1 %"
            )),
            Advice::Flat => {
                let moves = percent(self.moves_share.unwrap_or(0.0));
                Some(format!("flat: moves the objective by {moves}; nothing is recommended"))
            }
            Advice::Take | Advice::None => None,
        }
    }
}

/// One row per combination; what does not exist is empty.
fn csv(document: &ChooseDocument) -> Result<(), Exit> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    let keys = document.keys();
    let unit = if document.objective.measure.quantity.is_share() { "share" } else { "cycles" };
    let objective = format!("objective_{unit}");
    rows.write_record(keys.chain([objective, "feasible".to_owned(), "nearest_requirement".to_owned()]))?;
    for tried in &document.tried {
        let values = tried.set.iter().map(|setting| setting.value.clone());
        let objective = tried.objective.map_or_else(String::new, |value| value.to_string());
        let nearest = tried.nearest.clone().unwrap_or_default();
        rows.write_record(values.chain([objective, tried.feasible.to_string(), nearest]))?;
    }
    output::write_csv(rows)
}

/// The most combinations that are printed in a page.
const MOST_ROWS: usize = 30;

fn page(document: &ChooseDocument, markdown: bool) -> String {
    let mut page = Page::new(markdown);
    let spec = &document.scenario;
    let network = output::network(&spec.network);
    let what = if document.maximise { "maximise" } else { "minimise" };
    page.title(&format!("{}: {network}, {} model, {what} {}", spec.name, document.model, document.objective));
    let number = |value: Option<f64>| match document.objective.measure.quantity.is_share() {
        true => share(value),
        false => cycles(value),
    };
    let keys: Vec<String> = document.keys().collect();
    let mut heads: Vec<&str> = keys.iter().map(String::as_str).collect();
    heads.extend(["objective", "requirements", ""]);
    let mut rows = Rows::new(&heads, markdown);
    let is_best = |tried: &Trial| {
        tried
            .set
            .iter()
            .map(|setting| &setting.value)
            .eq(document.chosen.iter().map(|setting| &setting.value))
    };
    let shown = |index: &usize| document.tried.len() <= MOST_ROWS || is_best(&document.tried[*index]);
    for index in (0..document.tried.len()).filter(shown) {
        let tried = &document.tried[index];
        let values = tried.set.iter().map(|setting| setting.value.clone());
        let held = if tried.feasible { "hold" } else { "broken" };
        let best = if is_best(tried) && document.advice == Advice::Take { "best" } else { "" };
        rows.add(values.chain([number(tried.objective), held.to_owned(), best.to_owned()]));
    }
    page.rows(&rows);
    if let Some(line) = document.refrains(number) {
        page.legend(&line);
    }
    page.section(
        "Requirements at the best",
        &requirements(&document.requirements, Time::of(&document.scenario), markdown),
    );
    if let Some(confirmed) = &document.confirmed {
        page.section("Simulated", &confirm::rows(confirmed, markdown));
    }
    let mut remarks = document.notes.clone();
    if let (Advice::Take, Some(_)) = (document.advice, document.start_value) {
        remarks.push(format!("the starting scenario has {}", number(document.start_value)));
    }
    // of what moves nothing, where it is lowest says nothing
    if let Some(check) = document.check.filter(|_| document.advice != Advice::Flat) {
        let Check { starts, agreeing_starts, improving_steps, is_local_optimum } = check;
        let local = if is_local_optimum {
            "no small step of any value is better"
        } else {
            "a small step is still better"
        };
        remarks.push(format!(
            "{agreeing_starts} of {starts} searches from different starts ended within 0.1 % of it, {improving_steps} \
             single steps improved it after them, and {local}"
        ));
    }
    remarks.extend(confirm::remark(document.confirmed.as_deref()));
    page.remarks(&remarks);
    let combinations = document.tried.len();
    let plural = if combinations == 1 { "combination" } else { "combinations" };
    page.end(&format!("{combinations} {plural}, {} scenarios solved", document.evaluations))
}
