//! What `flitwise solve` says of packet switches: the analysis `recn`, of congestion trees.

use flitwise_language::scenario::{Document, Organisation, Scenario};
use flitwise_models::model::Refusal;
use flitwise_models::recn::{self, Bin, HotSpotPrediction, Prediction};
use flitwise_validation::campaign;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Format, Solve};
use crate::outcome::Ended;
use crate::output::{self, Page, Rows, cycles, share, whole};

/// Most rows of the curve on a page.
const MOST_ROWS: usize = 20;

/// End of the key that names what sends the messages of a class.
const SOURCE_KIND: &str = ".source.kind";

const BIN_HEADS: [&str; 4] =
    ["start_us", "throughput_bytes_per_ns", "random_bytes_per_ns", "hot_bytes_per_ns"];

/// The answer of `flitwise solve --format json` to a scenario of packet switches.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RecnDocument {
    /// `flitwise.recn/1`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// Which analysis answers: `recn`.
    analysis: &'static str,
    /// The scenario asked about, without keys of wormhole routers.
    scenario: serde_json::Value,
    /// The first that is full where uniform traffic saturates.
    saturation_because: &'static str,
    /// The answer itself.
    #[serde(flatten)]
    prediction: Prediction,
}

/// What is full where uniform traffic saturates.
fn limit(prediction: &Prediction, scenario: &Scenario) -> &'static str {
    match scenario.switch().map(|switch| switch.organisation) {
        _ if prediction.saturation_load >= 1.0 => "links",
        Some(Organisation::FourQueues) => "crossbar inputs: heads of line, at least; their rate, at most",
        _ => "crossbar inputs: heads of line",
    }
}

/// What else answers a scenario that the analysis refuses.
fn help(scenario: &Scenario, is_by_source: bool) -> Option<String> {
    let simulated = campaign::supports(scenario).is_ok().then_some("the simulator has it: flitwise simulate");
    let other = is_by_source.then_some("source = { kind = \"poisson\" } with a rate has an analysis");
    let ways: Vec<&str> = simulated.into_iter().chain(other).collect();
    (!ways.is_empty()).then(|| ways.join("; "))
}

/// Answers a scenario of packet switches, or says all that stands against it.
pub(super) fn run(document: &Document, scenario: &Scenario, args: &Solve) -> Result<(), Ended> {
    let not_there = [("details", args.details), ("distribution", args.distribution)];
    let fault = |(option, _)| format!("--{option}: found it with [switch], wanted none: recn has means only");
    let mut faults: Vec<String> = not_there.into_iter().filter(|(_, given)| *given).map(fault).collect();
    let line = |Refusal { key, because }: &Refusal| {
        format!("{}{key}: the {} analysis {because}", document.place_of(key), recn::NAME)
    };
    let found = recn::solve(scenario);
    faults.extend(found.as_ref().err().into_iter().flatten().map(line));
    let prediction = match found {
        Ok(prediction) if faults.is_empty() => prediction,
        found => {
            let help = || help(scenario, found.err()?.iter().any(|one| one.key.ends_with(SOURCE_KIND)));
            return Err(Ended::BadInput(faults).with_help(help));
        }
    };
    let because = limit(&prediction, scenario);
    match args.format {
        Format::Json => output::write_json(&RecnDocument {
            schema: "flitwise.recn/1",
            flitwise_version: env!("CARGO_PKG_VERSION"),
            analysis: recn::NAME,
            scenario: scenario.spec().to_json(),
            saturation_because: because,
            prediction,
        }),
        Format::Csv => csv(&prediction),
        Format::Table | Format::Markdown => {
            output::write_coloured(&page(&prediction, scenario, because, args.format == Format::Markdown))
        }
    }
}

/// A row per bin; one for all of the time without a hot spot.
fn csv(prediction: &Prediction) -> Result<(), Ended> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    rows.write_record(BIN_HEADS)?;
    let before = prediction.throughput_before_bytes_per_ns;
    let steady = Bin {
        start_us: 0.0,
        throughput_bytes_per_ns: before,
        random_bytes_per_ns: before,
        hot_bytes_per_ns: 0.0,
    };
    let bins = prediction.hot_spot.as_ref().map_or(&[steady][..], |spot| &spot.over_time).to_vec();
    for bin in bins {
        rows.write_record(of_bin(&bin).map(|number| number.to_string()))?;
    }
    output::write_csv(rows)
}

fn of_bin(bin: &Bin) -> [f64; 4] {
    [bin.start_us, bin.throughput_bytes_per_ns, bin.random_bytes_per_ns, bin.hot_bytes_per_ns]
}

fn page(prediction: &Prediction, scenario: &Scenario, because: &str, markdown: bool) -> String {
    let mut page = Page::new(markdown);
    let network = output::network(scenario.network());
    page.title(&format!("{}: {network}, analysis {}", scenario.spec().name, recn::NAME));
    page.rows(&uniform(prediction, because, markdown));
    if let Some(spot) = &prediction.hot_spot {
        page.section("Hot spot", &hot_spot(spot, markdown));
        page.section("Throughput over time [B/ns]", &curve(&spot.over_time, markdown));
    }
    page.end("An analysis of packets of one length, without a simulation.")
}

/// Uniform traffic before and without a hot spot.
fn uniform(prediction: &Prediction, because: &str, markdown: bool) -> Rows {
    let mut rows = Rows::new(&["uniform traffic", "value", "unit"], markdown);
    let mut add = |name: &str, value: String, unit: &str| rows.add([name.into(), value, unit.into()]);
    let (least, most) = (prediction.saturation_load, prediction.saturation_load_most);
    add("throughput before", cycles(Some(prediction.throughput_before_bytes_per_ns)), "B/ns");
    add("latency of a lone packet", cycles(Some(prediction.lone_latency_ns)), "ns");
    add("mean latency", cycles(prediction.latency_ns), "ns");
    add("saturates at", share(Some(least)), "of a link");
    if most > least {
        add("saturates at most at", share(Some(most)), "of a link");
    }
    add("limited by", because.to_owned(), "");
    rows
}

fn hot_spot(spot: &HotSpotPrediction, markdown: bool) -> Rows {
    let mut rows = Rows::new(&["quantity", "value", "unit"], markdown);
    let mut add = |name: &str, value: String, unit: &str| rows.add([name.into(), value, unit.into()]);
    add("throughput in the hot spot", cycles(Some(spot.throughput_in_bytes_per_ns)), "B/ns");
    add("throughput after it", cycles(spot.throughput_after_bytes_per_ns), "B/ns");
    add("throughput if it lasted", cycles(spot.throughput_steady_bytes_per_ns), "B/ns");
    add("depth of the dip", cycles(Some(spot.dip_depth_bytes_per_ns)), "B/ns");
    let length = spot.dip_length_us.map_or_else(|| "to the end".to_owned(), |us| cycles(Some(us)));
    add("length of the dip", length, "us");
    if spot.lines_most.is_some() {
        add("set-aside queues, all ports", whole(spot.lines_most), "at most");
    }
    if spot.tree_lines_most.is_some() {
        add("of the hot tree, all ports", whole(spot.tree_lines_most), "at most");
        add("of the hot tree at a port", whole(spot.tree_lines_at_a_port_most), "at most");
    }
    rows
}

/// The curve, in rows of as many bins as a short table needs.
fn curve(bins: &[Bin], markdown: bool) -> Rows {
    let mut rows = Rows::new(&["from [us]", "all", "uniform", "to the hot host"], markdown);
    for bins in bins.chunks(bins.len().div_ceil(MOST_ROWS).max(1)) {
        let mean = |of: usize| bins.iter().map(|bin| of_bin(bin)[of]).sum::<f64>() / bins.len() as f64;
        let means = [1, 2, 3].map(|of| cycles(Some(mean(of))));
        rows.add([cycles(Some(bins[0].start_us))].into_iter().chain(means));
    }
    rows
}
