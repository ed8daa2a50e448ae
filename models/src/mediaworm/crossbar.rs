//! Crossbars and schedulers as this model tells them apart.

use flitwise_language::scenario::{Crossbar, Scheduler};

/// Who goes first where flits compete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Stamps of a VirtualClock that starts again with every message; best effort last.
    VirtualClock,
    /// Stamps of fair queueing that start again with every message; best effort last.
    FairQueueing,
    /// By cycle of joining, all classes alike.
    Fifo,
}

/// Where flits of several virtual channels compete, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contention {
    /// Whether one flit at most leaves an input port, and one enters an output port, per cycle.
    pub is_multiplexed: bool,
    /// Who goes first.
    pub order: Order,
}

impl Contention {
    /// Of a crossbar and a scheduler, if the model has both.
    pub fn of(crossbar: Crossbar, scheduler: Scheduler) -> Option<Self> {
        let is_multiplexed = crossbar == Crossbar::Multiplexed;
        let order = match scheduler {
            Scheduler::FineGrainedVirtualClock => Order::VirtualClock,
            Scheduler::FineGrainedFairQueueing if is_multiplexed => Order::FairQueueing,
            Scheduler::Fifo if is_multiplexed => Order::Fifo,
            _ => return None,
        };
        Some(Self { is_multiplexed, order })
    }

    /// Whether real time goes before best effort.
    pub fn has_priority(&self) -> bool {
        self.order != Order::Fifo
    }
}
