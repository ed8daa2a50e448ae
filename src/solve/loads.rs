//! What `flitwise solve` says of a scenario that no model has: channel loads, the bounds that follow, and what stands
//! against each model.

use flitwise_language::scenario::{ClassKind, Document, Scenario, ScenarioSpec};
use flitwise_language::section::{Layout, Section};
use flitwise_models::model::{Model, Refusal};
use flitwise_models::paths::{self, ChannelLoads, KindLoads};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Format;
use crate::input;
use crate::outcome::Exit;
use crate::output::{self, Page, Rows, share};

const HEADS: [&str; 6] = [
    "channels",
    "links",
    "mean load\nflits/cycle",
    "max load\nflits/cycle",
    "full at\nload factor",
    "the first of them",
];

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
        links.sort_by(|one, other| other.load.total_cmp(&one.load));
        links.truncate(MOST_ROWS);
    }
    let title = if is_page { "Channels that carry most, at most 20 of them" } else { "Channels" };
    let mut section = Section::new("channels", title, Layout::Rows)
        .column("channel", "channel", "")
        .column("router", "router", "")
        .column("port", "port", "")
        .column("load_flits_per_cycle", "load", "flits/cycle")
        .column("messages_per_cycle", "messages", "1/cycle")
        .column("started_messages_per_cycle", "started here", "1/cycle");
    section.rows = links
        .into_iter()
        .map(|link| {
            let (all, started) =
                link.messages.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            let words = link.words(&network);
            vec![
                words.as_str().into(),
                link.router.into(),
                link.port.into(),
                link.load.into(),
                all.into(),
                started.into(),
            ]
        })
        .collect();
    Ok(section)
}

/// The answer of `flitwise solve --format json` where no model has all of the scenario.
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
    /// One bound per class, in the order of the scenario.
    classes: Vec<ClassBound>,
    /// What stands against each model.
    refused: Vec<String>,
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
    /// The factor on all rates at which the channel is full: no router carries more.
    saturated_at_load_factor: Option<f64>,
}

impl LoadsDocument {
    fn of(document: &Document, scenario: &Scenario) -> Self {
        let loads = ChannelLoads::of(scenario);
        let class = |index: usize| {
            let (class, bound) = (&scenario.classes()[index], loads.bound(scenario, index));
            ClassBound {
                name: class.name.clone(),
                kind: class.kind,
                load_flits_per_cycle: bound.as_ref().map(|bound| bound.load),
                saturated_at_load_factor: bound.as_ref().map(|bound| bound.at_load_factor()),
                channel: bound.map(|bound| bound.channel),
            }
        };
        let refusals = |model: Model| model.supports(scenario).err();
        let lines = |failure| input::refusals(document, &failure);
        Self {
            schema: "flitwise.loads/1",
            flitwise_version: env!("CARGO_PKG_VERSION"),
            scenario: scenario.spec().clone(),
            channels: loads.by_kind(),
            classes: (0..scenario.classes().len()).map(class).collect(),
            refused: Model::ALL.into_iter().filter_map(refusals).flat_map(lines).collect(),
        }
    }

    /// Channels by kind as cells of a table.
    fn rows(&self) -> impl Iterator<Item = [String; 6]> {
        self.channels.iter().map(|kind| {
            [
                kind.channel.clone(),
                kind.links.to_string(),
                share(Some(kind.load_mean_flits_per_cycle)),
                share(Some(kind.load_max_flits_per_cycle)),
                share(kind.full_at_load_factor),
                kind.most_loaded.clone(),
            ]
        })
    }

    fn page(&self, scenario: &Scenario, markdown: bool) -> String {
        let mut page = Page::new(markdown);
        let network = output::network(scenario.network());
        page.title(&format!("{}: {network}, channel loads and bounds", scenario.spec().name));
        let heads = HEADS.map(|head| if markdown { head.replace('\n', " ") } else { head.to_owned() });
        let mut rows = Rows::new(&heads, markdown);
        self.rows().for_each(|row| rows.add(row));
        page.rows(&rows);
        let mut bounds = Rows::new(&["class", "saturates at most at load factor", "limited by"], markdown);
        for class in &self.classes {
            let channel = class.channel.clone().unwrap_or_else(|| "nothing: it is silent".to_owned());
            bounds.add([class.name.clone(), share(class.saturated_at_load_factor), channel]);
        }
        page.section("Bounds: a channel carries a flit per cycle", &bounds);
        let refused = self.refused.iter().map(|line| format!("no latencies: {line}"));
        page.remarks(&refused.collect::<Vec<_>>());
        page.end(
            "Loads are exact; latencies are there by flitwise simulate, where that has means for all of it.",
        )
    }
}

/// Answers a scenario that no model has.
pub(super) fn run(document: &Document, scenario: &Scenario, format: Format) -> Result<(), Exit> {
    if let Err(Refusal { key, because }) = paths::supports(scenario) {
        let line =
            format!("{}{key}: no model has all of this scenario; solve {because}", document.place_of(&key));
        return Err(Exit::input(line));
    }
    let found = LoadsDocument::of(document, scenario);
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
