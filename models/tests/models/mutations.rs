//! Scenario files with random bytes changed never bring the solver down: they are refused or answered, by the model
//! that answers where none is named and by the published one; no answer holds a number that is none, and none takes
//! long.

use std::collections::HashSet;
use std::io::Write;
use std::time::Instant;

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{Preset, Scenario};
use flitwise_models::answer::Answer;
use flitwise_models::model::{Failure, Model, Options};

use crate::drawn::Draw;
use crate::thread_time::seconds;

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
        match draw.below(7) {
            0 => bytes[at] = draw.below(256) as u8,
            1 => drop(bytes.remove(at)),
            2 => bytes[at] ^= 1 << draw.below(8),
            3 => {
                let scrap = SCRAPS[draw.below(SCRAPS.len())].bytes();
                bytes.splice(at..at, scrap);
            }
            4 | 5 => {
                let digits: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at].is_ascii_digit()).collect();
                if !digits.is_empty() {
                    bytes[digits[draw.below(digits.len())]] = b'0' + draw.below(10) as u8;
                }
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

/// A change of a comment would change nothing.
fn without_comments(text: &str) -> String {
    text.lines()
        .filter_map(|line| line.split('#').next())
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

fn assert_finite(answer: &Answer) {
    for class in &answer.classes {
        if answer.model == Model::Refined {
            let parts = [class.input_cycles, class.arbitration_cycles, class.output_cycles, class.gap_cycles];
            assert!(parts.iter().flatten().all(|part| *part >= 0.0), "{answer:?}");
        }
        for quantity in Quantity::MEANS.iter().filter(|quantity| !quantity.is_by_place()) {
            let field = quantity.field();
            match class.means.get(*quantity) {
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

/// Seconds of one core that a file may take: fifty times what any is meant to, since machines are busy, and a tenth of
/// what one took that hung.
const MOST_SECONDS: f64 = 30.0;

#[derive(Default)]
struct Account {
    answered: u32,
    refused: u32,
    /// Scenarios that were answered; many files differ in a name or in spaces only.
    known: HashSet<String>,
    seconds: f64,
    /// The files that took longest.
    slowest: Vec<(f64, String)>,
}

fn try_out(files: u32, seed: u64) -> Account {
    let mut draw = Draw(seed);
    let mut account = Account::default();
    let begun = Instant::now();
    let presets: Vec<String> = Preset::of("kyd05").map(|preset| without_comments(preset.text)).collect();
    for _ in 0..files {
        let bytes = mutated(&presets[draw.below(presets.len())], &mut draw);
        let Ok(text) = String::from_utf8(bytes) else { continue };
        match Scenario::from_toml("mutated.toml", &text) {
            Err(faults) => {
                assert!(!faults.is_empty(), "refused without a fault:\n{text}");
                account.refused += 1;
            }
            Ok(scenario) => {
                account.answered += 1;
                let mut numbers = scenario.spec().clone();
                numbers.name.clear();
                if !account.known.insert(format!("{numbers:?}")) {
                    continue;
                }
                let before = seconds(begun);
                answer(&scenario, account.known.len());
                let took = seconds(begun) - before;
                assert!(took < MOST_SECONDS, "{took} s:\n{text}");
                account.seconds += took;
                account.slowest.push((took, text));
                account.slowest.sort_by(|a, b| b.0.total_cmp(&a.0));
                account.slowest.truncate(3);
            }
        }
    }
    let Account { answered, refused, .. } = account;
    assert!(answered > files / 15 && refused > files / 10, "{answered} answered, {refused} refused");
    account
}

/// Distributions and loads of saturation of every twenty-fifth only: they take most of the time.
fn answer(scenario: &Scenario, number: usize) {
    let everything = number.is_multiple_of(25);
    let options = Options { distributions: everything, saturation_loads: everything, ..Options::default() };
    for model in [Model::usual(scenario), Model::Published] {
        match model.solve(scenario, &options) {
            Ok(answer) => assert_finite(&answer),
            Err(Failure::Refused { .. } | Failure::NotConverged { .. }) => {}
        }
    }
}

/// Past the harness, which would keep it to itself.
fn report(account: &Account) {
    let Account { answered, known, seconds, slowest, .. } = account;
    let known = known.len();
    let mut told = format!(
        "{answered} mutated files are {known} scenarios, answered in {seconds:.1} s of a core; the slowest:\n"
    );
    for (seconds, text) in slowest {
        let short: String = text.replace('\n', " ").chars().take(300).collect();
        told += &format!("{seconds:.3} s: {short}\n");
    }
    std::io::stderr().write_all(told.as_bytes()).unwrap();
}

#[test]
fn mutated_files_are_refused_or_answered() {
    report(&try_out(1_000, 1));
}

#[test]
#[ignore = "100,000 files take a minute; run by .ci/run"]
fn a_hundred_thousand_mutated_files_are_refused_or_answered() {
    std::thread::scope(|scope| {
        for seed in [2, 3] {
            scope.spawn(move || report(&try_out(50_000, seed)));
        }
    });
}
