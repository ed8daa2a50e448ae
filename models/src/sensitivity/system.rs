//! A scenario whose numbers carry slopes, and what they lead to.

use super::dual::{DIRECTIONS, Dual};
use super::equations::Flow;
use super::parameter::{Of, Parameter, vtick};
use super::quantity::Quantity;
use crate::scenario::{ClassKind, Scenario};

/// One step in one parameter: forwards or backwards, as large as the parameter itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direction<'p> {
    pub(super) parameter: &'p Parameter,
    /// 1 or -1.
    pub(super) sign: f64,
}

/// The classes as the published model takes them.
#[derive(Clone, Debug)]
pub(super) struct System {
    /// `P`.
    pub(super) stages: Dual,
    /// Real-time classes that share links.
    pub(super) real_time: Vec<Flow>,
    /// `Vtick` of each of them \[cycles/flit\].
    pub(super) vticks: Vec<Dual>,
    pub(super) best_effort: Option<Flow>,
}

impl System {
    /// `scenario` with slopes in up to [`DIRECTIONS`] directions.
    pub(super) fn new(scenario: &Scenario, directions: &[Direction<'_>]) -> Self {
        debug_assert!(directions.len() <= DIRECTIONS);
        let spec = scenario.spec();
        let variable = |of: Of, class: Option<usize>, value: f64| {
            let mut number = Dual::constant(value);
            for (slope, direction) in number.slopes.iter_mut().zip(directions) {
                let parameter = direction.parameter;
                if parameter.of == of && class.is_none_or(|class| parameter.classes.contains(&class)) {
                    *slope = direction.sign * value;
                }
            }
            number
        };
        let buffer = variable("buffer_flits", None, f64::from(spec.router.buffer_flits));
        let mut system = Self {
            stages: variable("pipeline_stages", None, f64::from(spec.router.pipeline_stages)),
            real_time: Vec::new(),
            vticks: Vec::new(),
            best_effort: None,
        };
        let real_time = spec.classes.iter().filter(|class| class.kind == ClassKind::RealTime);
        let all_silent = real_time.clone().all(|class| class.rate == 0.0);
        for (index, class) in spec.classes.iter().enumerate() {
            let flow = Flow {
                class: index,
                rate: variable("rate", Some(index), class.rate),
                message: variable("message_flits", Some(index), f64::from(class.message_flits)),
                buffer,
            };
            if class.kind == ClassKind::BestEffort {
                system.best_effort = Some(flow);
                continue;
            }
            let share = match vtick(spec, index) {
                // an implied Vtick goes with the rate and the length; as a parameter it is taken as if given
                Some(_) if class.vtick.is_none() => {
                    let implied = 1.0 / (flow.rate * flow.message);
                    implied + (variable("vtick", Some(index), implied.value) - implied.value)
                }
                Some(given) => variable("vtick", Some(index), given),
                // where no class sends, nothing is shared and any Vtick does
                None if all_silent => Dual::constant(1.0),
                None => continue,
            };
            system.real_time.push(flow);
            system.vticks.push(share);
        }
        system
    }

    /// Whether a direction changes the ratio of two Vticks, and with it the shares of links.
    pub(super) fn shares_move(&self, direction: usize) -> bool {
        let relative = |vtick: &Dual| vtick.slopes[direction] / vtick.value;
        self.vticks.windows(2).any(|pair| (relative(&pair[0]) - relative(&pair[1])).abs() > 1e-12)
    }
}

/// Means of one class, with their slopes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Means {
    pub(super) network_latency: Dual,
    pub(super) blocking: Dual,
    pub(super) sharing: Dual,
    pub(super) waiting: Dual,
    pub(super) total_latency: Dual,
    pub(super) utilization: Dual,
    pub(super) router_load: Dual,
}

impl Means {
    /// Of a quantity, if it is a mean.
    pub(super) fn of(&self, quantity: Quantity) -> Option<Dual> {
        match quantity {
            Quantity::NetworkLatency => Some(self.network_latency),
            Quantity::Blocking => Some(self.blocking),
            Quantity::Sharing => Some(self.sharing),
            Quantity::Waiting => Some(self.waiting),
            Quantity::TotalLatency => Some(self.total_latency),
            Quantity::Utilization => Some(self.utilization),
            Quantity::RouterLoad => Some(self.router_load),
            Quantity::MissProbability => None,
        }
    }
}
