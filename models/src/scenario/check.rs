//! The door: a spec goes in, a scenario or every fault comes out.

use super::spec::{ClassKind, ClassSpec, DeadlineSpec, NetworkSpec, RouterSpec, ScenarioSpec, SourceSpec};
use crate::document::{Fault, Place, in_short, shortened};

/// The most real-time classes a scenario may have.
pub const MAX_REAL_TIME_CLASSES: usize = 12;
/// The longest message and the deepest buffer \[flits\].
pub const MAX_FLITS: u32 = 65_536;
/// The latest deadline \[cycles\].
pub const MAX_DEADLINE_CYCLES: u32 = 1_000_000;
/// Whole numbers of a scenario, each from its least to its most.
pub(super) const PORTS: Whole = Whole { least: 2, most: 1024, unit: "ports" };
pub(super) const DIMENSION: Whole = Whole { least: 1, most: 16, unit: "dimensions" };
pub(super) const STAGES: Whole = Whole { least: 1, most: 64, unit: "stages" };
pub(super) const FLITS: Whole = Whole { least: 1, most: MAX_FLITS, unit: "flits" };
pub(super) const DEADLINE: Whole = Whole { least: 1, most: MAX_DEADLINE_CYCLES, unit: "cycles" };
pub(super) const STREAMS: Whole = Whole { least: 1, most: 10_000, unit: "streams" };
/// The most deadlines that one class may carry.
pub const MAX_DEADLINES: usize = 1_000;
/// The smallest rate above zero \[messages/cycle/node\].
pub const MIN_RATE: f64 = 1e-12;

/// The range of a whole number and what it counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    least: u32,
    most: u32,
    unit: &'static str,
}

impl Whole {
    pub(super) fn contains(self, number: u32) -> bool {
        (self.least..=self.most).contains(&number)
    }

    /// What is wanted where no whole number stands: "a whole number of" this.
    pub(super) fn described(self) -> String {
        let Self { least, most, unit } = self;
        format!("{unit}, {least} to {most}")
    }
}

/// A checked scenario. There is no way to make one but [`ScenarioSpec::check`] and what is built on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario(ScenarioSpec);

impl Scenario {
    /// The spec it was made from.
    pub fn spec(&self) -> &ScenarioSpec {
        &self.0
    }

    /// How routers and nodes are wired.
    pub fn network(&self) -> NetworkSpec {
        self.0.network
    }

    /// What every router is like.
    pub fn router(&self) -> RouterSpec {
        self.0.router
    }

    /// All classes in the order of the file.
    pub fn classes(&self) -> &[ClassSpec] {
        &self.0.classes
    }

    /// The same scenario with every rate multiplied by `factor`, which is at most 1.
    ///
    /// A Vtick that was given stays as it is; one that follows from the rate goes with it.
    pub fn with_rates_scaled(&self, factor: f64) -> Self {
        assert!((0.0..=1.0).contains(&factor), "factor {factor} could lead out of the checked range");
        let mut spec = self.0.clone();
        for class in &mut spec.classes {
            class.rate *= factor;
        }
        Self(spec)
    }
}

impl ScenarioSpec {
    /// Every fault at once, so that a scenario is mended in one go.
    ///
    /// # Errors
    /// All faults found, in the order of the file.
    pub fn check(self) -> Result<Scenario, Vec<Fault>> {
        let mut faults = Vec::new();
        self.find_faults(&mut faults);
        if faults.is_empty() { Ok(Scenario(self)) } else { Err(faults) }
    }

    fn find_faults(&self, faults: &mut Vec<Fault>) {
        let mut door = Door { faults };
        if self.name.chars().count() > 100 || self.name.chars().any(char::is_control) {
            let found = format!("\"{}\"", shortened(&self.name));
            door.refuse("name", found, "at most 100 printable characters", None);
        }
        match self.network {
            NetworkSpec::Router { ports } => door.whole("network.ports", ports, PORTS),
            NetworkSpec::Hypercube { dimension } => door.whole("network.dimension", dimension, DIMENSION),
        }
        let RouterSpec { pipeline_stages, buffer_flits, scheduler: _ } = self.router;
        door.whole("router.pipeline_stages", pipeline_stages, STAGES);
        door.whole("router.buffer_flits", buffer_flits, FLITS);

        if self.classes.is_empty() {
            door.refuse("class", "no class".to_owned(), "at least one [[class]]", None);
        }
        let of_kind = |kind| self.classes.iter().filter(move |class| class.kind == kind).count();
        let real_time = of_kind(ClassKind::RealTime);
        if real_time > MAX_REAL_TIME_CLASSES {
            let wanted = format!("at most {MAX_REAL_TIME_CLASSES}");
            door.refuse("class", format!("{real_time} real-time classes"), &wanted, None);
        }
        let best_effort = of_kind(ClassKind::BestEffort);
        if best_effort > 1 {
            let found = format!("{best_effort} best-effort classes");
            door.refuse("class", found, "at most one", Some("add their rates and keep one of them"));
        }
        let labels = class_labels(&self.classes.iter().map(|class| class.name.as_str()).collect::<Vec<_>>());
        for (class, label) in self.classes.iter().zip(&labels) {
            door.class(class, label, self);
        }
    }
}

/// What each class is called in a key: its name, or its number (from 1) where the name is no help.
pub(super) fn class_labels(names: &[&str]) -> Vec<String> {
    names
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let alone = names.iter().filter(|other| other == &name).count() == 1;
            if alone && name_is_fit(name) { format!("class.{name}") } else { format!("class[{}]", index + 1) }
        })
        .collect()
}

/// Characters at which keys, lists and requirements of the command line are parted: a class with one of them in its
/// name could not be reached there.
const PARTING: [char; 6] = ['.', ',', ':', '=', '*', '/'];

fn name_is_fit(name: &str) -> bool {
    let length = name.chars().count();
    let is_unfit = |c: char| c.is_control() || PARTING.contains(&c);
    (1..=64).contains(&length) && name.trim() == name && !name.chars().any(is_unfit)
}

struct Door<'f> {
    faults: &'f mut Vec<Fault>,
}

impl Door<'_> {
    fn refuse(&mut self, key: &str, found: String, wanted: &str, help: Option<&str>) {
        self.faults.push(Fault {
            place: Place::Program,
            key: key.to_owned(),
            found,
            wanted: wanted.to_owned(),
            help: help.map(str::to_owned),
        });
    }

    fn whole(&mut self, key: &str, found: u32, range: Whole) {
        if !range.contains(found) {
            let Whole { least, most, unit } = range;
            self.refuse(key, found.to_string(), &format!("{least} to {most} {unit}"), None);
        }
    }

    fn class(&mut self, class: &ClassSpec, label: &str, scenario: &ScenarioSpec) {
        if !name_is_fit(&class.name) {
            let found = format!("\"{}\"", shortened(&class.name));
            let wanted =
                "a name of 1 to 64 printable characters without . , : = * / and without space around it";
            let tidy = class.name.trim().replace(PARTING, "-");
            let help = format!("keys such as class.NAME.rate are parted at these: name it \"{tidy}\"");
            let help = name_is_fit(&tidy).then_some(help.as_str());
            self.refuse(&format!("{label}.name"), found, wanted, help);
        } else if scenario.classes.iter().filter(|other| other.name == class.name).count() > 1 {
            let found = format!("\"{}\" more than once", class.name);
            self.refuse(&format!("{label}.name"), found, "a name of its own for each class", None);
        }
        self.rate(class, label);
        self.whole(&format!("{label}.message_flits"), class.message_flits, FLITS);
        self.vtick(class, label);
        self.source(class, label);
        self.deadlines(class, label, scenario.network);
    }

    fn rate(&mut self, class: &ClassSpec, label: &str) {
        let fits = class.rate == 0.0 || (MIN_RATE..=1.0).contains(&class.rate);
        if !fits || (class.rate == 0.0 && class.rate.is_sign_negative()) {
            let wanted = "0, or 1e-12 to 1 messages/cycle/node";
            let help = (class.rate > 1.0 && class.rate.is_finite())
                .then_some("a rate counts messages per cycle, not flits and not messages per second");
            self.refuse(&format!("{label}.rate"), in_short(class.rate), wanted, help);
        }
    }

    fn vtick(&mut self, class: &ClassSpec, label: &str) {
        let Some(vtick) = class.vtick else { return };
        let key = format!("{label}.vtick");
        if class.kind == ClassKind::BestEffort {
            let wanted = "none: best effort takes what real-time classes leave";
            self.refuse(&key, in_short(vtick), wanted, Some("remove the line"));
        } else if !(1e-3..=1e12).contains(&vtick) {
            self.refuse(&key, in_short(vtick), "0.001 to 1e12 cycles per flit", None);
        }
    }

    fn source(&mut self, class: &ClassSpec, label: &str) {
        let SourceSpec::OnOff { streams, messages_per_burst, peak_rate } = class.source else { return };
        let key = |field: &str| format!("{label}.source.{field}");
        self.whole(&key("streams"), streams, STREAMS);
        if !(1.0..=1e6).contains(&messages_per_burst) {
            self.refuse(&key("messages_per_burst"), in_short(messages_per_burst), "1 to 1e6 messages", None);
        }
        if !(1e-9..=1.0).contains(&peak_rate) {
            self.refuse(&key("peak_rate"), in_short(peak_rate), "1e-9 to 1 messages/cycle", None);
        } else if class.rate.is_finite() && class.rate / f64::from(streams.max(1)) >= peak_rate {
            // 1 / a = I / N + 1 / p leaves no OFF time when a >= p
            let mean = class.rate / f64::from(streams.max(1));
            let found = format!("{peak_rate} with {mean} messages/cycle per stream");
            let help = "raise peak_rate or streams, or lower the rate";
            self.refuse(&key("peak_rate"), found, "a peak above the mean rate of a stream", Some(help));
        }
    }

    fn deadlines(&mut self, class: &ClassSpec, label: &str, network: NetworkSpec) {
        let mut count = 0;
        for (index, deadline) in class.deadlines.iter().enumerate() {
            let entry = format!("{label}.deadlines[{}]", index + 1);
            let (key, cycles) = match deadline {
                DeadlineSpec::Cycles(cycles) => (entry, std::slice::from_ref(cycles)),
                DeadlineSpec::Hops(hop) => {
                    self.hops(hop.hops, &format!("{entry}.hops"), network);
                    (format!("{entry}.deadlines"), hop.deadlines.as_slice())
                }
            };
            if cycles.is_empty() {
                self.refuse(&key, "no deadline".to_owned(), "at least one", Some("remove the entry"));
            }
            count += cycles.len();
            for cycles in cycles {
                self.whole(&key, *cycles, DEADLINE);
            }
        }
        if count > MAX_DEADLINES {
            let key = format!("{label}.deadlines");
            self.refuse(&key, format!("{count} deadlines"), &format!("at most {MAX_DEADLINES}"), None);
        }
    }

    fn hops(&mut self, hops: u32, key: &str, network: NetworkSpec) {
        match network {
            NetworkSpec::Router { .. } => {
                let help = "list plain numbers of cycles, such as deadlines = [42, 47]";
                let wanted = "plain deadlines: a single router has no hops";
                self.refuse(key, format!("{hops} hops"), wanted, Some(help));
            }
            // a dimension that is refused itself says nothing about hops
            NetworkSpec::Hypercube { dimension } if DIMENSION.contains(dimension) => {
                self.whole(key, hops, Whole { least: 1, most: dimension, unit: "hops" });
            }
            NetworkSpec::Hypercube { .. } => (),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::HopDeadlines;

    #[test]
    fn a_number_is_quoted_in_short() {
        let quoted = [2.0, -0.005, 1e-300, 1e300, f64::NAN].map(in_short);
        assert_eq!(quoted, ["2", "-0.005", "1e-300", "1e300", "NaN"]);
    }

    #[test]
    fn every_fault_is_reported_at_once() {
        let mut spec = ScenarioSpec::default();
        spec.router.buffer_flits = 0;
        spec.classes[0].rate = -0.005;
        spec.classes[1].name = "BE".to_owned();
        spec.classes[1].deadlines = vec![DeadlineSpec::Hops(HopDeadlines { hops: 2, deadlines: vec![] })];
        spec.classes[2].vtick = Some(3.0);
        let faults = spec.check().unwrap_err();
        let keys: Vec<&str> = faults.iter().map(|fault| fault.key.as_str()).collect();
        assert_eq!(
            keys,
            [
                "router.buffer_flits",
                "class.R1.rate",
                "class[2].name",
                "class[2].deadlines[1].hops",
                "class[2].deadlines[1].deadlines",
                "class[3].name",
                "class[3].vtick"
            ]
        );
    }

    #[test]
    fn a_class_that_could_not_be_reached_by_a_key_is_refused_with_a_name_that_can() {
        let named = |name: &str| {
            let spec = ScenarioSpec { classes: vec![ClassSpec::real_time(name, 0.01)], ..Default::default() };
            spec.check().map(|_| ()).map_err(|faults| faults[0].help.clone())
        };
        for name in ["R1", "class 1", "high-speed", "é", "R_1", "a\"b"] {
            assert_eq!(named(name), Ok(()), "{name}");
        }
        for (name, tidy) in
            [("a.b", "a-b"), ("a,b", "a-b"), ("R1:x", "R1-x"), ("a=b", "a-b"), ("*", "-"), ("1/2", "1-2")]
        {
            let help = named(name).unwrap_err().unwrap();
            assert!(help.ends_with(&format!("name it \"{tidy}\"")), "{help}");
        }
        assert_eq!(
            named(" a.b"),
            Err(Some("keys such as class.NAME.rate are parted at these: name it \"a-b\"".to_owned()))
        );
        assert_eq!((named(""), named(&".".repeat(65))), (Err(None), Err(None)));
    }

    #[test]
    fn hops_are_not_held_against_a_dimension_that_is_refused() {
        let mut spec =
            ScenarioSpec { network: NetworkSpec::Hypercube { dimension: 0 }, ..Default::default() };
        spec.classes[0].deadlines = vec![DeadlineSpec::Hops(HopDeadlines { hops: 2, deadlines: vec![60] })];
        let keys: Vec<String> = spec.check().unwrap_err().into_iter().map(|fault| fault.key).collect();
        assert_eq!(keys, ["network.dimension"]);
    }

    #[test]
    fn what_is_not_a_number_is_no_rate() {
        for rate in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e-13, 1.0 + 1e-9, 1e300] {
            let spec = ScenarioSpec { classes: vec![ClassSpec::real_time("a", rate)], ..Default::default() };
            assert!(spec.check().is_err(), "{rate}");
        }
    }

    #[test]
    fn the_default_is_table_1_and_passes() {
        assert_eq!(ScenarioSpec::default().check().unwrap().classes().len(), 3);
    }
}
