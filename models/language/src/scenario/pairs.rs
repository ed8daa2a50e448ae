//! Destinations that give each sender one partner: a shift, a random permutation, random halves.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::check::joined;
use super::declare::*;

table! {
    /// One destination for each sender, by a rule or by a number from which it is drawn.
    #[derive(Copy)]
    pub struct PairSpec {
        /// The node so many further, round all nodes.
        #[serde(skip_serializing_if = "Option::is_none")]
        shift: Option<u32> ["nodes"] = None, within(1.0, 65_535.0);
        /// A random permutation without fixed points; the number is its seed.
        #[serde(skip_serializing_if = "Option::is_none")]
        permutation: Option<u32> = None, within(0.0, 4_294_967_295.0);
        /// Random halves of the nodes, paired; the number is their seed. Of an odd number one node is left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        bisection: Option<u32> = None, within(0.0, 4_294_967_295.0);
        /// Whether both halves of a bisection send; by default so.
        #[serde(skip_serializing_if = "Option::is_none")]
        both_ways: Option<bool> = None;
    }
}

impl Rules for PairSpec {
    fn rules(&self, path: &str, door: &mut Door) {
        let given = [
            ("shift", self.shift.is_some()),
            ("permutation", self.permutation.is_some()),
            ("bisection", self.bisection.is_some()),
        ];
        let given: Vec<&str> =
            given.into_iter().filter(|(_, is_given)| *is_given).map(|(key, _)| key).collect();
        if given.len() > 1 {
            let help = "keep one of them";
            door.refuse(path, given.join(" and "), "one of shift, permutation and bisection", Some(help));
        }
        if let (Some(found), None) = (self.both_ways, self.bisection) {
            let wanted = "none without bisection";
            door.refuse(&joined(path, "both_ways"), found.to_string(), wanted, Some("remove it"));
        }
    }
}

impl PairSpec {
    /// The keys by which it is told from a hot spot.
    pub(super) const KEYS: [&str; 4] = ["shift", "permutation", "bisection", "both_ways"];

    /// Whether any rule is left that was read.
    pub(super) fn has_rule(&self) -> bool {
        self.shift.is_some() || self.permutation.is_some() || self.bisection.is_some()
    }

    /// By node of so many: where it sends; itself if nowhere.
    pub(super) fn partners(&self, nodes: u32) -> Vec<u32> {
        let itself = 0..nodes;
        if let Some(shift) = self.shift {
            return itself
                .map(|node| (u64::from(node) + u64::from(shift)).rem_euclid(nodes.into()) as u32)
                .collect();
        }
        if let Some(seed) = self.permutation {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.into());
            // one of about three has no fixed point
            return loop {
                let partners = shuffled(nodes, &mut random);
                if nodes < 2 || partners.iter().zip(0..).all(|(partner, node)| *partner != node) {
                    break partners;
                }
            };
        }
        let mut partners: Vec<u32> = itself.collect();
        if let Some(seed) = self.bisection {
            for (one, other) in Halves::new(seed).pairs(nodes) {
                partners[one as usize] = other;
                if self.both_ways.unwrap_or(true) {
                    partners[other as usize] = one;
                }
            }
        }
        partners
    }

    /// Whether nobody sends by it in a network of so many nodes.
    pub(super) fn is_idle(&self, nodes: u32) -> bool {
        self.partners(nodes).iter().zip(0..).all(|(partner, node)| *partner == node)
    }
}

/// Random halves of the nodes, and what else is drawn from the same number.
#[derive(Debug)]
pub struct Halves(Xoshiro256PlusPlus);

impl Halves {
    /// Those of `{ bisection = seed }`.
    pub fn new(seed: u32) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed.into()))
    }

    /// A node of the first half and its partner in the other, for each; of an odd number of nodes one is left out.
    pub fn pairs(&mut self, nodes: u32) -> Vec<(u32, u32)> {
        let drawn = shuffled(nodes, &mut self.0);
        let (one, other) = drawn.split_at(nodes as usize / 2);
        one.iter().copied().zip(other.iter().copied()).collect()
    }

    /// A whole number below `count`, all alike.
    pub fn below(&mut self, count: u32) -> u32 {
        below(count, &mut self.0)
    }
}

fn below(count: u32, random: &mut Xoshiro256PlusPlus) -> u32 {
    ((u128::from(random.next_u64()) * u128::from(count)) >> 64) as u32
}

/// The whole numbers below `count` in random order (Fisher and Yates).
fn shuffled(count: u32, random: &mut Xoshiro256PlusPlus) -> Vec<u32> {
    let mut all: Vec<u32> = (0..count).collect();
    for left in (1..count).rev() {
        all.swap(left as usize, below(left + 1, random) as usize);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_are_without_fixed_points_and_all_alike() {
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..9_000 {
            let partners = PairSpec { permutation: Some(seed), ..PairSpec::unset() }.partners(4);
            *counts.entry(partners).or_insert(0) += 1;
        }
        // of four nodes there are nine; 1000 of each, deviation 30
        assert_eq!(counts.len(), 9);
        assert!(counts.values().all(|count| (880..1120).contains(count)), "{counts:?}");
    }

    #[test]
    fn halves_are_paired_both_ways_or_one_way() {
        let of = |nodes: u32, both_ways| {
            PairSpec { bisection: Some(7), both_ways, ..PairSpec::unset() }.partners(nodes)
        };
        let both = of(9, None);
        assert_eq!(both.iter().zip(0..).filter(|(partner, node)| **partner == *node).count(), 1);
        assert!(both.iter().zip(0..).all(|(partner, node)| both[*partner as usize] == node));
        let one = of(8, Some(false));
        let senders: Vec<u32> = (0..8).filter(|node| one[*node as usize] != *node).collect();
        assert_eq!(senders.len(), 4);
        assert!(senders.iter().all(|node| !senders.contains(&one[*node as usize])));
    }
}
