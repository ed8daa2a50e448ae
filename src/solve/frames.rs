//! Tables of streams of frames: intervals, latencies in microseconds, what virtual channels carry.

use flitwise_models::answer::Answer;

use flitwise_language::quantity::Quantity;

use crate::output::{self, Rows, cycles, share};

/// Tables with their titles; empty ones of scenarios without frames.
pub(super) fn sections(answer: &Answer, markdown: bool) -> [(&'static str, Rows); 5] {
    [
        ("Frames", frames(answer, markdown)),
        ("Circuits", circuits(answer, markdown)),
        ("Load that is free of jitter", jitter_free(answer, markdown)),
        ("In time", times(answer, markdown)),
        ("Saturation, all loads growing together", lanes(answer, markdown)),
    ]
}

fn frames(answer: &Answer, markdown: bool) -> Rows {
    let mut heads = output::heads(Quantity::FRAMES, markdown);
    heads.insert(1, "streams".to_owned());
    heads.push("free of jitter".to_owned());
    let mut rows = Rows::new(&heads, markdown);
    for class in &answer.classes {
        let Some(frames) = &class.frames else { continue };
        let means =
            Quantity::FRAMES.iter().map(|quantity| output::mean(*quantity, class, output::Time::CYCLES));
        let free = if frames.jitter_free { "yes" } else { "no" };
        let row = [class.name.clone(), frames.streams.to_string()].into_iter().chain(means);
        rows.add(row.chain([free.to_owned()]));
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
    let heads =
        ["class", "network [us]", "waiting [us]", "total [us]", "frame interval [ms]", "deviation [ms]"];
    let mut rows = Rows::new(&heads, markdown);
    for class in &answer.classes {
        let (times, frames) = (class.times.as_ref(), class.frames.as_ref());
        let us = [
            times.map(|times| times.network_latency_us),
            times.map(|times| times.waiting_us),
            times.map(|times| times.total_latency_us),
        ];
        let ms = [
            frames.and_then(|frames| frames.frame_interval_ms),
            frames.and_then(|frames| frames.frame_interval_deviation_ms),
        ];
        if us.iter().chain(&ms).any(Option::is_some) {
            rows.add([class.name.clone()].into_iter().chain(us.map(cycles)).chain(ms.map(share)));
        }
    }
    rows.hide_if_empty([4, 5]);
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
