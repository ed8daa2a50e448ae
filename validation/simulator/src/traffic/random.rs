//! Random numbers of sources.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random numbers.
pub type Random = Xoshiro256PlusPlus;

/// The stream of a source: a word that mixes seed, node and class starts the generator.
pub(crate) fn stream(seed: u64, node: u32, class: usize) -> Random {
    stream_of(seed, node, class, 0)
}

/// The same of one of several streams of a class at a node; number 0 is that of the class.
pub fn stream_of(seed: u64, node: u32, class: usize, number: u32) -> Random {
    let place = u64::from(number) << 40 | u64::from(node) << 8 | class as u64;
    // odd constants of splitmix64; one step of the generator between the two
    let mut mixer = rand_xoshiro::SplitMix64::seed_from_u64(seed);
    let word = mixer.next_u64() ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Xoshiro256PlusPlus::seed_from_u64(word)
}

/// Uniform over (0, 1].
#[inline]
pub fn uniform(random: &mut Random) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A moment anywhere in an interval, its beginning included.
pub(crate) fn anywhere(random: &mut Random, interval: f64) -> f64 {
    interval * (1.0 - uniform(random))
}

/// Exponential of mean 1.
#[inline]
pub fn exponential(random: &mut Random) -> f64 {
    -uniform(random).ln()
}

/// Normal of mean 0 and deviation 1 (Box and Muller).
pub(super) fn normal(random: &mut Random) -> f64 {
    let radius = (2.0 * exponential(random)).sqrt();
    radius * (std::f64::consts::TAU * uniform(random)).cos()
}

/// Uniform over the whole numbers below `among`.
#[inline]
pub(crate) fn below(random: &mut Random, among: u32) -> u32 {
    ((u128::from(random.next_u64()) * u128::from(among)) >> 64) as u32
}
