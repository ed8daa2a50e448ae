//! `flitwise report`: all figures, error tables, claims and verdicts on one page.

mod accuracy;

use std::collections::HashSet;
use std::fs;

use flitwise_figures::draw::{self, Style};
use flitwise_figures::picture::{Content, Lines, Picture};
use flitwise_models::scenario::Scenario;
use flitwise_validation::answer::{Simulation, StoppedBy};
use flitwise_validation::campaign;
use flitwise_validation::claims::{Registry, Verdict};
use flitwise_validation::experiment::Settings;
use indicatif::HumanCount;
use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Serialize;

use crate::args::Report;
use crate::campaign::Campaign;
use crate::figure::{self, Wanted};
use crate::learn;
use crate::outcome::Ended;
use crate::output::{self, percent};
use crate::verify::{self, Judged};

const HTML: &str = include_str!("report/page.html");
const MARKDOWN: &str = include_str!("report/page.md");

/// A figure on the page.
#[derive(Debug, Serialize)]
struct FigureEntry {
    name: String,
    number: String,
    heading: String,
    title: String,
    svg: String,
    claims: Vec<ClaimEntry>,
    judged: Vec<JudgedEntry>,
    notes: Vec<String>,
    rebuild: String,
}

/// What somebody says about a figure.
#[derive(Debug, Serialize)]
struct ClaimEntry {
    text: String,
    source: String,
}

/// A claim of the registry and what came of it.
#[derive(Clone, Debug, Serialize)]
struct JudgedEntry {
    name: String,
    text: String,
    source: String,
    by: &'static str,
    verdict: &'static str,
    state: &'static str,
    class: &'static str,
    measured: String,
    reason: Option<String>,
}

/// One series and how far the model is off.
#[derive(Debug, Serialize)]
struct ErrorEntry {
    figure: String,
    model: &'static str,
    series: String,
    points: usize,
    mean: String,
    worst: String,
    at: String,
}

/// A point that did not reach the wanted precision.
#[derive(Debug, Serialize)]
struct CoarseEntry {
    figure: String,
    point: usize,
    reached: String,
    stopped_by: &'static str,
    saturated: String,
}

pub(crate) fn run(args: &Report) -> Result<(), Ended> {
    let campaign = Campaign::read(&args.campaign)?;
    let wanted = figure::wanted(&["all".to_owned()], args.model)?;
    fs::create_dir_all(&args.out)
        .map_err(|error| Ended::input(format!("--out {}: cannot be made: {error}", args.out.display())))?;
    let scenarios: Vec<Vec<Scenario>> = wanted.iter().map(|one| one.figure.scenarios()).collect();
    let all = scenarios.concat();
    let outcome = campaign.run(&all).map_err(|faults| Ended::faults(&faults))?;
    let simulations: Option<Vec<Simulation>> = outcome.simulations.into_iter().collect();
    // what was simulated is kept: the next report goes on from there
    let Some(simulations) = simulations else { return Err(Ended::Interrupted) };
    let mut registry = Registry::built_in();
    if args.quick {
        registry.claims.retain(|claim| claim.quick);
    }
    let (judged, partial) = verify::judged(&registry, &campaign)?;
    if partial {
        return Err(Ended::Interrupted);
    }

    let style = Style { theme: figure::theme(args.theme), ..Style::default() };
    let claims: Vec<JudgedEntry> = judged.iter().map(JudgedEntry::of).collect();
    let (mut figures, mut errors, mut coarse) = (Vec::new(), Vec::new(), Vec::new());
    let mut rest = simulations.as_slice();
    for (one, scenarios) in wanted.iter().zip(&scenarios) {
        let (own, others) = rest.split_at(scenarios.len());
        rest = others;
        let (picture, off) = with_errors(one, own);
        for path in figure::write(one, &picture, own, &campaign, &style, &args.out)? {
            output::write(format!("{}\n", path.display()).as_bytes())?;
        }
        errors.extend(off);
        coarse.extend(coarse_entries(one, own, campaign.settings.precision));
        figures.push(figure_entry(one, picture, &style, &claims, &campaign));
    }
    let points = distinct(&all, &simulations, &campaign.settings);
    let messages: u64 = points.iter().map(|simulation| simulation.run.messages).sum();
    let how = figure::how(&campaign);
    let quick = if args.quick { " --quick" } else { "" };
    let model = args.model.map_or_else(String::new, |models| format!(" --model {}", models.word()));
    let page = context! {
        version => env!("CARGO_PKG_VERSION"),
        seed => campaign.settings.seed,
        precision => percent(campaign.settings.precision),
        max_messages => HumanCount(campaign.settings.max_messages).to_string(),
        points => points.len(),
        messages => HumanCount(messages).to_string(),
        summary => Serde(&verify::summary(&judged)),
        figures => Serde(&figures),
        errors => Serde(&errors),
        accuracy => Serde(&accuracy::tables()),
        claims => Serde(&claims),
        coarse => Serde(&coarse),
        rebuild => format!("flitwise report{quick}{model} --out DIR {how}"),
        rebuild_claims => format!("flitwise verify{quick} {how}"),
    };
    let lessons = args.out.join("lessons.html");
    figure::write_whole(&lessons, learn::whole_page().as_bytes())?;
    output::write(format!("{}\n", lessons.display()).as_bytes())?;
    for (name, template) in [("report.html", HTML), ("report.md", MARKDOWN)] {
        let text = rendered(name, template, &page)?;
        let path = args.out.join(name);
        figure::write_whole(&path, text.as_bytes())?;
        output::write(format!("{}\n", path.display()).as_bytes())?;
    }
    Ok(())
}

/// A page with its blanks filled; what goes into HTML is escaped.
fn rendered(name: &str, template: &str, page: &minijinja::Value) -> Result<String, Ended> {
    let broken = |error: minijinja::Error| Ended::Output(std::io::Error::other(format!("{name}: {error}")));
    let mut environment = Environment::new();
    environment.add_template(name, template).map_err(broken)?;
    let mut text = environment.get_template(name).map_err(broken)?.render(page).map_err(broken)?;
    text.push('\n');
    Ok(text)
}

impl JudgedEntry {
    fn of(judged: &Judged) -> Self {
        Self {
            name: judged.name.clone(),
            text: judged.text.clone(),
            source: judged.source.clone(),
            by: judged.by.word(),
            verdict: judged.judgement.verdict.word(),
            state: judged.state(),
            class: match (judged.state(), judged.judgement.verdict) {
                ("CHANGED", _) => "changed",
                (_, Verdict::Held) => "held",
                (_, Verdict::NotHeld) => "not-held",
                (_, Verdict::Undecided) => "undecided",
            },
            measured: judged.judgement.measured.clone(),
            reason: judged.reason.clone().filter(|_| judged.judgement.verdict != Verdict::Held),
        }
    }
}

fn figure_entry(
    one: &Wanted,
    picture: Picture,
    style: &Style,
    claims: &[JudgedEntry],
    campaign: &Campaign,
) -> FigureEntry {
    let name = &one.figure.name;
    let number = one.typed.clone();
    let heading = match name.strip_prefix("fig") {
        Some(_) => format!("Figure {number}: {}", picture.title),
        None => picture.title.clone(),
    };
    // claims are named after the figure: fig04a-agreement; those of both parts of a figure, fig05a-.., fig05b-..
    let of_figure = |claim: &&JudgedEntry| {
        let rest = claim.name.strip_prefix(name.as_str());
        rest.is_some_and(|rest| rest.starts_with('-') || rest.starts_with("a-") || rest.starts_with("b-"))
    };
    let claim = |claim: &flitwise_figures::figure::Claim| ClaimEntry {
        text: claim.text.clone(),
        source: claim.source.clone(),
    };
    FigureEntry {
        number,
        heading,
        title: picture.title.clone(),
        svg: draw::svg(&picture, style),
        claims: one.figure.claims.iter().map(claim).collect(),
        judged: claims.iter().filter(of_figure).cloned().collect(),
        notes: picture.notes,
        rebuild: one.rebuild(campaign),
        name: name.clone(),
    }
}

/// A figure, and how far its models are off: that is on the page even where the figure does not show it.
fn with_errors(one: &Wanted, simulations: &[Simulation]) -> (Picture, Vec<ErrorEntry>) {
    let mut figure = one.figure.clone();
    figure.errors = true;
    let mut picture = figure.picture(simulations);
    let entries = error_entries(&one.typed, &picture);
    if let (Content::Lines(lines), false) = (&mut picture.content, one.figure.errors) {
        lines.errors.clear();
    }
    (picture, entries)
}

/// One entry for each series of errors.
fn error_entries(figure: &str, picture: &Picture) -> Vec<ErrorEntry> {
    let Content::Lines(Lines { errors, y, .. }) = &picture.content else {
        return Vec::new();
    };
    let unit = if y.unit.is_empty() { "points" } else { "%" };
    let mut entries = Vec::new();
    for series in errors {
        let steady = series.points.iter().filter(|point| !point.saturated);
        let known: Vec<(f64, f64)> = steady.filter_map(|point| Some((point.x, point.y?))).collect();
        let worst = known.iter().copied().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let Some((at, worst)) = worst else { continue };
        let mean = known.iter().map(|(_, error)| error.abs()).sum::<f64>() / known.len() as f64;
        entries.push(ErrorEntry {
            figure: figure.to_owned(),
            model: series.origin.word(),
            series: series.label.clone(),
            points: known.len(),
            mean: format!("{mean:.1} {unit}"),
            worst: format!("{worst:+.1} {unit}"),
            at: at.to_string(),
        });
    }
    entries
}

/// Points of a figure that did not reach the precision.
fn coarse_entries(one: &Wanted, simulations: &[Simulation], precision: f64) -> Vec<CoarseEntry> {
    let mut entries = Vec::new();
    for (index, simulation) in simulations.iter().enumerate() {
        let run = &simulation.run;
        let is_fine = run.reached_precision.is_some_and(|reached| reached <= precision);
        if is_fine || run.stopped_by == StoppedBy::NoTraffic {
            continue;
        }
        let saturated = simulation.classes.iter().filter(|class| class.saturated);
        let saturated: Vec<&str> = saturated.map(|class| class.name.as_str()).collect();
        entries.push(CoarseEntry {
            figure: one.typed.clone(),
            point: index + 1,
            reached: run.reached_precision.map_or_else(|| "-".to_owned(), percent),
            stopped_by: match run.stopped_by {
                StoppedBy::MaxMessages => "messages",
                StoppedBy::Saturated => "saturation",
                _ => "time",
            },
            saturated: saturated.join(", "),
        });
    }
    entries
}

/// One simulation of each point: figures share many.
fn distinct<'s>(
    scenarios: &[Scenario],
    simulations: &'s [Simulation],
    settings: &Settings,
) -> Vec<&'s Simulation> {
    let mut known = HashSet::new();
    let pairs = scenarios.iter().zip(simulations);
    let new = pairs.filter(|(scenario, _)| known.insert(campaign::key(scenario, settings).hash().to_owned()));
    new.map(|(_, simulation)| simulation).collect()
}
