//! What must hold at the end of a cycle, in a build with assertions.

use crate::wormhole::lane::NONE;

use super::Levels;
use super::rules::LEVELS;

impl Levels {
    /// Slots, owners and levels at the end of cycle `now`.
    pub(super) fn check(&self, now: u64) {
        self.check_slots(now);
        for (channel, input) in self.inputs.iter().enumerate() {
            if self.rules.inputs[self.rules.link(channel)].is_none() {
                continue;
            }
            for (of, to) in [
                ("message", input.current.filter(|_| input.owns()).map(|_| input.to)),
                ("fragment", input.closing.map(|closing| closing.to)),
            ] {
                let Some(to) = to else { continue };
                assert_eq!(self.requests.owner(to as usize), Some(channel), "{now}: the {of} of {channel}");
            }
            assert_eq!(
                self.candidate(channel).is_some(),
                self.crossbars.is_ready(&self.rules, channel),
                "{now}: whether channel {channel} can send"
            );
            self.check_order(channel, now);
        }
        if self.moving == 0 {
            self.check_drained();
        }
    }

    /// A flit of a higher level than the current message waits for no more than a cycle.
    fn check_order(&self, channel: usize, now: u64) {
        if !self.rules.preempts {
            return;
        }
        let input = &self.inputs[channel];
        let lane = |level: usize| &self.lanes[self.rules.input_lane(channel, level)];
        let highest = (0..LEVELS).find(|level| lane(*level).flits > 0);
        match input.current {
            Some(current) => {
                let higher = highest.is_some_and(|level| level < usize::from(current));
                assert!(!higher, "{now}: a higher level than {current} waits in channel {channel}");
            }
            None => assert_eq!(highest, None, "{now}: channel {channel} is idle"),
        }
    }

    /// A slot is taken by a flit in stage 1 or under way, and by no other.
    fn check_slots(&self, now: u64) {
        let mut under_way = vec![0; self.rules.channels * self.rules.lanes_behind()];
        for wire in &self.links.coming_in {
            let level = self.rules.level(wire.flit.class());
            under_way[self.rules.input_lane(wire.channel as usize, level)] += 1;
        }
        for (lane, under_way) in under_way.iter().enumerate() {
            let lane = &self.lanes[lane];
            assert_eq!(lane.taken, lane.flits + under_way, "{now}: slots");
        }
    }

    /// Nothing is left of messages that are through: no flit, no owner, no rest of a message; every dummy tail was
    /// followed by a dummy header.
    fn check_drained(&self) {
        self.requests.assert_idle();
        if let Some(posting) = &self.posting {
            posting.assert_drained();
        }
        assert!(self.links.coming_in.is_empty() && self.links.lanes.iter().all(|lane| lane.flits == 0));
        for lane in 0..self.rules.channels * self.rules.lanes_behind() {
            let lane = &self.lanes[lane];
            assert!(lane.flits == 0 && lane.resumes == NONE && !lane.has_asked);
        }
        let tails: u64 = self.account.preemptions.iter().sum();
        assert_eq!(self.account.dummy_headers, tails, "dummy headers against dummy tails");
        assert!(!self.account.holds_links());
    }
}
