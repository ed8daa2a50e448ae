//! What admission, congestion and power control have done in a replication.

use flitwise_language::scenario::Scenario;
use serde::{Deserialize, Serialize};

use flitwise_simulator::{ControlActivity, FlitMoves, Simulator};

/// Windows of power over time that are kept of a replication, the first ones.
const KEPT_WINDOWS: usize = 1_000;

/// What control has done in one replication.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ControlRecord {
    /// By class, since the start of the run: messages that found no credit of their connection.
    pub(crate) dropped: Vec<u64>,
    /// By class, since the start of the run: messages generated.
    pub(crate) generated: Vec<u64>,
    /// Cycles simulated, and what stood against messages in how many, over all nodes or routers: a full interface, no
    /// credit, no energy, no start, a router without budget.
    pub(crate) cycles: u64,
    pub(crate) throttled: [u64; 5],
    /// Of a self-tuned threshold: its mean.
    pub(crate) mean_threshold: Option<f64>,
    pub(crate) power: Option<PowerRecord>,
}

/// Power of the measured part of a replication, window by window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PowerRecord {
    /// The cycle in which the first window begins.
    pub(crate) begins: u64,
    pub(crate) windows: u64,
    /// Sums over windows \[pJ/cycle\].
    pub(crate) sum: f64,
    pub(crate) squares: f64,
    pub(crate) most: f64,
    /// Windows above the budget.
    pub(crate) violations: u64,
    /// Energy by what it is spent on: buffers, arbitration, crossbars, links and interfaces \[pJ\].
    pub(crate) energy: [f64; 4],
    /// The first windows \[pJ/cycle\].
    pub(crate) series: Vec<f64>,
}

impl PowerRecord {
    /// Windows that begin and end within `from..until`.
    fn of(scenario: &Scenario, windows: &[FlitMoves], [from, until]: [u64; 2]) -> Option<Self> {
        let (spec, energies) = (scenario.spec().power?, scenario.energies()?);
        let window = u64::from(spec.window);
        let budget = scenario.power_budget().unwrap_or(f64::INFINITY);
        let first = from.div_ceil(window) as usize;
        let last = ((until / window) as usize).min(windows.len()).max(first);
        let mut record = Self { begins: first as u64 * window, ..Self::default() };
        let mut all = FlitMoves::default();
        for moves in windows.get(first..last).unwrap_or_default() {
            let power = moves.energy(&energies) / window as f64;
            record.windows += 1;
            record.sum += power;
            record.squares += power * power;
            record.most = record.most.max(power);
            // a window at the budget is within it
            record.violations += u64::from(power > budget * (1.0 + 1e-12));
            all = all.and(*moves);
            if record.series.len() < KEPT_WINDOWS {
                record.series.push(power);
            }
        }
        record.energy = all.energy_by_part(&energies);
        Some(record)
    }

    /// Standard deviation of the power of a window \[pJ/cycle\].
    pub(crate) fn deviation(&self) -> Option<f64> {
        let count = self.windows as f64;
        let mean = self.sum / count;
        (self.windows > 1)
            .then(|| ((self.squares / count - mean * mean) * count / (count - 1.0)).max(0.0).sqrt())
    }
}

impl ControlRecord {
    /// Of a run whose messages are measured that are generated in `window`; `None` where there is no control.
    pub(crate) fn of(scenario: &Scenario, simulator: &Simulator, window: [u64; 2]) -> Option<Self> {
        let spec = scenario.spec();
        let has_connections = spec.classes.iter().any(|class| class.connections.is_some());
        if spec.power.is_none() && scenario.channel_adapter().is_none() && !has_connections {
            return None;
        }
        let ControlActivity { dropped, throttled, mean_threshold, windows } = simulator.control();
        let flitwise_simulator::Throttled { room, credit, energy, start, stopped } = throttled;
        Some(Self {
            dropped,
            generated: simulator.generated().to_vec(),
            cycles: simulator.now(),
            throttled: [room, credit, energy, start, stopped],
            mean_threshold,
            power: PowerRecord::of(scenario, &windows, window),
        })
    }

    pub(crate) fn fits(&self, classes: usize) -> bool {
        [0, classes].contains(&self.dropped.len()) && self.generated.len() == classes
    }
}
