//! Pictures of a scenario by the file of a figure, and stations of textbooks.

use flitwise_figures::draw::{Style, svg};
use flitwise_figures::figure::Figure;
use flitwise_figures::picture::{Axis, Content, Lines, Origin, Picture, Point, Series};
use flitwise_figures::rows;
use flitwise_language::scenario::Place;
use flitwise_models::queueing::{Kind, Number, Question, StationAnswer};
use flitwise_models::table::{cycles, share};

use crate::engine::{document, scenario};
use crate::request::{
    Column, FigureLine, NoAnswer, Offered, Pictures, StationLine, Stations, StationsOver, Table,
};
use crate::tables::csv_of;

/// The scenario that figures are about.
const BASE: &str = "scenario.file = \"scenario.toml\"\n";
/// Figures that need no more than a scenario: their titles, and what their files say. `{times}` are moments of the
/// run in microseconds, `{cycles}` in cycles.
const OFFERED: [(&str, &str); 7] = [
    ("Loads of all channels", "kind = \"network\"\n"),
    ("Markov chain of an output link", "kind = \"chain\"\n"),
    ("Pipeline diagram of the first messages", "kind = \"pipeline\"\n"),
    ("Where the flits of messages are", "kind = \"worms\"\n[x]\nvalues = [{cycles}]\n"),
    ("Stamps of VirtualClock on a link", "kind = \"stamps\"\n"),
    ("What ports of packet switches hold", "kind = \"congestion-tree\"\n[x]\nvalues = [{times}]\n"),
    ("Frames as they arrive", "kind = \"timeline\"\n"),
];
/// Moments of a run of packet switches that are shown.
const MOMENTS: u32 = 12;
/// Cycles of a run of messages that are shown: the first, and how many.
const FIRST_CYCLE: u32 = 200;
const CYCLES: u32 = 60;

/// Which figures a scenario has.
pub(crate) fn offered(text: &str) -> Result<Offered, NoAnswer> {
    let base = document(text)?;
    let scenario = scenario(&base)?;
    let end_us = scenario.measure().end.unwrap_or(0.0) / 1e3;
    let times: Vec<String> =
        (1..=MOMENTS).map(|nth| (end_us * f64::from(nth) / f64::from(MOMENTS)).to_string()).collect();
    let cycles: Vec<String> = (FIRST_CYCLE..FIRST_CYCLE + CYCLES).map(|cycle| cycle.to_string()).collect();
    let load = |_: &str| Ok(base.clone());
    let line = |(title, kind): &(&str, &str)| {
        let kind = kind.replace("{times}", &times.join(", ")).replace("{cycles}", &cycles.join(", "));
        let figure = format!("title = {title:?}\n{BASE}{kind}");
        let read = Figure::from_toml("figure.toml", &figure, "figure", &load).ok()?;
        read.scenarios().is_empty().then(|| FigureLine { title: (*title).to_owned(), figure })
    };
    Ok(Offered { figures: OFFERED.iter().filter_map(line).collect() })
}

/// The pictures of a figure about a scenario: one for each of its moments, if it has several.
pub(crate) fn figure(figure: &str, text: &str, style: Style) -> Result<Pictures, NoAnswer> {
    let base = document(text)?;
    let load = |_: &str| Ok(base.clone());
    let figure =
        Figure::from_toml("figure.toml", figure, "figure", &load).map_err(|faults| NoAnswer::of(&faults))?;
    if !figure.scenarios().is_empty() {
        return Err(NoAnswer::new(
            "found a figure with simulated points, wanted one without: sources = [..] names models",
        ));
    }
    let picture = figure.picture(&[]);
    let table = rows::table(&picture);
    let csv = csv_of([table.heads.clone()].into_iter().chain(table.rows.iter().cloned()))?;
    let moments = picture.moments();
    let drawn: Vec<String> = match moments.as_slice() {
        [] => vec![svg(&picture, &style)],
        several => several.iter().map(|moment| svg(moment, &style)).collect(),
    };
    Ok(Pictures { svgs: drawn, csv, notes: picture.notes })
}

/// The most points of a curve.
const MOST_POINTS: usize = 1_000;

/// Stations of textbooks beside each other, and their mean waits along one of their parameters.
pub(crate) fn stations(
    stations: &[StationLine],
    over: Option<&StationsOver>,
    style: Style,
) -> Result<Stations, NoAnswer> {
    let answers: Result<Vec<StationAnswer>, NoAnswer> =
        stations.iter().map(|one| answer(one, None)).collect();
    let tables = stations.iter().zip(answers?).map(|(station, answer)| table(station, &answer)).collect();
    let svg = over.map(|over| waits(stations, over, style)).transpose()?;
    Ok(Stations { tables, svg })
}

/// What a station answers, with one parameter changed.
fn answer(station: &StationLine, changed: Option<(&str, f64)>) -> Result<StationAnswer, NoAnswer> {
    let kind = Kind::ALL.into_iter().find(|kind| kind.word() == station.kind);
    let kind = kind.ok_or_else(|| {
        let known: Vec<&str> = Kind::ALL.iter().map(|kind| kind.word()).collect();
        NoAnswer::new(format!("kind: found {:?}, wanted one of {}", station.kind, known.join(", ")))
    })?;
    let given = station.numbers.iter().map(|(key, value)| (key.as_str(), *value)).chain(changed);
    let numbers = given.map(|(key, value)| Number::new(key, value, Place::Program)).collect();
    let station = Question { kind, numbers, classes: Vec::new() }.check();
    Ok(station.map_err(|faults| NoAnswer::of(&faults))?.answer(&[]))
}

fn table(station: &StationLine, answer: &StationAnswer) -> Table {
    let column = |head: &str, unit: &str| Column {
        head: head.to_owned(),
        unit: unit.to_owned(),
        meaning: String::new(),
    };
    let heads = [
        column("class", ""),
        column("arrivals", "1/cycle"),
        column("service", "cycles"),
        column("utilization", ""),
        column("mean wait", "cycles"),
        column("response", "cycles"),
        column("number waiting", ""),
        column("number in system", ""),
    ];
    let row = |class: &flitwise_models::queueing::CustomersAnswer| {
        vec![
            class.name.clone(),
            share(Some(class.arrival_rate_per_cycle)),
            cycles(Some(class.mean_service_cycles)),
            share(class.utilization),
            cycles(class.mean_wait_cycles),
            cycles(class.mean_response_cycles),
            share(class.mean_number_waiting),
            share(class.mean_number_in_system),
        ]
    };
    Table {
        title: station.label.clone().unwrap_or_else(|| station.kind.clone()),
        columns: heads.into(),
        rows: answer.classes.iter().map(row).collect(),
    }
}

/// Mean waits of the stations along a parameter.
fn waits(stations: &[StationLine], over: &StationsOver, style: Style) -> Result<String, NoAnswer> {
    let StationsOver { key, from, to, points } = over;
    if !(2..=MOST_POINTS).contains(points) {
        return Err(NoAnswer::new(format!("over.points: found {points}, wanted 2 to {MOST_POINTS}")));
    }
    let mut series = Vec::new();
    for (place, station) in stations.iter().enumerate() {
        let mut drawn = Vec::new();
        for point in 0..*points {
            let x = from + (to - from) * point as f64 / (points - 1) as f64;
            let wait =
                answer(station, Some((key, x)))?.classes.first().and_then(|class| class.mean_wait_cycles);
            drawn.push(Point { x, y: wait, lower_95: None, upper_95: None, saturated: wait.is_none() });
        }
        let saturated_from = drawn.iter().find(|point| point.saturated).map(|point| point.x);
        series.push(Series {
            label: station.label.clone().unwrap_or_else(|| station.kind.clone()),
            panel: 0,
            style: place,
            variant: 0,
            origin: Origin::Given,
            points: drawn,
            saturated_from,
        });
    }
    let lines = Lines {
        x: Axis::of(key, ""),
        y: Axis::of("Mean wait", "cycles"),
        y_range: None,
        panels: Vec::new(),
        series,
        errors: Vec::new(),
        measured_as_curves: false,
        printed_by: None,
    };
    let picture = Picture {
        name: "stations".to_owned(),
        title: format!("Mean wait along {key}"),
        subtitle: String::new(),
        content: Content::Lines(lines),
        notes: Vec::new(),
    };
    Ok(svg(&picture, &style))
}
