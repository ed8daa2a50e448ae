mod patterns;

use super::super::paths::uniform;
use super::*;
use flitwise_language::scenario::ClassKind::{self, BestEffort, RealTime};

fn resolution() -> Resolution {
    Resolution {
        cells: 512,
        most_cells: 2048,
        unit: 2.0,
        widest: 2.0,
        steps: 16,
        tolerance: 1e-4,
        most_rounds: 100,
        beyond: 1e-5,
        nothing: 1e-12,
        laws: true,
    }
}

/// Classes by kind, rate and flits, in routers of `stages` with buffers of `buffer` flits.
fn problem(stages: f64, buffer: f64, classes: &[(ClassKind, f64, f64)]) -> Problem {
    let class = |(kind, rate, message): &(ClassKind, f64, f64)| {
        let (kind, rate, message) = (*kind, *rate, *message);
        Class { kind, rate, message, vtick: 1.0 / (rate * message), bursts: None, outlet: None }
    };
    Problem {
        classes: classes.iter().map(class).collect(),
        places: (0..classes.len()).collect(),
        stages,
        buffer,
        clocked: true,
        hops: 1,
        lanes: vec![1; classes.len()],
        drawn: false,
    }
}

fn all(problem: &Problem, dimension: u32, resolution: &Resolution) -> Vec<Result<Solution, Overload>> {
    let wanted: Vec<usize> = (0..problem.classes.len()).collect();
    let cube = Rc::new(uniform(&flitwise_language::network::Hypercube { dimension, self_traffic: false }));
    let paths = vec![cube; wanted.len()];
    solve(problem, &paths, resolution, &wanted, &|_| None)
}

fn check(found: &Solution, dimension: u32) {
    let all: f64 = found.delays.iter().map(|delay| delay.share).sum();
    assert!((all - 1.0).abs() < 1e-9);
    assert_eq!(found.delays.len(), dimension as usize);
    let mean = |delay: &Delays| delay.share * (delay.lone + delay.law.mean() * found.unit);
    let by_laws: f64 = found.delays.iter().map(mean).sum();
    assert!((by_laws - found.latency()).abs() < 1e-6 * by_laws, "{by_laws} {}", found.latency());
    assert!(found.latency() >= found.transfer - 1e-6);
    assert!(found.waiting.is_finite() && found.waiting >= 1.0, "{}", found.waiting);
    for part in [found.input, found.arbitration, found.output, found.gaps] {
        assert!(part.is_finite(), "{found:?}");
    }
}

#[test]
fn lone_messages_take_their_stages_and_flits() {
    let problem = problem(5.0, 32.0, &[(RealTime, 1e-7, 32.0), (BestEffort, 1e-7, 16.0)]);
    for found in all(&problem, 4, &resolution()) {
        let found = found.unwrap();
        check(&found, 4);
        for (delay, hops) in found.delays.iter().zip(1..) {
            assert_eq!(delay.hops, Some(hops));
            assert!(delay.law.mean() < 1e-3, "{}", delay.law.mean());
        }
    }
    let found = all(&problem, 4, &resolution()).remove(0).unwrap();
    // P - 1 + P h + M
    assert!((found.delays[2].lone - (4.0 + 15.0 + 32.0)).abs() < 1e-9);
    assert!((found.waiting - 1.0).abs() < 1e-3);
}

#[test]
fn the_six_cube_is_the_simulated_one() {
    let problem =
        problem(5.0, 32.0, &[(RealTime, 0.006, 32.0), (RealTime, 0.003, 32.0), (BestEffort, 0.002, 32.0)]);
    // latency and waiting as simulated, messages enough for half a per cent and two
    let simulated = [(62.25, 5.71), (78.25, 4.66), (96.5, 13.36)];
    for (found, (latency, waiting)) in all(&problem, 6, &resolution()).into_iter().zip(simulated) {
        let found = found.unwrap();
        check(&found, 6);
        assert!((found.latency() / latency - 1.0).abs() < 0.015, "{} {latency}", found.latency());
        assert!((found.waiting / waiting - 1.0).abs() < 0.035, "{} {waiting}", found.waiting);
    }
}

#[test]
fn a_link_between_two_nodes_is_shared_by_nobody() {
    // one input for each output: messages wait in the source only
    let found = all(&problem(5.0, 64.0, &[(RealTime, 0.01, 32.0)]), 1, &resolution()).remove(0).unwrap();
    check(&found, 1);
    assert!(found.arbitration < 1e-6 && found.output < 1e-6, "{found:?}");
}

#[test]
fn latency_grows_with_load_until_there_is_none() {
    let at = |rate: f64| {
        let problem = problem(5.0, 32.0, &[(RealTime, rate, 32.0), (BestEffort, rate / 2.0, 32.0)]);
        all(&problem, 3, &resolution())
    };
    let mut before = [0.0, 0.0];
    for load in [0.05, 0.1, 0.2, 0.3, 0.4] {
        for (found, before) in at(load / 32.0).into_iter().zip(&mut before) {
            let total = found.map_or(f64::INFINITY, |found| found.latency() + found.waiting);
            assert!(total > *before);
            *before = total;
        }
    }
    for found in at(1.1 / 32.0) {
        let over = found.unwrap_err();
        assert!(over.load.is_finite() && over.load > 0.9, "{over:?}");
    }
}

#[test]
fn every_corner_is_answered_or_refused() {
    let coarse = Resolution {
        cells: 256,
        most_cells: 2048,
        unit: 4.0,
        widest: 4.0,
        steps: 8,
        tolerance: 1e-2,
        most_rounds: 20,
        beyond: 1e-5,
        nothing: 1e-12,
        laws: true,
    };
    let mut seed = 7_u64;
    let mut draw = |most: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    };
    for round in 0..60 {
        let dimension = if round < 16 { round + 1 } else { draw(6) as u32 + 1 };
        let classes: Vec<_> = (0..=draw(if round < 50 { 3 } else { 12 }))
            .map(|_| {
                let kind = if draw(4) == 0 { BestEffort } else { RealTime };
                let message = [1.0, 2.0, 9.0, 33.0, 100.0][draw(5) as usize];
                (kind, [1e-9, 1e-3, 0.05, 0.2, 0.5][draw(5) as usize] / message, message)
            })
            .collect();
        let problem = problem(1.0 + draw(8) as f64, [1.0, 4.0, 17.0, 300.0][draw(4) as usize], &classes);
        for found in all(&problem, dimension, &coarse) {
            match found {
                Ok(found) => check(&found, dimension),
                Err(over) => assert!(!over.load.is_nan(), "{over:?}"),
            }
        }
    }
}

#[test]
fn full_channels_hold_up_the_source() {
    // the smaller the buffers the sooner; large ones hold nobody up
    let load = |buffer: f64| {
        let problem = problem(5.0, buffer, &[(RealTime, 0.021, 32.0)]);
        all(&problem, 4, &resolution()).swap_remove(0).unwrap().source_load
    };
    let loads = [32.0, 64.0, 256.0, 1024.0].map(load);
    assert!(loads[0] > loads[1] + 1e-3 && loads[1] > loads[2] - 1e-6, "{loads:?}");
    assert!((loads[2] - loads[3]).abs() < 5e-3, "{loads:?}");
}

#[test]
fn no_class_gets_more_of_a_link_than_there_is() {
    let classes = |all: f64| {
        let rate = |share: f64| share * all / 32.0;
        problem(
            5.0,
            128.0,
            &[(RealTime, rate(0.5), 32.0), (RealTime, rate(0.35), 32.0), (RealTime, rate(0.15), 32.0)],
        )
    };
    assert!(all(&classes(0.7), 2, &resolution()).iter().all(Result::is_ok));
    assert!(all(&classes(1.05), 2, &resolution()).iter().all(Result::is_err));
}

/// Simulated at half of the load of saturation, real time alone: latency within two or three per cent.
#[test]
fn meshes_tori_and_virtual_channels_are_the_simulated_ones() {
    for (preset, virtual_channels, factor, latency, within) in [
        ("mesh4x4", 1, 2.2202, 43.12, 0.02),
        ("mesh4x4", 4, 3.582, 55.27, 0.02),
        ("torus8x8", 4, 2.403, 63.69, 0.03),
        ("fat-mesh", 1, 1.38, 36.61, 0.02),
    ] {
        let mut spec = flitwise_language::scenario::Preset::find(preset).unwrap().scenario().spec().clone();
        spec.classes.truncate(1);
        (spec.classes[0].rate, spec.classes[0].virtual_channels) =
            (factor * spec.classes[0].rate, virtual_channels);
        let answer =
            crate::refined::solve(&spec.check().unwrap(), &crate::model::Options::default()).unwrap();
        let found = answer.classes[0].network_latency_cycles.unwrap();
        assert!((found / latency - 1.0).abs() < within, "{preset}: {found} {latency}");
        assert!(answer.classes[0].latency_percentiles_cycles.p99.is_some());
    }
}
