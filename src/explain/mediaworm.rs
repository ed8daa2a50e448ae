//! The mediaworm model explained: what makes the intervals between frames vary, and which load is free of jitter.

use flitwise_language::scenario::Scenario;
use flitwise_models::answer::{Answer, ClassAnswer};

use super::derivation::{Derivation, Entry, Equation, Section};
use super::equations::equations;
use super::formula::Values;
use super::wanted;

equations! {
    TRANSFER: "§4.3", "cycles", "transfer_{c} = P - 1 + P * h + m_{c}",
        "A lone message: its header takes P cycles a router, its flits follow one a cycle. They are m on average: \
         the last message of a frame is what is left of it. h is the mean number of channels crossed, 0 in a single \
         router.";
    CONTENTION: "contention", "cycles", "contention_{c} = L_{c} - transfer_{c}",
        "What sharing the ports of the crossbar adds: real time shares with real time, best effort takes what \
         is left (mediaworm model, README of the models).";
    TOTAL: "(1)", "cycles", "Latency_{c} = L_{c} + W_{c}",
        "What a message takes: in the network, and waiting at the interface before it.";
    INTERVAL: "mean", "cycles", "I_{c} = T_{c}",
        "As many frames are delivered as are sent, so the mean interval is that of the source, whatever waits \
         there are.";
    DELAY: "delays", "cycles", "D_{c} = (L_{c} - transfer_{c} + W_{c}) / 2",
        "What others delay a message by adds up over its flits and over two ports, so its deviation is about half \
         of its mean (simulated: 0.43 to 0.58).";
    DEVIATION: "deviation", "cycles²", "σ_{c}^{2} = N_{c}^{2} + 2 * (1 - r_{c}) * D_{c}^2",
        "The last message of a frame of N messages starts at T (1 - 1 / N): N² is the variance that different \
         numbers of messages in successive frames make. The delays of both frames add theirs, unless each frame \
         is delayed like the one before it (r = 1).";
}

/// The account of an answer of the mediaworm model.
pub(super) fn derivation(scenario: &Scenario, answer: &Answer, only: Option<usize>) -> Derivation {
    let mut derivation = Derivation::default();
    let wanted = wanted(answer, only);
    question(derivation.section("What is asked"), scenario, answer, &wanted);
    let answered: Vec<_> =
        wanted.iter().copied().filter(|(_, answer)| answer.network_latency_cycles.is_some()).collect();
    if !answered.is_empty() {
        latencies(derivation.section("Where the cycles of a message go"), scenario, &answered);
    }
    let of_frames: Vec<_> = wanted.iter().copied().filter(|(_, answer)| answer.frames.is_some()).collect();
    let steady: Vec<_> = answered.iter().copied().filter(|(_, answer)| answer.frames.is_some()).collect();
    if !steady.is_empty() {
        intervals(derivation.section("Why intervals vary"), scenario, &steady);
    }
    if !of_frames.is_empty() {
        room(derivation.section("Which load is free of jitter"), &of_frames);
    }
    derivation
}

fn question(section: &mut Section, scenario: &Scenario, answer: &Answer, wanted: &[(usize, &ClassAnswer)]) {
    section.text(
        "Streams send a frame each `T` cycles, cut into messages of `M` flits that start at even distances. A frame is \
         delivered when the tail of its last message is. Wanted is the time between deliveries of successive frames of \
         a stream: its mean, and how much it varies.",
    );
    let virtual_channels = scenario.virtual_channels();
    let row = |(class, _): &(usize, &ClassAnswer)| {
        let spec = &scenario.classes()[*class];
        let frames = scenario.frames(*class);
        let of_frames = |number: Option<f64>| number.map_or(Entry::from("-"), Entry::from);
        vec![
            Entry::from(spec.name.as_str()),
            spec.kind.word().into(),
            of_frames(frames.as_ref().map(|frames| f64::from(frames.streams))),
            of_frames(frames.as_ref().map(|frames| frames.interval)),
            f64::from(spec.message_flits).into(),
            (virtual_channels[*class].len() as f64).into(),
        ]
    };
    let heads = ["class", "kind", "streams of a node", "T [cycles]", "M [flits]", "virtual channels"];
    section.table(&heads, wanted.iter().map(row).collect());
    for (_, class) in wanted {
        if let Some(saturation) = &class.saturation {
            section.text(format!("{} is saturated: {}.", class.name, saturation.because));
        }
    }
    for note in &answer.notes {
        section.text(format!("Note: {note}."));
    }
}

/// What the symbols of a class stand for.
fn symbols(scenario: &Scenario, index: usize, class: &ClassAnswer) -> Values {
    let known = |number: Option<f64>| number.unwrap_or(f64::NAN);
    let square = |number: Option<f64>| known(number).powi(2);
    let (transfer, latency) = (known(class.transfer_cycles), known(class.network_latency_cycles));
    let frames = class.frames.as_ref();
    Values::of([
        ("P", f64::from(scenario.router().pipeline_stages)),
        ("h", scenario.topology().mean_hops()),
        ("m_{c}", scenario.mean_message_flits(index)),
        ("transfer_{c}", transfer),
        ("contention_{c}", latency - transfer),
        ("L_{c}", latency),
        ("W_{c}", known(class.waiting_cycles)),
        ("Latency_{c}", known(class.total_latency_cycles)),
        ("T_{c}", known(scenario.frames(index).map(|frames| frames.interval))),
        ("I_{c}", known(class.frame_interval_cycles)),
        ("N_{c}^{2}", square(frames.map(|frames| frames.pacing_deviation_cycles))),
        ("D_{c}", known(frames.and_then(|frames| frames.delay_deviation_cycles))),
        ("r_{c}", known(frames.map(|frames| frames.delay_correlation))),
        ("σ_{c}^{2}", square(class.frame_interval_deviation_cycles)),
    ])
}

fn latencies(section: &mut Section, scenario: &Scenario, classes: &[(usize, &ClassAnswer)]) {
    section.steps(&[&TRANSFER, &CONTENTION, &TOTAL], classes, |index, class| symbols(scenario, index, class));
    for (_, class) in classes {
        let (Some(transfer), Some(latency)) = (class.transfer_cycles, class.network_latency_cycles) else {
            continue;
        };
        let waiting = class.waiting_cycles.map(|cycles| ("waiting", cycles));
        let parts = [("transfer", transfer), ("contention", latency - transfer)].into_iter().chain(waiting);
        section.bar(&class.name, parts);
    }
}

fn intervals(section: &mut Section, scenario: &Scenario, classes: &[(usize, &ClassAnswer)]) {
    section.steps(&[&INTERVAL, &DELAY, &DEVIATION], classes, |index, class| symbols(scenario, index, class));
    let row = |(index, class): &(usize, &ClassAnswer)| {
        let interval = scenario.frames(*index).map(|frames| frames.interval);
        let known = |number: Option<f64>| number.map_or(Entry::from("-"), Entry::from);
        let of_interval = |number: Option<f64>| known(number.zip(interval).map(|(part, whole)| part / whole));
        let frames = class.frames.as_ref();
        vec![
            Entry::from(class.name.as_str()),
            known(class.frame_interval_deviation_cycles),
            known(frames.and_then(|frames| frames.frame_interval_deviation_ms)),
            of_interval(class.frame_interval_deviation_cycles),
            of_interval(frames.map(|frames| frames.pacing_deviation_cycles)),
            known(class.late_frames),
        ]
    };
    let heads = ["class", "σ [cycles]", "σ [ms]", "σ / T", "N / T", "late frames"];
    section.table(&heads, classes.iter().map(row).collect());
    section.text(
        "A frame is late if its interval exceeds T by more than a twentieth. Most late frames follow one that has few \
         messages, and so is delivered early.",
    );
}

fn room(section: &mut Section, classes: &[(usize, &ClassAnswer)]) {
    section.text(
        "Up to saturation intervals vary by no more than the above. Beyond it frames fall behind. Two things saturate \
         before a link is full: its virtual channels, each of which serves one message at a time, and a link on which \
         the placement puts more streams than on others.",
    );
    let row = |(_, class): &(usize, &ClassAnswer)| {
        let known = |number: Option<f64>| number.map_or(Entry::from("-"), Entry::from);
        let lanes = class.lanes.as_ref();
        let frames = class.frames.as_ref();
        vec![
            Entry::from(class.name.as_str()),
            known(lanes.map(|lanes| lanes.load_flits_per_cycle)),
            known(lanes.map(|lanes| lanes.saturates_at_flits_per_cycle)),
            Entry::from(lanes.map_or("-", |lanes| lanes.bottleneck.as_str())),
            known(frames.map(|frames| frames.jitter_free_load)),
            known(frames.map(|frames| f64::from(frames.jitter_free_streams))),
            Entry::from(frames.map_or("-", |frames| frames.jitter_free_bottleneck.as_str())),
        ]
    };
    let heads = [
        "class",
        "load [flits/cycle]",
        "saturates at",
        "bottleneck",
        "free of jitter [flits/cycle/node]",
        "streams of a node",
        "limited by",
    ];
    section.table(&heads, classes.iter().map(row).collect());
}
