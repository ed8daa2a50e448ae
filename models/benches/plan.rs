//! How long the largest load takes to be found: by both models, with a law and with means alone.

#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use flitwise_language::scenario::Preset;
use flitwise_models::design::max_load::Question;
use flitwise_models::design::{Judge, Requirement};
use flitwise_models::model::Model;

fn question(model: Model, typed: &[&str]) -> Question {
    let spec = Preset::find("router16").expect("a built-in scenario").scenario().spec().clone();
    let typed: Vec<String> = typed.iter().map(|one| (*one).to_owned()).collect();
    let requirements = Requirement::read_all("--require", &typed, &spec).expect("sound requirements");
    Question::new(Judge::new(Some(model), requirements), &spec, vec![0, 1]).expect("a sound question")
}

fn plan(c: &mut Criterion) {
    let mut group = c.benchmark_group("plan/max-load");
    group.sample_size(10);
    for model in Model::ALL {
        let law = question(model, &["R1: miss(47) <= 0.3", "BE: total <= 200"]);
        let means = question(model, &["BE: total <= 200"]);
        group.bench_function(format!("{model}, miss and total"), |b| b.iter(|| black_box(&law).answer()));
        group.bench_function(format!("{model}, total"), |b| b.iter(|| black_box(&means).answer()));
    }
    group.finish();
}

criterion_group!(benches, plan);
criterion_main!(benches);
