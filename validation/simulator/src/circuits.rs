//! Set-up of circuits: a probe asks for one virtual channel after another on its way, and is dropped where one is
//! taken (MediaWorm, pipelined circuit switching).
//!
//! A probe takes `P` cycles in every router, its acknowledgement one on the way back. Streams set up circuits one
//! after another before their data flow ([`set_up`]), or nodes ask for circuits that come and go ([`calls`]).

mod calls;

use flitwise_language::network::{Half, Hop, Network};
use flitwise_language::scenario::{CircuitsSpec, Destinations, FrameSource, Scenario};

use crate::message::ChannelChoice;

use super::traffic::OF_PLACEMENT;
use super::traffic::destinations::draw;
use super::traffic::random::{Random, below, stream_of};
use super::virtual_channels::VirtualChannels;
pub(crate) use calls::Programme;
pub use calls::calls;

/// A circuit that has been set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circuit {
    /// The node that it ends at.
    pub destination: u32,
    /// Its virtual channels.
    pub drawn: ChannelChoice,
}

/// What became of the circuits that were asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Circuits asked for, and those of them that were set up.
    pub asked: u64,
    /// See above.
    pub established: u64,
    /// Attempts at them.
    pub attempts: u64,
    /// Attempts that found a virtual channel taken.
    pub dropped: u64,
    /// From the first probe to the acknowledgement, over all that were set up \[cycles\].
    pub set_up_cycles: f64,
    /// Circuits that stand at once, on average.
    pub standing: f64,
}

/// How circuits of a class are asked for, in the words of both simulators.
#[derive(Clone, Debug)]
pub struct CircuitDemand {
    /// How circuits are asked for.
    pub spec: CircuitsSpec,
    pub(crate) frames: FrameSource,
    /// The place of the class in the scenario, and its virtual channels.
    pub(crate) class: usize,
    pub(crate) first_lane: usize,
    pub(crate) lanes: usize,
    pub(crate) destinations: Destinations,
    /// Nodes that ask for them.
    pub senders: Vec<u32>,
    /// `P`.
    pub(crate) probe_cycles: u64,
}

impl CircuitDemand {
    /// Of a class whose streams have circuits.
    pub fn of(scenario: &Scenario, class: usize) -> Option<Self> {
        let block = scenario.virtual_channels().get(class)?.clone();
        Some(Self {
            spec: scenario.circuits()?,
            frames: scenario.frames(class)?,
            class,
            first_lane: block.start,
            lanes: block.len(),
            destinations: scenario.destinations(class),
            senders: scenario.senders(class),
            probe_cycles: scenario.router().pipeline_stages.into(),
        })
    }

    /// A destination and a virtual channel there, from the injection lane of that number within the class.
    pub(crate) fn attempt(&self, sender: u32, injection: usize, random: &mut Random) -> Circuit {
        let destination = draw(random, &self.destinations.towards(sender));
        let pool = self.spec.pool.unwrap_or(self.lanes as u32);
        let lane = (self.first_lane + below(random, pool) as usize) as u8;
        let injection = (self.first_lane + injection) as u8;
        Circuit { destination, drawn: ChannelChoice { injection, network: lane, ejection: lane } }
    }

    /// The random numbers of all attempts at circuits of streams.
    pub(crate) fn random(&self, seed: u64) -> Random {
        stream_of(seed, 0, self.class, OF_PLACEMENT)
    }

    /// Cycles of a probe through so many routers, and of its acknowledgement.
    pub(crate) fn there_and_back(&self, routers: usize) -> u64 {
        (self.probe_cycles + 1) * routers as u64
    }
}

/// The channels behind all routers, and which of their lanes are taken.
struct Board {
    network: Network,
    channels: VirtualChannels,
    taken: Vec<bool>,
}

impl Board {
    fn new(scenario: &Scenario) -> Self {
        let (network, channels) = (scenario.topology(), VirtualChannels::new(scenario));
        let lanes = network.routers() as usize * network.ports() as usize * channels.width();
        Self { network, channels, taken: vec![false; lanes] }
    }

    /// The lanes of a circuit, one behind every router on its way.
    fn way(&self, class: usize, source: u32, circuit: Circuit) -> Vec<usize> {
        let Self { network, channels, .. } = self;
        let Circuit { destination, drawn } = circuit;
        let groups = channels.on_the_way(class, Some(drawn)).map(usize::from);
        let upper =
            |router: u32| network.has_rings() && network.half(router, source, destination) == Half::Upper;
        let lane = |hop: Hop| {
            let first = (hop.router * network.ports() + hop.port) as usize * channels.width();
            first + groups[if hop.is_between_routers() { usize::from(upper(hop.router)) } else { 2 }]
        };
        network.path(source, destination, 0).map(lane).collect()
    }
}

/// The circuits of the streams of a class, those of the first sender first, set up one attempt after another: stream 0
/// of all nodes, then stream 1. A stream takes the lowest free lane of its injection link.
pub fn set_up(scenario: &Scenario, asked: &CircuitDemand, seed: u64) -> (Vec<Option<Circuit>>, Counts) {
    let (mut board, mut random) = (Board::new(scenario), asked.random(seed));
    let (streams, senders) = (asked.frames.streams as usize, asked.senders.len());
    let (mut circuits, mut counts) = (vec![None; streams * senders], Counts::default());
    let mut injection = vec![0; senders];
    for stream in 0..streams {
        for (at, sender) in asked.senders.iter().enumerate() {
            counts.asked += 1;
            let mut cycles = 0;
            for _ in 0..asked.spec.attempts_per_stream {
                counts.attempts += 1;
                let circuit = asked.attempt(*sender, injection[at], &mut random);
                let way = board.way(asked.class, *sender, circuit);
                if let Some(taken) = way.iter().position(|lane| board.taken[*lane]) {
                    counts.dropped += 1;
                    cycles += asked.probe_cycles * (taken as u64 + 1);
                    continue;
                }
                cycles += asked.there_and_back(way.len());
                way.into_iter().for_each(|lane| board.taken[lane] = true);
                counts.established += 1;
                counts.set_up_cycles += cycles as f64;
                injection[at] += 1;
                circuits[at * streams + stream] = Some(circuit);
                break;
            }
        }
    }
    counts.standing = counts.established as f64;
    (circuits, counts)
}
