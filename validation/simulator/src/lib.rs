//! A simulator of wormhole routers and packet switches: traffic, a clock, and a switch that moves flits or packets.
//! [`plain`] is the same simulator as its rules read. Nothing here reads a clock, a file or the state of a thread.
//!
//! ```
//! use flitwise_language::scenario::Preset;
//! use flitwise_simulator::Simulator;
//!
//! let scenario = Preset::find("router16").unwrap().scenario();
//! let (mut simulator, mut delivered) = (Simulator::new(&scenario, 1), Vec::new());
//! simulator.run_until(1_000, &mut delivered);
//! assert!(delivered.iter().all(|message| message.delivered_cycle < 1_000));
//! ```

pub mod circuits;
mod control;
pub mod diagram;
mod interface;
mod ledger;
mod message;
mod meters;
pub mod packet;
pub mod plain;
mod reads;
pub mod record;
mod traffic;
mod virtual_channels;
mod wiring;
mod wormhole;

use flitwise_language::scenario::Scenario;

pub use control::admission::{Admission, Outcome, Refuser, RequestRecord, admission_only, bookings};
use ledger::Ledger;
pub use message::{Arrival, Booking, ChannelChoice, Delivery, FramePart, HostTimes, Offer};
pub use meters::{Activity, ControlActivity, FlitMoves, HeaderWaits, Throttled};
pub use reads::{
    MAX_DIMENSION, MAX_LANES, MAX_PORTS, MIN_PIPELINE_STAGES, supports, supports_with_messages, unsupported,
};
use traffic::Traffic;
pub use traffic::on_off_pareto::Periods;
pub use traffic::random::{Random, exponential, stream_of, uniform};
pub use traffic::{FrameRun, generated, offers, offers_of};
pub use virtual_channels::lanes;
pub use wiring::{Channel, ChannelKind};

/// Raised whenever the simulator or its measurement gives other numbers than before, or a kept result has other fields,
/// so that what was kept is not taken for what would be measured now. `results_are_those_of_this_revision` fails when
/// it was forgotten.
pub const REVISION: u32 = 2;
/// The same of scenarios with streams of frames, above [`REVISION`].
pub const FRAMES_REVISION: u32 = 4;
/// The same of scenarios with connections, above both.
pub const CONNECTIONS_REVISION: u32 = 5;
/// The same of the simulator of packet switches.
pub const PACKETS_REVISION: u32 = 3;

/// An organisation of switches: all routers of a network with their links and network interfaces.
trait Switch: Send {
    /// What is known of a message or packet that is through.
    type Delivery;

    /// A message comes to its network interface at the start of its cycle.
    fn offer(&mut self, offer: &Offer);

    /// A connection is admitted to a channel, or gives it back; before all else of its cycle.
    fn book(&mut self, _booking: &Booking) {}

    /// Messages of a class whose traffic ends in cycle `now`, and of which nothing has left, are taken back from their
    /// sources.
    fn withdraw(&mut self, class: usize, now: u64);

    /// Connections whose signals have left the network in cycle `now` are told to admission; whether there are any.
    fn tell_signals(&mut self, _traffic: &mut Traffic, _now: u64) -> bool {
        false
    }

    /// One cycle; what is through is added to `delivered`.
    fn step(&mut self, now: u64, delivered: &mut Vec<Self::Delivery>);

    /// The first cycle from `now` on in which anything moves if no message comes.
    fn wakes(&self, now: u64) -> u64;

    /// All cycles from `now` to `end`; one in which nothing can move costs nothing.
    fn run(&mut self, traffic: &mut Traffic, now: &mut u64, end: u64, delivered: &mut Vec<Self::Delivery>) {
        let mut next_arrival = 0;
        while *now < end {
            let wakes = self.wakes(*now);
            if wakes > *now {
                *now = traffic.next_cycle().map_or(wakes, |cycle| cycle.min(wakes)).clamp(*now, end);
                if *now == end {
                    break;
                }
            }
            if *now >= next_arrival {
                while let Some(signal) = traffic.next_signal(*now) {
                    self.offer(&signal);
                }
                while let Some(booking) = traffic.next_booking(*now) {
                    self.book(&booking);
                }
                while let Some(offer) = traffic.next(*now) {
                    self.offer(&offer);
                }
                while let Some(class) = traffic.next_withdrawal(*now) {
                    self.withdraw(class, *now);
                }
                next_arrival = traffic.next_cycle().unwrap_or(u64::MAX);
            }
            self.step(*now, delivered);
            if self.tell_signals(traffic, *now) {
                next_arrival = *now + 1;
            }
            *now += 1;
        }
    }
}

/// A switch that moves flits.
trait FlitSwitch: Switch<Delivery = Delivery> {
    /// Who is under way.
    fn ledger(&self) -> &Ledger;

    /// Flits that have crossed a crossbar.
    fn flit_hops(&self) -> u64;

    /// By channel and class: flits that have left over the channel's link; several counts of a pair add up.
    fn channel_flits(&self) -> Vec<(Channel, usize, u64)>;

    /// From now on waits of headers are counted.
    fn measure_waits(&mut self);

    /// By channel, if they are counted: waits of headers.
    fn channel_waits(&self) -> Vec<(Channel, HeaderWaits)>;

    /// From now on a source queue of the class takes no more than so many messages.
    fn limit_source_queues(&mut self, class: usize, messages: usize);

    /// What congestion and power control have done before cycle `now`; nothing where there is neither.
    fn control(&self, _now: u64) -> ControlActivity {
        ControlActivity::default()
    }

    /// What preemption and host buses have done before cycle `now`; nothing where there is neither.
    fn activity(&self, _now: u64) -> Activity {
        Activity::default()
    }
}

/// A run of the network, cycle by cycle.
pub struct Simulator {
    switch: Box<dyn FlitSwitch>,
    traffic: Traffic,
    /// Classes of the scenario; signals that are messages are of another.
    classes: usize,
    now: u64,
}

impl Simulator {
    /// With the scenario's sources, drawn from a stream per `(seed, node, class)`.
    pub fn new(scenario: &Scenario, seed: u64) -> Self {
        Self::with_traffic(scenario, Traffic::random(scenario, seed))
    }

    /// The same, and messages that are listed in the order of their cycles.
    pub fn with_messages(scenario: &Scenario, seed: u64, messages: Vec<Offer>) -> Self {
        Self::with_traffic(scenario, Traffic::random_and_listed(scenario, seed, messages))
    }

    fn with_traffic(scenario: &Scenario, traffic: Traffic) -> Self {
        let classes = scenario.classes().len();
        Self { switch: wormhole::with_scheduler(scenario), traffic, classes, now: 0 }
    }

    /// Simulates all cycles before `end`; messages that are through are added to `delivered`.
    pub fn run_until(&mut self, end: u64, delivered: &mut Vec<Delivery>) {
        self.switch.run(&mut self.traffic, &mut self.now, end, delivered);
    }

    /// The first cycle that has not been simulated.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// By class and stream of frames: its frames, in parts without a pause.
    pub fn frame_runs(&self) -> &[Vec<Vec<FrameRun>>] {
        self.traffic.frame_runs()
    }

    /// Requests for connections before the cycle that comes, in the order in which they were made.
    pub fn requests(&self) -> &[RequestRecord] {
        let all = self.admission().map_or(&[][..], Admission::requests);
        &all[..all.partition_point(|request| request.cycle < self.now)]
    }

    /// By channel: what connections hold of it on average between two cycles that have been simulated; nothing where
    /// there are none \[flits/cycle\].
    pub fn reserved(&self, from: u64, until: u64) -> Vec<(Channel, f64)> {
        self.admission().map_or(Vec::new(), |admission| admission.reserved(from, until))
    }

    /// Connections of a class that may send, on average between two cycles that have been simulated.
    pub fn standing(&self, class: usize, from: u64, until: u64) -> f64 {
        self.admission().map_or(0.0, |admission| admission.standing(class, from, until))
    }

    fn admission(&self) -> Option<&Admission> {
        self.traffic.admission()
    }

    /// Admission of connections once all cycles before `end` are simulated.
    fn into_admission(mut self, end: u64) -> Admission {
        self.run_until(end, &mut Vec::new());
        self.traffic.into_admission().expect("a class with connections")
    }

    /// Flits that have crossed a crossbar.
    pub fn flit_hops(&self) -> u64 {
        self.switch.flit_hops()
    }

    /// By class: messages that wait at their sources, those being sent included.
    pub fn backlog(&self) -> &[u64] {
        &self.switch.ledger().backlog()[..self.classes]
    }

    /// By class: messages generated so far, but for those lost to [`Self::limit_source_queues`].
    pub fn generated(&self) -> &[u64] {
        &self.switch.ledger().joined()[..self.classes]
    }

    /// By class: messages taken back at the end of its traffic.
    pub fn withdrawn(&self) -> &[u64] {
        &self.switch.ledger().withdrawn()[..self.classes]
    }

    /// From now on a source queue of the class takes no more than so many messages; later ones are lost.
    ///
    /// For a class whose backlog grows without bound: its queues never run empty, so that the network sees no
    /// difference.
    pub fn limit_source_queues(&mut self, class: usize, messages: usize) {
        self.switch.limit_source_queues(class, messages);
    }

    /// By channel and class of the scenario: flits that have left over the channel's link; several counts of a pair
    /// add up.
    pub fn channel_flits(&self) -> Vec<(Channel, usize, u64)> {
        self.switch.channel_flits()
    }

    /// What preemptive routers and interfaces behind host buses have done; nothing where there is neither.
    pub fn activity(&self) -> Activity {
        self.switch.activity(self.now)
    }

    /// What congestion and power control have done; nothing where there is neither.
    pub fn control(&self) -> ControlActivity {
        self.switch.control(self.now)
    }

    /// From now on waits of headers are counted by channel.
    pub fn measure_waits(&mut self) {
        self.switch.measure_waits();
    }

    /// By channel, if they are counted: waits of headers.
    pub fn channel_waits(&self) -> Vec<(Channel, HeaderWaits)> {
        self.switch.channel_waits()
    }
}

/// All deliveries, sorted, of `arrivals` (in the order of their cycles), or those of the first `limit` cycles.
pub fn replay(scenario: &Scenario, arrivals: &[Arrival], limit: u64) -> Vec<Delivery> {
    replay_offers(scenario, &offers(scenario, arrivals), limit)
}

/// As [`replay`], of messages whose lengths, Vticks and virtual channels are settled.
pub fn replay_offers(scenario: &Scenario, offers: &[Offer], limit: u64) -> Vec<Delivery> {
    let mut simulator = Simulator::with_traffic(scenario, Traffic::listed(scenario, offers));
    let mut delivered = Vec::with_capacity(offers.len());
    simulator.run_until(limit, &mut delivered);
    delivered.sort_unstable();
    delivered
}

/// As [`replay_offers`], with bookings of connections in the order of their cycles; and what controls have done.
pub fn replay_booked(
    scenario: &Scenario,
    offers: &[Offer],
    bookings: &[Booking],
    limit: u64,
) -> (Vec<Delivery>, ControlActivity) {
    let traffic = Traffic::listed_and_booked(scenario, offers, bookings);
    let mut simulator = Simulator::with_traffic(scenario, traffic);
    let mut delivered = Vec::with_capacity(offers.len());
    simulator.run_until(limit, &mut delivered);
    delivered.sort_unstable();
    (delivered, simulator.control())
}

/// As [`replay_offers`], with routers that have levels even where no class needs them; and what they have done.
#[doc(hidden)]
pub fn replay_offers_levelled(
    scenario: &Scenario,
    offers: &[Offer],
    limit: u64,
) -> (Vec<Delivery>, Activity) {
    let (switch, traffic) = (wormhole::with_levels(scenario), Traffic::listed(scenario, offers));
    let mut simulator = Simulator { switch, traffic, classes: scenario.classes().len(), now: 0 };
    let mut delivered = Vec::with_capacity(offers.len());
    simulator.run_until(limit, &mut delivered);
    delivered.sort_unstable();
    (delivered, simulator.activity())
}

#[doc = include_str!("../README.md")]
pub mod notes {}
