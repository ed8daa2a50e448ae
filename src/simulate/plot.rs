//! `flitwise simulate --plot`: a run over time as a picture.

use std::io;
use std::path::Path;

use flitwise_experiment::answer::Simulation;
use flitwise_figures::draw::{self, Style};
use flitwise_figures::picture::{Axis, Content, Lines, Origin, Picture, Point, Series};
use flitwise_language::scenario::Scenario;

use crate::outcome::Exit;
use crate::{figure, output};

/// Pixels of a PNG per unit of the SVG.
const PNG_SCALE: f64 = 2.0;

/// What is wrong with a file for a picture of a run.
pub(super) fn check(scenario: &Scenario, path: &Path) -> Result<(), Exit> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    if !ending.is_some_and(|ending| figure::ENDINGS.contains(&ending)) {
        let endings = figure::ENDINGS.join(" or .");
        return Err(Exit::input(format!("--plot {}: wanted a file that ends in .{endings}", path.display())));
    }
    if scenario.measure().bin.is_none() {
        return Err(Exit::input(format!(
            "--plot {}: found a run without intervals, wanted one over time\n  help: add  [measure]  with  end  and  \
             bin",
            path.display()
        )));
    }
    crate::place::file("--plot", path)
}

/// Draws what is delivered over time, class by class.
pub(super) fn write(scenario: &Scenario, answer: &Simulation, path: &Path) -> Result<(), Exit> {
    let svg = draw::svg(&picture(scenario, answer), &Style::default());
    let bytes = if path.extension().is_some_and(|ending| ending == "png") {
        draw::png(&svg, PNG_SCALE).map_err(io::Error::other)?
    } else {
        svg.into_bytes()
    };
    figure::write_whole(path, &bytes)
}

fn point(x: f64, mean: Option<f64>, width: Option<f64>) -> Point {
    let end = |sign: f64| Some(mean? + sign * width?);
    Point { x, y: mean, lower_95: end(-1.0), upper_95: end(1.0), saturated: false }
}

fn picture(scenario: &Scenario, answer: &Simulation) -> Picture {
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
    let axis =
        |label: &str, unit: &str| Axis { label: label.to_owned(), unit: unit.to_owned(), logarithmic: false };
    let (time, rate) = if answer.series.is_some() { ("us", "bytes/ns") } else { ("cycles", "flits/cycle") };
    Picture {
        name: "over-time".to_owned(),
        title: "Throughput over time".to_owned(),
        subtitle: format!("{}: {}, simulated", scenario.spec().name, output::network(scenario.network())),
        content: Content::Lines(Lines {
            x: axis("Time", time),
            y: axis("Throughput", rate),
            y_range: None,
            panels: Vec::new(),
            series: classes.map(of_class).collect(),
            errors: Vec::new(),
            measured_as_curves: true,
        }),
        notes: Vec::new(),
    }
}
