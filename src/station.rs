//! `flitwise station`: textbook stations by their names.

mod page;
mod question;

use flitwise_language::scenario::Setting;
use flitwise_models::queueing::{CustomersAnswer, Kind, StationAnswer};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Format, Station};
use crate::outcome::Exit;
use crate::output;

/// The answer of `flitwise station --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StationDocument {
    /// `flitwise.station/1`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// Which station.
    station: Kind,
    /// What it is, in a few words.
    name: &'static str,
    /// One answer, or one per point of the axes, the last axis varying fastest.
    points: Vec<Point>,
}

/// The answer at one point.
#[derive(Debug, Serialize, JsonSchema)]
struct Point {
    /// The values set here, in the order of the axes; none without axes.
    set: Vec<Setting>,
    /// The answer.
    #[serde(flatten)]
    answer: StationAnswer,
}

pub(crate) fn run(args: &Station) -> Result<(), Exit> {
    let Some(kind) = args.kind else { return list(args) };
    if args.manual {
        return output::write(kind.manual().as_bytes());
    }
    let points = question::answers(kind, args)?;
    match args.format {
        Format::Json => output::write_json(&StationDocument {
            schema: "flitwise.station/1",
            flitwise_version: env!("CARGO_PKG_VERSION"),
            station: kind,
            name: kind.described(),
            points,
        }),
        Format::Csv => csv(kind, &points),
        Format::Table | Format::Markdown => {
            let markdown = args.format == Format::Markdown;
            let text = match points.as_slice() {
                [point] if point.set.is_empty() => page::of_one(kind, &point.answer, markdown),
                points => page::of_many(kind, points, markdown),
            };
            output::write_coloured(&text)
        }
    }
}

/// The stations, one line each.
fn list(args: &Station) -> Result<(), Exit> {
    let asked = !args.numbers.0.is_empty() || args.manual || args.at.is_some();
    if asked || !args.classes.is_empty() || !args.over.is_empty() {
        let known = Kind::ALL.map(Kind::word).join(", ");
        let help = "flitwise station  alone says what they are";
        return Err(Exit::input(format!("found no KIND of station, wanted one of {known}\n  help: {help}")));
    }
    let width = Kind::ALL.iter().map(|kind| kind.word().len()).max().unwrap_or(0);
    let line = |kind: Kind| format!("{:width$}  {}\n", kind.word(), kind.described());
    output::write(Kind::ALL.map(line).concat().as_bytes())
}

/// One row per point and class; what does not exist is empty.
fn csv(kind: Kind, points: &[Point]) -> Result<(), Exit> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    let Some(first) = points.first() else { return output::write_csv(rows) };
    let keys = first.set.iter().map(|setting| setting.key.clone());
    let times =
        first.answer.classes.iter().take(1).flat_map(|class| &class.tail).map(|tail| tail.time_cycles);
    let tails = times.flat_map(|time| {
        ["wait", "response"].map(|what| format!("{what}_exceeds_{time}_cycles_probability"))
    });
    rows.write_record(keys.chain(COLUMNS.map(|(name, _)| name.to_owned())).chain(tails))?;
    for point in points {
        for class in &point.answer.classes {
            let set = point.set.iter().map(|setting| setting.value.clone());
            let row = Row { kind, answer: &point.answer, class };
            let tails = class
                .tail
                .iter()
                .flat_map(|tail| [tail.wait_exceeds_probability, tail.response_exceeds_probability]);
            rows.write_record(set.chain(COLUMNS.map(|(_, of)| of(&row))).chain(tails.map(real)))?;
        }
    }
    output::write_csv(rows)
}

/// What a row is made of.
struct Row<'a> {
    kind: Kind,
    answer: &'a StationAnswer,
    class: &'a CustomersAnswer,
}

/// A column's name and its entry.
type Column = (&'static str, fn(&Row<'_>) -> String);

const COLUMNS: [Column; 20] = [
    ("station", |row| row.kind.to_string()),
    ("class", |row| row.class.name.clone()),
    ("arrival_rate_per_cycle", |row| row.class.arrival_rate_per_cycle.to_string()),
    ("mean_service_cycles", |row| row.class.mean_service_cycles.to_string()),
    ("service_scv", |row| real(row.class.service_scv)),
    ("weight", |row| real(row.class.weight)),
    ("load", |row| row.class.load.to_string()),
    ("saturated", |row| row.class.saturated.to_string()),
    ("utilization", |row| real(row.class.utilization)),
    ("throughput_per_cycle", |row| real(row.class.throughput_per_cycle)),
    ("all_busy_probability", |row| row.answer.all_busy_probability.to_string()),
    ("blocking_probability", |row| row.class.blocking_probability.to_string()),
    ("wait_probability", |row| real(row.class.wait_probability)),
    ("mean_wait_cycles", |row| real(row.class.mean_wait_cycles)),
    ("wait_standard_deviation_cycles", |row| real(row.class.wait_standard_deviation_cycles)),
    ("mean_wait_before_service_cycles", |row| real(row.class.mean_wait_before_service_cycles)),
    ("mean_response_cycles", |row| real(row.class.mean_response_cycles)),
    ("mean_number_waiting", |row| real(row.class.mean_number_waiting)),
    ("mean_number_in_system", |row| real(row.class.mean_number_in_system)),
    ("station_load", |row| row.answer.load.to_string()),
];

fn real(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}
