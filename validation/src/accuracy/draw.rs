//! Random numbers of the scenario generator.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random choices.
#[derive(Clone, Debug)]
pub(super) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    /// The stream of one scenario: no two share one, so that a change of one family leaves the others alone.
    pub(super) fn new(seed: u64, family: &str, index: u32) -> Self {
        // FNV-1a over all that tells one stream from another; the generator's seeding mixes it once more
        let mut word = 0xcbf2_9ce4_8422_2325_u64;
        let bytes = seed.to_le_bytes().into_iter().chain(index.to_le_bytes()).chain(family.bytes());
        for byte in bytes {
            word = (word ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Self(Xoshiro256PlusPlus::seed_from_u64(word))
    }

    /// Uniform over [0, 1).
    pub(super) fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.share() < probability
    }

    /// Between the two, every doubling alike.
    pub(super) fn between(&mut self, [from, to]: [f64; 2]) -> f64 {
        from * (to / from).powf(self.share())
    }

    /// A whole number, every doubling alike.
    pub(super) fn whole(&mut self, bounds: [u32; 2]) -> u32 {
        let share = self.share();
        whole_at(share, bounds)
    }

    /// A whole number, all alike.
    pub(super) fn evenly(&mut self, [from, to]: [u32; 2]) -> u32 {
        (from + (self.share() * f64::from(to - from + 1)) as u32).min(to)
    }

    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.index(all.len())]
    }

    /// Below a count, all alike.
    pub(super) fn index(&mut self, count: usize) -> usize {
        ((self.share() * count as f64) as usize).min(count - 1)
    }
}

/// The whole number below which such a share of the draws of [`Draw::whole`] lies.
pub(super) fn whole_at(share: f64, [from, to]: [u32; 2]) -> u32 {
    let (low, high) = (f64::from(from), f64::from(to) + 1.0);
    ((low * (high / low).powf(share)) as u32).clamp(from, to)
}

/// Rounded to so many digits, so that it can be copied by hand.
pub(super) fn rounded(number: f64, digits: i32) -> f64 {
    let text = format!("{number:.*e}", (digits - 1).max(0) as usize);
    text.parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_stay_within_their_bounds_and_reach_them() {
        let mut draw = Draw::new(1, "a", 0);
        let drawn: Vec<u32> = (0..2000).map(|_| draw.whole([2, 8])).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&2), Some(&8)));
        let drawn: Vec<u32> = (0..2000).map(|_| draw.evenly([3, 7])).collect();
        for value in 3..=7 {
            let count = drawn.iter().filter(|drawn| **drawn == value).count();
            assert!((330..=470).contains(&count), "{count} of 2000");
        }
        assert!((0..2000).all(|_| (0.5..=2.0).contains(&draw.between([0.5, 2.0]))));
        assert_eq!(rounded(0.012_345_6, 3), 0.0123);
    }

    #[test]
    fn streams_differ() {
        let first = |seed, family, index| Draw::new(seed, family, index).share();
        let all = [first(1, "a", 0), first(2, "a", 0), first(1, "b", 0), first(1, "a", 1)];
        for (index, one) in all.iter().enumerate() {
            assert!(all[index + 1..].iter().all(|other| other != one));
        }
    }
}
