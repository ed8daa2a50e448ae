//! From what was found to an [`Answer`]: names, reasons, notes.

use super::saturation::load_factors;
use super::solution::{Channel, ClassSolution, Latencies, NoSolution, Outcome, Starvation};
use super::source_wait::SourceWait;
use super::traffic::Traffic;
use super::{Options, Parts};
use crate::answer::{Answer, ChannelAnswer, ClassAnswer, Report, Saturation};
use crate::model::Model;
use flitwise_language::quantity::Means;
use flitwise_language::scenario::{ClassKind, ClassSpec, Scenario, Scheduler};

pub(super) fn answer(scenario: &Scenario, traffic: &Traffic, solved: Parts, options: &Options) -> Answer {
    let Parts { report, answered: _, outcomes, state: _, record: _ } = solved;
    let mut notes = Vec::new();
    note_scheduler(scenario, &mut notes);
    note_sources(scenario, &mut notes);
    note_ports(scenario, &mut notes);
    note_negative_blocking(scenario, &outcomes, &mut notes);
    note_multiplied_share(scenario, traffic, &mut notes);

    let words = Words { scenario, traffic, options };
    let mut classes: Vec<ClassAnswer> = scenario
        .classes()
        .iter()
        .enumerate()
        .map(|(index, class)| {
            let outcome = outcomes.iter().find(|outcome| outcome.class == index);
            let found = outcome.map_or(Err(&NoSolution::NoShare), |outcome| outcome.found.as_ref());
            words.class(class, found)
        })
        .collect();
    if options.saturation_loads {
        words.saturation_loads(&mut classes);
    }
    Answer {
        model: Model::Published,
        scenario: scenario.spec().clone(),
        report: Report::new(report, options.details),
        saturated: classes.iter().any(|class| class.saturated),
        classes,
        validity: None,
        sections: Default::default(),
        notes,
    }
}

fn note_scheduler(scenario: &Scenario, notes: &mut Vec<String>) {
    let scheduler = scenario.router().scheduler;
    if scheduler != Scheduler::VirtualClock {
        notes.push(format!(
            "the published model is of virtual-clock; the paper (section 4.1, Fig. 6) takes {} to behave alike",
            scheduler.word()
        ));
    }
}

fn note_sources(scenario: &Scenario, notes: &mut Vec<String>) {
    if scenario.classes().iter().any(|class| class.source.is_bursty()) {
        notes.push(
            "network latencies under ON/OFF sources are those of Poisson sources of the same rate \
             (section 4.2, Fig. 12)"
                .to_owned(),
        );
    }
}

/// The first factor of A.2 turns negative where fewer messages start on a channel than would end there.
/// Ports of a single router, which no equation has.
fn note_ports(scenario: &Scenario, notes: &mut Vec<String>) {
    const OF_TABLE_1: u32 = 16;
    let (network, nodes) = (scenario.topology(), scenario.topology().nodes());
    if network.routers() == 1 && nodes != OF_TABLE_1 {
        notes.push("network.ports: the equations of a single router do not depend on its ports".to_owned());
    }
}

fn note_negative_blocking(scenario: &Scenario, outcomes: &[Outcome], notes: &mut Vec<String>) {
    for outcome in outcomes {
        let Ok(found) = &outcome.found else { continue };
        if let Some(channel) = found.channels.iter().find(|channel| channel.middle_length < 0.0) {
            notes.push(format!(
                "{}: Bmid on {} is negative ({:.1} flits): appendix A.2 is outside its range at this load",
                scenario.classes()[outcome.class].name,
                name(channel.channel),
                channel.middle_length
            ));
        }
    }
}

fn note_multiplied_share(scenario: &Scenario, traffic: &Traffic, notes: &mut Vec<String>) {
    let reserved: f64 = traffic.vticks.iter().map(|vtick| 1.0 / vtick).sum();
    let given = scenario.classes().iter().any(|class| class.vtick.is_some());
    if given && reserved > 1.0 + 1e-9 {
        notes.push(format!("the Vticks reserve {reserved:.3} flits/cycle of a link that carries 1"));
    }
}

/// A part of a latency that is negative is none: beyond the range of A.2, which a note names. What rounding left below
/// zero is zero.
fn no_negative_parts(answer: &mut ClassAnswer) {
    const ROUNDING: f64 = 1e-9;
    let ClassAnswer { means: Means { blocking_cycles, sharing_cycles, .. }, reasons, .. } = answer;
    for (field, part) in [("blocking_cycles", blocking_cycles), ("sharing_cycles", sharing_cycles)] {
        let Some(cycles) = part.filter(|cycles| *cycles < 0.0) else { continue };
        *part = (cycles > -ROUNDING).then_some(0.0);
        if part.is_none() {
            reasons.insert(
                field.to_owned(),
                format!("negative as printed ({cycles:.1} cycles), beyond the range of A.2"),
            );
        }
    }
}

fn name(channel: Channel) -> String {
    match channel {
        Channel::Output => "the output link".to_owned(),
        Channel::Network(s) => format!("channel {s}"),
        Channel::Ejection => "the ejection channel".to_owned(),
    }
}

struct Words<'a> {
    scenario: &'a Scenario,
    traffic: &'a Traffic,
    options: &'a Options,
}

impl Words<'_> {
    fn class(&self, class: &ClassSpec, found: Result<&ClassSolution, &NoSolution>) -> ClassAnswer {
        let mut answer = ClassAnswer::of(class);
        match found {
            Ok(solution) => self.solved(class, solution, &mut answer),
            Err(why) => self.unsolved(class, *why, &mut answer),
        }
        answer
    }

    fn solved(&self, class: &ClassSpec, found: &ClassSolution, answer: &mut ClassAnswer) {
        answer.network_latency_cycles = Some(found.latency());
        answer.transfer_cycles = Some(found.transfer);
        answer.blocking_cycles = Some(found.blocking);
        answer.sharing_cycles = Some(found.sharing);
        answer.blocking_probability = Some(found.blocking_probability);
        answer.blocking_length_flits = Some(found.blocking_length);
        answer.cycles_per_flit = Some(found.cycles_per_flit);
        answer.utilization = Some(found.utilization);
        answer.router_load = Some(found.router_load);
        answer.source_load = Some(found.source_load);
        answer.accepted_rate_messages_per_cycle = Some(found.accepted_rate);
        answer.saturated = found.saturated();

        let no_wait = match (self.saturation(class, found), class.source.is_bursty(), found.wait) {
            (Some(saturation), _, _) => {
                let because = format!("saturated: {}", saturation.because);
                answer.saturation = Some(saturation);
                Some(because)
            }
            (None, true, _) => {
                Some("the published model has no waiting time under ON/OFF sources (section 4.2)".to_owned())
            }
            (None, false, SourceWait::Finite { cycles }) => {
                answer.waiting_cycles = Some(cycles);
                answer.total_latency_cycles = Some(found.latency() + cycles);
                None
            }
            (None, _, SourceWait::Saturated { .. }) => unreachable!("such a class has a saturation"),
        };
        if let Some(because) = no_wait {
            for field in ["waiting_cycles", "total_latency_cycles"] {
                answer.reasons.insert(field.to_owned(), because.clone());
            }
        }
        no_negative_parts(answer);
        self.distribution(class, found.latencies.as_ref(), None, answer);
        if self.options.details {
            let message = f64::from(class.message_flits);
            answer.per_channel =
                Some(found.channels.iter().map(|channel| channel_answer(channel, message)).collect());
            if let Some(Latencies { all, by_hops }) = &found.latencies {
                answer.show_distributions(all, by_hops);
            }
        }
    }

    fn unsolved(&self, class: &ClassSpec, why: NoSolution, answer: &mut ClassAnswer) {
        let because = match why {
            NoSolution::NoShare => {
                "rate is 0 and no vtick is given, so links reserve nothing for the class".to_owned()
            }
            NoSolution::NoRoom { channel } => {
                format!("saturated: real-time traffic leaves no idle cycle on {}", name(channel))
            }
            NoSolution::Closed { channel } => {
                format!("saturated: {} is full and takes no new message", name(channel))
            }
            NoSolution::Unsettled => {
                "saturated: so far beyond its load that the equations settle nowhere".to_owned()
            }
        };
        let bottleneck = match why {
            NoSolution::NoShare => None,
            NoSolution::NoRoom { channel } | NoSolution::Closed { channel } => Some(name(channel)),
            NoSolution::Unsettled => Some("the network".to_owned()),
        };
        if let Some(bottleneck) = bottleneck {
            answer.saturated = true;
            answer.saturation = Some(Saturation::new(bottleneck, because.trim_start_matches("saturated: ")));
        }
        answer.lacks_means(&because);
        self.distribution(class, None, Some(&because), answer);
    }

    /// Deadlines and percentiles, or why there are none.
    fn distribution(
        &self,
        class: &ClassSpec,
        latencies: Option<&Latencies>,
        because: Option<&str>,
        answer: &mut ClassAnswer,
    ) {
        let missing = match (because, class.kind) {
            (Some(because), _) => because,
            (None, ClassKind::BestEffort) => {
                "the published model has no latency distribution of best-effort traffic (section 3.4)"
            }
            (None, _) => "distributions were not asked for",
        };
        let found = latencies.map(|latencies| (&latencies.all, latencies.by_hops.as_slice())).ok_or(missing);
        answer.set_distributions(class, found);
    }

    /// What gives way, if anything does; the load at which it does is filled in later.
    fn saturation(&self, class: &ClassSpec, found: &ClassSolution) -> Option<Saturation> {
        let (bottleneck, because) = match (found.wait, found.starved) {
            (_, Some(Starvation { channel, company })) => {
                let members = (0..self.traffic.real_time.len()).filter(|member| company >> member & 1 == 1);
                let names = members.map(|member| {
                    self.scenario.classes()[self.traffic.real_time[member].class].name.as_str()
                });
                let names: Vec<&str> = names.filter(|name| *name != class.name).collect();
                let beside = match names.as_slice() {
                    [] => String::new(),
                    _ => format!(" beside {}", names.join(", ")),
                };
                let because =
                    format!("{} serves it{beside} more slowly than its messages come", name(channel));
                (name(channel), because)
            }
            (SourceWait::Saturated { load }, None) => {
                let because = format!("its source queue has load {load:.4} (rate times network latency)");
                ("the source queue".to_owned(), because)
            }
            (SourceWait::Finite { .. }, None) => return None,
        };
        Some(Saturation::new(bottleneck, because))
    }

    fn saturation_loads(&self, classes: &mut [ClassAnswer]) {
        let saturated: Vec<usize> = (0..classes.len()).filter(|class| classes[*class].saturated).collect();
        let factors = load_factors(self.scenario, &saturated, self.options);
        for (class, factor) in saturated.into_iter().zip(factors) {
            if let Some(saturation) = &mut classes[class].saturation {
                let factor = factor.ok_or("it is saturated at any load");
                saturation.set_load(factor, self.scenario.classes()[class].rate);
            }
        }
    }
}

fn channel_answer(found: &super::solution::ChannelSolution, message_flits: f64) -> ChannelAnswer {
    let channel = match found.channel {
        Channel::Output => "output".to_owned(),
        Channel::Network(s) => s.to_string(),
        Channel::Ejection => "ejection".to_owned(),
    };
    ChannelAnswer {
        channel,
        latency_cycles: found.latency,
        rate_messages_per_cycle: found.rate,
        started_rate_messages_per_cycle: found.started_rate,
        utilization: found.rate * message_flits,
        router_load: (found.latency * found.rate).min(1.0),
        blocking_probability: found.blocking_probability,
        blocking_length_flits: found.blocking_length,
        middle_blocking_length_flits: found.middle_length,
        cycles_per_flit: found.cycles_per_flit,
        idle_probability: found.idle,
    }
}
