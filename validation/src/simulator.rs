//! The flit simulator: a network, its traffic and a clock. [`plain`] is the same simulator as its rules read.

mod arbiter;
mod full_crossbar;
mod lane;
mod link_scheduler;
pub mod plain;
mod queues;
mod sources;
mod wiring;

use flitwise_models::scenario::{Scenario, Scheduler};

use crate::message::{Arrival, Delivery};

use full_crossbar::FullCrossbar;
use link_scheduler::{
    ClassTable, FairQueueing, Fifo, LinkScheduler, RoundRobin, VirtualClock, WeightedRoundRobin,
};
use sources::Sources;
pub use wiring::{Channel, ChannelKind};

/// Where messages come from.
enum Traffic {
    /// The scenario's sources.
    Random(Sources),
    /// A list, by cycle, and what of it has come.
    Listed { arrivals: Vec<Arrival>, next: usize },
}

impl Traffic {
    /// The next message, if it comes in cycle `until` or before.
    #[inline]
    fn next(&mut self, until: u64) -> Option<Arrival> {
        match self {
            Self::Random(sources) => sources.next(until),
            Self::Listed { arrivals, next } => {
                let arrival = *arrivals.get(*next).filter(|arrival| arrival.cycle <= until)?;
                *next += 1;
                Some(arrival)
            }
        }
    }

    /// The cycle of the next message.
    fn next_cycle(&mut self) -> Option<u64> {
        match self {
            Self::Random(sources) => sources.next_cycle(),
            Self::Listed { arrivals, next } => arrivals.get(*next).map(|arrival| arrival.cycle),
        }
    }
}

/// The schedulers of all links.
enum Schedulers {
    VirtualClock(VirtualClock<true>),
    VirtualClockPersistent(VirtualClock<false>),
    FairQueueing(FairQueueing),
    WeightedRoundRobin(WeightedRoundRobin),
    RoundRobin(RoundRobin),
    Fifo(Fifo),
}

/// A run of the network, cycle by cycle.
pub struct Simulator {
    network: FullCrossbar,
    schedulers: Schedulers,
    traffic: Traffic,
    classes: usize,
    now: u64,
}

impl Simulator {
    /// With the scenario's sources, drawn from a stream per `(seed, node, class)`.
    pub fn new(scenario: &Scenario, seed: u64) -> Self {
        let sources = Sources::new(scenario, seed);
        Self::with_traffic(scenario, Traffic::Random(sources))
    }

    fn with_traffic(scenario: &Scenario, traffic: Traffic) -> Self {
        let network = FullCrossbar::new(scenario);
        let width = scenario.classes().len().next_power_of_two();
        let classes = ClassTable::new(scenario.classes(), width);
        let lanes = network.lanes();
        let schedulers = match scenario.router().scheduler {
            Scheduler::VirtualClock => Schedulers::VirtualClock(VirtualClock::new(classes, lanes)),
            Scheduler::VirtualClockPersistent => {
                Schedulers::VirtualClockPersistent(VirtualClock::new(classes, lanes))
            }
            Scheduler::FairQueueing => Schedulers::FairQueueing(FairQueueing::new(classes, lanes)),
            Scheduler::WeightedRoundRobin => {
                Schedulers::WeightedRoundRobin(WeightedRoundRobin::new(classes, lanes))
            }
            Scheduler::RoundRobin => Schedulers::RoundRobin(RoundRobin::new(lanes / width)),
            Scheduler::Fifo => Schedulers::Fifo(Fifo::new(lanes, width)),
        };
        Self { network, schedulers, traffic, classes: scenario.classes().len(), now: 0 }
    }

    /// Simulates all cycles before `end`; messages that are through are added to `delivered`.
    pub fn run_until(&mut self, end: u64, delivered: &mut Vec<Delivery>) {
        let Self { network, schedulers, traffic, now, .. } = self;
        match schedulers {
            Schedulers::VirtualClock(s) => run(network, s, traffic, now, end, delivered),
            Schedulers::VirtualClockPersistent(s) => run(network, s, traffic, now, end, delivered),
            Schedulers::FairQueueing(s) => run(network, s, traffic, now, end, delivered),
            Schedulers::WeightedRoundRobin(s) => run(network, s, traffic, now, end, delivered),
            Schedulers::RoundRobin(s) => run(network, s, traffic, now, end, delivered),
            Schedulers::Fifo(s) => run(network, s, traffic, now, end, delivered),
        }
    }

    /// The first cycle that has not been simulated.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Flits that have crossed a crossbar.
    pub fn flit_hops(&self) -> u64 {
        self.network.flit_hops
    }

    /// By class: messages that wait at their sources, those being sent included.
    pub fn backlog(&self) -> &[u64] {
        self.network.ledger.sources.backlog()
    }

    /// By class: messages generated so far, but for those lost to [`Self::limit_source_queues`].
    pub fn generated(&self) -> &[u64] {
        self.network.ledger.sources.joined()
    }

    /// From now on a source queue of the class takes no more than so many messages; later ones are lost.
    ///
    /// For a class whose backlog grows without bound: its queues never run empty, so that the network sees no
    /// difference.
    pub fn limit_source_queues(&mut self, class: usize, messages: usize) {
        self.network.ledger.sources.set_limit(class, messages);
    }

    /// By channel and class of the scenario: flits that have left over the channel's link.
    pub fn channel_flits(&self) -> impl Iterator<Item = (Channel, usize, u64)> {
        self.network.sent().filter_map(|(link, class, flits)| {
            Some((self.network.wiring.channel(link)?, class, flits)).filter(|_| class < self.classes)
        })
    }
}

fn run<S: LinkScheduler>(
    network: &mut FullCrossbar,
    scheduler: &mut S,
    traffic: &mut Traffic,
    now: &mut u64,
    end: u64,
    delivered: &mut Vec<Delivery>,
) {
    let mut next_arrival = 0;
    while *now < end {
        if network.is_empty() {
            // nothing moves before the next message comes
            *now = traffic.next_cycle().map_or(end, |cycle| cycle.clamp(*now, end));
            if *now == end {
                break;
            }
        }
        if *now >= next_arrival {
            while let Some(arrival) = traffic.next(*now) {
                network.arrive(scheduler, arrival);
            }
            next_arrival = traffic.next_cycle().unwrap_or(u64::MAX);
        }
        network.step(scheduler, *now, delivered);
        *now += 1;
    }
}

/// All deliveries, sorted, of `arrivals` (in the order of their cycles), or those of the first `limit` cycles.
pub fn replay(scenario: &Scenario, arrivals: &[Arrival], limit: u64) -> Vec<Delivery> {
    let traffic = Traffic::Listed { arrivals: arrivals.to_vec(), next: 0 };
    let mut simulator = Simulator::with_traffic(scenario, traffic);
    let mut delivered = Vec::with_capacity(arrivals.len());
    simulator.run_until(limit, &mut delivered);
    delivered.sort_unstable();
    delivered
}
