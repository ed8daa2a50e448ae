//! What else answers a scenario that a model refuses.

use flitwise_experiment::{self as experiment, ReadFile};
use flitwise_language::scenario::Document;
use flitwise_models::model::{Failure, Model, Refusal};

/// The other model that answers it, or the simulator; traces are read by `read`.
pub fn other_ways(document: &Document, failure: &Failure, read: &ReadFile<'_>) -> Option<String> {
    let Failure::Refused { model, refusals } = failure else { return None };
    let scenario = document.scenario().ok()?;
    if model.supports(&scenario).is_ok() {
        return None;
    }
    let usual = if Model::usual(&scenario) == *model {
        format!("the {model} model is the default here; ")
    } else {
        String::new()
    };
    if let Some(other) = Model::ALL.into_iter().find(|other| other.supports(&scenario).is_ok()) {
        return Some(format!("{usual}--model {other} has it"));
    }
    let simulated = experiment::supports(&scenario, read).is_ok();
    simulated.then(|| {
        format!("{usual}no model has this {}; the simulator has: flitwise simulate", last_words(refusals))
    })
}

/// The last words of the refused keys.
fn last_words(refusals: &[Refusal]) -> String {
    let mut words: Vec<&str> = refusals.iter().filter_map(|one| one.key.rsplit('.').next()).collect();
    words.dedup();
    words.join(" and ")
}
