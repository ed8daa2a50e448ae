//! The links and routes of a network of packet switches, port by port.
//!
//! Ports are numbered over the whole network: those of switch `s` from `8 s` on; behind the switches the injection
//! ports of hosts; behind those, where hosts do not receive on the link on which they send, the receiving ports of
//! hosts.

use flitwise_language::network::{LinkEnd, Multistage, Topology};

use super::record::StageLoad;

/// Ports of a switch.
pub(crate) const PORTS: usize = 8;
/// No port: the other end of an open one.
pub(crate) const OPEN: u32 = u32::MAX;
/// Bits of a turn in a turnpool: an output port and the bit that tells a turn from the end.
pub(crate) const TURN: u32 = 4;

/// The turn into an output port of a switch.
pub(crate) fn turn(port: usize) -> u64 {
    (PORTS | port) as u64
}

/// The output port that a turnpool leads to; `None` at its end.
pub(crate) fn output(turns: u64) -> Option<usize> {
    (turns != 0).then_some(turns as usize % PORTS)
}

/// Links of a network.
#[derive(Clone, Debug)]
pub(crate) struct Wiring {
    pub(crate) hosts: usize,
    pub(crate) switches: usize,
    pub(crate) stages: usize,
    /// By port: the port at the other end of its link.
    pub(crate) peers: Vec<u32>,
    network: Multistage,
}

impl Wiring {
    pub(crate) fn new(network: Multistage) -> Self {
        assert_eq!(network.ports() as usize, PORTS, "turns of another length");
        let (hosts, switches) = (network.hosts as usize, network.routers() as usize);
        let (router, port) = network.entry(0);
        let is_both_ways = network.link_end(router, port) == LinkEnd::Node(0);
        let ends = if is_both_ways { hosts } else { 2 * hosts };
        let peers = vec![OPEN; PORTS * switches + ends];
        let mut wiring = Self { hosts, switches, stages: network.stages() as usize, peers, network };
        let number = |router: u32, port: u32| router as usize * PORTS + port as usize;
        for (router, port) in
            (0..network.routers()).flat_map(|router| (0..network.ports()).map(move |port| (router, port)))
        {
            match network.link_end(router, port) {
                LinkEnd::Input { router: next, port: entered } => {
                    wiring.link(number(router, port), number(next, entered));
                }
                LinkEnd::Node(host) => wiring.link(number(router, port), wiring.reception(host as usize)),
                LinkEnd::Absent => {}
            }
        }
        for host in 0..network.hosts {
            let (router, port) = network.entry(host);
            wiring.link(wiring.injection(host as usize), number(router, port));
        }
        wiring
    }

    fn link(&mut self, one: usize, other: usize) {
        (self.peers[one], self.peers[other]) = (other as u32, one as u32);
    }

    /// Ports of switches.
    pub(crate) fn switch_ports(&self) -> usize {
        PORTS * self.switches
    }

    /// The port from which a host sends.
    pub(crate) fn injection(&self, host: usize) -> usize {
        self.switch_ports() + host
    }

    /// The port at which a host receives.
    pub(crate) fn reception(&self, host: usize) -> usize {
        self.peers.len() - self.hosts + host
    }

    /// The host of a port that is none of a switch.
    pub(crate) fn host(&self, port: usize) -> usize {
        (port - self.switch_ports()) % self.hosts
    }

    /// The stage of a port of a switch; the number of stages of a host's.
    pub(crate) fn group(&self, port: usize) -> usize {
        if port < self.switch_ports() { port / PORTS / self.network.switches() as usize } else { self.stages }
    }

    /// By group: links on which nothing has been sent.
    pub(crate) fn links(&self) -> Vec<StageLoad> {
        let mut groups = vec![StageLoad::default(); self.stages + 1];
        for port in (0..self.peers.len()).filter(|port| self.peers[*port] != OPEN) {
            let group = &mut groups[self.group(port)];
            let (router, own) = ((port / PORTS) as u32, (port % PORTS) as u32);
            let sends_data = match port.checked_sub(self.switch_ports()) {
                Some(host) => host < self.hosts,
                None => self.network.link_end(router, own) != LinkEnd::Absent,
            };
            group.links += 1;
            group.data_links += u32::from(sends_data);
        }
        groups
    }

    /// The turnpool of a packet: its output ports, that of the first switch in the lowest bits.
    pub(crate) fn turns(&self, source: usize, destination: usize) -> u64 {
        let (mut turns, mut shift, mut at) = (0, 0, self.peers[self.injection(source)] as usize);
        while at < self.switch_ports() {
            let switch = at / PORTS;
            let port = self.network.route(switch as u32, source as u32, destination as u32, 0) as usize;
            turns |= turn(port) << shift;
            shift += TURN;
            at = self.peers[switch * PORTS + port] as usize;
        }
        turns
    }
}

#[cfg(test)]
mod tests {
    use flitwise_language::scenario::Direction;

    use super::*;

    /// Every turnpool leads to its host over links that are pairs.
    #[test]
    fn turns_lead_to_the_receiving_port() {
        let networks = [16, 32, 64, 128].into_iter().flat_map(|hosts| {
            [
                (Direction::Unidirectional, true),
                (Direction::Unidirectional, false),
                (Direction::Bidirectional, false),
            ]
            .map(|(direction, first_shuffle)| Multistage { hosts, direction, first_shuffle })
        });
        for network in networks {
            let wiring = Wiring::new(network);
            for (port, peer) in wiring.peers.iter().enumerate().filter(|(_, peer)| **peer != OPEN) {
                assert_eq!(wiring.peers[*peer as usize] as usize, port, "{network:?}");
            }
            for (source, destination) in
                (0..wiring.hosts).flat_map(|from| (0..wiring.hosts).map(move |to| (from, to)))
            {
                let mut turns = wiring.turns(source, destination);
                let mut at = wiring.peers[wiring.injection(source)] as usize;
                while let Some(port) = output(turns) {
                    at = wiring.peers[at / PORTS * PORTS + port] as usize;
                    turns >>= TURN;
                }
                assert_eq!(at, wiring.reception(destination), "{network:?} {source} -> {destination}");
            }
        }
    }
}
