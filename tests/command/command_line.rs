//! What is typed: odd values, bad places, help, completion, manual pages and the version.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::process::{command, flitwise, json};

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_version_names_the_commit_and_documents_do_not() {
    let version = printed(&flitwise(&["--version"]));
    assert!(version.starts_with(concat!("flitwise ", env!("CARGO_PKG_VERSION"))), "{version}");
    let git =
        |words: &[&str]| Command::new("git").args(words).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let in_repository = Path::new(env!("CARGO_MANIFEST_DIR")).join(".git").exists();
    let commit = git(&["rev-parse", "--short=7", "HEAD"]).ok().filter(|output| output.status.success());
    if let Some(commit) = commit.filter(|_| in_repository) {
        let commit = printed(&commit);
        assert!(version.contains(&format!("({}, 20", commit.trim())), "{version} {commit}");
    }
    assert_eq!(json(&["solve", "--format", "json"])["flitwise_version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn odd_numbers_are_refused_with_their_range_in_one_short_line() {
    for (arguments, wanted) in [
        (&["solve", "--set", "network.ports=-3"][..], "a whole number of ports, 2 to 1024"),
        (&["solve", "--set", "network.ports=1000000000000"], "a whole number of ports, 2 to 1024"),
        (&["solve", "--set", "network.ports=1e12"], "a whole number of ports, 2 to 1024"),
        (&["solve", "--preset", "cube6", "--set", "network.dimension=-1"], "dimensions, 1 to 16"),
        (&["solve", "--preset", "cube6", "--set", "network.dimension=0"], "wanted 1 to 16 dimensions"),
        (
            &["solve", "--set", "router.buffer_flits=1e308"],
            "found 1e308, wanted a whole number of flits, 1 to 65536",
        ),
        (&["solve", "--set", "class.R1.rate=-1e308"], "found -1e308"),
        (
            &["sweep", "--over", "class.R1.rate=1e307:1e308:2"],
            "--over class.R1.rate=1e308: class.R1.rate: found 1e308",
        ),
        (&["sweep", "--over", "class.R1.rate=0.001:0.002:1e308"], "wanted 1 to 1000000 points"),
        (&["sweep", "--over", "class.R1.rate=0.001,0.002", "--threads", "1e4"], "wanted 1 to 1024 threads"),
        (
            &["plan", "choose", "--vary", "class.R1.rate=-1e308..1e308", "--minimise", "BE: total"],
            "found -1e308",
        ),
        (&["plan", "choose", "--vary", "router.buffer_flits=1..1e308", "--minimise", "BE: total"], "flits"),
        (&["simulate", "--max-messages", "1e308"], "wanted 1 to 1e15 messages"),
        (&["simulate", "--max-time", "1e308s"], "up to 100000h"),
        (&["simulate", "--threads", "1e308"], "wanted 1 to 1024 threads"),
        (&["compare", "--couple", "class.R1.rate=class.R2.rate*1e308"], "2.5e305"),
    ] {
        let output = flitwise(arguments);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(wanted), "{arguments:?}: {said}");
        assert!(said.lines().all(|line| line.len() < 250), "{arguments:?}: {said}");
        assert!(!said.contains("0000000000000000000000"), "{arguments:?}: {said}");
    }
}

#[test]
fn every_count_takes_the_same_forms() {
    let solved = |over: &str, threads: &str| {
        let arguments =
            ["sweep", "--model", "published", "--means-only", "--over", over, "--threads", threads];
        let output = flitwise(&arguments);
        assert!(output.status.success(), "{}", said(&output));
        printed(&output)
    };
    let plain = solved("class.R1.rate=0.001:0.003:10", "2");
    assert_eq!(plain, solved("class.R1.rate=1e-3:3e-3:1e1", "2e0"));
    // a key that takes whole numbers gets them
    let buffers = solved("router.buffer_flits=1:64:4", "2");
    let column: Vec<&str> = buffers.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(column.into_iter().step_by(3).collect::<Vec<_>>(), ["1", "22", "43", "64"]);
}

#[test]
fn a_range_of_whole_numbers_is_a_list_and_a_flat_objective_recommends_nothing() {
    let choose = |vary: &str, goal: &[&str]| {
        json(&[&["plan", "choose", "--format", "json", "--vary", vary][..], goal].concat())
    };
    let whole = choose("router.buffer_flits=1..8", &["--model", "published", "--minimise", "BE: total"]);
    assert_eq!(whole["tried"].as_array().unwrap().len(), 8);
    // the example of the guide: the variable hardly moves the objective
    let flat = choose("class.R1.vtick=2..20", &["--minimise", "max(*: network)"]);
    assert_eq!((&flat["advice"], &flat["chosen"]), (&"flat".into(), &serde_json::json!([])));
    assert!(flat["moves_share"].as_f64().unwrap() < 1e-3);
    // it moves this one, but the starting scenario is as good as any value
    let keep = choose("class.R1.vtick=2..20", &["--model", "published", "--minimise", "max(*: network)"]);
    assert_eq!((&keep["advice"], &keep["chosen"]), (&"keep".into(), &serde_json::json!([])));
    let (value, start) = (keep["value"].as_f64().unwrap(), keep["start_value"].as_f64().unwrap());
    assert!(keep["moves_share"].as_f64().unwrap() > 0.1 && (value / start - 1.0).abs() < 1e-3);
    // values that are worse than what is there are not recommended
    let worse = choose("class.BE.rate=0.012,0.015", &["--model", "published", "--minimise", "BE: total"]);
    assert_eq!((&worse["advice"], &worse["chosen"]), (&"keep".into(), &serde_json::json!([])));
    let better = choose("class.BE.rate=0.004,0.015", &["--model", "published", "--minimise", "BE: total"]);
    assert_eq!((&better["advice"], &better["chosen"][0]["value"]), (&"take".into(), &"0.004".into()));
    assert!(better["value"].as_f64() < better["start_value"].as_f64());
}

/// A requirement on a class that sends nothing admits no more than the links carry.
#[test]
fn a_saturated_link_is_never_admissible() {
    let plan = |words: &[&str]| {
        let silent = ["--set", "class.R2.rate=0", "--require", "R2: total <= 200"];
        json(&[&["plan"], words, &["--model", "published", "--format", "json"], &silent].concat())
    };
    let region = plan(&["region", "--axes", "class.R1.rate,class.BE.rate", "--points", "5"]);
    let points = region["frontier"].as_array().unwrap();
    for point in points {
        let rate = |key: &str| point[key].as_f64().unwrap();
        assert!(rate("x_rate") + rate("y_rate") <= 1.0 / 32.0, "{point}");
        assert_eq!(point["binding"]["term"], "saturation");
    }
    assert!(points[0]["x_rate"].as_f64().unwrap() > 0.01);
    let load = plan(&["max-load"]);
    assert!(load["rates"]["BE"].as_f64().unwrap() < 1.0 / 32.0);
}

#[test]
fn a_bad_place_for_output_is_bad_input_and_is_named_as_it_was_typed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("places");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("file");
    fs::write(&file, "mine").unwrap();
    let nowhere = |name: &str| folder.join("nowhere").join(name).to_str().unwrap().to_owned();
    let below_a_file = file.join("x").to_str().unwrap().to_owned();
    let axes =
        ["plan", "region", "--model", "published", "--points", "2", "--axes", "class.R1.rate,class.BE.rate"];
    let places = [
        (["sensitivity", "--plot"].to_vec(), nowhere("x.svg")),
        ([&axes[..], &["--output"]].concat(), nowhere("x.png")),
        (["simulate", "--trace"].to_vec(), nowhere("x.csv")),
        (["figure", "4a", "--no-store", "--out"].to_vec(), below_a_file.clone()),
        (["report", "--no-store", "--out"].to_vec(), below_a_file.clone()),
        (["figure", "4a", "--no-store", "--out"].to_vec(), file.to_str().unwrap().to_owned()),
        (["man", "--out"].to_vec(), below_a_file),
    ];
    for (arguments, place) in places {
        let output = flitwise(&[&arguments[..], &[place.as_str()]].concat());
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        let option = arguments.last().unwrap();
        assert!(said.contains(&format!("{option} {place}: ")) && !said.contains(".flitwise-"), "{said}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left behind");
}

/// What a shell is offered when the last word is to be completed.
fn offered(words: &[&str]) -> Vec<String> {
    let index = (words.len() - 1).to_string();
    let mut command = command(&[]);
    command
        .env("FLITWISE_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", index)
        .env("_CLAP_COMPLETE_COMP_TYPE", "9");
    command.env("_CLAP_COMPLETE_SPACE", "false").env("_CLAP_IFS", "\n");
    let output = command.arg("--").args(words).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    printed(&output).lines().map(str::to_owned).collect()
}

#[test]
fn completion_offers_names_and_keys() {
    for (words, wanted) in [
        (&["flitwise", "solve", "--preset", ""][..], &["router16", "cube7"][..]),
        (&["flitwise", "figure", ""], &["4a", "14b", "all"]),
        (&["flitwise", "learn", ""], &["little", "patience"]),
        (&["flitwise", "solve", "--model", ""], &["published", "refined"]),
        (&["flitwise", "presets", "show", "cu"], &["cube5", "cube6-on-off"]),
        (&["flitwise", "solve", "--set", "router."], &["router.buffer_flits=", "router.scheduler="]),
        (&["flitwise", "solve", "--set", "router.scheduler=f"], &["router.scheduler=fifo"]),
        (&["flitwise", "sweep", "--over", "class.R1."], &["class.R1.rate=", "class.R1.message_flits="]),
        (&["flitwise", "sweep", "--preset", "cube6-3rt", "--over", "class.R3.r"], &["class.R3.rate="]),
        (&["flitwise", "plan", "choose", "--vary", "net"], &["network.ports="]),
        (
            &["flitwise", "plan", "region", "--axes", "class.R1.rate,class.B"],
            &["class.R1.rate,class.BE.rate"],
        ),
        (&["flitwise", "explain", "--class", ""], &["R1", "BE"]),
        (&["flitwise", "station", ""], &["md1", "erlang-b"]),
        (&["flitwise", "pl"], &["plan"]),
    ] {
        let found = offered(words);
        for one in wanted {
            assert!(found.iter().any(|word| word == one), "{words:?}: {found:?} without {one}");
        }
    }
    assert!(
        offered(&["flitwise", "solve", "--set", "class.R1."]).iter().all(|key| key.starts_with("class.R1."))
    );
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("man1");
    let output = flitwise(&["man", "--out", folder.to_str().unwrap()]);
    assert!(output.status.success(), "{}", said(&output));
    let paths: Vec<String> = printed(&output).lines().map(str::to_owned).collect();
    assert!(paths.len() > 20 && paths.iter().all(|path| Path::new(path).exists()), "{paths:?}");
    let solve = fs::read_to_string(folder.join("flitwise-solve.1")).unwrap();
    assert!(solve.contains("\n.SH NOTES\n.nf\nExamples:\n  flitwise solve\n"), "{solve}");
    assert_eq!(printed(&flitwise(&["man"])), fs::read_to_string(folder.join("flitwise.1")).unwrap());
}
