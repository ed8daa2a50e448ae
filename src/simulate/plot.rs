//! `flitwise simulate --plot`: a run over time as a picture.

use std::path::Path;

use flitwise_experiment::answer::Simulation;
use flitwise_figures::picture::{Axis, Content, Lines, Origin, Picture, Point, Series, course_of_run};
use flitwise_language::scenario::Scenario;

use crate::args::Format;
use crate::outcome::Exit;
use crate::output;

/// What is wrong with a picture of a run that goes to `path`.
pub(super) fn check(scenario: &Scenario, path: &Path, format: Format) -> Result<(), Exit> {
    if crate::plot::is_terminal(path) && !matches!(format, Format::Table | Format::Markdown) {
        return Err(Exit::input(
            "--plot: found a --format for programs, wanted a table, or a file for the picture",
        ));
    }
    if scenario.measure().bin.is_none() && scenario.phases().is_empty() {
        return Err(Exit::input(
            "--plot: found a run without intervals, wanted one over time or with phases\n  help: add  [measure]  with  \
             end  and  bin",
        ));
    }
    crate::plot::check("--plot", path)
}

fn point(x: f64, mean: Option<f64>, width: Option<f64>) -> Point {
    let end = |sign: f64| Some(mean? + sign * width?);
    Point { x, y: mean, lower_95: end(-1.0), upper_95: end(1.0), saturated: false }
}

/// The run over time: of one with phases latencies and misses, else what is delivered, class by class.
pub(super) fn picture(scenario: &Scenario, answer: &Simulation) -> Picture {
    let (title, content) = course_of_run(scenario, answer).map_or_else(
        || ("Throughput over time", Content::Lines(throughput(scenario, answer))),
        |course| ("Latency and misses over time", Content::Course(course)),
    );
    Picture {
        name: "over-time".to_owned(),
        title: title.to_owned(),
        subtitle: format!("{}: {}, simulated", scenario.spec().name, output::network(scenario.network())),
        content,
        notes: Vec::new(),
    }
}

fn throughput(scenario: &Scenario, answer: &Simulation) -> Lines {
    let classes = scenario.classes().iter().map(|class| class.name.as_str()).enumerate();
    let of_class = |(style, name): (usize, &str)| {
        let points = match (&answer.series, &answer.over_time) {
            (Some(series), _) => {
                let of = |[start, end]: [f64; 2]| {
                    let course = flitwise_experiment::packets::TimeSeries::Throughput;
                    let found = series.within(course, Some(name), [start, end]);
                    let (mean, width) = (found.map(|one| one.mean), found.and_then(|one| one.half_width_95));
                    point((start + end) / 2e3, mean, width)
                };
                series.intervals().into_iter().map(of).collect()
            }
            (None, Some(intervals)) => {
                let half = scenario.measure().bin.unwrap_or_default() / 2.0;
                let own = intervals.iter().filter(|one| one.class == name);
                let of = |one: &flitwise_experiment::answer::Interval| {
                    let found = one.delivered_flits_per_cycle;
                    let (mean, width) = (found.map(|one| one.mean), found.and_then(|one| one.half_width_95));
                    point(one.start_cycle as f64 + half, mean, width)
                };
                own.map(of).collect()
            }
            (None, None) => Vec::new(),
        };
        Series {
            label: name.to_owned(),
            panel: 0,
            style,
            variant: 0,
            origin: Origin::Simulation,
            points,
            saturated_from: None,
        }
    };
    let (time, rate) = if answer.series.is_some() { ("us", "bytes/ns") } else { ("cycles", "flits/cycle") };
    Lines {
        x: Axis::of("Time", time),
        y: Axis::of("Throughput", rate),
        y_range: None,
        panels: Vec::new(),
        series: classes.map(of_class).collect(),
        errors: Vec::new(),
        measured_as_curves: true,
        printed_by: None,
    }
}
