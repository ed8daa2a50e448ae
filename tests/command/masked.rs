//! What the refined model and the simulation print, without digits: every file `golden/NAME.masked` holds commands and
//! their output, in which `#` stands for a number. Digits are in `digits.csv`, with tolerances. So a change of a model
//! changes one table.
//!
//! `FLITWISE_GOLDEN=overwrite cargo test --test command masked` makes both anew, to be read before they are committed.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::process::json;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");

fn overwrites() -> bool {
    std::env::var("FLITWISE_GOLDEN").is_ok_and(|word| word == "overwrite")
}

/// Runs a command line in a folder of its own with the files of `given`, if there is such a folder.
fn run(line: &str, given: &Path) -> Output {
    let here = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for file in fs::read_dir(given).into_iter().flatten().map(Result::unwrap) {
        fs::copy(file.path(), here.path().join(file.file_name())).unwrap();
    }
    let program = Path::new(env!("CARGO_BIN_EXE_flitwise")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    Command::new("sh").args(["-c", line]).current_dir(here.path()).env("PATH", path).output().unwrap()
}

/// The text with `#` for every number, and without what depends on the width of numbers.
fn masked(text: &str) -> String {
    let mut masked = String::new();
    for line in text.lines() {
        let mut rest = line.trim_end();
        let mut last = ' ';
        while let Some(next) = rest.chars().next() {
            let number = if last.is_alphanumeric() || last == '_' { 0 } else { length_of_number(rest) };
            if number > 0 {
                masked.push('#');
                (last, rest) = ('#', &rest[number..]);
                continue;
            }
            // columns are as wide as their numbers
            if !(next == last && [' ', '-'].contains(&next)) {
                masked.push(next);
            }
            (last, rest) = (next, &rest[next.len_utf8()..]);
        }
        masked.push('\n');
    }
    // speeds are as fast as the machine
    masked.replace("# k/s", "# M/s")
}

/// Bytes of the number that a text begins with; 0 if it begins with none.
fn length_of_number(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut length = digits(text);
    while length > 0 && text[length..].starts_with([',', '.']) && digits(&text[length + 1..]) > 0 {
        length += 1 + digits(&text[length + 1..]);
    }
    if let Some(exponent) = text[length..].strip_prefix('e').filter(|_| length > 0) {
        let sign = usize::from(exponent.starts_with(['-', '+']));
        length += if digits(&exponent[sign..]) > 0 { 1 + sign + digits(&exponent[sign..]) } else { 0 };
    }
    length
}

/// A golden file as it should be.
fn renewed(text: &str, given: &Path) -> String {
    let mut anew = String::new();
    let mut blocks = text.split("```\n");
    while let Some(words) = blocks.next() {
        anew.push_str(words);
        let Some(block) = blocks.next() else { break };
        let command = block.lines().next().unwrap().strip_prefix("$ ").unwrap();
        let output = run(command, given);
        let code = output.status.code().filter(|code| *code != 0);
        let code = code.map_or_else(String::new, |code| format!("? {code}\n"));
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        anew.push_str(&format!("```\n$ {command}\n{code}{}```\n", masked(&printed)));
    }
    anew
}

#[test]
fn the_command_prints_the_same_words() {
    let files = fs::read_dir(GOLDEN).unwrap().map(|entry| entry.unwrap().path());
    for file in files.filter(|path| path.extension().is_some_and(|ending| ending == "masked")) {
        let text = fs::read_to_string(&file).unwrap();
        let anew = renewed(&text, &file.with_extension("in"));
        if overwrites() {
            fs::write(&file, anew).unwrap();
        } else {
            assert_eq!(anew, text, "{}", file.display());
        }
    }
}

/// Rows of command, pointer into its JSON, number, and tolerance as a share of the number.
#[test]
fn the_digits_are_those_of_the_table() {
    let file = Path::new(GOLDEN).join("digits.csv");
    let mut rows = csv::Reader::from_path(&file).unwrap();
    let heads = rows.headers().unwrap().clone();
    let mut answers: Vec<(String, Value)> = Vec::new();
    let mut faults = Vec::new();
    let mut anew = csv::Writer::from_writer(Vec::new());
    anew.write_record(&heads).unwrap();
    for row in rows.records().map(Result::unwrap) {
        let (command, pointer, tolerance) = (&row[0], &row[1], &row[3]);
        if !answers.iter().any(|(known, _)| known == command) {
            let words: Vec<&str> = command.split(' ').skip(1).chain(["--format", "json"]).collect();
            answers.push((command.to_owned(), json(&words)));
        }
        let answer = &answers.iter().find(|(known, _)| known == command).unwrap().1;
        let found = answer.pointer(pointer).and_then(Value::as_f64).unwrap_or(f64::NAN);
        let expected: f64 = row[2].parse().unwrap();
        let share = (found - expected).abs() / expected.abs();
        if share.is_nan() || share > tolerance.parse().unwrap() {
            faults.push(format!("{command} {pointer}: found {found}, wanted {expected}"));
        }
        anew.write_record([command, pointer, &found.to_string(), tolerance]).unwrap();
    }
    if overwrites() {
        fs::write(&file, anew.into_inner().unwrap()).unwrap();
    } else {
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}

#[test]
fn masks_hide_numbers_and_widths_only() {
    assert_eq!(masked("R1   4.66 ±0.28  p99.9 1e-4,x_5 -0.5%"), "R1 # ±# p99.# #,x_5 -#%\n");
    assert_eq!(masked("| R1    |  42.90 |\n|-------|\n1,020 of 3."), "| R1 | # |\n|-|\n# of #.\n");
}
