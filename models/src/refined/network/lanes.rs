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
//! as up to three classes of the same clock, with the other half of the virtual channels and the part `1 - φ` of the
//! own one. Best effort goes by age on the link, whatever its virtual channel; there `φ` is what it holds up of the
//! messages behind it in its input channel. Of others on parallel links a message meets `φ` of `f` servers, as it
//! takes the least taken one.
//!
//! A header takes the first virtual channel that is free, though messages before it may still be in its buffers. So
//! most messages follow each other in the first ones: channel `i` takes what overflows from those before (Erlang's
//! `B`), and a message finds another before it in its own with the probability
//!
//! ```text
//! q = Σ s_i²,   s_i = (B(i - 1, a) - B(i, a)) / (1 - B(V, a)),   a = V u
//! ```

use super::super::channel_paths::Paths;
use super::super::station::{Overloaded, Place};
use super::super::{Class, Problem};
use crate::queueing::{ErlangB, MmC};
use crate::scenario::ClassKind;

/// Links that are alike to a class.
#[derive(Clone, Copy, Debug)]
struct LinkKind {
    /// Messages on it per message that each node generates.
    share: f64,
    /// The same of the own class in other virtual channels, as far as they share the link.
    sibling: f64,
    /// Classes that stand for them.
    siblings: u32,
    /// The part of all that is met, as headers take the least taken of parallel links.
    met: f64,
}

/// The virtual channels of a class at an output.
#[derive(Clone, Copy, Debug)]
struct Lanes {
    /// All that a header may take.
    servers: u32,
    /// Messages on each, per message that each node generates.
    rate: f64,
    /// Messages on the own one of a message.
    own_rate: f64,
    /// `φ` of best effort, which waits for the link however many virtual channels there are.
    held: f64,
    kind: usize,
}

/// The kinds of links, and the virtual channels of a class at each output.
#[derive(Clone, Debug)]
pub(super) struct LinkKinds {
    /// Network channels, then ejection links.
    kinds: Vec<LinkKind>,
    /// By channel, then of ejection links.
    lanes: Vec<Lanes>,
    /// At the interface: the part of the messages in the own virtual channel, and their number.
    at_interface: (f64, u32),
}

/// Steps in which loads of links and of siblings count as alike.
const STEPS: [f64; 2] = [8.0, 4.0];
/// Classes that stand for messages in other virtual channels, at most.
const SIBLINGS: u32 = 3;

/// `φ` of so many servers with a load each.
fn waits(servers: u32, load: f64) -> f64 {
    if servers < 2 || load <= 0.0 {
        return f64::from(u8::from(servers < 2));
    }
    let load = load.min(0.98);
    let queue = MmC { rate: load * f64::from(servers), mean: 1.0, servers };
    queue.wait_probability().reached().map_or(1.0, |waits| waits / queue.offered_traffic()).min(1.0)
}

/// `q` of so many virtual channels with a load each.
fn in_own_lane(lanes: u32, load: f64) -> f64 {
    let lost = |servers: u32| {
        let traffic = (load * f64::from(lanes)).max(1e-12);
        if servers == 0 { 1.0 } else { ErlangB { rate: traffic, mean: 1.0, servers }.blocking_probability() }
    };
    let taken = (1.0 - lost(lanes)).max(1e-12);
    (1..=lanes).map(|i| ((lost(i - 1) - lost(i)) / taken).powi(2)).sum::<f64>().min(1.0)
}

/// A class as the choice of its virtual channels sees it.
struct Chooser {
    is_real_time: bool,
    /// Messages per cycle, and cycles of each.
    rate: f64,
    message: f64,
    /// Load of the other real-time classes, and of all classes, per message that each node generates.
    others: f64,
    all: f64,
}

impl Chooser {
    fn new(problem: &Problem, index: usize) -> Self {
        let class = &problem.classes[index];
        let is_real_time = class.kind == ClassKind::RealTime;
        let load: f64 = problem.real_time().map(|class| class.load()).sum();
        Self {
            is_real_time,
            rate: class.rate,
            message: class.message + 1.0,
            others: if is_real_time { load - class.load() } else { load },
            all: problem.classes.iter().map(Class::load).sum(),
        }
    }

    /// Load of one of so many virtual channels, on a link that so many messages cross.
    fn load(&self, rate: f64, lanes: u32, on_link: f64) -> f64 {
        let completion = self.message / (1.0 - self.others * on_link).max(0.02);
        (self.rate * rate / f64::from(lanes) * completion).min(0.98)
    }

    /// Virtual channels that carry `rate` of the `on_link` messages of a link, one of `links` parallel ones; and the
    /// messages in others of the class that share the link.
    fn lanes(&self, lanes: u32, (rate, on_link): (f64, f64), links: u32) -> (Lanes, f64) {
        let load = self.load(rate, lanes, on_link);
        let (waits, own_rate) = (waits(lanes, load), rate * in_own_lane(lanes, load));
        let kind = 0;
        if self.is_real_time {
            let lane =
                Lanes { servers: lanes * links, rate: rate / f64::from(lanes), own_rate, held: 1.0, kind };
            (lane, on_link - rate * waits)
        } else {
            (Lanes { servers: links, rate: on_link, own_rate, held: waits, kind }, 0.0)
        }
    }
}

impl LinkKinds {
    pub(super) fn new(problem: &Problem, paths: &Paths, index: usize) -> Self {
        let (chooser, virtual_channels) = (Chooser::new(problem, index), problem.lanes[index]);
        let siblings = (virtual_channels - 1).clamp(1, SIBLINGS);
        let (mut kinds, mut all): (Vec<LinkKind>, Vec<Lanes>) = (Vec::new(), Vec::new());
        let most = paths.channels.iter().map(|channel| channel.on_link).fold(0.0, f64::max);
        let mut keys: Vec<([f64; 2], f64)> = Vec::new();
        for channel in &paths.channels {
            let half = virtual_channels / 2;
            let usable = match (paths.has_halves, channel.is_upper) {
                (false, _) => virtual_channels,
                (true, true) => virtual_channels - half,
                (true, false) => half,
            };
            let (lanes, shared) = chooser.lanes(usable, (channel.rate, channel.on_link), paths.links);
            let key =
                [channel.on_link / most * STEPS[0], shared / channel.on_link * STEPS[1]].map(f64::round);
            let kind = keys.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
                keys.push((key, 0.0));
                kinds.push(LinkKind { share: 0.0, sibling: 0.0, siblings, met: 0.0 });
                keys.len() - 1
            });
            // means over the links of a kind
            let (known, count) = (&mut kinds[kind], &mut keys[kind].1);
            *count += 1.0;
            known.share += (channel.on_link - known.share) / *count;
            known.sibling += (shared - known.sibling) / *count;
            known.met = waits(paths.links, (chooser.all * known.share).min(0.98));
            all.push(Lanes { kind, ..lanes });
        }
        let (lanes, sibling) = chooser.lanes(virtual_channels, (1.0, 1.0), 1);
        all.push(Lanes { kind: kinds.len(), ..lanes });
        kinds.push(LinkKind { share: 1.0, sibling, siblings, met: 1.0 });
        let at_interface = if chooser.is_real_time { (lanes.own_rate, virtual_channels) } else { (1.0, 1) };
        Self { kinds, lanes: all, at_interface }
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

    /// A link that carries all these classes and has no room for them, where no virtual channel tells so by itself.
    pub(super) fn over<'c>(
        &self,
        kind: usize,
        classes: impl Iterator<Item = &'c Class>,
    ) -> Option<Overloaded> {
        let load = classes.map(Class::load).sum::<f64>() * self.share(kind);
        let place = if kind == self.ejection() { Place::Ejection } else { Place::Channel };
        let has_several = self.lanes.iter().any(|lanes| lanes.servers > 1);
        (has_several && load >= 1.0).then_some(Overloaded { load, place })
    }

    /// Messages on one of the virtual channels of an output, per message that each node generates.
    pub(super) fn lane_rate(&self, to: Option<u32>) -> f64 {
        self.lanes(to).rate
    }

    /// `φ`: what is left of the wait for one virtual channel with such a load.
    pub(super) fn waits_for_lane(&self, to: Option<u32>, load: f64) -> f64 {
        waits(self.lanes(to).servers, load)
    }

    /// Messages in the own virtual channel of an input, per message that each node generates.
    pub(super) fn own_rate(&self, channel: u32) -> f64 {
        self.lanes[channel as usize].own_rate
    }

    /// What is left of the time for which best effort holds up the messages behind it in its input channel.
    pub(super) fn held(&self, to: Option<u32>) -> f64 {
        self.lanes(to).held
    }

    /// The part of the messages of a node that are in the same virtual channel of its interface.
    pub(super) fn in_own_lane(&self) -> f64 {
        self.at_interface.0
    }

    /// Wait for one of several virtual channels of an interface, a queue M/D/1 whose load must be found by each but the
    /// first of them; none of a single one. A virtual channel takes the next message after `restart` cycles, as far as
    /// its link idles and others are not faster (our approximation):
    ///
    /// ```text
    /// W = ρ S / (2 (1 - ρ)) ρ^(V - 1),   ρ = λ S,   S = flits + restart (1 - λ flits) (1 - 1 / V)
    /// ```
    pub(super) fn wait_for_interface(&self, rate: f64, flits: f64, restart: f64) -> Option<f64> {
        let (_, lanes) = self.at_interface;
        let idle = (1.0 - rate * flits).max(0.0) * (1.0 - 1.0 / f64::from(lanes));
        let service = flits + restart * idle;
        let load = (rate * service).min(0.999);
        (lanes > 1).then(|| load * service / 2.0 / (1.0 - load) * load.powi(lanes as i32 - 1))
    }

    /// The real-time classes on links of a kind, those of other virtual channels of the class last.
    pub(super) fn classes(&self, kind: usize, real_time: &[Class], own: Option<usize>) -> Vec<Class> {
        let LinkKind { share, sibling, siblings, met } = self.kinds[kind];
        let mut classes: Vec<Class> = real_time.iter().map(|class| class.thinned(share * met)).collect();
        if let Some(own) = own.filter(|_| sibling > 1e-9 * share) {
            let each = real_time[own].thinned(sibling * met / f64::from(siblings));
            classes.extend((0..siblings).map(|_| each));
            classes[own] = real_time[own].thinned((share - sibling).max(0.05 * share));
        } else if let Some(own) = own {
            classes[own] = real_time[own].thinned(share);
        }
        classes
    }

    /// The same at the interface.
    pub(super) fn at_interface(&self, real_time: &[Class], own: usize) -> Vec<Class> {
        self.classes(self.ejection(), real_time, Some(own))
    }
}
