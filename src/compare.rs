//! `flitwise compare`.

mod against;

use std::time::Duration;

use flitwise_experiment::answer::{Run, Simulation};
use flitwise_language::quantity::{Measure, Quantity};
use flitwise_language::scenario::{Document, Fault, Grid, Scenario, ScenarioSpec, Setting};
use flitwise_models::answer::Answer;
use flitwise_models::model::{Failure, Model};
use flitwise_validation::compare::{self, Crossing, Options, Row, Verdict, crossing};
use flitwise_validation::machine;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Compare, Format};
use crate::campaign::{self, Campaign};
use crate::outcome::{Exit, GridFaults};
use crate::output::{self, Page, Rows, Time, cycles, percent, share, with_interval};
use crate::{input, simulate, typed};
pub(crate) use against::AgainstDocument;

/// The most points of one comparison.
const MOST_POINTS: usize = 10_000;
/// Misses whose beginning is looked for \[percent\].
const MISSES: [f64; 3] = [5.0, 10.0, 20.0];

/// The answer of `flitwise compare --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CompareDocument {
    /// `flitwise.compare/3`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// The models compared, in the order of the rows, and how they fare; one that refuses every point is not here.
    models: Vec<Fares>,
    /// The scenario before any value was changed.
    #[serde(serialize_with = "ScenarioSpec::serialize_plainly")]
    scenario: ScenarioSpec,
    /// Difference that is still called close, as a share.
    tolerance: f64,
    /// Differences beyond it, at all points, of all models.
    beyond_tolerance: usize,
    /// Whether it was interrupted; points that were not simulated are missing.
    partial: bool,
    /// One per point of the grid, the last axis varying fastest; one without axes.
    points: Vec<Point>,
    /// Along a single axis: where each model begins to miss by more.
    crossings: Vec<Crossings>,
}

/// How a model fares, over all rows of all points.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
struct Fares {
    /// Which model.
    model: Model,
    /// Values within the interval of the simulated one.
    agree: usize,
    /// Values beyond it that are within the tolerance.
    close: usize,
    /// Values beyond both, and verdicts on saturation that differ.
    beyond_tolerance: usize,
}

/// One point.
#[derive(Debug, Serialize, JsonSchema)]
struct Point {
    /// The values set here, coupled ones included.
    set: Vec<Setting>,
    /// Models without an answer here, and why.
    failures: Vec<Silence>,
    /// How it was simulated.
    run: Run,
    /// One row per class, quantity and model; of a model that refuses the scenario there are none.
    rows: Vec<Row>,
    /// What one should know about the answers.
    notes: Vec<String>,
}

/// A model without an answer.
#[derive(Debug, Serialize, JsonSchema)]
struct Silence {
    /// Which model.
    model: Model,
    /// Whether the scenario holds something that the model has not; else no fixed point was found.
    refused: bool,
    /// Why there is no answer.
    because: String,
}

/// Where along the axis a model begins to miss a quantity by more than 5, 10 and 20 percent.
#[derive(Debug, Serialize, JsonSchema)]
struct Crossings {
    /// Which model.
    model: Model,
    /// Name of the class.
    class: String,
    /// Which quantity.
    #[serde(flatten)]
    measure: Measure,
    /// What varies.
    key: String,
    /// Those that were found.
    found: Vec<Crossing>,
}

pub(crate) fn run(args: &Compare) -> Result<(), Exit> {
    if let Some(file) = &args.against {
        return against::run(args, file);
    }
    let campaign = Campaign::read(&args.campaign);
    let (mut campaign, ((options, max_time), points)) = Exit::both(campaign, question(args))?;
    campaign.settings.max_time = max_time;
    let Question { grid, points: asked } = points;
    let scenarios: Vec<Scenario> = asked.iter().map(|asked| asked.scenario.clone()).collect();
    let outcome = campaign.run(&scenarios).map_err(|faults| Exit::faults(&faults))?;
    let found = asked.into_iter().zip(outcome.simulations);
    let points: Vec<Point> =
        found.filter_map(|(asked, simulation)| Some(Point::of(asked, simulation?, &options))).collect();

    let is_here = |model: &Model| !points.is_empty() || args.model.0.contains(model);
    let here = Model::ALL.into_iter().filter(is_here);
    let models: Vec<Fares> = here.filter_map(|model| Fares::of(model, &points)).collect();
    let lost = |point: &&Point| point.failures.iter().any(|missing| !missing.refused);
    let failed = points.iter().filter(lost).count();
    let unmeasured = points.iter().filter(|point| simulate::is_nothing(&point.run)).count();
    let beyond_tolerance = models.iter().map(|model| model.beyond_tolerance).sum();
    let document = CompareDocument {
        schema: "flitwise.compare/3",
        flitwise_version: env!("CARGO_PKG_VERSION"),
        scenario: grid.document.scenario().map_err(|faults| Exit::faults(&faults))?.spec().clone(),
        tolerance: options.tolerance,
        beyond_tolerance,
        partial: outcome.interrupted,
        crossings: crossings(&grid, &points),
        models,
        points,
    };
    write(&document, &grid, args.format)?;
    if document.partial {
        Err(Exit::Interrupted)
    } else if unmeasured > 0 {
        let plural = if unmeasured == 1 { "point" } else { "points" };
        let time = args.max_time.as_deref().unwrap_or_default();
        Err(Exit::Nothing(format!(
            "nothing was measured at {unmeasured} {plural}: --max-time {time} was over before the end of the warm-up; \
             wanted more time"
        )))
    } else if failed > 0 {
        let plural = if failed == 1 { "point" } else { "points" };
        Err(Exit::NotConverged(format!("a model has no answer at {failed} {plural}")))
    } else if beyond_tolerance > 0 {
        let tolerance = percent(options.tolerance);
        let plural = if beyond_tolerance == 1 { "difference" } else { "differences" };
        Err(Exit::Differs(format!("{beyond_tolerance} {plural} beyond the tolerance of {tolerance}")))
    } else {
        Ok(())
    }
}

impl Fares {
    /// `None` if there are points, but no row of the model.
    fn of(model: Model, points: &[Point]) -> Option<Self> {
        let rows = || points.iter().flat_map(|point| &point.rows).filter(|row| row.model == model);
        if !points.is_empty() {
            rows().next()?;
        }
        let count = |verdict: Verdict| rows().filter(|row| row.verdict == verdict).count();
        Some(Self {
            model,
            agree: count(Verdict::Agrees),
            close: count(Verdict::Close),
            beyond_tolerance: rows().filter(|row| row.verdict.is_beyond_tolerance()).count(),
        })
    }
}

/// What is to be compared.
struct Question {
    grid: Grid,
    points: Vec<GridPoint>,
}

/// A point to be compared.
struct GridPoint {
    set: Vec<Setting>,
    scenario: Scenario,
    /// One per model that is asked for.
    answers: Vec<(Model, Result<Box<Answer>, Failure>)>,
}

/// Options and points, or everything that is wrong with them.
fn question(args: &Compare) -> Result<((Options, Option<Duration>), Question), Exit> {
    let mut faults = Vec::new();
    let mut read = typed::Options { faults: &mut faults };
    let tolerance = read.value("tolerance", &args.tolerance, typed::tolerance);
    let max_time = read.option("max-time", &args.max_time, typed::time);
    let mut quantities: Vec<Quantity> = Vec::new();
    let compared = Quantity::compared();
    for word in &args.quantities {
        match Quantity::find(word).filter(|quantity| compared.contains(quantity)) {
            Some(quantity) => quantities.push(quantity),
            None => {
                let words: Vec<&str> = compared.iter().map(|one| one.word()).collect();
                let words = words.join(", ");
                faults.push(format!("--quantity {word}: found \"{word}\", wanted one of {words}"));
            }
        }
    }
    let options = Options { tolerance, quantities };
    let options = if faults.is_empty() { Ok((options, max_time)) } else { Err(Exit::BadInput(faults)) };
    Exit::both(options, points(args))
}

fn points(args: &Compare) -> Result<Question, Exit> {
    // without axes the scenario itself is read with the simulator's limits, all faults together
    if args.over.is_empty() {
        input::to_simulate(&args.source, machine::supports)?;
    }
    let document = input::document(&args.source)?;
    let grid = Grid::read(document, &args.over, &args.couple, flitwise_language::scenario::is_whole)
        .map_err(Exit::BadInput)?;
    let count = grid.points().filter(|count| *count <= MOST_POINTS).ok_or_else(|| {
        Exit::input(format!("--over: found a grid of more than {MOST_POINTS} points, wanted at most that"))
    })?;
    let mut points = Vec::with_capacity(count);
    let mut faults = GridFaults::default();
    for point in 0..count {
        match asked(&grid, point, args.model.0) {
            Ok(asked) => points.push(asked),
            Err(found) => found.into_iter().for_each(|fault| faults.add(fault)),
        }
    }
    faults.into_result().map(|()| Question { grid, points })
}

/// A point with the models' answers, which take next to no time.
fn asked(grid: &Grid, point: usize, models: &[Model]) -> Result<GridPoint, Vec<String>> {
    let words = |faults: Vec<Fault>| faults.iter().map(Fault::to_string).collect::<Vec<_>>();
    let (document, set) = grid.at(grid.settings(point)).map_err(words)?;
    let scenario = document.scenario().map_err(words)?;
    let at_its_place = |fault: Fault| Fault { place: document.place_of(&fault.key).clone(), ..fault };
    machine::supports(&scenario).map_err(|faults| words(faults.into_iter().map(at_its_place).collect()))?;
    // where neither of both has the scenario, the one that does
    let usual = [Model::usual(&scenario)];
    let has = |model: &Model| model.supports(&scenario).is_ok();
    let is_other = models.len() > 1 && !models.iter().any(has) && usual.iter().any(has);
    let models = if is_other { &usual } else { models };
    let solved = |model: &Model| (*model, model.solve(&scenario, &input::options(false)).map(Box::new));
    let answers: Vec<(Model, Result<Box<Answer>, Failure>)> = models.iter().map(solved).collect();
    // one model is enough; if all refuse, so do we
    let refusals: Vec<&Failure> = answers
        .iter()
        .filter_map(|(_, answer)| answer.as_ref().err().filter(|failure| failure.is_refusal()))
        .collect();
    if refusals.len() == answers.len() {
        return Err(refusals.into_iter().flat_map(|failure| refused(&document, failure)).collect());
    }
    Ok(GridPoint { set, scenario, answers })
}

fn refused(document: &Document, failure: &Failure) -> Vec<String> {
    let mut lines = failure.lines(|key| document.place_of(key).to_string());
    if let Some(last) = lines.last_mut() {
        last.push_str("\n  help: flitwise simulate answers it without a model");
    }
    lines
}

impl Point {
    fn of(asked: GridPoint, simulation: Simulation, options: &Options) -> Self {
        let missing = |(model, answer): &(Model, Result<Box<Answer>, Failure>)| {
            let failure = answer.as_ref().err()?;
            Some(Silence { model: *model, refused: failure.is_refusal(), because: failure.to_string() })
        };
        let failures: Vec<Silence> = asked.answers.iter().filter_map(missing).collect();
        let is_refused = |model: Model| failures.iter().any(|one| one.refused && one.model == model);
        let answers: Vec<(Model, Option<&Answer>)> = asked
            .answers
            .iter()
            .filter(|(model, _)| !is_refused(*model))
            .map(|(model, answer)| (*model, answer.as_deref().ok()))
            .collect();
        let rows = compare::rows(&answers, &simulation, options);
        let mut notes = Vec::new();
        for (model, answer) in &answers {
            let own = answer.iter().flat_map(|answer| &answer.notes);
            // of two models each says for itself what holds of it
            notes.extend(own.map(|note| match answers.len() {
                1 => note.clone(),
                _ => format!("{model}: {note}"),
            }));
        }
        notes.extend(simulation.notes);
        Self { set: asked.set, run: simulation.run, failures, rows, notes }
    }

    fn row(&self, class: &str, measure: Measure, model: Model) -> Option<&Row> {
        let is_it = |row: &&Row| row.class == class && row.measure == measure && row.model == model;
        self.rows.iter().find(is_it)
    }

    /// The rows of each class and quantity, which differ in the model.
    fn by_quantity(&self) -> impl Iterator<Item = &[Row]> {
        self.rows.chunk_by(|one, next| one.class == next.class && one.measure == next.measure)
    }

    /// Value of the first axis.
    fn x(&self) -> Option<f64> {
        self.set.first()?.value.parse().ok()
    }
}

/// Where along a single axis of numbers each model begins to miss by more.
fn crossings(grid: &Grid, points: &[Point]) -> Vec<Crossings> {
    let [axis] = grid.axes.as_slice() else { return Vec::new() };
    if points.len() < 2 || points.iter().any(|point| point.x().is_none()) {
        return Vec::new();
    }
    let mut compared: Vec<(&str, Measure, Model)> = Vec::new();
    for row in points.iter().flat_map(|point| &point.rows) {
        let key = (row.class.as_str(), row.measure, row.model);
        if !compared.contains(&key) {
            compared.push(key);
        }
    }
    let along = |(class, measure, model): (&str, Measure, Model)| {
        let differences = || {
            points.iter().filter_map(move |point| {
                let row = point.row(class, measure, model)?;
                let steady = !row.model_saturated && !row.simulation_saturated;
                steady.then_some((point.x()?, row.difference_percent))
            })
        };
        Crossings {
            model,
            class: class.to_owned(),
            measure,
            key: axis.key.clone(),
            found: MISSES.into_iter().filter_map(|miss| crossing(miss, differences())).collect(),
        }
    };
    compared.into_iter().map(along).collect()
}

fn write(document: &CompareDocument, grid: &Grid, format: Format) -> Result<(), Exit> {
    match format {
        Format::Json => output::write_json(document),
        Format::Csv => csv(document, grid),
        Format::Table | Format::Markdown => {
            output::write_coloured(&page(document, grid, format == Format::Markdown))
        }
    }
}

/// One row per point, class, quantity and model; what does not exist is empty.
fn csv(document: &CompareDocument, grid: &Grid) -> Result<(), Exit> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    let keys = grid.axes.iter().map(|axis| axis.key.clone());
    let keys = keys.chain(grid.couplings.iter().map(|coupling| coupling.key.clone()));
    let fixed = [
        "class",
        "quantity",
        "deadline_cycles",
        "hops",
        "unit",
        "model",
        "model_value",
        "simulated",
        "simulated_lower_95",
        "simulated_upper_95",
        "difference",
        "difference_percent",
        "difference_half_widths",
        "model_saturated",
        "simulation_saturated",
        "verdict",
    ];
    rows.write_record(keys.chain(fixed.map(str::to_owned)))?;
    for point in &document.points {
        for row in &point.rows {
            let set = point.set.iter().map(|setting| setting.value.clone());
            rows.write_record(set.chain(fields(row)))?;
        }
    }
    output::write_csv(rows)
}

/// What a cell holds; nothing where there is no value.
fn text(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn fields(row: &Row) -> Vec<String> {
    vec![
        row.class.clone(),
        row.measure.quantity.word().to_owned(),
        text(row.measure.deadline_cycles),
        text(row.measure.hops),
        if row.unit.is_empty() { "probability".to_owned() } else { row.unit.to_owned() },
        row.model.to_string(),
        text(row.model_value),
        text(row.simulated.map(|found| found.value)),
        text(row.simulated.and_then(|found| found.lower_95)),
        text(row.simulated.and_then(|found| found.upper_95)),
        text(row.difference),
        text(row.difference_percent),
        text(row.difference_half_widths),
        row.model_saturated.to_string(),
        row.simulation_saturated.to_string(),
        row.verdict.word().to_lowercase(),
    ]
}

fn page(document: &CompareDocument, grid: &Grid, markdown: bool) -> String {
    let mut page = Page::new(markdown);
    let spec = &document.scenario;
    let (network, time) = (output::network(&spec.network), Time::of(spec));
    let models: Vec<Model> = document.models.iter().map(|one| one.model).collect();
    let who = match models.as_slice() {
        [one] => format!("{one} model"),
        several => {
            let words: Vec<&str> = several.iter().map(|model| model.word()).collect();
            format!("{} models", words.join(" and "))
        }
    };
    page.title(&format!("{}: {network}, {who} beside simulation", spec.name));
    match (document.points.as_slice(), grid.axes.is_empty(), models.as_slice()) {
        ([point], true, [_]) => {
            page.rows(&table(point, time, markdown));
            page.legend(
                "difference = model - simulation, in % of the simulation (of parts of the network latency: in % of",
            );
            page.legend(
                "all of it; of probabilities: percentage points) and in half-widths of the 95 % interval",
            );
        }
        ([point], true, models) => {
            page.rows(&side_by_side(std::slice::from_ref(point), (grid, time), models, markdown));
            page.legend(
                "in % = model - simulation, in % of the simulation (of parts of the network latency: in % of all",
            );
            page.legend("of it; of probabilities: percentage points)");
        }
        (points, _, [_]) => {
            page.rows(&sweep(points, (grid, time), markdown));
            page.legend(
                "difference = model - simulation; sat. = saturated in model (m), simulation (s) or both (ms)",
            );
        }
        (points, _, models) => {
            page.rows(&side_by_side(points, (grid, time), models, markdown));
            page.legend("in % = model - simulation, in % of the simulation");
        }
    }
    for model in models {
        let title = format!("Where the {model} model begins to miss by more than");
        page.section(&title, &beginnings(document, model, markdown));
    }
    let mut remarks: Vec<String> = Vec::new();
    for point in &document.points {
        let failures = point.failures.iter().map(|missing| &missing.because);
        for note in failures.chain(&point.notes) {
            if !remarks.contains(note) {
                remarks.push(note.clone());
            }
        }
    }
    let more = document.points.iter().filter(|point| point.run.more_than_asked).count();
    remarks.extend(campaign::more_of(more, document.points.len()));
    page.remarks(&remarks);
    page.end(&account(document))
}

/// A model's value in a table.
fn modelled(row: &Row, time: Time) -> String {
    let value = time.shown(row.measure.quantity, row.model_value);
    match row.measure.quantity {
        Quantity::Waiting | Quantity::TotalLatency if row.model_saturated => "saturated".to_owned(),
        quantity if quantity.is_share() => share(value),
        _ => cycles(value),
    }
}

/// A simulated value in a table, with its interval.
fn simulated(row: &Row, time: Time) -> String {
    let shown = |value: Option<f64>| time.shown(row.measure.quantity, value);
    let half_width = shown(row.simulated.and_then(|found| found.half_width_95()));
    match (row.measure.quantity, shown(row.simulated.map(|found| found.value))) {
        (Quantity::Waiting | Quantity::TotalLatency, _) if row.simulation_saturated => "saturated".to_owned(),
        (quantity, Some(value)) if quantity.is_share() => {
            format!("{} ±{}", share(Some(value)), share(half_width))
        }
        (_, value) => with_interval(value, half_width),
    }
}

/// All quantities of one scenario, by one model.
fn table(point: &Point, time: Time, markdown: bool) -> Rows {
    let heads =
        ["class", "quantity", "model", "simulation", "difference", "in %", "in half-\nwidths", "verdict"];
    let mut rows = Rows::new(&heads, markdown);
    for row in &point.rows {
        let difference = time.shown(row.measure.quantity, row.difference);
        let difference = if row.measure.quantity.is_share() { share(difference) } else { cycles(difference) };
        rows.add([
            row.class.clone(),
            time.named(row.measure),
            modelled(row, time),
            simulated(row, time),
            difference,
            signed(row.difference_percent, 1),
            signed(row.difference_half_widths, 1),
            row.verdict.word().to_owned(),
        ]);
    }
    rows
}

/// One line per point, class and quantity: what was simulated, then model by model value, difference and verdict.
fn side_by_side(points: &[Point], (grid, time): (&Grid, Time), models: &[Model], markdown: bool) -> Rows {
    let keys = folded_keys(grid, markdown);
    let mut heads: Vec<&str> = keys.iter().map(String::as_str).collect();
    heads.extend(["class", "quantity", "simulation"]);
    heads.extend(models.iter().flat_map(|model| [model.word(), "in %", "verdict"]));
    let mut rows = Rows::new(&heads, markdown);
    for point in points {
        for of_quantity in point.by_quantity() {
            let set = point.set.iter().take(grid.axes.len()).map(|setting| setting.value.clone());
            let first = &of_quantity[0];
            let common = [first.class.clone(), time.named(first.measure), simulated(first, time)];
            let of_model = |model: &Model| match of_quantity.iter().find(|row| row.model == *model) {
                Some(row) => {
                    let percent = signed(row.difference_percent, 1);
                    [modelled(row, time), percent, row.verdict.short_word().to_owned()]
                }
                None => ["-"; 3].map(str::to_owned),
            };
            rows.add(set.chain(common).chain(models.iter().flat_map(of_model)));
        }
    }
    rows
}

/// Keys of the axes as heads of columns.
fn folded_keys(grid: &Grid, markdown: bool) -> Vec<String> {
    let keys = grid.axes.iter().map(|axis| axis.key.as_str());
    keys.map(|key| if markdown { key.to_owned() } else { key.replacen('.', "\n.", 1) }).collect()
}

/// One line per point, class and quantity, by one model.
fn sweep(points: &[Point], (grid, time): (&Grid, Time), markdown: bool) -> Rows {
    let keys = folded_keys(grid, markdown);
    let mut heads: Vec<&str> = keys.iter().map(String::as_str).collect();
    heads.extend(["class", "quantity", "model", "simulation", "in %", "verdict", "sat."]);
    let mut rows = Rows::new(&heads, markdown);
    for point in points {
        for row in &point.rows {
            let values = Row { model_saturated: false, simulation_saturated: false, ..row.clone() };
            let saturated = match (row.model_saturated, row.simulation_saturated) {
                (true, true) => "ms",
                (true, false) => "m",
                (false, true) => "s",
                (false, false) => "",
            };
            let set = point.set.iter().take(grid.axes.len()).map(|setting| setting.value.clone());
            rows.add(set.chain([
                row.class.clone(),
                time.named(row.measure),
                modelled(&values, time),
                simulated(&values, time),
                signed(row.difference_percent, 1),
                row.verdict.word().to_owned(),
                saturated.to_owned(),
            ]));
        }
    }
    rows
}

/// Where a model's misses begin, class by class.
fn beginnings(document: &CompareDocument, model: Model, markdown: bool) -> Rows {
    let heads = ["class", "quantity", "5 %", "10 %", "20 %"];
    let mut rows = Rows::new(&heads, markdown);
    for crossings in document.crossings.iter().filter(|crossings| crossings.model == model) {
        let at = |percent: f64| {
            let found = crossings.found.iter().find(|found| found.percent == percent);
            found.map_or("never".to_owned(), |found| match found.after {
                None => format!("{} (first)", found.before),
                Some(_) => format!("{:.3e}", found.at)
                    .parse::<f64>()
                    .map_or_else(|_| "-".to_owned(), |at| at.to_string()),
            })
        };
        rows.add([
            crossings.class.clone(),
            crossings.measure.name(),
            at(MISSES[0]),
            at(MISSES[1]),
            at(MISSES[2]),
        ]);
    }
    rows
}

/// A number with its sign.
fn signed(number: Option<f64>, digits: usize) -> String {
    number.map_or_else(|| "-".to_owned(), |number| format!("{number:+.digits$}"))
}

fn account(document: &CompareDocument) -> String {
    let tolerance = percent(document.tolerance);
    let run = document.points.first().map(|point| &point.run);
    let seed = run.map_or(0, |run| run.seed);
    let replications = document.points.iter().map(|point| point.run.replications);
    let replications = match (replications.clone().min(), replications.max()) {
        (Some(fewest), Some(most)) if fewest < most => format!("{fewest} to {most} replications"),
        (_, most) => format!("{} replications", most.unwrap_or(0)),
    };
    let alone = document.models.len() == 1;
    let fares = |one: &Fares| {
        let who = if alone { String::new() } else { format!("{}: ", one.model) };
        format!(
            "{who}{} agree within the interval, {} are close (within {tolerance}), {} are off; \
             seed {seed}, {replications}",
            one.agree, one.close, one.beyond_tolerance,
        )
    };
    document.models.iter().map(fares).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // helpers of tests, too, may fail a test

    use std::sync::atomic::AtomicBool;

    use flitwise_experiment::Settings;
    use flitwise_language::scenario::Preset;
    use flitwise_validation::campaign;
    use flitwise_validation::machine::Machine;

    use super::*;

    /// Two points along the load of R1. The second model is the first under another name, made 2 % faster; it
    /// refuses the second point if `refuses`.
    fn document(refuses: bool) -> (CompareDocument, Grid) {
        let preset = Preset::find("router16").unwrap();
        let over = ["class.R1.rate=0.001,0.004".to_owned()];
        let grid = Grid::read(preset.document(), &over, &[], flitwise_language::scenario::is_whole).unwrap();
        let settings = Settings { precision: 0.1, max_messages: 20_000, ..Settings::default() };
        let options = Options::default();
        let point = |index: usize| {
            let mut asked = asked(&grid, index, &[Model::Published]).unwrap();
            let mut other = asked.answers[0].1.clone().unwrap();
            other.model = Model::Refined;
            other.notes = vec!["made for a test".to_owned()];
            for class in &mut other.classes {
                class.network_latency_cycles = class.network_latency_cycles.map(|latency| 0.98 * latency);
            }
            let (model, key) = (Model::Refined, "class.R1.rate".to_owned());
            let refusals =
                vec![flitwise_models::model::Refusal { key, because: "has had enough".to_owned() }];
            let refusal = Failure::Refused { model, refusals };
            let answer = if refuses && index == 1 { Err(refusal) } else { Ok(other) };
            asked.answers.push((Model::Refined, answer));
            let scenarios = [asked.scenario.clone()];
            let (machine, stop) = (Machine::default(), AtomicBool::new(false));
            let outcome = campaign::run(&scenarios, &settings, None, &machine.host(&stop), &mut ()).unwrap();
            Point::of(asked, outcome.simulations.into_iter().next().flatten().unwrap(), &options)
        };
        let points = vec![point(0), point(1)];
        let fares = Model::OF_MESSAGES.into_iter().filter_map(|model| Fares::of(model, &points)).collect();
        let document = CompareDocument {
            schema: "flitwise.compare/3",
            flitwise_version: "0",
            models: fares,
            scenario: preset.scenario().spec().clone(),
            tolerance: options.tolerance,
            beyond_tolerance: 0,
            partial: false,
            crossings: crossings(&grid, &points),
            points,
        };
        (document, grid)
    }

    #[test]
    fn two_models_stand_side_by_side() {
        let (document, grid) = document(false);
        let page = page(&document, &grid, true);
        assert!(page.contains("published and refined models beside simulation"), "{page}");
        let head = page.lines().find(|line| line.contains("simulation |")).unwrap();
        let heads: Vec<&str> = head.split('|').map(str::trim).filter(|head| !head.is_empty()).collect();
        assert_eq!(heads[3..], ["simulation", "published", "in %", "verdict", "refined", "in %", "verdict"]);
        for model in Model::OF_MESSAGES {
            assert!(page.contains(&format!("Where the {model} model begins to miss by more than")), "{page}");
            assert!(page.lines().any(|line| line.starts_with(&format!("{model}: "))), "{page}");
        }
        assert!(page.contains("- refined: made for a test"), "{page}");
        // every pair of rows makes a line
        let rows: usize = document.points.iter().map(|point| point.rows.len()).sum();
        let lines = page.lines().filter(|line| line.starts_with("| 0.00")).count();
        assert_eq!(lines, rows / 2);
        let crossed: Vec<Model> = document.crossings.iter().map(|crossings| crossings.model).collect();
        assert_eq!(crossed[..2], Model::OF_MESSAGES);
    }

    #[test]
    fn where_one_model_refuses_the_other_is_compared_alone() {
        let (document, grid) = document(true);
        let [first, second] = document.points.as_slice() else { panic!("two points") };
        assert!(second.rows.iter().all(|row| row.model == Model::Published));
        assert_eq!(first.rows.len(), 2 * second.rows.len());
        assert!(first.failures.is_empty() && second.failures[0].refused);
        let page = page(&document, &grid, true);
        assert!(page.contains("class.R1.rate: the refined model has had enough"), "{page}");
        let line = page.lines().rfind(|line| line.starts_with("| 0.004")).unwrap();
        assert!(line.split('|').rev().skip(1).take(3).all(|cell| cell.trim() == "-"), "{line}");
        // and the other one's crossings are found from the points that it has
        let of_refined = document.crossings.iter().filter(|one| one.model == Model::Refined);
        assert!(of_refined.flat_map(|one| &one.found).all(|found| found.before == 0.001));
    }
}
