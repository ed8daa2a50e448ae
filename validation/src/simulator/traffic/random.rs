//! Random numbers of sources.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random numbers.
pub(in crate::simulator) type Random = Xoshiro256PlusPlus;

/// The stream of a source: a word that mixes seed, node and class starts the generator.
pub(in crate::simulator) fn stream(seed: u64, node: u32, class: usize) -> Random {
    let place = u64::from(node) << 8 | class as u64;
    // odd constants of splitmix64; one step of the generator between the two
    let mut mixer = rand_xoshiro::SplitMix64::seed_from_u64(seed);
    let word = mixer.next_u64() ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Xoshiro256PlusPlus::seed_from_u64(word)
}

/// Uniform over (0, 1].
#[inline]
pub(in crate::simulator) fn uniform(random: &mut Random) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Exponential of mean 1.
#[inline]
pub(in crate::simulator) fn exponential(random: &mut Random) -> f64 {
    -uniform(random).ln()
}

/// Uniform over the whole numbers below `among`.
#[inline]
pub(in crate::simulator) fn below(random: &mut Random, among: u32) -> u32 {
    ((u128::from(random.next_u64()) * u128::from(among)) >> 64) as u32
}
