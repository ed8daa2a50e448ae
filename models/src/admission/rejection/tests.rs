use super::*;
use crate::admission::{assert_near, channels, mesh, paths};

/// Of signals beside the network.
fn delay(hop: f64) -> SignalDelay {
    SignalDelay { hop, ends: 0.0 }
}

const HOLDING: f64 = 10_000.0;

/// Every node of a mesh has so much traffic \[Erlang\] to all others.
fn of_mesh(side: u32, traffic: f64, circuits: u32, hop_delay: f64) -> LossNetwork {
    let network = mesh(side);
    let rate = traffic / HOLDING / f64::from(side * side - 1);
    let route = |path: crate::admission::Path| {
        let holding = held(HOLDING, path.hops(), delay(hop_delay));
        Route { source: path.source, channels: path.channels, rate, holding, width: 1 }
    };
    let routes = paths(&*network).into_iter().map(route).collect();
    LossNetwork { circuits: vec![circuits; channels(&*network)], routes }
}

#[test]
fn requests_that_come_and_go_are_refused_as_printed() {
    let printed = [
        (5, 10.0, 20, 0.0257, 0.0235),
        (5, 14.0, 20, 0.1299, 0.1238),
        (5, 6.0, 10, 0.1570, 0.1455),
        (4, 8.0, 10, 0.2207, 0.2089),
    ];
    for (side, traffic, circuits, plain, pairs) in printed {
        let network = of_mesh(side, traffic, circuits, 0.0);
        let (found, report) = network.reduced_load().unwrap();
        assert!((found.share - plain).abs() <= 0.6e-4, "{traffic} {circuits}: {}", found.share);
        assert!(report.iterations < 60, "{report}");
        let (found, report) = network.pairs().unwrap();
        assert!((found.share - pairs).abs() <= 0.6e-4, "{traffic} {circuits}: {}", found.share);
        assert!(report.iterations < 60, "{report}");
    }
}

/// Printed is 0.0398, measured 0.0408 +- 0.0053. With the mean time of all paths in place of each path's own it is
/// 0.0399.
#[test]
fn signalling_holds_channels_longer() {
    let mut network = of_mesh(5, 10.0, 20, 100.0);
    assert_near(network.pairs().unwrap().0.share, 0.0426, 2e-3);
    let mean = held(HOLDING, 0, delay(100.0)) + 2.0 * 100.0 * 10.0 / 3.0;
    network.routes.iter_mut().for_each(|route| route.holding = mean);
    assert_near(network.pairs().unwrap().0.share, 0.0399, 2e-3);
}

#[test]
fn requests_at_the_start_are_refused_as_printed() {
    let printed = [
        (5, 6.0, 10, 0.054),
        (5, 10.0, 10, 0.269),
        (5, 20.0, 20, 0.223),
        (4, 12.0, 10, 0.282),
        (5, 4.0, 5, 0.246),
        (5, 28.0, 25, 0.276),
    ];
    for (side, requests, circuits, share) in printed {
        let found = of_mesh(side, 1.0, circuits, 0.0).at_start(requests);
        assert!((found.share - share).abs() <= 1.3e-3, "{requests} {circuits}: {}", found.share);
    }
}

/// One channel is the station itself.
#[test]
fn one_channel_is_erlang_b() {
    let route = |rate, width| Route { source: 0, channels: vec![0], rate, holding: 2.0, width };
    let network = LossNetwork { circuits: vec![5], routes: vec![route(1.0, 1), route(0.5, 1)] };
    let erlang = ErlangB { rate: 3.0, mean: 1.0, servers: 5 }.blocking_probability();
    for found in [network.reduced_load(), network.pairs()] {
        let (found, _) = found.unwrap();
        assert_near(found.share, erlang, 1e-7);
        assert_near(found.routes[1], erlang, 1e-7);
    }
    // widths in proportion, and two widths: Kaufman and Roberts
    let wide = LossNetwork { circuits: vec![11], routes: vec![route(1.0, 2), route(0.5, 2)] };
    assert_near(wide.reduced_load().unwrap().0.share, erlang, 1e-7);
    assert_near(wide.pairs().unwrap().0.share, erlang, 1e-7);
    let two = LossNetwork { circuits: vec![2], routes: vec![route(0.5, 1), route(0.5, 2)] };
    let (found, _) = two.reduced_load().unwrap();
    assert_near(found.routes[0], 1.5 / 3.5, 1e-7);
    assert_near(found.routes[1], 2.5 / 3.5, 1e-7);
}

#[test]
fn the_ends_have_numbers() {
    let in_range = |found: &Rejections| {
        found.routes.iter().chain([&found.share]).all(|share| (0.0..=1.0).contains(share))
    };
    for circuits in [0, 1, 3] {
        for traffic in [0.0, 1e-9, 1e3, 1e12, f64::INFINITY] {
            let mut network = of_mesh(2, 1.0, circuits, 0.0);
            // an infinite rate has no shares
            network.routes.iter_mut().for_each(|route| route.holding = traffic);
            for found in [network.reduced_load(), network.pairs()] {
                let (found, _) = found.unwrap_or_else(|report| panic!("{circuits} {traffic}: {report}"));
                assert!(in_range(&found), "{circuits} {traffic}: {found:?}");
                assert!(circuits > 0 || found.share == 1.0, "{found:?}");
                assert!(circuits == 0 || traffic > 0.0 || found.share == 0.0, "{found:?}");
            }
        }
        for requests in [0.0, 1.0, 1e6] {
            let found = of_mesh(2, 1.0, circuits, 0.0).at_start(requests);
            assert!(
                in_range(&found) && (circuits > 0 || found.share == 1.0),
                "{circuits} {requests}: {found:?}"
            );
        }
    }
    // nobody asks
    let silent = LossNetwork { circuits: vec![3, 0], routes: Vec::new() };
    assert_eq!(silent.reduced_load().unwrap().0, Rejections { share: 0.0, routes: vec![] });
    assert_eq!(silent.pairs().unwrap().0.share, 0.0);
    assert_eq!(silent.at_start(5.0).share, 0.0);
    assert_eq!(of_mesh(2, 0.0, 3, 0.0).at_start(5.0).share, 0.0);
}

#[test]
fn bandwidth_is_cut_into_calls() {
    assert_eq!([circuits(1.0, 0.1), circuits(1.0, 0.05), circuits(0.8, 0.3)], [10, 20, 2]);
    assert_eq!(held(10_000.0, 4, delay(15.0)), 10_150.0);
}
