//! The classes of a scenario as the published model takes them.

use super::blocking::Buffering;
use crate::scalar::Scalar;
use flitwise_language::scenario::{ClassKind, Scenario};

/// A number of the scenario that the equations take; those of a class by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    PipelineStages,
    BufferFlits,
    Rate(usize),
    MessageFlits(usize),
    Vtick(usize),
}

/// One class at every node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Flow<T = f64> {
    /// Which class of the scenario it is.
    pub(crate) class: usize,
    /// `λ^g` \[messages/cycle\].
    pub(crate) rate: T,
    pub(crate) buffering: Buffering<T>,
}

impl<T: Scalar> Flow<T> {
    /// `M` \[flits\].
    pub(crate) fn message(&self) -> T {
        self.buffering.message_flits
    }
}

/// All classes, sorted by how links treat them, and the pipeline before the links.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Traffic<T = f64> {
    /// `P`: pipeline stages of a router.
    pub(crate) stages: T,
    /// Real-time classes that share links. Those with neither messages nor a Vtick, beside active ones, are left out.
    pub(crate) real_time: Vec<Flow<T>>,
    /// `Vtick` of each of them \[cycles/flit\].
    pub(crate) vticks: Vec<T>,
    pub(crate) best_effort: Option<Flow<T>>,
}

impl Traffic {
    pub(super) fn of(scenario: &Scenario) -> Self {
        Self::with(scenario, |_, value| value)
    }
}

impl<T: Scalar> Traffic<T> {
    /// `scenario` with each of its numbers as `number` has it, given its value.
    pub(crate) fn with(scenario: &Scenario, number: impl Fn(Number, f64) -> T) -> Self {
        let router = scenario.router();
        let buffer_flits = number(Number::BufferFlits, f64::from(router.buffer_flits));
        let mut real_time = scenario.classes().iter().filter(|spec| spec.kind == ClassKind::RealTime);
        let all_silent = real_time.all(|spec| spec.rate == 0.0);
        let mut traffic = Self {
            stages: number(Number::PipelineStages, f64::from(router.pipeline_stages)),
            real_time: Vec::new(),
            vticks: Vec::new(),
            best_effort: None,
        };
        for (class, spec) in scenario.classes().iter().enumerate() {
            let message_flits = number(Number::MessageFlits(class), f64::from(spec.message_flits));
            let buffering = Buffering { message_flits, buffer_flits };
            let flow = Flow { class, rate: number(Number::Rate(class), spec.rate), buffering };
            if spec.kind == ClassKind::BestEffort {
                traffic.best_effort = Some(flow);
                continue;
            }
            let vtick = match spec.vtick {
                Some(given) => number(Number::Vtick(class), given),
                None if spec.rate > 0.0 => {
                    // goes with the rate and the length; a number of its own is taken as if given
                    let implied = (flow.rate * message_flits).recip();
                    implied + (number(Number::Vtick(class), implied.re()) - implied.re())
                }
                // where no class sends, nothing is shared and any Vtick does
                None if all_silent => T::one(),
                None => continue,
            };
            traffic.real_time.push(flow);
            traffic.vticks.push(vtick);
        }
        traffic
    }

    /// `P - 1`: cycles of a header before the flits follow.
    pub(super) fn before_flits(&self) -> T {
        self.stages - 1.0
    }
}
