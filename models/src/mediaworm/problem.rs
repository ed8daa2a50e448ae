//! A scenario as the model sees it: loads of its channels, lanes of its classes, and where they saturate.

use std::collections::HashMap;

use super::crossbar::Contention;
use super::lanes::Lanes;
use super::latency::{
    Flow, PortExcess, best_effort_excess, greedy_excess, in_order_excess, least_attained, real_time_excess,
};
use super::rings::Rings;
use super::waiting::{Held, Interface, PeriodicQueue};
use crate::fixed_point::root_of_increasing;
use crate::paths::{Link, links};
use flitwise_language::scenario::{ClassKind, ClassSpec, FrameSource, Scenario, VcChoice};

/// Load of a channel that counts as full.
const FULL: f64 = 1.0 - 1e-9;
/// Weight of the excess behind the first router on rings.
const RING_WEIGHT: f64 = 1.0 / 3.0;

/// A class that sends.
#[derive(Clone, Debug)]
pub(super) struct Class {
    /// Its place in the scenario.
    pub(super) place: usize,
    pub(super) is_real_time: bool,
    /// Its virtual channels; messages count with their mean length, as the last one of a frame is shorter.
    pub(super) lanes: Lanes,
    /// Time between flits of a stream \[cycles\]; infinite of best effort.
    vtick: f64,
    /// Flits of it at a node \[flits/cycle\].
    pub(super) load: f64,
    pub(super) frames: Option<FrameSource>,
}

/// A link from a router, or parallel ones.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub(super) words: String,
    /// Load of real time, and of best effort \[flits/cycle\].
    pub(super) real_time: f64,
    pub(super) best_effort: f64,
    /// Load of each class of the scenario \[flits/cycle\].
    loads: Vec<f64>,
    /// Share of the messages in the half of the virtual channels that has most of them, on a ring.
    half: Option<f64>,
    /// Messages of each class of the scenario \[messages/cycle\]: all of parallel links, and those that start here.
    messages: Vec<(f64, f64)>,
}

impl Channel {
    pub(super) fn load(&self) -> f64 {
        self.real_time + self.best_effort
    }

    pub(super) fn load_of(&self, class: &Class) -> f64 {
        self.loads[class.place]
    }

    /// What channels that are alike have in common; loads that differ by rounding alone are one.
    fn key(&self) -> Vec<i64> {
        self.loads.iter().chain(&self.half).map(|load| (load * 1e12).round() as i64).collect()
    }
}

pub(super) struct Problem {
    pub(super) contention: Contention,
    pub(super) classes: Vec<Class>,
    pub(super) channels: Vec<Channel>,
    /// Load of real time and best effort on an injection link.
    pub(super) injected: (f64, f64),
    /// `P` and `h`: stages of a router, and mean number of channels between routers.
    pub(super) stages: f64,
    pub(super) hops: f64,
    pub(super) nodes: u32,
    /// `b` \[flits\].
    buffer_flits: f64,
    has_rings: bool,
    /// Ports of a router.
    ports: f64,
    /// Whether messages draw their virtual channels.
    is_drawn: bool,
}

/// What limits a class.
#[derive(Clone, Debug)]
pub(super) struct Limit {
    /// The channel, in words.
    pub(super) bottleneck: String,
    /// Load of the class on it, and the most that it carries of it \[flits/cycle\].
    pub(super) load: f64,
    pub(super) carried: f64,
    /// The factor on all loads at which the class saturates.
    pub(super) factor: f64,
}

/// What messages of a class meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delays {
    /// Mean excess of the latency over its paths \[cycles\].
    pub(super) excess_cycles: f64,
    /// Its lane on the first channel, and what those in front of it hold, as [`Interface`] has them.
    pub(super) lane: Held,
    pub(super) front: Held,
}

impl Problem {
    pub(super) fn new(scenario: &Scenario, contention: Contention) -> Self {
        let network = scenario.topology();
        let specs = scenario.classes().iter().enumerate();
        // once: those of frames are sums over the law of their lengths
        let flit_rates: Vec<f64> =
            (0..scenario.classes().len()).map(|place| scenario.flit_rate(place)).collect();
        let class = |(place, spec): (usize, &ClassSpec)| Class {
            place,
            is_real_time: spec.kind == ClassKind::RealTime,
            lanes: Lanes {
                count: spec.virtual_channels.into(),
                message_flits: scenario.mean_message_flits(place),
            },
            vtick: scenario
                .frames(place)
                .map_or(f64::INFINITY, |frames| f64::from(frames.streams) / flit_rates[place]),
            load: flit_rates[place],
            frames: scenario.frames(place),
        };
        let classes: Vec<Class> = specs.map(class).filter(|class| class.load > 0.0).collect();
        let rings = Rings::of(&network);
        let channel = |link: Link| {
            let load = |(place, spec): (usize, &ClassSpec)| match spec.rate {
                rate if rate > 0.0 => flit_rates[place] * link.messages[place].0 / rate,
                _ => 0.0,
            };
            let loads: Vec<f64> = scenario.classes().iter().enumerate().map(load).collect();
            let flits = |is_real_time: bool| -> f64 {
                let of_kind = classes.iter().filter(|class| class.is_real_time == is_real_time);
                of_kind.map(|class| loads[class.place]).sum()
            };
            let (real_time, best_effort) = (flits(true), flits(false));
            let parallel = f64::from(network.parallel(link.router, link.port));
            let messages =
                link.messages.iter().map(|(all, start)| (all * parallel, start * parallel)).collect();
            let half = rings.half(&network, &link);
            Channel { words: link.words(&network), real_time, best_effort, loads, half, messages }
        };
        let channels = links(scenario).into_iter().map(channel).collect();
        let injected = |is_real_time| -> f64 {
            classes.iter().filter(|class| class.is_real_time == is_real_time).map(|class| class.load).sum()
        };
        Self {
            contention,
            channels,
            injected: (injected(true), injected(false)),
            stages: scenario.router().pipeline_stages.into(),
            hops: network.mean_hops(),
            nodes: network.nodes(),
            buffer_flits: scenario.router().buffer_flits.into(),
            has_rings: network.has_rings(),
            ports: network.ports().into(),
            is_drawn: scenario.router().vc_choice == VcChoice::Drawn,
            classes,
        }
    }

    /// The interface of a class before it is known how long lanes are held. A buffer has room for one message at
    /// least: shorter ones are not known.
    pub(super) fn interface(&self, class: &Class) -> Interface {
        let room = (self.buffer_flits / class.lanes.message_flits).max(1.0);
        let is_multiplexed = self.contention.is_multiplexed;
        Interface { lane: Held::default(), front: Held::default(), room, is_multiplexed }
    }

    /// What held lanes add to the latency of best effort beyond [`best_effort_excess`] \[cycles\]: a full crossbar
    /// the wait for the output lane, a greedy one in one router what longer buffers hold, which its form does not
    /// have.
    pub(super) fn lane_wait(&self, class: &Class, interface: Interface) -> f64 {
        match self.contention {
            _ if class.is_real_time || !self.contention.has_priority() || self.has_rings => 0.0,
            Contention { is_multiplexed: false, .. } => interface.for_lane(),
            _ if self.hops > 0.0 => 0.0,
            _ => interface.moved(),
        }
    }

    /// Virtual channels of a class on a channel that carry as much as all that it has there: on a ring the half with
    /// most messages limits them.
    fn lanes(&self, class: &Class, channel: &Channel) -> Lanes {
        let Some(most) = channel.half else { return class.lanes };
        let (lower, all) = ((class.lanes.count / 2.0).floor(), class.lanes.count);
        // drawn ones keep their place in either half, and an odd one doubles a place
        let half = if self.is_drawn { all / (all / lower).ceil() } else { lower };
        Lanes { count: half / most, ..class.lanes }
    }

    /// Whether two classes go in one order, or one of them goes before the other.
    pub(super) fn are_alike(&self, class: &Class, other: &Class) -> bool {
        class.is_real_time == other.is_real_time || !self.contention.has_priority()
    }

    /// The factor on the loads of a channel at which the virtual channels of a class, or the channel, carry no more.
    fn factor(&self, class: &Class, channel: &Channel) -> f64 {
        let (own, all) = (channel.load_of(class), channel.load());
        if own <= 0.0 {
            return f64::INFINITY;
        }
        let lanes = self.lanes(class, channel);
        let is_beside = |other: &&Class| other.place != class.place && self.are_alike(class, other);
        let beside = |other: &Class| (self.lanes(other, channel), channel.load_of(other));
        let others: Vec<(Lanes, f64)> = self.classes.iter().filter(is_beside).map(beside).collect();
        let together = others.iter().fold(own, |sum, (_, load)| sum + load);
        let carried = |above: f64| lanes.carried_beside(self.contention, above, (own, &others));
        if class.is_real_time || !self.contention.has_priority() {
            return carried(0.0) / together;
        }
        root_of_increasing(0.0, 1.0 / all, |f| (f * together - carried(f * channel.real_time), f64::NAN))
    }

    /// [`Self::factor`] of one channel after another; those that carry the same have one.
    fn factors<'p>(&'p self, class: &'p Class) -> impl FnMut(&Channel) -> f64 + 'p {
        let mut known: HashMap<Vec<i64>, f64> = HashMap::new();
        move |channel| *known.entry(channel.key()).or_insert_with(|| self.factor(class, channel))
    }

    /// Where a class saturates first, by its virtual channels, or on its own link into the network.
    pub(super) fn limit(&self, class: &Class) -> Option<Limit> {
        let (real_time, best_effort) = self.injected;
        let first = class.is_real_time && self.contention.has_priority();
        let injected = real_time + if first { 0.0 } else { best_effort };
        let limit = |bottleneck: String, load: f64, factor: f64| Limit {
            bottleneck,
            load,
            carried: load * factor,
            factor,
        };
        let (mut least, mut factors): (Option<Limit>, _) = (None, self.factors(class));
        for channel in &self.channels {
            let factor = factors(channel);
            if factor < least.as_ref().map_or(f64::INFINITY, |least| least.factor * (1.0 - 1e-9)) {
                let words = format!("the virtual channels of the {}", channel.words);
                least = Some(limit(words, channel.load_of(class), factor));
            }
        }
        let link = limit("an injection link".to_owned(), class.load, 1.0 / injected);
        let is_link = least.as_ref().is_some_and(|least| least.factor > link.factor);
        if is_link { Some(link) } else { least }
    }

    /// Mean length of the message that a flit on a channel belongs to, over that of a class.
    fn lengths(&self, class: &Class, channel: &Channel) -> f64 {
        let flits = |other: &Class| channel.load_of(other) * other.lanes.message_flits;
        self.classes.iter().map(flits).sum::<f64>() / (channel.load() * class.lanes.message_flits)
    }

    /// Wait of best effort for a link in order of joining, over that among Poisson messages: messages of streams come
    /// evenly. In full crossbars; in greedy ones it is fitted to streams.
    pub(super) fn evenness(&self, streams: f64, real_time: f64, load: f64) -> f64 {
        if self.contention.is_multiplexed {
            return 1.0;
        }
        let work = PeriodicQueue::beside_poisson(streams, real_time, load).mean_work();
        work * 2.0 * (1.0 - load) / load
    }

    /// Mean length of the message that an injected flit belongs to \[flits\].
    pub(super) fn mean_length(&self) -> f64 {
        let flits = |class: &Class| class.load * class.lanes.message_flits;
        self.classes.iter().map(flits).sum::<f64>() / (self.injected.0 + self.injected.1)
    }

    /// Streams of a node.
    pub(super) fn streams(&self) -> f64 {
        let streams = |class: &Class| class.frames.as_ref().map(|frames| f64::from(frames.streams));
        self.classes.iter().filter_map(streams).sum()
    }

    /// Virtual channels of real time as a message of a class meets them: as if all were loaded as those of the class
    /// are, since it meets all but its own.
    fn met_lanes(&self, class: &Class, channel: &Channel) -> f64 {
        class.lanes.count * channel.real_time / channel.load_of(class)
    }

    /// Excess of the latency at a channel whose loads are multiplied by a factor, in messages. `share` is how much of
    /// what the virtual channels of the class carry there is offered then. That of best effort in greedy crossbars,
    /// and in order of joining in full ones, is told for both ports together.
    fn excess(&self, class: &Class, channel: &Channel, factor: f64, share: f64) -> PortExcess {
        let at_most = |load: f64| (factor * load).min(FULL);
        let (real_time, all) = (at_most(channel.real_time), at_most(channel.load()));
        let of_real_time = || self.classes.iter().filter(|other| other.is_real_time);
        let streams = of_real_time().map(|other| channel.load_of(other) * other.vtick).sum::<f64>() * factor;
        let both = |output: f64| PortExcess { input: 0.0, output };
        match (class.is_real_time, self.contention.has_priority()) {
            (false, true) => {
                let lengths = self.lengths(class, channel) * self.evenness(streams, real_time, all);
                let link = best_effort_excess(real_time, all, lengths);
                if self.contention.is_multiplexed {
                    both(greedy_excess(link, self.ports, share))
                } else {
                    // real time goes first on the injection link
                    let input = real_time / (1.0 - real_time);
                    PortExcess { input, output: (1.0 - 1.0 / self.ports) * link }
                }
            }
            (true, true) => {
                let flows = of_real_time().map(|other| Flow {
                    load: at_most(channel.load_of(other)),
                    message_flits: other.lanes.message_flits,
                    vtick: other.vtick,
                });
                let own = (class.lanes.message_flits, class.vtick);
                let ports = (self.met_lanes(class, channel), self.ports);
                let wait = PeriodicQueue::mean_wait_of(streams, real_time);
                real_time_excess(self.contention, ports, real_time, wait)
                    .times(least_attained(&flows.collect::<Vec<_>>(), own))
            }
            (_, false) if !self.contention.is_multiplexed => {
                let queue = PeriodicQueue::beside_poisson(streams, real_time, all);
                let wait = if class.is_real_time { queue.mean_wait() } else { queue.mean_work() };
                both(in_order_excess(self.ports, all, wait * self.lengths(class, channel)))
            }
            (_, false) => real_time_excess(self.contention, (class.lanes.count, self.ports), all, 0.0),
        }
    }

    /// Delays of a class that is not saturated. Behind the first router contention has spread messages already:
    /// `w = ρ²` of the excess, fitted to the first router's excess as it was (fat meshes*: worst 12 % of real time,
    /// 13 % of best effort), §6.9.
    ///
    /// On rings a third of it, whatever the load: there is no contention at the input port any more, which is half of
    /// it, and of three inputs alike the own one brings none. Best effort waits at every channel for the lane that
    /// another message holds, of which it has half as many there; of real time that made errors larger.
    pub(super) fn delays(&self, class: &Class) -> Delays {
        let (mut excess, mut started) = (0.0, 0.0);
        let (mut lane, mut front) = (Held::default(), Held::default());
        let mut known: HashMap<Vec<i64>, (PortExcess, f64, f64)> = HashMap::new();
        for channel in self.channels.iter().filter(|channel| channel.load_of(class) > 0.0) {
            let (all, starts) = channel.messages[class.place];
            let (here, factor, at_most) = *known.entry(channel.key()).or_insert_with(|| {
                let factor = self.factor(class, channel);
                let here = self.excess(class, channel, 1.0, 1.0 / factor);
                (here, factor, self.excess(class, channel, factor, 1.0).sum())
            });
            let further = if self.has_rings { RING_WEIGHT } else { channel.load().powi(2) };
            excess += here.sum() * (starts + (all - starts) * further);
            let load = channel.load_of(class);
            let most = load * factor;
            let below = |held: Held| Held { share: held.share.min(FULL), ..held };
            let held = |excess| below(class.lanes.held(load, excess, (most, at_most)));
            let own = held(here.sum());
            let first = match class.is_real_time {
                true => held(here.input),
                false => below(class.lanes.held_at_most(load, here.sum(), most)),
            };
            for (all, one) in [(&mut lane, own), (&mut front, first)] {
                all.share += starts * one.share;
                all.cycles += starts * one.cycles;
            }
            started += starts;
            if channel.half.is_some() && !class.is_real_time {
                let lanes = self.lanes(class, channel);
                let share = (load * own.cycles / (lanes.message_flits * lanes.count)).min(1.0 - 1e-9);
                let held = Held { share, cycles: own.cycles };
                let interface = Interface { lane: held, front: held, ..self.interface(class) };
                excess += all * interface.for_lane() / lanes.message_flits;
            }
        }
        let mean = |held: Held| Held { share: held.share / started, cycles: held.cycles / started };
        Delays {
            excess_cycles: class.lanes.message_flits * excess / started,
            lane: mean(lane),
            front: mean(front),
        }
    }
}
