//! The registry is sound, faults are found, and every kind of claim can be held, not held and undecided.

#![allow(clippy::unwrap_used)]

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use flitwise_models::scenario::{Document, Fault, Scenario};
use flitwise_validation::answer::Simulation;
use flitwise_validation::campaign;
use flitwise_validation::claims::{Claim, Judgement, Kind, Registry, Verdict};
use flitwise_validation::experiment::{Settings, supports};

fn no_files(name: &str) -> Result<Document, Vec<Fault>> {
    panic!("{name} is not there")
}

#[test]
fn the_built_in_registry_is_sound() {
    let registry = Registry::built_in();
    let names: HashSet<&str> = registry.claims.iter().map(|claim| claim.name.as_str()).collect();
    assert_eq!(names.len(), registry.claims.len(), "a name stands for one claim");
    for claim in &registry.claims {
        assert!(!claim.text.is_empty() && !claim.source.is_empty(), "{}", claim.name);
        let explained = claim.reason.as_ref().is_some_and(|reason| reason.len() > 20);
        assert!(claim.expected == Verdict::Held || explained, "{}", claim.name);
        for scenario in claim.scenarios() {
            assert_eq!(supports(&scenario), Ok(()), "{}", claim.name);
        }
    }
    let kinds =
        |claims: &[&Claim]| -> HashSet<&str> { claims.iter().map(|claim| claim.kind.word()).collect() };
    let all: Vec<&Claim> = registry.claims.iter().collect();
    let quick: Vec<&Claim> = registry.claims.iter().filter(|claim| claim.quick).collect();
    assert_eq!(kinds(&all).len(), 7, "every kind is in use");
    assert!(kinds(&quick).len() >= 6, "most kinds are in the quick subset");
}
