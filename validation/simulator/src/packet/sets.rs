//! Sets of small whole numbers: switches, links or queues, a bit each.

/// Those of which something has changed since they were looked at.
#[derive(Clone, Debug)]
pub(super) struct Changes(Vec<u64>);

impl Changes {
    /// None of so many.
    pub(super) fn new(most: usize) -> Self {
        Self(vec![0; most.div_ceil(64)])
    }

    #[inline]
    pub(super) fn mark(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    #[inline]
    pub(super) fn words(&self) -> usize {
        self.0.len()
    }

    /// The set of 64 of them, which is empty then.
    #[inline]
    pub(super) fn take(&mut self, word: usize) -> u64 {
        std::mem::take(&mut self.0[word])
    }
}

/// Ports of a switch, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ports(u128);

impl Ports {
    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(super) fn has(self, port: usize) -> bool {
        self.0 >> port & 1 == 1
    }

    #[inline]
    pub(super) fn add(&mut self, port: usize) {
        self.0 |= 1 << port;
    }

    #[inline]
    pub(super) fn remove(&mut self, port: usize) {
        self.0 &= !(1 << port);
    }

    /// In order.
    #[inline]
    pub(super) fn each(self) -> impl Iterator<Item = usize> {
        self.from(0)
    }

    /// In order from one on, and round.
    #[inline]
    pub(super) fn from(self, first: usize) -> impl Iterator<Item = usize> {
        let ahead = u128::MAX << first;
        let mut parts = [self.0 & ahead, self.0 & !ahead];
        std::iter::from_fn(move || {
            let part = if parts[0] == 0 { &mut parts[1] } else { &mut parts[0] };
            let port = (*part != 0).then(|| part.trailing_zeros() as usize);
            *part &= part.wrapping_sub(1);
            port
        })
    }
}

impl FromIterator<usize> for Ports {
    #[inline]
    fn from_iter<I: IntoIterator<Item = usize>>(ports: I) -> Self {
        Self(ports.into_iter().fold(0, |set, port| set | 1 << port))
    }
}

impl std::ops::BitAnd for Ports {
    type Output = Self;

    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl std::ops::Not for Ports {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

/// Numbers of the bits set.
#[inline]
pub(super) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        bit
    })
}

/// All bits set in so many words, from `from` on and round.
#[inline]
pub(super) fn bits_round(
    words: usize,
    from: usize,
    word_at: impl Fn(usize) -> u64,
) -> impl Iterator<Item = usize> {
    let (mut index, ahead) = (from / 64, u64::MAX << (from % 64));
    // the first word is looked at twice: ahead of `from`, and behind it at the end
    let (mut word, mut left) = (word_at(index) & ahead, words);
    std::iter::from_fn(move || {
        while word == 0 {
            left = left.checked_sub(1)?;
            index = if index + 1 == words { 0 } else { index + 1 };
            word = word_at(index) & if left == 0 { !ahead } else { u64::MAX };
        }
        let bit = word.trailing_zeros() as usize;
        word &= word - 1;
        Some(64 * index + bit)
    })
}

/// A set of queues for every port.
#[derive(Clone, Debug)]
pub(super) struct QueueSets {
    sets: Vec<u64>,
    words: usize,
}

impl QueueSets {
    /// Sets of so many words that hold all queues.
    pub(super) fn full(ports: usize, words: usize) -> Self {
        Self { sets: vec![u64::MAX; ports * words], words }
    }

    #[inline]
    pub(super) fn of(&self, port: usize) -> &[u64] {
        &self.sets[port * self.words..(port + 1) * self.words]
    }

    #[inline]
    pub(super) fn put(&mut self, port: usize, queue: usize, is_in: bool) {
        let word = &mut self.sets[port * self.words + queue / 64];
        *word = *word & !(1 << (queue % 64)) | u64::from(is_in) << (queue % 64);
    }
}
