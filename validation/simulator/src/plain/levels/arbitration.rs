//! Which fragment gets an output virtual channel, and which one is accelerated (T4, L10, L11, N2).

use super::crossbar::Crossing;
use super::input::{Closing, Current, Output};
use super::{Network, Router, message_of};

/// A fragment of an input virtual channel that is granted an output.
#[derive(Clone, Copy)]
pub(super) struct Grant {
    pub(super) router: usize,
    pub(super) input: (usize, usize),
    pub(super) output: Output,
}

impl Network {
    /// N2: of parallel links a header takes in the cycle of its request the one of which the fewest lanes belong to
    /// messages or are asked for, after the crossings of this cycle; of equal ones the first. Headers choose one after
    /// another, by input port and virtual channel.
    pub(super) fn choose_links(&mut self, crossings: &[Crossing], now: u64) {
        for router in 0..self.routers.len() {
            for (port, channel) in self.input_channels() {
                let current = &self.routers[router].inputs[port].channels[channel].current;
                let Some(Current { request_cycle, ports, .. }) = current else { continue };
                if *request_cycle == now && ports.len() > 1 {
                    let least = ports.clone().min_by_key(|port| self.taken(router, *port, crossings, now));
                    let current = &mut self.routers[router].inputs[port].channels[channel].current;
                    if let (Some(current), Some(least)) = (current, least) {
                        current.ports = least..least + 1;
                    }
                }
            }
        }
    }

    /// N2: the lanes of an output port that belong to fragments or are asked for.
    pub(super) fn taken(&self, router: usize, output: usize, crossings: &[Crossing], now: u64) -> usize {
        let of_channel = |(port, channel): (usize, usize)| {
            let buffers = &self.routers[router].inputs[port].channels[channel];
            let ends = crossings.iter().any(|crossing| {
                crossing.router == router
                    && crossing.input == (port, channel)
                    && crossing.output.port == output
                    && crossing.flit.is_tail()
            });
            let closes = buffers.closing.as_ref().is_some_and(|closing| closing.output.port == output);
            let asks = buffers
                .current
                .as_ref()
                .is_some_and(|current| current.ports == (output..output + 1) && current.request_cycle <= now);
            usize::from(closes) + usize::from(asks) - usize::from(ends)
        };
        self.input_channels().map(of_channel).sum()
    }

    /// Input ports of a router with their virtual channels, in order.
    pub(super) fn input_channels(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let ((_, _, ports), channels) = (self.rules.size(), self.rules.lanes());
        (0..ports).flat_map(move |port| (0..channels).map(move |channel| (port, channel)))
    }

    /// T4, L10: each free output goes to the highest level (with preemption), of equal ones to the oldest request, then
    /// to the first port in turn (S1), then to the lowest virtual channel.
    ///
    /// L6: none to a message whose virtual channel still closes a fragment after the crossings of this cycle.
    pub(super) fn grants(&self, crossings: &[Crossing], now: u64) -> Vec<Grant> {
        let mut grants = Vec::new();
        for (router, Router { inputs, outputs }) in self.routers.iter().enumerate() {
            for (port, channel) in self.input_channels() {
                let (output, ports) = (Output { port, channel }, inputs.len());
                let behind = &outputs[port].channels[channel];
                if behind.owner.is_some() {
                    continue; // T9
                }
                let requests = self.input_channels().filter_map(|(port, channel)| {
                    let buffers = &inputs[port].channels[channel];
                    let is_closed = |closing: &Closing| {
                        crossings.iter().any(|crossing| {
                            (crossing.router, crossing.input, crossing.output)
                                == (router, (port, channel), closing.output)
                                && crossing.flit.is_tail()
                        })
                    };
                    let current = buffers.current.as_ref()?;
                    let closes = buffers.closing.as_ref().is_some_and(|closing| !is_closed(closing));
                    let level = if self.rules.preempts { current.level } else { 0 };
                    let turn = (port + ports - behind.first_port) % ports; // S1
                    (current.asks(now) && current.output() == output && !closes).then_some((
                        level,
                        current.request_cycle,
                        turn,
                        channel,
                        port,
                    ))
                });
                let first = requests.min();
                grants.extend(first.map(|(.., channel, port)| Grant {
                    router,
                    input: (port, channel),
                    output,
                }));
            }
        }
        grants
    }

    /// The first request of a header in a router is written down.
    pub(super) fn record_requests(&mut self, now: u64) {
        for channel in self.routers.iter().flat_map(|router| &router.inputs).flat_map(|port| &port.channels) {
            let asks = channel.current.as_ref().is_some_and(|current| current.request_cycle == now);
            if let Some(header) = channel.header().filter(|_| asks) {
                let message = message_of(&mut self.messages, &header);
                if message.requested.len() == message.links.len() {
                    message.requested.push(now);
                }
            }
        }
    }

    /// T4, T9: the output belongs to the fragment from now on.
    pub(super) fn grant(&mut self, Grant { router, input: (port, channel), output }: Grant, now: u64) {
        let Router { inputs, outputs } = &mut self.routers[router];
        let ports = inputs.len();
        let buffers = &mut inputs[port].channels[channel];
        if let Some(header) = buffers.header() {
            let message = message_of(&mut self.messages, &header);
            message.granted.truncate(message.links.len());
            message.granted.push(now);
        }
        buffers.current.as_mut().expect("a message that asks").is_granted = true;
        let behind = &mut outputs[output.port].channels[output.channel];
        assert!(behind.owner.is_none(), "an output that belongs to another");
        behind.owner = Some((port, channel));
        behind.first_port = (port + 1) % ports; // S1
    }

    /// L11: a message that owns what a higher level asks for is accelerated from the next cycle on.
    pub(super) fn set_acceleration(&mut self, now: u64) {
        if !self.rules.accelerates {
            return;
        }
        for router in &mut self.routers {
            let asked: Vec<(Output, usize)> = router
                .inputs
                .iter()
                .flat_map(|port| &port.channels)
                .filter_map(|channel| channel.current.as_ref().filter(|current| current.asks(now)))
                .map(|current| (current.output(), current.level))
                .collect();
            let channels = router.inputs.iter_mut().flat_map(|port| &mut port.channels);
            for current in channels.filter_map(|channel| channel.current.as_mut()) {
                let output = current.output();
                let is_waited_for =
                    asked.iter().any(|(asked, level)| *asked == output && *level < current.level);
                current.is_accelerated |= current.is_granted && is_waited_for;
            }
        }
    }
}
