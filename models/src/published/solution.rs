//! What a solve finds for each class, before it is put into words.

use super::source_wait::SourceWait;
use crate::lattice::Distribution;
use crate::scalar::Scalar;

/// What was found for one class of the scenario.
#[derive(Clone, Debug)]
pub(crate) struct Outcome<T = f64> {
    /// Which class of the scenario.
    pub(crate) class: usize,
    pub(crate) found: Result<ClassSolution<T>, NoSolution>,
}

/// Why a class has no latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoSolution {
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
pub(crate) enum Channel {
    /// The output of a single router.
    Output,
    /// A network channel of a hypercube, by dimension.
    Network(usize),
    /// From the last router to its node.
    Ejection,
}

/// All numbers of one class.
#[derive(Clone, Debug)]
pub(crate) struct ClassSolution<T = f64> {
    /// `P - 1 + M`, or `P - 1 + P h + M` with the mean hops of accepted messages \[cycles\].
    pub(crate) transfer: T,
    /// `T_c`: latency of a lone message, as (15) takes it \[cycles\].
    pub(crate) lone_latency: T,
    /// Blocking lengths, at one cycle per flit \[cycles\].
    pub(crate) blocking: T,
    /// What sharing adds to both \[cycles\].
    pub(crate) sharing: T,
    /// `1 - λ_c / λ^g_c`.
    pub(crate) blocking_probability: T,
    /// \[flits\]
    pub(crate) blocking_length: T,
    pub(crate) cycles_per_flit: T,
    /// `λ_c M`: load of the output link, or of injection and ejection link.
    pub(crate) utilization: T,
    /// `L λ`, the largest over the channels.
    pub(crate) router_load: T,
    /// `λ_c` \[messages/cycle/node\].
    pub(crate) accepted_rate: T,
    /// `λ^g L`.
    pub(crate) source_load: T,
    pub(crate) wait: SourceWait<T>,
    pub(crate) starved: Option<Starvation>,
    pub(crate) channels: Vec<ChannelSolution<T>>,
    /// Real-time classes only, and only if asked for.
    pub(crate) latencies: Option<Latencies>,
}

impl<T: Scalar> ClassSolution<T> {
    /// `L̄_c` \[cycles\].
    pub(crate) fn latency(&self) -> T {
        self.transfer + self.blocking + self.sharing
    }

    pub(crate) fn saturated(&self) -> bool {
        self.starved.is_some() || matches!(self.wait, SourceWait::Saturated { .. })
    }
}

/// R6: a class that some link serves more slowly than it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Starvation {
    pub(crate) channel: Channel,
    /// The classes then present, as a bit mask over the active real-time classes.
    pub(crate) company: usize,
}

/// One class on one channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChannelSolution<T = f64> {
    pub(crate) channel: Channel,
    /// `L_{c,s}`: of messages that start on the channel; at the ejection channel, the time spent there.
    pub(crate) latency: T,
    /// All messages of the class on the channel \[messages/cycle\].
    pub(crate) rate: T,
    /// Those that start on it \[messages/cycle\].
    pub(crate) started_rate: T,
    pub(crate) blocking_probability: T,
    /// `I`, `O` or `B`: at the ends of the path \[flits\].
    pub(crate) blocking_length: T,
    /// `Bmid` \[flits\].
    pub(crate) middle_length: T,
    pub(crate) cycles_per_flit: T,
    /// `π_∅` of the channel's chain.
    pub(crate) idle: T,
}

/// Distribution of the network latency.
#[derive(Clone, Debug)]
pub(crate) struct Latencies {
    pub(crate) all: Distribution,
    /// For 1, 2, .. hops; empty for a single router.
    pub(crate) by_hops: Vec<Distribution>,
}
