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
//! Messages that wait no longer share the link instead, so that each is on it for `S` times as long as alone. A
//! real-time message shares it with up to `V - 1` others of its class ([`in_service`]). Between the flits of a message
//! of best effort go those of others that come meanwhile, `S = 1 + λ M`. The load of a virtual channel is
//!
//! ```text
//! u = λ M S / (V (1 - σ))
//! ```
//!
//! To a real-time message those of its class in other virtual channels are up to three classes of the same clock: the
//! part `1 - φ` of the messages in the virtual channels that it may take, and all in others. To best effort they are
//! flits in the order of their arrival ([`Siblings`](super::super::higher_classes::Siblings)). Of others on parallel
//! links a message meets `φ` of `f` servers, as it takes the least taken one.
//!
//! A header takes the first virtual channel that is free, though messages before it may still be in its buffers. So
//! most messages follow each other in the first ones: channel `i` takes what overflows from those before (Erlang's
//! `B`), and a message finds another before it in its own with the probability
//!
//! ```text
//! q = Σ s_i²,   s_i = (B(i - 1, a) - B(i, a)) / (1 - B(V, a)),   a = V u
//! ```
//!
//! In a torus an interface has more virtual channels than lead on in one direction. So messages of one node that share
//! its link contend for them: the part `1 - φ` of them, real time only (`contention`).
//!
//! Of drawn virtual channels each is a queue of its own, with `1 / V` of the messages: a header waits for its one
//! whatever others are free, `φ = 1`, `q = 1 / V`. With one virtual channel all this is the same.

use super::super::paths::{ChannelUse, Paths};
use super::super::station::{Overload, Place};
use super::super::{Class, Problem};
use crate::queueing::{ErlangB, MmC};
use flitwise_language::scenario::ClassKind;

/// Links that are alike to a class.
#[derive(Clone, Debug)]
struct LinkKind {
    /// Whether they are ejection links.
    is_end: bool,
    /// Messages of the class on it per message that each of its senders generates.
    share: f64,
    /// The same of each class.
    by_class: Vec<f64>,
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
    /// `S`
    in_service: f64,
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
    /// `1 - φ` there, of a real-time class.
    beside: f64,
    /// How many virtual channels the class has, and whether they are drawn.
    virtual_channels: u32,
    drawn: bool,
    /// The kind of the injection link: that of ejection links where these carry the same.
    interface: usize,
    /// The class, and the real-time classes.
    own: usize,
    real_time: Vec<usize>,
}

/// Steps in which loads of links and of siblings count as alike.
const STEPS: [f64; 2] = [8.0, 4.0];
/// Steps of a load of one by each other class, where classes go different ways.
const OTHERS: f64 = 16.0;
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

/// `S`: how much longer a message is on a link than alone that the class loads by `r`, with so many virtual channels.
///
/// ```text
/// S = Σ_(n < V) r^n
/// ```
///
/// The link is a processor that the messages in service share, at most `V` of them: `Σ_(1 <= n <= V) r^n` are in
/// service on average, and Little's law tells for how long (exact for Poisson messages of exponential length).
fn in_service(lanes: u32, load: f64) -> f64 {
    (0..lanes as i32).map(|n| load.clamp(0.0, 1.0).powi(n)).sum()
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
    /// Whether virtual channels are drawn.
    drawn: bool,
    has_bursts: bool,
    /// Messages per cycle, and cycles of each.
    rate: f64,
    message: f64,
    /// Load of the other real-time classes, and of all classes, per message that each node generates.
    others: f64,
    all: f64,
    /// The same class by class: of others that are real-time, and of all.
    others_by_class: Vec<f64>,
    all_by_class: Vec<f64>,
}

impl Chooser {
    fn new(problem: &Problem, index: usize) -> Self {
        let class = &problem.classes[index];
        let is_real_time = class.kind == ClassKind::RealTime;
        let load: f64 = problem.real_time().map(|class| class.load()).sum();
        let goes_first = |(of, class): (usize, &Class)| {
            if of != index && class.kind == ClassKind::RealTime { class.load() } else { 0.0 }
        };
        Self {
            others_by_class: problem.classes.iter().enumerate().map(goes_first).collect(),
            all_by_class: problem.classes.iter().map(Class::load).collect(),
            is_real_time,
            drawn: problem.drawn,
            has_bursts: problem.classes.iter().any(|class| class.bursts.is_some()),
            rate: class.rate,
            message: class.message + 1.0,
            others: if is_real_time { load - class.load() } else { load },
            all: problem.classes.iter().map(Class::load).sum(),
        }
    }

    /// Load of a link that others load so much, as the class sees what they leave.
    fn load(&self, rate: f64, others: f64) -> f64 {
        self.rate * rate * self.message / (1.0 - others).max(0.02)
    }

    /// Load of a link by others that go first, and by all.
    fn loads_of(&self, channel: &ChannelUse) -> [f64; 2] {
        let sum = |loads: &[f64], of: &[f64]| loads.iter().zip(of).map(|(load, of)| load * of).sum();
        match &channel.by_class {
            None => [self.others, self.all].map(|load| load * channel.on_link),
            Some(of) => [sum(&self.others_by_class, of), sum(&self.all_by_class, of)],
        }
    }

    /// Virtual channels that carry `rate` of the `on_link` messages of a link, one of `links` parallel ones; and the
    /// messages in others of the class that share the link, of `sharing` virtual channels in all.
    fn lanes(&self, (lanes, sharing): (u32, u32), channel: &ChannelUse) -> (Lanes, f64) {
        let ChannelUse { rate, on_link, links, .. } = *channel;
        let [others, all] = self.loads_of(channel);
        let sharing = if rate < on_link { sharing } else { lanes };
        let in_service = match (self.is_real_time, self.drawn) {
            (true, true) => 1.0,
            (true, false) => in_service(sharing, self.load(on_link, others)),
            (false, _) if sharing > 1 => 1.0 + (self.rate * on_link * self.message).min(1.0),
            (false, _) => 1.0,
        };
        let load = (self.load(rate, others) * in_service / f64::from(lanes)).min(0.98);
        let (servers, waits_for_lane, own_rate) = if self.drawn {
            (1, 1.0 / f64::from(lanes), rate / f64::from(lanes))
        } else {
            (lanes, waits(lanes, load), rate * in_own_lane(lanes, load))
        };
        let met = waits(links, all.min(0.98));
        let in_service = 1.0 + (in_service - 1.0) * met;
        let (servers, rate_of_one) = (servers * links, rate / f64::from(lanes));
        (Lanes { servers, rate: rate_of_one, own_rate, in_service, kind: 0 }, on_link - rate * waits_for_lane)
    }
}

impl LinkKind {
    fn new(is_end: bool, classes: usize, siblings: u32) -> Self {
        Self { is_end, share: 0.0, by_class: vec![0.0; classes], sibling: 0.0, siblings, met: 0.0 }
    }

    /// Takes a link into the means, the one of so many.
    fn add(&mut self, channel: &ChannelUse, shared: f64, count: f64) {
        self.share += (channel.on_link - self.share) / count;
        self.sibling += (shared - self.sibling) / count;
        for (class, known) in self.by_class.iter_mut().enumerate() {
            *known += (channel.of_class(class) - *known) / count;
        }
    }
}

impl LinkKinds {
    pub(super) fn new(problem: &Problem, paths: &Paths, index: usize) -> Self {
        let (chooser, virtual_channels) = (Chooser::new(problem, index), problem.lanes[index]);
        let real_time = |of: &usize| problem.classes[*of].kind == ClassKind::RealTime;
        let mut kinds = Self {
            kinds: Vec::new(),
            lanes: Vec::new(),
            at_interface: (1.0, 1),
            beside: 0.0,
            virtual_channels,
            drawn: problem.drawn,
            interface: 0,
            own: index,
            real_time: (0..problem.classes.len()).filter(real_time).collect(),
        };
        let siblings = (virtual_channels - 1).clamp(1, SIBLINGS);
        let mut keys: Vec<(Vec<i64>, f64)> = Vec::new();
        for (is_end, channels) in [(false, &paths.channels), (true, &paths.ends)] {
            let most = channels.iter().map(|channel| channel.on_link).fold(0.0, f64::max);
            for channel in channels {
                let half = virtual_channels / 2;
                let usable = match (paths.has_halves && !is_end, channel.is_upper) {
                    (false, _) => virtual_channels,
                    (true, true) => virtual_channels - half,
                    (true, false) => half,
                };
                let (lanes, shared) = chooser.lanes((usable, virtual_channels), channel);
                let step = |part: f64, steps: f64| (part * steps).round() as i64;
                let mut key = vec![
                    i64::from(is_end),
                    i64::from(channel.links),
                    step(channel.on_link / most, STEPS[0]),
                    step(shared / channel.on_link, STEPS[1]),
                ];
                let others = channel.by_class.iter().flatten().zip(&chooser.others_by_class);
                key.extend(others.map(|(of, load)| step(of * load, OTHERS)));
                let kind = keys.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
                    keys.push((key, 0.0));
                    kinds.kinds.push(LinkKind::new(is_end, problem.classes.len(), siblings));
                    keys.len() - 1
                });
                // means over the links of a kind
                let (known, count) = (&mut kinds.kinds[kind], &mut keys[kind].1);
                *count += 1.0;
                known.add(channel, shared, *count);
                let all = known.by_class.iter().zip(&chooser.all_by_class);
                let all = if channel.by_class.is_some() {
                    all.map(|(of, load)| of * load).sum()
                } else {
                    chooser.all * known.share
                };
                known.met = waits(channel.links, f64::min(all, 0.98));
                kinds.lanes.push(Lanes { kind, ..lanes });
            }
        }
        kinds.with_interface(&chooser, (virtual_channels, siblings), paths)
    }

    /// The injection link besides: of the same kind as the ejection links where all nodes send and receive alike.
    fn with_interface(
        mut self,
        chooser: &Chooser,
        (virtual_channels, siblings): (u32, u32),
        paths: &Paths,
    ) -> Self {
        let interface = ChannelUse { by_class: paths.at_interface.clone(), ..ChannelUse::end() };
        let (lanes, sibling) = chooser.lanes((virtual_channels, virtual_channels), &interface);
        self.interface = self.kinds.len() - 1;
        if interface.by_class.is_some() {
            let mut kind = LinkKind::new(true, chooser.all_by_class.len(), siblings);
            kind.add(&interface, sibling, 1.0);
            kind.met = 1.0;
            self.interface = self.kinds.len();
            self.kinds.push(kind);
        }
        // beside bursts best effort is solved as with one
        if chooser.is_real_time || !chooser.has_bursts {
            self.at_interface = (lanes.own_rate, virtual_channels);
        }
        if chooser.is_real_time {
            self.beside = sibling;
        }
        self
    }

    /// Virtual channels of the class on a link, but one.
    pub(super) fn other_lanes(&self) -> u32 {
        self.virtual_channels - 1
    }

    /// How many kinds there are.
    pub(super) fn count(&self) -> usize {
        self.kinds.len()
    }

    /// The kind of the injection link.
    pub(super) fn interface(&self) -> usize {
        self.interface
    }

    /// Whether links of a kind lead to nodes, or from them.
    pub(super) fn is_end(&self, kind: usize) -> bool {
        self.kinds[kind].is_end
    }

    fn lanes(&self, to: u32) -> Lanes {
        self.lanes[to as usize]
    }

    /// The kind of an output.
    pub(super) fn of(&self, to: u32) -> usize {
        self.lanes(to).kind
    }

    /// Messages on links of a kind, per message that each node generates.
    pub(super) fn share(&self, kind: usize) -> f64 {
        self.kinds[kind].share
    }

    /// A link that carries all these classes and has no room for them, where no virtual channel tells so by itself.
    pub(super) fn over(&self, kind: usize, problem: &Problem) -> Option<Overload> {
        let link = &self.kinds[kind];
        let load = self.load_before(problem, |class| link.by_class[class]);
        let place = if link.is_end { Place::Ejection } else { Place::Channel };
        let has_several = self.lanes.iter().any(|lanes| lanes.servers > 1);
        (has_several && load >= 1.0).then_some(Overload { load, place })
    }

    /// The same of each link by itself, where classes go different ways.
    pub(super) fn any_over(&self, problem: &Problem, paths: &Paths) -> Option<Overload> {
        let links = paths.links().zip(&self.lanes).filter(|(link, _)| link.by_class.is_some());
        let loads = links.map(|(link, lanes)| {
            let place = if self.kinds[lanes.kind].is_end { Place::Ejection } else { Place::Channel };
            Overload { load: self.load_before(problem, |class| link.of_class(class)), place }
        });
        loads.filter(|over| over.load >= 1.0).max_by(|a, b| a.load.total_cmp(&b.load))
    }

    /// Load of a link by real time, and by the class itself if that is none.
    fn load_before(&self, problem: &Problem, messages: impl Fn(usize) -> f64) -> f64 {
        let own = (!self.real_time.contains(&self.own)).then_some(self.own);
        let classes = self.real_time.iter().copied().chain(own);
        classes.map(|class| problem.classes[class].load() * messages(class)).sum()
    }

    /// Messages on one of the virtual channels of an output, per message that each node generates.
    pub(super) fn lane_rate(&self, to: u32) -> f64 {
        self.lanes(to).rate
    }

    /// `φ`: what is left of the wait for one virtual channel with such a load.
    pub(super) fn waits_for_lane(&self, to: u32, load: f64) -> f64 {
        waits(self.lanes(to).servers, load)
    }

    /// The part of a node's messages of the class that comes in other virtual channels than a message and contends with
    /// it for an output, if fewer virtual channels lead on from there: `1 - φ` of the interface.
    pub(super) fn beside(&self, to: u32) -> f64 {
        let (_, lanes) = self.at_interface;
        if self.lanes(to).servers < lanes { self.beside } else { 0.0 }
    }

    /// Messages in the own virtual channel of an input, per message that each node generates.
    pub(super) fn own_rate(&self, channel: u32) -> f64 {
        self.lanes[channel as usize].own_rate
    }

    /// `S`: how much longer a message holds an output than one that shares the link with none of its class.
    pub(super) fn in_service(&self, to: u32) -> f64 {
        self.lanes(to).in_service
    }

    /// Messages of the class in other virtual channels of a link of a kind that share it, per message that each node
    /// generates, as far as they are met there.
    pub(super) fn in_other_lanes(&self, kind: usize) -> f64 {
        let LinkKind { sibling, met, .. } = self.kinds[kind];
        sibling * met
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
        if self.drawn {
            return None;
        }
        let idle = (1.0 - rate * flits).max(0.0) * (1.0 - 1.0 / f64::from(lanes));
        let service = flits + restart * idle;
        let load = (rate * service).min(0.999);
        (lanes > 1).then(|| load * service / 2.0 / (1.0 - load) * load.powi(lanes as i32 - 1))
    }

    /// Wait of best effort for one of several virtual channels of an interface \[cycles\], where that for the only one,
    /// with its part of the messages, would be `queued`, at such a load. All share the injection link by age below
    /// real time, whatever holds them up further on; that adds as far as it holds up all of them (our approximation):
    ///
    /// ```text
    /// W = w(λ) + (queued - w(q λ))+ ρ^(V - 1)
    /// w(λ) = (Σ_RT σ_d M_d + λ M²) / (2 (1 - Σ_RT σ_d) (1 - Σ_RT σ_d - λ M))
    /// ```
    ///
    /// `w` is the wait in a queue M/G/1 with preemptive priority until service begins. Of drawn virtual channels all
    /// that holds up the own one counts.
    pub(super) fn best_effort_wait(&self, class: &Class, above: &[Class], queued: f64, load: f64) -> f64 {
        let (part, lanes) = self.at_interface;
        if lanes < 2 {
            return queued;
        }
        let first: f64 = above.iter().map(Class::load).sum();
        let work: f64 = above.iter().map(|class| class.load() * class.message).sum();
        let wait = |load: f64| {
            (work + load * class.message) / 2.0 / ((1.0 - first) * (1.0 - first - load)).max(1e-3)
        };
        let all = if self.drawn { 1.0 } else { load.min(1.0).powi(lanes as i32 - 1) };
        wait(class.load()) + (queued - wait(part * class.load())).max(0.0) * all
    }

    /// The real-time classes on links of a kind, those of other virtual channels of the class last.
    pub(super) fn classes(&self, kind: usize, real_time: &[Class], own: Option<usize>) -> Vec<Class> {
        let LinkKind { share, sibling, siblings, met, by_class, .. } = &self.kinds[kind];
        let thinned = |(class, of): (&Class, &usize)| class.thinned(by_class[*of] * met);
        let mut classes: Vec<Class> = real_time.iter().zip(&self.real_time).map(thinned).collect();
        if let Some(own) = own.filter(|_| *sibling > 1e-9 * share) {
            let each = real_time[own].thinned(sibling * met / f64::from(*siblings));
            classes.extend((0..*siblings).map(|_| each));
            classes[own] = real_time[own].thinned((share - sibling).max(0.05 * share));
        } else if let Some(own) = own {
            classes[own] = real_time[own].thinned(*share);
        }
        classes
    }

    /// The same at the interface.
    pub(super) fn at_interface(&self, real_time: &[Class], own: usize) -> Vec<Class> {
        self.classes(self.interface, real_time, Some(own))
    }
}
