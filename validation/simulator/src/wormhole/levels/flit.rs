//! Flits as numbers: who they belong to and what they are.

/// The message of a flit, its class, and whether it is a header, a tail or a dummy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flit(u32);

/// The lowest bit of the class.
const CLASS: u32 = 24;
const HEADER: u32 = 1 << 29;
const TAIL: u32 = 1 << 30;
const DUMMY: u32 = 1 << 31;

impl Flit {
    /// A flit between the header and the tail of a message.
    ///
    /// # Panics
    /// If there are more messages under way than numbers.
    pub(super) fn of(message: u32, class: u8) -> Self {
        assert!(message >> CLASS == 0, "more than {} messages under way", 1 << CLASS);
        Self(message | u32::from(class) << CLASS)
    }

    /// As the first and the last flit of its message, or neither.
    #[inline]
    pub(super) fn at(self, is_first: bool, is_last: bool) -> Self {
        Self(self.0 | (u32::from(is_first) * HEADER) | (u32::from(is_last) * TAIL))
    }

    /// The dummy that goes before the rest of its message.
    pub(super) fn dummy_header(self) -> Self {
        Self(self.0 & !TAIL | HEADER | DUMMY)
    }

    /// The dummy that goes behind it where its message gives way.
    pub(super) fn dummy_tail(self) -> Self {
        Self(self.0 & !HEADER | TAIL | DUMMY)
    }

    #[inline]
    pub(super) fn message(self) -> u32 {
        self.0 & ((1 << CLASS) - 1)
    }

    #[inline]
    pub(super) fn class(self) -> usize {
        (self.0 >> CLASS & 31) as usize
    }

    #[inline]
    pub(super) fn is_header(self) -> bool {
        self.0 & HEADER != 0
    }

    #[inline]
    pub(super) fn is_tail(self) -> bool {
        self.0 & TAIL != 0
    }

    #[inline]
    pub(super) fn is_dummy(self) -> bool {
        self.0 & DUMMY != 0
    }

    /// Neither a header nor a tail.
    #[inline]
    pub(super) fn is_body(self) -> bool {
        self.0 & (HEADER | TAIL) == 0
    }

    /// The header with which its message was sent.
    #[inline]
    pub(super) fn is_true_header(self) -> bool {
        self.0 & (HEADER | DUMMY) == HEADER
    }

    /// The tail with which its message was sent.
    #[inline]
    pub(super) fn is_true_tail(self) -> bool {
        self.0 & (TAIL | DUMMY) == TAIL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dummies_are_of_the_message_that_they_close_and_open() {
        let tail = Flit::of(77, 31).at(false, true);
        for dummy in [tail.dummy_header(), Flit::of(77, 31).dummy_tail()] {
            assert_eq!((dummy.message(), dummy.class(), dummy.is_dummy()), (77, 31, true));
            assert!(!dummy.is_true_header() && !dummy.is_true_tail());
        }
        assert!(tail.dummy_header().is_header() && !tail.dummy_header().is_tail());
        assert!(tail.dummy_tail().is_tail() && !tail.dummy_tail().is_header());
        assert!(tail.is_true_tail() && tail.at(true, false).is_true_header());
    }
}
