//! Conservation: credits, packets and lines are where they have to be.

use std::collections::VecDeque;

use super::queues::{credits, ingress_queues};
use super::{Plain, Port};

impl Plain {
    /// Conservation: credits, packets and lines are where they have to be.
    pub(super) fn check(&self) {
        // every tick in a small network, now and then in a large one: it looks at all queues
        let interval = 1 + (self.ports.len() * ingress_queues(&self.fabric) / 64) as u64;
        if !cfg!(debug_assertions) || !self.now.is_multiple_of(interval) {
            return;
        }
        let counts = &self.record.counts;
        let waiting: u32 =
            self.hosts.iter().flat_map(|host| &host.admittance).flatten().map(|w| w.left).sum();
        let known = counts.admitted + counts.refused + counts.withdrawn + u64::from(waiting);
        assert_eq!(counts.generated, known, "tick {}", self.now);
        // a packet is counted where it stands or moves to
        let held: usize = self.ports.iter().map(Port::packets).sum();
        assert_eq!(counts.admitted - counts.delivered, held as u64, "tick {}", self.now);
        for (at, port) in self.ports.iter().enumerate() {
            self.check_credits(at, port);
            self.check_lines(at);
            self.check_backlog(at, port);
            assert!(port.egress.taken.iter().all(|taken| *taken <= port.egress.places));
        }
    }

    /// Credits, those on their way and packets make up the memory behind a link.
    fn check_credits(&self, at: usize, port: &Port) {
        let Some(peer) = port.peer else { return };
        let behind = &self.ports[peer];
        for (queue, all) in credits(&self.fabric, self.is_host(peer)).into_iter().enumerate() {
            let is_pool = self.is_recn() || self.is_host(peer);
            let mut held = port.credits[queue]
                + behind.to_return.iter().filter(|one| **one == queue).count() as u32
                + behind.arriving.iter().filter(|(_, one, _)| *one == queue).count() as u32
                + u32::from(behind.crossing.is_some_and(|(_, one)| one == queue));
            held += port.arriving_credits.iter().flat_map(|(_, all)| all).filter(|one| **one == queue).count()
                as u32;
            held += if is_pool {
                (0..behind.ingress.queues.len()).map(|queue| behind.ingress.length(queue)).sum()
            } else {
                behind.ingress.length(queue)
            };
            assert_eq!(held, all, "port {at}, queue {queue}, tick {}", self.now);
        }
    }
}

impl Plain {
    /// P20: packets settled for an output are at the head of an input, here at egress or behind the link, or their
    /// credits are on their way.
    fn check_backlog(&self, at: usize, port: &Port) {
        if !self.wiring.is_adaptive() || self.is_host(at) {
            return;
        }
        let numbers = self.wiring.numbers;
        let (base, output) = (numbers.base(at), numbers.of_switch(at));
        let inputs = self.ports[base..base + numbers.ports].iter().map(|input| &input.ingress);
        let heads =
            inputs.flat_map(|ingress| (0..ingress.queues.len()).filter_map(|queue| ingress.head(queue)));
        let settled = heads.filter(|packet| packet.turns[0] == output).count();
        let here: u32 = (0..port.egress.queues.len()).map(|queue| port.egress.length(queue)).sum();
        let all = port.peer.map_or(Vec::new(), |peer| credits(&self.fabric, self.is_host(peer)));
        let given: u32 = all.iter().sum::<u32>() - port.peer.map_or(0, |_| port.credits.iter().sum());
        let known = settled + port.joining.len() + (here + given) as usize;
        assert_eq!(port.backlog, known, "port {at}, tick {}", self.now);
    }

    /// Whether nothing is left anywhere.
    pub fn is_drained(&self) -> bool {
        self.ports.iter().enumerate().all(|(at, port)| {
            let is_host = port.peer.is_some_and(|peer| self.is_host(peer));
            let memories = [&port.ingress, &port.egress];
            memories.iter().all(|memory| {
                memory.queues.iter().all(VecDeque::is_empty)
                    && memory.lines.iter().all(Option::is_none)
                    && memory.branches.is_empty()
            }) && port.egress.taken.iter().all(|taken| *taken == 0)
                && (port.peer.is_none() || port.credits == credits(&self.fabric, is_host))
                && (port.to_return.is_empty() && port.backlog == 0)
                && port.controls.is_empty()
                && (self.is_host(at) || port.arriving.is_empty())
                && port.arriving_controls.is_empty()
                && port.arriving_credits.is_empty()
        })
    }
}
