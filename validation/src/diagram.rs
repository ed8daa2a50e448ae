//! The pipeline diagram of the first messages: which stage each flit is in, cycle by cycle.

use std::fmt::{self, Write};

use flitwise_models::scenario::{Fault, NetworkSpec, Scenario};

use crate::experiment::{nodes, supports};
use crate::simulator::Simulator;
use crate::simulator::observer::Observer;
use crate::simulator::queues::Message;

/// A pipeline diagram, to be printed.
///
/// One line per flit, one column per cycle: `i` over the injection link, then the number of the stage it is in
/// (a letter from stage 10 on), `.` where it waits in an input buffer and `:` where it waits in an output
/// buffer.
#[derive(Clone, Debug, Default)]
pub struct Diagram {
    stages: u32,
    network: Option<NetworkSpec>,
    messages: Vec<Watched>,
    /// Cycles simulated for it.
    cycles: u64,
}

/// One message of a diagram.
#[derive(Clone, Debug)]
struct Watched {
    class: String,
    source: u32,
    destination: u32,
    generated_cycle: u64,
    /// By flit: where it was when.
    flits: Vec<Flit>,
    /// By router: when its header requested an output lane there, and when it got it.
    grants: Vec<(u64, u64)>,
    delivered: bool,
}

/// The cycles in which a flit left the source and each router, and those in which it crossed.
#[derive(Clone, Debug, Default)]
struct Flit {
    left: Vec<u64>,
    crossed: Vec<u64>,
}

/// Cycles after which messages that are still under way are shown as far as they have come.
const MOST_CYCLES: u64 = 1_000_000;

/// The diagram of the first `messages` messages that enter the network in a simulation with this seed.
///
/// # Errors
/// What [`supports`] says.
pub fn watch(scenario: &Scenario, seed: u64, messages: u32) -> Result<Diagram, Vec<Fault>> {
    supports(scenario)?;
    let mut diagram = Diagram {
        stages: scenario.router().pipeline_stages,
        network: Some(scenario.network()),
        messages: Vec::new(),
        cycles: 0,
    };
    let rate: f64 = scenario.classes().iter().map(|class| class.rate).sum();
    let rate = rate * f64::from(nodes(scenario));
    if rate == 0.0 {
        return Ok(diagram);
    }
    let mut watcher = Watcher { scenario, most: messages as usize, watched: Vec::new() };
    let mut simulator = Simulator::new(scenario, seed);
    let mut delivered = Vec::new();
    // until they have come, as far as can be foreseen, and gone
    let end = (2.0 * (f64::from(messages) + 10.0) / rate).min(1e15) as u64 + MOST_CYCLES;
    while simulator.now() < end && !watcher.is_done() {
        delivered.clear();
        simulator.observed(&mut watcher, simulator.now() + 64, &mut delivered);
    }
    diagram.cycles = simulator.now();
    diagram.messages = watcher.watched;
    Ok(diagram)
}

/// Writes down where the first messages are.
struct Watcher<'a> {
    scenario: &'a Scenario,
    most: usize,
    /// By serial number.
    watched: Vec<Watched>,
}

impl Watcher<'_> {
    fn is_done(&self) -> bool {
        self.watched.len() == self.most && self.watched.iter().all(|message| message.delivered)
    }

    fn find(&mut self, message: &Message) -> Option<&mut Watched> {
        let serial = usize::try_from(message.serial).ok().filter(|serial| *serial < self.most)?;
        if serial == self.watched.len() {
            let class = self.scenario.classes().get(usize::from(message.class))?;
            self.watched.push(Watched {
                class: class.name.clone(),
                source: message.source,
                destination: message.destination,
                generated_cycle: message.generated_cycle,
                flits: vec![Flit::default(); class.message_flits as usize],
                grants: Vec::new(),
                delivered: false,
            });
        }
        self.watched.get_mut(serial)
    }
}

impl Observer for Watcher<'_> {
    const WATCHES: bool = true;

    fn granted(&mut self, message: &Message, requested: u64, now: u64) {
        if let Some(watched) = self.find(message) {
            watched.grants.push((requested, now));
        }
    }

    fn crosses(&mut self, message: &Message, flit: u32, now: u64) {
        if let Some(watched) = self.find(message) {
            watched.flits[flit as usize].crossed.push(now);
        }
    }

    fn leaves(&mut self, message: &Message, flit: u32, to_router: bool, now: u64) {
        if let Some(watched) = self.find(message) {
            watched.flits[flit as usize].left.push(now);
            watched.delivered |= !to_router && flit as usize + 1 == watched.flits.len();
        }
    }
}

impl Watched {
    /// The line of a flit from cycle `first` on.
    fn line(&self, flit: usize, stages: u32, first: u64) -> String {
        let Flit { left, crossed } = &self.flits[flit];
        let mut cells: Vec<char> = Vec::new();
        let mut put = |cycle: u64, cell: char| {
            let at = (cycle - first) as usize;
            if cells.len() <= at {
                cells.resize(at + 1, ' ');
            }
            cells[at] = cell;
        };
        if let Some(injected) = left.first() {
            put(*injected, 'i');
        }
        for (router, crossing) in crossed.iter().enumerate() {
            let enters = left[router] + 1;
            put(enters, stage(1));
            (enters + 1..*crossing).for_each(|cycle| put(cycle, '.'));
            if let (0, Some((requested, _))) = (flit, self.grants.get(router)) {
                // stages 2 to P - 2 end with the cycle of the request
                for (back, number) in (2..=stages - 2).rev().enumerate() {
                    put(requested - back as u64, stage(number));
                }
            }
            put(*crossing, stage(stages - 1));
            if let Some(leaves) = left.get(router + 1) {
                (crossing + 1..*leaves).for_each(|cycle| put(cycle, ':'));
                put(*leaves, stage(stages));
            }
        }
        cells.into_iter().collect()
    }

    /// The cycles in which the header entered and the tail left the network, if it has.
    fn span(&self) -> Option<(u64, u64)> {
        let entered = self.flits.first()?.left.first()? + 1;
        let left = *self.flits.last()?.left.last()?;
        self.delivered.then_some((entered, left))
    }
}

/// A stage as one character.
fn stage(number: u32) -> char {
    char::from_digit(number, 36).unwrap_or('+')
}

impl fmt::Display for Diagram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.messages.is_empty() {
            return writeln!(f, "no message in {} cycles", self.cycles);
        }
        writeln!(
            f,
            "i over the injection link, 1..{} pipeline stage, . waits in an input buffer, : in an output buffer",
            stage(self.stages)
        )?;
        for (number, message) in self.messages.iter().enumerate() {
            let Watched { class, source, destination, generated_cycle, .. } = message;
            let place = |node: u32| match self.network {
                Some(NetworkSpec::Hypercube { dimension }) => {
                    format!("{node:0width$b}", width = dimension as usize)
                }
                _ => format!("{node}"),
            };
            write!(f, "\nmessage {}: {class}, {} to {}", number + 1, place(*source), place(*destination))?;
            match message.span() {
                Some((entered, left)) => writeln!(
                    f,
                    ", network latency {} cycles, waiting {}",
                    left - entered + 1,
                    entered - generated_cycle
                )?,
                None => writeln!(f, ", still under way in cycle {}", self.cycles)?,
            }
            let Some(first) = message.flits[0].left.first().copied() else { continue };
            let lines: Vec<String> =
                (0..message.flits.len()).map(|flit| message.line(flit, self.stages, first)).collect();
            let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
            writeln!(f, "{:>8}  {}", "cycle", ruler(first, width))?;
            for (flit, line) in lines.iter().enumerate() {
                writeln!(f, "flit {:>3}  {line}", flit + 1)?;
            }
        }
        Ok(())
    }
}

/// Numbers of cycles above the columns, every tenth from the first on.
fn ruler(first: u64, width: usize) -> String {
    let mut text = String::new();
    while text.len() < width {
        let at = first + text.len() as u64;
        let _ = write!(text, "{at:<10}");
        // a long number takes the place of the next
        while !text.len().is_multiple_of(10) {
            text.push(' ');
        }
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use flitwise_models::scenario::{ClassSpec, ScenarioSpec};

    use super::*;

    #[test]
    fn a_lone_message_goes_stage_by_stage() {
        let mut spec = ScenarioSpec { classes: vec![ClassSpec::real_time("A", 1e-6)], ..Default::default() };
        spec.classes[0].message_flits = 3;
        spec.network = NetworkSpec::Hypercube { dimension: 1 };
        let diagram = watch(&spec.check().unwrap(), 1, 1).unwrap();
        let text = diagram.to_string();
        let lines: Vec<&str> = text.lines().skip(4).collect();
        assert_eq!(
            lines,
            ["flit   1  i1234512345", "flit   2   i1..451..45", "flit   3    i1..451..45"],
            "{text}"
        );
        assert!(text.contains("network latency 12 cycles, waiting 1"), "{text}");
    }

    #[test]
    fn no_traffic_makes_no_diagram() {
        let spec = ScenarioSpec { classes: vec![ClassSpec::real_time("A", 0.0)], ..Default::default() };
        assert_eq!(watch(&spec.check().unwrap(), 1, 3).unwrap().to_string(), "no message in 0 cycles\n");
    }
}
