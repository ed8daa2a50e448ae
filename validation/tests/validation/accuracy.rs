//! Random scenarios are drawn within their bounds, faults of a plan are found, and saturation loads are right where
//! they are known otherwise.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use flitwise_experiment::{Settings, supports};
use flitwise_language::scenario::{
    ClassKind, ClassSpec, NetworkSpec, Scenario, ScenarioSpec, Scheduler, SourceSpec,
};
use flitwise_validation::accuracy::saturation::{self, SaturationLoad};
use flitwise_validation::accuracy::{Case, Family, Plan, Room, Topology};
use flitwise_validation::store::Store;

/// Everything that was drawn for a family.
fn cases<'c>(cases: &'c [Case], family: &Family) -> Vec<&'c Case> {
    cases.iter().filter(|case| case.family == family.name).collect()
}

fn within<T: PartialOrd>(value: T, [from, to]: [T; 2]) -> bool {
    value >= from && value <= to
}

/// What a family promises of each of its scenarios.
fn check(family: &Family, scenario: &Scenario) {
    let name = &scenario.spec().name;
    assert_eq!(supports(scenario), Ok(()), "{name}");
    let size = match (family.topology, scenario.network()) {
        (Topology::Router, NetworkSpec::Router { ports }) => ports,
        (Topology::Hypercube, NetworkSpec::Hypercube { dimension }) => dimension,
        (Topology::Mesh, NetworkSpec::Mesh { radix, nodes_per_router, links, .. })
        | (Topology::Torus, NetworkSpec::Torus { radix, nodes_per_router, links, .. }) => {
            assert!(radix.sides().iter().all(|side| within(*side, family.size)), "{name}");
            assert!(within(radix.sides().len() as u32, [1, family.dimensions[1]]), "{name}");
            assert!(within(nodes_per_router, family.nodes_per_router), "{name}");
            assert!(within(links, family.links), "{name}");
            radix.sides()[0]
        }
        other => panic!("{name}: {other:?}"),
    };
    assert!(within(size, family.size), "{name}: {size}");
    let (router, classes) = (scenario.router(), scenario.classes());
    assert!(within(router.pipeline_stages, family.pipeline_stages), "{name}");
    assert!(within(router.buffer_flits, family.buffer_flits), "{name}");
    assert!(family.schedulers.contains(&router.scheduler), "{name}");
    let real_time = classes.iter().filter(|class| class.kind == ClassKind::RealTime).count();
    assert!(within(real_time as u32, family.real_time_classes), "{name}");
    let longest = classes.iter().map(|class| class.message_flits).max().unwrap();
    match family.room {
        Room::Any => {}
        Room::Ample => assert!(router.buffer_flits >= longest, "{name}"),
        Room::Short => assert!(router.buffer_flits < longest, "{name}"),
    }
    let loads: Vec<f64> = classes.iter().map(|class| class.rate * f64::from(class.message_flits)).collect();
    let (least, most) = loads.iter().fold((f64::MAX, 0.0_f64), |(a, b), load| (a.min(*load), b.max(*load)));
    assert!(
        (loads.iter().sum::<f64>() - 0.5).abs() < 1e-3 && most <= 1.001 * family.load_ratio * least,
        "{name}"
    );
    let on_off = classes.iter().filter(|class| class.source != SourceSpec::Poisson).count();
    assert_eq!(on_off > 0, family.on_off > 0.0, "{name}");
    for (class, load) in classes.iter().zip(&loads) {
        assert!(within(class.message_flits, family.lengths.flits), "{name}");
        if let Some(vtick) = class.vtick {
            let [least, most] = family.vtick_factor;
            assert!(within(vtick * load, [0.999 * least, 1.001 * most]), "{name}: {vtick}");
        }
        if let SourceSpec::OnOff { streams, peak_rate, .. } = class.source {
            // all streams that are ON together generate more than a link takes
            let most = f64::from(streams) * peak_rate * f64::from(class.message_flits);
            assert!(most >= 1.49, "{name}: {most}");
        }
    }
}

#[test]
fn built_in_plans_are_sound_and_differ() {
    let (tuning, holdout) = (Plan::tuning(), Plan::holdout());
    assert_ne!(tuning.seed, holdout.seed);
    assert!(holdout.cases().len() >= 60);
    for plan in [&tuning, &holdout, &Plan::networks()] {
        let all = plan.cases();
        assert_eq!(all, plan.cases(), "the same seed gives the same scenarios");
        let names: HashSet<&str> = all.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        for family in &plan.families {
            let of_family = cases(&all, family);
            assert_eq!(of_family.len(), family.count as usize);
            of_family.iter().for_each(|case| check(family, &case.scenario));
        }
    }
    let scenarios =
        |plan: &Plan| -> Vec<Scenario> { plan.cases().into_iter().map(|case| case.scenario).collect() };
    let both = scenarios(&holdout);
    assert!(scenarios(&tuning).iter().all(|one| !both.contains(one)), "no scenario is in both sets");
}

/// The bounds hold for whatever is drawn, and what may be drawn is drawn.
#[test]
fn many_scenarios_keep_within_their_bounds() {
    let mut plan = Plan::holdout();
    plan.families.iter_mut().for_each(|family| family.count = 300);
    let all = plan.cases();
    for family in &plan.families {
        let of_family = cases(&all, family);
        of_family.iter().for_each(|case| check(family, &case.scenario));
        let share = |of: &dyn Fn(&Scenario) -> bool| {
            of_family.iter().filter(|case| of(&case.scenario)).count() as f64 / of_family.len() as f64
        };
        let best_effort =
            share(&|scenario| scenario.classes().iter().any(|class| class.kind == ClassKind::BestEffort));
        assert!((best_effort - family.best_effort).abs() < 0.12, "{}: {best_effort}", family.name);
        let odd = share(&|scenario| scenario.classes()[0].vtick.is_some());
        assert!((odd - family.odd_vticks).abs() < 0.12, "{}: {odd}", family.name);
        let ends =
            |network: NetworkSpec| share(&move |scenario: &Scenario| scenario.network() == network) > 0.0;
        let [least, most] = family.size;
        match family.topology {
            Topology::Router => {
                assert!(
                    ends(NetworkSpec::Router { ports: least }) && ends(NetworkSpec::Router { ports: most })
                );
            }
            Topology::Hypercube => {
                let cube = |dimension| NetworkSpec::Hypercube { dimension };
                assert!(ends(cube(least)) && ends(cube(most)), "{}", family.name);
            }
            Topology::Mesh | Topology::Torus => {}
        }
        for scheduler in &family.schedulers {
            assert!(share(&|scenario| scenario.router().scheduler == *scheduler) > 0.3, "{}", family.name);
        }
    }
}

#[test]
fn the_example_of_the_readme_is_sound() {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme.split_once("```toml\nseed").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let plan = Plan::from_toml("README.md", &format!("seed{example}")).unwrap();
    assert_eq!(plan.families, Plan::tuning().families[..1]);
}

#[test]
fn a_family_more_leaves_the_others_alone() {
    let plan = Plan::tuning();
    let mut fewer = plan.clone();
    fewer.families.remove(0);
    assert_eq!(plan.cases()[plan.families[0].count as usize..], fewer.cases());
    let mut other = plan.clone();
    other.seed += 1;
    assert!(plan.cases().iter().zip(other.cases()).all(|(one, another)| one.scenario != another.scenario));
}

#[test]
fn every_fault_is_reported_at_once_and_at_its_place() {
    let text = r#"seed = -1
loads = [0.5, 1.2]
precision = 5
points = 3
[[family]]
name = "My routers"
topology = "router"
dimension = [2, 3]
ports = [2, 128]
buffer_flits = [64, 32]
best_effort = 70
schedulers = ["virtual-clok"]
[[family]]
name = "b"
count = 0
topology = "hypercube"
dimension = [2.5, 3]
message_flits = [8, 64]
buffer_flits = [4, 32]
buffer = "ample"
[[family]]
name = "c"
count = 1
topology = "router"
ports = [2, 4]
message_flits = [8, 64]
buffer_flits = [8, 32]
buffer = "short"
"#;
    let found: Vec<String> =
        Plan::from_toml("t", text).unwrap_err().iter().map(ToString::to_string).collect();
    let expected = [
        "t:1:8: seed: found -1, wanted 0 to 9007199254740992",
        "t:2:9: loads: found 1.2, wanted loads from 0.01 to 0.95\n  \
         help: a load is a share of the one at which the first class saturates",
        "t:3:13: precision: found 5, wanted a share from 0.0001 to 0.5, such as 0.05 for 5 %",
        "t:4:1: points: found an unknown key, wanted one of kind, seed, loads, precision, max_flit_hops, family",
        "t:5:1: family[1].count: found nothing, wanted how many scenarios to draw\n  help: count = 10",
        "t:6:8: family[1].name: found \"My routers\", wanted small letters, digits and hyphens, 40 at most",
        "t:8:13: family[1].dimension: found dimension of a router, wanted ports only",
        "t:9:9: family[1].ports: found [2, 128], wanted [least, most] between 2 and 64",
        "t:10:16: family[1].buffer_flits: found [64, 32], wanted [least, most] between 1 and 4096",
        "t:11:15: family[1].best_effort: found 70, wanted a share from 0 to 1, such as 0.05 for 5 %",
        "t:12:14: family[1].schedulers: found \"virtual-clok\", wanted a list of virtual-clock, \
         virtual-clock-persistent, fair-queueing, weighted-round-robin, round-robin, fifo, \
         fine-grained-virtual-clock, fine-grained-fair-queueing\n  \
         help: did you mean \"virtual-clock\"?",
        "t:15:9: family[2].count: found 0, wanted 1 to 10000",
        "t:17:13: family[2].dimension: found [2.5, 3], wanted whole numbers",
        "t:19:16: family[2].buffer_flits: found at most 32 with messages of up to 64, \
         wanted room for a whole message\n  help: buffer = \"short\" draws buffers below the longest message",
        "t:27:16: family[3].buffer_flits: found at least 8 with messages of 8 and more, \
         wanted buffers below every message",
    ];
    assert_eq!(found, expected, "{found:#?}");
    let nothing: Vec<String> =
        Plan::from_toml("t", "").unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(nothing.len(), 3, "{nothing:#?}");
}

fn find(scenario: &Scenario) -> Vec<Option<SaturationLoad>> {
    let settings = Settings { threads: Some(1), ..Settings::default() };
    saturation::find(scenario, &settings, None, &AtomicBool::new(false), &mut |_| {}).unwrap()
}

#[track_caller]
fn assert_factor(found: Option<SaturationLoad>, expected: f64, tolerance: f64) {
    let SaturationLoad { factor, half_width_95 } = found.unwrap();
    assert!((factor - expected).abs() <= tolerance, "{factor} is not {expected}");
    assert!(half_width_95 <= 0.01 * factor, "±{half_width_95}");
}

#[test]
fn a_class_saturates_where_its_throughput_is_what_comes() {
    // Table 1 with best effort at 0.01: the load of R1 at which best effort saturates is what sweeps of the
    // simulator show, about 0.0083 messages/cycle
    let mut spec = ScenarioSpec::default();
    spec.classes[0].rate = 0.0083;
    spec.classes[1].rate = 0.00415;
    let found = find(&spec.check().unwrap());
    assert_factor(found[2], 1.0, 0.03);
    // real time goes first and saturates later
    assert!(found[0].unwrap().factor > 1.1 && found[1].unwrap().factor > 1.1, "{found:?}");
}

/// What has no rate does not saturate, and doubled rates saturate at half the factor.
#[test]
fn load_factors_go_with_the_rates() {
    let spec = |rate: f64| ScenarioSpec {
        classes: vec![ClassSpec::real_time("a", rate), ClassSpec::best_effort("b", 0.0)],
        ..ScenarioSpec::default()
    };
    let (one, two) = (find(&spec(0.005).check().unwrap()), find(&spec(0.01).check().unwrap()));
    assert_eq!((one[1], two[1]), (None, None));
    assert_factor(two[0], one[0].unwrap().factor / 2.0, 0.005 * one[0].unwrap().factor);
}

#[test]
fn what_was_found_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    let classes = vec![ClassSpec::real_time("a", 0.01)];
    let network = NetworkSpec::Router { ports: 2 };
    let spec = ScenarioSpec { network, classes, ..ScenarioSpec::default() };
    let scenario = spec.check().unwrap();
    let settings = Settings { threads: Some(1), ..Settings::default() };
    let (go_on, stop) = (AtomicBool::new(false), AtomicBool::new(true));
    let run = |stop: &AtomicBool| {
        saturation::find(&scenario, &settings, Some(&store), stop, &mut |note| panic!("{note}"))
    };
    assert_eq!(run(&stop), None, "interrupted before there was anything");
    let first = run(&go_on).unwrap();
    assert_eq!(run(&stop), Some(first), "nothing is left to be interrupted");
}

/// An overloaded ON/OFF class becomes a Poisson one where its streams could not reach the rate.
#[test]
fn rates_can_be_scaled_beyond_what_streams_can_reach() {
    let mut spec = ScenarioSpec::default();
    spec.classes[0].source = SourceSpec::OnOff { streams: 2, messages_per_burst: 4.0, peak_rate: 0.01 };
    spec.router.scheduler = Scheduler::FairQueueing;
    let scenario = spec.check().unwrap();
    let scaled = saturation::scaled(&scenario, 3.0).unwrap();
    assert_eq!(
        (scaled.classes()[0].rate, &scaled.classes()[0].source),
        (0.015, &scenario.classes()[0].source)
    );
    assert_eq!(saturation::scaled(&scenario, 5.0).unwrap().classes()[0].source, SourceSpec::Poisson);
    assert!(saturation::scaled(&scenario, 1e6).is_err());
}
