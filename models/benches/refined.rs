//! How long answers of the refined model take: router and 6-cube, with distributions and means alone.

#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use flitwise_models::model::{Model, Options};
use flitwise_models::scenario::{Preset, Scenario};

fn scenario(preset: &str) -> Scenario {
    Preset::find(preset).expect("a built-in scenario").scenario()
}

fn refined(c: &mut Criterion) {
    let with = |distributions| Options { distributions, saturation_loads: false, ..Options::default() };
    for preset in ["router16", "cube6"] {
        let scenario = scenario(preset);
        let mut group = c.benchmark_group(format!("refined/{preset}"));
        group.sample_size(20);
        group.bench_function("distributions", |b| b.iter(|| Model::Refined.solve(&scenario, &with(true))));
        group.bench_function("means", |b| b.iter(|| Model::Refined.solve(&scenario, &with(false))));
        group.bench_function("published", |b| b.iter(|| Model::Published.solve(&scenario, &with(true))));
        group.finish();
    }
}

criterion_group!(benches, refined);
criterion_main!(benches);
