//! `flitwise compare`.

use flitwise_models::answer::Answer;
use flitwise_models::model::Model;
use flitwise_models::published::{self, Failure};
use flitwise_models::scenario::{Document, Fault, Grid, Place, Scenario, ScenarioSpec, Setting};
use flitwise_validation::answer::{Run, Simulation};
use flitwise_validation::compare::{self, Crossing, Options, Quantity, Row, Verdict, crossing};
use flitwise_validation::experiment;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Compare, Format};
use crate::campaign::Campaign;
use crate::outcome::Ended;
use crate::output::{self, Page, Rows, cycles, percent, share, with_interval};
use crate::{input, typed};

/// The most points of one comparison.
const MOST_POINTS: usize = 10_000;
/// Misses whose beginning is looked for \[percent\].
const MISSES: [f64; 3] = [5.0, 10.0, 20.0];

/// The answer of `flitwise compare --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CompareDocument {
    /// `flitwise.compare/1`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// Name of the model.
    model: &'static str,
    /// The scenario before any value was changed.
    scenario: ScenarioSpec,
    /// Difference that is still called close, as a share.
    tolerance: f64,
    /// Differences beyond it, at all points.
    beyond_tolerance: usize,
    /// Whether it was interrupted; points that were not simulated are missing.
    partial: bool,
    /// One per point of the grid, the last axis varying fastest; one without axes.
    points: Vec<Point>,
    /// Along a single axis: where the model begins to miss by more.
    crossings: Vec<Crossings>,
}

/// One point.
#[derive(Debug, Serialize, JsonSchema)]
struct Point {
    /// The values set here, coupled ones included.
    set: Vec<Setting>,
    /// Why there is no model's answer; else it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    /// How it was simulated.
    run: Run,
    /// One row per class and quantity.
    rows: Vec<Row>,
    /// What one should know about the answers.
    notes: Vec<String>,
}

/// Where along the axis the model begins to miss a quantity by more than 5, 10 and 20 percent.
#[derive(Debug, Serialize, JsonSchema)]
struct Crossings {
    /// Name of the class.
    class: String,
    /// Which quantity.
    #[serde(flatten)]
    quantity: Quantity,
    /// What varies.
    key: String,
    /// Those that were found.
    found: Vec<Crossing>,
}

pub(crate) fn run(args: &Compare) -> Result<(), Ended> {
    let campaign = Campaign::read(&args.campaign);
    let (campaign, (options, points)) = Ended::both(campaign, question(args))?;
    let Question { grid, points: asked } = points;
    let scenarios: Vec<Scenario> = asked.iter().map(|asked| asked.scenario.clone()).collect();
    let outcome = campaign.run(&scenarios).map_err(|faults| Ended::faults(&faults))?;
    let found = asked.into_iter().zip(outcome.simulations);
    let points: Vec<Point> = found
        .filter_map(|(asked, simulation)| Some(Point::of(asked, simulation?, &options)))
        .collect::<Result<_, Ended>>()?;

    let is_beyond = |row: &&Row| row.verdict.is_beyond_tolerance();
    let beyond_tolerance = points.iter().flat_map(|point| &point.rows).filter(is_beyond).count();
    let failed = points.iter().filter(|point| point.failure.is_some()).count();
    let document = CompareDocument {
        schema: "flitwise.compare/1",
        flitwise_version: env!("CARGO_PKG_VERSION"),
        model: "published",
        scenario: grid.document.scenario().map_err(|faults| Ended::faults(&faults))?.spec().clone(),
        tolerance: options.tolerance,
        beyond_tolerance,
        partial: outcome.interrupted,
        crossings: crossings(&grid, &points),
        points,
    };
    write(&document, &grid, args.format)?;
    if document.partial {
        Err(Ended::Interrupted)
    } else if failed > 0 {
        Err(Ended::NotConverged(format!("the model has no answer at {failed} points")))
    } else if beyond_tolerance > 0 {
        let tolerance = percent(options.tolerance);
        let plural = if beyond_tolerance == 1 { "difference" } else { "differences" };
        Err(Ended::Differs(format!("{beyond_tolerance} {plural} beyond the tolerance of {tolerance}")))
    } else {
        Ok(())
    }
}

/// What is to be compared.
struct Question {
    grid: Grid,
    points: Vec<Asked>,
}

/// A point to be compared.
struct Asked {
    set: Vec<Setting>,
    scenario: Scenario,
    answer: Result<Box<Answer>, Failure>,
}

/// Options and points, or everything that is wrong with them.
fn question(args: &Compare) -> Result<(Options, Question), Ended> {
    let mut faults = Vec::new();
    let mut read = typed::Options { faults: &mut faults };
    let tolerance = read.value("tolerance", &args.tolerance, typed::tolerance);
    for word in &args.quantities {
        if !Quantity::WORDS.contains(&word.as_str()) {
            faults.push(format!(
                "--quantity {word}: found \"{word}\", wanted one of {}",
                Quantity::WORDS.join(", ")
            ));
        }
    }
    let options = Options { tolerance, quantities: args.quantities.clone() };
    let options = if faults.is_empty() { Ok(options) } else { Err(Ended::BadInput(faults)) };
    Ended::both(options, points(args))
}

fn points(args: &Compare) -> Result<Question, Ended> {
    // without axes the scenario itself is read with the simulator's limits, all faults together
    if args.over.is_empty() {
        input::to_simulate(&args.source)?;
    }
    let document = input::document(&args.source)?;
    let grid = Grid::read(document, &args.over, &args.couple).map_err(Ended::BadInput)?;
    let count = grid.points().filter(|count| *count <= MOST_POINTS).ok_or_else(|| {
        Ended::input(format!("--over: found a grid of more than {MOST_POINTS} points, wanted at most that"))
    })?;
    let mut points = Vec::with_capacity(count);
    let mut faults: Vec<String> = Vec::new();
    for point in 0..count {
        match asked(&grid, point) {
            Ok(asked) => points.push(asked),
            Err(found) => {
                let new: Vec<String> = found.into_iter().filter(|fault| !faults.contains(fault)).collect();
                faults.extend(new);
            }
        }
    }
    if faults.is_empty() { Ok(Question { grid, points }) } else { Err(Ended::BadInput(faults)) }
}

/// A point with the model's answer, which takes next to no time.
fn asked(grid: &Grid, point: usize) -> Result<Asked, Vec<String>> {
    let words = |faults: Vec<Fault>| faults.iter().map(Fault::to_string).collect::<Vec<_>>();
    let (document, set) = grid.at(grid.settings(point)).map_err(words)?;
    let scenario = document.scenario().map_err(words)?;
    let at_its_place = |fault: Fault| Fault { place: document.place_of(&fault.key).clone(), ..fault };
    experiment::supports(&scenario)
        .map_err(|faults| words(faults.into_iter().map(at_its_place).collect()))?;
    let answer = published::solve(&scenario, &input::options(false)).map(Box::new);
    if let Err(failure @ Failure::Refused { .. }) = &answer {
        return Err(vec![refused(&document, failure)]);
    }
    Ok(Asked { set, scenario, answer })
}

fn refused(document: &Document, failure: &Failure) -> String {
    let place = match failure {
        Failure::Refused { key, .. } => document.place_of(key).clone(),
        Failure::NotConverged { .. } => Place::Program,
    };
    format!("{place}{failure}\n  help: flitwise simulate answers it without a model")
}

impl Point {
    fn of(asked: Asked, simulation: Simulation, options: &Options) -> Result<Self, Ended> {
        let (rows, failure, mut notes) = match &asked.answer {
            Ok(answer) => (compare::rows(answer, &simulation, options), None, answer.notes.clone()),
            Err(failure) => {
                let rows = compare::rows_without_model(Model::Published, &simulation, options);
                (rows, Some(failure.to_string()), Vec::new())
            }
        };
        notes.extend(simulation.notes);
        Ok(Self { set: asked.set, failure, run: simulation.run, rows, notes })
    }

    /// Value of the first axis.
    fn x(&self) -> Option<f64> {
        self.set.first()?.value.parse().ok()
    }
}

/// Where along a single axis of numbers the model begins to miss by more.
fn crossings(grid: &Grid, points: &[Point]) -> Vec<Crossings> {
    let [axis] = grid.axes.as_slice() else { return Vec::new() };
    let Some(first) = points.first() else { return Vec::new() };
    if points.len() < 2 || points.iter().any(|point| point.x().is_none()) {
        return Vec::new();
    }
    let along = |index: usize| {
        let row = &first.rows[index];
        let differences = || {
            let steady = |row: &Row| !row.model_saturated && !row.simulation_saturated;
            points.iter().filter_map(move |point| {
                let row = point.rows.get(index).filter(|row| steady(row))?;
                Some((point.x()?, row.difference_percent))
            })
        };
        Crossings {
            class: row.class.clone(),
            quantity: row.quantity,
            key: axis.key.clone(),
            found: MISSES.into_iter().filter_map(|miss| crossing(miss, differences())).collect(),
        }
    };
    let same = points.iter().all(|point| point.rows.len() == first.rows.len());
    if same { (0..first.rows.len()).map(along).collect() } else { Vec::new() }
}

fn write(document: &CompareDocument, grid: &Grid, format: Format) -> Result<(), Ended> {
    match format {
        Format::Json => output::write_json(document),
        Format::Csv => csv(document, grid),
        Format::Table | Format::Markdown => {
            output::write_coloured(&page(document, grid, format == Format::Markdown))
        }
    }
}

/// One row per point, class and quantity; what does not exist is empty.
fn csv(document: &CompareDocument, grid: &Grid) -> Result<(), Ended> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    let keys = grid.axes.iter().map(|axis| axis.key.clone());
    let keys = keys.chain(grid.couplings.iter().map(|coupling| coupling.key.clone()));
    let fixed = [
        "class",
        "quantity",
        "deadline_cycles",
        "hops",
        "percentile",
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

fn fields(row: &Row) -> Vec<String> {
    fn text(value: Option<impl ToString>) -> String {
        value.map_or_else(String::new, |value| value.to_string())
    }
    let (deadline, hops) = match row.quantity {
        Quantity::Miss { deadline_cycles, hops } => (Some(deadline_cycles), hops),
        _ => (None, None),
    };
    let percentile = match row.quantity {
        Quantity::Percentile { per_mille } => Some(f64::from(per_mille) / 10.0),
        _ => None,
    };
    vec![
        row.class.clone(),
        row.quantity.word().to_owned(),
        text(deadline),
        text(hops),
        text(percentile),
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
    let network = output::network(spec.network);
    page.title(&format!("{}: {network}, {} model beside simulation", spec.name, document.model));
    match (document.points.as_slice(), grid.axes.is_empty()) {
        ([point], true) => {
            page.rows(&table(point, markdown));
            page.legend("difference = model - simulation, in % of the simulation (of parts of the network latency: in % of");
            page.legend(
                "all of it; of probabilities: percentage points) and in half-widths of the 95 % interval",
            );
        }
        (points, _) => {
            page.rows(&sweep(points, grid, markdown));
            page.legend(
                "difference = model - simulation; sat. = saturated in model (m), simulation (s) or both (ms)",
            );
        }
    }
    page.section(
        &format!("Where the {} model begins to miss by more than", document.model),
        &beginnings(document, markdown),
    );
    let mut remarks: Vec<String> = Vec::new();
    for note in document.points.iter().flat_map(|point| point.failure.iter().chain(&point.notes)) {
        if !remarks.contains(note) {
            remarks.push(note.clone());
        }
    }
    page.remarks(&remarks);
    page.end(&account(document))
}

/// All quantities of one scenario.
fn table(point: &Point, markdown: bool) -> Rows {
    let heads =
        ["class", "quantity", "model", "simulation", "difference", "in %", "in half-\nwidths", "verdict"];
    let mut rows = Rows::new(&heads, markdown);
    for row in &point.rows {
        let probability = row.quantity.is_probability();
        let number = |number: Option<f64>| if probability { share(number) } else { cycles(number) };
        let half_width = row.simulated.and_then(|found| found.half_width_95());
        let simulated = row.simulated.map(|found| found.value);
        let simulated = match (probability, simulated) {
            (true, Some(value)) => format!("{} ±{}", share(Some(value)), share(half_width)),
            (_, simulated) => with_interval(simulated, half_width),
        };
        let model = match row.quantity {
            Quantity::Waiting | Quantity::TotalLatency if row.model_saturated => "saturated".to_owned(),
            _ => number(row.model_value),
        };
        let simulated = match row.quantity {
            Quantity::Waiting | Quantity::TotalLatency if row.simulation_saturated => "saturated".to_owned(),
            _ => simulated,
        };
        rows.add([
            row.class.clone(),
            row.quantity.to_string(),
            model,
            simulated,
            number(row.difference),
            signed(row.difference_percent, 1),
            signed(row.difference_half_widths, 1),
            row.verdict.word().to_owned(),
        ]);
    }
    rows
}

/// One line per point and class: network latency and waiting.
fn sweep(points: &[Point], grid: &Grid, markdown: bool) -> Rows {
    let keys = grid.axes.iter().map(|axis| axis.key.as_str());
    let keys: Vec<String> =
        keys.map(|key| if markdown { key.to_owned() } else { key.replacen('.', "\n.", 1) }).collect();
    let mut heads: Vec<&str> = keys.iter().map(String::as_str).collect();
    heads.extend(["class", "quantity", "model", "simulation", "in %", "verdict", "sat."]);
    let mut rows = Rows::new(&heads, markdown);
    for point in points {
        for row in &point.rows {
            let probability = row.quantity.is_probability();
            let number = |number: Option<f64>| if probability { share(number) } else { cycles(number) };
            let half_width = row.simulated.and_then(|found| found.half_width_95());
            let simulated = match row.simulated.map(|found| found.value) {
                Some(value) if probability => format!("{} ±{}", share(Some(value)), share(half_width)),
                value => with_interval(value, half_width),
            };
            let saturated = match (row.model_saturated, row.simulation_saturated) {
                (true, true) => "ms",
                (true, false) => "m",
                (false, true) => "s",
                (false, false) => "",
            };
            let set = point.set.iter().take(grid.axes.len()).map(|setting| setting.value.clone());
            rows.add(set.chain([
                row.class.clone(),
                row.quantity.to_string(),
                number(row.model_value),
                simulated,
                signed(row.difference_percent, 1),
                row.verdict.word().to_owned(),
                saturated.to_owned(),
            ]));
        }
    }
    rows
}

/// Where misses begin, class by class.
fn beginnings(document: &CompareDocument, markdown: bool) -> Rows {
    let heads = ["class", "quantity", "5 %", "10 %", "20 %"];
    let mut rows = Rows::new(&heads, markdown);
    for crossings in &document.crossings {
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
            crossings.quantity.to_string(),
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
    let rows = || document.points.iter().flat_map(|point| &point.rows);
    let count = |verdict: Verdict| rows().filter(|row| row.verdict == verdict).count();
    let tolerance = percent(document.tolerance);
    let run = document.points.first().map(|point| &point.run);
    let seed = run.map_or(0, |run| run.seed);
    format!(
        "{} agree within the interval, {} are close (within {tolerance}), {} are off; seed {seed}",
        count(Verdict::Agrees),
        count(Verdict::Close),
        document.beyond_tolerance,
    )
}
