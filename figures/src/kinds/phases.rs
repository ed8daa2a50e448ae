//! Figures phase by phase: a column of the section `phases` of runs whose traffic changes.

use flitwise_language::document::{Entry, nearest, one_of};
use flitwise_language::scenario::UnitsSpec;
use flitwise_language::section::Section;
use flitwise_models::model::Model;
use flitwise_validation::phases::{Along, PhaseColumn, PhaseReading, SECTION, columns, has, readings};

use super::lines::{Lines, MOST_SHADES, Point, Series, TimeUnit};
use super::*;
use crate::assemble::{noting, solved};
use crate::picture::class_styles;

/// Where its numbers may come from: models that have phases, and the simulation.
const NAMED: &[Origin] = &[Origin::Model(Model::RouterNic), Origin::Simulation];
const Y: &[&str] = &["column", "label", "unit", "range", "scale"];

/// A column of phases.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// Its field.
    column: String,
    /// Where the figure's file names it, and where the scenario.
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
    const KEYS: &'static [&'static str] = &["y", "variant", "classes", "sources", "quick"];

    fn sources() -> (&'static [Origin], Vec<Origin>) {
        (NAMED, NAMED.to_vec())
    }

    fn read(reading: &mut Reading<'_>, root: &Table<'_>, scenario: Option<&Scenario>) -> Option<Self> {
        let help = "add  [y]  with  column = \"total_latency_cycles\"";
        reading.reader.require(root, "y", "a [y] table", Some(help));
        let y = reading.reader.table(root, "y")?;
        reading.reader.refuse_unknown(&y, Y);
        reading.reader.require(&y, "column", "a column such as \"total_latency_cycles\"", None);
        let column = reading.reader.text(&y, "column");
        let label = reading.reader.text(&y, "label");
        let y_range = reading.range(&y);
        let logarithmic = reading.logarithmic(&y);
        let variants = reading.variants(root);
        let unit = time_unit(reading, &y, column.as_deref(), scenario);
        let quick = reading.reader.table(root, "quick").map(|table| {
            reading.reader.refuse_unknown(&table, &["set"]);
            reading.reader.settings(&table, "set").into_iter().cloned().collect()
        });
        let place = |table: &Table<'_>, key| table.get(key).map_or(table.place, |node| &node.place).clone();
        let places = [place(&y, "column"), place(root, "scenario")];
        Some(Self { column: column?, places, label, unit, y_range, logarithmic, variants, quick })
    }
}

/// What times of the y axis are shown in, where it is not cycles.
fn time_unit(
    reading: &mut Reading<'_>,
    y: &Table<'_>,
    column: Option<&str>,
    scenario: Option<&Scenario>,
) -> Option<TimeUnit> {
    y.get("unit")?;
    let name = reading.reader.word(y, "unit", &["ms", "us"], |word| word)?;
    if !column?.ends_with("_cycles") {
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

fn capitalised(name: &str) -> String {
    name[..1].to_uppercase() + &name[1..]
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
        if known().any(|field| field == self.column) {
            return Vec::new();
        }
        vec![Fault {
            place: of_column,
            key: "y.column".to_owned(),
            found: format!("\"{}\"", self.column),
            wanted: format!("a column of the phases: {}", one_of(known())),
            help: nearest(&self.column, known()).map(|near| format!("did you mean \"{near}\"?")),
        }]
    }

    fn content(&self, figure: &Figure, runs: Runs<'_>, notes: &mut Vec<Note>) -> Content {
        let mut lines = self.lines(figure, runs.simulations, notes);
        if let Some(unit) = self.unit {
            lines.show_times_in(unit);
        }
        Content::Lines(lines)
    }
}

impl Question {
    fn lines(&self, figure: &Figure, simulations: &[Simulation], notes: &mut Vec<Note>) -> Lines {
        let has_shares = figure.points().iter().flatten().all(|one| Along::of(one) == Along::Share);
        let along = if has_shares { Along::Share } else { Along::Number };
        let styles = class_styles(figure.scenario.spec());
        let classes = figure.class_indices();
        // many variants of one class: their shades would look alike
        let has_styles = classes.len() == 1 && self.variants.len() > MOST_SHADES;
        let mut series = Vec::new();
        for (index, variant) in self.variants.iter().enumerate() {
            let sections = self.sections(figure, variant, simulations.get(index), notes);
            for class in &classes {
                let name = figure.scenario.classes()[*class].name.as_str();
                let words = [name, &variant.label].into_iter().filter(|word| !word.is_empty());
                let label = words.collect::<Vec<_>>().join(", ");
                let (style, variant) = if has_styles { (index, 0) } else { (styles[*class], index) };
                for (origin, section) in &sections {
                    let points = points(section, &self.column, along, name);
                    if points.iter().all(|point| point.y.is_none() && !point.saturated) {
                        continue;
                    }
                    series.push(Series {
                        label: label.clone(),
                        panel: 0,
                        style,
                        variant,
                        origin: *origin,
                        saturated_from: points.iter().find(|point| point.saturated).map(|point| point.x),
                        points,
                    });
                }
            }
        }
        let (label, unit) = match along {
            Along::Share => ("Real time", "share of the load"),
            Along::Number => ("Phase", "number"),
        };
        Lines {
            x: Axis { label: label.to_owned(), unit: unit.to_owned(), logarithmic: false },
            y: self.y_axis(figure),
            y_range: self.y_range,
            panels: Vec::new(),
            series,
            errors: Vec::new(),
            measured_as_curves: false,
        }
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
            let section = answer.sections.find(SECTION);
            match section.filter(|section| has(section, &self.column)) {
                Some(section) => sections.push((model.into(), section.clone())),
                None => noting(notes, &variant.label)(
                    None,
                    format!("no {model} model: it has no {} of phases", self.column),
                ),
            }
        }
        let simulated = simulation.filter(|_| figure.has(Origin::Simulation));
        let simulated = simulated.and_then(|one| one.sections.find(SECTION));
        sections.extend(simulated.map(|section| (Origin::Simulation, section.clone())));
        sections
    }

    fn y_axis(&self, figure: &Figure) -> Axis {
        let known: Vec<PhaseColumn> = figure.points().iter().flatten().flat_map(columns).collect();
        let column = known.iter().find(|column| column.field == self.column);
        let label = self.label.clone().or_else(|| column.map(|column| capitalised(&column.name)));
        Axis {
            label: label.unwrap_or_else(|| self.column.clone()),
            unit: column.map_or("", PhaseColumn::unit_word).to_owned(),
            logarithmic: self.logarithmic,
        }
    }
}

/// The points of a class, from left to right.
fn points(section: &Section, column: &str, along: Along, class: &str) -> Vec<Point> {
    let point = |one: PhaseReading| Point {
        x: one.x,
        y: one.found.map(|found| found.value),
        lower_95: one.found.and_then(|found| found.lower_95),
        upper_95: one.found.and_then(|found| found.upper_95),
        saturated: one.saturated,
    };
    readings(section, column, along, class).into_iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use flitwise_experiment::{self as experiment, Settings};
    use flitwise_models::model::Options;
    use flitwise_validation::machine::Machine;

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
        let settings = Settings { replications: Some(2), ..Settings::default() };
        let (machine, stop) = (Machine::default(), AtomicBool::new(false));
        let one = |scenario: &Scenario| {
            experiment::run(scenario, &settings, &machine.host(&stop), &mut ()).unwrap()
        };
        figure.scenarios().iter().map(one).collect()
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
