use proptest::prelude::*;

use super::*;
use crate::queueing::{ClassQuestion, Domain, Number, Parameter, Question, assert_near};
use flitwise_language::document::Place;

fn numbers(pairs: &[(&str, f64)]) -> Vec<Number> {
    let number = |(key, value): &(&str, f64)| Number::new(key, *value, Place::Program);
    pairs.iter().map(number).collect()
}

fn answer(kind: Kind, pairs: &[(&str, f64)]) -> StationAnswer {
    let question = Question { kind, numbers: numbers(pairs), classes: vec![] };
    question.check().unwrap().answer(&[10.0])
}

fn of_classes(kind: Kind, classes: &[&[(&str, f64)]]) -> StationAnswer {
    let class = |(index, pairs): (usize, &&[(&str, f64)])| ClassQuestion {
        name: format!("c{index}"),
        numbers: numbers(pairs),
        place: Place::Program,
    };
    let classes = classes.iter().enumerate().map(class).collect();
    Question { kind, numbers: vec![], classes }.check().unwrap().answer(&[])
}

#[test]
fn two_classes_of_constant_service_at_load_0_8() {
    let class: &[(&str, f64)] = &[("rate", 0.0125), ("mean", 32.0), ("scv", 0.0)];
    let answer = of_classes(Kind::NonPreemptive, &[class, class]);
    let response = |k: usize| answer.classes[k].mean_response_cycles.unwrap();
    assert_eq!(format!("{:.2} {:.2}", response(0), response(1)), "53.33 138.67");
    assert_near(answer.load, 0.8, 1e-14);
    assert_eq!(answer.classes[0].service_scv, Some(0.0));
}

#[test]
fn saturation_is_an_answer_with_its_load() {
    let single = answer(Kind::Mm1, &[("rate", 0.04), ("mean", 32.0)]);
    assert!(single.saturated && single.classes[0].mean_wait_cycles.is_none());
    assert_eq!(single.notes, ["saturated: 1.2800 of the server's time is asked for"]);
    assert_eq!(single.classes[0].throughput_per_cycle, Some(1.0 / 32.0));
    assert_eq!(single.classes[0].tail[0].wait_exceeds_probability, None);

    let high: &[(&str, f64)] = &[("rate", 0.0125), ("mean", 32.0), ("scv", 0.0)];
    let low: &[(&str, f64)] = &[("rate", 0.1), ("mean", 32.0), ("scv", 0.0)];
    for kind in [Kind::NonPreemptive, Kind::PreemptiveResume] {
        let answer = of_classes(kind, &[high, low, high]);
        assert!(answer.classes[0].mean_wait_cycles.is_some());
        assert_eq!(answer.notes.len(), 2);
        assert_eq!(
            answer.notes[0],
            "c1 is saturated: it and what goes before it ask for 3.6000 of the server's time"
        );
        assert_near(answer.classes[1].throughput_per_cycle.unwrap(), 0.6 / 32.0, 1e-14);
        assert_eq!(answer.classes[2].throughput_per_cycle, Some(0.0));
    }
    // who may be turned away is never saturated
    for (kind, key) in [(Kind::Mm1K, "capacity"), (Kind::ErlangB, "servers")] {
        let answer = answer(kind, &[("rate", 1.0), ("mean", 32.0), (key, 4.0)]);
        assert!(!answer.saturated && answer.load > 1.0 && answer.classes[0].blocking_probability > 0.8);
    }
}

#[test]
fn weights_do_not_tell_who_gets_what_of_too_little() {
    let class: &[(&str, f64)] = &[("rate", 0.02), ("mean", 32.0), ("weight", 4.0)];
    let answer = of_classes(Kind::DiscriminatorySharing, &[class, class]);
    assert!(answer.classes.iter().all(|class| class.saturated && class.utilization.is_none()));
    assert_eq!(answer.notes[1], "c1 is saturated: all together ask for 1.2800 of the server's time");
}

#[test]
fn a_third_moment_gives_the_spread_of_the_wait() {
    let mm1 = answer(Kind::Mm1, &[("rate", 0.02), ("mean", 32.0)]);
    let moments = [("rate", 0.02), ("mean", 32.0), ("scv", 1.0), ("third-moment", 6.0 * 32f64.powi(3))];
    let mg1 = answer(Kind::Mg1, &moments);
    let deviation = |answer: &StationAnswer| answer.classes[0].wait_standard_deviation_cycles;
    assert_near(deviation(&mg1).unwrap(), deviation(&mm1).unwrap(), 1e-12);
    assert_eq!(deviation(&answer(Kind::Mg1, &moments[..3])), None);
}

/// A value of the parameter, of any size that is allowed, from a number within 0 to 1.
fn within(parameter: &Parameter, part: f64) -> Option<f64> {
    let between = |low: f64, high: f64| low * (high / low).powf(part);
    Some(match parameter.domain {
        Domain::Rate(_) => {
            if part < 0.02 {
                0.0
            } else {
                between(1e-12, 1e6)
            }
        }
        Domain::Time => between(1e-6, 1e9),
        Domain::Scv => {
            if part < 0.1 {
                0.0
            } else {
                between(1e-6, 1e6)
            }
        }
        Domain::Weight | Domain::Energy => between(1e-9, 1e9),
        Domain::Probability => between(1e-12, 0.999),
        // long recursions are tried elsewhere
        Domain::Count { most, .. } => between(1.0, most.min(5_000) as f64).round(),
        Domain::ThirdMoment => return None,
    })
}

/// Nothing that is let in through the door gives anything but numbers, and Little's law holds in all of them.
fn check(answer: &StationAnswer) -> Result<(), TestCaseError> {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-290);
    prop_assert!(answer.load.is_finite() && (0.0..=1.0).contains(&answer.all_busy_probability));
    prop_assert!(answer.values.values().all(|value| value.is_finite()), "{answer:?}");
    for class in &answer.classes {
        let numbers = [
            class.utilization,
            class.throughput_per_cycle,
            class.wait_probability,
            class.mean_wait_cycles,
            class.wait_standard_deviation_cycles,
            class.mean_wait_before_service_cycles,
            class.mean_response_cycles,
            class.mean_number_waiting,
            class.mean_number_in_system,
        ];
        for number in numbers.into_iter().flatten() {
            prop_assert!(number.is_finite() && number >= 0.0, "{class:?}");
        }
        prop_assert!((0.0..=1.0).contains(&class.blocking_probability));
        prop_assert_eq!(class.saturated, class.mean_response_cycles.is_none());
        for tail in &class.tail {
            let pair = [tail.wait_exceeds_probability, tail.response_exceeds_probability];
            prop_assert!(pair.into_iter().flatten().all(|p| (0.0..=1.0 + 1e-12).contains(&p)), "{class:?}");
        }
        if class.saturated {
            prop_assert!(class.load >= 1.0);
            continue;
        }
        let throughput = class.throughput_per_cycle.unwrap();
        let (wait, response) = (class.mean_wait_cycles.unwrap(), class.mean_response_cycles.unwrap());
        // what is turned away is what does not get through
        let let_in = class.arrival_rate_per_cycle * (1.0 - class.blocking_probability);
        let rounding = 1e-12 * class.arrival_rate_per_cycle;
        prop_assert!((throughput - let_in).abs() <= 1e-9 * throughput + rounding, "{class:?}");
        prop_assert!(near(class.mean_number_in_system.unwrap(), throughput * response), "{class:?}");
        prop_assert!(near(class.mean_number_waiting.unwrap(), throughput * wait), "{class:?}");
        prop_assert!(near(response, wait + class.mean_service_cycles), "{class:?}");
        prop_assert!(wait >= class.mean_wait_before_service_cycles.unwrap_or(0.0) * (1.0 - 1e-12));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_question_within_the_domains_has_numbers_that_keep_littles_law(
        kind in prop::sample::select(&Kind::ALL[..]),
        parts in prop::collection::vec(0.0..1.0f64, 16),
        load in 0.001..1.2f64,
        sensible: bool,
    ) {
        let take = |known: &[Parameter], parts: &[f64], count: usize| -> Vec<Number> {
            let mut numbers = Vec::new();
            for (parameter, part) in known.iter().zip(parts) {
                if let Some(value) = within(parameter, *part) {
                    numbers.push(Number::new(parameter.key, value, Place::Program));
                }
            }
            // half of the questions are about loads that matter
            let value = |key: &str| numbers.iter().find(|n| n.key == key).map(|n| n.value);
            let has_rate = known.iter().any(|parameter| parameter.key == "rate");
            if let (true, Some(mean)) = (sensible && has_rate, value("mean")) {
                let servers = value("servers").unwrap_or(1.0) / value("sources").unwrap_or(1.0);
                let rate = (load * servers / mean / count as f64).clamp(1e-12, 1e6);
                numbers.push(Number::new("rate", rate, Place::Program));
            }
            numbers
        };
        let wanted = kind.class_parameters();
        let classes: Vec<ClassQuestion> = (0..if wanted.is_empty() { 0 } else { 3 })
            .map(|index| ClassQuestion {
                name: index.to_string(),
                numbers: take(wanted, &parts[4 * index..], 3),
                place: Place::Program,
            })
            .collect();
        let own = kind.parameters();
        let numbers = if own.is_empty() { vec![] } else { take(own, &parts, 1) };
        let station = Question { kind, numbers, classes }.check().unwrap();
        let mean = station.answer(&[]).classes[0].mean_service_cycles;
        let times = if kind.has_distribution() { vec![0.0, mean, 3.7 * mean, 1e12] } else { vec![] };
        check(&station.answer(&times))?;
    }
}
