//! `[interface]`: what every network interface is like.

use super::check::joined;
use super::declare::*;
use super::units::quantity;
use super::{Scenario, ScenarioSpec, Scheduler, VcChoice};
use crate::document::{Value, in_short};

table! {
    /// What every network interface is like.
    #[derive(Copy)]
    pub struct InterfaceSpec {
        /// What stands between an application and the link, where there are routers.
        #[serde(skip_serializing_if = "InterfaceKind::is_ideal")]
        kind: InterfaceKind = InterfaceKind::Ideal;
        /// Whether the link takes flits of several messages in turn, or one message at a time; by default flits
        /// where the interface knows classes.
        #[serde(skip_serializing_if = "Option::is_none")]
        injection: Option<Injection> = None;
        /// Memory of the interface for each virtual channel, which one queue shares where it is traditional; by
        /// default 160 flits. Of a channel adapter so many messages in all, by default `"1024 messages"`, or
        /// `"unlimited"`.
        #[serde(skip_serializing_if = "Option::is_none")]
        buffer: Option<InterfaceBuffer> ["flits"] = None, within(1.0, 1e7).magnitude(Magnitude::Room);
        /// Time of the firmware for a message; by default 10 cycles.
        #[serde(skip_serializing_if = "Option::is_none")]
        firmware: Option<f64> ["cycles"] = None, within(0.0, 1e9).magnitude(Magnitude::Time);
        /// What the host bus carries; by default 42.24, which is 528 MB/s in cycles of 80 ns.
        #[serde(skip_serializing_if = "Option::is_none")]
        bus_rate: Option<f64> ["bytes/cycle"] = None, within(1e-6, 1e9).magnitude(Magnitude::ByteRate);
        /// Time to arbitrate for the host bus and to address, of each job; by default 2 cycles.
        #[serde(skip_serializing_if = "Option::is_none")]
        bus_setup: Option<f64> ["cycles"] = None, within(0.0, 1e9).magnitude(Magnitude::Time);
        /// Length of a descriptor, which the interface reads of each message; by default 64 bytes.
        #[serde(skip_serializing_if = "Option::is_none")]
        descriptor: Option<u32> ["bytes"] = None, within(1.0, 1e9).or_zero().magnitude(Magnitude::Bytes);
        /// Time to program the transfer of a message to the link, one message at a time; by default 20 cycles.
        #[serde(skip_serializing_if = "Option::is_none")]
        send_setup: Option<f64> ["cycles"] = None, within(0.0, 1e9).magnitude(Magnitude::Time);
        /// Memory of the injection port under `[switch]`; by default as that of a switch port.
        #[serde(skip_serializing_if = "Option::is_none")]
        injection_memory: Option<u32> ["bytes"] = None, within(1.0, 1e9).magnitude(Magnitude::Room);
        /// Memory under `[switch]` for messages to each destination that are not yet admitted; by default unbounded.
        #[serde(skip_serializing_if = "Option::is_none")]
        admittance: Option<u32> ["bytes"] = None, within(1.0, 4e9).magnitude(Magnitude::Room);
    }
}

words! {
    /// What stands between an application and the link.
    pub enum InterfaceKind {
        /// A queue without end for each virtual channel.
        Ideal "ideal",
        /// Doorbells, firmware, host bus and memory, each one queue for all classes.
        Traditional "traditional",
        /// The same with a queue for each class, the highest level first.
        Qos "qos",
        /// Queues of an application that are posted to a buffer of whole messages.
        ChannelAdapter "channel-adapter",
    }
}

words! {
    /// How messages are given to the link.
    pub enum Injection {
        /// Flit by flit: the link takes those of several messages in turn.
        Flit "flit",
        /// One message at a time.
        Message "message",
    }
}

impl InterfaceKind {
    /// Whether it stands behind a host bus.
    pub fn is_behind_bus(self) -> bool {
        matches!(self, Self::Traditional | Self::Qos)
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_ideal(&self) -> bool {
        *self == Self::Ideal
    }
}

/// Memory of a network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterfaceBuffer {
    /// For each virtual channel \[flits\].
    Flits(u32),
    /// In all \[messages\].
    Messages(u32),
    /// Without bound.
    Unlimited,
}

impl InterfaceBuffer {
    fn flits(self) -> Option<u32> {
        match self {
            Self::Flits(flits) => Some(flits),
            Self::Messages(_) | Self::Unlimited => None,
        }
    }

    /// As it is written in a file.
    fn shown(&self) -> String {
        match self {
            Self::Flits(flits) => flits.to_string(),
            Self::Messages(messages) => format!("\"{messages} messages\""),
            Self::Unlimited => "\"unlimited\"".to_owned(),
        }
    }
}

impl serde::Serialize for InterfaceBuffer {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Flits(flits) => serializer.serialize_u32(*flits),
            _ => serializer.serialize_str(self.shown().trim_matches('"')),
        }
    }
}

valued!(
    InterfaceBuffer,
    Kind::Other(|| {
        let flits = serde_json::json!({ "type": "integer", "minimum": 1, "maximum": 10_000_000 });
        serde_json::json!({ "anyOf": [flits, { "type": "string" }, { "type": "null" }] })
    }),
    Self::Unlimited
);

impl Field for InterfaceBuffer {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, units: &Units) -> bool {
        let Some(node) = reader.note(table, key.name) else { return false };
        if let Value::Text(text) = &node.value {
            if text == "unlimited" {
                *self = Self::Unlimited;
                return true;
            }
            if let Some((number, "messages" | "message")) = quantity(text) {
                let is_fit = number.fract() == 0.0 && (1.0..=1e7).contains(&number);
                if !is_fit {
                    let wanted = "a whole number of messages, 1 to 10000000".to_owned();
                    reader.refuse(&node.place, table.key(key.name), node.value.shown(), wanted, None);
                }
                *self = Self::Messages(number as u32);
                return is_fit;
            }
        }
        let read = units.whole(reader, node, || table.key(key.name), key);
        *self = read.map_or(*self, Self::Flits);
        read.is_some()
    }

    fn check(&self, door: &mut Door, key: &Key, path: &str) {
        if let Self::Flits(flits) = self {
            door.number(key, || joined(path, key.name), f64::from(*flits));
        }
    }

    fn written(&self) -> Option<String> {
        Some(self.shown())
    }

    fn number(&self) -> Option<f64> {
        self.flits().map(f64::from)
    }

    fn set_number(&mut self, number: f64) {
        *self = Self::Flits(number.round() as u32);
    }
}

/// A channel adapter: a buffer of whole messages before the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelAdapter {
    /// `M_H`: messages that it holds; `None` where it has no bound.
    pub buffer_messages: Option<u32>,
    /// Whether a message that has begun goes on before others of its level.
    pub by_message: bool,
}

/// Buffer of an interface for each virtual channel where none is given \[flits\].
const BUFFER_FLITS: u32 = 160;

impl Rules for InterfaceSpec {
    fn rules(&self, path: &str, door: &mut Door) {
        let key = |name: &str| format!("{path}.{name}");
        let of_host = [
            ("injection", self.injection.map(|given| format!("\"{}\"", given.word()))),
            ("buffer", self.buffer.map(|given| given.shown())),
            ("firmware", self.firmware.map(in_short)),
            ("bus_rate", self.bus_rate.map(in_short)),
            ("bus_setup", self.bus_setup.map(in_short)),
            ("descriptor", self.descriptor.map(|given| given.to_string())),
            ("send_setup", self.send_setup.map(in_short)),
        ];
        let of_packets = [
            ("injection_memory", self.injection_memory.map(|given| given.to_string())),
            ("admittance", self.admittance.map(|given| given.to_string())),
        ];
        let refuse = |door: &mut Door, names: &[(&str, Option<String>)], wanted: &str, help: &str| {
            for (name, found) in names.iter().filter_map(|(name, found)| Some((*name, found.clone()?))) {
                door.refuse(&key(name), found, wanted, Some(help));
            }
        };
        if door.switch.is_some() {
            refuse(door, &of_host, "none under [switch]", "remove the line");
            if self.kind != InterfaceKind::Ideal {
                let found = format!("\"{}\"", self.kind.word());
                door.refuse(&key("kind"), found, "none under [switch]", Some("remove the line"));
            }
            return;
        }
        refuse(door, &of_packets, "none without [switch]", "remove the line");
        match self.kind {
            InterfaceKind::Ideal if door.is_read(&key("kind")) => {
                let wanted = "none of an ideal interface";
                let help = "write kind = \"qos\", \"traditional\" or \"channel-adapter\"";
                refuse(door, &of_host, wanted, help);
            }
            InterfaceKind::ChannelAdapter => {
                let wanted = "none of a channel adapter, whose applications post at once";
                refuse(door, &of_host[2..], wanted, "remove the line");
                if let Some(buffer) = self.buffer.filter(|buffer| matches!(buffer, InterfaceBuffer::Flits(_)))
                {
                    let wanted = "\"1024 messages\" or the like, or \"unlimited\"";
                    door.refuse(&key("buffer"), buffer.shown(), wanted, None);
                }
            }
            InterfaceKind::Traditional | InterfaceKind::Qos
                if !matches!(self.buffer, None | Some(InterfaceBuffer::Flits(_))) =>
            {
                let found = self.buffer.map(|buffer| buffer.shown()).unwrap_or_default();
                door.refuse(&key("buffer"), found, "flits, such as \"160 flits\", behind a host bus", None);
            }
            InterfaceKind::Traditional if self.injection == Some(Injection::Flit) => {
                let wanted = "\"message\": a traditional interface sends whole messages";
                door.refuse(&key("injection"), "\"flit\"".to_owned(), wanted, None);
            }
            InterfaceKind::Qos if self.injection != Some(Injection::Message) => {
                if let Some(given) = self.send_setup.filter(|_| door.is_read(&key("injection"))) {
                    let wanted = "none where flits of several messages leave in turn";
                    let help = Some("write injection = \"message\", or remove the line");
                    door.refuse(&key("send_setup"), in_short(given), wanted, help);
                }
            }
            _ => {}
        }
    }
}

impl ScenarioSpec {
    /// Whether network interfaces stand behind host buses.
    pub(super) fn has_host_bus(&self) -> bool {
        self.switch.is_none() && self.interface.is_some_and(|one| one.kind.is_behind_bus())
    }

    /// Whether network interfaces are channel adapters.
    pub(super) fn has_channel_adapter(&self) -> bool {
        self.switch.is_none() && self.interface.is_some_and(|one| one.kind == InterfaceKind::ChannelAdapter)
    }

    /// Refuses an interface behind a host bus where it does not go.
    pub(super) fn interface_rules(&self, door: &mut Door) {
        if self.has_channel_adapter()
            && self.router.scheduler != Scheduler::LaneArbiter
            && door.is_read("router.scheduler")
        {
            let wanted = "\"ideal\" but where scheduler = \"lane-arbiter\" decides at the link";
            door.refuse("interface.kind", "\"channel-adapter\"".to_owned(), wanted, None);
        }
        let Some(interface) = self.interface.filter(|_| self.has_host_bus()) else { return };
        let found = format!("\"{}\"", interface.kind.word());
        if self.router.vc_choice != VcChoice::Drawn && door.is_read("router.vc_choice") {
            let wanted = "\"ideal\" where virtual channels are not drawn";
            let help = Some("write vc_choice = \"drawn\" under [router]");
            door.refuse("interface.kind", found.clone(), wanted, help);
        }
        if self.units.as_ref().is_none_or(|units| units.flit_bits.is_none()) {
            let help = Some("add  [units]  with  link = \"1.6 Gbps\"  and  flit_bits = 128");
            let wanted = "a table [units] with flit_bits: the host bus carries bytes";
            door.refuse("interface.kind", found, wanted, help);
        }
        let Some(buffer) = interface.buffer.map_or(Some(BUFFER_FLITS), InterfaceBuffer::flits) else {
            return;
        };
        let longest = self.classes.iter().map(|class| class.message_flits).max().unwrap_or(0);
        if buffer < longest {
            let wanted = format!("at least {longest} flits, the longest message");
            door.refuse("interface.buffer", format!("{buffer} flits"), &wanted, None);
        }
    }
}

/// A network interface between a host bus and a link; durations are whole cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostInterface {
    /// Whether it knows classes.
    pub is_qos: bool,
    /// Whether the link takes one message at a time.
    pub by_message: bool,
    /// Memory for each virtual channel, or so many times their number for all \[flits\].
    pub buffer_flits: u32,
    /// Firmware for a message \[cycles\].
    pub firmware: u64,
    /// Arbitration and address of each job of the bus \[cycles\].
    pub bus_setup: u64,
    /// Job of the bus for a descriptor \[cycles\].
    pub descriptor: u64,
    /// Programming of the transfer of a message, where the link takes one at a time \[cycles\].
    pub send_setup: u64,
    /// Cycles of the bus for a flit.
    bus_cycles_per_flit: f64,
}

/// Whole cycles that hold so many.
fn whole(cycles: f64) -> u64 {
    (cycles * (1.0 - 1e-9)).ceil() as u64
}

impl HostInterface {
    /// Job of the bus for a message of so many flits \[cycles\].
    pub fn message(&self, flits: u32) -> u64 {
        self.bus_setup + whole(f64::from(flits) * self.bus_cycles_per_flit)
    }
}

/// Buffer of a channel adapter where none is given \[messages\].
pub(super) const BUFFER_MESSAGES: u32 = 1024;

impl Scenario {
    /// The channel adapter of each node; `None` of another interface.
    pub fn channel_adapter(&self) -> Option<ChannelAdapter> {
        let spec = self.interface();
        (self.spec().has_channel_adapter()).then(|| ChannelAdapter {
            buffer_messages: match spec.buffer {
                None => Some(BUFFER_MESSAGES),
                Some(InterfaceBuffer::Flits(room) | InterfaceBuffer::Messages(room)) => Some(room),
                Some(InterfaceBuffer::Unlimited) => None,
            },
            by_message: spec.injection != Some(Injection::Flit),
        })
    }

    /// The interface behind a host bus; `None` of an ideal one.
    ///
    /// # Panics
    /// Never of a checked scenario, which knows how wide a flit is.
    pub fn host_interface(&self) -> Option<HostInterface> {
        let spec = self.interface();
        let is_qos = match spec.kind {
            InterfaceKind::Ideal | InterfaceKind::ChannelAdapter => return None,
            InterfaceKind::Traditional => false,
            InterfaceKind::Qos => true,
        };
        let bytes = self.flit_bits().expect("the width of a flit is checked") / 8.0;
        let bus_rate = spec.bus_rate.unwrap_or(42.24);
        let bus_setup = whole(spec.bus_setup.unwrap_or(2.0));
        Some(HostInterface {
            is_qos,
            by_message: !is_qos || spec.injection == Some(Injection::Message),
            buffer_flits: spec.buffer.and_then(InterfaceBuffer::flits).unwrap_or(BUFFER_FLITS),
            firmware: whole(spec.firmware.unwrap_or(10.0)),
            bus_setup,
            descriptor: bus_setup + whole(f64::from(spec.descriptor.unwrap_or(64)) / bus_rate),
            send_setup: whole(spec.send_setup.unwrap_or(20.0)),
            bus_cycles_per_flit: bytes / bus_rate,
        })
    }
}
