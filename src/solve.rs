//! `flitwise solve`.

mod distribution;
mod frames;
mod loads;
mod ranges;

use std::collections::BTreeMap;
use std::fmt::Write;

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassKind, Scenario};
use flitwise_models::answer::{Answer, ClassAnswer, Validity};
use flitwise_models::document::SolveDocument;
use flitwise_models::model::{Model, Options};
use flitwise_models::{paths, refined, table};
use flitwise_validation::machine;

use crate::anchoring;
use crate::args::{Format, ModelChoice, Solve};
use crate::outcome::Exit;
use crate::output::{ClassColumns, Page, Rows, Time, cycles, percent, share, two_lines, whole};
use crate::{input, output, simulate};
pub(crate) use loads::LoadsDocument;

/// Routers on a line from which on paths take more than a second.
const LONG_SIDE: u32 = 48;

/// Ways of messages that the refined model follows in about a second, one by one.
const WAYS_A_SECOND: u64 = 100_000;

/// What is said before an answer that takes seconds.
fn cost_of(scenario: &Scenario, model: Model) -> Option<String> {
    if model == Model::Refined && model.supports(scenario).is_ok() {
        let ways = refined::single_ways(scenario);
        if ways > 2 * WAYS_A_SECOND {
            let seconds = ways / WAYS_A_SECOND;
            return Some(format!(
                "{ways} ways of messages are followed one by one, in some {seconds} seconds"
            ));
        }
    }
    let is_long = scenario.topology().sides().iter().any(|side| *side >= LONG_SIDE);
    is_long.then(|| {
        format!("paths along {LONG_SIDE} routers and more take up to some four seconds to put together")
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
    if args.resolved {
        return output::write(scenario.resolved(&document).as_bytes());
    }
    let has_model = Model::ALL.into_iter().any(|model| model.supports(&scenario).is_ok());
    let wants_latencies = has_model || args.model.is_some() || args.distribution;
    if args.loads || args.bisection.is_some() || !wants_latencies && paths::are_of_flits(&scenario) {
        return loads::run(&document, &scenario, args);
    }
    let model = args.model.map_or_else(|| Model::usual(&scenario), ModelChoice::model);
    if let Some(cost) = cost_of(&scenario, model) {
        output::note(&cost);
    }
    let details = args.details || args.distribution;
    let options = Options {
        details,
        distributions: !args.means_only,
        expected_errors: !args.distribution && !args.no_expected_errors,
        ..Options::default()
    };
    let mut answer = model.solve(&scenario, &options).map_err(|f| input::failure(&document, &f))?;
    let faults = not_there(args, &answer);
    if !faults.is_empty() {
        return Err(Exit::BadInput(faults));
    }
    if args.distribution {
        return distribution::write(&answer, args.format);
    }
    // the published model has channels by what is started and passes there
    if args.details && answer.model != Model::Published {
        match loads::channels(&scenario, args.format) {
            Ok(section) => answer.sections.0.push(section),
            Err(note) => answer.notes.push(note),
        }
    }
    // rows of classes have no place for them
    if args.format != Format::Csv || args.section.is_some() {
        let (section, notes) = ranges::section(&document, &answer, &options);
        answer.sections.0.extend(section);
        answer.notes.extend(notes);
    }
    match args.format {
        Format::Json => output::write_json(&SolveDocument::of(answer)),
        Format::Csv => match &args.section {
            Some(name) => output::section_csv(&answer.sections, name),
            None if args.means_only => csv(&answer, &ClassColumns::of_means(&scenario)),
            None => csv(&answer, &ClassColumns::of(&scenario)),
        },
        Format::Table | Format::Markdown => {
            if args.means_only {
                answer.classes.iter_mut().for_each(|class| class.deadlines.clear());
            }
            output::write_coloured(&page(&answer, args.format == Format::Markdown, args.details))
        }
    }
}

/// Options for what a model with means only has not, and `--section` without its format.
fn not_there(args: &Solve, answer: &Answer) -> Vec<String> {
    let (model, is_of_means) = (answer.model, !answer.model.has_distributions());
    let given = [("details", args.details), ("distribution", args.distribution)];
    let given = given.into_iter().filter(|(_, is_given)| *is_given && is_of_means);
    let faults = given
        .map(|(option, _)| format!("--{option}: found the {model} model, wanted none: it has means only"));
    faults.chain(output::section_without_csv(args.section.as_deref(), args.format)).collect()
}

/// A single scenario is its own anchor: its simulation.
fn anchored(args: &Solve) -> Result<(), Exit> {
    let not_there = [
        ("details", args.details),
        ("distribution", args.distribution),
        ("means-only", args.means_only),
        ("no-expected-errors", args.no_expected_errors),
    ];
    let fault = |(option, _)| {
        format!(
            "--{option}: found --model anchored, which answers a single scenario by its simulation, wanted a model \
             that has them\n  help: --model refined"
        )
    };
    let faults: Vec<String> = not_there.into_iter().filter(|(_, given)| *given).map(fault).collect();
    let asked = if faults.is_empty() { Ok(()) } else { Err(Exit::BadInput(faults)) };
    let campaign = Exit::both(anchoring::campaign(&args.campaign), asked);
    let (scenario, (campaign, ())) =
        Exit::both(input::to_simulate(&args.source, machine::supports), campaign)?;
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
    let network = output::network(&answer.scenario.network);
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
    page.section("At channel adapters", &groups(answer, Quantity::ADAPTERS, markdown));
    page.section("Connections", &groups(answer, Quantity::CONNECTIONS, markdown));
    page.section("Deadlines of frames", &groups(answer, Quantity::FRAME_DEADLINES, markdown));
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
    page.section("Errors to expect: 9 of 10 simulated numbers lie within", &errors(answer, markdown));
    page.remarks(&remarks(answer));
    // a closed form has no iteration to report on
    let report = if answer.report.iterations == 0 { String::new() } else { answer.report.to_string() };
    page.end(&report)
}

fn means(answer: &Answer, markdown: bool) -> Rows {
    let (spec, time) = (&answer.scenario, Time::of(&answer.scenario));
    let quantities = table::first_quantities(spec);
    let mut rows = Rows::new(&output::heads_in(&quantities, time, markdown), markdown);
    for class in &answer.classes {
        let means = quantities.iter().map(|quantity| output::mean(*quantity, class, time));
        rows.add([class.name.clone()].into_iter().chain(means));
    }
    let lacked = quantities.iter().enumerate().filter(|(_, quantity)| answer.model.lacks(**quantity));
    rows.hide_if_empty((table::MEANS.len() - 3..=quantities.len()).chain(lacked.map(|(index, _)| index + 1)));
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

/// Quantities of a group, of the classes that have any of them.
fn groups(answer: &Answer, quantities: &[Quantity], markdown: bool) -> Rows {
    let mut rows = Rows::new(&output::heads(quantities, markdown), markdown);
    let is_told = |class: &&ClassAnswer| quantities.iter().any(|one| class.value((*one).into()).is_some());
    for class in answer.classes.iter().filter(is_told) {
        let found = quantities.iter().map(|quantity| output::mean(*quantity, class, Time::CYCLES));
        rows.add([class.name.clone()].into_iter().chain(found));
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
            } else if let Some(reason) = &saturation.reason {
                let _ = write!(line, "; {reason}");
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
    remarks.extend(answer.validity.iter().flat_map(validity));
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

/// What the errors to expect rest on: where the answer stands, and in what its scenario lies outside all that was
/// simulated.
fn validity(validity: &Validity) -> Vec<String> {
    let Validity { region, load_share_of_saturation, most_loaded_channel, outside, unmeasured } = validity;
    let mut remarks = Vec::new();
    let share = |share: f64| format!("{:.0} %", 100.0 * share);
    let channel = most_loaded_channel.map(|load| format!("the most loaded channel is {} full", share(load)));
    let load = load_share_of_saturation
        .map(|load| format!("{} of that at which the model has the first class saturate", share(load)));
    let loads: Vec<String> = load.into_iter().chain(channel).collect();
    if !loads.is_empty() {
        remarks.push(format!("load: {}", loads.join("; ")));
    }
    match (unmeasured, region) {
        (Some(unmeasured), _) => {
            remarks.push(format!("no error is told, since none was measured: {unmeasured}"))
        }
        (None, Some(region)) => remarks.push(format!("errors measured on random {region}")),
        _ => {}
    }
    if !outside.is_empty() {
        remarks.push(format!("outside what was simulated: {}", outside.join("; ")));
    }
    remarks
}

/// How far off the simulation the numbers are to be expected.
fn errors(answer: &Answer, markdown: bool) -> Rows {
    let mut quantities: Vec<Quantity> = Vec::new();
    for error in answer.classes.iter().flat_map(|class| &class.expected_errors) {
        if !quantities.contains(&error.quantity) {
            quantities.push(error.quantity);
        }
    }
    let heads = quantities.iter().map(|quantity| two_lines(quantity.name()));
    let heads: Vec<String> = ["class".to_owned()].into_iter().chain(heads).collect();
    let mut rows = Rows::new(&heads, markdown);
    for class in answer.classes.iter().filter(|class| !class.expected_errors.is_empty()) {
        let cell = |quantity: &Quantity| {
            let found = class.expected_errors.iter().find(|error| error.quantity == *quantity);
            found.map_or_else(String::new, |error| match error.unit.as_str() {
                "percent" => format!("±{}", percent(error.nine_of_ten_within / 100.0)),
                _ => format!("±{:.3}", error.nine_of_ten_within),
            })
        };
        rows.add([class.name.clone()].into_iter().chain(quantities.iter().map(cell)));
    }
    rows
}

#[cfg(test)]
mod tests {
    use flitwise_language::scenario::{Place, Preset, ScenarioSpec};
    use flitwise_models::answer::ExpectedError;

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
        let cost = |radix: &str| {
            let mut document = Preset::find("torus8x8").unwrap().document();
            document.set("network.radix", radix, &Place::Program).unwrap();
            cost_of(&document.scenario().unwrap(), Model::Refined)
        };
        let long = cost("[48, 3]").unwrap();
        assert!(long.contains("48 routers and more") && long.contains("seconds"), "{long}");
        assert_eq!(cost("[8, 8]"), None);
        let mut pattern = Preset::find("torus8x8").unwrap().document();
        let hot = "{ hot = 5, share = 0.1 }";
        let set = [("network.radix", "[22, 22]"), ("class.BE.destination", hot)];
        set.iter().for_each(|(key, value)| pattern.set(key, value, &Place::Program).unwrap());
        let pattern = pattern.scenario().unwrap();
        let many = cost_of(&pattern, Model::Refined).unwrap();
        assert_eq!(many, "467544 ways of messages are followed one by one, in some 4 seconds");
        assert_eq!(cost_of(&pattern, Model::Published), None);
    }

    #[test]
    fn what_to_expect_and_what_was_never_checked_is_said() {
        assert!(!page(&table_1(), true, false).contains("Errors"));
        let mut answer = table_1();
        let error = |quantity, unit: &str, nine_of_ten_within| ExpectedError {
            quantity,
            unit: unit.to_owned(),
            nine_of_ten_within,
        };
        answer.classes[0].expected_errors = vec![
            error(Quantity::NetworkLatency, "percent", 3.1),
            error(Quantity::MissProbability, "absolute", 0.018),
        ];
        answer.validity = Some(Validity {
            region: Some("routers".to_owned()),
            load_share_of_saturation: Some(0.624),
            most_loaded_channel: Some(0.31),
            outside: vec!["65 ports, simulated 4 to 32".to_owned()],
            unmeasured: None,
        });
        let page = page(&answer, true, false);
        for line in [
            "| R1    |          ±3.1 % |           ±0.018 |",
            "- load: 62 % of that at which the model has the first class saturate; the most loaded channel is 31 % \
             full",
            "- errors measured on random routers",
            "- outside what was simulated: 65 ports, simulated 4 to 32",
        ] {
            assert!(page.lines().any(|found| found == line), "no {line:?} in\n{page}");
        }
    }
}
