//! The router-nic model explained: where the time of a message goes from one application to another, and what makes
//! frames late.

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassKind, FrameDeadline, Pacing, RunPhase, Scenario, Scheduler};
use flitwise_models::answer::{Answer, ClassAnswer};
use flitwise_models::router_nic::{HostInterface, InterfaceKind, stationary_miss_probability};

use super::derivation::{Application, Derivation, Equation, Section};
use super::equations::equations;
use super::formula::Values;
use super::{sections, wanted};

equations! {
    DOORBELL: "doorbell", "cycles", "doorbell_{c} = W_{c}^{f} + f",
        "The application rings, and the firmware takes f cycles for each message. Before it waits those that rang \
         before, of all classes (traditional), or of its own and those above it (qos).";
    BUS: "bus", "cycles", "bus_{c} = d + g_{c} + W_{c}^{b}",
        "The descriptor and then the message come over the host bus, jobs of d and g cycles. They wait for the \
         jobs of others, those of messages that have arrived among them, but not once more for those that the \
         message has already waited for in front of the firmware.";
    WIRE: "wire", "cycles", "wire_{c} = o + 1 + W_{c}^{w}",
        "At the link the message waits for a virtual channel of its class and, where whole messages are sent, for \
         those before it and for o cycles of programming. One cycle takes the header into the router.";
    TRANSFER: "transfer", "cycles", "transfer_{c} = P - 1 + P * h + M_{c}",
        "A lone message: its header takes P cycles a router, its M flits follow one a cycle; h is the mean \
         number of channels crossed, 0 in a single router, and M the mean length over the run.";
    OF_CONTROL: "control", "cycles", "contention_{c} = L_{c} - transfer_{c}",
        "Control goes before all others, and is so rare that it does not meet itself.";
    OF_REAL_TIME: "real time", "cycles", "contention_{c} = L_{c} - transfer_{c}",
        "Real time meets real time alone. The clock of each message begins anew, so that at every link the one \
         that has sent least goes first, as far as there are virtual channels to share it. What a message waits \
         at its links adds up.";
    OF_BEST_EFFORT: "best effort", "cycles", "contention_{c} = L_{c} - transfer_{c}",
        "Best effort goes when nothing above it wants to: real time interrupts it at the link of the interface and \
         at that of the output, and in what is left it waits for its like.";
    OF_ALL: "fifo", "cycles", "contention_{c} = L_{c} - transfer_{c}",
        "Nothing tells classes apart: a message waits for those of all classes, at the link of the interface and \
         at that of the output.";
    NETWORK: "network", "cycles", "L_{c} = transfer_{c} + contention_{c}",
        "From the header's entry into the first router until the tail is out of the last.";
    RECEIVE: "receive", "cycles", "receive_{c} = W_{c}^{r} + g_{c}",
        "At the other end the message goes over the host bus once more, into the memory of the application.";
    END_TO_END: "end to end", "cycles", "E_{c} = doorbell_{c} + bus_{c} + wire_{c} + L_{c} + receive_{c}",
        "The parts follow each other on the message's way, so that they add up.";
    WAIT: "waiting", "cycles", "W_{c} = 1 + W_{c}^{w}",
        "An ideal interface has the message at once. It waits there for a virtual channel of its class; one cycle \
         takes the header into the router.";
    TOTAL: "(1)", "cycles", "E_{c} = W_{c} + L_{c}",
        "What a message takes: waiting at the interface, and in the network.";
    FRAME: "frame", "cycles", "F_{c} = T_{c} + E_{c}",
        "The last message of a frame starts at the end of the interval T, so that the frame is complete E after \
         that. What varies of it, and what deadlines of frames meet, is E.";
    RECORDS: "records", "", "P_{records} = (H_{K} - 1) / (K - 1)",
        "A frame misses the ratchet if it comes later in its interval than all before it: if it is a record. As \
         long as nothing changes, the k-th of K frames is that with probability 1 / k, whatever the law of delays \
         is; H = 1 + 1/2 + .. + 1/K is their sum, and the first frame has no deadline. So it is misses beyond \
         these, after a change of the mix, that tell of the network.";
}

/// The account of an answer of the router-nic model.
pub(super) fn derivation(scenario: &Scenario, answer: &Answer, only: Option<usize>) -> Derivation {
    let mut derivation = Derivation::default();
    let wanted = wanted(answer, only);
    question(derivation.section("What is asked"), scenario, answer, &wanted);
    let is_answered = |(_, class): &&(usize, &ClassAnswer)| class.total_latency_cycles.is_some();
    let answered: Vec<_> = wanted.iter().filter(is_answered).copied().collect();
    let subject = Subject { scenario, host: HostInterface::of(scenario), classes: &answered };
    if !answered.is_empty() {
        subject.parts(derivation.section("Where the time of a message goes"));
    }
    let of_frames: Vec<_> =
        answered.iter().filter(|(index, _)| scenario.frames(*index).is_some()).copied().collect();
    if !of_frames.is_empty() {
        Subject { classes: &of_frames, ..subject }.frames(derivation.section("When a frame is late"));
    }
    sections::tell(&mut derivation, answer);
    derivation
}

fn question(section: &mut Section, scenario: &Scenario, answer: &Answer, wanted: &[(usize, &ClassAnswer)]) {
    let many = if scenario.phases().is_empty() {
        ""
    } else {
        " The mix changes; means are over all messages of the run, and a table has them phase by phase."
    };
    section.text(format!(
        "Wanted is the mean time of a message of each class, part by part on its way. Classes have levels: control \
         goes before real time, real time before best effort.{many}"
    ));
    sections::classes(section, scenario, answer, wanted);
}

/// Mean over all messages of a class in the run of what `of` says of a phase.
fn over_run(scenario: &Scenario, class: usize, of: impl Fn(&Scenario) -> f64) -> f64 {
    let phases = scenario.phases();
    let alone = [(1.0, scenario)];
    let each = phases.iter().map(|phase| (phase.ends - phase.begins, &phase.scenario));
    let each = each.chain(alone.into_iter().filter(|_| phases.is_empty()));
    let (mut sum, mut all) = (0.0, 0.0);
    for (duration, phase) in each {
        let messages = duration * phase.classes()[class].rate;
        sum += messages * of(phase);
        all += messages;
    }
    sum / all
}

/// Classes that have an answer.
#[derive(Clone, Copy)]
struct Subject<'a> {
    scenario: &'a Scenario,
    host: Option<HostInterface>,
    classes: &'a [(usize, &'a ClassAnswer)],
}

impl Subject<'_> {
    /// What the symbols of a class stand for.
    fn symbols(&self, index: usize, class: &ClassAnswer) -> Values {
        let mean = |quantity| class.means.get(quantity).copied().unwrap_or(f64::NAN);
        let (scenario, host) = (self.scenario, self.host);
        let flits = |phase: &Scenario| phase.mean_message_flits(index);
        let (transfer, network) = (mean(Quantity::Transfer), mean(Quantity::NetworkLatency));
        let firmware = host.map_or(f64::NAN, |host| host.firmware_cycles);
        let sends_whole = |host: &HostInterface| host.kind != InterfaceKind::QosByFlit;
        let set_up = host.filter(sends_whole).map_or(0.0, |host| host.send_setup_cycles);
        let job =
            host.map_or(f64::NAN, |host| over_run(scenario, index, |phase| host.bus.message(flits(phase))));
        let waiting = mean(Quantity::Waiting);
        let wire = host.map_or(waiting, |_| mean(Quantity::Wire));
        let whole = if host.is_some() { Quantity::EndToEndLatency } else { Quantity::TotalLatency };
        let interval = scenario.frames(index).map_or(f64::NAN, |frames| frames.interval);
        Values::of([
            ("P", f64::from(scenario.router().pipeline_stages)),
            ("h", scenario.topology().mean_hops()),
            ("M_{c}", over_run(scenario, index, flits)),
            ("f", firmware),
            ("d", host.map_or(f64::NAN, |host| host.bus.descriptor())),
            ("g_{c}", job),
            ("o", set_up),
            ("W_{c}^{f}", mean(Quantity::Doorbell) - firmware),
            ("doorbell_{c}", mean(Quantity::Doorbell)),
            (
                "W_{c}^{b}",
                mean(Quantity::HostBus) - host.map_or(f64::NAN, |host| host.bus.descriptor()) - job,
            ),
            ("W_{c}^{r}", mean(Quantity::Receive) - job),
            ("bus_{c}", mean(Quantity::HostBus)),
            ("W_{c}^{w}", wire - 1.0 - set_up),
            ("wire_{c}", wire),
            ("W_{c}", waiting),
            ("transfer_{c}", transfer),
            ("contention_{c}", network - transfer),
            ("L_{c}", network),
            ("receive_{c}", mean(Quantity::Receive)),
            ("E_{c}", mean(whole)),
            ("T_{c}", interval),
            ("F_{c}", interval + mean(whole)),
        ])
    }

    fn steps(&self, section: &mut Section, equations: &[&Equation]) {
        section.steps(equations, self.classes, |index, class| self.symbols(index, class));
    }

    /// Steps of the classes of a kind, if there are any.
    fn steps_of(&self, section: &mut Section, kind: ClassKind, equation: &Equation) {
        let of_kind = |(index, _): &&(usize, &ClassAnswer)| self.scenario.classes()[*index].kind == kind;
        let classes: Vec<_> = self.classes.iter().filter(of_kind).copied().collect();
        if !classes.is_empty() {
            Subject { classes: &classes, ..*self }.steps(section, &[equation]);
        }
    }

    fn parts(&self, section: &mut Section) {
        let before: &[&Equation] = if self.host.is_some() { &[&DOORBELL, &BUS, &WIRE] } else { &[&WAIT] };
        self.steps(section, before);
        self.steps(section, &[&TRANSFER]);
        if self.scenario.router().scheduler == Scheduler::Fifo {
            self.steps(section, &[&OF_ALL]);
        } else {
            self.steps_of(section, ClassKind::Control, &OF_CONTROL);
            self.steps_of(section, ClassKind::RealTime, &OF_REAL_TIME);
            self.steps_of(section, ClassKind::BestEffort, &OF_BEST_EFFORT);
        }
        let after: &[&Equation] = if self.host.is_some() { &[&RECEIVE, &END_TO_END] } else { &[&TOTAL] };
        self.steps(section, &[&NETWORK]);
        self.steps(section, after);
        for (_, class) in self.classes {
            section.bar(&class.name, self.bar(class));
        }
    }

    /// The parts of a class, which add up.
    fn bar(&self, class: &ClassAnswer) -> Vec<(&'static str, f64)> {
        let parts: &[Quantity] = if self.host.is_some() {
            &[
                Quantity::Doorbell,
                Quantity::HostBus,
                Quantity::Wire,
                Quantity::NetworkLatency,
                Quantity::Receive,
            ]
        } else {
            &[Quantity::Waiting, Quantity::NetworkLatency]
        };
        parts.iter().filter_map(|part| Some((part.head(), *class.means.get(*part)?))).collect()
    }

    fn frames(&self, section: &mut Section) {
        let is_late = |(index, _): &&(usize, &ClassAnswer)| {
            self.scenario.frames(*index).is_some_and(|frames| frames.pacing == Pacing::EvenLate)
        };
        let late: Vec<_> = self.classes.iter().filter(is_late).copied().collect();
        if late.is_empty() {
            section.text(
                "Messages start at even distances from the beginning of the interval T: the last one of a large frame \
                 later than that of a small one. That varies more than what the network adds.",
            );
        } else {
            Subject { classes: &late, ..*self }.steps(section, &[&FRAME]);
        }
        for (index, _) in self.classes {
            let ratchet = self.scenario.classes()[*index].frame_deadline.contains(&FrameDeadline::Ratchet);
            let frames = self.frames_of_run(*index);
            if let Some(law) = stationary_miss_probability(frames).filter(|_| ratchet) {
                let symbols = [("H_{K}", law * f64::from(frames - 1) + 1.0), ("K", f64::from(frames))];
                section.step(&RECORDS, [Application::new(Vec::new(), Values::of(symbols), law)]);
                return;
            }
        }
    }

    /// Frames of a stream in all phases; 0 of a steady state, which has no number of them.
    fn frames_of_run(&self, class: usize) -> u32 {
        let interval = self.scenario.frames(class).map_or(f64::NAN, |frames| frames.interval);
        let of_phase = |phase: &RunPhase| ((phase.ends - phase.begins) / interval).round() as u32;
        self.scenario.phases().iter().map(of_phase).sum()
    }
}
