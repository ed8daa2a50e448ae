//! The input side of a virtual channel: its lanes, the message that crosses, and the fragment that gives way.

use std::collections::VecDeque;
use std::ops::Range;

use super::flit::{Flit, FlitKind};
use crate::plain::rules::{LEVELS, Rules};

/// The input side of a virtual channel.
#[derive(Clone)]
pub(super) struct InputChannel {
    /// L2: one lane, or one for each level.
    pub(super) lanes: Vec<VecDeque<Flit>>,
    /// L7, by lane: the output of the message at its front, if that has been interrupted.
    interrupted: Vec<Option<Output>>,
    /// L3.
    pub(super) current: Option<Current>,
    /// L3.
    pub(super) closing: Option<Closing>,
    /// L12: further flits of its block.
    held: usize,
}

/// An output port and virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) port: usize,
    pub(super) channel: usize,
}

/// L3: the message that crosses, or asks to.
#[derive(Clone, Debug)]
pub(super) struct Current {
    pub(super) level: usize,
    lane: usize,
    /// The output port that it goes to; before its request those of parallel links.
    pub(super) ports: Range<usize>,
    /// V3: the virtual channel there.
    pub(super) channel: usize,
    /// T8: the first cycle in which it can be granted that.
    pub(super) request_cycle: u64,
    /// Whether it owns that.
    pub(super) is_granted: bool,
    /// L7: whether a dummy header has to cross first.
    needs_header: bool,
    /// L11: whether a higher level waits for what it owns.
    pub(super) is_accelerated: bool,
    /// The flit of this fragment that has crossed last.
    last: Option<Flit>,
}

/// L6: what is still to cross of a fragment that gave way.
#[derive(Clone, Debug)]
pub(super) struct Closing {
    lane: usize,
    pub(super) output: Output,
    /// Flits at the front of its lane.
    residue: usize,
    /// Whether a dummy tail is to follow.
    needs_tail: bool,
    /// The flit of this fragment that has crossed last.
    last: Flit,
}

/// What a message that gives way leaves.
pub(super) enum Yielded {
    /// L5: it has crossed nothing; the output that it owned.
    Nothing(Option<Output>),
    /// L6: the message goes on later, behind a dummy header.
    Fragment(u64),
    /// L6: the rest of it crosses without a dummy.
    Rest,
}

/// What follows from a crossing.
pub(super) enum Crossed {
    /// More of the fragment is to come.
    Body,
    /// L6: a fragment that gave way has crossed.
    Closed,
    /// L4: the current message has.
    Through,
}

impl Current {
    pub(super) fn output(&self) -> Output {
        Output { port: self.ports.start, channel: self.channel }
    }

    /// T4: whether it asks for an output.
    pub(super) fn asks(&self, now: u64) -> bool {
        !self.is_granted && self.request_cycle <= now
    }
}

impl InputChannel {
    pub(super) fn new(rules: &Rules) -> Self {
        let lanes = if rules.preempts { LEVELS } else { 1 };
        Self {
            lanes: vec![VecDeque::new(); lanes],
            interrupted: vec![None; lanes],
            current: None,
            closing: None,
            held: 0,
        }
    }

    pub(super) fn lane(&self, level: usize) -> usize {
        if self.lanes.len() == 1 { 0 } else { level }
    }

    /// T2, L2: flits in the lane of a level.
    pub(super) fn flits(&self, level: usize) -> usize {
        self.lanes[self.lane(level)].len()
    }

    /// L7: flits in all lanes; dummies that come to be here are not among them.
    pub(super) fn waiting(&self) -> usize {
        self.lanes.iter().map(VecDeque::len).sum()
    }

    /// The header of the current message, if it is still to cross here.
    pub(super) fn header(&self) -> Option<Flit> {
        let front = self.lanes[self.current.as_ref()?.lane].front()?;
        (front.number() == Some(0)).then_some(*front)
    }

    /// L4: the flit at the front of the highest lane that has one, and the output of its message, if that was
    /// interrupted.
    pub(super) fn next(&self) -> Option<(Flit, Option<Output>)> {
        let lane = self.lanes.iter().position(|flits| !flits.is_empty())?;
        Some((self.lanes[lane][0], self.interrupted[lane]))
    }

    /// L4: the message of the next flit becomes current.
    pub(super) fn begin(&mut self, next: Flit, ports: Range<usize>, channel: usize, request_cycle: u64) {
        let lane = self.lane(next.level);
        let needs_header = self.interrupted[lane].is_some();
        assert!(self.current.is_none(), "two current messages");
        assert!(needs_header || next.is_header(), "a body at the front without its header");
        self.current = Some(Current {
            level: next.level,
            lane,
            ports,
            channel,
            request_cycle,
            is_granted: false,
            needs_header,
            is_accelerated: false,
            last: None,
        });
    }

    /// A flit comes in; whether its message preempts the current one (L5).
    pub(super) fn receive(&mut self, flit: Flit, rules: &Rules) -> bool {
        let lane = self.lane(flit.level);
        let was_empty = self.lanes[lane].is_empty();
        self.lanes[lane].push_back(flit);
        assert!(self.lanes[lane].len() <= rules.buffer_flits, "more flits than slots");
        rules.preempts && was_empty && self.current.as_ref().is_some_and(|current| flit.level < current.level)
    }

    /// L5, L6: the current message gives way.
    pub(super) fn give_way(&mut self) -> Yielded {
        let current = self.current.take().expect("a message that gives way");
        let output = current.output();
        let Some(last) = current.last else {
            return Yielded::Nothing(Some(output).filter(|_| current.is_granted));
        };
        assert!(self.closing.is_none(), "two fragments that give way");
        let flits = &self.lanes[current.lane];
        // past the decoder: the flit at the front, or what the lane has of the rest of the block, up to the tail
        let past = self.held.max(1).min(flits.len());
        let tail = flits.iter().take(past).position(Flit::is_tail);
        let residue = tail.map_or(past, |tail| tail + 1);
        let needs_tail = tail.is_none();
        self.interrupted[current.lane] = Some(output).filter(|_| needs_tail);
        self.closing = Some(Closing { lane: current.lane, output, residue, needs_tail, last });
        if needs_tail { Yielded::Fragment(last.message) } else { Yielded::Rest }
    }

    /// T3, L6, L7: the flit that would cross now, and where to: of the closing fragment, else of the current message,
    /// if that is granted its output.
    pub(super) fn candidate(&self, granted: bool) -> Option<(Flit, Output)> {
        if let Some(closing) = &self.closing {
            let flit = match closing.residue {
                0 => Flit { kind: FlitKind::DummyTail, ..closing.last },
                _ => self.lanes[closing.lane][0],
            };
            return Some((flit, closing.output));
        }
        let current = self.current.as_ref().filter(|_| granted)?;
        let front = *self.lanes[current.lane].front()?;
        let flit = if current.needs_header { Flit { kind: FlitKind::DummyHeader, ..front } } else { front };
        Some((flit, current.output()))
    }

    /// L11: whether what would cross goes before all levels.
    pub(super) fn is_accelerated(&self, rules: &Rules) -> bool {
        let is_waited_for = self.current.as_ref().is_some_and(|current| current.is_accelerated);
        rules.accelerates && (self.closing.is_some() || is_waited_for)
    }

    /// L12: whether it is within a block.
    pub(super) fn is_held(&self) -> bool {
        self.held > 0
    }

    /// L12: it had nothing to send, or no room for it.
    pub(super) fn is_no_candidate(&mut self) {
        self.held = 0;
    }

    /// T3: the flit crosses that would.
    pub(super) fn cross(&mut self, flit: Flit, rules: &Rules) -> Crossed {
        // L12
        self.held = match self.held {
            _ if flit.is_tail() => 0,
            0 => rules.block_flits - 1,
            held => held - 1,
        };
        if let Some(closing) = &mut self.closing {
            if flit.kind == FlitKind::DummyTail && closing.residue == 0 {
                closing.needs_tail = false;
            } else {
                closing.residue -= 1;
                self.lanes[closing.lane].pop_front();
            }
            closing.last = flit;
            if closing.residue == 0 && !closing.needs_tail {
                self.closing = None;
                return Crossed::Closed;
            }
            return Crossed::Body;
        }
        let current = self.current.as_mut().expect("a message that crosses");
        current.last = Some(flit);
        if current.needs_header {
            current.needs_header = false;
        } else {
            self.lanes[current.lane].pop_front();
        }
        if !flit.is_tail() {
            return Crossed::Body;
        }
        self.interrupted[current.lane] = None;
        self.current = None;
        Crossed::Through
    }

    /// L3, L5: no message waits behind one of a lower level.
    pub(super) fn assert_levels(&self) {
        let highest = self.lanes.iter().position(|flits| !flits.is_empty());
        if self.lanes.len() > 1
            && let Some(highest) = highest
        {
            let current = self.current.as_ref().expect("a current message");
            assert!(current.level <= highest, "level {highest} waits behind {}", current.level);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lanes.iter().all(VecDeque::is_empty)
            && self.interrupted.iter().all(Option::is_none)
            && self.current.is_none()
            && self.closing.is_none()
    }
}
