//! A scenario as the model sees it: loads of its channels, lanes of its classes, and where they saturate.

use std::collections::HashMap;

use super::crossbar::Contention;
use super::lanes::Lanes;
use super::latency::{best_effort_excess, holding_weight, real_time_excess};
use super::waiting::Interface;
use crate::fixed_point::root_of_increasing;
use crate::paths::{Link, links};
use flitwise_language::scenario::{ClassKind, FrameSource, Scenario};

/// A class that sends.
#[derive(Clone, Debug)]
pub(super) struct Class {
    /// Its place in the scenario.
    pub(super) place: usize,
    pub(super) is_real_time: bool,
    pub(super) lanes: Lanes,
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
    /// Messages of each class of the scenario \[messages/cycle\]: all of parallel links, and those that start here.
    messages: Vec<(f64, f64)>,
}

impl Channel {
    pub(super) fn load(&self) -> f64 {
        self.real_time + self.best_effort
    }

    pub(super) fn load_of(&self, class: &Class) -> f64 {
        if class.is_real_time { self.real_time } else { self.best_effort }
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

impl Problem {
    pub(super) fn new(scenario: &Scenario, contention: Contention) -> Self {
        let network = scenario.topology();
        let specs = scenario.classes().iter().enumerate();
        let class = |(place, spec): (usize, &flitwise_language::scenario::ClassSpec)| Class {
            place,
            is_real_time: spec.kind == ClassKind::RealTime,
            lanes: Lanes { count: spec.virtual_channels.into(), message_flits: spec.message_flits.into() },
            load: scenario.flit_rate(place),
            frames: scenario.frames(place),
        };
        let classes: Vec<Class> = specs.map(class).filter(|class| class.load > 0.0).collect();
        let channel = |link: Link| {
            let flits = |is_real_time: bool| -> f64 {
                let of_kind = classes.iter().filter(|class| class.is_real_time == is_real_time);
                let rate = |class: &Class| scenario.classes()[class.place].rate;
                of_kind.map(|class| class.load * link.messages[class.place].0 / rate(class)).sum()
            };
            let (real_time, best_effort) = (flits(true), flits(false));
            let parallel = f64::from(network.parallel(link.router, link.port));
            let messages =
                link.messages.iter().map(|(all, start)| (all * parallel, start * parallel)).collect();
            Channel { words: link.words(&network), real_time, best_effort, messages }
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
            classes,
        }
    }

    /// Messages that a buffer has room for, one at least: shorter buffers are not known. In order of joining waits were
    /// fitted to all that is in front.
    pub(super) fn room(&self, class: &Class) -> f64 {
        if self.contention.has_priority() {
            (self.buffer_flits / class.lanes.message_flits).max(1.0)
        } else {
            0.0
        }
    }

    /// What held lanes add to the latency of best effort beyond [`best_effort_excess`] \[cycles\]: a full crossbar the
    /// wait for the output lane, a greedy one in one router what longer buffers hold, which its fit does not have.
    pub(super) fn lane_wait(&self, class: &Class, interface: Interface) -> f64 {
        match self.contention {
            _ if class.is_real_time || !self.contention.has_priority() => 0.0,
            Contention { is_multiplexed: false, .. } => interface.lane(),
            _ if self.hops > 0.0 => 0.0,
            _ => interface.moved(),
        }
    }

    /// What of other classes goes before a class on a channel, or shares its order.
    fn other(&self, class: &Class) -> Option<&Class> {
        self.classes.iter().find(|other| other.place != class.place)
    }

    /// The factor on the loads of a channel at which the virtual channels of a class, or the channel, carry no more.
    fn factor(&self, class: &Class, channel: &Channel) -> f64 {
        let (own, all) = (channel.load_of(class), channel.load());
        if own <= 0.0 {
            return f64::INFINITY;
        }
        if !self.contention.has_priority() {
            let none = Lanes { count: 0.0, ..class.lanes };
            let others = self.other(class).map_or(none, |other| other.lanes);
            return class.lanes.carried_beside(others, all - own, own) / all;
        }
        if class.is_real_time {
            return class.lanes.carried(self.contention) / own;
        }
        let (least, beneath) = (1.0 / all, |f: f64| f * channel.real_time);
        root_of_increasing(0.0, least, |f| {
            (f * own - class.lanes.carried_beneath(self.contention, beneath(f)), f64::NAN)
        })
    }

    /// [`Self::factor`] of one channel after another; those that carry the same have one.
    fn factors<'p>(&'p self, class: &'p Class) -> impl FnMut(&Channel) -> f64 + 'p {
        let mut known: HashMap<[i64; 2], f64> = HashMap::new();
        move |channel| {
            // loads that differ by rounding alone are one
            let loads = [channel.real_time, channel.best_effort].map(|load| (load * 1e12).round() as i64);
            *known.entry(loads).or_insert_with(|| self.factor(class, channel))
        }
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

    /// Excess of the latency at a channel, in messages.
    fn excess(&self, class: &Class, (real_time, all): (f64, f64)) -> f64 {
        match (class.is_real_time, self.contention.has_priority()) {
            (false, true) => best_effort_excess(self.contention, real_time, all),
            (true, true) => real_time_excess(self.contention, class.lanes.count, real_time),
            (_, false) => real_time_excess(self.contention, class.lanes.count, all),
        }
    }

    /// Mean excess of the latency of a class over its paths \[cycles\], and share of the time that a lane of its first
    /// channel is held with how long by a message; the class is not saturated. Behind the first router contention has
    /// spread messages already: `w = ρ²` of the excess, fitted (fat meshes*: worst 10 % of real time, 26 % of best
    /// effort), §6.9.
    pub(super) fn delays(&self, class: &Class) -> (f64, (f64, f64)) {
        let fitted = holding_weight(self.contention, class.is_real_time, class.lanes.count);
        let (mut excess, mut started, mut held) = (0.0, 0.0, (0.0, 0.0));
        let mut factors = self.factors(class);
        for channel in self.channels.iter().filter(|channel| channel.load_of(class) > 0.0) {
            let (all, starts) = channel.messages[class.place];
            let here = self.excess(class, (channel.real_time, channel.load()));
            excess += here * (starts + (all - starts) * channel.load().powi(2));
            let factor = factors(channel);
            let most = (factor * channel.real_time, factor * channel.load());
            let at_most = self.excess(class, (most.0.min(1.0 - 1e-9), most.1.min(1.0 - 1e-9)));
            let load = channel.load_of(class);
            let (q, cycles) = class.lanes.held(load, fitted, here, (load * factor, at_most));
            held = (held.0 + starts * q.min(1.0 - 1e-9), held.1 + starts * cycles);
            started += starts;
        }
        (class.lanes.message_flits * excess / started, (held.0 / started, held.1 / started))
    }
}
