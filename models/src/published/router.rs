//! One pipelined wormhole router: §3.1 of [KYD05], Eqs. (1)-(9), (15)-(19).
//!
//! Real-time classes block themselves (3)-(5) and share the output link with each other (6)-(8); best effort
//! is blocked by itself too and served in what they leave (9). Nothing flows back from best effort, so the
//! real-time classes are solved first, together, and best effort after them.

use super::best_effort::{RealTimeLoad, length_biased_mean};
use super::blocking::Blocking;
use super::deadline::BlockingLength;
use super::sharing::{LinkChain, Shares, Sharing, Visitor};
use super::solution::{Channel, ChannelSolution, ClassSolution, Latencies, NoSolution, Outcome, Starved};
use super::source_wait::SourceWait;
use super::traffic::{Flow, Traffic};
use super::{DistributionRange, Solved};
use crate::fixed_point::{self, Report, Status};
use crate::lattice::Distribution;

/// Solves a single router of `stages` pipeline stages; `start` are mean latencies of the real-time classes from
/// which the iteration may set out, below the answer.
pub(super) fn solve(
    stages: u32,
    traffic: &Traffic,
    options: &fixed_point::Options,
    start: Option<&[f64]>,
    range: Option<DistributionRange>,
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
    let report = if classes.is_empty() {
        Report::default()
    } else {
        fixed_point::solve(&mut latencies, options, |latencies, next| {
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
            let length = BlockingLength {
                probability: blocking[class].probability,
                longest: (2.0 * flow.buffering.room() + flow.message()) as u32,
            };
            let company = sharing.company(class, &shares);
            let completion =
                company.completion(length, flow.message() as u32, range.cycles.max(range.at_least));
            Latencies { all: Distribution::new(stages - 1, &completion), by_hops: Vec::new() }
        });
        outcomes.push(Outcome { class: flow.class, found: Ok(found) });
    }
    let report = match traffic.best_effort {
        None => report,
        Some(flow) => {
            let real_time = RealTimeLoad {
                idle: if classes.is_empty() { 1.0 } else { sharing.idle() },
                rate: blocking.iter().map(|b| b.accepted_rate).sum(),
            };
            let met =
                length_biased_mean(blocking.iter().zip(classes).map(|(b, c)| (b.accepted_rate, c.message())));
            let (found, own) = best_effort(&flow, real_time, met, before_flits, options);
            outcomes.push(Outcome { class: flow.class, found });
            report.then(own)
        }
    };
    let answered = report.status == Status::Converged;
    Solved { report, answered, outcomes, state: latencies }
}

/// Best effort: (3)-(5) with the cycles per flit of (9).
fn best_effort(
    flow: &Flow,
    real_time: RealTimeLoad,
    real_time_flits: f64,
    before_flits: f64,
    options: &fixed_point::Options,
) -> (Result<ClassSolution, NoSolution>, Report) {
    if !real_time.leaves_room() {
        return (Err(NoSolution::NoRoom { channel: Channel::Output }), Report::default());
    }
    let cycles_per_flit = real_time.cycles_per_flit(real_time_flits, flow.message());
    let mut blocking = Blocking::at(1.0, 0.0, flow.buffering);
    let mut latency = [before_flits + flow.message() * cycles_per_flit];
    let report = fixed_point::solve(&mut latency, options, |latency, next| {
        blocking = Blocking::at(latency[0], flow.rate, flow.buffering);
        next[0] = before_flits + (flow.message() + blocking.length) * cycles_per_flit;
    });
    let mut found = class_solution(flow, blocking, cycles_per_flit, before_flits);
    found.channels[0].idle = real_time.idle;
    (Ok(found), report)
}

fn class_solution(flow: &Flow, blocking: Blocking, cycles_per_flit: f64, before_flits: f64) -> ClassSolution {
    let flits = flow.message() + blocking.length;
    // (2)
    let latency = before_flits + flits * cycles_per_flit;
    let transfer = before_flits + flow.message();
    ClassSolution {
        transfer,
        blocking: blocking.length,
        sharing: flits * (cycles_per_flit - 1.0),
        blocking_probability: blocking.probability,
        blocking_length: blocking.length,
        cycles_per_flit,
        utilization: (latency * blocking.accepted_rate).min(1.0),
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
