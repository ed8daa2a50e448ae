//! Packet switches, simulated: tables, CSV and JSON.

use flitwise_experiment::Settings;
use flitwise_experiment::packets::{self, Interval, Measured, PacketSimulation, Throughput};
use flitwise_language::document::in_short;
use flitwise_language::scenario::Scenario;
use indicatif::HumanCount;
use schemars::JsonSchema;
use serde::Serialize;

use super::text;
use crate::args::{Format, Simulate};
use crate::outcome::Ended;
use crate::output::{self, Page, Rows, percent, with_interval};
use crate::progress::Bar;
use crate::signals::Watch;

/// The answer of `flitwise simulate --format json` to a scenario of packet switches.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PacketsDocument {
    /// `flitwise.packets/1`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// The answer itself.
    #[serde(flatten)]
    answer: PacketSimulation,
}

/// Rows of the table over time, at most; CSV and JSON have every interval.
const MOST_ROWS: usize = 20;

/// Refuses options that packet switches have nothing for.
fn check(args: &Simulate) -> Result<(), Ended> {
    let given = [
        ("--trace", args.trace.is_some(), "no trace of packets"),
        ("--details", args.details, "no details of channels"),
        ("--watch", args.watch.is_some(), "no pipeline diagram of packets"),
        ("--warmup", args.warmup.is_some(), "warm_up under [measure] of the scenario"),
        ("--precision", args.precision != "1%", "a number of --replications"),
        ("--max-messages", args.max_messages != "1e7", "end under [measure] of the scenario"),
    ];
    let fault = |(option, _, wanted)| format!("{option}: found with a [switch] table, wanted {wanted}");
    let faults: Vec<String> = given.into_iter().filter(|(_, is_given, _)| *is_given).map(fault).collect();
    if faults.is_empty() { Ok(()) } else { Err(Ended::BadInput(faults)) }
}

pub(super) fn run(args: &Simulate, scenario: &Scenario, settings: &Settings) -> Result<(), Ended> {
    check(args)?;
    let bar = Bar::new(args.quiet, settings.precision);
    let watch = Watch::begin();
    let show = |share: f64| bar.show(share, |left| format!("{left:#} left"));
    let answer = packets::run(scenario, settings, watch.stop(), &show);
    let is_interrupted = watch.stop().load(std::sync::atomic::Ordering::Relaxed);
    // from here on there is nothing to wait for: the next signal ends the process
    drop(watch);
    bar.clear();
    let answer = answer.map_err(|faults| Ended::faults(&faults))?;
    let ended = match (answer.run.partial, answer.run.replications) {
        (true, 0) if !is_interrupted => {
            let most = args.max_time.as_deref().unwrap_or_default();
            let said = format!("nothing was measured: --max-time {most} was over before the end of a run");
            Some(Ended::Nothing(said))
        }
        (true, _) if is_interrupted => Some(Ended::Interrupted),
        _ => None,
    };
    let written = write(answer, args.format);
    ended.map_or(written, Err)
}

fn write(answer: PacketSimulation, format: Format) -> Result<(), Ended> {
    match format {
        Format::Json => {
            let flitwise_version = env!("CARGO_PKG_VERSION");
            output::write_json(&PacketsDocument { schema: "flitwise.packets/1", flitwise_version, answer })
        }
        Format::Csv => csv(&answer),
        Format::Table | Format::Markdown => {
            output::write_coloured(&page(&answer, format == Format::Markdown))
        }
    }
}

/// One row per interval.
fn csv(answer: &PacketSimulation) -> Result<(), Ended> {
    let names = ["all"].into_iter().chain(answer.classes.iter().map(|class| class.name.as_str()));
    let of_name = |name| [format!("{name}_bytes_per_ns"), format!("{name}_half_width_95_bytes_per_ns")];
    let lines = ["network", "ingress_port", "egress_port"].map(|place| format!("set_aside_queues_{place}"));
    let heads = ["start_ns", "end_ns"].map(str::to_owned).into_iter().chain(names.flat_map(of_name));
    let mut rows = csv::Writer::from_writer(Vec::new());
    rows.write_record(heads.chain(lines))?;
    for one in &answer.over_time {
        let both = |found: Option<Measured>| {
            [text(found.map(|found| found.mean)), text(found.and_then(|found| found.half_width_95))]
        };
        let times = [one.start_ns, one.end_ns].map(|time| time.to_string());
        let lines = one.set_aside_queues.map(|lines| lines.to_string());
        let found = each(&one.throughput).flat_map(both);
        rows.write_record(times.into_iter().chain(found).chain(lines))?;
    }
    output::write_csv(rows)
}

/// Throughput of all classes, and of each.
fn each(throughput: &Throughput) -> impl Iterator<Item = Option<Measured>> + '_ {
    [throughput.all_bytes_per_ns].into_iter().chain(throughput.classes_bytes_per_ns.iter().copied())
}

fn shown(found: Option<Measured>) -> String {
    with_interval(found.map(|found| found.mean), found.and_then(|found| found.half_width_95))
}

fn us(ns: f64) -> String {
    in_short((ns * 1e3).round() / 1e6)
}

fn page(answer: &PacketSimulation, markdown: bool) -> String {
    let mut page = Page::new(markdown);
    let of = |key: &str| answer.scenario.pointer(key).and_then(|found| found.as_str()).unwrap_or_default();
    let (name, organisation) = (of("/name"), of("/switch/organisation"));
    page.title(&format!("{name}: {organisation}, simulated"));
    page.rows(&phases(answer, markdown));
    page.legend("throughput [bytes/ns], each mean with the half-width of its 95 % interval");
    page.section("Latency of packets", &latency(answer, markdown));
    page.section("Set-aside queues in use at a time", &set_aside(answer, markdown));
    let (rows, merged) = over_time(answer, markdown);
    let title =
        if merged > 1 { format!("Over time, {merged} intervals a row") } else { "Over time".to_owned() };
    page.section(&title, &rows);
    page.legend(match answer.set_aside_queues {
        Some(_) => "throughput [bytes/ns]; queues: most set aside at a time, in all and at the fullest ports",
        None => "throughput [bytes/ns]",
    });
    page.remarks(&remarks(answer));
    let run = &answer.run;
    let plural = if run.replications == 1 { "" } else { "s" };
    page.end(&format!(
        "{} replication{plural} of {} us, seed {}, {:.1} s on {} threads",
        run.replications,
        us(run.end_ns),
        run.seed,
        run.wall_seconds,
        run.threads
    ))
}

fn names(answer: &PacketSimulation) -> impl Iterator<Item = String> + '_ {
    ["all".to_owned()].into_iter().chain(answer.classes.iter().map(|class| class.name.clone()))
}

fn phases(answer: &PacketSimulation, markdown: bool) -> Rows {
    let head = |phase: &packets::Phase| {
        let what = if phase.name == "run" { "whole run" } else { phase.name.as_str() };
        format!("{what}\n{} to {} us", us(phase.start_ns), us(phase.end_ns))
    };
    let heads: Vec<String> = ["class".to_owned()].into_iter().chain(answer.phases.iter().map(head)).collect();
    let mut rows = Rows::new(&heads, markdown);
    for (place, name) in names(answer).enumerate() {
        let found = answer.phases.iter().map(|phase| shown(each(&phase.throughput).nth(place).flatten()));
        rows.add([name].into_iter().chain(found));
    }
    rows
}

fn latency(answer: &PacketSimulation, markdown: bool) -> Rows {
    let mut rows = Rows::new(&["class", "network [ns]", "waiting [ns]", "total [ns]", "packets"], markdown);
    for class in &answer.classes {
        let times = [class.network_latency_ns, class.waiting_ns, class.total_latency_ns].map(shown);
        let count = HumanCount(class.packets).to_string();
        rows.add([class.name.clone()].into_iter().chain(times).chain([count]));
    }
    rows
}

fn set_aside(answer: &PacketSimulation, markdown: bool) -> Rows {
    let mut rows = Rows::new(&["place", "peak, mean", "peak, most"], markdown);
    let places = answer.set_aside_queues.iter().flat_map(|found| {
        [
            ("whole network", found.network),
            ("fullest ingress port", found.ingress_port),
            ("fullest egress port", found.egress_port),
        ]
    });
    for (place, peak) in places {
        rows.add([place.to_owned(), shown(Some(peak.measured)), peak.most.to_string()]);
    }
    rows
}

/// Intervals, some of them to a row.
fn over_time(answer: &PacketSimulation, markdown: bool) -> (Rows, usize) {
    let merged = answer.over_time.len().div_ceil(MOST_ROWS).max(1);
    let has_queues = answer.set_aside_queues.is_some();
    let queues = ["queues", "ingress", "egress"].map(str::to_owned);
    let queues = queues.into_iter().filter(|_| has_queues);
    let heads: Vec<String> = ["from us".to_owned()].into_iter().chain(names(answer)).chain(queues).collect();
    let mut rows = Rows::new(&heads, markdown);
    for row in answer.over_time.chunks(merged) {
        let length: f64 = row.iter().map(|one| one.end_ns - one.start_ns).sum();
        let mean = |place: usize| {
            let share = |one: &Interval| {
                let found = each(&one.throughput).nth(place).flatten()?;
                Some(found.mean * (one.end_ns - one.start_ns) / length)
            };
            row.iter().map(share).sum::<Option<f64>>()
        };
        let means = (0..=answer.classes.len()).map(|place| output::cycles(mean(place)));
        let peak = |which: usize| {
            let most = row.iter().map(|one| one.set_aside_queues[which]).fold(0.0, f64::max);
            format!("{most:.1}")
        };
        let queues = (0..3).filter(|_| has_queues).map(peak);
        rows.add([us(row[0].start_ns)].into_iter().chain(means).chain(queues));
    }
    (rows, merged)
}

fn remarks(answer: &PacketSimulation) -> Vec<String> {
    let mut remarks = Vec::new();
    if answer.run.partial {
        remarks.push("broken off: replications that were not through are left out".to_owned());
    }
    if let Some(dip) = answer.dip {
        let share = dip.share_of_before.map_or_else(String::new, |share| {
            let width = share.half_width_95.map_or("?".to_owned(), percent);
            format!(", {} ±{width} of that before", percent(share.mean))
        });
        let lowest = shown(Some(dip.lowest_bytes_per_ns));
        remarks.push(format!("while the hot spot lasts, other traffic falls to {lowest} bytes/ns{share}"));
    }
    let packets = &answer.packets;
    let counts = [
        ("generated", packets.generated),
        ("delivered", packets.delivered),
        ("withdrawn", packets.withdrawn),
        ("refused", packets.refused),
        ("unfinished", packets.unfinished),
        ("out of order", packets.out_of_order),
    ];
    let counts: Vec<String> =
        counts.iter().map(|(what, count)| format!("{} {what}", HumanCount(*count))).collect();
    remarks.push(format!("packets of all replications: {}", counts.join(", ")));
    if let Some(found) = answer.set_aside_queues {
        let [allocated, unused, refusals] =
            [found.allocated, found.released_unused, found.refusals].map(HumanCount);
        remarks.push(format!(
            "queues set aside: {allocated} in all, {unused} of them never used; {refusals} found none free"
        ));
    }
    remarks
}
