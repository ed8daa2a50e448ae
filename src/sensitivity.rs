//! `flitwise sensitivity`.

mod anchored;
mod page;
mod tornado;

use std::path::Path;
use std::sync::mpsc::Sender;

use flitwise_language::document::{Fault, Place, nearest, one_of};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{Scenario, ScenarioSpec};
use flitwise_models::model::{Failure, Model};
use flitwise_models::sensitivity::{
    OneSided, Parameter, Request, Sensitivities, each_sensitivity, find_quantity,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Format, ModelChoice, Sensitivity};
use crate::outcome::Exit;
use crate::signals::{Background, Next};
use crate::{figure, input, output};
use anchored::Family;

/// The answer of `flitwise sensitivity --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SensitivityDocument {
    /// `flitwise.sensitivity/2`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// The scenario whose answer moves.
    #[serde(serialize_with = "ScenarioSpec::serialize_plainly")]
    scenario: ScenarioSpec,
    /// Whose answer it is.
    model: ModelChoice,
    /// Whether it was interrupted, so that parameters are missing.
    partial: bool,
    /// How it moves.
    #[serde(flatten)]
    found: Sensitivities,
}

pub(crate) fn run(args: &Sensitivity) -> Result<(), Exit> {
    let document = input::document(&args.source)?;
    let scenario = input::scenario(&document)?.explicit();
    let model = args.model.unwrap_or_else(|| Model::usual(&scenario).into());
    let request = request(args, model.model(), &scenario)?;
    let idle = if args.model == Some(ModelChoice::Anchored) {
        Vec::new()
    } else {
        args.campaign.idle(&args.anchors)
    };
    if !idle.is_empty() {
        return Err(Exit::BadInput(idle));
    }
    args.plot.as_deref().map_or(Ok(()), |path| crate::place::file("--plot", path))?;
    let family = if model == ModelChoice::Anchored {
        Model::Refined.supports(&scenario).map_err(|f| input::failure(&document, &f))?;
        Some(Family::learnt(args, &scenario, &request)?)
    } else {
        None
    };
    let found = search(model.model(), &scenario, &request, family.clone());
    let (found, stopped) = found.map_err(|f| input::failure(&document, &f))?;
    let Some(mut found) = found else {
        return Err(stopped.unwrap_or(Exit::Interrupted));
    };
    let mut remarks = Vec::new();
    if let Some(family) = &family {
        family.add_intervals(&request.classes, &mut found);
        remarks.clone_from(&family.remarks);
    }
    if args.plot.is_some() && stopped.is_some() {
        output::note("no picture is drawn: parameters are missing");
    }
    if let (Some(path), None) = (&args.plot, &stopped) {
        // total-latency, say, is drawn where it is asked for first
        let quantity =
            if args.quantities.is_empty() { Quantity::NetworkLatency } else { request.quantities[0] };
        tornado::write(&scenario, (model, &found), quantity, path)?;
    }
    match args.format {
        Format::Json => {
            let flitwise_version = env!("CARGO_PKG_VERSION");
            let schema = "flitwise.sensitivity/2";
            let scenario = scenario.spec().clone();
            let partial = stopped.is_some();
            let document = SensitivityDocument { schema, flitwise_version, scenario, model, partial, found };
            output::write_json(&document)
        }
        Format::Csv => csv(model, &found),
        Format::Table | Format::Markdown => {
            let markdown = args.format == Format::Markdown;
            output::write_coloured(&page::page(&scenario, (model, &found), remarks, markdown))
        }
    }?;
    stopped.map_or(Ok(()), Err)
}

/// What is known of the request, if anything, and how far it came if it was interrupted.
fn search(
    model: Model,
    scenario: &Scenario,
    request: &Request,
    family: Option<Family>,
) -> Result<(Option<Sensitivities>, Option<Exit>), Failure> {
    let (own, asked) = (scenario.clone(), request.clone());
    let mut background = Background::begin(move |sender: Sender<Result<Sensitivities, Failure>>| {
        // nobody receives it once a signal came
        let corrected = |by: Option<&Parameter>, scenario: &Scenario, answer| match &family {
            Some(family) => family.corrected(by, scenario, answer),
            None => answer,
        };
        let all = each_sensitivity(model, &own, &asked, &corrected, &mut |so_far| {
            let _ = sender.send(Ok(so_far.clone()));
        });
        let _ = sender.send(all);
    });
    let mut found: Option<Sensitivities> = None;
    loop {
        match background.next() {
            Next::Found(so_far) => found = Some(so_far?),
            Next::Done => return Ok((found, None)),
            Next::Stopped => {
                let done = found.as_ref().map_or(0, |found| found.parameters.len());
                let place = format!("{done} of {} parameters are there", request.parameters.len());
                return Ok((found, Some(Exit::InterruptedAt(place))));
            }
        }
    }
}

/// What is asked, or everything that is wrong with it.
fn request(args: &Sensitivity, model: Model, scenario: &Scenario) -> Result<Request, Exit> {
    let mut all = Request::all(scenario);
    all.quantities.retain(|quantity| !model.lacks(*quantity));
    let mut faults = Vec::new();
    let mut parameters: Vec<Parameter> = Vec::new();
    for key in &args.parameters {
        match Parameter::find(key, scenario) {
            Ok(parameter) if parameters.contains(&parameter) => {}
            Ok(parameter) => parameters.push(parameter),
            Err(fault) => faults.push(fault),
        }
    }
    let mut classes: Vec<usize> = Vec::new();
    for name in &args.classes {
        match scenario.classes().iter().position(|class| class.name == *name) {
            Some(class) if classes.contains(&class) => {}
            Some(class) => classes.push(class),
            None => faults.push(no_class(name, scenario)),
        }
    }
    let mut quantities: Vec<Quantity> = Vec::new();
    for word in &args.quantities {
        match find_quantity(word, scenario) {
            Ok(quantity) if quantities.contains(&quantity) => {}
            Ok(quantity) => quantities.push(quantity),
            Err(fault) => faults.push(fault),
        }
    }
    faults.extend(args.plot.as_deref().and_then(unknown_ending));
    if !faults.is_empty() {
        return Err(Exit::faults(&faults));
    }
    Ok(Request {
        parameters: if parameters.is_empty() { all.parameters } else { parameters },
        classes: if classes.is_empty() { all.classes } else { classes },
        quantities: if quantities.is_empty() { all.quantities } else { quantities },
    })
}

fn no_class(name: &str, scenario: &Scenario) -> Fault {
    let names = || scenario.classes().iter().map(|class| class.name.as_str());
    Fault {
        place: Place::Setting(format!("--class {name}").into()),
        key: String::new(),
        found: format!("no class \"{name}\""),
        wanted: format!("one of {}", one_of(names())),
        help: nearest(name, names()).map(|near| format!("did you mean {near}?")),
    }
}

fn unknown_ending(path: &Path) -> Option<Fault> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    (!ending.is_some_and(|ending| figure::ENDINGS.contains(&ending))).then(|| Fault {
        place: Place::Setting(format!("--plot {}", path.display()).into()),
        key: String::new(),
        found: ending.map_or_else(|| "no ending".to_owned(), |ending| format!("the ending \"{ending}\"")),
        wanted: format!("a file that ends in .{}", figure::ENDINGS.join(" or .")),
        help: None,
    })
}

/// One row per output and parameter; what does not exist is empty.
fn csv(model: ModelChoice, found: &Sensitivities) -> Result<(), Exit> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    rows.write_record([
        "model",
        "class",
        "quantity",
        "hops",
        "deadline_cycles",
        "value",
        "unit",
        "parameter",
        "parameter_value",
        "parameter_unit",
        "parameter_kind",
        "elasticity",
        "derivative",
        "derivative_unit",
        "elasticity_below",
        "elasticity_above",
        "derivative_below",
        "derivative_above",
        "method",
        "step_percent",
        "elasticity_error_estimate",
        "reason",
        "value_half_width_95",
        "elasticity_half_width_95",
    ])?;
    let real = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
    let count = |number: Option<u32>| number.map_or_else(String::new, |number| number.to_string());
    for output in &found.outputs {
        for (parameter, sensitivity) in found.parameters.iter().zip(&output.sensitivities) {
            let side = |side: Option<OneSided>, of: fn(OneSided) -> Option<f64>| real(side.and_then(of));
            let (below, above) = (sensitivity.below, sensitivity.above);
            rows.write_record([
                model.to_string(),
                output.class.clone(),
                output.measure.quantity.word().to_owned(),
                count(output.measure.hops),
                count(output.measure.deadline_cycles),
                real(output.value),
                output.unit.clone(),
                parameter.key.clone(),
                real(parameter.value),
                parameter.unit.clone(),
                parameter.kind.word().to_owned(),
                real(sensitivity.elasticity),
                real(sensitivity.derivative),
                sensitivity.derivative_unit.clone(),
                side(below, |side| side.elasticity),
                side(above, |side| side.elasticity),
                side(below, |side| side.derivative),
                side(above, |side| side.derivative),
                sensitivity.method.word().to_owned(),
                real(sensitivity.step_percent),
                real(sensitivity.error_estimate),
                sensitivity.reason.clone().unwrap_or_default(),
                real(output.value_half_width_95),
                real(sensitivity.elasticity_half_width_95),
            ])?;
        }
    }
    output::write_csv(rows)
}
