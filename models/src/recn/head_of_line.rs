//! Head-of-line blocking of one queue per input: Karol, Hluchyj, Morgan, *Input versus output queueing on a
//! space-division packet switch*, IEEE Trans. Commun. 35 (1987) 1347-1356.

/// Inputs up to which the chain is solved; beyond, the limit for many inputs is within 0.0005.
const MOST_INPUTS: u32 = 12;
/// Slots after which the chain has forgotten its start.
const MOST_SLOTS: u32 = 10_000;

/// `θ_n`: saturation throughput of a switch of `n` inputs and outputs with one queue per input and uniform
/// destinations, as a share of the links.
///
/// The state is how many heads wait for each output, in any order: a partition of `n`. In each slot every output for
/// which there are heads serves one, and the inputs served draw new heads:
///
/// ```text
/// θ_n = E[outputs with heads] / n,    θ_∞ = 2 - √2
/// ```
///
/// ```
/// # use flitwise_models::recn::head_of_line_limit;
/// assert_eq!(format!("{:.6}", head_of_line_limit(4)), "0.655242");
/// ```
pub fn head_of_line_limit(inputs: u32) -> f64 {
    if inputs > MOST_INPUTS {
        return 2.0 - std::f64::consts::SQRT_2;
    }
    let waiting = HeadPartitions::new(inputs.max(1) as usize);
    let outputs = waiting.outputs;
    let mut states: Vec<Vec<f64>> = waiting.levels.iter().map(|level| vec![0.0; level.len()]).collect();
    // the first state: a head for every output
    let ones = waiting.levels[outputs].iter().position(|partition| partition.busy == outputs);
    states[outputs][ones.unwrap_or_default()] = 1.0;
    let (mut before, mut found) = (0.0, 1.0);
    for _ in 0..MOST_SLOTS {
        let busy = waiting.slot(&mut states);
        found = busy / outputs as f64;
        // the chain forgets its start at a constant factor per slot
        if (busy - before).abs() < 1e-12 * busy {
            break;
        }
        before = busy;
    }
    found
}

/// The factor by which the rates over a crossbar can grow until an input with one queue has no time left, with a packet
/// time over the crossbar as the unit; `rates` has the rates `a_i` of all inputs for each output.
///
/// A head finds the heads of all other queues that came before it, and half of those that come with it:
///
/// ```text
/// W_i + 1/2 = (1 / (2 (1 - B))) / (1 + a_i),    B = Σ_j a_j / (1 + a_j)
/// Σ_(outputs) a_i (1 + W_i) = 1
/// ```
///
/// Uniform rates give `2 - √2` for many inputs and 1.7 % more than [`head_of_line_limit`] for four; the answer is
/// divided by that.
pub(super) fn crossbar_limit(rates: &[&[f64]]) -> f64 {
    let even: &[f64] = &[0.25; 4];
    most_factor(rates) * head_of_line_limit(4) / most_factor(&[even; 4])
}

/// That of [`crossbar_limit`] before it is divided; at most 1 over the load of the fullest output.
fn most_factor(rates: &[&[f64]]) -> f64 {
    let inputs = rates.first().map_or(0, |one| one.len());
    let fullest = rates.iter().map(|one| one.iter().sum::<f64>()).fold(1e-9, f64::max);
    let fits = |factor: f64| {
        let mut busy = vec![0.0; inputs];
        rates.iter().all(|output| {
            let of = |rate: f64| factor * rate / (1.0 + factor * rate);
            let found: f64 = output.iter().map(|rate| of(*rate)).sum();
            let all = 0.5 / (1.0 - found);
            let times = output.iter().map(|rate| of(*rate) * all + 0.5 * factor * rate);
            busy.iter_mut().zip(times).for_each(|(busy, time)| *busy += time);
            found < 1.0
        }) && busy.iter().all(|busy| *busy <= 1.0)
    };
    let (mut low, mut high) = (0.0, 1.0 / fullest);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        (low, high) = if fits(middle) { (middle, high) } else { (low, middle) };
    }
    low
}

/// A partition of so many heads over the outputs.
struct Partition {
    /// Outputs for which there are heads.
    busy: usize,
    /// The partition of fewer heads after each of those has served one, in the level of as many heads.
    served: usize,
    /// Partitions of one head more, each with the chance that a head drawn leads there.
    drawn: Vec<(usize, f64)>,
}

/// Partitions by the number of heads that wait.
struct HeadPartitions {
    outputs: usize,
    levels: Vec<Vec<Partition>>,
}

impl HeadPartitions {
    fn new(outputs: usize) -> Self {
        // by number of heads, then by partition: heads of every output, in falling order
        let mut heads: Vec<Vec<Vec<usize>>> = vec![vec![vec![0; outputs]]];
        let place_of = |all: &[Vec<usize>], one: &[usize]| all.iter().position(|other| other == one);
        let mut levels = Vec::with_capacity(outputs + 1);
        for total in 0..=outputs {
            let (mut level, mut next) = (Vec::new(), Vec::new());
            for own in &heads[total] {
                let busy = own.iter().filter(|heads| **heads > 0).count();
                let left: Vec<usize> = own.iter().map(|heads| heads.saturating_sub(1)).collect();
                let served = place_of(&heads[total - busy], &left).unwrap_or_default();
                let (mut drawn, mut first) = (Vec::new(), 0);
                for alike in own.chunk_by(|a, b| a == b).filter(|_| total < outputs) {
                    let mut more = own.clone();
                    more[first] += 1;
                    first += alike.len();
                    let place = place_of(&next, &more).unwrap_or_else(|| {
                        next.push(more);
                        next.len() - 1
                    });
                    drawn.push((place, alike.len() as f64 / outputs as f64));
                }
                level.push(Partition { busy, served, drawn });
            }
            levels.push(level);
            heads.push(next);
        }
        Self { outputs, levels }
    }

    /// A slot: every output serves, then as many heads are drawn, one after the other. Returns the mean number of
    /// outputs that served.
    fn slot(&self, states: &mut [Vec<f64>]) -> f64 {
        let mut busy = 0.0;
        for (place, partition) in self.levels[self.outputs].iter().enumerate() {
            let probability = std::mem::take(&mut states[self.outputs][place]);
            busy += probability * partition.busy as f64;
            states[self.outputs - partition.busy][partition.served] += probability;
        }
        for (total, level) in self.levels[..self.outputs].iter().enumerate() {
            for (place, partition) in level.iter().enumerate() {
                let probability = std::mem::take(&mut states[total][place]);
                for (to, chance) in &partition.drawn {
                    states[total + 1][*to] += probability * chance;
                }
            }
        }
        busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_crossbars() {
        let even: &[f64] = &[0.25; 4];
        assert!((crossbar_limit(&[even; 4]) - head_of_line_limit(4)).abs() < 1e-9);
        // inputs that feed an output each do not meet
        let apart: [&[f64]; 2] = [&[1.0, 0.0], &[0.0, 1.0]];
        assert!(most_factor(&apart) > 0.999);
        let many = [1.0 / 64.0; 64];
        let many = most_factor(&[many.as_slice(); 64]);
        assert!((many - head_of_line_limit(64)).abs() < 5e-3, "{many}");
    }

    #[test]
    fn values_of_the_chain() {
        let wanted = [1.0, 0.75, 0.682_540, 0.655_242, 0.639_917, 0.630_150, 0.623_371, 0.618_390];
        for (inputs, wanted) in (1..).zip(wanted) {
            let found = head_of_line_limit(inputs);
            assert!((found - wanted).abs() < 5e-7, "{inputs}: {found}, not {wanted}");
        }
        assert!(head_of_line_limit(8) > head_of_line_limit(64));
    }
}
