//! Header and tail where both have been delayed, and not alike: their joint law on a lattice.

use super::NOTHING;

/// Joint law of the two delays, as far as neither is nothing.
#[derive(Clone)]
pub(super) struct Lattice {
    /// Points in either direction; the last holds all beyond.
    side: usize,
    /// Cells per step.
    step: f64,
    /// `P(H = h, T = t)` at `h side + t`
    joint: Vec<f64>,
}

/// What a message meets at a router, on the lattice.
pub(super) struct OutputDelays {
    /// Wait of the header, as often as it is so.
    pub(super) wait: Vec<f64>,
    pub(super) found: Vec<f64>,
    /// Cells.
    pub(super) hidden: f64,
    /// Cells of found work that the header waits for.
    pub(super) header: f64,
    /// `φ`
    pub(super) closed: f64,
}

impl Lattice {
    /// Without any weight.
    pub(super) fn new(side: usize, step: f64) -> Self {
        Self { side, step, joint: vec![0.0; side * side] }
    }

    /// The same without any weight.
    pub(super) fn emptied(&self) -> Self {
        Self::new(self.side, self.step)
    }

    pub(super) fn mass(&self) -> f64 {
        self.joint.iter().sum()
    }

    /// The point above nothing but `at` cells, and how much belongs to the next one.
    fn place(&self, at: f64) -> (usize, f64) {
        let at = at / self.step;
        let low = at as usize;
        if low + 1 >= self.side { (self.side - 1, 0.0) } else { (low, at - low as f64) }
    }

    /// Weights by cells on the lattice; what falls between two points is split over them.
    pub(super) fn weights(&self, cells: &[f64]) -> Vec<f64> {
        let mut weights = vec![0.0; self.side];
        for (x, p) in cells.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            let (low, up) = self.place(x as f64);
            weights[low] += p * (1.0 - up);
            if up > 0.0 {
                weights[low + 1] += p * up;
            }
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

    /// Through a router but for what interrupts, with `others` that come to the lattice there; `fresh` is what has come
    /// while a link ran dry.
    pub(super) fn crossed(&self, met: &OutputDelays, others: Option<Self>, fresh: &[f64]) -> Self {
        let mut moved = others.unwrap_or_else(|| Self::new(self.side, self.step));
        let hidden = met.hidden / self.step;
        self.wait(met.closed, &met.wait, hidden, false, &mut moved.joint);
        if met.closed < 1.0 {
            self.wait(1.0 - met.closed, &met.wait, hidden, true, &mut moved.joint);
        }
        if fresh.len() > 1 {
            moved = moved.tail_delayed(fresh, 1);
        }
        moved.find(&met.found, met.header / self.step);
        moved
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (sum, p) in self.joint.iter_mut().zip(&other.joint) {
            *sum += p;
        }
    }

    /// `H <- H + a`, with `T <- T + a` if both wait; `T <- max(T - A, H)`.
    fn wait(&self, share: f64, wait: &[f64], hidden: f64, both: bool, to: &mut [f64]) {
        let n = self.side;
        let (whole, part) = (hidden.floor() as usize, hidden - hidden.floor());
        let mut row = vec![0.0; n];
        for (h, source) in self.joint.chunks_exact(n).enumerate() {
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
            let end = row.iter().rposition(|p| *p > NOTHING * 1e-6).map_or(0, |t| t + 1);
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
    pub(super) fn tail_delayed(&self, law: &[f64], beyond: usize) -> Self {
        let n = self.side;
        let mut to = Self::new(n, self.step);
        // P(Y >= y)
        let mut at_least = law.to_vec();
        for y in (1..at_least.len()).rev() {
            at_least[y - 1] += at_least[y];
        }
        for (h, (source, target)) in self.joint.chunks_exact(n).zip(to.joint.chunks_exact_mut(n)).enumerate()
        {
            for (t, p) in source.iter().enumerate().skip(h) {
                if t < h + beyond || *p < NOTHING * 1e-3 {
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
    fn find(&mut self, found: &[f64], header: f64) {
        let n = self.side;
        let none = found.first().copied().unwrap_or(1.0).min(1.0);
        let some = 1.0 - none;
        if some < NOTHING {
            return;
        }
        let mut sum = 0.0;
        let found: Vec<f64> = found
            .iter()
            .enumerate()
            .map(|(x, p)| {
                sum += if x == 0 { 0.0 } else { p / some };
                sum
            })
            .collect();
        let (whole, part) = (header.min(n as f64).floor(), header.min(n as f64).fract());
        let steps = [(whole as usize, 1.0 - part), (whole as usize + 1, part)];
        // from above, so that what moves to higher rows is not met again
        for h in (0..n).rev() {
            let mut at_most = 0.0;
            let mut before = 0.0;
            for t in h..n {
                let p = self.joint[h * n + t];
                at_most += p;
                let v = found.get(t - h).copied().unwrap_or(1.0);
                let now = if t == n - 1 { at_most } else { at_most * v };
                let moved = some * (now - before);
                before = now;
                self.joint[h * n + t] = (1.0 - some) * p;
                for (step, share) in steps {
                    if share > 0.0 {
                        self.joint[(h + step).min(t) * n + t] += share * moved;
                    }
                }
            }
        }
    }

    /// Adds headers and tails delayed alike by `both`, and the tails by `gap` more; a weight for each cell.
    pub(super) fn open(&mut self, both: &[f64], gap: &[f64]) {
        let n = self.side;
        let (both, gap) = (self.weights(both), self.weights(gap));
        for (h, p) in both.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            for (g, q) in gap.iter().enumerate() {
                self.joint[h * n + (h + g).min(n - 1)] += p * q;
            }
        }
    }

    /// Adds a header delayed by so many cells, and tails by at least as much; a weight for each cell.
    pub(super) fn add_row(&mut self, header: usize, tails: &[f64]) {
        let (n, (h, up)) = (self.side, self.place(header as f64));
        let tails = self.weights(tails);
        for (t, p) in tails.iter().enumerate() {
            self.joint[h * n + t.max(h)] += (1.0 - up) * p;
            if up > 0.0 {
                self.joint[(h + 1) * n + t.max(h + 1)] += up * p;
            }
        }
    }

    /// Adds headers delayed by `headers` and independent tails by `tails`, where the tail is later; returns how many.
    ///
    /// On each row pairs of different points keep their shares. That the row has its weight and its mean it also holds
    /// closed gaps.
    pub(super) fn race(&mut self, headers: &[f64], tails: &[f64]) -> f64 {
        let n = self.side;
        // P(T > t) and E[T; T > t]
        let (mut later, mut mean) = (tails.iter().sum::<f64>(), 0.0);
        for (t, p) in tails.iter().enumerate() {
            mean += t as f64 * p;
        }
        let mut rows = vec![[0.0; 2]; n];
        let mut all = 0.0;
        for (h, p) in headers.iter().enumerate() {
            if let Some(tail) = tails.get(h) {
                later -= tail;
                mean -= h as f64 * tail;
            }
            if later < 1e-12 || h >= tails.len() {
                break;
            }
            if *p <= 0.0 {
                continue;
            }
            all += p * later;
            let (low, up) = self.place(h as f64);
            for (row, share) in [(low, 1.0 - up), (low + 1, up)] {
                if share > 0.0 {
                    rows[row][0] += share * p * later;
                    rows[row][1] += share * p * mean;
                }
            }
        }
        let tails = self.weights(tails);
        let (mut later, mut mean) = (0.0, 0.0);
        for h in (0..n).rev() {
            let [weight, moment] = rows[h];
            let row = &mut self.joint[h * n..(h + 1) * n];
            if weight > 0.0 {
                // a later + b = weight, a mean + b h = moment
                let at = h as f64 * self.step;
                let denominator = mean - at * later;
                let a = if denominator > 1e-12 { (moment - at * weight) / denominator } else { 0.0 };
                let a = if later > 1e-12 { a.clamp(0.0, weight / later) } else { 0.0 };
                row[h] += weight - a * later;
                for (to, p) in row.iter_mut().zip(&tails).skip(h + 1) {
                    *to += a * p;
                }
            }
            if let Some(p) = tails.get(h) {
                later += p;
                mean += p * h as f64 * self.step;
            }
        }
        all
    }

    /// Adds the delays of the tail to weights by cells: a point holds what lies within a step of it, evenly as far as
    /// is known.
    pub(super) fn add_tails(&self, cells: &mut Vec<f64>) {
        let mut weights = vec![0.0; self.side];
        for row in self.joint.chunks_exact(self.side) {
            for (sum, p) in weights.iter_mut().zip(row) {
                *sum += p;
            }
        }
        let mut add = |at: f64, p: f64| {
            let low = at as usize;
            if cells.len() < low + 2 {
                cells.resize(low + 2, 0.0);
            }
            cells[low] += p * (1.0 - at.fract());
            cells[low + 1] += p * at.fract();
        };
        let within = self.step.ceil() as i32;
        let parts: Vec<(f64, f64)> = (1 - within..within)
            .map(|i| (f64::from(i), (1.0 - f64::from(i).abs() / self.step).max(0.0)))
            .collect();
        let all: f64 = parts.iter().map(|(_, part)| part).sum();
        for (t, p) in weights.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            let at = t as f64 * self.step;
            if t == 0 || t + 1 == self.side {
                add(at, *p);
                continue;
            }
            for (i, part) in &parts {
                add((at + i).max(0.0), p * part / all);
            }
        }
    }
}
