//! Header and tail of a message on their way through several routers.
//!
//! With `H` and `T` the delays of header and tail against a lone message, `T >= H`, the gaps inside the message are
//! `T - H`. A wait of the header lets the flits behind catch up, so that it costs the tail nothing as long as there
//! are gaps; and each router hides `A` cycles of a gap, by which its header takes longer than a body flit. Both
//! delays are followed together, router by router (our own approximation: what the routers add is independent):
//!
//! ```text
//! H <- H + a                  wait for the own class: own output queue, and behind others in the input channel
//! T <- T - A                  what the header's longer way hides
//! T <- T + fresh  if T > H    what has come on the link while it ran dry
//! T <- max(T, H)
//! T <- max(T, H + v), H <- min(H + e, T)    found work of other classes; the header passes it but for e
//! T <- T + I                  interruptions by other classes
//! ```
//!
//! With a probability `1 - φ` the gap is so far behind the header that its wait cannot close it (messages longer than
//! the buffers): then header and tail both wait.

use super::law::Law;

/// Probability below which the end of a law, or a corner of the lattice, is not looked at.
const NOTHING: f64 = 1e-6;

/// Joint law of the two delays on a lattice.
#[derive(Clone)]
pub(super) struct TailAndHeader {
    /// Points in either direction; the last holds all beyond.
    side: usize,
    /// Cells per step of the lattice.
    step: f64,
    /// Weight below which the end of a row is not looked at.
    least: f64,
    /// `P(H = h, T = t)` at `h side + t`
    joint: Vec<f64>,
}

/// What a message meets at one router, on the lattice.
#[derive(Clone, Default)]
pub(super) struct Crossed {
    /// Wait behind the own class alone, for the output.
    pub(super) own: Vec<f64>,
    /// Wait of the header in the input channel.
    pub(super) in_channel: Vec<f64>,
    /// Work of others found by a message that finds none of its class, and by others.
    pub(super) found: [Vec<f64>; 2],
    /// What has come while the link ran dry; nothing on the last link.
    pub(super) fresh: Vec<f64>,
    /// `I`
    pub(super) interrupted: Vec<f64>,
    /// `e`: how much of the found work the header waits for \[cells\].
    pub(super) header: f64,
    /// `A` \[cells\]
    pub(super) hidden: f64,
    /// `φ`
    pub(super) closed: f64,
}

impl TailAndHeader {
    /// On entry: the share `first` has gaps only, the others have been in the buffer for a while, too.
    pub(super) fn new(
        (side, step, least): (usize, f64, f64),
        first: f64,
        in_buffer: &Law,
        gaps: &[Law; 2],
    ) -> Self {
        let mut start = Self { side, step, least, joint: vec![0.0; side * side] };
        for (t, p) in start.weights(&gaps[0]).into_iter().enumerate() {
            start.joint[t] += first * p;
        }
        let gaps = start.weights(&gaps[1]);
        for (h, p) in start.weights(in_buffer).into_iter().enumerate() {
            for (t, q) in gaps.iter().enumerate() {
                start.joint[h * side + t.max(h)] += (1.0 - first) * p * q;
            }
        }
        start
    }

    /// A law on the lattice.
    pub(super) fn weights(&self, law: &Law) -> Vec<f64> {
        let law = if self.step == 1.0 { law.clone() } else { law.stretched(1.0 / self.step) };
        let mut weights = law.probabilities().to_vec();
        if weights.len() > self.side {
            let beyond: f64 = weights.drain(self.side..).sum();
            weights[self.side - 1] += beyond;
        }
        let mut tail = 0.0;
        while weights.len() > 1 && tail + weights[weights.len() - 1] < NOTHING {
            tail += weights.pop().unwrap_or(0.0);
        }
        if let Some(last) = weights.last_mut() {
            *last += tail;
        }
        weights
    }

    /// Through a router.
    pub(super) fn cross(&mut self, met: &Crossed) {
        let (none, waiting) = parts(&met.own);
        let behind_own = convolved(&waiting, &met.in_channel, self.side);
        let hidden = met.hidden / self.step;
        let before = std::mem::take(&mut self.joint);
        let mut after = vec![0.0; before.len()];
        for (share, wait, found) in
            [(none, &met.in_channel, &met.found[0]), (1.0 - none, &behind_own, &met.found[1])]
        {
            if share < 1e-9 {
                continue;
            }
            let mut moved = vec![0.0; before.len()];
            self.wait(&before, share * met.closed, wait, hidden, false, &mut moved);
            if met.closed < 1.0 {
                self.wait(&before, share * (1.0 - met.closed), wait, hidden, true, &mut moved);
            }
            if met.fresh.len() > 1 {
                moved = self.tail_delayed(&moved, &met.fresh, 1);
            }
            self.find(&mut moved, found, met.header / self.step);
            for (after, moved) in after.iter_mut().zip(&moved) {
                *after += moved;
            }
        }
        self.joint = self.tail_delayed(&after, &met.interrupted, 0);
    }

    /// `H <- H + a`, with `T <- T + a` if both wait; `T <- max(T - A, H)`.
    fn wait(&self, from: &[f64], share: f64, wait: &[f64], hidden: f64, both: bool, to: &mut [f64]) {
        let n = self.side;
        let (whole, part) = (hidden.floor() as usize, hidden - hidden.floor());
        let mut row = vec![0.0; n];
        for (h, source) in from.chunks_exact(n).enumerate() {
            if source[h..].iter().sum::<f64>() < NOTHING * 1e-2 {
                continue;
            }
            // T - A, what falls between two points split over them
            row.fill(0.0);
            for (t, p) in source.iter().enumerate().skip(h) {
                row[t.saturating_sub(whole)] += share * (1.0 - part) * p;
                row[t.saturating_sub(whole + 1)] += share * part * p;
            }
            // beyond it there is next to nothing
            let end = row.iter().rposition(|p| *p > self.least).map_or(0, |t| t + 1);
            let mut below = 0.0;
            let mut summed = 0;
            for (a, p) in wait.iter().enumerate() {
                let at = (h + a).min(n - 1);
                let target = &mut to[at * n..(at + 1) * n];
                if both {
                    let shift = at - h;
                    // T + a - A against H + a
                    for (t, q) in row[..end].iter().enumerate() {
                        target[(t.max(h) + shift).min(n - 1)] += p * q;
                    }
                    continue;
                }
                while summed <= at {
                    below += row[summed];
                    summed += 1;
                }
                target[at] += p * below;
                for (target, q) in target[at + 1..].iter_mut().zip(&row[at + 1..end.max(at + 1)]) {
                    *target += p * q;
                }
            }
        }
    }

    /// `T <- T + Y`, where `T` is at least so many points beyond `H`.
    fn tail_delayed(&self, from: &[f64], law: &[f64], beyond: usize) -> Vec<f64> {
        let n = self.side;
        let mut to = vec![0.0; from.len()];
        // P(Y >= y)
        let mut at_least = law.to_vec();
        for y in (1..at_least.len()).rev() {
            at_least[y - 1] += at_least[y];
        }
        for (h, (source, target)) in from.chunks_exact(n).zip(to.chunks_exact_mut(n)).enumerate() {
            for (t, p) in source.iter().enumerate().skip(h) {
                if t < h + beyond {
                    target[t] += p;
                    continue;
                }
                if *p < NOTHING * 1e-3 {
                    target[t] += p;
                    continue;
                }
                let within = law.len().min(n - t);
                for (target, q) in target[t..t + within].iter_mut().zip(law) {
                    *target += p * q;
                }
                target[n - 1] += p * at_least.get(within).copied().unwrap_or(0.0);
            }
        }
        to
    }

    /// `T <- max(T, H + v)`, `H <- min(H + e, T)` where something is found.
    fn find(&self, joint: &mut [f64], found: &[f64], header: f64) {
        let n = self.side;
        let (none, mut found) = parts(found);
        let some = 1.0 - none;
        if some < NOTHING {
            return;
        }
        let mut sum = 0.0;
        for p in &mut found {
            sum += *p;
            *p = sum;
        }
        let (whole, part) = (header.min(n as f64).floor(), header.min(n as f64).fract());
        let steps = [(whole as usize, 1.0 - part), (whole as usize + 1, part)];
        // from above, so that what moves to higher rows is not met again
        for h in (0..n).rev() {
            let mut at_most = 0.0;
            let mut before = 0.0;
            for t in h..n {
                let p = joint[h * n + t];
                at_most += p;
                let v = found.get(t - h).copied().unwrap_or(1.0);
                let now = if t == n - 1 { at_most } else { at_most * v };
                let moved = some * (now - before);
                before = now;
                joint[h * n + t] = (1.0 - some) * p;
                for (step, share) in steps {
                    if share > 0.0 {
                        joint[(h + step).min(t) * n + t] += share * moved;
                    }
                }
            }
        }
    }

    /// Delay of the tail \[cells\].
    pub(super) fn tail(&self) -> Law {
        let mut weights = vec![0.0; self.side];
        for row in self.joint.chunks_exact(self.side) {
            for (sum, p) in weights.iter_mut().zip(row) {
                *sum += p;
            }
        }
        if self.step <= 1.0 {
            return Law::of(weights);
        }
        // a point holds what lies within a step of it, evenly as far as is known; nothing stays at nothing
        let mut cells = Law::points();
        let within = self.step.ceil() as i32;
        for (t, p) in weights.iter().enumerate() {
            let at = t as f64 * self.step;
            if t == 0 || t + 1 == self.side {
                cells.add(at, *p);
                continue;
            }
            let parts: Vec<(f64, f64)> = (1 - within..within)
                .map(|i| (at + f64::from(i), (1.0 - f64::from(i).abs() / self.step).max(0.0)))
                .collect();
            let all: f64 = parts.iter().map(|(_, part)| part).sum();
            for (at, part) in parts {
                cells.add(at, p * part / all);
            }
        }
        cells.law()
    }
}

/// Probability of zero, and the law given more.
fn parts(law: &[f64]) -> (f64, Vec<f64>) {
    let none = law.first().copied().unwrap_or(1.0).min(1.0);
    if 1.0 - none < 1e-12 {
        return (1.0, vec![1.0]);
    }
    let given = law.iter().enumerate().map(|(x, p)| if x == 0 { 0.0 } else { p / (1.0 - none) });
    (none, given.collect())
}

/// Adds a weighted law to a mixture.
pub(super) fn mix(into: &mut Vec<f64>, share: f64, law: &[f64]) {
    if into.len() < law.len() {
        into.resize(law.len(), 0.0);
    }
    for (sum, p) in into.iter_mut().zip(law) {
        *sum += share * p;
    }
}

/// The sum of two laws on the lattice.
fn convolved(x: &[f64], y: &[f64], side: usize) -> Vec<f64> {
    let mut sum = vec![0.0; (x.len() + y.len() - 1).min(side)];
    let last = sum.len() - 1;
    for (i, p) in x.iter().enumerate() {
        for (j, q) in y.iter().enumerate() {
            sum[(i + j).min(last)] += p * q;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crossed(own: &[f64], found: &[f64], header: f64, hidden: f64) -> Crossed {
        Crossed {
            own: own.to_vec(),
            in_channel: vec![1.0],
            found: [found.to_vec(), found.to_vec()],
            fresh: vec![1.0],
            interrupted: vec![1.0],
            header,
            hidden,
            closed: 1.0,
        }
    }

    fn start(gap: f64) -> TailAndHeader {
        TailAndHeader::new((64, 1.0, 1e-12), 1.0, &Law::zero(), &[Law::constant(gap), Law::zero()])
    }

    #[test]
    fn a_gap_hides_waits_and_is_hidden_by_the_headers_longer_way() {
        let always_ten = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        let mut joint = start(15.0);
        joint.cross(&crossed(&always_ten, &[1.0], 0.0, 2.0));
        assert!((joint.tail().mean() - 13.0).abs() < 1e-9);
        joint.cross(&crossed(&always_ten, &[1.0], 0.0, 2.0));
        // twice ten cycles of wait, and the gap is closed
        assert!((joint.tail().mean() - 20.0).abs() < 1e-9);
    }

    #[test]
    fn found_work_is_a_gap_unless_the_header_waits_for_it() {
        let six = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        for (header, delay) in [(0.0, 4.0), (f64::INFINITY, 6.0)] {
            let mut joint = start(0.0);
            joint.cross(&crossed(&[1.0], &six, header, 2.0));
            assert!((joint.tail().mean() - 6.0).abs() < 1e-9);
            joint.cross(&crossed(&[1.0], &[1.0], 0.0, 2.0));
            assert!((joint.tail().mean() - delay).abs() < 1e-9, "{header}");
        }
    }

    #[test]
    fn a_wait_too_far_ahead_of_the_gap_does_not_close_it() {
        let mut met = crossed(&[0.0, 0.0, 0.0, 1.0], &[1.0], 0.0, 0.0);
        met.closed = 0.25;
        let mut joint = start(8.0);
        joint.cross(&met);
        assert!((joint.tail().mean() - (0.25 * 8.0 + 0.75 * 11.0)).abs() < 1e-9);
    }

    #[test]
    fn probabilities_stay_one() {
        let mut joint = TailAndHeader::new(
            (32, 1.5, 1e-12),
            0.6,
            &Law::of(vec![0.2, 0.3, 0.5]),
            &[Law::of(vec![0.5, 0.1, 0.4]), Law::of(vec![0.1; 10])],
        );
        for _ in 0..5 {
            let mut met = crossed(&[0.5, 0.2, 0.2, 0.1], &[0.7, 0.0, 0.3], 1.0, 2.0);
            met.fresh = vec![0.9, 0.0, 0.1];
            met.interrupted = vec![0.8, 0.1, 0.1];
            met.closed = 0.7;
            joint.cross(&met);
        }
        assert!((joint.joint.iter().sum::<f64>() - 1.0).abs() < 1e-4);
    }
}
