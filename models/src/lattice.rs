//! Distributions on whole numbers (of cycles): cumulated, asked for percentiles, added.

use realfft::RealFftPlanner;
use realfft::num_complex::Complex64;

/// Probabilities of 0, 1, 2, ...; what they lack of one lies beyond the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// `P(X <= x)` for `x = offset, offset + 1, ..`; below the offset it is 0.
    cumulated: Vec<f64>,
    offset: u32,
}

impl Distribution {
    /// From the probabilities of `offset, offset + 1, ..`.
    pub fn new(offset: u32, probabilities: &[f64]) -> Self {
        let mut sum = 0.0;
        let cumulate = |p: &f64| {
            sum += p;
            f64::min(sum, 1.0)
        };
        Self { cumulated: probabilities.iter().map(cumulate).collect(), offset }
    }

    /// `P(X <= x)`, or `None` beyond the range over which the distribution is known.
    pub fn at_most(&self, x: u32) -> Option<f64> {
        let Some(index) = x.checked_sub(self.offset) else { return Some(0.0) };
        match self.cumulated.get(index as usize) {
            Some(probability) => Some(*probability),
            None if self.is_whole() => Some(1.0),
            None => None,
        }
    }

    /// `P(X > x)`, or `None` beyond the range over which the distribution is known.
    pub fn more_than(&self, x: u32) -> Option<f64> {
        // what is left at the rounding of sums is nothing
        self.at_most(x).map(|p| if p > 1.0 - 1e-14 { 0.0 } else { 1.0 - p })
    }

    /// The smallest `x` with `P(X <= x) >= level`, or `None` beyond the range known.
    pub fn percentile(&self, level: f64) -> Option<u32> {
        let index = self.cumulated.partition_point(|p| *p < level - 1e-12);
        (index < self.cumulated.len()).then(|| self.offset + u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// First whole number of the range over which it is known.
    pub fn first(&self) -> u32 {
        self.offset
    }

    /// `P(X <= x)` for `x = first(), first() + 1, ..`.
    pub fn cumulated(&self) -> &[f64] {
        &self.cumulated
    }

    /// Whether (but for rounding) nothing lies beyond the range.
    fn is_whole(&self) -> bool {
        self.cumulated.last().is_some_and(|last| *last > 1.0 - 1e-9)
    }

    /// The mixture of distributions with weights that sum to one.
    pub fn mixture<'d>(parts: impl IntoIterator<Item = (f64, &'d Self)> + Clone) -> Self {
        let offset = parts.clone().into_iter().map(|(_, part)| part.offset).min().unwrap_or(0);
        let ends = |whole: bool| {
            let such = parts.clone().into_iter().filter(move |(_, part)| part.is_whole() == whole);
            such.map(|(_, part)| part.offset as usize + part.cumulated.len())
        };
        // known as far as each part is
        let end = ends(false).min().or(ends(true).max()).unwrap_or(0);
        let mut cumulated = vec![0.0; end.saturating_sub(offset as usize)];
        for (weight, part) in parts {
            let start = (part.offset - offset) as usize;
            let last = *part.cumulated.last().unwrap_or(&0.0);
            let known = part.cumulated.iter().copied();
            for (sum, p) in cumulated.iter_mut().skip(start).zip(known.chain(std::iter::repeat(last))) {
                *sum += weight * p;
            }
        }
        cumulated.iter_mut().for_each(|p| *p = p.min(1.0));
        Self { cumulated, offset }
    }
}

/// Sums of independent terms, through the Fourier transform.
///
/// Of the `terms`, `h` are chosen, every choice being equally likely, and `last` is added; the probabilities
/// of the sum are returned for `h = 1, 2, .., terms.len()`. Each list holds the probabilities of 0, 1, 2, ..
pub fn sums_of_chosen_terms(terms: &[Vec<f64>], last: &[f64]) -> Vec<Vec<f64>> {
    let longest: usize = terms.iter().map(|term| term.len() - 1).sum::<usize>() + last.len();
    let length = longest.next_power_of_two();
    let mut planner = RealFftPlanner::<f64>::new();
    let (forward, inverse) = (planner.plan_fft_forward(length), planner.plan_fft_inverse(length));
    let mut scratch = forward.make_scratch_vec();
    let mut padded = forward.make_input_vec();
    let mut transform = |probabilities: &[f64]| {
        padded.fill(0.0);
        padded[..probabilities.len()].copy_from_slice(probabilities);
        let mut spectrum = forward.make_output_vec();
        forward
            .process_with_scratch(&mut padded, &mut spectrum, &mut scratch)
            .expect("buffers are made by the plan");
        spectrum
    };
    // chosen[h]: sum over all choices of h terms of the product of their transforms
    let bins = length / 2 + 1;
    let mut chosen = vec![vec![Complex64::new(0.0, 0.0); bins]; terms.len() + 1];
    chosen[0] = transform(last);
    for (count, term) in terms.iter().enumerate() {
        let term = transform(term);
        for h in (0..=count).rev() {
            let (fewer, more) = chosen.split_at_mut(h + 1);
            for ((more, fewer), term) in more[0].iter_mut().zip(&fewer[h]).zip(&term) {
                *more += fewer * term;
            }
        }
    }
    let mut scratch = inverse.make_scratch_vec();
    let choices = |h: usize| (0..h).fold(1.0, |c, i| c * (terms.len() - i) as f64 / (i + 1) as f64);
    let invert = |(h, spectrum): (usize, &mut Vec<Complex64>)| {
        let ends = [0, bins - 1];
        ends.iter().for_each(|bin| spectrum[*bin].im = 0.0);
        let mut sum = inverse.make_output_vec();
        inverse.process_with_scratch(spectrum, &mut sum, &mut scratch).expect("buffers are made by the plan");
        sum.truncate(longest);
        let scale = 1.0 / (length as f64 * choices(h));
        // rounding of the transform is about 1e-17: no probability
        sum.iter_mut().for_each(|p| *p = if *p * scale < 1e-16 { 0.0 } else { *p * scale });
        sum
    };
    chosen.iter_mut().enumerate().skip(1).map(invert).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; a.len() + b.len() - 1];
        for (i, a) in a.iter().enumerate() {
            for (j, b) in b.iter().enumerate() {
                sum[i + j] += a * b;
            }
        }
        sum
    }

    #[test]
    fn sums_agree_with_every_choice_convolved_by_hand() {
        let terms = [vec![0.5, 0.5], vec![0.9, 0.0, 0.1], vec![0.2, 0.3, 0.1, 0.4]];
        let last = [0.0, 0.25, 0.75];
        let sums = sums_of_chosen_terms(&terms, &last);
        let pairs = [(0, 1), (0, 2), (1, 2)];
        for (x, found) in sums[1].iter().enumerate() {
            let exact: f64 = pairs
                .iter()
                .map(|(a, b)| convolved(&convolved(&terms[*a], &terms[*b]), &last))
                .map(|sum| sum.get(x).copied().unwrap_or(0.0) / 3.0)
                .sum();
            assert!((found - exact).abs() < 1e-15);
        }
        assert_eq!(sums.len(), 3);
    }

    #[test]
    fn percentiles_are_the_smallest_that_reach_the_level() {
        let d = Distribution::new(10, &[0.5, 0.0, 0.4, 0.1]);
        assert_eq!(d.percentile(0.5), Some(10));
        assert_eq!(d.percentile(0.9), Some(12));
        assert_eq!(d.percentile(0.91), Some(13));
        assert_eq!((d.at_most(9), d.more_than(12), d.at_most(99)), (Some(0.0), Some(1.0 - 0.9), Some(1.0)));
        assert_eq!(Distribution::new(0, &[0.5]).at_most(3), None);
    }

    #[test]
    fn a_mixture_weighs_its_parts() {
        let (a, b) = (Distribution::new(3, &[1.0]), Distribution::new(1, &[0.5, 0.5]));
        let mix = Distribution::mixture([(0.5, &a), (0.5, &b)]);
        assert_eq!((mix.at_most(1), mix.at_most(2), mix.at_most(3)), (Some(0.25), Some(0.5), Some(1.0)));
    }
}
