//! Answers to design questions, checked by solving them again.

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{
    ClassSpec, NetworkSpec, Place, Preset, RouterSpec, Scenario, ScenarioSpec, SourceSpec,
};
use flitwise_models::answer::Answer;
use flitwise_models::design::max_load::{self, LargestLoad, Status};
use flitwise_models::design::{Judge, Objective, Requirement, Term, choose, region};
use flitwise_models::model::{Model, Options};
use proptest::prelude::*;

fn preset(name: &str) -> ScenarioSpec {
    Preset::find(name).unwrap().scenario().spec().clone()
}

fn read(spec: &ScenarioSpec, typed: &[&str]) -> Vec<Requirement> {
    let typed: Vec<String> = typed.iter().map(|one| (*one).to_owned()).collect();
    Requirement::read_all("--require", &typed, spec).unwrap()
}

fn max_load(model: Model, spec: &ScenarioSpec, typed: &[&str], scaled: &[usize]) -> LargestLoad {
    let judge = Judge::new(Some(model), read(spec, typed));
    max_load::Question::new(judge, spec, scaled.to_vec()).unwrap().answer().unwrap()
}

/// Whether a requirement holds in an answer, by its own words.
fn holds(requirement: &Requirement, scenario: &Scenario, answer: &Answer) -> bool {
    let about = |name: &str| requirement.class.as_deref().is_none_or(|class| class == name);
    let mut classes = scenario.classes().iter().zip(&answer.classes);
    classes.all(|(asked, found)| {
        if !about(&asked.name) || asked.rate == 0.0 {
            return true;
        }
        if requirement.measure.quantity == Quantity::Margin {
            return !found.saturated;
        }
        let value = found.value(requirement.measure);
        !found.saturated && value.is_some_and(|value| value <= requirement.limit)
    })
}

/// Solves the answer and what is just beyond it as anybody would, and looks.
fn check(found: &LargestLoad, model: Model, typed: &[&str], spec: &ScenarioSpec, scaled: &[usize]) {
    let requirements = read(spec, typed);
    let Some(factor) = found.factor else { return };
    let all_hold = |factor: f64| {
        let mut there = found.scenario.spec().clone();
        for class in scaled {
            let deadlines = std::mem::take(&mut there.classes[*class].deadlines);
            there.classes[*class] = ClassSpec { deadlines, ..spec.classes[*class].clone() };
            there.classes[*class].scale_load(factor);
        }
        let scenario = there.check().unwrap();
        let answer = model.solve(&scenario, &Options::default());
        // where there is no answer nothing holds
        answer.is_ok_and(|answer| requirements.iter().all(|one| holds(one, &scenario, &answer)))
    };
    assert!(all_hold(factor), "{typed:?} at {factor}");
    if let Some(beyond) = found.broken_at {
        assert!(beyond > factor && beyond <= factor * (1.0 + 1.01e-4), "{factor} {beyond}");
        assert!(!all_hold(beyond), "{typed:?} beyond, at {beyond}");
    }
}

fn scenarios() -> impl Strategy<Value = ScenarioSpec> {
    let network = prop_oneof![
        (2u32..33).prop_map(|ports| NetworkSpec::Router { ports, self_traffic: None }),
        (1u32..7).prop_map(|dimension| NetworkSpec::Hypercube { dimension, self_traffic: None }),
    ];
    let class = (1e-5..0.008f64, prop::sample::select(vec![8u32, 16, 32, 50]));
    (network, prop::collection::vec(class, 1..4), prop::option::of(1e-5..0.01f64), 4u32..65).prop_map(
        |(network, real_time, best_effort, buffer_flits)| {
            let mut classes: Vec<ClassSpec> = real_time
                .into_iter()
                .enumerate()
                .map(|(index, (rate, message_flits))| ClassSpec {
                    message_flits,
                    ..ClassSpec::real_time(&format!("R{}", index + 1), rate)
                })
                .collect();
            classes.extend(best_effort.map(|rate| ClassSpec::best_effort("BE", rate)));
            let router = RouterSpec { buffer_flits, ..RouterSpec::default() };
            ScenarioSpec { name: "random".to_owned(), network, router, classes, ..ScenarioSpec::default() }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Whatever is asked of whatever scenario: the answer keeps it, and what is just beyond does not.
    #[test]
    fn a_load_limit_holds_and_just_beyond_it_one_requirement_does_not(
        spec in scenarios(),
        deadline in 20u32..120,
        miss in 0.001..0.9f64,
        most in 20.0..400.0f64,
        all in any::<bool>(),
    ) {
        let first = format!("R1: miss({deadline}) <= {miss}");
        let typed = [first.as_str(), &format!("*: total <= {most}")];
        let scaled: Vec<usize> = if all { (0..spec.classes.len()).collect() } else { vec![0] };
        let found = max_load(Model::Published, &spec, &typed, &scaled);
        check(&found, Model::Published, &typed, &spec, &scaled);
        match found.factor {
            None => prop_assert!(found.requirements.iter().any(|one| one.status == Status::Unreachable)),
            Some(factor) => prop_assert!(factor.is_finite() && factor > 0.0),
        }
        let binding = found.binding.unwrap();
        prop_assert!(typed.len() == found.requirements.len() && !binding.because.is_empty());
    }
}

#[test]
fn the_refined_model_is_searched_as_finely() {
    let spec = preset("router16");
    for (typed, scaled) in [
        (vec!["R1: miss(47) <= 0.3", "BE: total <= 200"], vec![0, 1]),
        (vec!["*: waiting <= 30"], vec![0, 1, 2]),
        (vec!["R2: p99 <= 150"], vec![1]),
        (vec!["BE: network <= 80"], vec![2]),
    ] {
        let found = max_load(Model::Refined, &spec, &typed, &scaled);
        assert!(found.factor.is_some(), "{typed:?}");
        check(&found, Model::Refined, &typed, &spec, &scaled);
        assert!(found.evaluations <= 25, "{typed:?}: {}", found.evaluations);
    }
}

#[test]
fn what_cannot_be_had_is_named_and_so_is_what_holds_anyway() {
    let spec = preset("router16");
    // a lone message takes 36 cycles
    let found = max_load(Model::Published, &spec, &["R1: network <= 35", "R2: network <= 100"], &[0, 1, 2]);
    assert_eq!(found.factor, None);
    assert_eq!(found.requirements[0].status, Status::Unreachable);
    assert_eq!(found.requirements[1].status, Status::Holds);
    assert_eq!(found.binding.unwrap().term, Term::Transfer);
    // latencies of the network are finite up to saturation
    for model in Model::OF_MESSAGES {
        let found = max_load(model, &spec, &["R1: network <= 1e6"], &[0, 1]);
        assert_eq!(found.requirements[0].status, Status::HoldsUpToSaturation, "{model}");
        assert_eq!(found.binding.as_ref().unwrap().term, Term::Saturation);
        check(&found, model, &["R1: network <= 1e6"], &spec, &[0, 1]);
    }
}

#[test]
fn a_saturated_start_is_searched_downwards_and_silence_is_no_hindrance() {
    let mut spec = preset("router16");
    spec.classes.iter_mut().for_each(|class| class.rate *= 50.0);
    spec.classes[1].rate = 0.0;
    let typed = ["*: total <= 150", "R2: total <= 1"];
    let found = max_load(Model::Published, &spec, &typed[..1], &[0, 1, 2]);
    assert!(found.factor.unwrap() < 0.1);
    check(&found, Model::Published, &typed[..1], &spec, &[0, 1, 2]);
    let found = max_load(Model::Refined, &spec, &typed, &[0, 1, 2]);
    assert_eq!(found.requirements[1].status, Status::Silent);
    check(&found, Model::Refined, &typed, &spec, &[0, 1, 2]);
}

#[test]
fn a_margin_keeps_its_distance_from_saturation() {
    let spec = preset("router16");
    for model in Model::OF_MESSAGES {
        let factor = |typed: &[&str]| max_load(model, &spec, typed, &[0, 1, 2]).factor.unwrap();
        let (all, most) = (factor(&[]), factor(&["*: margin >= 0.2"]));
        // the refined model finds the saturation load by laws, the margin by means alone
        let precision = if model == Model::Refined { 2e-2 } else { 2e-3 };
        assert!((most / all - 0.8).abs() < precision, "{model}: {most} {all}");
        let found = max_load(model, &spec, &["*: margin >= 0.2"], &[0, 1, 2]);
        assert!((found.requirements[0].value.unwrap() - 0.2).abs() < 3e-3, "{model}");
    }
}

/// Shares of the link follow the rates: a class that sends next to nothing gets next to nothing, and misses more.
#[test]
fn a_requirement_that_is_broken_without_load_may_hold_with_it() {
    let spec = preset("router16");
    let typed = ["R1: miss(47) <= 0.1", "BE: total <= 200"];
    let found = max_load(Model::Published, &spec, &typed, &[0]);
    assert!(found.broken_below && found.factor.is_some_and(|factor| factor > 0.5), "{:?}", found.factor);
    check(&found, Model::Published, &typed, &spec, &[0]);
}

#[test]
fn bursts_end_where_their_peak_is() {
    let mut spec = preset("router16");
    let source = SourceSpec::OnOff { streams: 1, messages_per_burst: 1.0, peak_rate: 0.002 };
    spec.classes = vec![ClassSpec { source, ..ClassSpec::real_time("R1", 0.001) }];
    let found = max_load(Model::Refined, &spec, &["R1: network <= 1e5"], &[0]);
    assert!((found.factor.unwrap() - 2.0).abs() < 1e-4);
    assert_eq!((found.broken_at, found.binding), (None, None));
}

/// What `choose` finds, with the published model.
#[test]
fn streams_come_by_whole_numbers() {
    let spec = preset("mediaworm-quick");
    let streams = |spec: &ScenarioSpec| spec.classes[0].source.streams().unwrap();
    let latency = |wanted: u32| {
        let mut with = spec.clone();
        with.classes[0].scale_load(f64::from(wanted) / f64::from(streams(&spec)));
        let scenario = with.check().unwrap();
        assert_eq!(streams(scenario.spec()), wanted);
        let answer = Model::Mediaworm.solve(&scenario, &Options::default()).unwrap();
        answer.classes[0].network_latency_cycles.unwrap()
    };
    let limit = (latency(streams(&spec) - 4) + latency(streams(&spec) - 3)) / 2.0;
    let found = max_load(Model::Mediaworm, &spec, &[&format!("video: network <= {limit}")], &[0]);
    assert_eq!(streams(found.scenario.spec()), streams(&spec) - 4);
    check(&found, Model::Mediaworm, &[&format!("video: network <= {limit}")], &spec, &[0]);
    // as many as there is room for, and what a cycle is counts for times
    let found = max_load(Model::Mediaworm, &spec, &["video: deviation <= 1 s"], &[0]);
    assert!(found.factor.is_some() && found.broken_at.is_none());
    assert_eq!(read(&spec, &["video: network <= 8 us"])[0].limit, 100.0);
    let typed = ["video: network <= 8 us".to_owned(), "video: deviation <= 9".to_owned()];
    assert_eq!(Requirement::read_all("--require", &typed, &preset("router16")).unwrap_err().len(), 4);
}

fn chosen(vary: &[&str], objective: &str, maximise: bool, typed: &[&str]) -> choose::BestChoice {
    let document = Preset::find("router16").unwrap().document();
    let spec = preset("router16");
    let judge = Judge::new(Some(Model::Published), read(&spec, typed));
    let objective = Objective::read("--minimise", objective, &spec).unwrap();
    let vary: Vec<String> = vary.iter().map(|one| (*one).to_owned()).collect();
    let question = choose::Question::read(judge, document, &vary, objective, maximise).unwrap();
    question
        .conclude((0..question.combinations()).filter_map(|index| question.optimum(index)).collect())
        .unwrap()
}

/// The same by solving every combination.
fn brute_force(keys: &[(&str, &[f64])], value: &dyn Fn(&Answer) -> Option<f64>) -> (Vec<f64>, f64) {
    let count: usize = keys.iter().map(|(_, values)| values.len()).product();
    let mut best: Option<(Vec<f64>, f64)> = None;
    for point in 0..count {
        let mut document = Preset::find("router16").unwrap().document();
        let (mut rest, mut values) = (point, Vec::new());
        for (key, all) in keys {
            let value = all[rest % all.len()];
            rest /= all.len();
            values.push(value);
            document.set(key, &value.to_string(), &Place::Program).unwrap();
        }
        let answer = Model::Published.solve(&document.scenario().unwrap(), &Options::default()).unwrap();
        if let Some(value) = value(&answer).filter(|value| best.as_ref().is_none_or(|best| *value < best.1)) {
            best = Some((values, value));
        }
    }
    best.unwrap()
}

#[test]
fn lists_are_searched_whole() {
    let found = chosen(
        &["router.buffer_flits=4,8,16,32,64", "class.*.message_flits=16,32,64"],
        "BE: total",
        false,
        &["R1: network <= 30"],
    );
    let value = |answer: &Answer| {
        let holds = answer.classes[0].network_latency_cycles.is_some_and(|latency| latency <= 30.0);
        answer.classes[2].total_latency_cycles.filter(|_| holds && !answer.saturated)
    };
    let buffers = [4.0, 8.0, 16.0, 32.0, 64.0];
    let (_, best) = brute_force(
        &[("router.buffer_flits", &buffers), ("class.*.message_flits", &[16.0, 32.0, 64.0])],
        &value,
    );
    assert!(found.feasible && found.tried.len() == 15);
    assert_eq!(found.best.objective, Some(best));
}

#[test]
fn ranges_are_searched_as_well_as_by_a_fine_grid() {
    // the shares of the link that make the worse of two classes as good as can be
    let worst = |answer: &Answer| {
        let latency = |class: usize| answer.classes[class].network_latency_cycles;
        Some(latency(0)?.max(latency(1)?))
    };
    let grid: Vec<f64> = (0..=90).map(|step| 2.0 * 10f64.powf(f64::from(step) / 90.0)).collect();
    let one = chosen(&["class.R1.vtick=2..20"], "max(*: network)", false, &["R1: network <= 1e6"]);
    let (_, of_all) = brute_force(&[("class.R1.vtick", &grid)], &|answer| {
        worst(answer)?.max(answer.classes[2].network_latency_cycles?).into()
    });
    assert!(one.best.objective.unwrap() <= of_all * (1.0 + 1e-3), "{:?} {of_all}", one.best.objective);
    let coarse: Vec<f64> = grid.iter().copied().step_by(6).collect();
    let two = chosen(
        &["class.R1.vtick=2..20", "class.R2.vtick=2..20"],
        "sum(*: network)",
        false,
        &["R1: network <= 45"],
    );
    let (_, best) = brute_force(&[("class.R1.vtick", &coarse), ("class.R2.vtick", &coarse)], &|answer| {
        let all: Option<f64> = answer.classes.iter().map(|class| class.network_latency_cycles).sum();
        all.filter(|_| answer.classes[0].network_latency_cycles.is_some_and(|latency| latency <= 45.0))
    });
    assert!(two.feasible && two.best.objective.unwrap() <= best * (1.0 + 1e-3), "{two:?} {best}");
    for found in [one, two] {
        let check = found.best.check.unwrap();
        assert!(check.is_local_optimum && check.starts >= 3 && found.evaluations > 20, "{check:?}");
    }
}

#[test]
fn maximising_finds_the_other_end_and_impossible_wishes_are_told() {
    let most = chosen(&["class.BE.rate=0.001..0.02"], "BE: utilization", true, &["BE: total <= 200"]);
    let spec = preset("router16");
    let factor = max_load(Model::Published, &spec, &["BE: total <= 200"], &[2]).factor.unwrap();
    let rate: f64 = most.best.settings[0].value.parse().unwrap();
    assert!((rate / (0.01 * factor) - 1.0).abs() < 3e-3, "{rate} {factor}");
    let none = chosen(&["class.BE.rate=0.001..0.02"], "BE: total", false, &["BE: network <= 10"]);
    assert!(!none.feasible);
}

#[test]
fn every_point_of_a_frontier_holds_and_just_beyond_it_does_not() {
    let spec = preset("router16");
    let typed = ["R1: miss(47) <= 0.2", "BE: total <= 200"];
    let requirements = read(&spec, &typed);
    let judge = Judge::new(Some(Model::Published), requirements.clone());
    let question = region::Question::new(judge, &spec, [0, 2]).unwrap();
    let reach = question.reach();
    let points = question.points(reach, 31, 0..31);
    assert_eq!((points[0].y_rate, points[30].x_rate), (0.0, 0.0));
    for point in &points {
        let all_hold = |factor: f64| {
            let scenario = question.scenario_at([point.x_rate * factor, point.y_rate * factor]).unwrap();
            let answer = Model::Published.solve(&scenario, &Options::default()).unwrap();
            requirements.iter().all(|one| holds(one, &scenario, &answer))
        };
        assert!(point.admissible && all_hold(1.0) && !all_hold(1.0 + 1.01e-3), "{point:?}");
    }
    let binding = |point: &region::FrontierPoint| point.binding_requirement;
    assert_eq!((binding(&points[0]), binding(&points[30])), (Some(0), Some(1)));
    // along an axis it is the largest load
    let mut alone = spec.clone();
    alone.classes[2].rate = 0.0;
    let factor = max_load(Model::Published, &alone, &typed, &[0]).factor.unwrap();
    assert!((points[0].x_rate / (factor * alone.classes[0].rate) - 1.0).abs() < 2e-3);
    // whoever splits the work gets the same frontier, but for the precision
    let split: Vec<_> =
        [0..10, 10..31].into_iter().flat_map(|some| question.points(reach, 31, some)).collect();
    for (one, other) in points.iter().zip(&split) {
        assert!((one.x_rate - other.x_rate).abs() <= 3e-3 * reach[0], "{one:?} {other:?}");
    }
}
