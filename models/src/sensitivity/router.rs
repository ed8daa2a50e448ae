//! One router at its fixed point: Eqs. (2)-(9), (15).

use super::dual::Dual;
use super::equations::{Blocking, Flow, RealTimeLoad, Sharing, Visitor, length_biased_mean, source_wait};
use super::implicit::fixed_point;
use super::system::{Means, System};

/// Means of every class of `system`, with their slopes, from its network latencies; `None` where the fixed point
/// has no slopes.
pub(super) fn means(system: &System, latencies: &dyn Fn(&Flow) -> f64) -> Option<Vec<(usize, Means)>> {
    let before_flits = system.stages - 1.0;
    let classes = &system.real_time;
    let mut found = Vec::new();

    // (2): L = P - 1 + (M + B) S, with B by (3)-(5) and S by (6)-(8)
    let step = |latencies: &[Dual]| {
        let blocking: Vec<Blocking> =
            classes.iter().zip(latencies).map(|(flow, l)| Blocking::at(*l, flow)).collect();
        let visitor = |(flow, blocking): (&Flow, &Blocking)| Visitor {
            rate: blocking.accepted_rate,
            fixed_cycles: before_flits,
            flits: flow.message + blocking.length,
        };
        let visitors: Vec<Visitor> = classes.iter().zip(&blocking).map(visitor).collect();
        (blocking, Sharing::of(&system.vticks, &visitors))
    };
    let latency = |flow: &Flow, blocking: &Blocking, cycles_per_flit: Dual| {
        before_flits + (flow.message + blocking.length) * cycles_per_flit
    };
    let point: Vec<f64> = classes.iter().map(latencies).collect();
    let point = fixed_point(&point, |latencies, next| {
        let (blocking, sharing) = step(latencies);
        for (class, next) in next.iter_mut().enumerate() {
            *next = latency(&classes[class], &blocking[class], sharing.cycles_per_flit[class]);
        }
    })?;
    let (blocking, sharing) = if classes.is_empty() { (Vec::new(), Sharing::none()) } else { step(&point) };
    for (class, flow) in classes.iter().enumerate() {
        found.push((
            flow.class,
            of_class(flow, blocking[class], sharing.cycles_per_flit[class], before_flits),
        ));
    }
    if let Some(flow) = &system.best_effort {
        let real_time =
            RealTimeLoad { idle: sharing.idle, rate: blocking.iter().map(|b| b.accepted_rate).sum() };
        let met =
            length_biased_mean(blocking.iter().zip(classes).map(|(b, flow)| (b.accepted_rate, flow.message)));
        let cycles_per_flit = real_time.cycles_per_flit(met, flow.message);
        let point = fixed_point(&[latencies(flow)], |point, next| {
            next[0] = latency(flow, &Blocking::at(point[0], flow), cycles_per_flit);
        })?;
        found.push((flow.class, of_class(flow, Blocking::at(point[0], flow), cycles_per_flit, before_flits)));
    }
    Some(found)
}

fn of_class(flow: &Flow, blocking: Blocking, cycles_per_flit: Dual, before_flits: Dual) -> Means {
    let flits = flow.message + blocking.length;
    let latency = before_flits + flits * cycles_per_flit;
    let waiting = source_wait(flow.rate, latency, before_flits + flow.message, cycles_per_flit);
    Means {
        network_latency: latency,
        blocking: blocking.length,
        sharing: flits * (cycles_per_flit - 1.0),
        waiting,
        total_latency: latency + waiting,
        utilization: blocking.accepted_rate * flow.message,
        router_load: (latency * blocking.accepted_rate).min(Dual::constant(1.0)),
    }
}
