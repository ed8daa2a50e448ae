//! Links of routers with a delay: latencies of lone messages, and what slots let through.

use flitwise_language::scenario::{
    ClassSpec, GraphFile, GraphRouting, NetworkSpec, Preset, RouterSpec, Scenario, ScenarioSpec,
};
use flitwise_models::answer::Answer;
use flitwise_models::model::{Model, Options};

/// Two nodes at one switch and one at another, whose links have delays of their own.
fn scenario(delay: u32, buffer_flits: u32, virtual_channels: u32, rate: f64) -> Scenario {
    let text = format!("node a s0 delay=2\nnode b s0\nnode c s1 delay=5\nlink s0 s1 delay={delay}\n");
    let file = GraphFile::of(&text).unwrap();
    let network =
        NetworkSpec::Graph { file, routing: GraphRouting::Shortest, root: None, self_traffic: None };
    let router = RouterSpec { buffer_flits, ..RouterSpec::default() };
    let class = ClassSpec { message_flits: 20, virtual_channels, ..ClassSpec::best_effort("BE", rate) };
    let classes = vec![class];
    ScenarioSpec { name: "delays".to_owned(), network, router, classes, ..ScenarioSpec::default() }
        .check()
        .unwrap()
}

fn solved(scenario: &Scenario) -> Answer {
    Model::Refined.solve(scenario, &Options { details: true, ..Options::default() }).unwrap()
}

#[test]
fn delays_add_to_the_latency_of_lone_messages() {
    let answer = solved(&scenario(10, 64, 1, 1e-7));
    // a with b; a with c; b with c: each both ways, and as often
    let over = [2.0, 2.0 + 10.0 + 5.0, 10.0 + 5.0];
    let lone = 4.0 + 20.0 + 5.0 * 2.0 / 3.0 + over.iter().sum::<f64>() / 3.0;
    let class = &answer.classes[0];
    assert!((class.transfer_cycles.unwrap() - lone).abs() < 1e-9, "{:?}", class.transfer_cycles);
    assert!((class.network_latency_cycles.unwrap() - lone).abs() < 1e-3);
    assert!((class.waiting_cycles.unwrap() - 1.0).abs() < 1e-3);
    // of the latencies 26, 44 and 46 each is a third
    let distribution = class.latency_distribution.as_ref().unwrap();
    let at_most = |cycles: u32| {
        let at = cycles
            .checked_sub(distribution.first_cycle)
            .map_or(0.0, |at| *distribution.at_most_probability.get(at as usize).unwrap_or(&1.0));
        (3.0 * at).round()
    };
    assert_eq!([25, 26, 43, 44, 45, 46].map(at_most), [0.0, 1.0, 1.0, 2.0, 2.0, 3.0]);
    assert!(answer.notes.iter().all(|note| !note.contains("delay")), "{:?}", answer.notes);
}

/// The link carries `c b / (2 d + 3)`; both nodes at `s0` send half of their messages over it, and so does `c` back.
#[test]
fn a_class_is_saturated_that_offers_more_than_slots_let_through() {
    for (buffer, lanes, delay) in [(8, 1, 10), (8, 2, 20), (3, 2, 6)] {
        let carries = f64::from(buffer * lanes) / f64::from(2 * delay + 3);
        // of the injection link of a: of c all goes over the link, of a and b a half each
        let at = |share: f64| solved(&scenario(delay, buffer, lanes, share * carries / 20.0));
        let below = at(0.9);
        let wanted = format!("{} x {delay}", 2);
        assert!(below.notes.iter().any(|note| note.contains(&wanted)), "{:?}", below.notes);
        let above = at(1.1);
        assert!(above.saturated, "{buffer} {lanes} {delay}");
        let load = above.classes[0].saturation.as_ref().and_then(|one| one.at_load_factor);
        let factor = load.unwrap_or_else(|| panic!("{:?}", above.classes[0].saturation));
        assert!(factor < 1.0 / 1.1 + 2e-3, "{buffer} {lanes} {delay}: {factor}");
    }
}

#[test]
fn no_delay_is_the_same_answer() {
    let mut document = Preset::find("fat-tree").unwrap().document();
    let at = |document: &flitwise_language::scenario::Document| {
        let answer = Model::Refined.solve(&document.scenario().unwrap(), &Options::default()).unwrap();
        answer.classes.iter().map(|class| class.network_latency_cycles).collect::<Vec<_>>()
    };
    let before = at(&document);
    document.set("network.delay.up", "0", &flitwise_language::scenario::Place::Program).unwrap();
    assert_eq!(at(&document), before);
    document.set("network.delay.up", "3", &flitwise_language::scenario::Place::Program).unwrap();
    assert!(at(&document)[0] > before[0]);
}
