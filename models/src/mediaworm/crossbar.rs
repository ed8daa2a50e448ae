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
    /// Of a crossbar and one of the schedulers that the model has.
    pub fn of(crossbar: Crossbar, scheduler: Scheduler) -> Self {
        let order = match scheduler {
            Scheduler::Fifo => Order::Fifo,
            Scheduler::FineGrainedFairQueueing => Order::FairQueueing,
            _ => Order::VirtualClock,
        };
        Self { is_multiplexed: crossbar == Crossbar::Multiplexed, order }
    }

    /// Whether real time goes before best effort.
    pub fn has_priority(&self) -> bool {
        self.order != Order::Fifo
    }
}
