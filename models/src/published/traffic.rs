//! The classes of a scenario as the published model takes them.

use super::blocking::Buffering;
use crate::scenario::{ClassKind, ClassSpec, Scenario};

/// One class at every node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Flow {
    /// Which class of the scenario it is.
    pub(super) class: usize,
    /// `λ^g` \[messages/cycle\].
    pub(super) rate: f64,
    pub(super) buffering: Buffering,
}

impl Flow {
    /// `M` \[flits\].
    pub(super) fn message(&self) -> f64 {
        self.buffering.message_flits
    }
}

/// All classes, sorted by how links treat them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Traffic {
    /// Real-time classes that share links.
    pub(super) real_time: Vec<Flow>,
    /// `Vtick` of each of them \[cycles/flit\].
    pub(super) vticks: Vec<f64>,
    /// Real-time classes beside which others are active, but which have neither messages nor a Vtick.
    pub(super) without_share: Vec<usize>,
    pub(super) best_effort: Option<Flow>,
}

impl Traffic {
    pub(super) fn of(scenario: &Scenario) -> Self {
        let buffer_flits = f64::from(scenario.router().buffer_flits);
        let flow = |class: usize, spec: &ClassSpec| Flow {
            class,
            rate: spec.rate,
            buffering: Buffering { message_flits: f64::from(spec.message_flits), buffer_flits },
        };
        let real_time = |spec: &&ClassSpec| spec.kind == ClassKind::RealTime;
        let all_silent = scenario.classes().iter().filter(real_time).all(|spec| spec.rate == 0.0);
        let mut traffic =
            Self { real_time: Vec::new(), vticks: Vec::new(), without_share: Vec::new(), best_effort: None };
        for (class, spec) in scenario.classes().iter().enumerate() {
            match spec.kind {
                ClassKind::BestEffort => traffic.best_effort = Some(flow(class, spec)),
                ClassKind::RealTime => {
                    let by_rate =
                        (spec.rate > 0.0).then(|| 1.0 / (spec.rate * f64::from(spec.message_flits)));
                    // where no class sends, nothing is shared and any Vtick does
                    match spec.vtick.or(by_rate).or(all_silent.then_some(1.0)) {
                        Some(vtick) => {
                            traffic.real_time.push(flow(class, spec));
                            traffic.vticks.push(vtick);
                        }
                        None => traffic.without_share.push(class),
                    }
                }
            }
        }
        traffic
    }
}
