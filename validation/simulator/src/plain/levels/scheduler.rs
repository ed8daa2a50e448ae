//! The scheduler of an input port or a network interface: stamps and the order of flits (S7, S10, X3, L1).

use flitwise_language::scenario::{ClassKind, Scheduler};

use super::flit::Flit;

/// What decides between flits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Discipline {
    /// S7: the cycle of joining, no levels.
    Fifo,
    /// S10 with the clocks of S3.
    VirtualClock,
    /// S10 with the stamps of S4.
    FairQueueing,
}

impl Discipline {
    /// Of routers with this scheduler.
    pub(super) fn of(scheduler: Scheduler) -> Self {
        match scheduler {
            Scheduler::Fifo => Self::Fifo,
            Scheduler::FineGrainedVirtualClock => Self::VirtualClock,
            Scheduler::FineGrainedFairQueueing => Self::FairQueueing,
            other => unreachable!("levels with {}", other.word()),
        }
    }
}

/// The clocks of an input port or of a network interface.
pub(super) struct Clocks {
    discipline: Discipline,
    /// L2, by lane: `aux` of S3, `F` of S4.
    clock: Vec<f64>,
    /// S4: `v`, the stamp of the real-time flit that went last.
    virtual_time: f64,
}

const REAL_TIME: usize = ClassKind::RealTime.level();

impl Clocks {
    pub(super) fn new(discipline: Discipline, lanes: usize) -> Self {
        Self { discipline, clock: vec![0.0; lanes], virtual_time: 0.0 }
    }

    pub(super) fn discipline(&self) -> Discipline {
        self.discipline
    }

    /// S10: a flit gets its stamp as it joins its lane; with every header, dummies included, the clock starts from 0.
    pub(super) fn stamp(&mut self, lane: usize, flit: &mut Flit) {
        let clock = &mut self.clock[lane];
        if flit.is_header() {
            *clock = 0.0;
        }
        *clock = match self.discipline {
            _ if flit.level != REAL_TIME => 0.0,
            Discipline::Fifo => 0.0,
            Discipline::VirtualClock => (flit.joined_cycle as f64).max(*clock) + flit.vtick,
            Discipline::FairQueueing => self.virtual_time.max(*clock) + flit.vtick,
        };
        flit.stamp = *clock;
    }

    /// L1: the level, then the stamp of real time, the cycle of joining of others; with `fifo` the latter alone.
    pub(super) fn rank(&self, flit: &Flit) -> (usize, f64) {
        match self.discipline {
            Discipline::Fifo => (0, flit.joined_cycle as f64),
            _ if flit.level == REAL_TIME => (flit.level, flit.stamp),
            _ => (flit.level, flit.joined_cycle as f64),
        }
    }

    /// X3: the same of flits of different ports, whose stamps count from `v` of each.
    pub(super) fn key(&self, flit: &Flit) -> (usize, f64) {
        match self.rank(flit) {
            (REAL_TIME, stamp) if self.discipline == Discipline::FairQueueing => {
                (REAL_TIME, stamp - self.virtual_time)
            }
            rank => rank,
        }
    }

    /// S4: a flit has gone.
    pub(super) fn serve(&mut self, flit: &Flit) {
        if flit.level == REAL_TIME {
            self.virtual_time = flit.stamp;
        }
    }
}
