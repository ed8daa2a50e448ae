//! `flitwise solve`.

mod distribution;
mod frames;
mod loads;

use std::collections::BTreeMap;
use std::fmt::Write;

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassKind, Scenario};
use flitwise_models::answer::{Answer, ClassAnswer, ExpectedError};
use flitwise_models::model::Model;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Format, ModelChoice, Solve};
use crate::campaign::Campaign;
use crate::outcome::Exit;
use crate::output::{ClassColumns, Page, Rows, Time, cycles, percent, share, whole};
use crate::{input, output, simulate};
pub(crate) use distribution::DistributionDocument;
pub(crate) use loads::LoadsDocument;

/// The answer of `flitwise solve --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SolveDocument {
    /// `flitwise.solve/2`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// The answer itself.
    #[serde(flatten)]
    answer: Answer,
}

/// Routers on a line from which on paths take more than seconds.
const LONG_SIDE: u32 = 48;
/// Nodes from which on channels that are told apart take more than a second.
const MANY_NODES: u32 = 64;

/// What is said before an answer that may take seconds.
fn cost_of(scenario: &Scenario, args: &Solve) -> Option<String> {
    let topology = scenario.topology();
    let is_refined = args.model.is_none_or(|model| model.model() == Model::Refined)
        && Model::Refined.supports(scenario).is_ok();
    let is_uneven = (0..scenario.classes().len()).any(|class| !scenario.is_uniform(class));
    if topology.sides().iter().any(|side| *side >= LONG_SIDE) {
        return Some(format!(
            "paths along {LONG_SIDE} routers and more take up to half a minute to put together"
        ));
    }
    (is_refined && is_uneven && topology.nodes() >= MANY_NODES).then(|| {
        "destinations or nodes of a class tell channels apart: every kind of channel is solved by itself, which takes \
         up to some ten seconds"
            .to_owned()
    })
}

pub(crate) fn run(args: &Solve) -> Result<(), Exit> {
    if args.model == Some(ModelChoice::Anchored) {
        return anchored(args);
    }
    let document = input::document(&args.source);
    let idle = args.campaign.idle(&None);
    let idle = if idle.is_empty() { Ok(()) } else { Err(Exit::BadInput(idle)) };
    let (document, ()) = Exit::both(document, idle)?;
    let scenario = input::scenario(&document)?;
    let has_model = Model::ALL.into_iter().any(|model| model.supports(&scenario).is_ok());
    // of packet switches nothing is exact but what the recn model says
    let is_of_routers = Model::usual(&scenario) != Model::Recn;
    if args.model.is_none() && !args.distribution && !has_model && is_of_routers {
        return loads::run(&document, &scenario, args.format);
    }
    if let Some(cost) = cost_of(&scenario, args) {
        output::note(&cost);
    }
    let options = input::options(args.details || args.distribution);
    let answer = args
        .model
        .map_or_else(|| Model::usual(&scenario), ModelChoice::model)
        .solve(&scenario, &options)
        .map_err(|f| input::failure(&document, &f))?;
    let faults = not_there(args, &answer);
    if !faults.is_empty() {
        return Err(Exit::BadInput(faults));
    }
    if args.distribution {
        return distribution::write(&answer, args.format);
    }
    match args.format {
        Format::Json => {
            let flitwise_version = env!("CARGO_PKG_VERSION");
            output::write_json(&SolveDocument { schema: "flitwise.solve/2", flitwise_version, answer })
        }
        Format::Csv => match &args.section {
            Some(name) => output::section_csv(&answer.sections, name),
            None => csv(&answer, &ClassColumns::of(&scenario)),
        },
        Format::Table | Format::Markdown => {
            output::write_coloured(&page(&answer, args.format == Format::Markdown, args.details))
        }
    }
}

/// Options for what a model with means only has not, and `--section` without its format.
fn not_there(args: &Solve, answer: &Answer) -> Vec<String> {
    let is_of_means = answer.model == Model::Recn;
    let given = [("details", args.details), ("distribution", args.distribution)];
    let given = given.into_iter().filter(|(_, is_given)| *is_given && is_of_means);
    let faults =
        given.map(|(option, _)| format!("--{option}: found the recn model, wanted none: it has means only"));
    faults.chain(output::section_without_csv(args.section.as_deref(), args.format)).collect()
}

/// A single scenario is its own anchor: its simulation.
fn anchored(args: &Solve) -> Result<(), Exit> {
    let not_there = [("details", args.details), ("distribution", args.distribution)];
    let fault = |(option, _)| {
        format!(
            "--{option}: found --model anchored, which answers a single scenario by its simulation, wanted a model \
             that has them\n  help: --model refined"
        )
    };
    let faults: Vec<String> = not_there.into_iter().filter(|(_, given)| *given).map(fault).collect();
    let asked = if faults.is_empty() { Ok(()) } else { Err(Exit::BadInput(faults)) };
    let campaign = Exit::both(Campaign::read(&args.campaign), asked);
    let (scenario, (campaign, ())) =
        Exit::both(input::to_simulate(&args.source, flitwise_experiment::supports), campaign)?;
    let precision = percent(campaign.settings.precision);
    campaign.say(&format!("anchored: one simulation to ±{precision}, unless the store has it"));
    let found = campaign.run_part(0, 1, &scenario).map_err(|faults| Exit::faults(&faults))?;
    let (mut answer, is_stored) =
        found.ok_or_else(|| Exit::InterruptedAt("the simulation is not complete".to_owned()))?;
    let (seconds, place) =
        (answer.run.simulation_seconds, if is_stored { "from the store, once" } else { "simulated" });
    campaign.say(&format!("1 anchor: {place} in {seconds:.1} s of all threads"));
    answer
        .notes
        .push("anchored: a single scenario is its own anchor, so that this is its simulation".to_owned());
    simulate::write(answer, args.format, args.section.as_deref(), &ClassColumns::of(&scenario))
}

fn csv(answer: &Answer, columns: &ClassColumns) -> Result<(), Exit> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    rows.write_record(columns.heads())?;
    for class in &answer.classes {
        rows.write_record(columns.row(answer.model.word(), class))?;
    }
    output::write_csv(rows)
}

/// The answer as a page to read.
fn page(answer: &Answer, markdown: bool, details: bool) -> String {
    let mut page = Page::new(markdown);
    let network = output::network(answer.scenario.network);
    page.title(&format!("{}: {network}, {} model", answer.scenario.name, answer.model));
    page.rows(&means(answer, markdown));
    let parts = "network latency = transfer + blocking + sharing; ";
    let parts = if answer.model.lacks(Quantity::Blocking) { "" } else { parts };
    page.legend(&format!("{parts}total = network latency + waiting"));
    output::add_sections(&mut page, &answer.sections, markdown);
    for (title, rows) in frames::sections(answer, markdown) {
        page.section(title, &rows);
    }
    page.section("Blocking and sharing by place", &by_place(answer, markdown));
    page.section("Deadlines on the network latency", &deadlines(answer, markdown));
    page.section("Percentiles of the network latency", &percentiles(answer, markdown));
    if details {
        for class in &answer.classes {
            if let Some(rows) = channels(class, markdown) {
                page.title(&format!("Channels, class {}", class.name));
                page.rows(&rows);
            }
        }
    }
    page.remarks(&remarks(answer));
    page.end(&answer.report.to_string())
}

/// Quantities of the first table; a model has the last four for all classes or for none.
const MEANS: [Quantity; 10] = [
    Quantity::NetworkLatency,
    Quantity::Transfer,
    Quantity::Blocking,
    Quantity::Sharing,
    Quantity::Waiting,
    Quantity::TotalLatency,
    Quantity::Utilization,
    Quantity::RouterLoad,
    Quantity::BlockingProbability,
    Quantity::CyclesPerFlit,
];

fn means(answer: &Answer, markdown: bool) -> Rows {
    let (spec, time) = (&answer.scenario, Time::of(&answer.scenario));
    let of_packets = Quantity::PACKETS.iter().filter(|_| spec.groups().contains(&Quantity::PACKETS));
    let quantities: Vec<Quantity> = MEANS.iter().chain(of_packets).copied().collect();
    let mut rows = Rows::new(&output::heads_in(&quantities, time, markdown), markdown);
    for class in &answer.classes {
        let means = quantities.iter().map(|quantity| output::mean(*quantity, class, time));
        rows.add([class.name.clone()].into_iter().chain(means));
    }
    let lacked = quantities.iter().enumerate().filter(|(_, quantity)| answer.model.lacks(**quantity));
    rows.hide_if_empty((MEANS.len() - 3..=quantities.len()).chain(lacked.map(|(index, _)| index + 1)));
    rows
}

/// Where a message waits, by a model that tells places apart.
fn by_place(answer: &Answer, markdown: bool) -> Rows {
    let mut rows = Rows::new(&output::heads(&output::BY_PLACE, markdown), markdown);
    let is_told = |class: &ClassAnswer, quantity: Quantity| class.value(quantity.into()).is_some();
    for class in &answer.classes {
        if output::BY_PLACE.iter().any(|quantity| quantity.is_by_place() && is_told(class, *quantity)) {
            let parts = output::BY_PLACE.map(|quantity| output::mean(quantity, class, Time::CYCLES));
            rows.add([class.name.clone()].into_iter().chain(parts));
        }
    }
    rows
}

fn deadlines(answer: &Answer, markdown: bool) -> Rows {
    let hypercube = answer.scenario.network.topology().most_hops() > 0;
    let mut heads = vec!["class", "deadline [cycles]", "miss probability"];
    if hypercube {
        heads.insert(1, "hops");
    }
    let mut rows = Rows::new(&heads, markdown);
    for class in &answer.classes {
        for deadline in &class.deadlines {
            let hops = deadline.hops.map_or("all".to_owned(), |hops| hops.to_string());
            let row = [
                Some(class.name.clone()),
                hypercube.then_some(hops),
                Some(deadline.deadline_cycles.to_string()),
                Some(share(deadline.miss_probability)),
            ];
            rows.add(row.into_iter().flatten());
        }
    }
    rows
}

fn percentiles(answer: &Answer, markdown: bool) -> Rows {
    let mut rows = Rows::new(&output::percentile_heads(), markdown);
    for class in &answer.classes {
        let percentiles = class.latency_percentiles_cycles.each().map(|(_, value)| value);
        if percentiles[0].is_some() {
            rows.add([class.name.clone()].into_iter().chain(percentiles.map(whole)));
        }
    }
    rows
}

fn channels(class: &ClassAnswer, markdown: bool) -> Option<Rows> {
    let channels = class.per_channel.as_ref()?;
    let heads = [
        "channel\n",
        "latency\ncycles",
        "rate\nmsg/cycle",
        "started\nmsg/cycle",
        "utili-\nzation",
        "router\nload",
        "P(block)\n",
        "blocking\nflits",
        "middle\nflits",
        "cycles\n/flit",
        "P(idle)\n",
    ];
    let mut rows = Rows::new(&heads, markdown);
    for channel in channels {
        rows.add([
            channel.channel.clone(),
            cycles(Some(channel.latency_cycles)),
            format!("{:.4e}", channel.rate_messages_per_cycle),
            format!("{:.4e}", channel.started_rate_messages_per_cycle),
            share(Some(channel.utilization)),
            share(Some(channel.router_load)),
            share(Some(channel.blocking_probability)),
            share(Some(channel.blocking_length_flits)),
            share(Some(channel.middle_blocking_length_flits)),
            share(Some(channel.cycles_per_flit)),
            share(Some(channel.idle_probability)),
        ]);
    }
    Some(rows)
}

/// Notes below the tables: saturated classes, numbers that do not exist and why, expected errors.
fn remarks(answer: &Answer) -> Vec<String> {
    let mut remarks = Vec::new();
    for class in &answer.classes {
        if let Some(saturation) = &class.saturation {
            let mut line = format!("{} is saturated: {}", class.name, saturation.because);
            if let (Some(factor), Some(rate)) =
                (saturation.at_load_factor, saturation.at_rate_messages_per_cycle)
            {
                let _ = write!(
                    line,
                    "; it saturates when all rates are multiplied by {} ({rate:.4e} messages/cycle)",
                    share(Some(factor))
                );
            } else {
                line.push_str("; it is so at any load");
            }
            remarks.push(line);
        }
        let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        if !class.saturated {
            for (field, reason) in &class.reasons {
                // what only the other model has, and that best effort has no percentiles, goes without saying
                let quantity = Quantity::MEANS.iter().find(|quantity| quantity.field() == field);
                if answer.model != Model::Published && quantity.is_some_and(|one| answer.model.lacks(*one)) {
                    continue;
                }
                if field != "latency_percentiles_cycles" || class.kind == ClassKind::RealTime {
                    by_reason.entry(reason).or_default().push(field);
                }
            }
        }
        for deadline in &class.deadlines {
            if let Some(reason) = &deadline.reason {
                let fields = by_reason.entry(reason).or_default();
                if !fields.contains(&"deadlines") {
                    fields.push("deadlines");
                }
            }
        }
        let lacking = by_reason.into_iter().map(|(reason, fields)| lacking(&class.name, &fields, reason));
        remarks.extend(lacking);
    }
    remarks.extend(validity(answer));
    remarks.extend(answer.notes.iter().map(|note| format!("note: {note}")));
    remarks
}

/// What a class has no number of, and why: of a class without any latency the many fields are not listed.
fn lacking(class: &str, fields: &[&str], reason: &str) -> String {
    let lacks = |quantity: Quantity| fields.contains(&quantity.field());
    match (lacks(Quantity::NetworkLatency), lacks(Quantity::Utilization)) {
        (true, true) => format!("{class} has no latencies and no loads: {reason}"),
        (true, false) => format!("{class} has no latencies: {reason}"),
        _ => format!("{class}: no {}: {reason}", fields.join(", no ")),
    }
}

/// The expected errors of the answer, and in what its scenario lies outside all that was checked.
fn validity(answer: &Answer) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(validity) = &answer.validity {
        let share = validity.load_share_of_saturation;
        let here = if share < 1.0 { format!("at about {} of", percent(share)) } else { "beyond".to_owned() };
        let family = &validity.family;
        remarks.push(format!("checked by simulation: {family}, here {here} the load that saturates"));
    }
    remarks.extend(answer.classes.iter().filter_map(expected));
    let outside = answer.validity.iter().filter(|validity| !validity.outside.is_empty());
    remarks
        .extend(outside.map(|validity| format!("outside what was checked: {}", validity.outside.join("; "))));
    remarks
}

/// Mean and worst errors of a class's answer where it was checked.
fn expected(class: &ClassAnswer) -> Option<String> {
    let errors = class.expected_errors?;
    let in_percent = |what: &str, error: Option<ExpectedError>| {
        error.map(|error| {
            format!("{what} within {} (worst {})", percent(error.mean / 100.0), percent(error.worst / 100.0))
        })
    };
    let miss = errors.miss_probability.map(|error| {
        let (mean, worst) = (share(Some(error.mean)), share(Some(error.worst)));
        format!("miss probabilities within {mean} (worst {worst})")
    });
    let parts = [
        in_percent("network latency", errors.network_latency_percent),
        in_percent("waiting", errors.waiting_percent),
        in_percent("total", errors.total_latency_percent),
        miss,
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("{}: expect {}", class.name, parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use flitwise_language::scenario::ScenarioSpec;
    use flitwise_models::answer::{ExpectedErrors, Validity};
    use flitwise_models::model::{Model, Options};

    use super::*;

    fn table_1() -> Answer {
        let scenario = ScenarioSpec::default().check().unwrap();
        Model::Published.solve(&scenario, &Options::default()).unwrap()
    }

    #[test]
    fn columns_without_any_value_are_left_out() {
        let mut answer = table_1();
        assert!(page(&answer, true, false).contains("blocking probability"));
        for class in &mut answer.classes {
            (class.blocking_probability, class.cycles_per_flit) = (None, None);
        }
        for page in [page(&answer, true, false), page(&answer, false, false)] {
            let table = page.split("Deadlines").next().unwrap();
            assert!(
                !table.contains("P(block") && !table.contains("blocking p") && !table.contains("flit"),
                "{page}"
            );
            assert!(table.contains("zation"), "{page}");
        }
    }

    #[test]
    fn parts_by_place_are_shown_where_there_are_some() {
        assert!(!page(&table_1(), true, false).contains("by place"));
        let mut answer = table_1();
        let class = &mut answer.classes[1];
        class.input_cycles = Some(1.25);
        class.arbitration_cycles = Some(2.5);
        class.output_cycles = Some(3.75);
        class.gap_cycles = Some(4.0);
        let page = page(&answer, true, false);
        let table = page.split("by place").nth(1).unwrap();
        let row = table.lines().find(|line| line.starts_with("| R")).unwrap();
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert_eq!(
            (cells[1], cells[3], cells[4], cells[6], cells[7]),
            ("R2", "1.25", "2.50", "3.75", "4.00")
        );
    }

    /// A class that lacks its latencies lacks many fields: they are not listed one by one.
    #[test]
    fn what_a_class_lacks_is_a_sentence() {
        let mut spec = ScenarioSpec::default();
        spec.classes[1].rate = 0.0;
        let silent = spec.check().unwrap();
        for (model, because) in [
            (Model::Published, "rate is 0 and no vtick is given"),
            (Model::Refined, "its rate is 0: the refined model answers for classes that send"),
        ] {
            let answer = model.solve(&silent, &Options::default()).unwrap();
            let found = remarks(&answer);
            let wanted = format!("R2 has no latencies and no loads: {because}");
            assert!(found.iter().any(|line| line.starts_with(&wanted)), "{found:?}");
        }
        let fields = ["network_latency_cycles", "waiting_cycles", "total_latency_cycles"];
        assert_eq!(lacking("video", &fields, "because"), "video has no latencies: because");
        assert_eq!(lacking("R1", &fields[1..2], "because"), "R1: no waiting_cycles: because");
        assert_eq!(
            lacking("R1", &["a", "b", "c", "d"], "because"),
            "R1: no a, no b, no c, no d: because",
            "whatever is missing is named"
        );
    }

    /// An answer that takes seconds is announced, and only that.
    #[test]
    fn what_takes_seconds_is_announced() {
        use clap::Parser;

        let cost = |options: &[&str]| {
            let line = ["flitwise", "solve"].iter().chain(options).copied();
            let crate::args::Command::Solve(args) = crate::args::Cli::try_parse_from(line).unwrap().command
            else {
                panic!("solve")
            };
            let scenario = input::scenario(&input::document(&args.source).unwrap()).unwrap();
            cost_of(&scenario, &args)
        };
        let torus = ["--preset", "torus8x8"];
        let hot = ["--set", "class.BE.destination={ hot = 9, share = 0.1 }"];
        let told_apart = cost(&[torus, hot].concat()).unwrap();
        assert!(
            told_apart.contains("every kind of channel") && told_apart.contains("seconds"),
            "{told_apart}"
        );
        let some_send = ["--set", "class.BE.nodes=\"0-31\""];
        assert_eq!(cost(&[torus, some_send].concat()), Some(told_apart), "nodes tell channels apart, too");
        let long = cost(&[&torus[..], &["--set", "network.radix=[48, 3]"]].concat()).unwrap();
        assert!(long.contains("48 routers and more"), "{long}");
        // uniform, few nodes, or a model without stations of its own on each channel
        assert_eq!(cost(&torus), None);
        assert_eq!(cost(&[["--preset", "mesh4x4"], hot].concat()), None);
        assert_eq!(cost(&[torus, hot, ["--model", "published"]].concat()), None);
    }

    #[test]
    fn what_to_expect_and_what_was_never_checked_is_said() {
        assert!(!page(&table_1(), true, false).contains("expect"));
        let mut answer = table_1();
        let error = |mean, worst| Some(ExpectedError { mean, worst });
        answer.classes[0].expected_errors = Some(ExpectedErrors {
            network_latency_percent: error(0.8, 3.1),
            miss_probability: error(0.018, 0.05),
            ..ExpectedErrors::default()
        });
        answer.validity = Some(Validity {
            family: "single routers".to_owned(),
            load_share_of_saturation: 0.62,
            outside: vec!["65 ports, checked 4 to 32".to_owned()],
        });
        let page = page(&answer, true, false);
        for line in [
            "- checked by simulation: single routers, here at about 62 % of the load that saturates",
            "- R1: expect network latency within 0.8 % (worst 3.1 %), miss probabilities within 0.0180 (worst 0.0500)",
            "- outside what was checked: 65 ports, checked 4 to 32",
        ] {
            assert!(page.lines().any(|found| found == line), "no {line:?} in\n{page}");
        }
    }
}
