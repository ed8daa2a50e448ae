//! `flitwise figure`.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

use flitwise_experiment::answer::{Simulation, StoppedBy};
use flitwise_figures::anchored::{Curve, Family};
use flitwise_figures::draw::{self, Style};
use flitwise_figures::figure::{Claim, Figure};
use flitwise_figures::picture::Picture;
use flitwise_figures::published::{PUBLISHED, Published};
use flitwise_figures::{rows, stamp};
use flitwise_language::document::in_short;
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassSpec, Scenario, ScenarioSpec};
use flitwise_models::model::Options;
use flitwise_validation::anchored::Wish;
use schemars::JsonSchema;
use serde::Serialize;

use crate::anchoring::{self, Learnt, Spot};
use crate::args::{self, Theme};
use crate::campaign::Campaign;
use crate::outcome::Exit;
use crate::output::{self, percent};
use crate::signals::unless_stopped;
use crate::{input, place, plot, typed};

/// Pixels of a PNG per pixel of the SVG.
const PNG_SCALE: f64 = 2.0;

/// The numbers of a figure, as `flitwise figure` writes them.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FigureDocument {
    /// `flitwise.figure/1`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// What somebody says about it.
    claims: Vec<Claim>,
    /// What the figure's scenarios vary from.
    #[serde(serialize_with = "ScenarioSpec::serialize_plainly")]
    scenario: ScenarioSpec,
    /// All that is drawn.
    #[serde(flatten)]
    picture: Picture,
    /// How it was simulated; `null` if it was not.
    simulation: Option<SimulationAccount>,
    /// The command that makes it again.
    rebuild: String,
}

/// How the points of a figure were simulated.
#[derive(Debug, Serialize, JsonSchema)]
struct SimulationAccount {
    /// Where all random numbers come from.
    seed: u64,
    /// Wanted 95 % half-width of the network latency of the worst class, as a share of it.
    wanted_precision: f64,
    /// Messages measured at a point after which to stop anyway.
    max_messages: u64,
    /// One per point, in the order of the drawing.
    points: Vec<PointRun>,
}

/// How one point was simulated.
#[derive(Debug, Serialize, JsonSchema)]
struct PointRun {
    /// Independent runs behind the numbers.
    replications: u32,
    /// Whether the store had more than was asked for, which is used.
    more_than_asked: bool,
    /// Messages measured.
    messages: u64,
    /// Cycles left out at the start of each replication.
    warmup_cycles: u64,
    /// The half-width reached, as a share of the mean.
    reached_precision: Option<f64>,
    /// What made it stop.
    stopped_by: StoppedBy,
}

/// What stands before the name of a preset that is drawn.
const OF_PRESET: &str = "--preset ";

/// A figure with its files' names.
pub(crate) struct FigureRequest {
    pub(crate) figure: Figure,
    /// What it is called on the command line.
    pub(crate) typed: String,
    /// Models that were asked for there.
    models: Option<args::FigureModels>,
    /// What anchors are wanted for.
    families: Vec<Family>,
    /// The most of them, if that was said.
    anchors: Option<String>,
    /// Whether its runs are the shorter ones of a quick report.
    is_quick: bool,
}

impl FigureRequest {
    /// The command that makes it again.
    pub(crate) fn rebuild(&self, campaign: &Campaign) -> String {
        let model = self.models.map_or_else(String::new, |models| format!("--model {} ", models.word()));
        let anchors = self.anchors.as_ref().map_or_else(String::new, |most| format!("--anchors {most} "));
        let quick = if self.is_quick { "--quick " } else { "" };
        format!("flitwise figure {} {quick}{model}{anchors}{}", self.typed, how(campaign))
    }

    /// Takes the shorter runs of a quick report, if the figure has such.
    pub(crate) fn quicken(&mut self) -> Result<(), Exit> {
        self.is_quick = self.figure.quicken().map_err(|faults| Exit::faults(&faults))?;
        Ok(())
    }
}

pub(crate) fn run(args: &args::Figure) -> Result<(), Exit> {
    match args.figures.as_slice() {
        [] if args.preset.is_none() => list(),
        [show, name] if show == "show" => output::write(published(name)?.text.as_bytes()),
        [show] if show == "show" => {
            Err(Exit::input("found no figure to show, wanted its number, such as 4a"))
        }
        figures => draw_all(args, figures),
    }
}

fn list() -> Result<(), Exit> {
    let mut text = "figure        points to simulate, what it shows\n".to_owned();
    for one in PUBLISHED {
        let figure = one.figure().map_err(|faults| Exit::faults(&faults))?;
        let (number, points) = (one.number(), figure.scenarios().len());
        text.push_str(&format!("{number:12}  {points:3}  {}; {}\n", figure.title, figure.subtitle_words()));
    }
    output::write(text.as_bytes())
}

fn draw_all(args: &args::Figure, figures: &[String]) -> Result<(), Exit> {
    let is_anchored = args.model == Some(args::FigureModels::Anchored);
    let campaign = if is_anchored { anchoring::campaign } else { Campaign::read }(&args.campaign);
    let of_preset = args.preset.iter().map(|name| format!("{OF_PRESET}{name}"));
    let figures: Vec<String> = figures.iter().cloned().chain(of_preset).collect();
    let asked = Exit::both(style(args), wanted(&figures, args.model));
    let budget = match &campaign {
        Ok(campaign) if is_anchored => anchoring::wish(&args.anchors, 1, campaign).map(Some),
        _ if args.anchors.is_some() && !is_anchored => Err(Exit::input(
            "--anchors: found a model that learns nothing from simulations, wanted --model anchored with it",
        )),
        _ => Ok(None),
    };
    let (campaign, (budget, (style, mut wanted))) = Exit::both(campaign, Exit::both(budget, asked))?;
    if args.quick {
        wanted.iter_mut().try_for_each(FigureRequest::quicken)?;
    }
    place::directory("--out", &args.out)?;
    let write = |drawn: &Drawing| {
        drawn.write(&args.out)?;
        if args.plot { plot::show(&drawn.picture) } else { Ok(()) }
    };
    if let Some(wish) = budget {
        for one in &mut wanted {
            one.anchors.clone_from(&args.anchors);
            write(&anchored(one, &wish, args, &style)?)?;
        }
        return Ok(());
    }
    let missing =
        draw_each(&wanted, &campaign, &mut |one, found| write(&drawn(one, &found, &campaign, &style)?))?;
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<String> =
        missing.iter().map(|one| format!("{} ({})", wanted[one.figure].typed, one)).collect();
    output::note(&format!("interrupted before these were complete: {}", names.join(", ")));
    let (drawn, of) = (wanted.len() - missing.len(), wanted.len());
    Err(Exit::InterruptedAt(format!("{drawn} of {of} figures are drawn")))
}

/// Draws a figure by the anchored model: anchors for each variant among the values of its axis.
fn anchored(one: &FigureRequest, wish: &Wish, args: &args::Figure, style: &Style) -> Result<Drawing, Exit> {
    let options = Options { saturation_loads: false, ..Options::default() };
    let curve = |family: &Family| {
        let spot = |(value, scenario): &(f64, Scenario)| Spot {
            at: vec![family.share(*value)],
            set: vec![family.setting(*value)],
            scenario: scenario.clone(),
        };
        let spots: Vec<Spot> = family.points.iter().map(spot).collect();
        let Learnt { anchored, account, .. } =
            anchoring::learnt(anchoring::campaign(&args.campaign)?, wish, &spots, &options)?;
        Ok(Curve { family: family.clone(), anchored, remarks: account.remarks() })
    };
    let curves: Vec<Curve> = one.families.iter().map(curve).collect::<Result<_, Exit>>()?;
    let simulations = curves.iter().flat_map(Curve::simulations).map(|(_, found)| found.clone());
    let simulations: Vec<Simulation> = simulations.collect();
    let figure = one.figure.clone();
    let picture = unless_stopped(move || figure.anchored_picture(&curves)).ok_or(Exit::Interrupted)?;
    let of_anchors = one.families.iter().map(|family| wish.among(family.points.len(), 1).of_anchors);
    let wanted = of_anchors.fold(0.0, f64::max);
    let campaign = anchoring::campaign(&args.campaign)?;
    Drawing::of(one, &picture, (&simulations, wanted), &campaign, style)
}

/// A figure that was not drawn because of an interruption.
pub(crate) struct Omission {
    /// Its place among those wanted.
    pub(crate) figure: usize,
    /// Points that were simulated.
    found: usize,
    /// Points to simulate.
    points: usize,
}

impl fmt::Display for Omission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} points simulated", self.found, self.points)
    }
}

/// Draws a figure from its simulated points.
type Draw<'d> = dyn FnMut(&FigureRequest, Vec<Simulation>) -> Result<(), Exit> + 'd;

/// Scenarios of figures whose results a store keeps, each with the number of its figure, in the order of
/// [`draw_each`].
pub(crate) fn kept_scenarios(wanted: &[FigureRequest]) -> Vec<(usize, Scenario)> {
    let kept = wanted.iter().enumerate().filter(|(_, one)| !one.figure.wants_details());
    let scenarios = |(at, one): (usize, &FigureRequest)| {
        one.figure.scenarios().into_iter().map(move |scenario| (at, scenario)).collect::<Vec<_>>()
    };
    kept.flat_map(scenarios).collect()
}

/// Simulates the points of all figures and passes each figure to `draw` once its own are there. Returns the figures
/// that an interruption left out.
pub(crate) fn draw_each(
    wanted: &[FigureRequest],
    campaign: &Campaign,
    draw: &mut Draw<'_>,
) -> Result<Vec<Omission>, Exit> {
    let scenarios: Vec<Vec<Scenario>> = wanted.iter().map(|one| one.figure.scenarios()).collect();
    let every = scenarios.iter().enumerate();
    let every = every.flat_map(|(figure, points)| (0..points.len()).map(move |point| (figure, point)));
    let (detailed, places): (Vec<_>, Vec<_>) =
        every.partition(|(figure, _): &(usize, usize)| wanted[*figure].figure.wants_details());
    let mut waiting: Vec<Vec<Option<Simulation>>> =
        scenarios.iter().map(|points| points.iter().map(|_| None).collect()).collect();
    let mut is_drawn = vec![false; wanted.len()];
    let mut ended = Ok(());
    let mut complete = |figure: usize, found: &mut Vec<Option<Simulation>>| {
        if found.iter().any(Option::is_none) {
            return ControlFlow::Continue(());
        }
        ended = draw(&wanted[figure], found.drain(..).flatten().collect());
        is_drawn[figure] = ended.is_ok();
        if ended.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    // what needs no simulation need not wait for any
    let mut models_only = waiting.iter_mut().enumerate().filter(|(_, points)| points.is_empty());
    let mut flow = models_only.try_for_each(|(figure, none)| complete(figure, none));
    for (figure, point) in detailed {
        if flow.is_break() {
            break;
        }
        let found = campaign.run_detailed(&scenarios[figure][point]);
        flow = match found.map_err(|faults| Exit::faults(&faults))? {
            Some(found) => {
                waiting[figure][point] = Some(found);
                complete(figure, &mut waiting[figure])
            }
            None => ControlFlow::Break(()),
        };
    }
    if flow.is_continue() {
        let asked: Vec<Scenario> =
            places.iter().map(|(figure, point)| scenarios[*figure][*point].clone()).collect();
        let mut found = |at: usize, simulation: Simulation| {
            let (figure, point) = places[at];
            waiting[figure][point] = Some(simulation);
            complete(figure, &mut waiting[figure])
        };
        campaign.run_telling(&asked, &mut found).map_err(|faults| Exit::faults(&faults))?;
    }
    match ended {
        // a signal while it was drawn
        Ok(()) | Err(Exit::Interrupted) => {}
        Err(ended) => return Err(ended),
    }
    let left = is_drawn.iter().enumerate().filter(|(_, is_drawn)| !**is_drawn);
    let missing = left.map(|(figure, _)| {
        let points = scenarios[figure].len();
        // nothing is left of what was passed on
        let found =
            if waiting[figure].is_empty() { points } else { waiting[figure].iter().flatten().count() };
        Omission { figure, found, points }
    });
    Ok(missing.collect())
}

/// The figures that were named, each once, or all faults in them.
pub(crate) fn wanted(
    typed: &[String],
    models: Option<args::FigureModels>,
) -> Result<Vec<FigureRequest>, Exit> {
    let mut wanted: Vec<FigureRequest> = Vec::new();
    let mut faults: Vec<String> = Vec::new();
    for typed in typed {
        let found = if typed == "all" {
            all()
        } else if let Some(name) = typed.strip_prefix(OF_PRESET) {
            of_preset(name).map(|one| vec![one])
        } else if typed.ends_with(".toml") || typed.contains(['/', '\\']) {
            from_file(Path::new(typed)).map(|one| vec![one])
        } else {
            published(typed).and_then(built_in).map(|one| vec![one])
        };
        match found {
            Ok(found) => wanted.extend(found),
            Err(Exit::BadInput(found)) => faults.extend(found),
            Err(other) => return Err(other),
        }
    }
    let mut names: Vec<String> = Vec::new();
    for one in &wanted {
        let is_file = |one: &FigureRequest| one.typed.ends_with(".toml");
        if is_file(one) && wanted.iter().filter(|other| other.figure.name == one.figure.name).count() > 1 {
            let name = &one.figure.name;
            faults.push(format!(
                "{}: found a second figure that would be written to {name}.svg, wanted another name",
                one.typed
            ));
        }
    }
    if let Some(models) = models {
        for one in &mut wanted {
            let refusals = match models {
                args::FigureModels::Models(models) => one.figure.set_models(models.0).err(),
                args::FigureModels::Anchored => match one.figure.set_anchored() {
                    Ok(families) => {
                        one.families = families;
                        None
                    }
                    Err(refusal) => Some(vec![refusal]),
                },
            };
            let help = match one.figure.usual_model() {
                usual if models.word() != usual.word() => format!("\n  help: --model {usual}"),
                _ => String::new(),
            };
            let refused =
                |refusal| format!("--model {}: figure {}: {refusal}{help}", models.word(), one.typed);
            faults.extend(refusals.into_iter().flatten().map(refused));
            one.models = Some(models);
        }
    }
    if !faults.is_empty() {
        return Err(Exit::BadInput(faults));
    }
    wanted.retain(|one| {
        let is_new = !names.contains(&one.figure.name);
        names.push(one.figure.name.clone());
        is_new
    });
    Ok(wanted)
}

fn all() -> Result<Vec<FigureRequest>, Exit> {
    PUBLISHED.iter().map(built_in).collect()
}

fn built_in(one: &Published) -> Result<FigureRequest, Exit> {
    let figure = one.figure().map_err(|faults| Exit::faults(&faults))?;
    Ok(FigureRequest {
        figure,
        typed: one.number().to_owned(),
        models: None,
        families: Vec::new(),
        anchors: None,
        is_quick: false,
    })
}

/// A figure of a preset: what is delivered over time where its run has an end, else latencies along the load.
fn of_preset(name: &str) -> Result<FigureRequest, Exit> {
    let preset = input::preset(name)?;
    let (scenario, document) = (preset.scenario(), preset.document());
    let head = |kind: &str, what: &str| {
        let title = format!("{}: {what}", scenario.spec().name);
        format!("title = {title:?}\nkind = \"{kind}\"\n[scenario]\npreset = \"{name}\"\n")
    };
    let sends = |class: &&ClassSpec| class.rate > 0.0 && !class.source.has_frames();
    let of_mix = document.sub_document("mix").and_then(|mix| mix.root().get("load")?.value.number());
    let along = |key: &str, step: f64| {
        let values: Vec<String> = (1..=5).map(|part| in_short(step * f64::from(part))).collect();
        let axis = format!("[x]\nkey = \"{key}\"\nvalues = [{}]\n", values.join(", "));
        head("lines", "network latency") + &axis + "[y]\nquantity = \"network-latency\"\n"
    };
    let text = if scenario.measure().bin.is_some() && scenario.spec().groups().contains(&Quantity::PACKETS) {
        head("over-time", "throughput over time") + "[y]\nquantity = \"throughput\"\n"
    } else if let Some(load) = of_mix {
        along("mix.load", load / 5.0)
    } else if let Some(class) = scenario.classes().iter().find(sends) {
        along(&format!("class.{}.rate", class.name), class.rate / 4.0)
    } else {
        let help = "a figure file may vary any key: flitwise figure show 4a";
        return Err(Exit::input(format!(
            "--preset {name}: found no class with a rate of its own, wanted one to draw along\n  help: {help}"
        )));
    };
    let figure = Figure::from_toml(name, &text, name, &|_: &str| Err(Vec::new()));
    let figure = figure.map_err(|faults| Exit::faults(&faults))?;
    let typed = format!("{OF_PRESET}{name}");
    Ok(FigureRequest { figure, typed, models: None, families: Vec::new(), anchors: None, is_quick: false })
}

fn published(typed: &str) -> Result<&'static Published, Exit> {
    Published::find(typed).map_err(|near| {
        let help = match near.as_slice() {
            [] => "flitwise figure lists them; a file of your own ends in .toml".to_owned(),
            [near] => format!("did you mean {near}?"),
            [others @ .., last] => format!("did you mean {} or {last}?", others.join(", ")),
        };
        Exit::input(format!("found no figure \"{typed}\"\n  help: {help}"))
    })
}

fn from_file(path: &Path) -> Result<FigureRequest, Exit> {
    let (name, text) = input::read(path)?;
    let stem =
        path.file_stem().map_or_else(|| "figure".to_owned(), |stem| stem.to_string_lossy().into_owned());
    // scenario files are named from where the figure's file is
    let folder = path.parent().unwrap_or(Path::new(""));
    let load = |file: &str| input::named_in(&name, folder, file);
    let figure = Figure::from_toml(&name, &text, &stem, &load).map_err(|faults| Exit::faults(&faults))?;
    Ok(FigureRequest {
        figure,
        typed: path.display().to_string(),
        models: None,
        families: Vec::new(),
        anchors: None,
        is_quick: false,
    })
}

/// How to draw, or everything that is wrong with it.
fn style(args: &args::Figure) -> Result<Style, Exit> {
    let mut faults = Vec::new();
    let mut read = typed::Options { faults: &mut faults };
    let pixels = typed::within(200..=4000, "200 to 4000 pixels");
    let width = read.value("width", &args.width, &pixels) as u32;
    let height = read.option("height", &args.height, &pixels).map(|height| height as u32);
    let style = Style { theme: theme(args.theme), width, height };
    if faults.is_empty() { Ok(style) } else { Err(Exit::BadInput(faults)) }
}

pub(crate) fn theme(theme: Theme) -> draw::Theme {
    match theme {
        Theme::Light => draw::Theme::Light,
        Theme::Dark => draw::Theme::Dark,
        Theme::Print => draw::Theme::Print,
    }
}

/// Endings of the pictures that this build draws.
pub(crate) const ENDINGS: &[&str] = if draw::HAS_PNG { &["svg", "png"] } else { &["svg"] };

/// A figure, ready to be written.
pub(crate) struct Drawing {
    name: String,
    picture: Picture,
    pub(crate) svg: String,
    /// If this build draws PNGs.
    png: Option<Vec<u8>>,
    csv: Vec<u8>,
    json: Vec<u8>,
}

/// Draws a figure from its simulated points.
///
/// # Errors
/// [`Exit::Interrupted`] if a signal came first.
pub(crate) fn drawn(
    one: &FigureRequest,
    found: &[Simulation],
    campaign: &Campaign,
    style: &Style,
) -> Result<Drawing, Exit> {
    let (figure, points) = (one.figure.clone(), found.to_vec());
    let picture = unless_stopped(move || figure.picture(&points)).ok_or(Exit::Interrupted)?;
    Drawing::of(one, &picture, (found, campaign.settings.precision), campaign, style)
}

impl Drawing {
    /// Draws a picture; beside the simulations stands the precision that was wanted of them.
    pub(crate) fn of(
        one: &FigureRequest,
        picture: &Picture,
        simulations: (&[Simulation], f64),
        campaign: &Campaign,
        style: &Style,
    ) -> Result<Self, Exit> {
        let svg = stamp::stamped(&draw::svg(picture, style), &stamp::of(&one.figure, picture));
        let png = draw::HAS_PNG.then(|| draw::png(&svg, PNG_SCALE)).transpose().map_err(io::Error::other)?;
        let csv = csv(picture)?;
        let mut json = serde_json::to_vec_pretty(&document(one, picture.clone(), simulations, campaign))?;
        json.push(b'\n');
        Ok(Self { name: one.figure.name.clone(), picture: picture.clone(), svg, png, csv, json })
    }

    /// Writes its files, each whole or not there, and prints their names.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), Exit> {
        let svg = Some(self.svg.as_bytes());
        let files = [
            ("svg", svg),
            ("png", self.png.as_deref()),
            ("csv", Some(&self.csv)),
            ("json", Some(&self.json)),
        ];
        let mut made = files.into_iter().filter_map(|(ending, bytes)| Some((ending, bytes?)));
        made.try_for_each(|(ending, bytes)| {
            write_and_say(&folder.join(format!("{}.{ending}", self.name)), bytes)
        })
    }
}

/// What is written down of a figure.
pub(crate) fn document(
    one: &FigureRequest,
    picture: Picture,
    (simulations, wanted_precision): (&[Simulation], f64),
    campaign: &Campaign,
) -> FigureDocument {
    let settings = &campaign.settings;
    let point = |simulation: &Simulation| PointRun {
        replications: simulation.run.replications,
        more_than_asked: simulation.run.more_than_asked,
        messages: simulation.run.messages,
        warmup_cycles: simulation.run.warmup_cycles,
        reached_precision: simulation.run.reached_precision,
        stopped_by: simulation.run.stopped_by,
    };
    let simulation = (!simulations.is_empty()).then(|| SimulationAccount {
        seed: settings.seed,
        wanted_precision,
        max_messages: settings.max_messages,
        points: simulations.iter().map(point).collect(),
    });
    FigureDocument {
        schema: "flitwise.figure/1",
        flitwise_version: env!("CARGO_PKG_VERSION"),
        claims: one.figure.claims.clone(),
        scenario: one.figure.scenario().spec().clone(),
        picture,
        simulation,
        rebuild: one.rebuild(campaign),
    }
}

/// The options that decide the numbers, as they would be typed.
pub(crate) fn how(campaign: &Campaign) -> String {
    let settings = &campaign.settings;
    let precision = percent(settings.precision).replace(' ', "");
    let fresh = if settings.fresh { " --fresh" } else { "" };
    format!(
        "--precision {precision} --seed {} --max-messages {}{fresh}",
        settings.seed, settings.max_messages
    )
}

pub(crate) fn csv(picture: &Picture) -> Result<Vec<u8>, Exit> {
    let rows::Table { heads, rows } = rows::table(picture);
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(heads)?;
    for row in rows {
        writer.write_record(row)?;
    }
    output::csv_bytes(writer)
}

/// Writes a file as [`write_whole`] does, and prints its name.
pub(crate) fn write_and_say(path: &Path, bytes: &[u8]) -> Result<(), Exit> {
    write_whole(path, bytes)?;
    output::write(format!("{}\n", path.display()).as_bytes())
}

/// Writes a file as a whole: what was there before stays until the new one is complete.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Exit> {
    let failed = |error: io::Error| {
        Exit::Output(io::Error::new(error.kind(), format!("{}: {}", path.display(), place::plain(&error))))
    };
    let mut file =
        tempfile::Builder::new().prefix(".flitwise-").tempfile_in(place::folder_of(path)).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    let file = file.into_temp_path();
    allow_reading(&file).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))
}

/// Temporary files are for their owner's eyes; what is written for the user is as any other file.
#[cfg(unix)]
fn allow_reading(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn allow_reading(_: &Path) -> io::Result<()> {
    Ok(())
}
