//! The results of a simulation as text tables.

use std::fmt::Write;

use flitwise_experiment::answer::{
    ClassSimulation, Estimate, PercentileEstimate, Run, Simulation, StoppedBy, Utilization, WarmUpKind,
};
use flitwise_language::quantity::{Quantity, Unit};
use indicatif::HumanCount;

use super::{details, frame_deadlines, messages, over_time};
use crate::output::{self, Page, Rows, Time, cycles, percent, share, with_interval};

pub(super) fn page(answer: &Simulation, markdown: bool) -> String {
    let mut page = Page::new(markdown);
    let network = output::network(&answer.scenario.network);
    page.title(&format!("{}: {network}, simulated", answer.scenario.name));
    page.rows(&means(answer, markdown));
    page.legend("each mean with the half-width of its 95 % interval; total = network latency + waiting");
    let by_cause: Vec<Quantity> = Quantity::NetworkLatency.parts().collect();
    let by_cause = parts(answer, &by_cause, markdown);
    page.section("Where the network latency goes", &by_cause);
    if !by_cause.is_empty() {
        page.legend("network latency = transfer + blocking + sharing");
    }
    page.section("Blocking and sharing by place", &parts(answer, &output::BY_PLACE, markdown));
    let interfaces = groups(answer, &INTERFACES, markdown);
    page.section("Between applications", &interfaces);
    if !interfaces.is_empty() {
        page.legend(
            "end to end = doorbell + bus + wire + network + receive; the first three are the waiting",
        );
    }
    let posted = groups(answer, Quantity::ADAPTERS, markdown);
    page.section("At channel adapters", &posted);
    if !posted.is_empty() {
        page.legend("waiting = posting + queueing; posted latency = queueing + network");
    }
    page.section("Connections", &groups(answer, Quantity::CONNECTIONS, markdown));
    page.section("Preemptions", &groups(answer, Quantity::PREEMPTIONS, markdown));
    page.section("Frames of streams", &frames(answer, markdown));
    page.section("Deadlines of frames", &frame_deadlines::table(answer, markdown));
    page.section("Circuits", &groups(answer, Quantity::CIRCUITS, markdown));
    page.section("In time", &in_time(answer, markdown));
    page.section("Deadlines on the network latency", &deadlines(answer, markdown));
    page.section("Percentiles of the network latency, with 95 % intervals", &percentiles(answer, markdown));
    page.section("By network channels crossed", &hops(answer, markdown));
    page.section("Share of cycles in which a channel is busy", &channels(answer, markdown));
    if let Some(intervals) = &answer.over_time {
        let (rows, title) = over_time::table(intervals, markdown);
        page.section(&title, &rows);
        page.legend("messages delivered in it; 95 % intervals over the replications");
    }
    if let Some(channels) = &answer.channel_details {
        let (rows, title) = details::busiest(channels, markdown);
        page.section(&title, &rows);
        page.legend(
            "wait: from the request of a virtual channel until the header leaves; blocked: got none at once",
        );
    }
    output::add_sections(&mut page, &answer.sections, markdown);
    page.remarks(&remarks(answer));
    page.end(&account(answer, markdown))
}

fn is_hypercube(answer: &Simulation) -> bool {
    answer.scenario.network.topology().most_hops() > 0
}

fn means(answer: &Simulation, markdown: bool) -> Rows {
    const MEANS: [Quantity; 3] = [Quantity::NetworkLatency, Quantity::Waiting, Quantity::TotalLatency];
    let (spec, time) = (&answer.scenario, Time::of(&answer.scenario));
    let of_packets = Quantity::PACKETS.iter().filter(|_| spec.groups().contains(&Quantity::PACKETS));
    let quantities: Vec<Quantity> = MEANS.iter().chain(of_packets).copied().collect();
    let mut heads = output::heads_in(&quantities, time, markdown);
    let counted = if quantities.len() > MEANS.len() { "packets" } else { "messages" };
    heads.push(counted.to_owned());
    let mut rows = Rows::new(&heads, markdown);
    for class in &answer.classes {
        let messages = HumanCount(messages(class.network_latency_cycles)).to_string();
        let found = |quantity: Quantity| {
            let factor = if quantity.unit() == Unit::Cycles { time.per_cycle } else { 1.0 };
            mean(class.means.get(quantity).map(|found| found.times(factor)))
        };
        let means = quantities.iter().map(|quantity| match quantity {
            Quantity::Waiting | Quantity::TotalLatency if class.saturated => "saturated".to_owned(),
            quantity => found(*quantity),
        });
        rows.add([class.name.clone()].into_iter().chain(means).chain([messages]));
    }
    rows
}

/// Parts of the network latency, for classes that have one.
fn parts(answer: &Simulation, quantities: &[Quantity], markdown: bool) -> Rows {
    let mut rows = Rows::new(&output::heads(quantities, markdown), markdown);
    let is_parted = |class: &&ClassSimulation| {
        class.network_latency_cycles.is_some()
            && quantities.iter().any(|quantity| class.means.get(*quantity).is_some())
    };
    for class in answer.classes.iter().filter(is_parted) {
        let parts = quantities.iter().map(|quantity| mean(class.means.get(*quantity).copied()));
        rows.add([class.name.clone()].into_iter().chain(parts));
    }
    rows
}

/// Where the time from one application to another goes.
const INTERFACES: [Quantity; 6] = [
    Quantity::EndToEndLatency,
    Quantity::Doorbell,
    Quantity::HostBus,
    Quantity::Wire,
    Quantity::NetworkLatency,
    Quantity::Receive,
];

/// Quantities of a group, the first of which tells whether a class has them.
fn groups(answer: &Simulation, quantities: &[Quantity], markdown: bool) -> Rows {
    let mut rows = Rows::new(&output::heads(quantities, markdown), markdown);
    let is_told =
        |class: &&ClassSimulation| quantities.first().is_some_and(|first| class.means.get(*first).is_some());
    for class in answer.classes.iter().filter(is_told) {
        let found = quantities.iter().map(|quantity| mean(class.means.get(*quantity).copied()));
        rows.add([class.name.clone()].into_iter().chain(found));
    }
    rows
}

/// Means in milliseconds and microseconds, where it is said how long a cycle is.
fn in_time(answer: &Simulation, markdown: bool) -> Rows {
    const TIMES: [Quantity; 7] = [
        Quantity::NetworkLatency,
        Quantity::Waiting,
        Quantity::TotalLatency,
        Quantity::EndToEndLatency,
        Quantity::FrameInterval,
        Quantity::FrameIntervalDeviation,
        Quantity::FrameLatency,
    ];
    let fields = TIMES.map(|quantity| (quantity, if quantity.is_of_frames() { "ms" } else { "us" }));
    let is_told = |(quantity, unit): &(Quantity, &str)| {
        answer.classes.iter().any(|class| class.physical(*quantity, unit).is_some())
    };
    let told: Vec<_> = fields.into_iter().filter(is_told).collect();
    let heads = told.iter().map(|(quantity, unit)| format!("{} [{unit}]", quantity.head()));
    let heads: Vec<String> = ["class".to_owned()].into_iter().chain(heads).collect();
    let mut rows = Rows::new(&heads, markdown);
    for class in answer.classes.iter().filter(|_| !told.is_empty()) {
        let times = told.iter().map(|(quantity, unit)| mean(class.physical(*quantity, unit)));
        rows.add([class.name.clone()].into_iter().chain(times));
    }
    rows
}

/// Frames, of classes that have any.
fn frames(answer: &Simulation, markdown: bool) -> Rows {
    let mut heads = output::heads(Quantity::FRAMES, markdown);
    heads.push("free of jitter".to_owned());
    let mut rows = Rows::new(&heads, markdown);
    for class in answer.classes.iter().filter(|class| class.frame_interval_cycles.is_some()) {
        let found = Quantity::FRAMES.iter().map(|quantity| mean(class.means.get(*quantity).copied()));
        let jitter = class.jitter_free.map_or("?", |is_free| if is_free { "yes" } else { "no" });
        rows.add([class.name.clone()].into_iter().chain(found).chain([jitter.to_owned()]));
    }
    rows
}

fn deadlines(answer: &Simulation, markdown: bool) -> Rows {
    let hypercube = is_hypercube(answer);
    let mut heads = vec!["class", "deadline [cycles]", "miss probability", "95 % interval", "messages"];
    if hypercube {
        heads.insert(1, "hops");
    }
    let mut rows = Rows::new(&heads, markdown);
    for class in &answer.classes {
        for deadline in &class.deadlines {
            let hops = deadline.hops.map_or("all".to_owned(), |hops| hops.to_string());
            let miss = deadline.miss_probability;
            let interval =
                miss.map(|miss| format!("{} .. {}", share(Some(miss.lower_95)), share(Some(miss.upper_95))));
            let row = [
                Some(class.name.clone()),
                hypercube.then_some(hops),
                Some(deadline.deadline_cycles.to_string()),
                Some(share(miss.map(|miss| miss.mean))),
                Some(interval.unwrap_or_else(|| share(None))),
                Some(HumanCount(miss.map_or(0, |miss| miss.messages)).to_string()),
            ];
            rows.add(row.into_iter().flatten());
        }
    }
    rows
}

fn percentiles(answer: &Simulation, markdown: bool) -> Rows {
    let mut rows = Rows::new(&output::percentile_heads(), markdown);
    for class in &answer.classes {
        let percentiles = class.latency_percentiles_cycles.each().map(|(_, found)| found);
        if percentiles[0].is_some() {
            rows.add([class.name.clone()].into_iter().chain(percentiles.map(percentile)));
        }
    }
    rows
}

/// A percentile and its interval, whose upper end may be unknown.
fn percentile(found: Option<PercentileEstimate>) -> String {
    match found {
        None => cycles(None),
        Some(PercentileEstimate { value, lower_95, upper_95: Some(upper) }) => {
            format!("{value} ({lower_95}..{upper})")
        }
        Some(PercentileEstimate { value, lower_95, upper_95: None }) => format!("{value} ({lower_95}..?)"),
    }
}

/// Empty for a single router.
fn hops(answer: &Simulation, markdown: bool) -> Rows {
    let heads = ["class", "hops", "network [cycles]", "waiting [cycles]", "messages"];
    let mut rows = Rows::new(&heads, markdown);
    let classes = answer.classes.iter().filter(|_| is_hypercube(answer));
    for class in classes {
        for found in class.hops.iter().filter(|found| found.means.network_latency_cycles.is_some()) {
            let waiting =
                if class.saturated { "saturated".to_owned() } else { mean(found.means.waiting_cycles) };
            rows.add([
                class.name.clone(),
                found.hops.map_or("all".to_owned(), |hops| hops.to_string()),
                mean(found.means.network_latency_cycles),
                waiting,
                HumanCount(messages(found.means.network_latency_cycles)).to_string(),
            ]);
        }
    }
    rows
}

/// By class: injection, network and ejection channels, those of all dimensions together.
fn channels(answer: &Simulation, markdown: bool) -> Rows {
    let of = |kind: &str| {
        let is_kind = |channel: &str| match kind {
            "network" => !["injection", "ejection"].contains(&channel),
            kind => kind == channel,
        };
        answer.channels.iter().filter(|found| is_kind(&found.channel)).collect::<Vec<_>>()
    };
    let kinds: Vec<_> = ["injection", "network", "ejection"].map(|kind| (kind, of(kind))).into();
    let kinds: Vec<_> = kinds.into_iter().filter(|(_, channels)| !channels.is_empty()).collect();

    let heads: Vec<&str> = ["class"].into_iter().chain(kinds.iter().map(|(kind, _)| *kind)).collect();
    let mut rows = Rows::new(&heads, markdown);
    if kinds.is_empty() {
        return rows;
    }
    for (index, class) in answer.classes.iter().enumerate() {
        let used = kinds.iter().map(|(_, channels)| {
            utilization(channels.iter().filter_map(|found| found.utilization_by_class.get(index)))
        });
        rows.add([class.name.clone()].into_iter().chain(used));
    }
    let all = kinds.iter().map(|(_, channels)| utilization(channels.iter().map(|found| &found.utilization)));
    rows.add(["all".to_owned()].into_iter().chain(all));
    rows
}

/// The mean over several kinds of channels; the mean of their half-widths is an upper bound of its own.
fn utilization<'u>(kinds: impl Iterator<Item = &'u Utilization>) -> String {
    let kinds: Vec<&Utilization> = kinds.collect();
    let mean = |of: fn(&Utilization) -> Option<f64>| {
        let all: Option<f64> = kinds.iter().map(|kind| of(kind)).sum();
        all.map(|all| all / kinds.len().max(1) as f64)
    };
    let width = mean(|kind| kind.half_width_95).map_or("?".to_owned(), |width| share(Some(width)));
    format!("{} ±{width}", share(mean(|kind| Some(kind.mean))))
}

/// Saturation, and what else one should know.
fn remarks(answer: &Simulation) -> Vec<String> {
    let saturated = answer.classes.iter().filter_map(|class| {
        Some(format!("{} is saturated: {}", class.name, class.saturation.as_ref()?.because))
    });
    saturated.chain(answer.notes.iter().map(|note| format!("note: {note}"))).collect()
}

/// How it was run, why it stopped, and what that took; only the last depends on the machine.
fn account(answer: &Simulation, markdown: bool) -> String {
    let run = &answer.run;
    let time = Time::of(&answer.scenario);
    let lines = [how(run, time), why(run), speed(run, time)];
    if markdown {
        lines.join("  \n")
    } else {
        lines.map(|line| output::folded(&line)).concat().trim_end().to_owned()
    }
}

fn how(run: &Run, time: Time) -> String {
    let mut line = match run.messages {
        0 => "nothing measured".to_owned(),
        messages => format!("{} messages", HumanCount(messages)),
    };
    if run.simulated_cycles > 0 {
        let unit = time.unit;
        let length = HumanCount((run.measured_cycles as f64 * time.per_cycle).round() as u64);
        let _ = match run.replications {
            1 => write!(line, " in {length} {unit}"),
            replications => write!(line, " in {replications} replications of {length} {unit}"),
        };
    }
    if run.messages > 0 && run.warmup != WarmUpKind::Absent {
        let found = match run.warmup {
            WarmUpKind::Given => "given",
            WarmUpKind::Detected => "MSER-5",
            WarmUpKind::Unsettled => "its end not found",
            WarmUpKind::None | WarmUpKind::Absent => "not ended",
        };
        let _ = write!(line, " after a warm-up of {} ({found})", HumanCount(run.warmup_cycles));
    }
    let _ = write!(line, ", seed {}", run.seed);
    line
}

fn why(run: &Run) -> String {
    let mut line = match run.stopped_by {
        StoppedBy::Precision => "precise enough",
        StoppedBy::MaxMessages => "stopped by --max-messages",
        StoppedBy::MaxTime => "stopped by --max-time",
        StoppedBy::Saturated => "ended: every class is saturated",
        StoppedBy::MaxCycles => "stopped at the last cycle that can be counted",
        StoppedBy::Interrupted => "interrupted",
        StoppedBy::NoTraffic => "no traffic",
        StoppedBy::End => "ran to the end that the scenario gives",
        StoppedBy::Frames => {
            "ended after 20 intervals of frames, or of an ON and an OFF period, or more: more replications tell more, \
             not longer ones"
        }
    }
    .to_owned();
    if run.messages > 0 && (run.reached_precision.is_some() || run.flit_hops > 0) {
        let reached = run.reached_precision.map_or("±?".to_owned(), |width| format!("±{}", percent(width)));
        let class = run.least_precise_class.as_deref().unwrap_or("the worst class");
        let _ = write!(line, ": {reached} for the network latency of {class}");
        if run.stopped_by != StoppedBy::End {
            let _ = write!(line, ", wanted ±{}", percent(run.wanted_precision));
        }
    }
    if let Some(reason) = &run.went_on_because {
        let _ = write!(line, "; {reason}");
    }
    line
}

fn speed(run: &Run, time: Time) -> String {
    if time.unit != Time::CYCLES.unit {
        return format!("{:.2} s on {} threads", run.wall_seconds, run.threads);
    }
    let (hops, rate) = (with_prefix(run.flit_hops as f64), with_prefix(run.flit_hops_per_second));
    format!("{hops} flit hops at {rate}/s, {:.2} s", run.wall_seconds)
}

/// A mean and its half-width.
pub(super) fn mean(found: Option<Estimate>) -> String {
    with_interval(found.map(|found| found.mean), found.and_then(|found| found.half_width_95))
}

/// Three digits and a decimal prefix: `3.95 M`.
fn with_prefix(number: f64) -> String {
    let prefixes = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    match prefixes.into_iter().find(|(unit, _)| number >= *unit) {
        Some((unit, prefix)) => format!("{:.2} {prefix}", number / unit),
        None => format!("{number:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(mean: f64, half_width_95: impl Into<Option<f64>>) -> Option<Estimate> {
        Some(Estimate { mean, half_width_95: half_width_95.into(), messages: 1 })
    }

    #[test]
    fn a_mean_has_the_digits_that_its_half_width_leaves() {
        assert_eq!(mean(estimate(43.386_7, 0.109_7)), "43.39 ±0.11");
        assert_eq!(mean(estimate(62.944, 3.290)), "62.9 ±3.3");
        assert_eq!(mean(estimate(15_062.944, 432.90)), "15063 ±433");
        assert_eq!(mean(estimate(36.0, 0.0)), "36.00 ±0.00");
        assert_eq!(mean(estimate(36.0, 1e-9)), "36.0000 ±0.0000");
        assert_eq!(mean(estimate(36.0, None)), "36.00 ±?");
        assert_eq!(mean(estimate(1.5e9, 2e7)), "1.500e9 ±2.0e7");
        assert_eq!(mean(None), "-");
    }

    #[test]
    fn shares_are_shown_in_percent() {
        let shown = [0.01, 0.005, 0.5, 0.000_1, 0.009_377, 0.043_21, 0.0, 12.0].map(percent);
        assert_eq!(shown, ["1 %", "0.5 %", "50 %", "0.01 %", "0.94 %", "4.3 %", "0 %", "1200 %"]);
    }

    #[test]
    fn large_numbers_have_prefixes() {
        assert_eq!([0.0, 999.0, 3.95e6, 5.8e10].map(with_prefix), ["0", "999", "3.95 M", "58.00 G"]);
    }
}
