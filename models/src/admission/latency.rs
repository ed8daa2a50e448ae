//! Latencies of messages: in the network, and in front of it.

use super::lane_shares::{crossbar_latency, high_priority_limit};
use super::problem::{Class, Loads, Problem, Route};
use super::windows::{InjectionQueue, ManyLanes};
use flitwise_language::scenario::{
    ClassKind, CompletionQueues, CongestionControl, CongestionSpec, CreditReturn, Scenario,
};

/// Latencies of classes at these loads.
pub(super) struct Latencies<'p> {
    problem: &'p Problem,
    loads: &'p Loads,
    /// Peak rate of connections over their mean.
    peak: f64,
    /// By level and node: `Σ λ M² / 2`, messages in service that others meet at an interface.
    works: Loads,
}

impl<'p> Latencies<'p> {
    pub(super) fn new(problem: &'p Problem, loads: &'p Loads) -> Self {
        let connections = problem.classes.iter().find_map(|class| class.connections);
        let peak = connections.map_or(1.0, |connections| connections.peak / connections.mean);
        let mut works: Loads = std::array::from_fn(|_| vec![0.0; problem.nodes as usize]);
        for class in &problem.classes {
            let of_level = &mut works[class.kind.level()];
            for route in &class.routes {
                let rate = class.rate * route.share * route.carried;
                of_level[problem.path(route).source] += rate * class.flits * class.flits / 2.0;
            }
        }
        Self { problem, loads, peak, works }
    }

    /// Load of a channel by levels from the highest on.
    fn load(&self, channel: usize, level: usize) -> f64 {
        self.loads[..=level].iter().map(|loads| loads[channel]).sum()
    }

    /// Mean latency beyond that of a message alone \[cycles\]; none where a channel is full for the class.
    pub(super) fn excess(&self, class: &Class) -> Option<f64> {
        class.mean(|route| match class.kind {
            ClassKind::Control => Some(self.control(class, route)),
            _ if self.problem.is_router() => self.in_router(class, route),
            ClassKind::RealTime | ClassKind::BestEffort => {
                self.problem.path(route).channels[1..].iter().map(|channel| self.wait(class, *channel)).sum()
            }
        })
    }

    /// At every link at most a flit is in front. At crossbars an input port may give the output to another before that
    /// of the control message, which halves its rate: somewhere on the path, if any output is busy.
    ///
    /// ```text
    /// Σ ρ/2 + (M/2) (1 - Π (1 - ρ))
    /// ```
    fn control(&self, class: &Class, route: &Route) -> f64 {
        let channels = &self.problem.path(route).channels[1..];
        let loads = channels.iter().map(|channel| self.load(*channel, 2).min(1.0));
        let (sum, idle) = loads.fold((0.0, 1.0), |(sum, idle), load| (sum + load, idle * (1.0 - load)));
        sum / 2.0 + class.flits / 2.0 * (1.0 - idle)
    }

    /// Wait of data for a channel, between that of all data alike and that of real time before best effort.
    ///
    /// Best effort is sure of one flit in `limit`, so that a share `1 - 1/limit` of the turns goes by priority (A.
    /// Cobham, J. Oper. Res. Soc. Am. 2 (1954) 70); the mean over both classes is the same either way.
    ///
    /// ```text
    /// R / (1 - ρ_RT/c),   R / ((1 - ρ_RT/c) (1 - ρ/c)),   R = 1.33 (M/2) ρ
    /// ```
    ///
    /// Real time cannot wait longer than beside best effort that always takes its flit in `limit`.
    fn wait(&self, class: &Class, channel: usize) -> Option<f64> {
        let capacity = self.problem.capacities[channel];
        let wait = |load: f64| wait(class.flits, load, capacity);
        let with_all = wait(self.load(channel, 2));
        let above = 1.0 - self.load(channel, 1) / capacity;
        let by_turns = 1.0 / self.limit(channel);
        let shared = |by_priority: f64, all: f64| (1.0 - by_turns) * by_priority + by_turns * all;
        if class.kind == ClassKind::BestEffort {
            return with_all.filter(|_| above > 0.0).map(|all| shared(all / above, all));
        }
        let room = 1.0 - self.load(channel, 2) / capacity;
        let with_all = with_all.map(|all| shared(all * room / above, all));
        let stretch = self.stretch(channel);
        let beside_most =
            wait(self.load(channel, 1) * stretch).map(|wait| wait + class.flits * (stretch - 1.0));
        least(with_all, beside_most)
    }

    /// `limit`: best effort is sure of one flit in so many.
    fn limit(&self, channel: usize) -> f64 {
        f64::from(high_priority_limit(self.peak * self.loads[1][channel]))
    }

    /// `limit / (limit - 1)`: by how much best effort that always waits slows down the rest of a channel.
    fn stretch(&self, channel: usize) -> f64 {
        let limit = self.limit(channel);
        if self.loads[2][channel] > 0.0 { limit / (limit - 1.0).max(1e-9) } else { 1.0 }
    }

    /// Data share the output port of one router packet by packet, real time before best effort as far as it is not at
    /// another input: `P - 1 + M / (1 - ρ)`, and `P - 1 + M / ((1 - ρ_RT) (1 - ρ))` below it.
    fn in_router(&self, class: &Class, route: &Route) -> Option<f64> {
        let channel = *self.problem.path(route).channels.last()?;
        let above = if class.kind == ClassKind::BestEffort { self.load(channel, 1) } else { 0.0 };
        let flits = (above < 1.0).then(|| class.flits / (1.0 - above))?;
        let latency = crossbar_latency(self.problem.stages, flits, self.load(channel, 2))?;
        Some((latency - self.problem.alone(class, route)).max(0.0))
    }

    /// Wait before the first channel, beyond the cycle of a lone message \[cycles\]: M/G/1 with preemption by higher
    /// levels; control only waits for itself. None where the injection link is full for the class.
    pub(super) fn source_wait(&self, class: &Class) -> Option<f64> {
        let level = class.kind.level();
        class.mean(|route| {
            let path = self.problem.path(route);
            let channel = path.channels[0];
            let above = if level > 0 { self.load(channel, level - 1) } else { 0.0 };
            let all = self.load(channel, level);
            let work: f64 = self.works[..=level].iter().map(|works| works[path.source]).sum();
            (all < 1.0).then(|| work / ((1.0 - above) * (1.0 - all)))
        })
    }

    /// Time by which blocking in the network holds the tail of a message at its interface \[cycles\]: a wait for
    /// network channel `j` does as far as the message is still there, `(M - 2 b (j - 1)) / M` of it.
    pub(super) fn held_back(&self, class: &Class) -> Option<f64> {
        if class.kind == ClassKind::Control {
            return Some(0.0);
        }
        class.mean(|route| {
            if self.problem.is_router() {
                return self.in_router(class, route);
            }
            let channels = self.problem.path(route).channels[1..].iter().enumerate();
            let part = |(at, channel): (usize, &usize)| {
                let ahead = 2.0 * self.problem.buffer_flits * at as f64;
                let part = (1.0 - ahead / class.flits).max(0.0);
                if part > 0.0 { Some(part * self.wait(class, *channel)?) } else { Some(0.0) }
            };
            channels.map(part).sum()
        })
    }
}

/// `1.33 (M/2) ρ / (1 - ρ/c)`; none where the channel is full.
fn wait(flits: f64, load: f64, capacity: f64) -> Option<f64> {
    let wait = || ManyLanes::FITTED.factor * flits / 2.0 * load / (1.0 - load / capacity);
    (load < capacity).then(wait)
}

/// The smaller of two, or that which there is.
fn least(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(f64::min(one, other)),
        (one, other) => one.or(other),
    }
}

/// Credits of best effort at an interface.
pub(super) struct Credits {
    /// Of each queue \[messages\].
    pub(super) each: u32,
    pub(super) queues: CompletionQueues,
    pub(super) back: CreditReturn,
    /// Time that one takes to come back from the receiver \[cycles\].
    pub(super) ack_delay: f64,
}

impl Credits {
    /// Those of a scenario, if there are any.
    pub(super) fn of(scenario: &Scenario) -> Option<Self> {
        let is_credit = |spec: &CongestionSpec| spec.control == CongestionControl::Credit;
        let spec = scenario.spec().congestion.filter(is_credit)?;
        Some(Self {
            each: spec.credits_of_queue(scenario.topology().nodes().saturating_sub(1).max(1)),
            queues: spec.queues,
            back: spec.return_at,
            ack_delay: spec.ack_delay,
        })
    }

    /// The queue in which a message waits.
    fn queue(&self, problem: &Problem, sides: &[u32], route: &Route) -> usize {
        let nodes = problem.nodes as usize;
        let (from, to) = (route.path / nodes, route.path % nodes);
        match (self.queues, sides) {
            (CompletionQueues::Quad, [columns, rows]) => {
                // nodes of a router are numbered one after another
                let each = (nodes / (columns * rows) as usize).max(1);
                let place = |node: usize| {
                    let router = (node / each) as i64;
                    (router % i64::from(*columns), router / i64::from(*columns))
                };
                let ((x, y), (u, v)) = (place(from), place(to));
                match (u - x, v - y) {
                    (dx, dy) if dx > 0 && dy >= 0 => 0,
                    (dx, dy) if dx <= 0 && dy > 0 => 1,
                    (dx, dy) if dx < 0 && dy <= 0 => 2,
                    _ => 3,
                }
            }
            (CompletionQueues::Separate, _) => to,
            _ => 0,
        }
    }

    /// Shares of a sender's messages by queue.
    pub(super) fn shares(&self, problem: &Problem, class: &Class, sides: &[u32], sender: usize) -> Vec<f64> {
        let mut shares = vec![0.0; problem.nodes as usize + 4];
        for route in class.routes.iter().filter(|route| route.sender == sender) {
            shares[self.queue(problem, sides, route)] += route.share;
        }
        shares.retain(|share| *share > 0.0);
        shares
    }
}

/// Time of messages in front of a gate \[cycles\], and of all in front of the network until their tails are over the
/// injection link: in queues of these shares, with so many credits each. None at load 1 and above.
///
/// Of a geometric number of messages those of a queue of share `q` are geometric, too, with
/// `η_q = q η / (1 - η (1 - q))` in the place of `η`.
pub(super) fn posting(queue: InjectionQueue, credits: u32, shares: &[f64]) -> Option<f64> {
    let all = queue.times(credits.max(1))?;
    let all = all.posting + all.interface;
    // η = P(Q >= 2) / P(Q >= 1)
    let first = queue.tail(1);
    let eta = if first > 0.0 { queue.tail(2) / first } else { 0.0 };
    let of_queue =
        |share: &f64| share * all * (share * eta / (1.0 - eta * (1.0 - share))).powf(f64::from(credits));
    Some(shares.iter().map(of_queue).sum())
}
