//! Multistage networks of switches with four ports on either side: which port is linked with which, and the routes
//! of packets.
//!
//! Ports are numbered over the whole network: those of switch `s` from `8 s` on, those of stage 0 first, four left
//! ports before four right ones; behind the switches the injection ports of hosts; behind those, in the
//! unidirectional network, the receiving ports of hosts (in the bidirectional one a host has one port for both).

use super::Direction;

/// Ports of a switch.
pub(super) const PORTS: usize = 8;
/// Ports of a switch on one side, `k`.
const SIDE: usize = PORTS / 2;
/// No port: the other end of an open one.
pub(super) const OPEN: u32 = u32::MAX;
/// Bits of a turn in a turnpool: an output port and the bit that tells a turn from the end.
pub(super) const TURN: u32 = 4;

/// The turn into an output port of a switch.
pub(super) fn turn(port: usize) -> u64 {
    (PORTS | port) as u64
}

/// The output port that a turnpool leads to; `None` at its end.
pub(super) fn output(turns: u64) -> Option<usize> {
    (turns != 0).then_some(turns as usize % PORTS)
}

/// Links and routes of a network.
#[derive(Clone, Debug)]
pub(super) struct Wiring {
    pub(super) hosts: usize,
    pub(super) switches: usize,
    pub(super) stages: usize,
    /// By port: the port at the other end of its link.
    pub(super) peers: Vec<u32>,
    direction: Direction,
    /// Bidirectional, by switch and destination: the output port.
    outputs: Vec<u8>,
}

/// The perfect 4-shuffle of `lines` lines, `(4 l mod N) + floor(4 l / N)`.
fn shuffle(line: usize, lines: usize) -> usize {
    SIDE * line % lines + SIDE * line / lines
}

impl Wiring {
    pub(super) fn new(hosts: u32, direction: Direction) -> Self {
        let hosts = hosts as usize;
        let stages = (hosts.ilog2() as usize).div_ceil(2);
        let switches = stages * hosts / SIDE;
        let ends = if direction == Direction::Bidirectional { hosts } else { 2 * hosts };
        let peers = vec![OPEN; PORTS * switches + ends];
        let mut wiring = Self { hosts, switches, stages, peers, direction, outputs: Vec::new() };
        for line in 0..hosts {
            for stage in 1..stages {
                wiring.link(wiring.right(stage - 1, line), wiring.left(stage, shuffle(line, hosts)));
            }
            let first = match direction {
                Direction::Unidirectional { first_shuffle: true } => shuffle(line, hosts),
                _ => line,
            };
            wiring.link(wiring.injection(line), wiring.left(0, first));
            if direction != Direction::Bidirectional {
                wiring.link(wiring.reception(line), wiring.right(stages - 1, line));
            }
        }
        if direction == Direction::Bidirectional {
            wiring.outputs = wiring.descents_and_ascents();
        }
        wiring
    }

    fn link(&mut self, one: usize, other: usize) {
        (self.peers[one], self.peers[other]) = (other as u32, one as u32);
    }

    /// The left port of a line of a stage.
    fn left(&self, stage: usize, line: usize) -> usize {
        (stage * self.hosts / SIDE + line / SIDE) * PORTS + line % SIDE
    }

    fn right(&self, stage: usize, line: usize) -> usize {
        self.left(stage, line) + SIDE
    }

    /// Ports of switches.
    pub(super) fn switch_ports(&self) -> usize {
        PORTS * self.switches
    }

    /// The port from which a host sends.
    pub(super) fn injection(&self, host: usize) -> usize {
        self.switch_ports() + host
    }

    /// The port at which a host receives.
    pub(super) fn reception(&self, host: usize) -> usize {
        self.peers.len() - self.hosts + host
    }

    /// The host of a port that is none of a switch.
    pub(super) fn host(&self, port: usize) -> usize {
        (port - self.switch_ports()) % self.hosts
    }

    pub(super) fn stage(&self, port: usize) -> usize {
        port / PORTS * SIDE / self.hosts
    }

    /// Bidirectional, by switch and destination: down where the destination lies below a left port (where two lead
    /// there, the one of rank `floor(d / 2) mod 2`), else up through port `4 + p_s`.
    fn descents_and_ascents(&self) -> Vec<u8> {
        let (hosts, bits) = (self.hosts, self.hosts.ilog2() as usize);
        let mut outputs = vec![0; self.switches * hosts];
        for switch in 0..self.switches {
            let stage = self.stage(switch * PORTS);
            for destination in 0..hosts {
                let is_below = |port: &usize| {
                    let peer = self.peers[switch * PORTS + port] as usize;
                    if stage == 0 {
                        self.host(peer) == destination
                    } else {
                        usize::from(outputs[peer / PORTS * hosts + destination]) < SIDE
                    }
                };
                let below: Vec<usize> = (0..SIDE).filter(is_below).collect();
                let up = if stage == 0 { destination } else { destination >> (bits - 2 * stage) };
                let rank = destination / 2 % 2;
                let down = below.get(rank).or(below.first());
                outputs[switch * hosts + destination] = *down.unwrap_or(&(SIDE + up % SIDE)) as u8;
            }
        }
        outputs
    }

    /// The turnpool of a packet: its output ports, that of the first switch in the lowest bits.
    ///
    /// Unidirectional: the `m` bits of the destination behind its `2S - m` lowest ones; stage `s` takes the `s`-th
    /// pair from the front.
    pub(super) fn turns(&self, source: usize, destination: usize) -> u64 {
        if self.direction == Direction::Bidirectional {
            return self.turns_by_table(source, destination);
        }
        let bits = self.hosts.ilog2() as usize;
        let tag = destination | (destination & ((1 << (2 * self.stages - bits)) - 1)) << bits;
        (0..self.stages)
            .map(|stage| {
                turn(SIDE + (tag >> (2 * (self.stages - 1 - stage))) % SIDE) << (TURN as usize * stage)
            })
            .sum()
    }

    fn turns_by_table(&self, source: usize, destination: usize) -> u64 {
        let (mut turns, mut shift, mut at) = (0, 0, self.peers[self.injection(source)] as usize);
        while at < self.switch_ports() {
            let switch = at / PORTS;
            let port = usize::from(self.outputs[switch * self.hosts + destination]);
            turns |= turn(port) << shift;
            shift += TURN;
            at = self.peers[switch * PORTS + port] as usize;
        }
        turns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OMEGA: Direction = Direction::Unidirectional { first_shuffle: true };
    const PLAIN: Direction = Direction::Unidirectional { first_shuffle: false };

    /// By port: how many pairs of hosts leave through it.
    fn loads(wiring: &Wiring) -> Vec<usize> {
        let mut loads = vec![0; wiring.peers.len()];
        for source in 0..wiring.hosts {
            for destination in (0..wiring.hosts).filter(|host| *host != source) {
                let mut turns = wiring.turns(source, destination);
                let mut at = wiring.peers[wiring.injection(source)] as usize;
                while let Some(port) = output(turns) {
                    let leaves = at / PORTS * PORTS + port;
                    loads[leaves] += 1;
                    at = wiring.peers[leaves] as usize;
                    turns >>= TURN;
                }
                assert_eq!(at, wiring.reception(destination), "{source} -> {destination}");
            }
        }
        loads
    }

    #[test]
    fn every_pair_reaches_its_host_and_links_share_the_load() {
        for (hosts, direction) in
            [16, 32, 64, 128, 256, 512].into_iter().flat_map(|n| [(n, OMEGA), (n, PLAIN)])
        {
            let wiring = Wiring::new(hosts, direction);
            let (loads, n) = (loads(&wiring), hosts as usize);
            for (port, load) in loads[..wiring.switch_ports()].iter().enumerate() {
                // the pairs of a host and itself would fill up to N on each link
                assert!(port % PORTS < SIDE && *load == 0 || (n - 4..=n).contains(load), "{port}");
            }
        }
    }

    #[test]
    fn links_between_two_stages_of_a_bidirectional_network_carry_alike() {
        let pairs: [(u32, &[usize]); 4] =
            [(16, &[12]), (64, &[60, 48]), (256, &[252, 240, 192]), (512, &[508, 496, 448, 256])];
        for (hosts, by_stage) in pairs {
            let wiring = Wiring::new(hosts, Direction::Bidirectional);
            let loads = loads(&wiring);
            for (port, load) in loads.iter().enumerate().take(wiring.switch_ports()) {
                let (stage, is_left) = (wiring.stage(port), port % PORTS < SIDE);
                let wanted = match stage {
                    0 if is_left => hosts as usize - 1,
                    _ if is_left => by_stage[stage - 1],
                    _ => *by_stage.get(stage).filter(|_| wiring.peers[port] != OPEN).unwrap_or(&0),
                };
                assert_eq!(*load, wanted, "{hosts} hosts, port {port} of stage {stage}");
            }
        }
    }
}
