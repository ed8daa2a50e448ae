//! Runs whose traffic changes, and deadlines of frames.

use flitwise_experiment::answer::{FrameDeadlineSimulation, Simulation, StoppedBy};
use flitwise_experiment::{Listener, Progress, Settings};
use flitwise_language::scenario::Scenario;
use flitwise_language::section::{Cell, Section};
use flitwise_simulator::Delivery;

use crate::run_on;

/// Video and best effort on a router of four ports; 1, 4 and 2 streams a node in three phases of ten frames behind a
/// warm-up of one.
fn changing(best_effort: [f64; 3], more: &str) -> Scenario {
    let phase = |(streams, rate): (u32, f64)| {
        format!(
            "[[phase]]\nduration = 20000\nset = {{ \"class.video.source.streams\" = {streams}, \
             \"class.BE.rate\" = {rate} }}\n"
        )
    };
    let phases: String = [1, 4, 2].into_iter().zip(best_effort).map(phase).collect();
    let text = format!(
        "[units]\nflit_bits = 128\ncycle = \"80 ns\"\n[network]\ntopology = \"router\"\nports = 4\n[router]\n\
         vc_choice = \"drawn\"\ncrossbar = \"multiplexed\"\nbuffer_flits = 20\n\
         scheduler = \"fine-grained-virtual-clock\"\n[measure]\nwarm_up = 2000\n{phases}\
         [[class]]\nname = \"video\"\nkind = \"real-time\"\nmessage_flits = 20\nvirtual_channels = 4\n\
         source = {{ kind = \"vbr\", frame = 200, frame_deviation = 40, frame_interval = 2000, streams = 1, \
         pacing = \"even-late\" }}\n{more}\n\
         [[class]]\nname = \"BE\"\nkind = \"best-effort\"\nmessage_flits = 10\nvirtual_channels = 4\nrate = 0.01\n"
    );
    Scenario::from_toml("changing", &text).unwrap_or_else(|faults| panic!("{}", faults[0]))
}

const DEADLINES: &str =
    "frame_deadline = [{ rule = \"ratchet\" }, { rule = \"playout\", delays = [0, 30, 200] }]";

/// What is measured.
#[derive(Default)]
struct Heard(Vec<(u32, Delivery)>);

impl Listener for Heard {
    fn progress(&mut self, _: &Progress) {}
    fn measured(&mut self, replication: u32, messages: &[Delivery]) {
        self.0.extend(messages.iter().map(|message| (replication, *message)));
    }
}

fn section<'a>(answer: &'a Simulation, name: &str) -> &'a Section {
    answer.sections.find(name).unwrap_or_else(|| panic!("no section {name}"))
}

fn number(section: &Section, row: usize, field: &str) -> f64 {
    let cell = section.cell(row, field).unwrap_or_else(|| panic!("no field {field}"));
    cell.number().unwrap_or_else(|| panic!("{field} in row {row} is {cell:?}"))
}

#[test]
fn a_run_is_told_phase_by_phase() {
    let scenario = changing([0.01, 0.02, 0.01], DEADLINES);
    let mut heard = Heard::default();
    let answer = run_on(2, &scenario, &Settings::default(), &mut heard);
    assert_eq!((answer.run.stopped_by, answer.run.replications), (StoppedBy::End, 8));
    assert_eq!((answer.run.warmup_cycles, answer.run.measured_cycles), (2_000, 60_000));
    let phases = section(&answer, "phases");
    assert_eq!(phases.rows.len(), 6);
    for (class, found) in answer.classes.iter().enumerate() {
        let rows = [0, 1, 2].map(|phase| 2 * phase + class);
        let messages = rows.map(|row| number(phases, row, "messages"));
        assert_eq!(messages.iter().sum::<f64>(), found.network_latency_cycles.unwrap().messages as f64);
        let fates = found.fates.unwrap();
        assert_eq!((fates.unfinished_messages, fates.withdrawn_messages), (0, 0), "all are waited for");
        for (phase, row) in rows.into_iter().enumerate() {
            let window = 2_000 + 20_000 * phase as u64..22_000 + 20_000 * phase as u64;
            let of_phase: Vec<&Delivery> = heard
                .0
                .iter()
                .map(|(_, message)| message)
                .filter(|one| usize::from(one.class) == class && window.contains(&one.generated_cycle))
                .collect();
            assert_eq!(of_phase.len() as f64, messages[phase]);
            let mean = |of: &dyn Fn(&Delivery) -> u64| {
                of_phase.iter().map(|one| of(one)).sum::<u64>() as f64 / of_phase.len() as f64
            };
            let network = mean(&Delivery::network_latency_cycles);
            assert!((number(phases, row, "network_latency_cycles") / network - 1.0).abs() < 1e-12);
            let waiting = mean(&Delivery::waiting_cycles);
            assert!((number(phases, row, "waiting_cycles") / waiting - 1.0).abs() < 1e-12);
            let total = number(phases, row, "total_latency_cycles");
            assert!((total / (network + waiting) - 1.0).abs() < 1e-12);
            assert!((number(phases, row, "network_latency_us") - 0.08 * network).abs() < 1e-9);
            assert_eq!(phases.cell(row, "saturated"), Some(&Cell::from("no")));
            assert!(matches!(
                phases.cell(row, "network_latency_cycles"),
                Some(Cell::Measured(found)) if found.half_width_95.is_some()
            ));
        }
        assert!(messages[1] > 1.8 * messages[0], "{messages:?}");
    }
    let of_video = |field: &str| [0, 2, 4].map(|row| number(phases, row, field));
    let latency = of_video("network_latency_cycles");
    assert!(latency[1] > latency[0] && latency[1] > latency[2], "{latency:?}");
    // 10 frames of 1, 4 and 2 streams at each of 4 nodes in 8 replications
    assert_eq!(of_video("frames"), [320.0, 1_280.0, 640.0]);
    // the last frame of a stream begins no interval
    assert!(of_video("frame_interval_cycles").iter().all(|found| (found - 2_000.0).abs() < 10.0));
    // an interval but for what the last message waits, longer than it takes alone
    assert!(of_video("frame_latency_cycles").iter().all(|found| (2_015.0..2_100.0).contains(found)));
    let all = &answer.classes[0].frame_latency_cycles.unwrap();
    assert_eq!(all.messages, 2_240);
}

/// A ratchet has no deadline for the first frame of each stream, which in the first phase is one of the warm-up.
#[test]
fn deadlines_are_told_by_class_and_by_phase() {
    let answer = run_on(2, &changing([0.01, 0.02, 0.01], DEADLINES), &Settings::default(), &mut ());
    let (video, phases) = (&answer.classes[0], section(&answer, "phases"));
    let rules: Vec<String> = video.frame_deadlines.iter().map(FrameDeadlineSimulation::prefix).collect();
    assert_eq!(rules, ["ratchet", "playout_0", "playout_30", "playout_200"]);
    assert!(answer.classes[1].frame_deadlines.is_empty());
    let ratchet = &video.frame_deadlines[0];
    let frames = [0, 2, 4].map(|row| number(phases, row, "ratchet_frames"));
    // a stream that comes has a first frame: three at each node in the second phase, none in the third
    assert_eq!((frames, ratchet.frames), ([320.0, 1_280.0 - 96.0, 640.0], 2_240 - 96));
    let shares = [0, 2, 4].map(|row| number(phases, row, "ratchet_deadline_missing_probability"));
    let missed: f64 = shares.iter().zip(frames).map(|(share, frames)| share * frames).sum();
    let whole = ratchet.deadline_missing_probability.unwrap();
    assert!((missed / ratchet.frames as f64 / whole.mean - 1.0).abs() < 1e-9);
    // frames 1 to 10, 11 to 20 of the oldest and 1 to 9 of three more, 21 to 30 of one and 10 to 19 of another
    let harmonic =
        |frames: std::ops::RangeInclusive<u32>| frames.map(|k| 1.0 / f64::from(k + 1)).sum::<f64>();
    let expected = [
        harmonic(1..=10) / 10.0,
        (harmonic(11..=20) + 3.0 * harmonic(1..=9)) / 37.0,
        (harmonic(21..=30) + harmonic(10..=19)) / 20.0,
    ];
    for (row, expected) in [0, 2, 4].into_iter().zip(expected) {
        assert!((number(phases, row, "law_of_records") - expected).abs() < 1e-12, "row {row}");
    }
    // more jitter in the second phase: more records than there
    assert!(shares[1] > expected[1]);
    let playout: Vec<f64> =
        video.frame_deadlines[1..].iter().map(|one| one.deadline_missing_probability.unwrap().mean).collect();
    assert!(playout[0] > 0.99 && playout[0] > playout[1] && playout[1] > playout[2], "{playout:?}");
    let time = video.frame_deadlines[1].deadline_missing_time_cycles.unwrap();
    let offset = video.frame_latency_cycles.unwrap().mean - 2_000.0;
    assert!((time.mean * playout[0] - offset).abs() < 1.0, "{time:?} {offset}");
    let in_ms = video.frame_deadlines[1].deadline_missing_time_ms.unwrap().mean;
    assert!((in_ms - time.mean * 80e-6).abs() < 1e-12);
    assert!(video.frame_offset_deviation_cycles.unwrap().mean > 0.0);
    assert!(
        answer.notes.iter().any(|note| note.contains("law of records") && note.contains("(H_K - 1)/(K - 1)"))
    );
}

/// The backlog of best effort grows in the second phase, which brings 1.2 flits a cycle, and shrinks in the third.
#[test]
fn saturation_is_that_of_a_phase() {
    let answer = run_on(2, &changing([0.01, 0.12, 0.005], ""), &Settings::default(), &mut ());
    let phases = section(&answer, "phases");
    let saturated = |class: usize| {
        [0, 1, 2].map(|phase| phases.cell(2 * phase + class, "saturated") == Some(&Cell::from("yes")))
    };
    assert_eq!((saturated(0), saturated(1)), ([false; 3], [false, true, false]));
    assert_eq!(answer.classes[1].fates.unwrap().unfinished_messages, 0);
    assert!(answer.classes[0].frame_deadlines.is_empty() && answer.sections.find("utilization").is_none());
}

#[test]
fn replications_of_runs_with_phases_are_the_same_on_any_number_of_threads() {
    let scenario = changing([0.01, 0.02, 0.01], DEADLINES);
    let settings = Settings { replications: Some(3), ..Settings::default() };
    let told = |threads| {
        let answer = run_on(threads, &scenario, &settings, &mut ());
        format!("{:?} {:?}", answer.classes, answer.sections)
    };
    assert_eq!(told(1), told(3));
}

/// Without phases frames count that begin behind the warm-up, and whose messages have all been waited for.
#[test]
fn deadlines_hold_in_the_steady_state_too() {
    let text = format!(
        "[network]\ntopology = \"router\"\nports = 4\n[router]\nvc_choice = \"drawn\"\n\
         crossbar = \"multiplexed\"\nscheduler = \"fine-grained-virtual-clock\"\n\
         [[class]]\nname = \"video\"\nkind = \"real-time\"\nmessage_flits = 20\n\
         source = {{ kind = \"cbr\", frame = 417, frame_interval = 4000, streams = 1, placement = \"balanced\" }}\n\
         {DEADLINES}\n"
    );
    let scenario = Scenario::from_toml("lone", &text).unwrap();
    let answer = run_on(2, &scenario, &Settings { replications: Some(4), ..Settings::default() }, &mut ());
    let [ratchet, playout, ..] = &answer.classes[0].frame_deadlines[..] else { unreachable!() };
    // frames of streams that meet nobody all have the same offset, which is no interval long
    assert!(ratchet.frames > 40 && ratchet.frames < playout.frames + 1, "{ratchet:?}");
    assert_eq!(ratchet.deadline_missing_probability.unwrap().mean, 0.0);
    assert_eq!(ratchet.deadline_missing_time_cycles, None);
    assert_eq!(playout.deadline_missing_probability.unwrap().mean, 0.0);
    assert_eq!(answer.sections.find("phases"), None);
}
