//! Tables of README and guides that are made from the accuracy tables of the refined model.

use std::fmt::Write;

const HELD_OUT: &str = include_str!("../../../models/src/accuracy/holdout.csv");
const TUNING: &str = include_str!("../../../models/src/accuracy/tuning.csv");

const STREAMS: &str = include_str!("../../../models/src/accuracy/streams.csv");

/// Families of scenarios, as the tables call them and as readers know them.
const FAMILIES: [(&str, &str); 8] = [
    ("router", "routers, b >= M"),
    ("router-short-buffer", "routers, b < M for some class"),
    ("router-other-scheduler", "routers, other schedulers"),
    ("router-on-off", "routers, ON/OFF sources"),
    ("cube", "cubes, b >= M"),
    ("cube-short-buffer", "cubes, b < M for some class"),
    ("cube-other-scheduler", "cubes, other schedulers"),
    ("cube-on-off", "cubes, ON/OFF sources"),
];

/// Errors of one quantity, in percent but for probabilities.
struct Errors {
    mean: f64,
    worst: f64,
    place: String,
}

/// A quantity as a table shows it.
#[derive(Clone, Copy)]
struct Quantity {
    key: &'static str,
    name: &'static str,
    decimals: usize,
}

const LATENCY: Quantity = Quantity { key: "network-latency", name: "network latency [%]", decimals: 1 };
const WAITING: Quantity = Quantity { key: "waiting", name: "waiting [%]", decimals: 1 };
const MISS: Quantity = Quantity { key: "miss-probability", name: "miss probability", decimals: 3 };
const P99: Quantity = Quantity { key: "p99", name: "99th percentile [%]", decimals: 1 };
const INTERVALS: Quantity =
    Quantity { key: "frame-interval-deviation", name: "deviation of intervals [%]", decimals: 1 };
const SATURATION: Quantity = Quantity { key: "saturation-load", name: "saturation load [%]", decimals: 1 };

/// The table of that name.
fn table(name: &str) -> String {
    match name {
        "trust" => trust(),
        "held-out" => means(HELD_OUT, &["0.25", "0.5", "0.7", "0.85"]),
        "tuning" => means(TUNING, &["0.35", "0.65", "0.85"]),
        "worst" => worst(),
        "streams" => streams(),
        "quantities" => quantities(),
        _ => panic!("no table {name}"),
    }
}

/// The document with all of its tables as they should be.
pub(crate) fn renewed(text: &str) -> String {
    let mut anew = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        anew.push_str(line);
        anew.push('\n');
        let name = line.strip_prefix("<!-- table: ").and_then(|rest| rest.strip_suffix(" -->"));
        if let Some(name) = name {
            let end =
                lines.find(|line| *line == "<!-- end -->").unwrap_or_else(|| panic!("{name} has no end"));
            let _ = writeln!(anew, "\n{}\n{end}", table(name));
        }
    }
    anew
}

fn errors(set: &str, family: &str, kind: &str, load: &str, quantity: Quantity) -> Errors {
    let mut rows = csv::Reader::from_reader(set.as_bytes());
    let row = rows
        .records()
        .map(Result::unwrap)
        .find(|row| [&row[0], &row[1], &row[2], &row[3]] == [family, kind, load, quantity.key])
        .unwrap_or_else(|| panic!("no errors of {family}, {kind}, {load}, {}", quantity.key));
    Errors { mean: row[6].parse().unwrap(), worst: row[7].parse().unwrap(), place: row[14].to_owned() }
}

/// Mean errors at the given loads, parted by strokes.
fn at_loads(set: &str, family: &str, kind: &str, loads: &[&str], quantity: Quantity) -> String {
    let mean = |load: &&str| {
        let errors = errors(set, family, kind, load, quantity);
        format!("{:.*}", quantity.decimals, errors.mean)
    };
    loads.iter().map(mean).collect::<Vec<_>>().join(" / ")
}

/// Four rows for the README.
fn trust() -> String {
    let mut text =
        "| mean error at | 25 % | 50 % | 70 % | 85 % of saturation |\n|---|---|---|---|---|\n".to_owned();
    for (name, quantity, unit) in [
        ("network latency", LATENCY, " %"),
        ("wait at the source", WAITING, " %"),
        ("99th percentile", P99, " %"),
    ]
    .into_iter()
    .chain([("deadline missing probability", MISS, "")])
    {
        let _ = write!(text, "| {name} |");
        for load in ["0.25", "0.5", "0.7", "0.85"] {
            let errors = errors(HELD_OUT, "all", "real-time", load, quantity);
            let _ = write!(text, " {:.*}{unit} |", quantity.decimals, errors.mean);
        }
        text.push('\n');
    }
    text
}

/// Mean errors of every family.
fn means(set: &str, loads: &[&str]) -> String {
    let quantities = [LATENCY, WAITING, MISS];
    let heads: Vec<&str> = quantities.iter().chain([&SATURATION]).map(|quantity| quantity.name).collect();
    let mut text = format!("| family | classes | {} |\n|---|---|---|---|---|---|\n", heads.join(" | "));
    for (family, name) in FAMILIES.into_iter().chain([("all", "all eight families")]) {
        for kind in ["real-time", "best-effort"] {
            let cells = quantities.map(|quantity| at_loads(set, family, kind, loads, quantity));
            let saturation = at_loads(set, family, kind, &["all"], SATURATION);
            let _ = writeln!(text, "| {name} | {kind} | {} | {saturation} |", cells.join(" | "));
        }
    }
    text
}

/// Mean errors over streams of frames, and what is aimed at.
fn streams() -> String {
    let quantities = [LATENCY, WAITING, INTERVALS];
    let heads = quantities.map(|quantity| quantity.name).join(" | ");
    let mut text = format!("| systems | classes | {heads} |\n|---|---|---|---|---|\n");
    let (mut records, loads) = (csv::Reader::from_reader(STREAMS.as_bytes()), ["0.5", "0.7", "0.85"]);
    let records: Vec<csv::StringRecord> = records.records().map(Result::unwrap).collect();
    let column = |family: &str, kind: &str, load: &str, quantity: Quantity, column: usize| {
        let wanted = [family, kind, load, quantity.key];
        let row = records.iter().find(|row| [&row[0], &row[1], &row[2], &row[3]] == wanted);
        row.map(|row| row[column].to_owned()).filter(|text| !text.is_empty())
    };
    for (family, name) in [("all routers", "one router"), ("all meshes and tori", "fat meshes")] {
        for kind in ["real-time", "best-effort"] {
            let cells = quantities.map(|quantity| {
                let mean = |load: &&str| column(family, kind, load, quantity, 6)?.parse::<f64>().ok();
                let means: Vec<String> =
                    loads.iter().filter_map(mean).map(|mean| format!("{mean:.1}")).collect();
                means.join(" / ")
            });
            let _ = writeln!(text, "| {name} | {kind} | {} |", cells.join(" | "));
        }
    }
    for kind in ["real-time", "best-effort"] {
        let aims =
            quantities.map(|quantity| column("all routers", kind, "all", quantity, 10).unwrap_or_default());
        let _ = writeln!(text, "| *aimed at* | {kind} | {} |", aims.join(" | "));
    }
    text
}

/// The quantities of a class.
fn quantities() -> String {
    let mut text = "| word | column | unit | part of | meaning |\n|---|---|---|---|---|\n".to_owned();
    for quantity in flitwise_language::quantity::Quantity::ALL {
        let words = match (quantity.word(), quantity.head()) {
            (word, head) if head == word || head.contains([' ', '(']) => format!("`{word}`"),
            (word, head) => format!("`{word}`, `{head}`"),
        };
        let whole = quantity.whole().map_or("", |whole| whole.word());
        let (column, unit, meaning) = (quantity.field(), quantity.unit().word(), quantity.meaning());
        let _ = writeln!(text, "| {words} | `{column}` | {unit} | {whole} | {meaning} |");
    }
    text
}

/// The worst errors of every family over the held-out set.
fn worst() -> String {
    let mut text =
        "| family | classes | quantity | worst error | where |\n|---|---|---|---|---|\n".to_owned();
    for (family, name) in FAMILIES {
        for kind in ["real-time", "best-effort"] {
            for quantity in [LATENCY, WAITING, MISS] {
                let errors = errors(HELD_OUT, family, kind, "all", quantity);
                let (decimals, worst, place) = (quantity.decimals, errors.worst, errors.place);
                let _ =
                    writeln!(text, "| {name} | {kind} | {} | {worst:+.decimals$} | {place} |", quantity.name);
            }
        }
    }
    text
}
