//! Ctrl-C, termination and worse while rows come out: whole rows, closed documents, the exit code 130 and a message.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use crate::process::{assert_valid, command, piped, signal};
use serde_json::Value;

/// How long a command may take to end after a signal; it takes next to nothing on a machine that is not busy.
const PATIENCE: Duration = Duration::from_secs(20);

/// Hundreds of points that each take long enough for a signal to come in between.
const SLOW_SWEEP: [&str; 5] = ["sweep", "--preset", "cube6", "--over", "class.R1.rate=0.001:0.004:600"];

fn started(arguments: &[&str]) -> Child {
    piped(&mut command(arguments))
}

/// How the process ended, once it did; it is to do so soon.
fn ended(child: &mut Child) -> ExitStatus {
    let since = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        assert!(since.elapsed() < PATIENCE, "it goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What a command had printed, and said, when a signal ended it: after so many lines, or after a time if there are
/// none before its end.
fn interrupted(arguments: &[&str], lines: usize, how: &str) -> (Option<i32>, String, String) {
    let mut child = started(arguments);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    for _ in 0..lines {
        assert!(out.read_line(&mut text).unwrap() > 0, "it ended before the signal came: {text}");
    }
    if lines == 0 {
        std::thread::sleep(Duration::from_secs(2));
    }
    signal(&child, how);
    let status = ended(&mut child);
    out.read_to_string(&mut text).unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (status.code(), text, said)
}

/// The number of points in `interrupted: N of 600 points are there`.
fn points_there(said: &str) -> usize {
    let said = said.trim().strip_prefix("error: interrupted: ").unwrap_or_else(|| panic!("{said}"));
    said.strip_suffix(" of 600 points are there").unwrap_or_else(|| panic!("{said}")).parse().unwrap()
}

#[test]
fn an_interrupted_sweep_ends_after_a_whole_row() {
    for how in ["-INT", "-TERM"] {
        let (code, text, said) = interrupted(&SLOW_SWEEP, 4, how);
        assert_eq!(code, Some(130), "{said}");
        assert!(text.ends_with('\n'), "{text}");
        let columns = text.lines().next().unwrap().split(',').count();
        assert!(text.lines().all(|line| line.split(',').count() == columns), "{text}");
        // three classes at each point
        let points = points_there(&said);
        assert_eq!(text.lines().count(), 1 + 3 * points);
        assert!((1..600).contains(&points));
    }
}

#[test]
fn an_interrupted_sweep_prints_a_closed_document() {
    let (code, text, said) = interrupted(&[&SLOW_SWEEP[..], &["--format", "json"]].concat(), 3, "-INT");
    assert_eq!(code, Some(130), "{said}");
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_valid(&document, "sweep");
    assert_eq!(document["partial"], true);
    assert_eq!(document["points"].as_array().unwrap().len(), points_there(&said));
}

#[test]
fn an_interrupted_sweep_prints_whole_lines_of_json() {
    let (code, text, said) = interrupted(&[&SLOW_SWEEP[..], &["--format", "jsonl"]].concat(), 2, "-INT");
    assert_eq!(code, Some(130), "{said}");
    assert_eq!(text.lines().count(), points_there(&said));
    for line in text.lines() {
        assert_eq!(serde_json::from_str::<Value>(line).unwrap()["classes"].as_array().unwrap().len(), 3);
    }
}

#[test]
fn an_interrupted_sweep_prints_the_table_that_there_is() {
    for format in ["table", "markdown"] {
        let (code, text, said) = interrupted(&[&SLOW_SWEEP[..], &["--format", format]].concat(), 0, "-INT");
        assert_eq!(code, Some(130), "{said}");
        // long values go on in a line of their own
        let rows = text.lines().filter(|line| line.contains("refined")).count();
        assert_eq!(rows, 3 * points_there(&said), "{text}");
    }
}

#[test]
fn a_killed_sweep_leaves_whole_rows() {
    for (format, whole) in [("csv", 1), ("jsonl", 0)] {
        let mut child = started(&[&SLOW_SWEEP[..], &["--format", format]].concat());
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        while text.lines().count() < 3 + whole {
            assert!(out.read_line(&mut text).unwrap() > 0);
        }
        signal(&child, "-KILL");
        ended(&mut child);
        out.read_to_string(&mut text).unwrap();
        assert!(text.ends_with('\n'));
        let rows = text.lines().count() - whole;
        if format == "csv" {
            assert_eq!(rows % 3, 0);
        }
        assert!(text.lines().skip(whole).all(|row| format == "csv" || row.ends_with('}')), "{text}");
    }
}

#[test]
fn a_second_signal_ends_at_once() {
    // nobody reads what it prints, so that it cannot end in order once the pipe is full
    let mut child = started(&["sweep", "--model", "published", "--over", "class.R1.rate=0.001:0.004:200000"]);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    std::thread::sleep(Duration::from_secs(1));
    signal(&child, "-INT");
    std::thread::sleep(Duration::from_millis(800));
    assert_eq!(child.try_wait().unwrap(), None);
    signal(&child, "-INT");
    assert_eq!(ended(&mut child).code(), Some(130));
}

#[test]
fn a_reader_that_leaves_is_no_fault() {
    let mut child = started(&SLOW_SWEEP);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    drop(out);
    assert_eq!(ended(&mut child).code(), Some(0));
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
}

#[test]
fn a_search_ends_soon_with_what_it_has() {
    // each takes seconds
    let slow = "--preset cube6 --set network.dimension=16 --set router.pipeline_stages=9 \
        --set class.BE.message_flits=300";
    for (question, schema) in [
        ("plan max-load --require R1:p99<=3000 --require BE:p99<=3000", None),
        ("plan region --axes class.R1.rate,class.BE.rate --points 5000 --format json", Some("plan")),
        ("plan choose --vary router.buffer_flits=4:100:97 --minimise BE:total --format json", Some("plan")),
        ("sensitivity --format json", Some("sensitivity")),
    ] {
        let arguments: Vec<&str> = question.split(' ').chain(slow.split(' ')).collect();
        let arguments = &arguments[..];
        let (code, text, said) = interrupted(arguments, 0, "-INT");
        assert_eq!(code, Some(130), "{arguments:?}: {said}");
        assert!(said.starts_with("error: interrupted: "), "{said}");
        if let (Some(schema), false) = (schema, text.is_empty()) {
            let document: Value = serde_json::from_str(&text).unwrap();
            assert_valid(&document, schema);
            assert_eq!(document["partial"], true);
        }
    }
}

/// Long commands, each with the schema of what it prints when it is interrupted, if that is a document.
const LONG: [(&str, Option<&str>); 9] = [
    ("sweep --preset cube6 --over class.R1.rate=0.001:0.004:600 --format json", Some("sweep")),
    (
        "sweep --model anchored --precision 0.2% --over class.R1.rate=0.001:0.006:9 --no-store --format json",
        None,
    ),
    ("plan max-load --model anchored --precision 0.2% --require R1:p99<=80 --no-store --format json", None),
    ("simulate --precision 0.01% --max-messages 1e9 --format json", Some("simulate")),
    ("simulate --preset recn64 --replications 64 --format json", Some("simulate")),
    (
        "compare --precision 0.01% --over class.R1.rate=0.001:0.006:9 --no-store --format json",
        Some("compare"),
    ),
    ("verify --accuracy --set networks --no-store --format json", Some("accuracy")),
    ("figure 4a --precision 0.1% --no-store --out OUT", None),
    ("report --quick --no-store --out OUT", None),
];

/// An interruption after so many milliseconds: the command ends with an exit code that its help names, a message and
/// without a panic; what it prints is a whole document.
fn interrupted_after(milliseconds: u64, line: &str, schema: Option<&str>) {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().to_str().unwrap();
    let arguments: Vec<&str> =
        line.split(' ').map(|word| if word == "OUT" { folder } else { word }).collect();
    let mut child = started(&arguments);
    std::thread::sleep(Duration::from_millis(milliseconds));
    // a shell may have its background programs ignore SIGINT until they handle it, late on a busy machine
    signal(&child, if milliseconds < 500 { "-TERM" } else { "-INT" });
    // what it prints may be more than a pipe holds
    let output = std::thread::spawn(move || {
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (ended(&mut child).code(), text, said)
    });
    let (code, text, said) = output.join().unwrap();
    let at = format!("{line} after {milliseconds} ms: {code:?} {said}");
    assert!(!said.contains("panicked"), "{at}");
    // before it handles signals it is ended by one; it may have been through
    assert!(matches!(code, None | Some(0 | 1 | 130)), "{at}");
    if !text.is_empty() && line.contains("json") {
        let document: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{at}: {error}"));
        if let Some(schema) = schema {
            assert_valid(&document, schema);
        }
    }
}

#[test]
fn long_commands_end_in_order_whenever_they_are_interrupted() {
    for (line, schema) in LONG {
        [30, 400].into_iter().for_each(|after| interrupted_after(after, line, schema));
    }
}

#[test]
#[ignore = "20 moments of each long command take minutes; run by .ci/run"]
fn long_commands_end_in_order_at_twenty_moments() {
    for (line, schema) in LONG {
        (0..20).for_each(|moment| interrupted_after(5 + moment * moment * 2, line, schema));
    }
}
