//! Throughput of stages with little memory.
//!
//! Patel, IEEE Trans. Comput. 30 (1981) 771-780, has none; Jenq, IEEE JSAC 1 (1983) 1014-1021, and Yoon, Lee, Liu, IEEE
//! Trans. Comput. 39 (1990) 319-327, have `b` places at each input. A blocked packet chooses its output again, which
//! the switch does not do: the limit is `1 - (1 - 1/k)^k`, not that of head-of-line blocking, and the chain is 14 to
//! 32 % high for 2 to 16 packets.

/// Throughput of stages of `k` by `k` switches without memory, as a share of the links.
///
/// ```text
/// p_(i+1) = 1 - (1 - p_i / k)^k
/// ```
pub fn without_memory(offered: f64, side: u32, stages: u32) -> f64 {
    (0..stages).fold(offered, |rate, _| chosen(rate, f64::from(side)))
}

/// Probability that one of `k` inputs that are busy with a probability has a packet for an output.
fn chosen(busy: f64, side: f64) -> f64 {
    1.0 - (1.0 - busy / side).powf(side)
}

/// Throughput of saturated stages of `k` by `k` switches with `b` places at each input, as a share of the links.
///
/// ```text
/// q_(i+1) = 1 - (1 - P_i / k)^k,    P_i = 1 - p_i(0)
/// r_i = q_(i+1) / P_i  (1 - p_(i+1)(b) (1 - r_(i+1))),  without the bracket in the last stage
/// ```
///
/// with `p_i` the birth-death chain of arrivals `q_i` and departures `r_i`; `q_1 = 1`, and the throughput is `P_S r_S`.
///
/// ```
/// # use flitwise_models::recn::with_places;
/// assert_eq!(format!("{:.4}", with_places(4, 3, 2)), "0.5800");
/// ```
pub fn with_places(side: u32, stages: u32, places: u32) -> f64 {
    let (side, stages) = (f64::from(side), stages.max(1) as usize);
    let places = places.clamp(1, 4096) as usize;
    let mut leaves = vec![0.5; stages];
    let mut throughput = 0.0;
    for _ in 0..100_000 {
        let mut arrives = 1.0;
        let mut ends = Vec::with_capacity(stages);
        for leaves in &leaves {
            let (empty, full) = empty_and_full(arrives, *leaves, places);
            let busy = 1.0 - empty;
            let wanted = chosen(busy, side);
            ends.push((busy, wanted, full));
            arrives = wanted;
        }
        for stage in (0..stages).rev() {
            let (busy, wanted, _) = ends[stage];
            let room = ends.get(stage + 1).map_or(1.0, |next| 1.0 - next.2 * (1.0 - leaves[stage + 1]));
            leaves[stage] = 0.5 * leaves[stage] + 0.5 * (wanted / busy.max(1e-300) * room);
        }
        let found = ends[stages - 1].0 * leaves[stages - 1];
        if (found - throughput).abs() < 1e-14 {
            return found;
        }
        throughput = found;
    }
    throughput
}

/// Share of the throughput of large memories that `b` packets of memory at each end of a port leave: that of
/// [`with_places`] over its limit for four inputs, which beyond 16 packets is missed by `1/b`.
pub fn places_share(stages: u32, places: u32) -> f64 {
    let share = with_places(4, stages, places.min(16)) / chosen(1.0, 4.0);
    1.0 - (1.0 - share).max(0.0) * 16.0 / f64::from(places.max(16))
}

/// Load of a link both ways at which one queue of `k` packets stands still while its credits wait.
///
/// Where fewer than a batch of credits can wait, they go over the link when it has no data. A direction that carries
/// one queue sends up to `k` packets in a busy period of the other one, which is `k` packets or longer with a
/// probability of `ρ^k`; where the other one needs no such gaps, the load is that of
///
/// ```text
/// ρ = (1 - ρ) + ρ (1 - ρ^k),    ρ^(k+1) = 1 - ρ
/// ```
///
/// If both directions wait for gaps, one that drains `Q` packets in `Q / (1 - ρ)` lets the other one grow by
/// `ρ Q / (1 - ρ)`: from `ρ = 1/2` on they block each other for ever longer.
pub fn starved(places: u32) -> f64 {
    let (mut low, mut high) = (0.5, 1.0);
    for _ in 0..50 {
        let middle: f64 = f64::midpoint(low, high);
        let is_below = middle.powf(f64::from(places) + 1.0) < 1.0 - middle;
        (low, high) = if is_below { (middle, high) } else { (low, middle) };
    }
    low
}

/// Probabilities that none and that all of the places are taken; in a slot a packet leaves before one arrives, and one
/// that leaves a full queue makes room.
fn empty_and_full(arrives: f64, leaves: f64, places: usize) -> (f64, f64) {
    // balance over the cut between n and n + 1 packets: up n = down n + 1
    let (up, down) = (arrives * (1.0 - leaves), leaves * (1.0 - arrives));
    let mut weights = vec![1.0];
    for packets in 0..places {
        let ratio = if packets == 0 { arrives } else { up } / down.max(1e-12);
        weights.push((weights[packets] * ratio).min(1e200));
    }
    let sum: f64 = weights.iter().sum();
    (weights[0] / sum, weights[places] / sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_all(found: &[f64], wanted: &[f64], within: f64) {
        assert_eq!(found.len(), wanted.len());
        let is_near = |(found, wanted): (&f64, &f64)| (found - wanted).abs() < within;
        assert!(found.iter().zip(wanted).all(is_near), "{found:?}, not {wanted:?}");
    }

    #[test]
    fn queues_stand_still_for_their_credits() {
        let found = [1, 2, 4].map(starved);
        assert_all(&found, &[0.618_034, 0.682_328, 0.754_878], 1e-6);
    }

    #[test]
    fn places_leave_more_the_more_there_are() {
        let shares = [1, 2, 4, 8, 16, 17, 64, 4096].map(|places| places_share(3, places));
        assert!(shares.is_sorted() && shares[7] > 0.9999 && shares[7] < 1.0, "{shares:?}");
        assert!((shares[1] - 0.5800 / 0.683_594).abs() < 1e-4, "{shares:?}");
    }

    #[test]
    fn stages_without_memory() {
        let found = [1, 2, 3, 4, 5].map(|stages| without_memory(1.0, 4, stages));
        assert_all(&found, &[0.68359, 0.52747, 0.43200, 0.36692, 0.31945], 5e-6);
    }

    #[test]
    fn stages_with_places() {
        let of = |stages| [1, 2, 4, 8, 16].map(|places| with_places(4, stages, places));
        assert_all(&of(3), &[0.4974, 0.5800, 0.6287, 0.6553, 0.6693], 5e-5);
        assert_all(&of(4), &[0.4616, 0.5620, 0.6200, 0.6511, 0.6672], 5e-5);
        let binary = [1, 2, 3, 6, 10].map(|stages| with_places(2, stages, 1));
        assert_all(&binary, &[0.75, 0.6333, 0.5696, 0.4883, 0.4533], 5e-5);
    }
}
