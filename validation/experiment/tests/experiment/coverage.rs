//! Confidence intervals of experiments cover what is exactly known, or what a run of another seed found that is many
//! times longer.

use std::fmt::Write as _;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use flitwise_experiment::Settings;
use flitwise_experiment::answer::{Estimate, Simulation};
use flitwise_language::scenario::{ClassSpec, DeadlineSpec, NetworkSpec, RouterSpec, Scenario, ScenarioSpec};
use flitwise_simulator::REVISION;

use crate::experiments::{preset, run};
use crate::run_on;

/// An estimate with the ends of its interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    pub(crate) mean: f64,
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

impl Interval {
    pub(crate) fn of(estimate: Estimate) -> Self {
        let Estimate { mean, half_width_95, .. } = estimate;
        let half_width = half_width_95.unwrap();
        Self { mean, lower: mean - half_width, upper: mean + half_width }
    }

    fn exactly(mean: f64) -> Self {
        Self { mean, lower: mean, upper: mean }
    }

    /// Whether the two agree when both may be off: `self` short of `truth` uses its upper side, and so on.
    pub(crate) fn covers(&self, truth: &Self) -> bool {
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

/// Where the long runs are that intervals are held against, and the command that makes them anew.
const REFERENCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/coverage.csv");
const HEAD: &str = "\
# long runs that confidence intervals are held against: revision of the simulator, scenario, quantity, its 95 % interval
# FLITWISE_REFERENCES=overwrite cargo test --workspace --test experiment -- --ignored coverage
revision,scenario,quantity,mean,lower_95,upper_95
";

/// The rows of the file: revision and scenario, quantity, interval.
fn references() -> Vec<(u32, String, String, Interval)> {
    let text = fs::read_to_string(REFERENCES).unwrap_or_default();
    let row = |line: &str| {
        let [revision, scenario, quantity, mean, lower, upper] = line.split(',').collect::<Vec<_>>()[..]
        else {
            panic!("{line}: wanted six fields");
        };
        let [mean, lower, upper] = [mean, lower, upper].map(|number| number.parse().unwrap());
        let interval = Interval { mean, lower, upper };
        (revision.parse().unwrap(), scenario.to_owned(), quantity.to_owned(), interval)
    };
    text.lines().skip(HEAD.lines().count()).map(row).collect()
}

/// What a long run of a scenario found: from the file, or simulated and written there if that is asked for.
fn reference_of(scenario: &Scenario, settings: &Settings) -> Vec<(String, Interval)> {
    static FILE: Mutex<()> = Mutex::new(());
    let name = scenario.spec().name.clone();
    if std::env::var("FLITWISE_REFERENCES").as_deref() == Ok("overwrite") {
        let found = quantities(&run(scenario, settings));
        let _alone = FILE.lock().unwrap();
        let mut rows = references();
        rows.retain(|row| row.1 != name);
        rows.extend(found.into_iter().map(|(what, interval)| (REVISION, name.clone(), what, interval)));
        let mut text = HEAD.to_owned();
        for (revision, scenario, what, Interval { mean, lower, upper }) in &rows {
            writeln!(text, "{revision},{scenario},{what},{mean},{lower},{upper}").unwrap();
        }
        fs::write(REFERENCES, text).unwrap();
    }
    let _alone = FILE.lock().unwrap();
    let own = references().into_iter().filter(|row| row.1 == name);
    let own: Vec<(String, Interval)> = own.map(|(_, _, what, interval)| (what, interval)).collect();
    assert!(!own.is_empty(), "no reference for {name}");
    own
}

/// The references are of the simulator as it is: whoever raises its revision makes them anew.
#[test]
fn references_are_of_this_simulator() {
    let rows = references();
    assert!(rows.len() > 40, "{} rows", rows.len());
    for (revision, scenario, what, interval) in rows {
        assert_eq!(revision, REVISION, "{scenario}, {what}");
        assert!(interval.lower <= interval.mean && interval.mean <= interval.upper, "{scenario}, {what}");
    }
}

/// One experiment per seed, each on one thread, as many at a time as there are cores.
///
/// Not with `par_iter`: a worker that waits for an experiment would start the next one on the same stack.
pub(crate) fn for_each_seed(
    scenario: &Scenario,
    settings: &Settings,
    seeds: std::ops::Range<u64>,
) -> Vec<Simulation> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicU64::new(seeds.start);
    let work = || {
        let mut done = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return done;
            }
            let settings = Settings { seed, ..settings.clone() };
            done.push(run_on(1, scenario, &settings, &mut ()));
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
            network: NetworkSpec::Router { ports: 2, self_traffic: None },
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
        let truths = reference_of(&scenario, &reference);
        let settings = Settings { precision, ..Settings::default() };
        let (short, mean) = out_of_range(&scenario, &settings, seeds, &truths, 0.88);
        println!("  on average {:.1} % cover", 100.0 * mean);
        wrong.extend(short);
        assert!((0.92..=0.98).contains(&mean), "{name}: {mean}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Two real-time classes and best effort with short messages: a precise run takes few cycles.
pub(crate) fn small(name: &str, network: NetworkSpec, rates: [f64; 3]) -> Scenario {
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
    let router = NetworkSpec::Router { ports: 4, self_traffic: None };
    let cube = NetworkSpec::Hypercube { dimension: 2, self_traffic: None };
    let cases = [
        (small("moderate", router.clone(), [0.02, 0.01, 0.03]), 4_000_000),
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
        let truths = reference_of(&scenario, &reference);
        let (short, mean) = out_of_range(&scenario, &Settings::default(), 1..201, &truths, 0.92);
        println!("  on average {:.1} % cover", 100.0 * mean);
        wrong.extend(short);
        if !(0.93..=0.98).contains(&mean) {
            wrong.push(format!("{}, on average: {mean}", scenario.spec().name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
