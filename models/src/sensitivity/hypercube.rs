//! An n-cube at its fixed point: Eqs. (10)-(15), A.2.

use super::dual::{Dual, root};
use super::equations::{Flow, RealTimeLoad, Sharing, Visitor, source_wait};
use super::implicit::fixed_point;
use super::system::{Means, System};
use crate::published::{EcubeRoutes, MiddleBlocking};

/// What depends on dimension and pipeline alone.
struct Cube<'s> {
    n: usize,
    system: &'s System,
    middle: MiddleBlocking,
    /// `f_s`.
    started: Vec<f64>,
    /// `P - 1 + P h_s` \[cycles\].
    header: Vec<Dual>,
    mean_hops: f64,
    /// `h̄ / n`.
    per_channel: f64,
}

/// Blocking of one class all along its paths, (11), (12) and A.2.
struct PathBlocking {
    accepted_rate: Dual,
    /// `λ^first_{c,s} / λ_c`.
    shares_started: Vec<Dual>,
    /// `I_{c,s} + Bmid(c,s)` \[flits\].
    on_way: Vec<Dual>,
    /// `Bmid(c,s)` \[flits\].
    middle: Vec<Dual>,
    /// `O_c` \[flits\].
    ejection: Dual,
}

/// Cycles per flit of one class all along its paths.
struct PathCycles {
    /// `S_{c,s}`.
    on_channel: Vec<Dual>,
    /// `S_{c,n}` for messages that started on channel `s`.
    at_ejection: Vec<Dual>,
}

/// Means of every class of `system`, with their slopes, from its `L_{c,s}`, the ejection channel last; `None` where
/// the fixed point has no slopes.
pub(super) fn means(
    dimension: u32,
    system: &System,
    latencies: &dyn Fn(&Flow) -> Vec<f64>,
) -> Option<Vec<(usize, Means)>> {
    let cube = Cube::new(dimension as usize, system);
    let n = cube.n;
    let classes = &system.real_time;
    let mut found = Vec::new();

    let step = |latencies: &[Dual]| {
        let paths = classes.iter().zip(latencies.chunks(n + 1));
        let paths: Vec<PathBlocking> =
            paths.map(|(flow, latencies)| cube.blocking(flow, latencies)).collect();
        let sharing = cube.sharing(&paths);
        (paths, sharing)
    };
    let point: Vec<f64> = classes.iter().flat_map(latencies).collect();
    let point = fixed_point(&point, |latencies, next| {
        let (paths, sharing) = step(latencies);
        for (class, next) in next.chunks_mut(n + 1).enumerate() {
            cube.next(&classes[class], &paths[class], &cube.cycles(&sharing, class), next);
        }
    })?;
    let (paths, sharing) =
        if classes.is_empty() { (Vec::new(), vec![Sharing::none(); n + 1]) } else { step(&point) };
    for (class, flow) in classes.iter().enumerate() {
        found.push((flow.class, cube.of_class(flow, &paths[class], &cube.cycles(&sharing, class))));
    }
    if let Some(flow) = &system.best_effort {
        let total: Dual = paths.iter().map(|path| path.accepted_rate).sum();
        let load = |(s, link): (usize, &Sharing)| RealTimeLoad {
            idle: link.idle,
            rate: if s == n { total } else { total * cube.per_channel },
        };
        let loads: Vec<RealTimeLoad> = sharing.iter().enumerate().map(load).collect();
        let on_channel: Vec<Dual> =
            loads[..n].iter().map(|load| load.cycles_per_flit_on_channel(flow.message)).collect();
        let step = |latencies: &[Dual]| {
            let path = cube.blocking(flow, latencies);
            // R9: S_{C,n}^(s) follows from the channel on which the message started
            let at_ejection = (0..n)
                .map(|s| loads[n].cycles_per_flit_at_ejection(flow.message, on_channel[s], path.middle[s]))
                .collect();
            (path, PathCycles { on_channel: on_channel.clone(), at_ejection })
        };
        let point = fixed_point(&latencies(flow), |latencies, next| {
            let (path, cycles) = step(latencies);
            cube.next(flow, &path, &cycles, next);
        })?;
        let (path, cycles) = step(&point);
        found.push((flow.class, cube.of_class(flow, &path, &cycles)));
    }
    Some(found)
}

impl<'s> Cube<'s> {
    fn new(n: usize, system: &'s System) -> Self {
        let routes = EcubeRoutes::new(n);
        let stages = system.stages;
        Self {
            n,
            system,
            middle: MiddleBlocking::new(&routes),
            started: (0..n).map(|s| routes.share_started(s)).collect(),
            header: (0..n).map(|s| stages - 1.0 + stages * routes.mean_hops_from(s)).collect(),
            mean_hops: routes.mean_hops(),
            per_channel: routes.mean_hops() / n as f64,
        }
    }

    /// Blocking of a class with the given `L_{c,s}`, the ejection channel last.
    fn blocking(&self, flow: &Flow, latencies: &[Dual]) -> PathBlocking {
        let n = self.n;
        // (11) with (12): λ = Σ_s (1 - P_b^s(λ)) g f_s, where P_b^s(λ) = (L_s λ h̄ / n)^(1 + 2 m / M)
        let accepted_rate = root(0.0, flow.rate.value, |rate| {
            let (mut turned_away, mut slope) = (Dual::constant(0.0), Dual::constant(0.0));
            for (share, latency) in self.started.iter().zip(latencies) {
                let load = *latency * rate * self.per_channel;
                let probability = flow.blocking_probability(load);
                turned_away = turned_away + *share * probability;
                if rate.value > 0.0 && load.value < 1.0 {
                    slope = slope + *share * flow.exponent() * probability / rate;
                }
            }
            (rate - flow.rate * (1.0 - turned_away), 1.0 + flow.rate * slope)
        });
        let probability =
            |s: usize| flow.blocking_probability(latencies[s] * accepted_rate * self.per_channel);
        let probabilities: Vec<Dual> = (0..n).map(probability).collect();
        let admitted = |s: usize| self.started[s] * (1.0 - probabilities[s]);
        let accepted: Dual = (0..n).map(admitted).sum();
        let shares_started: Vec<Dual> = (0..n).map(|s| admitted(s) / accepted).collect();
        let middle = self.middle_lengths(flow, &probabilities, &shares_started);
        // I = P_b^s m / 2
        let on_way = (0..n).map(|s| probabilities[s] * flow.room() / 2.0 + middle[s]).collect();
        // R7: (11) at the ejection channel
        let at_ejection = flow.blocking_probability(latencies[n] * accepted_rate);
        let ejection = at_ejection * (flow.room() / 2.0 + flow.message / 2.0);
        PathBlocking { accepted_rate, shares_started, on_way, middle, ejection }
    }

    /// A.2: `Bmid(c, s)` \[flits\].
    fn middle_lengths(&self, flow: &Flow, probabilities: &[Dual], shares_started: &[Dual]) -> Vec<Dual> {
        let n = self.n;
        let (room, message) = (flow.room(), flow.message);
        // d_s = ½ [m + M + (1 - Pt_s) Σ_{j>s} P_b^j (d_j + m) H(j|s)]
        let mut delay = vec![Dual::constant(0.0); n];
        for s in (0..n).rev() {
            let later = |j: usize| probabilities[j] * (delay[j] + room) * self.middle.met_later[s][j];
            let chained: Dual = (s + 1..n).map(later).sum();
            delay[s] = 0.5 * (room + message + self.middle.goes_on[s] * chained);
        }
        // Bmid = (1 - P_1 λ / (n λ^first_s)) Σ_{j>s} P_b^j (m + d_j) [..] / [..];  0 for s = n-1
        let length = |s: usize| {
            let later = |j: usize| probabilities[j] * (room + delay[j]) * self.middle.crossed_later[s][j];
            let chained: Dual = (s + 1..n).map(later).sum();
            (1.0 - self.middle.one_hop / shares_started[s]) * chained
        };
        (0..n).map(length).collect()
    }

    /// Chains of the network channels and, last, of the ejection channel.
    fn sharing(&self, paths: &[PathBlocking]) -> Vec<Sharing> {
        let (system, classes) = (self.system, &self.system.real_time);
        let visitor = |(flow, path): (&Flow, &PathBlocking)| Visitor {
            rate: path.accepted_rate,
            fixed_cycles: system.stages - 1.0,
            flits: path.ejection + flow.message,
        };
        let at_ejection: Vec<Visitor> = classes.iter().zip(paths).map(visitor).collect();
        let ejection = Sharing::of(&system.vticks, &at_ejection);
        // R8: the mean shares at the ejection channel stand in the stays of the others
        let network = |s: usize| {
            let visitor = |(class, path): (usize, &PathBlocking)| Visitor {
                rate: path.accepted_rate * self.per_channel,
                fixed_cycles: self.header[s] + at_ejection[class].flits * ejection.cycles_per_flit[class],
                flits: path.on_way[s],
            };
            let visitors: Vec<Visitor> = paths.iter().enumerate().map(visitor).collect();
            Sharing::of(&system.vticks, &visitors)
        };
        let mut sharing: Vec<Sharing> = (0..self.n).map(network).collect();
        sharing.push(ejection);
        sharing
    }

    /// A real-time class has the same share at the ejection channel wherever it started.
    fn cycles(&self, sharing: &[Sharing], class: usize) -> PathCycles {
        let n = self.n;
        PathCycles {
            on_channel: sharing[..n].iter().map(|link| link.cycles_per_flit[class]).collect(),
            at_ejection: vec![sharing[n].cycles_per_flit[class]; n],
        }
    }

    /// (10) and R7: what `L_{c,s}` come next.
    fn next(&self, flow: &Flow, path: &PathBlocking, cycles: &PathCycles, next: &mut [Dual]) {
        let ejected = path.ejection + flow.message;
        for (s, next) in next[..self.n].iter_mut().enumerate() {
            *next = self.header[s] + ejected * cycles.at_ejection[s] + path.on_way[s] * cycles.on_channel[s];
        }
        let mean: Dual = (0..self.n).map(|s| path.shares_started[s] * cycles.at_ejection[s]).sum();
        next[self.n] = self.system.stages - 1.0 + ejected * mean;
    }

    fn of_class(&self, flow: &Flow, path: &PathBlocking, cycles: &PathCycles) -> Means {
        let n = self.n;
        let weighted =
            |of: &dyn Fn(usize) -> Dual| -> Dual { (0..n).map(|s| path.shares_started[s] * of(s)).sum() };
        let ejected = path.ejection + flow.message;
        // L_c = Σ_s L_{c,s} λ^first_{c,s} / λ_c, part by part
        let blocking = path.ejection + weighted(&|s| path.on_way[s]);
        let transfer = weighted(&|s| self.header[s]) + flow.message;
        let sharing = weighted(&|s| {
            ejected * (cycles.at_ejection[s] - 1.0) + path.on_way[s] * (cycles.on_channel[s] - 1.0)
        });
        let latency = transfer + blocking + sharing;
        let stages = self.system.stages;
        let lone_latency = stages - 1.0 + stages * self.mean_hops + flow.message;
        // (14)
        let cycles_per_flit = weighted(&|s| cycles.on_channel[s]);
        let waiting = source_wait(flow.rate, latency, lone_latency, cycles_per_flit);
        let mut latencies = vec![Dual::constant(0.0); n + 1];
        self.next(flow, path, cycles, &mut latencies);
        let channel_rate =
            |s: usize| if s == n { path.accepted_rate } else { path.accepted_rate * self.per_channel };
        let busiest = (0..=n).map(|s| latencies[s] * channel_rate(s)).fold(Dual::constant(0.0), Dual::max);
        Means {
            network_latency: latency,
            blocking,
            sharing,
            waiting,
            total_latency: latency + waiting,
            utilization: path.accepted_rate * flow.message,
            router_load: busiest.min(Dual::constant(1.0)),
        }
    }
}
