//! How long answers take: `cargo bench`.

#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use flitwise_language::scenario::{
    ClassKind, ClassSpec, DeadlineSpec, HopDeadlines, NetworkSpec, Preset, Scenario, ScenarioSpec,
};
use flitwise_models::published::{Options, solve};

fn preset(name: &str) -> Scenario {
    Preset::find(name).expect("a built-in scenario").scenario()
}

/// An n-cube with the traffic of Figs. 7-14 and deadlines for every hop count.
fn cube(dimension: u32) -> Scenario {
    let mut spec = preset("cube6").spec().clone();
    spec.network = NetworkSpec::Hypercube { dimension, self_traffic: None };
    for class in spec.classes.iter_mut().filter(|class| class.kind == ClassKind::RealTime) {
        let deadlines = |hops: u32| HopDeadlines { hops, deadlines: vec![45 + 5 * hops, 50 + 5 * hops] };
        class.deadlines = (1..=dimension).map(|hops| DeadlineSpec::Hops(deadlines(hops))).collect();
    }
    spec.check().expect("a sound scenario")
}

/// Twelve real-time classes that load a link by about a half.
fn twelve_classes() -> Scenario {
    let class = |index: u32| ClassSpec {
        deadlines: vec![DeadlineSpec::Cycles(60)],
        ..ClassSpec::real_time(&format!("R{index}"), 0.0016 - 5e-5 * f64::from(index))
    };
    let spec = ScenarioSpec { classes: (1..=12).map(class).collect(), ..ScenarioSpec::default() };
    spec.check().expect("a sound scenario")
}

fn benches(criterion: &mut Criterion) {
    let all = Options::default();
    let means = Options { distributions: false, ..all };
    let mut bench = |name: &str, scenario: &Scenario, options: &Options| {
        criterion
            .bench_function(name, |b| b.iter(|| solve(black_box(scenario), options).expect("an answer")));
    };
    bench("router16, means", &preset("router16"), &means);
    bench("router16, with two deadlines and percentiles", &preset("router16"), &all);
    bench("router16-3rt, with two deadlines and percentiles", &preset("router16-3rt"), &all);
    bench("6-cube, means", &cube(6), &means);
    bench("6-cube, with deadlines for all hop counts", &cube(6), &all);
    bench("6-cube, three real-time classes", &preset("cube6-3rt"), &all);
    bench("10-cube, means", &cube(10), &means);
    bench("10-cube, with deadlines for all hop counts", &cube(10), &all);
    bench("16-cube, with deadlines for all hop counts", &cube(16), &all);
    bench("router, 12 real-time classes, means", &twelve_classes(), &means);
    bench("router, 12 real-time classes, with deadlines", &twelve_classes(), &all);

    let text = Preset::find("router16").expect("a built-in scenario").text;
    criterion.bench_function("router16, file read and checked", |b| {
        b.iter(|| Scenario::from_toml("router16.toml", black_box(text)).expect("a sound scenario"));
    });
    criterion.bench_function("10,000 router points in a row, with deadlines", |b| {
        let router = preset("router16");
        b.iter(|| {
            (1..=10_000).map(|step| router.with_rates_scaled(f64::from(step) / 1e4)).for_each(|scenario| {
                black_box(solve(&scenario, &all).expect("an answer"));
            });
        });
    });
}

criterion_group! {
    name = published;
    config = Criterion::default().sample_size(20).warm_up_time(std::time::Duration::from_millis(500));
    targets = benches
}
criterion_main!(published);
