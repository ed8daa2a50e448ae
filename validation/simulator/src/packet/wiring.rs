//! The links and routes of a network of packet switches, port by port.
//!
//! Ports are numbered over the whole network: those of switch `s` from `2^b s` on, `2^b` being at least as many; behind
//! the switches the injection ports of hosts; behind those, where hosts do not receive on the link on which they send,
//! the receiving ports of hosts.

use std::collections::BTreeSet;

use flitwise_language::network::{Candidates, LinkEnd, LinkTime, Network};

use super::record::StageLoad;

/// No port: the other end of an open one.
pub(crate) const OPEN: u32 = u32::MAX;
/// Bits that the turns of the longest way may take; the one above tells markers.
pub(crate) const TURN_BITS: u32 = 63;

/// How ports are numbered, and how a turnpool holds them: a power of two of numbers for each switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    /// Ports of a switch, some of which may be open.
    pub(crate) ports: usize,
    /// Logarithm of the numbers for each switch.
    shift: u32,
}

impl Numbers {
    /// Of switches with so many ports.
    pub(crate) fn new(ports: usize) -> Self {
        Self { ports, shift: ports.next_power_of_two().trailing_zeros() }
    }

    /// Numbers for each switch.
    #[inline]
    pub(crate) fn stride(self) -> usize {
        1 << self.shift
    }

    /// The switch of a port.
    #[inline]
    pub(crate) fn switch(self, port: usize) -> usize {
        port >> self.shift
    }

    /// The first port of a switch.
    #[inline]
    pub(crate) fn first(self, switch: usize) -> usize {
        switch << self.shift
    }

    /// The first port of the switch of a port.
    #[inline]
    pub(crate) fn base(self, port: usize) -> usize {
        port >> self.shift << self.shift
    }

    /// The number of a port at its switch.
    #[inline]
    pub(crate) fn of_switch(self, port: usize) -> usize {
        port & (self.stride() - 1)
    }

    /// The port after one, round.
    #[inline]
    pub(crate) fn after(self, port: usize) -> usize {
        if port + 1 == self.ports { 0 } else { port + 1 }
    }

    /// Bits of a turn in a turnpool: an output port and the bit that tells a turn from the end.
    #[inline]
    pub(crate) fn turn_bits(self) -> u32 {
        self.shift + 1
    }

    /// The turn into an output port of a switch.
    #[inline]
    pub(crate) fn turn(self, port: usize) -> u64 {
        (self.stride() | port) as u64
    }

    /// The output port that a turnpool leads to; `None` at its end.
    #[inline]
    pub(crate) fn output(self, turns: u64) -> Option<usize> {
        (turns != 0).then(|| self.of_switch(turns as usize))
    }

    /// A path behind a turn.
    #[inline]
    pub(crate) fn behind(self, path: u64, port: usize) -> u64 {
        path << self.turn_bits() | self.turn(port)
    }

    /// Turns of which the first is into another output port.
    #[inline]
    pub(crate) fn turned(self, turns: u64, port: usize) -> u64 {
        turns >> self.turn_bits() << self.turn_bits() | self.turn(port)
    }

    /// What is left of turns behind the first one.
    #[inline]
    pub(crate) fn ahead(self, turns: u64) -> u64 {
        turns >> self.turn_bits()
    }
}

/// Links of a network.
#[derive(Clone, Debug)]
pub(crate) struct Wiring {
    pub(crate) hosts: usize,
    pub(crate) switches: usize,
    /// Rows of switches: stages, or levels.
    pub(crate) rows: usize,
    pub(crate) numbers: Numbers,
    /// By port: the port at the other end of its link.
    pub(crate) peers: Vec<u32>,
    /// By port: delay and capacity of its link.
    pub(crate) times: Vec<LinkTime>,
    network: Network,
}

impl Wiring {
    /// Of switches with so many ports.
    pub(crate) fn new(network: &Network, ports: u32) -> Self {
        assert!(network.ports() <= ports, "more links than ports");
        assert_eq!(network.parallel_links(), 1, "packets do not choose among links: see Network::of_packets");
        let (hosts, switches) = (network.nodes() as usize, network.routers() as usize);
        let numbers = Numbers::new(ports as usize);
        let (router, port) = network.entry(0);
        let is_both_ways = network.link_end(router, port) == LinkEnd::Node(0);
        let ends = if is_both_ways { hosts } else { 2 * hosts };
        let peers = vec![OPEN; numbers.first(switches) + ends];
        let times = vec![LinkTime::USUAL; peers.len()];
        let (rows, network_of) = (network.rows() as usize, network.clone());
        let mut wiring = Self { hosts, switches, rows, numbers, peers, times, network: network_of };
        let number = |router: u32, port: u32| numbers.first(router as usize) + port as usize;
        for (router, port) in
            (0..network.routers()).flat_map(|router| (0..network.ports()).map(move |port| (router, port)))
        {
            wiring.times[number(router, port)] = network.link_time(router, port);
            match network.link_end(router, port) {
                LinkEnd::Input { router: next, port: entered } => {
                    wiring.link(number(router, port), number(next, entered));
                }
                LinkEnd::Node(host) => wiring.link(number(router, port), wiring.reception(host as usize)),
                LinkEnd::Absent => {}
            }
        }
        for host in 0..network.nodes() {
            let (router, port) = network.entry(host);
            wiring.link(wiring.injection(host as usize), number(router, port));
            let injection = wiring.injection(host as usize);
            wiring.times[injection] = network.link_time(router, port);
        }
        wiring
    }

    /// All times of links that there are.
    pub(crate) fn kinds(&self) -> Vec<LinkTime> {
        let all: BTreeSet<LinkTime> = self.times.iter().copied().collect();
        all.into_iter().collect()
    }

    fn link(&mut self, one: usize, other: usize) {
        (self.peers[one], self.peers[other]) = (other as u32, one as u32);
    }

    /// Ports of switches.
    pub(crate) fn switch_ports(&self) -> usize {
        self.numbers.first(self.switches)
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

    /// The row of a port of a switch; the number of rows of a host's.
    pub(crate) fn group(&self, port: usize) -> usize {
        let switch = self.numbers.switch(port);
        if port < self.switch_ports() { self.network.row(switch as u32) as usize } else { self.rows }
    }

    /// By group: links on which nothing has been sent.
    pub(crate) fn links(&self) -> Vec<StageLoad> {
        let mut groups = vec![StageLoad::default(); self.rows + 1];
        for port in (0..self.peers.len()).filter(|port| self.peers[*port] != OPEN) {
            let group = &mut groups[self.group(port)];
            let numbers = self.numbers;
            let (router, own) = (numbers.switch(port) as u32, numbers.of_switch(port) as u32);
            let sends_data = match port.checked_sub(self.switch_ports()) {
                Some(host) => host < self.hosts,
                None => self.network.link_end(router, own) != LinkEnd::Absent,
            };
            group.links += 1;
            group.data_links += u32::from(sends_data);
        }
        groups
    }

    /// Whether switches choose among outputs by their backlog.
    pub(crate) fn is_adaptive(&self) -> bool {
        self.network.is_adaptive()
    }

    /// Where a switch chooses: the outputs of the switch that a packet may take.
    pub(crate) fn candidates(&self, switch: usize, source: u32, destination: u32) -> Option<Candidates> {
        self.network.candidates(switch as u32, source, destination)
    }

    /// Ways of which one is drawn for every packet.
    pub(crate) fn ways(&self) -> u32 {
        self.network.drawn_ways()
    }

    /// The turnpool of a packet on a way: its output ports, that of the first switch in the lowest bits.
    pub(crate) fn turns(&self, source: usize, destination: usize, way: u32) -> u64 {
        let numbers = self.numbers;
        let (mut turns, mut shift, mut at) = (0, 0, self.peers[self.injection(source)] as usize);
        while at < self.switch_ports() {
            let switch = numbers.switch(at);
            let port = self.network.route(switch as u32, source as u32, destination as u32, way) as usize;
            turns |= numbers.turn(port) << shift;
            shift += numbers.turn_bits();
            at = self.peers[numbers.first(switch) + port] as usize;
        }
        debug_assert!(shift <= TURN_BITS, "turns of {shift} bits");
        turns
    }
}

#[cfg(test)]
mod tests {
    use flitwise_language::scenario::{Direction, NetworkSpec, PerLevel, TreeDelay, TreeRouting};

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
            .map(|(direction, first_shuffle)| NetworkSpec::Multistage {
                hosts,
                direction,
                first_shuffle: Some(first_shuffle).filter(|_| direction == Direction::Unidirectional),
            })
        });
        let trees = TreeRouting::ALL[..3].iter().map(|routing| NetworkSpec::FatTree {
            levels: 3,
            radix: None,
            taper: None,
            arity: None,
            down: PerLevel::list(&[3, 2, 4]),
            up: PerLevel::list(&[2, 3]),
            links: PerLevel::all(2),
            delay: TreeDelay::default(),
            routing: *routing,
            self_traffic: None,
        });
        for (network, way) in
            networks.chain(trees).flat_map(|network| [0, 1, 5].map(|way| (network.clone(), way)))
        {
            let wiring = Wiring::new(&network.topology(), network.topology().ports().max(8));
            let way = way % wiring.ways();
            let numbers = wiring.numbers;
            for (port, peer) in wiring.peers.iter().enumerate().filter(|(_, peer)| **peer != OPEN) {
                assert_eq!(wiring.peers[*peer as usize] as usize, port, "{network:?}");
            }
            for (source, destination) in
                (0..wiring.hosts).flat_map(|from| (0..wiring.hosts).map(move |to| (from, to)))
            {
                let mut turns = wiring.turns(source, destination, way);
                let mut at = wiring.peers[wiring.injection(source)] as usize;
                while let Some(port) = numbers.output(turns) {
                    at = wiring.peers[numbers.base(at) + port] as usize;
                    turns = numbers.ahead(turns);
                }
                assert_eq!(at, wiring.reception(destination), "{network:?} {source} -> {destination}");
            }
        }
    }
}
