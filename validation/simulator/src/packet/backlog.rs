//! Which output a packet takes where its switch chooses (P19): that of the least backlog.

use super::memory::Label;
use super::queueing::Queueing;
use super::switch::PacketSwitch;

impl<Q: Queueing> PacketSwitch<Q> {
    /// Whether switches choose by backlogs.
    #[inline]
    pub(super) fn has_backlogs(&self) -> bool {
        !self.backlogs.is_empty()
    }

    /// P19: the packet that has come to the head of an ingress queue is settled for an output.
    pub(super) fn choose_output(&mut self, port: usize, packet: u32) {
        let numbers = self.wiring.numbers;
        let base = numbers.base(port);
        let Label { source, destination, .. } = self.packets.labels[packet as usize];
        let row = &mut self.packets.rows[packet as usize];
        let candidates = self.wiring.candidates(numbers.switch(port), source.into(), destination.into());
        let outputs = candidates.into_iter().flat_map(|candidates| candidates.in_turn());
        if let Some(output) = outputs.min_by_key(|output| self.backlogs[base + *output as usize]) {
            row.turns = numbers.turned(row.turns, output as usize);
        }
        self.backlogs[base + numbers.of_switch(row.turns as usize)] += 1;
    }

    /// P20: credits of packets that were settled for an output have come back to it; those of hosts count nothing.
    #[inline]
    pub(super) fn leave_backlog(&mut self, port: usize, packets: u32) {
        if let Some(backlog) = self.backlogs.get_mut(port) {
            *backlog -= packets;
        }
    }
}
