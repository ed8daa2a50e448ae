//! The admission model explained: where the time of a message goes, which connections are refused, and what flits cost.

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{FrameDeadline, Requests, Reserve, Scenario, UnitsSpec};
use flitwise_language::section::Cell;
use flitwise_models::admission::record_law::{deadline_missing_probability, measured_frames};
use flitwise_models::answer::{Answer, ClassAnswer};

use super::derivation::{Application, Derivation, Equation, Section};
use super::equations::equations;
use super::formula::Values;
use super::router_nic::RECORDS;
use super::{sections, wanted};

equations! {
    POSTING: "posting", "cycles", "posting_{c} = N_{c} / λ_{c}",
        "The gate of the interface reorders nothing. What waits for a credit, or for energy, is what exceeds them: N \
         messages on average; Little's law turns them into time.";
    QUEUEING: "queueing", "cycles", "queueing_{c} = 1 + W_{c}",
        "A posted message waits for the link of the interface behind messages of its level and those above; one \
         cycle takes the header into the router.";
    TRANSFER: "transfer", "cycles", "transfer_{c} = P - 1 + P * h_{c} + M_{c}",
        "A lone message: its header takes P cycles a router, its M flits follow one a cycle; h is the mean number of \
         channels between routers that messages cross.";
    NETWORK: "network", "cycles", "L_{c} = transfer_{c} + contention_{c}",
        "From the header's entry into the first router until the tail is out of the last. With many lanes no header \
         waits for a lane: the flits of all messages of a channel share it, and each channel of the way adds.";
    POSTED: "posted", "cycles", "posted_{c} = queueing_{c} + L_{c}",
        "What the paper calls latency. Controls move waiting from it into posting, which it leaves out.";
    TOTAL: "total", "cycles", "E_{c} = posting_{c} + posted_{c}",
        "What the application sees.";
    CIRCUITS: "circuits", "", "C = limit / w",
        "A channel admits connections while their bandwidths w fit into its limit: as many as the whole number of \
         this.";
    HELD: "held", "", "n_{c} = N_{c} * (1 - R_{c})",
        "Of N connections that all nodes want at a time, the share R is refused somewhere on the way. A request \
         meets channels that are not full independently of each other: what is full here has let less come there \
         (reduced load); neighbours on a way are taken in pairs.";
    SET_UP: "set-up", "cycles", "setup_{c} = 2 * (h_{c} + 1) * d",
        "The request goes over h channels between routers and the ejection channel, and the answer comes back: d \
         cycles a hop. h is the mean of those that are admitted, who have shorter ways than those that ask.";
    SET_UP_IN_BAND: "set-up", "cycles", "setup_{c} = 2 * (h_{c} + 1) * d - e",
        "Request and answer are messages on the lane of control, which each router takes in and sends on: d cycles a \
         hop over two routers, of which the first and the last hop have one, e cycles less. h is the mean of those \
         that are admitted, who have shorter ways than those that ask.";
    LIMIT: "limit", "flits", "limit = 1 / (1 - B)",
        "Connections go first, but for one flit in so many, rounded up; B is the sum of the peak rates of the \
         connections of the link.";
    ROUTER_ENERGY: "router", "pJ/flit", "E_{r} = 2 * (e_{r} + e_{w}) + e_{x} + e_{a}",
        "In a router a flit is read and written twice, crosses once and is arbitrated once.";
    POWER: "power", "pJ/cycle", "p = g * (E_{r} * (h + 1) + E_{l} * h + E_{i})",
        "g flits a cycle are carried in the whole network. Each pays for a router more than for links between \
         them, of which it crosses h on average, and once for its interface: no control changes that.";
    WATTS: "watts", "W", "p_{W} = p / (1000 * τ)",
        "A cycle takes τ nanoseconds; a pJ/ns is a mW.";
    BELOW: "budget", "", "z = (Π - p) / σ",
        "The power of a window varies, since a message spends its energy in a short time (Campbell): the budget Π is \
         z deviations σ above the mean, and the normal law tells how many windows exceed it.";
    LARGEST: "largest", "flits/cycle/node", "g_{max} = Π * g_{n} / p",
        "Power is in proportion to the load, so this load has the budget as its mean.";
}

/// The account of an answer of the admission model.
pub(super) fn derivation(scenario: &Scenario, answer: &Answer, only: Option<usize>) -> Derivation {
    let mut derivation = Derivation::default();
    let wanted = wanted(answer, only);
    question(derivation.section("What is asked"), scenario, answer, &wanted);
    let is_answered = |(_, class): &&(usize, &ClassAnswer)| class.total_latency_cycles.is_some();
    let answered: Vec<_> = wanted.iter().filter(is_answered).copied().collect();
    let subject = Subject { scenario, answer };
    if !answered.is_empty() {
        subject.parts(derivation.section("Where the time of a message goes"), &answered);
    }
    let connects = |(_, class): &&(usize, &ClassAnswer)| class.means.get(Quantity::ConnectionsHeld).is_some();
    let connected: Vec<_> = wanted.iter().filter(connects).copied().collect();
    if !connected.is_empty() {
        subject.connections(derivation.section("Which connections are refused"), &connected);
    }
    if answer.sections.find("power").is_some() {
        subject.power(derivation.section("What flits cost"));
    }
    subject.frames(&mut derivation, &wanted);
    sections::tell(&mut derivation, answer);
    derivation
}

fn question(section: &mut Section, scenario: &Scenario, answer: &Answer, wanted: &[(usize, &ClassAnswer)]) {
    section.text(
        "Wanted is the mean time of a message of each class, who is admitted, and what it costs. Control goes first, \
         then connections, then best effort.",
    );
    sections::classes(section, scenario, answer, wanted);
}

/// An answer and what was asked.
#[derive(Clone, Copy)]
struct Subject<'a> {
    scenario: &'a Scenario,
    answer: &'a Answer,
}

impl Subject<'_> {
    /// A number of a section of the answer.
    fn number(&self, section: &str, field: &str) -> Option<f64> {
        self.answer.sections.find(section)?.cell(0, field).and_then(Cell::number)
    }

    /// What the symbols of a class stand for.
    fn symbols(&self, index: usize, class: &ClassAnswer) -> Values {
        let mean = |quantity| class.means.get(quantity).copied().unwrap_or(f64::NAN);
        let stages = f64::from(self.scenario.router().pipeline_stages);
        let flits = self.scenario.mean_message_flits(index);
        let (transfer, network) = (mean(Quantity::Transfer), mean(Quantity::NetworkLatency));
        let posting = class.means.get(Quantity::PostingDelay).copied().unwrap_or(0.0);
        let waiting = mean(Quantity::Waiting);
        let rate = mean(Quantity::AcceptedRate);
        Values::of([
            ("P", stages),
            ("h_{c}", (transfer - (stages - 1.0) - flits) / stages),
            ("M_{c}", flits),
            ("λ_{c}", rate),
            ("N_{c}", posting * rate),
            ("posting_{c}", posting),
            ("W_{c}", waiting - posting - 1.0),
            ("queueing_{c}", waiting - posting),
            ("transfer_{c}", transfer),
            ("contention_{c}", network - transfer),
            ("L_{c}", network),
            ("posted_{c}", waiting - posting + network),
            ("E_{c}", mean(Quantity::TotalLatency)),
        ])
    }

    fn parts(&self, section: &mut Section, classes: &[(usize, &ClassAnswer)]) {
        let waits = |(_, class): &&(usize, &ClassAnswer)| {
            class.means.get(Quantity::PostingDelay).is_some_and(|time| *time > 0.0)
        };
        let waiting: Vec<_> = classes.iter().filter(waits).copied().collect();
        if !waiting.is_empty() {
            section.steps(&[&POSTING], &waiting, |index, class| self.symbols(index, class));
        }
        let equations: &[&Equation] = &[&QUEUEING, &TRANSFER, &NETWORK, &POSTED, &TOTAL];
        section.steps(equations, classes, |index, class| self.symbols(index, class));
        for (_, class) in classes {
            let (posting, waiting) = (class.means.get(Quantity::PostingDelay), class.waiting_cycles);
            let posting = posting.copied().unwrap_or(0.0);
            let parts = [
                ("posting", Some(posting)),
                ("queueing", waiting.map(|waiting| waiting - posting)),
                ("network", class.network_latency_cycles),
            ];
            section.bar(&class.name, parts.into_iter().filter_map(|(part, time)| Some((part, time?))));
        }
    }

    fn connections(&self, section: &mut Section, classes: &[(usize, &ClassAnswer)]) {
        let spec = self.scenario.spec().admission;
        for (index, class) in classes {
            let Some(connections) = self.scenario.connections(*index) else { continue };
            let mean = |quantity| class.means.get(quantity).copied().unwrap_or(f64::NAN);
            let names = || vec![("c", class.name.clone())];
            if let Some(admission) = spec.filter(|admission| admission.test) {
                let width = match admission.reserve {
                    Reserve::Average => connections.mean,
                    Reserve::Peak => connections.peak,
                };
                let symbols = [("limit", admission.limit_share), ("w", width)];
                let circuits = admission.limit_share / width;
                section.step(&CIRCUITS, [Application::new(Vec::new(), Values::of(symbols), circuits)]);
            }
            let each = match connections.requests {
                Requests::AtStart { count, .. } => f64::from(count),
                Requests::Poisson { erlangs, .. } => erlangs,
            };
            let all = each * self.scenario.senders(*index).len() as f64;
            let (held, refused) = (mean(Quantity::ConnectionsHeld), mean(Quantity::RejectedShare));
            let symbols = [("N_{c}", all), ("R_{c}", refused), ("n_{c}", held)];
            section.step(&HELD, [Application::by(names(), Values::of(symbols))]);
            let (set_up, delay) = (mean(Quantity::ConnectionSetUp), self.scenario.signal_delay());
            if set_up.is_finite() && delay.hop > 0.0 {
                let hops = (set_up + delay.ends) / (2.0 * delay.hop) - 1.0;
                let symbols = [("h_{c}", hops), ("d", delay.hop), ("e", delay.ends), ("setup_{c}", set_up)];
                let equation = if delay.ends > 0.0 { &SET_UP_IN_BAND } else { &SET_UP };
                section.step(equation, [Application::by(names(), Values::of(symbols))]);
            }
            let load = self.number("lanes", "load").unwrap_or(0.0);
            let peak = load * connections.peak / connections.mean;
            if peak < 1.0 {
                let symbols = [("B", peak)];
                section.step(&LIMIT, [Application::new(Vec::new(), Values::of(symbols), 1.0 / (1.0 - peak))]);
            }
        }
    }

    fn power(&self, section: &mut Section) {
        let of = |field: &str| self.number("power", field);
        let (Some(energies), Some(power)) = (self.scenario.energies(), of("power_pj_per_cycle")) else {
            return;
        };
        fn step<const N: usize>(
            section: &mut Section,
            equation: &Equation,
            symbols: [(&'static str, f64); N],
        ) {
            section.step(equation, [Application::by(Vec::new(), Values::of(symbols))]);
        }
        let router = energies.router();
        step(
            section,
            &ROUTER_ENERGY,
            [
                ("E_{r}", router),
                ("e_{r}", energies.buffer_read),
                ("e_{w}", energies.buffer_write),
                ("e_{x}", energies.crossbar),
                ("e_{a}", energies.arbitration),
            ],
        );
        let nodes = f64::from(self.scenario.topology().nodes());
        let flow = self.answer.sections.find("flow");
        let carried = |row| flow?.cell(row, "throughput_flits_per_cycle_node").and_then(Cell::number);
        let per_node: f64 = (0..self.answer.classes.len()).filter_map(carried).sum();
        let flits = per_node * nodes;
        if flits <= 0.0 {
            return;
        }
        // the energy of a flit is linear in the channels that it crosses
        let per_hop = router + energies.link;
        let above = power / flits - router - energies.source();
        let hops = if per_hop > 0.0 { above / per_hop } else { 0.0 };
        let (link, source) = (energies.link, energies.source());
        let symbols =
            [("g", flits), ("h", hops), ("E_{r}", router), ("E_{l}", link), ("E_{i}", source), ("p", power)];
        step(section, &POWER, symbols);
        if let Some(cycle) = self.scenario.spec().units.as_ref().and_then(UnitsSpec::cycle_ns) {
            step(section, &WATTS, [("p", power), ("τ", cycle), ("p_{W}", power * 1e-3 / cycle)]);
        }
        if let (Some(budget), Some(deviation)) = (of("budget_pj_per_cycle"), of("deviation_pj_per_cycle")) {
            if deviation > 0.0 {
                let z = (budget - power) / deviation;
                step(section, &BELOW, [("Π", budget), ("p", power), ("σ", deviation), ("z", z)]);
            }
            if let Some(largest) = of("largest_load") {
                let symbols = [("Π", budget), ("g_{n}", per_node), ("p", power), ("g_{max}", largest)];
                step(section, &LARGEST, symbols);
            }
        }
    }

    /// Deadlines that follow the latest frame.
    fn frames(&self, derivation: &mut Derivation, classes: &[(usize, &ClassAnswer)]) {
        for (index, class) in classes {
            let Some(number) = measured_frames(self.scenario, *index) else { continue };
            let ratchet = self.scenario.classes()[*index].frame_deadline.contains(&FrameDeadline::Ratchet);
            let Some(law) = deadline_missing_probability(number).filter(|_| ratchet) else { continue };
            let symbols = [("H_{K}", law * f64::from(number - 1) + 1.0), ("K", f64::from(number))];
            let section = derivation.section(format!("When a frame of {} is late", class.name));
            section.step(&RECORDS, [Application::new(Vec::new(), Values::of(symbols), law)]);
        }
    }
}
