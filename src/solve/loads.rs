//! Channel loads of a scenario, the bounds that follow, and hops: `flitwise solve --loads`, and what `flitwise solve`
//! says of a scenario that no model has, with what stands against each model.

use flitwise_experiment::statistics::{Batch, Mean, mean_of};
use flitwise_language::scenario::{ClassKind, Document, Scenario, ScenarioSpec};
use flitwise_language::section::{Layout, Section};
use flitwise_models::model::{Model, Refusal};
use flitwise_models::paths::{self, ChannelLoads, KindLoads};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Format, Solve};
use crate::input;
use crate::outcome::Exit;
use crate::output::{self, Page, Rows, share};

/// Heads of loads in a unit.
fn heads(unit: &str) -> [String; 6] {
    let loads = [format!("mean load\n{unit}"), format!("max load\n{unit}")];
    let [mean, max] = loads;
    let word = |word: &str| word.to_owned();
    [word("channels"), word("links"), mean, max, word("full at\nload factor"), word("the first of them")]
}

/// Channels that a page shows; CSV and JSON have every one.
const MOST_ROWS: usize = 20;
/// Channels that are listed one by one.
const MOST_CHANNELS: u32 = 100_000;

/// Every channel with what it carries, of a page the most loaded ones; or why they are not listed.
pub(super) fn channels(scenario: &Scenario, format: Format) -> Result<Section, String> {
    let network = scenario.topology();
    if network.routers().saturating_mul(network.ports()) > MOST_CHANNELS {
        return Err(format!(
            "--details: channels are listed one by one where they are {MOST_CHANNELS} at most"
        ));
    }
    paths::supports(scenario)
        .map_err(|Refusal { key, because }| format!("--details: {key}: solve {because}"))?;
    let mut links = paths::links(scenario);
    let is_page = matches!(format, Format::Table | Format::Markdown);
    if is_page {
        links.sort_by(|one, other| other.share().total_cmp(&one.share()));
        links.truncate(MOST_ROWS);
    }
    let title = if is_page { "Channels that carry most, at most 20 of them" } else { "Channels" };
    let (are_of_flits, has_slow_links) = (paths::are_of_flits(scenario), network.has_slow_links());
    let mut section = Section::new("channels", title, Layout::Rows)
        .column("channel", "channel", "")
        .column("router", "router", "")
        .column("port", "port", "");
    if are_of_flits {
        section = section.column("load_flits_per_cycle", "load", "flits/cycle");
    }
    if has_slow_links || !are_of_flits {
        section = section.column("load_share", "load", "of its rate");
    }
    let (all, started, unit) = match are_of_flits {
        true => ("messages_per_cycle", "started_messages_per_cycle", "1/cycle"),
        false => ("messages_per_ns", "started_messages_per_ns", "1/ns"),
    };
    section = section.column(all, "messages", unit).column(started, "started here", unit);
    section.rows = links
        .into_iter()
        .map(|link| {
            let (all, started) =
                link.messages.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            let words = link.words(&network);
            let mut row = vec![words.as_str().into(), link.router.into(), link.port.into()];
            row.extend(are_of_flits.then(|| link.load.into()));
            row.extend((has_slow_links || !are_of_flits).then(|| link.share().into()));
            row.extend([all.into(), started.into()]);
            row
        })
        .collect();
    Ok(section)
}

/// The answer of `flitwise solve --loads --format json`, and without `--loads` where no model has all of the
/// scenario.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LoadsDocument {
    /// `flitwise.loads/1`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// The scenario asked about.
    scenario: ScenarioSpec,
    /// Channels by kind.
    channels: Vec<KindLoads>,
    /// Channels between routers that a message of any class crosses on average; none where nothing is sent.
    mean_hops: Option<f64>,
    /// One bound per class, in the order of the scenario.
    classes: Vec<ClassBound>,
    /// The effective bisection with both halves sending, then with one; empty where it is not asked for.
    effective_bisection: Vec<Bisection>,
    /// What stands against each model, where none has all of the scenario.
    refused: Vec<String>,
}

/// What a flow has of a link where random halves of the nodes, paired, all send at once.
#[derive(Debug, Serialize, JsonSchema)]
struct Bisection {
    /// Whether both halves send.
    both_ways: bool,
    /// Trials: number `k` has the pairs of `destination = { bisection = k }`.
    trials: u32,
    /// Mean over trials.
    mean_share: f64,
    /// 95 % half-width of that.
    mean_share_half_width_95: Option<f64>,
    /// The least of any trial.
    least_share: f64,
    /// The most of any trial.
    most_share: f64,
}

impl Bisection {
    fn of(scenario: &Scenario, trials: u32, both_ways: bool) -> Option<Self> {
        let each = paths::effective_bisection(&*scenario.topology(), trials, both_ways);
        let batches: Vec<Vec<Batch>> =
            each.iter().map(|share| vec![Batch { count: 1, sum: *share }]).collect();
        let Mean { mean, half_width_95, .. } = mean_of(&batches)?;
        Some(Self {
            both_ways,
            trials,
            mean_share: mean,
            mean_share_half_width_95: half_width_95,
            least_share: each.iter().copied().fold(f64::INFINITY, f64::min),
            most_share: each.iter().copied().fold(0.0, f64::max),
        })
    }

    fn cells(&self) -> [String; 4] {
        let Self {
            both_ways, mean_share, mean_share_half_width_95: half_width, least_share, most_share, ..
        } = self;
        let halves = if *both_ways { "both" } else { "one" };
        let width = half_width.map_or(String::new(), |width| format!(" ± {}", share(Some(width))));
        let [mean, least, most] = [mean_share, least_share, most_share].map(|one| share(Some(*one)));
        [halves.to_owned(), mean + &width, least, most]
    }
}

/// The channel that limits a class.
#[derive(Debug, Serialize, JsonSchema)]
struct ClassBound {
    /// Name of the class.
    name: String,
    /// How links treat it.
    kind: ClassKind,
    /// The most loaded channel, by the class and those that go before it; none without any load.
    channel: Option<String>,
    /// Its load by them.
    load_flits_per_cycle: Option<f64>,
    /// Its load by them, as a share of what it carries at most.
    load_share: Option<f64>,
    /// The factor on all rates at which the channel is full: no router carries more.
    saturated_at_load_factor: Option<f64>,
    /// Channels between routers that a message of the class crosses on average.
    mean_hops: f64,
    /// What the class brings to channels, by kind.
    shares: Vec<KindShare>,
}

/// What a class brings to channels of a kind, as a share of what one of its senders sends.
#[derive(Debug, Serialize, JsonSchema)]
struct KindShare {
    /// The kind of the channels.
    channel: String,
    /// Mean over all of them.
    mean: f64,
    /// The most of any.
    max: f64,
}

/// What a class brings to channels by kind, of the loads for one flit of each sender, whatever channels carry.
fn shares(of_one: &ChannelLoads) -> Vec<KindShare> {
    let share = |kind: KindLoads| KindShare {
        channel: kind.channel,
        mean: kind.load_mean_flits_per_cycle.unwrap_or(0.0),
        max: kind.load_max_flits_per_cycle.unwrap_or(0.0),
    };
    of_one.by_kind(true).into_iter().map(share).collect()
}

impl LoadsDocument {
    fn of(document: &Document, scenario: &Scenario) -> Self {
        let ((loads, of_one), are_of_flits) =
            (ChannelLoads::with_shares(scenario), paths::are_of_flits(scenario));
        let class = |index: usize| {
            let (class, bound) = (&scenario.classes()[index], loads.bound(scenario, index));
            let mean_hops = of_one[index].mean_hops(0, scenario.senders(index).len());
            ClassBound {
                name: class.name.clone(),
                kind: class.kind,
                load_flits_per_cycle: bound.as_ref().map(|bound| bound.flits).filter(|_| are_of_flits),
                load_share: bound.as_ref().map(|bound| bound.load),
                mean_hops,
                shares: shares(&of_one[index]),
                saturated_at_load_factor: bound.as_ref().map(|bound| bound.at_load_factor()),
                channel: bound.map(|bound| bound.channel),
            }
        };
        let refusals: Vec<_> = Model::ALL.into_iter().map(|model| model.supports(scenario).err()).collect();
        let has_model = refusals.iter().any(Option::is_none);
        let lines = |failure| input::refusals(document, &failure);
        let classes: Vec<ClassBound> = (0..scenario.classes().len()).map(class).collect();
        let sent = |index: usize| {
            let spec = &scenario.classes()[index];
            spec.rate * scenario.senders(index).len() as f64
        };
        let all: f64 = (0..classes.len()).map(sent).sum();
        let hops: f64 = classes.iter().enumerate().map(|(index, class)| sent(index) * class.mean_hops).sum();
        Self {
            schema: "flitwise.loads/1",
            flitwise_version: env!("CARGO_PKG_VERSION"),
            scenario: scenario.spec().clone(),
            channels: loads.by_kind(are_of_flits),
            mean_hops: (all > 0.0).then(|| hops / all),
            classes,
            effective_bisection: Vec::new(),
            refused: if has_model {
                Vec::new()
            } else {
                refusals.into_iter().flatten().flat_map(lines).collect()
            },
        }
    }

    /// Channels by kind as cells of a table.
    fn rows(&self) -> impl Iterator<Item = [String; 6]> {
        self.channels.iter().map(|kind| {
            [
                kind.channel.clone(),
                kind.links.to_string(),
                share(Some(kind.load_mean_share)),
                share(Some(kind.load_max_share)),
                share(kind.full_at_load_factor),
                kind.most_loaded.clone(),
            ]
        })
    }

    fn page(&self, scenario: &Scenario, markdown: bool) -> String {
        let mut page = Page::new(markdown);
        let network = output::network(scenario.network());
        page.title(&format!("{}: {network}, channel loads and bounds", scenario.spec().name));
        let are_of_flits = paths::are_of_flits(scenario);
        let is_even = are_of_flits && !scenario.topology().has_slow_links();
        let heads = heads(if is_even { "flits/cycle" } else { "of its rate" });
        let heads = heads.map(|head| if markdown { head.replace('\n', " ") } else { head });
        let mut rows = Rows::new(&heads.each_ref().map(String::as_str), markdown);
        self.rows().for_each(|row| rows.add(row));
        page.rows(&rows);
        let mut bounds = Rows::new(
            &["class", "channels\nper message", "saturates at most\nat load factor", "limited by"],
            markdown,
        );
        for class in &self.classes {
            let channel = class.channel.clone().unwrap_or_else(|| "nothing: it is silent".to_owned());
            let hops = share(Some(class.mean_hops));
            bounds.add([class.name.clone(), hops, share(class.saturated_at_load_factor), channel]);
        }
        let most = match (are_of_flits, is_even) {
            (true, true) => "a flit per cycle",
            (true, false) => "flits at its rate",
            _ => "data at its rate",
        };
        page.section(&format!("Bounds: a channel carries {most}"), &bounds);
        page.section(
            "What a class brings to channels, as a share of what a sender sends",
            &self.shares(markdown),
        );
        if let Some(Bisection { trials, .. }) = self.effective_bisection.first() {
            let mut rows =
                Rows::new(&["halves that send", "mean share", "least of a trial", "most"], markdown);
            self.effective_bisection.iter().for_each(|one| rows.add(one.cells()));
            let title = "Effective bisection: what a flow has of a link when random pairs of nodes all send";
            page.section(&format!("{title}, {trials} trials"), &rows);
        }
        let refused = self.refused.iter().map(|line| format!("no latencies: {line}"));
        page.remarks(&refused.collect::<Vec<_>>());
        let latencies = match self.refused.is_empty() {
            true => "flitwise solve without --loads has latencies",
            false => "latencies are there by flitwise simulate, where that has means for all of it",
        };
        let loads = match scenario.topology().is_adaptive() {
            true => "Loads are of all ways up alike, where routers choose by backlog",
            false => "Loads are exact",
        };
        page.end(&format!("{loads};\n{latencies}."))
    }

    /// By class and kind of channel.
    fn shares(&self, markdown: bool) -> Rows {
        let mut rows = Rows::new(&["class", "channels", "mean share", "max share"], markdown);
        for class in &self.classes {
            for kind in &class.shares {
                let of_kind = [kind.mean, kind.max].map(|one| share(Some(one)));
                rows.add([class.name.clone(), kind.channel.clone()].into_iter().chain(of_kind));
            }
        }
        rows
    }
}

/// Loads alone: asked for, or of a scenario that no model has.
pub(super) fn run(document: &Document, scenario: &Scenario, args: &Solve) -> Result<(), Exit> {
    let format = args.format;
    if let Err(Refusal { key, because }) = paths::supports(scenario) {
        let asked = if args.loads { "" } else { "no model has all of this scenario; " };
        let line = format!("{}{key}: {asked}solve {because}", document.place_of(&key));
        return Err(Exit::input(line));
    }
    let mut found = LoadsDocument::of(document, scenario);
    if let Some(trials) = args.bisection {
        if let Err(Refusal { key, because }) = paths::supports_bisection(&*scenario.topology(), trials) {
            let place =
                if key.starts_with("--") { String::new() } else { document.place_of(&key).to_string() };
            return Err(Exit::input(format!("{place}{key}: the effective bisection {because}")));
        }
        let ways = [true, false].into_iter();
        found.effective_bisection = ways.filter_map(|both| Bisection::of(scenario, trials, both)).collect();
    }
    match format {
        Format::Json => output::write_json(&found),
        Format::Csv => {
            let mut rows = csv::Writer::from_writer(Vec::new());
            found.channels.iter().try_for_each(|kind| rows.serialize(kind))?;
            output::write_csv(rows)
        }
        Format::Table | Format::Markdown => {
            output::write_coloured(&found.page(scenario, format == Format::Markdown))
        }
    }
}
