//! Scenarios of packet switches: what `[switch]` asks of other tables, and what it takes the place of.

use super::declare::*;
use super::measure::MOST_BINS;
use crate::network::Topology;
use crate::quantity::Quantity;
use serde::Serialize;

use super::{
    ClassSpec, FrameDeadline, InterfaceSpec, MeasureSpec, RecnSpec, Scenario, ScenarioSpec, SwitchSpec,
};
use super::{NetworkSpec, Organisation, Switching, Timing, UnitsSpec, VoqOutput};

/// Tables and keys of classes that wormhole routers have and packet switches have not.
pub(super) const WORMHOLE_KEYS: [&str; 9] =
    ["units", "router", "mix", "share", "kind", "message_flits", "virtual_channels", "vtick", "deadlines"];

/// Memory at either end of a port where none is given, up to 256 hosts and above \[bytes\].
const PORT_MEMORY: [u32; 2] = [128 * 1024, 192 * 1024];

/// Width of the bins of a series over time where none is given \[ns\].
const BIN_NS: f64 = 10_000.0;

/// Whether frames of a class have a deadline that follows the latest one.
fn has_ratchet(classes: &[ClassSpec]) -> bool {
    classes.iter().any(|class| class.frame_deadline.contains(&FrameDeadline::Ratchet))
}

impl ScenarioSpec {
    fn hosts(&self) -> u32 {
        self.network.topology().nodes()
    }

    /// How long each step of a packet takes; `None` of routers.
    pub fn timing(&self) -> Option<Timing> {
        Timing::with_links(self.switch.as_ref()?, self.network.topology().link_times())
    }

    fn switch_ports(&self) -> u32 {
        let ports = self.switch.as_ref().map_or(0, |switch| switch.ports);
        ports.max(self.network.topology().ports())
    }

    fn port_memory(&self, switch: &SwitchSpec) -> u32 {
        switch.port_memory.unwrap_or(PORT_MEMORY[usize::from(self.hosts() > 256)])
    }

    /// Whether its system has a table or a key of classes of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.switch.is_none() || !WORMHOLE_KEYS.contains(&name)
    }

    fn is_multistage(&self) -> bool {
        matches!(self.network, NetworkSpec::Multistage { .. })
    }

    /// Writes the keys that it has into a document, as [`Self::to_json`] does.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize_plainly<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.switch.is_some() { self.to_json().serialize(serializer) } else { self.serialize(serializer) }
    }

    /// The time that results are printed in, and how long a cycle is in it: a tick of packet switches in nanoseconds.
    pub fn shown_time(&self) -> (&'static str, f64) {
        match self.timing() {
            Some(timing) => ("ns", timing.tick_ns),
            None => ("cycles", 1.0),
        }
    }

    /// A text such as `"10 us"` in cycles, if it is a time and the scenario knows how long a cycle is; of packet
    /// switches a plain number is in nanoseconds.
    pub fn cycles_of(&self, text: &str) -> Option<f64> {
        let Some(timing) = self.timing() else {
            return self.units.as_ref()?.cycles_of(text);
        };
        let nanoseconds = UnitsSpec { cycle: Some("1 ns".to_owned()), ..UnitsSpec::unset() };
        let ns = text.trim().parse().ok().or_else(|| nanoseconds.cycles_of(text))?;
        Some(ns / timing.tick_ns)
    }

    /// The groups of quantities that are there beside those of messages.
    pub fn groups(&self) -> Vec<&'static [Quantity]> {
        let groups = [
            (self.classes.iter().any(|class| class.source.has_frames()), Quantity::FRAMES),
            (has_ratchet(&self.classes), Quantity::FRAME_DEADLINES),
            (self.router.switching == Switching::PipelinedCircuit, Quantity::CIRCUITS),
            (self.has_host_bus(), Quantity::INTERFACES),
            (self.router.preempts() && self.switch.is_none(), Quantity::PREEMPTIONS),
            (self.has_channel_adapter(), Quantity::ADAPTERS),
            (self.classes.iter().any(|class| class.connections.is_some()), Quantity::CONNECTIONS),
            (self.power.is_some(), Quantity::POWER),
            (self.switch.is_some(), Quantity::PACKETS),
        ];
        groups.into_iter().filter(|(is_there, _)| *is_there).map(|(_, group)| group).collect()
    }

    /// The most that the load of a class can be multiplied by.
    pub fn most_load_factor(&self, class: usize) -> f64 {
        let class = &self.classes[class];
        let share = self.switch.as_ref().map_or(0.0, |switch| share_of(class, switch));
        class.most_load_factor().min(if share > 0.0 { 1.0 / share } else { f64::INFINITY })
    }

    /// The keys that it has, as JSON: none of routers where packets are switched.
    pub fn to_json(&self) -> serde_json::Value {
        let mut json = serde_json::json!(self);
        let strip = |value: &mut serde_json::Value| {
            value
                .as_object_mut()
                .into_iter()
                .for_each(|map| map.retain(|key, _| !WORMHOLE_KEYS.contains(&&**key)));
        };
        if self.switch.is_some() {
            strip(&mut json);
            json["class"].as_array_mut().into_iter().flatten().for_each(strip);
        }
        json
    }
}

impl Scenario {
    /// What every packet switch is like; none where there are routers.
    pub fn switch(&self) -> Option<&SwitchSpec> {
        self.spec().switch.as_ref()
    }

    /// Memory at either end of a port \[bytes\].
    pub fn port_memory(&self) -> u32 {
        self.spec().port_memory(&self.switch().copied().unwrap_or_default())
    }

    /// Ports of a switch, those without a link included.
    pub fn switch_ports(&self) -> u32 {
        self.spec().switch_ports()
    }

    /// Memory of the injection port of a network interface \[bytes\].
    pub fn injection_memory(&self) -> u32 {
        self.interface().injection_memory.unwrap_or_else(|| self.port_memory())
    }

    /// What every network interface is like.
    pub fn interface(&self) -> InterfaceSpec {
        self.spec().interface.unwrap_or_else(InterfaceSpec::unset)
    }

    /// The thresholds of queues that are set aside.
    pub fn recn(&self) -> RecnSpec {
        self.spec().recn.unwrap_or_default()
    }

    /// Which part of a run is measured; a run of packets with an end has bins.
    pub fn measure(&self) -> MeasureSpec {
        let measure = self.spec().measure.unwrap_or_else(MeasureSpec::unset);
        let usual = || self.switch().and(measure.end).map(|end| BIN_NS.clamp(end / MOST_BINS, end));
        MeasureSpec { bin: measure.bin.or_else(usual), ..measure }
    }

    /// Length of the messages of a class of packets \[bytes\].
    pub fn message_bytes(&self, class: usize) -> u32 {
        let packet = self.switch().map_or(0, |switch| switch.packet);
        self.classes()[class].message.unwrap_or(packet)
    }

    /// Packets of a message of a class, all of full length.
    pub fn packets_per_message(&self, class: usize) -> u32 {
        let packet = self.switch().map_or(1, |switch| switch.packet.max(1));
        self.message_bytes(class).div_ceil(packet)
    }

    /// The same scenario with the thresholds and memories written that it has by default: as parameters they have
    /// values.
    #[must_use]
    pub fn explicit(&self) -> Self {
        let mut spec = self.spec().clone();
        let (port_memory, thresholds) = (self.port_memory(), self.recn());
        if let Some(switch) = &mut spec.switch {
            switch.port_memory = Some(port_memory);
            spec.recn = (switch.organisation == Organisation::Recn).then_some(thresholds);
        }
        spec.check().unwrap_or_else(|_| self.clone())
    }

    /// What a sender of a class offers, as a share of its link.
    pub fn offered_share(&self, class: usize) -> f64 {
        self.switch().map_or(0.0, |switch| share_of(&self.classes()[class], switch))
    }
}

/// What a sender of a class offers, in whole packets, as a share of its link.
fn share_of(class: &ClassSpec, switch: &SwitchSpec) -> f64 {
    let packet = switch.packet.max(1);
    let bytes = f64::from(class.message.unwrap_or(packet).div_ceil(packet)) * f64::from(packet);
    class.rate * bytes / switch.link_bytes_per_ns()
}

/// Refuses tables that do not go with each other.
pub(super) fn rules(spec: &ScenarioSpec, door: &mut Door) {
    // a topology that could not be read asks for nothing
    let is_read = door.read_network().is_some();
    let Some(switch) = &spec.switch else {
        if is_read && spec.is_multistage() {
            let help = "add  [switch]  with  organisation = \"one-queue\"";
            door.refuse("switch", "nothing".to_owned(), "a table [switch] with multistage", Some(help));
        }
        if spec.recn.is_some() {
            let wanted = "none without [switch], whose organisation has a [recn] table";
            door.refuse("recn", "a [recn] table".to_owned(), wanted, None);
        }
        return;
    };
    if door.read_network().is_some_and(|network| !network.may_be_switched()) {
        let help = "topology = \"multistage\" and topology = \"fat-tree\" are networks of packet switches";
        let wanted = "[router] with this topology";
        door.refuse("switch", "a [switch] table".to_owned(), wanted, Some(help));
    }
    if let Some(network) = door.known_network().filter(|network| network.may_be_switched()) {
        fits_switches(spec, &*network, switch, door);
    }
    if spec.router != super::RouterSpec::default() {
        refuse_router(|found, wanted, help| door.refuse("router", found, wanted, Some(help)));
    }
    if spec.units.is_some() {
        let help = "strings under [switch] have physical units as they are";
        door.refuse("units", "a [units] table".to_owned(), "none: [switch] has link_rate", Some(help));
    }
    if spec.mix.is_some() {
        let help = "give each class its rate or its load";
        door.refuse("mix", "a [mix] table".to_owned(), "none under [switch]", Some(help));
    }
    let is_known = door.is_read("switch.organisation");
    if is_known && spec.recn.is_some() && switch.organisation != Organisation::Recn {
        let found = format!("a [recn] table with organisation = \"{}\"", switch.organisation.word());
        door.refuse("recn", found, "none", Some("write organisation = \"recn\", or remove the table"));
    }
    if is_read && door.known_network().is_some() {
        let memories = [
            (
                if switch.port_memory.is_some() { "switch.port_memory" } else { "switch.organisation" },
                spec.port_memory(switch),
            ),
            (
                "interface.injection_memory",
                spec.interface.and_then(|own| own.injection_memory).unwrap_or(u32::MAX),
            ),
        ];
        for (key, memory) in memories {
            switch.fits_queues(memory, spec.hosts(), spec.switch_ports(), key, door);
        }
    }
}

/// The most different delays and capacities of links.
const MOST_LINK_TIMES: usize = 64;

/// Bits of the number of an output port at every switch on the longest way, one more each, up to which a packet
/// carries them.
const MOST_TURN_BITS: u32 = 63;

/// Refuses switches with fewer ports than the network joins, and ways that packets cannot carry.
fn fits_switches(spec: &ScenarioSpec, network: &dyn Topology, switch: &SwitchSpec, door: &mut Door) {
    let is_usual = switch.ports == SwitchSpec::default().ports;
    if switch.ports < network.ports() && !is_usual {
        let wanted = format!("at least {}: the network joins so many", network.ports());
        door.refuse("switch.ports", switch.ports.to_string(), &wanted, Some("or leave it out"));
    }
    let times = spec.network.topology().link_times().len();
    if times > MOST_LINK_TIMES {
        let wanted = format!("at most {MOST_LINK_TIMES}");
        door.refuse("network", format!("{times} different delays and capacities of links"), &wanted, None);
    } else if Timing::of(switch).is_some() && spec.timing().is_none() {
        let wanted = "delays and durations that are whole ticks, at most 65,536 of the longest duration, that of a \
                      packet on the slowest link included";
        let help = "take delays, rates and times with fewer digits, or capacities that are not so small";
        let found = "no tick that divides delays, rates and times".to_owned();
        door.refuse("network", found, wanted, Some(help));
    }
    let bits = spec.switch_ports().next_power_of_two().trailing_zeros() + 1;
    let most = MOST_TURN_BITS / bits;
    if network.most_hops() + 1 > most {
        let found =
            format!("ways over {} switches of {} ports", network.most_hops() + 1, spec.switch_ports());
        let wanted = format!("at most {most} switches on a way: a packet carries its turns in 64 bits");
        door.refuse("network.levels", found, &wanted, Some("take fewer levels, or fewer ports"));
    }
    if network.is_adaptive() {
        fits_choices(switch, door);
    }
}

/// Refuses queues by the output ports ahead where switches choose these as packets come to the head.
fn fits_choices(switch: &SwitchSpec, door: &mut Door) {
    match (switch.organisation, switch.voq_output) {
        (Organisation::Recn, _) => door.refuse(
            "switch.organisation",
            "\"recn\"".to_owned(),
            "another one with a routing that chooses on the way: lines name the ports ahead",
            Some("or take routing = \"d-mod-k\", \"s-mod-k\" or \"random-up\""),
        ),
        (Organisation::VoqSwitch, VoqOutput::NextSwitch) => door.refuse(
            "switch.voq_output",
            "\"next-switch\"".to_owned(),
            "\"single\" with a routing that chooses on the way: ports of the next switch are not known ahead",
            Some("write voq_output = \"single\" under [switch]"),
        ),
        _ => {}
    }
}

fn refuse_router(refuse: impl FnOnce(String, &str, &str)) {
    let help = "packet switches are described by [switch]: remove the table";
    refuse("a [router] table".to_owned(), "[switch] alone", help);
}

/// Refuses the table that `[switch]` takes the place of.
pub(super) fn settle(spec: &ScenarioSpec, reader: &mut Reader, table: &Table<'_>) {
    let Some(router) = table.get("router") else { return };
    if spec.switch.is_some() || spec.is_multistage() {
        refuse_router(|found, wanted, help| {
            reader.refuse(
                &router.place,
                "router".to_owned(),
                found,
                wanted.to_owned(),
                Some(help.to_owned()),
            );
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::{DestinationSpec, Document, NodeList, Organisation, Preset, Scenario, SourceSpec};

    fn quick(settings: &[(&str, &str)]) -> Result<Scenario, Vec<String>> {
        let mut document: Document = Preset::find("recn64-quick").unwrap().document();
        for (key, value) in settings {
            let place = crate::document::Place::Setting((*key).into());
            document.set(key, value, &place).unwrap();
        }
        document.scenario().map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn defaults_are_those_of_the_language() {
        let scenario = Preset::find("recn64").unwrap().scenario();
        let (switch, recn) = (scenario.switch().unwrap(), scenario.recn());
        assert_eq!(switch.organisation, Organisation::Recn);
        assert_eq!((scenario.port_memory(), scenario.injection_memory()), (131_072, 131_072));
        assert_eq!((recn.set_aside_queues, recn.detection, recn.hold), (8, 1024, 1000.0));
        assert_eq!(scenario.measure().bin, Some(10_000.0));
        let [random, hot] = scenario.classes() else { panic!("two classes") };
        assert_eq!((random.rate, &random.source), (1.0 / 64.0, &SourceSpec::Periodic));
        assert_eq!((hot.start_cycle(), hot.end), (800_000.0, Some(970_000.0)));
        assert_eq!(hot.destination, DestinationSpec::Nodes(NodeList::of([32])));
        let large = Preset::find("recn512").unwrap().scenario();
        assert_eq!((large.port_memory(), large.offered_share(0)), (196_608, 1.0));
    }

    #[test]
    fn strings_become_nanoseconds_and_bytes() {
        for (rate, wanted) in
            [("\"50 %\"", 0.5), ("\"4 Gbps\"", 0.5), ("\"0.5 B/ns\"", 0.5), ("0.0078125", 0.5)]
        {
            let scenario = quick(&[("class.random.rate", rate)]).unwrap();
            assert_eq!(scenario.offered_share(0), wanted, "{rate}");
        }
        let long = [("class.random.message", "\"1000 B\""), ("class.random.rate", "\"50 %\"")];
        let long = quick(&long).unwrap();
        assert_eq!((long.packets_per_message(0), long.offered_share(0)), (16, 0.5));
        let ticks = quick(&[("class.hot.start", "\"3 ticks\"")]).unwrap();
        assert_eq!(ticks.classes()[1].start_cycle(), 8.0);
        let per_time = quick(&[("class.random.rate", "\"0.01 packets/ns\"")]).unwrap();
        assert_eq!(per_time.classes()[0].rate, 0.01);
        assert!(quick(&[("class.random.rate", "\"0.5 flits/cycle\"")]).is_err());
    }

    #[test]
    fn one_organisation_is_enough() {
        for organisation in ["one-queue", "four-queues", "voq-switch", "voq-network"] {
            assert!(quick(&[("switch.organisation", organisation)]).is_ok());
        }
        let json = quick(&[]).unwrap().spec().to_json();
        assert!(json.get("router").is_none() && json["class"][0].get("kind").is_none(), "{json}");
    }
}
