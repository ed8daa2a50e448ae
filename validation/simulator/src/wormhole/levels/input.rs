//! Stage 1: which message of a virtual channel is in front, and which gives way (L3 to L7).

use crate::control::power::Move;
use crate::wormhole::lane::NONE;

use super::Levels;
use super::buffers::Stamped;
use super::crossbar::Candidate;
use super::flit::Flit;
use super::rules::LEVELS;

/// How far the current message of a virtual channel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It waits for the cycle of its request.
    Routed,
    /// It waits for its output.
    Asks,
    /// It owns its output, and nothing has crossed.
    Granted,
    /// A part of it has crossed.
    Crosses,
}

/// The fragment of a message that gave way, while it crosses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closing {
    pub(super) to: u32,
    pub(super) level: u8,
    /// Flits that go on; then a dummy tail crosses, unless the last of them is a tail.
    pub(super) residue: u32,
}

/// The input side of a virtual channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    /// The level of the current message.
    pub(super) current: Option<u8>,
    pub(super) progress: Progress,
    /// Whether a higher level has waited for its output.
    pub(super) is_accelerated: bool,
    /// The output virtual channel of the current message, from its request on.
    pub(super) to: u32,
    /// The cycle of its request.
    pub(super) asks_in: u64,
    pub(super) closing: Option<Closing>,
    /// Whether its candidate may be another in the next cycle.
    pub(super) is_changed: bool,
    /// The flit that crossed last.
    pub(super) last: Stamped,
}

impl Input {
    pub(super) fn new() -> Self {
        Self {
            current: None,
            progress: Progress::Routed,
            is_accelerated: false,
            to: NONE,
            asks_in: 0,
            closing: None,
            is_changed: false,
            last: Stamped { stamp: 0, flit: Flit::of(0, 0) },
        }
    }

    /// Whether the current message owns its output.
    #[inline]
    pub(super) fn owns(&self) -> bool {
        matches!(self.progress, Progress::Granted | Progress::Crosses)
    }
}

impl Levels {
    /// Stage 1: flits that were sent in the cycle before come in, then messages come to the front that may.
    pub(super) fn come_in(&mut self, now: u64) {
        for at in 0..self.links.coming_in.len() {
            let wire = self.links.coming_in[at];
            let (channel, level) = (wire.channel as usize, self.rules.level(wire.flit.class()));
            let lane = self.rules.input_lane(channel, level);
            let was_empty = self.lanes.push(lane, Stamped { stamp: wire.stamp, flit: wire.flit });
            match self.inputs[channel].current {
                // its tail may have crossed in this cycle, and others may wait
                None => self.vacant.push(channel as u32),
                Some(current) if was_empty => {
                    if self.rules.preempts && level < usize::from(current) {
                        self.give_way(channel, now);
                        self.begin(channel, level, now);
                    }
                    self.change(channel);
                }
                Some(_) => {}
            }
        }
        self.links.coming_in.clear();
        while let Some(channel) = self.vacant.pop() {
            let channel = channel as usize;
            if self.inputs[channel].current.is_none()
                && let Some(level) = self.highest(channel)
            {
                self.begin(channel, level, now);
            }
        }
    }

    /// The highest level of a virtual channel with a flit in stage 1.
    fn highest(&self, channel: usize) -> Option<usize> {
        let lane = |level: usize| &self.lanes[self.rules.input_lane(channel, level)];
        if self.rules.preempts {
            return (0..LEVELS).find(|level| lane(*level).flits > 0);
        }
        let lane = lane(0);
        (lane.flits > 0).then(|| self.rules.level(lane.first().flit.class()))
    }

    /// L4: the message at the front of a level of a virtual channel is the current one from cycle `now` on.
    fn begin(&mut self, channel: usize, level: usize, now: u64) {
        let input = &mut self.inputs[channel];
        input.current = Some(level as u8);
        input.progress = Progress::Routed;
        input.is_accelerated = false;
        input.asks_in = now + self.rules.request_delay;
        self.requests.will_request(channel, input.asks_in);
    }

    /// L5, L6: the current message of a virtual channel gives way in cycle `now`.
    fn give_way(&mut self, channel: usize, now: u64) {
        let (rules, input) = (&self.rules, &mut self.inputs[channel]);
        let level = usize::from(input.current.take().expect("a message that gives way"));
        let to = input.to as usize;
        match input.progress {
            Progress::Routed => {}
            Progress::Asks => self.requests.withdraw(rules, channel, to),
            Progress::Granted => self.requests.revoke(rules, to),
            Progress::Crosses => {
                debug_assert!(input.closing.is_none(), "channel {channel} closes two fragments");
                let lane = &mut self.lanes[rules.input_lane(channel, level)];
                let most = self.crossbars.left_of_block(rules, channel, now).max(1);
                let (residue, has_tail) = lane.first_up_to_tail(most);
                if !has_tail {
                    lane.resumes = to as u32;
                }
                input.closing = Some(Closing { to: to as u32, level: level as u8, residue });
            }
        }
    }

    /// The candidate of a virtual channel may be another in the next cycle.
    #[inline]
    pub(super) fn change(&mut self, channel: usize) {
        let is_changed = &mut self.inputs[channel].is_changed;
        if !std::mem::replace(is_changed, true) {
            self.changed.push(channel as u32);
        }
    }

    /// The end of a cycle: what virtual channels can send across in the next one that have changed in this one.
    pub(super) fn look_again(&mut self) {
        let mut changed = std::mem::take(&mut self.changed);
        for channel in changed.drain(..) {
            self.inputs[channel as usize].is_changed = false;
            self.look_at(channel as usize);
        }
        self.changed = changed;
    }

    /// What a virtual channel can send across in the next cycle.
    #[inline]
    pub(super) fn look_at(&mut self, channel: usize) {
        let candidate = self.candidate(channel);
        self.crossbars.set(&self.rules, channel, candidate);
    }

    /// What a virtual channel could send across as it is now: of a closing fragment, else of its current message.
    #[inline]
    pub(super) fn candidate(&self, channel: usize) -> Option<Candidate> {
        let (rules, input) = (&self.rules, &self.inputs[channel]);
        let (level, to, stamp, is_accelerated);
        if let Some(closing) = input.closing {
            (level, to) = (usize::from(closing.level), closing.to as usize);
            stamp = match closing.residue {
                0 => input.last.stamp,
                _ => self.lanes[rules.input_lane(channel, level)].first().stamp,
            };
            is_accelerated = rules.accelerates;
        } else {
            level = usize::from(input.current.filter(|_| input.owns())?);
            let lane = &self.lanes[rules.input_lane(channel, level)];
            if lane.flits == 0 {
                return None;
            }
            (to, stamp, is_accelerated) = (input.to as usize, lane.first().stamp, input.is_accelerated);
        }
        let has_room = self.links.lanes[rules.output_lane(to, level)].flits < rules.buffer_flits;
        has_room.then_some(Candidate { level, stamp, is_accelerated, to })
    }

    /// Stage P-1: the chosen flits cross.
    pub(super) fn cross(&mut self, now: u64) {
        let mut chosen = std::mem::take(&mut self.chosen);
        let first = (now % self.rules.turn_ports as u64) as usize;
        let mut word = 0;
        while let Some(mut busy) = self.crossbars.busy(word) {
            while busy != 0 {
                let router = word * u64::BITS as usize + busy.trailing_zeros() as usize;
                busy &= busy - 1;
                let before = chosen.len();
                match &mut self.arbiters {
                    _ if self.herd.as_ref().is_some_and(|herd| herd.is_stopped(router)) => {}
                    Some(arbiters) => {
                        self.crossbars.choose_in_turn(&self.rules, arbiters, router, first, &mut chosen);
                    }
                    None => self.crossbars.choose(&self.rules, router, first, now, &mut chosen),
                }
                if let Some(meter) = &mut self.meter {
                    meter.moves.crossed += (chosen.len() - before) as u64;
                }
                if let Some(herd) = &mut self.herd {
                    chosen[before..].iter().for_each(|_| herd.moves(router, Move::Crosses));
                }
            }
            word += 1;
        }
        self.account.meters.flit_hops += chosen.len() as u64;
        for channel in chosen.drain(..) {
            self.cross_one(channel as usize, now);
        }
        self.chosen = chosen;
    }

    /// The candidate of a virtual channel crosses.
    #[inline]
    fn cross_one(&mut self, channel: usize, now: u64) {
        let rules = &self.rules;
        let input = &mut self.inputs[channel];
        let (level, to, one);
        if let Some(closing) = &mut input.closing {
            (level, to) = (usize::from(closing.level), closing.to as usize);
            one = if closing.residue > 0 {
                closing.residue -= 1;
                self.lanes.pop(rules, channel, level)
            } else {
                let flit = input.last.flit.dummy_tail();
                self.account.gave_way(flit);
                Stamped { flit, ..input.last }
            };
            if one.flit.is_tail() {
                input.closing = None;
                if input.progress == Progress::Asks {
                    self.requests.may_be_granted(input.to as usize);
                }
            }
        } else {
            (level, to) = (usize::from(input.current.expect("a message that crosses")), input.to as usize);
            let lane = &mut self.lanes[rules.input_lane(channel, level)];
            one = if lane.resumes == NONE {
                self.lanes.pop(rules, channel, level)
            } else {
                lane.resumes = NONE;
                let first = lane.first();
                #[cfg(debug_assertions)]
                {
                    self.account.dummy_headers += 1;
                }
                Stamped { flit: first.flit.dummy_header(), ..first }
            };
            input.progress = Progress::Crosses;
            if one.flit.is_tail() {
                input.current = None;
                self.vacant.push(channel as u32);
            }
        }
        input.last = one;
        let is_closing = input.closing.is_some();
        self.crossbars.sends(rules, channel, (level, one.stamp, one.flit.is_tail()), now);
        let has_room = self.links.push(rules, to, level, one.flit, now);
        let lane = &self.lanes[rules.input_lane(channel, level)];
        if one.flit.is_body() && has_room && lane.flits > 0 && !is_closing {
            self.crossbars.goes_on(channel, lane.first().stamp);
        } else {
            self.end_crosses(channel, to, one.flit);
        }
    }

    /// A flit crosses that is not followed by another like it at once: what is kept of it.
    #[inline(never)]
    fn end_crosses(&mut self, channel: usize, to: usize, flit: Flit) {
        self.change(channel);
        let rules = &self.rules;
        if flit.is_tail() {
            self.requests.release(rules, to);
        }
        self.account.dummies += u64::from(flit.is_dummy());
        let level = rules.level(flit.class());
        if flit.is_true_header() {
            self.lanes[rules.input_lane(channel, level)].has_asked = false;
        }
        if rules.preempts && self.wiring.parallel_links() > 1 {
            let router = rules.input(rules.link(channel)).0;
            if flit.is_true_header() {
                self.account.took_link(flit, router, rules.link(to));
            }
            if flit.is_true_tail() {
                self.account.forget_link(flit, router);
            }
        }
    }

    /// Stage P-2: requests of this cycle, grants, and what is to be accelerated from the next cycle on (L11).
    pub(super) fn arbitrate(&mut self, now: u64) {
        if self.requests.is_idle(now) {
            return;
        }
        let mut asking = self.requests.of_cycle(now);
        let is_asking = |channel: &u32| {
            let input = &self.inputs[*channel as usize];
            input.current.is_some() && input.progress == Progress::Routed && input.asks_in == now
        };
        asking.retain(is_asking);
        if self.wiring.parallel_links() > 1 {
            // each choice counts those before it: fragments that keep their link, then by router, port and channel
            asking.sort_unstable_by_key(|channel| {
                let channel = *channel as usize;
                (!self.keeps_link(channel), self.rules.input(self.rules.link(channel)), channel)
            });
        }
        for channel in &asking {
            self.request(*channel as usize, now);
        }
        while let Some((channel, to)) =
            self.requests.grant(&self.rules, |input| self.inputs[input].closing.is_some())
        {
            self.is_granted(channel, to, now);
            // one of a higher level may wait for its closing fragment
            let current = self.inputs[channel].current.unwrap_or(0);
            if self.rules.accelerates && self.requests.has_higher(to, current) {
                self.inputs[channel].is_accelerated = true;
                self.change(channel);
            }
        }
        if self.rules.accelerates {
            for channel in &asking {
                self.accelerate(*channel as usize);
            }
        }
        self.requests.give_back(now, asking);
    }

    /// L7, L8: whether the current message of a virtual channel goes the way of fragments before it.
    fn keeps_link(&self, channel: usize) -> bool {
        let Some(level) = self.inputs[channel].current else { return false };
        let lane = &self.lanes[self.rules.input_lane(channel, level.into())];
        lane.resumes != NONE || lane.first().flit.is_dummy()
    }

    /// The current message of a virtual channel requests its output.
    fn request(&mut self, channel: usize, now: u64) {
        let level = usize::from(self.inputs[channel].current.expect("a message that asks"));
        let lane = &mut self.lanes[self.rules.input_lane(channel, level)];
        let to = match lane.resumes {
            NONE => {
                let flit = lane.first().flit;
                debug_assert!(flit.is_header(), "a body at the front without its header");
                if flit.is_true_header() && !std::mem::replace(&mut lane.has_asked, true) {
                    self.account.requests(flit, now);
                }
                self.output(channel, flit)
            }
            resumes => resumes as usize,
        };
        let input = &mut self.inputs[channel];
        (input.to, input.progress) = (to as u32, Progress::Asks);
        self.requests.request(&self.rules, channel, level, to, now);
    }

    /// T5, N1, N2: the output virtual channel that a header asks for.
    fn output(&self, channel: usize, flit: Flit) -> usize {
        let router = self.rules.input(self.rules.link(channel)).0;
        let message = self.account.message(flit);
        let (source, destination) = (message.source.into(), message.destination.into());
        let choice = self.wiring.route(router as u32, source, destination, message.way) as usize;
        let (mut link, mut place) = (choice, 2);
        if self.rules.inputs[choice].is_some() {
            link = match self.wiring.parallel(choice as u32) as usize {
                1 => choice,
                // a fragment goes the way of those before it
                _ if flit.is_dummy() => self.account.link_taken(flit, router),
                links => self.requests.least_taken(choice, links),
            };
            place = usize::from(
                self.channels.has_rings()
                    && self.wiring.half(router as u32, source, destination)
                        == flitwise_language::network::Half::Upper,
            );
        }
        link << self.rules.shift | usize::from(message.groups[place])
    }

    /// The current message of a virtual channel owns its output from now on.
    fn is_granted(&mut self, channel: usize, to: usize, now: u64) {
        let input = &mut self.inputs[channel];
        input.progress = Progress::Granted;
        let level = usize::from(input.current.expect("a message that asked"));
        let lane = &self.lanes[self.rules.input_lane(channel, level)];
        if lane.resumes == NONE && lane.first().flit.is_true_header() {
            self.account.is_granted(self.rules.link(to), lane.first().flit, now);
        }
        if self.rules.pipeline_stages == 3 {
            // a grant and the crossing share a cycle
            self.look_at(channel);
        } else {
            self.change(channel);
        }
    }

    /// L11: a message is accelerated that owns the output which this one, of a higher level, asks for.
    fn accelerate(&mut self, channel: usize) {
        let Input { current, progress, to, .. } = self.inputs[channel];
        let Some(owner) = self.requests.owner(to as usize).filter(|_| progress == Progress::Asks) else {
            return;
        };
        let other = &mut self.inputs[owner];
        let owns = other.owns() && other.to == to && other.closing.is_none_or(|closing| closing.to != to);
        if owns && other.current > current {
            other.is_accelerated = true;
            self.change(owner);
        }
    }
}
