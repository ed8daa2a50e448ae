//! Figures phase by phase: columns of the section `phases` of runs whose traffic changes, over the mix or over time.

use flitwise_language::document::{Entry, nearest, one_of};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassSpec, RunPhase, UnitsSpec};
use flitwise_language::section::Section;
use flitwise_models::model::Model;
use flitwise_validation::phases::{MixAxis, PhaseColumn, PhaseReading, SECTION, columns, has, readings};

use super::course::{ClassLoad, Course, MixPhase};
use super::lines::{Lines, MOST_SHADES, Point, Series, TimeUnit};
use super::*;
use crate::assemble::{noting, solved};
use crate::picture::class_styles;

/// Where its numbers may come from: models that have phases, and the simulation.
const NAMED: &[Origin] = &[Origin::Model(Model::RouterNic), Origin::Simulation];
const Y: &[&str] = &["column", "columns", "label", "unit", "range", "scale"];
/// What columns may be drawn over, beside the mix.
const OVER: &[&str] = &["time"];

/// Columns of phases.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// Their fields; several only over time, a panel each.
    columns: Vec<String>,
    /// Whether they are drawn over time, with the mix below.
    over_time: bool,
    /// Where the figure's file names them, and where the scenario.
    places: [Place; 2],
    /// What the axis is called, if that is given.
    label: Option<String>,
    /// What times are shown in, where it is not cycles.
    unit: Option<TimeUnit>,
    /// From where to where, if that is given.
    y_range: Option<(f64, f64)>,
    logarithmic: bool,
    /// Changes of the scenario; at least one, which may change nothing.
    variants: Vec<Variant>,
    /// What makes a shorter run of it.
    pub(super) quick: Option<Vec<Entry>>,
}

impl FigureFile for Question {
    const WORD: &'static str = "phases";
    const KEYS: &'static [&'static str] = &["y", "over", "variant", "classes", "sources", "quick"];

    fn sources() -> (&'static [Origin], Vec<Origin>) {
        (NAMED, NAMED.to_vec())
    }

    fn read(reading: &mut Reading<'_>, root: &Table<'_>, scenario: Option<&Scenario>) -> Option<Self> {
        let help = "add  [y]  with  column = \"total_latency_cycles\"";
        reading.reader.require(root, "y", "a [y] table", Some(help));
        let y = reading.reader.table(root, "y")?;
        reading.reader.refuse_unknown(&y, Y);
        let over_time = reading.reader.word(root, "over", OVER, |word| word).is_some();
        let columns = named_columns(reading, &y, over_time);
        let label = reading.reader.text(&y, "label");
        let y_range = reading.range(&y);
        let logarithmic = reading.logarithmic(&y);
        let variants = reading.variants(root);
        let unit = time_unit(reading, &y, columns.as_deref(), scenario);
        let quick = reading.shorter_run(root);
        let place = |table: &Table<'_>, key| table.get(key).map_or(table.place, |node| &node.place).clone();
        let key = if y.get("columns").is_some() { "columns" } else { "column" };
        let places = [place(&y, key), place(root, "scenario")];
        let columns = columns?;
        Some(Self { columns, over_time, places, label, unit, y_range, logarithmic, variants, quick })
    }
}

/// One column, or several over time, which have no label or range of their own.
fn named_columns(reading: &mut Reading<'_>, y: &Table<'_>, over_time: bool) -> Option<Vec<String>> {
    if y.get("columns").is_none() {
        reading.reader.require(y, "column", "a column such as \"total_latency_cycles\"", None);
        return Some(vec![reading.reader.text(y, "column")?]);
    }
    if !over_time {
        reading.refuse(
            y,
            "columns",
            "several columns over the mix".to_owned(),
            "over = \"time\" beside them",
        );
    }
    for key in ["column", "label", "range", "scale"].into_iter().filter(|key| y.get(key).is_some()) {
        reading.refuse(y, key, "a key of one column".to_owned(), "columns alone");
    }
    let columns = reading.reader.texts(y, "columns")?;
    if columns.is_empty() {
        reading.refuse(y, "columns", "none".to_owned(), "columns such as [\"total_latency_cycles\"]");
    }
    Some(columns)
}

/// What times of the y axis are shown in, where it is not cycles.
fn time_unit(
    reading: &mut Reading<'_>,
    y: &Table<'_>,
    columns: Option<&[String]>,
    scenario: Option<&Scenario>,
) -> Option<TimeUnit> {
    y.get("unit")?;
    let name = reading.reader.word(y, "unit", &["ms", "us"], |word| word)?;
    if !columns?.iter().any(|column| is_time(column)) {
        reading.refuse(y, "unit", format!("\"{name}\" of a column that is no time"), "a figure without it");
        return None;
    }
    let unit = TimeUnit::of(name, scenario?.spec().units.as_ref().and_then(UnitsSpec::cycle_ns));
    if unit.is_none() {
        let found = format!("\"{name}\", and no length of a cycle");
        reading.refuse(y, "unit", found, "a scenario with a table [units]");
    }
    unit
}

fn is_time(column: &str) -> bool {
    column.ends_with("_cycles")
}

fn capitalised(name: &str) -> String {
    name[..1].to_uppercase() + &name[1..]
}

fn axis(column: &PhaseColumn) -> Axis {
    Axis::of(&capitalised(&column.name), column.unit_word())
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

    fn refused(&self, scenario: &Scenario, _: &Place) -> Vec<Fault> {
        let [of_column, of_scenario] = self.places.clone();
        if scenario.phases().is_empty() {
            return vec![Fault {
                place: of_scenario,
                key: "scenario".to_owned(),
                found: "a run without phases".to_owned(),
                wanted: "phases, such as those of preset \"router-nic\"".to_owned(),
                help: Some("[mix]  with  real_time_shares = [0.2, 0.8], or several [[phase]]".to_owned()),
            }];
        }
        let columns = columns(scenario);
        let known = || columns.iter().map(|column| column.field.as_str());
        let unknown = self.columns.iter().filter(|column| !known().any(|field| field == *column));
        let fault = |column: &String| Fault {
            place: of_column.clone(),
            key: "y.column".to_owned(),
            found: format!("\"{column}\""),
            wanted: format!("a column of the phases: {}", one_of(known())),
            help: nearest(column, known()).map(|near| format!("did you mean \"{near}\"?")),
        };
        unknown.map(fault).collect()
    }

    fn content(&self, figure: &Figure, runs: Runs<'_>, notes: &mut Vec<Note>) -> Content {
        let section = |(index, variant): (usize, &Variant)| {
            self.sections(figure, variant, runs.simulations.get(index), notes)
        };
        let sections: Vec<_> = self.variants.iter().enumerate().map(section).collect();
        let scenarios: Vec<Scenario> = figure.points().into_iter().flatten().collect();
        let along = self.along(&scenarios);
        let mut panels: Vec<Lines> = Vec::new();
        for column in &self.columns {
            let mut lines = self.lines(figure, (column, &along), &sections, notes);
            if let Some(scenario) = scenarios.first().filter(|_| self.over_time) {
                lines.x = time_axis(scenario).0;
            }
            if let Some(unit) = self.unit.filter(|_| is_time(column)) {
                lines.show_times_in(unit);
            }
            panels.push(lines);
        }
        if self.over_time {
            let mix = scenarios.first().map_or(Vec::new(), mix);
            return Content::Course(Course { panels, mix });
        }
        Content::Lines(panels.swap_remove(0))
    }
}

impl Question {
    fn along(&self, scenarios: &[Scenario]) -> Along {
        if self.over_time {
            return Along::Time { phases: scenarios.iter().map(times).collect(), as_steps: false };
        }
        let have_shares = scenarios.iter().all(|one| MixAxis::of(one) == MixAxis::Share);
        Along::Mix(if have_shares { MixAxis::Share } else { MixAxis::Number })
    }

    /// A column of every class and variant, of the sections that each variant has.
    fn lines(
        &self,
        figure: &Figure,
        (column, along): (&str, &Along),
        sections: &[Vec<(Origin, Section)>],
        notes: &mut Vec<Note>,
    ) -> Lines {
        let styles = class_styles(figure.scenario.spec());
        let classes = figure.class_indices();
        // many variants of one class: their shades would look alike
        let has_styles = classes.len() == 1 && self.variants.len() > MOST_SHADES;
        let mut series = Vec::new();
        for (index, variant) in self.variants.iter().enumerate() {
            for (origin, section) in &sections[index] {
                if let (Origin::Model(model), false) = (origin, has(section, column)) {
                    let lack = format!("no {model} model: it has no {column} of phases");
                    noting(notes, &variant.label)(None, lack);
                }
            }
            for class in &classes {
                let name = figure.scenario.classes()[*class].name.as_str();
                let words = [name, &variant.label].into_iter().filter(|word| !word.is_empty());
                let label = words.collect::<Vec<_>>().join(", ");
                let (style, shade) = if has_styles { (index, 0) } else { (styles[*class], index) };
                let drawn = sections[index].iter().filter(|(_, section)| has(section, column));
                series.extend(drawn.filter_map(|(origin, section)| {
                    let points = along.points(section, (column, name), (*origin, index));
                    along.series(label.clone(), (style, shade), *origin, points)
                }));
            }
        }
        along.lines(series, self.y_axis(figure, column), self.y_range)
    }

    /// The phases of a variant by every source that has them.
    fn sections(
        &self,
        figure: &Figure,
        variant: &Variant,
        simulation: Option<&Simulation>,
        notes: &mut Vec<Note>,
    ) -> Vec<(Origin, Section)> {
        let mut sections = Vec::new();
        for model in figure.models() {
            let scenario = |_| figure.at(Some(variant), &[]).ok();
            let answers = solved(model, &[0.0], scenario, false, noting(notes, &variant.label));
            let Some(answer) = answers.into_iter().flatten().next() else { continue };
            sections.extend(answer.sections.find(SECTION).map(|section| (model.into(), section.clone())));
        }
        let simulated = simulation.filter(|_| figure.has(Origin::Simulation));
        let simulated = simulated.and_then(|one| one.sections.find(SECTION));
        sections.extend(simulated.map(|section| (Origin::Simulation, section.clone())));
        sections
    }

    fn y_axis(&self, figure: &Figure, field: &str) -> Axis {
        let known: Vec<PhaseColumn> = figure.points().iter().flatten().flat_map(columns).collect();
        let column = known.iter().find(|column| column.field == field);
        let mut axis = column.map_or_else(|| Axis::of(field, ""), axis);
        axis.logarithmic = self.logarithmic;
        axis.label = self.label.clone().unwrap_or(axis.label);
        axis
    }
}

/// When each phase begins and ends, in ms or, where nobody says how long a cycle is, in cycles.
fn times(scenario: &Scenario) -> Vec<[f64; 2]> {
    let per_cycle = time_axis(scenario).1;
    scenario.phases().iter().map(|phase| [phase.begins * per_cycle, phase.ends * per_cycle]).collect()
}

/// The axis of the time, and how much of its unit a cycle is.
fn time_axis(scenario: &Scenario) -> (Axis, f64) {
    let cycle_ns = scenario.spec().units.as_ref().and_then(UnitsSpec::cycle_ns);
    cycle_ns.map_or_else(|| (Axis::of("Time", "cycles"), 1.0), |ns| (Axis::of("Time", "ms"), ns / 1e6))
}

/// What the classes offer, phase by phase.
fn mix(scenario: &Scenario) -> Vec<MixPhase> {
    let styles = class_styles(scenario.spec());
    let loads = |phase: &Scenario| {
        let load = |(place, class): (usize, &ClassSpec)| ClassLoad {
            class: class.name.clone(),
            style: styles[place],
            load_flits_per_cycle: phase.flit_rate(place),
        };
        phase.classes().iter().enumerate().map(load).collect()
    };
    let phase = |(phase, [begins, ends]): (&RunPhase, [f64; 2])| MixPhase {
        begins,
        ends,
        loads: loads(&phase.scenario),
    };
    scenario.phases().iter().zip(times(scenario)).map(phase).collect()
}

/// A simulated run over time: what a message takes, and how many frames miss each of their deadlines; `None` where
/// nothing changes.
pub fn course_of_run(scenario: &Scenario, simulation: &Simulation) -> Option<Course> {
    let mix = mix(scenario);
    let section = simulation.sections.find(SECTION).filter(|_| !mix.is_empty())?;
    let latency = if scenario.host_interface().is_some() {
        Quantity::EndToEndLatency.field()
    } else {
        Quantity::TotalLatency.field()
    };
    let is_drawn = |column: &PhaseColumn| {
        column.field == latency || column.field.ends_with("_deadline_missing_probability")
    };
    let along = Along::Time { phases: vec![times(scenario)], as_steps: true };
    let styles = class_styles(scenario.spec());
    let panel = |column: PhaseColumn| {
        let series = |(style, class): (&usize, &ClassSpec)| {
            let name = class.name.as_str();
            let points = along.points(section, (&column.field, name), (Origin::Simulation, 0));
            along.series(name.to_owned(), (*style, 0), Origin::Simulation, points)
        };
        let series = styles.iter().zip(scenario.classes()).filter_map(series).collect();
        let lines = along.lines(series, axis(&column), None);
        Lines { x: time_axis(scenario).0, ..lines }
    };
    let panels = columns(scenario).into_iter().filter(is_drawn).map(panel).collect();
    Some(Course { panels, mix })
}

/// What phases are drawn along.
enum Along {
    /// The share of real time, or the number of the phase.
    Mix(MixAxis),
    /// The time: of each variant when its phases begin and end. Simulations are steps or points in the middle of each.
    Time { phases: Vec<Vec<[f64; 2]>>, as_steps: bool },
}

impl Along {
    /// The points of a column of a class, from left to right.
    fn points(
        &self,
        section: &Section,
        (column, class): (&str, &str),
        (origin, variant): (Origin, usize),
    ) -> Vec<Point> {
        let point = |one: PhaseReading| {
            let PhaseReading { found, saturated, .. } = one;
            let at = move |x| Point {
                x,
                y: found.map(|found| found.value),
                lower_95: found.and_then(|found| found.lower_95),
                upper_95: found.and_then(|found| found.upper_95),
                saturated,
            };
            self.places(&one, (origin, variant)).into_iter().map(at).collect::<Vec<_>>()
        };
        let mut points: Vec<Point> = readings(section, column, class).into_iter().flat_map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        points
    }

    /// Where a reading is drawn: at one place, or from the beginning of its phase to its end.
    fn places(&self, reading: &PhaseReading, (origin, variant): (Origin, usize)) -> Vec<f64> {
        match self {
            Self::Mix(axis) => reading.x(*axis).into_iter().collect(),
            Self::Time { phases, as_steps } => {
                match phases.get(variant).and_then(|phases| phases.get(reading.phase as usize - 1)) {
                    None => Vec::new(),
                    Some([begins, ends]) if origin == Origin::Simulation && !as_steps => {
                        vec![(begins + ends) / 2.0]
                    }
                    Some(both) => both.to_vec(),
                }
            }
        }
    }

    /// The series of these points, if there are any.
    fn series(
        &self,
        label: String,
        (style, variant): (usize, usize),
        origin: Origin,
        points: Vec<Point>,
    ) -> Option<Series> {
        let is_empty = points.iter().all(|point| point.y.is_none() && !point.saturated);
        // over time a phase that is saturated may be followed by one that is not
        let marks = !matches!(self, Self::Time { .. });
        let saturated = points.iter().find(|point| point.saturated && marks);
        let saturated_from = saturated.map(|point| point.x);
        (!is_empty).then_some(Series { label, panel: 0, style, variant, origin, points, saturated_from })
    }

    fn lines(&self, series: Vec<Series>, y: Axis, y_range: Option<(f64, f64)>) -> Lines {
        Lines {
            x: match self {
                Self::Mix(MixAxis::Share) => Axis::of("Real time", "share of the load"),
                Self::Mix(MixAxis::Number) => Axis::of("Phase", "number"),
                Self::Time { .. } => Axis::of("Time", "cycles"),
            },
            y,
            y_range,
            panels: Vec::new(),
            series,
            errors: Vec::new(),
            measured_as_curves: matches!(self, Self::Time { as_steps: true, .. }),
            printed_by: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use flitwise_experiment::Settings;
    use flitwise_language::section::Cell;
    use flitwise_models::model::Options;

    use super::*;

    const SOUND: &str = "title = \"a\"\nkind = \"phases\"\nclasses = [\"video\", \"BE\"]\n\
        [scenario]\npreset = \"router-nic-quick\"\nset = { \"mix.load\" = 0.6 }\n\
        [y]\ncolumn = \"total_latency_cycles\"\n";
    const VARIANTS: &str = "[[variant]]\nlabel = \"P\"\n[[variant]]\nlabel = \"TR\"\n\
        set = { \"router.preemption\" = \"none\", \"router.scheduler\" = \"fifo\" }\n";
    /// A run of few messages.
    const SHORT: &str = "\"mix.load\" = 0.3, \"network.ports\" = 2, \"mix.real_time_shares\" = [0.3, 0.7], \
        \"mix.duration\" = \"1 frames\", \"interface.kind\" = \"qos\"";

    fn read(text: &str) -> Result<Figure, String> {
        let read = Figure::from_toml("t.toml", text, "t", &|_: &str| Err(Vec::new()));
        read.map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    }

    fn lines(figure: &Figure, simulations: &[Simulation]) -> Lines {
        let Content::Lines(lines) = figure.picture(simulations).content else { panic!("lines") };
        lines
    }

    fn simulated(figure: &Figure) -> Vec<Simulation> {
        crate::kinds::tests::simulated(figure, &Settings { replications: Some(2), ..Settings::default() })
    }

    #[test]
    fn the_model_is_drawn_over_the_share_of_real_time() {
        let figure = read(&(SOUND.to_owned() + VARIANTS)).unwrap();
        assert_eq!(figure.sources, NAMED);
        assert_eq!(figure.scenarios().len(), 2);
        let drawn = lines(&figure, &[]);
        let labels: Vec<&str> = drawn.series.iter().map(|one| one.label.as_str()).collect();
        assert_eq!(labels, ["video, P", "BE, P", "video, TR", "BE, TR"]);
        assert_eq!((drawn.x.label.as_str(), drawn.y.label.as_str()), ("Real time", "Total latency"));
        assert_eq!(drawn.y.unit, "cycles");
        for one in &drawn.series {
            let x: Vec<f64> = one.points.iter().map(|point| point.x).collect();
            assert_eq!(x, [0.2, 0.5, 0.8], "{}", one.label);
        }
        // the same numbers as in the section
        let answer = Model::RouterNic.solve(&figure.scenarios()[0], &Options::default()).unwrap();
        let section = answer.sections.find(SECTION).unwrap();
        let video = section.rows.iter().position(|row| row.contains(&Cell::from("video"))).unwrap();
        let first = section.cell(video, "total_latency_cycles").and_then(Cell::number);
        assert!(first.is_some() && drawn.series[0].points[0].y == first);
    }

    #[test]
    fn phases_without_shares_are_drawn_by_number() {
        let falling = SOUND.replacen("\"mix.load\" = 0.6", "\"mix.real_time_shares\" = [0.5, 0.2]", 1);
        let drawn = lines(&read(&falling).unwrap(), &[]);
        assert_eq!(drawn.series[0].points.iter().map(|point| point.x).collect::<Vec<_>>(), [0.2, 0.5]);
        let back = SOUND.replacen("\"mix.load\" = 0.6", "\"mix.real_time_shares\" = [0.2, 0.5, 0.2]", 1);
        let drawn = lines(&read(&back).unwrap(), &[]);
        assert_eq!(drawn.x.label, "Phase");
        assert_eq!(drawn.series[0].points.iter().map(|point| point.x).collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn a_quick_report_takes_the_shorter_run() {
        let quick = "[quick]\nset = { \"mix.duration\" = \"1 frames\" }\n";
        let mut figure = read(&(SOUND.to_owned() + VARIANTS + quick)).unwrap();
        let ends = |figure: &Figure| -> Vec<f64> {
            figure.scenarios().iter().map(|one| one.phases().last().unwrap().ends).collect()
        };
        let whole = ends(&figure);
        figure.quicken().unwrap();
        for (whole, quick) in whole.iter().zip(ends(&figure)) {
            // three phases of two frames or of one, and a frame before them
            assert!((quick / whole - 4.0 / 7.0).abs() < 1e-6, "{quick} of {whole}");
        }
        assert_eq!(figure.subtitle, "a shorter run for a quick report");
        assert!(read(&(SOUND.to_owned() + "[quick]\nrange = [0, 1]\n")).unwrap_err().contains("quick.range"));
    }

    #[test]
    fn saturated_phases_are_marked() {
        let text = SOUND.replacen("0.6", "0.8", 1) + VARIANTS;
        let drawn = lines(&read(&text).unwrap(), &[]);
        let video = drawn.series.iter().find(|one| one.label == "video, TR").unwrap();
        let from = video.saturated_from.expect("the traditional router is saturated");
        for point in &video.points {
            assert_eq!((point.saturated, point.y.is_none()), (point.x >= from, point.x >= from));
        }
        assert!(drawn.series.iter().any(|one| one.saturated_from.is_none()));
    }

    #[test]
    fn many_variants_of_one_class_have_colours_of_their_own() {
        let more: String = ["b", "c"].map(|label| format!("[[variant]]\nlabel = \"{label}\"\n")).concat();
        let styles = |text: &str| -> Vec<(usize, usize)> {
            let drawn = lines(&read(text).unwrap(), &[]);
            drawn.series.iter().map(|one| (one.style, one.variant)).collect()
        };
        let one_class = SOUND.replacen(", \"BE\"", "", 1) + VARIANTS;
        let few = styles(&one_class);
        assert!(few[0].0 == few[1].0 && few[0].1 != few[1].1, "{few:?}");
        assert_eq!(styles(&(one_class + &more)), [(0, 0), (1, 0), (2, 0), (3, 0)]);
    }

    /// Classes without deadlines have no curve of them; times may be in other units.
    #[test]
    fn deadlines_are_those_of_frames() {
        let of = |unit: &str| {
            let column = format!("\"ratchet_deadline_missing_time_cycles\"\nlabel = \"Late by\"{unit}");
            lines(&read(&SOUND.replacen("\"total_latency_cycles\"", &column, 1)).unwrap(), &[])
        };
        let (cycles, ms) = (of(""), of("\nunit = \"ms\""));
        assert_eq!(cycles.series.iter().map(|one| one.label.as_str()).collect::<Vec<_>>(), ["video"]);
        assert_eq!((cycles.y.label.as_str(), cycles.y.unit.as_str()), ("Late by", "cycles"));
        assert_eq!(ms.y.unit, "ms");
        let [in_cycles, in_ms] = [&cycles, &ms].map(|drawn| drawn.series[0].points[1].y.unwrap());
        // a cycle is 80 ns
        assert!((in_ms / in_cycles / 8e-5 - 1.0).abs() < 1e-12, "{in_ms} {in_cycles}");
    }

    /// Model and simulation have the columns that a figure may name, and no others with numbers of a class in a phase.
    #[test]
    fn points_of_the_simulation_have_intervals() {
        let text = SOUND.replacen("\"mix.load\" = 0.6", SHORT, 1);
        let figure = read(&text).unwrap();
        let simulations = simulated(&figure);
        let drawn = lines(&figure, &simulations);
        let measured: Vec<&Series> =
            drawn.series.iter().filter(|one| one.origin == Origin::Simulation).collect();
        assert_eq!(measured.len(), 2);
        for point in measured.iter().flat_map(|one| &one.points) {
            let (low, high) = (point.lower_95.unwrap(), point.upper_95.unwrap());
            assert!(!point.saturated && low <= point.y.unwrap() && point.y.unwrap() <= high, "{point:?}");
        }
        let known: Vec<String> = columns(&figure.scenario).into_iter().map(|one| one.field).collect();
        let fields = |section: &Section| -> Vec<String> {
            let all = section.columns.iter().filter(|column| !column.is_twin);
            all.map(|column| column.field.clone()).collect()
        };
        let is_key =
            |field: &str| ["phase", "class", "real_time_share", "saturated", "saturated_by"].contains(&field);
        let of_simulation = fields(simulations[0].sections.find(SECTION).unwrap());
        let answer = Model::RouterNic.solve(&figure.scenario, &Options::default()).unwrap();
        let of_model = fields(answer.sections.find(SECTION).unwrap());
        for field in of_model.iter().chain(&of_simulation).filter(|field| !is_key(field)) {
            assert!(known.contains(field), "{field}: {known:?}");
        }
        for field in &known {
            assert!(of_simulation.contains(field), "{field}: {of_simulation:?}");
        }
        // what the model has not is told
        let figure = read(&text.replacen("total_latency_cycles", "frame_latency_cycles", 1)).unwrap();
        let picture = figure.picture(&simulations);
        assert!(picture.notes.iter().any(|note| note.contains("no frame_latency_cycles")), "{picture:?}");
        let Content::Lines(drawn) = picture.content else { panic!("lines") };
        assert!(drawn.series.iter().all(|one| one.origin == Origin::Simulation) && drawn.series.len() == 1);
    }

    const OVER_TIME: &str = "unit = \"us\"\n\
        columns = [\"total_latency_cycles\", \"ratchet_deadline_missing_probability\"]\n";

    fn over_time(set: &str) -> String {
        SOUND
            .replacen("kind = \"phases\"", "kind = \"phases\"\nover = \"time\"", 1)
            .replacen("column = \"total_latency_cycles\"\n", OVER_TIME, 1)
            .replacen("\"mix.load\" = 0.6", set, 1)
    }

    /// Over time a phase is as long as it lasts; models are steps, simulations points or, alone, steps.
    #[test]
    fn columns_are_drawn_over_time_above_the_mix() {
        let figure = read(&over_time(SHORT)).unwrap();
        let simulations = simulated(&figure);
        let Content::Course(course) = figure.picture(&simulations).content else { panic!("a course") };
        let units = course.panels.iter().map(|panel| (panel.x.unit.as_str(), panel.y.unit.as_str()));
        assert!(units.eq([("ms", "us"), ("ms", "")]));
        let times = |panel: &Lines, origin| -> Vec<f64> {
            let series =
                panel.series.iter().find(|one| one.origin == origin && one.label == "video").unwrap();
            series.points.iter().map(|point| point.x.round()).collect()
        };
        // phases of a frame behind one of warm-up
        for panel in &course.panels {
            assert_eq!(times(panel, Model::RouterNic.into()), [33.0, 67.0, 67.0, 100.0]);
            assert_eq!(times(panel, Origin::Simulation), [50.0, 83.0]);
        }
        let phases = course.mix.iter().map(|phase| (phase.begins.round(), phase.ends.round()));
        assert!(phases.eq([(33.0, 67.0), (67.0, 100.0)]));
        let loads = course.mix.iter().map(|phase| phase.loads[2].load_flits_per_cycle);
        assert!(loads.zip([0.7 * 0.3, 0.3 * 0.3]).all(|(load, wanted)| (load - wanted).abs() < 1e-9));
        // the run alone, from end to end as there are interfaces
        let alone = course_of_run(&figure.scenarios()[0], &simulations[0]).unwrap();
        let labels: Vec<&str> = alone.panels.iter().map(|panel| panel.y.label.as_str()).collect();
        assert!(labels[0] == "End-to-end latency" && labels.len() == 3, "{labels:?}");
        assert_eq!(times(&alone.panels[0], Origin::Simulation), [33.0, 67.0, 67.0, 100.0]);
        assert_eq!(alone.mix, course.mix);
    }

    #[test]
    fn what_cannot_be_drawn_over_time_is_refused() {
        let sound = over_time("\"mix.load\" = 0.6");
        assert!(read(&sound).is_ok());
        for (old, new, wanted) in [
            ("over = \"time\"", "over = \"load\"", "\"time\""),
            ("over = \"time\"\n", "", "over = \"time\" beside them"),
            ("columns = ", "label = \"a\"\ncolumns = ", "columns alone"),
            ("columns = ", "column = \"total_latency_cycles\"\ncolumns = ", "columns alone"),
            ("g_probability\"", "g_probabilty\"", "did you mean \"ratchet_deadline_missing_probability\""),
        ] {
            let said = read(&sound.replacen(old, new, 1)).unwrap_err();
            assert!(said.contains(wanted), "{new}: {said}");
        }
        let none = "[\"total_latency_cycles\", \"ratchet_deadline_missing_probability\"]";
        assert!(read(&sound.replacen(none, "[]", 1)).unwrap_err().contains("none"));
    }

    #[test]
    fn what_has_no_phases_is_refused() {
        for (old, new, wanted) in [
            ("total_latency_cycles", "total_latency", "did you mean \"total_latency_cycles\""),
            ("total_latency_cycles", "end_to_end_latency_cycles", "a column of the phases: \"offered"),
            (
                "total_latency_cycles\"",
                "playout_1250_deadline_missing_probability\"\nunit = \"ms\"",
                "no time",
            ),
            (
                "preset = \"router-nic-quick\"\nset = { \"mix.load\" = 0.6 }",
                "preset = \"router16\"",
                "phases",
            ),
            ("\"BE\"", "\"audio\"", "a class of the scenario: \"control\", \"video\" or \"BE\""),
            ("\"phases\"", "\"phases\"\nsources = [\"refined\"]", "\"router-nic\" or \"simulation\""),
            ("\"phases\"", "\"phases\"\nerrors = true", "a figure without it"),
            ("[y]\n", "[y]\nquantity = \"waiting\"\n", "y.quantity"),
        ] {
            let text = SOUND.replacen(old, new, 1);
            let text = if new.contains("router16") { text.replacen("\"video\"", "\"R1\"", 1) } else { text };
            let said = read(&text).unwrap_err();
            assert!(said.contains(wanted), "{new}: {said}");
            assert!(said.starts_with("t.toml:"), "{said}");
        }
    }
}
