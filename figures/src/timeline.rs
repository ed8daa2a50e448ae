//! Deliveries of the frames of streams, from one run.

use std::collections::HashMap;

use flitwise_experiment as experiment;
use flitwise_language::document::{Fault, Place};
use flitwise_language::scenario::Scenario;
use flitwise_simulator::Simulator;
use rayon::prelude::*;

use crate::figure::{Figure, Variant};
use crate::picture::{Axis, Timeline, TimelinePanel};

/// Streams of the first node that are drawn at most.
const STREAMS: u32 = 16;
/// Intervals that are simulated for it, and those before them.
const INTERVALS: u32 = 10;
const START: u32 = 5;
/// Where the axis ends \[intervals\]: between two frames.
const END: f64 = 9.5;
/// Intervals longer than this share of that of the source are late.
const LATE: f64 = 1.05;
/// Most cycles of a run, times the nodes.
const MOST_NODE_CYCLES: f64 = 1e8;

/// Cycles of a run: until all frames that are drawn are delivered, or fall behind.
fn end(interval: f64) -> f64 {
    f64::from(START + INTERVALS + 2) * interval
}

/// The first class that sends frames, and their interval \[cycles\].
fn source(scenario: &Scenario) -> Option<(usize, f64)> {
    let classes = 0..scenario.classes().len();
    classes.filter_map(|class| Some((class, scenario.frames(class)?.interval))).next()
}

/// What cannot be drawn.
pub(crate) fn refused(scenario: &Scenario, place: &Place) -> Vec<Fault> {
    let fault = |found: String, wanted: String| {
        let (place, key) = (place.clone(), "scenario".to_owned());
        vec![Fault { place, key, found, wanted, help: None }]
    };
    if let Err(faults) = experiment::supports(scenario) {
        return faults;
    }
    let Some((_, interval)) = source(scenario) else {
        let found = "classes without streams of frames".to_owned();
        return fault(found, "a class with a source of kind \"vbr\", \"cbr\" or \"mpeg2\"".to_owned());
    };
    let nodes = f64::from(scenario.topology().nodes());
    if nodes * end(interval) > MOST_NODE_CYCLES {
        let found = format!("{nodes} nodes over {:.0} cycles", end(interval));
        return fault(
            found,
            format!("at most {MOST_NODE_CYCLES:e} nodes times cycles: frames of a tenth, say"),
        );
    }
    Vec::new()
}

/// A panel for each variant, one run each.
pub(crate) fn timeline(figure: &Figure, variants: &[Variant], seed: u64) -> Timeline {
    let points: Vec<(&Variant, Scenario)> =
        variants.iter().zip(figure.points().into_iter().flatten()).collect();
    let panel = |(variant, scenario): &(&Variant, Scenario)| TimelinePanel {
        label: variant.label.clone(),
        streams: streams(scenario, seed),
    };
    Timeline {
        x: Axis {
            label: "time since the first frame".to_owned(),
            unit: "frame intervals of the source".to_owned(),
            logarithmic: false,
        },
        end: END,
        late: LATE,
        panels: points.par_iter().map(panel).collect(),
    }
}

/// When frames of the first streams of the first node are delivered \[intervals\].
fn streams(scenario: &Scenario, seed: u64) -> Vec<Vec<f64>> {
    let Some((class, interval)) = source(scenario) else { return Vec::new() };
    let count = scenario.frames(class).map_or(0, |frames| frames.streams.min(STREAMS));
    let start = (f64::from(START) * interval) as u64;
    let mut simulator = Simulator::new(scenario, seed);
    let (mut delivered, mut left) = (Vec::new(), HashMap::new());
    let mut times: Vec<Vec<u64>> = vec![Vec::new(); count as usize];
    let end = end(interval) as u64;
    while simulator.now() < end {
        delivered.clear();
        simulator.run_until(end.min(simulator.now() + 10_000), &mut delivered);
        for message in &delivered {
            let part = message.part;
            if usize::from(message.class) != class || part.stream >= count {
                continue;
            }
            // a frame is delivered when all its messages are, in whatever order
            let missing = left.entry((part.stream, part.frame)).or_insert(part.messages);
            *missing -= 1;
            if *missing == 0 && message.delivered_cycle >= start {
                times[part.stream as usize].push(message.delivered_cycle);
            }
        }
    }
    let since_first = |times: Vec<u64>| {
        let first = times.first().copied().unwrap_or(0);
        let times = times.into_iter().map(|time| (time - first) as f64 / interval);
        times.filter(|time| *time <= END).collect()
    };
    times.into_iter().map(since_first).collect()
}

#[cfg(test)]
mod tests {
    use flitwise_language::scenario::Preset;

    use super::*;

    fn scenario(settings: &[(&str, &str)]) -> Scenario {
        let mut document = Preset::find("mediaworm-quick").unwrap().document();
        for (key, value) in settings {
            document.set(key, value, &Place::Program).unwrap();
        }
        document.scenario().unwrap()
    }

    #[test]
    fn equal_frames_come_evenly_and_those_of_a_saturated_class_late() {
        let even = streams(&scenario(&[("class.video.source.frame_deviation", "0"), ("mix.load", "0.4")]), 1);
        assert_eq!(even.len(), 16);
        for times in &even {
            assert_eq!(times.len(), 10, "{times:?}");
            let off = times.iter().enumerate().map(|(at, time)| (time - at as f64).abs());
            assert!(off.fold(0.0, f64::max) < 0.01, "{times:?}");
        }
        let few = [
            ("mix.load", "0.9"),
            ("class.video.virtual_channels", "3"),
            ("class.video.source.streams_per_vc", "24"),
        ];
        let behind = streams(&scenario(&few), 1);
        let late =
            behind.iter().flat_map(|times| times.windows(2)).filter(|pair| pair[1] - pair[0] > LATE).count();
        assert!(late > 50, "{late}");
    }

    #[test]
    fn what_sends_no_frames_is_refused() {
        let router = Preset::find("router16").unwrap().scenario();
        assert!(
            refused(&router, &Place::Program)[0].to_string().contains("classes without streams of frames")
        );
        assert_eq!(refused(&scenario(&[]), &Place::Program), []);
        let full = Preset::find("mediaworm").unwrap().document();
        let mut long = full.clone();
        long.set("class.video.source.frame_interval", "\"3300 ms\"", &Place::Program).unwrap();
        long.set("class.video.source.frame", "\"1666600 B\"", &Place::Program).unwrap();
        assert!(
            refused(&long.scenario().unwrap(), &Place::Program)[0].to_string().contains("nodes times cycles")
        );
    }
}
