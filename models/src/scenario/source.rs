//! `source` of a class: how its messages come into being at a node.

use super::declare::*;

table! {
    /// How the messages of a class come into being at a node.
    #[derive(Copy)]
    pub enum SourceSpec by "kind" {
        /// Exponential times between messages.
        Poisson "poisson",
        /// Equal times between messages, from a uniform start.
        Periodic "periodic",
        /// Independent bursty streams that together reach the rate of the class.
        OnOff "on-off" {
            /// Streams per node; each has an equal part of the rate.
            streams: u32 ["streams"] = 1, within(1.0, 10_000.0).wanted();
            /// `N`: mean number of messages in an ON period (geometric).
            messages_per_burst: f64 ["messages"] = 1.0, within(1.0, 1e6).wanted();
            /// `p`: rate of a stream while ON; messages are spaced `1 / p`.
            peak_rate: f64 ["messages/cycle"] = 1.0, within(1e-9, 1.0).wanted().magnitude(Magnitude::Rate);
        },
    }
}

impl Rules for SourceSpec {}

impl Default for SourceSpec {
    fn default() -> Self {
        Self::unset()
    }
}

impl SourceSpec {
    /// Whether messages come in bursts, not one by one as from a Poisson source.
    pub fn is_bursty(&self) -> bool {
        matches!(self, Self::OnOff { .. })
    }

    /// The rate that the sources of a class reach at most, all streams ON; infinite where there are no streams
    /// \[messages/cycle/node\].
    pub fn peak_rate(&self) -> f64 {
        match *self {
            Self::Poisson | Self::Periodic => f64::INFINITY,
            Self::OnOff { streams, peak_rate, .. } => f64::from(streams) * peak_rate,
        }
    }

    /// Variance over mean of the number of messages in a long time, about: 1 for a Poisson source, the mean size of a
    /// burst and as much again for ON/OFF, 0 for a periodic one.
    pub fn dispersion(&self) -> f64 {
        match *self {
            Self::Poisson => 1.0,
            Self::Periodic => 0.0,
            Self::OnOff { messages_per_burst, .. } => 2.0 * messages_per_burst,
        }
    }

    /// Refuses a stream that could not reach its part of the class's rate; `path` is the key of the source.
    pub(super) fn fits(&self, rate: f64, path: &str, door: &mut Door) {
        let Self::OnOff { streams, peak_rate, .. } = *self else { return };
        let mean = rate / f64::from(streams.max(1));
        // 1 / a = I / N + 1 / p leaves no OFF time when a >= p
        if (1e-9..=1.0).contains(&peak_rate) && rate.is_finite() && mean >= peak_rate {
            let found = format!("{peak_rate} with {mean} messages/cycle per stream");
            let help = "raise peak_rate or streams, or lower the rate";
            let wanted = "a peak above the mean rate of a stream";
            door.refuse(&format!("{path}.peak_rate"), found, wanted, Some(help));
        }
    }
}
