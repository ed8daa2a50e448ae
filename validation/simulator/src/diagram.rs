//! The pipeline diagram of the first messages: which stage each flit is in, cycle by cycle.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use flitwise_language::scenario::{ClassSpec, Fault, NetworkSpec, Scenario};

use crate::plain::{Journey, Message, Run};
use crate::supports;
use crate::{Arrival, Delivery};

/// A pipeline diagram, to be printed.
///
/// One line per flit, one column per cycle: `i` over the injection link, then the number of the stage it is in
/// (a letter from stage 10 on), `.` where it waits in an input buffer, `:` where it waits in an output buffer and `-`
/// where it is on a link with a delay.
#[derive(Clone, Debug, Default)]
pub struct Diagram {
    stages: u32,
    network: Option<NetworkSpec>,
    /// By class.
    names: Vec<String>,
    /// In the order in which they entered the network.
    messages: Vec<(Message, Option<Delivery>)>,
    /// Cycles simulated for it.
    cycles: u64,
}

/// Cycles after which messages that are still under way are shown as far as they have come.
const MOST_CYCLES: u64 = 100_000;

/// The diagram of the first `messages` messages that enter the network in a simulation with this seed.
///
/// # Errors
/// What [`supports`] says.
pub fn watch(scenario: &Scenario, seed: u64, messages: u32) -> Result<Diagram, Vec<Fault>> {
    supports(scenario)?;
    let mut diagram = Diagram {
        stages: scenario.data_router().pipeline_stages,
        network: Some(scenario.network().clone()),
        names: scenario.classes().iter().map(|class| class.name.clone()).collect(),
        ..Diagram::default()
    };
    let rate = scenario.mean_rate_of_all() * f64::from(scenario.topology().nodes());
    if rate == 0.0 {
        return Ok(diagram);
    }
    let mut run = Run::new(scenario, seed);
    // until they have come, as far as can be foreseen, and gone
    let end = (2.0 * (f64::from(messages) + 10.0) / rate).min(1e15) as u64 + MOST_CYCLES;
    let start = scenario.classes().iter().map(ClassSpec::start_cycle).fold(0.0, f64::max) as u64;
    let end = scenario.terminating().map_or(end, |run| run.cycles.min(start + end));
    let is_watched = |message: &Message| message.serial.is_some_and(|serial| serial < messages.into());
    while run.now() < end && diagram.messages.len() < messages as usize {
        let delivered = run.step(end).into_iter().filter(|(message, _)| is_watched(message));
        diagram.messages.extend(delivered.map(|(message, delivery)| (message, Some(delivery))));
    }
    diagram.cycles = run.now();
    let under_way = run.under_way().into_iter().filter(is_watched);
    diagram.messages.extend(under_way.map(|message| (message, None)));
    diagram.messages.sort_by_key(|(message, _)| message.serial);
    Ok(diagram)
}

/// Where a flit is in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Over the injection link.
    Injection,
    /// In this stage of a pipeline.
    Stage(u32),
    /// It waits in an input buffer.
    Input,
    /// It waits in an output buffer.
    Output,
    /// On a link, after the cycle in which it left.
    Delayed,
}

impl Cell {
    /// As it is printed.
    pub fn letter(self) -> char {
        match self {
            Self::Injection => 'i',
            Self::Stage(number) => stage(number),
            Self::Input => '.',
            Self::Output => ':',
            Self::Delayed => '-',
        }
    }
}

impl Diagram {
    /// The messages in the order in which they entered the network, with what is known of those that are through.
    pub fn messages(&self) -> &[(Message, Option<Delivery>)] {
        &self.messages
    }

    /// Cycles simulated for it.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// The cells of a flit, by cycle.
    pub fn cells(&self, message: &Message, flit: usize) -> BTreeMap<u64, Cell> {
        let journey = &message.flits[flit];
        let Journey { left, crossed, .. } = journey;
        let mut cells = BTreeMap::new();
        for (link, leaves) in left.iter().enumerate() {
            let on_link = leaves + 1..leaves + 1 + journey.delay(link);
            cells.extend(on_link.map(|cycle| (cycle, Cell::Delayed)));
        }
        cells.extend(left.first().map(|injected| (*injected, Cell::Injection)));
        for (router, crossing) in crossed.iter().enumerate() {
            let enters = left[router] + 1 + journey.delay(router);
            cells.insert(enters, Cell::Stage(1));
            cells.extend((enters + 1..*crossing).map(|cycle| (cycle, Cell::Input)));
            if flit == 0 {
                // stages 2 to P - 2 end with the cycle of the request
                let stages = (2..=self.stages - 2).rev().enumerate();
                cells
                    .extend(stages.map(|(back, number)| {
                        (message.requested[router] - back as u64, Cell::Stage(number))
                    }));
            }
            cells.insert(*crossing, Cell::Stage(self.stages - 1));
            if let Some(leaves) = left.get(router + 1) {
                cells.extend((crossing + 1..*leaves).map(|cycle| (cycle, Cell::Output)));
                cells.insert(*leaves, Cell::Stage(self.stages));
            }
        }
        cells
    }

    /// The line of a flit from cycle `first` on.
    fn line(&self, message: &Message, flit: usize, first: u64) -> String {
        let cells = self.cells(message, flit);
        let Some((last, _)) = cells.last_key_value() else { return String::new() };
        (first..=*last).map(|cycle| cells.get(&cycle).map_or(' ', |cell| cell.letter())).collect()
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
        let network = self.network.as_ref().map(NetworkSpec::topology);
        let has_delays = network.is_some_and(|network| !network.delays().is_empty());
        writeln!(
            f,
            "i over the injection link, 1..{} pipeline stage, . waits in an input buffer, : in an output buffer{}",
            stage(self.stages),
            if has_delays { ", - on a link with a delay" } else { "" }
        )?;
        for (number, (message, delivery)) in self.messages.iter().enumerate() {
            let Arrival { source, destination, class, .. } = message.arrival;
            let place = |node: u32| match &self.network {
                Some(network) => network.topology().address(node),
                None => node.to_string(),
            };
            let name = &self.names[usize::from(class)];
            write!(f, "\nmessage {}: {name}, {} to {}", number + 1, place(source), place(destination))?;
            match delivery {
                Some(delivery) => writeln!(
                    f,
                    ", network latency {} cycles, waiting {}",
                    delivery.network_latency_cycles(),
                    delivery.waiting_cycles()
                )?,
                None => writeln!(f, ", still under way in cycle {}", self.cycles)?,
            }
            let Some(first) = message.flits[0].left.first().copied() else { continue };
            let lines: Vec<String> =
                (0..message.flits.len()).map(|flit| self.line(message, flit, first)).collect();
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
    use flitwise_language::scenario::{ClassSpec, ScenarioSpec};

    use super::*;

    #[test]
    fn a_lone_message_goes_stage_by_stage() {
        let mut spec = ScenarioSpec { classes: vec![ClassSpec::real_time("A", 1e-6)], ..Default::default() };
        spec.classes[0].message_flits = 3;
        spec.network = NetworkSpec::Hypercube { dimension: 1, self_traffic: None };
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
