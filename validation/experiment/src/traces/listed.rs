//! Classes whose messages come from traces.

use flitwise_language::document::Place;
use flitwise_language::scenario::{Fault, Scenario, SourceSpec};
use flitwise_simulator::{Arrival, Offer, offers_of};

use super::{Columns, Readership, Row, Trace};
use crate::ReadFile;

/// Messages of a class.
pub(crate) struct TracedClass {
    pub(crate) class: usize,
    pub(crate) compression: f64,
    pub(crate) columns: Columns,
    pub(crate) rows: Vec<Row>,
}

impl TracedClass {
    /// Cycles of a unit of its times, and flits of a unit of its lengths.
    fn scale(&self, scenario: &Scenario) -> (f64, f64) {
        match self.columns {
            Columns::CyclesAndFlits => (1.0, 1.0),
            Columns::NsAndBytes => {
                let (cycle_ns, flit_bytes) = units(scenario).expect("such columns are refused without units");
                (1.0 / cycle_ns, 1.0 / flit_bytes)
            }
        }
    }

    /// The length of a message \[flits\].
    fn flits(&self, row: &Row, scenario: &Scenario) -> u32 {
        (f64::from(row.length) * self.scale(scenario).1).ceil() as u32
    }
}

/// Messages of traces over routers, at most, once they are cut: every replication has a list of them.
const MOST_MESSAGES: u64 = 1_000_000;

/// Checks a scenario of routers and reads its traces.
pub(crate) fn prepared(scenario: &Scenario, read: &ReadFile<'_>) -> Result<Vec<TracedClass>, Vec<Fault>> {
    flitwise_simulator::supports_with_messages(scenario)?;
    let listed = listed(scenario, read)?;
    let messages = |one: &TracedClass| {
        let most = scenario.classes()[one.class].message_flits;
        one.rows.iter().map(|row| u64::from(one.flits(row, scenario).div_ceil(most))).sum::<u64>()
    };
    let messages: u64 = listed.iter().map(messages).sum();
    if messages <= MOST_MESSAGES {
        return Ok(listed);
    }
    let class = &scenario.classes()[listed[0].class];
    Err(vec![Fault {
        place: Place::Program,
        key: format!("class.{}.source.file", class.name),
        found: format!("{messages} messages of up to {} flits", class.message_flits),
        wanted: format!("at most {MOST_MESSAGES} in a run"),
        help: Some("raise message_flits, or split the file".to_owned()),
    }])
}

/// Reads every trace once.
pub(crate) fn listed(scenario: &Scenario, read: &ReadFile<'_>) -> Result<Vec<TracedClass>, Vec<Fault>> {
    let file = |class: usize| match &scenario.classes()[class].source {
        SourceSpec::Trace { file, compression } => Some((class, file.as_str(), *compression)),
        _ => None,
    };
    let all: Vec<(usize, &str, f64)> = (0..scenario.classes().len()).filter_map(file).collect();
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    let (network, columns) = (scenario.topology(), columns(scenario));
    let (hosts, self_traffic) = (network.nodes(), network.self_traffic());
    let readership = Readership { hosts, self_traffic, classes: &[], columns: &columns };
    for (place, (first, name, _)) in all.iter().enumerate() {
        if all[..place].iter().any(|(_, other, _)| other == name) {
            continue;
        }
        let own: Vec<(usize, f64)> = all
            .iter()
            .filter(|(_, other, _)| other == name)
            .map(|(class, _, factor)| (*class, *factor))
            .collect();
        let names: Vec<&str> =
            own.iter().map(|(class, _)| scenario.classes()[*class].name.as_str()).collect();
        let key = format!("class.{}.source.file", scenario.classes()[*first].name);
        let trace = text(name, key, read)
            .and_then(|text| Trace::read(name, &text, &Readership { classes: &names, ..readership }));
        match trace {
            Ok(trace) => found.extend(own.iter().enumerate().map(|(place, (class, compression))| {
                let rows = trace.rows.iter().filter(|row| row.class == place).copied().collect();
                TracedClass { class: *class, compression: *compression, columns: trace.columns, rows }
            })),
            Err(more) => faults.extend(more),
        }
    }
    if faults.is_empty() { Ok(found) } else { Err(faults) }
}

/// The text of a file, whose name stands under `key`.
fn text(name: &str, key: String, read: &ReadFile<'_>) -> Result<String, Vec<Fault>> {
    read(name).map_err(|error| {
        let (found, wanted) =
            (format!("\"{name}\", which cannot be read: {error}"), "a trace file".to_owned());
        let help = Some("its name begins at the directory in which the command runs".to_owned());
        vec![Fault { place: Place::Program, key, found, wanted, help }]
    })
}

/// What times and lengths may be numbers of: over routers nanoseconds and bytes only where `[units]` says what a cycle
/// and a flit are.
fn columns(scenario: &Scenario) -> Vec<Columns> {
    let of_routers = scenario.switch().is_none().then_some(Columns::CyclesAndFlits);
    let has_units = scenario.switch().is_some() || units(scenario).is_some();
    of_routers.into_iter().chain(has_units.then_some(Columns::NsAndBytes)).collect()
}

/// Nanoseconds of a cycle and bytes of a flit.
fn units(scenario: &Scenario) -> Option<(f64, f64)> {
    let units = scenario.spec().units.as_ref()?;
    Some((units.cycle_ns()?, f64::from(units.flit_bits?) / 8.0))
}

/// Messages of traces over routers, in the order of their cycles: those before the end of their class and of the run,
/// cut into messages of the length of their class, of which the last may be shorter.
pub(crate) fn routed(listed: &[TracedClass], scenario: &Scenario, seed: u64) -> Vec<Offer> {
    let end = scenario.terminating().map_or(u64::MAX, |run| run.cycles);
    let (mut arrivals, mut index) = (Vec::new(), 0_u64);
    for one in listed {
        let spec = &scenario.classes()[one.class];
        let cycles = one.scale(scenario).0 / one.compression;
        let end = spec.end.map_or(end, |last| end.min(last.ceil() as u64));
        for row in &one.rows {
            let Row { source, destination, .. } = *row;
            let cycle = (spec.start_cycle() + row.time * cycles).ceil() as u64;
            let arrival = Arrival { cycle, source, destination, class: one.class as u8 };
            let mut left = one.flits(row, scenario);
            while left > 0 && cycle < end {
                let flits = left.min(spec.message_flits);
                arrivals.push((arrival, flits, index));
                (left, index) = (left - flits, index + 1);
            }
        }
    }
    arrivals.sort_unstable_by_key(|(arrival, _, index)| (arrival.cycle, *index));
    offers_of(scenario, arrivals.into_iter().map(|(arrival, flits, _)| (arrival, flits)), seed)
}
