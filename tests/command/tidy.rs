//! The shape of the sources: where topologies are told apart, lengths of functions and lines, circles of modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const MOST_LINES: usize = 70;
const MOST_CHARACTERS: usize = 120;

/// Path from the root of the workspace, and text.
fn sources() -> Vec<(String, String)> {
    fn walk(root: &Path, place: &Path, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, found);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let (root, mut found) = (Path::new(env!("CARGO_MANIFEST_DIR")), Vec::new());
    ["figures", "models", "page", "python", "validation", "src", "tests"]
        .iter()
        .for_each(|part| walk(root, &root.join(part), &mut found));
    assert!(found.len() > 200, "{} sources", found.len());
    found
}

/// What a line says, without its comment.
fn code(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

fn assert_none(faults: Vec<String>) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Whether a variant of a topology is a pattern where it stands, and not a value.
fn is_pattern(before: &str, after: &str) -> bool {
    let after = after.trim_start_matches(|letter: char| letter.is_alphanumeric()).trim_start();
    let after = match after.chars().next() {
        Some('{') => after.split_once('}').map_or("", |(_, after)| after),
        Some('(') => after.split_once(')').map_or("", |(_, after)| after),
        _ => after,
    };
    let (before, after) = (before.trim_end(), after.trim_start());
    let call = before.rsplit([';', '{', '}']).next().unwrap_or("");
    before.ends_with("let")
        || call
            .rsplit_once("matches!(")
            .is_some_and(|(_, inside)| !inside.contains(')') || before.ends_with(','))
        || ["=>", "if ", "| ", "= "].iter().any(|next| after.starts_with(next))
}

#[test]
fn topologies_are_told_apart_in_their_own_files() {
    const HOME: [&str; 3] =
        ["models/language/src/network/", "models/language/src/network.rs", "models/language/src/scenario/"];
    const VARIANTS: [&str; 3] = ["NetworkSpec::", "Network::Single", "Network::Hypercube"];
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let is_test = ["tests", "benches"].iter().any(|part| path.contains(part));
        if is_test || HOME.iter().any(|home| path.starts_with(home)) {
            continue;
        }
        let text: String = text.lines().flat_map(|line| [code(line), "\n"]).collect();
        for (at, variant) in VARIANTS.iter().flat_map(|variant| text.match_indices(variant)) {
            let (before, after) = (&text[..at], &text[at + variant.len()..]);
            if is_pattern(before, after) {
                let line = before.lines().count();
                faults
                    .push(format!("{path}:{line}: a match on topologies; ask the trait `Topology` instead"));
            }
        }
    }
    assert_none(faults);
    assert!(
        is_pattern("    ", "Router { .. } => 1") && is_pattern("matches!(network, ", "Hypercube { .. })")
    );
    assert!(is_pattern("if let ", "Router { ports } = x") && !is_pattern("0 => ", "Router { ports: 2 },"));
}

#[test]
fn functions_and_lines_are_short() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let length = line.chars().count();
            if length > MOST_CHARACTERS {
                faults.push(format!("{path}:{}: {length} characters, at most {MOST_CHARACTERS}", at + 1));
            }
            let (indent, words) = line.split_at(line.len() - line.trim_start().len());
            let Some((before, rest)) = words.split_once("fn ") else { continue };
            let modifiers = ["pub", "pub(super)", "pub(crate)", "const", "async"];
            let name = rest.split(['(', '<']).next().unwrap_or("");
            let is_head = before.split_whitespace().all(|word| modifiers.contains(&word));
            if !is_head || line.ends_with([';', '}']) {
                continue;
            }
            let ends = |line: &&str| {
                line.strip_prefix(indent)
                    .is_some_and(|line| line.starts_with('}') || line.starts_with(')') && line.ends_with(';'))
            };
            let length = lines[at..].iter().position(ends).map_or(0, |last| last + 1);
            if length > MOST_LINES {
                faults.push(format!("{path}:{}: `{name}` has {length} lines, at most {MOST_LINES}", at + 1));
            }
        }
    }
    assert_none(faults);
}

#[test]
fn modules_of_the_refined_model_import_in_one_direction() {
    const ROOT: &str = "models/src/refined/";
    let files: Vec<(String, String)> = sources()
        .into_iter()
        .filter_map(|(path, text)| Some((path.strip_prefix(ROOT)?.strip_suffix(".rs")?.to_owned(), text)))
        .collect();
    let module = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
    let mut imports: BTreeMap<String, BTreeSet<String>> =
        files.iter().map(|(path, _)| (module(path), BTreeSet::new())).collect();
    for (path, text) in files.iter().filter(|(path, _)| !path.ends_with("tests")) {
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let text: String = text.lines().flat_map(|line| [code(line), "\n"]).collect();
        let up = "super::".repeat(path.split('/').count());
        for (at, prefix) in text.match_indices(&up).chain(text.match_indices("crate::refined::")) {
            let rest = &text[at + prefix.len()..];
            let group =
                rest.strip_prefix('{').and_then(|rest| rest.split_once("};")).map_or(rest, |(all, _)| all);
            let names = if rest.starts_with('{') { group.split(',').collect() } else { vec![rest] };
            for name in names {
                let name =
                    name.trim().split(|letter: char| !letter.is_alphanumeric() && letter != '_').next();
                let (from, to) = (module(path), name.unwrap_or_default());
                let is_deeper = text[..at].ends_with("super::");
                if !is_deeper && to != from && imports.contains_key(to) {
                    imports.get_mut(&from).unwrap().insert(to.to_owned());
                }
            }
        }
    }
    // modules that import nothing that is left are in no circle, nor are those that nothing left imports
    loop {
        let (all, before) = (imports.clone(), imports.len());
        imports.retain(|from, to| !to.is_empty() && all.values().any(|to| to.contains(from)));
        let left: BTreeSet<String> = imports.keys().cloned().collect();
        imports.values_mut().for_each(|to| to.retain(|name| left.contains(name)));
        if imports.len() == before {
            break;
        }
    }
    assert_none(
        imports.iter().map(|(from, to)| format!("{ROOT}{from}.rs imports {to:?} in a circle")).collect(),
    );
}

/// What each crate may import of ours: arrows point down only, and models and simulator do not know each other.
#[test]
fn crates_import_downwards_only() {
    const ALLOWED: [(&str, &[&str]); 8] = [
        ("models/language", &[]),
        ("models", &["language"]),
        ("validation/simulator", &["language"]),
        ("validation/experiment", &["language", "simulator"]),
        ("validation", &["language", "models", "simulator", "experiment"]),
        ("figures", &["language", "models", "simulator", "experiment", "validation"]),
        ("page", &["language", "models", "simulator", "experiment", "validation", "figures"]),
        (".", &["language", "models", "simulator", "experiment", "validation", "figures", "page"]),
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut faults = Vec::new();
    for (folder, allowed) in ALLOWED {
        let manifest = fs::read_to_string(root.join(folder).join("Cargo.toml")).unwrap();
        let (_, after) = manifest.split_once("\n[dependencies]\n").unwrap();
        let dependencies = after.split("\n[").next().unwrap_or_default();
        let ours =
            dependencies.lines().filter_map(|line| line.split_once(" = ")?.0.strip_prefix("flitwise-"));
        let ours: Vec<&str> = ours.collect();
        assert!(
            ours.len() == allowed.len() || [".", "figures", "page"].contains(&folder),
            "{folder}: {ours:?}"
        );
        let others = ours.iter().filter(|name| !allowed.contains(name));
        faults
            .extend(others.map(|name| format!("{folder} imports flitwise-{name}, allowed are {allowed:?}")));
    }
    assert_none(faults);
}

/// Language, models and simulator know no file, clock, thread, process or terminal, so that they run in a browser.
/// Experiments are given a clock, a pool and a reader of files, and make none themselves.
#[test]
fn the_lower_crates_are_pure() {
    const WORDS: [&str; 9] = [
        "std::fs",
        "std::env",
        "std::net",
        "std::process",
        "std::thread",
        "Instant",
        "SystemTime",
        "ThreadPoolBuilder",
        "println!",
    ];
    const PURE: [&str; 3] = ["std::io", "std::time", "rayon"];
    const FLOORS: [(&str, &[&str]); 4] = [
        ("models/language/src/", &PURE),
        ("models/src/", &PURE),
        ("validation/simulator/src/", &PURE),
        ("validation/experiment/src/", &[]),
    ];
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let is_test = path.ends_with("tests.rs") || path.contains("/tests/");
        let Some((_, more)) = FLOORS.iter().find(|(floor, _)| path.starts_with(floor) && !is_test) else {
            continue;
        };
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (at, line) in text.lines().enumerate() {
            let found = WORDS.iter().chain(*more).filter(|word| code(line).contains(**word));
            faults.extend(
                found.map(|word| format!("{path}:{}: {word} in a crate without side effects", at + 1)),
            );
        }
    }
    assert_none(faults);
}

/// Folders and files that a text names between backquotes or as the target of a link are there.
#[test]
fn paths_in_readmes_exist() {
    const TEXTS: [&str; 10] = [
        "README.md",
        "CONTRIBUTING.md",
        "models/README.md",
        "models/LOG.md",
        "validation/README.md",
        "validation/simulator/README.md",
        "figures/README.md",
        "page/README.md",
        "src/guides/accuracy.md",
        "src/guides/reference.md",
    ];
    const ENDINGS: [&str; 7] = [".rs", ".toml", ".md", ".csv", ".json", ".py", "/"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut faults, mut seen) = (Vec::new(), 0);
    for name in TEXTS {
        let text = fs::read_to_string(root.join(name)).unwrap();
        let folder = root.join(name).parent().unwrap().to_path_buf();
        // a path may be told from the folder of the text, from its sources or from the root
        let from = [folder.clone(), folder.join("src"), root.to_path_buf(), root.join("models/language/src")];
        let is_there = |path: &str| from.iter().any(|place| place.join(path).exists());
        let mut in_code = false;
        for (at, line) in text.lines().enumerate() {
            in_code ^= line.starts_with("```");
            if in_code {
                continue;
            }
            let quoted = line.split('`').skip(1).step_by(2);
            let links = line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
            let is_link = |path: &&str| !path.is_empty() && !path.contains(":");
            let is_path = |word: &&str| {
                let plain = word.chars().all(|one| one.is_ascii_alphanumeric() || "_-./".contains(one));
                plain && word.contains('/') && ENDINGS.iter().any(|end| word.ends_with(end))
            };
            for path in quoted.filter(is_path).chain(links.filter(is_link)) {
                seen += 1;
                if !is_there(path) {
                    faults.push(format!("{name}:{}: {path} is not there", at + 1));
                }
            }
        }
    }
    assert!(seen > 60, "{seen} paths");
    assert_none(faults);
}
