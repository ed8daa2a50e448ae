//! How long answers of the refined model take: router and 6-cube, with distributions and means alone, ten points of a
//! sweep on end, and scenarios that are saturated; then meshes, tori, their channel loads, and streams of frames; and
//! trees of 2,048 hosts, whose ways are followed anew for each answer; a full traffic matrix of 1,024 nodes, read and
//! followed; and the recn model on large trees.

#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use flitwise_language::scenario::{NetworkSpec, Preset, Radix, Scenario};
use flitwise_models::model::{Model, Options};
use flitwise_models::paths::ChannelLoads;

/// Ten points of a sweep over the load.
fn sweep(points: &[Scenario], options: &Options) {
    for scenario in points {
        Model::Refined.solve(scenario, options).expect("a scenario that has an answer");
    }
}

/// The scenario at so many times its load.
fn loaded(scenario: &Scenario, factor: f64) -> Scenario {
    let mut spec = scenario.spec().clone();
    for class in &mut spec.classes {
        class.rate *= factor;
    }
    spec.check().expect("a sound scenario")
}

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
        let points: Vec<Scenario> =
            (0..10).map(|point| scenario.with_rates_scaled(0.55 + 0.05 * f64::from(point))).collect();
        for (name, distributions) in [("distributions", true), ("means", false)] {
            let name = format!("sweep of ten {name}");
            group.bench_function(name, |b| b.iter(|| sweep(&points, &with(distributions))));
        }
        let full = loaded(&scenario, 2.5);
        let options = Options { saturation_loads: true, ..with(false) };
        group.bench_function("saturated", |b| b.iter(|| Model::Refined.solve(&full, &options)));
        group.finish();
    }
}

/// Two levels of switches of 64 ports. Ways are kept by thread, so each answer has a thread of its own.
fn trees(c: &mut Criterion) {
    let options = Options { distributions: false, saturation_loads: false, ..Options::default() };
    let mut group = c.benchmark_group("2,048 hosts");
    group.sample_size(10);
    for routing in ["d-mod-k", "s-mod-k", "random-up", "adaptive-up"] {
        let text = format!(
            "[network]\ntopology = 'fat-tree'\nlevels = 2\nradix = 64\nrouting = '{routing}'\n\
             [[class]]\nname = 'BE'\nkind = 'best-effort'\nrate = 0.02\nmessage_flits = 16\n"
        );
        let scenario = Scenario::from_toml("tree", &text).expect("a sound scenario");
        let anew = || Model::Refined.solve(&scenario, &options).is_ok();
        group.bench_function(routing, |b| {
            b.iter(|| assert!(std::thread::scope(|scope| scope.spawn(anew).join().expect("an answer"))));
        });
    }
    group.finish();
}

/// A weight for each pair of 1,024 nodes: the reader, and the loads of links that follow.
fn matrices(c: &mut Criterion) {
    const NODES: u64 = 1024;
    let pairs =
        (0..NODES).flat_map(|from| (0..NODES).map(move |to| (from, to))).filter(|(from, to)| from != to);
    let row = |(from, to): (u64, u64)| format!("{from},{to},{}\n", 1 + (from * 7919 + to * 104_729) % 997);
    let rows: String = pairs.map(row).collect();
    let text = format!(
        "[network]\ntopology = 'fat-tree'\nlevels = 2\ndown = [32, 32]\nup = [32]\n[[class]]\nname = 'BE'\n\
         kind = 'best-effort'\nload = 0.4\n\
         destination = {{ matrix = \"\"\"\nsource,destination,weight\n{rows}\"\"\" }}\n"
    );
    let read = || Scenario::from_toml("matrix", &text).expect("a sound scenario");
    let mut group = c.benchmark_group("full matrix of 1,024 nodes");
    group.sample_size(10);
    group.bench_function("read", |b| b.iter(read));
    let scenario = read();
    group.bench_function("channel loads", |b| b.iter(|| ChannelLoads::of(&scenario)));
    group.finish();
}

/// Packet switches on trees of 2,048, 3,564 and 8,192 hosts. Loads are kept by thread, so each answer has its own.
fn fabrics(c: &mut Criterion) {
    let mut group = c.benchmark_group("recn");
    group.sample_size(10);
    for preset in ["ndr-2048", "summit", "leaf-spine"] {
        let scenario = scenario(preset);
        let anew = || Model::Recn.solve(&scenario, &Options::default()).is_ok();
        group.bench_function(preset, |b| {
            b.iter(|| assert!(std::thread::scope(|scope| scope.spawn(anew).join().expect("an answer"))));
        });
    }
    group.finish();
}

fn networks(c: &mut Criterion) {
    let with = |distributions| Options { distributions, saturation_loads: false, ..Options::default() };
    let mut group = c.benchmark_group("networks");
    group.sample_size(20);
    for (preset, distributions) in [("torus8x8", false), ("mesh4x4", true)] {
        let scenario = scenario(preset);
        let name = format!("{preset}, {}", if distributions { "distributions" } else { "means" });
        group.bench_function(name, |b| b.iter(|| Model::Refined.solve(&scenario, &with(distributions))));
    }
    let mut spec = scenario("torus8x8").spec().clone();
    let radix = Radix::of(&[64, 64]).expect("two dimensions");
    spec.network =
        NetworkSpec::Torus { radix, dimensions: None, nodes_per_router: 1, links: 1, self_traffic: None };
    spec.classes.iter_mut().for_each(|class| class.rate /= 8.0);
    let large = spec.check().expect("a sound scenario");
    group.bench_function("64x64 torus, channel loads", |b| b.iter(|| ChannelLoads::of(&large)));
    group.finish();
}

/// Streams of frames in a router, and in a fat mesh of 16 nodes.
fn streams(c: &mut Criterion) {
    let fat_mesh = |preset: &str| {
        let mut spec = scenario(preset).spec().clone();
        let radix = Radix::of(&[2, 2]).expect("two dimensions");
        spec.network =
            NetworkSpec::Mesh { radix, dimensions: None, nodes_per_router: 4, links: 2, self_traffic: None };
        spec.check().expect("a sound scenario")
    };
    let mut group = c.benchmark_group("streams of frames");
    for preset in ["mediaworm", "mediaworm-quick"] {
        for (name, scenario) in
            [(preset.to_owned(), scenario(preset)), (format!("{preset}, fat mesh"), fat_mesh(preset))]
        {
            let solve = || Model::Mediaworm.solve(&scenario, &Options::default()).expect("an answer");
            group.bench_function(name, |b| b.iter(solve));
        }
    }
    group.finish();
}

criterion_group!(benches, refined, networks, trees, matrices, fabrics, streams);
criterion_main!(benches);
