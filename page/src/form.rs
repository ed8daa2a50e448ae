//! The form of a scenario: what can be changed, and from where to where sliders go.

use flitwise_language::scenario::{Document, FormField, FormValue, Scenario};
use flitwise_models::model::Model;

use crate::engine::{answering, document, to_simulate};
use crate::request::{AxisLine, Field, Form, ModelLine, NoAnswer};

/// Points of a curve.
const POINTS: usize = 30;
/// Steps of a slider over numbers that are not whole.
const STEPS: f64 = 200.0;

/// What a scenario's text is.
pub(crate) fn form(text: &str) -> Form {
    let checked = document(text).and_then(|document| {
        let scenario = document.scenario().map_err(|faults| NoAnswer::of(&faults))?;
        Ok((document, scenario))
    });
    let (document, scenario) = match checked {
        Ok(checked) => checked,
        Err(NoAnswer { fault, faults }) if faults.is_empty() => {
            let line =
                crate::request::FaultLine { line: None, column: None, key: String::new(), text: fault };
            return Form { faults: vec![line], ..Form::default() };
        }
        Err(NoAnswer { faults, .. }) => return Form { faults, ..Form::default() },
    };
    let fields = flitwise_language::scenario::form(&document);
    let network = scenario.spec().network.topology().name();
    Form {
        faults: Vec::new(),
        title: format!("{}: {network}", scenario.spec().name),
        models: models(&scenario),
        refusal: answering(&document, &scenario, None).err().map(|refusal| refusal.fault),
        not_simulated: to_simulate(&document).err().map(|refusal| refusal.fault),
        axes: axes(&document, &scenario, &fields),
        fields: fields.into_iter().map(Field::of).collect(),
    }
}

/// Models that have all of the scenario, the usual one first.
fn models(scenario: &Scenario) -> Vec<ModelLine> {
    let usual = Model::usual(scenario);
    let mut models: Vec<Model> =
        Model::ALL.into_iter().filter(|model| model.supports(scenario).is_ok()).collect();
    models.sort_by_key(|model| *model != usual);
    let line = |model: Model| ModelLine {
        name: model,
        about: model.described(),
        has_distributions: model.has_distributions(),
    };
    models.into_iter().map(line).collect()
}

impl Field {
    fn of(field: FormField) -> Self {
        let FormField { key, sentence, unit, value } = field;
        let plain = Self {
            key,
            sentence,
            unit,
            has_unit: false,
            number: None,
            least: None,
            most: None,
            from: 0.0,
            to: 0.0,
            step: 0.0,
            word: None,
            words: Vec::new(),
        };
        match value {
            FormValue::Word { value, words } => Self { word: Some(value), words, ..plain },
            FormValue::Number { value, range, is_whole, has_unit } => {
                let (least, most) = range.unwrap_or((0.0, f64::INFINITY));
                let (from, to) = span(value, least, most);
                let from = if is_whole || from <= 1e-3 * to { from } else { 0.0_f64.max(least) };
                let step = if is_whole { 1.0 } else { (to - from) / STEPS };
                let finite = |end: f64| Some(end).filter(|end| end.is_finite());
                let (least, most) = (range.and_then(|(least, _)| finite(least)), finite(most));
                Self { number: Some(value), least, most, from, to, step, has_unit, ..plain }
            }
        }
    }
}

/// From where to where a slider or an axis goes around a value: to a round number of more than twice its size.
fn span(value: f64, least: f64, most: f64) -> (f64, f64) {
    const ROUND: [f64; 7] = [1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0];
    let wanted = if value > 0.0 { 2.2 * value } else { 0.01 };
    let size = 10_f64.powf(wanted.log10().floor());
    let round = ROUND.into_iter().map(|one| rounded(one * size)).find(|round| *round >= wanted);
    let to = round.unwrap_or(wanted).min(most);
    let from = if least.is_finite() { least } else { 0.0 };
    (from.min(value), to.max(value).max(from))
}

/// Without the digits that a product of tens leaves.
fn rounded(number: f64) -> f64 {
    format!("{number:.3e}").parse().unwrap_or(number)
}

/// Axes along which the scenario can vary: rates first.
fn axes(document: &Document, scenario: &Scenario, fields: &[FormField]) -> Vec<AxisLine> {
    let mut axes: Vec<AxisLine> = fields.iter().filter_map(|field| axis(document, scenario, field)).collect();
    axes.sort_by_key(|axis| {
        !["rate", "load", "share"].iter().any(|last| axis.key.ends_with(&format!(".{last}")))
    });
    axes
}

fn axis(document: &Document, scenario: &Scenario, field: &FormField) -> Option<AxisLine> {
    let FormValue::Number { value, range: Some((least, most)), is_whole, has_unit: false } = field.value
    else {
        return None;
    };
    let (from, to) = span(value, least, most);
    let over = if is_whole {
        let from = from.max(1.0);
        let count = POINTS.min((to - from) as usize + 1);
        format!("{}={from}:{to}:{count}", field.key)
    } else {
        let first = rounded(to / POINTS as f64).max(least);
        format!("{}={first}:{to}:{POINTS}", field.key)
    };
    let couple = couplings(document, scenario, &field.key, value);
    Some(AxisLine { key: field.key.clone(), over, couple })
}

/// Ties that keep the proportion of loads of classes of one kind.
fn couplings(document: &Document, scenario: &Scenario, key: &str, value: f64) -> Vec<String> {
    let Some((class, last)) = key.strip_prefix("class.").and_then(|rest| rest.rsplit_once('.')) else {
        return Vec::new();
    };
    let own = scenario.classes().iter().find(|one| one.name == class);
    let Some(own) = own.filter(|_| ["rate", "load"].contains(&last) && value > 0.0) else {
        return Vec::new();
    };
    let others = scenario.classes().iter().filter(|one| one.kind == own.kind && one.name != class);
    let tie = |name: &str| {
        let other = format!("class.{name}.{last}");
        let number = document.number(&other).filter(|number| *number > 0.0)?;
        let ratio = value / number;
        Some(if ratio >= 1.0 {
            format!("{other}={key}/{}", rounded(ratio))
        } else {
            format!("{other}={key}*{}", rounded(number / value))
        })
    };
    others.filter_map(|one| tie(&one.name)).collect()
}
