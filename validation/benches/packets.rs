//! How fast packet switches are simulated and analysed, on one thread: `cargo bench --bench packets`.
//!
//! Elements of the first group are packet-hops, a link with its crossing, credit and arbitration; what is timed are
//! slices of a run of corner case 2 of the HPCA 2005 paper on 64 hosts, before its hot spot or in the full tree.

#![allow(missing_docs)]

use std::time::Duration;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use flitwise_language::network::Network;
use flitwise_language::scenario::{DestinationSpec, NodeList, Organisation, Preset, Scenario};
use flitwise_models::recn;
use flitwise_simulator::packet::{Delivery, Fabric, Load, Process, Simulator, Traffic};

/// Ticks of a slice, some 30,000 packet-hops; ticks after which the tree fills all memories.
const SLICE: u64 = 4_000;
const FULL: u64 = 400_000;

/// Periodic traffic at the full rate of 24-tick packets.
fn traffic(hosts: std::ops::Range<u32>, destination: &DestinationSpec, network: &Network) -> Traffic {
    Traffic {
        hosts: hosts.collect(),
        destinations: destination.on(&**network),
        process: Process::Periodic,
        interval: 24.0,
        packets: 1,
        start: 0,
        end: None,
        withdraw: false,
    }
}

/// A run, simulated on slice by slice.
struct Warm {
    simulator: Simulator,
    delivered: Vec<Delivery>,
}

impl Warm {
    fn new(organisation: Organisation, is_hot: bool, ticks: u64) -> Self {
        let scenario = Preset::find("recn64").expect("a built-in scenario").scenario();
        let fabric = Fabric { organisation, ..Fabric::of(&scenario).expect("packet switches") };
        let mut traffics = vec![traffic(0..48, &DestinationSpec::Uniform, &fabric.network)];
        let hot = DestinationSpec::Nodes(NodeList::of([32]));
        traffics.extend(is_hot.then(|| traffic(48..64, &hot, &fabric.network)));
        let load = Load { traffics, seed: 1, bin: 3_750, ..Load::default() };
        let simulator = Simulator::new(&fabric, &load);
        let mut warm = Self { simulator, delivered: Vec::new() };
        warm.advance(ticks);
        warm
    }

    /// Packet-hops in the next `ticks` ticks.
    fn advance(&mut self, ticks: u64) -> u64 {
        let before = self.simulator.counts().hops;
        self.delivered.clear();
        self.simulator.run_until(self.simulator.now() + ticks, &mut self.delivered);
        self.simulator.counts().hops - before
    }
}

fn packet_hops(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("packet-hops");
    group.sampling_mode(SamplingMode::Flat).measurement_time(Duration::from_secs(2)).sample_size(30);
    for (name, organisation) in [
        ("one queue", Organisation::OneQueue),
        ("VOQsw", Organisation::VoqSwitch),
        ("VOQnet", Organisation::VoqNetwork),
        ("RECN", Organisation::Recn),
    ] {
        for (state, is_hot, ticks) in [("no hot spot", false, 40_000), ("full tree", true, FULL)] {
            let mut warm = Warm::new(organisation, is_hot, ticks);
            // the mean of some slices, so that no slice is charged for another's load
            let hops = (0..10).map(|_| warm.advance(SLICE)).sum::<u64>() / 10;
            group.throughput(Throughput::Elements(hops));
            group.bench_function(format!("{name}, {state}"), |bench| bench.iter(|| warm.advance(SLICE)));
        }
    }
    group.finish();
}

/// Uniform traffic of 2,048 hosts at half of their links, over two levels of switches with 64 ports.
fn many_ports(criterion: &mut Criterion) {
    let text = "[network]\ntopology = \"fat-tree\"\nlevels = 2\nradix = 64\n[switch]\norganisation = \"one-queue\"\n\
                [measure]\nend = 1000\n[[class]]\nname = \"a\"\nrate = \"50 %\"\n";
    let scenario = Scenario::from_toml("a tree", text).expect("a sound scenario");
    let fabric = Fabric::of(&scenario).expect("packet switches");
    let all = traffic(0..2_048, &DestinationSpec::Uniform, &fabric.network);
    let half = Traffic { process: Process::Poisson, interval: 48.0, ..all };
    let load = Load { traffics: vec![half], seed: 1, ..Load::default() };
    let mut warm = Warm { simulator: Simulator::new(&fabric, &load), delivered: Vec::new() };
    warm.advance(4_000);
    let hops = (0..10).map(|_| warm.advance(SLICE / 10)).sum::<u64>() / 10;
    let mut group = criterion.benchmark_group("packet-hops");
    group.sampling_mode(SamplingMode::Flat).measurement_time(Duration::from_secs(2)).sample_size(30);
    group.throughput(Throughput::Elements(hops));
    let name = "one queue, 2,048 hosts, 64 ports";
    group.bench_function(name, |bench| bench.iter(|| warm.advance(SLICE / 10)));
    group.finish();
}

/// All that the analysis says of corner case 2 on a network with links both ways, whose tree has more kinds of links.
fn both_ways(criterion: &mut Criterion) {
    let mut document = Preset::find("recn64").expect("a built-in scenario").document();
    let place = flitwise_language::document::Place::Program;
    for (key, value) in [("switch.organisation", "one-queue"), ("network.direction", "bidirectional")] {
        document.set(key, value, &place).expect("a word");
    }
    let scenario = document.scenario().expect("a sound scenario");
    recn::predict(&scenario).expect("an answer");
    let mut group = criterion.benchmark_group("recn analysis");
    group.measurement_time(Duration::from_secs(2)).sample_size(30);
    group.bench_function("one-queue, both ways, curve", |bench| bench.iter(|| recn::predict(&scenario)));
    group.finish();
}

/// All that the analysis says of corner case 2, most of it the curve over 1,600 us; and without a hot spot the latency.
fn analysis(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("recn analysis");
    group.measurement_time(Duration::from_secs(2)).sample_size(30);
    for organisation in ["one-queue", "voq-switch", "recn"] {
        let mut document = Preset::find("recn64").expect("a built-in scenario").document();
        let place = flitwise_language::document::Place::Program;
        document.set("switch.organisation", organisation, &place).expect("a word");
        let hot = document.scenario().expect("a sound scenario");
        let mut calm = hot.spec().clone();
        calm.classes.truncate(1);
        let calm = calm.check().expect("a sound scenario");
        for (name, scenario) in [("curve", hot), ("latency", calm)] {
            recn::predict(&scenario).expect("an answer");
            group.bench_function(format!("{organisation}, {name}"), |bench| {
                bench.iter(|| recn::predict(&scenario))
            });
        }
    }
    group.finish();
}

criterion_group!(benches, packet_hops, many_ports, analysis, both_ways);
criterion_main!(benches);
