//! A message from its generation to its delivery.

use flitwise_language::quantity::Waits;

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

/// A message as it comes to its network interface: all that is settled when it is generated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// When it comes, and where it goes.
    pub arrival: Arrival,
    /// Its length, header included \[flits\].
    pub flits: u32,
    /// What link schedulers count for each of its flits; 0 for best effort \[cycles/flit\].
    pub vtick: f64,
    /// Its virtual channels, where they are drawn.
    pub drawn: Option<ChannelChoice>,
    /// The frame that it is a part of.
    pub part: FramePart,
    /// The way that was drawn for it, see [`ways`](flitwise_language::network::Topology::ways).
    pub way: u32,
}

/// The frame that a message is a part of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FramePart {
    /// The stream, among those of all nodes of the class: those of the first sender first. Of a connection without
    /// frames its number among those of the class.
    pub stream: u32,
    /// Frames of the stream before this one.
    pub frame: u32,
    /// Messages of the frame; 0 of a message that is no part of one.
    pub messages: u32,
}

/// Virtual channels of a message on its way, by kind of channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelChoice {
    /// From the node into its router.
    pub injection: u8,
    /// Between routers.
    pub network: u8,
    /// From the last router to the node.
    pub ejection: u8,
}

/// A connection is admitted to a channel, or gives it back: arbiters count with it from a cycle on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Booking {
    /// When.
    pub cycle: u64,
    /// The link, by its number in the wiring: output links of routers, then injection links.
    pub link: u32,
    /// Whether it is the input port behind the link that counts with it, not what sends over the link.
    pub at_input: bool,
    /// The virtual channel of the connection on the link.
    pub channel: u8,
    /// Its mean rate, below 0 where it gives the channel back \[flits/cycle\].
    pub mean: f64,
    /// The same of its peak rate \[flits/cycle\].
    pub peak: f64,
}

/// What is known of a message that has been delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delivery {
    /// The first cycle in which it could be sent.
    pub generated_cycle: u64,
    /// The cycle in which its header was in stage 1 of the first router, or would have been without a delay of the
    /// link.
    pub entered_cycle: u64,
    /// The cycle in which its tail left over the ejection channel, later by the delay of that.
    pub delivered_cycle: u64,
    /// The node that sent it.
    pub source: u32,
    /// The node that it went to.
    pub destination: u32,
    /// Its class, by its place in the scenario.
    pub class: u8,
    /// Network channels that it crossed; 0 in a single router.
    pub hops: u8,
    /// What it has waited under way, by place \[cycles\].
    pub waits: Waits<u32>,
    /// What it has spent between applications and links, where there is a host bus or a channel adapter.
    pub host: HostTimes,
    /// How often it gave way to a message of a higher level after a part of it had crossed: each costs two dummies.
    pub preemptions: u32,
    /// The frame that it was a part of.
    pub part: FramePart,
}

/// What a message spends between applications and links; all 0 with ideal interfaces. Behind a host bus `interface` is
/// 0, with channel adapters `bus` and `receive` are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostTimes {
    /// From its generation until the firmware hands it over, or a channel adapter has posted it \[cycles\].
    pub doorbell: u32,
    /// From then on until it joins the queue of the network interface \[cycles\].
    pub bus: u32,
    /// From its tail's leaving the network until it is in the memory of the receiver \[cycles\].
    pub receive: u32,
    /// From its posting to its tail on the injection link, both counted, where there is a channel adapter \[cycles\].
    pub interface: u32,
}

impl Delivery {
    /// The cycle in which the receiver has it: in which its tail left, but where it crosses a host bus then.
    pub fn received_cycle(&self) -> u64 {
        match self.host.receive {
            0 => self.delivered_cycle,
            receive => self.delivered_cycle + 1 + u64::from(receive),
        }
    }

    /// From its generation until the receiver has it: waiting, network latency and the receiver's bus \[cycles\].
    pub fn end_to_end_latency_cycles(&self) -> u64 {
        self.waiting_cycles() + self.network_latency_cycles() + u64::from(self.host.receive)
    }

    /// From its joining the queue of the network interface to its header in stage 1 \[cycles\].
    pub fn wire_cycles(&self) -> u64 {
        self.waiting_cycles() - u64::from(self.host.doorbell) - u64::from(self.host.bus)
    }

    /// Network latency: stage 1 of the first router to the tail's last cycle, both included \[cycles\].
    pub fn network_latency_cycles(&self) -> u64 {
        self.delivered_cycle - self.entered_cycle + 1
    }

    /// What a lone message takes, `P - 1 + P h + M` and the delays of its links: all but the parts that are waiting for
    /// others \[cycles\].
    pub fn transfer_cycles(&self) -> u64 {
        self.network_latency_cycles() - self.waits.each().map(|(_, cycles)| u64::from(cycles)).sum::<u64>()
    }

    /// Time at the source, 1 if everything is idle \[cycles\].
    pub fn waiting_cycles(&self) -> u64 {
        self.entered_cycle - self.generated_cycle
    }
}
