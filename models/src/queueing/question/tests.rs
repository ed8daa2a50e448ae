use super::*;

fn numbers(pairs: &[(&str, f64)]) -> Vec<Number> {
    let number = |(key, value): &(&str, f64)| Number::new(key, *value, Place::Program);
    pairs.iter().map(number).collect()
}

fn class(name: &str, pairs: &[(&str, f64)]) -> ClassQuestion {
    ClassQuestion { name: name.to_owned(), numbers: numbers(pairs), place: Place::Program }
}

fn faults(kind: Kind, pairs: &[(&str, f64)], classes: Vec<ClassQuestion>) -> Vec<String> {
    let question = Question { kind, numbers: numbers(pairs), classes };
    question.check().unwrap_err().iter().map(Fault::to_string).collect()
}

#[test]
fn every_fault_is_reported_at_once() {
    let found =
        faults(Kind::Mg1, &[("rate", -1.0), ("scv", f64::NAN), ("servers", 3.0)], vec![class("a", &[])]);
    assert_eq!(
        found,
        [
            "servers: found servers, which mg1 has not, wanted rate, mean, scv and third-moment\n  \
             help: mmc, erlang-b, engset, multirate-loss and erlang-fixed-point have it",
            "rate: found -1, wanted 0, or 1e-12 to 1e6 arrivals per cycle\n  help: without the sign it is 1",
            "mean: found nothing, wanted 1e-6 to 1e9 cycles",
            "scv: found NaN, wanted 0 (always the same) to 1e6; 1 is exponential",
            "class: found a class, wanted none: mg1 has no classes\n  \
             help: multirate-loss, non-preemptive, preemptive-resume, dps, closed-network, shot-noise and chernoff \
             have",
        ]
    );
}

#[test]
fn classes_have_their_faults_by_name() {
    let good = [("rate", 0.01), ("mean", 32.0), ("scv", 0.0)];
    let found = faults(
        Kind::NonPreemptive,
        &[("rate", 0.1)],
        vec![class("high", &good), class("high", &good), class("low", &[("rat", 1.0), ("mean", 0.0)])],
    );
    assert_eq!(found.len(), 6, "{found:#?}");
    assert!(found[0].starts_with("rate: found rate, which non-preemptive has not, wanted classes with"));
    assert!(found[1].starts_with("class: found \"high\" a second time"));
    assert_eq!(
        found[2],
        "class.low.rat: found rat, which non-preemptive has not, wanted rate, mean and scv\n  \
         help: did you mean rate?"
    );
    assert!(found[3..].iter().all(|fault| fault.starts_with("class.low.")));
    assert_eq!(
        faults(Kind::DiscriminatorySharing, &[], vec![]),
        ["class: found no class, wanted at least one, with rate, mean and weight"]
    );
}

#[test]
fn a_third_moment_fits_the_first_two() {
    let with = |third| {
        let numbers = numbers(&[("rate", 0.01), ("mean", 2.0), ("scv", 1.0), ("third-moment", third)]);
        Question { kind: Kind::Mg1, numbers, classes: vec![] }.check()
    };
    // exponential: E[S²]² / E[S] = 32, E[S³] = 48
    assert!(with(48.0).is_ok() && with(32.0).is_ok());
    assert!(with(31.0).unwrap_err()[0].wanted.starts_with("at least E[S²]² / E[S] = 32 cycles³"));
}

#[test]
fn whole_numbers_are_whole() {
    for capacity in [0.0, 2.5, -3.0, 1e10, f64::INFINITY] {
        let found = faults(Kind::Mm1K, &[("rate", 0.1), ("mean", 1.0), ("capacity", capacity)], vec![]);
        assert!(found[0].contains("wanted a whole number of customers, 1 to 1000000000"), "{found:?}");
    }
}

#[test]
fn values_are_set_by_key_and_the_last_one_counts() {
    let both = [("rate", 0.01), ("mean", 10.0), ("scv", 1.0)];
    let classes = vec![class("a", &both), class("a.b", &both)];
    let mut question = Question { kind: Kind::PreemptiveResume, numbers: vec![], classes };
    question.set(Number::new("class.a.b.rate", 0.02, Place::Program)).unwrap();
    let answer = question.check().unwrap().answer(&[]);
    assert_eq!(answer.classes.iter().map(|class| class.arrival_rate_per_cycle).sum::<f64>(), 0.03);
    let fault = question.set(Number::new("class.c.rate", 0.02, Place::Program)).unwrap_err();
    assert_eq!(fault.wanted, "class.NAME.KEY with NAME one of \"a\" or \"a.b\"");
    let mut plain = Question { kind: Kind::Mm1, numbers: numbers(&both[..2]), classes: vec![] };
    plain.set(Number::new("rate", 0.05, Place::Program)).unwrap();
    assert_eq!(plain.check().unwrap().answer(&[]).load, 0.5);
}
