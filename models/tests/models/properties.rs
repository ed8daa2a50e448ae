//! What must hold for any scenario, tried on random ones. The seed is fixed: a failure comes back.

use flitwise_language::scenario::{
    ClassKind, ClassSpec, DeadlineSpec, HopDeadlines, NetworkSpec, RouterSpec, Scenario, ScenarioSpec,
};
use flitwise_models::answer::{Answer, ClassAnswer};
use flitwise_models::published::{Failure, Options, solve, solve_from};
use flitwise_models::queueing::Md1;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// So many random cases, the same in every run.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(2005), failure_persistence: None, ..Default::default() }
}

/// The same at any load, of which but few may be passed over.
fn cases_at_any_load(cases: u32) -> ProptestConfig {
    ProptestConfig { max_global_rejects: cases / 16, ..self::cases(cases) }
}

const MEANS_ONLY: Options = Options {
    fixed_point: flitwise_models::fixed_point::Options { tolerance: 1e-13, max_iterations: 50_000 },
    distributions: false,
    saturation_loads: false,
    expected_errors: false,
    details: false,
};
const WITH_DISTRIBUTIONS: Options = Options { distributions: true, ..MEANS_ONLY };
const DETAILS: Options = Options { details: true, saturation_loads: true, ..WITH_DISTRIBUTIONS };

fn checked(spec: ScenarioSpec) -> Scenario {
    spec.check().unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn solved(scenario: &Scenario, options: &Options) -> Answer {
    solve(scenario, options).unwrap_or_else(|failure| panic!("{failure}"))
}

/// The same at any load: beyond saturation the iteration may settle nowhere, and the case is passed over.
fn solved_if_it_settles(scenario: &Scenario, options: &Options) -> Result<Answer, TestCaseError> {
    solve(scenario, options).map_err(|failure| match failure {
        Failure::NotConverged { .. } => TestCaseError::reject("no fixed point found"),
        Failure::Refused { .. } => TestCaseError::fail(failure.to_string()),
    })
}

// ---------------------------------------------------------------------------------- random scenarios

const MOST_FLITS: u32 = 40;

/// One real-time class: its part of the load, its length and a Vtick.
fn real_time() -> impl Strategy<Value = ClassSpec> {
    (0.05..1.0, 1..=MOST_FLITS, 1.0..60.0).prop_map(|(rate, message_flits, vtick)| ClassSpec {
        message_flits,
        vtick: Some(vtick),
        ..ClassSpec::real_time("another", rate)
    })
}

fn best_effort() -> impl Strategy<Value = ClassSpec> {
    (0.05..1.0, 1..=MOST_FLITS).prop_map(|(rate, message_flits)| ClassSpec {
        message_flits,
        ..ClassSpec::best_effort("another", rate)
    })
}

fn network() -> impl Strategy<Value = NetworkSpec> {
    prop_oneof![
        Just(NetworkSpec::Router { ports: 16, self_traffic: None }),
        (1..=6u32).prop_map(|dimension| NetworkSpec::Hypercube { dimension, self_traffic: None })
    ]
}

/// Scenarios of up to `most` real-time classes whose flits load every port by a part in `loads`. Most have no
/// Vticks of their own, the rest have all.
fn scenarios(most: usize, loads: std::ops::Range<f64>) -> impl Strategy<Value = Scenario> {
    let classes = (proptest::collection::vec(real_time(), 0..=most), proptest::option::of(best_effort()))
        .prop_map(|(real_time, best_effort)| real_time.into_iter().chain(best_effort).collect())
        .prop_filter("no class", |classes: &Vec<ClassSpec>| !classes.is_empty());
    let router = (1..=8u32, 1..=MOST_FLITS);
    (network(), router, classes, loads, proptest::bool::weighted(0.3)).prop_map(
        |(network, (pipeline_stages, buffer_flits), mut classes, load, vticks_given)| {
            let shares: f64 = classes.iter().map(|class| class.rate).sum();
            for (index, class) in classes.iter_mut().enumerate() {
                class.name = format!("class {index}");
                class.rate = f64::min(1.0, class.rate * load / shares / f64::from(class.message_flits));
                class.vtick = class.vtick.filter(|_| vticks_given);
                class.deadlines = deadlines(network.clone(), pipeline_stages, class.message_flits);
            }
            let router = RouterSpec { pipeline_stages, buffer_flits, ..RouterSpec::default() };
            checked(ScenarioSpec {
                name: "random".to_owned(),
                network,
                router,
                classes,
                ..ScenarioSpec::default()
            })
        },
    )
}

/// `T` of a message over `hops` network channels, `P - 1 + P h + M` \[cycles\].
fn transfer(stages: u32, hops: u32, flits: u32) -> u32 {
    stages - 1 + stages * hops + flits
}

/// Deadlines around `T`, for all messages and for every hop count.
fn deadlines(network: NetworkSpec, stages: u32, flits: u32) -> Vec<DeadlineSpec> {
    let around = |hops: u32| {
        let first = transfer(stages, hops, flits);
        let after = [0, 1, 5, 20, 100, 400].map(|more| first + more);
        (first > 1).then(|| first - 1).into_iter().chain(after).collect::<Vec<u32>>()
    };
    let most_hops = network.topology().most_hops();
    let of_hops = |hops| DeadlineSpec::Hops(HopDeadlines { hops, deadlines: around(hops) });
    let of_all = around(most_hops.min(1)).into_iter().map(DeadlineSpec::Cycles);
    of_all.chain((1..=most_hops).map(of_hops)).collect()
}

fn with_classes(scenario: &Scenario, classes: Vec<ClassSpec>) -> Scenario {
    checked(ScenarioSpec { classes, ..scenario.spec().clone() })
}

// ------------------------------------------------------------------------------- comparing answers

/// All numbers of a class, with their names.
fn numbers(class: &ClassAnswer) -> Vec<(String, Option<f64>)> {
    let means = [
        ("network_latency_cycles", class.network_latency_cycles),
        ("waiting_cycles", class.waiting_cycles),
        ("total_latency_cycles", class.total_latency_cycles),
        ("transfer_cycles", class.transfer_cycles),
        ("blocking_cycles", class.blocking_cycles),
        ("sharing_cycles", class.sharing_cycles),
        ("blocking_probability", class.blocking_probability),
        ("blocking_length_flits", class.blocking_length_flits),
        ("cycles_per_flit", class.cycles_per_flit),
        ("utilization", class.utilization),
        ("router_load", class.router_load),
        ("source_load", class.source_load),
        ("accepted_rate_messages_per_cycle", class.accepted_rate_messages_per_cycle),
    ];
    let misses = class.deadlines.iter().map(|deadline| {
        (
            format!("miss of {} over {:?} hops", deadline.deadline_cycles, deadline.hops),
            deadline.miss_probability,
        )
    });
    means.into_iter().map(|(name, number)| (name.to_owned(), number)).chain(misses).collect()
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * f64::max(1.0, b.abs())
}

/// Whether two answers about one class agree in every number.
fn agree(a: &ClassAnswer, b: &ClassAnswer, tolerance: f64) -> Result<(), TestCaseError> {
    prop_assert_eq!(a.saturated, b.saturated);
    for ((name, a), (_, b)) in numbers(a).into_iter().zip(numbers(b)) {
        match (a, b) {
            (Some(a), Some(b)) => prop_assert!(near(a, b, tolerance), "{}: {} is not {}", name, a, b),
            _ => prop_assert_eq!(a, b, "{}", name),
        }
    }
    Ok(())
}

// ------------------------------------------------------------------------------------- identities

proptest! {
    #![proptest_config(cases_at_any_load(64))]

    #[test]
    fn parts_add_up_and_every_number_is_finite_or_has_a_reason(scenario in scenarios(4, 0.001..2.0)) {
        let answer = solved_if_it_settles(&scenario, &DETAILS)?;
        prop_assert_eq!(answer.saturated, answer.classes.iter().any(|class| class.saturated));
        for class in &answer.classes {
            for (name, number) in numbers(class) {
                match number {
                    Some(number) => {
                        prop_assert!(number.is_finite() && number >= -1e-12, "{}: {}", name, number);
                    }
                    None => {
                        let miss = name.starts_with("miss") && class.deadlines.iter().all(|deadline| {
                            deadline.miss_probability.is_some() != deadline.reason.is_some()
                        });
                        prop_assert!(miss || class.reasons.contains_key(&name), "{}", name);
                    }
                }
            }
            prop_assert_eq!(class.saturated, class.saturation.is_some());
            let percentiles = class.latency_percentiles_cycles;
            let percentiles = [percentiles.p50, percentiles.p90, percentiles.p99, percentiles.p99_9];
            let all_known = percentiles.iter().all(Option::is_some);
            prop_assert!(all_known || class.reasons.contains_key("latency_percentiles_cycles"));
            prop_assert!(percentiles.iter().flatten().is_sorted());

            let probabilities = [class.blocking_probability, class.utilization, class.router_load];
            for probability in probabilities.into_iter().flatten() {
                prop_assert!((0.0..=1.0).contains(&probability), "{}", probability);
            }
            let parts = [class.transfer_cycles, class.blocking_cycles, class.sharing_cycles];
            if let Some(latency) = class.network_latency_cycles {
                let sum: f64 = parts.into_iter().flatten().sum();
                prop_assert!(near(latency, sum, 1e-12));
                prop_assert!(class.cycles_per_flit.unwrap() >= 1.0 - 1e-12);
            }
            if let (Some(total), Some(waiting)) = (class.total_latency_cycles, class.waiting_cycles) {
                prop_assert!(near(total, class.network_latency_cycles.unwrap() + waiting, 1e-12));
            }
        }
    }

    #[test]
    fn a_later_deadline_is_missed_less_and_one_before_the_transfer_time_always(
        scenario in scenarios(4, 0.001..1.5)
    ) {
        let stages = scenario.router().pipeline_stages;
        let answer = solved_if_it_settles(&scenario, &DETAILS)?;
        for (spec, class) in scenario.classes().iter().zip(&answer.classes) {
            for deadline in &class.deadlines {
                let hops = deadline.hops.unwrap_or(scenario.topology().most_hops().min(1));
                let Some(miss) = deadline.miss_probability else { continue };
                prop_assert!((0.0..=1.0).contains(&miss), "{}", miss);
                if deadline.deadline_cycles < transfer(stages, hops, spec.message_flits) {
                    // but for the rounding of a Fourier transform
                    prop_assert!(miss > 1.0 - 1e-14, "{}", miss);
                }
            }
            for pair in class.deadlines.windows(2) {
                if let (true, Some(sooner), Some(later)) =
                    (pair[0].hops == pair[1].hops, pair[0].miss_probability, pair[1].miss_probability)
                {
                    prop_assert!(later <= sooner + 1e-12, "{} after {}", later, sooner);
                }
            }
            if let Some(distribution) = &class.latency_distribution {
                let at_most = &distribution.at_most_probability;
                prop_assert!(at_most.is_sorted(), "not monotone");
                prop_assert!(at_most.iter().all(|p| (0.0..=1.0).contains(p)));
            }
        }
    }
}

// ------------------------------------------------------------------------------------- symmetries

proptest! {
    #![proptest_config(cases(192))]

    /// Nothing flows back from best effort: every digit of the others stays.
    #[test]
    fn best_effort_does_not_touch_real_time(
        scenario in scenarios(3, 0.001..1.2), other in proptest::option::of(best_effort())
    ) {
        let is_real_time = |class: &&ClassSpec| class.kind == ClassKind::RealTime;
        let real_time: Vec<ClassSpec> = scenario.classes().iter().filter(is_real_time).cloned().collect();
        prop_assume!(!real_time.is_empty());
        let other = other.map(|class| ClassSpec { rate: class.rate / 30.0, ..class });
        let before = solved_if_it_settles(&scenario, &WITH_DISTRIBUTIONS)?;
        let after = with_classes(&scenario, other.into_iter().chain(real_time).collect());
        let after = solved_if_it_settles(&after, &WITH_DISTRIBUTIONS)?;
        let real_time = |answer: Answer| {
            let classes = answer.classes.into_iter().filter(|class| class.kind == ClassKind::RealTime);
            serde_json::to_value(classes.collect::<Vec<_>>()).unwrap()
        };
        prop_assert_eq!(real_time(before), real_time(after));
    }

    #[test]
    fn a_silent_class_changes_nothing_for_the_others(
        scenario in scenarios(2, 0.001..0.6), silent in real_time(), vtick in 1e-2..1e4, place in 0..=3usize
    ) {
        let without = solved(&scenario, &WITH_DISTRIBUTIONS);
        prop_assume!(!without.saturated);
        let mut classes = scenario.classes().to_vec();
        let place = place.min(classes.len());
        let silent = ClassSpec { rate: 0.0, vtick: Some(vtick), ..silent };
        classes.insert(place, silent);
        let mut with = solved(&with_classes(&scenario, classes), &WITH_DISTRIBUTIONS);
        let found = with.classes.remove(place);
        prop_assert!(found.network_latency_cycles.is_some() && !found.saturated);
        for (with, without) in with.classes.iter().zip(&without.classes) {
            agree(with, without, 1e-12)?;
        }
    }

    /// Not even a digit: links reserve nothing for it.
    #[test]
    fn a_class_without_rate_and_vtick_has_no_share_beside_active_ones(
        scenario in scenarios(2, 0.001..0.6), idle in real_time()
    ) {
        let mut classes = scenario.classes().to_vec();
        prop_assume!(classes[0].kind == ClassKind::RealTime);
        let without = solved(&scenario, &WITH_DISTRIBUTIONS);
        classes.insert(0, ClassSpec { rate: 0.0, vtick: None, ..idle });
        let mut with = solved(&with_classes(&scenario, classes), &WITH_DISTRIBUTIONS);
        let found = with.classes.remove(0);
        prop_assert!(!found.saturated);
        for (name, number) in numbers(&found) {
            prop_assert!(number.is_none() && found.reasons.contains_key(&name), "{}", name);
        }
        let json = |answer: &Answer| serde_json::to_value(&answer.classes).unwrap();
        prop_assert_eq!(json(&with), json(&without));
    }

    #[test]
    fn a_real_time_class_alone_takes_one_cycle_per_flit(scenario in scenarios(1, 0.001..1.5)) {
        let answer = solved_if_it_settles(&scenario, &MEANS_ONLY)?;
        for class in answer.classes.iter().filter(|class| class.kind == ClassKind::RealTime) {
            let Some(cycles) = class.cycles_per_flit else { continue };
            prop_assert!(near(cycles, 1.0, 1e-14), "{}", cycles);
            prop_assert!(class.sharing_cycles.unwrap().abs() < 1e-9);
        }
    }

    #[test]
    fn equal_classes_get_equal_answers(scenario in scenarios(2, 0.001..0.7)) {
        let mut classes = scenario.classes().to_vec();
        prop_assume!(classes[0].kind == ClassKind::RealTime);
        let twin = ClassSpec { name: "twin".to_owned(), ..classes[0].clone() };
        classes.push(twin);
        let answer = solved(&with_classes(&scenario, classes), &WITH_DISTRIBUTIONS);
        prop_assume!(!answer.saturated);
        agree(&answer.classes[0], answer.classes.last().unwrap(), 1e-11)?;
    }
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn the_order_of_classes_does_not_matter(
        (scenario, order) in scenarios(4, 0.001..0.7).prop_flat_map(|scenario| {
            let order: Vec<usize> = (0..scenario.classes().len()).collect();
            (Just(scenario), Just(order).prop_shuffle())
        })
    ) {
        let answer = solved(&scenario, &WITH_DISTRIBUTIONS);
        prop_assume!(!answer.saturated);
        let shuffled: Vec<ClassSpec> = order.iter().map(|index| scenario.classes()[*index].clone()).collect();
        let shuffled = solved(&with_classes(&scenario, shuffled), &WITH_DISTRIBUTIONS);
        for (class, index) in shuffled.classes.iter().zip(order) {
            prop_assert_eq!(&class.name, &answer.classes[index].name);
            agree(class, &answer.classes[index], 1e-10)?;
        }
    }

    /// More classes than are solved by elimination.
    #[test]
    fn the_order_of_many_classes_does_not_matter(
        mut classes in proptest::collection::vec(real_time(), 6..=9), load in 0.05..0.5
    ) {
        let shares: f64 = classes.iter().map(|class| class.rate).sum();
        for (index, class) in classes.iter_mut().enumerate() {
            class.name = format!("class {index}");
            class.rate *= load / shares / f64::from(class.message_flits);
        }
        let table_1 = checked(ScenarioSpec::default());
        let answer = solved(&with_classes(&table_1, classes.clone()), &MEANS_ONLY);
        classes.reverse();
        let reversed = solved(&with_classes(&table_1, classes), &MEANS_ONLY);
        for (class, reversed) in answer.classes.iter().zip(reversed.classes.iter().rev()) {
            agree(class, reversed, 1e-10)?;
        }
    }
}

// ------------------------------------------------------------------------------------------ shape

proptest! {
    #![proptest_config(cases(192))]

    /// As long as nothing is saturated; beyond, accepted messages of a cube keep to its shorter paths.
    #[test]
    fn latency_and_misses_rise_with_the_load(scenario in scenarios(3, 0.01..0.9), factor in 0.3..0.98) {
        let high = solved_if_it_settles(&scenario, &WITH_DISTRIBUTIONS)?;
        let low = solved(&scenario.with_rates_scaled(factor), &WITH_DISTRIBUTIONS);
        prop_assume!(!high.classes.iter().any(|class| class.saturated && class.kind == ClassKind::RealTime));
        for (low, high) in low.classes.iter().zip(&high.classes) {
            if high.saturated {
                continue;
            }
            prop_assert!(!low.saturated);
            for ((name, low), (_, high)) in numbers(low).into_iter().zip(numbers(high)) {
                let rises = name.starts_with("miss") || name.contains("latency") || name == "waiting_cycles";
                if let (true, Some(low), Some(high)) = (rises, low, high) {
                    prop_assert!(low <= high + 1e-9 * high.max(1.0), "{}: {} falls to {}", name, low, high);
                }
            }
        }
    }

    #[test]
    fn a_warm_start_from_a_lower_load_leads_to_the_same_answer(
        scenario in scenarios(3, 0.01..0.7), factor in 0.1..1.0
    ) {
        let cold = solved(&scenario, &MEANS_ONLY);
        prop_assume!(!cold.saturated);
        let (_, start) = solve_from(&scenario.with_rates_scaled(factor), &MEANS_ONLY, None).unwrap();
        let (warm, _) = solve_from(&scenario, &MEANS_ONLY, Some(&start)).unwrap();
        for (warm, cold) in warm.classes.iter().zip(&cold.classes) {
            agree(warm, cold, 1e-9)?;
        }
    }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn a_class_is_saturated_just_above_the_load_reported_and_not_just_below(
        scenario in scenarios(2, 0.8..2.0)
    ) {
        let answer = solved_if_it_settles(&scenario, &Options { saturation_loads: true, ..MEANS_ONLY })?;
        for (index, class) in answer.classes.iter().enumerate() {
            let Some(saturation) = &class.saturation else { continue };
            // none: saturated at any load
            let Some(factor) = saturation.at_load_factor else { continue };
            prop_assert!(factor > 0.0 && factor <= 1.0);
            let rate = factor * scenario.classes()[index].rate;
            prop_assert!(near(saturation.at_rate_messages_per_cycle.unwrap(), rate, 1e-15));
            // where nothing settles there is no steady state either
            let saturated = |factor: f64| {
                let near = solve(&scenario.with_rates_scaled(factor.min(1.0)), &MEANS_ONLY);
                near.map_or(true, |answer| answer.classes[index].saturated)
            };
            prop_assert!(!saturated(factor * (1.0 - 1e-5)), "below {}", factor);
            prop_assert!(saturated(factor * (1.0 + 1e-5)), "above {}", factor);
        }
    }
}

// ----------------------------------------------------------------------------------------- limits

/// Two real-time classes and best effort in the given network, all with the same rate.
fn alike(network: NetworkSpec, router: RouterSpec, flits: u32, rate: f64) -> Scenario {
    let class = |name, kind| ClassSpec {
        kind,
        message_flits: flits,
        deadlines: deadlines(network.clone(), router.pipeline_stages, flits),
        ..ClassSpec::real_time(name, rate)
    };
    let classes = vec![
        class("a", ClassKind::RealTime),
        class("b", ClassKind::RealTime),
        class("c", ClassKind::BestEffort),
    ];
    checked(ScenarioSpec { name: "idle".to_owned(), network, router, classes, ..ScenarioSpec::default() })
}

/// `L = T`, `W = 1`, `DMP(T) = 0` and `DMP(T - 1) = 1` where there is no traffic to speak of.
#[test]
fn an_idle_network_takes_the_transfer_time() {
    let networks = (1..=16).map(|dimension| NetworkSpec::Hypercube { dimension, self_traffic: None });
    for network in networks.chain([NetworkSpec::Router { ports: 16, self_traffic: None }]) {
        for (pipeline_stages, buffer_flits, flits) in [(5, 32, 32), (1, 4, 32), (3, 32, 2), (8, 1, 1)] {
            let router = RouterSpec { pipeline_stages, buffer_flits, ..RouterSpec::default() };
            for rate in [0.0, 1e-9] {
                let scenario = alike(network.clone(), router, flits, rate);
                let answer = solved(&scenario, &WITH_DISTRIBUTIONS);
                let mean_hops = match network {
                    NetworkSpec::Router { .. } => 0.0,
                    // h̄ = n 2^(n-1) / (2^n - 1)
                    NetworkSpec::Hypercube { dimension: n, self_traffic: None } => {
                        f64::from(n) * 0.5f64 / (1.0 - 0.5f64.powi(n as i32))
                    }
                    _ => unreachable!("the models know routers and cubes"),
                };
                let lone = f64::from(pipeline_stages) * (1.0 + mean_hops) - 1.0 + f64::from(flits);
                // so rare is it that a message meets another
                let tolerance = if rate == 0.0 { 1e-12 } else { 1e-5 };
                for class in &answer.classes {
                    let what =
                        format!("{network:?}, {router:?}, {flits} flits at {rate}, class {}", class.name);
                    assert!(near(class.network_latency_cycles.unwrap(), lone, tolerance), "{what}");
                    assert!(near(class.waiting_cycles.unwrap(), 1.0, tolerance), "{what}");
                    if class.kind == ClassKind::BestEffort {
                        continue;
                    }
                    let mut before = 0;
                    for deadline in &class.deadlines {
                        let hops = deadline.hops.unwrap_or(u32::from(
                            network != NetworkSpec::Router { ports: 16, self_traffic: None },
                        ));
                        let miss = deadline.miss_probability.unwrap();
                        let first = transfer(pipeline_stages, hops, flits);
                        if deadline.deadline_cycles < first {
                            assert_eq!(miss, 1.0, "{what}");
                            before += 1;
                        } else if deadline.hops.is_some() || hops == 0 {
                            assert!(miss <= tolerance, "{what}: {miss}");
                        }
                    }
                    assert!(before > 0 || (pipeline_stages, flits) == (1, 1));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(192))]

    /// A class alone at a light load: with `P_b = 0` its source is an M/D/1 queue of service `T`. To first
    /// order in `P_b` the service is longer by `P_b (m + M / 2)`, (3) and (5); that it varies, (15), is of
    /// the second.
    #[test]
    fn a_lone_class_waits_as_in_a_queue_of_fixed_service(
        kind in prop_oneof![Just(ClassKind::RealTime), Just(ClassKind::BestEffort)],
        (stages, buffer_flits, message_flits) in (1..=8u32, 1..=96u32, 1..=64u32),
        load in 0.001..0.05f64,
    ) {
        let service = f64::from(transfer(stages, 0, message_flits));
        let rate = load / service;
        let class = ClassSpec { kind, message_flits, ..ClassSpec::real_time("alone", rate) };
        let router = RouterSpec { pipeline_stages: stages, buffer_flits, ..RouterSpec::default() };
        let spec = ScenarioSpec { classes: vec![class], router, ..ScenarioSpec::default() };
        let answer = solved(&checked(spec), &MEANS_ONLY);
        let class = &answer.classes[0];

        let flits = f64::from(message_flits);
        let room = flits.max(f64::from(buffer_flits));
        let blocking = load.powf(1.0 + 2.0 * room / flits);
        let longer = blocking * (room + flits / 2.0) / service;
        let waiting = Md1 { rate, mean: service }.measures().reached().unwrap().mean_wait;
        let queued = class.waiting_cycles.unwrap() - 1.0;
        // d ln W / d ln L = 2 + ρ / (1 - ρ)
        let first_order = longer * (2.0 + load / (1.0 - load));
        let exponent = 1.0 + 2.0 * room / flits;
        let second_order = 10.0 * exponent * longer * (longer + blocking) + 1e-12;
        prop_assert!((queued / waiting - 1.0 - first_order).abs() <= second_order);
    }
}
