//! The scenario of one phase as the model sees it: what each class sends, and the paths of its messages.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use super::best_effort::{BelowLatency, BestEffortPath, EVEN, LinkBelow};
use super::preemption::SharedChannels;
use super::real_time;
use super::{
    Acceleration, Arrivals, Blocks, ControlPath, HostBus, HostInterface, InterfaceClass, InterfaceKind,
    InterfaceLatency, PathLink, RealTimePath, Saturated, Vticks,
};
use flitwise_language::scenario::{self, ClassKind, FrameSizes, Scenario, Scheduler};

/// A class that sends.
#[derive(Clone, Debug)]
pub(super) struct Class {
    /// Its place in the scenario.
    pub(super) place: usize,
    pub(super) kind: ClassKind,
    /// Load of a node, headers included \[flits/cycle\].
    pub(super) load: f64,
    /// \[messages/cycle/node\].
    pub(super) rate: f64,
    /// \[flits\].
    pub(super) message_flits: f64,
    /// Virtual channels that its messages may take.
    pub(super) virtual_channels: f64,
    /// Share of them that best effort may take, too.
    shared_channels: f64,
    /// Streams of frames of a node.
    streams: Option<u32>,
    /// Vticks of its messages.
    vticks: Vticks,
    /// Squared deviation of the length of its frames over their mean.
    frame_variation: f64,
}

/// Mean total latency of a class with an ideal interface, by parts \[cycles\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NetworkLatency {
    /// `P - 1 + P h + M`.
    pub(super) transfer: f64,
    /// What other messages add on the way.
    pub(super) excess: f64,
    /// Before the header is in stage 1: 1 if everything is idle.
    pub(super) waiting: f64,
    /// That part of it which is for the link.
    pub(super) link_wait: f64,
    /// Share of the time that a virtual channel of the class is held at the interface.
    pub(super) held_share: f64,
}

impl NetworkLatency {
    pub(super) fn total(&self) -> f64 {
        self.transfer + self.excess + self.waiting
    }
}

/// A phase.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) classes: Vec<Class>,
    /// `P` \[cycles\].
    stages: f64,
    /// `h`: mean channels between routers on a path.
    hops: f64,
    /// Whether nothing tells classes apart.
    pub(super) is_traditional: bool,
    /// Whether the flits of a lower class that are in the way of a higher one go first.
    accelerates: bool,
    /// Flits of a message that cross one after another.
    block_flits: f64,
    /// `n`: nodes that messages go to.
    nodes: f64,
    /// Whether messages contend at an output with those of their own input, too: a single router.
    is_router: bool,
    /// Paths of messages: links with their share of the load of a node, and how far messages contend there.
    paths: Vec<Path>,
    host: Option<HostInterface>,
}

/// Links of a path, the first that of the interface, and the share of messages that take such a path.
#[derive(Clone, Debug)]
struct Path {
    share: f64,
    /// Load per load of a node, and probability that two messages come from different inputs.
    links: Vec<(f64, f64)>,
    hops: f64,
}

/// Most pairs of nodes whose paths are looked at one by one.
pub(super) const MOST_NODES: u32 = 64;

impl Problem {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let network = scenario.topology();
        let channels = scenario.virtual_channels();
        let of_best_effort = |channel: &usize| {
            let is_its = |(class, block): (&scenario::ClassSpec, &Range<usize>)| {
                class.kind == ClassKind::BestEffort && block.contains(channel)
            };
            scenario.classes().iter().zip(&channels).any(is_its)
        };
        let specs = scenario.classes().iter().enumerate();
        let class = |(place, spec): (usize, &scenario::ClassSpec)| Class {
            place,
            kind: spec.kind,
            load: scenario.flit_rate(place),
            rate: spec.rate,
            message_flits: scenario.mean_message_flits(place),
            virtual_channels: channels[place].len() as f64,
            shared_channels: channels[place].clone().filter(of_best_effort).count() as f64
                / (channels[place].len() as f64).max(1.0),
            streams: scenario.frames(place).map(|frames| frames.streams),
            vticks: vticks(scenario, place),
            frame_variation: frame_variation(scenario, place),
        };
        let mut classes: Vec<Class> = specs.map(class).filter(|class| class.load > 0.0).collect();
        // in order of priority, as interfaces serve them
        classes.sort_by_key(|class| class.kind.level());
        let router = scenario.router();
        let sends_frames_or_messages = classes.iter().find(|class| class.kind != ClassKind::Control);
        Self {
            stages: router.pipeline_stages.into(),
            hops: network.mean_hops(),
            is_traditional: router.scheduler == Scheduler::Fifo,
            accelerates: router.accelerates(),
            block_flits: router.block_flits.into(),
            nodes: network.nodes().into(),
            is_router: network.routers() == 1,
            paths: sends_frames_or_messages
                .or(classes.first())
                .map_or(Vec::new(), |class| paths(scenario, class.place)),
            host: HostInterface::of(scenario),
            classes,
        }
    }

    /// The same with all loads multiplied.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        let mut scaled = self.clone();
        for class in &mut scaled.classes {
            class.load *= factor;
            class.rate *= factor;
        }
        scaled
    }

    /// Load of the classes of a kind \[flits/cycle\].
    fn load_of(&self, kind: ClassKind) -> f64 {
        self.classes.iter().filter(|class| class.kind == kind).map(|class| class.load).sum()
    }

    /// Latency of a class with an ideal interface.
    pub(super) fn latency(&self, class: &Class) -> Result<NetworkLatency, Saturated> {
        let own =
            ControlPath { message_flits: class.message_flits, pipeline_stages: self.stages, hops: self.hops };
        let transfer = own.network_latency();
        match class.kind {
            _ if self.is_traditional => self.below(class, 0.0, self.all_load(), transfer),
            ClassKind::Control => {
                let waiting = ControlPath::WAITING;
                Ok(NetworkLatency { transfer, excess: 0.0, waiting, link_wait: 0.0, held_share: 0.0 })
            }
            ClassKind::RealTime => self.real_time(class, transfer),
            ClassKind::BestEffort => self.below(class, self.load_above(), class.load, transfer),
        }
    }

    fn all_load(&self) -> f64 {
        self.classes.iter().map(|class| class.load).sum()
    }

    /// Load of the levels above best effort.
    fn load_above(&self) -> f64 {
        self.load_of(ClassKind::RealTime) + self.load_of(ClassKind::Control)
    }

    fn is_by_message(&self) -> bool {
        self.host.is_some_and(|host| host.kind != InterfaceKind::QosByFlit)
    }

    /// A class below those of a load `above`, whose level has the load `level`.
    fn below(
        &self,
        class: &Class,
        above: f64,
        level: f64,
        transfer: f64,
    ) -> Result<NetworkLatency, Saturated> {
        let found = self.below_on_paths(class, above, level)?;
        Ok(NetworkLatency {
            transfer,
            excess: found.interruptions + found.contention + found.lane_wait,
            waiting: 1.0 + found.link_wait + found.channel_wait,
            link_wait: found.link_wait,
            held_share: found.channel_load,
        })
    }

    /// Mean over the paths.
    fn below_on_paths(&self, class: &Class, above: f64, level: f64) -> Result<BelowLatency, Saturated> {
        let has_streams =
            self.classes.iter().any(|class| class.kind == ClassKind::RealTime && class.streams.is_some());
        let mut mean = BelowLatency {
            interruptions: 0.0,
            contention: 0.0,
            link_wait: 0.0,
            channel_wait: 0.0,
            lane_wait: 0.0,
            channel_load: 0.0,
        };
        for path in &self.paths {
            let link = |(share, contended): &(f64, f64)| LinkBelow {
                above: share * above,
                level: share * level,
                contended: *contended,
            };
            let found = BestEffortPath {
                load: class.load,
                virtual_channels: class.virtual_channels,
                message_flits: class.message_flits,
                shown: if has_streams { EVEN } else { 1.0 },
                is_by_message: self.is_by_message(),
                links: path.links.iter().map(link).collect(),
            };
            let found = found.latency()?;
            mean.interruptions += path.share * found.interruptions;
            mean.contention += path.share * found.contention;
            mean.link_wait += path.share * found.link_wait;
            mean.channel_wait += path.share * found.channel_wait;
            mean.lane_wait += path.share * found.lane_wait;
            mean.channel_load += path.share * found.channel_load;
        }
        Ok(mean)
    }

    /// Mean over the paths, each of which has a worst link of its own.
    fn real_time(&self, class: &Class, transfer: f64) -> Result<NetworkLatency, Saturated> {
        let mut mean =
            NetworkLatency { transfer, excess: 0.0, waiting: 1.0, link_wait: 0.0, held_share: 0.0 };
        let holders = self.holders(class)?;
        let in_order = class.vticks.in_order(class.load.min(1.0 - 1e-9));
        let mut known: BTreeMap<(bool, u64, u64), f64> = BTreeMap::new();
        for path in &self.paths {
            let mut excesses = Vec::new();
            for (place, link) in path.links.iter().enumerate().skip(usize::from(self.is_by_message())) {
                let excess = match known.entry((place == 0, link.0.to_bits(), link.1.to_bits())) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(place_of) => *place_of.insert(self.link(class, place, *link).excess(
                        class.virtual_channels,
                        class.message_flits,
                        &class.vticks,
                    )?),
                };
                excesses.push(excess);
            }
            let found = RealTimePath {
                load: class.load,
                virtual_channels: class.virtual_channels,
                message_flits: class.message_flits,
                pipeline_stages: self.stages,
                hops: path.hops,
                streams: class.streams.filter(|count| *count > 0),
                vticks: class.vticks.clone(),
                in_order,
                holders,
                links: Vec::new(),
            };
            let found = found.latency_by(&excesses)?;
            mean.excess += path.share * found.contention;
            mean.waiting += path.share * found.channel_wait;
            mean.held_share += path.share * found.channel_load;
        }
        if self.block_flits > 1.0 {
            let gained = class.vticks.response(class.load, 1.0) - real_time::first_come(class.load);
            let blocks = Blocks { flits: self.block_flits };
            let change = blocks.change(class.message_flits, gained, self.load_of(ClassKind::BestEffort));
            mean.excess = (mean.excess + change).max(0.0);
        }
        Ok(mean)
    }

    /// A link at this place of a path, with its share of the load of a node and how far messages contend there.
    fn link(&self, class: &Class, place: usize, (share, contended): (f64, f64)) -> PathLink {
        let load = share * class.load;
        let streams = class.streams.filter(|count| *count > 0);
        let arrivals = match streams {
            // streams send evenly at their own interface
            Some(count) if place == 0 => Arrivals::EvenStreams(count),
            _ => Arrivals::Poisson,
        };
        // each of the streams of all nodes ends at any of them, and has frames of its own length
        let variance = match streams {
            Some(count) if place > 0 => {
                (1.0 - 1.0 / self.nodes) * (1.0 + class.frame_variation) / (f64::from(count) * share)
            }
            _ => 0.0,
        };
        let contended = if self.is_router { 1.0 } else { contended };
        PathLink { load, contended, arrivals, unevenness: load * variance.sqrt() }
    }

    /// What messages of best effort delay those of a class that shares virtual channels with it.
    fn holders(&self, class: &Class) -> Result<f64, Saturated> {
        let lower = self.classes.iter().find(|lower| lower.kind == ClassKind::BestEffort);
        let Some(lower) = lower.filter(|_| class.shared_channels > 0.0) else { return Ok(0.0) };
        // as long as they hold all virtual channels at most
        let longest = lower.message_flits * lower.virtual_channels / lower.load;
        let held_cycles = match self.below_on_paths(lower, self.load_above(), lower.load) {
            // M + interruptions, and its share of an output that it shares with others
            Ok(found) => lower.message_flits + found.interruptions + found.contention / 2.0,
            Err(_) => longest,
        };
        let channels = SharedChannels {
            shared: class.shared_channels,
            foreign: 1.0 - 1.0 / self.nodes,
            load: lower.load,
            virtual_channels: lower.virtual_channels,
            message_flits: lower.message_flits,
            held_cycles: held_cycles.min(longest),
        };
        let real_time_load = self.load_above();
        channels.delay(if self.accelerates { Acceleration::On } else { Acceleration::Off { real_time_load } })
    }

    /// Latencies from application to application, in the order of [`Self::classes`]; `None` with ideal interfaces.
    /// What has waited before the bus or the wire is taken from the `latencies`.
    pub(super) fn end_to_end(
        &self,
        latencies: &mut [Result<NetworkLatency, Saturated>],
    ) -> Option<Vec<Result<InterfaceLatency, Saturated>>> {
        let host = self.host?;
        let class = |(class, latency): (&Class, &Result<NetworkLatency, Saturated>)| InterfaceClass {
            rate: class.rate,
            message_flits: class.message_flits,
            network_cycles: latency.as_ref().map_or(0.0, NetworkLatency::total),
        };
        let classes: Vec<InterfaceClass> = self.classes.iter().zip(&*latencies).map(class).collect();
        let found = host.latencies(&classes).into_iter().zip(latencies).zip(&classes);
        let in_tandem = found.map(|((found, latency), class)| {
            let at_link = latency.map_or(0.0, |latency| latency.link_wait);
            let (found, left) = host.in_tandem(class, found?, at_link);
            if let Ok(latency) = latency {
                latency.waiting -= at_link - left;
                latency.link_wait = left;
            }
            (*latency).and(Ok(found))
        });
        Some(in_tandem.collect())
    }

    /// What a message of so many flits takes at idle interfaces beside the wire \[cycles\].
    pub(super) fn host_time(&self, message_flits: f64) -> f64 {
        let alone = InterfaceClass { rate: 0.0, message_flits, network_cycles: 0.0 };
        let found = self.host.and_then(|host| host.latencies(&[alone]).pop());
        found.and_then(Result::ok).map_or(0.0, |found| found.total())
    }

    /// Load of the busiest part in front of the network.
    pub(super) fn load_in_front(&self) -> f64 {
        self.stations().map_or(self.all_load(), |loads| loads.bus.max(loads.wire))
    }

    /// Loads of firmware, bus and wire; `None` with ideal interfaces.
    pub(super) fn stations(&self) -> Option<super::PerStation> {
        let class = |class: &Class| InterfaceClass {
            rate: class.rate,
            message_flits: class.message_flits,
            network_cycles: 0.0,
        };
        Some(self.host?.loads(&self.classes.iter().map(class).collect::<Vec<_>>()))
    }
}

impl HostInterface {
    /// The interface of a scenario; `None` of ideal ones.
    pub fn of(scenario: &Scenario) -> Option<Self> {
        let host = scenario.host_interface()?;
        let kind = match (host.is_qos, host.by_message) {
            (false, _) => InterfaceKind::Traditional,
            (true, true) => InterfaceKind::QosByMessage,
            (true, false) => InterfaceKind::QosByFlit,
        };
        let spec = scenario.interface();
        let defaults = HostBus::default();
        let bus = HostBus {
            setup_cycles: host.bus_setup as f64,
            bytes_per_cycle: spec.bus_rate.unwrap_or(defaults.bytes_per_cycle),
            descriptor_bytes: spec.descriptor.map_or(defaults.descriptor_bytes, f64::from),
            flit_bytes: scenario.flit_bits().unwrap_or(128.0) / 8.0,
        };
        Some(Self {
            kind,
            firmware_cycles: host.firmware as f64,
            bus,
            send_setup_cycles: host.send_setup as f64,
        })
    }
}

/// Vticks of the messages of a class: one of all, or by the frames, `T / (N M)` of those with `N` messages.
fn vticks(scenario: &Scenario, class: usize) -> Vticks {
    /// Places of a normal distribution, with their weights: the fifth degree.
    const PLACES: [(f64, f64); 3] =
        [(-1.732_050_807_568_877_2, 1.0 / 6.0), (0.0, 2.0 / 3.0), (1.732_050_807_568_877_2, 1.0 / 6.0)];
    let spec = &scenario.classes()[class];
    let frames = scenario.frames(class).filter(|_| spec.vtick.is_none());
    let Some(frames) = frames else { return Vticks::equal(spec.lane_vtick()) };
    let mut found = Vec::new();
    for (law, share) in frames.sizes.iter().flat_map(FrameSizes::laws) {
        for (place, weight) in PLACES {
            let messages = law.flits(place).map_or(1, |flits| frames.messages(flits));
            // a frame sends its messages
            found.push((frames.vtick(messages), share * weight * f64::from(messages)));
        }
    }
    Vticks::weighed(found)
}

/// Squared deviation of the length of frames over their mean; 0 without frames.
fn frame_variation(scenario: &Scenario, class: usize) -> f64 {
    let Some(frames) = scenario.frames(class) else { return 0.0 };
    let (mut first, mut second, mut all) = (0.0, 0.0, 0.0);
    for (law, share) in frames.sizes.iter().flat_map(FrameSizes::laws) {
        first += share * law.mean;
        second += share * (law.mean * law.mean + law.deviation * law.deviation);
        all += share;
    }
    if first > 0.0 { (second * all / (first * first) - 1.0).max(0.0) } else { 0.0 }
}

/// Paths of the messages of a class. In a single router all are alike: the links of interface and output, each with the
/// load of a node.
fn paths(scenario: &Scenario, class: usize) -> Vec<Path> {
    let network = scenario.topology();
    let destinations = scenario.destinations(class);
    if network.routers() == 1 && destinations.is_uniform() {
        let contended = 1.0 - 1.0 / f64::from(network.nodes());
        return vec![Path { share: 1.0, links: vec![(1.0, 1.0), (1.0, contended)], hops: 0.0 }];
    }
    let senders = scenario.senders(class);
    // by link: what comes to it from each input, per load of a node
    let mut flows: BTreeMap<(u32, u32), BTreeMap<(u32, u32), f64>> = BTreeMap::new();
    let mut found: Vec<(f64, Vec<(u32, u32)>)> = Vec::new();
    for &from in &senders {
        for (to, share) in destinations.towards(from).each() {
            let links: Vec<(u32, u32)> =
                network.path(from, to, 0).map(|hop| (hop.router, hop.port)).collect();
            // the interface stands for the first input
            let mut input = (u32::MAX, from);
            for &link in &links {
                *flows.entry(link).or_default().entry(input).or_default() += share;
                input = link;
            }
            found.push((share / senders.len() as f64, links));
        }
    }
    let of_link = |link: &(u32, u32)| {
        let inputs = &flows[link];
        let load: f64 = inputs.values().sum();
        let contended = 1.0 - inputs.values().map(|flow| (flow / load).powi(2)).sum::<f64>();
        (load, contended.max(0.0))
    };
    let path = |(share, links): (f64, Vec<(u32, u32)>)| Path {
        share,
        hops: links.len() as f64 - 1.0,
        links: std::iter::once((1.0, 1.0)).chain(links.iter().map(of_link)).collect(),
    };
    found.into_iter().map(path).collect()
}
