//! What each approximation buys: the model is solved without it and held against the simulation.
//!
//! An ablation is for tests alone. Outside of them every step is in.

/// An approximation that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Age of the busy period of a class that is present (`interface/busy_period`).
    BusyPeriods,
    /// Arrivals of third classes while one delays a message (`interruptions`).
    Nested,
    /// Stamps of a class behind others lead the time (`clock_lead`).
    ClockLead,
    /// Others come and go while a class keeps the link (`shared_queue`).
    SharingChain,
    /// Gaps of the own input's messages are not hidden on the link (`station`).
    BareGaps,
    /// Flits ahead decide on back-pressure in buffers of two messages and more (`station/back_pressure`).
    FlitsAhead,
    /// Arrivals on a link while a gap keeps a message from it (`station/passage`, `tail_and_header`).
    Fresh,
    /// Delays add up along trains behind a crossbar (`network/contention`).
    Trains,
    /// A full input channel blocks the crossbar upstream (`network/input_channel`).
    FullChannels,
    /// Messages longer than the buffers block several routers (`chained_blocking`).
    ChainedBlocking,
    /// A successor with the same output keeps a gap open (`tail_and_header`).
    Escorts,
    /// States of bursts beside a real-time class (`burst_phases`).
    BurstStates,
    /// A state of bursts may end during a delay (`burst_phases`).
    StatesEnd,
    /// Messages come back to back while no other class is in a burst (`source`).
    BackToBack,
    /// Best effort between bursts is modulated by them (`modulated`).
    Modulated,
    /// Bursts above lengthen the wait of best effort (`bursts_above`).
    WorkAbove,
    /// The interface lets bursts out no faster than its channel takes them (`bursts_above`).
    Outlet,
    /// A long hole delays one message of each input (`station`).
    OncePerInput,
    /// Varying services overload a server for a while (`bursty_source/chance`).
    Chance,
}

#[cfg(test)]
thread_local! {
    static LEFT_OUT: std::cell::Cell<Option<Step>> = const { std::cell::Cell::new(None) };
}

/// Whether a step is left out.
#[cfg(not(test))]
pub(super) const fn without(_: Step) -> bool {
    false
}

/// Whether a step is left out.
#[cfg(test)]
pub(super) fn without(step: Step) -> bool {
    LEFT_OUT.get() == Some(step)
}

#[cfg(test)]
mod tests;
