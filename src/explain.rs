//! `flitwise explain`: the derivation of an answer with the scenario's own numbers.
//!
//! One [`Derivation`] is made from the solver's record and written in the format asked for.

mod admission;
mod derivation;
mod diagram;
mod document;
mod equations;
mod formula;
mod html;
mod latex;
mod mediaworm;
mod published;
mod refined;
mod router_nic;
mod sections;
mod terminal;

use flitwise_language::scenario::{ClassKind, Document, Scenario};
use flitwise_models::answer::{Answer, ClassAnswer};
use flitwise_models::model::{Failure, Model, Options};
use flitwise_models::published::{Record, solve_recorded};

use crate::args::{DiagramKind, Explain, ExplainFormat};
use crate::outcome::Exit;
use crate::{input, output};
use derivation::{Chain, Derivation};
pub(crate) use document::ExplainDocument;
use document::Outcome;
use published::Subject;

/// What is asked for, checked.
struct Request {
    class: Option<usize>,
    link: usize,
    way: Option<(u32, u32)>,
}

pub(crate) fn run(args: &Explain) -> Result<(), Exit> {
    let document = input::document(&args.source)?;
    let scenario = input::scenario(&document)?;
    let asked = Request::read(args, &scenario)?;
    let options = Options { details: true, ..Options::default() };
    let model = model(args, &scenario);
    let (answer, record) = match model {
        Model::Published => solve_recorded(&scenario, &options),
        _ => (model.solve(&scenario, &options), None),
    };
    if let Some(kind) = args.diagram {
        return diagram(kind, &scenario, record.as_ref(), asked.link, &document, answer);
    }
    let (mut derivation, outcome) = match model {
        Model::Published => published(&scenario, &answer, record.as_ref(), &asked),
        _ => other(&scenario, &answer, model, asked.class),
    };
    let network = output::network(scenario.network());
    derivation.title = format!("{}: {network}, the {model} model explained", scenario.spec().name);
    if model == Model::Published {
        let beside = beside(&scenario, asked.class);
        derivation.section("Beside it").text(beside);
    }
    show(args, &scenario, (model, outcome), derivation)?;
    answer.map(|_| ()).map_err(|failure| input::failure(&document, &failure))
}

/// The model that is asked about, or the one made for the scenario if it has all of it.
fn model(args: &Explain, scenario: &Scenario) -> Model {
    let own = Model::made_for(scenario);
    let usual = || if own.supports(scenario).is_ok() { own } else { Model::usual(scenario) };
    args.model.unwrap_or_else(usual)
}

/// The explanation of a model that leaves no record beside its answer.
fn other(
    scenario: &Scenario,
    answer: &Result<Answer, Failure>,
    model: Model,
    only: Option<usize>,
) -> (Derivation, Outcome) {
    match answer {
        Ok(answer) => {
            let outcome = if answer.saturated { Outcome::Saturated } else { Outcome::Answered };
            let derivation = match model {
                Model::Refined => refined::derivation(scenario, answer, only),
                Model::Mediaworm => mediaworm::derivation(scenario, answer, only),
                Model::Admission => admission::derivation(scenario, answer, only),
                Model::RouterNic => router_nic::derivation(scenario, answer, only),
                _ => sections::derivation(scenario, answer, only),
            };
            (derivation, outcome)
        }
        Err(failure) => {
            let mut derivation = Derivation::default();
            let refused = failure.is_refusal();
            let head = if refused { "What is refused" } else { "No answer" };
            derivation.section(head).text(format!("{failure}."));
            (derivation, if refused { Outcome::Refused } else { Outcome::NotConverged })
        }
    }
}

/// Classes that are asked about, with their places in the scenario.
fn wanted(answer: &Answer, only: Option<usize>) -> Vec<(usize, &ClassAnswer)> {
    let classes = answer.classes.iter().enumerate();
    classes.filter(|(class, _)| only.is_none_or(|only| only == *class)).collect()
}

/// Why other schedulers are refused.
const NO_VTICKS: &str = " The equations of the paper are made for links that serve classes by their Vticks, (7); \
                         without them there is nothing to put numbers into.";

/// The explanation of the published model, whatever came of it.
fn published(
    scenario: &Scenario,
    answer: &Result<Answer, Failure>,
    record: Option<&Record>,
    asked: &Request,
) -> (Derivation, Outcome) {
    let mut derivation = match record {
        Some(record) => {
            let answer = answer.as_ref().ok();
            let Request { class: only, link, way } = *asked;
            Subject { scenario, answer, record, only, link, way }.derivation()
        }
        None => Derivation::default(),
    };
    let outcome = match answer {
        Ok(answer) if answer.saturated => Outcome::Saturated,
        Ok(_) => Outcome::Answered,
        Err(failure @ Failure::Refused { refusals, .. }) => {
            let for_scheduler = refusals.iter().any(|refusal| refusal.key == "router.scheduler");
            let because = if for_scheduler { NO_VTICKS } else { "" };
            derivation.section("What is refused").text(format!("{failure}.{because}"));
            Outcome::Refused
        }
        Err(Failure::NotConverged { .. }) => Outcome::NotConverged,
    };
    (derivation, outcome)
}

/// What the refined model says of the same scenario.
fn beside(scenario: &Scenario, only: Option<usize>) -> String {
    let options = Options { distributions: false, saturation_loads: false, ..Options::default() };
    let answer = match Model::Refined.solve(scenario, &options) {
        Ok(answer) => answer,
        Err(failure) => return format!("The refined model has no answer here: {failure}."),
    };
    let class = |(_, class): &(usize, &ClassAnswer)| {
        let total = match class.total_latency_cycles {
            Some(total) => format!("{total:.2} in all"),
            None => "no end of waiting".to_owned(),
        };
        let network = class.network_latency_cycles;
        let network = network.map_or("none".to_owned(), |cycles| format!("{cycles:.2}"));
        format!("{} {network} cycles in the network, {total}", class.name)
    };
    let classes: Vec<String> = wanted(&answer, only).iter().map(class).collect();
    format!(
        "The refined model, which follows the routers stage by stage and is nearer to the simulation, answers: {}.",
        classes.join("; ")
    )
}

fn show(
    args: &Explain,
    scenario: &Scenario,
    (model, outcome): (Model, Outcome),
    derivation: Derivation,
) -> Result<(), Exit> {
    match args.format {
        ExplainFormat::Terminal => output::write_coloured(&terminal::page(&derivation)),
        ExplainFormat::Latex => output::write(latex::page(&derivation).as_bytes()),
        ExplainFormat::Html => output::write(html::page(&derivation).as_bytes()),
        ExplainFormat::Json => {
            output::write_json(&ExplainDocument::new(model, scenario.spec().clone(), outcome, derivation))
        }
    }
}

/// The chain of a link alone.
fn diagram(
    kind: DiagramKind,
    scenario: &Scenario,
    record: Option<&Record>,
    link: usize,
    document: &Document,
    answer: Result<Answer, Failure>,
) -> Result<(), Exit> {
    let answer = answer.map_err(|failure| input::failure(document, &failure))?;
    let found = record.and_then(|record| Some((record, record.links.get(link)?)));
    let Some((record, link_record)) = found else {
        return Err(Exit::input(
            "--diagram: found no real-time class, wanted one at least: chains are theirs",
        ));
    };
    let explained = Subject { scenario, answer: Some(&answer), record, only: None, link, way: None };
    let members = record.classes.iter().filter(|class| class.kind == ClassKind::RealTime);
    let members = members.map(|class| scenario.classes()[class.class].name.clone()).collect();
    let chain = Chain { link: explained.link_name(link), chain: published::picture(link_record, members) };
    let text = match kind {
        DiagramKind::Svg => Some(html::picture_of(&chain)),
        DiagramKind::Dot => diagram::dot(&chain.chain),
    };
    let text = text.ok_or_else(|| {
        Exit::input("--diagram: found more than 4 real-time classes, wanted at most 4; svg has bars for more")
    })?;
    output::write(text.as_bytes())
}

impl Request {
    /// What is asked for, or all that is wrong with it.
    fn read(args: &Explain, scenario: &Scenario) -> Result<Self, Exit> {
        let mut faults = Vec::new();
        let class = args.class.as_ref().and_then(|name| {
            let found = scenario.classes().iter().position(|class| class.name == *name);
            if found.is_none() {
                let names: Vec<&str> = scenario.classes().iter().map(|class| class.name.as_str()).collect();
                faults.push(format!("--class: found \"{name}\", wanted one of {}", names.join(", ")));
            }
            found
        });
        let dimension = scenario.topology().as_hypercube().map(|cube| cube.dimension);
        let link = match (dimension, args.channel.as_str()) {
            (None, "0") => 0,
            (None, channel) => {
                faults.push(format!(
                    "--channel: found {channel} for a single router, which has one output link"
                ));
                0
            }
            (Some(dimension), "ejection") => dimension as usize,
            (Some(dimension), channel) => match channel.parse::<u32>() {
                Ok(channel) if channel < dimension => channel as usize,
                _ => {
                    faults.push(format!(
                        "--channel: found \"{channel}\", wanted 0 to {} or ejection",
                        dimension - 1
                    ));
                    0
                }
            },
        };
        let mut node = |flag: &str, text: &Option<String>| {
            let text = text.as_ref()?;
            let Some(dimension) = dimension else {
                faults.push(format!("{flag}: found a node for a single router, wanted a hypercube"));
                return None;
            };
            let digits = text.len() == dimension as usize && text.chars().all(|digit| "01".contains(digit));
            let number = u32::from_str_radix(text, 2).ok().filter(|_| digits);
            if number.is_none() {
                faults.push(format!(
                    "{flag}: found \"{text}\", wanted a node in {dimension} binary digits, such as {:0width$b}",
                    1,
                    width = dimension as usize
                ));
            }
            number
        };
        let (from, to) = (node("--from", &args.from), node("--to", &args.to));
        let way = from.zip(to);
        let model = model(args, scenario);
        if model != Model::Published && (args.diagram.is_some() || args.from.is_some()) {
            let found = format!(
                "--diagram, --from: found the {model} model, which has neither the chain nor rates by channel"
            );
            faults.push(format!("{found}\n  help: --model published has both"));
        }
        if faults.is_empty() { Ok(Self { class, link, way }) } else { Err(Exit::BadInput(faults)) }
    }
}

#[cfg(test)]
mod tests;
