"""The answers of the command as classes. Made by tools/documents.py from the command's JSON schemas."""

from __future__ import annotations

from typing import Any, ClassVar

from ._records import Document, Record


class ChannelAnswer(Record):
    """One class on one channel."""

    __slots__ = ()
    blocking_length_flits: float
    """`B̄`, or `I` at a first channel, or `O` at the ejection channel [flits]."""
    blocking_probability: float
    """`P_b`, Eq. (3) or (11)."""
    channel: str
    """`output`, the dimension of a network channel, or `ejection`."""
    cycles_per_flit: float
    """`S`: mean cycles per flit."""
    idle_probability: float
    """`π_∅`: probability that no real-time message holds it."""
    latency_cycles: float
    """`L_{c,s}`: mean network latency of messages that start on it; at the ejection channel the time spent there
    [cycles].
    """
    middle_blocking_length_flits: float
    """`Bmid`: on the rest of the path [flits]."""
    rate_messages_per_cycle: float
    """All messages of the class on it [messages/cycle]."""
    router_load: float
    """`L λ`: load in (3) and (11)."""
    started_rate_messages_per_cycle: float
    """Messages that start on it [messages/cycle]."""
    utilization: float
    """`λ M`: load of the link by the class, flits per cycle."""


class ClassAnswer(Record):
    """What is said of one class. A number that does not exist is `null`, and `reasons` says why."""

    __slots__ = ()
    accepted_rate_messages_per_cycle: float | None
    """`λ'`: messages that get through, Eq. (4) [messages/cycle/node]."""
    arbitration_cycles: float | None
    """The rest of the blocking, over all routers: the header from its request of an output buffer to the grant
    [cycles].
    """
    blocking_cycles: float | None
    """Part of the network latency: messages of the same class in front; input and arbitration [cycles]."""
    blocking_length_flits: float | None
    """`B̄`: mean length in front of a header; in a hypercube over the whole path [flits]."""
    blocking_probability: float | None
    """Share of the generated messages that find the next stage full."""
    bus_cycles: float | None
    """Part of the waiting: descriptor and message on the host bus of the sender [cycles]."""
    circuit_attempts: float | None
    """Attempts to set up circuits, of all nodes together; `null` where circuits come and go."""
    circuit_drop_share: float | None
    """Share of the attempts that are dropped."""
    circuit_load: float | None
    """Load of an injection link by streams whose circuits stand, as a share of the link."""
    circuits_dropped: float | None
    """Attempts that found a virtual channel taken, of all nodes together; `null` where circuits come and go."""
    circuits_established: float | None
    """Circuits that stand at once, of all nodes together."""
    connection_set_up_cycles: float | None
    """From the request of a connection that is admitted until its source may send [cycles]."""
    connections_held: float | None
    """Connections that stand at once, of all nodes together."""
    cycles_per_flit: float | None
    """`S̄`: mean cycles per flit on the output link, Eqs. (6), (9); in a hypercube (14)."""
    deadlines: list[DeadlineAnswer]
    """Deadline missing probabilities, in the order of the scenario."""
    doorbell_cycles: float | None
    """Part of the waiting: from the doorbell until the firmware hands the message over to the host bus [cycles].
    """
    end_to_end_latency_cycles: float | None
    """From the generation of a message until it is in the memory of the receiver, over the host buses at either end:
    doorbell, bus, wire, network latency and receive [cycles].
    """
    expected_errors: list[ExpectedError] | None
    """How far off the simulation its numbers are to be expected, as far as that was measured."""
    frame_interval_autocorrelation: float | None
    """Correlation of successive intervals of a stream."""
    frame_interval_cycles: float | None
    """Time between deliveries of successive frames of a stream; a frame is delivered when all its messages are
    [cycles].
    """
    frame_interval_deviation_cycles: float | None
    """Standard deviation of the intervals of all streams together [cycles]."""
    frame_interval_deviation_per_stream_cycles: float | None
    """Standard deviation of the intervals of a stream, each about the mean of its own [cycles]."""
    frame_latency_cycles: float | None
    """From the start of the interval of a frame to its delivery [cycles]."""
    frames: FrameAnswer | None
    """Frames of its streams, if it has any and the model knows them."""
    gap_cycles: float | None
    """The rest of the sharing: gaps among the flits that follow the header, by which the tail lags behind it beyond `M
    - 1` cycles [cycles].
    """
    input_cycles: float | None
    """Part of the blocking, over all routers: the header in input buffers behind other messages of its class. A model
    that does not part the latency by place leaves it out, as the three that follow [cycles].
    """
    interface_time_cycles: float | None
    """From the posting of a message until its tail is on the injection link, both counted [cycles]."""
    kind: str
    """How links treat it."""
    lanes: LanesAnswer | None
    """What its virtual channels carry, if the model says so."""
    late_frames: float | None
    """Share of the intervals that are longer than 1.05 times that of the source."""
    latency_distribution: LatencyDistribution | None
    """The distribution behind deadlines and percentiles, if details are asked for and it exists."""
    latency_distributions_by_hops: list[LatencyDistribution] | None
    """The same for messages over 1, 2, .. network channels of a hypercube."""
    latency_percentiles_cycles: Percentiles
    """Percentiles of the network latency [whole cycles]."""
    name: str
    """Name of the class."""
    network_latency_cycles: float | None
    """`L̄`: from the header's entry into the first router until the tail is through. Transfer, blocking and sharing
    make it up [cycles].
    """
    output_cycles: float | None
    """Part of the sharing, over all routers: the header from the grant until it leaves over the link, beyond what a
    lone one takes [cycles].
    """
    per_channel: list[ChannelAnswer] | None
    """Channel by channel, if details are asked for."""
    posted_latency_cycles: float | None
    """Queueing delay and network latency: the latency of papers that do not count the posting [cycles]."""
    posting_delay_cycles: float | None
    """Part of the waiting: from the generation of a message until it is posted to the network interface, when there is
    room, a credit and energy for it [cycles].
    """
    power_deviation_pj_per_cycle: float | None
    """Standard deviation of the power of windows of `power.window` cycles, of the whole network [pJ/cycle]."""
    power_pj_per_cycle: float | None
    """Mean power of the whole network, whatever class its flits are of [pJ/cycle]."""
    power_violations: float | None
    """Share of these windows whose power is above the budget."""
    preemptions_per_message: float | None
    """How often a message gives way to one of a higher level after a part of it has crossed; each time costs two
    dummies.
    """
    queueing_delay_cycles: float | None
    """The rest of the waiting: from then on until the header is in the first router [cycles]."""
    ratchet_missing_probability: float | None
    """Share of the frames behind the first of a stream that miss a deadline which follows the latest frame: they come
    later in their intervals than all frames before them.
    """
    ratchet_missing_time_cycles: float | None
    """Mean time by which frames miss it, if they do [cycles]."""
    reasons: Record
    """Why a number is `null`, by field."""
    receive_cycles: float | None
    """From the tail's leaving the network until the message is in the memory of the receiver [cycles]."""
    rejected_share: float | None
    """Share of the requests for connections that are refused."""
    router_load: float | None
    """`L̄ λ'`: load of the router, Eq. (3); in a hypercube the largest of its channels; `null` in the refined model.
    """
    saturated: bool
    """Whether the class has no steady state."""
    saturation: Saturation | None
    """Where and from which load on, if it is saturated."""
    set_aside_queues: float | None
    """Most queues that are set aside at a time in all ports together, for the packets of all classes."""
    set_up_delay_cycles: float | None
    """From the first probe of a circuit that is set up to its acknowledgement, dropped attempts included [cycles].
    """
    set_up_probability: float | None
    """Share of the circuits asked for that are set up."""
    sharing_cycles: float | None
    """Part of the network latency: what sharing links with other classes adds; output and gaps [cycles]."""
    source_load: float | None
    """`λ^g L̄`: load of the queue at the source; 1 and more is saturation."""
    throughput_bytes_per_ns: float | None
    """Bytes of the class that are delivered per time, by all hosts together, from the end of the warm-up to that of
    the run; of a run without an end in the steady state [bytes/ns].
    """
    times: TimesAnswer | None
    """Its times in microseconds, if the model knows its streams and the scenario a cycle."""
    total_latency_cycles: float | None
    """`L̄ + W̄`: network latency and waiting, Eq. (1) [cycles]."""
    transfer_cycles: float | None
    """Part of the network latency: what a lone message takes, `P - 1 + P h + M`; pipeline stages and flits of the
    message itself [cycles].
    """
    utilization: float | None
    """`λ' M`: load of a link by the class, flits per cycle: of the output link of a router, of injection and ejection
    link in a hypercube, whose network channels carry `h̄ / n` of that. `λ'` is the rate of the messages that the
    model lets through: all but blocked ones, which the published model drops, and all of them in the refined one. A
    class that is saturated keeps the load that the equations give it; where they give none, it is `null`.
    """
    waiting_cycles: float | None
    """`W̄`: at the source, from the first cycle in which the message could be sent to the header's entry into the
    first router, Eq. (15); 1 if everything is idle; `null` for a class that was simulated to be saturated [cycles].
    """
    wire_cycles: float | None
    """The rest of the waiting: in the queue of the network interface until the header is in the first router [cycles].
    """


class DeadlineAnswer(Record):
    """One deadline and how often it is missed."""

    __slots__ = ()
    deadline_cycles: int
    """The deadline on the network latency [cycles]."""
    hops: int | None
    """For messages over so many network channels only; `null` is all messages."""
    miss_probability: float | None
    """Share of messages that take longer."""
    reason: str | None
    """Why that is `null`."""


class ExpectedError(Record):
    """How far off the simulation a number of the answer is to be expected."""

    __slots__ = ()
    nine_of_ten_within: float
    """9 of 10 errors were no larger."""
    quantity: str
    """Which number."""
    unit: str
    """`percent` of the simulated number, or `absolute`: 0.30 against 0.25 is 0.05. Of deadlines the worst counts.
    """


class FrameAnswer(Record):
    """Frames of the streams of a class; intervals in cycles are among its means."""

    __slots__ = ()
    delay_correlation: float
    """Correlation of the delays of successive frames: 1 where every frame is like the one before."""
    delay_deviation_cycles: float | None
    """Deviation of what a frame is delayed by waiting, in the network and before it; `null` of a saturated class
    [cycles].
    """
    frame_interval_deviation_ms: float | None
    """Its standard deviation in milliseconds."""
    frame_interval_ms: float | None
    """Mean time between deliveries of successive frames of a stream in milliseconds, if a cycle is known."""
    jitter_free: bool
    """Whether the mean is at most 1.01 times the interval of the source, and the deviation 0.05 times it."""
    jitter_free_bottleneck: str
    """What more of them overload first."""
    jitter_free_load: float
    """Their load with headers [flits/cycle/node]."""
    jitter_free_streams: int
    """Most streams per node that are free of jitter: 1 % of them at most end at outputs that are offered too much.
    """
    pacing_deviation_cycles: float
    """Deviation of the interval that the numbers of messages in successive frames make by themselves [cycles]."""
    streams: int
    """Streams per node."""


class LanesAnswer(Record):
    """What the virtual channels of a class carry."""

    __slots__ = ()
    at_load_factor: float
    """The factor on all loads at which that is reached."""
    bottleneck: str
    """The channel that is overloaded first."""
    load_flits_per_cycle: float
    """Load of the class on it [flits/cycle]."""
    saturates_at_flits_per_cycle: float
    """The largest load of the class on it, if the loads of all classes grow together [flits/cycle]."""


class LatencyDistribution(Record):
    """`P(network latency <= x)` for `x = first_cycle, first_cycle + 1, ..`; before that it is 0."""

    __slots__ = ()
    at_most_probability: list[float]
    """The probabilities."""
    first_cycle: int
    """The first `x` [cycles]."""


class Measurement(Record):
    """A mean over replications."""

    __slots__ = ()
    half_width_95: float | None
    """The 95 % interval is the mean plus and minus this; `null` with one replication."""
    mean: float
    """The mean."""


class Percentiles(Record):
    """Percentiles of a latency: the smallest whole number of cycles that so many messages keep within."""

    __slots__ = ()
    p50: int | None
    """Half of the messages."""
    p90: int | None
    """90 % of them."""
    p99: int | None
    """99 % of them."""
    p99_9: int | None
    """99.9 % of them."""


class Report(Record):
    """The account of an iteration, in the words of the output."""

    __slots__ = ()
    iterations: int
    """Evaluations of the equations."""
    residual: float
    """Largest relative change of an unknown in the last step."""
    residuals: list[float] | None
    """The residual of every step, if details are asked for."""
    status: str
    """How it ended."""


class Saturation(Record):
    """Why and from when on a class is saturated."""

    __slots__ = ()
    at_load_factor: float | None
    """The class saturates when all rates of the scenario are multiplied by this."""
    at_rate_messages_per_cycle: float | None
    """Its own rate then [messages/cycle/node]."""
    because: str
    """The same in a sentence, with its numbers."""
    bottleneck: str
    """What gives way: `source queue`, or the link, such as `output link` or `channel 3`."""
    reason: str | None
    """Why both are `null`, if they were asked for."""


class ScenarioSpec(Record):
    """A whole scenario: the network, its routers and the traffic of every node."""

    __slots__ = ()
    admission: Record | None
    """Which connections may enter."""
    circuits: Record | None
    """How circuits are set up, with pipelined circuit switching."""
    class_: list[Record] | None
    """Traffic classes: up to 32, of which 12 are real-time; models have one best-effort class, the simulator any
    number.
    """
    congestion: Record | None
    """What keeps messages of best effort out of a full network."""
    interface: Record | None
    """What every network interface is like."""
    measure: Record | None
    """What is measured of a run, and how long it is."""
    mix: Record | None
    """One load for several classes."""
    name: str | None
    """What the scenario is called in every output."""
    network: Record
    """How routers and nodes are wired."""
    phase: list[Record] | None
    """Parts of a run, one after another, in which classes send as they do in no other."""
    power: Record | None
    """What flits cost, and how the power of a network is kept below a budget."""
    recn: Record | None
    """The thresholds of queues that are set aside; by default those of the organisation `recn`."""
    router: Record | None
    """What every router is like."""
    source: Record | None
    """Which documents values are from, and within which ranges those are known that none has."""
    switch: Record | None
    """What every packet switch is like, in place of a router."""
    units: Record | None
    """What a cycle and a flit are outside of the scenario."""


class TimesAnswer(Record):
    """Times of a class in microseconds."""

    __slots__ = ()
    network_latency_us: float
    """Network latency."""
    total_latency_us: float
    """Both together."""
    waiting_us: float
    """Waiting at the interface."""


class Validity(Record):
    """Where an answer stands among those that were compared with simulations. The errors to expect stand with each
    class: `ClassAnswer::expected_errors`.
    """

    __slots__ = ()
    load_share_of_saturation: float | None
    """Load as a share of that at which the model has the first class saturate; `null` if that is not known."""
    most_loaded_channel: float | None
    """Load of the most loaded channel of a network [flits/cycle]: 1 is full."""
    outside: list[str]
    """In what the scenario lies outside all that was simulated, each in a few words; empty: in nothing."""
    region: str | None
    """The kind of scenarios that the errors were measured on; `null` where none were."""
    unmeasured: str | None
    """Of what no errors have been measured, if there are none to expect."""


class SolveDocument(Document):
    """The answer of `flitwise solve --format json`."""

    __slots__ = ()
    classes: list[ClassAnswer]
    """One answer per class, in the order of the scenario."""
    flitwise_version: str
    """Version of flitwise that made it."""
    model: str
    """Which model answers."""
    notes: list[str]
    """What one should know about this answer."""
    report: Report
    """The account of the iteration."""
    saturated: bool
    """Whether any class is saturated."""
    scenario: ScenarioSpec
    """The scenario asked about."""
    schema: str
    """`flitwise.solve/3`."""
    sections: Record | None
    """What the model says beside the quantities of classes, such as throughput over time."""
    validity: Validity | None
    """Where this answer stands among those that were compared with simulations, if that was asked for."""


class ClassDistribution(Record):
    """One class."""

    __slots__ = ()
    kind: str
    """How links treat it."""
    latency_distribution: LatencyDistribution
    """Of the network latency of all its messages."""
    name: str
    """Name of the class."""


class DistributionDocument(Document):
    """The answer of `flitwise solve --distribution --format json`."""

    __slots__ = ()
    classes: list[ClassDistribution]
    """The classes that have a distribution, in the order of the scenario: not so saturated or silent ones, nor best
    effort in the published model.
    """
    flitwise_version: str
    """Version of flitwise that made it."""
    model: str
    """Which model answers."""
    schema: str
    """`flitwise.distribution/1`."""


class Bisection(Record):
    """What a flow has of a link where random halves of the nodes, paired, all send at once."""

    __slots__ = ()
    both_ways: bool
    """Whether both halves send."""
    least_share: float
    """The least of any trial."""
    mean_share: float
    """Mean over trials."""
    mean_share_half_width_95: float | None
    """95 % half-width of that."""
    most_share: float
    """The most of any trial."""
    trials: int
    """Trials: number `k` has the pairs of `destination = { bisection = k }`."""


class ClassBound(Record):
    """The channel that limits a class."""

    __slots__ = ()
    channel: str | None
    """The most loaded channel, by the class and those that go before it; none without any load."""
    kind: str
    """How links treat it."""
    load_flits_per_cycle: float | None
    """Its load by them."""
    load_share: float | None
    """Its load by them, as a share of what it carries at most."""
    mean_hops: float
    """Channels between routers that a message of the class crosses on average."""
    name: str
    """Name of the class."""
    saturated_at_load_factor: float | None
    """The factor on all rates at which the channel is full: no router carries more."""
    shares: list[KindShare]
    """What the class brings to channels, by kind."""


class KindLoads(Record):
    """Channels of a kind."""

    __slots__ = ()
    channel: str
    """Their kind: injection, the dimension or level, or ejection."""
    full_at_load_factor: float | None
    """The factor on all rates at which that is full; none without any load."""
    links: int
    """How many there are, parallel ones one by one."""
    load_max_flits_per_cycle: float | None
    """The greatest load, where flits are sent."""
    load_max_share: float
    """Load of the most loaded one, as a share of what it carries at most."""
    load_mean_flits_per_cycle: float | None
    """Mean load of all classes on each, where flits are sent."""
    load_mean_share: float
    """Mean load of all classes on each, as a share of what it carries at most."""
    most_loaded: str
    """The one with the greatest share; the first of them if there are several."""


class KindShare(Record):
    """What a class brings to channels of a kind, as a share of what one of its senders sends."""

    __slots__ = ()
    channel: str
    """The kind of the channels."""
    max: float
    """The most of any."""
    mean: float
    """Mean over all of them."""


class LoadsDocument(Document):
    """The answer of `flitwise solve --loads --format json`, and without `--loads` where no model has all of the
    scenario.
    """

    __slots__ = ()
    channels: list[KindLoads]
    """Channels by kind."""
    classes: list[ClassBound]
    """One bound per class, in the order of the scenario."""
    effective_bisection: list[Bisection]
    """The effective bisection with both halves sending, then with one; empty where it is not asked for."""
    flitwise_version: str
    """Version of flitwise that made it."""
    mean_hops: float | None
    """Channels between routers that a message of any class crosses on average; none where nothing is sent."""
    refused: list[str]
    """What stands against each model, where none has all of the scenario."""
    scenario: ScenarioSpec
    """The scenario asked about."""
    schema: str
    """`flitwise.loads/1`."""


class Account(Record):
    """How anchors were placed."""

    __slots__ = ()
    anchors: list[AnchorEntry]
    """Anchors, in the order in which they were placed."""
    seed: int
    """Where random numbers of simulations come from."""
    stopped_by: str
    """Why there are no more anchors."""
    wanted_precision: float
    """Wanted half-width of the 95 % interval of every network latency, as a share of it."""
    widest_precision: float | None
    """Half of the widest such interval that is expected where anchors could be, as a share of the latency; `null` if
    none is known.
    """


class AnchorEntry(Record):
    """An anchor."""

    __slots__ = ()
    from_store: bool
    """Whether the store had its simulation."""
    messages: int
    """Messages measured."""
    reached_precision: float | None
    """Half-width reached by the simulation, of the network latency of the worst class."""
    saturated: list[str]
    """Classes that the simulation found saturated."""
    set: list[Setting]
    """The values set there, coupled ones included."""
    simulation_seconds: float
    """Time spent in the simulation proper, whenever that was [s]."""


class ClassIntervals(Record):
    """The intervals of a class. What has none is the model's own number, or there is none."""

    __slots__ = ()
    accepted_rate_messages_per_cycle: Interval | None
    """`λ'`: messages that get through, Eq. (4) [messages/cycle/node]."""
    arbitration_cycles: Interval | None
    """The rest of the blocking, over all routers: the header from its request of an output buffer to the grant
    [cycles].
    """
    beyond_anchors: bool
    """Whether the point lies beyond the anchors at which the class is steady: intervals are those of an extrapolation.
    """
    blocking_cycles: Interval | None
    """Part of the network latency: messages of the same class in front; input and arbitration [cycles]."""
    blocking_length_flits: Interval | None
    """`B̄`: mean length in front of a header; in a hypercube over the whole path [flits]."""
    blocking_probability: Interval | None
    """Share of the generated messages that find the next stage full."""
    bus_cycles: Interval | None
    """Part of the waiting: descriptor and message on the host bus of the sender [cycles]."""
    circuit_attempts: Interval | None
    """Attempts to set up circuits, of all nodes together; `null` where circuits come and go."""
    circuit_drop_share: Interval | None
    """Share of the attempts that are dropped."""
    circuit_load: Interval | None
    """Load of an injection link by streams whose circuits stand, as a share of the link."""
    circuits_dropped: Interval | None
    """Attempts that found a virtual channel taken, of all nodes together; `null` where circuits come and go."""
    circuits_established: Interval | None
    """Circuits that stand at once, of all nodes together."""
    connection_set_up_cycles: Interval | None
    """From the request of a connection that is admitted until its source may send [cycles]."""
    connections_held: Interval | None
    """Connections that stand at once, of all nodes together."""
    cycles_per_flit: Interval | None
    """`S̄`: mean cycles per flit on the output link, Eqs. (6), (9); in a hypercube (14)."""
    deadlines: list[Interval | None]
    """Of the deadlines, in the order of the answer; `null` where there is no number."""
    doorbell_cycles: Interval | None
    """Part of the waiting: from the doorbell until the firmware hands the message over to the host bus [cycles].
    """
    end_to_end_latency_cycles: Interval | None
    """From the generation of a message until it is in the memory of the receiver, over the host buses at either end:
    doorbell, bus, wire, network latency and receive [cycles].
    """
    frame_interval_autocorrelation: Interval | None
    """Correlation of successive intervals of a stream."""
    frame_interval_cycles: Interval | None
    """Time between deliveries of successive frames of a stream; a frame is delivered when all its messages are
    [cycles].
    """
    frame_interval_deviation_cycles: Interval | None
    """Standard deviation of the intervals of all streams together [cycles]."""
    frame_interval_deviation_per_stream_cycles: Interval | None
    """Standard deviation of the intervals of a stream, each about the mean of its own [cycles]."""
    frame_latency_cycles: Interval | None
    """From the start of the interval of a frame to its delivery [cycles]."""
    gap_cycles: Interval | None
    """The rest of the sharing: gaps among the flits that follow the header, by which the tail lags behind it beyond `M
    - 1` cycles [cycles].
    """
    input_cycles: Interval | None
    """Part of the blocking, over all routers: the header in input buffers behind other messages of its class. A model
    that does not part the latency by place leaves it out, as the three that follow [cycles].
    """
    interface_time_cycles: Interval | None
    """From the posting of a message until its tail is on the injection link, both counted [cycles]."""
    late_frames: Interval | None
    """Share of the intervals that are longer than 1.05 times that of the source."""
    latency_percentiles_cycles: Percentiles2
    """Of the percentiles of the network latency."""
    name: str
    """Name of the class."""
    network_latency_cycles: Interval | None
    """`L̄`: from the header's entry into the first router until the tail is through. Transfer, blocking and sharing
    make it up [cycles].
    """
    output_cycles: Interval | None
    """Part of the sharing, over all routers: the header from the grant until it leaves over the link, beyond what a
    lone one takes [cycles].
    """
    posted_latency_cycles: Interval | None
    """Queueing delay and network latency: the latency of papers that do not count the posting [cycles]."""
    posting_delay_cycles: Interval | None
    """Part of the waiting: from the generation of a message until it is posted to the network interface, when there is
    room, a credit and energy for it [cycles].
    """
    power_deviation_pj_per_cycle: Interval | None
    """Standard deviation of the power of windows of `power.window` cycles, of the whole network [pJ/cycle]."""
    power_pj_per_cycle: Interval | None
    """Mean power of the whole network, whatever class its flits are of [pJ/cycle]."""
    power_violations: Interval | None
    """Share of these windows whose power is above the budget."""
    preemptions_per_message: Interval | None
    """How often a message gives way to one of a higher level after a part of it has crossed; each time costs two
    dummies.
    """
    queueing_delay_cycles: Interval | None
    """The rest of the waiting: from then on until the header is in the first router [cycles]."""
    ratchet_missing_probability: Interval | None
    """Share of the frames behind the first of a stream that miss a deadline which follows the latest frame: they come
    later in their intervals than all frames before them.
    """
    ratchet_missing_time_cycles: Interval | None
    """Mean time by which frames miss it, if they do [cycles]."""
    receive_cycles: Interval | None
    """From the tail's leaving the network until the message is in the memory of the receiver [cycles]."""
    rejected_share: Interval | None
    """Share of the requests for connections that are refused."""
    router_load: Interval | None
    """`L̄ λ'`: load of the router, Eq. (3); in a hypercube the largest of its channels; `null` in the refined model.
    """
    set_aside_queues: Interval | None
    """Most queues that are set aside at a time in all ports together, for the packets of all classes."""
    set_up_delay_cycles: Interval | None
    """From the first probe of a circuit that is set up to its acknowledgement, dropped attempts included [cycles].
    """
    set_up_probability: Interval | None
    """Share of the circuits asked for that are set up."""
    sharing_cycles: Interval | None
    """Part of the network latency: what sharing links with other classes adds; output and gaps [cycles]."""
    source_load: Interval | None
    """`λ^g L̄`: load of the queue at the source; 1 and more is saturation."""
    throughput_bytes_per_ns: Interval | None
    """Bytes of the class that are delivered per time, by all hosts together, from the end of the warm-up to that of
    the run; of a run without an end in the steady state [bytes/ns].
    """
    total_latency_cycles: Interval | None
    """`L̄ + W̄`: network latency and waiting, Eq. (1) [cycles]."""
    transfer_cycles: Interval | None
    """Part of the network latency: what a lone message takes, `P - 1 + P h + M`; pipeline stages and flits of the
    message itself [cycles].
    """
    utilization: Interval | None
    """`λ' M`: load of a link by the class, flits per cycle: of the output link of a router, of injection and ejection
    link in a hypercube, whose network channels carry `h̄ / n` of that. `λ'` is the rate of the messages that the
    model lets through: all but blocked ones, which the published model drops, and all of them in the refined one. A
    class that is saturated keeps the load that the equations give it; where they give none, it is `null`.
    """
    waiting_cycles: Interval | None
    """`W̄`: at the source, from the first cycle in which the message could be sent to the header's entry into the
    first router, Eq. (15); 1 if everything is idle; `null` for a class that was simulated to be saturated [cycles].
    """
    wire_cycles: Interval | None
    """The rest of the waiting: in the queue of the network interface until the header is in the first router [cycles].
    """


class Interval(Record):
    """Where a number lies with a probability of 95 %."""

    __slots__ = ()
    lower_95: float
    """Lower end."""
    upper_95: float
    """Upper end."""


class Percentiles2(Record):
    """Percentiles of a latency: the smallest whole number of cycles that so many messages keep within."""

    __slots__ = ()
    p50: Interval | None
    """Half of the messages."""
    p90: Interval | None
    """90 % of them."""
    p99: Interval | None
    """99 % of them."""
    p99_9: Interval | None
    """99.9 % of them."""


class Point(Record):
    """One point of a sweep."""

    __slots__ = ()
    classes: list[ClassAnswer]
    """One answer per class."""
    failure: str | None
    """Why there is no answer; else it is left out."""
    intervals_95: list[ClassIntervals] | None
    """Where the corrected numbers of each class lie; of models that are not anchored it is left out."""
    is_anchor: bool | None
    """Whether the point is an anchor; of models that are not anchored it is left out."""
    model: str
    """Which model answers."""
    notes: list[str]
    """What one should know about this answer."""
    report: Report | None
    """The account of the iteration."""
    saturated: bool
    """Whether any class is saturated."""
    sections: Record | None
    """What the model says beside the quantities of classes."""
    set: list[Setting]
    """The values set here, coupled ones included, in the order of the command line."""
    validity: Validity | None
    """Where this answer stands among those that were checked by simulation, if the model says so."""


class Setting(Record):
    """A key and the value it has at a point."""

    __slots__ = ()
    key: str
    """Path of the value in the scenario."""
    value: str
    """The value as it would be typed."""


class SweepDocument(Document):
    """The answer of `flitwise sweep --format json`."""

    __slots__ = ()
    _rows: ClassVar[tuple[str, ...]] = ('points', 'classes')
    _repeated: ClassVar[tuple[str, ...]] = ('model',)
    anchoring: Account | None
    """How the anchored model was anchored; of other models it is left out."""
    flitwise_version: str
    """Version of flitwise that made it."""
    model: str | None
    """Which model answers; `null`: each point says which."""
    partial: bool
    """Whether points are missing at the end, because it was interrupted or a point was wrong."""
    points: list[Point]
    """One per point of the grid, the last axis varying fastest."""
    scenario: ScenarioSpec
    """The scenario before any value was changed."""
    schema: str
    """`flitwise.sweep/3`."""


class OneSided(Record):
    """One side of an output's movement."""

    __slots__ = ()
    derivative: float | None
    """As in `Sensitivity`."""
    elasticity: float | None
    """As in `Sensitivity`."""


class OutputSensitivities(Record):
    """An output and how it moves."""

    __slots__ = ()
    class_: str
    """Name of the class."""
    deadline_cycles: int | None
    """The deadline of a miss probability [cycles]."""
    hops: int | None
    """Of a miss probability: the messages over so many network channels; left out: all messages."""
    quantity: str
    """The quantity."""
    reason: str | None
    """Why it has no value."""
    sensitivities: list[Sensitivity]
    """By parameter."""
    unit: str
    """Unit of the value: `cycles`, or `1` for loads and probabilities."""
    value: float | None
    """Its value."""
    value_half_width_95: float | None
    """Half of its 95 % interval, in the same unit, where the answer was corrected by simulations."""


class ParameterValue(Record):
    """A parameter and its value."""

    __slots__ = ()
    implied: bool
    """Whether it is a Vtick that follows from rate and length; its derivative is by the Vtick alone, as if given.
    """
    key: str
    """Its key in the scenario."""
    kind: str
    """What kind of number it is to the model."""
    unit: str
    """Its unit."""
    value: float | None
    """Its value; `null` where it acts through classes that have different ones."""


class Sensitivity(Record):
    """How an output moves with a parameter."""

    __slots__ = ()
    above: OneSided | None
    """Towards larger values."""
    below: OneSided | None
    """Towards smaller values of the parameter, where that is worth a number of its own: at a kink, and for differences
    over steps.
    """
    derivative: float | None
    """`dy/dp`."""
    derivative_unit: str
    """Its unit."""
    elasticity: float | None
    """`(p / y) dy/dp`: 1 % more of the parameter gives so many percent more of the output."""
    elasticity_half_width_95: float | None
    """Half of the 95 % interval of the elasticity, where answers were corrected by simulations: what is not known of
    the correction.
    """
    error_estimate: float | None
    """What the elasticity may be off by, where it is a difference: from two step sizes, or half of what the two sides
    differ by.
    """
    method: str
    """How it was found."""
    parameter: str
    """Key of the parameter."""
    reason: str | None
    """Why a number is `null`, or what to know about it."""
    step_percent: float | None
    """Step of a difference, in percent of the parameter."""


class SensitivityDocument(Document):
    """The answer of `flitwise sensitivity --format json`."""

    __slots__ = ()
    _rows: ClassVar[tuple[str, ...]] = ('outputs', 'sensitivities')
    _repeated: ClassVar[tuple[str, ...]] = ('model', 'class', 'quantity', 'value', 'unit')
    flitwise_version: str
    """Version of flitwise that made it."""
    model: str
    """Whose answer it is."""
    outputs: list[OutputSensitivities]
    """The outputs, with their values and how they move with each parameter, in the order of the parameters."""
    parameters: list[ParameterValue]
    """The parameters, with their values."""
    partial: bool
    """Whether it was interrupted, so that parameters are missing."""
    scenario: ScenarioSpec
    """The scenario whose answer moves."""
    schema: str
    """`flitwise.sensitivity/2`."""


class ChannelDetail(Record):
    """What one channel carries, and how messages wait for it."""

    __slots__ = ()
    blocked_share: Estimate | None
    """Share of the messages that do not get a virtual channel of it at once; of an injection channel those that wait
    in the source queue.
    """
    channel: str
    """Where it starts and which way it leads, such as `(0,3) dimension 0 up`; of an injection or ejection channel its
    node.
    """
    kind: str
    """`injection`, `dimension N` or `ejection`."""
    port: int
    """The port of that router."""
    reserved_share: Utilization | None
    """What connections hold of it, on average over the measured part; absent without connections [flits/cycle]."""
    router: int
    """The router that it leaves; of an injection channel the one that it enters."""
    utilization: Utilization
    """Flits per cycle, the share of cycles in which a flit goes over it."""
    wait_cycles: Estimate | None
    """Mean time that a header waits for a virtual channel of it and for the link, beyond what a lone one takes; of an
    injection channel the time in the source queue; `null` if there is no message [cycles].
    """


class ChannelSimulation(Record):
    """What channels of one kind carry."""

    __slots__ = ()
    channel: str
    """`injection`, `dimension N` or `ejection`."""
    utilization: Utilization
    """Load of such a channel: flits per cycle, the share of cycles in which a flit goes over it."""
    utilization_by_class: list[Utilization]
    """The same by class, in the order of the scenario."""


class ClassSimulation(Record):
    """What is said of one class. A number that does not exist is `null`."""

    __slots__ = ()
    accepted_rate_messages_per_cycle: Estimate | None
    """`λ'`: messages that get through, Eq. (4) [messages/cycle/node]."""
    arbitration_cycles: Estimate | None
    """The rest of the blocking, over all routers: the header from its request of an output buffer to the grant
    [cycles].
    """
    blocking_cycles: Estimate | None
    """Part of the network latency: messages of the same class in front; input and arbitration [cycles]."""
    blocking_length_flits: Estimate | None
    """`B̄`: mean length in front of a header; in a hypercube over the whole path [flits]."""
    blocking_probability: Estimate | None
    """Share of the generated messages that find the next stage full."""
    bus_cycles: Estimate | None
    """Part of the waiting: descriptor and message on the host bus of the sender [cycles]."""
    circuit_attempts: Estimate | None
    """Attempts to set up circuits, of all nodes together; `null` where circuits come and go."""
    circuit_drop_share: Estimate | None
    """Share of the attempts that are dropped."""
    circuit_load: Estimate | None
    """Load of an injection link by streams whose circuits stand, as a share of the link."""
    circuits_dropped: Estimate | None
    """Attempts that found a virtual channel taken, of all nodes together; `null` where circuits come and go."""
    circuits_established: Estimate | None
    """Circuits that stand at once, of all nodes together."""
    connection_set_up_cycles: Estimate | None
    """From the request of a connection that is admitted until its source may send [cycles]."""
    connections_held: Estimate | None
    """Connections that stand at once, of all nodes together."""
    cycles_per_flit: Estimate | None
    """`S̄`: mean cycles per flit on the output link, Eqs. (6), (9); in a hypercube (14)."""
    deadlines: list[DeadlineSimulation]
    """Deadline missing probabilities, in the order of the scenario."""
    doorbell_cycles: Estimate | None
    """Part of the waiting: from the doorbell until the firmware hands the message over to the host bus [cycles].
    """
    end_to_end_latency_cycles: Estimate | None
    """From the generation of a message until it is in the memory of the receiver, over the host buses at either end:
    doorbell, bus, wire, network latency and receive [cycles].
    """
    fates: Fates | None
    """What became of the messages of a terminating run."""
    frame_deadlines: list[FrameDeadlineSimulation] | None
    """Deadlines of frames, rule by rule, in the order of the scenario."""
    frame_interval_autocorrelation: Estimate | None
    """Correlation of successive intervals of a stream."""
    frame_interval_cycles: Estimate | None
    """Time between deliveries of successive frames of a stream; a frame is delivered when all its messages are
    [cycles].
    """
    frame_interval_deviation_cycles: Estimate | None
    """Standard deviation of the intervals of all streams together [cycles]."""
    frame_interval_deviation_per_stream_cycles: Estimate | None
    """Standard deviation of the intervals of a stream, each about the mean of its own [cycles]."""
    frame_latency_cycles: Estimate | None
    """From the start of the interval of a frame to its delivery [cycles]."""
    frame_offset_deviation_cycles: Estimate | None
    """Standard deviation of the offsets of frames that are held against deadlines, from the start of the interval to
    the delivery [cycles].
    """
    gap_cycles: Estimate | None
    """The rest of the sharing: gaps among the flits that follow the header, by which the tail lags behind it beyond `M
    - 1` cycles [cycles].
    """
    hops: list[HopsSimulation]
    """The same by number of network channels crossed; one entry of `null` hops for a single router. Campaigns leave it
    empty.
    """
    input_cycles: Estimate | None
    """Part of the blocking, over all routers: the header in input buffers behind other messages of its class. A model
    that does not part the latency by place leaves it out, as the three that follow [cycles].
    """
    interface_time_cycles: Estimate | None
    """From the posting of a message until its tail is on the injection link, both counted [cycles]."""
    jitter_free: bool | None
    """Whether frames come evenly: a mean interval of at most 1.01 times that of the source, and a deviation of at most
    0.05 times that.
    """
    kind: str
    """How links treat it."""
    late_frames: Estimate | None
    """Share of the intervals that are longer than 1.05 times that of the source."""
    latency_percentiles_cycles: SimulatePercentiles
    """Percentiles of the network latency."""
    name: str
    """Name of the class."""
    network_latency_cycles: Estimate | None
    """`L̄`: from the header's entry into the first router until the tail is through. Transfer, blocking and sharing
    make it up [cycles].
    """
    network_latency_deviation_cycles: float | None
    """Standard deviation of a message's network latency [cycles]."""
    output_cycles: Estimate | None
    """Part of the sharing, over all routers: the header from the grant until it leaves over the link, beyond what a
    lone one takes [cycles].
    """
    posted_latency_cycles: Estimate | None
    """Queueing delay and network latency: the latency of papers that do not count the posting [cycles]."""
    posting_delay_cycles: Estimate | None
    """Part of the waiting: from the generation of a message until it is posted to the network interface, when there is
    room, a credit and energy for it [cycles].
    """
    power_deviation_pj_per_cycle: Estimate | None
    """Standard deviation of the power of windows of `power.window` cycles, of the whole network [pJ/cycle]."""
    power_pj_per_cycle: Estimate | None
    """Mean power of the whole network, whatever class its flits are of [pJ/cycle]."""
    power_violations: Estimate | None
    """Share of these windows whose power is above the budget."""
    preemptions_per_message: Estimate | None
    """How often a message gives way to one of a higher level after a part of it has crossed; each time costs two
    dummies.
    """
    queueing_delay_cycles: Estimate | None
    """The rest of the waiting: from then on until the header is in the first router [cycles]."""
    ratchet_missing_probability: Estimate | None
    """Share of the frames behind the first of a stream that miss a deadline which follows the latest frame: they come
    later in their intervals than all frames before them.
    """
    ratchet_missing_time_cycles: Estimate | None
    """Mean time by which frames miss it, if they do [cycles]."""
    receive_cycles: Estimate | None
    """From the tail's leaving the network until the message is in the memory of the receiver [cycles]."""
    rejected_share: Estimate | None
    """Share of the requests for connections that are refused."""
    router_load: Estimate | None
    """`L̄ λ'`: load of the router, Eq. (3); in a hypercube the largest of its channels; `null` in the refined model.
    """
    saturated: bool
    """Whether the class has no steady state."""
    saturation: SaturationCause | None
    """Where and why, if it is saturated."""
    set_aside_queues: Estimate | None
    """Most queues that are set aside at a time in all ports together, for the packets of all classes."""
    set_up_delay_cycles: Estimate | None
    """From the first probe of a circuit that is set up to its acknowledgement, dropped attempts included [cycles].
    """
    set_up_probability: Estimate | None
    """Share of the circuits asked for that are set up."""
    sharing_cycles: Estimate | None
    """Part of the network latency: what sharing links with other classes adds; output and gaps [cycles]."""
    source_load: Estimate | None
    """`λ^g L̄`: load of the queue at the source; 1 and more is saturation."""
    throughput_bytes_per_ns: Estimate | None
    """Bytes of the class that are delivered per time, by all hosts together, from the end of the warm-up to that of
    the run; of a run without an end in the steady state [bytes/ns].
    """
    total_latency_cycles: Estimate | None
    """`L̄ + W̄`: network latency and waiting, Eq. (1) [cycles]."""
    transfer_cycles: Estimate | None
    """Part of the network latency: what a lone message takes, `P - 1 + P h + M`; pipeline stages and flits of the
    message itself [cycles].
    """
    utilization: Estimate | None
    """`λ' M`: load of a link by the class, flits per cycle: of the output link of a router, of injection and ejection
    link in a hypercube, whose network channels carry `h̄ / n` of that. `λ'` is the rate of the messages that the
    model lets through: all but blocked ones, which the published model drops, and all of them in the refined one. A
    class that is saturated keeps the load that the equations give it; where they give none, it is `null`.
    """
    waiting_cycles: Estimate | None
    """`W̄`: at the source, from the first cycle in which the message could be sent to the header's entry into the
    first router, Eq. (15); 1 if everything is idle; `null` for a class that was simulated to be saturated [cycles].
    """
    waiting_deviation_cycles: float | None
    """Standard deviation of a message's waiting [cycles]."""
    wire_cycles: Estimate | None
    """The rest of the waiting: in the queue of the network interface until the header is in the first router [cycles].
    """


class DeadlineSimulation(Record):
    """One deadline and how often it was missed."""

    __slots__ = ()
    deadline_cycles: int
    """The deadline on the network latency [cycles]."""
    hops: int | None
    """For messages over so many network channels only; `null` is all messages."""
    miss_probability: ProbabilityEstimate | None
    """Share of messages that took longer."""


class Estimate(Record):
    """A mean with its 95 % interval."""

    __slots__ = ()
    half_width_95: float | None
    """The interval is the mean plus and minus this, corrected for skewness: the upper end needs it, the lower one is
    nearer rather than farther. `null` if one batch is all there is.
    """
    mean: float
    """The mean."""
    messages: int
    """Messages, frames or intervals behind it."""


class Fates(Record):
    """Messages of a class in all replications of a terminating run."""

    __slots__ = ()
    delivered_messages: int
    """Those delivered before the end of the run."""
    generated_messages: int
    """Those generated."""
    unfinished_messages: int
    """Those that waited or were under way at the end of the run."""
    withdrawn_messages: int
    """Those taken back at the end of the traffic of the class, of which no flit had left."""


class FrameDeadlineSimulation(Record):
    """A rule by which frames are late, and how often they are; intervals are those over replications."""

    __slots__ = ()
    deadline_missing_probability: Estimate | None
    """Share of the frames that are late."""
    deadline_missing_time_cycles: Estimate | None
    """Mean time by which late frames are late; `null` if none is [cycles]."""
    deadline_missing_time_ms: Estimate | None
    """The same in milliseconds, with `[units]`."""
    delay_cycles: float | None
    """Of a playout: time behind the end of the interval of a frame [cycles]."""
    frames: int
    """Frames held against the rule, in all replications."""
    law_of_records: float | None
    """Of the ratchet: the share of late frames if offsets were independent of each other, whatever the network."""
    rule: str
    """`ratchet` or `playout`."""


class HopsSimulation(Record):
    """The messages of a class over one number of network channels."""

    __slots__ = ()
    accepted_rate_messages_per_cycle: Estimate | None
    """`λ'`: messages that get through, Eq. (4) [messages/cycle/node]."""
    arbitration_cycles: Estimate | None
    """The rest of the blocking, over all routers: the header from its request of an output buffer to the grant
    [cycles].
    """
    blocking_cycles: Estimate | None
    """Part of the network latency: messages of the same class in front; input and arbitration [cycles]."""
    blocking_length_flits: Estimate | None
    """`B̄`: mean length in front of a header; in a hypercube over the whole path [flits]."""
    blocking_probability: Estimate | None
    """Share of the generated messages that find the next stage full."""
    bus_cycles: Estimate | None
    """Part of the waiting: descriptor and message on the host bus of the sender [cycles]."""
    circuit_attempts: Estimate | None
    """Attempts to set up circuits, of all nodes together; `null` where circuits come and go."""
    circuit_drop_share: Estimate | None
    """Share of the attempts that are dropped."""
    circuit_load: Estimate | None
    """Load of an injection link by streams whose circuits stand, as a share of the link."""
    circuits_dropped: Estimate | None
    """Attempts that found a virtual channel taken, of all nodes together; `null` where circuits come and go."""
    circuits_established: Estimate | None
    """Circuits that stand at once, of all nodes together."""
    connection_set_up_cycles: Estimate | None
    """From the request of a connection that is admitted until its source may send [cycles]."""
    connections_held: Estimate | None
    """Connections that stand at once, of all nodes together."""
    cycles_per_flit: Estimate | None
    """`S̄`: mean cycles per flit on the output link, Eqs. (6), (9); in a hypercube (14)."""
    deadlines: list[DeadlineSimulation]
    """Every plain deadline of the class, and those given for this number of hops."""
    doorbell_cycles: Estimate | None
    """Part of the waiting: from the doorbell until the firmware hands the message over to the host bus [cycles].
    """
    end_to_end_latency_cycles: Estimate | None
    """From the generation of a message until it is in the memory of the receiver, over the host buses at either end:
    doorbell, bus, wire, network latency and receive [cycles].
    """
    frame_interval_autocorrelation: Estimate | None
    """Correlation of successive intervals of a stream."""
    frame_interval_cycles: Estimate | None
    """Time between deliveries of successive frames of a stream; a frame is delivered when all its messages are
    [cycles].
    """
    frame_interval_deviation_cycles: Estimate | None
    """Standard deviation of the intervals of all streams together [cycles]."""
    frame_interval_deviation_per_stream_cycles: Estimate | None
    """Standard deviation of the intervals of a stream, each about the mean of its own [cycles]."""
    frame_latency_cycles: Estimate | None
    """From the start of the interval of a frame to its delivery [cycles]."""
    gap_cycles: Estimate | None
    """The rest of the sharing: gaps among the flits that follow the header, by which the tail lags behind it beyond `M
    - 1` cycles [cycles].
    """
    hops: int | None
    """Network channels crossed; `null` in a single router."""
    input_cycles: Estimate | None
    """Part of the blocking, over all routers: the header in input buffers behind other messages of its class. A model
    that does not part the latency by place leaves it out, as the three that follow [cycles].
    """
    interface_time_cycles: Estimate | None
    """From the posting of a message until its tail is on the injection link, both counted [cycles]."""
    late_frames: Estimate | None
    """Share of the intervals that are longer than 1.05 times that of the source."""
    latency_percentiles_cycles: SimulatePercentiles
    """As for the class [cycles]."""
    network_latency_cycles: Estimate | None
    """`L̄`: from the header's entry into the first router until the tail is through. Transfer, blocking and sharing
    make it up [cycles].
    """
    output_cycles: Estimate | None
    """Part of the sharing, over all routers: the header from the grant until it leaves over the link, beyond what a
    lone one takes [cycles].
    """
    posted_latency_cycles: Estimate | None
    """Queueing delay and network latency: the latency of papers that do not count the posting [cycles]."""
    posting_delay_cycles: Estimate | None
    """Part of the waiting: from the generation of a message until it is posted to the network interface, when there is
    room, a credit and energy for it [cycles].
    """
    power_deviation_pj_per_cycle: Estimate | None
    """Standard deviation of the power of windows of `power.window` cycles, of the whole network [pJ/cycle]."""
    power_pj_per_cycle: Estimate | None
    """Mean power of the whole network, whatever class its flits are of [pJ/cycle]."""
    power_violations: Estimate | None
    """Share of these windows whose power is above the budget."""
    preemptions_per_message: Estimate | None
    """How often a message gives way to one of a higher level after a part of it has crossed; each time costs two
    dummies.
    """
    queueing_delay_cycles: Estimate | None
    """The rest of the waiting: from then on until the header is in the first router [cycles]."""
    ratchet_missing_probability: Estimate | None
    """Share of the frames behind the first of a stream that miss a deadline which follows the latest frame: they come
    later in their intervals than all frames before them.
    """
    ratchet_missing_time_cycles: Estimate | None
    """Mean time by which frames miss it, if they do [cycles]."""
    receive_cycles: Estimate | None
    """From the tail's leaving the network until the message is in the memory of the receiver [cycles]."""
    rejected_share: Estimate | None
    """Share of the requests for connections that are refused."""
    router_load: Estimate | None
    """`L̄ λ'`: load of the router, Eq. (3); in a hypercube the largest of its channels; `null` in the refined model.
    """
    set_aside_queues: Estimate | None
    """Most queues that are set aside at a time in all ports together, for the packets of all classes."""
    set_up_delay_cycles: Estimate | None
    """From the first probe of a circuit that is set up to its acknowledgement, dropped attempts included [cycles].
    """
    set_up_probability: Estimate | None
    """Share of the circuits asked for that are set up."""
    sharing_cycles: Estimate | None
    """Part of the network latency: what sharing links with other classes adds; output and gaps [cycles]."""
    source_load: Estimate | None
    """`λ^g L̄`: load of the queue at the source; 1 and more is saturation."""
    throughput_bytes_per_ns: Estimate | None
    """Bytes of the class that are delivered per time, by all hosts together, from the end of the warm-up to that of
    the run; of a run without an end in the steady state [bytes/ns].
    """
    total_latency_cycles: Estimate | None
    """`L̄ + W̄`: network latency and waiting, Eq. (1) [cycles]."""
    transfer_cycles: Estimate | None
    """Part of the network latency: what a lone message takes, `P - 1 + P h + M`; pipeline stages and flits of the
    message itself [cycles].
    """
    utilization: Estimate | None
    """`λ' M`: load of a link by the class, flits per cycle: of the output link of a router, of injection and ejection
    link in a hypercube, whose network channels carry `h̄ / n` of that. `λ'` is the rate of the messages that the
    model lets through: all but blocked ones, which the published model drops, and all of them in the refined one. A
    class that is saturated keeps the load that the equations give it; where they give none, it is `null`.
    """
    waiting_cycles: Estimate | None
    """`W̄`: at the source, from the first cycle in which the message could be sent to the header's entry into the
    first router, Eq. (15); 1 if everything is idle; `null` for a class that was simulated to be saturated [cycles].
    """
    wire_cycles: Estimate | None
    """The rest of the waiting: in the queue of the network interface until the header is in the first router [cycles].
    """


class SimulateInterval(Record):
    """What is delivered of a class in an interval of a terminating run; intervals of the means are those over
    replications.
    """

    __slots__ = ()
    class_: str
    """Name of the class."""
    delivered_flits_per_cycle: Estimate | None
    """Flits of messages delivered in it, over its length and all nodes [flits/cycle]."""
    network_latency_cycles: Estimate | None
    """Mean network latency of messages delivered in it [cycles]."""
    start_cycle: int
    """First cycle of the interval [cycles]."""
    total_latency_cycles: Estimate | None
    """The same with waiting [cycles]."""


class PercentileEstimate(Record):
    """A percentile with its 95 % interval."""

    __slots__ = ()
    lower_95: int
    """Lower end of the interval."""
    upper_95: int | None
    """Upper end of the interval; `null` if too few messages took longer to give one."""
    value: int
    """The smallest number of cycles that so many of the messages kept within."""


class SimulatePercentiles(Record):
    """Percentiles of a latency: the smallest whole number of cycles that so many messages keep within."""

    __slots__ = ()
    p50: PercentileEstimate | None
    """Half of the messages."""
    p90: PercentileEstimate | None
    """90 % of them."""
    p99: PercentileEstimate | None
    """99 % of them."""
    p99_9: PercentileEstimate | None
    """99.9 % of them."""


class ProbabilityEstimate(Record):
    """A probability with its 95 % interval."""

    __slots__ = ()
    half_width_95: float
    """The larger distance from the mean to an end of the interval."""
    lower_95: float
    """Lower end of the interval."""
    mean: float
    """Share of the messages seen."""
    messages: int
    """Messages behind it."""
    upper_95: float
    """Upper end of the interval; above 0 even if nothing was seen."""


class Run(Record):
    """How a simulation was run."""

    __slots__ = ()
    batches_per_replication: int
    """Consecutive batches in each of them."""
    flit_hops: int
    """Flits that crossed a crossbar, all replications, warm-up included."""
    flit_hops_per_second: float
    """The same per second of the simulation proper [1/s]."""
    least_precise_class: str | None
    """Name of the class that has it, the least precise of those that are not saturated."""
    measured_cycles: int
    """Cycles of each replication in which measured messages were generated."""
    messages: int
    """Messages measured, all classes and replications."""
    more_than_asked: bool
    """Whether more was at hand than was asked for, and is used: replications that a store kept of a question with
    another precision or limit. Without them (`--fresh`) the numbers are those of an empty store.
    """
    partial: bool
    """Whether it was broken off, interrupted or by the time allowed; the numbers then stand for the rounds that had
    ended, if there were any.
    """
    reached_precision: float | None
    """The half-width reached, as a share of the mean."""
    replications: int
    """Independent runs behind the numbers."""
    seed: int
    """Where all random numbers come from."""
    simulated_cycles: int
    """Cycles simulated in all replications, warm-up included."""
    simulation_seconds: float
    """Time spent in the simulation proper [s]."""
    stopped_by: str
    """What made it stop."""
    threads: int
    """Threads used."""
    wall_seconds: float
    """Time from start to end [s]."""
    wanted_precision: float
    """Wanted half-width of the worst class's mean network latency, as a share of it."""
    warmup: str
    """Whether the warm-up was given, found by MSER-5, or cut short because it was not found."""
    warmup_cycles: int
    """Cycles left out at the start of each replication."""
    went_on_because: str | None
    """Why more was measured than the wanted precision takes; `null` if the precision decided."""


class SaturationCause(Record):
    """Why a class is said to be saturated."""

    __slots__ = ()
    backlog_growth: float | None
    """Share of the generated messages by which the backlog at the sources grows."""
    because: str
    """The same in a sentence, with its numbers."""
    bottleneck: str
    """What gives way."""


class Utilization(Record):
    """A share of cycles with its 95 % interval."""

    __slots__ = ()
    half_width_95: float | None
    """The interval is the mean plus and minus this; `null` for a single replication."""
    mean: float
    """The mean over channels and replications."""


class SimulateDocument(Document):
    """The answer of `flitwise simulate --format json`."""

    __slots__ = ()
    channel_details: list[ChannelDetail] | None
    """Every channel by itself, if that was asked for."""
    channels: list[ChannelSimulation]
    """One entry per kind of channel."""
    classes: list[ClassSimulation]
    """One answer per class, in the order of the scenario."""
    flitwise_version: str
    """Version of flitwise that made it."""
    notes: list[str]
    """What one should know about this answer."""
    over_time: list[SimulateInterval] | None
    """The run interval by interval, class by class, if that was asked for."""
    run: Run
    """How it was run."""
    saturated: bool
    """Whether any class is saturated."""
    scenario: ScenarioSpec
    """The scenario asked about."""
    schema: str
    """`flitwise.simulate/2`."""
    sections: Record | None
    """What is known beside the quantities of classes, such as phases of a run of packet switches."""


class ConfidenceInterval(Record):
    """A simulated value with its 95 % interval."""

    __slots__ = ()
    lower_95: float | None
    """Lower end of the interval; `null` if it is not known."""
    upper_95: float | None
    """Upper end of the interval; `null` if it is not known."""
    value: float
    """The value."""


class Crossing(Record):
    """Where along an axis a model begins to miss by more than `share`: between two points, or from the first on.
    """

    __slots__ = ()
    after: float | None
    """The last value of the axis with less; `null` if the first has more already."""
    at: float
    """In between, by linear interpolation."""
    before: float
    """The first value with more."""
    percent: float
    """The miss that is passed [percent]."""


class Crossings(Record):
    """Where along the axis a model begins to miss a quantity by more than 5, 10 and 20 percent."""

    __slots__ = ()
    class_: str
    """Name of the class."""
    deadline_cycles: int | None
    """The deadline of a miss probability [cycles]."""
    found: list[Crossing]
    """Those that were found."""
    hops: int | None
    """Of a miss probability: the messages over so many network channels; left out: all messages."""
    key: str
    """What varies."""
    model: str
    """Which model."""
    quantity: str
    """The quantity."""


class Fares(Record):
    """How a model fares, over all rows of all points."""

    __slots__ = ()
    agree: int
    """Values within the interval of the simulated one."""
    beyond_tolerance: int
    """Values beyond both, and verdicts on saturation that differ."""
    close: int
    """Values beyond it that are within the tolerance."""
    model: str
    """Which model."""


class ComparePoint(Record):
    """One point."""

    __slots__ = ()
    failures: list[Silence]
    """Models without an answer here, and why."""
    notes: list[str]
    """What one should know about the answers."""
    rows: list[Row]
    """One row per class, quantity and model; of a model that refuses the scenario there are none."""
    run: Run
    """How it was simulated."""
    set: list[Setting]
    """The values set here, coupled ones included."""


class Row(Record):
    """One quantity of one class, from a model and from a simulation."""

    __slots__ = ()
    class_: str
    """Name of the class."""
    deadline_cycles: int | None
    """The deadline of a miss probability [cycles]."""
    difference: float | None
    """Model minus simulation [unit of the quantity]."""
    difference_half_widths: float | None
    """The same in half-widths of the interval, on the side where the model's value lies."""
    difference_percent: float | None
    """The same in percent, see the module."""
    hops: int | None
    """Of a miss probability: the messages over so many network channels; left out: all messages."""
    kind: str
    """How links treat it."""
    model: str
    """Which model."""
    model_saturated: bool
    """Whether the class is saturated in the model."""
    model_value: float | None
    """What the model says [unit of the quantity]."""
    quantity: str
    """The quantity."""
    simulated: ConfidenceInterval | None
    """What was simulated [unit of the quantity]."""
    simulation_saturated: bool
    """Whether it is in the simulation."""
    unit: str
    """Its unit; empty for a probability."""
    verdict: str
    """How they compare."""


class Silence(Record):
    """A model without an answer."""

    __slots__ = ()
    because: str
    """Why there is no answer."""
    model: str
    """Which model."""
    refused: bool
    """Whether the scenario holds something that the model has not; else no fixed point was found."""


class CompareDocument(Document):
    """The answer of `flitwise compare --format json`."""

    __slots__ = ()
    _rows: ClassVar[tuple[str, ...]] = ('points', 'rows')
    _repeated: ClassVar[tuple[str, ...]] = ()
    beyond_tolerance: int
    """Differences beyond it, at all points, of all models."""
    crossings: list[Crossings]
    """Along a single axis: where each model begins to miss by more."""
    flitwise_version: str
    """Version of flitwise that made it."""
    models: list[Fares]
    """The models compared, in the order of the rows, and how they fare; one that refuses every point is not here.
    """
    partial: bool
    """Whether it was interrupted; points that were not simulated are missing."""
    points: list[ComparePoint]
    """One per point of the grid, the last axis varying fastest; one without axes."""
    scenario: ScenarioSpec
    """The scenario before any value was changed."""
    schema: str
    """`flitwise.compare/3`."""
    tolerance: float
    """Difference that is still called close, as a share."""


class Fitted(Record):
    """What was found of an unknown number."""

    __slots__ = ()
    half_width_95: float | None
    """Half-width of its 95 % interval, as if the model were linear there; none where the numbers do not tell it.
    """
    high: float
    """Upper end of that range."""
    key: str
    """Its key."""
    low: float
    """Lower end of the range in which it was looked for."""
    value: float
    """The value at which the model is nearest to what was measured."""


class MeasuredRow(Record):
    """A measured number beside that of a model."""

    __slots__ = ()
    class_: str
    """Name of the class."""
    deadline_cycles: int | None
    """The deadline of a miss probability [cycles]."""
    difference: float | None
    """Model minus measured [unit]."""
    difference_percent: float | None
    """The same in percent of what was measured; of probabilities in percentage points."""
    half_width_95: float | None
    """Half-width of its 95 % interval, if that is known [unit]."""
    hops: int | None
    """Of a miss probability: the messages over so many network channels; left out: all messages."""
    measured: float
    """What was measured [unit]."""
    model: str
    """Which model."""
    model_saturated: bool
    """Whether the class is saturated in the model."""
    model_value: float | None
    """What the model says [unit]."""
    quantity: str
    """The quantity."""
    unit: str
    """Its unit; empty for a probability."""
    verdict: str
    """How they compare: without an interval a model is close at best."""


class AgainstDocument(Document):
    """The answer of `flitwise compare --against FILE --format json`."""

    __slots__ = ()
    _rows: ClassVar[tuple[str, ...]] = ('numbers',)
    _repeated: ClassVar[tuple[str, ...]] = ()
    against: str
    """The file of what was measured."""
    beyond_tolerance: int
    """Differences beyond it, of all models."""
    fitted: list[Fitted]
    """What was fitted, of several models by the usual one."""
    flitwise_version: str
    """Version of flitwise that made it."""
    notes: list[str]
    """What one should know about the answers."""
    numbers: list[MeasuredRow]
    """One row per number and model."""
    scenario: ScenarioSpec
    """The scenario, with what was fitted."""
    schema: str
    """`flitwise.against/1`."""
    tolerance: float
    """Difference that is still called close, as a share."""


class Binding(Record):
    """What stands in the way: the requirement that breaks first, and the part of the system it breaks by."""

    __slots__ = ()
    because: str
    """The same in a sentence."""
    blocking_cycles: float | None
    """Part of the latency there [cycles]."""
    channel: str
    """Where: a link, a buffer or a queue."""
    class_: str
    """The class it breaks for."""
    requirement: str
    """The requirement, as it would be typed."""
    sharing_cycles: float | None
    """Part of the latency there [cycles]."""
    term: str
    """The largest of the parts of the quantity that load adds."""
    transfer_cycles: float | None
    """Part of the latency there [cycles]."""
    waiting_cycles: float | None
    """At the source there [cycles]."""


class Check(Record):
    """How sure one can be of an optimum over ranges."""

    __slots__ = ()
    agreeing_starts: int
    """Those that ended within 0.1 % of the best."""
    improving_steps: int
    """Steps along single coordinates that still made it better after them."""
    is_local_optimum: bool
    """Whether in the end no such step, of 2 % or 0.2 % of the range, made it better by more than 0.01 %."""
    starts: int
    """Searches from different places."""


class Confirmation(Record):
    """A scenario that was simulated."""

    __slots__ = ()
    load_factor: float
    """1 at the answer; rates beyond it are those of the answer times this."""
    more_than_asked: bool
    """Whether the store had more than was asked for, which is used."""
    replications: int
    """Independent runs behind the numbers."""
    requirements: list[PlanVerdict]
    """One per requirement and class that it is about."""
    saturated: list[str]
    """Classes that are saturated."""


class FrontierPoint(Record):
    """A point of the frontier."""

    __slots__ = ()
    admissible: bool
    """Whether the requirements hold here; else they do not even with next to no load in this direction."""
    binding: Binding | None
    """What breaks beyond."""
    binding_requirement: int | None
    """Which requirement breaks beyond, by its number from 0; `null`: none up to the highest rate there can be."""
    evaluations: int
    """Scenarios solved."""
    from_x_rate: float
    """From which rate on, in this direction, the requirements hold: 0 unless one is broken at low load, too
    [messages/cycle/node].
    """
    from_y_rate: float
    """The same of the second axis [messages/cycle/node]."""
    x_rate: float
    """Rate of the class of the first axis [messages/cycle/node]."""
    y_rate: float
    """Rate of the class of the second axis [messages/cycle/node]."""


class Objective(Record):
    """A number to minimise or maximise."""

    __slots__ = ()
    class_: str | None
    """Which class; `null`: all that send."""
    deadline_cycles: int | None
    """The deadline of a miss probability [cycles]."""
    hops: int | None
    """Of a miss probability: the messages over so many network channels; left out: all messages."""
    over: str
    """How classes are put together."""
    quantity: str
    """The quantity."""


class Place(Record):
    """How a requirement stands at the answer."""

    __slots__ = ()
    class_: str | None
    """The class that it is worst for; `null`: no class that it is about sends anything."""
    distance: float | None
    """How far the value is from the limit, as a share of it; negative beyond it."""
    limit: float
    """Its limit."""
    reason: str | None
    """Why there is no value."""
    requirement: str
    """As it would be typed."""
    status: str
    """How it came out."""
    unit: str
    """`cycles`, or empty for a share."""
    value: float | None
    """Its value at the answer [cycles, or a share]."""


class Trial(Record):
    """One combination, in short."""

    __slots__ = ()
    feasible: bool
    """Whether all requirements hold."""
    nearest: str | None
    """The requirement that is farthest beyond, or nearest to its limit."""
    objective: float | None
    """The objective there; `null` if there is no such number."""
    set: list[Setting]
    """All values."""


class PlanVerdict(Record):
    """What a simulation says of a requirement."""

    __slots__ = ()
    class_: str
    """The class."""
    limit: float
    """The limit."""
    requirement: str
    """As it would be typed."""
    simulated: ConfidenceInterval | None
    """The simulated value with its 95 % interval; `null` if there is none."""
    unit: str
    """`cycles`, or empty for a share."""
    verdict: str
    """What follows."""


class MaxLoadDocument(Document):
    """The answer of `flitwise plan max-load --format json`."""

    __slots__ = ()
    _rows: ClassVar[tuple[str, ...]] = ('requirements',)
    _repeated: ClassVar[tuple[str, ...]] = ('model',)
    anchoring: Account | None
    """How the anchored model was anchored; other models leave it out."""
    binding: Binding | None
    """What breaks first; `null`: nothing up to the highest rates there can be."""
    broken_at_factor: float | None
    """The factor just beyond at which one is broken; `null`: the rates cannot grow further."""
    broken_at_lower_load: bool
    """Whether one was seen to be broken at a lower load."""
    confirmed: list[Confirmation] | None
    """The simulation's verdicts, if they were asked for."""
    evaluations: int
    """Scenarios solved by the model that answers."""
    factor: float | None
    """The largest factor on these rates at which all requirements hold; `null`: at none."""
    factor_interval_95: list[float | None] | None
    """Where the factor lies with a probability of 95 %, by the intervals of the anchored model; `null`: nowhere. Other
    models leave it out.
    """
    flitwise_version: str
    """Version of flitwise that made it."""
    guess_evaluations: int
    """Scenarios solved by the published model for a first guess."""
    model: str
    """Which model answers."""
    notes: list[str]
    """What one should know about this answer."""
    plan: str
    """`max-load`."""
    rates: Record | None
    """The rates of all classes there, by name [messages/cycle/node]; `null` if there is no such factor."""
    requirements: list[Place]
    """How each requirement stands at the answer, or with next to no load if there is none."""
    scaled: list[str]
    """Classes whose rates grow together."""
    scenario: ScenarioSpec
    """The scenario at factor 1."""
    schema: str
    """`flitwise.plan/3`."""
    several_crossings: bool
    """Whether all requirements were seen to hold again at a higher load."""
    streams: Record | None
    """The streams of frames at each node there, of classes that have any."""


class ChooseDocument(Document):
    """The answer of `flitwise plan choose --format json`."""

    __slots__ = ()
    _rows: ClassVar[tuple[str, ...]] = ('tried',)
    _repeated: ClassVar[tuple[str, ...]] = ('model',)
    advice: str
    """What to do: take the values, or keep the starting scenario."""
    anchoring: Account | None
    """How the anchored model was anchored; other models leave it out."""
    check: Check | None
    """How sure it is, if values were searched in ranges."""
    chosen: list[Setting]
    """The values to take; none if the starting scenario is as good."""
    confirmed: list[Confirmation] | None
    """The simulation's verdicts, if they were asked for."""
    evaluations: int
    """Scenarios solved."""
    feasible: bool
    """Whether the values keep all requirements; else they are those least beyond."""
    flitwise_version: str
    """Version of flitwise that made it."""
    maximise: bool
    """Whether it is maximised."""
    model: str
    """Which model answers."""
    moves_share: float | None
    """By how much the objective moves over all values that were tried and keep the requirements, and the starting
    scenario, as a share of it.
    """
    notes: list[str]
    """What one should know about this answer."""
    objective: Objective
    """What is minimised or maximised."""
    partial: bool
    """Whether it was interrupted: the best of the combinations that were tried, and of simulations those done."""
    plan: str
    """`choose`."""
    requirements: list[Place]
    """How each requirement stands at the best that was found."""
    scenario: ScenarioSpec
    """The scenario before any value was changed."""
    schema: str
    """`flitwise.plan/3`."""
    start_value: float | None
    """The objective of the starting scenario [cycles, or a share]; `null` if it breaks a requirement or has no such
    number.
    """
    tried: list[Trial]
    """The best of every combination of listed values, the last list varying fastest."""
    value: float | None
    """The best objective that was found [cycles, or a share]; `null` if there is no such number."""


class RegionDocument(Document):
    """The answer of `flitwise plan region --format json`."""

    __slots__ = ()
    _rows: ClassVar[tuple[str, ...]] = ('frontier',)
    _repeated: ClassVar[tuple[str, ...]] = ('model',)
    anchoring: Account | None
    """How the anchored model was anchored; other models leave it out."""
    axes: list[str]
    """The classes whose rates are the axes."""
    evaluations: int
    """Scenarios solved."""
    flitwise_version: str
    """Version of flitwise that made it."""
    frontier: list[FrontierPoint]
    """The frontier, from the first axis to the second."""
    model: str
    """Which model answers."""
    partial: bool
    """Whether it was interrupted, so that points are missing."""
    plan: str
    """`region`."""
    requirements: list[str]
    """The requirements, as they would be typed."""
    scenario: ScenarioSpec
    """The scenario; the rates of the axes are not used."""
    schema: str
    """`flitwise.plan/3`."""


class ClaimReport(Record):
    """A claim and what came of it."""

    __slots__ = ()
    by: str
    """Whose numbers are judged; of an agreement the model that the simulation is to agree with."""
    expected: str
    """What is expected to come out."""
    findings: list[Finding]
    """Everything that was compared."""
    measured: str
    """The numbers behind it, in a short sentence."""
    name: str
    """Its name in the registry."""
    negated: bool
    """Whether the claim is that this is not so."""
    reason: str | None
    """Why, where it is not expected to hold."""
    source: str
    """Who says so, and where."""
    text: str
    """The claim, in a sentence."""
    verdict: str
    """Whether it holds."""


class Finding(Record):
    """One comparison."""

    __slots__ = ()
    chance: float | None
    """How much of that the 95 % intervals allow to be chance [same unit]."""
    difference: float | None
    """How far they are apart [percent where there is a tolerance, else the unit of the quantity]; of `Kind::Value` how
    far within the bounds the value is, and beyond them if it is negative [unit of the claim].
    """
    other: ConfidenceInterval | None
    """What it is compared with; of `Kind::Agreement` the simulated one."""
    subject: str
    """What is compared."""
    value: ConfidenceInterval | None
    """The value in question, of `Kind::Value` in the unit of the claim; of `Kind::Agreement` that of the model; `null`
    if the class is saturated.
    """
    verdict: str
    """Whether this comparison, before any negation, is as claimed."""
    x: float | None
    """Value of the axis; `null` for a single scenario, or if the comparison is of whole curves."""


class Summary(Record):
    """How many there are of each."""

    __slots__ = ()
    changed: int
    """Claims, held or not, whose verdict is another than expected."""
    held: int
    """Claims that hold."""
    not_held: int
    """Claims that do not."""
    undecided: int
    """Claims of which one cannot tell."""


class VerifyDocument(Document):
    """The answer of `flitwise verify --format json`."""

    __slots__ = ()
    _rows: ClassVar[tuple[str, ...]] = ('claims',)
    _repeated: ClassVar[tuple[str, ...]] = ()
    claims: list[ClaimReport]
    """The claims, in the order of the registry."""
    flitwise_version: str
    """Version of flitwise that made it."""
    more_than_asked: int
    """Those that rest on more replications than were asked for: the store had them."""
    partial: bool
    """Whether it was interrupted; claims that were not simulated are missing."""
    schema: str
    """`flitwise.verify/1`."""
    seed: int
    """Where all random numbers come from."""
    simulations: int
    """Simulations behind the claims, one per claim and scenario."""
    summary: Summary
    """How many there are of each."""
    wanted_precision: float
    """Wanted 95 % half-width of the network latency of the worst class, as a share of it."""


class CaseEntry(Record):
    """A scenario."""

    __slots__ = ()
    family: str
    """Its family."""
    name: str
    """Family and number."""
    points: list[PointEntry]
    """At every load."""
    saturation: list[SaturationEntry]
    """Where each class saturates; empty where that is not judged."""
    saturation_factor: float | None
    """Multiple of that load at which the first class saturates."""
    scenario: str
    """As a scenario file (TOML), its load as drawn."""


class ClassEntry(Record):
    """A class at one point."""

    __slots__ = ()
    class_: str
    """Name of the class."""
    constant_frame_interval_deviation_percent: float | None
    """Simulated deviation of the intervals of frames of one length [percent of the interval]: it is not judged."""
    errors: list[ErrorOf]
    """Model minus simulation."""
    kind: str
    """How links treat it."""
    model: ModelEntry | None
    """What the model says; `null` if it has no answer."""
    simulated: SimulatedEntry
    """What the simulation says."""


class Curve(Record):
    """`P(network latency > d)` at every whole deadline `d`, from what a lone message takes to the first one that 99.9
    % of the messages keep.
    """

    __slots__ = ()
    first_cycle: int
    """The first deadline: what a lone message takes [cycles]."""
    half_width_95: list[float]
    """95 % half-widths of these; 0 where nothing is known of them."""
    messages: int
    """Messages behind it."""
    miss_probability: list[float]
    """Share of messages that take longer, for `first_cycle`, `first_cycle + 1`, .."""


class ErrorOf(Record):
    """An error and what it is made of."""

    __slots__ = ()
    deadline_cycles: int | None
    """The deadline of a miss probability [cycles]."""
    error: float | None
    """Model minus simulation [percent of the simulated; of a miss probability as it is]."""
    half_width_95: float | None
    """Its 95 % half-width."""
    hops: int | None
    """Of a miss probability: the messages over so many network channels; left out: all messages."""
    model: float | None
    """What the model says; `null` if it says nothing."""
    noise: float | None
    """The half-width in the unit of the error."""
    quantity: str
    """The quantity."""
    reason: str | None
    """Why there is no model's value."""
    simulated: float
    """What the simulation says."""


class HopsObservation(Record):
    """Messages of a class over one number of network channels."""

    __slots__ = ()
    accepted_rate_messages_per_cycle: Estimate | None
    """`λ'`: messages that get through, Eq. (4) [messages/cycle/node]."""
    arbitration_cycles: Estimate | None
    """The rest of the blocking, over all routers: the header from its request of an output buffer to the grant
    [cycles].
    """
    blocking_cycles: Estimate | None
    """Part of the network latency: messages of the same class in front; input and arbitration [cycles]."""
    blocking_length_flits: Estimate | None
    """`B̄`: mean length in front of a header; in a hypercube over the whole path [flits]."""
    blocking_probability: Estimate | None
    """Share of the generated messages that find the next stage full."""
    bus_cycles: Estimate | None
    """Part of the waiting: descriptor and message on the host bus of the sender [cycles]."""
    circuit_attempts: Estimate | None
    """Attempts to set up circuits, of all nodes together; `null` where circuits come and go."""
    circuit_drop_share: Estimate | None
    """Share of the attempts that are dropped."""
    circuit_load: Estimate | None
    """Load of an injection link by streams whose circuits stand, as a share of the link."""
    circuits_dropped: Estimate | None
    """Attempts that found a virtual channel taken, of all nodes together; `null` where circuits come and go."""
    circuits_established: Estimate | None
    """Circuits that stand at once, of all nodes together."""
    connection_set_up_cycles: Estimate | None
    """From the request of a connection that is admitted until its source may send [cycles]."""
    connections_held: Estimate | None
    """Connections that stand at once, of all nodes together."""
    cycles_per_flit: Estimate | None
    """`S̄`: mean cycles per flit on the output link, Eqs. (6), (9); in a hypercube (14)."""
    doorbell_cycles: Estimate | None
    """Part of the waiting: from the doorbell until the firmware hands the message over to the host bus [cycles].
    """
    end_to_end_latency_cycles: Estimate | None
    """From the generation of a message until it is in the memory of the receiver, over the host buses at either end:
    doorbell, bus, wire, network latency and receive [cycles].
    """
    frame_interval_autocorrelation: Estimate | None
    """Correlation of successive intervals of a stream."""
    frame_interval_cycles: Estimate | None
    """Time between deliveries of successive frames of a stream; a frame is delivered when all its messages are
    [cycles].
    """
    frame_interval_deviation_cycles: Estimate | None
    """Standard deviation of the intervals of all streams together [cycles]."""
    frame_interval_deviation_per_stream_cycles: Estimate | None
    """Standard deviation of the intervals of a stream, each about the mean of its own [cycles]."""
    frame_latency_cycles: Estimate | None
    """From the start of the interval of a frame to its delivery [cycles]."""
    gap_cycles: Estimate | None
    """The rest of the sharing: gaps among the flits that follow the header, by which the tail lags behind it beyond `M
    - 1` cycles [cycles].
    """
    hops: int
    """Network channels crossed."""
    input_cycles: Estimate | None
    """Part of the blocking, over all routers: the header in input buffers behind other messages of its class. A model
    that does not part the latency by place leaves it out, as the three that follow [cycles].
    """
    interface_time_cycles: Estimate | None
    """From the posting of a message until its tail is on the injection link, both counted [cycles]."""
    late_frames: Estimate | None
    """Share of the intervals that are longer than 1.05 times that of the source."""
    misses: Curve | None
    """How often which deadline is missed."""
    network_latency_cycles: Estimate | None
    """`L̄`: from the header's entry into the first router until the tail is through. Transfer, blocking and sharing
    make it up [cycles].
    """
    output_cycles: Estimate | None
    """Part of the sharing, over all routers: the header from the grant until it leaves over the link, beyond what a
    lone one takes [cycles].
    """
    posted_latency_cycles: Estimate | None
    """Queueing delay and network latency: the latency of papers that do not count the posting [cycles]."""
    posting_delay_cycles: Estimate | None
    """Part of the waiting: from the generation of a message until it is posted to the network interface, when there is
    room, a credit and energy for it [cycles].
    """
    power_deviation_pj_per_cycle: Estimate | None
    """Standard deviation of the power of windows of `power.window` cycles, of the whole network [pJ/cycle]."""
    power_pj_per_cycle: Estimate | None
    """Mean power of the whole network, whatever class its flits are of [pJ/cycle]."""
    power_violations: Estimate | None
    """Share of these windows whose power is above the budget."""
    preemptions_per_message: Estimate | None
    """How often a message gives way to one of a higher level after a part of it has crossed; each time costs two
    dummies.
    """
    queueing_delay_cycles: Estimate | None
    """The rest of the waiting: from then on until the header is in the first router [cycles]."""
    ratchet_missing_probability: Estimate | None
    """Share of the frames behind the first of a stream that miss a deadline which follows the latest frame: they come
    later in their intervals than all frames before them.
    """
    ratchet_missing_time_cycles: Estimate | None
    """Mean time by which frames miss it, if they do [cycles]."""
    receive_cycles: Estimate | None
    """From the tail's leaving the network until the message is in the memory of the receiver [cycles]."""
    rejected_share: Estimate | None
    """Share of the requests for connections that are refused."""
    router_load: Estimate | None
    """`L̄ λ'`: load of the router, Eq. (3); in a hypercube the largest of its channels; `null` in the refined model.
    """
    set_aside_queues: Estimate | None
    """Most queues that are set aside at a time in all ports together, for the packets of all classes."""
    set_up_delay_cycles: Estimate | None
    """From the first probe of a circuit that is set up to its acknowledgement, dropped attempts included [cycles].
    """
    set_up_probability: Estimate | None
    """Share of the circuits asked for that are set up."""
    sharing_cycles: Estimate | None
    """Part of the network latency: what sharing links with other classes adds; output and gaps [cycles]."""
    source_load: Estimate | None
    """`λ^g L̄`: load of the queue at the source; 1 and more is saturation."""
    throughput_bytes_per_ns: Estimate | None
    """Bytes of the class that are delivered per time, by all hosts together, from the end of the warm-up to that of
    the run; of a run without an end in the steady state [bytes/ns].
    """
    total_latency_cycles: Estimate | None
    """`L̄ + W̄`: network latency and waiting, Eq. (1) [cycles]."""
    transfer_cycles: Estimate | None
    """Part of the network latency: what a lone message takes, `P - 1 + P h + M`; pipeline stages and flits of the
    message itself [cycles].
    """
    utilization: Estimate | None
    """`λ' M`: load of a link by the class, flits per cycle: of the output link of a router, of injection and ejection
    link in a hypercube, whose network channels carry `h̄ / n` of that. `λ'` is the rate of the messages that the
    model lets through: all but blocked ones, which the published model drops, and all of them in the refined one. A
    class that is saturated keeps the load that the equations give it; where they give none, it is `null`.
    """
    waiting_cycles: Estimate | None
    """`W̄`: at the source, from the first cycle in which the message could be sent to the header's entry into the
    first router, Eq. (15); 1 if everything is idle; `null` for a class that was simulated to be saturated [cycles].
    """
    wire_cycles: Estimate | None
    """The rest of the waiting: in the queue of the network interface until the header is in the first router [cycles].
    """


class ModelEntry(Record):
    """What the model says of a class; cycles."""

    __slots__ = ()
    accepted_rate_messages_per_cycle: float | None
    """`λ'`: messages that get through, Eq. (4) [messages/cycle/node]."""
    arbitration_cycles: float | None
    """The rest of the blocking, over all routers: the header from its request of an output buffer to the grant
    [cycles].
    """
    blocking_cycles: float | None
    """Part of the network latency: messages of the same class in front; input and arbitration [cycles]."""
    blocking_length_flits: float | None
    """`B̄`: mean length in front of a header; in a hypercube over the whole path [flits]."""
    blocking_probability: float | None
    """Share of the generated messages that find the next stage full."""
    bus_cycles: float | None
    """Part of the waiting: descriptor and message on the host bus of the sender [cycles]."""
    circuit_attempts: float | None
    """Attempts to set up circuits, of all nodes together; `null` where circuits come and go."""
    circuit_drop_share: float | None
    """Share of the attempts that are dropped."""
    circuit_load: float | None
    """Load of an injection link by streams whose circuits stand, as a share of the link."""
    circuits_dropped: float | None
    """Attempts that found a virtual channel taken, of all nodes together; `null` where circuits come and go."""
    circuits_established: float | None
    """Circuits that stand at once, of all nodes together."""
    connection_set_up_cycles: float | None
    """From the request of a connection that is admitted until its source may send [cycles]."""
    connections_held: float | None
    """Connections that stand at once, of all nodes together."""
    cycles_per_flit: float | None
    """`S̄`: mean cycles per flit on the output link, Eqs. (6), (9); in a hypercube (14)."""
    doorbell_cycles: float | None
    """Part of the waiting: from the doorbell until the firmware hands the message over to the host bus [cycles].
    """
    end_to_end_latency_cycles: float | None
    """From the generation of a message until it is in the memory of the receiver, over the host buses at either end:
    doorbell, bus, wire, network latency and receive [cycles].
    """
    frame_interval_autocorrelation: float | None
    """Correlation of successive intervals of a stream."""
    frame_interval_cycles: float | None
    """Time between deliveries of successive frames of a stream; a frame is delivered when all its messages are
    [cycles].
    """
    frame_interval_deviation_cycles: float | None
    """Standard deviation of the intervals of all streams together [cycles]."""
    frame_interval_deviation_per_stream_cycles: float | None
    """Standard deviation of the intervals of a stream, each about the mean of its own [cycles]."""
    frame_latency_cycles: float | None
    """From the start of the interval of a frame to its delivery [cycles]."""
    gap_cycles: float | None
    """The rest of the sharing: gaps among the flits that follow the header, by which the tail lags behind it beyond `M
    - 1` cycles [cycles].
    """
    input_cycles: float | None
    """Part of the blocking, over all routers: the header in input buffers behind other messages of its class. A model
    that does not part the latency by place leaves it out, as the three that follow [cycles].
    """
    interface_time_cycles: float | None
    """From the posting of a message until its tail is on the injection link, both counted [cycles]."""
    late_frames: float | None
    """Share of the intervals that are longer than 1.05 times that of the source."""
    network_latency_cycles: float | None
    """`L̄`: from the header's entry into the first router until the tail is through. Transfer, blocking and sharing
    make it up [cycles].
    """
    output_cycles: float | None
    """Part of the sharing, over all routers: the header from the grant until it leaves over the link, beyond what a
    lone one takes [cycles].
    """
    posted_latency_cycles: float | None
    """Queueing delay and network latency: the latency of papers that do not count the posting [cycles]."""
    posting_delay_cycles: float | None
    """Part of the waiting: from the generation of a message until it is posted to the network interface, when there is
    room, a credit and energy for it [cycles].
    """
    power_deviation_pj_per_cycle: float | None
    """Standard deviation of the power of windows of `power.window` cycles, of the whole network [pJ/cycle]."""
    power_pj_per_cycle: float | None
    """Mean power of the whole network, whatever class its flits are of [pJ/cycle]."""
    power_violations: float | None
    """Share of these windows whose power is above the budget."""
    preemptions_per_message: float | None
    """How often a message gives way to one of a higher level after a part of it has crossed; each time costs two
    dummies.
    """
    queueing_delay_cycles: float | None
    """The rest of the waiting: from then on until the header is in the first router [cycles]."""
    ratchet_missing_probability: float | None
    """Share of the frames behind the first of a stream that miss a deadline which follows the latest frame: they come
    later in their intervals than all frames before them.
    """
    ratchet_missing_time_cycles: float | None
    """Mean time by which frames miss it, if they do [cycles]."""
    receive_cycles: float | None
    """From the tail's leaving the network until the message is in the memory of the receiver [cycles]."""
    rejected_share: float | None
    """Share of the requests for connections that are refused."""
    router_load: float | None
    """`L̄ λ'`: load of the router, Eq. (3); in a hypercube the largest of its channels; `null` in the refined model.
    """
    saturated: bool
    """Whether it takes the class to be saturated."""
    set_aside_queues: float | None
    """Most queues that are set aside at a time in all ports together, for the packets of all classes."""
    set_up_delay_cycles: float | None
    """From the first probe of a circuit that is set up to its acknowledgement, dropped attempts included [cycles].
    """
    set_up_probability: float | None
    """Share of the circuits asked for that are set up."""
    sharing_cycles: float | None
    """Part of the network latency: what sharing links with other classes adds; output and gaps [cycles]."""
    source_load: float | None
    """`λ^g L̄`: load of the queue at the source; 1 and more is saturation."""
    throughput_bytes_per_ns: float | None
    """Bytes of the class that are delivered per time, by all hosts together, from the end of the warm-up to that of
    the run; of a run without an end in the steady state [bytes/ns].
    """
    total_latency_cycles: float | None
    """`L̄ + W̄`: network latency and waiting, Eq. (1) [cycles]."""
    transfer_cycles: float | None
    """Part of the network latency: what a lone message takes, `P - 1 + P h + M`; pipeline stages and flits of the
    message itself [cycles].
    """
    utilization: float | None
    """`λ' M`: load of a link by the class, flits per cycle: of the output link of a router, of injection and ejection
    link in a hypercube, whose network channels carry `h̄ / n` of that. `λ'` is the rate of the messages that the
    model lets through: all but blocked ones, which the published model drops, and all of them in the refined one. A
    class that is saturated keeps the load that the equations give it; where they give none, it is `null`.
    """
    waiting_cycles: float | None
    """`W̄`: at the source, from the first cycle in which the message could be sent to the header's entry into the
    first router, Eq. (15); 1 if everything is idle; `null` for a class that was simulated to be saturated [cycles].
    """
    wire_cycles: float | None
    """The rest of the waiting: in the queue of the network interface until the header is in the first router [cycles].
    """


class PointEntry(Record):
    """A scenario at one load."""

    __slots__ = ()
    classes: list[ClassEntry]
    """By class."""
    factor: float
    """What the load of the scenario as drawn is multiplied by."""
    load: float
    """Share of the load at which the model has the first class saturate."""
    messages: int
    """Messages measured."""
    more_than_asked: bool
    """Whether the store had more than was asked for, which is used."""
    reached_precision: float | None
    """95 % half-width of the network latency of the worst class, as a share of it."""
    replications: int
    """Independent runs behind the numbers."""
    scenario: str
    """As a scenario file (TOML)."""
    simulation_seconds: float
    """Time spent in the simulation [s]."""


class AccuracyRow(Record):
    """Errors of one kind, taken together."""

    __slots__ = ()
    count: int
    """Errors known."""
    family: str
    """Family, or a group of networks: `all`, `all routers`, `all cubes`, `all meshes and tori`, `all trees and
    graphs`.
    """
    kind: str
    """Kind of the classes."""
    load: float | None
    """Share of the saturation load; `null`: all of them, or there is none."""
    mean: float | None
    """Mean of the absolute errors [percent; of a miss probability as it is]."""
    mean_cycles: float | None
    """Mean of the absolute differences of waiting [cycles]."""
    met: bool | None
    """Whether it is reached by what is known, and all is known; `null`: nothing is aimed at."""
    missing: int
    """Points where the model says nothing."""
    noise: float | None
    """Mean of the simulation's own half-widths [unit of the errors]."""
    quantity: str
    """What the errors are of."""
    target: Target | None
    """What is aimed at; `null`: nothing."""
    worst: float | None
    """The largest error, with its sign [same]."""
    worst_at: str | None
    """Where that is."""


class SaturationEntry(Record):
    """Where a class saturates."""

    __slots__ = ()
    class_: str
    """Name of the class."""
    deadline_cycles: int | None
    """The deadline of a miss probability [cycles]."""
    error: float | None
    """Model minus simulation [percent of the simulated; of a miss probability as it is]."""
    half_width_95: float | None
    """Its 95 % half-width."""
    hops: int | None
    """Of a miss probability: the messages over so many network channels; left out: all messages."""
    kind: str
    """How links treat it."""
    model: float | None
    """What the model says; `null` if it says nothing."""
    noise: float | None
    """The half-width in the unit of the error."""
    quantity: str
    """The quantity."""
    reason: str | None
    """Why there is no model's value."""
    simulated: float
    """What the simulation says."""


class SimulatedEntry(Record):
    """What the simulation says of a class; cycles."""

    __slots__ = ()
    accepted_rate_messages_per_cycle: Estimate | None
    """`λ'`: messages that get through, Eq. (4) [messages/cycle/node]."""
    arbitration_cycles: Estimate | None
    """The rest of the blocking, over all routers: the header from its request of an output buffer to the grant
    [cycles].
    """
    blocking_cycles: Estimate | None
    """Part of the network latency: messages of the same class in front; input and arbitration [cycles]."""
    blocking_length_flits: Estimate | None
    """`B̄`: mean length in front of a header; in a hypercube over the whole path [flits]."""
    blocking_probability: Estimate | None
    """Share of the generated messages that find the next stage full."""
    bus_cycles: Estimate | None
    """Part of the waiting: descriptor and message on the host bus of the sender [cycles]."""
    circuit_attempts: Estimate | None
    """Attempts to set up circuits, of all nodes together; `null` where circuits come and go."""
    circuit_drop_share: Estimate | None
    """Share of the attempts that are dropped."""
    circuit_load: Estimate | None
    """Load of an injection link by streams whose circuits stand, as a share of the link."""
    circuits_dropped: Estimate | None
    """Attempts that found a virtual channel taken, of all nodes together; `null` where circuits come and go."""
    circuits_established: Estimate | None
    """Circuits that stand at once, of all nodes together."""
    connection_set_up_cycles: Estimate | None
    """From the request of a connection that is admitted until its source may send [cycles]."""
    connections_held: Estimate | None
    """Connections that stand at once, of all nodes together."""
    cycles_per_flit: Estimate | None
    """`S̄`: mean cycles per flit on the output link, Eqs. (6), (9); in a hypercube (14)."""
    doorbell_cycles: Estimate | None
    """Part of the waiting: from the doorbell until the firmware hands the message over to the host bus [cycles].
    """
    end_to_end_latency_cycles: Estimate | None
    """From the generation of a message until it is in the memory of the receiver, over the host buses at either end:
    doorbell, bus, wire, network latency and receive [cycles].
    """
    frame_interval_autocorrelation: Estimate | None
    """Correlation of successive intervals of a stream."""
    frame_interval_cycles: Estimate | None
    """Time between deliveries of successive frames of a stream; a frame is delivered when all its messages are
    [cycles].
    """
    frame_interval_deviation_cycles: Estimate | None
    """Standard deviation of the intervals of all streams together [cycles]."""
    frame_interval_deviation_per_stream_cycles: Estimate | None
    """Standard deviation of the intervals of a stream, each about the mean of its own [cycles]."""
    frame_latency_cycles: Estimate | None
    """From the start of the interval of a frame to its delivery [cycles]."""
    gap_cycles: Estimate | None
    """The rest of the sharing: gaps among the flits that follow the header, by which the tail lags behind it beyond `M
    - 1` cycles [cycles].
    """
    hops: list[HopsObservation]
    """The same and more by number of network channels; empty for a single router."""
    input_cycles: Estimate | None
    """Part of the blocking, over all routers: the header in input buffers behind other messages of its class. A model
    that does not part the latency by place leaves it out, as the three that follow [cycles].
    """
    interface_time_cycles: Estimate | None
    """From the posting of a message until its tail is on the injection link, both counted [cycles]."""
    late_frames: Estimate | None
    """Share of the intervals that are longer than 1.05 times that of the source."""
    latency_percentiles_cycles: SimulatePercentiles
    """Percentiles of the network latency."""
    misses: Curve | None
    """Deadline missing probabilities of all messages."""
    network_latency_cycles: Estimate | None
    """`L̄`: from the header's entry into the first router until the tail is through. Transfer, blocking and sharing
    make it up [cycles].
    """
    network_latency_deviation_cycles: float | None
    """Standard deviation."""
    output_cycles: Estimate | None
    """Part of the sharing, over all routers: the header from the grant until it leaves over the link, beyond what a
    lone one takes [cycles].
    """
    posted_latency_cycles: Estimate | None
    """Queueing delay and network latency: the latency of papers that do not count the posting [cycles]."""
    posting_delay_cycles: Estimate | None
    """Part of the waiting: from the generation of a message until it is posted to the network interface, when there is
    room, a credit and energy for it [cycles].
    """
    power_deviation_pj_per_cycle: Estimate | None
    """Standard deviation of the power of windows of `power.window` cycles, of the whole network [pJ/cycle]."""
    power_pj_per_cycle: Estimate | None
    """Mean power of the whole network, whatever class its flits are of [pJ/cycle]."""
    power_violations: Estimate | None
    """Share of these windows whose power is above the budget."""
    preemptions_per_message: Estimate | None
    """How often a message gives way to one of a higher level after a part of it has crossed; each time costs two
    dummies.
    """
    queueing_delay_cycles: Estimate | None
    """The rest of the waiting: from then on until the header is in the first router [cycles]."""
    ratchet_missing_probability: Estimate | None
    """Share of the frames behind the first of a stream that miss a deadline which follows the latest frame: they come
    later in their intervals than all frames before them.
    """
    ratchet_missing_time_cycles: Estimate | None
    """Mean time by which frames miss it, if they do [cycles]."""
    receive_cycles: Estimate | None
    """From the tail's leaving the network until the message is in the memory of the receiver [cycles]."""
    rejected_share: Estimate | None
    """Share of the requests for connections that are refused."""
    router_load: Estimate | None
    """`L̄ λ'`: load of the router, Eq. (3); in a hypercube the largest of its channels; `null` in the refined model.
    """
    saturated: bool
    """Whether it found the class saturated."""
    set_aside_queues: Estimate | None
    """Most queues that are set aside at a time in all ports together, for the packets of all classes."""
    set_up_delay_cycles: Estimate | None
    """From the first probe of a circuit that is set up to its acknowledgement, dropped attempts included [cycles].
    """
    set_up_probability: Estimate | None
    """Share of the circuits asked for that are set up."""
    sharing_cycles: Estimate | None
    """Part of the network latency: what sharing links with other classes adds; output and gaps [cycles]."""
    source_load: Estimate | None
    """`λ^g L̄`: load of the queue at the source; 1 and more is saturation."""
    throughput_bytes_per_ns: Estimate | None
    """Bytes of the class that are delivered per time, by all hosts together, from the end of the warm-up to that of
    the run; of a run without an end in the steady state [bytes/ns].
    """
    total_latency_cycles: Estimate | None
    """`L̄ + W̄`: network latency and waiting, Eq. (1) [cycles]."""
    transfer_cycles: Estimate | None
    """Part of the network latency: what a lone message takes, `P - 1 + P h + M`; pipeline stages and flits of the
    message itself [cycles].
    """
    utilization: Estimate | None
    """`λ' M`: load of a link by the class, flits per cycle: of the output link of a router, of injection and ejection
    link in a hypercube, whose network channels carry `h̄ / n` of that. `λ'` is the rate of the messages that the
    model lets through: all but blocked ones, which the published model drops, and all of them in the refined one. A
    class that is saturated keeps the load that the equations give it; where they give none, it is `null`.
    """
    waiting_cycles: Estimate | None
    """`W̄`: at the source, from the first cycle in which the message could be sent to the header's entry into the
    first router, Eq. (15); 1 if everything is idle; `null` for a class that was simulated to be saturated [cycles].
    """
    waiting_deviation_cycles: float | None
    """Standard deviation."""
    wire_cycles: Estimate | None
    """The rest of the waiting: in the queue of the network interface until the header is in the first router [cycles].
    """


class Target(Record):
    """How far off a model may be."""

    __slots__ = ()
    mean: float
    """Mean of the absolute errors [unit of the errors]."""
    worst: float
    """The worst of them [unit of the errors]."""


class AccuracyDocument(Document):
    """The whole answer."""

    __slots__ = ()
    _rows: ClassVar[tuple[str, ...]] = ('summary',)
    _repeated: ClassVar[tuple[str, ...]] = ()
    cases: list[CaseEntry]
    """All scenarios."""
    flitwise_version: str
    """Version of flitwise that made it."""
    loads: list[float]
    """Shares of the load at which the model has the first class saturate."""
    max_flit_hops: float
    """Flits times crossbars of a point's measured messages at most."""
    model: str
    """The model that is judged."""
    partial: bool
    """Whether it was interrupted; what was not simulated is missing."""
    quantities: list[str]
    """What the model is judged by."""
    schema: str
    """`flitwise.accuracy/4`."""
    seed: int
    """Where the random numbers of all simulations come from."""
    set: str
    """Name of a registered set, or the file of the set."""
    set_seed: int
    """What the scenarios were drawn from."""
    summary: list[AccuracyRow]
    """Means and worst of errors, beside what is aimed at."""
    wanted_precision: float
    """Wanted 95 % half-width of the network latency of the worst class, as a share of it."""


class FamilyEntry(Record):
    """A family."""

    __slots__ = ()
    anchors: int
    """Anchors placed."""
    name: str
    """Its case and the number of its axes."""
    network_latency: AnchoredAccuracySummary
    """Errors of the network latency."""
    simulation_seconds: float
    """Time spent in their simulations [s]."""


class JudgedNumber(Record):
    """A number of a family judged by a fresh simulation."""

    __slots__ = ()
    anchored: float
    """Error of the anchored one."""
    axes: int
    """Number of its axes."""
    deadline_cycles: int | None
    """The deadline of a miss probability [cycles]."""
    family: str
    """Name of the family."""
    half_width: float
    """Half of its interval, in the same unit."""
    hops: int | None
    """Of a miss probability: the messages over so many network channels; left out: all messages."""
    kind: str
    """Kind of the class."""
    noise: float
    """That of the judging simulation."""
    published: float | None
    """Error of the published model: a share of the simulated number, or a difference of probabilities; none if it has
    no such number.
    """
    quantity: str
    """The quantity."""
    refined: float
    """Error of the refined model alone."""


class AnchoredAccuracyRow(Record):
    """Errors of a quantity."""

    __slots__ = ()
    anchored: list[float]
    """The same of the anchored one."""
    axes: int
    """Number of axes of the families."""
    count: int
    """Numbers judged."""
    coverage: float
    """Share of the numbers that are covered."""
    half_width: float
    """Mean half-width of its intervals."""
    kind: str
    """Kind of the classes."""
    published: list[float] | None
    """Mean and worst absolute error of the published model, where it has a number."""
    quantity: str
    """Which quantity."""
    refined: list[float]
    """Mean and worst absolute error of the refined model."""


class AnchoredAccuracySummary(Record):
    """Errors of a quantity over families."""

    __slots__ = ()
    anchored: list[float]
    """The same of the anchored one."""
    count: int
    """Numbers judged."""
    coverage: float
    """Share of the numbers that are covered."""
    half_width: float
    """Mean half-width of its intervals."""
    published: list[float] | None
    """Mean and worst absolute error of the published model, where it has a number."""
    refined: list[float]
    """Mean and worst absolute error of the refined model."""


class AnchoredAccuracyDocument(Document):
    """The whole answer."""

    __slots__ = ()
    _rows: ClassVar[tuple[str, ...]] = ('summary',)
    _repeated: ClassVar[tuple[str, ...]] = ()
    families: list[FamilyEntry]
    """All families."""
    flitwise_version: str
    """Version of flitwise that made it."""
    judged: list[JudgedNumber]
    """Every number that was judged."""
    partial: bool
    """Whether it was interrupted; families that were not judged are missing."""
    schema: str
    """`flitwise.anchored-accuracy/1`."""
    seed: int
    """Where the random numbers of anchors come from; the judging simulations have the next one."""
    set: str
    """Name of a registered set, or the file of the set."""
    set_seed: int
    """What the scenarios were drawn from."""
    summary: list[AnchoredAccuracyRow]
    """Errors and intervals, as shares or differences of probabilities."""
    wanted_precision: float
    """Wanted half-width of the 95 % interval of every network latency, as a share of it."""


class Axis(Record):
    """An axis."""

    __slots__ = ()
    label: str
    """What it stands for, without unit, such as `R1 load`."""
    logarithmic: bool
    """Whether it is logarithmic."""
    unit: str
    """Its unit, such as `messages/cycle/node`; empty for a probability."""


class Bar(Record):
    """A stacked bar."""

    __slots__ = ()
    interval_95: list[Any] | None
    """Lower and upper end of the 95 % interval of the whole, for simulations."""
    origin: str
    """Where its numbers come from."""
    parts: list[float | None]
    """Heights of the parts, from the bottom up; `None` where there is no such number."""
    saturated: bool
    """Whether the class is saturated: the bar has no upper end."""
    x: float
    """Where on the horizontal axis."""


class Chain(Record):
    """A Markov chain over the sets of classes that are present."""

    __slots__ = ()
    cycles_per_flit: list[list[float | None]]
    """By set and member: cycles per flit of the member in this set; `None` where it is not in it."""
    members: list[str]
    """What comes and goes, in the order of bits: class names."""
    probabilities: list[float]
    """By set as a bit mask (bit `i` is `members[i]`): stationary probability."""
    transitions: list[Transition]
    """All transitions."""


class Claim(Record):
    """What somebody says about a figure."""

    __slots__ = ()
    source: str
    """Who says so, and where."""
    text: str
    """The claim, in a sentence."""


class ClassLoad(Record):
    """What a class offers."""

    __slots__ = ()
    class_: str
    """Its name."""
    load_flits_per_cycle: float
    """Load of a node [flits/cycle]."""
    style: int
    """Its colour, that of `Series::style`."""


class CongestionTree(Record):
    """Ports of packet switches at chosen times."""

    __slots__ = ()
    held: Axis
    """What the colours stand for."""
    hot: list[int]
    """Lines to which traffic goes that begins late: hot hosts."""
    most: float
    """Where the colours end: at the most that any port holds at any of the times."""
    panels: list[TreePanel]
    """One for each variant and time."""
    sets_aside: bool
    """Whether queues are set aside at any of the times."""
    times: int
    """Panels side by side: one for each time."""


class Course(Record):
    """Numbers over time and the mix below them."""

    __slots__ = ()
    mix: list[MixPhase]
    """What is offered, phase by phase."""
    panels: list[Lines]
    """A panel each, from top to bottom; their horizontal axis is the time."""


class DiagramLink(Record):
    """Links from a switch to another."""

    __slots__ = ()
    channel: str
    """What they are for: `link`, or `up` or `down` with the lower level."""
    from_: int
    """Number of the switch where they start."""
    load: float
    """Load of the most loaded one."""
    parallel: int
    """How many there are."""
    simulated: SimulatedLoad | None
    """Load of the same one as it was simulated, of links of which one is chosen the mean; `null` where nothing was.
    """
    to: int
    """Number of the one where they end."""


class DiagramNode(Record):
    """A node."""

    __slots__ = ()
    load: float
    """Load of its ejection link."""
    name: str
    """Its name, or its number as people write it."""
    simulated: SimulatedLoad | None
    """The same as it was simulated; `null` where nothing was."""


class DiagramRow(Record):
    """A row of switches, such as a level of a tree."""

    __slots__ = ()
    name: str
    """Its name; empty of the only row."""
    switches: int
    """Switches in it."""
    y: float
    """Its height above the lowest place, as a share of the layout's."""


class DiagramSwitch(Record):
    """A switch and its nodes."""

    __slots__ = ()
    name: str
    """Its name, or its number as people write it."""
    nodes: list[DiagramNode]
    """Nodes to which ejection links lead from it."""
    outward: list[Any]
    """Direction in which its nodes stand: to the right and up, of length 1."""
    place: list[Any]
    """Its place, as shares of the layout's width and height from the lower left."""


class ErrorSeries(Record):
    """How far a model is off, in percent of the simulation (or in percentage points, see the axis)."""

    __slots__ = ()
    label: str
    """As in `Series`, but with the panel."""
    origin: str
    """Which model it is of."""
    points: list[FigurePoint]
    """Difference in percent, with the interval that the simulation leaves."""
    style: int
    """As in `Series`."""
    variant: int
    """As in `Series`."""


class Frontier(Record):
    """A point of a frontier."""

    __slots__ = ()
    from_: list[Any]
    """From where on, on the way from the origin: the origin itself, unless a limit is broken there, too; a frontier
    that is no further than this has nothing admissible on its way.
    """
    limit: int | None
    """Which limit is reached, by its number from 0; `None`: none."""
    x: float
    """Where on the horizontal axis."""
    y: float
    """Where on the vertical axis."""


class HeatCell(Record):
    """One cell of a map."""

    __slots__ = ()
    half_width_95: float | None
    """Half-width of its 95 % interval, for simulations."""
    saturated: bool
    """Whether the class is saturated there."""
    z: float | None
    """The quantity; `None` if there is no such number."""


class HeatMap(Record):
    """A quantity over two axes."""

    __slots__ = ()
    panels: list[HeatPanel]
    """Side by side, with one scale of colours."""
    x: Axis
    """The horizontal axis."""
    xs: list[float]
    """Columns."""
    y: Axis
    """The vertical axis."""
    ys: list[float]
    """Rows."""
    z: Axis
    """What the colours stand for."""


class HeatPanel(Record):
    """One map."""

    __slots__ = ()
    cells: list[list[HeatCell]]
    """`cells[row][column]`."""
    label: str
    """What stands above it."""
    origin: str
    """Where its numbers come from."""


class Lines(Record):
    """Curves and points."""

    __slots__ = ()
    errors: list[ErrorSeries]
    """Model minus simulation, drawn below the main panel; empty: no such panel."""
    panels: list[str]
    """What stands above each of several panels with the same axes; empty: there is one panel, without a heading.
    """
    series: list[Series]
    """One per class, variant and origin."""
    x: Axis
    """The horizontal axis."""
    y: Axis
    """The vertical axis."""
    y_range: list[Any] | None
    """From where to where the vertical axis is drawn; `None`: as the points need."""


class Mark(Record):
    """A point with a name."""

    __slots__ = ()
    label: str
    """What the legend says."""
    x: float
    """Where on the horizontal axis."""
    y: float
    """Where on the vertical axis."""


class MixPhase(Record):
    """What is offered in a phase."""

    __slots__ = ()
    begins: float
    """When it begins, on the horizontal axis."""
    ends: float
    """When it ends."""
    loads: list[ClassLoad]
    """Class by class."""


class NetworkDiagram(Record):
    """Loads of all links of a network, its switches where a layout puts them."""

    __slots__ = ()
    height: float
    """Height of the layout as a share of its width."""
    links: list[DiagramLink]
    """Links from switch to switch, those between the same two once for each way."""
    load: Axis
    """What the colours stand for."""
    origin: str
    """Where loads are from that are not simulated: `exact`, or a model."""
    rows: list[DiagramRow]
    """Rows of switches, from below; empty where they stand in none."""
    switches: list[DiagramSwitch]
    """By number."""


class NetworkLink(Record):
    """A link from router to router."""

    __slots__ = ()
    from_: list[Any]
    """Column and row of the router where it starts."""
    load: float
    """Its load."""
    simulated: SimulatedLoad | None
    """The same as it was simulated; `null` where nothing was."""
    to: list[Any]
    """Column and row of the one where it ends."""
    wraps: bool
    """Whether it joins the ends of a line to a ring."""


class NetworkMap(Record):
    """Loads of all links of a network whose routers have coordinates."""

    __slots__ = ()
    columns: int
    """Routers from left to right, along dimension 0."""
    load: Axis
    """What the colours stand for."""
    origin: str
    """Where loads are from that are not simulated: `exact`, or a model."""
    panels: list[NetworkPanel]
    """A plane of routers each, by their coordinates in other dimensions."""
    rows: int
    """Routers from the bottom up, along dimension 1."""


class NetworkPanel(Record):
    """The routers of a plane and the links between them."""

    __slots__ = ()
    label: str
    """What stands above it; empty of the only plane."""
    links: list[NetworkLink]
    """Links within the plane; parallel ones once."""
    routers: list[float]
    """By router, row by row: the load of its most loaded ejection link."""
    simulated_routers: list[SimulatedLoad]
    """The same links as they were simulated; empty where nothing was."""


class Pipeline(Record):
    """Stages of the flits of the first messages of a run."""

    __slots__ = ()
    panels: list[PipelinePanel]
    """One for each message, in the order in which they entered the network."""
    stages: int
    """Stages of a router."""
    times: list[int]
    """Cycles of its moments."""
    until: int | None
    """The last cycle that is drawn; `null`: the last in which anything moves."""


class PipelinePanel(Record):
    """A message and its flits."""

    __slots__ = ()
    delivered: int | None
    """When its tail has left the network; `null` if it has not."""
    first: int
    """The cycle of the first column."""
    flits: list[str]
    """By flit, by column: `i` over the injection link, the number of a stage (a letter from 10 on), `.` waits in an
    input buffer, `:` waits in an output buffer, a space: nothing.
    """
    label: str
    """Its class, whence it comes and where it goes."""
    network_latency: int | None
    """From entering the network to that [cycles]."""
    waiting: int | None
    """At its source [cycles]."""


class FigurePoint(Record):
    """A point of a series."""

    __slots__ = ()
    lower_95: float | None
    """Lower end of the 95 % interval, for simulations and the anchored model."""
    saturated: bool
    """Whether the class is saturated there."""
    upper_95: float | None
    """Upper end of the 95 % interval."""
    x: float
    """Where on the horizontal axis."""
    y: float | None
    """Where on the vertical axis; `None` if there is no such number."""


class PointRun(Record):
    """How one point was simulated."""

    __slots__ = ()
    messages: int
    """Messages measured."""
    more_than_asked: bool
    """Whether the store had more than was asked for, which is used."""
    reached_precision: float | None
    """The half-width reached, as a share of the mean."""
    replications: int
    """Independent runs behind the numbers."""
    stopped_by: str
    """What made it stop."""
    warmup_cycles: int
    """Cycles left out at the start of each replication."""


class Region(Record):
    """Which points of a plane are admissible: those from the origin up to a frontier."""

    __slots__ = ()
    frontier: list[Frontier]
    """The frontier, from the horizontal axis to the vertical one."""
    limit_styles: list[int]
    """Which colour each limit has: that of the class which it is about."""
    limits: list[str]
    """What may limit it."""
    mark: Mark | None
    """A point to show beside it."""
    origin: str
    """Where the frontier comes from."""
    x: Axis
    """The horizontal axis."""
    y: Axis
    """The vertical axis."""


class Series(Record):
    """One curve, or points with intervals."""

    __slots__ = ()
    label: str
    """What the legend says, such as `R1`, or `R1, b = 16`; without the origin and, if there are panels, without the
    panel.
    """
    origin: str
    """Where its numbers come from."""
    panel: int
    """In which of the panels it is drawn, from 0."""
    points: list[FigurePoint]
    """Its points, in the order of `x`."""
    saturated_from: float | None
    """Where the class saturates: the first `x` found saturated, `None` if none was."""
    style: int
    """Which colour and marker it has: the same for the model and the simulation of one thing, and of a class the one
    of `class_styles`.
    """
    variant: int
    """Which shade of it, or dash: several variants of one thing; 0 for the first or only one."""


class SimulatedLoad(Record):
    """A load as it was simulated; of parallel links the mean."""

    __slots__ = ()
    half_width_95: float | None
    """Half-width of its 95 % interval; `null` if too little was measured. Of parallel links the mean of their half-
    widths, an upper bound.
    """
    load: float
    """The load."""


class SimulationAccount(Record):
    """How the points of a figure were simulated."""

    __slots__ = ()
    max_messages: int
    """Messages measured at a point after which to stop anyway."""
    points: list[PointRun]
    """One per point, in the order of the drawing."""
    seed: int
    """Where all random numbers come from."""
    wanted_precision: float
    """Wanted 95 % half-width of the network latency of the worst class, as a share of it."""


class Stacked(Record):
    """Stacked bars: panels side by side."""

    __slots__ = ()
    kinds: list[str]
    """Which parts they are, which decides their colours."""
    panels: list[StackedPanel]
    """One per class."""
    parts: list[str]
    """Names of the parts, from the bottom up."""
    x: Axis
    """The horizontal axis."""
    y: Axis
    """The vertical axis."""


class StackedPanel(Record):
    """The bars of one class."""

    __slots__ = ()
    bars: list[Bar]
    """Bars in the order of `x`; at one `x` one per origin, side by side."""
    label: str
    """What stands above it."""


class StampRow(Record):
    """A virtual channel of the link."""

    __slots__ = ()
    flits: list[StampedFlit]
    """In the order in which they come."""
    label: str
    """Its class, and of several virtual channels which."""
    style: int
    """The style of its class."""
    vtick: float | None
    """Its Vtick [cycles/flit]; `null` of best effort, whose flits go when no stamp waits."""


class StampedFlit(Record):
    """A flit in the output buffer."""

    __slots__ = ()
    flit: int
    """Its place in the message, 1 for the header."""
    joined: int
    """The cycle in which it comes out of the crossbar: the link can take it in the next."""
    message: int
    """Messages that entered the network before its own."""
    sent: int | None
    """The cycle in which the link takes it; `null` if it had not when the record ended."""
    stamp: float
    """Its stamp."""


class Stamps(Record):
    """Flits before an output link of a router."""

    __slots__ = ()
    first: int
    """The first cycle and the last one."""
    last: int
    """See there."""
    port: int
    """The output port."""
    rows: list[StampRow]
    """One for each virtual channel."""
    times: list[int]
    """Cycles of its moments."""
    until: int | None
    """The last cycle that is drawn."""


class Timeline(Record):
    """Deliveries of frames, stream by stream."""

    __slots__ = ()
    end: float
    """How far the axis goes."""
    late: float
    """An interval above which a frame is late [unit of the axis]."""
    panels: list[TimelinePanel]
    """One for each variant."""
    x: Axis
    """Time since the first frame of a row."""


class TimelinePanel(Record):
    """Streams of a node in one run."""

    __slots__ = ()
    label: str
    """The variant of the scenario; empty of the only one."""
    streams: list[list[float]]
    """By stream, from top to bottom: when its frames are delivered, the first one at 0."""


class Tornado(Record):
    """Bars to either side of zero, one below the other."""

    __slots__ = ()
    less: str
    """What makes bars of one colour."""
    marks: list[str]
    """What marks in the names of bars mean."""
    more: str
    """What makes those of the other."""
    panels: list[TornadoPanel]
    """One below the other, with one scale."""
    x: Axis
    """What the length of a bar stands for."""


class TornadoBar(Record):
    """What one parameter does to the number."""

    __slots__ = ()
    label: str
    """The parameter."""
    less: float | None
    """What less of it does; `None` if there is no such number."""
    more: float | None
    """What more of it does."""


class TornadoPanel(Record):
    """The bars of one number."""

    __slots__ = ()
    bars: list[TornadoBar]
    """From the top down."""
    label: str
    """What stands above it."""


class Transition(Record):
    """A transition of a chain."""

    __slots__ = ()
    from_: int
    """From this set."""
    rate_per_cycle: float
    """At this rate [1/cycle]."""
    to: int
    """To this set."""


class TreeColumn(Record):
    """Ports in the order of their lines."""

    __slots__ = ()
    held: list[float]
    """What each holds."""
    name: str
    """What the ports are, such as `stage 0, egress`."""
    next: list[int]
    """The line of the next column to which the link of each leads; empty where there is none."""
    set_aside: list[int]
    """Queues that are set aside there."""


class TreePanel(Record):
    """A network at a time of one run."""

    __slots__ = ()
    columns: list[TreeColumn]
    """From left to right: injection ports of hosts, then ingress and egress of each stage."""
    label: str
    """What stands above it."""
    time_us: float
    """When [us]."""
    variant: str
    """The variant of the scenario; empty of the only one."""


class Worm(Record):
    """A message under way."""

    __slots__ = ()
    asks: list[Any] | None
    """The output buffer that its blocked header asks for: router, output port and virtual channel."""
    at_source: int
    """Flits that are still at the source, and those that have left the network."""
    blocked_by: list[str]
    """Letters of the messages that its header waits for; empty if it is not blocked."""
    delivered: int
    """See there."""
    label: str
    """Its class, whence it comes and where it goes."""
    letter: str
    """The same in all panels."""
    pieces: list[WormPiece]
    """What it takes, from its foremost flit in the network to the last."""
    style: int
    """Which colour it has."""


class WormLink(Record):
    """A link from router to router."""

    __slots__ = ()
    from_: list[Any]
    """Router and output port where it starts."""
    to: list[Any]
    """Router and input port where it ends."""


class WormPiece(Record):
    """What a message takes of a buffer or link."""

    __slots__ = ()
    behind: int
    """Flits of other messages before its own."""
    channel: str
    """Which buffer or link."""
    flits: int
    """Flits of the message; 0 where it holds the channel and has no flit there."""
    has_header: bool
    """Whether its header is among them."""
    lane: int
    """The virtual channel."""
    port: int
    """The port there."""
    router: int
    """The router that it belongs to."""


class Worms(Record):
    """Messages under way at chosen cycles."""

    __slots__ = ()
    buffer_flits: int
    """Slots of the input and output buffer of a virtual channel."""
    columns: int
    """Routers from left to right; 1 by 1: a single router, whose ports are drawn."""
    lanes: int
    """Virtual channels of a link."""
    links: list[WormLink]
    """Links between routers."""
    panels: list[WormsPanel]
    """One for each cycle."""
    ports: int
    """Ports of a router."""
    rows: int
    """Routers from the bottom up."""


class WormsPanel(Record):
    """The messages whose headers have left their sources, and their tails not the network, at the end of a cycle.
    """

    __slots__ = ()
    cycle: int
    """The cycle."""
    worms: list[Worm]
    """In the order in which they entered the network."""


class FigureDocument(Document):
    """The numbers of a figure, as `flitwise figure` writes them."""

    __slots__ = ()
    _rows: ClassVar[tuple[str, ...]] = ('claims',)
    _repeated: ClassVar[tuple[str, ...]] = ()
    claims: list[Claim]
    """What somebody says about it."""
    flitwise_version: str
    """Version of flitwise that made it."""
    name: str
    """Stem of its files, such as `fig04a`."""
    notes: list[str]
    """What one should know when looking at it."""
    rebuild: str
    """The command that makes it again."""
    scenario: ScenarioSpec
    """What the figure's scenarios vary from."""
    schema: str
    """`flitwise.figure/1`."""
    simulation: SimulationAccount | None
    """How it was simulated; `null` if it was not."""
    subtitle: str
    """The system, in a few words: network, what is kept fixed."""
    title: str
    """What it shows, in one line."""


class ExplainBar(Record):
    """Where the cycles of a message go."""

    __slots__ = ()
    class_: str
    parts: list[BarPart]


class BarPart(Record):
    """One part of a bar."""

    __slots__ = ()
    cycles: float
    part: str


class Chain2(Record):
    """The Markov chain of a link."""

    __slots__ = ()
    chain: Chain
    link: str
    """Which link."""


class Instance(Record):
    """An equation with the numbers of one class, channel or state put in."""

    __slots__ = ()
    of: Notations | None
    """Left side."""
    substituted: Notations
    """Right side with numbers put in, to six digits; long sums lack terms in the middle."""
    symbols: list[Substitution]
    """The numbers put in, in full."""
    unit: str
    """Its unit; empty for none."""
    value: float | None
    """What the solver has for the left side; `null` if there is no such number."""


class Notations(Record):
    """A formula in two notations."""

    __slots__ = ()
    latex: str
    """For LaTeX in math mode."""
    text: str
    """In one line."""


class Section(Record):
    """A section and its head."""

    __slots__ = ()
    parts: list[Record | Step | Table | ExplainBar | Chain2]
    title: str


class Step(Record):
    """One equation, and what it comes to here."""

    __slots__ = ()
    equation: str
    """Its number in the paper, or where else it is from."""
    formula: Notations
    instances: list[Instance]
    reason: str
    """Why it holds, in a sentence."""


class Substitution(Record):
    """A symbol and its number."""

    __slots__ = ()
    number: float
    symbol: str
    """The symbol as written in formulas."""
    term: list[Any] | None
    """For a term of a sum: over which index, and the how manyth, from 0."""


class Table(Record):
    """A table of text and numbers."""

    __slots__ = ()
    heads: list[str]
    rows: list[list[float | None | str]]


class ExplainDocument(Document):
    """The explanation of `flitwise explain --format json`."""

    __slots__ = ()
    _rows: ClassVar[tuple[str, ...]] = ('sections',)
    _repeated: ClassVar[tuple[str, ...]] = ()
    flitwise_version: str
    """Version of flitwise that made it."""
    model: str
    """Which model is explained."""
    outcome: str
    """How it ended."""
    scenario: ScenarioSpec
    """The scenario asked about."""
    schema: str
    """`flitwise.explain/1`."""
    sections: list[Section]
    """Sections, in the order in which they are to be read."""


class CustomersAnswer(Record):
    """A station's answer for one class of customers. What a saturated class has no steady value of is null."""

    __slots__ = ()
    arrival_rate_per_cycle: float
    """`λ`, let in or not."""
    blocking_probability: float
    """Probability that an arrival is turned away."""
    load: float
    """Share of the servers' time that it asks for, with all that goes before it; one or more is saturated wherever all
    are let in.
    """
    mean_number_in_system: float | None
    """Mean number of those who wait or are served."""
    mean_number_waiting: float | None
    """Mean number of those who wait."""
    mean_response_cycles: float | None
    """Mean response of those let in: wait and service."""
    mean_service_cycles: float
    """`E[S]`."""
    mean_wait_before_service_cycles: float | None
    """Mean wait until service begins, where it is interrupted later; else null."""
    mean_wait_cycles: float | None
    """Mean wait of those let in: the response without the service."""
    name: str
    """Its name; `all` where there are no classes."""
    saturated: bool
    """Whether its queue grows without bound."""
    service_scv: float | None
    """Squared coefficient of variation of the service; null where it does not matter."""
    tail: list[TailAnswer]
    """The distributions at the times asked about."""
    throughput_per_cycle: float | None
    """What is served per cycle."""
    utilization: float | None
    """Share of each server's time that it gets; null where classes that share are saturated."""
    wait_probability: float | None
    """Probability that one let in has to wait; null where no closed form is known."""
    wait_standard_deviation_cycles: float | None
    """Standard deviation of the wait; null where no closed form is known, or the third moment is not."""
    weight: float | None
    """Its weight, where customers share by weights."""


class StationPoint(Record):
    """The answer at one point."""

    __slots__ = ()
    all_busy_probability: float
    """Share of the time in which all servers are busy."""
    classes: list[CustomersAnswer]
    """One answer per class, in the order of the question; one named `all` where there are no classes."""
    load: float
    """Share of the servers' time that all who come ask for: arrival rate times mean service, by the number of servers.
    """
    notes: list[str]
    """Saturated classes, with the load that does it."""
    parameters: Record
    """What it was asked about as a whole; what concerns a class stands with the class."""
    saturated: bool
    """Whether any class is saturated."""
    set: list[Setting]
    """The values set here, in the order of the axes; none without axes."""
    values: Record | None
    """What only this station answers, by name with its unit."""


class TailAnswer(Record):
    """Probabilities that wait and response take longer than a time."""

    __slots__ = ()
    response_exceeds_probability: float | None
    """Probability that the response takes longer; null if saturated."""
    time_cycles: float
    """The time."""
    wait_exceeds_probability: float | None
    """Probability that the wait takes longer; null if saturated."""


class StationDocument(Document):
    """The answer of `flitwise station --format json`."""

    __slots__ = ()
    _rows: ClassVar[tuple[str, ...]] = ('points',)
    _repeated: ClassVar[tuple[str, ...]] = ()
    flitwise_version: str
    """Version of flitwise that made it."""
    name: str
    """What it is, in a few words."""
    points: list[StationPoint]
    """One answer, or one per point of the axes, the last axis varying fastest."""
    schema: str
    """`flitwise.station/1`."""
    station: str
    """Which station."""


class PresetDocument(Document):
    """The answer of `flitwise presets show --format json`."""

    __slots__ = ()
    about: str
    """What it is, in one line."""
    flitwise_version: str
    """Version of flitwise that made it."""
    name: str
    """Its name."""
    scenario: ScenarioSpec
    """All of its values; `source` has the documents and ranges of those that have one."""
    schema: str
    """`flitwise.preset/1`."""


class Block(Record):
    """What can be simulated independently of all else."""

    __slots__ = ()
    asked_by: list[str]
    """Who asks."""
    goals: list[BlockGoal]
    """What is asked of it, one after another."""
    key: str
    """Hash of its key in the store, 64 hex digits."""
    number: int
    """From 1."""
    organisation: str
    """How the switches work."""
    replications: int
    """Independent runs at first, of packet switches at most; a finer precision adds more."""
    scenario: str
    """Name of the scenario."""
    seed: int
    """Where all random numbers come from."""
    set: list[Setting]
    """Values that a study sets, coupled ones included."""


class BlockGoal(Record):
    """What decides when a simulation ends."""

    __slots__ = ()
    max_messages: int
    """Messages measured after which to stop anyway."""
    wanted_precision: float
    """Wanted 95 % half-width of the network latency of the worst class, as a share of it."""


class CampaignPlanDocument(Document):
    """The answer of `flitwise campaign plan --format json`."""

    __slots__ = ()
    _rows: ClassVar[tuple[str, ...]] = ('blocks',)
    _repeated: ClassVar[tuple[str, ...]] = ()
    blocks: list[Block]
    """In the order in which one machine would come to them."""
    fingerprint: str
    """Hash of all blocks and what they are to do, 64 hex digits."""
    flitwise_version: str
    """Version of flitwise that made it."""
    not_kept: list[str]
    """Figures of channels in detail, which no store keeps: whoever writes the outputs simulates them."""
    schema: str
    """`flitwise.campaign-plan/1`."""


class BlockDetail(Record):
    """Where a block stands that is neither done nor left."""

    __slots__ = ()
    block: int
    """Its number in the plan, from 1."""
    host: str | None
    """Machine of the process, if it is known."""
    process: int | None
    """Number of the process there."""
    reason: str | None
    """Why it failed."""
    running_seconds: float | None
    """Time since the process took it, if it is at work [s]."""
    scenario: str
    """Name of the scenario."""
    state: str
    """`running`, `lost` or `failed`."""


class CampaignStatusDocument(Document):
    """The answer of `flitwise campaign status --format json`."""

    __slots__ = ()
    _rows: ClassVar[tuple[str, ...]] = ('details',)
    _repeated: ClassVar[tuple[str, ...]] = ()
    blocks: int
    """Blocks of the campaign."""
    details: list[BlockDetail]
    """Blocks under way, lost and failed, in the order of the plan."""
    done: int
    """Blocks that are done."""
    done_messages: int
    """Messages behind the answers of blocks that are done."""
    done_seconds: float
    """Time that the blocks that are done took, together [s]."""
    failed: int
    """Blocks that cannot be done."""
    flitwise_version: str
    """Version of flitwise that made it."""
    left: int
    """Blocks that nobody is at work on."""
    left_seconds: float | None
    """Time until all is done, by the time of blocks that are done and the processes at work [s]; `null` if there are
    none of either.
    """
    lost: int
    """Blocks whose process is dead or silent; the next process takes them over."""
    processes: int
    """Processes at work, as far as can be seen."""
    running: int
    """Blocks that processes are at work on."""
    schema: str
    """`flitwise.campaign-status/1`."""


class Simulation(Record):
    """A simulation's answer to a scenario."""

    __slots__ = ()
    channel_details: list[ChannelDetail] | None
    """Every channel by itself, if that was asked for."""
    channels: list[ChannelSimulation]
    """One entry per kind of channel."""
    classes: list[ClassSimulation]
    """One answer per class, in the order of the scenario."""
    notes: list[str]
    """What one should know about this answer."""
    over_time: list[SimulateInterval] | None
    """The run interval by interval, class by class, if that was asked for."""
    run: Run
    """How it was run."""
    saturated: bool
    """Whether any class is saturated."""
    scenario: ScenarioSpec
    """The scenario asked about."""
    sections: Record | None
    """What is known beside the quantities of classes, such as phases of a run of packet switches."""


class StudyRow(Record):
    """A point of a study."""

    __slots__ = ()
    set: list[Setting]
    """The values set here, coupled ones included."""
    simulation: Simulation
    """What was simulated. Times and threads are 0: they are those of many machines."""


class StudyDocument(Document):
    """The numbers of a study, as `flitwise campaign run` writes them."""

    __slots__ = ()
    _rows: ClassVar[tuple[str, ...]] = ('points', 'simulation', 'classes')
    _repeated: ClassVar[tuple[str, ...]] = ()
    flitwise_version: str
    """Version of flitwise that made it."""
    name: str
    """What the campaign file calls it."""
    points: list[StudyRow]
    """One per point of the grid, the last axis varying fastest."""
    scenario: ScenarioSpec
    """The scenario before any value was changed."""
    schema: str
    """`flitwise.study/1`."""


ClassAnswer._nested = {
    "deadlines": DeadlineAnswer,
    "expected_errors": ExpectedError,
    "frames": FrameAnswer,
    "lanes": LanesAnswer,
    "latency_distribution": LatencyDistribution,
    "latency_distributions_by_hops": LatencyDistribution,
    "latency_percentiles_cycles": Percentiles,
    "per_channel": ChannelAnswer,
    "saturation": Saturation,
    "times": TimesAnswer,
}


SolveDocument._nested = {
    "classes": ClassAnswer,
    "report": Report,
    "scenario": ScenarioSpec,
    "validity": Validity,
}


ClassDistribution._nested = {
    "latency_distribution": LatencyDistribution,
}


DistributionDocument._nested = {
    "classes": ClassDistribution,
}


ClassBound._nested = {
    "shares": KindShare,
}


LoadsDocument._nested = {
    "channels": KindLoads,
    "classes": ClassBound,
    "effective_bisection": Bisection,
    "scenario": ScenarioSpec,
}


Account._nested = {
    "anchors": AnchorEntry,
}


AnchorEntry._nested = {
    "set": Setting,
}


ClassIntervals._nested = {
    "accepted_rate_messages_per_cycle": Interval,
    "arbitration_cycles": Interval,
    "blocking_cycles": Interval,
    "blocking_length_flits": Interval,
    "blocking_probability": Interval,
    "bus_cycles": Interval,
    "circuit_attempts": Interval,
    "circuit_drop_share": Interval,
    "circuit_load": Interval,
    "circuits_dropped": Interval,
    "circuits_established": Interval,
    "connection_set_up_cycles": Interval,
    "connections_held": Interval,
    "cycles_per_flit": Interval,
    "deadlines": Interval,
    "doorbell_cycles": Interval,
    "end_to_end_latency_cycles": Interval,
    "frame_interval_autocorrelation": Interval,
    "frame_interval_cycles": Interval,
    "frame_interval_deviation_cycles": Interval,
    "frame_interval_deviation_per_stream_cycles": Interval,
    "frame_latency_cycles": Interval,
    "gap_cycles": Interval,
    "input_cycles": Interval,
    "interface_time_cycles": Interval,
    "late_frames": Interval,
    "latency_percentiles_cycles": Percentiles2,
    "network_latency_cycles": Interval,
    "output_cycles": Interval,
    "posted_latency_cycles": Interval,
    "posting_delay_cycles": Interval,
    "power_deviation_pj_per_cycle": Interval,
    "power_pj_per_cycle": Interval,
    "power_violations": Interval,
    "preemptions_per_message": Interval,
    "queueing_delay_cycles": Interval,
    "ratchet_missing_probability": Interval,
    "ratchet_missing_time_cycles": Interval,
    "receive_cycles": Interval,
    "rejected_share": Interval,
    "router_load": Interval,
    "set_aside_queues": Interval,
    "set_up_delay_cycles": Interval,
    "set_up_probability": Interval,
    "sharing_cycles": Interval,
    "source_load": Interval,
    "throughput_bytes_per_ns": Interval,
    "total_latency_cycles": Interval,
    "transfer_cycles": Interval,
    "utilization": Interval,
    "waiting_cycles": Interval,
    "wire_cycles": Interval,
}


Percentiles2._nested = {
    "p50": Interval,
    "p90": Interval,
    "p99": Interval,
    "p99.9": Interval,
}


Point._nested = {
    "classes": ClassAnswer,
    "intervals_95": ClassIntervals,
    "report": Report,
    "set": Setting,
    "validity": Validity,
}


SweepDocument._nested = {
    "anchoring": Account,
    "points": Point,
    "scenario": ScenarioSpec,
}


OutputSensitivities._nested = {
    "sensitivities": Sensitivity,
}


Sensitivity._nested = {
    "above": OneSided,
    "below": OneSided,
}


SensitivityDocument._nested = {
    "outputs": OutputSensitivities,
    "parameters": ParameterValue,
    "scenario": ScenarioSpec,
}


ChannelDetail._nested = {
    "blocked_share": Estimate,
    "reserved_share": Utilization,
    "utilization": Utilization,
    "wait_cycles": Estimate,
}


ChannelSimulation._nested = {
    "utilization": Utilization,
    "utilization_by_class": Utilization,
}


ClassSimulation._nested = {
    "accepted_rate_messages_per_cycle": Estimate,
    "arbitration_cycles": Estimate,
    "blocking_cycles": Estimate,
    "blocking_length_flits": Estimate,
    "blocking_probability": Estimate,
    "bus_cycles": Estimate,
    "circuit_attempts": Estimate,
    "circuit_drop_share": Estimate,
    "circuit_load": Estimate,
    "circuits_dropped": Estimate,
    "circuits_established": Estimate,
    "connection_set_up_cycles": Estimate,
    "connections_held": Estimate,
    "cycles_per_flit": Estimate,
    "deadlines": DeadlineSimulation,
    "doorbell_cycles": Estimate,
    "end_to_end_latency_cycles": Estimate,
    "fates": Fates,
    "frame_deadlines": FrameDeadlineSimulation,
    "frame_interval_autocorrelation": Estimate,
    "frame_interval_cycles": Estimate,
    "frame_interval_deviation_cycles": Estimate,
    "frame_interval_deviation_per_stream_cycles": Estimate,
    "frame_latency_cycles": Estimate,
    "frame_offset_deviation_cycles": Estimate,
    "gap_cycles": Estimate,
    "hops": HopsSimulation,
    "input_cycles": Estimate,
    "interface_time_cycles": Estimate,
    "late_frames": Estimate,
    "latency_percentiles_cycles": SimulatePercentiles,
    "network_latency_cycles": Estimate,
    "output_cycles": Estimate,
    "posted_latency_cycles": Estimate,
    "posting_delay_cycles": Estimate,
    "power_deviation_pj_per_cycle": Estimate,
    "power_pj_per_cycle": Estimate,
    "power_violations": Estimate,
    "preemptions_per_message": Estimate,
    "queueing_delay_cycles": Estimate,
    "ratchet_missing_probability": Estimate,
    "ratchet_missing_time_cycles": Estimate,
    "receive_cycles": Estimate,
    "rejected_share": Estimate,
    "router_load": Estimate,
    "saturation": SaturationCause,
    "set_aside_queues": Estimate,
    "set_up_delay_cycles": Estimate,
    "set_up_probability": Estimate,
    "sharing_cycles": Estimate,
    "source_load": Estimate,
    "throughput_bytes_per_ns": Estimate,
    "total_latency_cycles": Estimate,
    "transfer_cycles": Estimate,
    "utilization": Estimate,
    "waiting_cycles": Estimate,
    "wire_cycles": Estimate,
}


DeadlineSimulation._nested = {
    "miss_probability": ProbabilityEstimate,
}


FrameDeadlineSimulation._nested = {
    "deadline_missing_probability": Estimate,
    "deadline_missing_time_cycles": Estimate,
    "deadline_missing_time_ms": Estimate,
}


HopsSimulation._nested = {
    "accepted_rate_messages_per_cycle": Estimate,
    "arbitration_cycles": Estimate,
    "blocking_cycles": Estimate,
    "blocking_length_flits": Estimate,
    "blocking_probability": Estimate,
    "bus_cycles": Estimate,
    "circuit_attempts": Estimate,
    "circuit_drop_share": Estimate,
    "circuit_load": Estimate,
    "circuits_dropped": Estimate,
    "circuits_established": Estimate,
    "connection_set_up_cycles": Estimate,
    "connections_held": Estimate,
    "cycles_per_flit": Estimate,
    "deadlines": DeadlineSimulation,
    "doorbell_cycles": Estimate,
    "end_to_end_latency_cycles": Estimate,
    "frame_interval_autocorrelation": Estimate,
    "frame_interval_cycles": Estimate,
    "frame_interval_deviation_cycles": Estimate,
    "frame_interval_deviation_per_stream_cycles": Estimate,
    "frame_latency_cycles": Estimate,
    "gap_cycles": Estimate,
    "input_cycles": Estimate,
    "interface_time_cycles": Estimate,
    "late_frames": Estimate,
    "latency_percentiles_cycles": SimulatePercentiles,
    "network_latency_cycles": Estimate,
    "output_cycles": Estimate,
    "posted_latency_cycles": Estimate,
    "posting_delay_cycles": Estimate,
    "power_deviation_pj_per_cycle": Estimate,
    "power_pj_per_cycle": Estimate,
    "power_violations": Estimate,
    "preemptions_per_message": Estimate,
    "queueing_delay_cycles": Estimate,
    "ratchet_missing_probability": Estimate,
    "ratchet_missing_time_cycles": Estimate,
    "receive_cycles": Estimate,
    "rejected_share": Estimate,
    "router_load": Estimate,
    "set_aside_queues": Estimate,
    "set_up_delay_cycles": Estimate,
    "set_up_probability": Estimate,
    "sharing_cycles": Estimate,
    "source_load": Estimate,
    "throughput_bytes_per_ns": Estimate,
    "total_latency_cycles": Estimate,
    "transfer_cycles": Estimate,
    "utilization": Estimate,
    "waiting_cycles": Estimate,
    "wire_cycles": Estimate,
}


SimulateInterval._nested = {
    "delivered_flits_per_cycle": Estimate,
    "network_latency_cycles": Estimate,
    "total_latency_cycles": Estimate,
}


SimulatePercentiles._nested = {
    "p50": PercentileEstimate,
    "p90": PercentileEstimate,
    "p99": PercentileEstimate,
    "p99.9": PercentileEstimate,
}


SimulateDocument._nested = {
    "channel_details": ChannelDetail,
    "channels": ChannelSimulation,
    "classes": ClassSimulation,
    "over_time": SimulateInterval,
    "run": Run,
    "scenario": ScenarioSpec,
}


Crossings._nested = {
    "found": Crossing,
}


ComparePoint._nested = {
    "failures": Silence,
    "rows": Row,
    "run": Run,
    "set": Setting,
}


Row._nested = {
    "simulated": ConfidenceInterval,
}


CompareDocument._nested = {
    "crossings": Crossings,
    "models": Fares,
    "points": ComparePoint,
    "scenario": ScenarioSpec,
}


AgainstDocument._nested = {
    "fitted": Fitted,
    "numbers": MeasuredRow,
    "scenario": ScenarioSpec,
}


Confirmation._nested = {
    "requirements": PlanVerdict,
}


FrontierPoint._nested = {
    "binding": Binding,
}


Trial._nested = {
    "set": Setting,
}


PlanVerdict._nested = {
    "simulated": ConfidenceInterval,
}


MaxLoadDocument._nested = {
    "anchoring": Account,
    "binding": Binding,
    "confirmed": Confirmation,
    "requirements": Place,
    "scenario": ScenarioSpec,
}


ChooseDocument._nested = {
    "anchoring": Account,
    "check": Check,
    "chosen": Setting,
    "confirmed": Confirmation,
    "objective": Objective,
    "requirements": Place,
    "scenario": ScenarioSpec,
    "tried": Trial,
}


RegionDocument._nested = {
    "anchoring": Account,
    "frontier": FrontierPoint,
    "scenario": ScenarioSpec,
}


ClaimReport._nested = {
    "findings": Finding,
}


Finding._nested = {
    "other": ConfidenceInterval,
    "value": ConfidenceInterval,
}


VerifyDocument._nested = {
    "claims": ClaimReport,
    "summary": Summary,
}


CaseEntry._nested = {
    "points": PointEntry,
    "saturation": SaturationEntry,
}


ClassEntry._nested = {
    "errors": ErrorOf,
    "model": ModelEntry,
    "simulated": SimulatedEntry,
}


HopsObservation._nested = {
    "accepted_rate_messages_per_cycle": Estimate,
    "arbitration_cycles": Estimate,
    "blocking_cycles": Estimate,
    "blocking_length_flits": Estimate,
    "blocking_probability": Estimate,
    "bus_cycles": Estimate,
    "circuit_attempts": Estimate,
    "circuit_drop_share": Estimate,
    "circuit_load": Estimate,
    "circuits_dropped": Estimate,
    "circuits_established": Estimate,
    "connection_set_up_cycles": Estimate,
    "connections_held": Estimate,
    "cycles_per_flit": Estimate,
    "doorbell_cycles": Estimate,
    "end_to_end_latency_cycles": Estimate,
    "frame_interval_autocorrelation": Estimate,
    "frame_interval_cycles": Estimate,
    "frame_interval_deviation_cycles": Estimate,
    "frame_interval_deviation_per_stream_cycles": Estimate,
    "frame_latency_cycles": Estimate,
    "gap_cycles": Estimate,
    "input_cycles": Estimate,
    "interface_time_cycles": Estimate,
    "late_frames": Estimate,
    "misses": Curve,
    "network_latency_cycles": Estimate,
    "output_cycles": Estimate,
    "posted_latency_cycles": Estimate,
    "posting_delay_cycles": Estimate,
    "power_deviation_pj_per_cycle": Estimate,
    "power_pj_per_cycle": Estimate,
    "power_violations": Estimate,
    "preemptions_per_message": Estimate,
    "queueing_delay_cycles": Estimate,
    "ratchet_missing_probability": Estimate,
    "ratchet_missing_time_cycles": Estimate,
    "receive_cycles": Estimate,
    "rejected_share": Estimate,
    "router_load": Estimate,
    "set_aside_queues": Estimate,
    "set_up_delay_cycles": Estimate,
    "set_up_probability": Estimate,
    "sharing_cycles": Estimate,
    "source_load": Estimate,
    "throughput_bytes_per_ns": Estimate,
    "total_latency_cycles": Estimate,
    "transfer_cycles": Estimate,
    "utilization": Estimate,
    "waiting_cycles": Estimate,
    "wire_cycles": Estimate,
}


PointEntry._nested = {
    "classes": ClassEntry,
}


AccuracyRow._nested = {
    "target": Target,
}


SimulatedEntry._nested = {
    "accepted_rate_messages_per_cycle": Estimate,
    "arbitration_cycles": Estimate,
    "blocking_cycles": Estimate,
    "blocking_length_flits": Estimate,
    "blocking_probability": Estimate,
    "bus_cycles": Estimate,
    "circuit_attempts": Estimate,
    "circuit_drop_share": Estimate,
    "circuit_load": Estimate,
    "circuits_dropped": Estimate,
    "circuits_established": Estimate,
    "connection_set_up_cycles": Estimate,
    "connections_held": Estimate,
    "cycles_per_flit": Estimate,
    "doorbell_cycles": Estimate,
    "end_to_end_latency_cycles": Estimate,
    "frame_interval_autocorrelation": Estimate,
    "frame_interval_cycles": Estimate,
    "frame_interval_deviation_cycles": Estimate,
    "frame_interval_deviation_per_stream_cycles": Estimate,
    "frame_latency_cycles": Estimate,
    "gap_cycles": Estimate,
    "hops": HopsObservation,
    "input_cycles": Estimate,
    "interface_time_cycles": Estimate,
    "late_frames": Estimate,
    "latency_percentiles_cycles": SimulatePercentiles,
    "misses": Curve,
    "network_latency_cycles": Estimate,
    "output_cycles": Estimate,
    "posted_latency_cycles": Estimate,
    "posting_delay_cycles": Estimate,
    "power_deviation_pj_per_cycle": Estimate,
    "power_pj_per_cycle": Estimate,
    "power_violations": Estimate,
    "preemptions_per_message": Estimate,
    "queueing_delay_cycles": Estimate,
    "ratchet_missing_probability": Estimate,
    "ratchet_missing_time_cycles": Estimate,
    "receive_cycles": Estimate,
    "rejected_share": Estimate,
    "router_load": Estimate,
    "set_aside_queues": Estimate,
    "set_up_delay_cycles": Estimate,
    "set_up_probability": Estimate,
    "sharing_cycles": Estimate,
    "source_load": Estimate,
    "throughput_bytes_per_ns": Estimate,
    "total_latency_cycles": Estimate,
    "transfer_cycles": Estimate,
    "utilization": Estimate,
    "waiting_cycles": Estimate,
    "wire_cycles": Estimate,
}


AccuracyDocument._nested = {
    "cases": CaseEntry,
    "summary": AccuracyRow,
}


FamilyEntry._nested = {
    "network_latency": AnchoredAccuracySummary,
}


AnchoredAccuracyDocument._nested = {
    "families": FamilyEntry,
    "judged": JudgedNumber,
    "summary": AnchoredAccuracyRow,
}


Chain._nested = {
    "transitions": Transition,
}


CongestionTree._nested = {
    "held": Axis,
    "panels": TreePanel,
}


Course._nested = {
    "mix": MixPhase,
    "panels": Lines,
}


DiagramLink._nested = {
    "simulated": SimulatedLoad,
}


DiagramNode._nested = {
    "simulated": SimulatedLoad,
}


DiagramSwitch._nested = {
    "nodes": DiagramNode,
}


ErrorSeries._nested = {
    "points": FigurePoint,
}


HeatMap._nested = {
    "panels": HeatPanel,
    "x": Axis,
    "y": Axis,
    "z": Axis,
}


HeatPanel._nested = {
    "cells": HeatCell,
}


Lines._nested = {
    "errors": ErrorSeries,
    "series": Series,
    "x": Axis,
    "y": Axis,
}


MixPhase._nested = {
    "loads": ClassLoad,
}


NetworkDiagram._nested = {
    "links": DiagramLink,
    "load": Axis,
    "rows": DiagramRow,
    "switches": DiagramSwitch,
}


NetworkLink._nested = {
    "simulated": SimulatedLoad,
}


NetworkMap._nested = {
    "load": Axis,
    "panels": NetworkPanel,
}


NetworkPanel._nested = {
    "links": NetworkLink,
    "simulated_routers": SimulatedLoad,
}


Pipeline._nested = {
    "panels": PipelinePanel,
}


Region._nested = {
    "frontier": Frontier,
    "mark": Mark,
    "x": Axis,
    "y": Axis,
}


Series._nested = {
    "points": FigurePoint,
}


SimulationAccount._nested = {
    "points": PointRun,
}


Stacked._nested = {
    "panels": StackedPanel,
    "x": Axis,
    "y": Axis,
}


StackedPanel._nested = {
    "bars": Bar,
}


StampRow._nested = {
    "flits": StampedFlit,
}


Stamps._nested = {
    "rows": StampRow,
}


Timeline._nested = {
    "panels": TimelinePanel,
    "x": Axis,
}


Tornado._nested = {
    "panels": TornadoPanel,
    "x": Axis,
}


TornadoPanel._nested = {
    "bars": TornadoBar,
}


TreePanel._nested = {
    "columns": TreeColumn,
}


Worm._nested = {
    "pieces": WormPiece,
}


Worms._nested = {
    "links": WormLink,
    "panels": WormsPanel,
}


WormsPanel._nested = {
    "worms": Worm,
}


FigureDocument._nested = {
    "claims": Claim,
    "scenario": ScenarioSpec,
    "simulation": SimulationAccount,
}


ExplainBar._nested = {
    "parts": BarPart,
}


Chain2._nested = {
    "chain": Chain,
}


Instance._nested = {
    "of": Notations,
    "substituted": Notations,
    "symbols": Substitution,
}


Step._nested = {
    "formula": Notations,
    "instances": Instance,
}


ExplainDocument._nested = {
    "scenario": ScenarioSpec,
    "sections": Section,
}


CustomersAnswer._nested = {
    "tail": TailAnswer,
}


StationPoint._nested = {
    "classes": CustomersAnswer,
    "set": Setting,
}


StationDocument._nested = {
    "points": StationPoint,
}


PresetDocument._nested = {
    "scenario": ScenarioSpec,
}


Block._nested = {
    "goals": BlockGoal,
    "set": Setting,
}


CampaignPlanDocument._nested = {
    "blocks": Block,
}


CampaignStatusDocument._nested = {
    "details": BlockDetail,
}


Simulation._nested = {
    "channel_details": ChannelDetail,
    "channels": ChannelSimulation,
    "classes": ClassSimulation,
    "over_time": SimulateInterval,
    "run": Run,
    "scenario": ScenarioSpec,
}


StudyRow._nested = {
    "set": Setting,
    "simulation": Simulation,
}


StudyDocument._nested = {
    "points": StudyRow,
    "scenario": ScenarioSpec,
}


#: Classes of documents by their schemas.
BY_SCHEMA: dict[str, type[Document]] = {
    "flitwise.solve": SolveDocument,
    "flitwise.distribution": DistributionDocument,
    "flitwise.loads": LoadsDocument,
    "flitwise.sweep": SweepDocument,
    "flitwise.sensitivity": SensitivityDocument,
    "flitwise.simulate": SimulateDocument,
    "flitwise.compare": CompareDocument,
    "flitwise.against": AgainstDocument,
    "flitwise.verify": VerifyDocument,
    "flitwise.accuracy": AccuracyDocument,
    "flitwise.anchored-accuracy": AnchoredAccuracyDocument,
    "flitwise.figure": FigureDocument,
    "flitwise.explain": ExplainDocument,
    "flitwise.station": StationDocument,
    "flitwise.preset": PresetDocument,
    "flitwise.campaign-plan": CampaignPlanDocument,
    "flitwise.campaign-status": CampaignStatusDocument,
    "flitwise.study": StudyDocument,
}
