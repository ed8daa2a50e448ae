//! A threshold of full buffers above which no message of best effort begins, tuned for throughput (K12).

use flitwise_language::scenario::{CongestionControl, CongestionSpec};

use super::settings::Settings;

/// Looks at the fullest period before it is forgotten.
const LOOKS: u32 = 5;
/// The least threshold.
const LEAST: f64 = 0.01;

/// The threshold and what it is tuned by.
pub(super) struct Tuning {
    congestion: CongestionSpec,
    /// All buffers that are counted.
    buffers: usize,
    threshold: f64,
    /// Full buffers at the last look and the one before it.
    full: f64,
    full_before: f64,
    /// In this period: data flits that were delivered, and whether a message was held back.
    delivered: u64,
    is_throttled: bool,
    /// In the period before.
    delivered_before: u64,
    best: Option<Best>,
    /// Times that the threshold was set back since the best period.
    forgets: u32,
}

/// The period with the most flits delivered.
struct Best {
    delivered: u64,
    full: f64,
    threshold: f64,
}

impl Tuning {
    /// Of scenarios with this control.
    pub(super) fn new(settings: &Settings, buffers: usize) -> Option<Self> {
        let congestion = settings.congestion_by(CongestionControl::SelfTuned)?;
        Some(Self {
            congestion,
            buffers,
            threshold: congestion.initial,
            full: 0.0,
            full_before: 0.0,
            delivered: 0,
            is_throttled: false,
            delivered_before: 0,
            best: None,
            forgets: 0,
        })
    }

    fn gather(&self) -> u64 {
        u64::from(self.congestion.gather)
    }

    /// Whether buffers are looked at now.
    pub(super) fn looks(&self, now: u64) -> bool {
        now.is_multiple_of(self.gather())
    }

    /// So many buffers are full.
    pub(super) fn look(&mut self, full: usize, now: u64) {
        (self.full_before, self.full) = (self.full, full as f64);
        if now > 0 && now.is_multiple_of(3 * self.gather()) {
            self.end_period();
        }
    }

    fn end_period(&mut self) {
        let delivered = self.delivered;
        let most = self.best.as_ref().map(|best| best.delivered);
        let CongestionSpec { raise, lower, .. } = self.congestion;
        if (delivered as f64) < 0.75 * self.delivered_before as f64 {
            self.threshold -= lower;
        } else if self.is_throttled {
            self.threshold += raise;
        }
        self.threshold = self.threshold.clamp(LEAST, 1.0);
        if most.is_none_or(|most| delivered > most) {
            self.best = Some(Best { delivered, full: self.full, threshold: self.threshold });
            self.forgets = 0;
        } else if let Some(best) = self.best.as_mut().filter(|best| 2 * delivered < best.delivered) {
            self.threshold = best.threshold.min(best.full / self.buffers as f64).max(LEAST);
            self.forgets += 1;
            if self.forgets == LOOKS {
                (best.delivered, self.forgets) = (0, 0);
            }
        }
        self.delivered_before = delivered;
        (self.delivered, self.is_throttled) = (0, false);
    }

    /// A data flit has left over an ejection link.
    pub(super) fn is_delivered(&mut self) {
        self.delivered += 1;
    }

    /// A message that could have begun was held back.
    pub(super) fn has_throttled(&mut self) {
        self.is_throttled = true;
    }

    /// Whether messages that have not begun are held back.
    pub(super) fn holds(&self, now: u64) -> bool {
        let gather = self.gather() as f64;
        let since = (now % self.gather()) as f64;
        let estimate = (self.full + (self.full - self.full_before) * since / gather).max(0.0);
        estimate > self.threshold * self.buffers as f64
    }
}
