//! What an experiment promises: intervals that cover, the same bits on any number of threads, saturation that is
//! seen where it is and not elsewhere, settings that are kept.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flitwise_experiment::answer::{Estimate, Simulation, StoppedBy, WarmUpKind};
use flitwise_experiment::{self as experiment, Listener, Progress, Settings};
use flitwise_language::scenario::{
    ClassSpec, DeadlineSpec, EndOfTraffic, MeasureSpec, NetworkSpec, Preset, RouterSpec, Scenario,
    ScenarioSpec,
};
use flitwise_simulator::Delivery;

fn run(scenario: &Scenario, settings: &Settings) -> Simulation {
    experiment::run(scenario, settings, &AtomicBool::new(false), &mut ()).unwrap()
}

fn preset(name: &str) -> Scenario {
    Preset::find(name).unwrap().scenario()
}

/// The preset with these rates \[messages/cycle/node\].
fn with_rates(name: &str, rates: &[f64]) -> Scenario {
    let mut spec = preset(name).spec().clone();
    assert_eq!(spec.classes.len(), rates.len());
    for (class, rate) in spec.classes.iter_mut().zip(rates) {
        class.rate = *rate;
    }
    spec.check().unwrap()
}

// ---------------------------------------------------------------------------------------------------- parts

/// Transfer is known, and with the four waits it is the network latency; so for each number of hops.
#[test]
fn the_parts_of_a_network_latency_add_up() {
    let settings = Settings { precision: 0.05, ..Settings::default() };
    for name in ["router16", "cube5"] {
        let simulation = run(&preset(name), &settings);
        for class in &simulation.classes {
            let sum = |parts: [Option<Estimate>; 5]| parts.map(|part| part.unwrap().mean).iter().sum::<f64>();
            let mean = class.network_latency_cycles.unwrap().mean;
            let parts = sum([
                class.transfer_cycles,
                class.input_cycles,
                class.arbitration_cycles,
                class.output_cycles,
                class.gap_cycles,
            ]);
            assert!((parts - mean).abs() < 1e-9 * mean, "{name} {}: {parts}, {mean}", class.name);
            for hops in &class.hops {
                let mean = hops.means.network_latency_cycles.unwrap().mean;
                let parts = sum([
                    hops.means.transfer_cycles,
                    hops.means.input_cycles,
                    hops.means.arbitration_cycles,
                    hops.means.output_cycles,
                    hops.means.gap_cycles,
                ]);
                assert!((parts - mean).abs() < 1e-9 * mean, "{name} {}: {parts}, {mean}", class.name);
                let transfer = hops.means.transfer_cycles.unwrap();
                assert_eq!(transfer.mean, 5.0 - 1.0 + 5.0 * f64::from(hops.hops.unwrap_or(0)) + 32.0);
                assert_eq!(transfer.half_width_95, Some(0.0));
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------- coverage

/// An estimate with the ends of its interval.
#[derive(Clone, Copy, Debug)]
struct Interval {
    mean: f64,
    lower: f64,
    upper: f64,
}

impl Interval {
    fn of(estimate: Estimate) -> Self {
        let Estimate { mean, half_width_95, .. } = estimate;
        let half_width = half_width_95.unwrap();
        Self { mean, lower: mean - half_width, upper: mean + half_width }
    }

    fn exactly(mean: f64) -> Self {
        Self { mean, lower: mean, upper: mean }
    }

    /// Whether the two agree when both may be off: `self` short of `truth` uses its upper side, and so on.
    fn covers(&self, truth: &Self) -> bool {
        let (own, other) = if truth.mean >= self.mean {
            (self.upper - self.mean, truth.mean - truth.lower)
        } else {
            (self.mean - self.lower, truth.upper - truth.mean)
        };
        (self.mean - truth.mean).abs() <= own.hypot(other)
    }
}

/// The quantities of a simulation by name, each with its interval.
fn quantities(simulation: &Simulation) -> Vec<(String, Interval)> {
    let mut quantities = Vec::new();
    for class in &simulation.classes {
        let mut add = |what: &str, interval| quantities.push((format!("{} {what}", class.name), interval));
        add("network latency", Interval::of(class.network_latency_cycles.unwrap()));
        add("waiting", Interval::of(class.waiting_cycles.unwrap()));
        add("total latency", Interval::of(class.total_latency_cycles.unwrap()));
        for deadline in &class.deadlines {
            let found = deadline.miss_probability.unwrap();
            let interval = Interval { mean: found.mean, lower: found.lower_95, upper: found.upper_95 };
            add(&format!("misses of {}", deadline.deadline_cycles), interval);
        }
    }
    quantities
}

/// One experiment per seed, each on one thread, as many at a time as there are cores.
///
/// Not with `par_iter`: a worker that waits for an experiment would start the next one on the same stack.
fn for_each_seed(scenario: &Scenario, settings: &Settings, seeds: std::ops::Range<u64>) -> Vec<Simulation> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicU64::new(seeds.start);
    let work = || {
        let mut done = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return done;
            }
            let settings = Settings { seed, threads: Some(1), ..settings.clone() };
            done.push(run(scenario, &settings));
        }
    };
    let mut simulations = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    simulations.sort_unstable_by_key(|simulation| simulation.run.seed);
    simulations
}

/// How often, over so many seeds, the intervals of experiments cover the truth; prints it, and gives back what
/// is out of range.
///
/// Were each interval to cover with probability 95 % exactly, a share of 200 would be outside 92 to 98 % once in
/// 20 cases, below 88 % once in 30,000.
fn out_of_range(
    scenario: &Scenario,
    settings: &Settings,
    seeds: std::ops::Range<u64>,
    truths: &[(String, Interval)],
    lowest: f64,
) -> (Vec<String>, f64) {
    let started = Instant::now();
    let count = (seeds.end - seeds.start) as f64;
    let simulations = for_each_seed(scenario, settings, seeds);
    assert!(simulations.iter().all(|simulation| !simulation.saturated));
    let mean = |of: &dyn Fn(&Simulation) -> f64| simulations.iter().map(of).sum::<f64>() / count;
    println!(
        "{}, precision {}: {count} seeds, mean {:.0} messages, warm-up {:.0} of {:.0} cycles, {:.1} s",
        scenario.spec().name,
        settings.precision,
        mean(&|s| s.run.messages as f64),
        mean(&|s| s.run.warmup_cycles as f64),
        mean(&|s| (s.run.warmup_cycles + s.run.measured_cycles) as f64),
        started.elapsed().as_secs_f64(),
    );
    let all: Vec<Vec<(String, Interval)>> = simulations.iter().map(quantities).collect();
    let mut wrong = Vec::new();
    let mut coverings = 0.0;
    for (what, truth) in truths {
        let found: Vec<Interval> =
            all.iter().map(|one| one.iter().find(|(name, _)| name == what).unwrap().1).collect();
        let covering = found.iter().filter(|interval| interval.covers(truth)).count() as f64 / count;
        let short = found.iter().filter(|i| !i.covers(truth) && i.mean < truth.mean).count() as f64 / count;
        let estimate = found.iter().map(|interval| interval.mean).sum::<f64>() / count;
        let half_width = found.iter().map(|i| (i.upper - i.lower) / 2.0).sum::<f64>() / count;
        let deviation =
            (found.iter().map(|i| (i.mean - estimate).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
        let bias =
            found.iter().map(|i| 2.0 * (i.mean - truth.mean) / (i.upper - i.lower)).sum::<f64>() / count;
        println!(
            "  {what}: {:.1} % cover {:.5} ({:.1} % short, {:.1} % beyond); mean {estimate:.5}, half-width \
             {half_width:.5} = {:.2} deviations; bias {bias:.3} half-widths +- {:.3}",
            100.0 * covering,
            truth.mean,
            100.0 * short,
            100.0 * (1.0 - covering - short),
            half_width / deviation,
            2.0 * deviation / half_width / count.sqrt(),
        );
        coverings += covering;
        if covering < lowest {
            wrong.push(format!("{what}: {covering}"));
        }
    }
    (wrong, coverings / truths.len() as f64)
}

/// Mean waiting `1 + M ρ / (2 (1 - ρ))`, exact when nothing behind the network interface holds it up.
#[test]
#[ignore = "four hundred experiments"]
fn intervals_cover_an_exact_mean() {
    let mut wrong = Vec::new();
    for (load, precision) in [(0.3, 0.02), (0.6, 0.05)] {
        let class = ClassSpec::real_time("R1", load / 32.0);
        let scenario = ScenarioSpec {
            name: format!("one class at load {load}"),
            network: NetworkSpec::Router { ports: 2 },
            router: RouterSpec { buffer_flits: 65_536, ..RouterSpec::default() },
            classes: vec![class],
            ..ScenarioSpec::default()
        };
        let mean = 1.0 + 32.0 * load / (2.0 * (1.0 - load));
        let truths = [("R1 waiting".to_owned(), Interval::exactly(mean))];
        let settings = Settings { precision, ..Settings::default() };
        let (short, mean) = out_of_range(&scenario.check().unwrap(), &settings, 1..201, &truths, 0.92);
        wrong.extend(short);
        assert!((0.92..=0.98).contains(&mean), "{load}: {mean}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Network latency, waiting and misses, against a run of another seed that is many times longer: 95 % +- 3 % of
/// all intervals cover. Single quantities may fall short of that: the waiting of best effort is so skewed that
/// its intervals were seen to cover 91 to 93 % of the time, misses of a tenth up to 98.5 %.
#[test]
#[ignore = "hundreds of experiments"]
fn intervals_cover_what_a_long_run_finds() {
    let mut wrong = Vec::new();
    for (name, precision, seeds, messages) in
        [("router16", 0.03, 1..201, 30_000_000), ("cube5", 0.03, 1..201, 10_000_000)]
    {
        // deadlines that about a tenth and a hundredth of the messages miss
        let mut spec = preset(name).spec().clone();
        let pilot = run(&preset(name), &Settings { seed: 88_888, ..Settings::default() });
        for (class, found) in spec.classes.iter_mut().zip(&pilot.classes) {
            let at = [found.latency_percentiles_cycles.p90, found.latency_percentiles_cycles.p99];
            class.deadlines = at.map(|at| DeadlineSpec::Cycles(at.unwrap().value as u32)).to_vec();
        }
        let scenario = spec.check().unwrap();
        // of a length that does not depend on what it finds, and of many replications: a run that stops when
        // its interval looks narrow may be one whose interval looks too narrow
        let reference = Settings {
            seed: 77_777,
            replications: Some(64),
            precision: 1e-9,
            max_messages: messages,
            warmup_cycles: Some(20_000),
            ..Settings::default()
        };
        let long = run(&scenario, &reference);
        println!("reference: {} messages", long.run.messages);
        let settings = Settings { precision, ..Settings::default() };
        let (short, mean) = out_of_range(&scenario, &settings, seeds, &quantities(&long), 0.88);
        println!("  on average {:.1} % cover", 100.0 * mean);
        wrong.extend(short);
        assert!((0.92..=0.98).contains(&mean), "{name}: {mean}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Two real-time classes and best effort with short messages: a precise run takes few cycles.
fn small(name: &str, network: NetworkSpec, rates: [f64; 3]) -> Scenario {
    let [one, two, rest] = rates;
    let classes = [
        ClassSpec::real_time("R1", one),
        ClassSpec::real_time("R2", two),
        ClassSpec::best_effort("BE", rest),
    ];
    let classes = classes.map(|class| ClassSpec { message_flits: 8, ..class });
    let router = RouterSpec { buffer_flits: 8, ..RouterSpec::default() };
    ScenarioSpec {
        name: name.to_owned(),
        network,
        router,
        classes: classes.to_vec(),
        ..ScenarioSpec::default()
    }
    .check()
    .unwrap()
}

/// Settings as users leave them: the precision decides. 27 cells: network latency, waiting and their sum, of three
/// classes, at moderate load, near saturation (best effort waits for 6 network latencies) and in a cube. The presets
/// take 20 times the flits and show the same: with Student's intervals and no regard to memory, best effort's waiting
/// near saturation was covered in 86 % of 165 runs, nearly all misses being short.
///
/// An interval that covers with probability 95 to 97 % is outside 92 to 98.5 % of 200 seeds once in 25 to 60 cells.
#[test]
#[ignore = "six hundred experiments"]
fn intervals_cover_in_every_cell() {
    let router = NetworkSpec::Router { ports: 4 };
    let cube = NetworkSpec::Hypercube { dimension: 2 };
    let cases = [
        (small("moderate", router, [0.02, 0.01, 0.03]), 4_000_000),
        (small("near saturation", router, [0.033, 0.016_5, 0.04]), 24_000_000),
        (small("cube", cube, [0.02, 0.01, 0.02]), 4_000_000),
    ];
    let mut wrong = Vec::new();
    for (scenario, max_messages) in cases {
        // of a length that does not depend on what it finds
        let reference = Settings {
            seed: 77_777,
            replications: Some(128),
            precision: 1e-9,
            max_messages,
            warmup_cycles: Some(60_000),
            ..Settings::default()
        };
        let truths = quantities(&run(&scenario, &reference));
        let (short, mean) = out_of_range(&scenario, &Settings::default(), 1..201, &truths, 0.92);
        println!("  on average {:.1} % cover", 100.0 * mean);
        wrong.extend(short);
        if !(0.93..=0.98).contains(&mean) {
            wrong.push(format!("{}, on average: {mean}", scenario.spec().name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

// ------------------------------------------------------------------------------------------- reproducibility

/// What was heard, in order.
#[derive(Default)]
struct Heard(Vec<(u32, Delivery)>);

impl Listener for Heard {
    fn progress(&mut self, _: &Progress) {}
    fn measured(&mut self, replication: u32, messages: &[Delivery]) {
        self.0.extend(messages.iter().map(|message| (replication, *message)));
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let cases = [
        (preset("router16"), 1),
        (preset("cube5"), 2),
        (preset("router16-on-off"), 3),
        // best effort is saturated
        (with_rates("router16", &[0.005, 0.0025, 0.03]), 4),
    ];
    for (scenario, seed) in cases {
        let found = |threads| {
            let settings = Settings {
                seed,
                threads: Some(threads),
                precision: 0.1,
                max_messages: 100_000,
                ..Settings::default()
            };
            let mut heard = Heard::default();
            let stop = AtomicBool::new(false);
            let simulation = experiment::run(&scenario, &settings, &stop, &mut heard).unwrap();
            assert_eq!(simulation.run.threads, threads as u32);
            let mut value = serde_json::to_value(&simulation).unwrap();
            let run = value["run"].as_object_mut().unwrap();
            for of_the_machine in ["flit_hops_per_second", "threads", "simulation_seconds", "wall_seconds"] {
                run.remove(of_the_machine).unwrap();
            }
            (value, heard.0)
        };
        let (alone, heard_alone) = found(1);
        for threads in [2, 3] {
            let (together, heard_together) = found(threads);
            assert_eq!(alone, together, "{}, {threads} threads", scenario.spec().name);
            assert!(heard_alone == heard_together, "{}, {threads} threads", scenario.spec().name);
        }
    }
}

#[test]
fn another_seed_gives_other_bits_and_the_same_answer() {
    let scenario = preset("router16");
    let found = |seed| {
        let settings = Settings { seed, precision: 0.03, ..Settings::default() };
        Interval::of(run(&scenario, &settings).classes[0].network_latency_cycles.unwrap())
    };
    let (one, other) = (found(1), found(2));
    assert_ne!(one.mean, other.mean);
    // the combined half-width is exceeded in one of 20 cases, twice that in one of 10,000
    assert!((one.mean - other.mean).abs() <= 2.0 * (one.upper - one.mean).hypot(other.upper - other.mean));
}

// ----------------------------------------------------------------------------------------------- saturation

fn saturated(simulation: &Simulation) -> Vec<&str> {
    let saturated = simulation.classes.iter().filter(|class| class.saturated);
    saturated.map(|class| class.name.as_str()).collect()
}

/// Rates of the classes, and those that are saturated by them.
const BEYOND: &[([f64; 3], &[&str])] = &[
    ([0.005, 0.0025, 0.03], &["BE"]),
    // alone a class takes no more than one link
    ([0.0, 0.0, 0.05], &["BE"]),
    ([0.03, 0.0025, 0.0], &["R1"]),
    // R1 is held up by headers in front of its input buffers, so that there is room for a little best effort
    ([0.03, 0.0025, 0.001], &["R1"]),
    ([1.0, 1.0, 1.0], &["R1", "R2", "BE"]),
];

#[test]
fn saturated_classes_are_named_and_have_no_waiting() {
    let mut wrong = Vec::new();
    for (rates, wanted) in BEYOND {
        let settings = Settings { precision: 0.05, max_messages: 1_000_000, ..Settings::default() };
        let started = Instant::now();
        let simulation = run(&with_rates("router16", rates), &settings);
        let found = saturated(&simulation);
        println!(
            "{rates:?}: {found:?}, {:?} after {} messages, {} cycles, {:.2} s",
            simulation.run.stopped_by,
            simulation.run.messages,
            simulation.run.simulated_cycles,
            started.elapsed().as_secs_f64()
        );
        for class in &simulation.classes {
            let accepted = class.accepted_rate_messages_per_cycle.map(|rate| rate.mean);
            println!("  {}: accepted {accepted:?}, {:?}", class.name, class.saturation);
            println!("    {:?} {:?}", class.network_latency_cycles, class.waiting_cycles);
            let sends = simulation.scenario.classes.iter().any(|c| c.name == class.name && c.rate > 0.0);
            assert_eq!(class.saturation.is_some(), class.saturated);
            assert_eq!(class.waiting_cycles.is_some(), sends && !class.saturated, "{rates:?} {}", class.name);
            assert_eq!(class.total_latency_cycles.is_some(), class.waiting_cycles.is_some());
            assert_eq!(class.network_latency_cycles.is_some(), sends, "{rates:?} {}", class.name);
        }
        if found != *wanted {
            wrong.push(format!("{rates:?}: {found:?}, wanted {wanted:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Every source offers 96 times what its link takes.
#[test]
fn a_run_far_beyond_saturation_ends_early() {
    for name in ["router16", "cube6"] {
        let scenario = with_rates(name, &[1.0, 1.0, 1.0]);
        let started = Instant::now();
        let simulation = run(&scenario, &Settings::default());
        let seconds = started.elapsed().as_secs_f64();
        let run = &simulation.run;
        println!(
            "{name}: {:?}, {} cycles, {} messages, {seconds:.2} s",
            run.stopped_by, run.simulated_cycles, run.messages
        );
        assert_eq!(saturated(&simulation), ["R1", "R2", "BE"]);
        assert!(run.messages <= 2_000_000, "{name}: {} messages", run.messages);
    }
}

/// The largest factor of the rates at which no class is flagged, between two that are known, to 1 %.
fn saturation_factor(name: &str, vary: &[usize]) -> f64 {
    let base = preset(name);
    let scaled = |factor: f64| {
        let mut spec = base.spec().clone();
        vary.iter().for_each(|class| spec.classes[*class].rate *= factor);
        spec.check().unwrap()
    };
    let settings = Settings { precision: 0.02, max_messages: 3_000_000, ..Settings::default() };
    let (mut stable, mut beyond) = (0.5, 6.0);
    while beyond / stable > 1.01 {
        let factor = f64::sqrt(stable * beyond);
        if run(&scaled(factor), &settings).saturated { beyond = factor } else { stable = factor }
    }
    stable
}

#[test]
#[ignore = "a search and 20 seeds at heavy load, several times"]
fn stable_classes_are_not_called_saturated() {
    let mut wrong = Vec::new();
    for (name, vary) in [("router16", &[0, 1, 2][..]), ("router16", &[2]), ("cube5", &[0, 1, 2])] {
        let factor = saturation_factor(name, vary);
        for share in [0.9, 0.95] {
            let mut spec = preset(name).spec().clone();
            vary.iter().for_each(|class| spec.classes[*class].rate *= share * factor);
            let scenario = spec.check().unwrap();
            let settings = Settings { precision: 0.05, ..Settings::default() };
            let simulations = for_each_seed(&scenario, &settings, 1..21);
            let found: Vec<_> = simulations
                .iter()
                .map(|simulation| (simulation.saturated, simulation.notes.len(), simulation.run.stopped_by))
                .collect();
            let flagged = found.iter().filter(|found| found.0).count();
            let noted = found.iter().filter(|found| found.1 > 0).count();
            let narrow = found.iter().filter(|found| found.2 == StoppedBy::Precision).count();
            println!(
                "{name}, classes {vary:?}: saturated from {factor:.3} times the rates; at {share} of that \
                 {flagged} of 20 flagged, {noted} with notes, {narrow} narrow enough"
            );
            if share < 0.92 && flagged > 0 {
                wrong.push(format!("{name} {vary:?}: {flagged} of 20"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

// -------------------------------------------------------------------------------------------------- settings

#[test]
fn a_given_warm_up_is_used_as_given() {
    for cycles in [0, 1, 12_345] {
        let settings = Settings { warmup_cycles: Some(cycles), precision: 0.05, ..Settings::default() };
        let mut heard = Heard::default();
        let simulation =
            experiment::run(&preset("router16"), &settings, &AtomicBool::new(false), &mut heard).unwrap();
        assert_eq!(simulation.run.warmup_cycles, cycles);
        assert_eq!(simulation.run.warmup, WarmUpKind::Given);
        // all that was generated in the window, and nothing else
        let end = cycles + simulation.run.measured_cycles;
        assert!(heard.0.iter().all(|(_, message)| (cycles..end).contains(&message.generated_cycle)));
        assert_eq!(heard.0.len() as u64, simulation.run.messages);
        // 0.28 messages per cycle: some near both ends of the window
        let generated = || heard.0.iter().map(|(_, message)| message.generated_cycle);
        assert!(generated().min().unwrap() < cycles + 10 && generated().max().unwrap() + 10 > end);
    }
}

/// A class of 0.2 messages of 8 flits a cycle and node, more than its share of the link, between cycles 2,000 and
/// 4,500.
fn burst(at_end: EndOfTraffic) -> Scenario {
    let mut spec = small("burst", NetworkSpec::Router { ports: 4 }, [0.02, 0.01, 0.2]).spec().clone();
    let rest = &mut spec.classes[2];
    (rest.start, rest.end, rest.end_of_traffic) = (Some(2_000.0), Some(4_500.5), Some(at_end));
    spec.measure = Some(MeasureSpec { warm_up: None, end: Some(9_999.5), bin: Some(300.5) });
    spec.check().unwrap()
}

#[test]
fn a_terminating_run_is_measured_from_its_start_to_its_end() {
    let simulated = |at_end| {
        let mut heard = Heard::default();
        let stop = AtomicBool::new(false);
        let found = experiment::run(&burst(at_end), &Settings::default(), &stop, &mut heard).unwrap();
        (found, heard.0)
    };
    let (taken_back, heard) = simulated(EndOfTraffic::Withdraw);
    let run = &taken_back.run;
    assert_eq!((run.replications, run.batches_per_replication, run.measured_cycles), (8, 1, 10_000));
    assert_eq!((run.stopped_by, run.warmup, run.warmup_cycles), (StoppedBy::End, WarmUpKind::Absent, 0));
    assert!(!taken_back.saturated && heard.len() as u64 == run.messages);
    for (index, class) in taken_back.classes.iter().enumerate() {
        let fates = class.fates.unwrap();
        let of_class = heard.iter().filter(|(_, message)| usize::from(message.class) == index);
        assert_eq!(fates.delivered_messages, of_class.count() as u64);
        let ended = fates.delivered_messages + fates.withdrawn_messages + fates.unfinished_messages;
        assert_eq!(ended, fates.generated_messages, "{}", class.name);
        // the series has every message delivered
        let bins = || taken_back.over_time.iter().flatten().filter(|bin| bin.class == class.name);
        let delivered = bins().filter_map(|bin| bin.delivered_flits_per_cycle).map(|found| found.messages);
        assert_eq!((delivered.sum::<u64>(), bins().count()), (fates.delivered_messages, 34));
    }
    let rest = |message: &&(u32, Delivery)| message.1.class == 2;
    let times = || heard.iter().filter(rest).map(|(_, message)| message.generated_cycle);
    assert!((2_000..2_010).contains(&times().min().unwrap()) && times().max().unwrap() <= 4_501);
    // what is sent after the end was under way
    assert!(heard.iter().filter(rest).all(|(_, message)| message.entered_cycle <= 4_501 + 50));
    let at = |found: &Simulation, start: u64| {
        let bin = found.over_time.iter().flatten().find(|bin| bin.start_cycle == start && bin.class == "BE");
        bin.unwrap().delivered_flits_per_cycle.unwrap()
    };
    assert_eq!((at(&taken_back, 1_503).messages, at(&taken_back, 6_010).messages), (0, 0));
    assert!(at(&taken_back, 3_005).mean > 1.5 && at(&taken_back, 3_005).half_width_95.unwrap() > 0.0);

    let (drained, _) = simulated(EndOfTraffic::Drain);
    let [one, other] = [&taken_back, &drained].map(|found| found.classes[2].fates.unwrap());
    assert_eq!((one.generated_messages, other.withdrawn_messages), (other.generated_messages, 0));
    assert!(one.withdrawn_messages > one.generated_messages / 4 && at(&drained, 6_010).mean > 1.5);
    let note = taken_back.notes.iter().find(|note| note.starts_with("BE: of ")).unwrap();
    assert!(note.ends_with("were taken back at the end of its traffic"), "{note}");
}

#[test]
fn a_scenario_gives_the_warm_up() {
    let mut spec = preset("router16").spec().clone();
    spec.measure = Some(MeasureSpec { warm_up: Some(1_234.0), end: None, bin: None });
    let settings = Settings { precision: 0.05, ..Settings::default() };
    let run = run(&spec.check().unwrap(), &settings).run;
    assert_eq!((run.warmup_cycles, run.warmup, run.replications), (1_234, WarmUpKind::Given, 16));
}

#[test]
fn a_detected_warm_up_says_so() {
    let simulation = run(&preset("router16"), &Settings { precision: 0.05, ..Settings::default() });
    assert_eq!(simulation.run.warmup, WarmUpKind::Detected);
    assert!(simulation.run.warmup_cycles > 0);
    assert_eq!(simulation.run.stopped_by, StoppedBy::Precision);
    assert!(simulation.run.reached_precision.unwrap() <= 0.05);
    assert_eq!(simulation.run.replications, 16);
}

/// The bound is kept to the cycle, however long the runs were in which the end of the warm-up was looked for.
#[test]
fn no_more_messages_than_asked_for() {
    let rates = [[0.005, 0.0025, 0.01], [0.0075, 0.003_75, 0.01]];
    for (rates, max_messages) in [(0, 1), (0, 200), (0, 20_000), (0, 100_000), (1, 100_000)]
        .map(|(of, max_messages)| (rates[of], max_messages))
    {
        let settings = Settings { precision: 1e-6, max_messages, ..Settings::default() };
        let simulation = run(&with_rates("router16", &rates), &settings);
        println!("{rates:?}, {max_messages}: {} measured", simulation.run.messages);
        assert_eq!(simulation.run.stopped_by, StoppedBy::MaxMessages);
        // 16 replications bring 5 messages per cycle
        let beyond = simulation.run.messages - max_messages;
        assert!(beyond <= 30, "{max_messages}: {}", simulation.run.messages);
        let simulated = simulation.run.simulated_cycles as f64 * 16.0 * rates.iter().sum::<f64>();
        assert!(simulated <= 4.5 * max_messages as f64 + 40_000.0, "{max_messages}: {simulated}");
    }
}

/// Both are so at the first look: what was asked for has been reached, not what was allowed.
#[test]
fn precision_counts_before_the_bound() {
    let settings = Settings { precision: 0.2, max_messages: 20_000, ..Settings::default() };
    let simulation = run(&preset("router16"), &settings);
    let run = &simulation.run;
    assert!((20_000..20_030).contains(&run.messages), "{}", run.messages);
    assert_eq!(run.stopped_by, StoppedBy::Precision);
    assert!(run.reached_precision.unwrap() <= 0.2);
    assert_eq!(run.least_precise_class.as_deref(), Some("BE"));
    assert_eq!(
        run.went_on_because.as_deref(),
        Some("finding the end of the warm-up took that many messages")
    );
}

/// Precise enough long before the queue of best effort has forgotten its start often enough.
#[test]
fn a_run_near_saturation_measures_for_many_memories() {
    let network = NetworkSpec::Router { ports: 4 };
    let scenario = small("near saturation", network, [0.033, 0.016_5, 0.04]);
    let settings = Settings { precision: 0.05, ..Settings::default() };
    let simulation = run(&scenario, &settings);
    let best_effort = &simulation.classes[2];
    let network = best_effort.network_latency_cycles.unwrap().mean;
    let waiting = best_effort.waiting_cycles.unwrap().mean;
    let memory = (network + waiting) * (1.0 + waiting / network);
    assert!(waiting > 2.0 * network, "{waiting} {network}");
    let cycles = simulation.run.measured_cycles as f64 * f64::from(simulation.run.replications);
    assert!(cycles >= 1_600.0 * memory, "{cycles} {memory}");
    assert_eq!(simulation.run.stopped_by, StoppedBy::Precision);
    assert!(simulation.run.went_on_because.unwrap().starts_with("the queue of BE forgets so slowly"));
    assert!(simulation.notes.is_empty(), "{:?}", simulation.notes);

    // where a bound prevents that, a note says so
    let simulation = run(&scenario, &Settings { max_messages: 100_000, ..settings });
    assert_eq!(simulation.run.stopped_by, StoppedBy::Precision);
    assert!(simulation.notes.iter().any(|note| note.contains("times as long as its queue remembers")));
}

#[test]
fn a_run_without_time_is_partial() {
    let settings = Settings { max_time: Some(Duration::from_nanos(1)), ..Settings::default() };
    let simulation = run(&preset("router16"), &settings);
    assert_eq!((simulation.run.stopped_by, simulation.run.partial), (StoppedBy::MaxTime, true));
    assert_eq!((simulation.run.messages, simulation.run.warmup), (0, WarmUpKind::None));
    assert_eq!(simulation.notes, ["the time was up before anything was measured"]);
    assert!(simulation.classes.iter().all(|class| class.network_latency_cycles.is_none()));
}

#[test]
fn a_single_replication_has_intervals() {
    for name in ["router16", "cube5"] {
        let settings = Settings { replications: Some(1), precision: 0.05, ..Settings::default() };
        let simulation = run(&preset(name), &settings);
        assert_eq!(simulation.run.replications, 1);
        assert!(simulation.run.batches_per_replication >= 10);
        assert_eq!(simulation.run.stopped_by, StoppedBy::Precision);
        for class in &simulation.classes {
            for estimate in [class.network_latency_cycles, class.waiting_cycles, class.total_latency_cycles] {
                let half_width = estimate.unwrap().half_width_95.unwrap();
                assert!(half_width > 0.0 && half_width.is_finite());
            }
            for deadline in &class.deadlines {
                let found = deadline.miss_probability.unwrap();
                assert!(found.lower_95 <= found.mean && found.mean < found.upper_95);
            }
        }
    }
}
