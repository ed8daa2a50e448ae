//! Virtual channels of a class on the links of a network.
//!
//! A header waits only while all virtual channels are held that it may take: `V` of each of `f` parallel links, in a
//! torus of one half of them. Of `m` servers with the load `u` each, all are busy with the probability of a queue
//! M/M/m, so that a wait is shorter by (Erlang's `C`; our approximation)
//!
//! ```text
//! φ = C(m, m u) / (m u),   φ = 1 of one virtual channel
//! ```
//!
//! Messages that wait no longer share the link instead: real-time messages of the class in other virtual channels count
//! as a class of the same clock, with the other half of the virtual channels and the part `1 - φ` of the own one. Best
//! effort goes by age on the link, whatever its virtual channel.

use super::super::channel_paths::Paths;
use super::super::{Class, Problem};
use crate::queueing::MmC;
use crate::scenario::ClassKind;

/// Links that are alike to a class.
#[derive(Clone, Copy, Debug)]
struct LinkKind {
    /// Messages on it per message that each node generates.
    share: f64,
    /// The same of the own class in other virtual channels, as far as they share the link.
    sibling: f64,
}

/// The virtual channels of a class at an output.
#[derive(Clone, Copy, Debug)]
struct Lanes {
    /// All that a header may take.
    servers: u32,
    /// Messages on each, per message that each node generates.
    rate: f64,
    kind: usize,
}

/// The kinds of links, and the virtual channels of a class at each output.
#[derive(Clone, Debug)]
pub(super) struct LinkKinds {
    /// Network channels, then ejection links.
    kinds: Vec<LinkKind>,
    /// By channel, then of ejection links.
    lanes: Vec<Lanes>,
    /// Virtual channels at the interface.
    at_interface: u32,
    /// `φ` there.
    waits_at_interface: f64,
}

/// Steps in which loads of links and of siblings count as alike.
const STEPS: [f64; 2] = [8.0, 4.0];

/// `φ` of so many servers with a load each.
fn waits(servers: u32, load: f64) -> f64 {
    if servers < 2 || load <= 0.0 {
        return f64::from(u8::from(servers < 2));
    }
    let load = load.min(0.98);
    let queue = MmC { rate: load * f64::from(servers), mean: 1.0, servers };
    queue.wait_probability().reached().map_or(1.0, |waits| waits / queue.offered_traffic()).min(1.0)
}

impl LinkKinds {
    pub(super) fn new(problem: &Problem, paths: &Paths, index: usize) -> Self {
        let class = &problem.classes[index];
        let is_real_time = class.kind == ClassKind::RealTime;
        let virtual_channels = if is_real_time { problem.lanes[index] } else { 1 };
        let load: f64 = problem.real_time().map(|class| class.load()).sum();
        let others = if is_real_time { load - class.load() } else { load };
        let of_lane = |rate: f64, share: f64| {
            (class.rate * rate * (class.message + 1.0) / (1.0 - others * share).max(0.02)).min(0.98)
        };
        let sibling = |servers: u32, rate: f64, share: f64| {
            if is_real_time { (1.0 - waits(servers, of_lane(rate, share))).max(0.0) } else { 0.0 }
        };
        let mut found = Self {
            kinds: Vec::new(),
            lanes: Vec::new(),
            at_interface: virtual_channels,
            waits_at_interface: 1.0,
        };
        let most = paths.channels.iter().map(|channel| channel.on_link).fold(0.0, f64::max);
        let mut keys: Vec<([f64; 2], f64)> = Vec::new();
        for channel in &paths.channels {
            let half = virtual_channels / 2;
            let usable = match (paths.has_halves && is_real_time, channel.is_upper) {
                (false, _) => virtual_channels,
                (true, true) => virtual_channels - half,
                (true, false) => half,
            };
            let on_own = if is_real_time { channel.rate } else { channel.on_link };
            let (servers, rate) = (usable * paths.links, on_own / f64::from(usable));
            let kept = if usable > 1 { sibling(usable, rate, channel.on_link) } else { 0.0 };
            let shared = channel.on_link - on_own + kept * on_own;
            let key =
                [channel.on_link / most * STEPS[0], shared / channel.on_link * STEPS[1]].map(f64::round);
            let kind = keys.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
                keys.push((key, 0.0));
                found.kinds.push(LinkKind { share: 0.0, sibling: 0.0 });
                keys.len() - 1
            });
            // means over the links of a kind
            let (LinkKind { share, sibling }, count) = (&mut found.kinds[kind], &mut keys[kind].1);
            *count += 1.0;
            *share += (channel.on_link - *share) / *count;
            *sibling += (shared - *sibling) / *count;
            found.lanes.push(Lanes { servers, rate, kind });
        }
        let rate = 1.0 / f64::from(virtual_channels);
        let sibling = if virtual_channels > 1 { sibling(virtual_channels, rate, 1.0) } else { 0.0 };
        found.kinds.push(LinkKind { share: 1.0, sibling });
        found.lanes.push(Lanes { servers: virtual_channels, rate, kind: found.kinds.len() - 1 });
        found.waits_at_interface = waits(virtual_channels, of_lane(rate, 1.0));
        found
    }

    /// How many kinds there are.
    pub(super) fn count(&self) -> usize {
        self.kinds.len()
    }

    /// The kind of ejection links.
    pub(super) fn ejection(&self) -> usize {
        self.kinds.len() - 1
    }

    fn lanes(&self, to: Option<u32>) -> Lanes {
        self.lanes[to.map_or(self.lanes.len() - 1, |to| to as usize)]
    }

    /// The kind of an output.
    pub(super) fn of(&self, to: Option<u32>) -> usize {
        self.lanes(to).kind
    }

    /// Messages on links of a kind, per message that each node generates.
    pub(super) fn share(&self, kind: usize) -> f64 {
        self.kinds[kind].share
    }

    /// Messages on one of the virtual channels of an output, per message that each node generates.
    pub(super) fn lane_rate(&self, to: Option<u32>) -> f64 {
        self.lanes(to).rate
    }

    /// `φ`: what is left of the wait for one virtual channel with such a load.
    pub(super) fn waits_for_lane(&self, to: Option<u32>, load: f64) -> f64 {
        waits(self.lanes(to).servers, load)
    }

    pub(super) fn servers_at_interface(&self) -> u32 {
        self.at_interface
    }

    pub(super) fn waits_at_interface(&self) -> f64 {
        self.waits_at_interface
    }

    /// The real-time classes on links of a kind, those of other virtual channels of the class last.
    pub(super) fn classes(&self, kind: usize, real_time: &[Class], own: Option<usize>) -> Vec<Class> {
        let LinkKind { share, sibling } = self.kinds[kind];
        let mut classes: Vec<Class> = real_time.iter().map(|class| class.thinned(share)).collect();
        if let Some(own) = own.filter(|_| sibling > 0.0) {
            classes.push(real_time[own].thinned(sibling));
            classes[own] = real_time[own].thinned((share - sibling).max(0.05 * share));
        }
        classes
    }

    /// The same at the interface.
    pub(super) fn at_interface(&self, real_time: &[Class], own: usize) -> Vec<Class> {
        self.classes(self.ejection(), real_time, Some(own))
    }
}
