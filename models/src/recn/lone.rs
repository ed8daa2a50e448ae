//! A packet alone in the network: exact to the tick.

use flitwise_language::scenario::Timing;

/// Latency of a packet alone, over a number of switches \[ticks\].
///
/// A switch takes the flight to it, the delay of the arrival and a flit over its crossbar:
///
/// ```text
/// L_0 = x + S' (f + a + x) + f + LT
/// ```
///
/// with `x` a flit over the crossbar, `S'` switches, `f` the flight, `a` the delay of an arrival and `LT` a packet on a
/// link. All organisations of queues are alike here.
///
/// ```
/// # use flitwise_models::recn::lone_packet;
/// # use flitwise_language::scenario::{SwitchSpec, Timing};
/// let timing = Timing::of(&SwitchSpec::default()).unwrap();
/// assert_eq!(lone_packet(&timing, 3), 83); // of 8/3 ns: 221.333 ns
/// ```
pub fn lone_packet(timing: &Timing, switches: u32) -> u64 {
    let Timing { flit_crossbar, flight, arrival, packet_link, .. } = *timing;
    flit_crossbar + u64::from(switches) * (flight + arrival + flit_crossbar) + flight + packet_link
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitwise_language::scenario::{Forwarding, SwitchSpec};

    #[test]
    fn ticks_are_those_of_the_simulated_packet() {
        let alone = |switch: SwitchSpec, switches| lone_packet(&Timing::of(&switch).unwrap(), switches);
        let usual = SwitchSpec::default();
        // unidirectional with 16, 64, 256, 512 hosts; bidirectional with 64
        assert_eq!([2, 3, 4, 5].map(|switches| alone(usual, switches)), [66, 83, 100, 117]);
        assert_eq!([1, 3, 5].map(|switches| alone(usual, switches)), [49, 83, 117]);
        assert_eq!(alone(SwitchSpec { packet: 512, ..usual }, 3), 416);
        assert_eq!(alone(SwitchSpec { forwarding: Forwarding::StoreAndForward, ..usual }, 3), 146);
    }
}
