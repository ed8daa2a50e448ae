//! Messages, their flits, and the record of where each flit was when.

use flitwise_language::quantity::Waits;

use crate::{Arrival, Delivery, Offer};

use crate::plain::rules::Rules;

/// A message and the journeys of its flits.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) arrival: Arrival,
    /// Messages whose headers left their sources before its own; `None` before it has left.
    pub(crate) serial: Option<u64>,
    /// By flit, the header first.
    pub(crate) flits: Vec<Journey>,
    /// By router: the cycle in which the header requests its output lane.
    pub(crate) requested: Vec<u64>,
    /// By router: the cycle in which it is granted.
    pub(super) granted: Vec<u64>,
    pub(super) offer: Offer,
}

/// The cycles in which a flit moved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journey {
    /// It left over a link: that of its source, then those behind each router.
    pub(crate) left: Vec<u64>,
    /// By router: it crossed the crossbar.
    pub(crate) crossed: Vec<u64>,
}

/// A flit in a buffer or on a wire.
#[derive(Clone, Copy)]
pub(super) struct Flit {
    /// Messages generated before its own.
    pub(super) message: u64,
    /// The virtual channel that it is on.
    pub(super) lane: usize,
    /// That of its message \[cycles/flit\].
    pub(super) vtick: f64,
    /// Its place in the message, 0 for the header.
    pub(super) number: usize,
    pub(super) is_tail: bool,
    /// The cycle in which it joined the output lane or source queue that it is or was last in.
    pub(super) joined_cycle: u64,
    /// The stamp that it got there.
    pub(super) stamp: f64,
}

impl Flit {
    pub(super) fn is_header(&self) -> bool {
        self.number == 0
    }
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
            offer: *offer,
        }
    }

    /// What is known of it once it is through; the parts of the latency are those of the table in the notes.
    pub(super) fn delivery(&self, rules: &Rules) -> Delivery {
        let Arrival { cycle, source, destination, class } = self.arrival;
        let (header, tail) = (&self.flits[0].left, &self.flits[self.flits.len() - 1].left);
        let (routers, delay) = (header.len() - 1, rules.request_delay());
        let over_all_routers = |wait: &dyn Fn(usize) -> u64| (0..routers).map(wait).sum::<u64>() as u32;
        let came_in = |router: usize| header[router] + 1;
        let left = |router: usize| header[router + 1];
        let (requested, granted) = (&self.requested, &self.granted);
        let delivered_cycle = tail[routers];
        let waits = Waits {
            input: over_all_routers(&|router| requested[router] - (came_in(router) + delay)),
            arbitration: over_all_routers(&|router| granted[router] - requested[router]),
            output: over_all_routers(&|router| {
                left(router) - (granted[router] + rules.pipeline_stages - 1 - delay)
            }),
            gaps: (delivered_cycle - (left(routers - 1) + self.flits.len() as u64 - 1)) as u32,
        };
        Delivery {
            generated_cycle: cycle,
            entered_cycle: came_in(0),
            delivered_cycle,
            source,
            destination,
            class,
            hops: routers as u8 - 1,
            waits,
            part: self.offer.part,
        }
    }
}
