//! Signals to interrupt or terminate, and the work that they stop.

use std::panic;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Once};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::console::Console;
use crate::outcome::INTERRUPTED;

/// Signals so close together are one.
const SAME_SIGNAL: Duration = Duration::from_millis(500);
/// How often to look for a signal while nothing else happens.
const POLL: Duration = Duration::from_millis(20);

/// How long an interrupted command may take.
const SOON: Duration = Duration::from_millis(800);

/// Set by the first signal while somebody watches.
static STOP: AtomicBool = AtomicBool::new(false);
/// How many watch: whether there is something worth ending in order.
static WATCHED: AtomicUsize = AtomicUsize::new(0);
static HANDLER: Once = Once::new();

/// While it lives, the first signal sets [`Watch::stop`] and the second one ends the process; otherwise the first
/// one does. On a console of its own a call is stopped by that, and signals are not watched.
pub(crate) struct Watch(Option<Arc<Console>>);

/// From here on an interrupted command ends with the exit code that says so.
pub(crate) fn handle() {
    HANDLER.call_once(install);
}

impl Watch {
    pub(crate) fn begin() -> Self {
        let console = Console::own();
        if console.is_none() {
            handle();
            WATCHED.fetch_add(1, Ordering::Relaxed);
        }
        Self(console)
    }

    /// Whether to stop.
    pub(crate) fn stop(&self) -> &AtomicBool {
        self.0.as_ref().map_or(&STOP, |console| console.stop_flag())
    }

    /// What stops the work from another thread, as a signal does.
    pub(crate) fn stopper(&self) -> impl FnOnce() + Send + use<> {
        let console = self.0.clone();
        move || console.as_ref().map_or(&STOP, |console| console.stop_flag()).store(true, Ordering::Relaxed)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.0.is_none() {
            WATCHED.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Work in other threads, which sends what it finds. A signal does not wait for it: whoever receives
/// [`Next::Stopped`] prints what there is and ends the process, and the work ends with it.
pub(crate) struct Background<T> {
    watch: Watch,
    receiver: Receiver<T>,
    worker: Option<JoinHandle<()>>,
}

/// What came next of work in the background.
pub(crate) enum Next<T> {
    /// Something was found.
    Found(T),
    /// The work is done.
    Done,
    /// A signal came.
    Stopped,
}

impl<T: Send + 'static> Background<T> {
    /// Begins the work.
    pub(crate) fn begin(work: impl FnOnce(Sender<T>) + Send + 'static) -> Self {
        let watch = Watch::begin();
        let (sender, receiver) = mpsc::channel();
        let worker = Some(thread::spawn(move || work(sender)));
        Self { watch, receiver, worker }
    }

    /// Waits for the next find, the end of the work, or a signal.
    pub(crate) fn next(&mut self) -> Next<T> {
        loop {
            if self.watch.stop().load(Ordering::Relaxed) {
                return Next::Stopped;
            }
            match self.receiver.recv_timeout(POLL) {
                Ok(found) => return Next::Found(found),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    if let Some(Err(panicked)) = self.worker.take().map(JoinHandle::join) {
                        panic::resume_unwind(panicked);
                    }
                    return Next::Done;
                }
            }
        }
    }
}

/// The result of `work`, or `None` if a signal came first.
pub(crate) fn unless_stopped<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let mut background = Background::begin(move |sender| {
        // nobody receives it once a signal came
        let _ = sender.send(work());
    });
    match background.next() {
        Next::Found(result) => Some(result),
        Next::Stopped => None,
        Next::Done => unreachable!("work that does not panic sends its result"),
    }
}

/// The result of `work` if it is there soon: what an interrupted command may still take to print what it has.
pub(crate) fn soon<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(SOON).ok()
}

fn install() {
    let mut first: Option<Instant> = None;
    // without a handler a signal ends the process at once, which is better than not running
    let _ = ctrlc::set_handler(move || {
        STOP.store(true, Ordering::Relaxed);
        // some senders send two at once and mean one, even if nobody watches any more when the second one comes
        let is_first = first.is_none();
        let is_second = first.get_or_insert_with(Instant::now).elapsed() > SAME_SIGNAL;
        if is_second || is_first && WATCHED.load(Ordering::Relaxed) == 0 {
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
}
