//! A message from its generation to its delivery.

/// A message that joins its source queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The first cycle in which it can be sent, `ceil(g)`.
    pub cycle: u64,
    /// The node that sends it.
    pub source: u32,
    /// The node that it goes to.
    pub destination: u32,
    /// Its class, by its place in the scenario.
    pub class: u8,
}

/// What is known of a message that has been delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delivery {
    /// The first cycle in which it could be sent.
    pub generated_cycle: u64,
    /// The cycle in which its header was in stage 1 of the first router.
    pub entered_cycle: u64,
    /// The cycle in which its tail left over the ejection channel.
    pub delivered_cycle: u64,
    /// The node that sent it.
    pub source: u32,
    /// The node that it went to.
    pub destination: u32,
    /// Its class, by its place in the scenario.
    pub class: u8,
    /// Network channels that it crossed; 0 in a single router.
    pub hops: u8,
}

impl Delivery {
    /// Network latency: stage 1 of the first router to the tail's last cycle, both included \[cycles\].
    pub fn network_latency_cycles(&self) -> u64 {
        self.delivered_cycle - self.entered_cycle + 1
    }

    /// Time at the source, 1 if everything is idle \[cycles\].
    pub fn waiting_cycles(&self) -> u64 {
        self.entered_cycle - self.generated_cycle
    }
}
