//! `flitwise plan region`.

use flitwise_figures::draw::Style;
use flitwise_language::scenario::ScenarioSpec;
use flitwise_models::design::region::{FrontierPoint, Question};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::anchored::{self, IntervalEnd};
use super::{PlanDocument, PlanRequest, SCHEMA, VERSION, binds, faults, picture, term};
use crate::anchoring::Account;
use crate::args::plan::Region;
use crate::args::{Format, ModelChoice};
use crate::figure::theme;
use crate::outcome::Exit;
use crate::output::{self, Page, Rows};
use crate::signals::{Background, Next};
use crate::{plot, typed};

/// Points that one thread looks for in a row, each search from where the one before ended.
const RUN: usize = 25;
/// The most points of a frontier.
const MOST_POINTS: u64 = 10_000;
/// Rows of a page.
const ROWS: usize = 19;

/// The answer of `flitwise plan region --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RegionDocument {
    /// `flitwise.plan/3`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// `region`.
    plan: &'static str,
    /// Which model answers.
    model: ModelChoice,
    /// The scenario; the rates of the axes are not used.
    pub(super) scenario: ScenarioSpec,
    /// The classes whose rates are the axes.
    pub(super) axes: [String; 2],
    /// The requirements, as they would be typed.
    pub(super) requirements: Vec<String>,
    /// The frontier, from the first axis to the second.
    pub(super) frontier: Vec<FrontierPoint>,
    /// Scenarios solved.
    evaluations: u32,
    /// How the anchored model was anchored; other models leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    anchoring: Option<Account>,
    /// Whether it was interrupted, so that points are missing.
    partial: bool,
}

pub(super) fn run(args: &Region) -> Result<(), Exit> {
    let asked = PlanRequest::read(&args.required);
    let (asked, points) = Exit::both(asked, options(args))?;
    asked.check()?;
    let classes = asked.rates("--axes", &args.axes)?;
    refuse_frames(&asked, &classes)?;
    let axes: [usize; 2] = classes.try_into().map_err(|found: Vec<usize>| {
        let plural = if found.len() == 1 { "rate" } else { "rates" };
        Exit::input(format!(
            "--axes: found {} {plural}, wanted two, such as class.R1.rate,class.BE.rate",
            found.len()
        ))
    })?;
    let ask = |judge| Question::new(judge, asked.scenario.spec(), axes).map_err(faults);
    let mut question = ask(asked.judge.clone())?;
    let mut account = None;
    if asked.is_anchored {
        if !args.required.requirements.is_empty() {
            anchored::check(&asked)?;
        }
        let family = anchored::of_rates(&args.required, &args.campaign, &asked, axes, &question)?;
        question = ask(family.judge(&asked.judge, IntervalEnd::Middle))?;
        account = Some(family.account);
    }
    let requirements = question.requirements().iter().map(ToString::to_string).collect();
    let (frontier, stopped) = search(question, points);
    if let (true, Some(stopped)) = (frontier.is_empty(), &stopped) {
        return Err(Exit::InterruptedAt(stopped.clone()));
    }
    let name = |axis: usize| asked.scenario.classes()[axis].name.clone();
    let document = RegionDocument {
        schema: SCHEMA,
        flitwise_version: VERSION,
        plan: "region",
        model: asked.answering(),
        scenario: asked.scenario.spec().clone(),
        axes: axes.map(name),
        requirements,
        evaluations: frontier.iter().map(|point| point.evaluations).sum(),
        frontier,
        anchoring: account,
        partial: stopped.is_some(),
    };
    if document.partial && !args.output.is_empty() {
        output::note("no picture is drawn: its holes would pass for holes of the region");
    } else if !args.output.is_empty() {
        draw_to(&document, args)?;
    }
    match args.required.format {
        Format::Json => output::write_json(&PlanDocument::Region(&document)),
        Format::Csv => csv(&document),
        Format::Table | Format::Markdown => {
            output::write_coloured(&page(&document, args.required.format == Format::Markdown))
        }
    }?;
    stopped.map_or(Ok(()), |place| Err(Exit::InterruptedAt(place)))
}

/// Streams of frames come by whole numbers: no rate can be set for them.
fn refuse_frames(asked: &PlanRequest, classes: &[usize]) -> Result<(), Exit> {
    let fault = |class: &usize| {
        let class = &asked.scenario.classes()[*class];
        class.source.streams().map(|streams| {
            format!(
                "--axes class.{name}.rate: found streams of frames, wanted a class of which any rate can be set\n  \
                 help: flitwise sweep --over class.{name}.source.streams=0:{streams}:5 with another --over",
                name = class.name,
            )
        })
    };
    let faults: Vec<String> = classes.iter().filter_map(fault).collect();
    if faults.is_empty() { Ok(()) } else { Err(Exit::BadInput(faults)) }
}

/// The points of the frontier, in order; how far it came if it was interrupted.
fn search(question: Question, points: usize) -> (Vec<FrontierPoint>, Option<String>) {
    let mut background = Background::begin(move |sender| {
        let reach = question.reach();
        let runs: Vec<usize> = (0..points).step_by(RUN).collect();
        runs.into_par_iter().for_each_with(sender, |sender, begin| {
            let run = begin..usize::min(begin + RUN, points);
            question.each_point(reach, points, run, &mut |index, point| {
                // nobody receives it once a signal came
                let _ = sender.send((index, point));
            });
        });
    });
    let mut frontier: Vec<(usize, FrontierPoint)> = Vec::new();
    let stopped = loop {
        match background.next() {
            Next::Found(one) => frontier.push(one),
            Next::Done => break None,
            Next::Stopped => {
                break Some(format!("{} of {points} points are there", frontier.len()));
            }
        }
    };
    frontier.sort_by_key(|(index, _)| *index);
    (frontier.into_iter().map(|(_, point)| point).collect(), stopped)
}

/// The number of points, and whether pictures can be drawn to where they are wanted.
fn options(args: &Region) -> Result<usize, Exit> {
    let mut faults = Vec::new();
    let mut read = typed::Options { faults: &mut faults };
    let points = read.value("points", &args.points, typed::within(2..=MOST_POINTS, "2 to 10000 points"));
    for path in &args.output {
        if let Err(Exit::BadInput(found)) = plot::check("--output", path) {
            faults.extend(found);
        }
    }
    if faults.is_empty() { Ok(points as usize) } else { Err(Exit::BadInput(faults)) }
}

fn draw_to(document: &RegionDocument, args: &Region) -> Result<(), Exit> {
    let style = Style { theme: theme(args.theme), ..Style::default() };
    let picture = picture::of(document);
    args.output.iter().try_for_each(|path| plot::write(&picture, &style, path))
}

impl RegionDocument {
    /// The requirement that breaks beyond a point.
    fn binding(&self, point: &FrontierPoint) -> String {
        point.binding_requirement.map_or_else(|| "-".to_owned(), |index| self.requirements[index].clone())
    }

    pub(super) fn model(&self) -> ModelChoice {
        self.model
    }
}

/// One row per point of the frontier; what does not exist is empty.
fn csv(document: &RegionDocument) -> Result<(), Exit> {
    let [x, y] = document.axes.each_ref().map(|name| format!("class.{name}.rate_messages_per_cycle"));
    let mut rows = csv::Writer::from_writer(Vec::new());
    let [from_x, from_y] =
        document.axes.each_ref().map(|name| format!("class.{name}.from_rate_messages_per_cycle"));
    let heads = [&x, &y, &from_x, &from_y, "admissible", "binding_requirement", "class", "term", "channel"];
    rows.write_record(heads)?;
    for point in &document.frontier {
        let binding = point.binding.as_ref();
        rows.write_record([
            point.x_rate.to_string(),
            point.y_rate.to_string(),
            point.from_x_rate.to_string(),
            point.from_y_rate.to_string(),
            point.admissible.to_string(),
            binding.map_or_else(String::new, |one| one.requirement.clone()),
            binding.map_or_else(String::new, |one| one.class.clone()),
            binding.map_or("", |one| term(one.term)).to_owned(),
            binding.map_or_else(String::new, |one| one.channel.clone()),
        ])?;
    }
    output::write_csv(rows)
}

fn page(document: &RegionDocument, markdown: bool) -> String {
    let mut page = Page::new(markdown);
    let spec = &document.scenario;
    let network = output::network(&spec.network);
    page.title(&format!("{}: {network}, {} model, admissible region", spec.name, document.model));
    let [x, y] = document.axes.each_ref().map(|name| format!("class.{name}.rate"));
    let mut rows = Rows::new(&[&x, &y, "binds", "class", "term"], markdown);
    let count = document.frontier.len();
    let shown = usize::min(count, ROWS);
    for row in 0..shown {
        let point = &document.frontier[row * (count - 1) / (shown - 1).max(1)];
        let binding = point.binding.as_ref();
        rows.add([
            super::max_load::digits(point.x_rate),
            super::max_load::digits(point.y_rate),
            if point.admissible {
                document.binding(point)
            } else {
                format!("{} UNREACHABLE", document.binding(point))
            },
            binding.map_or_else(|| "-".to_owned(), |one| one.class.clone()),
            binding.map_or("-", |one| term(one.term)).to_owned(),
        ]);
    }
    page.rows(&rows);
    page.legend("rates in messages/cycle/node; all requirements hold at these and break just beyond");
    let mut remarks = Vec::new();
    for requirement in 0..document.requirements.len() {
        let of = document.frontier.iter().filter(|point| point.binding_requirement == Some(requirement));
        let points: Vec<&FrontierPoint> = of.collect();
        let name = &document.requirements[requirement];
        match points.get(points.len() / 2).and_then(|point| point.binding.as_ref()) {
            Some(binding) => remarks.push(format!(
                "{name} binds along {} of {count} points; in the middle of them: {}",
                points.len(),
                binds(binding)
            )),
            None => remarks.push(format!("{name} binds nowhere")),
        }
    }
    let low = |point: &&FrontierPoint| point.from_x_rate > 0.0 || point.from_y_rate > 0.0;
    let low = document.frontier.iter().filter(low).count();
    if low > 0 {
        remarks.push(format!(
            "along {low} of {count} points a requirement is broken at lower rates, too; --format csv has from where on \
             all hold"
        ));
    }
    remarks.extend(document.anchoring.iter().flat_map(Account::remarks));
    page.remarks(&remarks);
    page.end(&format!("{count} points, {} scenarios solved", document.evaluations))
}
