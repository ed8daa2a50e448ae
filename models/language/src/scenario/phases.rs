//! `[[phase]]`: parts of a run in which classes send as they do in no other, and the virtual channels of classes in
//! each of them.

use std::ops::Range;

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::json;

use super::check::joined;
use super::class::{MAX_TIME, labels};
use super::declare::*;
use super::keys::key_of;
use super::reader::read_table;
use super::{ClassKind, ClassSpec, Scenario, ScenarioSpec, VcMap};
use crate::document::{Fault, Node, Value, find, in_short, one_of};

/// The most phases of a run.
const MOST_PHASES: usize = 1_000;

table! {
    /// A part of a run.
    pub struct PhaseSpec {
        /// How long it lasts.
        duration: f64 ["cycles"] = 1.0, within(1.0, MAX_TIME).wanted().magnitude(Magnitude::Time);
        /// Share of real time in the load, which its virtual channels follow (`router.vc_map`).
        #[serde(skip_serializing_if = "Option::is_none")]
        real_time_share: Option<f64> = None, within(0.0, 1.0);
        /// Loads of classes in it: `rate`, `load` or `source.streams`.
        set: Vec<PhaseSetting> = Vec::new(), ANY.example("{ \"class.BE.rate\" = 0.002 }");
    }
}

impl Rules for PhaseSpec {}

/// What a class sends in a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseSetting {
    /// Name of the class.
    pub class: String,
    /// Its key: one of [`PhaseSetting::KEYS`].
    pub key: String,
    /// The value there.
    pub value: f64,
}

impl PhaseSetting {
    /// Keys of a class that phases set.
    pub const KEYS: [&str; 3] = ["rate", "load", "source.streams"];

    /// A key of a class with its value.
    pub fn new(class: &str, key: &str, value: f64) -> Self {
        Self { class: class.to_owned(), key: key.to_owned(), value }
    }

    pub(super) fn path(&self) -> String {
        format!("class.{}.{}", self.class, self.key)
    }

    /// The class and the key of a path, if it is one that phases set.
    fn parted(path: &str) -> Option<(&str, &'static str)> {
        let rest = path.strip_prefix("class.")?;
        let of = |key: &'static str| Some((rest.strip_suffix(key)?.strip_suffix('.')?, key));
        Self::KEYS.into_iter().find_map(of).filter(|(class, _)| !class.is_empty())
    }
}

/// As a table.
impl Serialize for PhaseSetting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(&self.path(), &self.value)?;
        map.end()
    }
}

impl KeyValue for Vec<PhaseSetting> {
    const KIND: Kind = Kind::Other(|| {
        let table = json!({ "type": "object", "additionalProperties": { "type": ["number", "string"] } });
        json!({ "anyOf": [table.clone(), { "type": "array", "items": table }] })
    });

    fn unset() -> Self {
        Self::new()
    }
}

impl Field for Vec<PhaseSetting> {
    /// The list of phases reads it, which knows the lengths of messages: see [`PhaseSpec::read_settings`].
    fn read(&mut self, _: &mut Reader, _: &Table<'_>, _: &Key, _: &Units) -> bool {
        true
    }

    fn check(&self, _: &mut Door, _: &Key, _: &str) {}

    fn written(&self) -> Option<String> {
        let one = |one: &PhaseSetting| format!("\"{}\" = {:?}", one.path(), one.value);
        let all: Vec<String> = self.iter().map(one).collect();
        (!all.is_empty()).then(|| format!("{{ {} }}", all.join(", ")))
    }
}

impl PhaseSpec {
    /// Reads the loads of classes, by name with the length of their messages.
    fn read_settings(
        &mut self,
        reader: &mut Reader,
        table: &Table<'_>,
        units: &Units,
        lengths: &[(String, f64)],
    ) {
        let Some(node) = reader.note(table, "set") else { return };
        let path = table.key("set");
        let tables = match &node.value {
            // as an answer repeats it
            Value::List(list) => list.iter().collect(),
            _ => vec![node],
        };
        for node in tables {
            let Value::Table(entries) = &node.value else {
                let help = Some("set = { \"class.BE.rate\" = 0.002 }".to_owned());
                reader.refuse_kind(node, path, "a table of keys with their values", help);
                return;
            };
            for entry in entries {
                let path = joined(&path, &entry.key);
                reader.keep(|| path.clone(), &entry.node.place);
                let Some((class, key)) = PhaseSetting::parted(&entry.key) else {
                    let wanted = format!("class.NAME. and {}, in quotes", one_of(PhaseSetting::KEYS));
                    let help = Some("lengths and virtual channels stay the same in a run".to_owned());
                    reader.refuse(&entry.key_place, path, entry.node.value.shown(), wanted, help);
                    continue;
                };
                let declared = key_of(&format!("class.{class}.{key}")).expect("a key of classes");
                let length =
                    lengths.iter().find(|(name, _)| name == class).map_or(32.0, |(_, length)| *length);
                let units = units.of_messages(length, None);
                let value = units.real(reader, &entry.node, || path.clone(), declared);
                self.set.extend(value.map(|value| PhaseSetting::new(class, key, value)));
            }
        }
    }
}

impl KeyValue for Vec<PhaseSpec> {
    const KIND: Kind = Kind::Other(|| json!({ "type": "array", "items": PhaseSpec::KIND.schema() }));

    fn unset() -> Self {
        Self::new()
    }
}

impl Field for Vec<PhaseSpec> {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, units: &Units) -> bool {
        let Some(node) = reader.note(table, key.name) else { return false };
        let Value::List(list) = &node.value else {
            let help = Some("begin every phase with a line  [[phase]]".to_owned());
            reader.refuse_kind(node, key.name.to_owned(), "[[phase]] tables", help);
            return false;
        };
        if list.len() > MOST_PHASES {
            let (found, wanted) = (format!("{} phases", list.len()), format!("at most {MOST_PHASES}"));
            reader.refuse(&node.place, key.name.to_owned(), found, wanted, None);
            return false;
        }
        let lengths = lengths_of_messages(table);
        for (at, node) in list.iter().enumerate() {
            let path = format!("{}[{}]", key.name, at + 1);
            reader.keep(|| path.clone(), &node.place);
            let Value::Table(entries) = &node.value else {
                reader.refuse_kind(node, path, "a [[phase]] table", None);
                continue;
            };
            let mut phase = PhaseSpec::unset();
            let table = Table { entries, path: path.into(), place: &node.place };
            read_table(&mut phase, reader, &table, None, units);
            phase.read_settings(reader, &table, units, &lengths);
            self.push(phase);
        }
        true
    }

    fn check(&self, door: &mut Door, key: &Key, _: &str) {
        for (at, phase) in self.iter().enumerate() {
            door.table(phase, &format!("{}[{}]", key.name, at + 1));
        }
    }

    fn written(&self) -> Option<String> {
        let all: Vec<String> = self.iter().filter_map(|one| super::writer::in_line(one)).collect();
        (!all.is_empty()).then(|| format!("[\n    {},\n]", all.join(",\n    ")))
    }
}

/// By name of a class in a document: the length of its messages, where that is a plain number.
fn lengths_of_messages(root: &Table<'_>) -> Vec<(String, f64)> {
    let Some(Value::List(classes)) = root.get("class").map(|node| &node.value) else { return Vec::new() };
    let of = |node: &Node| {
        let Value::Table(entries) = &node.value else { return None };
        let Value::Text(name) = &find(entries, "name")?.value else { return None };
        let length = find(entries, "message_flits").map_or(Some(32.0), |node| node.value.number())?;
        Some((name.clone(), length))
    };
    classes.iter().filter_map(of).collect()
}

impl ScenarioSpec {
    /// Refuses phases that are no phases of this system.
    pub(super) fn phase_rules(&self, door: &mut Door) {
        if self.phases.is_empty() {
            return;
        }
        if door.switch.is_some() {
            door.refuse("phase", "[[phase]] tables".to_owned(), "none under [switch]", None);
            return;
        }
        let names: Vec<&str> = self.classes.iter().map(|class| class.name.as_str()).collect();
        let labelled = || self.classes.iter().zip(labels(&names));
        if let Some(end) = self.measure.and_then(|measure| measure.end) {
            let wanted = "none beside phases, whose durations make up the run";
            door.refuse("measure.end", in_short(end), wanted, Some("remove the line"));
        }
        for (_, label) in labelled().filter(|(class, _)| class.is_timed()) {
            let wanted = "traffic all the time: phases say what a class sends when";
            door.refuse(&label, "a start or an end".to_owned(), wanted, None);
        }
        for (class, label) in labelled() {
            let Some(interval) = class.source.of_frames().map(|frames| frames.interval) else { continue };
            for (at, phase) in self.phases.iter().enumerate().filter(|(_, phase)| phase.duration < interval) {
                let wanted = format!("{} or more, a frame interval of {label}", in_short(interval));
                door.refuse(&format!("phase[{}].duration", at + 1), in_short(phase.duration), &wanted, None);
            }
        }
        for (at, phase) in self.phases.iter().enumerate() {
            for (count, setting) in phase.set.iter().enumerate() {
                self.setting_fits(setting, &format!("phase[{}].set.{}", at + 1, setting.path()), door);
                if phase.set[..count].iter().any(|other| other.class == setting.class) {
                    let key = format!("phase[{}].set.{}", at + 1, setting.path());
                    let wanted = "one load of a class";
                    door.refuse(&key, in_short(setting.value), wanted, None);
                }
            }
        }
    }

    fn setting_fits(&self, setting: &PhaseSetting, key: &str, door: &mut Door) {
        let PhaseSetting { class: name, key: own, value } = setting;
        let Some(class) = self.classes.iter().find(|class| class.name == *name) else {
            let wanted = one_of(self.classes.iter().map(|class| class.name.as_str()));
            door.refuse(key, format!("class {name}"), &wanted, None);
            return;
        };
        let declared = key_of(&format!("class.{name}.{own}")).expect("a key of classes");
        door.number(declared, || key.to_owned(), *value);
        let has_frames = class.source.has_frames();
        if class.destination.has_rates() && ["rate", "load"].contains(&own.as_str()) {
            let wanted = "a class without a matrix of rates, which are those of all phases";
            door.refuse(key, in_short(*value), wanted, None);
            return;
        }
        let (wanted, is_fit) = match own.as_str() {
            "rate" => ("load or source.streams of a class with frames", !has_frames),
            "source.streams" => ("rate or load of a class without frames", has_frames),
            _ => ("", true),
        };
        if !is_fit {
            door.refuse(key, in_short(*value), wanted, None);
        } else if own == "source.streams" && value.fract() != 0.0 {
            door.refuse(key, in_short(*value), "a whole number of streams", None);
        } else if class.is_traced() {
            door.refuse(key, in_short(*value), "none of a trace, which says what it sends", None);
        }
    }

    /// Puts rates and streams in the place of loads, so that a phase says what the sources of each class do.
    pub(super) fn settle_phases(&mut self) -> bool {
        let flit_bits = self.units.as_ref().and_then(|units| units.flit_bits).map(f64::from);
        let mut is_changed = false;
        for setting in self.phases.iter_mut().flat_map(|phase| &mut phase.set) {
            let class = self.classes.iter().find(|class| class.name == setting.class);
            let Some(class) = class.filter(|_| setting.key == "load") else { continue };
            *setting = class.sent_at(setting.value, flit_bits);
            is_changed = true;
        }
        is_changed
    }

    /// The scenario of one phase alone.
    fn of_phase(&self, at: usize) -> Self {
        let mut spec = self.clone();
        for setting in std::mem::take(&mut spec.phases[at].set) {
            for class in spec.classes.iter_mut().filter(|class| class.name == setting.class) {
                let given = class.given_vtick();
                if class.source.set_streams(setting.value) {
                    (class.rate, class.vtick) = (0.0, given);
                } else {
                    class.rate = setting.value;
                }
            }
        }
        spec.phases = vec![spec.phases.swap_remove(at)];
        spec
    }

    /// What is wrong with scenarios of phases, each by itself.
    pub(super) fn faults_of_phases(&self) -> Vec<Fault> {
        let of_phase = |at: usize| {
            let faults = self.of_phase(at).check().err().unwrap_or_default();
            faults
                .into_iter()
                .map(move |fault| Fault { key: format!("phase[{}]: {}", at + 1, fault.key), ..fault })
        };
        let alone = self.phases.len() == 1 && self.phases[0].set.is_empty();
        (0..if alone { 0 } else { self.phases.len() }).flat_map(of_phase).collect()
    }
}

impl ClassSpec {
    /// Its Vtick, if it does not follow from its rate.
    pub(super) fn given_vtick(&self) -> Option<f64> {
        let is_implied = |vtick: &f64| (vtick / self.flit_interval() - 1.0).abs() < 1e-9;
        self.vtick.filter(|vtick| !is_implied(vtick))
    }

    /// What the class sends at a load: streams of frames to the nearest whole number, or a rate.
    pub(super) fn sent_at(&self, load: f64, flit_bits: Option<f64>) -> PhaseSetting {
        match self.source.stream_load(flit_bits) {
            Some(stream) => PhaseSetting::new(&self.name, "source.streams", (load / stream).round()),
            None => PhaseSetting::new(&self.name, "rate", load / f64::from(self.message_flits)),
        }
    }
}

/// A part of a run.
#[derive(Clone, Debug)]
pub struct RunPhase {
    /// When it begins \[cycles\].
    pub begins: f64,
    /// When the next one does, or the run ends \[cycles\].
    pub ends: f64,
    /// The scenario of this phase alone.
    pub scenario: Scenario,
}

impl Scenario {
    /// The phases of a run, one after another, the first behind the warm-up; none where nothing changes.
    ///
    /// # Panics
    /// Never of a checked scenario, whose phases are checked one by one.
    pub fn phases(&self) -> Vec<RunPhase> {
        let mut begins = self.spec().measure.and_then(|measure| measure.warm_up).unwrap_or(0.0);
        let phase = |(at, phase): (usize, &PhaseSpec)| {
            let from = begins;
            begins += phase.duration;
            let scenario = self.spec().of_phase(at).check().expect("phases are checked with their scenario");
            RunPhase { begins: from, ends: begins, scenario }
        };
        self.spec().phases.iter().enumerate().map(phase).collect()
    }

    /// By class: its virtual channels on every channel in a phase, from 0 on; phase 0 where there are none.
    ///
    /// Blocks follow each other in the order of the classes. Blocks of real time and best effort may have virtual
    /// channels in common, as `router.vc_map` says.
    pub fn virtual_channels_in(&self, phase: usize) -> Vec<Range<usize>> {
        let mut next = 0;
        let mut block = |class: &ClassSpec| {
            let first = next;
            next += class.virtual_channels as usize;
            first..next
        };
        let mut blocks: Vec<Range<usize>> = self.classes().iter().map(&mut block).collect();
        let kinds: Vec<ClassKind> = self.classes().iter().map(|class| class.kind).collect();
        let data = || (0..kinds.len()).filter(|class| kinds[*class] != ClassKind::Control);
        let first = data().map(|class| blocks[class].start).min().unwrap_or(0);
        let end = data().map(|class| blocks[class].end).max().unwrap_or(0);
        match self.router().map() {
            VcMap::Fixed => {}
            VcMap::All => data().collect::<Vec<_>>().into_iter().for_each(|class| blocks[class] = first..end),
            VcMap::FollowMix => {
                let share = self.spec().phases.get(phase).and_then(|phase| phase.real_time_share);
                let real_time = kinds.iter().position(|kind| *kind == ClassKind::RealTime);
                if let (Some(share), Some(class)) = (share, real_time) {
                    let block = &mut blocks[class];
                    let size = real_time_channels(end - first, share).max(block.len());
                    block.end = (block.start + size).min(end.max(block.end));
                }
            }
        }
        blocks
    }
}

/// Of so many virtual channels, those of real time with a share of the load; halves are rounded up.
pub(super) fn real_time_channels(channels: usize, share: f64) -> usize {
    let own = (channels as f64 * share).round() as usize;
    match share {
        _ if share <= 0.0 => 0,
        _ if share >= 1.0 => channels,
        _ => own.clamp(1, channels.saturating_sub(1).max(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Document, Place};
    use crate::scenario::Preset;

    /// The preset with some keys set.
    fn preset(settings: &[(&str, &str)]) -> Result<Scenario, Vec<String>> {
        let mut document: Document = Preset::find("router-nic").unwrap().document();
        for (key, value) in settings {
            document.set(key, value, &Place::Setting((*key).into())).unwrap();
        }
        document.scenario().map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    /// Virtual channels 3 + 12, 5 + 10 (4.5 is rounded up), 8 + 7, 11 + 4 and 12 + 3 of 15; streams of 11.754 Mbps.
    #[test]
    fn shares_of_a_mix_become_phases() {
        let scenario = preset(&[]).unwrap();
        let channels = [0.2, 0.3, 0.5, 0.7, 0.8].map(|share| real_time_channels(15, share));
        assert_eq!(channels, [3, 5, 8, 11, 12]);
        let phases = scenario.phases();
        let streams: Vec<u32> =
            phases.iter().filter_map(|one| one.scenario.classes()[1].source.streams()).collect();
        assert_eq!(streams, [22, 33, 54, 76, 87]);
        let interval = 1.6e9 / 128.0 / 30.0;
        for (at, phase) in phases.iter().enumerate() {
            assert!((phase.begins / interval - (1.0 + 10.0 * at as f64)).abs() < 1e-9, "{}", phase.begins);
            let rate = phase.scenario.classes()[2].rate;
            let share = [0.2, 0.3, 0.5, 0.7, 0.8][at];
            assert!((rate - (1.0 - share) * 0.8 / 40.0).abs() < 1e-15, "{rate}");
            // a phase alone is a run of one phase
            assert_eq!(phase.scenario.phases().len(), 1);
            assert_eq!(phase.scenario.virtual_channels_in(0), scenario.virtual_channels_in(at));
        }
        let run = scenario.terminating().unwrap();
        assert_eq!(run.cycles, (51.0 * interval).ceil() as u64);
        let written = scenario.spec().to_toml();
        assert_eq!(Scenario::from_toml("t", &written).unwrap().spec(), scenario.spec(), "{written}");
    }

    #[test]
    fn blocks_of_classes_follow_the_map() {
        let blocks = |map: &str, phase| {
            let scenario = preset(&[("router.vc_map", map)]).unwrap();
            scenario.virtual_channels_in(phase)
        };
        assert_eq!(blocks("follow-mix", 0), [0..1, 1..4, 4..16]);
        assert_eq!(blocks("follow-mix", 2), [0..1, 1..9, 4..16]);
        assert_eq!(blocks("follow-mix", 4), [0..1, 1..13, 4..16]);
        assert_eq!(blocks("all", 3), [0..1, 1..16, 1..16]);
        let fixed = preset(&[("router.preemption", "none")]).unwrap();
        assert_eq!(fixed.virtual_channels_in(4), [0..1, 1..4, 4..16]);
    }

    #[test]
    fn phases_of_any_class_are_set_one_by_one() {
        let text = "[network]\ntopology = \"router\"\nports = 4\n[[class]]\nname = \"R1\"\nkind = \"real-time\"\n\
                    rate = 0.001\n[[class]]\nname = \"BE\"\nkind = \"best-effort\"\nmessage_flits = 8\nrate = 0.002\n\
                    [[phase]]\nduration = 1000\n\
                    [[phase]]\nduration = 2000\nset = { \"class.BE.rate\" = \"40 %\", \"class.R1.load\" = 0.32 }\n";
        let scenario = Scenario::from_toml("t", text).unwrap();
        let rates: Vec<Vec<f64>> = scenario
            .phases()
            .iter()
            .map(|phase| phase.scenario.classes().iter().map(|class| class.rate).collect())
            .collect();
        assert_eq!(rates, [[0.001, 0.002], [0.01, 0.05]]);
        assert_eq!(scenario.terminating().map(|run| run.cycles), Some(3000));
    }

    #[test]
    fn every_fault_of_phases_is_told() {
        let text = "[network]\ntopology = \"router\"\nports = 4\n[measure]\nend = 500\n[[class]]\nname = \"R1\"\n\
                    kind = \"real-time\"\nrate = 0.001\nstart = 10\n[[phase]]\nduration = 1000\n\
                    set = { \"class.R1.message_flits\" = 8, \"class.R2.rate\" = 0.1, \
                    \"class.R1.rate\" = 7 }\n[[phase]]\n";
        let faults = Scenario::from_toml("t", text).unwrap_err();
        let keys: Vec<&str> = faults.iter().map(|fault| fault.key.as_str()).collect();
        for key in [
            "measure.end",
            "class.R1",
            "phase[1].set.class.R1.message_flits",
            "phase[1].set.class.R2.rate",
            "phase[1].set.class.R1.rate",
            "phase[2].duration",
        ] {
            assert!(keys.contains(&key), "{key} in {keys:?}");
        }
        let short = preset(&[("mix.duration", "10 ms")]).unwrap_err().join("\n");
        assert!(short.contains("a frame interval of class.video"), "{short}");
        let edge = preset(&[("mix.real_time_shares", "[0.0, 0.5]")]).unwrap_err().join("\n");
        assert!(edge.contains("mix.real_time_shares[1]"), "{edge}");
    }

    #[test]
    fn preemption_is_refused_where_it_does_not_go() {
        for (key, value, refused) in [
            ("router.crossbar", "full", "router.crossbar"),
            ("router.scheduler", "fifo", "router.scheduler"),
            ("router.vc_choice", "free", "router.vc_choice"),
            ("router.allocation", "rotating", "router.allocation"),
        ] {
            let faults = preset(&[(key, value)]).unwrap_err().join("\n");
            assert!(faults.contains(refused) && faults.contains("with preemption"), "{faults}");
        }
        for (key, value) in
            [("router.acceleration", "true"), ("router.vc_map", "all"), ("router.output_lanes", "shared")]
        {
            let faults = preset(&[("router.preemption", "none"), (key, value)]).unwrap_err().join("\n");
            assert!(faults.contains(key) && faults.contains("none without preemption"), "{faults}");
        }
    }

    #[test]
    fn host_interfaces_have_the_times_of_their_parts() {
        assert_eq!(preset(&[]).unwrap().host_interface(), None);
        let host = |kind: &str| preset(&[("interface.kind", kind)]).unwrap().host_interface().unwrap();
        let (qos, traditional) = (host("qos"), host("traditional"));
        assert_eq!((qos.firmware, qos.descriptor, qos.message(40), qos.send_setup), (10, 4, 18, 20));
        assert!(!qos.by_message && traditional.by_message && !traditional.is_qos);
        let rate = preset(&[("interface.kind", "qos"), ("interface.bus_rate", "528 MB/s")]).unwrap();
        assert_eq!(rate.host_interface(), Some(qos));
        for (key, value, wanted) in [
            ("interface.injection", "flit", "a traditional interface sends whole messages"),
            ("interface.buffer", "39", "the longest message"),
            ("interface.admittance", "64", "none without [switch]"),
        ] {
            let faults = preset(&[("interface.kind", "traditional"), (key, value)]).unwrap_err().join("\n");
            assert!(faults.contains(wanted), "{faults}");
        }
        let ideal = preset(&[("interface.bus_setup", "2")]).unwrap_err().join("\n");
        assert!(ideal.contains("none of an ideal interface"), "{ideal}");
    }
}
