//! Lanes: a lane is one virtual channel of one channel, the output buffer before the link and the input buffer
//! behind it.

/// Lanes of a block: as many as a word has bits.
pub(crate) const WORD: usize = u64::BITS as usize;

/// No lane.
pub(crate) const NONE: u32 = u32::MAX;

/// All that is known of a lane; one row is one cache line, since a flit's move touches most of it.
///
/// Messages go through a lane in order, so that counts say which flit is where: of the messages in the lane's
/// queue (see [`super::queues::Queues`]) the first `sending` are wholly behind the link.
///
/// Facts that change together do not stand side by side: a compiler that changes two of them in one go has to
/// wait for both to arrive from where they were changed one by one.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Lane {
    /// Before the link: flits in the output buffer, or in the source queue.
    pub(crate) waiting: u32,
    /// Behind the link: slots in the input buffer; without end at a node.
    pub(crate) slots: u32,
    /// Before the link, of the message at the front: flits that have not left.
    pub(crate) to_send: u32,
    /// The input lane whose message owns this output lane.
    pub(crate) owner: u32,
    /// Behind the link: slots taken, by flits under way too.
    pub(crate) arrived: u32,
    /// The output lane that the message at the front there wants or owns.
    pub(crate) goes_to: u32,
    /// Of the message at the front there: flits that have not crossed.
    pub(crate) to_cross: u32,
    /// Length of the message at the front before the link \[flits\].
    pub(crate) message_flits: u32,
    /// Stamps of the flit at the front before the link and of the one that came last; the scheduler's.
    pub(crate) first_stamp: f64,
    pub(crate) last_stamp: f64,
    /// Vtick of the message whose flits join the lane \[cycles/flit\]; 0 for best effort.
    pub(crate) vtick: f64,
    /// Position in the lane's queue of the message whose flits leave, if it is below `end`.
    pub(crate) sending: u32,
    /// Messages in the lane's queue.
    pub(crate) end: u32,
}

/// Slots at a node.
const WITHOUT_END: u32 = u32::MAX;

impl Lane {
    /// With so many slots behind the link; `None` at a node, which takes every flit.
    pub(crate) fn new(slots: Option<u32>) -> Self {
        Self {
            waiting: 0,
            to_send: 0,
            arrived: 0,
            slots: slots.unwrap_or(WITHOUT_END),
            to_cross: 0,
            goes_to: NONE,
            owner: NONE,
            message_flits: 1,
            first_stamp: 0.0,
            last_stamp: 0.0,
            vtick: 0.0,
            sending: 0,
            end: 0,
        }
    }

    /// Whether the link leads to a node.
    pub(crate) fn ejects(&self) -> bool {
        self.slots == WITHOUT_END
    }

    /// Whether a header has left over the link and its message has not crossed.
    pub(crate) fn has_front(&self) -> bool {
        self.sending != 0 || (self.end != 0 && self.to_send < self.message_flits)
    }
}

/// As many lanes as a word has bits, and a bit of each for every question; the order as in [`Lane`].
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Block {
    /// Stage P: lanes with a flit before the link.
    pub(crate) waiting: u64,
    /// Stage P-1: lanes behind whose link a flit can cross.
    pub(crate) filled: u64,
    /// Stage P: lanes whose flits pass: more of the message at the front are to come.
    pub(crate) passing: u64,
    /// Stage P-1: lanes whose message behind the link owns an output lane that has room.
    pub(crate) open: u64,
    /// Passing lanes that wait for that other flit in this cycle.
    pub(crate) relayed: u64,
    /// Stage P: lanes with a free slot behind the link.
    pub(crate) credit: u64,
    /// Lanes over whose link a flit was sent, by cycle modulo 3.
    pub(crate) sent: [u64; 3],
    /// Stage P-2: lanes that belong to a message.
    pub(crate) owned: u64,
    /// Lanes whose link leads into a router.
    into_router: u64,
    /// Lanes whose link has less capacity than the others, and those of them over whose link no flit can go yet.
    pub(crate) slow: u64,
    pub(crate) resting: u64,
}

impl Block {
    /// Flits that were sent in the cycle before have come in behind the link; they can cross in this cycle.
    #[inline]
    pub(crate) fn come_in(&mut self, two_before: usize) {
        self.filled |= std::mem::take(&mut self.sent[two_before]) & self.into_router;
    }

    /// Lanes over whose link a flit was sent to a router in a cycle, which is given modulo 3.
    #[inline]
    pub(crate) fn sent_to_router(&self, cycle: usize) -> u64 {
        self.sent[cycle] & self.into_router
    }

    /// The flit that waits in a lane that passes leaves; another takes its place.
    #[inline(always)]
    pub(crate) fn relay(&mut self, mask: u64, row: &mut Lane, this_cycle: usize) {
        self.relayed &= !mask;
        self.sent[this_cycle] |= mask;
        debug_assert!(row.arrived < row.slots, "a lane of {mask:b} sends without a credit");
        row.to_send -= 1;
        row.arrived += 1;
        if row.arrived == row.slots {
            self.credit &= !mask;
        }
    }

    /// Whether no flit is before a link, behind it or under way to there.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting | self.filled | self.sent[0] | self.sent[1] | self.sent[2] == 0
    }
}

/// A bit per block: those that are to be looked at, so that idle ones cost nothing.
#[derive(Clone, Debug)]
pub(crate) struct Blocks(Vec<u64>);

impl Blocks {
    /// None of so many blocks.
    pub(crate) fn none_of(blocks: usize) -> Self {
        Self(vec![0; blocks.div_ceil(WORD)])
    }

    #[inline]
    pub(crate) fn add(&mut self, block: usize) {
        self.0[block / WORD] |= 1 << (block % WORD);
    }

    /// Leaves out those of which `stays` is false.
    pub(crate) fn retain(&mut self, stays: impl Fn(usize) -> bool) {
        let mut scan = self.from(0);
        while let Some(block) = self.next(&mut scan) {
            self.0[block / WORD] &= !(u64::from(!stays(block)) << (block % WORD));
        }
    }

    /// Those from block `from` on, to be taken by [`Self::next`]; of those that are added meanwhile some are missed.
    #[inline]
    pub(crate) fn from(&self, from: usize) -> Scan {
        let left = self.0.get(from / WORD).map_or(0, |word| word >> (from % WORD) << (from % WORD));
        Scan { word: from / WORD, left }
    }

    /// The next one.
    #[inline]
    pub(crate) fn next(&self, scan: &mut Scan) -> Option<usize> {
        while scan.left == 0 {
            scan.word += 1;
            scan.left = *self.0.get(scan.word)?;
        }
        let bit = scan.left.trailing_zeros() as usize;
        scan.left &= scan.left - 1;
        Some(scan.word * WORD + bit)
    }
}

/// Blocks that are yet to be looked at: a word of them is read at a time.
pub(crate) struct Scan {
    word: usize,
    left: u64,
}

/// All lanes. The bits of a block stand apart from its rows, so that those of all blocks stay in a cache.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    pub(crate) blocks: Vec<Block>,
    pub(crate) rows: Vec<Lane>,
}

impl Lanes {
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }
}

/// The last block is filled up with lanes that nothing comes to.
impl FromIterator<Lane> for Lanes {
    fn from_iter<I: IntoIterator<Item = Lane>>(lanes: I) -> Self {
        let mut rows: Vec<Lane> = lanes.into_iter().collect();
        rows.resize(rows.len().next_multiple_of(WORD), Lane::new(None));
        let block = |rows: &[Lane]| Block {
            waiting: 0,
            credit: u64::MAX,
            passing: 0,
            relayed: 0,
            filled: 0,
            open: 0,
            sent: [0; 3],
            owned: 0,
            slow: 0,
            resting: 0,
            into_router: rows.iter().rev().fold(0, |bits, lane| bits << 1 | u64::from(!lane.ejects())),
        };
        Self { blocks: rows.chunks(WORD).map(block).collect(), rows }
    }
}

impl std::ops::Index<usize> for Lanes {
    type Output = Lane;

    #[inline]
    fn index(&self, lane: usize) -> &Lane {
        &self.rows[lane]
    }
}

impl std::ops::IndexMut<usize> for Lanes {
    #[inline]
    fn index_mut(&mut self, lane: usize) -> &mut Lane {
        &mut self.rows[lane]
    }
}
