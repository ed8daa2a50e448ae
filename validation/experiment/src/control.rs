//! What admission, congestion and power control have done in a replication.

use flitwise_language::scenario::{Requests, Scenario};
use serde::{Deserialize, Serialize};

use flitwise_simulator::{Channel, ControlActivity, FlitMoves, Outcome, Refuser, Simulator};

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
    /// By class.
    pub(crate) connections: Vec<ConnectionRecord>,
    /// What connections hold of each channel, on average over the measured part; not kept, as details are not
    /// \[flits/cycle\].
    #[serde(skip)]
    pub(crate) reserved: Vec<(Channel, f64)>,
}

/// Requests of a class: all of a run in which connections stand for ever, else those of the measured part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ConnectionRecord {
    pub(crate) admitted: u64,
    /// Refused by the interface, for bandwidth, and for power.
    pub(crate) refused: [u64; 3],
    /// Sum of the times from the request to the answer, of those that were admitted \[cycles\].
    pub(crate) set_up: u64,
    /// Connections that may send, on average over the measured part.
    pub(crate) standing: f64,
}

impl ConnectionRecord {
    fn of(scenario: &Scenario, simulator: &Simulator, class: usize, [from, until]: [u64; 2]) -> Self {
        let mut record = Self::default();
        let Some(connections) = scenario.connections(class) else { return record };
        let is_counted = |cycle: u64| match connections.requests {
            Requests::AtStart { .. } => true,
            Requests::Poisson { .. } => (from..until).contains(&cycle),
        };
        let of_class = simulator.requests().iter().filter(|one| usize::from(one.class) == class);
        for request in of_class.filter(|request| is_counted(request.cycle)) {
            match request.outcome {
                Outcome::Pending => {}
                Outcome::Admitted { ack, .. } => {
                    record.admitted += 1;
                    record.set_up += ack - request.cycle;
                }
                Outcome::Refused { by, .. } => {
                    record.refused[match by {
                        Refuser::Interface => 0,
                        Refuser::Bandwidth => 1,
                        Refuser::Power => 2,
                    }] += 1;
                }
            }
        }
        if until > from {
            record.standing = simulator.standing(class, from, until);
        }
        record
    }

    /// Requests with an answer.
    pub(crate) fn answered(&self) -> u64 {
        self.admitted + self.refused.iter().sum::<u64>()
    }
}

/// What connections hold of each channel, where there are any.
fn reserved(simulator: &Simulator, [from, until]: [u64; 2]) -> Option<Vec<(Channel, f64)>> {
    (until > from && !simulator.requests().is_empty()).then(|| simulator.reserved(from, until))
}

/// Mean holding times after which connections that come and go are as many as ever.
const HOLDING_TIMES: f64 = 5.0;

/// The cycle from which on connections stand: those of the start are set up, others as many as ever.
pub(crate) fn connections_stand_from(scenario: &Scenario) -> u64 {
    // of lone signals where they are messages
    let hop = scenario.signal_delay().hop.ceil();
    let set_up = 2.0 * (f64::from(scenario.topology().most_hops()) + 2.0) * hop;
    let of_class = |class: usize| {
        let settles = match scenario.connections(class)?.requests {
            Requests::AtStart { spread, .. } => spread,
            Requests::Poisson { holding, .. } => HOLDING_TIMES * holding,
        };
        Some(scenario.classes()[class].start_cycle() + settles + set_up)
    };
    let last = (0..scenario.classes().len()).filter_map(of_class).fold(0.0, f64::max);
    last.ceil().min(1e15) as u64
}

/// What an ON and an OFF period take on average, the longest, where connections stand for the whole run \[cycles\].
pub(crate) fn unit_interval(scenario: &Scenario) -> Option<f64> {
    let of_class = |class: usize| {
        let connections = scenario.connections(class)?;
        let stands = matches!(connections.requests, Requests::AtStart { count, .. } if count > 0);
        let is_on_off = stands && !scenario.classes()[class].source.has_frames();
        is_on_off.then(|| connections.on * connections.peak / connections.mean)
    };
    (0..scenario.classes().len()).filter_map(of_class).reduce(f64::max)
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
            connections: (0..spec.classes.len())
                .map(|class| ConnectionRecord::of(scenario, simulator, class, window))
                .collect(),
            reserved: reserved(simulator, window).unwrap_or_default(),
        })
    }

    pub(crate) fn fits(&self, classes: usize) -> bool {
        [0, classes].contains(&self.dropped.len())
            && self.generated.len() == classes
            && self.connections.len() == classes
    }
}
