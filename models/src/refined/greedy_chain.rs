//! What one class sends between the flits of a message of another, on a link that serves stamps in order.
//!
//! Class `d` may have sent at most `lim(j)` flits before flit `j` of the message goes. The link sends what there
//! is of `d` up to that limit, then the flit. So before flit `j`, of the work `S` of `d` that has come so far,
//! `D_j = min(S, lim(j))` has been sent, and `S` alone is the state: a Markov chain in `j`. During each cycle, of
//! the flit or of `d`, the next message of `d` comes with rate `lambda_d`.

use super::grid::Law;

/// The chain, as it stands before a flit.
#[derive(Clone, Debug)]
pub(super) struct GreedyChain {
    /// `P(S = 0), P(S = 1), ..`; the last cell holds all beyond.
    work: Vec<f64>,
    /// `lim(j)` \[flits\].
    limit: usize,
    message: usize,
    /// `exp(-rate n)`
    quiet: Vec<f64>,
    rate: f64,
    per_flit: f64,
}

impl GreedyChain {
    /// Messages of `message` flits at `rate` \[messages/cycle\]; `found` is the work there at the start.
    ///
    /// Each flit of the message takes `per_flit` cycles, with what third classes send meanwhile.
    pub(super) fn new(found: &Law, message: usize, rate: f64, per_flit: f64, length: usize) -> Self {
        let length = length.max(2 * message + 2);
        let mut work = vec![0.0; length];
        for (x, p) in found.probabilities().iter().enumerate() {
            work[x.min(length - 1)] += p;
        }
        let quiet = (0..=length).map(|n| (-rate * n as f64).exp()).collect();
        Self { work, limit: 0, message, quiet, rate, per_flit }
    }

    /// Sends what may go before the first flit.
    pub(super) fn begin(&mut self, limit: usize) {
        self.serve(limit, false);
    }

    /// Sends a flit of the message, then what may go before the next one.
    pub(super) fn advance(&mut self, limit: usize) {
        self.serve(limit, true);
    }

    /// A pass over rising `S`: arrivals only lead upwards.
    fn serve(&mut self, limit: usize, after_flit: bool) {
        let limit = limit.max(self.limit);
        let (old, last, m) = (self.limit, self.work.len() - 1, self.message);
        // came[k][S]: with S after k arrivals whose work has not been looked at yet
        let mut once = vec![0.0; last + 1];
        let mut twice = vec![0.0; last + 1];
        let mut next = vec![0.0; last + 1];
        let (flit, flit_quiet) = (self.per_flit, (-self.rate * self.per_flit).exp());
        let pass = |s: usize, mass: f64, cycles: usize, flit_too: bool, next: &mut [f64], once: &mut [f64], twice: &mut [f64]| {
            if mass < 1e-15 {
                next[s] += mass;
                return;
            }
            let (time, quiet) = if flit_too { (flit, flit_quiet) } else { (0.0, 1.0) };
            let none = self.quiet[cycles.min(last)] * quiet;
            let one = self.rate * (cycles as f64 + time) * none;
            next[s] += mass * none;
            once[(s + m).min(last)] += mass * one;
            twice[(s + 2 * m).min(last)] += mass * (1.0 - none - one).max(0.0);
        };
        for s in 0..=last {
            let sent = s.min(limit);
            if self.work[s] > 0.0 {
                let cycles = sent - s.min(old);
                pass(s, self.work[s], cycles, after_flit, &mut next, &mut once, &mut twice);
            }
            if s < last {
                // what has come is sent in its turn, up to the limit
                if once[s] > 0.0 {
                    let cycles = sent - s.saturating_sub(m).min(limit);
                    let mass = std::mem::take(&mut once[s]);
                    pass(s, mass, cycles, false, &mut next, &mut once, &mut twice);
                }
                if twice[s] > 0.0 {
                    let cycles = sent - s.saturating_sub(2 * m).min(limit);
                    let mass = std::mem::take(&mut twice[s]);
                    pass(s, mass, cycles, false, &mut next, &mut once, &mut twice);
                }
            } else {
                next[s] += once[s] + twice[s];
            }
        }
        self.work = next;
        self.limit = limit;
    }

    /// `D_j`: what has been sent so far.
    pub(super) fn sent(&self) -> Law {
        let mut weights = vec![0.0; self.limit.min(self.work.len() - 1) + 1];
        let last = weights.len() - 1;
        for (s, p) in self.work.iter().enumerate() {
            weights[s.min(last)] += p;
        }
        Law::of(weights)
    }

    /// `S - D_j`: what is left behind.
    pub(super) fn left(&self) -> Law {
        let mut weights = vec![0.0; self.work.len()];
        for (s, p) in self.work.iter().enumerate() {
            weights[s - s.min(self.limit)] += p;
        }
        Law::of(weights)
    }
}
