//! Growth of a congestion tree over time: a fluid that keeps the order of queues.
//!
//! One queue stands for all that are alike in the [`CongestionTree`]: egress of a link of the tree, ingress of the
//! inputs of its switch. Fluid belongs to classes: what leaves the tree at level `j`, which of uniform traffic of an
//! even network is the share `(1 - 1/k) k^-j`, and what stays in it to the hot host. A queue is a list of cohorts of
//! one composition each, and what leaves it has the composition of its front. Rates are those of a link, time goes in
//! steps from the root to the leaves. Uniform traffic that comes back into the tree is as much less than offered as all
//! of it was in the step before.
//!
//! With one queue, what cannot go on in the tree stops all behind it. A host in which packets wait for all destinations
//! sends them in turn, so that those that leave the tree come one after another and lose their input's turns there.
//! With virtual output queues at the switch only the queue of the tree is followed, which has an eighth of the memory;
//! what goes elsewhere passes.

use std::collections::VecDeque;

use super::congestion_tree::{CLASSES, Classes, CongestionTree, From, Link, Source, add};

/// A hot spot that begins and ends.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeGrowth<'t> {
    /// Who takes part.
    pub tree: &'t CongestionTree,
    /// `s`: speed of the crossbar over that of a link.
    pub speedup: f64,
    /// Memory at either end of a port, in the time of a link \[ns\].
    pub memory: f64,
    /// Whether only queues of the tree are blocked by it, an eighth of the memory each.
    pub voq: bool,
    /// Time of a packet on a link \[ns\].
    pub packet: f64,
    /// When the hot hosts begin and end \[ns\].
    pub hot: [f64; 2],
    /// What of a hot host's messages stays at its end, in the time of a link \[ns\].
    pub stays: f64,
}

/// Throughput in a step, in links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throughput {
    /// Of uniform traffic, without what goes to the hot host.
    pub random: f64,
    /// To the hot host.
    pub hot: f64,
}

/// Steps after which it is looked whether the state changes any more.
const LOOK: u32 = 32;

/// Fluid of one composition, of as many classes as the tree has.
struct Cohort<const C: usize> {
    amount: f64,
    shares: [f64; C],
    /// Share that goes on in the tree behind the queue.
    on: f64,
    /// Whether it is in the order of destinations, not in that of generation.
    in_turn: bool,
}

/// A queue in the order of arrival.
struct Fluid<const C: usize> {
    /// The level behind which fluid goes on in the tree.
    level: usize,
    cohorts: VecDeque<Cohort<C>>,
    amount: f64,
}

impl<const C: usize> Fluid<C> {
    fn new(level: usize) -> Self {
        Self { level, cohorts: VecDeque::new(), amount: 0.0 }
    }

    fn put(&mut self, classes: &[f64; C], in_turn: bool) {
        let amount: f64 = classes.iter().sum();
        if amount <= 1e-9 {
            return;
        }
        let shares = classes.map(|class| class / amount);
        self.amount += amount;
        match self.cohorts.back_mut() {
            Some(last) if last.in_turn == in_turn && is_near(&last.shares, &shares) => last.amount += amount,
            _ => {
                let on = shares[self.level + 1..].iter().sum();
                self.cohorts.push_back(Cohort { amount, shares, on, in_turn });
            }
        }
    }

    /// Takes from the front, at most so much of it all, and so much of what goes on in the tree.
    fn take(&mut self, most: f64, most_on: f64) -> [f64; C] {
        let (mut most, mut most_on, mut taken) = (most, most_on, [0.0; C]);
        while most > 1e-9 && most_on > 1e-9 {
            let Some(front) = self.cohorts.front_mut() else { break };
            let on = front.on;
            let amount = front.amount.min(most).min(if on > 1e-12 { most_on / on } else { f64::INFINITY });
            taken.iter_mut().zip(&front.shares).for_each(|(taken, share)| *taken += amount * share);
            (most, most_on) = (most - amount, most_on - amount * on);
            (front.amount, self.amount) = (front.amount - amount, self.amount - amount);
            if front.amount <= 1e-9 {
                self.amount -= front.amount;
                self.cohorts.pop_front();
            }
        }
        taken
    }

    /// Share of the front that goes on in the tree.
    fn front_on(&self) -> f64 {
        self.cohorts.front().map_or(0.0, |front| front.on)
    }

    fn is_in_turn(&self) -> bool {
        self.cohorts.front().is_some_and(|front| front.in_turn)
    }
}

fn is_near<const C: usize>(one: &[f64; C], other: &[f64; C]) -> bool {
    one.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-9)
}

/// So many inputs that are alike.
struct Input<const C: usize> {
    times: f64,
    from: From,
    /// What the source sends by class, without what passes the queues of the tree.
    flow: [f64; C],
    /// What of it passes.
    passes: f64,
    /// What waits before the input.
    waiting: f64,
    /// Runs of packets that leave the tree, where packets come in the order of their destinations.
    leaving: Leaving,
    /// Part of the last step for which such runs took its turns at the tree.
    away: f64,
    queue: Fluid<C>,
}

/// Packets of a host one after another that leave the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Leaving {
    /// How long none that goes on in the tree stands at the head of their queue \[ns\].
    time: f64,
    /// That over the time of a link for those that go on.
    over_on: f64,
}

impl Leaving {
    /// Runs of a host in which packets wait for all destinations, which it sends in turn: `a` that leave the tree, then
    /// `b` that go on.
    ///
    /// ```text
    /// a = N (1 - on) / runs,    b = N on / runs
    /// ```
    fn new(growth: &TreeGrowth<'_>, from: &From, on: f64) -> Self {
        let TreeGrowth { tree, packet, memory, speedup, voq, .. } = *growth;
        match from {
            From::Source(Source::Victim(_, runs)) if !voq && *runs > 0 && on > 0.0 => {
                let each = f64::from(tree.hosts) / f64::from(*runs);
                let [leave, go_on] = [1.0 - on, on].map(|share| each * share);
                let time = time_to_leave(leave, speedup, memory / packet);
                Self { time: time * packet, over_on: time / go_on }
            }
            _ => Self::default(),
        }
    }
}

/// Packet times in which `a` packets of a host that leave the tree one after another cross a switch: at the speed `s`
/// of the crossbar as far as a memory of `k` packets and what comes in meanwhile last, and then at that of the link.
/// Their input loses its turns at the tree.
///
/// ```text
/// max(a / s, a - k)
/// ```
pub fn time_to_leave(packets: f64, speedup: f64, places: f64) -> f64 {
    (packets / speedup).max(packets - places)
}

/// The queues of a link of the tree and of its switch.
struct Node<'g, const C: usize> {
    link: &'g Link,
    inputs: Vec<Input<C>>,
    egress: Fluid<C>,
}

/// The state of a tree.
struct State<'g, const C: usize> {
    growth: &'g TreeGrowth<'g>,
    memory: f64,
    nodes: Vec<Node<'g, C>>,
    /// Share of uniform traffic that was delivered in the last step.
    pace: f64,
}

/// What a step depends on.
struct TreeState {
    /// The queues, of one composition each, and the pace.
    queues: Vec<f64>,
    /// What waits before each input.
    waiting: Vec<f64>,
}

/// The level up to which everybody is served: max-min shares of a room among so many inputs that ask for so much.
///
/// Where all get what they ask for it is the largest of that, or an equal part of the room.
pub(super) fn water_level(room: f64, asks: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let number: f64 = asks.clone().map(|(times, _)| times).sum();
    let all: f64 = asks.clone().map(|(times, ask)| times * ask).sum();
    if all <= room {
        return asks.map(|(_, ask)| ask).fold(room / number.max(1e-3), f64::max);
    }
    // those who ask for less than an equal part of what is left get it, until none is left
    let (mut left, mut among, mut level) = (room, number, 0.0);
    loop {
        let next = left / among.max(1e-3);
        if next <= level * (1.0 + 1e-12) {
            return level;
        }
        level = next;
        let modest = asks.clone().filter(|(_, ask)| *ask < level);
        let (taken, count) =
            modest.fold((0.0, 0.0), |(sum, count), (times, ask)| (sum + times * ask, count + times));
        (left, among) = (room - taken, number - count);
    }
}

impl<'g, const C: usize> State<'g, C> {
    fn new(growth: &'g TreeGrowth<'g>) -> Self {
        let tree = growth.tree;
        let input = |link: &Link, times: f64, from: From| {
            let all = match &from {
                From::Source(source) => tree.flow(source),
                From::Link(_) => Classes::default(),
            };
            // classes beyond the tree are empty
            let mut flow: [f64; C] = std::array::from_fn(|class| all[class]);
            let passes = if growth.voq { std::mem::take(&mut flow[link.level]) } else { 0.0 };
            let all: f64 = flow.iter().sum();
            let on = flow[link.level + 1..].iter().sum::<f64>() / all.max(1e-12);
            let (leaving, queue) = (Leaving::new(growth, &from, on), Fluid::new(link.level));
            Input { times, from, flow, passes, waiting: 0.0, leaving, away: 0.0, queue }
        };
        let node = |link: &'g Link| Node {
            link,
            inputs: link.inputs.iter().map(|one| input(link, one.times, one.from)).collect(),
            egress: Fluid::new(0),
        };
        let memory = if growth.voq { growth.memory / 8.0 } else { growth.memory };
        Self { growth, memory, nodes: tree.links.iter().map(node).collect(), pace: 1.0 }
    }

    fn room(&self, queue: &Fluid<C>) -> f64 {
        (self.memory - queue.amount).max(0.0)
    }

    /// What crosses a switch in a step: what leaves the tree there, at all switches that are alike.
    fn cross(&mut self, place: usize, step: f64) -> f64 {
        let TreeGrowth { voq, speedup, packet, tree, .. } = *self.growth;
        let most = speedup * step;
        let room = most.min(self.room(&self.nodes[place].egress));
        let Node { link, inputs, egress } = &mut self.nodes[place];
        let level = link.level;
        let ask = |input: &Input<C>| {
            let on = if voq { 1.0 } else { input.queue.front_on() };
            let present = 1.0 - input.away;
            (input.times * present, on * most.min(input.queue.amount) / present)
        };
        let each = water_level(room, inputs.iter().map(ask));
        let (mut crossed, mut left) = ([0.0; C], 0.0);
        for input in inputs {
            let taken = match voq {
                true => input.queue.take(each.min(most), f64::INFINITY),
                false => {
                    let (is_in_turn, front) = (input.queue.is_in_turn(), input.queue.front_on());
                    let taken = input.queue.take(most, each * (1.0 - input.away));
                    let on: f64 = taken[level + 1..].iter().sum();
                    // it loses nothing before its next turn
                    let is_away = is_in_turn && input.leaving.time * each > packet * step;
                    input.away =
                        if is_away { (input.leaving.over_on * on / step).min(1.0 - front) } else { 0.0 };
                    taken
                }
            };
            left += input.times * taken[..=level].iter().sum::<f64>();
            add(&mut crossed, &taken, input.times);
        }
        crossed[..=level].fill(0.0);
        if voq && level + 1 < tree.levels {
            // it has another queue at the next switch
            left += std::mem::take(&mut crossed[level + 1]);
        }
        egress.put(&crossed, false);
        link.copies * left
    }

    /// What comes into the ingress queues of a switch in a step: uniform traffic that passes them, less what was
    /// counted when it left the tree before.
    fn fill(&mut self, place: usize, step: f64, is_hot: bool) -> f64 {
        let mut passed = 0.0;
        for at in 0..self.nodes[place].inputs.len() {
            let room = self.room(&self.nodes[place].inputs[at].queue);
            let most = step.min(room);
            if let From::Link(behind) = self.nodes[place].inputs[at].from {
                let sent = self.nodes[behind].egress.take(most, f64::INFINITY);
                self.nodes[place].inputs[at].queue.put(&sent, false);
                continue;
            }
            let copies = self.nodes[place].link.copies;
            let all_wait = f64::from(self.growth.tree.hosts) * self.growth.packet;
            let input = &mut self.nodes[place].inputs[at];
            let (pace, is_back) = match input.from {
                From::Source(Source::Hot) => (if is_hot { 1.0 } else { 0.0 }, false),
                From::Source(Source::Back(_)) => (self.pace, true),
                _ => (1.0, false),
            };
            let flow: f64 = input.flow.iter().sum();
            input.waiting += pace * flow * step;
            passed += copies * input.times * pace * step * input.passes;
            if is_back {
                passed -= copies * input.times * pace * step * (flow + input.passes);
            }
            let sent = input.waiting.min(most);
            if flow > 0.0 {
                input.queue.put(&input.flow.map(|class| class * sent / flow), input.waiting > all_wait);
            }
            input.waiting -= sent;
        }
        passed
    }

    fn step(&mut self, step: f64, is_hot: bool) -> Throughput {
        let Some(root) = self.nodes.first_mut() else { return Throughput { random: 0.0, hot: 0.0 } };
        let hot: f64 = root.egress.take(step, f64::INFINITY).iter().sum();
        let mut random = 0.0;
        for place in 0..self.nodes.len() {
            random += self.cross(place, step) + self.fill(place, step, is_hot);
        }
        let offered = self.growth.tree.to_others();
        self.pace = if offered > 0.0 { (random / step / offered).clamp(0.0, 1.0) } else { 0.0 };
        Throughput { random: random / step, hot: hot / step }
    }

    /// The end of the hot spot takes back what waits at the hot hosts.
    fn withdraw(&mut self) {
        for input in self.nodes.iter_mut().flat_map(|node| &mut node.inputs) {
            if input.from == From::Source(Source::Hot) {
                input.waiting = input.waiting.min(self.growth.stays);
            }
        }
    }

    /// What the next step depends on; none where a queue holds fluids of several compositions.
    fn held(&self) -> Option<TreeState> {
        let queues: usize = self.nodes.iter().map(|node| 1 + node.inputs.len()).sum();
        let mut held = TreeState {
            queues: Vec::with_capacity(1 + queues * (2 + C)),
            waiting: Vec::with_capacity(queues),
        };
        held.queues.push(self.pace);
        for node in &self.nodes {
            let queues = std::iter::once(&node.egress).chain(node.inputs.iter().map(|input| &input.queue));
            for queue in queues {
                if queue.cohorts.len() > 1 {
                    return None;
                }
                let front = queue.cohorts.front();
                held.queues.extend([queue.amount, front.map_or(0.0, |front| front.amount)]);
                held.queues.extend(front.map_or([0.0; C], |front| front.shares));
            }
            held.queues.extend(node.inputs.iter().map(|input| input.away));
            held.waiting.extend(node.inputs.iter().map(|input| input.waiting));
        }
        Some(held)
    }

    /// Goes so many steps at once, if the next ones are the last one again: it left all queues as they were, and what
    /// waits before an input grew if it changed.
    fn repeat(&mut self, before: &TreeState, steps: u32) -> bool {
        let Some(now) = self.held().filter(|now| now.queues == before.queues) else { return false };
        if now.waiting.iter().zip(&before.waiting).any(|(now, before)| now < before) {
            return false;
        }
        let inputs = self.nodes.iter_mut().flat_map(|node| &mut node.inputs);
        for (input, before) in inputs.zip(&before.waiting) {
            input.waiting += f64::from(steps) * (input.waiting - before);
        }
        true
    }
}

impl TreeGrowth<'_> {
    /// Throughput in every step of a length \[ns\], from the beginning.
    ///
    /// In the systems checked, means over 130 us and more with a step of 1 us are within 1 % of those with 250 ns; with
    /// one queue and memories of 32 KB within 2.5 %.
    pub fn run(&self, step: f64, steps: u32) -> Vec<Throughput> {
        // as few classes as the tree has, rounded up: all steps loop over them
        match self.tree.levels {
            ..4 => self.run_classes::<4>(step, steps),
            4..6 => self.run_classes::<6>(step, steps),
            _ => self.run_classes::<CLASSES>(step, steps),
        }
    }

    fn run_classes<const C: usize>(&self, step: f64, steps: u32) -> Vec<Throughput> {
        let mut state: State<'_, C> = State::new(self);
        let [start, end] = self.hot;
        // whether the hot hosts send, and whether they are through
        let phase = |place: u32| {
            let now = (f64::from(place) + 0.5) * step;
            ((start..end).contains(&now), now > end)
        };
        let mut found = Vec::with_capacity(steps as usize);
        // queues are filled to what they hold before the tree begins
        for _ in 0..4 * self.tree.levels {
            state.step(step, false);
        }
        let mut place = 0;
        while place < steps {
            let (is_hot, is_over) = phase(place);
            if is_over {
                state.withdraw();
            }
            let before = place.is_multiple_of(LOOK).then(|| state.held()).flatten();
            let delivered = state.step(step, is_hot);
            found.push(delivered);
            place += 1;
            let Some(before) = before else { continue };
            let alike = (place..steps).take_while(|place| phase(*place) == (is_hot, is_over)).count();
            if state.repeat(&before, alike as u32) {
                found.extend(std::iter::repeat_n(delivered, alike));
                place += alike as u32;
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::congestion_tree::{Senders, omega};
    use super::*;
    use flitwise_language::network::Multistage;
    use flitwise_language::scenario::Direction;

    fn growth(tree: &CongestionTree, kilobytes: f64, voq: bool) -> TreeGrowth<'_> {
        let (memory, hot, stays) = (kilobytes * 1024.0, [800e3, 970e3], f64::INFINITY);
        TreeGrowth { tree, speedup: 1.5, memory, voq, packet: 64.0, hot, stays }
    }

    fn means(growth: &TreeGrowth<'_>, step: f64) -> [f64; 4] {
        let found = growth.run(step, (2400e3 / step) as u32);
        [(800e3, 970e3), (970e3, 1100e3), (1100e3, 1600e3), (1600e3, 2400e3)].map(|(from, to)| {
            let window = &found[(from / step) as usize..(to / step) as usize];
            window.iter().map(|one| one.random).sum::<f64>() / window.len() as f64
        })
    }

    #[test]
    fn rows_of_the_table() {
        let rows = [
            (false, 32.0, 0.5, [9.94, 3.37, 3.37, 8.26]),
            (false, 32.0, 1.0, [19.64, 5.12, 6.25, 9.30]),
            (false, 128.0, 0.5, [19.67, 19.07, 13.80, 4.37]),
            (false, 128.0, 1.0, [39.90, 38.72, 8.71, 6.53]),
            (true, 32.0, 0.5, [19.87, 20.37, 20.37, 20.37]),
            (true, 32.0, 1.0, [38.51, 38.37, 38.37, 38.37]),
            (true, 128.0, 0.5, [20.28, 19.44, 19.94, 20.37]),
            (true, 128.0, 1.0, [40.09, 37.69, 38.10, 38.37]),
        ];
        for (voq, kilobytes, rate, wanted) in rows {
            let tree = omega(64, rate, 1.0);
            let growth = growth(&tree, kilobytes, voq);
            let [fine, coarse] = [250.0, 1000.0].map(|step| means(&growth, step));
            let name = format!("{voq} {kilobytes} {rate}: {fine:?}, {coarse:?}, not {wanted:?}");
            let is_row = |(found, wanted): (&f64, &f64)| (found - wanted).abs() < 0.01;
            assert!(fine.iter().zip(&wanted).all(is_row), "{name}");
            // one queue of 32 KB is 1.6 % off while the tree grows at half load, at full load 1.8 % and 2.2 % after it
            let within = if voq || kilobytes > 32.0 { 0.01 } else { 0.025 };
            let is_near = |(coarse, fine): (&f64, &f64)| (coarse / fine - 1.0).abs() < within;
            assert!(coarse.iter().zip(&fine).all(is_near), "{name}");
        }
    }

    /// What random traffic delivers in the end through memories of so many packets, one hot host at every switch.
    fn in_the_end(direction: Direction, packets: f64) -> f64 {
        let network = Multistage { hosts: 64, direction, first_shuffle: true };
        let hot: Vec<u32> = (0..16)
            .map(|switch| if direction == Direction::Unidirectional { 48 + switch } else { 4 * switch + 3 })
            .collect();
        let victims = (0..64).filter(|host| !hot.contains(host)).collect();
        let tree = CongestionTree::new(
            &network,
            Senders { destination: 32, hot, hot_rate: 1.0, victims, rate: 1.0 },
        );
        let growth =
            TreeGrowth { memory: 64.0 * packets, hot: [0.0, f64::INFINITY], ..growth(&tree, 1.0, false) };
        growth.run(250.0, 16_000).last().unwrap().random
    }

    /// `N/k φ + v φ / (1 + g φ) = 1`, one hot host and `v` others at every switch.
    #[test]
    fn packets_that_leave_one_after_another_lose_turns() {
        for (packets, g) in [(64.0, 48.0 / 1.5 / 16.0), (8.0, (48.0 - 8.0) / 16.0)] {
            let victims = |share: f64| 3.0 * share / (1.0 + g * share);
            let share = (0..100).fold(0.05, |share, _| (1.0 - victims(share)) / 16.0);
            let wanted = 16.0 * 4.0 * victims(share) * 63.0 / 64.0;
            let found = in_the_end(Direction::Unidirectional, packets);
            assert!((found / wanted - 1.0).abs() < 0.01, "{packets}: {found}, not {wanted}");
        }
        // every fourth destination is over the tree: its packets are back before their turn
        let alone = in_the_end(Direction::Bidirectional, 64.0);
        assert!((alone / in_the_end(Direction::Bidirectional, 8.0) - 1.0).abs() < 0.01, "{alone}");
    }

    #[test]
    fn without_a_hot_spot_all_is_delivered() {
        for voq in [false, true] {
            for (direction, first_shuffle) in [
                (Direction::Unidirectional, true),
                (Direction::Unidirectional, false),
                (Direction::Bidirectional, false),
            ] {
                let network = Multistage { hosts: 64, direction, first_shuffle };
                let (victims, rate) = ((3..64).collect(), 0.8);
                let senders = Senders { destination: 32, hot: vec![0, 1], hot_rate: 0.0, victims, rate };
                let tree = CongestionTree::new(&network, senders);
                let last = *growth(&tree, 128.0, voq).run(1000.0, 200).last().unwrap();
                let offered = 61.0 * 0.8;
                assert!((last.random + last.hot - offered).abs() < 1e-6, "{voq} {last:?} {offered}");
            }
        }
    }
}
