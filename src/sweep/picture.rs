//! `flitwise sweep --plot`: the network latency along the first axis.

use std::path::PathBuf;

use flitwise_figures::draw::Style;
use flitwise_figures::picture::{self, Axis, Content, Lines, Origin, Picture, Series, class_styles};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::Grid;

use super::Point;
use crate::args::ModelChoice;
use crate::outcome::Exit;
use crate::output::Time;
use crate::{input, output, plot};

const DRAWN: Quantity = Quantity::NetworkLatency;

/// A picture to which points are added.
pub(super) struct Curves {
    picture: Picture,
    lines: Lines,
    /// The style of each class.
    styles: Vec<usize>,
    time: Time,
    path: PathBuf,
}

impl Curves {
    /// No curves yet; numbers of the first axis must be plain ones.
    pub(super) fn begin(grid: &Grid, path: PathBuf) -> Result<Self, Exit> {
        plot::check("--plot", &path)?;
        let along = &grid.axes[0];
        if let Some(word) = along.values.iter().find(|value| value.parse::<f64>().is_err()) {
            return Err(Exit::input(format!(
                "--plot: found the axis {} with the value {word}, wanted numbers without units\n  help: name an axis \
                 of such numbers first, the others follow as curves",
                along.key
            )));
        }
        let scenario = input::scenario(&grid.document)?;
        let spec = scenario.spec();
        let time = Time::of(spec);
        let axis = |label: &str, unit: &str| Axis {
            label: label.to_owned(),
            unit: unit.to_owned(),
            logarithmic: false,
        };
        let lines = Lines {
            x: axis(&along.key, ""),
            y: axis("Network latency", time.unit),
            y_range: None,
            panels: Vec::new(),
            series: Vec::new(),
            errors: Vec::new(),
            measured_as_curves: false,
        };
        let picture = Picture {
            name: "sweep".to_owned(),
            title: format!("Network latency along {}", along.key),
            subtitle: format!("{}: {}", spec.name, output::network(spec.network)),
            content: Content::Lines(lines.clone()),
            notes: Vec::new(),
        };
        Ok(Self { picture, lines, styles: class_styles(spec), time, path })
    }

    pub(super) fn point(&mut self, point: &Point, axes: usize) {
        let Some(x) = point.set.first().and_then(|setting| setting.value.parse().ok()) else { return };
        let others: Vec<String> =
            point.set[1..axes].iter().map(|set| format!("{} {}", set.key, set.value)).collect();
        let origin = match point.model {
            ModelChoice::Anchored => Origin::Anchored,
            other => other.model().into(),
        };
        for (index, (class, intervals)) in point.rows().enumerate() {
            let label = [std::slice::from_ref(&class.name), others.as_slice()].concat().join(", ");
            let value = |cycles| self.time.shown(DRAWN, cycles);
            let interval = intervals.and_then(|found| found.of(DRAWN.into(), class));
            let here = picture::Point {
                x,
                y: value(class.means.get(DRAWN).copied()),
                lower_95: value(interval.map(|one| one.lower_95)),
                upper_95: value(interval.map(|one| one.upper_95)),
                saturated: class.saturated,
            };
            let of_class = self.lines.series.iter().filter(|one| one.style == self.styles[index]).count();
            let known = self.lines.series.iter().position(|one| one.label == label);
            let at = known.unwrap_or_else(|| {
                self.lines.series.push(Series {
                    label,
                    panel: 0,
                    style: self.styles[index],
                    variant: of_class,
                    origin,
                    points: Vec::new(),
                    saturated_from: None,
                });
                self.lines.series.len() - 1
            });
            let series = &mut self.lines.series[at];
            series.points.push(here);
            if here.saturated && series.saturated_from.is_none_or(|from| x < from) {
                series.saturated_from = Some(x);
            }
        }
    }

    /// Draws what there is.
    pub(super) fn end(&mut self) -> Result<(), Exit> {
        for series in &mut self.lines.series {
            series.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
        self.picture.content = Content::Lines(self.lines.clone());
        plot::write(&self.picture, &Style::default(), &self.path)
    }
}
