//! `[units]`: what a cycle and a flit are, and how a string with a unit becomes a number of cycles, flits or messages.

use super::declare::*;
use crate::document::{Node, Value, in_short, nearest};

table! {
    /// What a cycle and a flit are outside of the scenario.
    pub struct UnitsSpec {
        /// Speed of a link, such as `"400 Mbps"`.
        link: Option<String> = None;
        /// Width of a flit.
        flit_bits: Option<u32> ["bits"] = None, within(1.0, 65_536.0);
        /// Length of a cycle, such as `"3.76 ns"`; by default `flit_bits / link`.
        cycle: Option<String> = None;
    }
}

/// The magnitude that a number of a scenario gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Magnitude {
    /// Something that has no unit.
    Count,
    /// Cycles.
    Time,
    /// Whole cycles, rounded down.
    Bound,
    /// Whole flits, rounded up.
    Length,
    /// Whole flits, rounded down.
    Room,
    /// Flits, not rounded.
    Size,
    /// Messages per cycle.
    Rate,
    /// Flits per cycle, a share of the link.
    Flow,
    /// Gigabits per second.
    LinkRate,
    /// Whole bytes, rounded up.
    Bytes,
    /// Bytes per cycle.
    ByteRate,
    /// Picojoules per flit.
    Energy,
    /// Picojoules per cycle.
    Power,
}

/// What a unit is a unit of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Cycles,
    Time,
    Frames,
    Frequency,
    Flits,
    Bits,
    FlitsPerCycle,
    MessagesPerCycle,
    BitRate,
    Share,
    Ticks,
    PacketsPerTime,
    Energy,
    EnergyPerBit,
    Power,
}

/// Every unit with its size: nanoseconds, bits, Mbps, per second, pJ per ns, or the base unit.
const UNITS: [(&str, Of, f64); 25] = [
    ("cycles", Of::Cycles, 1.0),
    ("ns", Of::Time, 1.0),
    ("us", Of::Time, 1e3),
    ("ms", Of::Time, 1e6),
    ("s", Of::Time, 1e9),
    ("frames", Of::Frames, 1.0),
    ("/s", Of::Frequency, 1.0),
    ("flits", Of::Flits, 1.0),
    ("B", Of::Bits, 8.0),
    ("KB", Of::Bits, 8.0 * 1024.0),
    ("MB", Of::Bits, 8.0 * 1024.0 * 1024.0),
    ("Mbps", Of::BitRate, 1.0),
    ("Gbps", Of::BitRate, 1e3),
    ("MB/s", Of::BitRate, 8.0),
    ("GB/s", Of::BitRate, 8e3),
    ("B/ns", Of::BitRate, 8e3),
    ("%", Of::Share, 0.01),
    ("flits/cycle", Of::FlitsPerCycle, 1.0),
    ("messages/cycle", Of::MessagesPerCycle, 1.0),
    ("packets/ns", Of::PacketsPerTime, 1.0),
    ("ticks", Of::Ticks, 1.0),
    ("pJ", Of::Energy, 1.0),
    ("pJ/bit", Of::EnergyPerBit, 1.0),
    ("W", Of::Power, 1e3),
    ("mW", Of::Power, 1.0),
];

/// Other spellings of units, what they are here, and how many of these one is.
const SPELLINGS: [(&str, &str, f64); 14] = [
    ("Gb/s", "Gbps", 1.0),
    ("Gbit/s", "Gbps", 1.0),
    ("Gbits/s", "Gbps", 1.0),
    ("Mb/s", "Mbps", 1.0),
    ("Mbit/s", "Mbps", 1.0),
    ("Mbits/s", "Mbps", 1.0),
    ("Kbps", "Mbps", 1e-3),
    ("kbps", "Mbps", 1e-3),
    ("kbit/s", "Mbps", 1e-3),
    ("Tbps", "Gbps", 1e3),
    ("Tb/s", "Gbps", 1e3),
    ("KiB", "KB", 1.0),
    ("MiB", "MB", 1.0),
    ("µs", "us", 1.0),
];

impl Magnitude {
    /// What a number of it may be written in.
    fn takes(self) -> &'static [Of] {
        match self {
            Self::Count => &[],
            Self::Time | Self::Bound => &[Of::Cycles, Of::Time, Of::Frames, Of::Frequency, Of::Ticks],
            Self::Length | Self::Room | Self::Size => &[Of::Flits, Of::Bits],
            Self::Rate => &[
                Of::BitRate,
                Of::Frequency,
                Of::FlitsPerCycle,
                Of::MessagesPerCycle,
                Of::Share,
                Of::PacketsPerTime,
            ],
            Self::Flow => &[Of::BitRate, Of::FlitsPerCycle, Of::Share],
            Self::LinkRate | Self::ByteRate => &[Of::BitRate],
            Self::Bytes => &[Of::Bits],
            Self::Energy => &[Of::Energy, Of::EnergyPerBit],
            Self::Power => &[Of::Power],
        }
    }

    /// A number as it is kept: whole where it has to be, with a tolerance of 1e-9.
    fn rounded(self, number: f64) -> f64 {
        match self {
            Self::Bound | Self::Room => (number * (1.0 + 1e-9)).floor(),
            Self::Length | Self::Bytes => (number * (1.0 - 1e-9)).ceil(),
            Self::Count
            | Self::Time
            | Self::Size
            | Self::Rate
            | Self::Flow
            | Self::LinkRate
            | Self::ByteRate
            | Self::Energy
            | Self::Power => number,
        }
    }

    fn known(self, of_packets: bool) -> impl Iterator<Item = &'static str> {
        let is_known = move |of: &Of| self.takes().contains(of) && of.is_known(of_packets);
        UNITS.iter().filter(move |(_, of, _)| is_known(of)).map(|(unit, ..)| *unit)
    }

    /// What is wanted where another unit stands.
    fn wanted(self, of_packets: bool) -> String {
        let units: Vec<&str> = self.known(of_packets).collect();
        format!("a {} in {}", self.takes()[0].noun(), units.join(", "))
    }
}

impl Of {
    /// Whether it is a unit of scenarios of packet switches, or of the others.
    fn is_known(self, of_packets: bool) -> bool {
        match self {
            Self::Cycles | Self::Frames | Self::Flits | Self::FlitsPerCycle | Self::MessagesPerCycle => {
                !of_packets
            }
            Self::Ticks | Self::PacketsPerTime => of_packets,
            Self::Energy | Self::EnergyPerBit | Self::Power => !of_packets,
            Self::Time | Self::Frequency | Self::Bits | Self::BitRate | Self::Share => true,
        }
    }

    /// What a plain number of it would be.
    fn base(self) -> &'static str {
        match self {
            Self::Cycles | Self::Time | Self::Frames => "cycles",
            Self::Flits | Self::Bits => "flits",
            Self::FlitsPerCycle | Self::BitRate | Self::Share => "flits/cycle",
            Self::Frequency | Self::MessagesPerCycle => "messages/cycle",
            Self::Ticks => "ns",
            Self::PacketsPerTime => "messages/ns",
            Self::Energy | Self::EnergyPerBit => "pJ/flit",
            Self::Power => "pJ/cycle",
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Cycles | Self::Time | Self::Frames | Self::Ticks => "time",
            Self::Flits | Self::Bits => "size",
            Self::FlitsPerCycle
            | Self::BitRate
            | Self::MessagesPerCycle
            | Self::Share
            | Self::PacketsPerTime => "rate",
            Self::Frequency => "frequency",
            Self::Energy | Self::EnergyPerBit => "energy",
            Self::Power => "power",
        }
    }
}

impl UnitsSpec {
    /// Length of a cycle as results are printed: given, or that of a flit on the link \[ns\].
    pub fn cycle_ns(&self) -> Option<f64> {
        let own = self.cycle.as_deref().and_then(|text| physical(text, Of::Time));
        own.or(Units::of(self).cycle_ns)
    }

    /// A text such as `"33 ms"` in cycles, if it is a time.
    pub fn cycles_of(&self, text: &str) -> Option<f64> {
        Some(physical(text, Of::Time)? / Units::of(self).cycle_ns?)
    }
}

/// What a cycle and a flit are while a table is read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Units {
    /// Whether there is a table of units.
    given: bool,
    /// Whether one of its strings is refused, so that nothing can be said of others.
    broken: bool,
    link_mbps: Option<f64>,
    flit_bits: Option<f64>,
    cycle_ns: Option<f64>,
    /// Interval of the frames of the first class that has any \[cycles\].
    frame: Option<f64>,
    /// Whether classes share the load of a mix.
    pub(super) is_mixed: bool,
    /// Length of the messages whose rate is read \[flits, or bytes of packets\].
    message: f64,
    /// Where packets are switched, base units are nanoseconds and bytes.
    packets: Option<Packets>,
}

/// What converts strings of a scenario of packet switches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packets {
    /// Bytes that a link carries in a nanosecond.
    pub(super) link: f64,
    /// Length of a packet \[bytes\].
    pub(super) packet: f64,
    /// The tick, once all that it divides is known \[ns\].
    pub(super) tick_ns: Option<f64>,
}

/// Words of a base unit, in which times are cycles, as they are of packets.
pub(super) fn worded(text: String, of_packets: bool) -> String {
    if of_packets { text.replace("cycles", "ns").replace("cycle", "ns") } else { text }
}

/// Why a string is no number: what is wanted, and what helps.
type Wrong = (String, Option<String>);

impl Units {
    pub(super) fn of(spec: &UnitsSpec) -> Self {
        let link = spec.link.as_deref().and_then(|text| physical(text, Of::BitRate));
        let own_cycle = spec.cycle.as_deref().and_then(|text| physical(text, Of::Time));
        let broken = spec.link.is_some() != link.is_some() || spec.cycle.is_some() != own_cycle.is_some();
        let flit = spec.flit_bits.map(f64::from);
        let both = link.zip(flit).map(|(link, flit)| 1e3 * flit / link);
        let cycle = both.or(own_cycle);
        Self { given: true, broken, link_mbps: link, flit_bits: flit, cycle_ns: cycle, ..Self::default() }
    }

    /// Nanoseconds and bytes.
    pub(super) fn of_packets(packets: Packets) -> Self {
        let (flit_bits, cycle_ns) = (Some(8.0), Some(1.0));
        Self { given: true, flit_bits, cycle_ns, packets: Some(packets), ..Self::default() }
    }

    /// The same with an interval of frames \[cycles\].
    pub(super) fn of_frames(&self, frame: Option<f64>) -> Self {
        Self { frame, ..*self }
    }

    /// The same for rates of messages of that length, of packets in whole ones.
    pub(super) fn of_messages(&self, flits: f64, bytes: Option<f64>) -> Self {
        let whole = |packets: Packets| {
            let packet = packets.packet.max(1.0);
            bytes.map_or(packet, |bytes| (bytes / packet).ceil() * packet)
        };
        Self { message: self.packets.map_or(flits, whole), ..*self }
    }

    pub(super) fn are_of_packets(&self) -> bool {
        self.packets.is_some()
    }

    /// Messages in a cycle, or a nanosecond, of which a share of the link is full.
    pub(super) fn messages_of(&self, share: f64) -> f64 {
        share * self.packets.map_or(1.0, |packets| packets.link) / self.message
    }

    /// The same where there is a mix, or not.
    pub(super) fn in_mix(&self, is_mixed: bool) -> Self {
        Self { is_mixed, ..*self }
    }

    /// A number, or a string with a unit where the key takes one; none where it was refused.
    pub(super) fn real(
        &self,
        reader: &mut Reader,
        node: &Node,
        path: impl Fn() -> String,
        key: &Key,
    ) -> Option<f64> {
        match self.string(reader, node, &path, key) {
            Some(read) => read,
            None => reader.real_of(node, path),
        }
    }

    /// The same of a whole number.
    pub(super) fn whole(
        &self,
        reader: &mut Reader,
        node: &Node,
        path: impl Fn() -> String,
        key: &Key,
    ) -> Option<u32> {
        if let Value::Whole(number @ 0..=0xffff_ffff) = node.value {
            return Some(number as u32);
        }
        match self.string(reader, node, &path, key) {
            Some(read) => read.map(|number| number as u32),
            None => reader.whole_number(node, path, &key.counted()),
        }
    }

    /// The number of a string that has one; nothing where no string with a unit stands.
    fn string(
        &self,
        reader: &mut Reader,
        node: &Node,
        path: &dyn Fn() -> String,
        key: &Key,
    ) -> Option<Option<f64>> {
        let Value::Text(text) = &node.value else { return None };
        let (number, unit) = split(text).filter(|_| key.limits.magnitude != Magnitude::Count)?;
        let mut refuse = |found: String, (wanted, help): Wrong| {
            reader.refuse(&node.place, path(), found, wanted, help);
        };
        let magnitude = key.limits.magnitude;
        let number = match self.converted(number, unit, magnitude) {
            Ok(number) => number.map(|number| magnitude.rounded(number)),
            Err(wrong) => {
                refuse(node.value.shown(), wrong);
                None
            }
        };
        if let Some(number) = number.filter(|number| !key.holds(*number)) {
            let found = format!("{}, which is {}", node.value.shown(), in_short(number));
            let help = key.help(number).filter(|_| !self.are_of_packets());
            refuse(found, (worded(key.range(), self.are_of_packets()), help.map(str::to_owned)));
        }
        Some(number.filter(|number| key.holds(*number)))
    }

    /// A number of base units; nothing where the table of units is refused itself.
    fn converted(&self, number: f64, unit: &str, magnitude: Magnitude) -> Result<Option<f64>, Wrong> {
        let of_packets = self.are_of_packets();
        let unit = if unit == "frame" { "frames" } else { unit };
        let known = UNITS.iter().find(|(known, of, _)| *known == unit && of.is_known(of_packets));
        let Some((_, of, size)) = known else { return Err(unknown(number, unit, magnitude, of_packets)) };
        if !magnitude.takes().contains(of) {
            let help = format!("{unit} is a unit of {}", of.noun());
            return Err((magnitude.wanted(of_packets), Some(help)));
        }
        let value = number * size;
        let converted = match (of, magnitude) {
            (Of::Time, _) => self.cycle_ns.map(|cycle| value / cycle),
            (Of::Frames, _) => self.frame.map(|frame| value * frame),
            (Of::Frequency, Magnitude::Rate) => self.cycle_ns.map(|cycle| value * cycle / 1e9),
            (Of::Frequency, _) => self.cycle_ns.map(|cycle| 1e9 / (value * cycle)),
            (Of::Bits, Magnitude::Bytes) => Some(value / 8.0),
            (Of::Bits, _) => self.flit_bits.map(|flit| value / flit),
            (Of::BitRate, Magnitude::Flow) => self.flits_per_cycle(value),
            (Of::FlitsPerCycle | Of::Share, Magnitude::Flow) => Some(value),
            (Of::BitRate, Magnitude::LinkRate) => Some(value / 1e3),
            (Of::BitRate, Magnitude::ByteRate) => self.cycle_ns.map(|cycle| value * cycle / 8e3),
            (Of::BitRate, _) => self.flits_per_cycle(value).map(|flits| flits / self.message),
            (Of::FlitsPerCycle, _) => Some(value / self.message),
            (Of::Share, _) => Some(self.messages_of(value)),
            (Of::PacketsPerTime, _) => self.packets.map(|packets| value * packets.packet / self.message),
            (Of::Ticks, _) => self.packets.and_then(|packets| packets.tick_ns).map(|tick| value * tick),
            (Of::EnergyPerBit, _) => self.flit_bits.map(|bits| value * bits),
            (Of::Power, _) => self.cycle_ns.map(|cycle| value * cycle),
            (Of::Cycles | Of::Flits | Of::MessagesPerCycle | Of::Energy, _) => Some(value),
        };
        if converted.is_none() && !self.broken { Err(self.lacking(*of)) } else { Ok(converted) }
    }

    fn flits_per_cycle(&self, mbps: f64) -> Option<f64> {
        let of_link = self.link_mbps.map(|link| mbps / link);
        of_link.or_else(|| Some(mbps * self.cycle_ns? / 1e3 / self.flit_bits?))
    }

    /// What a physical unit asks of the table of units.
    fn lacking(&self, of: Of) -> Wrong {
        if of == Of::Ticks {
            let help = "a tick is what divides all times of the [switch] table".to_owned();
            return ("ns, us, ms or s".to_owned(), Some(help));
        }
        if of == Of::Frames {
            let help = "frames are intervals of the first class of frames";
            return ("cycles, or a class with frames".to_owned(), Some(help.to_owned()));
        }
        if !self.given {
            let wanted = format!("{}, or a table [units] with link and flit_bits", of.base());
            let help = "add  [units]  with  link = \"400 Mbps\"  and  flit_bits = 32";
            return (wanted, Some(help.to_owned()));
        }
        let is_of_time = matches!(of, Of::Frequency | Of::Time | Of::Power);
        let needs_bits = !is_of_time || self.link_mbps.is_some();
        let lacks = if self.flit_bits.is_none() && needs_bits { "flit_bits" } else { "link" };
        (format!("{}, or {lacks} in [units]", of.base()), None)
    }
}

impl Rules for UnitsSpec {
    fn rules(&self, path: &str, door: &mut Door) {
        let physical_values = [
            (
                "link",
                &self.link,
                Of::BitRate,
                "a bit rate in Mbps, Gbps, MB/s, GB/s or B/ns, such as \"400 Mbps\"",
            ),
            ("cycle", &self.cycle, Of::Time, "a time in ns, us, ms or s, such as \"3.76 ns\""),
        ];
        for (key, text, of, wanted) in physical_values {
            if let Some(text) = text
                && physical(text, of).is_none()
            {
                door.refuse(&format!("{path}.{key}"), format!("\"{text}\""), wanted, None);
            }
        }
    }
}

/// A text of that kind in nanoseconds or Mbps, if it is one and above zero.
fn physical(text: &str, of: Of) -> Option<f64> {
    let (number, unit) = split(text)?;
    let (.., size) = UNITS.iter().find(|(known, kind, _)| *known == unit && *kind == of)?;
    Some(number * size).filter(|value| (1e-9..1e15).contains(value))
}

/// A number and the unit behind it, if a text begins with a number and goes on.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let starts = text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first))
        && text.parse::<f64>().is_err();
    let ends = text.char_indices().map(|(at, _)| at).skip(1).filter(|_| starts);
    let read = |at: usize| Some((text[..at].parse().ok()?, text[at..].trim_start()));
    ends.filter_map(read).last().filter(|(_, unit)| !unit.is_empty())
}

/// A plain number, or one with a unit; none that is infinite.
pub(super) fn quantity(text: &str) -> Option<(f64, &str)> {
    let plain = text.trim().parse().ok().map(|number: f64| (number, ""));
    plain.or_else(|| split(text)).filter(|(number, _): &(f64, &str)| number.is_finite())
}

/// A number with its unit, as it would be typed.
pub(super) fn with_unit(number: f64, unit: &str) -> String {
    format!("{} {unit}", in_short(number)).trim_end().to_owned()
}

/// What is wanted in place of a unit that is none.
fn unknown(number: f64, unit: &str, magnitude: Magnitude, of_packets: bool) -> Wrong {
    let first = unit.split_whitespace().next().filter(|first| *first != unit);
    let several = first.filter(|first| UNITS.iter().any(|(known, ..)| known == first));
    if let Some(first) = several {
        let help = format!("\"{} {first}\" is one", in_short(number));
        return ("one number with one unit".to_owned(), Some(help));
    }
    (magnitude.wanted(of_packets), likely(number, unit, magnitude, of_packets))
}

/// What a number with an unknown unit is likely to be. A bit never becomes a byte: the nearest word of `Gb/s` is
/// `GB/s`, which is eight times as much.
fn likely(number: f64, unit: &str, magnitude: Magnitude, of_packets: bool) -> Option<String> {
    let is_known = |word: &str| magnitude.known(of_packets).any(|known| known == word);
    if let Some((_, known, factor)) = SPELLINGS.iter().find(|(spelling, ..)| *spelling == unit) {
        return is_known(known).then(|| format!("did you mean \"{}\"?", with_unit(number * factor, known)));
    }
    let near = nearest(unit, magnitude.known(of_packets))?;
    let bits = SPELLINGS.iter().find(|(spelling, ..)| spelling.eq_ignore_ascii_case(unit));
    let Some((_, known, _)) = bits.filter(|_| near.eq_ignore_ascii_case(unit) && is_known(near)) else {
        return Some(format!("did you mean \"{}\"?", with_unit(number, near)));
    };
    let (bits, bytes) = (with_unit(number, known), with_unit(number, near));
    Some(format!("\"{bits}\" are bits, \"{bytes}\" bytes: which is it?"))
}

#[cfg(test)]
mod tests {
    use crate::scenario::{Scenario, ScenarioSpec};

    const UNITS: &str = "[units]\nlink = \"400 Mbps\"\nflit_bits = 32\n";

    fn read(units: &str, class: &str) -> Result<ScenarioSpec, Vec<String>> {
        let text = format!(
            "{units}[network]\ntopology = \"router\"\nports = 8\n[router]\nbuffer_flits = \"20 flits\"\n\
             [[class]]\nname = \"R1\"\nkind = \"real-time\"\n{class}\n"
        );
        let read = Scenario::from_toml("t", &text).map(|scenario| scenario.spec().clone());
        read.map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn strings_become_base_units() {
        let rate = |text: &str| {
            let class = format!("rate = \"{text}\"\nmessage_flits = \"80 B\"");
            read(UNITS, &class).unwrap().classes[0].rate
        };
        // a cycle is 80 ns, a message 20 flits
        assert_eq!(rate("80 Mbps"), 0.2 / 20.0);
        assert_eq!(rate("0.08Gbps"), 0.2 / 20.0);
        assert_eq!((rate("10 MB/s"), rate("80 %")), (0.2 / 20.0, 0.8 / 20.0));
        assert!((rate("1250 /s") - 1e-4).abs() < 1e-18);
        assert_eq!((rate("0.5 flits/cycle"), rate("0.01 messages/cycle")), (0.025, 0.01));

        let class = "rate = 0.01\nmessage_flits = \"81 B\"\nvtick = \"1 us\"\ndeadlines = [\"3.99 us\", 60]";
        let spec = read(UNITS, class).unwrap();
        let r1 = &spec.classes[0];
        assert_eq!((r1.message_flits, r1.vtick, spec.router.buffer_flits), (21, Some(12.5), 20));
        let cycles: Vec<u32> = r1.each_deadline().iter().map(|(_, cycles)| *cycles).collect();
        assert_eq!(cycles, [49, 60]);
        assert_eq!(Scenario::from_toml("t", &spec.to_toml()).unwrap().spec(), &spec);
    }

    #[test]
    fn a_bit_is_never_taken_for_a_byte() {
        let help = |rate: &str| {
            let class = format!("rate = \"{rate}\"\nmessage_flits = 8");
            read(UNITS, &class).unwrap_err()[0].split(" (").last().unwrap_or_default().to_owned()
        };
        for (typed, meant) in [
            ("8 Gb/s", "\"8 Gbps\"?"),
            ("8 Mbit/s", "\"8 Mbps\"?"),
            ("500 kbps", "\"0.5 Mbps\"?"),
            ("8 gb/s", "\"8 Gbps\" are bits, \"8 GB/s\" bytes"),
            ("8 mB/s", "\"8 Mbps\" are bits, \"8 MB/s\" bytes"),
            ("8 Gbp", "\"8 Gbps\"?"),
        ] {
            assert!(help(typed).contains(meant), "{typed}: {}", help(typed));
        }
    }

    #[test]
    fn a_cycle_alone_converts_times_and_asks_for_the_rest() {
        let units = "[units]\ncycle = \"4 ns\"\n";
        let class = "rate = \"25 /s\"\nvtick = \"1e6 /s\"";
        let vtick = read(units, class).unwrap().classes[0].vtick.unwrap();
        assert!((vtick - 250.0).abs() < 1e-9);
        let faults = read(units, "rate = \"4 Mbps\"").unwrap_err();
        assert_eq!(
            faults,
            ["t:11:8: class.R1.rate: found \"4 Mbps\", wanted flits/cycle, or flit_bits in [units]"]
        );
        let faults = read("[units]\nflit_bits = 8\n", "rate = \"4 /s\"").unwrap_err();
        assert!(faults[0].ends_with("wanted messages/cycle, or link in [units]"), "{faults:?}");
    }
}
