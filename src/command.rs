//! The command `flitwise` as a function.
//!
//! ```
//! use std::sync::Arc;
//!
//! use flitwise::command;
//! use flitwise::console::Console;
//!
//! let mine = "
//!     [network]
//!     topology = 'router'
//!     ports = 8
//!     [[class]]
//!     name = 'A'
//!     kind = 'best-effort'
//!     rate = 0.002
//! ";
//! let console = Arc::new(Console::default().with_input("mine", mine));
//! let asked = ["solve", "-", "--format", "csv", "--set", "class.A.rate=0.004"];
//! command::call(&asked, &console).expect("the model answers");
//! let csv = String::from_utf8(console.take_output()).unwrap();
//! assert!(csv.starts_with("model,class,"));
//!
//! let failure = command::call(&["solve", "--set", "class.R1.rate=-1", "--set", "x=2"], &console).unwrap_err();
//! assert_eq!((failure.exit_code, failure.faults.len()), (2, 2));
//! ```

use std::ffi::OsString;
use std::fmt;
use std::io::Write;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use clap::{ArgMatches, FromArgMatches};
use clap_complete::CompleteEnv;

use crate::args::{Cli, Command};
use crate::console::Console;
use crate::outcome::Exit;
use crate::{
    accuracy, campaigns, compare, complete, explain, figure, help, learn, man, output, plan, presets, report,
    schema, sensitivity, serve, signals, simulate, solve, station, store, sweep, topology, traces, verify,
};

/// The program: reads the command line, prints, and returns the exit code.
pub fn main() -> ExitCode {
    // a shell that asks what may be typed next gets its answer, and the process ends
    CompleteEnv::with_factory(help::command).var(complete::VARIABLE).complete();
    let cli = help::parse();
    signals::handle();
    match run(&cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(ended) => {
            if !ended.is_silent() {
                let style = anstyle::AnsiColor::Red.on_default().bold();
                // a message that cannot be shown is lost; the exit code stays
                let _ = writeln!(anstream::stderr(), "{style}error:{style:#} {ended}");
            }
            ExitCode::from(ended.exit_code())
        }
    }
}

/// Why a call gave nothing, or not everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What the program would have ended with.
    pub exit_code: u8,
    /// What it would have said.
    pub message: String,
    /// Of input that makes no sense, all that is wrong with it; else empty.
    pub faults: Vec<String>,
}

/// Kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// What was asked makes no sense; nothing was printed.
    BadInput,
    /// A fixed point was not found, or not at every point; the others were printed.
    NotConverged,
    /// Something could not be written.
    Output,
    /// What was asked to agree does not; results were printed.
    Differs,
    /// Nothing was measured in the time allowed; the empty answer was printed.
    Nothing,
    /// A part of the work could not be done; the rest is.
    Failed,
    /// It was stopped; what there was has been printed.
    Interrupted,
}

impl FailureKind {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::BadInput => "bad-input",
            Self::NotConverged => "not-converged",
            Self::Output => "output",
            Self::Differs => "differs",
            Self::Nothing => "nothing",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

impl Failure {
    fn of(ended: Exit) -> Self {
        let kind = match &ended {
            Exit::BadInput(_) => FailureKind::BadInput,
            Exit::NotConverged(_) => FailureKind::NotConverged,
            Exit::Output(_) | Exit::Trace(_) => FailureKind::Output,
            Exit::Differs(_) => FailureKind::Differs,
            Exit::Nothing(_) => FailureKind::Nothing,
            Exit::Failed(_) => FailureKind::Failed,
            Exit::Interrupted | Exit::InterruptedAt(_) => FailureKind::Interrupted,
        };
        let (exit_code, message) = (ended.exit_code(), ended.to_string());
        let faults = if let Exit::BadInput(faults) = ended { faults } else { Vec::new() };
        Self { kind, exit_code, message, faults }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Does what the program does with these arguments, on a console of its own: what it prints is left there, also when it
/// fails. Any number of threads may call it at once.
///
/// # Errors
/// As the program ends with another exit code than 0.
pub fn call<A: Into<OsString> + Clone>(arguments: &[A], console: &Arc<Console>) -> Result<(), Failure> {
    let typed = [OsString::from("flitwise")].into_iter().chain(arguments.iter().cloned().map(Into::into));
    console.during(|| {
        let matches = matches(typed).map_err(|error| unread(&error))?;
        let cli = Cli::from_arg_matches(&matches).map_err(|error| unread(&error))?;
        run(&cli.command).map_err(Failure::of)
    })
}

/// What was typed. The list of all that can be typed takes longer to make than many answers, so it is kept.
fn matches(typed: impl Iterator<Item = OsString>) -> clap::error::Result<ArgMatches> {
    static GRAMMAR: Mutex<Option<clap::Command>> = Mutex::new(None);
    let mut grammar = GRAMMAR.lock().unwrap_or_else(PoisonError::into_inner);
    grammar.get_or_insert_with(help::command).try_get_matches_from_mut(typed)
}

/// Arguments that cannot be read. Help and version are failures, too: nobody reads them here.
fn unread(error: &clap::Error) -> Failure {
    let text = error.render().to_string().replace(help::FIRM, " ");
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let message = text.split("\n\nUsage:").next().unwrap_or(text).trim_end().to_owned();
    Failure { kind: FailureKind::BadInput, exit_code: 2, faults: vec![message.clone()], message }
}

fn run(command: &Command) -> Result<(), Exit> {
    match command {
        Command::Solve(args) => solve::run(args),
        Command::Sweep(args) => sweep::run(args),
        Command::Sensitivity(args) => sensitivity::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Plan(question) => plan::run(question),
        Command::Explain(args) => explain::run(args),
        Command::Verify(args) if args.accuracy => accuracy::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Figure(args) => figure::run(args),
        Command::Report(args) => report::run(args),
        Command::Campaign(command) => campaigns::run(command),
        Command::Station(args) => station::run(args),
        Command::Learn(args) => learn::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Trace(command) => traces::run(command),
        Command::Topology(command) => topology::run(command),
        Command::Store(args) => store::run(args),
        Command::Presets { action } => presets::run(action.as_ref()),
        Command::Schema { of } => schema::run(*of),
        Command::Completions { shell } => output::write(&complete::script(*shell)?),
        Command::Man { out } => man::run(out.as_deref()),
    }
}
