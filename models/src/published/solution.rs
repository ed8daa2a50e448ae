//! What a solve finds for each class, before it is put into words.

use super::source_wait::SourceWait;
use crate::lattice::Distribution;

/// What was found for one class of the scenario.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// Which class of the scenario.
    pub(super) class: usize,
    pub(super) found: Result<ClassSolution, NoSolution>,
}

/// Why a class has no latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoSolution {
    /// A silent class that no link reserves anything for, beside active ones.
    NoShare,
    /// Best effort where real-time traffic leaves no idle cycle.
    NoRoom { channel: Channel },
    /// No new message gets onto a channel: the weights of (10) and A.2 are 0/0.
    Closed { channel: Channel },
    /// Far beyond saturation the iteration settles nowhere.
    Unsettled,
}

/// A link of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channel {
    /// The output of a single router.
    Output,
    /// A network channel of a hypercube, by dimension.
    Network(usize),
    /// From the last router to its node.
    Ejection,
}

/// All numbers of one class.
#[derive(Clone, Debug)]
pub(super) struct ClassSolution {
    /// `P - 1 + M`, or `P - 1 + P h + M` with the mean hops of accepted messages \[cycles\].
    pub(super) transfer: f64,
    /// `T_c`: latency of a lone message, as (15) takes it \[cycles\].
    pub(super) lone_latency: f64,
    /// Blocking lengths, at one cycle per flit \[cycles\].
    pub(super) blocking: f64,
    /// What sharing adds to both \[cycles\].
    pub(super) sharing: f64,
    /// `1 - λ_c / λ^g_c`.
    pub(super) blocking_probability: f64,
    /// \[flits\]
    pub(super) blocking_length: f64,
    pub(super) cycles_per_flit: f64,
    /// `λ_c M`: load of the output link, or of injection and ejection link.
    pub(super) utilization: f64,
    /// `L λ`, the largest over the channels.
    pub(super) router_load: f64,
    /// `λ_c` \[messages/cycle/node\].
    pub(super) accepted_rate: f64,
    /// `λ^g L`.
    pub(super) source_load: f64,
    pub(super) wait: SourceWait,
    pub(super) starved: Option<Starved>,
    pub(super) channels: Vec<ChannelSolution>,
    /// Real-time classes only, and only if asked for.
    pub(super) latencies: Option<Latencies>,
}

impl ClassSolution {
    /// `L̄_c` \[cycles\].
    pub(super) fn latency(&self) -> f64 {
        self.transfer + self.blocking + self.sharing
    }

    pub(super) fn saturated(&self) -> bool {
        self.starved.is_some() || matches!(self.wait, SourceWait::Saturated { .. })
    }
}

/// R6: a class that some link serves more slowly than it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Starved {
    pub(super) channel: Channel,
    /// The classes then present, as a bit mask over the active real-time classes.
    pub(super) company: usize,
}

/// One class on one channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChannelSolution {
    pub(super) channel: Channel,
    /// `L_{c,s}`: of messages that start on the channel; at the ejection channel, the time spent there.
    pub(super) latency: f64,
    /// All messages of the class on the channel \[messages/cycle\].
    pub(super) rate: f64,
    /// Those that start on it \[messages/cycle\].
    pub(super) started_rate: f64,
    pub(super) blocking_probability: f64,
    /// `I`, `O` or `B`: at the ends of the path \[flits\].
    pub(super) blocking_length: f64,
    /// `Bmid` \[flits\].
    pub(super) middle_length: f64,
    pub(super) cycles_per_flit: f64,
    /// `π_∅` of the channel's chain.
    pub(super) idle: f64,
}

/// Distribution of the network latency.
#[derive(Clone, Debug)]
pub(super) struct Latencies {
    pub(super) all: Distribution,
    /// For 1, 2, .. hops; empty for a single router.
    pub(super) by_hops: Vec<Distribution>,
}
