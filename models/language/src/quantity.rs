//! The quantities of a class that models compute and simulations measure: each is declared once, in [`Quantity`].
//!
//! Names of fields and columns, heads of tables, words on the command line, units and JSON schemas follow from the
//! declaration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::nearest;
use crate::scenario::DeadlineSpec;

/// The unit of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Times.
    Cycles,
    /// Lengths.
    Flits,
    /// Times per flit.
    CyclesPerFlit,
    /// Rates.
    MessagesPerCycle,
    /// Loads: flits per cycle, or a share of the capacity.
    Load,
    /// Shares of the messages.
    Probability,
    /// How many there are.
    Count,
    /// What packets deliver.
    BytesPerNs,
    /// Power.
    PjPerCycle,
}

/// What a simulation takes a quantity from: what there are so many of behind its mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Messages, or packets of packet switches.
    Message,
    /// Frames.
    Frame,
    /// Intervals between frames.
    Interval,
    /// Attempts to set up a circuit.
    Attempt,
    /// Runs: one number of each replication.
    Run,
}

impl Unit {
    /// In words; empty for a load or a probability.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Flits => "flits",
            Self::CyclesPerFlit => "cycles/flit",
            Self::MessagesPerCycle => "messages/cycle",
            Self::Count => "count",
            Self::BytesPerNs => "bytes/ns",
            Self::PjPerCycle => "pJ/cycle",
            Self::Load | Self::Probability => "",
        }
    }
}

/// The type of a mean: a number of a model, or an estimate of a simulation.
pub trait Mean {
    /// Whether it is measured.
    const IS_SIMULATED: bool;
}

impl Mean for f64 {
    const IS_SIMULATED: bool = false;
}

/// Whether a mean is left out of a document: simulations do not always have it.
fn of_models<T: Mean>(mean: &Option<T>) -> bool {
    T::IS_SIMULATED && mean.is_none()
}

/// Whether a mean is left out of a document: not every model has it.
fn of_some_models<T: Mean>(mean: &Option<T>) -> bool {
    !T::IS_SIMULATED && mean.is_none()
}

/// Behind the word `is` in a line of [`quantities`].
macro_rules! is_so {
    (compared) => {
        true
    };
}

/// Declares the quantities. A line of `means` is
/// `variant: field "word" "name" "head" unit [of whole] [(left out by)] [counted as wait] [per what] [is compared]`;
/// those of a group, such as frames, are left out where there is none, and one of `others` has the field that holds it
/// in the place of its own. Only what is counted per something is measured.
macro_rules! quantities {
    (
        means { $(
            $(#[doc = $doc:literal])+
            $mean:ident: $field:ident $word:literal $name:literal $head:literal $unit:ident
                $(of $whole:ident)? $(($skip:literal))? $(counted as $wait:ident)?
                $(per $counted:ident)? $(is $comparison:ident)?,
        )+ }
        $(group $group:ident of $with:ident { $(
            $(#[doc = $group_doc:literal])+
            $member:ident: $member_field:ident $member_word:literal $member_name:literal $member_head:literal
                $member_unit:ident $(per $member_counted:ident)? $(is $member_comparison:ident)?,
        )+ })+
        others { $(
            $(#[doc = $other_doc:literal])+
            $other:ident: $other_word:literal $other_name:literal $other_head:literal $other_unit:ident
                in $holder:literal $(per $other_counted:ident)? $(is $other_comparison:ident)?,
        )+ }
    ) => {
        /// A quantity of a class.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Quantity {
            $($(#[doc = $doc])+ $mean,)+
            $($($(#[doc = $group_doc])+ $member,)+)+
            $($(#[doc = $other_doc])+ $other,)+
        }

        /// The means of a class, by field. A mean that does not exist is `null`.
        #[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
        #[serde(bound(serialize = "T: Serialize + Mean"))]
        pub struct Means<T> {
            $($(#[doc = $doc])+ $(#[serde(skip_serializing_if = $skip)])? pub $field: Option<T>,)+
            $($($(#[doc = $group_doc])+ #[serde(skip_serializing_if = "Option::is_none")]
            pub $member_field: Option<T>,)+)+
        }

        /// How long a message waits, by place: what is counted of each message, or sums of it \[cycles\].
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct Waits<T> {
            $($(#[doc = concat!("[`Quantity::", stringify!($mean), "`] \\[cycles\\].")] pub $wait: T,)?)+
        }

        impl<T: Copy> Waits<T> {
            /// Each with its quantity.
            pub fn each(self) -> impl Iterator<Item = (Quantity, T)> {
                [$($((Quantity::$mean, self.$wait),)?)+].into_iter()
            }
        }

        impl<T: Copy + From<U>, U> std::ops::AddAssign<Waits<U>> for Waits<T>
        where
            T: std::ops::AddAssign,
        {
            fn add_assign(&mut self, other: Waits<U>) {
                $($(self.$wait += T::from(other.$wait);)?)+
            }
        }

        impl<T> Default for Means<T> {
            fn default() -> Self {
                Self { $($field: None,)+ $($($member_field: None,)+)+ }
            }
        }

        impl<T> Means<T> {
            /// The means that `of` gives.
            pub fn each(of: impl Fn(Quantity) -> Option<T>) -> Self {
                Self {
                    $($field: of(Quantity::$mean),)+
                    $($($member_field: of(Quantity::$member),)+)+
                }
            }

            $(#[doc = concat!("The same with those that `of` gives of [`Quantity::", stringify!($group), "`].")]
            pub fn $with(self, of: impl Fn(Quantity) -> Option<T>) -> Self {
                Self { $($member_field: of(Quantity::$member),)+ ..self }
            })+

            /// The mean of a quantity; `None` of one that is no mean.
            pub fn get(&self, quantity: Quantity) -> Option<&T> {
                match quantity {
                    $(Quantity::$mean => self.$field.as_ref(),)+
                    $($(Quantity::$member => self.$member_field.as_ref(),)+)+
                    $(Quantity::$other => None,)+
                }
            }
        }

        impl Quantity {
            /// All that are means of messages.
            pub const MEANS: &'static [Self] = &[$(Self::$mean),+];

            $(#[doc = concat!("All of the group ", stringify!($group), ".")]
            pub const $group: &'static [Self] = &[$(Self::$member),+];)+

            /// The groups that are left out where a scenario has none of them.
            pub const GROUPS: &'static [&'static [Self]] = &[$(Self::$group),+];

            /// All quantities.
            pub const ALL: &'static [Self] = &[
                $(Self::$mean,)+ $($(Self::$member,)+)+ $(Self::$other,)+
            ];

            /// Its word on the command line, in files and in documents.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$mean => $word,)+
                    $($(Self::$member => $member_word,)+)+
                    $(Self::$other => $other_word,)+
                }
            }

            /// Its name in a sentence.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$mean => $name,)+
                    $($(Self::$member => $member_name,)+)+
                    $(Self::$other => $other_name,)+
                }
            }

            /// The head of its column in a table, which is also a word that users may type.
            pub const fn head(self) -> &'static str {
                match self {
                    $(Self::$mean => $head,)+
                    $($(Self::$member => $member_head,)+)+
                    $(Self::$other => $other_head,)+
                }
            }

            /// Its unit.
            pub const fn unit(self) -> Unit {
                match self {
                    $(Self::$mean => Unit::$unit,)+
                    $($(Self::$member => Unit::$member_unit,)+)+
                    $(Self::$other => Unit::$other_unit,)+
                }
            }

            /// Its field in an answer, and its column in CSV: the unit is in the name.
            pub const fn field(self) -> &'static str {
                match self {
                    $(Self::$mean => stringify!($field),)+
                    $($(Self::$member => stringify!($member_field),)+)+
                    $(Self::$other => $holder,)+
                }
            }

            /// What it is, in one paragraph of Markdown.
            pub fn meaning(self) -> String {
                let text = match self {
                    $(Self::$mean => concat!($($doc, "\n"),+),)+
                    $($(Self::$member => concat!($($group_doc, "\n"),+),)+)+
                    $(Self::$other => concat!($($other_doc, "\n"),+),)+
                };
                let lines: Vec<&str> = text.lines().map(str::trim).collect();
                lines.join(" ").replace("\\[", "[").replace("\\]", "]")
            }

            /// What it is a part of; the parts add up to the whole.
            pub const fn whole(self) -> Option<Self> {
                match self {
                    $($(Self::$mean => Some(Self::$whole),)?)+
                    _ => None,
                }
            }

            /// What a simulation counts it by; `None` of what only models have.
            pub const fn counted(self) -> Option<Counted> {
                match self {
                    $($(Self::$mean => Some(Counted::$counted),)?)+
                    $($($(Self::$member => Some(Counted::$member_counted),)?)+)+
                    $($(Self::$other => Some(Counted::$other_counted),)?)+
                    _ => None,
                }
            }

            /// Whether a model's value is compared with the simulated one.
            pub const fn is_compared(self) -> bool {
                match self {
                    $($(Self::$mean => is_so!($comparison),)?)+
                    $($($(Self::$member => is_so!($member_comparison),)?)+)+
                    $($(Self::$other => is_so!($other_comparison),)?)+
                    _ => false,
                }
            }
        }
    };
}

quantities! {
    means {
        /// `L̄`: from the header's entry into the first router until the tail is through. Transfer, blocking and
        /// sharing make it up \[cycles\].
        NetworkLatency: network_latency_cycles "network-latency" "network latency" "network" Cycles
            per Message is compared,
        /// Part of the network latency: what a lone message takes, `P - 1 + P h + M`; pipeline stages and flits of the
        /// message itself \[cycles\].
        Transfer: transfer_cycles "transfer" "transfer" "transfer" Cycles of NetworkLatency per Message is compared,
        /// Part of the network latency: messages of the same class in front; input and arbitration \[cycles\].
        Blocking: blocking_cycles "blocking" "blocking" "blocking" Cycles of NetworkLatency per Message is compared,
        /// Part of the network latency: what sharing links with other classes adds; output and gaps \[cycles\].
        Sharing: sharing_cycles "sharing" "sharing" "sharing" Cycles of NetworkLatency per Message is compared,
        /// Part of the blocking, over all routers: the header in input buffers behind other messages of its class. A
        /// model that does not part the latency by place leaves it out, as the three that follow \[cycles\].
        Input: input_cycles "input" "input" "input buffers" Cycles of Blocking ("of_some_models")
            counted as input per Message is compared,
        /// The rest of the blocking, over all routers: the header from its request of an output buffer to the grant
        /// \[cycles\].
        Arbitration: arbitration_cycles "arbitration" "arbitration" "arbitration" Cycles of Blocking ("of_some_models")
            counted as arbitration per Message is compared,
        /// Part of the sharing, over all routers: the header from the grant until it leaves over the link, beyond what
        /// a lone one takes \[cycles\].
        Output: output_cycles "output" "output" "output buffers" Cycles of Sharing ("of_some_models")
            counted as output per Message is compared,
        /// The rest of the sharing: gaps among the flits that follow the header, by which the tail lags behind it
        /// beyond `M - 1` cycles \[cycles\].
        Gaps: gap_cycles "gaps" "gaps" "gaps" Cycles of Sharing ("of_some_models")
            counted as gaps per Message is compared,
        /// `W̄`: at the source, from the first cycle in which the message could be sent to the header's entry into the
        /// first router, Eq. (15); 1 if everything is idle; `null` for a class that was simulated to be saturated
        /// \[cycles\].
        Waiting: waiting_cycles "waiting" "waiting" "waiting" Cycles per Message is compared,
        /// `L̄ + W̄`: network latency and waiting, Eq. (1) \[cycles\].
        TotalLatency: total_latency_cycles "total-latency" "total latency" "total" Cycles per Message is compared,
        /// Share of the generated messages that find the next stage full.
        BlockingProbability: blocking_probability "blocking-probability" "blocking probability" "P(block)" Probability
            ("of_models"),
        /// `B̄`: mean length in front of a header; in a hypercube over the whole path \[flits\].
        BlockingLength: blocking_length_flits "blocking-length" "blocking length" "blocking length" Flits ("of_models"),
        /// `S̄`: mean cycles per flit on the output link, Eqs. (6), (9); in a hypercube (14).
        CyclesPerFlit: cycles_per_flit "cycles-per-flit" "cycles per flit" "cycles /flit" CyclesPerFlit ("of_models"),
        /// `λ' M`: load of a link by the class, flits per cycle: of the output link of a router, of injection and
        /// ejection link in a hypercube, whose network channels carry `h̄ / n` of that. `λ'` is the rate of the
        /// messages that the model lets through: all but blocked ones, which the published model drops, and all of
        /// them in the refined one. A class that is saturated keeps the load that the equations give it; where they
        /// give none, it is `null`.
        Utilization: utilization "utilization" "utilization" "utilization" Load ("of_models"),
        /// `L̄ λ'`: load of the router, Eq. (3); in a hypercube the largest of its channels; `null` in the refined
        /// model.
        RouterLoad: router_load "router-load" "router load" "router load" Load ("of_models"),
        /// `λ^g L̄`: load of the queue at the source; 1 and more is saturation.
        SourceLoad: source_load "source-load" "source load" "source load" Load ("of_models"),
        /// `λ'`: messages that get through, Eq. (4) \[messages/cycle/node\].
        AcceptedRate: accepted_rate_messages_per_cycle "accepted-rate" "accepted rate" "accepted" MessagesPerCycle
            ("of_models") per Message,
    }
    group FRAMES of with_frames {
        /// Time between deliveries of successive frames of a stream; a frame is delivered when all its messages are
        /// \[cycles\].
        FrameInterval: frame_interval_cycles "frame-interval" "frame interval" "frame interval" Cycles
            per Interval is compared,
        /// Standard deviation of the intervals of all streams together \[cycles\].
        FrameIntervalDeviation: frame_interval_deviation_cycles "frame-interval-deviation" "deviation of the interval"
            "deviation" Cycles per Interval is compared,
        /// Standard deviation of the intervals of a stream, each about the mean of its own \[cycles\].
        FrameIntervalDeviationPerStream: frame_interval_deviation_per_stream_cycles
            "frame-interval-deviation-per-stream" "deviation within a stream" "within a stream" Cycles per Interval,
        /// Correlation of successive intervals of a stream.
        FrameIntervalAutocorrelation: frame_interval_autocorrelation "frame-interval-autocorrelation"
            "autocorrelation of intervals" "autocorrelation" Load per Interval is compared,
        /// From the start of the interval of a frame to its delivery \[cycles\].
        FrameLatency: frame_latency_cycles "frame-latency" "frame latency" "frame latency" Cycles per Frame is compared,
        /// Share of the intervals that are longer than 1.05 times that of the source.
        LateFrames: late_frames "late-frames" "late frames" "late" Probability per Interval is compared,
    }
    group FRAME_DEADLINES of with_frame_deadlines {
        /// Share of the frames behind the first of a stream that miss a deadline which follows the latest frame: they
        /// come later in their intervals than all frames before them.
        RatchetMisses: ratchet_missing_probability "ratchet-misses" "frames that miss the ratchet" "P(ratchet missed)"
            Probability per Run is compared,
        /// Mean time by which frames miss it, if they do \[cycles\].
        RatchetLateness: ratchet_missing_time_cycles "ratchet-lateness" "time by which the ratchet is missed"
            "missed by" Cycles per Run is compared,
    }
    group CIRCUITS of with_circuits {
        /// Share of the circuits asked for that are set up.
        SetUpProbability: set_up_probability "set-up-probability" "set-up probability" "P(set up)" Probability
            per Run is compared,
        /// Attempts to set up circuits, of all nodes together; `null` where circuits come and go.
        CircuitAttempts: circuit_attempts "circuit-attempts" "attempts to set up circuits" "attempts" Count
            per Run is compared,
        /// Circuits that stand at once, of all nodes together.
        CircuitsEstablished: circuits_established "circuits-established" "established circuits" "established" Count
            per Run is compared,
        /// Attempts that found a virtual channel taken, of all nodes together; `null` where circuits come and go.
        CircuitsDropped: circuits_dropped "circuits-dropped" "dropped attempts" "dropped" Count per Run is compared,
        /// Share of the attempts that are dropped.
        CircuitDropShare: circuit_drop_share "circuit-drop-share" "share of dropped attempts" "P(drop)" Probability
            per Attempt is compared,
        /// From the first probe of a circuit that is set up to its acknowledgement, dropped attempts included
        /// \[cycles\].
        SetUpDelay: set_up_delay_cycles "set-up-delay" "set-up delay" "set-up delay" Cycles per Attempt is compared,
        /// Load of an injection link by streams whose circuits stand, as a share of the link.
        CircuitLoad: circuit_load "circuit-load" "input load of circuits" "input load" Load per Run is compared,
    }
    group INTERFACES of with_interfaces {
        /// From the generation of a message until it is in the memory of the receiver, over the host buses at either
        /// end: doorbell, bus, wire, network latency and receive \[cycles\].
        EndToEndLatency: end_to_end_latency_cycles "end-to-end-latency" "end-to-end latency" "end to end" Cycles
            per Message is compared,
        /// Part of the waiting: from the doorbell until the firmware hands the message over to the host bus \[cycles\].
        Doorbell: doorbell_cycles "doorbell" "doorbell and firmware" "doorbell" Cycles per Message is compared,
        /// Part of the waiting: descriptor and message on the host bus of the sender \[cycles\].
        HostBus: bus_cycles "bus" "host bus of the sender" "bus" Cycles per Message is compared,
        /// The rest of the waiting: in the queue of the network interface until the header is in the first router
        /// \[cycles\].
        Wire: wire_cycles "wire" "queue of the network interface" "wire" Cycles per Message is compared,
        /// From the tail's leaving the network until the message is in the memory of the receiver \[cycles\].
        Receive: receive_cycles "receive" "host bus of the receiver" "receive" Cycles per Message is compared,
    }
    group PREEMPTIONS of with_preemptions {
        /// How often a message gives way to one of a higher level after a part of it has crossed; each time costs two
        /// dummies.
        Preemptions: preemptions_per_message "preemptions" "preemptions of a message" "preemptions" Count per Message,
    }
    group ADAPTERS of with_adapters {
        /// Part of the waiting: from the generation of a message until it is posted to the network interface, when
        /// there is room, a credit and energy for it \[cycles\].
        PostingDelay: posting_delay_cycles "posting-delay" "posting delay" "posting" Cycles per Message is compared,
        /// The rest of the waiting: from then on until the header is in the first router \[cycles\].
        QueueingDelay: queueing_delay_cycles "queueing-delay" "queueing delay" "queueing" Cycles
            per Message is compared,
        /// Queueing delay and network latency: the latency of papers that do not count the posting \[cycles\].
        PostedLatency: posted_latency_cycles "posted-latency" "latency from the posting on" "posted latency" Cycles
            per Message is compared,
        /// From the posting of a message until its tail is on the injection link, both counted \[cycles\].
        InterfaceTime: interface_time_cycles "interface-time" "time in the interface" "in the interface" Cycles
            per Message is compared,
    }
    group CONNECTIONS of with_connections {
        /// Share of the requests for connections that are refused.
        RejectedShare: rejected_share "rejected-share" "share of refused connections" "rejected" Probability
            per Run is compared,
        /// From the request of a connection that is admitted until its source may send \[cycles\].
        ConnectionSetUp: connection_set_up_cycles "connection-set-up" "set-up of a connection" "connection set-up"
            Cycles per Run is compared,
        /// Connections that stand at once, of all nodes together.
        ConnectionsHeld: connections_held "connections-held" "connections that stand" "connections" Count
            per Run is compared,
    }
    group POWER of with_power {
        /// Mean power of the whole network, whatever class its flits are of \[pJ/cycle\].
        Power: power_pj_per_cycle "power" "power" "power" PjPerCycle per Run is compared,
        /// Standard deviation of the power of windows of `power.window` cycles, of the whole network \[pJ/cycle\].
        PowerDeviation: power_deviation_pj_per_cycle "power-deviation" "deviation of the power" "power deviation"
            PjPerCycle per Run is compared,
        /// Share of these windows whose power is above the budget.
        PowerViolations: power_violations "power-violations" "windows above the power budget" "P(power > budget)"
            Probability per Run is compared,
    }
    group PACKETS of with_packets {
        /// Bytes of the class that are delivered per time, by all hosts together, from the end of the warm-up to that
        /// of the run; of a run without an end in the steady state \[bytes/ns\].
        Throughput: throughput_bytes_per_ns "throughput" "throughput" "throughput" BytesPerNs per Run is compared,
        /// Most queues that are set aside at a time in all ports together, for the packets of all classes.
        SetAsideQueues: set_aside_queues "set-aside-queues" "set-aside queues" "queues" Count per Run is compared,
    }
    others {
        /// Half of the messages have at most this network latency \[cycles\].
        P50: "p50" "p50" "p50" Cycles in "latency_percentiles_cycles" per Message is compared,
        /// 90 % of the messages have at most this network latency \[cycles\].
        P90: "p90" "p90" "p90" Cycles in "latency_percentiles_cycles" per Message is compared,
        /// 99 % of the messages have at most this network latency \[cycles\].
        P99: "p99" "p99" "p99" Cycles in "latency_percentiles_cycles" per Message is compared,
        /// 99.9 % of the messages have at most this network latency \[cycles\].
        P99_9: "p99.9" "p99.9" "p99.9" Cycles in "latency_percentiles_cycles" per Message is compared,
        /// Share of the messages whose network latency exceeds a deadline.
        MissProbability: "miss-probability" "miss probability" "miss" Probability in "deadlines" per Message
            is compared,
        /// Load factor at which the class saturates.
        SaturationLoad: "saturation-load" "saturation load" "saturation" Load in "saturation" per Run,
        /// Share of its saturation load that a class has left, all rates growing together: 0.2 at 80 % of it.
        Margin: "margin" "margin" "margin" Load in "source_load",
    }
}

impl Quantity {
    /// The percentiles of the network latency.
    pub const PERCENTILES: [Self; 4] = [Self::P50, Self::P90, Self::P99, Self::P99_9];

    /// The quantity of that word, or of that head.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|quantity| quantity.word() == word || quantity.head() == word)
    }

    /// The nearest word of `known`, for one that is not among them.
    pub fn nearest(word: &str, known: &[Self]) -> Option<&'static str> {
        nearest(word, known.iter().flat_map(|quantity| [quantity.word(), quantity.head()]))
    }

    /// The share of the messages that a percentile is about.
    pub fn percentile(self) -> Option<f64> {
        let shares = Self::PERCENTILES.into_iter().zip([0.5, 0.9, 0.99, 0.999]);
        shares.into_iter().find(|(quantity, _)| *quantity == self).map(|(_, share)| share)
    }

    /// Whether it needs the distribution of the latency, not its mean alone.
    pub fn needs_distribution(self) -> bool {
        self == Self::MissProbability || self.percentile().is_some()
    }

    /// Whether it is a share or a load, not a time.
    pub fn is_share(self) -> bool {
        matches!(self.unit(), Unit::Load | Unit::Probability)
    }

    /// Those that are compared, in the order of reading: parts behind their whole, then those of the distribution.
    pub fn compared() -> Vec<Self> {
        let wholes = Self::MEANS.iter().filter(|one| one.whole().is_none());
        let mut of_distribution: Vec<Self> =
            Self::ALL.iter().copied().filter(|one| one.needs_distribution()).collect();
        of_distribution.sort_by_key(|one| one.percentile().is_some());
        let all = wholes.flat_map(|one| one.with_parts()).chain(of_distribution);
        let of_groups = Self::GROUPS.iter().copied().flatten().copied();
        all.chain(of_groups).filter(|one| one.is_compared()).collect()
    }

    /// It, and behind it its parts and theirs.
    fn with_parts(self) -> Vec<Self> {
        [self].into_iter().chain(self.parts().flat_map(Self::with_parts)).collect()
    }

    /// Whether simulations measure it.
    pub fn is_measured(self) -> bool {
        self.counted().is_some()
    }

    /// Whether it is one number for all classes together.
    pub fn is_of_all_classes(self) -> bool {
        self == Self::SetAsideQueues || Self::POWER.contains(&self)
    }

    /// Whether it is about packets of packet switches.
    pub fn is_of_packets(self) -> bool {
        Self::PACKETS.contains(&self)
    }

    /// Whether it is about frames of streams.
    pub fn is_of_frames(self) -> bool {
        Self::FRAMES.contains(&self)
    }

    /// Whether it is about deadlines of frames.
    pub fn is_of_frame_deadlines(self) -> bool {
        Self::FRAME_DEADLINES.contains(&self)
    }

    /// Whether it is about interfaces behind host buses.
    pub fn is_of_interfaces(self) -> bool {
        Self::INTERFACES.contains(&self)
    }

    /// Whether only routers and interfaces with levels have it.
    pub fn is_of_levels(self) -> bool {
        self.is_of_interfaces() || Self::PREEMPTIONS.contains(&self) || self.is_of_control()
    }

    /// Whether it is about channel adapters, connections that are admitted, or power.
    pub fn is_of_control(self) -> bool {
        [Self::ADAPTERS, Self::CONNECTIONS, Self::POWER].iter().any(|group| group.contains(&self))
    }

    /// Whether it is about the set-up of circuits.
    pub fn is_of_circuits(self) -> bool {
        Self::CIRCUITS.contains(&self)
    }

    /// The field of a time in a unit such as `us`; `None` of what is no time.
    pub fn physical(self, unit: &str) -> Option<String> {
        Some(format!("{}_{unit}", self.field().strip_suffix("_cycles")?))
    }

    /// The parts that add up to it.
    pub fn parts(self) -> impl Iterator<Item = Self> {
        Self::MEANS.iter().copied().filter(move |part| part.whole() == Some(self))
    }

    /// Whether it is a part of a part: the place in a router where a header waits.
    pub fn is_by_place(self) -> bool {
        self.whole().is_some_and(|whole| whole.whole().is_some())
    }
}

impl Serialize for Quantity {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl JsonSchema for Quantity {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Quantity".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let words: Vec<&str> = Self::ALL.iter().map(|quantity| quantity.word()).collect();
        schemars::json_schema!({ "type": "string", "description": "A quantity of a class.", "enum": words })
    }
}

/// What is asked of a class: a quantity, and for a miss probability the deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct Measure {
    /// The quantity.
    pub quantity: Quantity,
    /// Of a miss probability: the messages over so many network channels; left out: all messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hops: Option<u32>,
    /// The deadline of a miss probability \[cycles\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_cycles: Option<u32>,
}

impl From<Quantity> for Measure {
    fn from(quantity: Quantity) -> Self {
        Self { quantity, hops: None, deadline_cycles: None }
    }
}

impl Measure {
    /// The miss probability at a deadline; over so many network channels, or of all messages.
    pub fn miss(deadline_cycles: u32, hops: Option<u32>) -> Self {
        Self { quantity: Quantity::MissProbability, hops, deadline_cycles: Some(deadline_cycles) }
    }

    /// The deadline behind a miss probability.
    pub fn deadline(self) -> Option<DeadlineSpec> {
        self.deadline_cycles.map(|deadline_cycles| DeadlineSpec::at(deadline_cycles, self.hops))
    }

    /// As it is typed: `total`, `p99`, `miss(47)`, `miss(60, hops=3)`.
    pub fn typed(self) -> String {
        let word = Some(self.quantity.head())
            .filter(|head| !head.contains([' ', '(']))
            .unwrap_or(self.quantity.word());
        match (self.deadline_cycles, self.hops) {
            (None, _) => word.to_owned(),
            (Some(deadline), None) => format!("{word}({deadline})"),
            (Some(deadline), Some(hops)) => format!("{word}({deadline}, hops={hops})"),
        }
    }

    /// Its short name: `network latency`, `p99`, `P(> 47)`.
    pub fn name(self) -> String {
        match (self.deadline_cycles, self.hops) {
            (None, _) => self.quantity.name().to_owned(),
            (Some(deadline), None) => format!("P(> {deadline})"),
            (Some(deadline), Some(1)) => format!("P(> {deadline}), 1 hop"),
            (Some(deadline), Some(hops)) => format!("P(> {deadline}), {hops} hops"),
        }
    }
}

/// Percentiles of a latency: the smallest whole number of cycles that so many messages keep within.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Percentiles<T> {
    /// Half of the messages.
    pub p50: Option<T>,
    /// 90 % of them.
    pub p90: Option<T>,
    /// 99 % of them.
    pub p99: Option<T>,
    /// 99.9 % of them.
    #[serde(rename = "p99.9")]
    pub p99_9: Option<T>,
}

impl<T: Copy> Percentiles<T> {
    /// By the number of cycles that a share of the messages keeps within.
    pub fn of(at: impl Fn(f64) -> Option<T>) -> Self {
        Self { p50: at(0.5), p90: at(0.9), p99: at(0.99), p99_9: at(0.999) }
    }

    /// The percentile that a quantity is.
    pub fn get(&self, quantity: Quantity) -> Option<T> {
        self.each().into_iter().find(|(known, _)| *known == quantity)?.1
    }

    /// Each of them.
    pub fn each(&self) -> [(Quantity, Option<T>); 4] {
        let [p50, p90, p99, p99_9] = Quantity::PERCENTILES;
        [(p50, self.p50), (p90, self.p90), (p99, self.p99), (p99_9, self.p99_9)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_means_one_quantity() {
        for quantity in Quantity::ALL {
            for word in [quantity.word(), quantity.head()] {
                let meant: Vec<_> =
                    Quantity::ALL.iter().filter(|one| one.word() == word || one.head() == word).collect();
                assert_eq!(meant, [quantity], "{word}");
            }
            assert_eq!(Quantity::find(quantity.word()), Some(*quantity));
        }
        assert_eq!((Quantity::find("total"), Quantity::find("totl")), (Some(Quantity::TotalLatency), None));
    }

    #[test]
    fn names_of_fields_hold_the_unit() {
        for quantity in Quantity::MEANS.iter().chain(Quantity::PACKETS) {
            let unit = match quantity.unit() {
                Unit::Cycles => "_cycles",
                Unit::Flits => "_flits",
                Unit::CyclesPerFlit => "cycles_per_flit",
                Unit::MessagesPerCycle => "_messages_per_cycle",
                Unit::BytesPerNs => "_bytes_per_ns",
                Unit::PjPerCycle => "_pj_per_cycle",
                Unit::Load | Unit::Probability | Unit::Count => "",
            };
            assert!(quantity.field().ends_with(unit), "{quantity:?}");
        }
    }

    #[test]
    fn what_is_compared_is_measured_and_parts_follow_their_whole() {
        use Quantity::{
            Blocking, Gaps, Input, MissProbability, Output, P50, SetAsideQueues, Sharing, Waiting,
        };
        let compared = Quantity::compared();
        assert!(compared.iter().all(|quantity| quantity.is_measured()));
        let at = |quantity: Quantity| compared.iter().position(|one| *one == quantity).unwrap();
        let order = [Blocking, Input, Sharing, Output, Gaps, Waiting, MissProbability, P50, SetAsideQueues];
        assert!(order.map(at).is_sorted(), "{compared:?}");
        assert!(!Quantity::Utilization.is_measured() && !Quantity::AcceptedRate.is_compared());
    }

    #[test]
    fn parts_of_the_latency_are_by_cause_and_by_place() {
        use Quantity::{Arbitration, Blocking, Gaps, Input, NetworkLatency, Output, Sharing, Transfer};
        assert_eq!(NetworkLatency.parts().collect::<Vec<_>>(), [Transfer, Blocking, Sharing]);
        assert_eq!(
            Blocking.parts().chain(Sharing.parts()).collect::<Vec<_>>(),
            [Input, Arbitration, Output, Gaps]
        );
        assert!(Input.is_by_place() && !Sharing.is_by_place() && !NetworkLatency.is_by_place());
    }
}
