//! What the rules of lanes, interfaces and power read of a scenario, beside those of routers.

use flitwise_language::network::Network;
use flitwise_language::scenario::{
    ChannelAdapter, ClassKind, CongestionControl, CongestionSpec, Energies, PowerSpec, Scenario, WeightsSpec,
};

use super::super::rules::Rules;

/// Numbers of a scenario.
pub(super) struct Settings {
    /// K2, by lane: `None` of one that stays idle.
    pub(super) level: Vec<Option<usize>>,
    pub(super) weights: WeightsSpec,
    /// K4, K14: of the load of all data classes.
    pub(super) real_time_share: f64,
    /// K8, K9: `None` of an ideal interface.
    pub(super) adapter: Option<ChannelAdapter>,
    pub(super) congestion: Option<CongestionSpec>,
    pub(super) power: Option<PowerSpec>,
    /// K13: nothing without a `[power]` table.
    pub(super) energies: Energies,
    /// K14, K15 \[pJ/cycle\].
    pub(super) budget: f64,
    /// K10, by class: the mean rate of a connection \[flits/cycle\].
    pub(super) connections: Vec<Option<f64>>,
}

/// What flits cost where nothing is said of it.
const FREE: Energies = Energies {
    buffer_read: 0.0,
    buffer_write: 0.0,
    arbitration: 0.0,
    crossbar: 0.0,
    link: 0.0,
    injection_link: 0.0,
    interface: 0.0,
};

impl Settings {
    pub(super) fn new(scenario: &Scenario, rules: &Rules) -> Self {
        let class_of = |lane: usize| rules.blocks.iter().position(|block| block.contains(&lane));
        let load = |kind: ClassKind| -> f64 {
            let classes = scenario.classes().iter().filter(|class| class.kind == kind);
            classes.map(|class| class.rate * f64::from(class.message_flits)).sum()
        };
        let (real_time, best_effort) = (load(ClassKind::RealTime), load(ClassKind::BestEffort));
        let is_loaded = real_time + best_effort > 0.0;
        let classes = 0..scenario.classes().len();
        Self {
            level: (0..rules.lanes()).map(|lane| Some(rules.level[class_of(lane)?])).collect(),
            weights: scenario.router().weights.unwrap_or(DEFAULT_WEIGHTS),
            real_time_share: if is_loaded { real_time / (real_time + best_effort) } else { 0.0 },
            adapter: scenario.channel_adapter(),
            congestion: scenario.spec().congestion,
            power: scenario.spec().power,
            energies: scenario.energies().unwrap_or(FREE),
            budget: scenario.power_budget().unwrap_or(0.0),
            connections: classes.map(|class| Some(scenario.connections(class)?.mean)).collect(),
        }
    }

    /// Those of an arbiter alone.
    #[cfg(test)]
    pub(super) fn of_arbiter(level: Vec<Option<usize>>, weights: WeightsSpec, real_time_share: f64) -> Self {
        Self {
            level,
            weights,
            real_time_share,
            adapter: None,
            congestion: None,
            power: None,
            energies: FREE,
            budget: 0.0,
            connections: Vec::new(),
        }
    }

    /// The control of congestion, if it is this one.
    pub(super) fn congestion_by(&self, control: CongestionControl) -> Option<CongestionSpec> {
        self.congestion.filter(|congestion| congestion.control == control)
    }
}

/// Of routers without a table of weights.
const DEFAULT_WEIGHTS: WeightsSpec = WeightsSpec {
    frame: flitwise_language::scenario::WeightFrame::Small,
    per_lane: 4,
    pointer: flitwise_language::scenario::Pointer::Fast,
};

/// K10: the quadrant of a destination seen from a source, by column (dimension 0) and row (dimension 1).
pub(super) fn quadrant(network: &Network, source: u32, destination: u32) -> usize {
    let columns = i64::from(network.sides()[0]);
    let place = |node: u32| {
        let router = i64::from(network.entry(node).0);
        (router % columns, router / columns)
    };
    let ((from_column, from_row), (to_column, to_row)) = (place(source), place(destination));
    match (to_column - from_column, to_row - from_row) {
        (x, y) if x > 0 && y >= 0 => 0,
        (x, y) if x <= 0 && y > 0 => 1,
        (x, y) if x < 0 && y <= 0 => 2,
        _ => 3, // to the same router, too
    }
}
