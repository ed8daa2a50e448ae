//! `flitwise sweep`: a scenario over a grid, in parallel, row by row.

mod anchored;
mod picture;

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use flitwise_figures::sweep::{GridFault, answer_at, heads, rows};
use flitwise_language::quantity::{Measure, Quantity};
use flitwise_language::scenario::{Fault, Grid, Scenario, ScenarioSpec, Setting};
use flitwise_language::section::Sections;
use flitwise_models::answer::{Answer, ClassAnswer, Report, Validity};
use flitwise_models::model::{Failure, Model, Options, WarmStart};
use flitwise_validation::anchored::{CORRECTED, ClassIntervals, CorrectedAnswer, Interval};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::anchoring::Account;
use crate::args::{ModelChoice, Sweep, SweepFormat};
use crate::outcome::{Exit, GridFaults};
use crate::output::{ClassColumns, Rows, Time, WholeRows, share};
use crate::signals::{Background, Next};
use crate::{input, output, typed};
use anchored::Family;
use picture::Curves;

/// The most points of one sweep.
const MOST_POINTS: usize = 10_000_000;
/// Values up to which all of an axis are checked beforehand.
const CHECKED: usize = 1_000;
/// Points that one thread answers in a row, each from the one before where that leads to the same answer.
const RUN: usize = 32;
/// Points that may be taken before those in front of them are written: what bounds the memory of those that wait.
const AHEAD: usize = 512;

/// The answer of `flitwise sweep --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SweepDocument {
    /// `flitwise.sweep/3`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// Which model answers; `null`: each point says which.
    model: Option<ModelChoice>,
    /// The scenario before any value was changed.
    #[serde(serialize_with = "ScenarioSpec::serialize_plainly")]
    scenario: ScenarioSpec,
    /// How the anchored model was anchored; of other models it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    anchoring: Option<Account>,
    /// One per point of the grid, the last axis varying fastest.
    points: Vec<Point>,
    /// Whether points are missing at the end, because it was interrupted or a point was wrong.
    partial: bool,
}

/// One point of a sweep.
#[derive(Debug, Serialize, JsonSchema)]
struct Point {
    /// Which model answers.
    model: ModelChoice,
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
    /// What the model says beside the quantities of classes.
    #[serde(skip_serializing_if = "Sections::is_empty")]
    #[schemars(default)]
    sections: Sections,
    /// Where this answer stands among those that were checked by simulation, if the model says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    validity: Option<Validity>,
    /// Whether the point is an anchor; of models that are not anchored it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_anchor: Option<bool>,
    /// Where the corrected numbers of each class lie; of models that are not anchored it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals_95: Option<Vec<ClassIntervals>>,
    /// What one should know about this answer.
    notes: Vec<String>,
}

/// What all points share.
struct Question {
    grid: Grid,
    /// The one that was asked for; otherwise each point has its usual one.
    model: Option<ModelChoice>,
    options: Options,
    /// What corrects the answers, if that was asked for.
    family: Option<Family>,
}

pub(crate) fn run(args: &Sweep) -> Result<(), Exit> {
    let document = input::document(&args.source)?;
    let grid = Grid::read(document, &args.over, &args.couple, flitwise_language::scenario::is_whole)
        .map_err(Exit::BadInput)?;
    let points = grid.points().filter(|points| *points <= MOST_POINTS).ok_or_else(|| {
        Exit::input(format!("--over: found a grid of more than {MOST_POINTS} points, wanted at most that"))
    })?;
    let has_errors = matches!(args.format, SweepFormat::Json | SweepFormat::Jsonl);
    if args.no_expected_errors && !has_errors {
        return Err(Exit::input(
            "--no-expected-errors: found a format without them, wanted --format json or jsonl with it",
        ));
    }
    let expected_errors = has_errors && !args.no_expected_errors;
    let options = Options {
        distributions: !args.means_only,
        saturation_loads: false,
        expected_errors,
        ..Options::default()
    };
    let threads = simulation_options(args)?;
    let mut question = Question { grid, model: args.model, options, family: None };
    let columns = question.check()?;
    if args.model == Some(ModelChoice::Anchored) {
        question.family = Some(Family::learnt(args, &question.grid, &question.options)?);
    }
    let curves = args.plot.clone().map(|path| Curves::begin(&question.grid, path)).transpose()?;
    let threads = threads.unwrap_or_else(rayon::current_num_threads);
    question.write_all(points, threads, (args.format, curves), columns)
}

/// Reads `--threads`, and refuses options of simulations where nothing is simulated.
fn simulation_options(args: &Sweep) -> Result<Option<usize>, Exit> {
    let mut faults = Vec::new();
    let threads =
        typed::Options { faults: &mut faults }.option("threads", &args.campaign.threads, typed::threads);
    if args.model != Some(ModelChoice::Anchored) {
        faults.extend(args.campaign.idle(&args.anchors));
    }
    if faults.is_empty() { Ok(threads) } else { Err(Exit::BadInput(faults)) }
}

impl Question {
    /// Checks the values of every axis, the other axes at their first value, and the last corner: what is wrong
    /// with a sweep should be known before its first row. Of a long axis its ends will do. Returns the columns
    /// that the rows need.
    fn check(&self) -> Result<ClassColumns, Exit> {
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
        let (mut columns, mut faults) = (ClassColumns::default(), GridFaults::default());
        for result in checked {
            match result {
                Ok(more) => columns.join(more),
                Err(found) => found.into_iter().for_each(|fault| faults.add(fault)),
            }
        }
        faults.into_result().map(|()| columns)
    }

    fn model_of(&self, scenario: &Scenario) -> Model {
        self.model.map_or_else(|| Model::usual(scenario), ModelChoice::model)
    }

    /// The columns that a point needs, or what is wrong with it.
    fn columns_at(&self, settings: Vec<Setting>) -> Result<ClassColumns, Vec<String>> {
        let words = |faults: Vec<Fault>| faults.iter().map(Fault::to_string).collect::<Vec<_>>();
        let (document, _) = self.grid.at(settings).map_err(words)?;
        let scenario = document.scenario().map_err(words)?;
        self.model_of(&scenario)
            .supports(&scenario)
            .map_err(|failure| vec![input::failure(&document, &failure).to_string()])?;
        Ok(if self.options.distributions {
            ClassColumns::of(&scenario)
        } else {
            ClassColumns::of_means(&scenario)
        })
    }

    /// How many points one thread answers in a row: only the published model begins at the answer before.
    fn run_length(&self) -> usize {
        let first = self.grid.at(self.grid.settings(0)).ok();
        let scenario = first.and_then(|(document, _)| document.scenario().ok());
        match scenario.map(|scenario| self.model_of(&scenario)) {
            Some(Model::Published) => RUN,
            _ => 1,
        }
    }

    /// Answers one point, from the answer `warm` before it if there is one.
    fn answer(&self, point: usize, warm: &mut Option<WarmStart>) -> Result<Point, Exit> {
        if let Some(family) = &self.family {
            let at = family.place(&self.grid, point);
            if let Some(answer) = family.solved(&at) {
                let (_, set) =
                    self.grid.at(self.grid.settings(point)).map_err(|faults| Exit::faults(&faults))?;
                return Ok(Point::corrected(family, &at, set, answer.clone()));
            }
        }
        let model = self.model.map(ModelChoice::model);
        let found =
            answer_at(&self.grid, point, model, &self.options, warm).map_err(|fault| match fault {
                GridFault::Unsound(faults) => Exit::faults(&faults),
                GridFault::Refused(document, failure) => input::failure(&document, &failure),
            })?;
        Ok(match (found.answer, &self.family) {
            (Ok(answer), Some(family)) => {
                Point::corrected(family, &family.place(&self.grid, point), found.set, answer)
            }
            (Ok(answer), None) => Point::answered(found.set, answer),
            (Err(failure), _) => {
                let model = self.model.unwrap_or(failure.model().into());
                Point { model, ..Point::failed(found.set, &failure) }
            }
        })
    }

    /// Answers all points and writes each as soon as all before it are written.
    fn write_all(
        self,
        points: usize,
        threads: usize,
        (format, curves): (SweepFormat, Option<Curves>),
        columns: ClassColumns,
    ) -> Result<(), Exit> {
        let account = self.family.as_ref().map(|family| family.account.clone());
        let mut writer = match curves {
            Some(curves) => Writer::Plot { curves: Box::new(curves) },
            None => Writer::begin(format, &self.grid, self.model, columns, account)?,
        };
        let queue = Arc::new(Queue::new(points, self.run_length()));
        let (question, of_workers) = (Arc::new(self), Arc::clone(&queue));
        let mut background = Background::begin(move |sender| of_workers.work(threads, &question, &sender));
        let (mut waiting, mut written, mut failed) = (BTreeMap::new(), 0, 0);
        let ended = loop {
            match background.next() {
                Next::Found((at, point)) => {
                    waiting.insert(at, point);
                }
                Next::Done => break None,
                Next::Stopped => {
                    break Some(Exit::InterruptedAt(format!("{written} of {points} points are there")));
                }
            }
            let mut broken = None;
            while let Some(point) = waiting.remove(&written) {
                match point {
                    Ok(point) => {
                        failed += usize::from(point.failure.is_some());
                        writer.point(&point)?;
                        written += 1;
                    }
                    Err(ended) => {
                        broken = Some(ended);
                        break;
                    }
                }
            }
            if broken.is_some() {
                break broken;
            }
            queue.has_written(written);
        };
        writer.end(ended.is_some())?;
        match (ended, failed) {
            (Some(ended), _) => Err(ended),
            (None, 0) => Ok(()),
            _ => Err(Exit::NotConverged(format!("{failed} of {points} points did not converge"))),
        }
    }
}

/// The points that are still to be answered.
struct Queue {
    points: usize,
    run: usize,
    state: Mutex<QueueState>,
    /// Told when a point has been written.
    moved: Condvar,
}

struct QueueState {
    /// The first point that nobody has taken.
    next: usize,
    /// Points that have been written.
    written: usize,
}

impl Queue {
    fn new(points: usize, run: usize) -> Self {
        let state = Mutex::new(QueueState { next: 0, written: 0 });
        Self { points, run, state, moved: Condvar::new() }
    }

    /// Answers all points in so many threads and sends them, in no order.
    fn work(&self, threads: usize, question: &Question, sender: &Sender<(usize, Result<Point, Exit>)>) {
        thread::scope(|scope| {
            for _ in 0..threads {
                let sender = sender.clone();
                scope.spawn(move || {
                    while let Some(run) = self.take() {
                        let mut warm = None;
                        for point in run {
                            let answer = question.answer(point, &mut warm);
                            if sender.send((point, answer)).is_err() {
                                return;
                            }
                        }
                    }
                });
            }
        });
    }

    /// The next points to answer; waits until they are not too far ahead of what has been written.
    fn take(&self) -> Option<Range<usize>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.next < self.points && state.next >= state.written + AHEAD {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let begin = state.next;
        state.next = usize::min(begin + self.run, self.points);
        (begin < self.points).then_some(begin..state.next)
    }

    fn has_written(&self, points: usize) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).written = points;
        self.moved.notify_all();
    }
}

impl Point {
    fn answered(set: Vec<Setting>, answer: Answer) -> Self {
        let Answer { model, scenario: _, report, saturated, classes, validity, sections, notes } = answer;
        let (model, report) = (model.into(), Some(report));
        Self {
            model,
            set,
            failure: None,
            report,
            saturated,
            classes,
            sections,
            validity,
            is_anchor: None,
            intervals_95: None,
            notes,
        }
    }

    /// The answer at a place, corrected by what was learnt.
    fn corrected(family: &Family, at: &[f64], set: Vec<Setting>, answer: Answer) -> Self {
        let CorrectedAnswer { answer, intervals } = family.anchored().correct(at, answer);
        Self {
            model: ModelChoice::Anchored,
            is_anchor: Some(family.is_anchor(at)),
            intervals_95: Some(intervals),
            ..Self::answered(set, answer)
        }
    }

    fn failed(set: Vec<Setting>, failure: &Failure) -> Self {
        Self {
            model: failure.model().into(),
            set,
            failure: Some(failure.to_string()),
            report: None,
            saturated: false,
            classes: Vec::new(),
            sections: Sections::default(),
            validity: None,
            is_anchor: None,
            intervals_95: None,
            notes: Vec::new(),
        }
    }

    /// Class by class with its intervals, if it has any.
    fn rows(&self) -> impl Iterator<Item = (&ClassAnswer, Option<&ClassIntervals>)> {
        let intervals = self.intervals_95.iter().flatten().map(Some).chain(std::iter::repeat(None));
        self.classes.iter().zip(intervals)
    }
}

/// Quantities of a row.
const LATENCIES: [Quantity; 3] = [Quantity::NetworkLatency, Quantity::Waiting, Quantity::TotalLatency];

/// Rows on their way out.
enum Writer {
    Csv { columns: ClassColumns, is_anchored: bool, keys: usize, out: Box<csv::Writer<WholeRows>> },
    Json { out: WholeRows, first: bool },
    Jsonl { out: WholeRows },
    Table { rows: Box<Rows>, columns: ClassColumns, account: Option<Account>, time: Time },
    Plot { curves: Box<Curves> },
}

impl Writer {
    fn begin(
        format: SweepFormat,
        grid: &Grid,
        model: Option<ModelChoice>,
        columns: ClassColumns,
        account: Option<Account>,
    ) -> Result<Self, Exit> {
        let axes = grid.axes.iter().map(|axis| axis.key.clone());
        let keys: Vec<String> = axes.chain(grid.couplings.iter().map(|c| c.key.clone())).collect();
        let stdout = WholeRows::default;
        if let (SweepFormat::Csv | SweepFormat::Jsonl, Some(account)) = (format, &account) {
            account.print_notes();
        }
        Ok(match format {
            SweepFormat::Csv => {
                let mut out = Box::new(csv::Writer::from_writer(stdout()));
                let is_anchored = account.is_some();
                let more = if is_anchored { interval_heads(&columns) } else { Vec::new() };
                out.write_record(heads(grid, &columns).into_iter().chain(more))?;
                Self::Csv { columns, is_anchored, keys: keys.len(), out }
            }
            SweepFormat::Jsonl => Self::Jsonl { out: stdout() },
            SweepFormat::Json => {
                let head = SweepDocument {
                    schema: "flitwise.sweep/3",
                    flitwise_version: env!("CARGO_PKG_VERSION"),
                    model,
                    scenario: input::scenario(&grid.document)?.spec().clone(),
                    anchoring: account,
                    points: Vec::new(),
                    partial: false,
                };
                let text = serde_json::to_string(&head)?;
                // the document without its end: points follow one by one
                let (begin, _) = text.rsplit_once(']').expect("a document has a list of points");
                let mut out = stdout();
                write!(out, "{begin}")?;
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
                heads.extend(["model", "class"]);
                let time = Time::of(input::scenario(&grid.document)?.spec());
                let means = LATENCIES.map(|quantity| format!("{} [{}]", quantity.head(), time.unit));
                heads.extend(means.iter().map(String::as_str));
                heads.extend(columns.of_packets().map(|quantity| quantity.head()));
                let misses = columns.deadline_heads();
                heads.extend(misses.iter().map(String::as_str));
                let rows = Box::new(Rows::new(&heads, format == SweepFormat::Markdown));
                Self::Table { rows, columns, account, time }
            }
        })
    }

    /// Writes all rows of a point.
    fn point(&mut self, point: &Point) -> Result<(), Exit> {
        let set = point.set.iter().map(|setting| setting.value.clone());
        match self {
            Self::Csv { columns, is_anchored, keys, out } => {
                debug_assert_eq!(point.set.len(), *keys);
                let none = if *is_anchored { interval_heads(columns).len() } else { 0 };
                let mut more = point.rows().map(|(class, intervals)| {
                    intervals.map(|found| interval_row(columns, point, class, found)).unwrap_or_default()
                });
                for row in rows(&point.set, point.model.word(), &point.classes, columns) {
                    let more = more.next().unwrap_or_else(|| vec![String::new(); none]);
                    out.write_record(row.into_iter().chain(more))?;
                }
            }
            Self::Json { out, first } => {
                out.write_all(if *first { b"\n" } else { b",\n" })?;
                *first = false;
                serde_json::to_writer(out, point)?;
            }
            Self::Plot { curves } => curves.point(point),
            Self::Jsonl { out } => {
                serde_json::to_writer(&mut *out, point)?;
                out.write_all(b"\n")?;
            }
            Self::Table { rows, columns, time, .. } => {
                for (class, intervals) in point.rows() {
                    let misses = columns.misses(class).map(|miss| miss.map_or_else(String::new, share));
                    let own = [point.model.word().to_owned(), class.name.clone()];
                    let means = LATENCIES.map(|quantity| mean(quantity, class, intervals, *time));
                    let of_packets =
                        columns.of_packets().map(|quantity| output::mean(quantity, class, *time));
                    rows.add(set.clone().chain(own).chain(means).chain(of_packets).chain(misses));
                }
                if point.classes.is_empty() {
                    rows.add(set.chain([point.model.word().to_owned(), "not converged".to_owned()]));
                }
            }
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<(), Exit> {
        match self {
            Self::Csv { out, .. } => out.flush()?,
            Self::Json { out, .. } | Self::Jsonl { out } => out.flush()?,
            Self::Table { .. } | Self::Plot { .. } => {}
        }
        Ok(())
    }

    fn end(mut self, partial: bool) -> Result<(), Exit> {
        match &mut self {
            Self::Json { out, .. } => write!(out, "\n],\"partial\":{partial}}}\n")?,
            Self::Table { rows, account, .. } => {
                let remarks = account.iter().flat_map(Account::remarks);
                let remarks: String = remarks.map(|remark| output::folded(&remark)).collect();
                let gap = if remarks.is_empty() { "" } else { "\n" };
                output::write(format!("{rows}{gap}{remarks}").as_bytes())?;
            }
            Self::Plot { curves, .. } => curves.end()?,
            Self::Csv { .. } | Self::Jsonl { .. } => {}
        }
        self.flush()
    }
}

/// A mean of a table, with the half-width of its interval if it has one.
fn mean(quantity: Quantity, class: &ClassAnswer, intervals: Option<&ClassIntervals>, time: Time) -> String {
    let interval = intervals.and_then(|found| found.of(quantity.into(), class));
    match (class.means.get(quantity), interval) {
        (Some(mean), Some(interval)) => output::with_interval(Some(*mean), Some(interval.half_width(*mean))),
        _ => output::mean(quantity, class, time),
    }
}

/// Columns that only the anchored model has.
fn interval_heads(columns: &ClassColumns) -> Vec<String> {
    let name = |quantity: &Quantity| match quantity.percentile() {
        Some(_) => output::percentile_column(*quantity),
        None => quantity.field().to_owned(),
    };
    let named = CORRECTED.iter().map(name).chain(columns.deadlines().map(|(_, name)| name));
    let ends = named.flat_map(|name| ["lower_95", "upper_95"].map(|end| format!("{name}_{end}")));
    ["is_anchor", "beyond_anchors"].map(str::to_owned).into_iter().chain(ends).collect()
}

/// Their values; what does not exist is empty.
fn interval_row(
    columns: &ClassColumns,
    point: &Point,
    class: &ClassAnswer,
    intervals: &ClassIntervals,
) -> Vec<String> {
    let deadlines = columns.deadlines().map(|((hops, cycles), _)| Measure::miss(cycles, hops));
    let measures = CORRECTED.iter().map(|quantity| (*quantity).into()).chain(deadlines);
    let ends = measures.flat_map(|measure: Measure| {
        let found: Option<Interval> = intervals.of(measure, class);
        [found.map(|one| one.lower_95), found.map(|one| one.upper_95)]
    });
    let ends = ends.map(|end| end.map_or_else(String::new, |end| end.to_string()));
    let flags = [point.is_anchor == Some(true), intervals.beyond_anchors].map(|flag| flag.to_string());
    flags.into_iter().chain(ends).collect()
}
