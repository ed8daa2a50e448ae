//! What `flitwise figure` writes: numbers as in `golden/figures`, documents that keep to their schema, pictures that
//! bear every name, and files that are whole or not there.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{assert_valid, command, flitwise, piped, signal};
use serde_json::Value;

/// Where the small figures are.
fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/figures")
}

const SMALL: [&str; 6] = ["lines", "whole", "stacked", "heat-map", "distribution", "chain"];
const COARSE: [&str; 5] = ["--no-store", "--precision", "20%", "--max-messages", "3000"];

/// Draws the small figures; their folder is not the working directory.
fn draw(names: &[&str], out: &Path) {
    let files: Vec<String> =
        names.iter().map(|name| golden().join(format!("{name}.toml")).display().to_string()).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let output = flitwise(&[&["figure", "--out", out.to_str().unwrap()], &COARSE[..], &files].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let written: Vec<PathBuf> =
        String::from_utf8(output.stdout).unwrap().lines().map(PathBuf::from).collect();
    let endings =
        |name: &&str| ["svg", "png", "csv", "json"].map(|ending| out.join(format!("{name}.{ending}")));
    let mut sorted = written.clone();
    sorted.sort();
    let mut wanted: Vec<PathBuf> = names.iter().flat_map(endings).collect();
    wanted.sort();
    assert_eq!(sorted, wanted);
    assert!(written.iter().all(|path| path.is_file()));
}

/// Names of the files in a directory, hidden ones included.
fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

fn same(found: &str, golden: &str) -> bool {
    match (found.parse::<f64>(), golden.parse::<f64>()) {
        // the last digits are the machine's
        (Ok(found), Ok(golden)) => (found - golden).abs() <= 1e-9 * golden.abs().max(1.0),
        _ => found == golden,
    }
}

#[test]
fn the_numbers_of_every_kind_of_figure_are_what_they_were() {
    let out = tempfile::tempdir().unwrap();
    draw(&SMALL, out.path());
    for name in SMALL {
        let read = |directory: &Path| -> Vec<csv::StringRecord> {
            let path = directory.join(format!("{name}.csv"));
            let reader = csv::ReaderBuilder::new().has_headers(false).from_path(&path);
            reader.unwrap().records().map(Result::unwrap).collect()
        };
        let (found, golden) = (read(out.path()), read(&golden()));
        for (found, golden) in found.iter().zip(&golden) {
            let alike = found.len() == golden.len() && found.iter().zip(golden).all(|(a, b)| same(a, b));
            assert!(alike, "{name}: found {found:?}, wanted {golden:?}");
        }
        assert_eq!(found.len(), golden.len(), "{name}");
    }
}

#[test]
fn documents_keep_to_their_schema_and_pictures_bear_every_name() {
    let out = tempfile::tempdir().unwrap();
    draw(&SMALL, out.path());
    for name in SMALL {
        let read = |ending: &str| fs::read(out.path().join(format!("{name}.{ending}"))).unwrap();
        let document: Value = serde_json::from_slice(&read("json")).unwrap();
        assert_valid(&document, "figure");
        assert_eq!((&document["schema"], &document["name"]), (&"flitwise.figure/1".into(), &name.into()));
        assert_eq!(document["simulation"].is_null(), name == "chain");

        let svg = String::from_utf8(read("svg")).unwrap();
        let texts = texts(&svg);
        let bears = |wanted: &str| {
            // long texts are broken into lines
            assert!(texts.join(" ").contains(wanted), "{name}: no \"{wanted}\" in {texts:#?}");
        };
        bears(document["title"].as_str().unwrap());
        for axis in ["x", "y", "z"].map(|axis| &document[axis]) {
            let (Some(label), Some(unit)) = (axis["label"].as_str(), axis["unit"].as_str()) else { continue };
            bears(label);
            bears(unit);
        }
        for list in ["series", "panels", "errors"] {
            for one in document[list].as_array().into_iter().flatten() {
                bears(one["label"].as_str().unwrap());
            }
        }
        for text in
            ["parts", "members"].iter().flat_map(|list| document[*list].as_array().into_iter().flatten())
        {
            bears(text.as_str().unwrap());
        }

        let png = read("png");
        assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n", "{name}");
        let size = |at: usize| f64::from(u32::from_be_bytes(png[at..at + 4].try_into().unwrap()));
        let of_svg = |name: &str| -> f64 {
            let start = svg.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
            svg[start..].split('"').next().unwrap().parse().unwrap()
        };
        assert_eq!((size(16), size(20)), (2.0 * of_svg("width"), 2.0 * of_svg("height")), "{name}");
    }
}

/// What stands in the elements of an SVG, one text for each; lines of one label are joined.
fn texts(svg: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for piece in svg.split("<text").skip(1) {
        let inner = piece.split("</text>").next().unwrap();
        let inner = &inner[inner.find('>').unwrap() + 1..];
        let plain: String =
            inner.split('<').map(|part| part.rsplit_once('>').map_or(part, |(_, text)| text)).collect();
        let plain =
            plain.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
        texts.push(plain);
    }
    texts
}

#[test]
fn a_built_in_figure_is_drawn_by_name_and_only_once() {
    let out = tempfile::tempdir().unwrap();
    let directory = out.path().join("made/for/it");
    let asked = ["figure", "chain", "Chain", "--no-store", "--out", directory.to_str().unwrap()];
    let output = flitwise(&[&asked[..], &["--theme", "dark", "--width", "333"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(files(&directory), ["chain.csv", "chain.json", "chain.png", "chain.svg"]);
    assert!(fs::read_to_string(directory.join("chain.svg")).unwrap().contains("width=\"333\""));
}

#[test]
fn a_second_drawing_from_the_store_is_the_same_to_the_byte() {
    let out = tempfile::tempdir().unwrap();
    let store = out.path().join("store");
    let file = golden().join("stacked.toml");
    let draw = |to: &str| {
        let (to, store) = (out.path().join(to), store.to_str().unwrap());
        let fixed = ["figure", file.to_str().unwrap(), "--store", store, "--out", to.to_str().unwrap()];
        assert!(flitwise(&[&fixed[..], &COARSE[1..]].concat()).status.success());
        ["svg", "png", "csv", "json"].map(|ending| fs::read(to.join(format!("stacked.{ending}"))).unwrap())
    };
    assert_eq!(draw("one"), draw("other"));
}

#[test]
fn what_cannot_be_written_is_reported_and_leaves_nothing_half_written() {
    let out = tempfile::tempdir().unwrap();
    fs::create_dir(out.path().join("chain.csv")).unwrap();
    let output = flitwise(&["figure", "chain", "--no-store", "--out", out.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: cannot write the output: ") && said.contains("chain.csv"), "{said}");
    assert_eq!(files(out.path()), ["chain.csv", "chain.png", "chain.svg"]);
}

/// A 7-cube beyond saturation, whose simulation takes long.
#[cfg(unix)]
fn endless() -> String {
    let file = fs::read_to_string(golden().join("whole.toml")).unwrap();
    file.replace("router16\"", "cube7\"\nset = { \"class.R1.rate\" = 0.018, \"class.R2.rate\" = 0.009 }")
        .replace("network.ports", "class.BE.rate")
        .replace("[2, 4, 6]", "[0.002, 0.004, 0.006]")
}

#[cfg(unix)]
#[test]
fn an_interruption_draws_what_is_complete_and_ends_soon() {
    use std::time::{Duration, Instant};

    let here = tempfile::tempdir().unwrap();
    let [out, store, slow] = ["out", "store", "slow.toml"].map(|name| here.path().join(name));
    fs::write(&slow, endless()).unwrap();
    let child =
        piped(
            command(&["figure", golden().join("whole.toml").to_str().unwrap(), slow.to_str().unwrap()]).args(
                ["--precision", "20%", "--out", out.to_str().unwrap(), "--store", store.to_str().unwrap()],
            ),
        );
    // the last of its files
    let is_drawn = || out.join("whole.json").is_file();
    let started = Instant::now();
    while !is_drawn() && started.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(500));
    let asked = Instant::now();
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    let took = asked.elapsed();
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8(output.stderr).unwrap();
    let missing = format!("{} (0 of 3 points simulated)", slow.display());
    let wanted = format!("note: interrupted before these were complete: {missing}\n");
    assert_eq!(said, wanted + "error: interrupted: 1 of 2 figures are drawn\n");
    assert_eq!(files(&out), ["whole.csv", "whole.json", "whole.png", "whole.svg"]);
    // half a second on an idle machine
    assert!(took < Duration::from_secs(10), "{took:?}");
}

/// Once all is simulated there is nothing to finish: drawing ends at once.
#[cfg(unix)]
#[test]
fn an_interruption_while_drawing_ends_it() {
    use std::time::{Duration, Instant};

    let here = tempfile::tempdir().unwrap();
    let (out, slow) = (here.path().join("out"), here.path().join("slow.toml"));
    let map = "title = \"A large map\"\nkind = \"heat-map\"\nsources = [\"published\"]\n\n\
               [scenario]\npreset = \"cube7\"\n\n[z]\nquantity = \"p99\"\nclass = \"R1\"\n\n";
    let values: Vec<String> = (1..=100).map(|index| format!("{}e-5", index)).collect();
    let axis =
        |name: &str, key: &str| format!("[{name}]\nkey = \"{key}\"\nvalues = [{}]\n\n", values.join(", "));
    fs::write(&slow, map.to_owned() + &axis("x", "class.R1.rate") + &axis("y", "class.R2.rate")).unwrap();
    let words = ["figure", slow.to_str().unwrap(), "--no-store", "--out", out.to_str().unwrap()];
    let mut child = command(&words).spawn().unwrap();
    let started = Instant::now();
    while !out.is_dir() && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_secs(2));
    assert!(child.try_wait().unwrap().is_none(), "drawn before it could be interrupted");
    let asked = Instant::now();
    signal(&child, "-INT");
    let status = child.wait().unwrap();
    let took = asked.elapsed();
    assert_eq!(status.code(), Some(130));
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(files(&out).is_empty());
}
