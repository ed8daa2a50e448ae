//! One pipelined wormhole router: §3.1 of [KYD05], Eqs. (1)-(9), (15)-(19).
//!
//! Real-time classes block themselves (3)-(5) and share the output link with each other (6)-(8); best effort
//! is blocked by itself too and served in what they leave (9). Nothing flows back from best effort, so the
//! real-time classes are solved first, together, and best effort after them.

use super::best_effort::{RealTimeLoad, length_biased_mean};
use super::blocking::Blocking;
use super::deadline::BlockingLength;
use super::record::{ClassRecord, IterationRecord, MetRecord, Record};
use super::sharing::{LinkChain, Shares, Sharing, Visitor};
use super::solution::{Channel, ChannelSolution, ClassSolution, Latencies, NoSolution, Outcome, Starved};
use super::source_wait::SourceWait;
use super::traffic::{Flow, Traffic};
use super::{DistributionRange, Solved};
use crate::fixed_point::{self, History, Report, Status};
use crate::lattice::Distribution;
use crate::scenario::ClassKind;

/// Solves a single router of `stages` pipeline stages; `start` are mean latencies of the real-time classes from
/// which the iteration may set out, below the answer; `recorded` asks for the working memory of the last iteration.
pub(super) fn solve(
    stages: u32,
    traffic: &Traffic,
    options: &fixed_point::Options,
    start: Option<&[f64]>,
    range: Option<DistributionRange>,
    recorded: bool,
) -> Solved {
    let before_flits = f64::from(stages) - 1.0; // P - 1
    let classes = &traffic.real_time;
    let shares = Shares::new(&traffic.vticks);
    let mut chain = LinkChain::new(classes.len());
    let mut sharing = Sharing::unknown(classes.len());
    let mut blocking: Vec<Blocking> = classes.iter().map(|c| Blocking::at(1.0, 0.0, c.buffering)).collect();
    let mut visitors: Vec<Visitor> = Vec::with_capacity(classes.len());

    let zero_load = || classes.iter().map(|class| before_flits + class.message()).collect();
    let mut latencies: Vec<f64> = start.map_or_else(zero_load, <[f64]>::to_vec);
    let mut history = recorded.then(History::default);
    let report = if classes.is_empty() {
        Report::default()
    } else {
        fixed_point::solve(&mut latencies, options, |latencies, next| {
            if let Some(history) = &mut history {
                history.note(latencies);
            }
            visitors.clear();
            for (class, flow) in classes.iter().enumerate() {
                // (3)-(5)
                blocking[class] = Blocking::at(latencies[class], flow.rate, flow.buffering);
                visitors.push(Visitor {
                    rate: blocking[class].accepted_rate,
                    fixed_cycles: before_flits,
                    flits: flow.message() + blocking[class].length,
                });
            }
            // (6)-(8)
            chain.solve(&shares, &visitors, &mut sharing);
            for (class, next) in next.iter_mut().enumerate() {
                // (2): L = P - 1 + (M + B) S
                *next = before_flits + visitors[class].flits * sharing.cycles_per_flit[class];
            }
        })
    };
    let mut outcomes: Vec<Outcome> = Vec::new();
    for (class, flow) in classes.iter().enumerate() {
        let mut found = class_solution(flow, blocking[class], sharing.cycles_per_flit[class], before_flits);
        found.channels[0].idle = sharing.idle();
        found.starved =
            sharing.starved_in[class].map(|company| Starved { channel: Channel::Output, company });
        found.latencies = range.map(|range| {
            // (16)-(19)
            let length = BlockingLength::of(blocking[class].probability, flow.buffering);
            let company = sharing.company(class, &shares);
            let completion =
                company.completion(length, flow.message() as u32, range.cycles.max(range.at_least));
            Latencies { all: Distribution::new(stages - 1, &completion), by_hops: Vec::new() }
        });
        outcomes.push(Outcome { class: flow.class, found: Ok(found) });
    }
    let mut record = history.map(|history| {
        let class = |(class, flow): (usize, &Flow)| ClassRecord {
            latencies: vec![latencies[class]],
            blocking: Some(blocking[class]),
            cycles_per_flit: vec![sharing.cycles_per_flit[class]],
            ..ClassRecord::of(flow, ClassKind::RealTime)
        };
        let unknowns = classes.iter().map(|flow| (flow.class, None)).collect();
        let iterated = IterationRecord { unknowns, history, report: report.clone() };
        Record {
            stages: f64::from(stages),
            classes: classes.iter().enumerate().map(class).collect(),
            links: Vec::new(),
            iterations: if classes.is_empty() { Vec::new() } else { vec![iterated] },
            cube: None,
        }
    });
    let report = match traffic.best_effort {
        None => report,
        Some(flow) => {
            let real_time = RealTimeLoad {
                idle: if classes.is_empty() { 1.0 } else { sharing.idle() },
                rate: blocking.iter().map(|b| b.accepted_rate).sum(),
            };
            let met =
                length_biased_mean(blocking.iter().zip(classes).map(|(b, c)| (b.accepted_rate, c.message())));
            let (found, own) = best_effort(&flow, real_time, met, before_flits, options, record.as_mut());
            outcomes.push(Outcome { class: flow.class, found });
            report.then(own)
        }
    };
    let answered = report.status == Status::Converged;
    if let Some(record) = &mut record {
        if !classes.is_empty() {
            record.links = Record::links(&shares, vec![visitors], vec![sharing]);
        }
        record.complete(traffic, &outcomes, 0);
    }
    Solved { report, answered, outcomes, state: latencies, record }
}

/// Best effort: (3)-(5) with the cycles per flit of (9).
fn best_effort(
    flow: &Flow,
    real_time: RealTimeLoad,
    real_time_flits: f64,
    before_flits: f64,
    options: &fixed_point::Options,
    record: Option<&mut Record>,
) -> (Result<ClassSolution, NoSolution>, Report) {
    let mut own = ClassRecord::of(flow, ClassKind::BestEffort);
    let full = (!real_time.leaves_room()).then_some(0);
    own.met = Some(MetRecord { loads: vec![real_time], message_flits: Some(real_time_flits), full });
    if full.is_some() {
        record.into_iter().for_each(|record| record.classes.push(own.clone()));
        return (Err(NoSolution::NoRoom { channel: Channel::Output }), Report::default());
    }
    let cycles_per_flit = real_time.cycles_per_flit(real_time_flits, flow.message());
    let mut blocking = Blocking::at(1.0, 0.0, flow.buffering);
    let mut latency = [before_flits + flow.message() * cycles_per_flit];
    let mut history = record.is_some().then(History::default);
    let report = fixed_point::solve(&mut latency, options, |latency, next| {
        if let Some(history) = &mut history {
            history.note(latency);
        }
        blocking = Blocking::at(latency[0], flow.rate, flow.buffering);
        next[0] = before_flits + (flow.message() + blocking.length) * cycles_per_flit;
    });
    let mut found = class_solution(flow, blocking, cycles_per_flit, before_flits);
    found.channels[0].idle = real_time.idle;
    if let Some((record, history)) = record.zip(history) {
        own.latencies = latency.to_vec();
        own.blocking = Some(blocking);
        own.cycles_per_flit = vec![cycles_per_flit];
        record.classes.push(own);
        let unknowns = vec![(flow.class, None)];
        record.iterations.push(IterationRecord { unknowns, history, report: report.clone() });
    }
    (Ok(found), report)
}

fn class_solution(flow: &Flow, blocking: Blocking, cycles_per_flit: f64, before_flits: f64) -> ClassSolution {
    let flits = flow.message() + blocking.length;
    // (2)
    let latency = before_flits + flits * cycles_per_flit;
    let transfer = before_flits + flow.message();
    ClassSolution {
        transfer,
        lone_latency: transfer,
        blocking: blocking.length,
        sharing: flits * (cycles_per_flit - 1.0),
        blocking_probability: blocking.probability,
        blocking_length: blocking.length,
        cycles_per_flit,
        utilization: blocking.accepted_rate * flow.message(),
        router_load: (latency * blocking.accepted_rate).min(1.0),
        accepted_rate: blocking.accepted_rate,
        source_load: flow.rate * latency,
        wait: SourceWait::new(flow.rate, latency, transfer, cycles_per_flit),
        starved: None,
        channels: vec![ChannelSolution {
            channel: Channel::Output,
            latency,
            rate: blocking.accepted_rate,
            started_rate: blocking.accepted_rate,
            blocking_probability: blocking.probability,
            blocking_length: blocking.length,
            middle_length: 0.0,
            cycles_per_flit,
            idle: 1.0,
        }],
        latencies: None,
    }
}
