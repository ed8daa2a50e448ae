//! Failures of a command and their exit codes.

use std::collections::BTreeSet;
use std::fmt;
use std::io;

use flitwise_language::scenario::Fault;
use flitwise_models::model::Failure;

/// Faults that are shown; whoever mends these will see the next.
const MOST_SHOWN: usize = 50;

/// Exit code of what was interrupted.
pub(crate) const INTERRUPTED: u8 = 130;

/// Why there is nothing, or not everything, to show.
#[derive(Debug)]
pub(crate) enum Exit {
    /// What was asked makes no sense; all faults, ready to print.
    BadInput(Vec<String>),
    /// No fixed point, or not at every point.
    NotConverged(String),
    /// The output could not be written.
    Output(io::Error),
    /// The trace could not be written; results have been printed.
    Trace(String),
    /// What was asked to agree does not; results have been printed.
    Differs(String),
    /// Nothing was measured in the time allowed; the empty answer has been printed.
    Nothing(String),
    /// A part of the work could not be done, here or elsewhere; the rest is.
    Failed(String),
    /// It was interrupted; what there was has been printed.
    Interrupted,
    /// The same, and how far it came.
    InterruptedAt(String),
}

/// What is wrong with the points of a grid: a fault that several values of an axis have is told of the first.
#[derive(Debug, Default)]
pub(crate) struct GridFaults {
    /// Faults, each with the other values that have it.
    faults: Vec<(String, BTreeSet<String>)>,
}

impl GridFaults {
    /// Adds a fault of a point.
    pub(crate) fn add(&mut self, fault: String) {
        let (_, rest) = value_and_rest(&fault);
        match self.faults.iter_mut().find(|(known, _)| value_and_rest(known).1 == rest) {
            Some((known, _)) if *known == fault => {}
            Some((_, further)) => {
                further.insert(value_and_rest(&fault).0.to_owned());
            }
            None => self.faults.push((fault, BTreeSet::new())),
        }
    }

    /// All faults, ready to print.
    pub(crate) fn told(self) -> Vec<String> {
        let told = |(fault, further): (String, BTreeSet<String>)| match further.len() {
            0 => fault,
            1 => format!("{fault}\n  the same at one more value"),
            more => format!("{fault}\n  the same at {more} more values"),
        };
        self.faults.into_iter().map(told).collect()
    }

    /// Nothing, or all faults.
    pub(crate) fn into_result(self) -> Result<(), Exit> {
        if self.faults.is_empty() { Ok(()) } else { Err(Exit::BadInput(self.told())) }
    }
}

/// The value of an axis that a fault is told of, such as `--over class.R1.rate=2`, and what is wrong with it.
fn value_and_rest(fault: &str) -> (&str, &str) {
    let is_of_axis = ["--over ", "--couple "].iter().any(|option| fault.starts_with(option));
    is_of_axis.then(|| fault.split_once(": ")).flatten().unwrap_or(("", fault))
}

impl Exit {
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::BadInput(vec![message.into()])
    }

    pub(crate) fn faults(faults: &[Fault]) -> Self {
        Self::BadInput(faults.iter().map(Fault::to_string).collect())
    }

    /// Both, or what is wrong with either: faults of the input are put together.
    pub(crate) fn both<A, B>(first: Result<A, Self>, second: Result<B, Self>) -> Result<(A, B), Self> {
        match (first, second) {
            (Ok(first), Ok(second)) => Ok((first, second)),
            (Err(Self::BadInput(mut faults)), Err(Self::BadInput(more))) => {
                faults.extend(more);
                Err(Self::BadInput(faults))
            }
            (Err(ended), _) | (_, Err(ended)) => Err(ended),
        }
    }

    /// From a model's failure; `place` is where in the input the refused key stands.
    pub(crate) fn failure(failure: &Failure, place: impl Fn(&str) -> String) -> Self {
        match failure {
            Failure::Refused { .. } => Self::BadInput(failure.lines(place)),
            Failure::NotConverged { .. } => Self::NotConverged(failure.to_string()),
        }
    }

    /// Adds what to do about it to the last fault of the input.
    pub(crate) fn with_help(mut self, help: impl FnOnce() -> Option<String>) -> Self {
        if let Self::BadInput(faults) = &mut self
            && let Some(fault) = faults.last_mut()
            && let Some(help) = help()
        {
            fault.push_str(&format!("\n  help: {help}"));
        }
        self
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Self::Output(_) | Self::Trace(_) | Self::Differs(_) | Self::Nothing(_) | Self::Failed(_) => 1,
            Self::BadInput(_) => 2,
            Self::NotConverged(_) => 3,
            Self::Interrupted | Self::InterruptedAt(_) => INTERRUPTED,
        }
    }

    /// Whether the reader of the output simply left, as `head` does.
    pub(crate) fn is_silent(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadInput(faults) => match faults.as_slice() {
                [fault] => write!(f, "{fault}"),
                faults if faults.len() > MOST_SHOWN => {
                    let (shown, hidden) = faults.split_at(MOST_SHOWN);
                    write!(f, "{} faults\n{}\nand {} more", faults.len(), shown.join("\n"), hidden.len())
                }
                faults => write!(f, "{} faults\n{}", faults.len(), faults.join("\n")),
            },
            Self::NotConverged(message)
            | Self::Trace(message)
            | Self::Differs(message)
            | Self::Nothing(message)
            | Self::Failed(message) => write!(f, "{message}"),
            Self::Interrupted => write!(f, "interrupted: the results are partial"),
            Self::InterruptedAt(place) => write!(f, "interrupted: {place}"),
            Self::Output(error) => write!(f, "cannot write the output: {error}"),
        }
    }
}

impl From<io::Error> for Exit {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<csv::Error> for Exit {
    fn from(error: csv::Error) -> Self {
        match error.into_kind() {
            csv::ErrorKind::Io(error) => Self::Output(error),
            other => Self::Output(io::Error::other(format!("{other:?}"))),
        }
    }
}

impl From<serde_json::Error> for Exit {
    fn from(error: serde_json::Error) -> Self {
        Self::Output(error.into())
    }
}
