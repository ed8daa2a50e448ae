//! The refined model explained: its parts by name, each with its equation and its value.

use flitwise_language::scenario::Scenario;
use flitwise_models::answer::{Answer, ClassAnswer};

use super::derivation::{Derivation, Entry, Equation, Section};
use super::equations::equations;
use super::formula::Values;
use super::wanted;

equations! {
    TRANSFER: "transfer", "cycles", "transfer_{c} = P - 1 + P * h + M_{c}",
        "A lone message: its header takes P cycles a router, its M flits follow one a cycle; h is the mean \
         number of channels crossed, 0 in a single router.";
    INPUT: "input buffers", "cycles", "input_{c} = R_{c}",
        "A message that comes while the one before it of its class is served waits in the input buffer for \
         what is left of that service: P(R > r) = E[1 - exp(-λ (B - r)); e > r], with the service B = M + G + \
         e, the excess e = (R' + x + H - G)+, the gaps G inside it and the header's longer way H = P - 3.";
    ARBITRATION: "arbitration", "cycles", "arbitration_{c} = w_{c}",
        "Headers from other inputs queue for the virtual channel of the output, which one message holds for B \
         = M + 1 + hole, hole(y) = (G - y - H)+; and the tail cannot cross before the flit b places ahead has \
         left (back-pressure).";
    OUTPUT: "output buffers", "cycles", "output_{c} = V_{c} - w_{c}",
        "From then on the header waits for the link: V is the wait in a queue whose service B takes in what \
         other classes send between the flits, K^(M), and whose first customer meets a set-up v (Welch \
         1964).";
    GAPS: "gaps", "cycles", "gaps_{c} = U_{c} - V_{c}",
        "Behind the header other classes take turns, so that the tail comes later than M - 1 cycles after it: \
         U = max(lag, Γ) + K, as a lag hides a gap Γ and a gap eats the lag.";
    LATENCY: "network latency", "cycles", "L_{c} = transfer_{c} + input_{c} + arbitration_{c} + output_{c} + gaps_{c}",
        "The parts follow each other on the message's way, so that they add up.";
    LOAD: "saturation", "", "u_{c} = λ_{c} * B_{c}",
        "The input channel is held for B = M + H + max(x, (G - R - H)+) a message, x being what holds up its \
         tail; from load 1 on the queue before it has no steady state.";
    WAIT: "waiting", "cycles", "W_{c} = W_{c}^{queue}",
        "What the queue of interface and input channel has beyond the in-buffer wait: φ(z) = `P_{0} * (1 + l \
         * f * r_{F} - l * b * r_{B}) / (1 - l * b * r_{B})`, of which the mean is taken; under ON/OFF \
         sources a queue of Markov-modulated arrivals stands for it.";
    TOTAL: "(1)", "cycles", "Latency_{c} = L_{c} + W_{c}",
        "What the user sees: network and source together.";
}

/// Residuals that are listed at both ends.
const RESIDUALS: usize = 5;

/// The account of an answer of the refined model.
pub(super) fn derivation(scenario: &Scenario, answer: &Answer, only: Option<usize>) -> Derivation {
    let mut derivation = Derivation::default();
    let wanted = wanted(answer, only);
    let answered: Vec<(usize, &ClassAnswer)> =
        wanted.iter().filter(|(_, answer)| answer.network_latency_cycles.is_some()).copied().collect();
    question(derivation.section("What is asked"), scenario, answer, &wanted);
    if !answered.is_empty() {
        parts(derivation.section("Where the cycles of a message go"), scenario, &answered);
        waiting(derivation.section("Waiting at the source"), scenario, &answered);
        deadlines(&mut derivation, &answered);
    }
    iterations(derivation.section("How the unknowns are found"), answer);
    derivation
}

fn question(section: &mut Section, scenario: &Scenario, answer: &Answer, wanted: &[(usize, &ClassAnswer)]) {
    section.text(
        "The refined model follows a message through the stages of the routers and asks at each what it waits for. \
         It computes the probability distribution of each time, in whole cycles; the equations here show the \
         means. The README of the models describes every step and its source.",
    );
    let row = |(class, _): &(usize, &ClassAnswer)| {
        let spec = &scenario.classes()[*class];
        let flits = f64::from(spec.message_flits);
        vec![Entry::from(spec.name.as_str()), spec.kind.word().into(), spec.rate.into(), flits.into()]
    };
    let heads = ["class", "kind", "λ [messages/cycle/node]", "M [flits]"];
    section.table(&heads, wanted.iter().map(row).collect());
    for (_, class) in wanted {
        if let Some(saturation) = &class.saturation {
            section.text(format!("{} is saturated: {}.", class.name, saturation.because));
        } else if let Some(because) = class.reasons.get("network_latency_cycles") {
            section.text(format!("{} has no latency: {because}.", class.name));
        }
    }
    for note in &answer.notes {
        section.text(format!("Note: {note}."));
    }
}

/// What the symbols of a class stand for.
fn symbols(scenario: &Scenario, index: usize, class: &ClassAnswer) -> Values {
    let known = |number: Option<f64>| number.unwrap_or(f64::NAN);
    let spec = &scenario.classes()[index];
    // V and U are sums of the parts before them
    let until_link = known(class.arbitration_cycles) + known(class.output_cycles);
    Values::of([
        ("P", f64::from(scenario.router().pipeline_stages)),
        ("h", scenario.topology().mean_hops()),
        ("M_{c}", f64::from(spec.message_flits)),
        ("transfer_{c}", known(class.transfer_cycles)),
        ("R_{c}", known(class.input_cycles)),
        ("input_{c}", known(class.input_cycles)),
        ("w_{c}", known(class.arbitration_cycles)),
        ("arbitration_{c}", known(class.arbitration_cycles)),
        ("V_{c}", until_link),
        ("output_{c}", known(class.output_cycles)),
        ("U_{c}", until_link + known(class.gap_cycles)),
        ("gaps_{c}", known(class.gap_cycles)),
        ("L_{c}", known(class.network_latency_cycles)),
        ("λ_{c}", spec.rate),
        ("B_{c}", known(class.source_load) / spec.rate),
        ("u_{c}", known(class.source_load)),
        ("W_{c}^{queue}", known(class.waiting_cycles)),
        ("W_{c}", known(class.waiting_cycles)),
        ("Latency_{c}", known(class.total_latency_cycles)),
    ])
}

fn parts(section: &mut Section, scenario: &Scenario, classes: &[(usize, &ClassAnswer)]) {
    section.steps(&[&TRANSFER, &INPUT, &ARBITRATION, &OUTPUT, &GAPS, &LATENCY], classes, |index, class| {
        symbols(scenario, index, class)
    });
    for (_, class) in classes {
        let parts = [
            ("transfer", class.transfer_cycles),
            ("input", class.input_cycles),
            ("arbitration", class.arbitration_cycles),
            ("output", class.output_cycles),
            ("gaps", class.gap_cycles),
        ];
        let parts = parts.into_iter().filter_map(|(name, cycles)| Some((name, cycles?)));
        section.bar(&class.name, parts);
    }
}

fn waiting(section: &mut Section, scenario: &Scenario, classes: &[(usize, &ClassAnswer)]) {
    let sends = |(index, class): &&(usize, &ClassAnswer)| {
        class.source_load.is_some() && scenario.classes()[*index].rate > 0.0
    };
    let sending: Vec<_> = classes.iter().filter(sends).copied().collect();
    let of_class = |index, class: &ClassAnswer| symbols(scenario, index, class);
    section.steps(&[&LOAD], &sending, of_class);
    let waits = |(_, class): &&(usize, &ClassAnswer)| class.waiting_cycles.is_some();
    let waiting: Vec<_> = classes.iter().filter(waits).copied().collect();
    section.steps(&[&WAIT, &TOTAL], &waiting, of_class);
}

fn deadlines(derivation: &mut Derivation, classes: &[(usize, &ClassAnswer)]) {
    let each = classes.iter().flat_map(|(_, class)| {
        class.deadlines.iter().map(|deadline| {
            let hops = deadline.hops.map_or("all".to_owned(), |hops| hops.to_string());
            let miss = deadline.miss_probability.map_or(Entry::from("-"), Entry::from);
            vec![
                Entry::from(class.name.as_str()),
                hops.into(),
                f64::from(deadline.deadline_cycles).into(),
                miss,
            ]
        })
    });
    let rows: Vec<Vec<Entry>> = each.collect();
    if !rows.is_empty() {
        let section = derivation.section("Deadlines");
        section.text("The law of the tail's delay U is known, so that misses are read off it: P(T + U > D).");
        section.table(&["class", "hops", "deadline D [cycles]", "miss probability"], rows);
    }
}

fn iterations(section: &mut Section, answer: &Answer) {
    section.text(
        "Each wait is part of the service that others wait for, so the laws are computed in turn until their means \
         stand still. The classes are iterated one after the other.",
    );
    let residuals = answer.report.residuals.as_deref().unwrap_or_default();
    let shown = residuals.iter().enumerate();
    let near_end = |(place, _): &(usize, &f64)| *place < RESIDUALS || place + 2 >= residuals.len();
    let row = |(place, residual): (usize, &f64)| {
        vec![Entry::from((place + 1).to_string()), Entry::from(format!("{residual:.1e}"))]
    };
    section.table(&["round", "largest change [message lengths]"], shown.filter(near_end).map(row).collect());
    section.text(format!("Altogether: {}.", answer.report));
}
