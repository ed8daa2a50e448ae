//! Back-pressure: when an output buffer has room again.

use super::Station;
use crate::refined::grid::product;
use crate::refined::law::{Law, NOTHING};

impl Station<'_> {
    /// Time until no more than `room` flits are ahead of a message.
    ///
    /// A message leaves behind as many of its class as come during its time at the output, `sojourn` (Little's law
    /// for laws, first come first served), and finds as many: `N`. They are `N M` flits, less what has been
    /// sent of the first. While they go the others that share the link are there: `m` flits are delayed by
    /// `F_10(m) + F_11(m)` (module `shared_queue`). Where no class shares it, or higher classes interrupt, it is by
    /// `K^(m)`, and by `v` if others hold the link at that moment.
    pub(super) fn until_room(&self, sojourn: &Law, room: f64) -> Law {
        let m = self.shape.message;
        let least = (room / m).floor() as usize + 1;
        // P(N = n), n >= least, by coarse steps of the sojourn
        const MOST: usize = 64;
        let steps = if self.grid.nothing() > NOTHING { 32 } else { 128 };
        let mut found = [0.0; MOST];
        let step = sojourn.probabilities().len().div_ceil(steps);
        let ln_factorial = |n: usize| (2..=n).map(|k| (k as f64).ln()).sum::<f64>();
        let ln_least = ln_factorial(least);
        for (at, chunk) in sojourn.probabilities().chunks(step).enumerate() {
            let mass: f64 = chunk.iter().sum();
            let mean = self.rate * ((at * step) as f64 + (step as f64 - 1.0) / 2.0);
            if mass < self.grid.nothing() || mean <= 0.0 {
                continue;
            }
            let mut p = mass * (least as f64 * mean.ln() - mean - ln_least).exp();
            for (i, found) in found.iter_mut().enumerate() {
                *found += p;
                let n = (least + i + 1) as f64;
                p *= mean / n;
                if p < 1e-2 * self.grid.nothing() && n > mean {
                    break;
                }
            }
        }
        let most = found.iter().rposition(|p| *p > self.grid.nothing()).map_or(0, |i| i + 1);
        if most == 0 {
            return Law::zero();
        }
        // (N M - u M - room)+ flits, u uniform, by steps of whole cells; each is sent with what interrupts it
        let step = self.step;
        let per_message = (m / step).round().max(1.0);
        let mut parts = Law::points();
        parts.add(0.0, 1.0 - found[..most].iter().sum::<f64>());
        for (i, p) in found[..most].iter().enumerate() {
            for u in 0..per_message as usize {
                let ahead = (least + i) as f64 * m - (u as f64 + 0.5) / per_message * m - room;
                parts.add(ahead.max(0.0) / step, p / per_message);
            }
        }
        let parts = parts.law();
        let none = parts.at(0);
        let nothing = Law::zero();
        let room = |sent: &Law| Law::mixture(&[(none, &nothing), (1.0 - none, sent)]);
        // others that share the link are there while the buffer is full
        if let Some(company) = &self.company {
            let delay = self.grid.delay(self.step);
            let mut sent = self.grid.exponent_of_nothing();
            for (weight, step) in company.while_there(self.step) {
                let sum = self.grid.compounded(parts.probabilities(), &product(&step, &delay));
                sent.iter_mut().zip(&sum).zip(&weight).for_each(|((sent, x), c)| *sent += x * c);
            }
            return room(&self.grid.law(sent));
        }
        let sent = self.grid.law(self.grid.compounded(parts.probabilities(), &self.step_completion));
        let room = room(&sent);
        // others may hold the link at that moment
        let full = room.positive();
        let held = self.grid.sum(&room.given_positive(), &self.environment.set_up);
        Law::mixture(&[(1.0 - full, &Law::zero()), (full, &held)])
    }
}
