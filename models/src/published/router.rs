//! One pipelined wormhole router: §3.1 of [KYD05], Eqs. (1)-(9), (15)-(19).
//!
//! Real-time classes block themselves (3)-(5) and share the output link with each other (6)-(8); best effort
//! is blocked by itself too and served in what they leave (9). Nothing flows back from best effort, so the
//! real-time classes are solved first, together, and best effort after them.

use std::rc::Rc;

use super::best_effort::{RealTimeLoad, length_biased_mean};
use super::blocking::Blocking;
use super::deadline::BlockingLength;
use super::record::{ClassRecord, LinkRecord, MetRecord, Record};
use super::sharing::{LinkChain, Shares, Visitor};
use super::solution::{Channel, ChannelSolution, ClassSolution, Latencies, NoSolution, Outcome, Starvation};
use super::source_wait::SourceWait;
use super::traffic::{Flow, Traffic};
use super::{DistributionRange, Parts};
use crate::fixed_point::{Iterate, Report, Status};
use crate::lattice::Distribution;
use crate::scalar::Scalar;
use flitwise_language::scenario::ClassKind;

/// Solves a single router; `start` are mean latencies of the real-time classes from which the iteration may set out,
/// below the answer.
pub(super) fn solve<T: Scalar>(
    traffic: &Traffic<T>,
    start: Option<&[T]>,
    range: Option<DistributionRange>,
    iterate: &mut impl Iterate<T>,
) -> Parts<T> {
    let classes = &traffic.real_time;
    let mut real_time = RealTime {
        traffic,
        chain: LinkChain::new(classes.len()),
        link: LinkRecord::new(&Rc::new(Shares::new(&traffic.vticks))),
        blocking: classes.iter().map(|c| Blocking::at(T::one(), T::zero(), c.buffering)).collect(),
    };
    let zero_load = || classes.iter().map(|class| traffic.before_flits() + class.message()).collect();
    let mut latencies: Vec<T> = start.map_or_else(zero_load, <[T]>::to_vec);
    let (report, history) = iterate.reach(&mut latencies, |latencies, next| real_time.apply(latencies, next));

    let outcome = |(class, flow): (usize, &Flow<T>)| Outcome {
        class: flow.class,
        found: Ok(real_time.class_solution(class, flow, range)),
    };
    let mut outcomes: Vec<Outcome<T>> = classes.iter().enumerate().map(outcome).collect();
    let mut record = iterate.records().then(|| {
        let unknowns = classes.iter().map(|flow| (flow.class, None)).collect();
        let mut record = Record::new(traffic.stages, None);
        record.iterated(unknowns, history, &report);
        record.classes =
            classes.iter().enumerate().map(|(c, flow)| real_time.record(c, flow, &latencies)).collect();
        record
    });
    let report = match traffic.best_effort {
        None => report,
        Some(flow) => {
            let (load, met) = real_time.load();
            let (found, own) = best_effort(&flow, (load, met), traffic, iterate, record.as_mut());
            outcomes.push(Outcome { class: flow.class, found });
            report.then(own)
        }
    };
    let answered = report.status == Status::Converged;
    if let Some(record) = &mut record {
        record.links = if classes.is_empty() { Vec::new() } else { vec![real_time.link] };
        record.complete(traffic, &outcomes, 0);
    }
    Parts { report, answered, outcomes, state: latencies, record }
}

/// The real-time classes at one point of the iteration.
struct RealTime<'t, T> {
    traffic: &'t Traffic<T>,
    chain: LinkChain<T>,
    link: LinkRecord<T>,
    blocking: Vec<Blocking<T>>,
}

impl<T: Scalar> RealTime<'_, T> {
    /// The latencies that follow from `latencies`.
    fn apply(&mut self, latencies: &[T], next: &mut [T]) {
        let before_flits = self.traffic.before_flits();
        let LinkRecord { shares, visitors, sharing } = &mut self.link;
        visitors.clear();
        for (class, flow) in self.traffic.real_time.iter().enumerate() {
            // (3)-(5)
            let blocking = Blocking::at(latencies[class], flow.rate, flow.buffering);
            visitors.push(Visitor {
                rate: blocking.accepted_rate,
                fixed_cycles: before_flits,
                flits: flow.message() + blocking.length,
            });
            self.blocking[class] = blocking;
        }
        // (6)-(8)
        self.chain.solve(shares, visitors, sharing);
        for (class, next) in next.iter_mut().enumerate() {
            // (2): L = P - 1 + (M + B) S
            *next = before_flits + visitors[class].flits * sharing.cycles_per_flit[class];
        }
    }

    fn class_solution(
        &self,
        class: usize,
        flow: &Flow<T>,
        range: Option<DistributionRange>,
    ) -> ClassSolution<T> {
        let (blocking, LinkRecord { sharing, shares, .. }) = (self.blocking[class], &self.link);
        let mut found =
            class_solution(flow, blocking, sharing.cycles_per_flit[class], self.traffic.before_flits());
        found.channels[0].idle = sharing.idle();
        found.starved =
            sharing.starved_in[class].map(|company| Starvation { channel: Channel::Output, company });
        found.latencies = range.map(|range| {
            // (16)-(19)
            let length = BlockingLength::of(blocking.probability, flow.buffering);
            let limit = range.cycles.max(range.at_least);
            let completion =
                sharing.company(class, shares).completion(length, flow.message().re() as u32, limit);
            let before_flits = self.traffic.before_flits().re() as u32;
            Latencies { all: Distribution::new(before_flits, &completion), by_hops: Vec::new() }
        });
        found
    }

    /// What best effort meets on the link, and the length of the messages met.
    fn load(&self) -> (RealTimeLoad<T>, T) {
        let idle = if self.blocking.is_empty() { T::one() } else { self.link.sharing.idle() };
        let load = RealTimeLoad { idle, rate: self.blocking.iter().map(|b| b.accepted_rate).sum() };
        let classes = self.blocking.iter().zip(&self.traffic.real_time);
        (load, length_biased_mean(classes.map(|(blocking, flow)| (blocking.accepted_rate, flow.message()))))
    }

    fn record(&self, class: usize, flow: &Flow<T>, latencies: &[T]) -> ClassRecord<T> {
        ClassRecord {
            latencies: vec![latencies[class]],
            blocking: Some(self.blocking[class]),
            cycles_per_flit: vec![self.link.sharing.cycles_per_flit[class]],
            ..ClassRecord::of(flow, ClassKind::RealTime)
        }
    }
}

/// Best effort: (3)-(5) with the cycles per flit of (9), beside real-time messages of a mean length.
fn best_effort<T: Scalar>(
    flow: &Flow<T>,
    (load, real_time_flits): (RealTimeLoad<T>, T),
    traffic: &Traffic<T>,
    iterate: &mut impl Iterate<T>,
    record: Option<&mut Record<T>>,
) -> (Result<ClassSolution<T>, NoSolution>, Report) {
    let before_flits = traffic.before_flits();
    let mut own = ClassRecord::of(flow, ClassKind::BestEffort);
    let full = (!load.leaves_room()).then_some(0);
    own.met = Some(MetRecord { loads: vec![load], message_flits: Some(real_time_flits), full });
    if full.is_some() {
        record.into_iter().for_each(|record| record.classes.push(own.clone()));
        return (Err(NoSolution::NoRoom { channel: Channel::Output }), Report::default());
    }
    let cycles_per_flit = load.cycles_per_flit(real_time_flits, flow.message());
    let mut blocking = Blocking::at(T::one(), T::zero(), flow.buffering);
    let mut latency = [before_flits + flow.message() * cycles_per_flit];
    let (report, history) = iterate.reach(&mut latency, |latency, next| {
        blocking = Blocking::at(latency[0], flow.rate, flow.buffering);
        // (2)
        next[0] = before_flits + (flow.message() + blocking.length) * cycles_per_flit;
    });
    let mut found = class_solution(flow, blocking, cycles_per_flit, before_flits);
    found.channels[0].idle = load.idle;
    if let Some(record) = record {
        own.latencies = latency.to_vec();
        own.blocking = Some(blocking);
        own.cycles_per_flit = vec![cycles_per_flit];
        record.classes.push(own);
        record.iterated(vec![(flow.class, None)], history, &report);
    }
    (Ok(found), report)
}

fn class_solution<T: Scalar>(
    flow: &Flow<T>,
    blocking: Blocking<T>,
    cycles_per_flit: T,
    before_flits: T,
) -> ClassSolution<T> {
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
        router_load: (latency * blocking.accepted_rate).min(T::one()),
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
            middle_length: T::zero(),
            cycles_per_flit,
            idle: T::one(),
        }],
        latencies: None,
    }
}
