//! Congestion control at channel adapters: which messages are posted to the interface when (K9, K10, K14), and when
//! those of best effort may start on their way (K12).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use flitwise_language::network::Network;
use flitwise_language::scenario::{
    ClassKind, CompletionQueues, CongestionControl, CongestionSpec, CreditReturn, Scenario,
};

use super::power::EnergyAccounts;
use crate::interface::host::Posted;

/// What a message holds until it is on its injection link, or has left the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Hold {
    /// Nothing.
    #[default]
    Nothing,
    /// A credit of a queue of its interface.
    Queue(u32),
    /// A credit of its connection.
    Connection(u32),
}

/// What keeps the first message of a queue from being posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// The interface holds as many messages as it can.
    Room,
    /// Its queue has no credit.
    Credit,
    /// The account of the interface has not enough energy.
    Energy,
}

/// A message that waits to be posted.
struct Waiting {
    /// Messages that were offered before it, of all nodes.
    number: u64,
    since: u64,
    posted: Posted,
}

/// The queues of a node: that of real time and control first, then those of best effort.
struct Node {
    queues: Vec<VecDeque<Waiting>>,
    /// By queue of best effort.
    credits: Vec<u32>,
    /// Messages that wait; those in the interface, and their flits that have not left.
    waiting: u64,
    held: u32,
    flits: u64,
    /// What a message waits for, and since when.
    blocked: Option<(Gate, u64)>,
    /// Whether it is looked at in this cycle.
    is_marked: bool,
}

/// Channel adapters of all nodes.
pub(crate) struct Posting {
    /// `M_H`.
    room: u32,
    nodes: Vec<Node>,
    /// Which messages wait for the same credits, where there are credits.
    queues: Option<CompletionQueues>,
    returns: CreditReturn,
    ack_delay: u64,
    network: Network,
    /// By class: credits of each of its connections; none where messages are not dropped.
    of_connection: Vec<Option<u32>>,
    /// By class and connection: credits taken.
    taken: HashMap<(u8, u32), u32>,
    /// Credits on their way back: the cycle in which they are there, the node, and whose they are.
    coming: VecDeque<(u64, u32, (u8, Hold))>,
    pub(crate) energy: Option<EnergyAccounts>,
    offered: u64,
    waiting: u64,
    marked: Vec<u32>,
    /// By class: messages that found no credit of their connection.
    pub(crate) dropped: Vec<u64>,
    /// By gate: cycles in which it stood against a message of a node, over all nodes.
    throttled: [u64; 3],
}

/// Credits of each connection of a class, if its messages are dropped that find none.
fn credits_of_connections(scenario: &Scenario, spec: &CongestionSpec, room: Option<u32>) -> Vec<Option<u32>> {
    let is_so = spec.control == CongestionControl::Credit && spec.real_time_drop;
    let of_class = |class: usize| {
        let mean = scenario.connections(class)?.mean;
        Some((mean * f64::from(room.filter(|_| is_so)?) - 1e-9).ceil().max(1.0) as u32)
    };
    (0..scenario.classes().len()).map(of_class).collect()
}

impl Posting {
    /// `None` where interfaces are no channel adapters.
    pub(crate) fn new(scenario: &Scenario) -> Option<Self> {
        let adapter = scenario.channel_adapter()?;
        let spec = scenario.spec().congestion.unwrap_or_default();
        let network = scenario.topology();
        let nodes = network.nodes();
        let queues = (spec.control == CongestionControl::Credit).then_some(spec.queues);
        let count = match queues {
            None | Some(CompletionQueues::Global) => 1,
            Some(CompletionQueues::Quad) => 4,
            Some(CompletionQueues::Separate) => nodes as usize,
        };
        let credits = if queues.is_some() { spec.credits_of_queue(nodes - 1) } else { u32::MAX };
        let node = |_| Node {
            queues: (0..=count).map(|_| VecDeque::new()).collect(),
            credits: vec![credits; count],
            waiting: 0,
            held: 0,
            flits: 0,
            blocked: None,
            is_marked: false,
        };
        Some(Self {
            room: adapter.buffer_messages.unwrap_or(u32::MAX),
            nodes: (0..nodes).map(node).collect(),
            queues,
            returns: spec.return_at,
            ack_delay: (spec.ack_delay * (1.0 - 1e-9)).ceil() as u64,
            of_connection: credits_of_connections(scenario, &spec, adapter.buffer_messages),
            taken: HashMap::new(),
            coming: VecDeque::new(),
            energy: EnergyAccounts::new(scenario),
            offered: 0,
            waiting: 0,
            marked: Vec::new(),
            dropped: vec![0; scenario.classes().len()],
            throttled: [0; 3],
            network,
        })
    }

    /// The queue of best effort that a message waits in.
    fn queue(&self, source: u32, destination: u32) -> usize {
        match self.queues {
            None | Some(CompletionQueues::Global) => 0,
            Some(CompletionQueues::Separate) => destination as usize,
            Some(CompletionQueues::Quad) => quadrant(&self.network, source, destination),
        }
    }

    /// A message comes in cycle `now`; whether it is taken, and not dropped.
    pub(crate) fn offer(&mut self, kind: ClassKind, mut posted: Posted, now: u64) -> bool {
        let arrival = posted.message.offer.arrival;
        // what came back in cycles that were passed over
        self.take_back(now.saturating_sub(1));
        let queue = if kind == ClassKind::BestEffort {
            let queue = self.queue(arrival.source, arrival.destination);
            if self.queues.is_some() {
                posted.hold = Hold::Queue(queue as u32);
            }
            queue + 1
        } else {
            let connection = posted.message.offer.part.stream;
            if let (ClassKind::RealTime, Some(most)) = (kind, self.of_connection[usize::from(arrival.class)])
            {
                let taken = self.taken.entry((arrival.class, connection)).or_insert(0);
                if *taken == most {
                    self.dropped[usize::from(arrival.class)] += 1;
                    return false;
                }
                *taken += 1;
                posted.hold = Hold::Connection(connection);
            }
            0
        };
        self.offered += 1;
        self.waiting += 1;
        let node = &mut self.nodes[arrival.source as usize];
        node.waiting += 1;
        node.queues[queue].push_back(Waiting { number: self.offered, since: now, posted });
        self.mark(arrival.source);
        true
    }

    /// A node is looked at in the next posting.
    fn mark(&mut self, node: u32) {
        if !std::mem::replace(&mut self.nodes[node as usize].is_marked, true) {
            self.marked.push(node);
        }
    }

    /// K9: what interfaces take in cycle `now` is added to `joined`, node by node.
    pub(crate) fn post(&mut self, now: u64, joined: &mut Vec<(usize, Posted)>) {
        self.take_back(now);
        while let Some(node) = self.energy.as_mut().and_then(|energy| energy.comes_back(now)) {
            self.mark(node);
        }
        let mut marked = std::mem::take(&mut self.marked);
        for node in marked.drain(..) {
            self.post_of(node as usize, now, joined);
        }
        self.marked = marked;
    }

    fn post_of(&mut self, at: usize, now: u64, joined: &mut Vec<(usize, Posted)>) {
        let node = &mut self.nodes[at];
        node.is_marked = false;
        if let Some((gate, since)) = node.blocked.take() {
            self.throttled[gate as usize] += now - since;
        }
        let mut lacks_energy = false;
        while node.held < self.room {
            let is_open = |queue: usize| queue == 0 || (!lacks_energy && node.credits[queue - 1] > 0);
            let heads = node.queues.iter().enumerate().filter(|(queue, _)| is_open(*queue));
            let first = heads.filter_map(|(queue, waiting)| Some((waiting.front()?.number, queue))).min();
            let Some((_, queue)) = first else { break };
            if queue > 0
                && let (Some(energy), Some(head)) = (&mut self.energy, node.queues[queue].front())
            {
                let offer = &head.posted.message.offer;
                let hops = self.network.hops(offer.arrival.source, offer.arrival.destination);
                lacks_energy = !energy.takes(at as u32, (hops, offer.flits), node.flits, now);
                if lacks_energy {
                    continue;
                }
            }
            let Some(Waiting { since, mut posted, .. }) = node.queues[queue].pop_front() else { break };
            if queue > 0 && self.queues.is_some() {
                node.credits[queue - 1] -= 1;
            }
            (node.held, node.flits) = (node.held + 1, node.flits + u64::from(posted.message.offer.flits));
            node.waiting -= 1;
            self.waiting -= 1;
            posted.host.doorbell = (now - since) as u32;
            joined.push((at, posted));
        }
        if node.waiting > 0 {
            let gate = if node.held >= self.room {
                Gate::Room
            } else if lacks_energy {
                Gate::Energy
            } else {
                Gate::Credit
            };
            node.blocked = Some((gate, now));
        }
    }

    /// Credits that are back by a cycle.
    fn take_back(&mut self, by: u64) {
        while let Some(&(_, node, (class, hold))) = self.coming.front().filter(|(cycle, ..)| *cycle <= by) {
            self.coming.pop_front();
            self.give_back(node, class, hold);
        }
    }

    fn give_back(&mut self, node: u32, class: u8, hold: Hold) {
        match hold {
            Hold::Nothing => {}
            Hold::Queue(queue) => {
                self.nodes[node as usize].credits[queue as usize] += 1;
                self.mark(node);
            }
            Hold::Connection(connection) => {
                if let Some(taken) = self.taken.get_mut(&(class, connection)) {
                    *taken -= 1;
                }
            }
        }
    }

    /// Flits of a signal come to an interface, past its queues.
    pub(crate) fn flits_come(&mut self, node: usize, flits: u32) {
        self.nodes[node].flits += u64::from(flits);
    }

    /// A flit leaves its interface.
    #[inline]
    pub(crate) fn flit_leaves(&mut self, node: usize) {
        self.nodes[node].flits -= 1;
    }

    /// The tail of a message leaves its interface in cycle `now`.
    pub(crate) fn tail_leaves(&mut self, node: u32, class: u8, hold: Hold, now: u64) {
        self.nodes[node as usize].held -= 1;
        if self.nodes[node as usize].waiting > 0 {
            self.mark(node);
        }
        if self.returns == CreditReturn::Injection {
            self.comes_back(node, class, hold, now + 1);
        }
    }

    /// A message leaves the network in cycle `now`.
    pub(crate) fn is_delivered(&mut self, node: u32, class: u8, hold: Hold, now: u64) {
        if self.returns == CreditReturn::Delivery {
            self.comes_back(node, class, hold, now + 1 + self.ack_delay);
        }
    }

    fn comes_back(&mut self, node: u32, class: u8, hold: Hold, cycle: u64) {
        if hold != Hold::Nothing {
            self.coming.push_back((cycle, node, (class, hold)));
        }
    }

    /// The first cycle from `now` on in which something can be posted, if nothing else moves.
    pub(crate) fn wakes(&self, now: u64) -> u64 {
        if !self.marked.is_empty() {
            return now;
        }
        if self.waiting == 0 {
            return u64::MAX;
        }
        let credit = self.coming.front().map(|(cycle, ..)| *cycle);
        let energy = self.energy.as_ref().and_then(EnergyAccounts::next);
        credit.into_iter().chain(energy).min().unwrap_or(u64::MAX).max(now)
    }

    /// By gate: cycles before `now` in which it stood against a message of a node, over all nodes.
    pub(crate) fn throttled(&self, now: u64) -> [u64; 3] {
        let mut throttled = self.throttled;
        for (gate, since) in self.nodes.iter().filter_map(|node| node.blocked) {
            throttled[gate as usize] += now.saturating_sub(since);
        }
        throttled
    }

    /// Every credit is in its place, and no message is held.
    #[cfg(debug_assertions)]
    pub(crate) fn assert_drained(&self) {
        for node in self.nodes.iter().filter(|node| node.waiting == 0) {
            assert!(node.held == 0 && node.flits == 0, "an interface holds a message that has left");
        }
    }
}

/// The quadrant of a destination as it is seen from a source: columns are dimension 0, rows dimension 1.
fn quadrant(network: &Network, source: u32, destination: u32) -> usize {
    let columns = network.sides().first().copied().unwrap_or(1);
    let place = |node: u32| {
        let (router, _) = network.entry(node);
        (i64::from(router % columns), i64::from(router / columns))
    };
    let (from, to) = (place(source), place(destination));
    match (to.0 - from.0, to.1 - from.1) {
        (dx, dy) if dx > 0 && dy >= 0 => 0,
        (dx, dy) if dx <= 0 && dy > 0 => 1,
        (dx, dy) if dx < 0 && dy <= 0 => 2,
        _ => 3,
    }
}

/// Self-tuned throttling (K12): best effort is held while more buffers are full than a threshold.
pub(crate) struct SelfTuned {
    gather: u64,
    next_look: u64,
    raise: f64,
    lower: f64,
    /// All buffers that are looked at.
    buffers: f64,
    /// Full ones at the last look, and at the one before.
    full: f64,
    full_before: f64,
    threshold: f64,
    /// What was delivered in all, and in the last period \[flits\].
    delivered: u64,
    of_last_period: f64,
    /// The best period: what it delivered, buffers that were full, and its threshold.
    best: Option<(f64, f64, f64)>,
    falls: u32,
    /// Whether a message was held in this period.
    pub(crate) is_throttled: bool,
    /// Sum of the threshold over all periods, and how many there were.
    thresholds: (f64, u64),
}

/// Least threshold, as a share of all buffers.
const LEAST_THRESHOLD: f64 = 0.01;
/// Periods that deliver less than half of the best one, after which that is forgotten.
const MOST_FALLS: u32 = 5;

impl SelfTuned {
    /// `None` where another control or none is chosen.
    pub(crate) fn new(scenario: &Scenario, buffers: u64) -> Option<Self> {
        let spec = scenario.spec().congestion.filter(|spec| spec.control == CongestionControl::SelfTuned)?;
        Some(Self {
            gather: spec.gather.into(),
            next_look: 0,
            raise: spec.raise,
            lower: spec.lower,
            buffers: buffers as f64,
            full: 0.0,
            full_before: 0.0,
            threshold: spec.initial,
            delivered: 0,
            of_last_period: 0.0,
            best: None,
            falls: 0,
            is_throttled: false,
            thresholds: (0.0, 0),
        })
    }

    /// A cycle begins, before which so many flits were delivered: looks that it is time for. Full buffers are counted
    /// in the cycle itself; in cycles that were passed over nothing moved, so that there were none.
    pub(crate) fn begins(&mut self, now: u64, full: impl FnOnce() -> u64, delivered: u64) {
        while self.next_look < now {
            self.look(self.next_look, 0, delivered);
            self.next_look += self.gather;
        }
        if self.next_look == now {
            self.look(now, full(), delivered);
            self.next_look += self.gather;
        }
    }

    /// So many buffers are full at the start of a cycle, and so many flits were delivered before it.
    fn look(&mut self, now: u64, full: u64, delivered: u64) {
        (self.full_before, self.full) = (self.full, full as f64);
        if now == 0 || !now.is_multiple_of(3 * self.gather) {
            return;
        }
        let of_period = (delivered - self.delivered) as f64;
        self.delivered = delivered;
        self.tune(of_period);
        self.of_last_period = of_period;
        self.is_throttled = false;
        self.thresholds = (self.thresholds.0 + self.threshold, self.thresholds.1 + 1);
    }

    fn tune(&mut self, of_period: f64) {
        if of_period < 0.75 * self.of_last_period {
            self.threshold -= self.lower;
        } else if self.is_throttled {
            self.threshold += self.raise;
        }
        self.threshold = self.threshold.clamp(LEAST_THRESHOLD, 1.0);
        match self.best {
            Some((most, full, threshold)) if of_period <= most => {
                if 2.0 * of_period < most {
                    self.threshold = threshold.min(full / self.buffers).max(LEAST_THRESHOLD);
                    self.falls += 1;
                    if self.falls == MOST_FALLS {
                        (self.best, self.falls) = (Some((0.0, full, threshold)), 0);
                    }
                }
            }
            _ => {
                self.best = Some((of_period, self.full, self.threshold));
                self.falls = 0;
            }
        }
    }

    /// Whether best effort is held in a cycle.
    pub(crate) fn holds(&self, now: u64) -> bool {
        let since = (now % self.gather) as f64;
        let change = (self.full - self.full_before) * since / self.gather as f64;
        let estimate = (self.full + change).max(0.0);
        estimate > self.threshold * self.buffers
    }

    /// Mean threshold of all periods, as a share of all buffers.
    pub(crate) fn mean_threshold(&self) -> Option<f64> {
        let (sum, periods) = self.thresholds;
        (periods > 0).then(|| sum / periods as f64)
    }
}

/// Energy that comes back to accounts, the first first.
pub(crate) type Returns = BinaryHeap<Reverse<(u64, u32, u64)>>;
