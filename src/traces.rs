//! `flitwise trace`: traces of messages, made or converted.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use flitwise_experiment::traces::{self, Format, HostLayout, Row, Synthesis};

use crate::args::traces::{BlockFormat, Convert, Fold, Synthesise, TraceCommand};
use crate::outcome::Exit;
use crate::output::WholeRows;
use crate::place;
use crate::typed::{Options, number, seed, within};

/// The longest synthetic trace \[us\].
const MOST_US: f64 = 1e9;

pub(crate) fn run(command: &TraceCommand) -> Result<(), Exit> {
    match command {
        TraceCommand::Synthesise(args) => synthesise(args),
        TraceCommand::Convert(args) => convert(args),
    }
}

/// Hosts and disks; faults are added.
fn folded(fold: &Fold, faults: &mut Vec<String>) -> HostLayout {
    let mut options = Options { faults };
    let hosts = options.value("hosts", &fold.hosts, within(2..=65_536, "2 to 65536 hosts")) as u32;
    let disks = options.value("disks", &fold.disks, within(1..=65_535, "1 to 65535 disks")) as u32;
    if faults.is_empty() && disks >= hosts {
        faults.push(format!(
            "--disks {disks}: found {disks}, wanted at most {}: at least one of the {hosts} hosts must not be a disk",
            hosts - 1
        ));
    }
    HostLayout { hosts, disks }
}

/// A number above 0 that is at most `most`.
fn above_zero(most: f64, wanted: &'static str) -> impl Fn(&str) -> Result<f64, String> {
    move |typed: &str| {
        number(typed).filter(|number| *number > 0.0 && *number <= most).ok_or_else(|| wanted.to_owned())
    }
}

fn synthesise(args: &Synthesise) -> Result<(), Exit> {
    let mut faults = Vec::new();
    let HostLayout { hosts, disks } = folded(&args.fold, &mut faults);
    let mut options = Options { faults: &mut faults };
    let seed = options.value("seed", &args.seed, seed);
    let compression = options.value("compression", &args.compression, above_zero(1e6, "up to 1e6"));
    let run = options.value("run", &args.run, above_zero(MOST_US, "up to 1e9 us"));
    if faults.is_empty() && compression * run > MOST_US {
        faults
            .push(format!("--run {run}: found {} us in all, wanted at most {MOST_US:e}", compression * run));
    }
    if !faults.is_empty() {
        return Err(Exit::BadInput(faults));
    }
    let synthesis = Synthesis { hosts, disks, length_ns: 1e3 * compression * run, seed };
    write(args.fold.out.as_deref(), &synthesis.rows(), &synthesis.note())
}

fn convert(args: &Convert) -> Result<(), Exit> {
    let mut faults = Vec::new();
    let folded = folded(&args.fold, &mut faults);
    let name = args.file.display().to_string();
    let text = fs::read_to_string(&args.file).map_err(|error| format!("{name}: cannot be read: {error}"));
    let format = match args.from {
        BlockFormat::Msr => Format::Msr,
        BlockFormat::Spc => Format::Spc,
    };
    match text {
        Err(fault) => faults.push(fault),
        Ok(text) if faults.is_empty() => {
            let rows = format.converted(&name, &text, folded).map_err(|faults| Exit::faults(&faults))?;
            let HostLayout { hosts, disks } = folded;
            let note = format!("converted from {name}: {hosts} hosts, {disks} disks on the last of them");
            return write(args.fold.out.as_deref(), &rows, &note);
        }
        Ok(_) => {}
    }
    Err(Exit::BadInput(faults))
}

fn write(out: Option<&Path>, rows: &[Row], note: &str) -> Result<(), Exit> {
    let Some(path) = out else {
        return Ok(traces::write(&mut WholeRows::default(), rows, note)?);
    };
    place::file("--out", path)?;
    Ok(traces::write(&mut BufWriter::new(File::create(path)?), rows, note)?)
}
