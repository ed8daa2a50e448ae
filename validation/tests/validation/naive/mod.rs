//! The simulator once more, as plainly as it can be said: one object per flit, one queue per buffer, and every
//! router, port and class looked at in every cycle.
//!
//! It follows the micro-architecture and the readings S1 to S9 of the crate's README sentence by sentence and is
//! slow. What it is for: the fast simulator has to agree with it in every cycle of every message.
#![allow(clippy::needless_range_loop)] // ports and classes are numbers here, as they are in the rules

use std::collections::VecDeque;

use flitwise_models::scenario::{ClassKind, ClassSpec, NetworkSpec, Scenario, Scheduler};
use flitwise_validation::{Arrival, Delivery};

/// All deliveries of `arrivals`, sorted; they come sorted by cycle, with each source and class in order.
///
/// # Panics
/// If something is still on its way after `limit` cycles.
pub(crate) fn simulate(scenario: &Scenario, arrivals: &[Arrival], limit: u64) -> Vec<Delivery> {
    assert!(arrivals.is_sorted_by_key(|arrival| arrival.cycle), "arrivals out of order");
    let mut network = Network::new(scenario, arrivals);
    for now in 0.. {
        if network.deliveries.len() == arrivals.len() {
            break;
        }
        assert!(now < limit, "{} of {} delivered by {now}", network.deliveries.len(), arrivals.len());
        network.step(now);
    }
    network.assert_empty();
    network.deliveries.sort();
    network.deliveries
}

// --------------------------------------------------------------------------------------- what there is

/// What stays as it is from cycle to cycle.
struct Rules {
    topology: NetworkSpec,
    /// `P`.
    pipeline_stages: u64,
    /// `b`.
    buffer_flits: usize,
    scheduler: Scheduler,
    // by class
    message_flits: Vec<u32>,
    real_time: Vec<bool>,
    vtick: Vec<f64>,
    /// `w_c` of S5.
    weight: Vec<f64>,
}

struct Network {
    rules: Rules,
    arrivals: Vec<Arrival>,
    /// How many of the arrivals have joined their source queues.
    joined: usize,
    /// When the header of each arrival was in stage 1 of its first router.
    entered_cycle: Vec<Option<u64>>,
    /// What the header of each arrival did in each of its routers.
    visits: Vec<Vec<Visit>>,
    deliveries: Vec<Delivery>,
    routers: Vec<Router>,
    channels: Vec<Channel>,
    /// The injection channel of each node.
    injection: Vec<usize>,
}

/// The cycles in which a header did what it does in a router; all known once it has left.
#[derive(Clone, Copy, Default)]
struct Visit {
    came_in: u64,
    /// From when on no other message was before it in its input lane.
    in_front: u64,
    granted: u64,
    crossed: u64,
    left: u64,
}

struct Router {
    /// By input port and class.
    inputs: Vec<Vec<InputLane>>,
    /// The channel behind each output port.
    outputs: Vec<usize>,
}

/// The input side of a lane.
struct InputLane {
    flits: VecDeque<Flit>,
    /// The message in front, until its tail has crossed.
    front: Option<Front>,
}

/// What the message in front of an input lane is up to.
struct Front {
    /// The output port that it goes to.
    output: usize,
    /// The first cycle in which it can be granted its output lane.
    request_cycle: u64,
    /// Whether it owns its output lane.
    granted: bool,
}

struct Channel {
    to: End,
    /// By class.
    lanes: Vec<OutputLane>,
    /// The flit sent in the cycle before this one.
    wire: Option<Flit>,
    /// S4: `v`, the stamp of the real-time flit that was sent last.
    last_stamp: f64,
    /// S5: whose turn it is.
    turn: usize,
    /// S5, by class.
    allowance: Vec<f64>,
    /// S6 and S7: the class served last.
    last_served: usize,
}

#[derive(Clone, Copy)]
enum End {
    Input { router: usize, port: usize },
    Node,
}

/// The output side of a lane; at a network interface the source queue.
struct OutputLane {
    flits: VecDeque<Flit>,
    /// The input port of the message that owns it.
    owner: Option<usize>,
    /// S1: the input port that looks first at a grant, the one after the last that was granted.
    first_port: usize,
    /// `aux` of S2 and S3, `F` of S4.
    clock: f64,
}

#[derive(Clone, Copy)]
struct Flit {
    /// The message it is of, by its place in the arrivals.
    message: usize,
    class: usize,
    is_header: bool,
    is_tail: bool,
    /// The cycle in which it joined the output lane or source queue that it is or was last in.
    joined_cycle: u64,
    /// The stamp that it got there.
    stamp: f64,
}

/// From an input lane to an output lane of the same class.
#[derive(Clone, Copy, PartialEq)]
struct Path {
    router: usize,
    input: usize,
    output: usize,
    class: usize,
}

// ------------------------------------------------------------------------------------------- beginning

impl Rules {
    fn new(scenario: &Scenario) -> Self {
        let classes = scenario.classes();
        let real_time: Vec<bool> = classes.iter().map(|class| class.kind == ClassKind::RealTime).collect();
        let vtick: Vec<f64> = classes.iter().map(vtick).collect();

        // S5: w_c = Vtick_max / Vtick_c over the real-time classes with a finite Vtick
        let mut vtick_max = 0.0;
        for class in 0..classes.len() {
            if real_time[class] && vtick[class].is_finite() {
                vtick_max = f64::max(vtick_max, vtick[class]);
            }
        }
        let router = scenario.router();
        assert!(router.pipeline_stages >= 3, "routing, crossbar and link are a stage each");
        Self {
            topology: scenario.network(),
            pipeline_stages: u64::from(router.pipeline_stages),
            buffer_flits: router.buffer_flits as usize,
            scheduler: router.scheduler,
            message_flits: classes.iter().map(|class| class.message_flits).collect(),
            weight: vtick.iter().map(|vtick| vtick_max / vtick).collect(),
            real_time,
            vtick,
        }
    }

    fn classes(&self) -> usize {
        self.vtick.len()
    }

    /// Nodes, routers, and ports of each router.
    fn size(&self) -> (usize, usize, usize) {
        match self.topology {
            NetworkSpec::Router { ports } => (ports as usize, 1, ports as usize),
            NetworkSpec::Hypercube { dimension } => (1 << dimension, 1 << dimension, dimension as usize + 1),
        }
    }

    /// Where the channel behind an output port leads.
    fn end_of(&self, router: usize, port: usize) -> End {
        match self.topology {
            NetworkSpec::Hypercube { dimension } if port < dimension as usize => {
                End::Input { router: router ^ (1 << port), port }
            }
            _ => End::Node,
        }
    }

    /// The router and input port behind the injection channel of a node.
    fn entrance_of(&self, node: usize) -> End {
        match self.topology {
            NetworkSpec::Router { .. } => End::Input { router: 0, port: node },
            NetworkSpec::Hypercube { dimension } => End::Input { router: node, port: dimension as usize },
        }
    }

    /// The output port to a destination: that of its own, or e-cube.
    fn route(&self, router: usize, destination: u32) -> usize {
        match self.topology {
            NetworkSpec::Router { .. } => destination as usize,
            NetworkSpec::Hypercube { dimension } => {
                let different = router as u32 ^ destination;
                for port in 0..dimension {
                    if different & (1 << port) != 0 {
                        return port as usize; // the lowest differing dimension first
                    }
                }
                dimension as usize // then ejection
            }
        }
    }

    fn hops(&self, arrival: &Arrival) -> u8 {
        match self.topology {
            NetworkSpec::Router { .. } => 0,
            NetworkSpec::Hypercube { .. } => (arrival.source ^ arrival.destination).count_ones() as u8,
        }
    }
}

/// S9; infinite if nothing is ever offered.
fn vtick(class: &ClassSpec) -> f64 {
    class.vtick.unwrap_or(1.0 / (class.rate * f64::from(class.message_flits)))
}

impl Network {
    fn new(scenario: &Scenario, arrivals: &[Arrival]) -> Self {
        let rules = Rules::new(scenario);
        let (nodes, routers, ports) = rules.size();
        let mut network = Self {
            arrivals: arrivals.to_vec(),
            joined: 0,
            entered_cycle: vec![None; arrivals.len()],
            visits: vec![Vec::new(); arrivals.len()],
            deliveries: Vec::new(),
            routers: Vec::new(),
            channels: Vec::new(),
            injection: Vec::new(),
            rules,
        };
        for node in 0..nodes {
            network.injection.push(network.channels.len());
            network.channels.push(Channel::new(&network.rules, network.rules.entrance_of(node)));
        }
        for router in 0..routers {
            let mut outputs = Vec::new();
            let mut inputs = Vec::new();
            for port in 0..ports {
                outputs.push(network.channels.len());
                network.channels.push(Channel::new(&network.rules, network.rules.end_of(router, port)));
                inputs.push((0..network.rules.classes()).map(|_| InputLane::new()).collect());
            }
            network.routers.push(Router { inputs, outputs });
        }
        network
    }
}

impl Channel {
    fn new(rules: &Rules, to: End) -> Self {
        let classes = rules.classes();
        Self {
            to,
            lanes: (0..classes).map(|_| OutputLane::new()).collect(),
            wire: None,
            last_stamp: 0.0,
            turn: classes - 1,
            allowance: vec![0.0; classes],
            last_served: classes - 1,
        }
    }
}

impl InputLane {
    fn new() -> Self {
        Self { flits: VecDeque::new(), front: None }
    }
}

impl OutputLane {
    fn new() -> Self {
        Self { flits: VecDeque::new(), owner: None, first_port: 0, clock: 0.0 }
    }
}

// ------------------------------------------------------------------------------------------- one cycle

impl Network {
    fn step(&mut self, now: u64) {
        self.generate(now);

        // every decision from the state as it is now ...
        let mut eligible = Vec::new();
        for channel in &self.channels {
            eligible.push(self.eligible(channel));
        }
        let grants = self.grants(now);
        let crossings = self.crossings(&grants);

        // ... and then what comes of it; the link before the crossbar (S2, S4)
        let coming_in: Vec<Option<Flit>> =
            self.channels.iter_mut().map(|channel| channel.wire.take()).collect();
        for channel in 0..self.channels.len() {
            self.transmit(channel, &eligible[channel], now);
        }
        for grant in grants {
            self.grant(grant, now); // before the crossbar: with P = 3 a tail may cross and end it at once
        }
        for crossing in crossings {
            self.cross(crossing, now);
        }
        for (channel, flit) in coming_in.into_iter().enumerate() {
            if let Some(flit) = flit {
                self.receive(channel, flit, now);
            }
        }
    }

    /// NI: what is generated now joins its source queue and can be sent now.
    fn generate(&mut self, now: u64) {
        while self.joined < self.arrivals.len() && self.arrivals[self.joined].cycle == now {
            let message = self.joined;
            let Arrival { source, class, .. } = self.arrivals[message];
            let class = usize::from(class);
            let length = self.rules.message_flits[class];
            for number in 0..length {
                let is_header = number == 0;
                let is_tail = number == length - 1;
                let flit = Flit { message, class, is_header, is_tail, joined_cycle: 0, stamp: 0.0 };
                let channel = &mut self.channels[self.injection[source as usize]];
                channel.join(flit, now, &self.rules);
            }
            self.joined += 1;
        }
    }

    /// The classes with a flit on this side and a free slot behind the link.
    ///
    /// The slot of a flit on the wire is taken, the slot of a flit that crosses in this cycle is not yet free.
    fn eligible(&self, channel: &Channel) -> Vec<bool> {
        let mut eligible = vec![false; self.rules.classes()];
        for (class, lane) in channel.lanes.iter().enumerate() {
            let has_room = match channel.to {
                End::Node => true,
                End::Input { router, port } => {
                    let on_wire = channel.wire.iter().filter(|flit| flit.class == class).count();
                    let taken = self.routers[router].inputs[port][class].flits.len() + on_wire;
                    taken < self.rules.buffer_flits
                }
            };
            eligible[class] = !lane.flits.is_empty() && has_room;
        }
        eligible
    }

    /// Arbitration: each free output lane goes to the oldest request, of equal ones to the first port in turn.
    fn grants(&self, now: u64) -> Vec<Path> {
        let mut grants = Vec::new();
        for (router, Router { inputs, outputs }) in self.routers.iter().enumerate() {
            let ports = inputs.len();
            for output in 0..ports {
                for class in 0..self.rules.classes() {
                    let lane = &self.channels[outputs[output]].lanes[class];
                    if lane.owner.is_some() {
                        continue;
                    }
                    let mut oldest: Option<(u64, usize)> = None;
                    for step in 0..ports {
                        let input = (lane.first_port + step) % ports; // S1
                        let Some(front) = &inputs[input][class].front else { continue };
                        let requests = front.output == output && !front.granted && front.request_cycle <= now;
                        if requests && oldest.is_none_or(|(cycle, _)| front.request_cycle < cycle) {
                            oldest = Some((front.request_cycle, input));
                        }
                    }
                    if let Some((_, input)) = oldest {
                        grants.push(Path { router, input, output, class });
                    }
                }
            }
        }
        grants
    }

    /// Crossbar: each input lane whose front message owns an output lane, if it has a flit and there is a slot.
    ///
    /// A grant of this cycle is good from the next one on; with `P = 3` at once.
    fn crossings(&self, grants: &[Path]) -> Vec<Path> {
        let mut crossings = Vec::new();
        for (router, Router { inputs, outputs }) in self.routers.iter().enumerate() {
            for input in 0..inputs.len() {
                for class in 0..self.rules.classes() {
                    let lane = &inputs[input][class];
                    let Some(front) = &lane.front else { continue };
                    let path = Path { router, input, output: front.output, class };
                    let granted_now = self.rules.pipeline_stages == 3 && grants.contains(&path);
                    let owns = front.granted || granted_now;
                    let output = &self.channels[outputs[front.output]].lanes[class];
                    let has_room = output.flits.len() < self.rules.buffer_flits;
                    if owns && !lane.flits.is_empty() && has_room {
                        crossings.push(path);
                    }
                }
            }
        }
        crossings
    }

    /// Stage `P`: at most one flit goes onto the wire, or to the node.
    fn transmit(&mut self, channel: usize, eligible: &[bool], now: u64) {
        let channel = &mut self.channels[channel];
        let Some(class) = channel.choose(eligible, &self.rules) else { return };
        channel.last_served = class;
        let flit = channel.lanes[class].flits.pop_front().unwrap();
        if self.rules.real_time[class] {
            channel.last_stamp = flit.stamp;
        }
        // a header that leaves its source has been in no router yet
        if let Some(visit) = self.visits[flit.message].last_mut().filter(|_| flit.is_header) {
            visit.left = now;
        }
        match channel.to {
            End::Input { .. } => channel.wire = Some(flit),
            End::Node if flit.is_tail => self.deliver(flit.message, now),
            End::Node => {}
        }
    }

    fn deliver(&mut self, message: usize, now: u64) {
        let arrival = self.arrivals[message];
        let visits = &self.visits[message];
        let over_all_routers = |wait: &dyn Fn(&Visit) -> u64| visits.iter().map(wait).sum::<u64>() as u32;
        let stages = self.rules.pipeline_stages;
        let request_after = (stages - 3).max(1);
        let cross_after = u64::from(stages > 3);
        let length = u64::from(self.rules.message_flits[usize::from(arrival.class)]);
        let header_left = visits.last().unwrap().left;
        self.deliveries.push(Delivery {
            generated_cycle: arrival.cycle,
            entered_cycle: self.entered_cycle[message].unwrap(),
            delivered_cycle: now,
            source: arrival.source,
            destination: arrival.destination,
            class: arrival.class,
            hops: self.rules.hops(&arrival),
            input_cycles: over_all_routers(&|visit| visit.in_front - visit.came_in),
            arbitration_cycles: over_all_routers(&|visit| visit.granted - (visit.in_front + request_after)),
            output_cycles: over_all_routers(&|visit| {
                // for room in the output lane, and then in it
                let before = visit.crossed - (visit.granted + cross_after);
                before + visit.left - (visit.crossed + 1)
            }),
            gap_cycles: (now - (header_left + length - 1)) as u32,
        });
    }

    fn grant(&mut self, Path { router, input, output, class }: Path, now: u64) {
        let Router { inputs, outputs } = &mut self.routers[router];
        let message = inputs[input][class].flits[0].message;
        self.visits[message].last_mut().unwrap().granted = now;
        inputs[input][class].front.as_mut().unwrap().granted = true;
        let lane = &mut self.channels[outputs[output]].lanes[class];
        lane.owner = Some(input);
        lane.first_port = (input + 1) % inputs.len(); // S1
    }

    /// Stage `P - 1`: one flit changes sides; a tail gives up the output lane and lets the next message forward.
    fn cross(&mut self, Path { router, input, output, class }: Path, now: u64) {
        let channel = &mut self.channels[self.routers[router].outputs[output]];
        let lane = &mut self.routers[router].inputs[input][class];
        let flit = lane.flits.pop_front().unwrap();
        assert_eq!(channel.lanes[class].owner, Some(input), "crosses into a lane of another");
        channel.join(flit, now, &self.rules);
        if flit.is_header {
            self.visits[flit.message].last_mut().unwrap().crossed = now;
        }
        if flit.is_tail {
            channel.lanes[class].owner = None;
            lane.front = None;
            if let Some(next) = lane.flits.front().copied() {
                self.come_to_front(router, input, next, now);
            }
        }
    }

    /// Stage 1: the flit that left over the link in the cycle before comes in.
    fn receive(&mut self, channel: usize, flit: Flit, now: u64) {
        let End::Input { router, port } = self.channels[channel].to else { unreachable!() };
        if flit.is_header && self.entered_cycle[flit.message].is_none() {
            self.entered_cycle[flit.message] = Some(now);
        }
        if flit.is_header {
            self.visits[flit.message].push(Visit { came_in: now, ..Visit::default() });
        }
        let lane = &mut self.routers[router].inputs[port][flit.class];
        lane.flits.push_back(flit);
        assert!(lane.flits.len() <= self.rules.buffer_flits, "more flits than slots");
        if lane.front.is_none() {
            self.come_to_front(router, port, flit, now);
        }
    }

    /// A header that is in front from `now` on asks for its output lane in `now + max(P - 3, 1)`.
    fn come_to_front(&mut self, router: usize, port: usize, header: Flit, now: u64) {
        assert!(header.is_header, "a body in front without its header");
        self.visits[header.message].last_mut().unwrap().in_front = now;
        let output = self.rules.route(router, self.arrivals[header.message].destination);
        let request_cycle = now + (self.rules.pipeline_stages - 3).max(1);
        let front = Front { output, request_cycle, granted: false };
        self.routers[router].inputs[port][header.class].front = Some(front);
    }

    fn assert_empty(&self) {
        for channel in &self.channels {
            assert!(channel.wire.is_none());
            assert!(channel.lanes.iter().all(|lane| lane.flits.is_empty() && lane.owner.is_none()));
        }
        for lane in self.routers.iter().flat_map(|router| router.inputs.iter().flatten()) {
            assert!(lane.flits.is_empty() && lane.front.is_none());
        }
    }
}

// ------------------------------------------------------------------------------------- link schedulers

impl Channel {
    /// A flit joins its output lane or source queue and gets its stamp.
    fn join(&mut self, mut flit: Flit, now: u64, rules: &Rules) {
        let lane = &mut self.lanes[flit.class];
        let x = now as f64;
        let vtick = rules.vtick[flit.class];
        if rules.real_time[flit.class] {
            lane.clock = match rules.scheduler {
                Scheduler::VirtualClock if lane.flits.is_empty() => x + vtick, // S2
                Scheduler::VirtualClock => x.max(lane.clock) + vtick,          // S2
                Scheduler::VirtualClockPersistent => x.max(lane.clock) + vtick, // S3
                Scheduler::FairQueueing => self.last_stamp.max(lane.clock) + vtick, // S4
                Scheduler::WeightedRoundRobin | Scheduler::RoundRobin | Scheduler::Fifo => 0.0,
            };
        }
        flit.joined_cycle = now;
        flit.stamp = lane.clock;
        lane.flits.push_back(flit);
    }

    /// Which of the eligible classes sends a flit.
    fn choose(&mut self, eligible: &[bool], rules: &Rules) -> Option<usize> {
        let mut real_time = eligible.to_vec();
        let mut best_effort = None;
        for class in 0..eligible.len() {
            if !rules.real_time[class] {
                real_time[class] = false;
                best_effort = eligible[class].then_some(class);
            }
        }
        match rules.scheduler {
            Scheduler::VirtualClock | Scheduler::VirtualClockPersistent | Scheduler::FairQueueing => {
                self.smallest_stamp(&real_time).or(best_effort) // S8
            }
            Scheduler::WeightedRoundRobin => self.weighted_turn(&real_time, rules).or(best_effort), // S8
            Scheduler::RoundRobin => next_in_circle(self.last_served, eligible),                    // S6
            Scheduler::Fifo => self.first_come(eligible),
        }
    }

    /// S8: the smallest stamp; equal: the lower class.
    fn smallest_stamp(&self, eligible: &[bool]) -> Option<usize> {
        let mut smallest: Option<(f64, usize)> = None;
        for class in 0..eligible.len() {
            if eligible[class] {
                let stamp = self.lanes[class].flits[0].stamp;
                if smallest.is_none_or(|(least, _)| stamp < least) {
                    smallest = Some((stamp, class));
                }
            }
        }
        smallest.map(|(_, class)| class)
    }

    /// S5: on with the same class while it can go and has an allowance, else the next one in the circle.
    fn weighted_turn(&mut self, eligible: &[bool], rules: &Rules) -> Option<usize> {
        let goes_on = eligible[self.turn] && self.allowance[self.turn] >= 1.0;
        if !goes_on {
            self.turn = next_in_circle(self.turn, eligible)?;
            let left = self.allowance[self.turn];
            let carried = if left < 1.0 { left } else { 0.0 };
            self.allowance[self.turn] = rules.weight[self.turn] + carried;
        }
        self.allowance[self.turn] -= 1.0;
        Some(self.turn)
    }

    /// S7: the flits that joined first; of these as in S6.
    fn first_come(&self, eligible: &[bool]) -> Option<usize> {
        let joined = |class: usize| self.lanes[class].flits[0].joined_cycle;
        let earliest = (0..eligible.len()).filter(|class| eligible[*class]).map(joined).min()?;
        let first: Vec<bool> =
            (0..eligible.len()).map(|class| eligible[class] && joined(class) == earliest).collect();
        next_in_circle(self.last_served, &first)
    }
}

/// The first eligible class after `last`, which itself comes last.
fn next_in_circle(last: usize, eligible: &[bool]) -> Option<usize> {
    let classes = eligible.len();
    (1..=classes).map(|step| (last + step) % classes).find(|class| eligible[*class])
}
