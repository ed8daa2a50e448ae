//! Messages, and the record of where each of their flits was when.

use flitwise_language::quantity::Waits;

use crate::{Arrival, Delivery, HostTimes, Offer};

use super::rules::Rules;

/// A message and the journeys of its flits.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its class, and whence it goes whither.
    pub arrival: Arrival,
    /// Messages whose headers left their sources before its own; `None` before it has left.
    pub serial: Option<u64>,
    /// By flit, the header first.
    pub flits: Vec<Journey>,
    /// By router: the cycle in which the header requests its output lane, for the first time.
    pub requested: Vec<u64>,
    /// By router: the cycle in which it is granted, for the last time.
    pub granted: Vec<u64>,
    /// By router: its lanes there. Only routers without levels write them down.
    pub lanes: Vec<RouterLanes>,
    /// L8: routers where its header has crossed, and the output ports there.
    pub(super) links: Vec<(usize, usize)>,
    pub(super) host: HostTimes,
    pub(super) preemptions: u32,
    pub(super) offer: Offer,
}

/// The cycles in which a flit moved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Journey {
    /// It left over a link: that of its source, then those behind each router.
    pub left: Vec<u64>,
    /// By router: it crossed the crossbar.
    pub crossed: Vec<u64>,
    /// By router: the stamp that it got in the output lane behind the crossbar; 0 of best effort and of schedulers
    /// without stamps. Only routers without levels write it down.
    pub stamps: Vec<f64>,
    /// The delays of the links that it left over; none where no link has one \[cycles\].
    pub delays: Vec<u64>,
}

impl Journey {
    /// The delay of a link that it left over; 0 is that of its source \[cycles\].
    pub fn delay(&self, link: usize) -> u64 {
        self.delays.get(link).copied().unwrap_or(0)
    }
}

/// What a message takes of a router where its header has come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterLanes {
    /// The router.
    pub router: usize,
    /// Port and virtual channel where it comes in.
    pub input: (usize, usize),
    /// Output port and virtual channel that it asks for, once it is at the front: of a group of virtual channels the
    /// first until it is granted one.
    pub output: Option<(usize, usize)>,
}

impl Message {
    pub(super) fn new(offer: &Offer) -> Self {
        let flits = vec![Journey::default(); offer.flits as usize];
        Self {
            arrival: offer.arrival,
            serial: None,
            flits,
            requested: Vec::new(),
            granted: Vec::new(),
            lanes: Vec::new(),
            links: Vec::new(),
            host: HostTimes::default(),
            preemptions: 0,
            offer: *offer,
        }
    }

    /// What is known of it once it is through; the parts of the latency are those of the table in the notes.
    pub(super) fn delivery(&self, rules: &Rules) -> Delivery {
        let Arrival { cycle, source, destination, class } = self.arrival;
        let (first, last) = (&self.flits[0], &self.flits[self.flits.len() - 1]);
        let (header, tail) = (&first.left, &last.left);
        let (routers, delay) = (header.len() - 1, rules.request_delay());
        let over_all_routers = |wait: &dyn Fn(usize) -> u64| (0..routers).map(wait).sum::<u64>() as u32;
        let came_in = |router: usize| header[router] + 1 + first.delay(router);
        let left = |router: usize| header[router + 1];
        let (requested, granted) = (&self.requested, &self.granted);
        let delivered_cycle = tail[routers] + last.delay(routers);
        let waits = Waits {
            input: over_all_routers(&|router| requested[router] - (came_in(router) + delay)),
            arbitration: over_all_routers(&|router| granted[router] - requested[router]),
            output: over_all_routers(&|router| {
                left(router) - (granted[router] + rules.pipeline_stages - 1 - delay)
            }),
            gaps: (tail[routers] - (left(routers - 1) + self.flits.len() as u64 - 1)) as u32,
        };
        Delivery {
            generated_cycle: cycle,
            // W1: the delay of the injection link is a part of the network latency
            entered_cycle: header[0] + 1,
            delivered_cycle,
            source,
            destination,
            class,
            hops: routers as u8 - 1,
            waits,
            part: self.offer.part,
            host: self.host,
            preemptions: self.preemptions,
        }
    }
}
