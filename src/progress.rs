//! The progress bar of simulations, on standard error.

use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console::Console;
use crate::output::percent;

/// Steps of the bar.
const STEPS: f64 = 1000.0;

/// A bar that is there only if standard error is a terminal; the console of a call is told the same.
#[derive(Clone)]
pub(crate) struct Bar {
    /// In place of a terminal.
    console: Option<Arc<Console>>,
    bar: ProgressBar,
    wanted_precision: f64,
    started: Instant,
}

impl Bar {
    pub(crate) fn new(quiet: bool, wanted_precision: f64) -> Self {
        let console = Console::own();
        let target = if quiet || console.is_some() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let style = ProgressStyle::with_template("[{bar:20}] {percent:>3} %  {wide_msg}");
        let style = style.expect("a fixed template is sound").progress_chars("=> ");
        let bar = ProgressBar::with_draw_target(Some(STEPS as u64), target).with_style(style);
        let console = console.filter(|_| !quiet);
        Self { console, bar, wanted_precision, started: Instant::now() }
    }

    /// Shows the share that is done, and a message that may name the time left.
    pub(crate) fn show(&self, share_done: f64, message: impl FnOnce(HumanDuration) -> String) {
        if self.bar.is_hidden() && self.console.is_none() {
            return;
        }
        let share = share_done.clamp(0.001, 1.0);
        let left = self.started.elapsed().mul_f64((1.0 - share) / share);
        // whole seconds: the rest is guesswork
        let message = message(HumanDuration(Duration::from_secs(left.as_secs())));
        if let Some(console) = &self.console {
            return console.tell(share_done, &message);
        }
        self.bar.set_message(message);
        self.bar.set_position((STEPS * share_done) as u64);
    }

    /// A precision beside the one that is wanted.
    pub(crate) fn precision(&self, found: f64) -> String {
        format!("±{} of ±{}", percent(found), percent(self.wanted_precision))
    }

    /// Hides the bar while `work` prints.
    pub(crate) fn suspend<R>(&self, work: impl FnOnce() -> R) -> R {
        self.bar.suspend(work)
    }

    pub(crate) fn clear(self) {
        self.bar.finish_and_clear();
    }
}
