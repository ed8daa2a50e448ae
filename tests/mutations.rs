//! Scenario files with random bytes changed never bring the solver down: they are refused or answered, and no
//! answer holds a number that is none.

#![allow(clippy::unwrap_used)]

use flitwise::models::answer::Answer;
use flitwise::models::published::{Failure, Options, solve};
use flitwise::models::scenario::{PRESETS, Scenario};

/// A small generator with a fixed seed (PCG-like): the same files on every machine.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as usize
    }
}

const SCRAPS: &[&str] = &[
    "0",
    "1",
    "9",
    "-",
    ".",
    "e9",
    "e-9",
    "nan",
    "inf",
    "\"",
    "[",
    "]",
    "{",
    "}",
    "=",
    "\n",
    "#",
    "rate = 0.01\n",
    "vtick = 3\n",
    "hypercube",
    "dimension = 3\n",
    "[[class]]\n",
    "best-effort",
    "real-time",
    "65536",
    "0.0",
    "1e-12",
];

fn mutated(text: &str, draw: &mut Draw) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + draw.below(4) {
        let at = draw.below(bytes.len());
        match draw.below(5) {
            0 => bytes[at] = draw.below(256) as u8,
            1 => drop(bytes.remove(at)),
            2 => bytes[at] ^= 1 << draw.below(8),
            3 => {
                let scrap = SCRAPS[draw.below(SCRAPS.len())].bytes();
                bytes.splice(at..at, scrap);
            }
            _ => {
                let end = (at + 1 + draw.below(40)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                let to = draw.below(bytes.len());
                bytes.splice(to..to, copy);
            }
        }
    }
    bytes
}

fn assert_finite(answer: &Answer) {
    for class in &answer.classes {
        let numbers = [
            ("network_latency_cycles", class.network_latency_cycles),
            ("waiting_cycles", class.waiting_cycles),
            ("total_latency_cycles", class.total_latency_cycles),
            ("sharing_cycles", class.sharing_cycles),
            ("blocking_cycles", class.blocking_cycles),
        ];
        for (field, number) in numbers {
            match number {
                Some(number) => assert!(number.is_finite(), "{field} of {answer:?}"),
                None => assert!(class.reasons.contains_key(field), "{field} of {answer:?}"),
            }
        }
        for deadline in &class.deadlines {
            let p = deadline.miss_probability;
            assert!(p.map_or(deadline.reason.is_some(), |p| (0.0..=1.0).contains(&p)), "{answer:?}");
        }
    }
}

fn try_out(files: u32, seed: u64) {
    let mut draw = Draw(seed);
    let (mut answered, mut refused) = (0, 0);
    for _ in 0..files {
        let preset = PRESETS[draw.below(PRESETS.len())];
        let bytes = mutated(preset.text, &mut draw);
        let Ok(text) = String::from_utf8(bytes) else { continue };
        match Scenario::from_toml("mutated.toml", &text) {
            Err(faults) => {
                assert!(!faults.is_empty(), "refused without a fault:\n{text}");
                refused += 1;
            }
            // distributions of every tenth only: they take most of the time
            Ok(scenario) => {
                let distributions = answered % 10 == 0;
                let options = Options { distributions, ..Options::default() };
                match solve(&scenario, &options) {
                    Ok(answer) => assert_finite(&answer),
                    Err(Failure::Refused { .. } | Failure::NotConverged { .. }) => {}
                }
                answered += 1;
            }
        }
    }
    assert!(answered > files / 10 && refused > files / 10, "{answered} answered, {refused} refused");
}

#[test]
fn mutated_files_are_refused_or_answered() {
    try_out(1_500, 1);
}

#[test]
#[ignore = "100,000 files take about a minute in release; run by .ci/run"]
fn a_hundred_thousand_mutated_files_are_refused_or_answered() {
    try_out(100_000, 2);
}
