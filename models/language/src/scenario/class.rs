//! `[[class]]`: the traffic of one class at every node.

use super::connections::ConnectionsSpec;
use super::deadlines::{DeadlineSpec, HopDeadlines, MAX_DEADLINE_CYCLES};
use super::declare::*;
use super::destination::DestinationSpec;
use super::frame_deadline::FrameDeadline;
use super::nodes::NodeList;
use super::packets::WORMHOLE_KEYS;
use super::reader::read_table;
use super::router::MAX_FLITS;
use super::source::SourceSpec;
use super::units::worded;
use crate::document::{Node, Value, find, in_short, one_of, shortened};

/// The most real-time classes a scenario may have.
pub const MAX_REAL_TIME_CLASSES: usize = 12;
/// Classes that are looked at: more are refused anyway.
const MOST_CLASSES: usize = 32;
/// The most virtual channels of a port, those of all classes together.
pub const MAX_VIRTUAL_CHANNELS: u32 = 64;
/// The latest time in a run \[cycles\].
pub const MAX_TIME: f64 = 1e12;
/// The smallest rate above zero \[messages/cycle/node\].
pub const MIN_RATE: f64 = 1e-12;

table! {
    /// The traffic of one class at every node.
    pub struct ClassSpec {
        /// Free name of the class.
        name: String = String::new(), ANY.wanted();
        /// How links treat the class.
        kind: ClassKind = ClassKind::RealTime, ANY.depends();
        /// `λ^g`: messages generated.
        rate: f64 ["messages/cycle/node"] = 0.0,
            within(MIN_RATE, 1.0)
                .or_zero()
                .wanted()
                .magnitude(Magnitude::Rate)
                .parameter(0, Varies::Real)
                .instead(&[
                    "load",
                    "share",
                    "source.frame_interval",
                    "source.file",
                    "source.disks",
                    "connections",
                    "destination.matrix",
                ])
                .hint("a rate counts messages per cycle, not flits and not messages per second");
        /// What a node sends, as a share of a link of full capacity: flits with headers; of frames without.
        #[serde(skip_serializing_if = "Option::is_none")]
        load: Option<f64> ["of a link"] = None, within(1e-9, 64.0).or_zero().magnitude(Magnitude::Flow);
        /// Share of the load of `[mix]`; one class may take the rest.
        #[serde(skip_serializing_if = "Option::is_none")]
        share: Option<f64> = None, within(0.0, 1.0);
        /// `M`: length of a message.
        message_flits: u32 ["flits"] = 32,
            within(1.0, MAX_FLITS as f64).early().magnitude(Magnitude::Length).parameter(2, Varies::Relaxed);
        /// Length of a message under `[switch]`: so many full packets; by default one.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<u32> ["bytes"] = None, within(1.0, 16_777_216.0).early().magnitude(Magnitude::Length);
        /// Virtual channels of the class on every channel; a message stays within them.
        #[serde(skip_serializing_if = "is_one")]
        virtual_channels: u32 ["virtual channels"] = 1, within(1.0, MAX_VIRTUAL_CHANNELS as f64).or_zero();
        /// Deadlines on the network latency; the share of messages that miss each is reported.
        deadlines: Vec<DeadlineSpec> ["cycles"] = Vec::new(),
            within(1.0, MAX_DEADLINE_CYCLES as f64).magnitude(Magnitude::Bound).example("[42, 47]");
        /// Rules by which frames are late: `{ rule = "ratchet" }`, `{ rule = "playout", delays = [..] }`, or a list of
        /// them.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        frame_deadline: Vec<FrameDeadline> = Vec::new(), ANY.example("{ rule = \"playout\", delays = [1000] }");
        /// `Vtick`: cycles that the virtual clock advances per flit; by default `1 / (rate * message_flits)`.
        #[serde(skip_serializing_if = "Option::is_none")]
        vtick: Option<f64> ["cycles/flit"] = None,
            within(1e-3, 1e12).magnitude(Magnitude::Time).parameter(1, Varies::Real);
        /// How messages come into being.
        source: SourceSpec = SourceSpec::Poisson,
            ANY.example("{ kind = \"poisson\" }, or source = { kind = \"on-off\", streams = 14, \
                messages_per_burst = 8, peak_rate = 0.01 }");
        /// Connections that ask for admission, each of which sends for itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        connections: Option<ConnectionsSpec> = None,
            ANY.example("{ mean = 0.02, peak = 0.04 }");
        /// Who sends, such as `"0-47"` or `[1, 5]`; by default all nodes. A rate is that of each of them.
        #[serde(skip_serializing_if = "Option::is_none")]
        nodes: Option<NodeList> = None;
        /// Where messages go: to all nodes alike, to those of a list, to a hot spot, or as a pattern says.
        #[serde(skip_serializing_if = "DestinationSpec::is_uniform")]
        destination: DestinationSpec = DestinationSpec::Uniform;
        /// When the sources of the class begin; by default at 0.
        #[serde(skip_serializing_if = "Option::is_none")]
        start: Option<f64> ["cycles"] = None, within(0.0, MAX_TIME).magnitude(Magnitude::Time);
        /// When they end; by default with the run.
        #[serde(skip_serializing_if = "Option::is_none")]
        end: Option<f64> ["cycles"] = None, within(0.0, MAX_TIME).magnitude(Magnitude::Time);
        /// What becomes of messages that wait at their sources then; by default they are taken back.
        #[serde(skip_serializing_if = "Option::is_none")]
        end_of_traffic: Option<EndOfTraffic> = None;
    }
}

/// Files of scenarios with one virtual channel per class stay as they were.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(number: &u32) -> bool {
    *number == 1
}

words! {
    /// What becomes of messages that wait at their sources when the traffic of their class ends.
    pub enum EndOfTraffic {
        /// Those of which no flit has left are taken back and counted.
        Withdraw "withdraw",
        /// All of them are sent.
        Drain "drain",
    }
}

words! {
    /// How links treat a class.
    pub enum ClassKind {
        /// Shares links in proportion to `1 / Vtick`.
        RealTime "real-time",
        /// Takes what real-time classes leave. Several classes share it: the flit that has waited longest goes first.
        BestEffort "best-effort",
        /// Goes before all other classes.
        Control "control",
    }
}

impl ClassKind {
    /// Its place in the order of priority, 0 the highest.
    pub const fn level(self) -> usize {
        match self {
            Self::Control => 0,
            Self::RealTime => 1,
            Self::BestEffort => 2,
        }
    }

    /// Those that share links by rules of their own: all but control.
    pub const DATA: [Self; 2] = [Self::RealTime, Self::BestEffort];
}

impl ClassSpec {
    /// A real-time class with the message length of Table 1 and no deadlines.
    pub fn real_time(name: &str, rate: f64) -> Self {
        Self { name: name.to_owned(), rate, ..Self::unset() }
    }

    /// A best-effort class with the message length of Table 1 and no deadlines.
    pub fn best_effort(name: &str, rate: f64) -> Self {
        Self { kind: ClassKind::BestEffort, ..Self::real_time(name, rate) }
    }

    /// `1 / (rate M)`: the mean time between flits of the class at one node; infinite for a silent class
    /// \[cycles/flit\].
    pub fn flit_interval(&self) -> f64 {
        1.0 / (self.rate * f64::from(self.message_flits))
    }

    /// Multiplies its load: its rate, or its streams of frames to the nearest whole number, from which rate and implied
    /// Vtick follow when the scenario is checked.
    pub fn scale_load(&mut self, factor: f64) {
        if self.scale_connections(factor) {
            return;
        }
        let given = self.given_vtick();
        if self.source.scale_streams(factor) {
            (self.rate, self.vtick) = (0.0, given);
        } else {
            self.rate *= factor;
        }
    }

    /// The most by which its load can be multiplied: a rate is at most one message per cycle, that of a bursty stream
    /// stays below its peak, and streams of frames need room.
    pub fn most_load_factor(&self) -> f64 {
        if self.rate <= 0.0 {
            return f64::INFINITY;
        }
        let of_rate = (self.source.peak_rate() * (1.0 - 1e-6)).min(1.0) / self.rate;
        let of_streams = self
            .source
            .streams()
            .map(|streams| self.source.most_streams(self.virtual_channels) / f64::from(streams.max(1)));
        of_streams.map_or(of_rate, |most| most.min(of_rate))
    }

    /// The Vtick of a real-time class: given, or the mean time between its flits (S9). `None` of best effort, and of a
    /// silent class to which none is given \[cycles/flit\].
    pub fn link_vtick(&self) -> Option<f64> {
        let own = || Some(self.flit_interval()).filter(|vtick| vtick.is_finite());
        match self.kind {
            ClassKind::RealTime => self.vtick.or_else(own),
            ClassKind::BestEffort | ClassKind::Control => None,
        }
    }

    /// The Vtick that messages of the class carry: infinite for real time of which nothing is known, 0 for best effort
    /// and control \[cycles/flit\].
    pub fn lane_vtick(&self) -> f64 {
        match self.kind {
            ClassKind::RealTime => self.link_vtick().unwrap_or(f64::INFINITY),
            ClassKind::BestEffort | ClassKind::Control => 0.0,
        }
    }

    /// Whether its messages are listed in a file.
    pub fn is_traced(&self) -> bool {
        matches!(self.source, SourceSpec::Trace { .. })
    }

    /// Whether it has anything to send.
    fn sends(&self) -> bool {
        self.rate > 0.0 || self.is_traced()
    }

    /// Whether its traffic begins or ends within a run.
    pub fn is_timed(&self) -> bool {
        self.start_cycle() > 0.0 || self.end.is_some()
    }

    /// When its sources begin \[cycles\].
    pub fn start_cycle(&self) -> f64 {
        self.start.unwrap_or(0.0)
    }

    /// The cycle in which messages that wait at their sources are taken back, if they are.
    pub fn withdrawn_in(&self) -> Option<u64> {
        let end = self.end.filter(|_| self.end_of_traffic != Some(EndOfTraffic::Drain))?;
        Some(end.ceil() as u64)
    }

    fn packets_fit(&self, path: &str, door: &mut Door) {
        let Some(switch) = &door.switch else { return };
        // more than the link carries, rounding aside
        let packets = self.message.unwrap_or(switch.packet).div_ceil(switch.packet.max(1));
        let load = self.rate * f64::from(packets) * switch.packet_ns();
        if load > 1.0 + 1e-9 {
            let found = format!("{}, which is {} of the link", in_short(self.rate), in_short(load));
            door.refuse(&format!("{path}.rate"), found, "at most all of the link", None);
        }
    }

    /// Refuses what does not go with destinations that say at which rate each node sends.
    fn rates_fit(&self, path: &str, door: &mut Door) {
        if !self.destination.has_rates() || door.has_refused(&format!("{path}.destination")) {
            return;
        }
        let Some(network) = door.known_network() else { return };
        let found = self.destination.on(&*network);
        let mean = found.mean_rate().unwrap_or(0.0);
        // a settled class has the mean
        let rate = Some(self.rate).filter(|rate| *rate > 0.0 && (rate / mean - 1.0).abs() > 1e-9);
        let given = [
            ("rate", rate.map(in_short)),
            ("load", self.load.map(in_short)),
            ("share", self.share.map(in_short)),
            ("nodes", self.nodes.as_ref().map(|_| "a list of nodes".to_owned())),
            ("connections", self.connections.as_ref().map(|_| "connections".to_owned())),
        ];
        for (key, found) in given.into_iter().filter_map(|(key, found)| Some((key, found?))) {
            let wanted = "none beside a matrix of rates, which says who sends, and how much";
            door.refuse(
                &format!("{path}.{key}"),
                found,
                wanted,
                Some("or write weight above its last column"),
            );
        }
        if self.source.has_frames() || self.source.is_bursty() {
            let found = "a source of bursts or frames".to_owned();
            let wanted = "\"poisson\" or \"periodic\" beside a matrix of rates";
            door.refuse(&format!("{path}.source.kind"), found, wanted, None);
        }
        let (most, (limit, wanted)) = (
            found.most_relative_rate() * mean,
            match &door.switch {
                Some(switch) => {
                    let packets = self.message.unwrap_or(switch.packet).div_ceil(switch.packet.max(1));
                    let limit = 1.0 / (f64::from(packets) * switch.packet_ns());
                    (limit, format!("at most {} messages/ns, all of its link", in_short(limit)))
                }
                None => (1.0, "at most 1 message per cycle".to_owned()),
            },
        );
        if most > limit * (1.0 + 1e-9) {
            let of_node = |node: &u32| found.relative_rate(*node) >= found.most_relative_rate();
            let node = (0..network.nodes()).find(of_node).unwrap_or(0);
            let found = format!("node {} generates {}", network.address(node), in_short(most));
            door.refuse(&format!("{path}.destination.matrix"), found, &wanted, None);
        }
    }

    /// Refuses what a trace says itself.
    fn trace_fits(&self, path: &str, door: &mut Door) {
        let wanted = match self.source {
            SourceSpec::Trace { .. } => "none with a trace, which says who sends how much, when and to whom",
            SourceSpec::San { .. } => {
                "no rate: the traffic of a san source follows from disks and compression"
            }
            _ => return,
        };
        let given = [
            ("rate", Some(self.rate).filter(|rate| *rate > 0.0).map(in_short)),
            ("load", self.load.map(in_short)),
            ("share", self.share.map(in_short)),
            ("message", self.message.map(|bytes| bytes.to_string())),
            ("nodes", self.nodes.as_ref().map(|_| "a list of nodes".to_owned())),
            (
                "destination",
                (self.destination != DestinationSpec::Uniform).then(|| "a destination".to_owned()),
            ),
        ];
        for (key, found) in given.into_iter().filter_map(|(key, found)| Some((key, found?))) {
            door.refuse(&format!("{path}.{key}"), found, wanted, Some("remove the line"));
        }
    }

    fn times_fit(&self, path: &str, door: &mut Door) {
        match self.end {
            Some(end) if end <= self.start_cycle() && door.is_read(&format!("{path}.start")) => {
                let wanted = format!("more than the start, {}", in_short(self.start_cycle()));
                door.refuse(&format!("{path}.end"), in_short(end), &wanted, None);
            }
            None if self.end_of_traffic == Some(EndOfTraffic::Drain)
                && door.is_read(&format!("{path}.end")) =>
            {
                let wanted = "none without an end of the traffic";
                let help = worded("add end, in cycles, or remove the line".to_owned(), door.switch.is_some());
                let help = Some(help.as_str());
                door.refuse(&format!("{path}.end_of_traffic"), "\"drain\"".to_owned(), wanted, help);
            }
            _ => {}
        }
    }

    /// Deadlines one by one: hops (none: all messages) and cycles.
    pub fn each_deadline(&self) -> Vec<(Option<u32>, u32)> {
        self.deadlines.iter().flat_map(DeadlineSpec::each).collect()
    }
}

impl Rules for ClassSpec {
    fn rules(&self, path: &str, door: &mut Door) {
        if !name_is_fit(&self.name) {
            let found = format!("\"{}\"", shortened(&self.name));
            let wanted =
                "a name of 1 to 64 printable characters without . , : = * / and without space around it";
            let tidy = self.name.trim().replace(PARTING, "-");
            let help = format!("keys such as class.NAME.rate are parted at these: name it \"{tidy}\"");
            let help = name_is_fit(&tidy).then_some(help.as_str());
            door.refuse(&format!("{path}.name"), found, wanted, help);
        }
        self.packets_fit(path, door);
        self.trace_fits(path, door);
        if let Some(vtick) = self.vtick.filter(|_| self.kind != ClassKind::RealTime) {
            let wanted = match self.kind {
                ClassKind::Control => "none: control goes before all others",
                _ => "none: best effort takes what real-time classes leave",
            };
            door.refuse(&format!("{path}.vtick"), in_short(vtick), wanted, Some("remove the line"));
        }
        if !self.frame_deadline.is_empty() && !self.source.has_frames() {
            let wanted = "none on a class without frames";
            let help = Some("deadlines are those of messages; source kinds cbr, vbr and mpeg2 have frames");
            door.refuse(&format!("{path}.frame_deadline"), "a rule".to_owned(), wanted, help);
        }
        if self.virtual_channels == 0 && self.sends() && door.switch.is_none() {
            let found = match self.is_traced() {
                true => "0 with a trace".to_owned(),
                false => format!("0 with a rate of {}", in_short(self.rate)),
            };
            let wanted = "1 or more: a class without virtual channels sends nothing";
            door.refuse(
                &format!("{path}.virtual_channels"),
                found,
                wanted,
                Some("set it to 1, or the rate to 0"),
            );
        }
        if self.virtual_channels == 1
            && self.sends()
            && door.read_network().is_some_and(|network| network.has_rings())
        {
            let help = Some(
                "a message takes one half of them before the dateline of a ring and the other behind it",
            );
            let wanted = "2 or more virtual channels in a torus";
            door.refuse(&format!("{path}.virtual_channels"), "1".to_owned(), wanted, help);
        }
        self.load_rules(path, door);
        self.source.fits(self.rate, &format!("{path}.source"), door);
        self.destination.fits(self.nodes.as_ref(), path, door);
        self.rates_fit(path, door);
        self.times_fit(path, door);
        for (index, deadline) in self.deadlines.iter().enumerate() {
            let DeadlineSpec::Hops(HopDeadlines { hops, .. }) = deadline else { continue };
            let key = format!("{path}.deadlines[{}].hops", index + 1);
            let Some(network) = door.read_network() else { continue };
            match network.most_hops() {
                0 if network.as_hypercube().is_none() && network.sides().is_empty() => {
                    let help = "list plain numbers of cycles, such as deadlines = [42, 47]";
                    let wanted = "plain deadlines: a single router has no hops";
                    door.refuse(&key, format!("{hops} hops"), wanted, Some(help));
                }
                // a size that is refused itself says nothing about hops
                most if most < *hops && door.known_network().is_some() => {
                    door.refuse(&key, hops.to_string(), &format!("1 to {most} hops"), None);
                }
                _ => {}
            }
        }
    }

    fn units(&self, outside: &Units) -> Units {
        outside.of_messages(f64::from(self.message_flits), self.message.map(f64::from))
    }

    fn settle(&mut self, reader: &mut Reader, table: &Table<'_>, units: &Units) {
        let without: &[&str] = if units.are_of_packets() { &WORMHOLE_KEYS } else { &["message"] };
        for key in without {
            let path = table.key(key);
            let is_refused = reader.faults().iter().any(|fault| fault.key == path);
            let Some(node) = table.get(key).filter(|_| !is_refused) else { continue };
            let wanted = if units.are_of_packets() { "none under [switch]" } else { "none without [switch]" };
            let help = if key.starts_with("message") {
                Some("message counts bytes under [switch], message_flits flits elsewhere".to_owned())
            } else {
                Some("remove the line".to_owned())
            };
            reader.refuse(&node.place, path, node.value.shown(), wanted.to_owned(), help);
        }
        if !units.are_of_packets() {
            reader.require(table, "kind", &one_of(ClassKind::ALL.map(ClassKind::word)), None);
        }
        if let Some(rate) = table.get("rate").filter(|_| self.destination.has_rates() && self.rate <= 0.0) {
            let wanted = "none beside a matrix of rates, which says who sends, and how much".to_owned();
            reader.refuse(&rate.place, table.key("rate"), rate.value.shown(), wanted, None);
        }
        let has_load = table.get("load").is_some() || table.get("share").is_some();
        let of_weights =
            matches!(&self.destination, DestinationSpec::Matrix(_)) && !self.destination.has_rates();
        let is_read = !reader.faults().iter().any(|fault| fault.key.contains("matrix"));
        if of_weights
            && is_read
            && !units.is_mixed
            && !has_load
            && !self.source.has_frames()
            && self.connections.is_none()
        {
            let help = "or write rate in place of weight above the last column of the matrix";
            reader.require(table, "rate", "how many messages each of its senders generates", Some(help));
        }
        if !units.are_of_packets() {
            return;
        }
        if let (Some(_), Some(load)) = (table.get("rate"), table.get("load")) {
            let (found, wanted) = (load.value.shown(), "rate or load, not both".to_owned());
            reader.refuse(&load.place, table.key("load"), found, wanted, None);
        }
        // what is written as a load is a rate from here on
        if let Some(load) = self.load.take() {
            self.rate = units.messages_of(load);
        }
    }
}

/// The name of a class that is not read yet.
fn name_of(node: &Node) -> &str {
    let Value::Table(entries) = &node.value else { return "" };
    match find(entries, "name").map(|node| &node.value) {
        Some(Value::Text(name)) => name,
        _ => "",
    }
}

/// What each class is called in a key: its name, or its number (from 1) where the name is no help.
pub(super) fn labels(names: &[&str]) -> Vec<String> {
    let label = |(index, name): (usize, &&str)| {
        let alone = names.iter().filter(|other| *other == name).count() == 1;
        if alone && name_is_fit(name) { format!("class.{name}") } else { format!("class[{}]", index + 1) }
    };
    names.iter().enumerate().map(label).collect()
}

/// Characters at which keys, lists and requirements of the command line are parted: a class with one of them in its
/// name could not be reached there.
const PARTING: [char; 6] = ['.', ',', ':', '=', '*', '/'];

fn name_is_fit(name: &str) -> bool {
    let length = name.chars().count();
    let is_unfit = |c: char| c.is_control() || PARTING.contains(&c);
    (1..=64).contains(&length) && name.trim() == name && !name.chars().any(is_unfit)
}

impl KeyValue for Vec<ClassSpec> {
    const KIND: Kind = Kind::Tables(&ClassSpec::SHAPE);

    fn unset() -> Self {
        Self::new()
    }
}

impl Field for Vec<ClassSpec> {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, units: &Units) -> bool {
        let Some(node) = reader.note(table, key.name) else { return false };
        let Value::List(list) = &node.value else {
            let help = Some("begin every class with a line  [[class]]".to_owned());
            reader.refuse_kind(node, key.name.to_owned(), "[[class]] tables", help);
            return false;
        };
        if list.len() > MOST_CLASSES {
            let wanted = format!("at most {MOST_CLASSES} classes");
            let found = format!("{} classes", list.len());
            reader.refuse(&node.place, key.name.to_owned(), found, wanted, None);
        }
        let units = &units.in_mix(table.get("mix").is_some());
        let list = &list[..list.len().min(MOST_CLASSES)];
        let labels = labels(&list.iter().map(name_of).collect::<Vec<_>>());
        for (node, label) in list.iter().zip(&labels) {
            reader.keep(|| label.clone(), &node.place);
            if let Value::Table(entries) = &node.value {
                let mut class = ClassSpec::unset();
                let table = Table { entries, path: label.into(), place: &node.place };
                read_table(&mut class, reader, &table, None, units);
                self.push(class);
            } else {
                reader.refuse_kind(node, label.clone(), "a [[class]] table", None);
            }
        }
        true
    }

    fn check(&self, door: &mut Door, key: &Key, _: &str) {
        if self.is_empty() {
            door.refuse(key.name, "no class".to_owned(), "at least one [[class]]", None);
        }
        let of_kind = |kind| self.iter().filter(move |class| class.kind == kind).count();
        let real_time = of_kind(ClassKind::RealTime);
        if real_time > MAX_REAL_TIME_CLASSES && door.switch.is_none() {
            let wanted = format!("at most {MAX_REAL_TIME_CLASSES}");
            door.refuse(key.name, format!("{real_time} real-time classes"), &wanted, None);
        }
        let control = of_kind(ClassKind::Control);
        if control > 1 && door.switch.is_none() {
            let wanted = "at most one: control goes before all others";
            door.refuse(key.name, format!("{control} control classes"), wanted, None);
        }
        let virtual_channels: u64 = self.iter().map(|class| u64::from(class.virtual_channels)).sum();
        if !self.is_empty() && virtual_channels == 0 {
            let help = "give a class virtual_channels = 1";
            door.refuse("class.virtual_channels", "0 in every class".to_owned(), "at least one", Some(help));
        }
        let alone = self.iter().all(|class| class.virtual_channels <= MAX_VIRTUAL_CHANNELS);
        if alone && virtual_channels > u64::from(MAX_VIRTUAL_CHANNELS) {
            let found = format!("{virtual_channels} virtual channels of all classes together");
            let wanted = format!("at most {MAX_VIRTUAL_CHANNELS} a port");
            door.refuse("class.virtual_channels", found, &wanted, Some("give some classes fewer"));
        }
        let names: Vec<&str> = self.iter().map(|class| class.name.as_str()).collect();
        for (class, label) in self.iter().zip(labels(&names)) {
            if name_is_fit(&class.name) && names.iter().filter(|name| **name == class.name).count() > 1 {
                let found = format!("\"{}\" more than once", class.name);
                door.refuse(&format!("{label}.name"), found, "a name of its own for each class", None);
            }
            door.table(class, &label);
        }
    }

    fn written(&self) -> Option<String> {
        None
    }

    fn tables(&self) -> Vec<(Option<&str>, &dyn Declaration)> {
        self.iter().map(|class| (Some(class.name.as_str()), class as &dyn Declaration)).collect()
    }

    fn tables_mut(&mut self) -> Vec<&mut dyn Declaration> {
        self.iter_mut().map(|class| class as &mut dyn Declaration).collect()
    }
}
