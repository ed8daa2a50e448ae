//! What a correction adds to an answer of the refined model, five anchors being known: beside it the model's answer
//! alone and the anchored one, each from the scenario.

#![allow(missing_docs)]

use std::hint::black_box;
use std::sync::atomic::AtomicBool;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use flitwise_experiment::Settings;
use flitwise_language::scenario::{Preset, Scenario};
use flitwise_models::model::{Model, Options};
use flitwise_validation::anchored::{Anchor, Anchored, Place};
use flitwise_validation::campaign;
use flitwise_validation::machine::Machine;

fn anchored(c: &mut Criterion) {
    let scenario = Preset::find("router16").expect("a built-in scenario").scenario();
    let options = Options { saturation_loads: false, ..Options::default() };
    let solve = |scenario: &Scenario| Model::Refined.solve(scenario, &options).expect("an answer");
    let at = [0.0, 0.25, 0.5, 0.75, 1.0];
    let scenarios = at.map(|at| scenario.with_rates_scaled(0.3 + 0.7 * at));
    let settings = Settings { precision: 0.05, max_messages: 50_000, ..Settings::default() };
    let (machine, never) = (Machine::default(), AtomicBool::new(false));
    let found = campaign::run(&scenarios, &settings, None, &machine.host(&never), &mut ())
        .expect("it can be simulated");
    let anchor = |((at, scenario), simulation): ((f64, &Scenario), _)| {
        let place = Place { at: vec![at], scenario: scenario.clone(), model: solve(scenario) };
        Anchor { place, simulation }
    };
    let simulations = found.simulations.into_iter().flatten();
    let anchors: Vec<Anchor> = at.into_iter().zip(&scenarios).zip(simulations).map(anchor).collect();
    let between = scenario.with_rates_scaled(0.58);
    let answer = solve(&between);
    let learnt = Anchored::learnt(anchors.clone());

    let mut group = c.benchmark_group("anchored/router16");
    group.sample_size(20);
    group.bench_function("learning from five anchors", |b| {
        b.iter(|| Anchored::learnt(black_box(anchors.clone())))
    });
    group.bench_function("correction of an answer", |b| {
        b.iter_batched(|| answer.clone(), |answer| learnt.correct(&[0.4], answer), BatchSize::SmallInput);
    });
    group.bench_function("the refined model alone", |b| b.iter(|| solve(black_box(&between))));
    group.bench_function("an answer between anchors", |b| {
        b.iter(|| learnt.correct(&[0.4], solve(black_box(&between))));
    });
    group.finish();
}

criterion_group!(benches, anchored);
criterion_main!(benches);
