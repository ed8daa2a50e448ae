//! Tables of streams of frames: intervals, latencies in microseconds, what virtual channels carry.

use flitwise_models::answer::Answer;

use flitwise_language::quantity::Quantity;

use crate::output::{self, Rows, cycles, percent, share};

/// Tables with their titles; empty ones of scenarios without frames.
pub(super) fn sections(answer: &Answer, markdown: bool) -> [(&'static str, Rows); 5] {
    [
        ("Frames", frames(answer, markdown)),
        ("Circuits", circuits(answer, markdown)),
        ("Load that is free of jitter", jitter_free(answer, markdown)),
        ("Latencies in microseconds", times(answer, markdown)),
        ("Saturation, all loads growing together", lanes(answer, markdown)),
    ]
}

fn frames(answer: &Answer, markdown: bool) -> Rows {
    let heads = ["class", "streams", "interval", "deviation", "unit", "late frames", "free of jitter"];
    let mut rows = Rows::new(&heads, markdown);
    for class in &answer.classes {
        let Some(frames) = &class.frames else { continue };
        let in_ms = frames.frame_interval_ms.map(|ms| (Some(ms), frames.frame_interval_deviation_ms, "ms"));
        let in_cycles = || (class.frame_interval_cycles, class.frame_interval_deviation_cycles, "cycles");
        let (mean, deviation, unit) = in_ms.unwrap_or_else(in_cycles);
        rows.add([
            class.name.clone(),
            frames.streams.to_string(),
            share(mean),
            share(deviation),
            unit.to_owned(),
            class.late_frames.map_or_else(|| share(None), percent),
            if frames.jitter_free { "yes" } else { "no" }.to_owned(),
        ]);
    }
    rows
}

fn circuits(answer: &Answer, markdown: bool) -> Rows {
    let mut rows = Rows::new(&output::heads(Quantity::CIRCUITS, markdown), markdown);
    for class in answer.classes.iter().filter(|class| class.means.set_up_probability.is_some()) {
        let means =
            Quantity::CIRCUITS.iter().map(|quantity| output::mean(*quantity, class, output::Time::CYCLES));
        rows.add([class.name.clone()].into_iter().chain(means));
    }
    rows
}

fn jitter_free(answer: &Answer, markdown: bool) -> Rows {
    let heads = ["class", "streams per node", "flits/cycle/node", "limited by"];
    let mut rows = Rows::new(&heads, markdown);
    for class in &answer.classes {
        let Some(frames) = &class.frames else { continue };
        rows.add([
            class.name.clone(),
            frames.jitter_free_streams.to_string(),
            share(Some(frames.jitter_free_load)),
            frames.jitter_free_bottleneck.clone(),
        ]);
    }
    rows
}

fn times(answer: &Answer, markdown: bool) -> Rows {
    let mut rows = Rows::new(&["class", "network", "waiting", "total"], markdown);
    for class in &answer.classes {
        let Some(times) = &class.times else { continue };
        let us = [times.network_latency_us, times.waiting_us, times.total_latency_us];
        rows.add([class.name.clone()].into_iter().chain(us.map(|us| cycles(Some(us)))));
    }
    rows
}

fn lanes(answer: &Answer, markdown: bool) -> Rows {
    let heads = ["class", "load [flits/cycle]", "saturates at", "load factor", "bottleneck"];
    let mut rows = Rows::new(&heads, markdown);
    for class in &answer.classes {
        let Some(lanes) = &class.lanes else { continue };
        rows.add([
            class.name.clone(),
            share(Some(lanes.load_flits_per_cycle)),
            share(Some(lanes.saturates_at_flits_per_cycle)),
            share(Some(lanes.at_load_factor)),
            lanes.bottleneck.clone(),
        ]);
    }
    rows
}
