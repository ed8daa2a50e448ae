//! How far the refined model is off on meshes, tori, fat meshes, fat trees and graphs: a table against the simulator.
//!
//! `cargo run --release --example networks -- STORE [SEED COUNT [trees|adaptive|graphs]]`: the presets with several
//! virtual channels a class, or so many random scenarios; if that is said of trees, of trees with adaptive routing or
//! of graphs.

use std::sync::atomic::AtomicBool;

use flitwise_experiment::Settings;
use flitwise_experiment::answer::Simulation;
use flitwise_language::scenario::{
    GraphFile, GraphRouting, NetworkSpec, PerLevel, Preset, Radix, Scenario, ScenarioSpec, TreeDelay,
    TreeRouting,
};
use flitwise_models::model::{Model, Options};
use flitwise_validation::campaign;
use flitwise_validation::machine::Machine;
use flitwise_validation::store::Store;

/// Shares of the saturation load.
const SHARES: [f64; 3] = [0.25, 0.5, 0.8];

/// The same with all rates multiplied.
fn at(scenario: &ScenarioSpec, factor: f64) -> Scenario {
    let mut spec = scenario.clone();
    spec.classes.iter_mut().for_each(|class| class.rate *= factor);
    spec.check().expect("a sound scenario")
}

fn presets() -> Vec<ScenarioSpec> {
    let mut all = Vec::new();
    for (name, lanes) in [("mesh4x4", [1, 2, 4]), ("torus8x8", [2, 4, 8]), ("fat-mesh", [1, 2, 4])] {
        for (lanes, is_mixed) in lanes.into_iter().flat_map(|lanes| [(lanes, false), (lanes, true)]) {
            let mut spec = Preset::find(name).expect("a preset").scenario().spec().clone();
            spec.classes.truncate(1 + usize::from(is_mixed));
            spec.classes.iter_mut().for_each(|class| class.virtual_channels = lanes);
            spec.name = format!("{name} V {lanes}{}", if is_mixed { " + BE" } else { "" });
            all.push(spec);
        }
    }
    all
}

/// Whole numbers between two of a seed.
fn draws(seed: u64) -> impl FnMut(u32, u32) -> u32 {
    let mut state = seed;
    move |from: u32, to: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        from + ((state >> 33) % u64::from(to - from + 1)) as u32
    }
}

/// Trees of up to 128 nodes.
fn random_trees(seed: u64, count: usize, routings: &[TreeRouting]) -> Vec<ScenarioSpec> {
    let mut draw = draws(seed);
    let mut one = |index: usize| {
        let mut spec = Preset::find("fat-tree").expect("a preset").scenario().spec().clone();
        let levels = draw(2, 3) as usize;
        let most = if levels == 2 { 8 } else { 4 };
        let down: Vec<u32> = (0..levels).map(|_| draw(2, most)).collect();
        let up: Vec<u32> = (1..levels).map(|_| draw(2, most)).collect();
        let routing = routings[index % routings.len()];
        spec.network = NetworkSpec::FatTree {
            levels: levels as u32,
            radix: None,
            taper: None,
            arity: None,
            down: PerLevel::list(&down),
            up: PerLevel::list(&up),
            links: PerLevel::all(if draw(1, 4) == 1 { 2 } else { 1 }),
            delay: TreeDelay::default(),
            routing,
            self_traffic: None,
        };
        random_traffic(&mut spec, &mut draw);
        let lanes = spec.classes[0].virtual_channels;
        spec.name =
            format!("{} {down:?} {up:?} {} V {lanes}", spec.network.topology().short_name(), routing.word());
        spec
    };
    (0..count).map(&mut one).collect()
}

/// Routers and classes of a tree or graph.
fn random_traffic(spec: &mut ScenarioSpec, draw: &mut impl FnMut(u32, u32) -> u32) {
    let flits = draw(8, 32);
    spec.router.buffer_flits = flits + draw(0, 16);
    spec.router.pipeline_stages = draw(3, 6);
    spec.classes.truncate(draw(1, 2) as usize);
    for class in &mut spec.classes {
        (class.message_flits, class.rate) = (flits, 0.1 / f64::from(flits) * f64::from(draw(1, 4)));
        class.virtual_channels = 1 << draw(0, 2);
    }
}

/// Graphs of 4 to 12 switches, each joined to one before it and some to others, with up to four nodes a switch on
/// average, under up-down routing.
fn random_graphs(seed: u64, count: usize) -> Vec<ScenarioSpec> {
    let mut draw = draws(seed);
    let mut one = |_: usize| {
        let mut spec = Preset::find("petersen").expect("a preset").scenario().spec().clone();
        let switches = draw(4, 12);
        let mut joined: Vec<(u32, u32)> = (1..switches).map(|switch| (draw(0, switch - 1), switch)).collect();
        for _ in 0..draw(1, 2 * switches) {
            let (one, other) = (draw(0, switches - 2), draw(1, switches - 1));
            if one < other && !joined.contains(&(one, other)) {
                joined.push((one, other));
            }
        }
        let nodes = draw(switches, 4 * switches);
        let mut text: String =
            (0..nodes).map(|node| format!("node n{node} s{}\n", draw(0, switches - 1))).collect();
        for (one, other) in &joined {
            text += &format!("link s{one} s{other} links={}\n", if draw(1, 4) == 1 { 2 } else { 1 });
        }
        let file = GraphFile::of(&text).expect("a graph");
        spec.network =
            NetworkSpec::Graph { file, routing: GraphRouting::UpDown, root: None, self_traffic: None };
        random_traffic(&mut spec, &mut draw);
        let lanes = spec.classes[0].virtual_channels;
        spec.name = format!("graph of {nodes} nodes, {switches} switches, {} links, V {lanes}", joined.len());
        spec
    };
    (0..count).map(&mut one).collect()
}

/// Random scenarios of a seed.
fn random(seed: u64, count: usize) -> Vec<ScenarioSpec> {
    let mut draw = draws(seed);
    let mut one = |index: usize| {
        let mut spec = Preset::find("mesh4x4").expect("a preset").scenario().spec().clone();
        let dimensions = draw(1, 3);
        let most = [0, 10, 8, 4][dimensions as usize];
        let is_torus = index % 3 == 1;
        let sides: Vec<u32> = (0..dimensions).map(|_| draw(2 + u32::from(is_torus), most)).collect();
        let radix = Radix::of(&sides).expect("few dimensions");
        let (nodes_per_router, links) = if index % 3 == 2 { (draw(1, 4), draw(1, 3)) } else { (1, 1) };
        let dimensions = None;
        spec.network = if is_torus {
            NetworkSpec::Torus { radix, dimensions, nodes_per_router, links, self_traffic: None }
        } else {
            NetworkSpec::Mesh { radix, dimensions, nodes_per_router, links, self_traffic: None }
        };
        let flits = draw(8, 48);
        spec.router.buffer_flits = flits + draw(0, 32);
        spec.router.pipeline_stages = draw(3, 6);
        spec.classes.truncate(draw(1, 2) as usize);
        for class in &mut spec.classes {
            (class.message_flits, class.rate) = (flits, 0.1 / f64::from(flits) * f64::from(draw(1, 4)));
            class.virtual_channels = if is_torus { 2 * draw(1, 4) } else { 1 << draw(0, 3) };
        }
        spec.name =
            format!("{} V {}", spec.network.topology().short_name(), spec.classes[0].virtual_channels);
        spec
    };
    (0..count).map(&mut one).collect()
}

/// The scenarios that the words behind the store ask for.
fn cases(words: &[String]) -> Vec<ScenarioSpec> {
    match words {
        [seed, count] => random(seed.parse().expect("a seed"), count.parse().expect("a count")),
        [seed, count, what] => {
            let (seed, count) = (seed.parse().expect("a seed"), count.parse().expect("a count"));
            match what.as_str() {
                "graphs" => random_graphs(seed, count),
                "adaptive" => random_trees(seed, count, &[TreeRouting::AdaptiveUp]),
                _ => random_trees(seed, count, &TreeRouting::ALL[..3]),
            }
        }
        [only] => presets().into_iter().filter(|spec| spec.name.contains(only.as_str())).collect(),
        _ => presets(),
    }
}

#[allow(clippy::print_stdout)] // a table is what it is for
fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let store = Store::open(words[0].as_ref()).expect("a store");
    let (machine, never) = (Machine::default(), AtomicBool::new(false));
    let simulate = |scenario: Scenario, precision: f64, max_messages: u64| -> Option<Simulation> {
        let settings = Settings { precision, max_messages, ..Settings::default() };
        let found = campaign::run(&[scenario], &settings, Some(&store), &machine.host(&never), &mut ())
            .expect("it is simulated");
        found.simulations.into_iter().next().flatten()
    };
    let cases = cases(&words[1..]);
    let options = Options { distributions: false, ..Options::default() };
    for case in cases {
        let load: f64 = case.classes.iter().map(|class| class.rate * f64::from(class.message_flits)).sum();
        let bound = flitwise_models::paths::ChannelLoads::of(&at(&case, 1.0)).bottleneck().expect("a load");
        let (mut low, mut high) = (0.3 * bound.at_load_factor(), bound.at_load_factor());
        while high - low > 0.02 * high {
            let middle = f64::midpoint(low, high);
            let saturated = simulate(at(&case, middle), 0.05, 60_000).is_none_or(|found| found.saturated);
            (low, high) = if saturated { (low, middle) } else { (middle, high) };
        }
        let over =
            Model::Refined.solve(&at(&case, 1.2 * bound.at_load_factor()), &options).expect("an answer");
        let first = over.classes.iter().filter_map(|class| class.saturation.as_ref()?.at_load_factor);
        let first = 1.2 * bound.at_load_factor() * first.fold(f64::INFINITY, f64::min);
        println!(
            "{}: bound {:.3}, saturates at {:.3} ({:+.1} %)",
            case.name,
            load * bound.at_load_factor(),
            load * low,
            100.0 * (first / low - 1.0)
        );
        for share in SHARES {
            let scenario = at(&case, share * low);
            let started = std::time::Instant::now();
            let answer = Model::Refined.solve(&scenario, &options);
            let milliseconds = 1e3 * started.elapsed().as_secs_f64();
            let Some(found) = simulate(scenario, 0.01, 150_000) else { continue };
            print!("  {:2.0} %:", 100.0 * share);
            match answer {
                Err(failure) => print!(" {failure}"),
                Ok(answer) => {
                    for (model, found) in answer.classes.iter().zip(&found.classes) {
                        let off = |what: &str, model: Option<f64>, found: Option<f64>| {
                            let (model, found) = (model.unwrap_or(f64::NAN), found.unwrap_or(f64::NAN));
                            print!(
                                "  {what} {found:.2} {model:.2} ({:+.1} %)",
                                100.0 * (model / found - 1.0)
                            );
                        };
                        let mean = |estimate: &Option<flitwise_experiment::answer::Estimate>| {
                            estimate.as_ref().map(|one| one.mean)
                        };
                        off(
                            "latency",
                            model.network_latency_cycles,
                            mean(&found.means.network_latency_cycles),
                        );
                        off("waiting", model.waiting_cycles, mean(&found.means.waiting_cycles));
                    }
                }
            }
            println!("  {milliseconds:.1} ms");
        }
    }
}
