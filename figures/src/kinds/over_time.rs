//! Figures over time: packet switches around a hot spot, and the power of a network with its budget.

use flitwise_experiment as experiment;
use flitwise_experiment::packets::{PacketSeries, TimeSeries};
use flitwise_language::document::{Entry, in_short, one_of};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassSpec, Fault, Scenario, UnitsSpec};
use flitwise_language::section::Cell;
use flitwise_models::model::{Model, Options};
use flitwise_models::recn::{self, HotSpotPrediction};

use super::lines::{Lines, Point, Series};
use super::*;

const X: &[&str] = &["range"];
const Y: &[&str] = &["quantity", "range", "scale"];
const QUICK: &[&str] = &["set", "range"];

/// What is drawn over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// Of packet switches.
    Packets(TimeSeries),
    /// Of a network of routers, window by window.
    Power,
}

impl Course {
    /// All of them.
    const ALL: [Self; TimeSeries::ALL.len() + 1] = {
        let mut all = [Self::Power; TimeSeries::ALL.len() + 1];
        let mut at = 0;
        while at < TimeSeries::ALL.len() {
            all[at] = Self::Packets(TimeSeries::ALL[at]);
            at += 1;
        }
        all
    };

    /// Its name in files.
    fn word(self) -> &'static str {
        match self {
            Self::Packets(series) => series.word(),
            Self::Power => "power",
        }
    }

    /// What the scenario should be, if it has no such number.
    fn lack(self, scenario: &Scenario) -> Option<&'static str> {
        match self {
            Self::Packets(_) => (!experiment::has_series(scenario)).then_some("packet switches over time"),
            Self::Power => scenario.spec().power.is_none().then_some("a scenario with a table [power]"),
        }
    }
}

/// A number over time.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// What is drawn.
    course: Course,
    /// From when to when \[us, or cycles where a cycle has no time\]; `None`: the whole run.
    window_us: Option<(f64, f64)>,
    /// From where to where, if that is given.
    y_range: Option<(f64, f64)>,
    logarithmic: bool,
    /// Whether each class is drawn by itself.
    by_class: bool,
    /// Changes of the scenario; at least one, which may change nothing.
    variants: Vec<Variant>,
    printed: Vec<Printed>,
    quick: Option<Quick>,
}

/// A shorter run in the place of the figure's own.
#[derive(Clone, Debug)]
struct Quick {
    settings: Vec<Entry>,
    window_us: Option<(f64, f64)>,
}

impl FigureFile for Question {
    const WORD: &'static str = "over-time";
    const KEYS: &'static [&'static str] = &["x", "y", "variant", "classes", "sources", "printed", "quick"];

    fn sources() -> (&'static [Origin], Vec<Origin>) {
        (&Origin::OVER_TIME, Origin::OVER_TIME.to_vec())
    }

    fn read(reading: &mut Reading<'_>, root: &Table<'_>, scenario: Option<&Scenario>) -> Option<Self> {
        let window_us = window(reading, root, "x", X);
        let help = "add  [y]  with  quantity = \"throughput\"";
        reading.reader.require(root, "y", "a [y] table", Some(help));
        let y = reading.reader.table(root, "y")?;
        reading.reader.refuse_unknown(&y, Y);
        reading.reader.require(&y, "quantity", &one_of(Course::ALL.map(Course::word)), None);
        let course = reading.reader.word(&y, "quantity", &Course::ALL, Course::word);
        let y_range = reading.range(&y);
        let logarithmic = reading.logarithmic(&y);
        let by_class = root.get("classes").is_some();
        let variants = reading.variants(root);
        let printed = reading.printed(root, &variants);
        let quick = reading.reader.table(root, "quick").map(|table| Quick {
            settings: reading.reader.settings(&table, "set").into_iter().cloned().collect(),
            window_us: window(reading, root, "quick", QUICK),
        });
        if let (Some(course), Some(scenario)) = (course, scenario)
            && let Some(wanted) = course.lack(scenario)
        {
            reading.refuse(root, "scenario", scenario.topology().name(), wanted);
        }
        Some(Self { course: course?, window_us, y_range, logarithmic, by_class, variants, printed, quick })
    }
}

/// Hosts, traffics and packets of packet switches in a line, such as `64 hosts: 48 random at 50 %, 16 hot at 100 % from
/// 800 to 970 us, 64 B packets`; nothing where there are routers.
pub(crate) fn traffic(scenario: &Scenario) -> String {
    let Some(switch) = scenario.switch() else { return String::new() };
    let link = f64::from(switch.packet) / switch.link_bytes_per_ns();
    let us = |ns: f64| in_short(ns / 1e3);
    let traffic = |(index, class): (usize, &ClassSpec)| {
        let percent = in_short((100.0 * class.rate * link).round());
        let when = match (class.start, class.end) {
            (None, None) => String::new(),
            (from, None) => format!(" from {} us on", us(from.unwrap_or(0.0))),
            (from, Some(to)) => format!(" from {} to {} us", us(from.unwrap_or(0.0)), us(to)),
        };
        format!("{} {} at {percent} %{when}, ", scenario.senders(index).len(), class.name)
    };
    let sending = scenario.classes().iter().enumerate().filter(|(_, class)| class.rate > 0.0);
    let traffics: String = sending.map(traffic).collect();
    format!("{} hosts: {traffics}{} B packets", scenario.topology().nodes(), switch.packet)
}

fn window(
    reading: &mut Reading<'_>,
    root: &Table<'_>,
    name: &'static str,
    keys: &[&str],
) -> Option<(f64, f64)> {
    let table = reading.reader.table(root, name)?;
    reading.reader.refuse_unknown(&table, keys);
    reading.range(&table)
}

impl FigureKind for Question {
    fn points(&self) -> Vec<Spot<'_>> {
        Spot::of_variants(&self.variants)
    }

    fn rows(&self) -> Vec<String> {
        self.variants.iter().map(|variant| variant.label.clone()).collect()
    }

    fn needs_no_model(&self) -> bool {
        true
    }

    fn content(&self, figure: &Figure, runs: Runs<'_>, notes: &mut Vec<Note>) -> Content {
        match self.course {
            Course::Packets(course) => {
                Content::Lines(figure.over_time(self, course, runs.simulations, notes))
            }
            Course::Power => Content::Lines(figure.power_over_time(self, runs.simulations, notes)),
        }
    }
}

impl Figure {
    /// Takes the shorter run that the figure's file has for a quick report; whether it has one.
    ///
    /// # Errors
    /// Every fault in it; none in figures that were read.
    pub fn quicken(&mut self) -> Result<bool, Vec<Fault>> {
        let settings = match &mut self.question {
            super::Question::OverTime(Question { quick, window_us, .. }) => quick.take().map(|quick| {
                *window_us = quick.window_us;
                quick.settings
            }),
            super::Question::Phases(phases) => phases.quick.take(),
            super::Question::Lines(lines) => lines.quick.take(),
            _ => None,
        };
        let Some(settings) = settings else { return Ok(false) };
        let faults = settings.iter().filter_map(|entry| self.base.set_entry(entry).err());
        let faults: Vec<Fault> = faults.collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        self.scenario = self.base.scenario()?;
        self.points().into_iter().collect::<Result<Vec<_>, _>>()?;
        let gap = if self.subtitle.is_empty() { "" } else { "; " };
        self.subtitle.push_str(&format!("{gap}a shorter run for a quick report"));
        Ok(true)
    }

    fn over_time(
        &self,
        drawn: &Question,
        course: TimeSeries,
        simulations: &[Simulation],
        notes: &mut Vec<Note>,
    ) -> Lines {
        let classes: Vec<Option<&str>> = match drawn.by_class {
            true => self.classes.iter().map(|name| Some(name.as_str())).collect(),
            false => vec![None],
        };
        let mut series = Vec::new();
        for (index, variant) in drawn.variants.iter().enumerate() {
            let simulated = simulations.get(index).and_then(|one| one.series.as_deref());
            for (at, class) in classes.iter().enumerate() {
                let label: Vec<&str> = class
                    .iter()
                    .copied()
                    .chain([variant.label.as_str()])
                    .filter(|word| !word.is_empty())
                    .collect();
                let of = |origin, points| Series {
                    label: label.join(", "),
                    panel: 0,
                    style: index * classes.len() + at,
                    variant: 0,
                    origin,
                    points,
                    saturated_from: None,
                };
                if self.sources.contains(&Origin::RECN) && class.is_none() {
                    let points = self.predicted(drawn, course, variant, notes);
                    series.extend((!points.is_empty()).then(|| of(Origin::RECN, points)));
                }
                let measured =
                    simulated.map(|one| of(Origin::Simulation, drawn.measured(one, course, *class)));
                series.extend(measured);
            }
        }
        let end_us = self.scenario.measure().end.unwrap_or(f64::INFINITY) / 1e3;
        for one in &drawn.printed {
            let points = one.points.iter().filter(|(us, _)| *us <= end_us && drawn.shows(*us));
            let (style, label) = (one.variant * classes.len(), drawn.variants[one.variant].label.clone());
            series.extend(Series::printed(label, (style, 0), points));
        }
        let axis = |label: &str, unit: &str, logarithmic| Axis {
            label: label.to_owned(),
            unit: unit.to_owned(),
            logarithmic,
        };
        Lines {
            x: axis("Time", "us", false),
            y: axis(course.label(), course.unit(), drawn.logarithmic),
            y_range: drawn.y_range,
            panels: Vec::new(),
            series,
            errors: Vec::new(),
            measured_as_curves: true,
            printed_by: Printed::makers(&drawn.printed),
        }
    }

    /// Power window by window in the first replication, the mean of the model, and the budget.
    fn power_over_time(&self, drawn: &Question, simulations: &[Simulation], notes: &mut Vec<Note>) -> Lines {
        let cycle_ns = self.scenario.spec().units.as_ref().and_then(UnitsSpec::cycle_ns);
        // of a cycle in x; pJ/ns are mW
        let (time, power) = cycle_ns.map_or((1.0, 1.0), |ns| (ns / 1e3, 1e-3 / ns));
        let mut series = Vec::new();
        let mut ends = drawn.window_us;
        for (index, variant) in drawn.variants.iter().enumerate() {
            let of = |origin, points| Series {
                label: variant.label.clone(),
                panel: 0,
                style: index,
                variant: 0,
                origin,
                points,
                saturated_from: None,
            };
            let window = self.scenario.spec().power.map_or(0.0, |spec| f64::from(spec.window));
            let measured = simulations.get(index).map(|found| windows(found, window));
            let shown = |(at, value): (f64, f64)| known(at * time, value * power);
            let points = measured.into_iter().flatten().map(shown).filter(|point| drawn.shows(point.x));
            let points: Vec<Point> = points.collect();
            if let (Some(first), Some(last)) = (points.first(), points.last()) {
                let (from, to) = ends.unwrap_or((first.x, last.x));
                ends = Some((from.min(first.x), to.max(last.x)));
            }
            series.extend((!points.is_empty()).then(|| of(Origin::Simulation, points)));
            if let Some(mean) = self.mean_power(variant, notes) {
                let level = move |(from, to)| vec![known(from, mean * power), known(to, mean * power)];
                series.push(of(Model::Admission.into(), level(ends.unwrap_or((0.0, 1.0)))));
            }
        }
        if let (Some(budget), Some((from, to))) = (self.scenario.power_budget(), ends) {
            series.push(Series {
                label: "budget".to_owned(),
                panel: 0,
                style: drawn.variants.len(),
                variant: 0,
                origin: Origin::Given,
                points: vec![known(from, budget * power), known(to, budget * power)],
                saturated_from: None,
            });
        }
        let axis = |label: &str, units: [&str; 2], logarithmic| Axis {
            label: label.to_owned(),
            unit: units[usize::from(cycle_ns.is_none())].to_owned(),
            logarithmic,
        };
        Lines {
            x: axis("Time", ["us", "cycles"], false),
            y: axis("Power", ["W", "pJ/cycle"], drawn.logarithmic),
            y_range: drawn.y_range,
            panels: Vec::new(),
            series,
            errors: Vec::new(),
            measured_as_curves: true,
            printed_by: None,
        }
    }

    /// The mean by the admission model, if that is a source \[pJ/cycle\].
    fn mean_power(&self, variant: &Variant, notes: &mut Vec<Note>) -> Option<f64> {
        let model = Model::Admission;
        let scenario = self.at(Some(variant), &[]).ok().filter(|_| self.sources.contains(&model.into()))?;
        match model.solve(&scenario, &Options { saturation_loads: false, ..Options::default() }) {
            Ok(answer) => answer.classes.first()?.means.get(Quantity::Power).copied(),
            Err(failure) => {
                let place = note::Place { row: variant.label.clone(), x: None };
                let said = failure.lines(|_| String::new()).into_iter();
                notes.extend(said.map(|text| Note { place: place.clone(), text }));
                None
            }
        }
    }

    /// The curve of the analysis; empty where it says nothing.
    fn predicted(
        &self,
        drawn: &Question,
        course: TimeSeries,
        variant: &Variant,
        notes: &mut Vec<Note>,
    ) -> Vec<Point> {
        let Ok(scenario) = self.at(Some(variant), &[]) else { return Vec::new() };
        let found = match recn::predict(&scenario) {
            Ok(found) => found,
            Err(failure) => {
                let place = note::Place { row: variant.label.clone(), x: None };
                let said = failure.lines(|_| String::new()).into_iter();
                notes.extend(said.map(|text| Note { place: place.clone(), text }));
                return Vec::new();
            }
        };
        let bin_us = scenario.measure().bin.unwrap_or_default() / 1e3;
        let (over_time, lines) = match found.hot_spot {
            Some(HotSpotPrediction { over_time, lines, .. }) => (over_time, lines),
            None => (steady(&scenario, found.throughput_before_bytes_per_ns), None),
        };
        let mut points: Vec<Point> = match course {
            TimeSeries::Throughput => {
                let of = |bin: &recn::Bin| known(bin.start_us + bin_us / 2.0, bin.throughput_bytes_per_ns);
                over_time.iter().map(of).collect()
            }
            TimeSeries::SetAsideQueues => {
                let lines = lines.map(f64::from);
                let at = |bin: &recn::Bin| Some(known(bin.start_us + bin_us / 2.0, lines?));
                over_time.iter().filter_map(at).collect()
            }
            TimeSeries::Latency | TimeSeries::IngressQueues | TimeSeries::EgressQueues => Vec::new(),
        };
        points.retain(|point| drawn.shows(point.x));
        points
    }
}

/// A point without an interval.
fn known(x: f64, y: f64) -> Point {
    Point { x, y: Some(y), lower_95: None, upper_95: None, saturated: false }
}

/// The middle of each window of power, and the power \[cycles, pJ/cycle\].
fn windows(found: &Simulation, window: f64) -> Vec<(f64, f64)> {
    let Some(section) = found.sections.find("power_over_time") else { return Vec::new() };
    let of = |row: usize| {
        let number = |field| section.cell(row, field).and_then(Cell::number);
        Some((number("start_cycles")? + window / 2.0, number("power_pj_per_cycle")?))
    };
    (0..section.rows.len()).filter_map(of).collect()
}

/// Bins without a hot spot: all alike.
fn steady(scenario: &Scenario, throughput: f64) -> Vec<recn::Bin> {
    let measure = scenario.measure();
    let (Some(end), Some(bin)) = (measure.end, measure.bin.filter(|bin| *bin > 0.0)) else {
        return Vec::new();
    };
    let one = |place: u32| recn::Bin {
        start_us: f64::from(place) * bin / 1e3,
        throughput_bytes_per_ns: throughput,
        random_bytes_per_ns: throughput,
        hot_bytes_per_ns: 0.0,
    };
    (0..(end / bin).ceil() as u32).map(one).collect()
}

impl Question {
    fn shows(&self, us: f64) -> bool {
        self.window_us.is_none_or(|(from, to)| (from..=to).contains(&us))
    }

    fn measured(&self, found: &PacketSeries, course: TimeSeries, class: Option<&str>) -> Vec<Point> {
        let point = |[start, end]: [f64; 2]| {
            let measured = found.within(course, class, [start, end]);
            let end_of = |sign: f64| measured.and_then(|one| Some(one.mean + sign * one.half_width_95?));
            let (lower_95, upper_95) = (end_of(-1.0), end_of(1.0));
            let y = measured.map(|one| one.mean);
            Point { x: (start + end) / 2e3, y, lower_95, upper_95, saturated: false }
        };
        found.intervals().into_iter().map(point).filter(|point| self.shows(point.x)).collect()
    }
}

#[cfg(test)]
mod tests {
    use flitwise_experiment::Settings;
    use flitwise_models::model::Model;

    use crate::figure::Figure;
    use crate::kinds::tests::simulated;
    use crate::picture::{Content, Origin};

    const SOUND: &str = "title = \"a\"\nkind = \"over-time\"\n[scenario]\npreset = \"recn64-quick\"\n\
        [x]\nrange = [50, 200]\n[y]\nquantity = \"throughput\"\n[quick]\nset = { \"measure.end\" = \"200 us\" }\n";

    fn read(text: &str) -> Result<Figure, String> {
        let read = Figure::from_toml("t.toml", text, "t", &|_: &str| Err(Vec::new()));
        read.map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn the_analysis_is_drawn_bin_by_bin() {
        let mut figure = read(SOUND).unwrap();
        assert_eq!((figure.sources.clone(), figure.scenarios().len()), (Origin::OVER_TIME.to_vec(), 1));
        let points = |figure: &Figure| {
            let Content::Lines(lines) = figure.picture(&[]).content else { panic!("lines") };
            lines.series[0].points.iter().map(|point| point.x).collect::<Vec<_>>()
        };
        assert_eq!(points(&figure), (5..20).map(|bin| 10.0 * f64::from(bin) + 5.0).collect::<Vec<_>>());
        figure.quicken().unwrap();
        assert_eq!(points(&figure).len(), 20);
    }

    /// The subtitle follows the scenario, so that of a quick report has the times that are drawn.
    #[test]
    fn subtitles_are_of_the_run_that_is_drawn() {
        let titled = SOUND.replacen("kind =", "subtitle = \"{traffic}, ours\"\nkind =", 1);
        let titled = titled.replacen("\"200 us\" }", "\"200 us\", \"class.hot.end\" = \"130 us\" }", 1);
        let mut figure = read(&titled).unwrap();
        let of = |until: u32| {
            format!(
                "64 hosts: 48 random at 100 %, 16 hot at 100 % from 100 to {until} us, 64 B packets, ours"
            )
        };
        assert_eq!(figure.picture(&[]).subtitle, of(150));
        figure.quicken().unwrap();
        assert_eq!(figure.picture(&[]).subtitle, of(130) + "; a shorter run for a quick report");
    }

    /// Windows of the first replication, the mean of the model, and the budget; in watts and microseconds.
    #[test]
    fn power_is_drawn_with_its_budget() {
        let power = SOUND.split("[quick]").next().unwrap().replace("recn64-quick", "power-quick");
        let power = power.replace("throughput", "power").replace("[x]\nrange = [50, 200]\n", "");
        let figure = read(&power).unwrap();
        let settings = Settings { replications: Some(2), max_messages: 2_000, ..Settings::default() };
        let simulations = simulated(&figure, &settings);
        let Content::Lines(lines) = figure.picture(&simulations).content else { panic!("lines") };
        let of = |origin| lines.series.iter().find(|series| series.origin == origin).unwrap();
        let level = |origin| of(origin).points.iter().map(|point| point.y.unwrap()).collect::<Vec<f64>>();
        assert!(level(Origin::Given).iter().all(|watts| (watts - 0.654).abs() < 1e-3));
        let model = level(Model::Admission.into());
        assert!(model.len() == 2 && (0.4..0.6).contains(&model[0]), "{model:?}");
        let windows = &of(Origin::Simulation).points;
        assert!(!windows.is_empty());
        assert!(windows.windows(2).all(|two| (two[1].x - two[0].x - 25.6).abs() < 1e-6));
        let mean = windows.iter().filter_map(|point| point.y).sum::<f64>() / windows.len() as f64;
        assert!((mean / model[0] - 1.0).abs() < 0.3, "{mean} of {model:?}");
    }

    #[test]
    fn without_a_hot_spot_the_analysis_is_level() {
        let calm =
            "preset = \"recn64-quick\"\nset = { \"class.hot.rate\" = 0, \"class.random.rate\" = \"50 %\" }";
        let figure = read(&SOUND.replacen("preset = \"recn64-quick\"", calm, 1)).unwrap();
        let Content::Lines(lines) = figure.picture(&[]).content else { panic!("lines") };
        let heights: Vec<f64> = lines.series[0].points.iter().filter_map(|point| point.y).collect();
        assert_eq!(heights, [24.0; 15]);
    }

    #[test]
    fn what_is_not_over_time_is_refused() {
        for (old, new, wanted) in [
            ("recn64-quick", "router16", "packet switches"),
            ("throughput", "power", "a table [power]"),
            ("throughput", "waiting", "set-aside-queues"),
            ("\"over-time\"", "\"over-time\"\nsources = [\"refined\"]", "\"admission\" or \"simulation\""),
            ("\"over-time\"", "\"over-time\"\nerrors = true", "a figure without it"),
            ("[x]\n", "[x]\nkey = \"a\"\n", "key"),
        ] {
            let said = read(&SOUND.replacen(old, new, 1)).unwrap_err();
            assert!(said.contains(wanted), "{new}: {said}");
        }
    }
}
