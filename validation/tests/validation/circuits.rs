//! Circuits: the fast set-up against the one as its rules read, the frames that flow on them, and the analysis.

use std::fmt::Write as _;

use flitwise_experiment::Settings;
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::Scenario;
use flitwise_models::model::{Model, Options};
use flitwise_simulator::circuits::{CircuitDemand, calls, set_up};
use flitwise_simulator::{generated, plain, replay_offers};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::simulate;

/// Circuits of a class of CBR streams; `network` and `circuits` are lines of their tables.
fn scenario(network: &str, router: &str, circuits: &str, streams: u32, lanes: u32) -> Scenario {
    let mut text = format!(
        "[network]\n{network}\n[router]\nbuffer_flits = 6\nscheduler = \"fine-grained-virtual-clock\"\nswitching = \
         \"pipelined-circuit\"\n{router}\n[circuits]\n{circuits}\n[[class]]\nname = \"a\"\nkind = \"real-time\"\n\
         message_flits = 6\nvirtual_channels = {lanes}\n[class.source]\nkind = \"vbr\"\nframe = 40\n\
         frame_deviation = 12\nframe_interval = 2000\n"
    );
    if streams > 0 {
        let _ = writeln!(text, "streams = {streams}");
    }
    Scenario::from_toml("t", &text).unwrap_or_else(|faults| panic!("{text}\n{faults:?}"))
}

const ROUTER: &str = "topology = \"router\"\nports = 8";
const NETWORKS: [&str; 4] = [
    "topology = \"router\"\nports = 4",
    "topology = \"mesh\"\nradix = [2, 3]\nnodes_per_router = 2",
    "topology = \"hypercube\"\ndimension = 3",
    "topology = \"torus\"\nradix = [4, 3]",
];

/// Static and dynamic set-up of random small networks, to the bit.
#[test]
fn set_up_agrees_with_its_rules() {
    let config = ProptestConfig {
        cases: 60,
        rng_seed: RngSeed::Fixed(21),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = TestRunner::new(config);
    let drawn = (0..4usize, 2..6u32, any::<bool>(), 1..40u32, 0..4u32, 1..4u64, 3..8u32);
    let agreed = runner.run(&drawn, |(network, lanes, has_pool, most, retries, seed, stages)| {
        let pool = if has_pool { format!("pool = {}\n", lanes - 1) } else { String::new() };
        let router = format!("pipeline_stages = {stages}");
        let fixed = scenario(
            NETWORKS[network],
            &router,
            &format!("{pool}attempts_per_stream = {most}"),
            lanes,
            lanes,
        );
        let asked = CircuitDemand::of(&fixed, 0).unwrap();
        prop_assert_eq!(set_up(&fixed, &asked, seed), plain::circuits::set_up(&fixed, &asked, seed));
        let holding = 50.0 * f64::from(most);
        let coming = format!("{pool}attempts = {}\nholding = {holding}\nretries = {retries}", 2.0 / holding);
        let coming = scenario(NETWORKS[network], &router, &coming, 0, lanes);
        let asked = CircuitDemand::of(&coming, 0).unwrap();
        let fast = calls(&coming, &asked, seed, 80);
        prop_assert_eq!(fast, plain::circuits::calls(&coming, &asked, seed, 80));
        prop_assert!(fast.is_some_and(|counts| counts.asked == 80));
        Ok(())
    });
    agreed.unwrap();
}

/// Frames on circuits: both simulators agree, no message waits for a lane, and a lone one takes three stages a router.
#[test]
fn frames_flow_on_their_circuits() {
    for (network, vtick) in NETWORKS.iter().zip(["mean", "peak", "frame", "mean"]) {
        for crossbar in ["full", "multiplexed"] {
            let router = format!("crossbar = \"{crossbar}\"");
            let scenario = scenario(network, &router, &format!("vtick = \"{vtick}\""), 3, 4);
            let offers = generated(&scenario, 5, 6_000);
            let fast = replay_offers(&scenario, &offers, 30_000);
            assert_eq!(fast.len(), offers.len());
            assert_eq!(fast, plain::replay_offers(&scenario, &offers, 30_000), "{network} {crossbar}");
            for (offer, delivery) in offers.iter().zip(&fast) {
                assert!(offer.flits <= 6 && delivery.waits.arbitration == 0, "{delivery:?}");
            }
            let lone = fast.iter().map(|one| one.transfer_cycles()).min().unwrap();
            let shortest = u64::from(offers.iter().map(|offer| offer.flits).min().unwrap());
            assert!(lone >= 2 + shortest, "{lone}");
        }
    }
}

/// MediaWorm: 24 virtual channels of 8 ports, 160 circuits: 341.5 attempts, deviation 24.5 (1.7 over 200 set-ups).
#[test]
fn attempts_are_those_of_single_draws() {
    let scenario = scenario(ROUTER, "", "", 20, 24);
    let asked = CircuitDemand::of(&scenario, 0).unwrap();
    let runs: Vec<f64> = (0..200).map(|seed| set_up(&scenario, &asked, seed).1.attempts as f64).collect();
    let mean = runs.iter().sum::<f64>() / 200.0;
    let deviation = (runs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 199.0).sqrt();
    // within 3 standard errors, at a level of 0.3 %
    assert!((mean - 341.5).abs() < 3.0 * 1.74, "{mean}");
    assert!((deviation - 24.5).abs() < 3.0 * 24.5 / 20.0, "{deviation}");
}

/// What the analysis says of circuits lies within one and a half half-widths of the simulation (a level of 0.3 %), over
/// several routers within half a per cent more.
#[test]
fn the_analysis_has_the_drops_of_the_simulation() {
    let coming = |traffic: f64, retries: u32| {
        format!("attempts = {}\nholding = 1e6\nretries = {retries}", traffic * 1e-6)
    };
    let mesh = "topology = \"mesh\"\nradix = [3, 3]";
    let cases = [
        (ROUTER, String::new(), 20, 1.5, 0.0),
        (ROUTER, "pool = 12\nattempts_per_stream = 4".to_owned(), 12, 1.5, 0.0),
        (ROUTER, coming(6.0, 0), 0, 1.5, 0.0),
        (ROUTER, coming(12.0, 2), 0, 1.5, 0.0),
        (ROUTER, coming(30.0, 1), 0, 1.5, 0.0),
        (mesh, "attempts_per_stream = 10".to_owned(), 5, 1.5, 0.005),
        (mesh, coming(3.0, 0), 0, 1.5, 0.005),
    ];
    for (network, circuits, streams, widths, relative) in cases {
        let scenario = scenario(network, "", &circuits, streams, 24);
        let settings = Settings { max_messages: 2_000, replications: Some(2), ..Settings::default() };
        let simulated = simulate(&scenario, &settings);
        let solved = Model::Mediaworm.solve(&scenario, &Options::default()).unwrap();
        for quantity in Quantity::CIRCUITS {
            let measured = simulated.classes[0].means.get(*quantity).copied();
            let model = solved.classes[0].value((*quantity).into());
            assert_eq!(measured.is_some(), model.is_some(), "{quantity:?} {circuits}");
            let (Some(measured), Some(model)) = (measured, model) else { continue };
            let width = widths * measured.half_width_95.unwrap() + relative * measured.mean + 1e-9;
            assert!(
                (model - measured.mean).abs() <= width,
                "{network} {circuits} {quantity:?} {model} {measured:?}"
            );
        }
    }
}
