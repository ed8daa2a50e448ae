//! Where the output of a command goes, who is told, and what stops it.
//!
//! The program has standard output, standard error and signals. A program that calls commands by itself gives each
//! call a [`Console`] of its own. It holds for the thread of the call: threads that a command starts compute, and print
//! nothing.

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Is told the share of the work that is done, and where it stands in words.
type Tell = dyn Fn(f64, &str) + Send + Sync;

/// The console of one call of a command.
#[derive(Default)]
pub struct Console {
    /// What `-` stands for: a name for faults, and the text.
    input: Option<(String, String)>,
    tell: Option<Box<Tell>>,
    output: Mutex<Vec<u8>>,
    notes: Mutex<Vec<String>>,
    stop: AtomicBool,
}

thread_local! {
    static OWN: RefCell<Option<Arc<Console>>> = const { RefCell::new(None) };
}

impl Console {
    /// With a text that the file `-` stands for; faults call it by the name.
    #[must_use]
    pub fn with_input(self, name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { input: Some((name.into(), text.into())), ..self }
    }

    /// With somebody who is told the share of the work that is done, 0 to 1, and where it stands in words.
    #[must_use]
    pub fn with_progress(self, tell: impl Fn(f64, &str) + Send + Sync + 'static) -> Self {
        Self { tell: Some(Box::new(tell)), ..self }
    }

    /// Ends the command soon, in order: what it has by then it prints.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// What was printed since the last time.
    pub fn take_output(&self) -> Vec<u8> {
        std::mem::take(&mut self.output.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What was noted since the last time.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Does `work` on this console.
    pub(crate) fn during<R>(self: &Arc<Self>, work: impl FnOnce() -> R) -> R {
        /// Gives the thread back the console that it had, whatever happens.
        struct Before(Option<Arc<Console>>);
        impl Drop for Before {
            fn drop(&mut self) {
                OWN.set(self.0.take());
            }
        }
        let _before = Before(OWN.replace(Some(Arc::clone(self))));
        work()
    }

    /// The console of this thread; `None`: that of the process.
    pub(crate) fn own() -> Option<Arc<Self>> {
        OWN.with_borrow(Clone::clone)
    }

    pub(crate) fn write(&self, bytes: &[u8]) {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
    }

    pub(crate) fn note(&self, text: &str) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }

    pub(crate) fn tell(&self, share_done: f64, words: &str) {
        if let Some(tell) = &self.tell {
            tell(share_done, words);
        }
    }

    /// What `-` stands for.
    pub(crate) fn input(&self) -> io::Result<(String, Vec<u8>)> {
        let (name, text) = self.input.as_ref().ok_or(io::ErrorKind::NotFound)?;
        Ok((name.clone(), text.clone().into_bytes()))
    }

    pub(crate) fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }
}

impl fmt::Debug for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Console").field("input", &self.input).finish_non_exhaustive()
    }
}
