//! Campaigns: what is kept is what would be measured, and more is added to it.

use std::sync::atomic::{AtomicBool, Ordering};

use flitwise_experiment::Settings;
use flitwise_experiment::answer::Simulation;
use flitwise_language::scenario::{DeadlineSpec, Preset, Scenario, Scheduler};
use flitwise_simulator::Delivery;
use flitwise_simulator::{REVISION, Simulator};
use flitwise_validation::campaign::{self, Listener, Outcome, Progress};
use flitwise_validation::machine::Machine;
use flitwise_validation::store::Store;

use crate::{simulate, simulate_all};

fn router(rate: f64) -> Scenario {
    let mut spec = Preset::find("router16").unwrap().scenario().spec().clone();
    spec.classes[0].rate = rate;
    spec.classes[1].rate = rate / 2.0;
    spec.check().unwrap()
}

fn settings(precision: f64) -> Settings {
    Settings { precision, max_messages: 2_000_000, ..Settings::default() }
}

fn run(scenarios: &[Scenario], precision: f64, store: Option<&Store>) -> Outcome {
    simulate_all(scenarios, &settings(precision), store)
}

/// Everything but the time it took, and what campaigns leave out.
fn numbers(simulation: &Simulation) -> String {
    let mut simulation = simulation.clone();
    simulation.classes.iter_mut().for_each(|class| class.hops.clear());
    simulation.run.wall_seconds = 0.0;
    simulation.run.simulation_seconds = 0.0;
    simulation.run.flit_hops_per_second = 0.0;
    serde_json::to_string(&simulation).unwrap()
}

fn all(outcome: &Outcome) -> Vec<String> {
    outcome.simulations.iter().map(|one| numbers(one.as_ref().unwrap())).collect()
}

#[test]
fn what_is_kept_is_what_was_measured() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let scenarios = [router(0.002), router(0.005), router(0.02)];
    let first = run(&scenarios, 0.05, Some(&store));
    assert_eq!((first.simulated, first.interrupted), (3, false));
    let again = run(&scenarios, 0.05, Some(&store));
    assert_eq!(again.simulated, 0);
    assert_eq!(all(&first), all(&again));
    let alone = simulate(&scenarios[1], &settings(0.05));
    assert_eq!(all(&first)[1], numbers(&alone));
    assert!(first.simulations[2].as_ref().unwrap().saturated);
}

#[test]
fn more_precision_adds_replications_to_those_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let scenarios = [router(0.006)];
    let simulation = |precision: f64| {
        let outcome = run(&scenarios, precision, Some(&store));
        (outcome.simulated, outcome.simulations[0].clone().unwrap())
    };
    let (_, coarse) = simulation(0.05);
    let (simulated, fine) = simulation(0.01);
    assert_eq!(simulated, 1);
    assert!(fine.run.replications >= 32, "{}", fine.run.replications);
    assert!(fine.run.messages > 2 * coarse.run.messages);
    assert!(fine.run.reached_precision.unwrap() <= 0.01, "{:?}", fine.run.reached_precision);
    // what is more precise than wanted is good enough, and is what it was
    let (simulated, again) = simulation(0.05);
    assert_eq!((simulated, again.run.messages), (0, fine.run.messages));

    // and it is the truth: 95 % intervals of two independent estimates are this far apart once in 5,000 cases
    let other = Settings { seed: 77, ..settings(0.01) };
    let other = simulate(&scenarios[0], &other);
    for (one, other) in fine.classes.iter().zip(&other.classes) {
        let (one, other) = (one.network_latency_cycles.unwrap(), other.network_latency_cycles.unwrap());
        let width = one.half_width_95.unwrap().hypot(other.half_width_95.unwrap());
        assert!((one.mean - other.mean).abs() < 1.9 * width, "{one:?} {other:?}");
    }
}

/// Phases, deadlines of frames and what is told of them are kept with the rest.
#[test]
fn runs_with_phases_come_back_from_the_store() {
    let phase = |streams: u32| {
        format!("[[phase]]\nduration = 9000\nset = {{ \"class.video.source.streams\" = {streams} }}\n")
    };
    let text = format!(
        "[network]\ntopology = \"router\"\nports = 4\n[router]\nvc_choice = \"drawn\"\ncrossbar = \"multiplexed\"\n\
         scheduler = \"fine-grained-virtual-clock\"\n{}[[class]]\nname = \"video\"\nkind = \"real-time\"\n\
         message_flits = 20\nvirtual_channels = 4\nframe_deadline = {{ rule = \"ratchet\" }}\n\
         source = {{ kind = \"cbr\", frame = 200, frame_interval = 2000, streams = 1 }}\n",
        [1, 3].map(phase).concat()
    );
    let scenario = Scenario::from_toml("phases", &text).unwrap_or_else(|faults| panic!("{}", faults[0]));
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let told = |outcome: &Outcome| {
        let found = outcome.simulations[0].as_ref().unwrap();
        assert_eq!(found.sections.find("phases").unwrap().rows.len(), 2);
        format!("{:?} {:?} {:?}", found.sections, found.classes[0].frame_deadlines, found.classes[0].means)
    };
    let first = run(std::slice::from_ref(&scenario), 0.5, Some(&store));
    let again = run(std::slice::from_ref(&scenario), 0.5, Some(&store));
    assert_eq!((first.simulated, again.simulated), (1, 0));
    assert_eq!(told(&first), told(&again));
}

/// What a fresh campaign finds does not depend on what others have left in the store, to the bit.
#[test]
fn a_fresh_campaign_has_the_numbers_of_an_empty_store_whatever_is_kept() {
    let scenarios = [router(0.006), router(0.02)];
    let ask = |precision: f64, fresh: bool, store: Option<&Store>| {
        let settings = Settings { fresh, ..settings(precision) };
        simulate_all(&scenarios, &settings, store)
    };
    let more = |outcome: &Outcome| outcome.simulations[0].as_ref().unwrap().run.more_than_asked;
    let alone = ask(0.02, false, None);
    assert!(!more(&alone));
    // others have asked for more afterwards, or before
    for histories in [&[0.02, 0.008][..], &[0.008], &[0.008, 0.02]] {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        histories.iter().for_each(|precision| drop(ask(*precision, false, Some(&store))));
        let fresh = ask(0.02, true, Some(&store));
        assert_eq!(all(&fresh), all(&alone), "{histories:?}");
        // what is there need not be simulated, and what was not is kept
        assert_eq!(fresh.simulated == 0, histories[0] == 0.02, "{histories:?}: {}", fresh.simulated);
        let again = ask(0.02, true, Some(&store));
        assert_eq!((again.simulated, all(&again)), (0, all(&alone)), "{histories:?}");
        // everybody else uses all there is, and says so
        let usual = ask(0.02, false, Some(&store));
        assert!(more(&usual), "{histories:?}");
        assert_ne!(all(&usual)[0], all(&alone)[0], "{histories:?}");
        assert!(usual.simulations[1].as_ref().unwrap().saturated);
    }
}

/// On an empty store a fresh campaign is like any other, and leaves what others go on from.
#[test]
fn a_fresh_campaign_leaves_what_others_use() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let scenarios = [router(0.005)];
    let settings = Settings { fresh: true, ..settings(0.05) };
    let fresh = simulate_all(&scenarios, &settings, Some(&store));
    let usual = run(&scenarios, 0.05, Some(&store));
    assert_eq!((fresh.simulated, usual.simulated), (1, 0));
    assert_eq!(all(&fresh), all(&usual));
}

#[test]
fn names_and_deadlines_share_a_point() {
    let mut spec = router(0.004).spec().clone();
    spec.name = "another name".to_owned();
    spec.classes[0].name = "video".to_owned();
    spec.classes[0].deadlines = vec![DeadlineSpec::Cycles(60)];
    let scenarios = [router(0.004), spec.check().unwrap()];
    let outcome = run(&scenarios, 0.05, None);
    assert_eq!(outcome.simulated, 1);
    let [one, other] = outcome.simulations.as_slice() else { panic!("two answers") };
    let (one, other) = (one.as_ref().unwrap(), other.as_ref().unwrap());
    assert_eq!(one.classes[0].network_latency_cycles, other.classes[0].network_latency_cycles);
    assert_eq!(other.classes[0].name, "video");
    assert_eq!(other.classes[0].deadlines[0].deadline_cycles, 60);
    assert!(other.classes[0].deadlines[0].miss_probability.unwrap().mean > 0.0);
}

/// Stops after so many reports, and keeps what it was told.
struct Impatient<'a> {
    stop: &'a AtomicBool,
    left: u32,
    notices: Vec<String>,
}

impl Listener for Impatient<'_> {
    fn progress(&mut self, progress: &Progress<'_>) {
        assert!((0.0..=1.0).contains(&progress.share_done) && progress.done < progress.points);
        self.left = self.left.saturating_sub(u32::from(progress.done == 1));
        self.stop.store(self.left == 0, Ordering::Relaxed);
    }

    fn notice(&mut self, text: &str) {
        self.notices.push(text.to_owned());
    }
}

#[test]
fn what_was_complete_when_interrupted_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let scenarios = [router(0.002), router(0.005), router(0.003)];
    let (machine, stop) = (Machine::default(), AtomicBool::new(false));
    let mut listener = Impatient { stop: &stop, left: 2, notices: Vec::new() };
    let outcome =
        campaign::run(&scenarios, &settings(0.02), Some(&store), &machine.host(&stop), &mut listener)
            .unwrap();
    let there: Vec<bool> = outcome.simulations.iter().map(Option::is_some).collect();
    assert_eq!((there, outcome.interrupted, outcome.simulated), (vec![true, false, false], true, 1));
    let whole = run(&scenarios, 0.02, Some(&store));
    assert_eq!(whole.simulated, 2);
    assert_eq!(all(&whole), all(&run(&scenarios, 0.02, None)));
}

#[test]
fn a_broken_file_is_reported_and_measured_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let scenarios = [router(0.003)];
    let first = run(&scenarios, 0.05, Some(&store));
    let mut files = Vec::new();
    for shard in std::fs::read_dir(folder.path()).unwrap() {
        let shard = shard.unwrap().path();
        if shard.is_dir() {
            files.extend(std::fs::read_dir(shard).unwrap().map(|file| file.unwrap().path()));
        }
    }
    let [file] = files.as_slice() else { panic!("{files:?}") };
    let mut bytes = std::fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(file, bytes).unwrap();

    let (machine, stop) = (Machine::default(), AtomicBool::new(false));
    let mut listener = Impatient { stop: &stop, left: u32::MAX, notices: Vec::new() };
    let again = campaign::run(&scenarios, &settings(0.05), Some(&store), &machine.host(&stop), &mut listener)
        .unwrap();
    assert_eq!(again.simulated, 1);
    assert_eq!(all(&first), all(&again));
    let [notice] = listener.notices.as_slice() else { panic!("{:?}", listener.notices) };
    assert!(notice.contains("changed") && notice.contains("moved to"), "{notice}");
    assert_eq!(store.survey().unwrap().quarantined, 1);
}

/// What every scheduler delivers of one seed. Revision 2 changed `fifo` alone, which favoured the lower class before:
/// the other rows are those of revision 1.
#[test]
fn every_scheduler_delivers_what_it_did() {
    let of = |scheduler: Scheduler| {
        let mut spec = Preset::find("router16").unwrap().scenario().spec().clone();
        spec.router.scheduler = scheduler;
        let mut delivered = Vec::new();
        Simulator::new(&spec.check().unwrap(), 1).run_until(20_000, &mut delivered);
        // every message counts, and where it stands
        let sum =
            (1..).zip(&delivered).map(|(at, message)| at * message.network_latency_cycles()).sum::<u64>();
        format!("{} {} {sum}", scheduler.word(), delivered.len())
    };
    assert_eq!(
        Scheduler::OF_CLASSES.map(of),
        [
            "virtual-clock 5588 1159640021",
            "virtual-clock-persistent 5588 1142336699",
            "fair-queueing 5588 1158655086",
            "weighted-round-robin 5588 1159366724",
            "round-robin 5595 1224722633",
            "fifo 5590 1073838052",
            "fine-grained-virtual-clock 5588 1162166781",
            "fine-grained-fair-queueing 5588 1157408596"
        ]
    );
}

/// Whoever changes what the simulator or its measurement gives raises [`REVISION`] and writes down the new sum
/// here: otherwise results of the old one would be taken for the new one's.
#[test]
fn results_are_those_of_this_revision() {
    let fingerprint = |name: &str| {
        let scenario = Preset::find(name).unwrap().scenario();
        let mut delivered = Vec::new();
        Simulator::new(&scenario, 1).run_until(30_000, &mut delivered);
        let sum = |of: &dyn Fn(&Delivery) -> u64| delivered.iter().map(of).sum::<u64>();
        let settings = Settings { precision: 0.2, max_messages: 20_000, ..Settings::default() };
        let run = simulate(&scenario, &settings).run;
        let numbers = [
            delivered.len() as u64,
            sum(&Delivery::network_latency_cycles),
            sum(&Delivery::waiting_cycles),
            sum(&|message| u64::from(message.waits.arbitration)),
            run.warmup_cycles,
            run.measured_cycles,
            run.messages,
        ];
        format!("{name} {numbers:?}")
    };
    assert_eq!(REVISION, 2);
    assert_eq!(
        ["router16", "cube5", "router16-on-off"].map(fingerprint),
        [
            "router16 [8410, 611845, 292242, 90416, 2407, 4460, 20002]",
            "cube5 [8955, 582020, 49650, 34621, 1012, 3098, 14743]",
            "router16-on-off [8799, 798732, 3484117, 186495, 8928, 4495, 20001]"
        ]
    );
}
