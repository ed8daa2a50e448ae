//! A call of the command, which lets other threads of Python run and listens to its signals.

use std::borrow::Cow;
use std::panic;
use std::process;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use flitwise::command::{self, Failure};
use flitwise::console::Console;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often signals and progress are looked at.
const SLICE: Duration = Duration::from_millis(20);

/// What is known of the progress: the share that is done, and where the work stands.
type Progress = Arc<Mutex<Option<(f64, String)>>>;

/// How a command failed: kind, message and faults.
type Failed = (&'static str, String, Vec<String>);

/// What a call came to: output, notes, how it failed, and the exception that stopped it.
type Outcome<'py> = (Cow<'py, [u8]>, Vec<String>, Option<Failed>, Option<PyErr>);

/// Calls the command with these arguments and returns its output, its notes, how it failed (kind, message, faults) and
/// what stopped it: an exception that a signal or `progress` raised.
///
/// `text` is what the file `-` holds, and `name` what faults call it. `progress` is called with the share that is done
/// and with words.
#[pyfunction]
#[pyo3(signature = (arguments, name=None, text=None, progress=None))]
pub(crate) fn call<'py>(
    py: Python<'py>,
    arguments: Vec<String>,
    name: Option<String>,
    text: Option<String>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Outcome<'py>> {
    refuse_forked()?;
    let known = Progress::default();
    let mut console = Console::default();
    if let Some(text) = text {
        console = console.with_input(name.unwrap_or_else(|| "text".to_owned()), text);
    }
    if progress.is_some() {
        let known = Arc::clone(&known);
        console = console.with_progress(move |share_done, words| {
            *known.lock().unwrap_or_else(PoisonError::into_inner) = Some((share_done, words.to_owned()));
        });
    }
    let console = Arc::new(console);
    let (sender, receiver) = mpsc::sync_channel(1);
    let receiver = Mutex::new(receiver);
    let of_worker = Arc::clone(&console);
    let worker = thread::Builder::new()
        .name("flitwise".to_owned())
        .stack_size(STACK)
        .spawn(move || {
            let ended = command::call(&arguments, &of_worker);
            drop(sender.send(ended)); // somebody waits for it as long as this thread lives
        })
        .map_err(|error| PyRuntimeError::new_err(format!("no thread can be started: {error}")))?;
    let mut stopped: Option<PyErr> = None;
    let ended: Option<Result<(), Failure>> = loop {
        let next = py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(SLICE));
        match next {
            Ok(ended) => break Some(ended),
            Err(RecvTimeoutError::Disconnected) => break None,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if stopped.is_none() {
            stopped = py.check_signals().and_then(|()| tell(progress.as_ref(), &known)).err();
            if stopped.is_some() {
                console.stop();
            }
        }
    };
    if let Err(panicked) = py.detach(|| worker.join()) {
        panic::resume_unwind(panicked);
    }
    let failure = ended.and_then(Result::err);
    let failed = failure.map(|Failure { kind, message, faults, .. }| (kind.word(), message, faults));
    Ok((Cow::Owned(console.take_output()), console.take_notes(), failed, stopped))
}

/// Stack of the thread of a call, as the main thread of a program has \[bytes\].
const STACK: usize = 8 << 20;

/// Calls `progress` if something has happened.
fn tell(progress: Option<&Bound<'_, PyAny>>, known: &Progress) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    let news = known.lock().unwrap_or_else(PoisonError::into_inner).take();
    news.map_or(Ok(()), |news| progress.call1(news).map(|_| ()))
}

/// In a process that was forked after a first call there are no worker threads: a call would wait for ever.
fn refuse_forked() -> PyResult<()> {
    static FIRST: OnceLock<u32> = OnceLock::new();
    let process = process::id();
    if *FIRST.get_or_init(|| process) == process {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(
        "found a process that was forked after flitwise had been used, wanted one that was spawned\n  help: \
         multiprocessing.get_context(\"spawn\"), or threads: flitwise computes without the interpreter's lock",
    ))
}
