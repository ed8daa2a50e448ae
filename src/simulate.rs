//! `flitwise simulate`.

mod details;
mod frame_deadlines;
mod over_time;
mod page;
mod plot;
mod settings;
mod trace;

use flitwise_experiment::answer::{ClassSimulation, Estimate, Run, SimulateDocument, Simulation, StoppedBy};
use flitwise_experiment::{self as experiment, Listener, Progress};
use flitwise_figures::draw::Style;
use flitwise_language::quantity::Quantity;
use flitwise_simulator::Delivery;
use flitwise_simulator::diagram;
use flitwise_validation::machine;
use indicatif::HumanCount;

use crate::args::{Format, Simulate};
use crate::outcome::Exit;
use crate::output::ClassColumns;
use crate::progress::Bar;
use crate::signals::Watch;
use crate::{input, output};
use trace::Trace;

pub(crate) fn run(args: &Simulate) -> Result<(), Exit> {
    let scenario = input::to_simulate(&args.source, machine::supports);
    let asked = Exit::both(scenario, settings::read(args));
    if let Ok((scenario, _)) = &asked {
        let mut faults = settings::idle(args, scenario);
        faults.extend(output::section_without_csv(args.section.as_deref(), args.format));
        if !faults.is_empty() {
            return Err(Exit::BadInput(faults));
        }
        args.plot.as_deref().map_or(Ok(()), |path| plot::check(scenario, path, args.format))?;
    }
    let trace = args.trace.as_deref().map(|path| Trace::open(path, args.source.file.as_deref()));
    let ((scenario, (settings, machine, watched)), trace) = Exit::both(asked, trace.transpose())?;
    if let Some(messages) = watched {
        let diagram = diagram::watch(&scenario, settings.seed, messages);
        return output::write(diagram.map_err(|faults| Exit::faults(&faults))?.to_string().as_bytes());
    }

    let mut listener = Audience {
        bar: Bar::new(args.quiet, settings.precision),
        trace: trace.map(|trace| trace.begin(&scenario)),
    };
    let watch = Watch::begin();
    let answer = experiment::run(&scenario, &settings, &machine.host(watch.stop()), &mut listener);
    // from here on there is nothing to wait for: the next signal ends the process
    drop(watch);
    let answer = answer.map_err(|faults| Exit::faults(&faults))?;
    let Audience { bar, trace } = listener;
    bar.clear();

    let ended = ended(&answer.run, args.max_time.as_deref().unwrap_or_default());
    // the trace is ended even if nobody takes the results, and its failure is the one to report
    let picture = args.plot.as_deref().map(|path| (path, plot::picture(&scenario, &answer)));
    let written = write(answer, args.format, args.section.as_deref(), &ClassColumns::of(&scenario));
    let plotted =
        picture.map_or(Ok(()), |(path, picture)| crate::plot::write(&picture, &Style::default(), path));
    let written = written.and(plotted);
    trace.map_or(Ok(()), Trace::end)?;
    ended.map_or(written, Err)
}

/// Whether time was over before anything was measured.
pub(crate) fn is_nothing(run: &Run) -> bool {
    run.stopped_by == StoppedBy::MaxTime && run.messages == 0
}

/// How a run that was broken off ends.
fn ended(run: &Run, max_time: &str) -> Option<Exit> {
    match run.stopped_by {
        StoppedBy::Interrupted => Some(Exit::Interrupted),
        _ if is_nothing(run) => Some(Exit::Nothing(format!(
            "nothing was measured: --max-time {max_time} was over before the end of the warm-up; wanted more time, or \
             a shorter warm-up with --warmup"
        ))),
        _ => None,
    }
}

/// Who listens to a simulation.
struct Audience {
    bar: Bar,
    trace: Option<Trace>,
}

impl Listener for Audience {
    fn progress(&mut self, progress: &Progress) {
        let Progress { warming_up, messages, precision, share_done, .. } = *progress;
        let messages = HumanCount(messages);
        self.bar.show(share_done, |left| match precision {
            _ if warming_up => "warming up".to_owned(),
            None => format!("{messages} messages"),
            Some(found) => format!("{messages} messages, {}, {left:#} left", self.bar.precision(found)),
        });
    }

    fn measured(&mut self, replication: u32, messages: &[Delivery]) {
        if let Some(trace) = &mut self.trace {
            trace.write(replication, messages);
        }
    }
}

/// Prints what was simulated.
pub(crate) fn write(
    answer: Simulation,
    format: Format,
    section: Option<&str>,
    columns: &ClassColumns,
) -> Result<(), Exit> {
    match format {
        Format::Json => output::write_json(&SimulateDocument::of(answer)),
        Format::Csv if answer.channel_details.is_some() => details::csv(&answer),
        Format::Csv if section.is_some() => {
            output::section_csv(&answer.sections, section.unwrap_or_default())
        }
        Format::Csv => match &answer.over_time {
            Some(intervals) => over_time::csv(intervals),
            None => csv(&answer, columns),
        },
        Format::Table | Format::Markdown => {
            output::write_coloured(&page::page(&answer, format == Format::Markdown))
        }
    }
}

/// One row per class; what does not exist is empty.
fn csv(answer: &Simulation, columns: &ClassColumns) -> Result<(), Exit> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    let rules = frame_deadlines::prefixes(answer);
    for (index, class) in answer.classes.iter().enumerate() {
        let fields = fields(class, columns).into_iter().chain(frame_deadlines::fields(class, &rules));
        let (heads, row): (Vec<String>, Vec<String>) = fields.unzip();
        if index == 0 {
            rows.write_record(heads)?;
        }
        rows.write_record(row)?;
    }
    output::write_csv(rows)
}

fn text(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Columns of a class with their names, which are the same for every class.
pub(crate) fn fields(class: &ClassSimulation, columns: &ClassColumns) -> Vec<(String, String)> {
    let mut fields = vec![
        ("class".to_owned(), class.name.clone()),
        ("kind".to_owned(), class.kind.word().to_owned()),
        ("messages".to_owned(), messages(class.network_latency_cycles).to_string()),
    ];
    for quantity in Quantity::MEANS.iter().chain(columns.further()) {
        if !quantity.is_measured() {
            continue;
        }
        let (field, unit) = (quantity.field(), quantity.unit().word().replace('/', "_per_"));
        let found = class.means.get(*quantity);
        fields.push((field.to_owned(), text(found.map(|found| found.mean))));
        // a count or a share has no unit in its name
        let width = match field.strip_suffix(&unit).filter(|_| !unit.is_empty()) {
            Some(stem) => format!("{stem}half_width_95_{unit}"),
            None => format!("{field}_half_width_95"),
        };
        fields.push((width, text(found.and_then(|found| found.half_width_95))));
    }
    fields.push(("saturated".to_owned(), class.saturated.to_string()));

    for (quantity, found) in class.latency_percentiles_cycles.each() {
        let name = quantity.word();
        fields.push((output::percentile_column(quantity), text(found.map(|found| found.value))));
        fields.push((format!("latency_{name}_lower_95_cycles"), text(found.map(|found| found.lower_95))));
        let upper = found.and_then(|found| found.upper_95);
        fields.push((format!("latency_{name}_upper_95_cycles"), text(upper)));
    }
    for (key, name) in columns.deadlines() {
        let found = class.deadlines.iter().find(|found| (found.hops, found.deadline_cycles) == key);
        let found = found.and_then(|found| found.miss_probability);
        fields.push((name.clone(), text(found.map(|found| found.mean))));
        fields.push((format!("{name}_lower_95"), text(found.map(|found| found.lower_95))));
        fields.push((format!("{name}_upper_95"), text(found.map(|found| found.upper_95))));
    }
    fields
}

/// The messages behind an estimate.
fn messages(estimate: Option<Estimate>) -> u64 {
    estimate.map_or(0, |found| found.messages)
}
