//! Packet switches in multistage networks, and congestion trees: Duato, Johnson, Flich, Naven, Garcia, Nachiondo (HPCA
//! 2005) without a simulation.
//!
//! Rates and loads are shares of a link unless they say B/ns. Limits: packets of one length, uniform traffic, one hot
//! host, whoever its senders are; in a hot spot four queues are taken as one, which they
//! follow once the tree stands; under RECN nothing is said of Xon and Xoff but the memory they hold.

mod congestion_tree;
mod contention;
mod dip;
mod head_of_line;
mod hot_spot;
mod latency;
mod lone;
mod small_memory;
mod tree;

pub use congestion_tree::{CongestionTree, Senders};
pub use dip::{Dip, dip};
pub use head_of_line::head_of_line_limit;
pub use hot_spot::HotSpot;
pub use latency::{Uniform, choice_wait, link_wait, source_wait, transfer_wait};
pub use lone::lone_packet;
pub use small_memory::{places_share, starved, with_places, without_memory};
pub use tree::{Throughput, TreeGrowth, time_to_leave};

mod answer;

pub use answer::solve;

use contention::HeadsAside;
use latency::{Limits, Switches, followed, longest_lone_ns};

use std::cell::OnceCell;

use crate::model::{Declaration, Failure, Model, Refusal};
use flitwise_language::network::{LinkTime, Multistage, Network, SIDE};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{
    ClassSpec, DestinationSpec, Direction, EndOfTraffic, NodeList, Organisation, Read, Scenario, SourceSpec,
    SwitchSpec, Timing,
};

/// The quantities that it has a number for.
pub const HAS: [Quantity; 8] = [
    Quantity::NetworkLatency,
    Quantity::Waiting,
    Quantity::TotalLatency,
    Quantity::SourceLoad,
    Quantity::Throughput,
    Quantity::SetAsideQueues,
    Quantity::SaturationLoad,
    Quantity::Margin,
];

/// The longest step of the fluid \[ns\].
const STEP_NS: f64 = 250.0;
/// The most steps of a run.
const MOST_STEPS: f64 = 200_000.0;
/// Share of the throughput before the hot spot at which a dip is over.
const RECOVERED: f64 = 0.98;

/// The model in the list of models.
pub(crate) const MODEL: Declaration = Declaration {
    word: "recn",
    legend: "recn analysis",
    described: "Packet switches in stages and trees: throughput, latency; in stages hot spots with and without RECN",
    is_usual: true,
    is_of_runs: true,
    made_for: is_of_packets,
    lacks: |quantity| !HAS.contains(&quantity),
    supports,
    solve,
};

/// What the model reads.
const READS: &[Read] = &[
    Read::Words("network.topology", &["multistage", "fat-tree", "file"]),
    Read::Keys("network", &["hosts", "direction", "first_shuffle"]),
    Read::Keys("network", &["levels", "radix", "taper", "arity", "down", "up", "links", "file", "root"]),
    Read::Keys("network.delay", &["up"]),
    Read::Words(
        "network.routing",
        &["d-mod-k", "s-mod-k", "random-up", "adaptive-up", "shortest", "up-down", "tables"],
    ),
    Read::Words("switch.organisation", &["one-queue", "four-queues", "voq-switch", "voq-network", "recn"]),
    Read::Keys("switch", &["ports", "link_rate", "crossbar_rate", "packet", "flit"]),
    Read::Keys("switch", &["port_memory", "flight_time", "routing_time", "forwarding"]),
    Read::Keys("recn", &["set_aside_queues", "detection", "xoff"]),
    Read::Keys("interface", &["injection_memory"]),
    Read::Keys("measure", &["end", "bin"]),
    Read::Keys("class", &["rate", "nodes", "destination", "start", "end", "end_of_traffic"]),
    Read::Words("class.source.kind", &["poisson", "periodic"]),
];

/// What the model says of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Load at which uniform traffic of all hosts saturates \[share of a link\].
    pub saturation_load: f64,
    /// Latency of a packet alone on its longest way \[ns\].
    pub lone_latency_ns: f64,
    /// Mean latency of uniform traffic before the hot spot, with the wait at the source; none where it saturates.
    pub latency_ns: Option<f64>,
    /// The part of it before the transfer into the injection port begins.
    pub waiting_ns: f64,
    /// Load of the fullest link behind a switch over the load at which it saturates; none without uniform traffic.
    pub load_share_of_saturation: Option<f64>,
    /// What the hot spot does; none without one.
    pub hot_spot: Option<HotSpotPrediction>,
    /// Throughput of uniform traffic before and without a hot spot \[B/ns\]: what is offered, at most what all hosts
    /// send at `saturation_load`.
    pub throughput_before_bytes_per_ns: f64,
}

/// What a hot spot does.
#[derive(Clone, Debug, PartialEq)]
pub struct HotSpotPrediction {
    /// Mean throughput while the hot hosts send \[B/ns\].
    pub throughput_in_bytes_per_ns: f64,
    /// Mean throughput after that, up to the end \[B/ns\]; none where the run ends with the hot spot.
    pub throughput_after_bytes_per_ns: Option<f64>,
    /// Throughput in the steady state of a hot spot that lasts \[B/ns\]; none with one queue or virtual output queues
    /// where switches of the first stage have hot hosts and others in different numbers.
    pub throughput_steady_bytes_per_ns: Option<f64>,
    /// Most that uniform traffic lacks of its throughput before, in a step of the model \[B/ns\].
    pub dip_depth_bytes_per_ns: f64,
    /// From the start of the hot spot until uniform traffic is back to 98 % of its throughput for good; none where it
    /// is not by the end.
    pub dip_length_us: Option<f64>,
    /// Set-aside queues in use at a time, in all ports together, about: those that the hot host's tree holds, and for
    /// roots that uniform traffic makes by chance as many as a second tree has, whose root is a link before the hot
    /// host's switch. No bound: simulations found 0.5 to 1.1 times as many. Of RECN alone; none where uniform traffic
    /// alone fills links behind switches of the first stage.
    pub lines: Option<u32>,
    /// Lines that the hot host's tree holds at most, in all ports together; of RECN alone.
    pub tree_lines_most: Option<u32>,
    /// Set-aside queues of all trees at one port at most: as many as it has. The hot host's tree takes one of them, as
    /// the way to its root is unique. Of RECN alone.
    pub lines_at_a_port_most: Option<u32>,
    /// Throughput over time.
    pub over_time: Vec<Bin>,
}

/// Mean throughput in a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// When it begins.
    pub start_us: f64,
    /// Of all traffic.
    pub throughput_bytes_per_ns: f64,
    /// Of uniform traffic, without what goes to the hot host.
    pub random_bytes_per_ns: f64,
    /// To the hot host.
    pub hot_bytes_per_ns: f64,
}

/// Ways that are followed, and pairs of an input and an output of a switch, up to which that takes less than a second.
const MOST_WAYS: u64 = 5_000_000;
const MOST_PAIRS: u64 = 4_000_000;

/// From sending a packet over a link until its credit is back \[ticks\].
fn loop_ticks(timing: &Timing) -> f64 {
    let Timing { flight, arrival, packet_crossbar, control, .. } = timing;
    (2 * flight + arrival + packet_crossbar + control).max(1) as f64
}

/// A checked scenario as the model sees it.
struct Problem<'s> {
    scenario: &'s Scenario,
    switch: &'s SwitchSpec,
    network: Network,
    timing: Timing,
    random: Option<&'s ClassSpec>,
    hot: Option<&'s ClassSpec>,
    limits: OnceCell<Limits>,
}

/// Whether a class is a hot spot: it goes to one host.
fn only_host(class: &ClassSpec) -> Option<u32> {
    let DestinationSpec::Nodes(list) = &class.destination else { return None };
    let hosts: Vec<u32> = list.nodes().take(2).collect();
    hosts.first().copied().filter(|_| hosts.len() == 1)
}

fn refusal(key: impl Into<String>, because: &str) -> Refusal {
    Refusal { key: key.into(), because: because.to_owned() }
}

/// What the model says of a scenario.
///
/// # Errors
/// All that the scenario holds and the model has not.
pub fn predict(scenario: &Scenario) -> Result<Prediction, Failure> {
    Problem::of(scenario).map(|problem| problem.prediction())
}

/// Whether a scenario is of packet switches, which the model is made for.
pub fn is_of_packets(scenario: &Scenario) -> bool {
    scenario.switch().is_some()
}

/// Whether the model has all that the scenario holds.
///
/// # Errors
/// What it has not.
pub fn supports(scenario: &Scenario) -> Result<(), Failure> {
    Problem::of(scenario).map(drop)
}

impl<'s> Problem<'s> {
    fn of(scenario: &'s Scenario) -> Result<Self, Failure> {
        let mut refusals = match Model::Recn.reads_all(scenario, READS) {
            Err(Failure::Refused { refusals, .. }) => refusals,
            _ => Vec::new(),
        };
        if !is_of_packets(scenario) {
            refusals.truncate(1);
            return Err(Failure::Refused { model: Model::Recn, refusals });
        }
        for one in refusals.iter_mut().filter(|one| one.key.ends_with(".source.kind")) {
            one.because.push_str("; source = { kind = \"poisson\" } with a rate has an answer");
        }
        let (mut random, mut hot) = (None, None);
        for class in scenario.classes().iter().filter(|class| class.rate > 0.0) {
            let key = |name: &str| format!("class.{}.{name}", class.name);
            let is_hot = only_host(class).is_some();
            if !is_hot && !class.destination.is_uniform() {
                refusals.push(refusal(key("destination"), "has uniform traffic and one hot host"));
            }
            if !is_hot && (class.is_timed()) {
                refusals.push(refusal(key("start"), "has uniform traffic from the beginning to the end"));
            }
            let place = if is_hot { &mut hot } else { &mut random };
            if place.replace(class).is_some() {
                refusals
                    .push(refusal(key("destination"), "has one class of each: uniform, and to a hot host"));
            }
        }
        let network = scenario.topology();
        let parts = scenario.switch().and_then(|switch| Some((switch, scenario.spec().timing()?)));
        match parts {
            Some((switch, timing)) if refusals.is_empty() => {
                let limits = OnceCell::new();
                let problem = Self { scenario, switch, network, timing, random, hot, limits };
                refusals.extend(hot.and_then(|hot| problem.misplaced(hot)));
                refusals.extend(problem.too_many_ways());
                refusals.extend(problem.little_memory());
                if refusals.is_empty() {
                    return Ok(problem);
                }
            }
            _ => {}
        }
        Err(Failure::Refused { model: Model::Recn, refusals })
    }

    fn prediction(&self) -> Prediction {
        let least = self.saturation();
        let hot_spot = self.hot.zip(self.stages()).map(|(hot, stages)| self.over_time(&stages, hot));
        Prediction {
            saturation_load: least,
            lone_latency_ns: self.lone_ns(),
            latency_ns: self.latency_ns(),
            waiting_ns: self.waiting_ns(),
            load_share_of_saturation: self.load_share(),
            hot_spot,
            throughput_before_bytes_per_ns: self.offered().min(f64::from(self.hosts()) * least) * self.link(),
        }
    }

    fn hosts(&self) -> u32 {
        self.network.nodes()
    }

    /// The stages, where hosts may be hot.
    fn stages(&self) -> Option<Multistage> {
        self.network.as_multistage()
    }

    /// Whether data cross the stages one way.
    fn is_one_way(&self) -> bool {
        self.stages().is_some_and(|stages| stages.direction == Direction::Unidirectional)
    }

    /// Bytes of a link in a nanosecond.
    fn link(&self) -> f64 {
        self.switch.link_bytes_per_ns()
    }

    /// `s`.
    fn speedup(&self) -> f64 {
        self.switch.crossbar_rate / self.switch.link_rate
    }

    /// Share of its link that each sender of a class offers.
    fn share(&self, class: Option<&ClassSpec>) -> f64 {
        class.map_or(0.0, |class| class.rate * self.switch.packet_ns())
    }

    fn senders(&self, class: Option<&ClassSpec>) -> Vec<u32> {
        let listed = |class: &ClassSpec| match &class.nodes {
            Some(list) => NodeList::nodes(list).collect(),
            None => (0..self.hosts()).collect(),
        };
        class.map(listed).unwrap_or_default()
    }

    /// What uniform traffic offers, in links.
    fn offered(&self) -> f64 {
        self.senders(self.random).len() as f64 * self.share(self.random)
    }

    /// Queues of an input whose heads stand in each other's way; none where there is one for every output. RECN sets
    /// nothing aside for heads of line.
    fn heads(&self) -> Option<f64> {
        match self.switch.organisation {
            Organisation::OneQueue | Organisation::Recn => Some(1.0),
            Organisation::FourQueues => Some(4.0),
            _ => None,
        }
    }

    /// Load at which uniform traffic of all hosts saturates.
    fn saturation(&self) -> f64 {
        let all: Vec<u32> = (0..self.hosts()).collect();
        let Limits { limit, fullest, .. } = self.limits_of(&all, 1.0);
        (limit / fullest.max(1e-9)).min(1.0)
    }

    fn lone_ns(&self) -> f64 {
        longest_lone_ns(&self.network, &self.timing)
    }

    /// Those of the scenario's uniform traffic.
    fn limits(&self) -> &Limits {
        self.limits.get_or_init(|| self.limits_of(&self.senders(self.random), self.share(self.random)))
    }

    /// Those of uniform traffic of these hosts, each at a load of its link.
    ///
    /// Heads of line at large memories, times what places for `k` packets leave of it; a loop of credits; and credits
    /// that wait behind data on the same link.
    fn limits_of(&self, senders: &[u32], load: f64) -> Limits {
        let packets = self.switch.places(self.scenario.port_memory());
        let each = packets / self.switch.fixed_queues(self.hosts(), self.scenario.switch_ports()).max(1);
        let is_one_way = self.is_one_way();
        let is_voq = self.heads().is_none();
        // of graphs half of the longest way, as of trees
        let rows = self.network.rows().max(self.network.most_hops() / 2 + 1);
        let share = if is_voq { 1.0 } else { places_share(rows, packets) };
        // packets that come down in a bidirectional network go on to one output, which is one virtual output queue
        let places = if is_voq && !is_one_way { each } else { packets };
        let is_starved = !is_one_way && places < self.switch.credit_batch;
        let with_batches = if is_voq { starved(places) } else { 0.5 };
        let most = |link: LinkTime| {
            let timing = self.timing.on(link);
            f64::from(places) * timing.packet_link as f64 / loop_ticks(&timing)
        };
        let Timing { control, packet_link, .. } = self.timing;
        let batch = f64::from(self.switch.credit_batch) * packet_link as f64;
        let switches = Switches {
            speedup: self.speedup(),
            queues: self.heads(),
            aside: self.heads_aside(),
            is_regular: !self.is_poisson(),
            credits: if is_one_way { 0.0 } else { control as f64 / batch },
            share,
            starved: if is_starved { with_batches } else { f64::INFINITY },
        };
        let traffic = Uniform { senders, rate: load / f64::from(self.hosts() - 1) };
        Limits::of(&self.network, &traffic, &self.timing, switches, &most)
    }

    /// RECN sets heads of line aside where a port has the memory that a hot spot needs, and fills at all.
    fn heads_aside(&self) -> Option<HeadsAside> {
        let detection = self.scenario.recn().detection.div_ceil(self.switch.packet).max(1);
        let is_aside = self.switch.organisation == Organisation::Recn
            && u64::from(self.scenario.port_memory()) >= self.least_memory_for_recn()
            && self.speedup() > 1.0;
        is_aside.then(|| HeadsAside { detection: f64::from(detection), speedup: self.speedup() })
    }

    /// Memory of a port that is not full before a tree is set aside or stopped \[bytes\].
    fn least_memory_for_recn(&self) -> u64 {
        let recn = self.scenario.recn();
        (2 * u64::from(recn.detection)).max(u64::from(recn.xoff) * 5 / 4)
    }

    fn is_poisson(&self) -> bool {
        self.random.is_some_and(|random| matches!(random.source, SourceSpec::Poisson))
    }

    fn latency_ns(&self) -> Option<f64> {
        let waits = if self.is_poisson() { self.source_waits() * self.switch.packet_ns() } else { 0.0 };
        let mean = self.limits().mean_latency(&self.timing)? + waits;
        Some(mean).filter(|mean| mean.is_finite())
    }

    /// `c` of the injection link of each sender, which has a capacity of `1 / c`.
    fn slowdowns(&self) -> Vec<f64> {
        let of = |host: u32| {
            let (router, port) = self.network.entry(host);
            f64::from(self.network.slowdown(router, port))
        };
        self.senders(self.random).into_iter().map(of).collect()
    }

    /// Wait at the injection link, over all senders, in packet times of a full link.
    fn source_waits(&self) -> f64 {
        let load = self.share(self.random);
        if !self.network.has_slow_links() {
            return source_wait(load);
        }
        let slowdowns = self.slowdowns();
        let waits = slowdowns.iter().map(|slowdown| slowdown * source_wait(load * slowdown));
        waits.sum::<f64>() / slowdowns.len().max(1) as f64
    }

    /// Wait at the source before the transfer into the injection port.
    fn waiting_ns(&self) -> f64 {
        let transfer_ns = self.timing.packet_crossbar as f64 * self.timing.tick_ns;
        let wait = || transfer_wait(self.share(self.random), self.speedup()) * transfer_ns;
        if self.is_poisson() { wait() } else { 0.0 }
    }

    fn load_share(&self) -> Option<f64> {
        let load = self.share(Some(self.random?));
        let slowdown = match self.network.has_slow_links() {
            true => self.slowdowns().into_iter().fold(1.0, f64::max),
            false => 1.0,
        };
        // a Poisson source has a queue in front of its own link, too
        let own = if self.is_poisson() { load * slowdown } else { 0.0 };
        let Limits { limit, fullest, .. } = self.limits();
        Some((fullest / limit).max(own))
    }

    /// Refuses hosts that are hot and send uniform traffic, too.
    fn misplaced(&self, hot: &ClassSpec) -> Option<Refusal> {
        let (hot_hosts, victims) = (self.senders(Some(hot)), self.senders(self.random));
        if self.stages().is_none() {
            return Some(refusal(
                format!("class.{}.destination", hot.name),
                "has hot hosts in stages only; simulate",
            ));
        }
        let is_both = hot_hosts.iter().any(|host| victims.contains(host));
        let key = || format!("class.{}.nodes", hot.name);
        is_both.then(|| refusal(key(), "has hosts that are hot or send uniform traffic, not both"))
    }

    /// Refuses ways that take long to follow, and switches whose inputs and outputs are too many pairs.
    fn too_many_ways(&self) -> Option<Refusal> {
        let (ways, ports) = (followed(&self.network), u64::from(self.network.ports()));
        let pairs = u64::from(self.network.routers()) * ports * ports;
        let is_much = ways > MOST_WAYS || pairs > MOST_PAIRS;
        is_much.then(|| {
            let because = format!(
                "follows up to {MOST_WAYS} ways over up to {MOST_PAIRS} pairs of ports, and here are {ways} and \
                 {pairs}; simulate"
            );
            Refusal { key: "network.topology".to_owned(), because }
        })
    }

    /// Refuses ports that are full before a tree is set aside or stopped, and queues of a port in which too few packets
    /// find room: simulated throughputs are then 10 to 50 % below those of the model. From here on they are within 4 %
    /// (`compare --preset recn64-quick` with memories of 1 to 192 KB).
    fn little_memory(&self) -> Option<Refusal> {
        let memory = self.scenario.port_memory();
        let packets = |queues: u32, each: u64| u64::from(queues) * each * u64::from(self.switch.packet);
        let (least, because) = match self.switch.organisation {
            Organisation::OneQueue | Organisation::FourQueues => return None,
            Organisation::Recn => (
                self.least_memory_for_recn(),
                "twice recn.detection and 1.25 times recn.xoff: else ports are full before a tree is set aside",
            ),
            Organisation::VoqSwitch => {
                (packets(self.scenario.switch_ports(), 32), "32 packets in each of its queues")
            }
            Organisation::VoqNetwork => (packets(self.hosts(), 2), "2 packets in each of its queues"),
        };
        (self.hot.is_some() && u64::from(memory) < least).then(|| Refusal {
            key: "switch.port_memory".to_owned(),
            because: format!(
                "has no ports of {memory} bytes; it takes {least} and more, {because}; simulate"
            ),
        })
    }

    /// The hot host's tree. Heads of line hold uniform traffic beyond saturation up before they meet the tree.
    fn tree(&self, stages: &Multistage, hot: &ClassSpec) -> CongestionTree {
        let saturates = matches!(self.switch.organisation, Organisation::OneQueue | Organisation::FourQueues);
        let overload = self.load_share().filter(|_| saturates).unwrap_or(1.0).max(1.0);
        let senders = Senders {
            destination: only_host(hot).unwrap_or_default(),
            hot: self.senders(Some(hot)),
            hot_rate: self.share(Some(hot)),
            victims: self.senders(self.random),
            rate: self.share(self.random) / overload,
        };
        CongestionTree::new(stages, senders)
    }

    /// Hot hosts and victims where every switch of the first stage of a unidirectional network has as many of them.
    fn even_spot(&self, senders: &Senders) -> Option<HotSpot> {
        let counted = |hosts: &[u32]| {
            let mut at = vec![0; self.stages()?.switches() as usize];
            hosts.iter().for_each(|host| at[self.network.entry(*host).0 as usize] += 1);
            at.iter().all(|count| *count == at[0]).then_some(at[0])
        };
        let (hot, victims) = (counted(&senders.hot)?, counted(&senders.victims)?);
        let [packet, memory] = [self.switch.packet, self.scenario.port_memory()].map(f64::from);
        // destinations of the tree are those of a quarter of the hosts, one after another
        let away = match self.switch.organisation {
            Organisation::OneQueue | Organisation::FourQueues => {
                let on = f64::from(self.hosts() / SIDE);
                time_to_leave(f64::from(self.hosts()) - on, self.speedup(), memory / packet) / on
            }
            _ => 0.0,
        };
        self.is_one_way().then(|| HotSpot { hosts: self.hosts(), hot, victims, rate: senders.rate, away })
    }

    /// Throughput in the steady state, in links.
    fn steady(&self, senders: &Senders) -> Option<f64> {
        let organisation = self.switch.organisation;
        match organisation {
            Organisation::VoqNetwork | Organisation::Recn => {
                let (hosts, victims) = (f64::from(self.hosts()), senders.victims.len() as f64);
                let hot =
                    senders.hot.len() as f64 * senders.hot_rate + victims * senders.rate / (hosts - 1.0);
                Some(victims * senders.rate * (hosts - 2.0) / (hosts - 1.0) + hot.min(1.0))
            }
            _ => Some(self.even_spot(senders)?.throughput(organisation)),
        }
    }

    /// Memory that a port has for packets to the hot host, in the time of a link \[ns\]: beyond it they wait at the
    /// interfaces, where the end of the hot spot takes them back.
    fn stays(&self, hot: &ClassSpec) -> f64 {
        let injection = f64::from(self.scenario.injection_memory());
        let bytes = match (hot.end_of_traffic, self.switch.organisation) {
            (Some(EndOfTraffic::Drain), _) => f64::INFINITY,
            (_, Organisation::OneQueue | Organisation::FourQueues) => injection,
            (_, Organisation::VoqSwitch) => injection / f64::from(self.scenario.switch_ports()),
            (_, Organisation::VoqNetwork) => injection / f64::from(self.hosts()),
            _ => f64::from(self.scenario.recn().xoff),
        };
        bytes / self.link()
    }

    fn growth<'t>(&self, hot: &ClassSpec, tree: &'t CongestionTree, end: f64) -> TreeGrowth<'t> {
        TreeGrowth {
            tree,
            speedup: self.speedup(),
            memory: f64::from(self.scenario.port_memory()) / self.link(),
            voq: self.switch.organisation == Organisation::VoqSwitch,
            packet: self.switch.packet_ns(),
            hot: [hot.start_cycle(), hot.end.unwrap_or(end).min(end)],
            stays: self.stays(hot),
        }
    }

    fn over_time(&self, stages: &Multistage, hot: &ClassSpec) -> HotSpotPrediction {
        let tree = self.tree(stages, hot);
        let measure = self.scenario.measure();
        let end = measure.end.unwrap_or(hot.start_cycle() + 1e6);
        let step = STEP_NS.min(measure.bin.unwrap_or(STEP_NS)).max(end / MOST_STEPS);
        let growth = self.growth(hot, &tree, end);
        let steps = (end / step).ceil() as u32;
        let is_recn = self.switch.organisation == Organisation::Recn;
        let detection = f64::from(self.scenario.recn().detection) / self.link();
        let own = is_recn.then(|| dip(&growth, detection)).flatten();
        let found = match self.switch.organisation {
            Organisation::VoqNetwork => apart(&growth, None, step, steps),
            Organisation::Recn => apart(&growth, own, step, steps),
            _ => growth.run(step, steps),
        };
        let before = tree.to_others();
        let hot_steps = ((growth.hot[0] / step) as usize).min(found.len())
            ..((growth.hot[1] / step).ceil() as usize).min(found.len());
        let least = found[hot_steps.start..].iter().map(|one| one.random).fold(before, f64::min);
        let last_low = found.iter().rposition(|one| one.random < RECOVERED * before);
        let length = match (last_low, own) {
            (None, _) => Some(0.0),
            (Some(_), Some(own)) => Some(own.length_ns / 1e3),
            (Some(last), None) if last + 1 == found.len() => None,
            (Some(last), None) => Some(((last + 1) as f64 * step - growth.hot[0]).max(0.0) / 1e3),
        };
        let link = self.link();
        let depth = own.map_or(before - least, |own| own.depth);
        let after = &found[hot_steps.end..];
        HotSpotPrediction {
            throughput_in_bytes_per_ns: link * mean(&found[hot_steps.clone()]),
            throughput_after_bytes_per_ns: (!after.is_empty()).then(|| link * mean(after)),
            throughput_steady_bytes_per_ns: self.steady(&tree.senders).map(|steady| link * steady),
            dip_depth_bytes_per_ns: link * depth,
            dip_length_us: length,
            lines: tree
                .passing_lines()
                .filter(|_| is_recn)
                .map(|passing| passing + tree.lines_held().round() as u32),
            tree_lines_most: is_recn.then(|| tree.lines()),
            lines_at_a_port_most: is_recn.then(|| self.scenario.recn().set_aside_queues),
            over_time: bins(&found, step, measure.bin.unwrap_or(step), link),
        }
    }
}

/// Throughput with queues apart from those of the tree: all uniform traffic but what a dip takes, and max-min of the
/// link to the hot host.
fn apart(growth: &TreeGrowth<'_>, dip: Option<Dip>, step: f64, steps: u32) -> Vec<Throughput> {
    let CongestionTree { hosts, senders, .. } = growth.tree;
    let random_to_hot = senders.victims.len() as f64 * senders.rate / f64::from(*hosts);
    let hot_hosts = senders.hot.len() as f64;
    let [start, end] = growth.hot;
    let mut waiting: f64 = 0.0;
    let deliver = |place: u32| {
        let (from, to) = (f64::from(place) * step, f64::from(place + 1) * step);
        let within = |first: f64, last: f64| (to.min(last) - from.max(first)).max(0.0) / step;
        if from >= end {
            waiting = waiting.min(hot_hosts * growth.stays);
        }
        waiting += step * (random_to_hot + hot_hosts * senders.hot_rate * within(start, end));
        let sent = waiting.min(step);
        waiting -= sent;
        let lost = dip.map_or(0.0, |dip| dip.depth * within(start, (start + dip.length_ns).min(end)));
        Throughput { random: growth.tree.to_others() - lost, hot: sent / step }
    };
    (0..steps).map(deliver).collect()
}

fn mean(found: &[Throughput]) -> f64 {
    found.iter().map(|one| one.random + one.hot).sum::<f64>() / found.len().max(1) as f64
}

/// Means over bins of whole steps.
fn bins(found: &[Throughput], step: f64, bin: f64, link: f64) -> Vec<Bin> {
    let each = ((bin / step).round() as usize).max(1);
    let bin = |(place, steps): (usize, &[Throughput])| {
        let mean = |of: fn(&Throughput) -> f64| link * steps.iter().map(of).sum::<f64>() / steps.len() as f64;
        let (random, hot) = (mean(|one| one.random), mean(|one| one.hot));
        Bin {
            start_us: (place * each) as f64 * step / 1e3,
            throughput_bytes_per_ns: random + hot,
            random_bytes_per_ns: random,
            hot_bytes_per_ns: hot,
        }
    };
    found.chunks(each).enumerate().map(bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitwise_language::scenario::{Document, Place, Preset};

    fn solved(settings: &[(&str, &str)]) -> Result<Prediction, Failure> {
        let mut document: Document = Preset::find("recn64").unwrap().document();
        for (key, value) in settings {
            document.set(key, value, &Place::Setting((*key).into())).unwrap();
        }
        predict(&document.scenario().unwrap())
    }

    #[test]
    fn recn64_dips_shortly_and_one_queue_does_not_come_back() {
        let recn = solved(&[]).unwrap();
        let spot = recn.hot_spot.unwrap();
        assert!((recn.throughput_before_bytes_per_ns - 48.0).abs() < 1e-9);
        assert!((recn.lone_latency_ns - 221.333).abs() < 1e-3);
        assert!((spot.throughput_in_bytes_per_ns - 48.2).abs() < 0.1, "{spot:?}");
        assert_eq!(
            (spot.over_time.len(), spot.lines, spot.tree_lines_most, spot.lines_at_a_port_most),
            (160, Some(160), Some(168), Some(8))
        );
        assert!((spot.dip_length_us.unwrap() - 3.05).abs() < 0.01);

        let one = solved(&[("switch.organisation", "one-queue")]).unwrap().hot_spot.unwrap();
        assert_eq!((one.dip_length_us, one.lines), (None, None));
        assert!(one.throughput_after_bytes_per_ns.unwrap() < 20.0, "{one:?}");
        assert!((one.throughput_steady_bytes_per_ns.unwrap() - 10.1).abs() < 0.1, "{one:?}");

        let apart = solved(&[("switch.organisation", "voq-network")]).unwrap().hot_spot.unwrap();
        assert_eq!((apart.dip_length_us, apart.dip_depth_bytes_per_ns), (Some(0.0), 0.0));
    }

    /// 64 hosts that send uniform traffic at the full rate of their links, over a crossbar of the same rate: a share
    /// `θ_4` is delivered.
    #[test]
    fn throughput_without_a_hot_spot_is_what_saturates() {
        let before = |organisation, crossbar| {
            let settings = [
                ("class.random.nodes", "0-63"),
                ("class.hot.rate", "0"),
                ("switch.organisation", organisation),
                ("switch.crossbar_rate", crossbar),
            ];
            solved(&settings).unwrap().throughput_before_bytes_per_ns
        };
        for (organisation, crossbar, wanted) in [
            ("one-queue", "8", 64.0 * 0.655_242),
            ("one-queue", "9", 72.0 * 0.655_242),
            ("one-queue", "16", 64.0),
            ("recn", "8", 64.0 * 0.655_242),
            ("voq-switch", "8", 64.0),
        ] {
            let found = before(organisation, crossbar);
            // memories of 512 packets cost up to 1e-4 of it
            assert!((found / wanted - 1.0).abs() < 2e-4, "{organisation} {crossbar}: {found}, not {wanted}");
        }
    }

    #[test]
    fn all_organisations_and_sizes_have_an_answer() {
        for organisation in ["one-queue", "four-queues", "voq-switch", "voq-network", "recn"] {
            for preset in Preset::of("recn").filter(|preset| preset.name != "recn-san") {
                let mut document = preset.document();
                document.set("switch.organisation", organisation, &Place::Program).unwrap();
                let found = predict(&document.scenario().unwrap()).unwrap();
                let spot = found.hot_spot.unwrap();
                let is_sound =
                    |bin: &Bin| bin.random_bytes_per_ns >= 0.0 && bin.hot_bytes_per_ns <= 1.0 + 1e-9;
                assert!(spot.over_time.iter().all(is_sound), "{} {organisation}", preset.name);
            }
        }
    }

    #[test]
    fn what_the_model_has_not_is_refused_by_name() {
        let keys = |settings: &[(&str, &str)]| {
            let Err(Failure::Refused { refusals, .. }) = solved(settings) else { panic!("{settings:?}") };
            refusals.into_iter().map(|one| one.key).collect::<Vec<_>>()
        };
        assert_eq!(keys(&[("class.random.nodes", "\"0-50\"")]), ["class.hot.nodes"]);
        let bursts = [("class.random.source.kind", "on-off-pareto"), ("class.random.rate", "\"1 %\"")];
        assert_eq!(keys(&bursts), ["class.random.source.kind"]);
        assert_eq!(keys(&[("switch.control_packet", "16")]), ["switch.control_packet"]);
        assert_eq!(keys(&[("switch.voq_output", "single")]), ["switch.voq_output"]);
        assert_eq!(keys(&[("switch.port_memory", "2048")]), ["switch.port_memory"]);
        assert_eq!(
            keys(&[("switch.port_memory", "6144"), ("recn.detection", "4096")]),
            ["switch.port_memory"]
        );
        assert!(solved(&[("switch.port_memory", "2560")]).is_ok());
        for (organisation, least) in [("voq-switch", 16_384), ("voq-network", 8_192), ("one-queue", 512)] {
            let memory = |bytes: u32| {
                solved(&[("switch.organisation", organisation), ("switch.port_memory", &bytes.to_string())])
            };
            assert!(memory(least).is_ok() && (memory(least - 64).is_err() || organisation == "one-queue"));
        }
    }
}
