//! No key is silent: where a key of a scenario is changed, the answer of a model changes, or the model refuses the key,
//! or a note names it.

use std::collections::BTreeMap;

use flitwise_language::scenario::{Document, Place, Preset, Scenario};
use flitwise_models::answer::Answer;
use flitwise_models::model::{Model, Options};
use serde_json::Value;

use crate::drawn::{Draw, Keys};

type Settings = &'static [(&'static str, &'static str)];

/// Scenarios that are varied, with what turns tables on: a preset each, and settings.
const BASES: [(Model, &str, Settings); 21] = [
    (Model::Published, "router16", &[]),
    (Model::Published, "router16-on-off", &[]),
    (Model::Published, "cube5", &[]),
    (Model::Refined, "router16", &[]),
    (Model::Refined, "router16-on-off", &[]),
    (Model::Refined, "mesh4x4", &[]),
    (Model::Refined, "torus8x8", &[]),
    (Model::Refined, "fat-tree", &[]),
    (Model::Mediaworm, "mediaworm-quick", &[("mix.load", "0.6")]),
    (Model::RouterNic, "router-nic", &[("mix.load", "0.6")]),
    (Model::RouterNic, "router-nic", &[("mix.load", "0.6"), ("interface.kind", "qos")]),
    (Model::RouterNic, "router-nic", &[("mix.load", "0.4"), ("interface.kind", "traditional")]),
    (Model::Admission, "admission", &[]),
    (Model::Admission, "admission-video", &[]),
    (Model::Admission, "congestion", &[("congestion.return", "delivery"), ("congestion.credits", "4")]),
    (Model::Admission, "power", &[("class.RT.connections", REQUESTS)]),
    (Model::Recn, "recn64-quick", &[]),
    (Model::Recn, "recn64-quick", &[("switch.organisation", "one-queue")]),
    (Model::Recn, "recn64-quick", &[("switch.organisation", "four-queues")]),
    (Model::Recn, "recn64-quick", &[("switch.organisation", "voq-switch")]),
    (Model::Recn, "recn64-quick", &[("switch.organisation", "voq-network")]),
];

/// Connections that come and go.
const REQUESTS: &str = "{ mean = 0.02, request = \"poisson\", holding = 100000 }";

/// Values tried of each key.
const VALUES: u32 = 8;
/// Nodes of the largest network that is solved.
const MOST_NODES: u32 = 64;

/// What the reader uses itself: it changes what inputs mean or how outputs are printed.
const OF_THE_READER: [&str; 1] = ["units"];

/// Keys of which packet switches take the word only that holds without it.
const OF_ONE_WORD: [(Model, &str); 1] = [(Model::Recn, "interface.kind")];

/// Means are enough, and loads of saturation take long.
const OPTIONS: fn() -> Options =
    || Options { distributions: false, saturation_loads: false, ..Options::default() };

fn document(preset: &str, settings: &[(&str, &str)]) -> Document {
    let mut document = Preset::find(preset).unwrap().document();
    settings.iter().for_each(|(key, value)| document.set(key, value, &Place::Program).unwrap());
    document
}

/// What an answer says, but for the scenario, which it repeats, and the course of the iteration.
fn said(answer: &Answer) -> Value {
    let mut said = serde_json::to_value(answer).unwrap();
    ["scenario", "report", "notes"].iter().for_each(|field| said[field] = Value::Null);
    said
}

/// Whether a note names the key, a table that it stands in, or what it is about.
fn names(answer: &Answer, path: &str) -> bool {
    let mut parts = path.split('.').skip(if path.starts_with("class.") { 2 } else { 1 });
    let table = format!("[{}]", path.split('.').next().unwrap_or_default());
    let is_named = |part: &str| answer.notes.iter().any(|note| note.contains(part));
    is_named(&table) || parts.any(is_named)
}

/// Whether a key made a difference, of every value of it that a base takes; none where it takes none.
fn counts(base: &Base, path: &str, schema: &Value, draw: &mut Draw) -> Option<bool> {
    let mut found = None;
    for _ in 0..VALUES {
        let mut changed = document(base.preset, base.settings);
        let is_set = changed.set(path, &Keys::value(schema, draw), &Place::Program).is_ok();
        let Some(changed) = is_set.then(|| changed.scenario().ok()).flatten() else { continue };
        if changed == base.scenario || changed.topology().nodes() > MOST_NODES {
            continue;
        }
        let answer = base.model.solve(&changed, &OPTIONS());
        if answer.map_or(true, |answer| said(&answer) != base.said || names(&answer, path)) {
            return Some(true);
        }
        found = Some(false);
    }
    found
}

/// A scenario with the answer of a model.
struct Base {
    model: Model,
    preset: &'static str,
    settings: Settings,
    scenario: Scenario,
    said: Value,
}

#[test]
fn a_key_changes_the_answer_or_is_refused_or_named() {
    let (keys, mut draw) = (Keys::new(), Draw(7));
    // by model and key, of any class: whether it counts somewhere
    let mut found: BTreeMap<(Model, String), bool> = BTreeMap::new();
    for (model, preset, settings) in BASES {
        let scenario = document(preset, settings).scenario().unwrap();
        let said = said(&model.solve(&scenario, &OPTIONS()).unwrap());
        let classes: Vec<String> = scenario.classes().iter().map(|class| class.name.clone()).collect();
        let base = Base { model, preset, settings, scenario, said };
        for (path, schema) in keys.all(&classes) {
            let of_class = |name: &&String| path.starts_with(&format!("class.{name}."));
            let key = match classes.iter().find(of_class) {
                Some(name) => path.replacen(name.as_str(), "*", 1),
                None => path.clone(),
            };
            let is_known = found.get(&(model, key.clone())) == Some(&true);
            if !is_known && !OF_THE_READER.iter().any(|table| path.starts_with(table)) {
                let counts = counts(&base, &path, schema, &mut draw);
                found.extend(counts.map(|counts| ((model, key), counts)));
            }
        }
    }
    assert!(found.len() > 80, "{} keys varied", found.len());
    let silent: Vec<_> = found.iter().filter(|(_, counts)| !**counts).map(|(key, _)| key).collect();
    let silent: Vec<_> =
        silent.into_iter().filter(|(model, key)| !OF_ONE_WORD.contains(&(*model, key.as_str()))).collect();
    assert!(silent.is_empty(), "these keys change nothing: {silent:#?}");
}
