//! `flitwise sweep`: a scenario over a grid, in parallel, row by row.

use std::io::{self, Write};

use flitwise_models::answer::{Answer, ClassAnswer, Report, Validity};
use flitwise_models::model::{Failure, Model, Options, WarmStart};
use flitwise_models::scenario::{Fault, Grid, Scenario, ScenarioSpec, Setting};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Sweep, SweepFormat};
use crate::outcome::Ended;
use crate::output::{ClassColumns, Rows, cycles, share};
use crate::{input, output};

/// The most points of one sweep.
const MOST_POINTS: usize = 10_000_000;
/// Values up to which all of an axis are checked beforehand.
const CHECKED: usize = 1_000;
/// Points that one thread answers in a row, each from the one before where that leads to the same answer.
const RUN: usize = 32;
/// Runs between two writes.
const RUNS_PER_BLOCK: usize = 16;

/// The answer of `flitwise sweep --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SweepDocument {
    /// `flitwise.sweep/1`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// Which model answers; `null`: each point says which.
    model: Option<Model>,
    /// The scenario before any value was changed.
    scenario: ScenarioSpec,
    /// One per point of the grid, the last axis varying fastest.
    points: Vec<Point>,
}

/// One point of a sweep.
#[derive(Debug, Serialize, JsonSchema)]
struct Point {
    /// Which model answers.
    model: Model,
    /// The values set here, coupled ones included, in the order of the command line.
    set: Vec<Setting>,
    /// Why there is no answer; else it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    /// The account of the iteration.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<Report>,
    /// Whether any class is saturated.
    saturated: bool,
    /// One answer per class.
    classes: Vec<ClassAnswer>,
    /// Where this answer stands among those that were checked by simulation, if the model says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    validity: Option<Validity>,
    /// What one should know about this answer.
    notes: Vec<String>,
}

/// What all points share.
struct Question {
    grid: Grid,
    /// The one that was asked for; otherwise each point has its usual one.
    model: Option<Model>,
    options: Options,
}

pub(crate) fn run(args: &Sweep) -> Result<(), Ended> {
    let document = input::document(&args.source)?;
    let grid = Grid::read(document, &args.over, &args.couple).map_err(Ended::BadInput)?;
    let points = grid.points().filter(|points| *points <= MOST_POINTS).ok_or_else(|| {
        Ended::input(format!("--over: found a grid of more than {MOST_POINTS} points, wanted at most that"))
    })?;
    let options = Options { distributions: !args.means_only, saturation_loads: false, ..Options::default() };
    let question = Question { grid, model: args.model, options };
    let columns = question.check()?;

    if let Some(threads) = args.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads)).build();
        let pool = pool.map_err(|error| Ended::input(format!("--threads {threads}: {error}")))?;
        pool.install(|| question.write_all(points, args.format, columns))
    } else {
        question.write_all(points, args.format, columns)
    }
}

impl Question {
    /// Checks the values of every axis, the other axes at their first value, and the last corner: what is wrong
    /// with a sweep should be known before its first row. Of a long axis its ends will do. Returns the columns
    /// that the rows need.
    fn check(&self) -> Result<ClassColumns, Ended> {
        let grid = &self.grid;
        let first = grid.settings(0);
        let alone = grid.axes.iter().enumerate().flat_map(|(index, axis)| {
            let first = &first;
            let (count, ends) = (axis.values.len(), 100);
            let looked_at = move |at: &usize| count <= CHECKED || *at < ends || *at + ends >= count;
            (0..count).filter(looked_at).map(move |at| {
                let value = &axis.values[at];
                let mut settings = first.clone();
                settings[index] = Setting::new(&axis.key, value);
                settings
            })
        });
        let last = grid.axes.iter().filter_map(|axis| Some(Setting::new(&axis.key, axis.values.last()?)));
        let tried: Vec<Vec<Setting>> = alone.chain([last.collect()]).collect();
        let checked: Vec<Result<ClassColumns, Vec<String>>> =
            tried.into_par_iter().map(|settings| self.columns_at(settings)).collect();
        let mut faults: Vec<String> = Vec::new();
        let mut columns = ClassColumns::default();
        for result in checked {
            match result {
                Ok(more) => columns.join(more),
                Err(found) => {
                    let new: Vec<String> =
                        found.into_iter().filter(|fault| !faults.contains(fault)).collect();
                    faults.extend(new);
                }
            }
        }
        if faults.is_empty() { Ok(columns) } else { Err(Ended::BadInput(faults)) }
    }

    fn model_of(&self, scenario: &Scenario) -> Model {
        self.model.unwrap_or_else(|| Model::usual(scenario))
    }

    /// The columns that a point needs, or what is wrong with it.
    fn columns_at(&self, settings: Vec<Setting>) -> Result<ClassColumns, Vec<String>> {
        let words = |faults: Vec<Fault>| faults.iter().map(Fault::to_string).collect::<Vec<_>>();
        let (document, _) = self.grid.at(settings).map_err(words)?;
        let scenario = document.scenario().map_err(words)?;
        self.model_of(&scenario)
            .supports(&scenario)
            .map_err(|failure| vec![input::failure(&document, &failure).to_string()])?;
        Ok(if self.options.distributions { ClassColumns::of(&scenario) } else { ClassColumns::default() })
    }

    /// Answers the points of one run in turn.
    fn answer_run(&self, points: std::ops::Range<usize>) -> Result<Vec<Point>, Ended> {
        let mut warm: Option<WarmStart> = None;
        let mut answers = Vec::with_capacity(points.len());
        for point in points {
            let at = self.grid.at(self.grid.settings(point)).map_err(|faults| Ended::faults(&faults))?;
            let (document, settings) = at;
            let scenario = input::scenario(&document)?;
            match self.model_of(&scenario).solve_from(&scenario, &self.options, warm.as_ref()) {
                Ok((answer, next)) => {
                    // rows are those of single solves; the refined model's would move within its tolerance
                    warm = Some(next).filter(|next| next.model() == Model::Published);
                    answers.push(Point::answered(settings, answer));
                }
                Err(failure @ Failure::NotConverged { .. }) => {
                    warm = None;
                    answers.push(Point::failed(settings, &failure));
                }
                Err(failure) => return Err(input::failure(&document, &failure)),
            }
        }
        Ok(answers)
    }

    /// Answers all points and writes them in order, a block at a time.
    fn write_all(&self, points: usize, format: SweepFormat, columns: ClassColumns) -> Result<(), Ended> {
        let mut writer = Writer::begin(format, &self.grid, self.model, columns)?;
        let mut failed = 0;
        let block = RUN * RUNS_PER_BLOCK;
        for start in (0..points).step_by(block) {
            let end = usize::min(start + block, points);
            let runs: Vec<_> = (start..end).step_by(RUN).collect();
            let answers: Vec<Result<Vec<Point>, Ended>> = runs
                .into_par_iter()
                .map(|begin| self.answer_run(begin..usize::min(begin + RUN, end)))
                .collect();
            for run in answers {
                for point in run? {
                    failed += usize::from(point.failure.is_some());
                    writer.point(&point)?;
                }
            }
            writer.flush()?;
        }
        writer.end()?;
        match failed {
            0 => Ok(()),
            _ => Err(Ended::NotConverged(format!("{failed} of {points} points did not converge"))),
        }
    }
}

impl Point {
    fn answered(set: Vec<Setting>, answer: Answer) -> Self {
        let Answer { model, scenario: _, report, saturated, classes, validity, notes } = answer;
        Self { model, set, failure: None, report: Some(report), saturated, classes, validity, notes }
    }

    fn failed(set: Vec<Setting>, failure: &Failure) -> Self {
        Self {
            model: failure.model(),
            set,
            failure: Some(failure.to_string()),
            report: None,
            saturated: false,
            classes: Vec::new(),
            validity: None,
            notes: Vec::new(),
        }
    }
}

/// Rows on their way out.
enum Writer {
    Csv { columns: ClassColumns, keys: usize, out: Box<csv::Writer<io::Stdout>> },
    Json { out: io::BufWriter<io::Stdout>, first: bool },
    Jsonl { out: io::BufWriter<io::Stdout> },
    Table { rows: Box<Rows>, columns: ClassColumns },
}

impl Writer {
    fn begin(
        format: SweepFormat,
        grid: &Grid,
        model: Option<Model>,
        columns: ClassColumns,
    ) -> Result<Self, Ended> {
        let axes = grid.axes.iter().map(|axis| axis.key.clone());
        let keys: Vec<String> = axes.chain(grid.couplings.iter().map(|c| c.key.clone())).collect();
        let stdout = || io::BufWriter::new(io::stdout());
        Ok(match format {
            SweepFormat::Csv => {
                let mut out = Box::new(csv::Writer::from_writer(io::stdout()));
                out.write_record(keys.iter().cloned().chain(columns.heads()))?;
                Self::Csv { columns, keys: keys.len(), out }
            }
            SweepFormat::Jsonl => Self::Jsonl { out: stdout() },
            SweepFormat::Json => {
                let head = SweepDocument {
                    schema: "flitwise.sweep/1",
                    flitwise_version: env!("CARGO_PKG_VERSION"),
                    model,
                    scenario: input::scenario(&grid.document)?.spec().clone(),
                    points: Vec::new(),
                };
                let text = serde_json::to_string(&head)?;
                let mut out = stdout();
                // the document without its end: points follow one by one
                write!(out, "{}", text.trim_end_matches("]}"))?;
                Self::Json { out, first: true }
            }
            SweepFormat::Table | SweepFormat::Markdown => {
                // long keys fold at their last dot, not in the middle of a word
                let fold = |key: &String| match key.rsplit_once('.') {
                    Some((stem, field)) if format == SweepFormat::Table => format!("{stem}\n.{field}"),
                    _ => key.clone(),
                };
                let keys: Vec<String> = keys.iter().map(fold).collect();
                let mut heads: Vec<&str> = keys.iter().map(String::as_str).collect();
                heads.extend(["model", "class", "network [cycles]", "waiting [cycles]", "total [cycles]"]);
                let misses = columns.deadline_heads();
                heads.extend(misses.iter().map(String::as_str));
                let rows = Box::new(Rows::new(&heads, format == SweepFormat::Markdown));
                Self::Table { rows, columns }
            }
        })
    }

    fn point(&mut self, point: &Point) -> Result<(), Ended> {
        let set = point.set.iter().map(|setting| setting.value.clone());
        match self {
            Self::Csv { columns, keys, out } => {
                for class in &point.classes {
                    out.write_record(set.clone().chain(columns.row(point.model, class)))?;
                }
                if point.classes.is_empty() {
                    // a point without an answer keeps its place
                    let empty = columns.heads().len() - 1;
                    debug_assert_eq!(point.set.len(), *keys);
                    let model = [point.model.to_string()];
                    out.write_record(set.chain(model).chain(std::iter::repeat_n(String::new(), empty)))?;
                }
            }
            Self::Json { out, first } => {
                out.write_all(if *first { b"\n" } else { b",\n" })?;
                *first = false;
                serde_json::to_writer(out, point)?;
            }
            Self::Jsonl { out } => {
                serde_json::to_writer(&mut *out, point)?;
                out.write_all(b"\n")?;
            }
            Self::Table { rows, columns } => {
                for class in &point.classes {
                    let misses = columns.misses(class).map(|miss| miss.map_or_else(String::new, share));
                    let waiting = |number| {
                        if class.saturated { "saturated".to_owned() } else { cycles(number) }
                    };
                    let own = [
                        point.model.to_string(),
                        class.name.clone(),
                        cycles(class.network_latency_cycles),
                        waiting(class.waiting_cycles),
                        waiting(class.total_latency_cycles),
                    ];
                    rows.add(set.clone().chain(own).chain(misses));
                }
                if point.classes.is_empty() {
                    rows.add(set.chain([point.model.to_string(), "not converged".to_owned()]));
                }
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Ended> {
        match self {
            Self::Csv { out, .. } => out.flush()?,
            Self::Json { out, .. } | Self::Jsonl { out } => out.flush()?,
            Self::Table { .. } => {}
        }
        Ok(())
    }

    fn end(mut self) -> Result<(), Ended> {
        if let Self::Json { out, .. } = &mut self {
            out.write_all(b"\n]}\n")?;
        }
        self.flush()?;
        if let Self::Table { rows, .. } = &self {
            output::write(rows.to_string().as_bytes())?;
        }
        Ok(())
    }
}
