//! Progress of a simulation, shown on standard error.

use std::time::{Duration, Instant};

use flitwise_validation::experiment::Progress;
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::percent;

/// Steps of the bar.
const STEPS: f64 = 1000.0;

/// A bar that is there only if standard error is a terminal.
pub(super) struct Bar {
    bar: ProgressBar,
    wanted_precision: f64,
    started: Instant,
}

impl Bar {
    pub(super) fn new(quiet: bool, wanted_precision: f64) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template("[{bar:20}] {percent:>3} %  {wide_msg}");
        let style = style.expect("a fixed template is sound").progress_chars("=> ");
        let bar = ProgressBar::with_draw_target(Some(STEPS as u64), target).with_style(style);
        Self { bar, wanted_precision, started: Instant::now() }
    }

    pub(super) fn show(&self, progress: &Progress) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_message(self.message(progress));
        self.bar.set_position((STEPS * progress.share_done) as u64);
    }

    fn message(&self, progress: &Progress) -> String {
        if progress.warming_up {
            return "warming up".to_owned();
        }
        let messages = HumanCount(progress.messages);
        let Some(precision) = progress.precision else { return format!("{messages} messages") };
        let share = progress.share_done.clamp(0.001, 1.0);
        let left = self.started.elapsed().mul_f64((1.0 - share) / share);
        // whole seconds: the rest is guesswork
        let left = HumanDuration(Duration::from_secs(left.as_secs()));
        let (found, wanted) = (percent(precision), percent(self.wanted_precision));
        format!("{messages} messages, ±{found} of ±{wanted}, {left:#} left")
    }

    pub(super) fn clear(self) {
        self.bar.finish_and_clear();
    }
}
