//! `flitwise report`: all figures, error tables, claims and verdicts on one page.

mod accuracy;

use std::collections::HashMap;
use std::path::PathBuf;

use flitwise_experiment::Settings;
use flitwise_experiment::answer::{Simulation, StoppedBy};
use flitwise_figures::draw::Style;
use flitwise_figures::figure::{CURVE_POINTS, Figure};
use flitwise_figures::picture::{Content, Lines, Picture};
use flitwise_figures::published::Paper;
use flitwise_validation::campaign;
use flitwise_validation::claims::{Registry, Verdict};
use indicatif::HumanCount;
use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Serialize;

use crate::args::{Report, Theme};
use crate::campaign::{Campaign, Defaults, more_of};
use crate::figure::{self, Drawing, FigureRequest, Omission};
use crate::outcome::Exit;
use crate::output::{self, percent};
use crate::signals::{Watch, unless_stopped};
use crate::verify::{self, ClaimReport};
use crate::{learn, place};

const HTML: &str = include_str!("report/page.html");
const MARKDOWN: &str = include_str!("report/page.md");

/// What the page of all papers is called, and what is on it.
const TITLE: &str = "Models and simulation of published figures";
const ABOUT: &str = "Figures of Kim, Yum and Das (2005), of MediaWorm (Yum, Kim, Das and Vaidya), of preemptive \
                     routers and network interfaces (Yum, Kim and Das, ISCA 2001) and of RECN (Duato et al., HPCA \
                     2005), and our own, each computed by analytical models and by simulation.";

/// How a quick report is simulated unless it is told otherwise; the help text says so.
const QUICK: Defaults = Defaults { precision: "20%", max_messages: "1e4" };
/// Points of a model's curve, beside those that are simulated, in a quick report: the models take most of its time.
const QUICK_CURVE_POINTS: usize = 12;

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
    /// Where it is.
    point: String,
    reached: String,
    stopped_by: &'static str,
    saturated: String,
}

/// A figure that is not on the page.
#[derive(Debug, Serialize)]
struct MissingEntry {
    number: String,
    /// What of it was simulated.
    found: String,
}

/// What there is for the page.
#[derive(Default)]
struct Contents {
    /// In the order in which they were drawn.
    figures: Vec<FigureEntry>,
    errors: Vec<ErrorEntry>,
    coarse: Vec<CoarseEntry>,
    /// The messages of every simulated point, and whether that is more than was asked for, by its key: figures share
    /// many.
    points: HashMap<String, (u64, bool)>,
    missing: Vec<MissingEntry>,
    /// Whether claims were judged, all or some.
    judged: Option<Vec<ClaimReport>>,
    /// How many claims are to be judged.
    wanted_claims: usize,
    /// Whether something is missing.
    partial: bool,
}

pub(crate) fn run(args: &Report) -> Result<(), Exit> {
    write_all(args, &scope(args)?, &campaign(args)?)
}

/// How a report is simulated, or all that is wrong with it.
pub(crate) fn campaign(args: &Report) -> Result<Campaign, Exit> {
    match args.quick {
        true => Campaign::read_or(&args.campaign, QUICK),
        false => Campaign::read(&args.campaign),
    }
}

/// What a report is about.
pub(crate) struct ReportScope {
    pub(crate) figures: Vec<FigureRequest>,
    pub(crate) registry: Registry,
}

/// Figures and claims of a report; to read them all takes seconds.
pub(crate) fn scope(args: &Report) -> Result<ReportScope, Exit> {
    let mut wanted = figure::wanted(&["all".to_owned()], args.model.map(crate::args::FigureModels::Models))?;
    let mut registry = Registry::built_in();
    if let Some(paper) = args.paper {
        let is_its = |name: &str| Paper::of(name).word == paper.word;
        wanted.retain(|one| is_its(&one.figure.name));
        registry.claims.retain(|claim| is_its(&claim.name));
    }
    if args.quick {
        for one in &mut wanted {
            one.figure.curve_points = QUICK_CURVE_POINTS;
            one.quicken()?;
        }
        registry.claims.retain(|claim| claim.quick);
    }
    Ok(ReportScope { figures: wanted, registry })
}

/// Simulates, draws, judges and writes the pages.
pub(crate) fn write_all(args: &Report, scope: &ReportScope, campaign: &Campaign) -> Result<(), Exit> {
    let ReportScope { figures: wanted, registry } = scope;
    place::directory("--out", &args.out)?;
    figure::write_and_say(&args.out.join("lessons.html"), learn::whole_page().as_bytes())?;
    let style = Style { theme: figure::theme(args.theme), ..Style::default() };
    let mut contents = Contents { wanted_claims: registry.claims.len(), ..Contents::default() };
    // a signal between two steps ends them in order, too
    let _watch = Watch::begin();
    let missing = figure::draw_each(wanted, campaign, &mut |one, found| {
        contents.draw(one, found, campaign, &style, args)
    })?;
    let missing_entry = |missing: &Omission| MissingEntry {
        number: wanted[missing.figure].typed.clone(),
        found: missing.to_string(),
    };
    contents.missing = missing.iter().map(missing_entry).collect();
    let is_drawn = missing.is_empty();
    // until the claims are judged
    contents.partial = true;
    // in the order of the paper
    let place = |name: &str| wanted.iter().position(|one| one.figure.name == name);
    contents.figures.sort_by_key(|one| place(&one.name));
    let place = |typed: &str| wanted.iter().position(|one| one.typed == typed);
    contents.errors.sort_by_key(|one| place(&one.figure));
    contents.coarse.sort_by_key(|one| place(&one.figure));

    if is_drawn {
        // whatever happens to the claims, there is a page of the pictures
        contents.write(campaign, args)?;
        let checked = verify::judged(registry, campaign)?;
        (contents.judged, contents.partial) = (Some(checked.claims), checked.partial);
    }
    for path in contents.write(campaign, args)? {
        output::write(format!("{}\n", path.display()).as_bytes())?;
    }
    if contents.partial {
        let (drawn, of) = (contents.figures.len(), wanted.len());
        // what was simulated is kept: the next report goes on from there
        let judged = contents.judged.as_ref().map_or(0, Vec::len);
        return Err(Exit::InterruptedAt(format!(
            "{drawn} of {of} figures are drawn, {judged} of {} claims judged; the page says what is missing",
            contents.wanted_claims
        )));
    }
    Ok(())
}

impl Contents {
    /// Draws a figure, writes its files and keeps what the page needs of it.
    fn draw(
        &mut self,
        one: &FigureRequest,
        found: Vec<Simulation>,
        campaign: &Campaign,
        style: &Style,
        args: &Report,
    ) -> Result<(), Exit> {
        let (figure, typed, points) = (one.figure.clone(), one.typed.clone(), found.clone());
        let (picture, off) =
            unless_stopped(move || with_errors(&figure, &typed, &points)).ok_or(Exit::Interrupted)?;
        let drawn = Drawing::of(one, &picture, (&found, campaign.settings.precision), campaign, style)?;
        drawn.write(&args.out)?;
        self.errors.extend(off);
        self.coarse.extend(coarse_entries(one, &found, campaign.settings.precision));
        for (scenario, simulation) in one.figure.scenarios().iter().zip(&found) {
            let key = campaign::key(scenario, &campaign.settings).hash().to_owned();
            let run = &simulation.run;
            self.points.insert(key, (run.messages, run.more_than_asked));
        }
        self.figures.push(figure_entry(one, picture, drawn.svg, campaign));
        Ok(())
    }

    /// Writes the pages.
    fn write(&mut self, campaign: &Campaign, args: &Report) -> Result<Vec<PathBuf>, Exit> {
        let judged = self.judged.as_deref().unwrap_or_default();
        let claims: Vec<JudgedEntry> = judged.iter().map(JudgedEntry::of).collect();
        for figure in &mut self.figures {
            figure.judged = claims.iter().filter(|claim| figure.has(claim)).cloned().collect();
        }
        let messages: u64 = self.points.values().map(|(messages, _)| messages).sum();
        let more = self.points.values().filter(|(_, more)| *more).count();
        // quick claims that are simulated more precisely have other limits, which no option states
        let finer = args.quick && args.campaign.max_messages.is_none();
        let how = figure::how(campaign);
        let most = format!(" --max-messages {}", campaign.settings.max_messages);
        let how = if finer { how.replace(&most, "") } else { how };
        let quick = if args.quick { " --quick" } else { "" };
        let of_paper = args.paper.map_or_else(String::new, |paper| format!(" --paper {}", paper.word));
        let model = args.model.map_or_else(String::new, |models| format!(" --model {}", models.word()));
        let report = format!("flitwise report{quick}{of_paper}{model} --out DIR {how}");
        let has_refined = args.paper.is_none_or(|paper| paper.word == "kyd05");
        let accuracy = if has_refined { accuracy::tables() } else { Vec::new() };
        // no beginning of a name stands for claims of our own, or where there are none
        let is_own = args.paper.is_some_and(|paper| paper.prefix.is_none());
        let only = args
            .paper
            .and_then(|paper| paper.prefix)
            .map_or_else(String::new, |prefix| format!(" --only {}", prefix.trim_end_matches('-')));
        let page = context! {
            title => args.paper.map_or(TITLE, |paper| paper.title),
            about => args.paper.map_or(ABOUT, |paper| paper.about),
            style => output::PAGE_STYLE,
            dark => args.theme == Theme::Dark,
            wanted_claims => self.wanted_claims,
            finer_claims => finer,
            curve_points => QUICK_CURVE_POINTS,
            full_curve_points => CURVE_POINTS,
            version => env!("CARGO_PKG_VERSION"),
            seed => campaign.settings.seed,
            precision => percent(campaign.settings.precision),
            is_coarse => campaign.settings.precision > Settings::default().precision,
            max_messages => HumanCount(campaign.settings.max_messages).to_string(),
            points => self.points.len(),
            messages => HumanCount(messages).to_string(),
            more_than_asked => more_of(more, self.points.len()),
            quick => args.quick,
            partial => self.partial,
            missing => Serde(&self.missing),
            judged => self.judged.is_some(),
            summary => Serde(&verify::summary(judged)),
            figures => Serde(&self.figures),
            errors => Serde(&self.errors),
            accuracy => Serde(&accuracy),
            claims => Serde(&claims),
            coarse => Serde(&self.coarse),
            rebuild_claims => match finer || is_own || self.wanted_claims == 0 {
                true => report.clone(),
                false => format!("flitwise verify{quick}{only} {how}"),
            },
            rebuild => report,
        };
        let mut paths = Vec::new();
        let stem = args.paper.map_or("report", |paper| paper.word);
        for (ending, template) in [("html", HTML), ("md", MARKDOWN)] {
            let name = format!("{stem}.{ending}");
            let path = args.out.join(&name);
            figure::write_whole(&path, rendered(&name, template, &page)?.as_bytes())?;
            paths.push(path);
        }
        Ok(paths)
    }
}

/// A page with its blanks filled; what goes into HTML is escaped.
fn rendered(name: &str, template: &str, page: &minijinja::Value) -> Result<String, Exit> {
    let broken = |error: minijinja::Error| Exit::Output(std::io::Error::other(format!("{name}: {error}")));
    let mut environment = Environment::new();
    environment.add_template(name, template).map_err(broken)?;
    let mut text = environment.get_template(name).map_err(broken)?.render(page).map_err(broken)?;
    text.push('\n');
    Ok(text)
}

impl JudgedEntry {
    fn of(judged: &ClaimReport) -> Self {
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

fn figure_entry(one: &FigureRequest, picture: Picture, svg: String, campaign: &Campaign) -> FigureEntry {
    let name = &one.figure.name;
    let number = one.typed.clone();
    let paper = Paper::of(name);
    // where all papers are on one page, the number alone does not say whose it is
    let heading = match paper.number(name) {
        Some(number) if paper.short.is_empty() => format!("{number}: {}", picture.title),
        Some(number) => format!("{}, {number}: {}", paper.short, picture.title),
        None => picture.title.clone(),
    };
    let claim = |claim: &flitwise_figures::figure::Claim| ClaimEntry {
        text: claim.text.clone(),
        source: claim.source.clone(),
    };
    FigureEntry {
        number,
        heading,
        title: picture.title.clone(),
        svg,
        claims: one.figure.claims.iter().map(claim).collect(),
        judged: Vec::new(),
        notes: picture.notes,
        rebuild: one.rebuild(campaign),
        name: name.clone(),
    }
}

impl FigureEntry {
    /// Whether the claim is about this figure, after which it is named: fig04a-agreement; those of both parts of a
    /// figure, fig05a-.., fig05b-..; those of the whole figure for each of its parts, mw-fig5-.. for mw-fig5a.
    fn has(&self, claim: &JudgedEntry) -> bool {
        let after = |name: &str| claim.name.strip_prefix(name);
        let is_its = |rest: &str| rest.starts_with('-') || rest.starts_with("a-") || rest.starts_with("b-");
        let of_whole =
            after(self.name.trim_end_matches(['a', 'b', 'c'])).filter(|rest| rest.starts_with('-'));
        after(&self.name).is_some_and(is_its) || of_whole.is_some()
    }
}

/// A figure, and how far its models are off: that is on the page even where the figure does not show it.
fn with_errors(figure: &Figure, typed: &str, simulations: &[Simulation]) -> (Picture, Vec<ErrorEntry>) {
    let shown = figure.errors;
    let mut figure = figure.clone();
    figure.errors = true;
    let mut picture = figure.picture(simulations);
    let entries = error_entries(typed, &picture);
    if let (Content::Lines(lines), false) = (&mut picture.content, shown) {
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
fn coarse_entries(one: &FigureRequest, simulations: &[Simulation], precision: f64) -> Vec<CoarseEntry> {
    let mut entries = Vec::new();
    for (index, simulation) in simulations.iter().enumerate() {
        let run = &simulation.run;
        let is_fine = run.reached_precision.is_some_and(|reached| reached <= precision);
        // a run with an end is as long as its scenario says
        if is_fine || matches!(run.stopped_by, StoppedBy::NoTraffic | StoppedBy::End) {
            continue;
        }
        let saturated = simulation.classes.iter().filter(|class| class.saturated);
        let saturated: Vec<&str> = saturated.map(|class| class.name.as_str()).collect();
        entries.push(CoarseEntry {
            figure: one.typed.clone(),
            point: one.figure.place_words(index),
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
