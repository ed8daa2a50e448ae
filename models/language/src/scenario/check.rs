//! The door: a spec goes in, a scenario or every fault comes out.

use std::ops::Range;

use super::declare::{Declaration, Key};
use super::units::worded;
use super::{ClassSpec, NetworkSpec, RouterSpec, ScenarioSpec, SwitchSpec};
use crate::document::{Fault, Place, in_short};
use crate::network::Network;

/// A checked scenario, in which loads have become rates and numbers of streams. There is no way to make one but
/// [`ScenarioSpec::check`] and what is built on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario(ScenarioSpec);

impl Scenario {
    /// The spec it was made from.
    pub fn spec(&self) -> &ScenarioSpec {
        &self.0
    }

    /// How routers and nodes are wired.
    pub fn network(&self) -> &NetworkSpec {
        &self.0.network
    }

    /// The network itself: its nodes, channels and routes, with packet switches those of packets.
    pub fn topology(&self) -> Network {
        let network = self.0.network.topology();
        if self.0.switch.is_some() { network.of_packets() } else { network }
    }

    /// What every router is like.
    pub fn router(&self) -> RouterSpec {
        self.0.router
    }

    /// All classes in the order of the file.
    pub fn classes(&self) -> &[ClassSpec] {
        &self.0.classes
    }

    /// By class: its virtual channels on every channel, in the order of the file from 0 on; those of the first phase.
    pub fn virtual_channels(&self) -> Vec<Range<usize>> {
        self.virtual_channels_in(0)
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
        self.check_read(&[])
    }

    /// The same of a spec of which the values of some keys could not be read: their defaults stand in for them.
    pub(super) fn check_read(mut self, unread: &[&str]) -> Result<Scenario, Vec<Fault>> {
        let mut door = Door { faults: Vec::new(), network: None, unread, switch: self.switch };
        let kind_is_read = ["network", "network.topology"].iter().all(|key| door.is_read(key));
        door.network = kind_is_read.then(|| self.network.clone());
        door.table(&self, "");
        if door.faults.is_empty() && self.settle_loads() {
            door.table(&self, "");
        }
        if door.faults.is_empty() {
            door.faults = self.faults_of_phases();
        }
        if !door.faults.is_empty() {
            return Err(door.faults);
        }
        self.network.forget_usual();
        Ok(Scenario(self))
    }
}

/// The whole key of a table's key.
pub(super) fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Gathers what is wrong with the values of a scenario.
pub(super) struct Door<'u> {
    faults: Vec<Fault>,
    /// What classes are checked against; `None` where it could not be read.
    network: Option<NetworkSpec>,
    /// Keys whose values could not be read.
    unread: &'u [&'u str],
    /// Where packets are switched: then times are in nanoseconds, and there are no lanes.
    pub(super) switch: Option<SwitchSpec>,
}

impl Door<'_> {
    /// Whether the value of a key is the one given, or is left out: nothing follows from what stands in for another.
    pub(super) fn is_read(&self, key: &str) -> bool {
        !self.unread.contains(&key)
    }

    pub(super) fn refuse(&mut self, key: &str, found: String, wanted: &str, help: Option<&str>) {
        self.faults.push(Fault {
            place: Place::Program,
            key: key.to_owned(),
            found,
            wanted: wanted.to_owned(),
            help: help.map(str::to_owned),
        });
    }

    /// Whether a value of a table has been refused; `path` is that of the table and its dot.
    pub(super) fn has_refused(&self, path: &str) -> bool {
        self.faults.iter().any(|fault| fault.key.starts_with(path))
    }

    /// The network, unless it is refused: then nothing can be said of nodes.
    pub(super) fn known_network(&self) -> Option<Network> {
        let sizes_are_read = !self.unread.iter().any(|key| key.starts_with("network"));
        self.read_network().filter(|_| sizes_are_read && !self.has_refused("network."))
    }

    /// The network as it was read: its sizes may be refused, its kind is known.
    pub(super) fn read_network(&self) -> Option<Network> {
        self.network.as_ref().map(NetworkSpec::topology)
    }

    /// Refuses a number that is out of its key's range.
    pub(super) fn number(&mut self, key: &Key, path: impl FnOnce() -> String, number: f64) {
        if !key.holds(number) {
            let (range, help) = (worded(key.range(), self.switch.is_some()), key.help(number));
            self.refuse(&path(), in_short(number), &range, help.filter(|_| self.switch.is_none()));
        }
    }

    /// Checks every key of a table, and what ties them.
    pub(super) fn table(&mut self, table: &dyn Declaration, path: &str) {
        for (key, value) in table.fields() {
            value.check(self, key, path);
        }
        table.rules(path, self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{DeadlineSpec, HopDeadlines};

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
                "class[2].deadlines[1].deadlines",
                "class[2].deadlines[1].hops",
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
        let mut spec = ScenarioSpec {
            network: NetworkSpec::Hypercube { dimension: 0, self_traffic: None },
            ..Default::default()
        };
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
