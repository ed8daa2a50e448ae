//! How fast the simulator is, on one thread but for the last group: `cargo bench --bench simulator`.
//!
//! Elements are flit-hops (crossings of a crossbar) or router-cycles; what is timed are slices of a run that has
//! long left its start behind.

#![allow(missing_docs)]

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use flitwise_experiment::{self as experiment, Settings};
use flitwise_language::scenario::{Crossbar, NetworkSpec, Preset, Radix, Scenario, Scheduler};
use flitwise_simulator::Delivery;
use flitwise_simulator::Simulator;
use flitwise_validation::machine::Machine;

/// A preset with its rates scaled to so many flits per cycle and node.
fn loaded(preset: &str, flits_per_cycle: f64, change: impl Fn(&mut NetworkSpec, &mut Scheduler)) -> Scenario {
    let preset = Preset::find(preset).expect("a built-in scenario").scenario();
    let mut spec = preset.spec().clone();
    let flits = spec.classes.iter().map(|class| class.rate * f64::from(class.message_flits));
    let factor = flits_per_cycle / flits.sum::<f64>();
    for class in &mut spec.classes {
        class.rate *= factor;
        class.deadlines.clear();
    }
    change(&mut spec.network, &mut spec.router.scheduler);
    spec.check().expect("a sound scenario")
}

fn as_it_is(_: &mut NetworkSpec, _: &mut Scheduler) {}

/// Two levels of routers with 64 ports.
fn tree_of_2048() -> NetworkSpec {
    let text = "[network]\ntopology = \"fat-tree\"\nlevels = 2\nradix = 64\n[[class]]\nname = \"a\"\n\
                kind = \"best-effort\"\nrate = 0.01\n";
    Scenario::from_toml("a tree", text).expect("a sound scenario").network().clone()
}

fn routers(scenario: &Scenario) -> u64 {
    u64::from(scenario.topology().routers())
}

/// A run past its start, simulated on slice by slice.
struct Warm {
    simulator: Simulator,
    delivered: Vec<Delivery>,
}

impl Warm {
    fn new(scenario: &Scenario, cycles: u64) -> Self {
        let mut warm = Self { simulator: Simulator::new(scenario, 1), delivered: Vec::new() };
        warm.advance(cycles);
        warm
    }

    /// Flit-hops in the next `cycles` cycles.
    fn advance(&mut self, cycles: u64) -> u64 {
        let before = self.simulator.flit_hops();
        self.delivered.clear();
        self.simulator.run_until(self.simulator.now() + cycles, &mut self.delivered);
        self.simulator.flit_hops() - before
    }
}

/// The work that a rate counts.
#[derive(Clone, Copy)]
enum Work {
    FlitHops,
    RouterCycles,
}

/// The speed over slices of so many flit-hops, about.
fn speed(criterion: &mut Criterion, group: &str, name: &str, scenario: &Scenario, work: Work) {
    const WARM_UP_FLIT_HOPS: f64 = 4e6;
    const SLICE_FLIT_HOPS: f64 = 4e5;
    // flit-hops per cycle, from a first stretch
    let per_cycle = Warm::new(scenario, 2_000).advance(2_000) as f64 / 2_000.0;
    let mut warm = Warm::new(scenario, (WARM_UP_FLIT_HOPS / per_cycle) as u64);
    let cycles = (SLICE_FLIT_HOPS / per_cycle) as u64;
    let elements = match work {
        // the mean of many slices, so that no slice is charged for another's load
        Work::FlitHops => (0..20).map(|_| warm.advance(cycles)).sum::<u64>() / 20,
        Work::RouterCycles => cycles * routers(scenario),
    };
    let mut group = criterion.benchmark_group(group);
    group.throughput(Throughput::Elements(elements)).sampling_mode(SamplingMode::Flat);
    group.bench_function(name, |bench| bench.iter(|| warm.advance(cycles)));
    group.finish();
}

fn flit_hops(criterion: &mut Criterion) {
    let ten_dimensions = |network: &mut NetworkSpec, _: &mut Scheduler| {
        *network = NetworkSpec::Hypercube { dimension: 10, self_traffic: None };
    };
    for (name, scenario) in [
        ("16-port router, 0.50 flits/cycle/node", loaded("router16", 0.50, as_it_is)),
        ("6-cube, 0.05 flits/cycle/node", loaded("cube6", 0.05, as_it_is)),
        ("6-cube, 0.40 flits/cycle/node", loaded("cube6", 0.40, as_it_is)),
        ("6-cube, 0.70 flits/cycle/node", loaded("cube6", 0.70, as_it_is)),
        ("10-cube, 0.40 flits/cycle/node", loaded("cube6", 0.40, ten_dimensions)),
    ] {
        speed(criterion, "flit-hops", name, &scenario, Work::FlitHops);
    }
}

fn schedulers(criterion: &mut Criterion) {
    for scheduler in Scheduler::OF_CLASSES {
        let scenario = loaded("cube6", 0.40, |_, found| *found = scheduler);
        speed(criterion, "flit-hops by scheduler", scheduler.word(), &scenario, Work::FlitHops);
    }
}

/// Tori and a tree with four virtual channels of each class.
fn networks(criterion: &mut Criterion) {
    let four = |load: f64, change: &dyn Fn() -> NetworkSpec| {
        let scenario = loaded("torus8x8", load, |network, _| *network = change());
        let mut spec = scenario.spec().clone();
        spec.classes.iter_mut().for_each(|class| class.virtual_channels = 4);
        spec.check().expect("a sound scenario")
    };
    let torus = |side: u32| NetworkSpec::Torus {
        radix: Radix::of(&[side, side]).expect("two dimensions"),
        dimensions: None,
        nodes_per_router: 1,
        links: 1,
        self_traffic: None,
    };
    let name = "8x8 torus, 0.40 flits/cycle/node";
    speed(criterion, "flit-hops", name, &four(0.4, &|| torus(8)), Work::FlitHops);
    let name = "64x64 torus, 0.05 flits/cycle/node";
    speed(criterion, "router-cycles", name, &four(0.05, &|| torus(64)), Work::RouterCycles);
    let name = "2,048-host tree, 0.40 flits/cycle/node";
    speed(criterion, "flit-hops", name, &four(0.4, &tree_of_2048), Work::FlitHops);
}

/// Streams of frames and best effort over 16 virtual channels at a load of 0.8.
fn streams(criterion: &mut Criterion) {
    for (name, crossbar) in [("multiplexed", Crossbar::Multiplexed), ("full", Crossbar::Full)] {
        let mut spec =
            Preset::find("mediaworm-quick").expect("a built-in scenario").scenario().spec().clone();
        spec.router.crossbar = crossbar;
        let scenario = spec.check().expect("a sound scenario");
        let name = format!("8-port router, 16 virtual channels, {name} crossbar");
        speed(criterion, "flit-hops", &name, &scenario, Work::FlitHops);
    }
}

fn router_cycles(criterion: &mut Criterion) {
    let scenario = loaded("cube6", 0.05, as_it_is);
    speed(criterion, "router-cycles", "6-cube, 0.05 flits/cycle/node", &scenario, Work::RouterCycles);
}

/// A whole experiment on one and two threads: the ratio of the two is what a second core is worth.
fn threads(criterion: &mut Criterion) {
    let scenario = loaded("cube6", 0.40, as_it_is);
    let settings = Settings {
        warmup_cycles: Some(20_000),
        precision: 1e-9,
        max_messages: 400_000,
        ..Settings::default()
    };
    let run = |threads| {
        let (machine, stop) = (Machine::new(Some(threads)), AtomicBool::new(false));
        experiment::run(&scenario, &settings, &machine.host(&stop), &mut ()).expect("a scenario to simulate")
    };
    let mut group = criterion.benchmark_group("experiment, 6-cube, 0.40 flits/cycle/node");
    group.throughput(Throughput::Elements(run(2).run.flit_hops)).sampling_mode(SamplingMode::Flat);
    group.sample_size(10).measurement_time(Duration::from_secs(10));
    for threads in [1, 2] {
        group.bench_function(BenchmarkId::new("threads", threads), |bench| bench.iter(|| run(threads)));
    }
    group.finish();
}

criterion_group! {
    name = simulator;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3));
    targets = flit_hops, schedulers, networks, streams, router_cycles, threads
}
criterion_main!(simulator);
