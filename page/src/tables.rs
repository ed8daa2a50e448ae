//! Answers as tables to read, with the digits of the command.

use flitwise_experiment::answer::{ClassSimulation, Estimate, Simulation, Utilization};
use flitwise_figures::draw::{Style, parts_svg};
use flitwise_figures::picture::{Part, Parts};
use flitwise_language::quantity::{Quantity, Unit};
use flitwise_language::scenario::Document;
use flitwise_language::section::{Layout, Section, Sections};
use flitwise_models::answer::{Answer, ClassAnswer};
use flitwise_models::document::SolveDocument;
use flitwise_models::model::{Model, Options};
use flitwise_models::table::{
    ClassColumns, NONE, Time, entry, first_quantities, grouped, mean, share, whole, with_interval,
};

use crate::engine::{answering, refused, scenario};
use crate::request::{Column, Latency, NoAnswer, Solved, Table};

/// A model's answer, as the command gives it.
pub(crate) fn solved(
    document: &Document,
    model: Option<Model>,
    expected_errors: bool,
    style: Style,
) -> Result<Solved, NoAnswer> {
    let scenario = scenario(document)?;
    let model = answering(document, &scenario, model)?;
    let options = Options { expected_errors, ..Options::default() };
    let answer = model.solve(&scenario, &options).map_err(|failure| refused(document, &failure))?;
    let columns = ClassColumns::of(&scenario);
    let rows = answer.classes.iter().map(|class| columns.row(answer.model.word(), class));
    let csv = csv_of([columns.heads()].into_iter().chain(rows))?;
    let parts = answer.classes.iter().filter_map(|class| bar(&answer, class, &style)).collect();
    let (tables, notes) = (of_answer(&answer), notes(&answer));
    Ok(Solved { tables, csv, parts, notes, document: SolveDocument::of(answer) })
}

/// Rows as comma-separated values.
pub(crate) fn csv_of(rows: impl IntoIterator<Item = Vec<String>>) -> Result<String, NoAnswer> {
    let mut table = csv::Writer::from_writer(Vec::new());
    for row in rows {
        table.write_record(row).map_err(|error| NoAnswer::new(error.to_string()))?;
    }
    let bytes = table.into_inner().map_err(|error| NoAnswer::new(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The parts of a class's latency as a bar.
fn bar(answer: &Answer, class: &ClassAnswer, style: &Style) -> Option<String> {
    let time = Time::of(&answer.scenario);
    let causes = Quantity::NetworkLatency.parts().filter(|part| !part.is_by_place());
    let part = |quantity: Quantity| {
        let size = time.shown(quantity, class.value(quantity.into()))?;
        Some((Part::of(quantity)?, quantity.head().to_owned(), size))
    };
    let parts: Vec<_> = causes.chain([Quantity::Waiting]).filter_map(part).collect();
    let parts = Parts { title: class.name.clone(), unit: time.unit.to_owned(), parts };
    (parts.parts.len() > 1).then(|| parts_svg(&parts, style))
}

/// Why classes are saturated, and what the model notes.
fn notes(answer: &Answer) -> Vec<String> {
    let saturated = answer.classes.iter().filter_map(|class| {
        let saturation = class.saturation.as_ref()?;
        let at = saturation.at_load_factor.map_or_else(String::new, |factor| {
            format!("; it saturates when all rates are multiplied by {}", share(Some(factor)))
        });
        Some(format!("{} is saturated: {}{at}", class.name, saturation.because))
    });
    saturated.chain(answer.notes.iter().cloned()).collect()
}

fn column(head: impl Into<String>, unit: &str, meaning: impl Into<String>) -> Column {
    Column { head: head.into(), unit: unit.to_owned(), meaning: meaning.into() }
}

/// Quantities of parts of a system, and what their table is called.
const PARTS: [(&str, &[Quantity]); 6] = [
    ("Between applications", Quantity::INTERFACES),
    ("At channel adapters", Quantity::ADAPTERS),
    ("Connections", Quantity::CONNECTIONS),
    ("Preemptions", Quantity::PREEMPTIONS),
    ("Frames", Quantity::FRAMES),
    ("Circuits", Quantity::CIRCUITS),
];

/// One of quantities by class; columns without any number are left out.
fn by_class<'c>(
    title: String,
    time: Time,
    quantities: &[Quantity],
    rows: impl Iterator<Item = (&'c str, Vec<String>)>,
) -> Table {
    let rows: Vec<(&str, Vec<String>)> = rows.collect();
    let is_told = |at: &usize| rows.iter().any(|(_, row)| row[*at] != NONE);
    let told: Vec<usize> = (0..quantities.len()).filter(is_told).collect();
    let head = |at: &usize| {
        let quantity = quantities[*at];
        column(quantity.name(), time.word(quantity), quantity.meaning())
    };
    let row = |(name, row): &(&str, Vec<String>)| {
        [(*name).to_owned()].into_iter().chain(told.iter().map(|at| row[*at].clone())).collect()
    };
    let columns = [column("class", "", "")].into_iter().chain(told.iter().map(head)).collect();
    Table { title, columns, rows: rows.iter().map(row).collect() }
}

/// Tables of the parts of a system that classes have numbers of.
fn of_parts<C>(
    origin: &str,
    classes: &[C],
    name: impl Fn(&C) -> &str,
    entry: impl Fn(&C, Quantity) -> String,
) -> Vec<Table> {
    let table = |(title, quantities): &(&str, &[Quantity])| {
        let row = |class| quantities.iter().map(|one| entry(class, *one)).collect::<Vec<_>>();
        let rows = classes.iter().map(|class| (name(class), row(class)));
        let told = rows.filter(|(_, row)| row.iter().any(|cell| cell != NONE));
        by_class(format!("{title}, {origin}"), Time::CYCLES, quantities, told)
    };
    PARTS.iter().map(table).collect()
}

/// What can be read of a model's answer.
fn of_answer(answer: &Answer) -> Vec<Table> {
    let (spec, time) = (&answer.scenario, Time::of(&answer.scenario));
    let quantities = first_quantities(spec);
    let row = |class: &'_ ClassAnswer| quantities.iter().map(|one| mean(*one, class, time)).collect();
    let means = answer.classes.iter().map(|class| (class.name.as_str(), row(class)));
    let mut tables = vec![by_class(format!("{} model", answer.model), time, &quantities, means)];
    let percentile =
        |class: &ClassAnswer| class.latency_percentiles_cycles.each().map(|(_, value)| whole(value));
    let percentiles = answer.classes.iter().map(|class| (class.name.as_str(), percentile(class).to_vec()));
    tables.push(by_class(
        format!("Percentiles, {} model", answer.model),
        time,
        &Quantity::PERCENTILES,
        percentiles,
    ));
    let deadlines = answer.classes.iter().flat_map(|class| {
        class.deadlines.iter().map(|one| {
            let hops = one.hops.map_or_else(|| "all".to_owned(), |hops| hops.to_string());
            vec![class.name.clone(), hops, one.deadline_cycles.to_string(), share(one.miss_probability)]
        })
    });
    let origin = format!("{} model", answer.model);
    tables.push(of_deadlines(&origin, deadlines.collect()));
    let part = |class: &ClassAnswer, quantity| mean(quantity, class, Time::CYCLES);
    tables.extend(of_parts(&origin, &answer.classes, |class| &class.name, part));
    tables.push(of_lanes(answer));
    tables.extend(of_sections(&origin, &answer.sections));
    tables.retain(|table| !table.rows.is_empty() && table.columns.len() > 1);
    tables
}

/// Where virtual channels of streams saturate.
fn of_lanes(answer: &Answer) -> Table {
    let columns = vec![
        column("class", "", ""),
        column("load", "flits/cycle", ""),
        column("saturates at", "flits/cycle", "All loads growing together."),
        column("load factor", "", ""),
        column("bottleneck", "", ""),
    ];
    let row = |class: &ClassAnswer| {
        let lanes = class.lanes.as_ref()?;
        let [load, at] =
            [lanes.load_flits_per_cycle, lanes.saturates_at_flits_per_cycle].map(Some).map(share);
        Some(vec![class.name.clone(), load, at, share(Some(lanes.at_load_factor)), lanes.bottleneck.clone()])
    };
    let rows = answer.classes.iter().filter_map(row).collect();
    Table { title: format!("Saturation, {} model", answer.model), columns, rows }
}

/// Deadlines of frames, rule by rule.
fn of_frame_deadlines(answer: &Simulation) -> Table {
    let columns = vec![
        column("class", "", ""),
        column("rule", "", ""),
        column("missing probability", "", ""),
        column("missing time", "cycles", "Of the frames that miss their deadline."),
        column("law of records", "", "What any router misses by the ratchet."),
        column("frames", "", ""),
    ];
    let estimate = |found: Option<Estimate>| {
        with_interval(found.map(|one| one.mean), found.and_then(|one| one.half_width_95))
    };
    let rows = answer.classes.iter().flat_map(|class| {
        class.frame_deadlines.iter().map(|rule| {
            vec![
                class.name.clone(),
                rule.head(),
                estimate(rule.deadline_missing_probability),
                estimate(rule.deadline_missing_time_cycles),
                share(rule.law_of_records),
                grouped(rule.frames),
            ]
        })
    });
    Table { title: "Deadlines of frames, simulation".to_owned(), columns, rows: rows.collect() }
}

/// The share of cycles in which channels are busy, of the first kind and the last.
fn of_channels(answer: &Simulation) -> Table {
    let of = |kind: &str| answer.channels.iter().find(|found| found.channel == kind);
    let kinds: Vec<(&str, _)> =
        ["injection", "ejection"].into_iter().filter_map(|kind| Some((kind, of(kind)?))).collect();
    let columns = [column("class", "", "")];
    let columns = columns.into_iter().chain(kinds.iter().map(|(kind, _)| column(*kind, "", ""))).collect();
    let told = |found: &Utilization| with_interval(Some(found.mean), found.half_width_95);
    let row = |(place, class): (usize, &ClassSimulation)| {
        let used =
            kinds.iter().map(|(_, found)| found.utilization_by_class.get(place).map_or(String::new(), told));
        [class.name.clone()].into_iter().chain(used).collect()
    };
    let rows = answer.classes.iter().enumerate().map(row).collect();
    Table { title: "Share of cycles in which a channel is busy, simulation".to_owned(), columns, rows }
}

fn of_deadlines(origin: &str, rows: Vec<Vec<String>>) -> Table {
    let meaning = "Share of messages whose network latency is above the deadline.";
    let columns = vec![
        column("class", "", ""),
        column("hops", "", "Network channels crossed by the messages that are meant."),
        column("deadline", "cycles", ""),
        column("miss probability", "", meaning),
    ];
    Table { title: format!("Deadlines on the network latency, {origin}"), columns, rows }
}

/// Sections, but for long ones.
fn of_sections(origin: &str, sections: &Sections) -> impl Iterator<Item = Table> {
    let is_short = |section: &&Section| section.layout != Layout::Series;
    sections.0.iter().filter(is_short).map(move |section| {
        let printed: Vec<usize> =
            (0..section.columns.len()).filter(|at| !section.columns[*at].is_twin).collect();
        let of = |at: &usize| column(section.columns[*at].head.clone(), section.columns[*at].unit, "");
        let row = |row: &Vec<_>| printed.iter().map(|at| entry(&section.columns[*at], &row[*at])).collect();
        let columns = printed.iter().map(of).collect();
        Table {
            title: format!("{}, {origin}", section.title),
            columns,
            rows: section.rows.iter().map(row).collect(),
        }
    })
}

/// What can be read of a simulation.
pub(crate) fn of_simulation(answer: &Simulation) -> Vec<Table> {
    let (spec, time) = (&answer.scenario, Time::of(&answer.scenario));
    let quantities: Vec<Quantity> =
        first_quantities(spec).into_iter().filter(|quantity| quantity.is_measured()).collect();
    let of = |class: &ClassSimulation, quantity: Quantity| {
        let found = class.means.get(quantity);
        let value = |number: Option<f64>| time.shown(quantity, number);
        match quantity {
            Quantity::Waiting | Quantity::TotalLatency if class.saturated => "saturated".to_owned(),
            _ if quantity.unit() == Unit::Cycles || quantity.is_of_packets() => with_interval(
                value(found.map(|one| one.mean)),
                value(found.and_then(|one| one.half_width_95)),
            ),
            _ => share(found.map(|one| one.mean)),
        }
    };
    let row = |class: &ClassSimulation| quantities.iter().map(|one| of(class, *one)).collect();
    let means = answer.classes.iter().map(|class| (class.name.as_str(), row(class)));
    let title = format!("simulation, {} messages, 95 % intervals", grouped(answer.run.messages));
    let part = |class: &ClassSimulation, quantity| {
        let found = class.means.get(quantity);
        with_interval(found.map(|one| one.mean), found.and_then(|one| one.half_width_95))
    };
    let parts = of_parts("simulation", &answer.classes, |class| &class.name, part);
    let mut tables = vec![by_class(title, time, &quantities, means)];
    let deadlines = answer.classes.iter().flat_map(|class| {
        class.deadlines.iter().map(|one| {
            let hops = one.hops.map_or_else(|| "all".to_owned(), |hops| hops.to_string());
            let miss = one.miss_probability.map_or_else(
                || NONE.to_owned(),
                |miss| {
                    let [mean, low, high] =
                        [miss.mean, miss.lower_95, miss.upper_95].map(|one| share(Some(one)));
                    format!("{mean} ({low} to {high})")
                },
            );
            vec![class.name.clone(), hops, one.deadline_cycles.to_string(), miss]
        })
    });
    tables.push(of_deadlines("simulation", deadlines.collect()));
    tables.extend(parts);
    tables.extend([of_frame_deadlines(answer), of_channels(answer)]);
    tables.extend(of_sections("simulation", &answer.sections));
    tables.retain(|table| !table.rows.is_empty() && table.columns.len() > 1);
    tables
}

/// Its network latencies.
pub(crate) fn latencies(answer: &Simulation) -> Vec<Latency> {
    let latency = |class: &ClassSimulation| {
        let found = class.means.get(Quantity::NetworkLatency);
        Latency {
            class: class.name.clone(),
            mean: found.map(|one| one.mean),
            half_width_95: found.and_then(|one| one.half_width_95),
            saturated: class.saturated,
        }
    };
    answer.classes.iter().map(latency).collect()
}
