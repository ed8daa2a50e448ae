//! `[power]`: what flits cost, and how the power of a network is kept below a budget.

use super::declare::*;
use super::{ClassKind, Scenario, ScenarioSpec, Scheduler};
use crate::document::in_short;

/// Energy of a link where none is given \[pJ/bit\].
const LINK_PJ_PER_BIT: f64 = 10.21;

table! {
    /// What flits cost, and how the power of a network is kept below a budget.
    #[derive(Copy)]
    pub struct PowerSpec {
        /// Reading a flit from an input or output buffer.
        buffer_read: f64 ["pJ/flit"] = 31.125, within(0.0, 1e9).magnitude(Magnitude::Energy);
        /// Writing a flit into one.
        buffer_write: f64 ["pJ/flit"] = 27.075, within(0.0, 1e9).magnitude(Magnitude::Energy);
        /// Arbitration of a flit in a router.
        arbitration: f64 ["pJ/flit"] = 6.10086, within(0.0, 1e9).magnitude(Magnitude::Energy);
        /// Crossing of a flit.
        crossbar: f64 ["pJ/flit"] = 68.475, within(0.0, 1e9).magnitude(Magnitude::Energy);
        /// A flit on a link between routers; by default 10.21 pJ/bit.
        #[serde(skip_serializing_if = "Option::is_none")]
        link: Option<f64> ["pJ/flit"] = None, within(0.0, 1e9).magnitude(Magnitude::Energy);
        /// A flit on the link of a node into its router.
        injection_link: f64 ["pJ/flit"] = 0.0, within(0.0, 1e9).magnitude(Magnitude::Energy);
        /// A flit in a network interface.
        interface: f64 ["pJ/flit"] = 0.0, within(0.0, 1e9).magnitude(Magnitude::Energy);
        /// Time over which power is averaged.
        window: u32 ["cycles"] = 500, within(1.0, 1e9).magnitude(Magnitude::Bound);
        /// What keeps the power below the budget.
        control: PowerControl = PowerControl::None;
        /// The budget as the mean power at a load of all nodes that are alike.
        #[serde(skip_serializing_if = "Option::is_none")]
        budget_load: Option<f64> ["of a link"] = None, within(1e-6, 64.0).magnitude(Magnitude::Flow);
        /// The budget, such as `"0.654 W"`.
        #[serde(skip_serializing_if = "Option::is_none")]
        budget: Option<f64> ["pJ/cycle"] = None, within(1e-6, 1e15).magnitude(Magnitude::Power);
        /// Credit control: the share of the budget that is real time's; by default its share of the load.
        #[serde(skip_serializing_if = "Option::is_none")]
        real_time_share: Option<f64> = None, within(0.0, 1.0);
        /// Credit control: the time whose energy an interface has on its account.
        account: u32 ["cycles"] = 500, within(1.0, 1e9).magnitude(Magnitude::Bound);
        /// Credit control: when energy comes back to the account.
        restore: Restore = Restore::Window;
        /// PowerHerd: the time after which budgets are exchanged.
        epoch: u32 ["cycles"] = 500, within(1.0, 1e9).magnitude(Magnitude::Bound);
        /// PowerHerd: what a router keeps of its budget, as a multiple of what it used.
        spare_factor: f64 = 1.1, within(1.0, 100.0);
    }
}

words! {
    /// What keeps the power of a network below a budget.
    pub enum PowerControl {
        /// Nothing.
        None "none",
        /// Energy accounts of network interfaces, and of routers for connections.
        Credit "credit",
        /// Budgets of routers, which stop where theirs is used up and pass on what they do not need.
        PowerHerd "powerherd",
    }
}

words! {
    /// When energy comes back to the account of an interface.
    pub enum Restore {
        /// After the time of the account, and no sooner than the message can arrive.
        Window "window",
        /// When the message should have arrived.
        Arrival "arrival",
    }
}

impl Rules for PowerSpec {
    fn rules(&self, path: &str, door: &mut Door) {
        let key = |name: &str| format!("{path}.{name}");
        if let (Some(load), Some(_)) = (self.budget_load, self.budget) {
            door.refuse(&key("budget_load"), in_short(load), "budget or budget_load, not both", None);
        }
        let has_none = self.budget_load.is_none() && self.budget.is_none();
        let are_read = ["control", "budget", "budget_load"].iter().all(|name| door.is_read(&key(name)));
        if self.control != PowerControl::None && has_none && are_read {
            let help = Some("add budget_load = 0.5, or budget = \"0.654 W\"");
            let found = format!("no budget with control = \"{}\"", self.control.word());
            door.refuse(&key("control"), found, "a budget", help);
        }
    }
}

/// Energies of a flit, and what is done with them; all in pJ and cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energies {
    /// Reading from a buffer.
    pub buffer_read: f64,
    /// Writing into one.
    pub buffer_write: f64,
    /// Arbitration in a router.
    pub arbitration: f64,
    /// Crossing.
    pub crossbar: f64,
    /// A link between routers.
    pub link: f64,
    /// The link of a node into its router.
    pub injection_link: f64,
    /// A network interface.
    pub interface: f64,
}

impl Energies {
    /// In a router: two buffers, arbitration and crossing \[pJ/flit\].
    pub fn router(&self) -> f64 {
        2.0 * (self.buffer_read + self.buffer_write) + self.arbitration + self.crossbar
    }

    /// Before the first router: interface and injection link \[pJ/flit\].
    pub fn source(&self) -> f64 {
        self.injection_link + self.interface
    }

    /// A flit over so many links between routers: `E_router (D + 1) + E_link D` and what the interface adds
    /// \[pJ/flit\].
    pub fn flit(&self, hops: f64) -> f64 {
        self.source() + self.router() * (hops + 1.0) + self.link * hops
    }
}

impl Scenario {
    /// What flits cost, if the scenario says so \[pJ/flit\].
    pub fn energies(&self) -> Option<Energies> {
        let spec = self.spec().power?;
        let bits = self.flit_bits().unwrap_or(0.0);
        Some(Energies {
            buffer_read: spec.buffer_read,
            buffer_write: spec.buffer_write,
            arbitration: spec.arbitration,
            crossbar: spec.crossbar,
            link: spec.link.unwrap_or(LINK_PJ_PER_BIT * bits),
            injection_link: spec.injection_link,
            interface: spec.interface,
        })
    }

    /// The budget of the whole network, if there is one: given, or the mean power at a load with uniform destinations
    /// \[pJ/cycle\].
    pub fn power_budget(&self) -> Option<f64> {
        let spec = self.spec().power?;
        let network = self.topology();
        let of_load = |load: f64| {
            load * f64::from(network.nodes())
                * self.energies().map_or(0.0, |one| one.flit(network.mean_hops()))
        };
        spec.budget.or(spec.budget_load.map(of_load))
    }

    /// The budget with credit power control, and the share of it that is real time's: by default its share of the
    /// offered load of data \[pJ/cycle\].
    pub fn credit_budget(&self) -> Option<(f64, f64)> {
        let spec = self.spec().power.filter(|spec| spec.control == PowerControl::Credit)?;
        Some((self.power_budget()?, spec.real_time_share.unwrap_or_else(|| self.spec().real_time_share())))
    }
}

impl ScenarioSpec {
    /// Part of the offered load of data that is real time's.
    pub fn real_time_share(&self) -> f64 {
        let load = |kind: ClassKind| -> f64 {
            let of_kind = self.classes.iter().filter(|class| class.kind == kind);
            of_kind.map(|class| class.rate * f64::from(class.message_flits)).sum()
        };
        let (real_time, best_effort) = (load(ClassKind::RealTime), load(ClassKind::BestEffort));
        if real_time > 0.0 { real_time / (real_time + best_effort) } else { 0.0 }
    }

    /// Refuses power where nothing is known of flits, and controls that have nothing to hold on to.
    pub(super) fn power_rules(&self, door: &mut Door) {
        let Some(power) = self.power else { return };
        if self.switch.is_some() {
            let wanted = "none under [switch]: energies are those of flits in routers";
            door.refuse("power", "a table".to_owned(), wanted, Some("remove the table"));
            return;
        }
        if power.link.is_none() && self.units.as_ref().is_none_or(|units| units.flit_bits.is_none()) {
            let wanted = "the energy of a flit on a link, or a table [units] with flit_bits";
            let help = Some("add  [units]  with  link = \"2.5 Gbps\"  and  flit_bits = 128");
            door.refuse("power.link", "nothing".to_owned(), wanted, help);
        }
        if power.control != PowerControl::None
            && self.router.scheduler != Scheduler::LaneArbiter
            && door.is_read("router.scheduler")
        {
            let wanted = "routers with scheduler = \"lane-arbiter\" where power is controlled";
            door.refuse("power.control", format!("\"{}\"", power.control.word()), wanted, None);
        }
        if power.control == PowerControl::PowerHerd
            && door.known_network().is_some_and(|network| network.routers() < 2)
        {
            let wanted = "\"credit\" in a single router, which has no neighbours";
            door.refuse("power.control", "\"powerherd\"".to_owned(), wanted, None);
        }
    }
}
