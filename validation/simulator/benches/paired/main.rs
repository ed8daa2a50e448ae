//! Whether the simulator is as fast as it was: today's sources against a commit's, row by row.
//!
//! `cargo bench -p flitwise-simulator --bench paired [-- [--against COMMIT] [PART OF A ROW'S NAME]...]`
//!
//! Both are compiled into programs of the same text, the commit's sources from the history of the repository. In a
//! round both simulate the same scenario in turn, slice by slice, so that what else the machine does befalls both; the
//! round's ratio is the median of its slices' ratios, in flit-hops per second of processor time. A row has lost if at
//! least eight of nine rounds lose more than 3 %: of a row that loses just so much one run in fifty says so, and noise
//! that befalls a round or two says nothing. The bench then ends with code 1.

#![allow(missing_docs)]
#![allow(clippy::print_stdout)] // a table is what it is for

mod measure;
mod rows;
mod sides;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use rows::Row;

/// The least ratio that is no loss.
const LEAST: f64 = 0.97;
/// Rounds of a row, each with processes of its own, for where memory lies matters too; a row has lost if so many do.
const ROUNDS: usize = 9;
const LOST_ROUNDS: usize = 8;
/// Slices of a round, and flit-hops in a slice, about.
const SLICES: usize = 5;
const SLICE_FLIT_HOPS: f64 = 1.5e6;
/// Cycles before the first slice.
const WARM_UP: u64 = 4_000;

/// A process that simulates.
struct Side {
    child: Child,
    cycles: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Side {
    fn new(program: &Path, scenario: &Path) -> Result<Self, String> {
        let mut command = Command::new(program);
        command.arg(scenario).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(cycles), Some(answers)) => Ok(Self { child, cycles, answers: BufReader::new(answers) }),
            _ => Err("a process without pipes".into()),
        }
    }

    /// Flit-hops in the next cycles, and how many there are in a second; `None` if the scenario is refused.
    fn advance(&mut self, cycles: u64) -> Option<Slice> {
        let mut line = String::new();
        // a process that has ended says so below
        let _ = writeln!(self.cycles, "{cycles}");
        self.answers.read_line(&mut line).ok()?;
        let (flit_hops, seconds) = line.trim().split_once(' ')?;
        let (flit_hops, seconds): (f64, f64) = (flit_hops.parse().ok()?, seconds.parse().ok()?);
        Some(Slice { flit_hops, speed: flit_hops / seconds })
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // it may have ended by itself
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a side did in so many cycles.
struct Slice {
    flit_hops: f64,
    /// Flit-hops per second.
    speed: f64,
}

/// Medians of a round.
#[derive(Clone, Copy)]
struct Round {
    /// Flit-hops per second.
    before: f64,
    today: f64,
    ratio: f64,
}

/// A round of both sides; `None` if either refuses the scenario.
fn round(before: &Path, today: &Path, scenario: &Path) -> Result<Option<Round>, String> {
    let mut sides = [Side::new(before, scenario)?, Side::new(today, scenario)?];
    let [Some(_), Some(warm)] = sides.each_mut().map(|side| side.advance(WARM_UP)) else { return Ok(None) };
    let cycles = (SLICE_FLIT_HOPS / warm.flit_hops.max(1.0) * WARM_UP as f64) as u64;
    let mut slices = Vec::new();
    for slice in 0..SLICES {
        // each goes first in turn
        let order = if slice % 2 == 0 { [0, 1] } else { [1, 0] };
        let mut speeds = [0.0; 2];
        for side in order {
            let done = sides[side].advance(cycles).ok_or("a measured process has ended")?;
            speeds[side] = done.speed;
        }
        slices.push(Round { before: speeds[0], today: speeds[1], ratio: speeds[1] / speeds[0] });
    }
    let of = |number: fn(&Round) -> f64| median(slices.iter().map(number).collect());
    Ok(Some(Round { before: of(|one| one.before), today: of(|one| one.today), ratio: of(|one| one.ratio) }))
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Whether these ratios of rounds say that a row has lost.
fn has_lost(ratios: &[f64]) -> bool {
    ratios.iter().filter(|ratio| **ratio < LEAST).count() >= LOST_ROUNDS
}

/// Measures a row and prints it; whether it has lost.
fn measured(row: &Row, commit: &str, before: &Path, today: &Path) -> Result<bool, String> {
    let scenario = sides::folder().join("scenario.toml");
    fs::write(&scenario, &row.text).map_err(|error| format!("{}: {error}", scenario.display()))?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        match round(before, today, &scenario)? {
            Some(one) => rounds.push(one),
            None => {
                println!("{:<40} {commit:<8} its language has no such scenario", row.name);
                return Ok(false);
            }
        }
    }
    let of = |number: fn(&Round) -> f64| median(rounds.iter().map(number).collect());
    let ratios: Vec<f64> = rounds.iter().map(|one| one.ratio).collect();
    let (least, most) =
        ratios.iter().fold((f64::MAX, 0.0), |(least, most), ratio| (ratio.min(least), ratio.max(most)));
    println!(
        "{:<40} {commit:<8} {:>8.2} {:>8.2} {:>7.3}  {least:.3} to {most:.3}{}",
        row.name,
        of(|one| one.before) * 1e-6,
        of(|one| one.today) * 1e-6,
        of(|one| one.ratio),
        if has_lost(&ratios) { "  LOST" } else { "" }
    );
    Ok(has_lost(&ratios))
}

/// What is asked for on the command line.
struct Options {
    /// Instead of the commit of each row.
    against: Option<String>,
    /// Parts of names of rows; all rows if there is none.
    rows: Vec<String>,
}

impl Options {
    fn new(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self { against: None, rows: Vec::new() };
        let mut arguments = arguments.filter(|argument| argument != "--bench");
        while let Some(argument) = arguments.next() {
            if argument == "--against" {
                options.against = Some(arguments.next().ok_or("--against wants a commit")?);
            } else if argument.starts_with('-') {
                return Err(format!(
                    "no option {argument}; there is --against COMMIT, and parts of names of rows"
                ));
            } else {
                options.rows.push(argument);
            }
        }
        Ok(options)
    }
}

/// Measures all rows that are asked for; whether one has lost.
fn compare(options: &Options) -> Result<bool, String> {
    let is_asked_for =
        |row: &Row| options.rows.is_empty() || options.rows.iter().any(|part| row.name.contains(part));
    let rows: Vec<Row> = rows::all().into_iter().filter(is_asked_for).collect();
    let today = sides::today()?;
    println!("{:<40} {:<8} {:>8} {:>8} {:>7}  rounds", "Mflit-hops/s", "commit", "then", "today", "ratio");
    let mut has_lost = false;
    for row in &rows {
        let commit = options.against.as_deref().unwrap_or(row.since);
        let before = sides::of_commit(commit)?;
        has_lost |= measured(row, commit, &before, &today)?;
    }
    Ok(has_lost)
}

/// As a test: every row moves flits here, and the rule is the one that is stated. Nothing is compiled or timed.
fn check() -> Result<bool, String> {
    for Row { name, text, .. } in rows::all() {
        let mut said = Vec::new();
        measure::answer(&text, "500\n500\n".as_bytes(), &mut said)?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let moves = said.lines().filter(|line| !line.starts_with("0 ")).count() == 2;
        assert!(moves, "{name}: {said}");
    }
    assert!(has_lost(&[0.9, 0.96, 0.9, 0.9, 1.2, 0.9, 0.9, 0.9, 0.9]));
    assert!(!has_lost(&[0.9, 0.97, 0.9, 0.9, 1.2, 0.9, 0.9, 0.9, 0.9]));
    Ok(false)
}

fn main() -> ExitCode {
    // cargo says `--bench` where figures are asked for; without it the bench is run as a test
    let is_asked = std::env::args().any(|argument| argument == "--bench");
    let done = if is_asked {
        Options::new(std::env::args().skip(1)).and_then(|options| compare(&options))
    } else {
        check()
    };
    match done {
        Ok(has_lost) => ExitCode::from(u8::from(has_lost)),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
