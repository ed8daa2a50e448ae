//! Trace of a simulation: a CSV row for each measured message.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flitwise_experiment::host_value;
use flitwise_language::quantity::{Quantity, Waits};
use flitwise_language::scenario::Scenario;
use flitwise_simulator::Delivery;

use crate::outcome::Exit;

const HEADS: &str = "replication,class,source_node,destination_node,hops,generated_cycle,entered_cycle,\
                     delivered_cycle,waiting_cycles,network_latency_cycles,transfer_cycles";

/// A trace being written. What is in the file stays until [`Trace::begin`].
pub(super) struct Trace {
    path: PathBuf,
    out: BufWriter<File>,
    /// Names as they stand in the file, by class.
    classes: Vec<String>,
    /// Quantities of interfaces and preemption, where there are any.
    further: Vec<Quantity>,
    /// Whether the file is there for nothing but this trace, and nothing has been written to it.
    removable: bool,
    failed: Option<io::Error>,
}

impl Trace {
    /// Opens the file, so that it is known early whether it can be written; `scenario_file` is spared.
    pub(super) fn open(path: &Path, scenario_file: Option<&Path>) -> Result<Self, Exit> {
        let place = format!("--trace {}", path.display());
        let same = |other: &Path| Some(fs::canonicalize(other).ok()? == fs::canonicalize(path).ok()?);
        if scenario_file.and_then(same).unwrap_or(false) {
            return Err(Exit::input(format!("{place}: found the scenario file, wanted another file")));
        }
        if path == Path::new("-") {
            let message = format!("{place}: found standard output, where the results go, wanted a file");
            return Err(Exit::input(message));
        }
        let new = OpenOptions::new().write(true).create_new(true).open(path);
        let removable = new.is_ok();
        let old = || OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = match new {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => old(),
            new => new,
        };
        let file = file.map_err(|error| Exit::input(format!("{place}: cannot be written: {error}")))?;
        let out = BufWriter::with_capacity(1 << 16, file);
        Ok(Self {
            path: path.to_owned(),
            out,
            classes: Vec::new(),
            further: Vec::new(),
            removable,
            failed: None,
        })
    }

    /// Overwrites what is in the file.
    pub(super) fn begin(mut self, scenario: &Scenario) -> Self {
        self.removable = false;
        self.classes = scenario.classes().iter().map(|class| quoted(&class.name)).collect();
        let groups = scenario.spec().groups();
        let further = [Quantity::INTERFACES, Quantity::PREEMPTIONS, Quantity::ADAPTERS].into_iter();
        self.further = further.filter(|group| groups.contains(group)).flatten().copied().collect();
        let empty = || {
            let file = self.out.get_ref();
            // a pipe or a device has no length
            if file.metadata()?.is_file() { file.set_len(0) } else { Ok(()) }
        };
        let waits = Waits::<u32>::default().each().map(|(wait, _)| format!(",{}", wait.field()));
        let further = self.further.iter().map(|quantity| format!(",{}", quantity.field()));
        let heads = HEADS.to_owned() + &waits.chain(further).collect::<String>();
        self.failed = empty().and_then(|()| writeln!(self.out, "{heads}")).err();
        self
    }

    /// A row per message. After a failure nothing more is written; [`Trace::end`] reports it.
    pub(super) fn write(&mut self, replication: u32, messages: &[Delivery]) {
        if self.failed.is_none() {
            let rows = messages.iter().try_for_each(|message| self.row(replication, message));
            self.failed = rows.and_then(|()| self.out.flush()).err();
        }
    }

    fn row(&mut self, replication: u32, message: &Delivery) -> io::Result<()> {
        let Delivery {
            generated_cycle,
            entered_cycle,
            delivered_cycle,
            source,
            destination,
            class,
            hops,
            ..
        } = message;
        let class = &self.classes[usize::from(*class)];
        let (waiting, latency) = (message.waiting_cycles(), message.network_latency_cycles());
        let transfer = message.transfer_cycles();
        write!(
            self.out,
            "{replication},{class},{source},{destination},{hops},{generated_cycle},{entered_cycle},\
             {delivered_cycle},{waiting},{latency},{transfer}"
        )?;
        message.waits.each().try_for_each(|(_, cycles)| write!(self.out, ",{cycles}"))?;
        for value in self.further.iter().filter_map(|quantity| host_value(message, *quantity)) {
            write!(self.out, ",{value}")?;
        }
        writeln!(self.out)
    }

    pub(super) fn end(mut self) -> Result<(), Exit> {
        let flushed = self.out.flush();
        match self.failed.take().or(flushed.err()) {
            None => Ok(()),
            Some(error) => {
                Err(Exit::Trace(format!("cannot write the trace {}: {error}", self.path.display())))
            }
        }
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        if self.removable {
            // an empty file too many is not worth a message
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A text as it stands in a CSV file.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
