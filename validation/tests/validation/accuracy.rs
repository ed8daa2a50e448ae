//! Random scenarios are drawn within their bounds, faults of a plan are found, and saturation loads are right where
//! they are known otherwise.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use flitwise_experiment::Settings;
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{
    ClassKind, ClassSpec, GraphRouting, NetworkSpec, PerLevel, Scenario, ScenarioSpec, Scheduler, SourceSpec,
};
use flitwise_models::accuracy::{self, Coverage, ErrorTable, REGIONS, Region};
use flitwise_models::model::{Model, Options};
use flitwise_validation::accuracy::saturation::{self, SaturationLoad};
use flitwise_validation::accuracy::{Case, Family, Kind, Plan, SETS};
use flitwise_validation::machine::{Machine, supports};
use flitwise_validation::store::Store;
use sha2::{Digest, Sha256};

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
    let size = match (family.topology(), scenario.network().clone()) {
        ("router", NetworkSpec::Router { ports, self_traffic: None }) => ports,
        ("hypercube", NetworkSpec::Hypercube { dimension, self_traffic: None }) => dimension,
        ("mesh", NetworkSpec::Mesh { radix, nodes_per_router, links, .. })
        | ("torus", NetworkSpec::Torus { radix, nodes_per_router, links, .. }) => {
            assert!(radix.sides().iter().all(|side| within(*side, family.size())), "{name}");
            assert!(within(radix.sides().len() as u32, [1, family.whole("dimensions")[1]]), "{name}");
            assert!(within(nodes_per_router, family.whole("nodes_per_router")), "{name}");
            assert!(within(links, family.whole("links")), "{name}");
            radix.sides()[0]
        }
        ("fat-tree", NetworkSpec::FatTree { levels, down, up, links, routing, .. }) => {
            let are_within =
                |key, list: PerLevel| list.numbers().iter().all(|number| within(*number, family.whole(key)));
            assert!(are_within("down", down.unwrap()) && are_within("up", up.unwrap()), "{name}");
            assert!(
                are_within("links", links) && family.words("routing").contains(&routing.word()),
                "{name}"
            );
            assert!(scenario.topology().nodes() <= 256, "{name}");
            levels
        }
        ("file", NetworkSpec::Graph { routing: GraphRouting::UpDown, .. }) => {
            let network = scenario.topology();
            let [least, most] = family.whole("nodes_per_router").map(|each| each * network.routers());
            assert!(within(network.nodes(), [least, most]), "{name}");
            network.routers()
        }
        other => panic!("{name}: {other:?}"),
    };
    assert!(within(size, family.size()), "{name}: {size}");
    let (router, classes) = (scenario.router(), scenario.classes());
    assert!(within(router.pipeline_stages, family.whole("pipeline_stages")), "{name}");
    assert!(within(router.buffer_flits, family.whole("buffer_flits")), "{name}");
    assert!(family.words("schedulers").contains(&router.scheduler.word()), "{name}");
    let real_time = classes.iter().filter(|class| class.kind == ClassKind::RealTime).count();
    assert!(within(real_time as u32, family.whole("real_time_classes")), "{name}");
    let longest = classes.iter().map(|class| class.message_flits).max().unwrap();
    match family.words("buffer") {
        ["ample"] => assert!(router.buffer_flits >= longest, "{name}"),
        ["short"] => assert!(router.buffer_flits < longest, "{name}"),
        _ => {}
    }
    let loads: Vec<f64> = classes.iter().map(|class| class.rate * f64::from(class.message_flits)).collect();
    let (least, most) = loads.iter().fold((f64::MAX, 0.0_f64), |(a, b), load| (a.min(*load), b.max(*load)));
    assert!(
        (loads.iter().sum::<f64>() - 0.5).abs() < 1e-3 && most <= 1.001 * family.number("load_ratio") * least,
        "{name}"
    );
    let on_off = classes.iter().filter(|class| class.source != SourceSpec::Poisson).count();
    assert_eq!(on_off > 0, family.number("on_off") > 0.0, "{name}");
    for (class, load) in classes.iter().zip(&loads) {
        assert!(within(class.message_flits, family.whole("message_flits")), "{name}");
        if let Some(vtick) = class.vtick {
            let [least, most] = family.bounds("vtick_factor");
            assert!(within(vtick * load, [0.999 * least, 1.001 * most]), "{name}: {vtick}");
        }
        if let SourceSpec::OnOff { streams, peak_rate, .. } = class.source {
            // all streams that are ON together generate more than a link takes
            let most = f64::from(streams) * peak_rate * f64::from(class.message_flits);
            assert!(most >= 1.49, "{name}: {most}");
        }
    }
}

fn registered(name: &str) -> Plan {
    Plan::registered(name).unwrap()
}

#[test]
fn registered_sets_are_sound_and_differ() {
    for (name, text) in SETS {
        let plan = registered(name);
        let names: HashSet<&str> = plan.cases().iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), plan.cases().len(), "{name}");
        let again = Plan::from_toml(name, text).unwrap();
        assert_eq!(scenarios(&again), scenarios(&plan), "{name}: the same seed gives the same scenarios");
        for family in &plan.families {
            let of_family = cases(plan.cases(), family);
            assert_eq!(of_family.len(), family.count as usize);
            if plan.kind == Kind::Scenarios {
                of_family.iter().for_each(|case| check(family, &case.scenario));
            }
        }
    }
    assert!(SETS.len() >= 5 && Plan::registered("nothing").is_none());
    let (tuning, holdout) = (registered("tuning"), registered("holdout"));
    assert!(tuning.seed != holdout.seed && holdout.cases().len() >= 60);
    assert!(scenarios(&tuning).iter().all(|one| !scenarios(&holdout).contains(one)), "none is in both sets");
}

fn scenarios(plan: &Plan) -> Vec<&Scenario> {
    plan.cases().iter().map(|case| &case.scenario).collect()
}

/// Fingerprint of scenario files.
fn fingerprint(texts: impl Iterator<Item = String>) -> String {
    let mut hash = Sha256::new();
    texts.for_each(|text| hash.update(text));
    let bytes: [u8; 32] = hash.finalize().into();
    bytes[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A registered set always draws the same scenarios, to the bit: errors of models measured on it stay comparable, and
/// stored results of its points valid.
#[test]
fn registered_sets_draw_the_same_scenarios() {
    let expected = [
        ("tuning", "d8015df40de0b05b"),
        ("holdout", "771379997d9f6a57"),
        ("networks", "97a353206b8a59aa"),
        ("anchored", "e53b1e575c56d86b"),
        ("streams", "873932d80b5a5bd9"),
    ];
    let drawn = expected.map(|(name, _)| {
        let plan = registered(name);
        let points = plan.cases().iter().flat_map(|case| match plan.kind {
            Kind::Scenarios => vec![case.scenario.clone()],
            Kind::Streams => {
                let factor = case.saturation_factor().unwrap();
                plan.loads.iter().map(|load| case.at(load * factor).unwrap()).collect()
            }
        });
        (name, fingerprint(points.map(|scenario| scenario.spec().to_toml())))
    });
    assert_eq!(drawn, expected.map(|(name, print)| (name, print.to_owned())));
}

/// A set that is like another has its families, and what it does not say itself.
#[test]
fn a_set_may_be_like_another() {
    let (fresh, other) = (registered("fresh-networks"), registered("networks"));
    assert_eq!(fresh.families.len(), other.families.len());
    assert_eq!((fresh.cases().len(), fresh.precision), (other.cases().len(), other.precision));
    assert!(fresh.seed != other.seed && fresh.loads != other.loads && fresh.quantities == other.quantities);
    assert!(scenarios(&fresh).iter().zip(scenarios(&other)).all(|(one, another)| **one != *another));
    let faults = Plan::from_toml("t", "like = \"network\"\nseed = 1\n").unwrap_err();
    assert!(faults.iter().any(|fault| fault.key == "like"), "{faults:?}");
}

/// The tables of errors are of the models as they are: whoever changes a model makes them anew.
#[test]
fn the_tables_of_errors_are_of_the_present_models() {
    let sets = [
        (Model::Published, ["holdout"].as_slice()),
        (Model::Refined, &["holdout", "networks"]),
        (Model::Mediaworm, &["streams"]),
    ];
    let options = Options { distributions: false, saturation_loads: false, ..Options::default() };
    for (model, sets) in sets {
        assert_eq!(accuracy::tables(model).len(), sets.len());
        for (table, set) in accuracy::tables(model).iter().zip(sets) {
            let plan = registered(set);
            assert_eq!(table.loads(), plan.loads, "{set}");
            for row in table.rows.iter().step_by(23) {
                let case = plan.cases().iter().find(|case| case.name == row.case).unwrap();
                let scenario = case.at(row.factor).unwrap();
                assert_eq!(Region::of(&scenario), Some(row.region));
                let answer = model.solve(&scenario, &options).unwrap();
                let class = answer.classes.iter().find(|class| class.name == row.class).unwrap();
                let (found, kept) =
                    (class.network_latency_cycles.unwrap(), row.network_latency_cycles.unwrap());
                assert!(
                    (found / kept - 1.0).abs() < 1e-9,
                    "{set} {} {}: {found}, {kept}",
                    row.case,
                    row.class
                );
            }
        }
    }
}

/// Of the numbers of freshly drawn scenarios about 90 % lie within the errors that are told, in every region at
/// least 85 %. Several numbers of a scenario are off together, so that small regions scatter more.
#[test]
fn nine_of_ten_fresh_numbers_lie_within_the_errors_told() {
    for (model, text) in [
        (Model::Published, include_str!("../../registry/fresh/fresh-published.csv")),
        (Model::Refined, include_str!("../../registry/fresh/fresh-holdout.csv")),
        (Model::Refined, include_str!("../../registry/fresh/fresh-networks.csv")),
        (Model::Mediaworm, include_str!("../../registry/fresh/fresh-streams.csv")),
    ] {
        let found = accuracy::coverage(model, &ErrorTable::read(text));
        let sum = |of: fn(&Coverage) -> usize| found.iter().map(of).sum::<usize>() as f64;
        let share = sum(|one| one.within) / sum(|one| one.told);
        assert!((0.86..=0.96).contains(&share), "{model}: {share}");
        for region in &REGIONS {
            let own: Vec<&Coverage> =
                found.iter().filter(|one| one.region == region && one.told > 0).collect();
            let [told, within] = [|one: &Coverage| one.told, |one: &Coverage| one.within]
                .map(|of| own.iter().map(|one| of(one)).sum::<usize>() as f64);
            assert!(within >= 0.85 * told, "{model} {}: {within} of {told}", region.word);
        }
    }
}

/// The bounds hold for whatever is drawn, and what may be drawn is drawn.
#[test]
fn many_scenarios_keep_within_their_bounds() {
    let (_, text) = SETS.iter().find(|(name, _)| *name == "holdout").unwrap();
    let many = |line: &str| if line.starts_with("count = ") { "count = 300\n" } else { line }.to_owned();
    let text: String = text.split_inclusive('\n').map(many).collect();
    let plan = Plan::from_toml("many", &text).unwrap();
    for family in &plan.families {
        let of_family = cases(plan.cases(), family);
        of_family.iter().for_each(|case| check(family, &case.scenario));
        let share = |of: &dyn Fn(&Scenario) -> bool| {
            of_family.iter().filter(|case| of(&case.scenario)).count() as f64 / of_family.len() as f64
        };
        let best_effort =
            share(&|scenario| scenario.classes().iter().any(|class| class.kind == ClassKind::BestEffort));
        assert!((best_effort - family.number("best_effort")).abs() < 0.12, "{}: {best_effort}", family.name);
        let odd = share(&|scenario| scenario.classes()[0].vtick.is_some());
        assert!((odd - family.number("odd_vticks")).abs() < 0.12, "{}: {odd}", family.name);
        let ends =
            |network: NetworkSpec| share(&move |scenario: &Scenario| *scenario.network() == network) > 0.0;
        let [least, most] = family.size();
        match family.topology() {
            "router" => {
                assert!(
                    ends(NetworkSpec::Router { ports: least, self_traffic: None })
                        && ends(NetworkSpec::Router { ports: most, self_traffic: None })
                );
            }
            "hypercube" => {
                let cube = |dimension| NetworkSpec::Hypercube { dimension, self_traffic: None };
                assert!(ends(cube(least)) && ends(cube(most)), "{}", family.name);
            }
            _ => {}
        }
        for scheduler in family.words("schedulers") {
            assert!(
                share(&|scenario| scenario.router().scheduler.word() == *scheduler) > 0.3,
                "{}",
                family.name
            );
        }
    }
}

#[test]
fn the_example_of_the_readme_is_sound() {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme.split_once("```toml\nseed").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let plan = Plan::from_toml("README.md", &format!("seed{example}")).unwrap();
    assert_eq!(scenarios(&plan), scenarios(&registered("tuning"))[..plan.cases().len()]);
}

#[test]
fn a_family_more_leaves_the_others_alone() {
    let (_, text) = SETS.iter().find(|(name, _)| *name == "tuning").unwrap();
    let plan = registered("tuning");
    let (head, families) = text.split_once("[[family]]").unwrap();
    let (_, others) = families.split_once("[[family]]").unwrap();
    let fewer = Plan::from_toml("fewer", &format!("{head}[[family]]{others}")).unwrap();
    assert_eq!(scenarios(&plan)[plan.families[0].count as usize..], scenarios(&fewer));
    let other = Plan::from_toml("other", &text.replace("seed = 1\n", "seed = 2\n")).unwrap();
    assert!(scenarios(&plan).iter().zip(scenarios(&other)).all(|(one, another)| **one != *another));
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
        "t:4:1: points: found an unknown key, wanted one of like, kind, seed, loads, precision, max_flit_hops, family, \
         model, quantities, target, part",
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

#[test]
fn loads_of_streams_are_met_exactly_and_the_model_answers_all_systems() {
    let plan = registered("streams");
    assert_eq!((plan.cases().len(), plan.model), (178, Model::Mediaworm));
    let mut texts = Vec::new();
    for case in plan.cases() {
        let flits = |scenario: &Scenario| -> f64 {
            (0..scenario.classes().len()).map(|class| scenario.flit_rate(class)).sum()
        };
        let factor = case.saturation_factor().unwrap();
        for load in &plan.loads {
            let scenario = case.at(load * factor).unwrap();
            let (found, wanted) = (flits(&scenario), load * factor * flits(&case.scenario));
            assert!((found / wanted - 1.0).abs() < 1e-6, "{}: {found}, {wanted}", case.name);
            let answer = Model::Mediaworm.solve(&scenario, &Options::default()).unwrap();
            assert!(!answer.saturated, "{} at {load}", case.name);
            supports(&scenario).unwrap();
            // but for rounding
            let [most, as_drawn] = [&scenario, &case.scenario].map(|one| plan.max_messages(one));
            assert!(most.abs_diff(as_drawn) <= 1 + as_drawn / 50, "{}: {most}, {as_drawn}", case.name);
            texts.push(scenario.spec().to_toml());
        }
    }
    // every kind of frame, crossbar and placement is there
    for word in ["cbr", "vbr", "mpeg2", "multiplexed", "capped", "balanced", "fair-queueing"] {
        assert!(texts.iter().any(|text| text.contains(word)), "no {word}");
    }
}

#[test]
fn all_faults_of_a_set_of_streams_come_at_once() {
    let text = "kind = \"streams\"\nseed = 1\nloads = [2]\nlod = 1\n\
                [[family]]\nname = \"a\"\ncount = 0\ntopology = \"ring\"\n\
                [[family]]\nname = \"b\"\ncount = 1\ntopology = \"router\"\nports = [4, 2]\nlinks = [1, 2]\n\
                sources = [\"film\"]\nschedulers = [\"fof\"]\n";
    let faults = Plan::from_toml("t", text).unwrap_err();
    let keys: Vec<&str> = faults.iter().map(|fault| fault.key.as_str()).collect();
    assert_eq!(keys.len(), 8, "{keys:?}");
    for key in ["loads", "lod", "count", "topology", "ports", "links", "sources", "schedulers"] {
        assert!(keys.iter().any(|found| found.ends_with(key)), "{key}: {keys:?}");
    }
}

/// A set of routers with four ports, and what else is told of its family.
fn small(kind: &str, more: &str) -> Result<Plan, Vec<String>> {
    let text = format!(
        "kind = \"{kind}\"\nseed = 1\nloads = [0.5]\n[[family]]\nname = \"a\"\ncount = 20\n\
         topology = \"router\"\nports = [4, 4]\n{more}\n"
    );
    Plan::from_toml("t", &text).map_err(|faults| faults.iter().map(ToString::to_string).collect())
}

/// Bounds within those of every key may still give systems that are none.
#[test]
fn systems_that_cannot_be_are_told_at_their_family() {
    let refused = |kind: &str, more: &str| small(kind, more).unwrap_err().join("\n");
    // what the model and the scenario do not take
    let found = refused("streams", "crossbars = [\"multiplexed\"]\nschedulers = [\"round-robin\"]");
    let expected = "t:4:1: family[1]: found a-01, of which router.scheduler: the mediaworm model";
    assert!(found.starts_with(expected), "{found}");
    let found = refused("streams", "sources = [\"mpeg2\"]\nframe_flits = [1, 1]");
    assert!(found.contains("class.RT.source.frame_scale"), "{found}");
    let found = refused("scenarios", "destinations = [\"bit-reverse\"]\nset = { \"network.ports\" = 6 }");
    assert!(found.contains("destination"), "{found}");
}

/// Any key of a scenario may be given, or drawn after all others.
#[test]
fn other_keys_of_scenarios_stand_under_set() {
    let plain = small("scenarios", "").unwrap();
    let set = "set = { \"router.vc_choice\" = \"drawn\", \"router.pipeline_stages\" = [3, 6], \
               \"router.scheduler\" = [\"fifo\", \"round-robin\"], \"class.*.virtual_channels\" = [2, 4] }";
    let plan = small("scenarios", set).unwrap();
    for (one, other) in scenarios(&plan).iter().zip(scenarios(&plain)) {
        assert_eq!(one.router().vc_choice.word(), "drawn");
        let rates =
            |scenario: &Scenario| -> Vec<f64> { scenario.classes().iter().map(|one| one.rate).collect() };
        assert_eq!(rates(one), rates(other), "what is drawn before stays");
    }
    let all = |of: &dyn Fn(&Scenario) -> String| -> HashSet<String> {
        scenarios(&plan).iter().map(|scenario| of(scenario)).collect()
    };
    let words = |words: &[&str]| -> HashSet<String> { words.iter().map(|word| (*word).to_owned()).collect() };
    assert_eq!(all(&|one| one.router().pipeline_stages.to_string()), words(&["3", "4", "5", "6"]));
    assert_eq!(all(&|one| one.router().scheduler.word().to_owned()), words(&["fifo", "round-robin"]));
    assert_eq!(all(&|one| one.classes()[1].virtual_channels.to_string()), words(&["2", "3", "4"]));
    for (set, expected) in [
        (
            "set = { \"router.pipeline_stages\" = [6, 3] }",
            "t:9:36: family[1].set.router.pipeline_stages: found a list",
        ),
        ("set = { \"router.pipelines\" = [3, 6] }", "drawn with router.pipelines an unknown key"),
        ("set = { \"class.R9.rate\" = 1 }", "drawn with class.R9.rate"),
    ] {
        let found = small("scenarios", set).unwrap_err().join("\n");
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn a_set_says_how_a_model_is_judged() {
    let text = "model = \"published\"\nquantities = [\"p99\"]\nseed = 1\nloads = [0.5]\n\
                [[target]]\nnetworks = [\"cube\"]\nmean = 3\nworst = 4\n\
                [[family]]\nname = \"a\"\ncount = 1\ntopology = \"router\"\nports = [4, 4]\n";
    let plan = Plan::from_toml("t", text).unwrap();
    assert_eq!((plan.model, plan.quantities.as_slice()), (Model::Published, [Quantity::P99].as_slice()));
    assert_eq!((plan.aims.len(), plan.aims[0].target.worst), (1, 4.0));
    assert_eq!((plan.precision, plan.max_flit_hops), (0.01, 1e9), "as others of its kind");
    let wrong = text.replace("p99", "p98").replace("\"cube\"", "\"cub\"").replace("worst", "wurst");
    let found: Vec<String> =
        Plan::from_toml("t", &wrong).unwrap_err().iter().map(|fault| fault.key.clone()).collect();
    assert_eq!(found, ["quantities", "target[1].worst", "target[1].networks", "target[1].wurst"]);
}

fn find(scenario: &Scenario) -> Vec<Option<SaturationLoad>> {
    let (machine, stop) = (Machine::new(Some(1)), AtomicBool::new(false));
    saturation::find(scenario, &Settings::default(), None, &machine.host(&stop), &mut |_| {}).unwrap()
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
    let network = NetworkSpec::Router { ports: 2, self_traffic: None };
    let spec = ScenarioSpec { network, classes, ..ScenarioSpec::default() };
    let scenario = spec.check().unwrap();
    let (machine, settings) = (Machine::new(Some(1)), Settings::default());
    let (go_on, stop) = (AtomicBool::new(false), AtomicBool::new(true));
    let run = |stop: &AtomicBool| {
        saturation::find(&scenario, &settings, Some(&store), &machine.host(stop), &mut |note| {
            panic!("{note}")
        })
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
