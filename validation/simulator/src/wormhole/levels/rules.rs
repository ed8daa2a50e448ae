//! What stays the same in a run: sizes, and what the scenario says of levels.

use flitwise_language::scenario::{Allocation, ClassKind, Crossbar, OutputLanes, Scenario, Scheduler};

use crate::control::stations::control_class;
use crate::reads::MOST_CLASSES;
use crate::virtual_channels::VirtualChannels;
use crate::wiring::{End, Wiring};
use crate::wormhole::grants::request_delay;

/// Levels of classes: control, real time, best effort.
pub(super) const LEVELS: usize = 3;
/// The level whose flits have stamps of a clock.
pub(super) const REAL_TIME: usize = 1;
/// The level that congestion control holds back.
pub(super) const BEST_EFFORT: usize = 2;

/// What flits of a level are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// VirtualClock of every message (S10).
    VirtualClock,
    /// Self-clocked fair queueing of every message (S10).
    FairQueueing,
    /// The cycle of joining, without levels (S7).
    Fifo,
    /// Nothing: arbiters name lanes (A1 to A8).
    Arbiter,
}

/// Which flits cross together where arbiters name lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Crossing {
    /// All.
    All,
    /// One of each input port, of those whose output port is free.
    Free,
    /// One of each input port, if its output port is free.
    Named,
}

/// A virtual channel has the number `link << shift | channel`, on both sides of its link; a *lane* is a level of it.
pub(super) struct Rules {
    /// Logarithm of the virtual channels per link.
    pub(super) shift: u32,
    /// Virtual channels of all links.
    pub(super) channels: usize,
    pub(super) links: usize,
    /// Ports of a router.
    pub(super) ports: usize,
    /// By router and port: its number in turns, and how many numbers there are. A cube's are those of the mesh of
    /// radix 2, which has two ports for each dimension.
    pub(super) turns: Vec<u16>,
    pub(super) turn_ports: usize,
    /// `b`, of a lane before and behind a link.
    pub(super) buffer_flits: u32,
    /// `P`.
    pub(super) pipeline_stages: u64,
    /// From a header's being at the front to its request \[cycles\].
    pub(super) request_delay: u64,
    pub(super) block_flits: u32,
    pub(super) preempts: bool,
    pub(super) accelerates: bool,
    pub(super) order: Order,
    pub(super) crossing: Crossing,
    /// By class: its level.
    pub(super) levels: [u8; MOST_CLASSES],
    /// The same: its kind. Signals that are messages have a class of their own, the last one.
    pub(super) kinds: Vec<ClassKind>,
    /// That class, and the one of the scenario whose flits on links theirs are.
    signals: Option<(usize, usize)>,
    /// From the lane of a level to that of the next behind a link, 0 where all share one; the same before a link.
    input_stride: usize,
    output_stride: usize,
    /// By level: its place in the order of priority.
    pub(super) ranks: [usize; LEVELS],
    /// By link: a bit for the port of the router that it leaves.
    pub(super) output_bits: Vec<u64>,
    /// By link: router and port that it leads into; `None` if it leads to a node.
    pub(super) inputs: Vec<Option<(u32, u32)>>,
}

impl Rules {
    pub(super) fn new(scenario: &Scenario, channels: &VirtualChannels, wiring: &Wiring) -> Self {
        let router = scenario.data_router();
        let mut levels = [0; MOST_CLASSES];
        for (level, class) in levels.iter_mut().zip(scenario.classes()) {
            *level = class.kind.level() as u8;
        }
        let (preempts, links) = (router.preempts(), wiring.links());
        let per_level = preempts && router.output_lanes == Some(OutputLanes::PerLevel);
        let count = (links as usize) << channels.shift();
        let stride = |has_own: bool| if has_own { count } else { 0 };
        let order = match router.scheduler {
            Scheduler::FineGrainedVirtualClock => Order::VirtualClock,
            Scheduler::FineGrainedFairQueueing => Order::FairQueueing,
            Scheduler::Fifo => Order::Fifo,
            Scheduler::LaneArbiter => Order::Arbiter,
            other => unreachable!("routers with levels have no {}", other.word()),
        };
        let inputs =
            (0..links).map(|link| (wiring.end(link) != End::Node).then(|| wiring.input(link))).collect();
        let classes = scenario.classes();
        let signals = wiring.stations().map(|_| (classes.len(), control_class(scenario)));
        let of_signals = signals.map(|_| ClassKind::Control);
        let cube = scenario.topology().as_hypercube().map(|cube| cube.dimension);
        let turns = (0..wiring.routers()).flat_map(|router| {
            (0..wiring.ports()).map(move |port| match cube {
                Some(dimension) if port < dimension => 2 * port + (router >> port & 1),
                Some(dimension) => dimension + port,
                None => port,
            })
        });
        Self {
            turns: turns.map(|turn| turn as u16).collect(),
            turn_ports: (cube.unwrap_or(0) + wiring.ports()) as usize,
            shift: channels.shift(),
            channels: count,
            links: links as usize,
            ports: wiring.ports() as usize,
            buffer_flits: router.buffer_flits,
            pipeline_stages: router.pipeline_stages.into(),
            request_delay: request_delay(router.pipeline_stages.into()),
            block_flits: router.block_flits,
            preempts,
            accelerates: router.accelerates(),
            order,
            crossing: match (router.crossbar, router.allocation) {
                (Crossbar::Full, _) => Crossing::All,
                (_, Allocation::InputFirst) => Crossing::Named,
                _ => Crossing::Free,
            },
            levels,
            kinds: classes.iter().map(|class| class.kind).chain(of_signals).collect(),
            signals,
            input_stride: stride(preempts),
            output_stride: stride(per_level),
            ranks: if order == Order::Fifo { [0; LEVELS] } else { [0, 1, 2] },
            output_bits: (0..links).map(|link| 1 << (link % wiring.ports())).collect(),
            inputs,
        }
    }

    /// Lanes of a virtual channel behind its link.
    pub(super) fn lanes_behind(&self) -> usize {
        if self.input_stride > 0 { LEVELS } else { 1 }
    }

    /// Lanes of a virtual channel before its link.
    pub(super) fn lanes_before(&self) -> usize {
        if self.output_stride > 0 { LEVELS } else { 1 }
    }

    /// The lane of a level of a virtual channel behind its link.
    #[inline]
    pub(super) fn input_lane(&self, channel: usize, level: usize) -> usize {
        level * self.input_stride + channel
    }

    /// The lane of a level of a virtual channel before its link.
    #[inline]
    pub(super) fn output_lane(&self, channel: usize, level: usize) -> usize {
        level * self.output_stride + channel
    }

    #[inline]
    pub(super) fn link(&self, channel: usize) -> usize {
        channel >> self.shift
    }

    /// The bit of a virtual channel among those of its link.
    #[inline]
    pub(super) fn bit(&self, channel: usize) -> u64 {
        1 << (channel & ((1 << self.shift) - 1))
    }

    #[inline]
    pub(super) fn level(&self, class: usize) -> usize {
        usize::from(self.levels[class])
    }

    /// Whether messages of a class are signals.
    #[inline]
    pub(super) fn are_signals(&self, class: usize) -> bool {
        self.signals.is_some_and(|(signals, _)| signals == class)
    }

    /// The class of the scenario among whose flits on links those of a class are counted.
    pub(super) fn counted_class(&self, class: usize) -> usize {
        self.signals.filter(|(signals, _)| *signals == class).map_or(class, |(_, counted)| counted)
    }

    /// Router and port of an input link.
    #[inline]
    pub(super) fn input(&self, link: usize) -> (usize, usize) {
        match self.inputs[link] {
            Some((router, port)) => (router as usize, port as usize),
            None => unreachable!("a flit went on from a node"),
        }
    }
}
