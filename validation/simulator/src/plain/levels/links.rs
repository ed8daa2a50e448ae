//! What goes over links: the flits that leave in a cycle, and those that come in (T2, T6, L9).

use super::flit::Flit;
use super::output::OutputPort;
use super::{InputPort, Network, Router, message_of};
use crate::plain::host::HostMessage;
use crate::plain::rules::{End, Rules};

impl Network {
    /// T2, L9: the lane of each output port whose flit leaves over the link, if any.
    pub(super) fn links(&self) -> Vec<(usize, usize, (usize, usize))> {
        let choice = |(router, port): (usize, usize)| {
            let output = &self.routers[router].outputs[port];
            let has_room =
                |flit: &Flit| Self::has_room(&self.routers, &self.rules, output.to, flit, output.wire);
            Some((router, port, output.choose(has_room)?))
        };
        self.output_ports().filter_map(choice).collect()
    }

    /// Routers with their output ports.
    pub(super) fn output_ports(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (_, routers, ports) = self.rules.size();
        (0..routers).flat_map(move |router| (0..ports).map(move |port| (router, port)))
    }

    /// T2, T7, L2: whether there is a free slot for a flit behind a link: that of a flit on the wire is taken.
    pub(super) fn has_room(
        routers: &[Router],
        rules: &Rules,
        to: End,
        flit: &Flit,
        on_wire: Option<Flit>,
    ) -> bool {
        let End::Input { router, port } = to else { return true };
        let channel = &routers[router].inputs[port].channels[flit.channel];
        let lane = |flit: &Flit| (flit.channel, channel.lane(flit.level));
        let coming = on_wire.is_some_and(|other| lane(&other) == lane(flit));
        channel.flits(flit.level) + usize::from(coming) < rules.buffer_flits
    }

    /// T6: the flits that left over links in the cycle before, with the input ports that they come to; wires are free
    /// again.
    pub(super) fn coming_in(&mut self) -> Vec<(usize, usize, Flit)> {
        let mut coming_in = Vec::new();
        let mut arrive = |to: End, wire: &mut Option<Flit>| {
            if let (End::Input { router, port }, Some(flit)) = (to, wire.take()) {
                coming_in.push((router, port, flit));
            }
        };
        for (node, interface) in self.interfaces.iter_mut().enumerate() {
            arrive(self.rules.entrance_of(node), &mut interface.wire);
        }
        for output in self.routers.iter_mut().flat_map(|router| &mut router.outputs) {
            arrive(output.to, &mut output.wire);
        }
        coming_in
    }

    /// T2: at most one flit leaves each network interface.
    pub(super) fn send_from_interfaces(&mut self, coming_in: &[(usize, usize, Flit)], now: u64) {
        for (node, interface) in self.interfaces.iter_mut().enumerate() {
            let to = self.rules.entrance_of(node);
            let End::Input { router, port } = to else { unreachable!("an interface of no router") };
            let on_wire = coming_in.iter().find(|(into, at, _)| (*into, *at) == (router, port));
            let on_wire = on_wire.map(|(.., flit)| *flit);
            let has_room = |flit: &Flit| Self::has_room(&self.routers, &self.rules, to, flit, on_wire);
            interface.wire = interface.send(has_room, now);
            let Some(flit) = interface.wire else { continue };
            self.counts.wire += 1;
            let message = message_of(&mut self.messages, &flit);
            if flit.is_header() {
                message.serial = Some(self.entered);
                self.entered += 1;
            }
            if flit.is_tail()
                && let Some(host) = self.hosts.get_mut(node)
            {
                host.free(HostMessage::new(flit.message, &message.offer, &self.rules)); // H3
            }
            flit.number().into_iter().for_each(|number| message.flits[number].left.push(now));
        }
    }

    /// T2: a flit goes onto the wire, or to the node; L8: dummies end there.
    pub(super) fn send(&mut self, router: usize, port: usize, lane: (usize, usize), now: u64) {
        let output = &mut self.routers[router].outputs[port];
        let flit = output.send(lane);
        let is_through = matches!(output.to, End::Node);
        output.wire = Some(flit).filter(|_| !is_through);
        let Some(number) = flit.number() else { return };
        let message = message_of(&mut self.messages, &flit);
        message.flits[number].left.push(now);
        if is_through && flit.is_tail() {
            let offer = message.offer;
            match self.hosts.get_mut(offer.arrival.destination as usize) {
                Some(host) => host.receive(HostMessage::new(flit.message, &offer, &self.rules), now), // H6
                None => self.deliver(flit.message),
            }
        }
    }

    /// X3: a flit that was sent in this cycle gets the stamp with which it comes in in the next.
    pub(super) fn stamp_at_inputs(&mut self, now: u64) {
        for node in 0..self.interfaces.len() {
            let sent = self.interfaces[node].wire;
            self.interfaces[node].wire =
                sent.map(|flit| self.stamped(self.rules.entrance_of(node), flit, now));
        }
        for (router, port) in self.output_ports() {
            let OutputPort { to, wire, .. } = self.routers[router].outputs[port];
            self.routers[router].outputs[port].wire = wire.map(|flit| self.stamped(to, flit, now));
        }
    }

    pub(super) fn stamped(&mut self, to: End, flit: Flit, now: u64) -> Flit {
        let End::Input { router, port } = to else { unreachable!("a flit beyond a node") };
        let InputPort { clocks, channels } = &mut self.routers[router].inputs[port];
        let channel = &channels[flit.channel];
        let lane = flit.channel * channel.lanes.len() + channel.lane(flit.level);
        let mut flit = Flit { joined_cycle: now + 1, ..flit };
        clocks.stamp(lane, &mut flit);
        flit
    }
}
