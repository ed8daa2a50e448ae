//! Destinations and senders of classes of their own, and drawn virtual channels.

use crate::answer::Answer;
use crate::model::{Failure, Options};
use crate::paths::ChannelLoads;
use crate::refined::{Problem, Resolution, grid, saturation, solve_at, too_long};
use flitwise_language::scenario::{Place, Preset, Scenario};

/// Real time and best effort in a network, with virtual channels each and more keys of both classes.
fn scenario((network, lanes, more): (&str, u32, &str), rates: [f64; 2]) -> Scenario {
    let class = |(name, rate): (&str, f64)| {
        format!(
            "[[class]]\nname = \"{name}\"\nkind = \"{name}\"\nrate = {rate}\nmessage_flits = 32\n\
             virtual_channels = {lanes}\n{more}\n"
        )
    };
    let classes: String = ["real-time", "best-effort"].into_iter().zip(rates).map(class).collect();
    let text = format!("[network]\n{network}\n[router]\nbuffer_flits = 32\n{classes}");
    Scenario::from_toml("test", &text).unwrap()
}

fn solve(scenario: &Scenario) -> Result<Answer, Failure> {
    crate::refined::solve(scenario, &Options { distributions: false, ..Options::default() })
}

/// Network latency and waiting of each class.
fn times(scenario: &Scenario) -> Vec<[f64; 2]> {
    let answer = solve(scenario).unwrap();
    let times = answer.classes.iter();
    times.map(|class| [class.network_latency_cycles.unwrap(), class.waiting_cycles.unwrap()]).collect()
}

const MESH: &str = "topology = \"mesh\"\nradix = [4, 4]";
const ROUTER: &str = "topology = \"router\"\nports = 16";

#[test]
fn all_nodes_by_a_list_are_uniform() {
    let rates = [0.004, 0.002];
    let listed = times(&scenario((MESH, 2, "nodes = \"0-15\"\ndestination = \"0-15\""), rates));
    assert_eq!(listed, times(&scenario((MESH, 2, ""), rates)));
    // a share of nothing is no hot spot, and a little one changes little, though channels are told apart then
    let hot = |share: f64| {
        times(&scenario((MESH, 2, &format!("destination = {{ hot = 5, share = {share} }}")), rates))
    };
    assert_eq!(hot(0.0), listed);
    for (found, uniform) in hot(1e-7).iter().flatten().zip(listed.iter().flatten()) {
        assert!((found / uniform - 1.0).abs() < 0.02, "{found} {uniform}");
    }
}

#[test]
fn meshes_of_radix_two_are_cubes_for_any_destinations() {
    for more in
        ["destination = { hot = 3, share = 0.2 }", "destination = \"bit-complement\"", "nodes = \"0-9\""]
    {
        let [mesh, cube] =
            ["topology = \"mesh\"\nradix = [2, 2, 2, 2]", "topology = \"hypercube\"\ndimension = 4"]
                .map(|network| times(&scenario((network, 1, more), [0.003, 0.002])));
        for (a, b) in mesh.iter().flatten().zip(cube.iter().flatten()) {
            assert!((a - b).abs() < 1e-9 * b, "{more}: {a} {b}");
        }
    }
}

/// `P - 1 + P h + M`, and the cycle of an idle interface.
#[test]
fn lone_messages_take_their_way() {
    for (network, more, hops) in [
        (MESH, "destination = \"transpose\"", 40.0 / 12.0),
        (MESH, "nodes = 0\ndestination = 15", 6.0),
        ("topology = \"torus\"\nradix = [8, 8]", "virtual_channels = 2\ndestination = \"tornado\"", 6.0),
        (ROUTER, "destination = { hot = 3, share = 0.4 }", 0.0),
    ] {
        let lanes = if more.contains("virtual") { 2 } else { 1 };
        let more = more.replace("virtual_channels = 2\n", "");
        for [latency, waiting] in times(&scenario((network, lanes, &more), [1e-7, 1e-7])) {
            assert!((latency - (36.0 + 5.0 * hops)).abs() < 1e-2, "{more}: {latency}");
            assert!((waiting - 1.0).abs() < 1e-2, "{more}: {waiting}");
        }
    }
}

/// Simulated to 1.5 % of the latency, at 55 % of the load at which a channel is full.
#[test]
fn patterns_hot_spots_and_senders_are_the_simulated_ones() {
    let cube = "topology = \"hypercube\"\ndimension = 6";
    for (what, rates, simulated) in [
        (
            (MESH, 1, "destination = \"transpose\""),
            [0.003_437_4, 0.002_291_6],
            [[57.42, 2.98], [78.65, 5.01]],
        ),
        (
            (MESH, 1, "destination = { hot = 5, share = 0.1 }"),
            [0.004_296_9, 0.002_864_6],
            [[55.57, 3.52], [77.11, 6.78]],
        ),
        (
            (cube, 1, "destination = { hot = 32, share = 0.03 }"),
            [0.003_605_7, 0.002_403_8],
            [[55.16, 3.07], [68.40, 5.43]],
        ),
        (
            (ROUTER, 1, "destination = { hot = 3, share = 0.1 }"),
            [0.003_928_5, 0.002_946_4],
            [[39.70, 3.41], [54.07, 6.71]],
        ),
        (
            (MESH, 1, "nodes = \"0-7\"\ndestination = \"8-15\""),
            [0.002_64, 0.001_76],
            [[56.11, 2.46], [68.24, 3.87]],
        ),
    ] {
        for ([latency, waiting], simulated) in times(&scenario(what, rates)).into_iter().zip(simulated) {
            let off = [latency / simulated[0] - 1.0, waiting / simulated[1] - 1.0];
            assert!(off[0].abs() < 0.03 && off[1].abs() < 0.08, "{what:?}: {off:?}");
        }
    }
}

/// Beside a hot port messages for it hold up those of their sender for others. Scenarios of no other test, simulated by
/// `flitwise simulate FILE --precision 2%`: ports, share of the hot port, rate, flits of a message and of a buffer, and
/// best effort's wait.
#[test]
fn best_effort_waits_behind_messages_for_a_hot_port() {
    for (ports, share, rate, message, buffer, scheduler, simulated) in [
        (8, 0.2, 0.005_208, 32, 32, "virtual-clock", 28.24),
        (8, 0.2, 0.002_279, 64, 32, "virtual-clock", 35.46),
        (32, 0.1, 0.005_183, 20, 40, "virtual-clock", 5.97),
        (8, 0.2, 0.005_208, 32, 64, "fair-queueing", 15.76),
    ] {
        let class = |(name, clock): (&str, &str)| {
            format!(
                "[[class]]\nname = \"{name}\"\nkind = \"{name}\"\nrate = {rate}\nmessage_flits = {message}\n\
                 destination = {{ hot = 3, share = {share} }}\n{clock}\n"
            )
        };
        let classes = [("real-time", "vtick = 2.0"), ("best-effort", "")].map(class).concat();
        let text = format!(
            "[network]\ntopology = \"router\"\nports = {ports}\n[router]\npipeline_stages = 5\n\
             buffer_flits = {buffer}\nscheduler = \"{scheduler}\"\n{classes}"
        );
        let [_, waiting] = times(&Scenario::from_toml("test", &text).unwrap())[1];
        let off = waiting / simulated - 1.0;
        assert!(off.abs() < 0.12, "{ports} ports, messages of {message}: {waiting}, {off}");
    }
}

/// Best effort with several virtual channels waits for the injection link, not for one of them.
#[test]
fn virtual_channels_of_routers_are_the_simulated_ones() {
    let rates = [0.010_742, 0.006_445_2];
    let drawn = |choice: &str, lanes: u32| {
        let mut spec = scenario((ROUTER, lanes, ""), rates).spec().clone();
        spec.router.vc_choice = match choice {
            "free" => flitwise_language::scenario::VcChoice::Free,
            _ => flitwise_language::scenario::VcChoice::Drawn,
        };
        times(&spec.check().unwrap())
    };
    for (choice, simulated) in
        [("free", [[65.22, 1.73], [98.01, 31.41]]), ("drawn", [[59.52, 4.72], [99.54, 32.32]])]
    {
        for ([latency, waiting], simulated) in drawn(choice, 4).into_iter().zip(simulated) {
            let off = [latency / simulated[0] - 1.0, waiting / simulated[1] - 1.0];
            assert!(off[0].abs() < 0.08 && off[1].abs() < 0.12, "{choice}: {off:?}");
        }
    }
    assert_eq!(drawn("free", 1), drawn("drawn", 1));
}

#[test]
fn no_class_saturates_beyond_its_exact_bound() {
    for what in [
        (MESH, 1, "destination = \"transpose\""),
        (MESH, 4, "destination = { hot = 5, share = 0.2 }"),
        (ROUTER, 2, "destination = { hot = 3, share = 0.1 }"),
    ] {
        let over = scenario(what, [0.03, 0.02]);
        let loads = ChannelLoads::of(&over);
        for (index, class) in solve(&over).unwrap().classes.iter().enumerate() {
            let factor = class.saturation.as_ref().unwrap().at_load_factor.unwrap();
            let bound = loads.bound(&over, index).unwrap().at_load_factor();
            assert!(factor <= bound * 1.001 && factor > 0.5 * bound, "{what:?} {index}: {factor} {bound}");
        }
    }
}

#[test]
fn what_is_not_followed_is_refused_by_name() {
    let keys = |scenario: &Scenario| match crate::refined::supports(scenario) {
        Err(Failure::Refused { refusals, .. }) => {
            refusals.iter().map(|refusal| refusal.key.clone()).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let source = "{ kind = \"on-off\", streams = 1, messages_per_burst = 4, peak_rate = 0.02 }";
    let bursts = format!("destination = 3\nsource = {source}");
    let nodes = "nodes = \"4-15\"";
    let bursty = scenario((MESH, 1, &format!("{nodes}\n{bursts}")), [0.001, 0.001]);
    assert_eq!(keys(&bursty), ["class.real-time.source.kind", "class.best-effort.source.kind"]);
    let large = scenario(("topology = \"mesh\"\nradix = [64, 64, 2]", 1, nodes), [0.001, 0.001]);
    assert_eq!(keys(&large), ["class.real-time.nodes"]);
}

/// Networks with too many nodes, ways or kinds of channels, each with what is found and wanted.
#[test]
fn what_is_too_large_is_refused_with_its_size() {
    let mesh = |side: u32| format!("topology = \"mesh\"\nradix = [{side}, {side}]");
    let tree = |keys: &str| format!("topology = \"fat-tree\"\n{keys}");
    let hot = "destination = { hot = 3, share = 0.1 }";
    for (network, more, key, found) in [
        (
            tree("levels = 3\narity = 17"),
            "",
            "network",
            "up to 4096 nodes in trees and graphs, and here are 4913",
        ),
        (
            "topology = \"mesh\"\nradix = [64, 64, 2]".to_owned(),
            "nodes = 3",
            "class.real-time.nodes",
            "up to 4096 nodes where classes have",
        ),
        (
            tree("levels = 3\narity = 16\nrouting = \"random-up\""),
            "",
            "network.routing",
            "up to 1048576 ways of messages, and here are 16777216; take \"d-mod-k\"",
        ),
        (tree("levels = 6\narity = 4"), "", "network", "and here are 4194304; simulate"),
        (mesh(33), hot, "class.real-time.destination", "and here are 1184832; name fewer senders"),
        (
            tree("levels = 2\narity = 17\nrouting = \"random-up\""),
            "nodes = \"1-288\"",
            "network.routing",
            "and here are 1410048; take",
        ),
        (
            mesh(64),
            "nodes = 0",
            "class.real-time.nodes",
            "up to 4096 kinds of channels apart, and here are 8190",
        ),
    ] {
        let scenario = scenario((&network, 1, more), [0.001, 0.001]);
        let Err(Failure::Refused { refusals, .. }) = crate::refined::supports(&scenario) else {
            panic!("{network}: not refused");
        };
        assert_eq!(refusals.len(), 1, "{refusals:?}");
        assert_eq!(refusals[0].key, key, "{refusals:?}");
        assert!(refusals[0].because.contains(found), "{refusals:?}");
    }
}

/// Two levels of switches: fewer messages stay at a switch of a larger tree, and latency grows by that alone.
#[test]
fn trees_above_512_nodes_are_answered() {
    let of_arity = |arity: u32| {
        let network = format!("topology = \"fat-tree\"\nlevels = 2\narity = {arity}");
        let scenario = scenario((&network, 1, ""), [0.004, 0.002]);
        (scenario.topology().nodes(), times(&scenario)[0][0])
    };
    let found = [16, 24, 32].map(of_arity);
    assert_eq!(found.map(|(nodes, _)| nodes), [256, 576, 1024]);
    for pair in found.windows(2) {
        let growth = pair[1].1 / pair[0].1;
        assert!((1.0..1.02).contains(&growth), "{found:?}");
    }
}

/// Destinations, senders and rates at random: an answer that is a number, or saturation.
#[test]
fn random_patterns_are_answered() {
    let mut seed = 11_u64;
    let mut draw = |most: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    };
    let networks = [
        ROUTER,
        "topology = \"mesh\"\nradix = [3, 4]\nnodes_per_router = 2\nlinks = 2",
        "topology = \"torus\"\nradix = [4, 3]",
        "topology = \"hypercube\"\ndimension = 3",
    ];
    for round in 0..40 {
        let network = networks[round % 4];
        let lanes = 2 + draw(3) as u32;
        let more = match draw(4) {
            0 => format!(
                "destination = {{ hot = {}, share = {} }}",
                draw(8),
                [0.01, 0.3, 1.0][draw(2) as usize]
            ),
            1 => "nodes = \"0-3\"\ndestination = [5, 6, 7]".to_owned(),
            2 => format!("nodes = {}", draw(8)),
            _ => "destination = \"0-7/2\"".to_owned(),
        };
        let rates = [0, 1].map(|_| [1e-6, 1e-3, 0.01, 0.05][draw(4) as usize]);
        let found = solve(&scenario((network, lanes, &more), rates)).unwrap();
        for class in &found.classes {
            let times = [class.network_latency_cycles, class.waiting_cycles];
            let are_numbers =
                times.iter().all(|time| time.is_some_and(|time| time.is_finite() && time >= 1.0));
            assert!(class.saturated || are_numbers, "{network} {more} {rates:?}: {times:?}");
        }
    }
}

/// What would take long is refused with what it would cost, or lacks what takes long with the reason.
#[test]
fn what_takes_long_is_given_up_and_said() {
    let settings = [("class.*.message_flits", "64"), ("class.R1.destination", "shuffle")];
    let mut document = Preset::find("cube6-3rt").unwrap().document();
    settings.iter().for_each(|(key, value)| document.set(key, value, &Place::Program).unwrap());
    let scenario = document.scenario().unwrap();
    let problem = Problem::new(&scenario);
    let solve = |cells: u64| {
        let all: Vec<usize> = (0..problem.classes.len()).collect();
        grid::within(cells, || solve_at(&scenario, &problem, &Resolution::means(&problem), &all, &[]))
    };
    let (found, gave_up) = solve(1_000_000);
    assert!(gave_up && found.iter().any(Result::is_err));
    let refused = too_long(&scenario, &problem).to_string();
    assert!(
        refused.contains("kinds of channels") && refused.contains("more than some two seconds"),
        "{refused}"
    );
    let found = saturation::load_factors(&scenario, &[0], 1_000);
    assert!(found[0].is_err_and(|reason| reason.contains("is not known")), "{found:?}");
}
