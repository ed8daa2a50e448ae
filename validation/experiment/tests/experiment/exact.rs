//! The simulator on cases whose answer is known: queues with closed forms, links shared by rule, flits counted,
//! sources whose statistics follow from their definition, and values of other simulators.
//!
//! Every comparison of a mean uses independent replications at fixed seeds, and fails by chance once in 10,000:
//! [`ERROR`]. No seed has been chosen by its outcome.

use std::collections::{HashMap, VecDeque};

use flitwise_experiment::Settings;
use flitwise_experiment::answer::{ClassSimulation, Simulation};
use flitwise_experiment::statistics::student_quantile;
use flitwise_language::network::Hop;
use flitwise_language::scenario::{
    ClassSpec, DeadlineSpec, NetworkSpec, Radix, RouterSpec, Scenario, ScenarioSpec, Scheduler, SourceSpec,
};
use flitwise_simulator::{Arrival, Delivery};
use flitwise_simulator::{Channel, ChannelKind, Simulator, replay};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::run_on;

/// Probability that a comparison of means fails although all is right.
const ERROR: f64 = 1e-4;
/// More flits than are ever queued in front of a network interface here.
const VAST: u32 = 65_536;

fn scenario(network: NetworkSpec, router: RouterSpec, classes: Vec<ClassSpec>) -> Scenario {
    ScenarioSpec { name: "known answer".to_owned(), network, router, classes, ..ScenarioSpec::default() }
        .check()
        .unwrap()
}

fn vast_router(ports: u32, classes: Vec<ClassSpec>) -> Scenario {
    let router = RouterSpec { buffer_flits: VAST, ..RouterSpec::default() };
    scenario(NetworkSpec::Router { ports, self_traffic: None }, router, classes)
}

/// Observations of independent, alike replications, against the mean that they should have.
///
/// A replication has a random number of observations, each of mean `expected` in the steady state; the sum of
/// their deviations then has mean 0 exactly, which a mean of ratios has not.
fn assert_mean(replications: &[Vec<f64>], expected: f64, what: &str) {
    let sums: Vec<f64> = replications.iter().map(|one| one.iter().map(|x| x - expected).sum()).collect();
    let count = sums.len() as f64;
    let mean = sums.iter().sum::<f64>() / count;
    let variance = sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let half_width = student_quantile(count - 1.0, 1.0 - ERROR / 2.0).unwrap() * (variance / count).sqrt();

    let observations = replications.iter().map(Vec::len).sum::<usize>() as f64 / count;
    let (found, half_width) = (expected + mean / observations, half_width / observations);
    println!("{what}: found {found:.5} +- {half_width:.5}, expected {expected:.5}");
    assert!((found - expected).abs() <= half_width, "{what}: {found} +- {half_width}, expected {expected}");
}

/// All messages generated in cycles `from..end`.
fn deliveries(scenario: &Scenario, seed: u64, from: u64, end: u64) -> Vec<Delivery> {
    let mut simulator = Simulator::new(scenario, seed);
    let mut delivered = Vec::new();
    simulator.run_until(end, &mut delivered);
    let generated: u64 = simulator.generated().iter().sum();
    let in_time = |delivered: &[Delivery]| delivered.iter().filter(|d| d.generated_cycle < end).count();
    while in_time(&delivered) < generated as usize {
        simulator.run_until(simulator.now() + 1_000, &mut delivered);
    }
    delivered.retain(|delivery| (from..end).contains(&delivery.generated_cycle));
    delivered
}

// ------------------------------------------------------------------------- the queue at a network interface

/// The queue at a network interface that nothing behind it holds up: work comes at the start of a cycle, in
/// batches, and a cycle does one unit of it.
///
/// `A_c` messages of class `c` come in a cycle, independent Poisson numbers of mean `λ_c`, each of `M_c` flits.
/// Let `B = Σ M_c A_c`, `ρ_c = M_c λ_c`, `ρ = Σ ρ_c` and `V` the work left over at the start of a cycle, on which
/// the `B` that comes then does not depend. The next cycle starts with `V' = V + B - 1{V + B > 0}`, so that in
/// the steady state
///
/// - from the mean: `P(V + B > 0) = ρ`;
/// - from the mean square: `0 = E[B²] + 2 ρ E[V] - 2 (E[V] + ρ) + ρ`, that is, with
///   `E[B²] = Σ λ_c M_c² + ρ²`: `E[V] = Σ λ_c M_c² / (2 (1 - ρ)) - ρ / 2`;
/// - `P(V = 0) e^{-Σ λ_c} = 1 - ρ`, for `V + B = 0` means both.
///
/// Of a batch of its own class a message has on average `E[A (A - 1) / 2] / λ = λ / 2` before it.
#[derive(Clone, Copy, Debug)]
struct Interface {
    /// `λ_c` and `M_c`, the highest priority first.
    classes: [(f64, f64); 2],
}

impl Interface {
    fn load(&self, class: usize) -> f64 {
        let (rate, flits) = self.classes[class];
        rate * flits
    }

    /// `E[V]` of the classes up to `lowest`.
    fn work(&self, lowest: usize) -> f64 {
        let load: f64 = (0..=lowest).map(|class| self.load(class)).sum();
        let squares: f64 = (0..=lowest).map(|class| self.load(class) * self.classes[class].1).sum();
        squares / (2.0 * (1.0 - load)) - load / 2.0
    }

    /// Work in front of a message when it has come: what was left over, all that higher classes brought in the
    /// same cycle, and those of its class before it.
    fn before(&self, class: usize) -> f64 {
        self.work(class) + if class == 0 { 0.0 } else { self.load(0) } + self.load(class) / 2.0
    }

    /// Share of cycles that a class finds taken by higher ones.
    fn taken(&self, class: usize) -> f64 {
        if class == 0 { 0.0 } else { self.load(0) }
    }

    /// Mean number of cycles until the first flit has left, that of its leaving included.
    ///
    /// Each flit before it takes a cycle, and brings with it all that higher classes bring in the cycle after:
    /// `1 / (1 - ρ_1)` cycles each. Then nothing is in front and the flit goes. For the higher class this is
    /// `1 + M ρ / (2 (1 - ρ))`.
    fn first_flit(&self, class: usize) -> f64 {
        self.before(class) / (1.0 - self.taken(class)) + 1.0
    }

    /// Mean number of cycles until the last flit has left: preemptive resume.
    fn last_flit(&self, class: usize) -> f64 {
        let flits = self.classes[class].1;
        (self.before(class) + flits - 1.0) / (1.0 - self.taken(class)) + 1.0
    }

    /// Probability of leaving in the cycle of coming, with the first flit: nothing is left over, nothing of a
    /// higher class comes, and the message is the first of its batch.
    fn at_once(&self, class: usize) -> f64 {
        let load: f64 = (0..=class).map(|class| self.load(class)).sum();
        let rate = self.classes[class].0;
        // (1 - ρ) e^{Σ λ} · e^{-λ of higher classes} · P(A > 0) / λ
        (1.0 - load) * rate.exp() * (1.0 - (-rate).exp()) / rate
    }
}

/// `P(waiting <= cycles)` for one class: what is left over, and the batch before it, by the same recursion.
fn waits_no_longer(rate: f64, flits: usize, cycles: usize) -> f64 {
    // P(A = a)
    let mut batch = vec![(-rate).exp()];
    for a in 1..=cycles / flits + 1 {
        batch.push(batch[a - 1] * rate / a as f64);
    }
    // P(V + B = k) = Σ_a P(A = a) P(V = k - a M), and P(V = k) = P(V + B = k + 1) for k > 0
    let load = rate * flits as f64;
    let mut left = vec![(1.0 - load) / batch[0]];
    let all = |left: &[f64], k: usize| -> f64 {
        let terms = (0..=k / flits).filter(|a| k - a * flits < left.len());
        terms.map(|a| batch[a] * left[k - a * flits]).sum()
    };
    left.push((left[0] - (1.0 - load)) / batch[0]);
    // that was P(V + B = 1) = P(V = 0) - P(V + B = 0), which only V = 1 with B = 0 makes up for flits > 1
    for k in 2..cycles {
        // P(V + B = k) is P(V = k - 1); what of it V = k does not bring is known
        let known = all(&left, k);
        left.push((left[k - 1] - known) / batch[0]);
    }
    // P(j before it in the batch) = P(A > j) / λ; waiting is 1 + V + j M
    let mut more = 1.0;
    let mut probability = 0.0;
    for (j, share) in batch.iter().enumerate() {
        more -= share;
        if let Some(room) = cycles.checked_sub(1 + j * flits) {
            probability += more / rate * left.iter().take(room + 1).sum::<f64>();
        }
    }
    probability
}

/// Sources of a router whose buffers never fill do not know of each other: each is a replication.
fn by_source(messages: &[Delivery], ports: u32, of: impl Fn(&Delivery) -> f64) -> Vec<Vec<f64>> {
    let of_source = |source| messages.iter().filter(move |message| message.source == source);
    (0..ports).map(|source| of_source(source).map(&of).collect()).collect()
}

/// Two ports at load 0.6 and 16 at 0.3: headers in front of input buffers do not block so much that one fills.
fn one_class_waits_as_in_theory(measured_cycles: u64) {
    for (ports, load, seeds) in [(16, 0.3, 100..103u64), (2, 0.3, 200..212), (2, 0.6, 300..324)] {
        let rate = load / 32.0;
        let scenario = vast_router(ports, vec![ClassSpec::real_time("R1", rate)]);
        let messages: Vec<Vec<Delivery>> =
            seeds.map(|seed| deliveries(&scenario, seed, 20_000, 20_000 + measured_cycles)).collect();
        let observed = |of: &dyn Fn(&Delivery) -> f64| -> Vec<Vec<f64>> {
            messages.iter().flat_map(|one| by_source(one, ports, of)).collect()
        };
        let what = |quantity: &str| format!("{ports} ports, load {load}, {quantity}");

        let interface = Interface { classes: [(rate, 32.0), (0.0, 0.0)] };
        let mean = 1.0 + 32.0 * load / (2.0 * (1.0 - load));
        assert!((interface.first_flit(0) - mean).abs() < 1e-12);
        assert_mean(&observed(&|d| d.waiting_cycles() as f64), mean, &what("mean waiting"));

        let at_once = waits_no_longer(rate, 32, 1);
        assert!((at_once - interface.at_once(0)).abs() < 1e-12);
        for cycles in [1, 2, 16, 32, 33, 34, 48, 65, 100, 150] {
            let within = |d: &Delivery| f64::from(u8::from(d.waiting_cycles() <= cycles));
            let expected = waits_no_longer(rate, 32, cycles as usize);
            assert_mean(&observed(&within), expected, &what(&format!("P(waiting <= {cycles})")));
        }
    }
}

#[test]
fn one_class_waits_as_in_a_queue_of_deterministic_service() {
    one_class_waits_as_in_theory(280_000);
}

#[test]
#[ignore = "30 times as long, for intervals of half a percent"]
fn one_class_waits_as_in_a_queue_of_deterministic_service_to_half_a_percent() {
    one_class_waits_as_in_theory(8_400_000);
}

/// The distribution itself, against the recursion iterated to its fixed point.
#[test]
fn the_distribution_of_waiting_is_that_of_the_recursion() {
    let (rate, flits) = (0.1, 6);
    let batch: Vec<f64> = (0..12)
        .scan(f64::exp(-rate), |next, a| {
            let now = *next;
            *next *= rate / f64::from(a + 1);
            Some(now)
        })
        .collect();
    let mut left = vec![0.0; 400];
    left[0] = 1.0;
    for _ in 0..5_000 {
        let mut after = vec![0.0; 400];
        for (work, probability) in left.iter().enumerate() {
            for (messages, share) in batch.iter().enumerate() {
                after[(work + messages * flits).saturating_sub(1).min(399)] += probability * share;
            }
        }
        left = after;
    }
    for cycles in 1..60 {
        let mut more = 1.0;
        let mut expected = 0.0;
        for (before, share) in batch.iter().enumerate() {
            more -= share;
            let room = usize::checked_sub(cycles, 1 + before * flits);
            expected += room.map_or(0.0, |room| more / rate * left[..=room].iter().sum::<f64>());
        }
        let found = waits_no_longer(rate, flits, cycles);
        assert!((found - expected).abs() < 1e-9, "P(waiting <= {cycles}): {found}, {expected}");
    }
}

/// With the real sources and all five stages: when the first flit leaves is when the header enters the router.
#[test]
fn best_effort_waits_behind_all_work_and_for_real_time() {
    let (real_time, best_effort) = ((0.0375, 8), (0.02, 15));
    let classes = vec![
        ClassSpec { message_flits: real_time.1, ..ClassSpec::real_time("R1", real_time.0) },
        ClassSpec { message_flits: best_effort.1, ..ClassSpec::best_effort("BE", best_effort.0) },
    ];
    let interface = Interface {
        classes: [real_time, best_effort].map(|(rate, flits): (f64, u32)| (rate, f64::from(flits))),
    };
    // all schedulers that put best effort last
    let last = [Scheduler::VirtualClock, Scheduler::FairQueueing, Scheduler::WeightedRoundRobin];
    for (scheduler, seed) in last.into_iter().zip([400, 500, 600]) {
        let router = RouterSpec { buffer_flits: VAST, scheduler, ..RouterSpec::default() };
        let scenario =
            scenario(NetworkSpec::Router { ports: 2, self_traffic: None }, router, classes.clone());
        let messages: Vec<Vec<Delivery>> =
            (seed..seed + 12).map(|seed| deliveries(&scenario, seed, 10_000, 150_000)).collect();
        for class in 0..2 {
            let observed = |of: &dyn Fn(&Delivery) -> f64| -> Vec<Vec<f64>> {
                let of_class = |one: &Vec<Delivery>| {
                    one.iter().filter(|d| usize::from(d.class) == class).copied().collect::<Vec<_>>()
                };
                messages.iter().flat_map(|one| by_source(&of_class(one), 2, of)).collect()
            };
            let what = |quantity: &str| format!("{}, class {class}, {quantity}", scheduler.word());
            let waiting = observed(&|d| d.waiting_cycles() as f64);
            assert_mean(&waiting, interface.first_flit(class), &what("mean waiting"));
            let at_once = observed(&|d| f64::from(u8::from(d.waiting_cycles() == 1)));
            assert_mean(&at_once, interface.at_once(class), &what("P(waiting = 1)"));
        }
    }
}

/// Poisson arrivals of both classes at node 0 for node 1, by cycle.
fn arrivals(interface: Interface, seed: u64, cycles: u64) -> Vec<Arrival> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut arrivals = Vec::new();
    for (class, (rate, _)) in interface.classes.into_iter().enumerate() {
        let mut time = 0.0;
        loop {
            let uniform = ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
            time -= uniform.ln() / rate;
            let cycle = f64::ceil(time) as u64;
            if cycle >= cycles {
                break;
            }
            arrivals.push(Arrival { cycle, source: 0, destination: 1, class: class as u8 });
        }
    }
    arrivals.sort_by_key(|arrival| arrival.cycle);
    arrivals
}

/// The cycle in which the last flit of each message leaves a link that always serves class 0 first: in the order
/// of class, then of arrival.
fn departures(interface: Interface, arrivals: &[Arrival]) -> Vec<(u8, u64)> {
    let mut queues: [VecDeque<u64>; 2] = Default::default(); // flits still to go, by message
    let mut departures = Vec::new();
    let mut coming = arrivals.iter().peekable();
    let mut cycle = 0;
    while coming.peek().is_some() || queues.iter().any(|queue| !queue.is_empty()) {
        while let Some(arrival) = coming.next_if(|arrival| arrival.cycle == cycle) {
            let class = usize::from(arrival.class);
            queues[class].push_back(interface.classes[class].1 as u64);
        }
        if let Some(class) = (0..2).find(|class| !queues[*class].is_empty()) {
            let flits = queues[class].front_mut().unwrap();
            *flits -= 1;
            if *flits == 0 {
                queues[class].pop_front();
                departures.push((class as u8, cycle));
            }
        }
        cycle += 1;
    }
    departures.sort_unstable();
    departures
}

/// Of three stages a router loses no cycle between messages. If one node sends alone, to one other node, then
/// all behind its link is a pipe of three cycles, and responses are those of the link.
fn best_effort_is_preempted_as_in_theory(measured_cycles: u64) {
    let interface = Interface { classes: [(0.0375, 8.0), (0.02, 15.0)] };
    let from = 5_000;
    let end = from + measured_cycles;
    let all = end + 20_000;
    let classes = vec![
        ClassSpec { message_flits: 8, ..ClassSpec::real_time("R1", 0.0375) },
        ClassSpec { message_flits: 15, ..ClassSpec::best_effort("BE", 0.02) },
    ];
    let router = RouterSpec { buffer_flits: VAST, pipeline_stages: 3, ..RouterSpec::default() };
    let scenario = scenario(NetworkSpec::Router { ports: 2, self_traffic: None }, router, classes);
    let mut responses = [const { Vec::new() }; 2];
    for seed in 700..732 {
        let arrivals = arrivals(interface, seed, all);
        let messages = replay(&scenario, &arrivals, 2 * all);
        let mut through: Vec<(u8, u64)> = messages.iter().map(|d| (d.class, d.delivered_cycle - 3)).collect();
        through.sort_unstable();
        assert_eq!(through, departures(interface, &arrivals));

        for (class, responses) in responses.iter_mut().enumerate() {
            let measured = messages
                .iter()
                .filter(|d| usize::from(d.class) == class && (from..end).contains(&d.generated_cycle));
            // cycles until the last flit has left the node, that one included
            let response = |d: &Delivery| (d.delivered_cycle - 3 - d.generated_cycle + 1) as f64;
            responses.push(measured.map(response).collect());
        }
    }
    for (class, responses) in responses.iter().enumerate() {
        assert_mean(responses, interface.last_flit(class), &format!("class {class}, mean response"));
    }
}

#[test]
fn best_effort_is_preempted_and_resumed() {
    best_effort_is_preempted_as_in_theory(95_000);
}

#[test]
#[ignore = "30 times as long, for intervals of half a percent"]
fn best_effort_is_preempted_and_resumed_to_half_a_percent() {
    best_effort_is_preempted_as_in_theory(2_850_000);
}

// --------------------------------------------------------------------------------------------- shared links

/// Cycles per flit of two real-time classes, of Vtick 2 and 4, that never run dry on one output link, and the
/// messages of each that came through.
fn shares(scheduler: Scheduler, senders: [&[u32]; 2]) -> [u64; 2] {
    let class = |name, vtick| ClassSpec { vtick: Some(vtick), ..ClassSpec::real_time(name, 0.01) };
    let router = RouterSpec { scheduler, ..RouterSpec::default() };
    let network = NetworkSpec::Router { ports: 8, self_traffic: None };
    let scenario = scenario(network, router, vec![class("A", 2.0), class("B", 4.0)]);
    let mut arrivals = Vec::new();
    for _ in 0..4_000 {
        for (class, senders) in senders.iter().enumerate() {
            let from =
                |source: &u32| Arrival { cycle: 0, source: *source, destination: 7, class: class as u8 };
            arrivals.extend(senders.iter().map(from));
        }
    }
    let window = 1_000..97_000;
    let messages = replay(&scenario, &arrivals, window.end);
    let of_class = |class| messages.iter().filter(move |d| usize::from(d.class) == class);
    [0, 1].map(|class| of_class(class).filter(|d| window.contains(&d.delivered_cycle)).count() as u64)
}

/// Eq. (7): of two classes that never run dry, the one of half the Vtick gets twice the flits; together all.
#[test]
fn real_time_classes_share_a_link_by_their_vticks() {
    // clocks that start again with every message keep the ratio within messages only
    let lasting = |scheduler: &Scheduler| !scheduler.word().starts_with("fine-grained");
    for scheduler in Scheduler::OF_CLASSES.into_iter().filter(lasting) {
        for senders in [[&[0][..], &[1]], [&[0, 2, 3], &[1, 4]], [&[3], &[0, 1, 2]]] {
            // 96,000 cycles are 3,000 messages of 32 flits
            let wanted = match scheduler {
                Scheduler::RoundRobin | Scheduler::Fifo => [1_500, 1_500],
                _ => [2_000, 1_000], // 1.5 and 3 cycles per flit
            };
            let found = shares(scheduler, senders);
            println!("{}, {senders:?}: {found:?}", scheduler.word());
            // the first and the last message may be cut by the window
            let close = found.iter().zip(&wanted).all(|(found, wanted)| found.abs_diff(*wanted) <= 1);
            assert!(close, "{}, senders {senders:?}: {found:?}, wanted {wanted:?}", scheduler.word());
        }
    }
}

// ------------------------------------------------------------------------------------------------ all flits

/// The channels that a message takes, of parallel ones the first: lowest differing dimension first.
pub(crate) fn path(network: NetworkSpec, source: u32, destination: u32) -> Vec<Channel> {
    let mut at = source;
    let of_node = |kind, node| Channel { kind, node, port: network.topology().entry(node).1 };
    let mut path = vec![of_node(ChannelKind::Injection, source)];
    match network {
        NetworkSpec::Router { .. } => {}
        NetworkSpec::Hypercube { dimension, self_traffic: None } => {
            for dimension in (0..dimension).filter(|d| (source ^ destination) >> d & 1 == 1) {
                let kind = ChannelKind::Network { dimension: dimension as u8 };
                path.push(Channel { kind, node: at, port: dimension });
                at ^= 1 << dimension;
            }
        }
        _ => {
            let network = network.topology();
            let hops = network.path(source, destination, 0).filter(Hop::is_between_routers);
            path.extend(hops.map(|hop| Channel {
                kind: network.kind(hop.router, hop.port),
                node: hop.router,
                port: hop.port,
            }));
        }
    }
    path.push(of_node(ChannelKind::Ejection, destination));
    path
}

/// Random traffic for so many cycles, then none, until the network is empty.
pub(crate) fn drained(scenario: &Scenario, seed: u64, cycles: u64) -> (Simulator, Vec<Delivery>) {
    let mut simulator = Simulator::new(scenario, seed);
    simulator.measure_waits();
    let mut delivered = Vec::new();
    simulator.run_until(cycles, &mut delivered);
    for class in 0..scenario.classes().len() {
        simulator.limit_source_queues(class, 0);
    }
    let generated: u64 = simulator.generated().iter().sum();
    simulator.run_until(cycles + 400_000, &mut delivered);
    assert_eq!(simulator.generated().iter().sum::<u64>(), generated);
    assert_eq!(simulator.backlog().iter().sum::<u64>(), 0);
    assert_eq!(delivered.len() as u64, generated);
    (simulator, delivered)
}

/// Each flit crosses each channel of its path once, under load and beyond saturation.
#[test]
fn flits_in_are_flits_out_on_every_channel() {
    let radix = Radix::of(&[4, 3]).unwrap();
    for scheduler in Scheduler::OF_CLASSES {
        for (network, buffer_flits, factor) in [
            (NetworkSpec::Router { ports: 5, self_traffic: None }, 32, 1.0),
            (NetworkSpec::Router { ports: 16, self_traffic: None }, 4, 3.0),
            (NetworkSpec::Hypercube { dimension: 3, self_traffic: None }, 7, 1.0),
            (NetworkSpec::Hypercube { dimension: 4, self_traffic: None }, 32, 3.0),
            (
                NetworkSpec::Mesh {
                    radix,
                    dimensions: None,
                    nodes_per_router: 2,
                    links: 1,
                    self_traffic: None,
                },
                5,
                1.0,
            ),
            (
                NetworkSpec::Torus {
                    radix,
                    dimensions: None,
                    nodes_per_router: 1,
                    links: 2,
                    self_traffic: None,
                },
                16,
                3.0,
            ),
        ] {
            let router = RouterSpec { scheduler, buffer_flits, ..RouterSpec::default() };
            let virtual_channels = if network.topology().has_rings() { 3 } else { 1 };
            let message = |message_flits, class| ClassSpec { message_flits, virtual_channels, ..class };
            let classes = vec![
                message(8, ClassSpec::real_time("R1", 0.01 * factor)),
                message(32, ClassSpec::real_time("R2", 0.005 * factor)),
                message(13, ClassSpec::best_effort("BE", 0.01 * factor)),
            ];
            let scenario = scenario(network.clone(), router, classes);
            let (simulator, delivered) = drained(&scenario, 800, 5_000);

            let mut wanted: HashMap<((ChannelKind, u32), usize), u64> = HashMap::new();
            let mut flit_hops = 0;
            for message in &delivered {
                let class = usize::from(message.class);
                let flits = u64::from(scenario.classes()[class].message_flits);
                let path = path(network.clone(), message.source, message.destination);
                flit_hops += flits * (path.len() as u64 - 1);
                for Channel { kind, node, .. } in path {
                    *wanted.entry(((kind, node), class)).or_default() += flits;
                }
            }
            let mut found: HashMap<((ChannelKind, u32), usize), u64> = HashMap::new();
            for (channel, class, flits) in simulator.channel_flits() {
                if flits > 0 {
                    *found.entry(((channel.kind, channel.node), class)).or_default() += flits;
                }
            }
            assert_eq!(found, wanted, "{}, {network:?}", scheduler.word());
            assert_eq!(simulator.flit_hops(), flit_hops);
            assert_waits_add_up(&simulator, &delivered);
        }
    }
}

/// What headers wait by channel is what messages wait, in all.
fn assert_waits_add_up(simulator: &Simulator, delivered: &[Delivery]) {
    let of_all = |of: &dyn Fn(&Delivery) -> u64| delivered.iter().map(of).sum::<u64>();
    let waits = simulator.channel_waits();
    let of_channels = |at_sources: bool| {
        let kind = |channel: &Channel| (channel.kind == ChannelKind::Injection) == at_sources;
        let waits = waits.iter().filter(|(channel, _)| kind(channel)).map(|(_, waits)| waits);
        waits.fold([0; 2], |[headers, cycles], waits| {
            assert!(waits.blocked <= waits.headers && waits.blocked <= waits.cycles);
            [headers + waits.headers, cycles + waits.cycles]
        })
    };
    assert_eq!(of_channels(true), [delivered.len() as u64, of_all(&|one| one.waiting_cycles() - 1)]);
    let in_routers = |one: &Delivery| u64::from(one.waits.arbitration + one.waits.output);
    assert_eq!(of_channels(false), [of_all(&|one| u64::from(one.hops) + 1), of_all(&in_routers)]);
}

/// A.1: messages over a network channel come at rate `g h̄ / n`, and as sources and destinations are drawn
/// independently their number is a Poisson number, here of a mean near 10,000.
#[test]
fn every_network_channel_carries_the_same_traffic() {
    let (dimension, rate, cycles) = (4, 0.01, 2_000_001);
    let class = ClassSpec { message_flits: 5, ..ClassSpec::real_time("R1", rate) };
    let scenario = scenario(
        NetworkSpec::Hypercube { dimension, self_traffic: None },
        RouterSpec::default(),
        vec![class.clone()],
    );
    let (simulator, _) = drained(&scenario, 900, cycles);

    // messages generated in the time (0, cycles - 1] can be sent before `cycles`
    let mean_hops = f64::from(dimension) * 8.0 / 15.0;
    let expected = rate * mean_hops / f64::from(dimension) * (cycles - 1) as f64;
    let channels = 4 * 16;
    // Bonferroni: all channels within in all but one of 1 / ERROR cases
    let beyond = student_quantile(1e9, 1.0 - ERROR / 2.0 / f64::from(channels)).unwrap();
    let network = simulator
        .channel_flits()
        .into_iter()
        .filter(|(c, _, _)| matches!(c.kind, ChannelKind::Network { .. }));
    let mut count = 0;
    let mut chi_squared = 0.0;
    for (channel, _, flits) in network {
        let messages = flits as f64 / 5.0;
        let off = (messages - expected) / expected.sqrt();
        assert!(off.abs() <= beyond, "{channel:?}: {messages}, expected {expected}");
        chi_squared += off * off;
        count += 1;
    }
    assert_eq!(count, channels);
    println!("{expected:.0} messages per channel, chi squared {chi_squared:.1} of {channels}");
}

// -------------------------------------------------------------------------------------------------- sources

/// ON/OFF sources with messages of one flit, so that nothing but the source spaces them.
fn bursty(rate: f64, streams: u32, messages_per_burst: f64, peak_rate: f64) -> Scenario {
    let source = SourceSpec::OnOff { streams, messages_per_burst, peak_rate };
    let class = ClassSpec { message_flits: 1, source, ..ClassSpec::real_time("R1", rate) };
    scenario(NetworkSpec::Router { ports: 16, self_traffic: None }, RouterSpec::default(), vec![class])
}

/// A stationary start: the mean count is rate times time however short the time. The start of an ON period,
/// the middle of one and the time of several bursts are each looked at.
#[test]
fn on_off_sources_keep_their_rate_from_the_start() {
    for (streams, messages_per_burst, peak_rate, rate) in
        [(1, 5.0, 0.1, 0.01), (3, 8.0, 0.02, 0.02), (14, 1.0, 0.01, 0.05), (2, 40.0, 0.5, 0.3)]
    {
        let scenario = bursty(rate, streams, messages_per_burst, peak_rate);
        for (cycles, seeds) in [(4, 0..2_000), (50, 0..1_000), (500, 0..500), (100_000, 0..24)] {
            let counts = |seed: u64| {
                let mut simulator = Simulator::new(&scenario, 1_000_000 + seed);
                simulator.run_until(cycles + 1, &mut Vec::new());
                // generated in the time (0, cycles]; one observation a replication
                vec![simulator.generated()[0] as f64 / (16 * cycles) as f64]
            };
            let what = format!("{streams} streams of {messages_per_burst}, rate in {cycles} cycles");
            assert_mean(&seeds.map(counts).collect::<Vec<_>>(), rate, &what);
        }
    }
}

/// A single stream: messages of a burst are exactly `1 / p` apart; the burst goes on with probability `1 - 1/N`.
#[test]
fn bursts_are_of_geometric_length() {
    let (mean_length, spacing, rate) = (5.0, 10, 0.002);
    let scenario = bursty(rate, 1, mean_length, 1.0 / spacing as f64);
    let mut bursts: Vec<Vec<u64>> = Vec::new(); // lengths, by source
    for seed in 1_100..1_104 {
        let mut messages = deliveries(&scenario, seed, 0, 1_000_000);
        messages.sort_unstable_by_key(|d| (d.source, d.generated_cycle));
        for source in messages.chunk_by(|a, b| a.source == b.source) {
            let within = |a: &Delivery, b: &Delivery| b.generated_cycle - a.generated_cycle <= spacing;
            let lengths = source.chunk_by(within).map(|burst| burst.len() as u64);
            let mut lengths: Vec<u64> = lengths.collect();
            // the first and the last may be cut
            lengths.pop();
            lengths.remove(0);
            bursts.push(lengths);
        }
    }
    // an OFF period is not seen if it ends before the next whole cycle: P = 1 - I (1 - e^{-1/I}) over the place
    // of its start within a cycle
    let mean_off = mean_length * (1.0 / rate - spacing as f64);
    let unseen = 1.0 + mean_off * (-1.0 / mean_off).exp_m1();
    let ends = (1.0 - unseen) / mean_length;
    let observed = |of: &dyn Fn(u64) -> f64| -> Vec<Vec<f64>> {
        bursts.iter().map(|one| one.iter().map(|length| of(*length)).collect()).collect()
    };
    assert_mean(&observed(&|length| length as f64), 1.0 / ends, "mean length of a burst");
    for longest in [1, 2, 3, 5, 8, 15, 25] {
        let expected = 1.0 - (1.0 - ends).powi(longest as i32);
        let within = |length: u64| f64::from(u8::from(length <= longest));
        assert_mean(&observed(&within), expected, &format!("P(length <= {longest})"));
    }
}

// ---------------------------------------------------------------------------------------- other simulators

fn run(scenario: &Scenario, precision: f64) -> Simulation {
    let settings = Settings { seed: 2005, precision, max_messages: 100_000_000, ..Settings::default() };
    let simulation = run_on(0, scenario, &settings, &mut ());
    assert!(!simulation.saturated);
    simulation
}

fn latency(class: &ClassSimulation) -> (f64, f64) {
    let found = class.network_latency_cycles.unwrap();
    (found.mean, found.half_width_95.unwrap())
}

fn one_class(network: NetworkSpec, rate: f64, deadlines: &[u32]) -> Scenario {
    let deadlines = deadlines.iter().map(|cycles| DeadlineSpec::Cycles(*cycles)).collect();
    let class = ClassSpec { deadlines, ..ClassSpec::real_time("R1", rate) };
    scenario(network, RouterSpec::default(), vec![class])
}

/// `BookSim2`, one class and one virtual channel per port, five stages, `M = b = 32`; its 95 % half-widths.
///
/// The two agree if they differ by no more than 1.7 times the combined 95 % half-widths: 99.9 %. Shares for
/// which no half-width is known may be off by 5 %.
#[test]
#[ignore = "simulates tens of millions of messages"]
fn another_simulator_agrees_on_one_class() {
    // deadline, share that misses it, half-width
    type Miss = (u32, f64, Option<f64>);
    type Case = (NetworkSpec, f64, (f64, f64), [Miss; 2]);
    let router = NetworkSpec::Router { ports: 16, self_traffic: None };
    let cube = NetworkSpec::Hypercube { dimension: 5, self_traffic: None };
    let cases: [Case; 3] = [
        (router.clone(), 0.005, (40.33, 0.09), [(50, 0.129, Some(0.003)), (80, 0.0089, None)]),
        (router.clone(), 0.010, (49.11, 0.19), [(50, 0.363, Some(0.005)), (80, 0.0641, None)]),
        (cube, 0.005, (54.04, 0.19), [(60, 0.188, None), (80, 0.049, None)]),
    ];
    let mut disagreements = Vec::new();
    for (network, rate, (theirs, their_half_width), misses) in cases {
        let scenario = one_class(network.clone(), rate, &misses.map(|miss| miss.0));
        let simulation = run(&scenario, 0.001);
        let class = &simulation.classes[0];
        let mut compare = |what: String, ours: f64, half_width: f64, theirs: f64, their_half_width: f64| {
            println!("{what}: ours {ours:.5} +- {half_width:.5}, theirs {theirs} +- {their_half_width:.5}");
            if (ours - theirs).abs() > 1.7 * half_width.hypot(their_half_width) {
                disagreements.push(what);
            }
        };
        let (mean, half_width) = latency(class);
        compare(format!("{network:?} {rate}"), mean, half_width, theirs, their_half_width);
        for (deadline, (cycles, theirs, their_half_width)) in class.deadlines.iter().zip(misses) {
            assert_eq!(deadline.deadline_cycles, cycles);
            let ours = deadline.miss_probability.unwrap();
            let width = their_half_width.unwrap_or(0.05 * theirs / 1.7);
            compare(format!("{network:?} {rate}, {cycles}"), ours.mean, ours.half_width_95, theirs, width);
        }
    }
    assert!(disagreements.is_empty(), "{disagreements:?}");
}

/// Network latencies that an independently written simulator of the same router gave, to 1 %: its half-widths
/// are not known.
#[test]
#[ignore = "simulates tens of millions of messages"]
fn an_independent_simulator_agrees_on_several_classes() {
    let router = NetworkSpec::Router { ports: 16, self_traffic: None };
    let cube = NetworkSpec::Hypercube { dimension: 6, self_traffic: None };
    // rates of R1, R2 and best effort; their network latencies; their waiting less the half cycle to ceil(g)
    type Case = (NetworkSpec, [f64; 3], &'static [f64], &'static [f64]);
    let cases: [Case; 4] = [
        (router.clone(), [0.002, 0.0, 0.0], &[37.36], &[2.11]),
        (router.clone(), [0.002, 0.001, 0.0], &[38.22, 42.61], &[2.19, 1.72]),
        (router.clone(), [0.008, 0.004, 0.01], &[51.1, 67.8], &[9.8, 8.0]),
        (cube, [0.006, 0.003, 0.002], &[62.3, 78.4, 96.5], &[]),
    ];
    let mut disagreements = Vec::new();
    for (network, rates, latencies, waitings) in cases {
        let mut classes = vec![
            ClassSpec::real_time("R1", rates[0]),
            ClassSpec::real_time("R2", rates[1]),
            ClassSpec::best_effort("BE", rates[2]),
        ];
        classes.retain(|class| class.rate > 0.0);
        let simulation = run(&scenario(network.clone(), RouterSpec::default(), classes), 0.002);
        for (class, theirs) in simulation.classes.iter().zip(latencies) {
            let (ours, half_width) = latency(class);
            let what = format!("{network:?} {rates:?} {}", class.name);
            println!("{what}: network latency {ours:.3} +- {half_width:.3}, theirs {theirs}");
            if (ours - theirs).abs() > 0.01 * theirs + half_width {
                disagreements.push(what);
            }
        }
        for (class, theirs) in simulation.classes.iter().zip(waitings) {
            let ours = class.waiting_cycles.unwrap();
            println!(
                "  {}: waiting {:.3} +- {:.3}, theirs {theirs}",
                class.name,
                ours.mean,
                ours.half_width_95.unwrap()
            );
        }
    }
    assert!(disagreements.is_empty(), "{disagreements:?}");
}
