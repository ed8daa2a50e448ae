//! The scenario of one phase as the model sees it: what each class sends, and the paths of its messages.

use std::collections::BTreeMap;

use super::{
    Arrivals, Blocks, ControlPath, HostBus, HostInterface, InterfaceClass, InterfaceKind, InterfaceLatency,
    PathLink, RealTimePath, Saturated, TwoLinks, best_effort,
};
use flitwise_language::scenario::{self, ClassKind, Scenario, Scheduler};

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
    /// Streams of frames of a node.
    streams: Option<u32>,
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
    is_traditional: bool,
    /// Flits of a message that cross one after another.
    block_flits: f64,
    /// Paths of real time: links with their share of its load `R` of a node, and how far their messages contend.
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
        let specs = scenario.classes().iter().enumerate();
        let class = |(place, spec): (usize, &scenario::ClassSpec)| Class {
            place,
            kind: spec.kind,
            load: scenario.flit_rate(place),
            rate: spec.rate,
            message_flits: scenario.mean_message_flits(place),
            virtual_channels: channels[place].len() as f64,
            streams: scenario.frames(place).map(|frames| frames.streams),
        };
        let mut classes: Vec<Class> = specs.map(class).filter(|class| class.load > 0.0).collect();
        // in order of priority, as interfaces serve them
        classes.sort_by_key(|class| class.kind.level());
        let router = scenario.router();
        let real_time = classes.iter().find(|class| class.kind == ClassKind::RealTime);
        Self {
            stages: router.pipeline_stages.into(),
            hops: network.mean_hops(),
            is_traditional: router.scheduler == Scheduler::Fifo,
            block_flits: router.block_flits.into(),
            paths: real_time.map_or(Vec::new(), |class| paths(scenario, class.place)),
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
            _ if self.is_traditional => self.two_links(class, 0.0, self.all_load() - class.load),
            ClassKind::Control => {
                Ok(NetworkLatency { transfer, excess: 0.0, waiting: ControlPath::WAITING, held_share: 0.0 })
            }
            ClassKind::RealTime => self.real_time(class, transfer),
            ClassKind::BestEffort => {
                let above = self.load_of(ClassKind::RealTime) + self.load_of(ClassKind::Control);
                self.two_links(class, above, 0.0)
            }
        }
    }

    fn all_load(&self) -> f64 {
        self.classes.iter().map(|class| class.load).sum()
    }

    fn two_links(&self, class: &Class, above: f64, beside: f64) -> Result<NetworkLatency, Saturated> {
        let links = TwoLinks {
            above,
            own: class.load,
            beside,
            virtual_channels: class.virtual_channels,
            message_flits: class.message_flits,
            pipeline_stages: self.stages,
            matched: best_effort::MATCHED,
        };
        let found = links.latency()?;
        Ok(NetworkLatency {
            transfer: found.pipeline - 1.0 + found.transfer + self.stages * self.hops,
            excess: found.interruptions + found.contention,
            waiting: 1.0 + found.channel_wait,
            held_share: found.channel_load,
        })
    }

    /// Mean over the paths, each of which has a worst link of its own.
    fn real_time(&self, class: &Class, transfer: f64) -> Result<NetworkLatency, Saturated> {
        let arrivals = class.streams.map_or(Arrivals::Poisson, Arrivals::Streams);
        let mut mean = NetworkLatency { transfer, excess: 0.0, waiting: 1.0, held_share: 0.0 };
        for path in &self.paths {
            let link = |(place, (load, contended)): (usize, &(f64, f64))| PathLink {
                load: load * class.load,
                contended: *contended,
                arrivals: match (arrivals, place) {
                    // streams send evenly at their own interface
                    (Arrivals::Streams(count), 0) if count > 0 => Arrivals::EvenStreams(count),
                    _ => Arrivals::Poisson,
                },
            };
            let found = RealTimePath {
                load: class.load,
                virtual_channels: class.virtual_channels,
                message_flits: class.message_flits,
                pipeline_stages: self.stages,
                hops: path.hops,
                streams: class.streams.filter(|count| *count > 0),
                links: path.links.iter().enumerate().map(link).collect(),
            };
            let found = found.latency()?;
            mean.excess += path.share * found.contention;
            mean.waiting += path.share * found.channel_wait;
            mean.held_share += path.share * found.channel_load;
        }
        let blocks = Blocks { flits: self.block_flits };
        let best_effort = self.load_of(ClassKind::BestEffort);
        let change = blocks.real_time_change(class.message_flits, class.load, best_effort);
        mean.excess = (mean.excess + change).max(0.0);
        Ok(mean)
    }

    /// Latencies from application to application, in the order of [`Self::classes`]; `None` with ideal interfaces.
    pub(super) fn end_to_end(
        &self,
        latencies: &[Result<NetworkLatency, Saturated>],
    ) -> Option<Vec<Result<InterfaceLatency, Saturated>>> {
        let host = self.host?;
        let class = |(class, latency): (&Class, &Result<NetworkLatency, Saturated>)| InterfaceClass {
            rate: class.rate,
            message_flits: class.message_flits,
            network_cycles: latency.as_ref().map_or(0.0, NetworkLatency::total),
        };
        let classes: Vec<InterfaceClass> = self.classes.iter().zip(latencies).map(class).collect();
        let found = host.latencies(&classes).into_iter().zip(latencies);
        Some(found.map(|(found, latency)| latency.and(found)).collect())
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

/// Paths of the messages of a class. In a single router all are alike: the links of interface and output, each with the
/// load of a node.
fn paths(scenario: &Scenario, class: usize) -> Vec<Path> {
    let network = scenario.topology();
    let destinations = scenario.destinations(class);
    if network.routers() == 1 && destinations.is_uniform() {
        return vec![Path { share: 1.0, links: vec![(1.0, 1.0); 2], hops: 0.0 }];
    }
    let senders = scenario.senders(class);
    // by link: what comes to it from each input, per load of a node
    let mut flows: BTreeMap<(u32, u32), BTreeMap<(u32, u32), f64>> = BTreeMap::new();
    let mut found: Vec<(f64, Vec<(u32, u32)>)> = Vec::new();
    for &from in &senders {
        for (to, share) in destinations.towards(from).each() {
            let links: Vec<(u32, u32)> = network.path(from, to).map(|hop| (hop.router, hop.port)).collect();
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
