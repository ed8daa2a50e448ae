//! One class in a single router: the fixed point of its queue at the interface, its input channel and its output.

use super::grid::{Grid, Law, Transform, product};
use super::queue::Queue;

/// What stands around a class, all of it independent of the class's own queues.
pub(super) struct Surroundings {
    pub(super) message: usize,
    pub(super) buffer: usize,
    pub(super) stages: usize,
    pub(super) rate: f64,
    /// Share of the class's own messages for an output that come over other inputs.
    pub(super) contending: f64,
    pub(super) gaps_first: Transform,
    pub(super) gaps_later: Transform,
    pub(super) interface_set_up: Law,
    pub(super) header_wait: f64,
    pub(super) regain: Law,
    /// Per flit on the output link while in step with the arriving flits, and while lagging behind them.
    pub(super) in_step: Transform,
    pub(super) lagging: Transform,
    pub(super) set_up: Law,
    pub(super) left_behind: Law,
    /// By steps of four flits.
    pub(super) fresh: Vec<Law>,
    pub(super) seen: f64,
}

/// What is found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) latency: f64,
    pub(super) waiting: f64,
    pub(super) input: f64,
    pub(super) arbitration: f64,
    pub(super) output: f64,
    pub(super) gaps: f64,
    pub(super) source_load: f64,
    pub(super) first: f64,
    pub(super) debug: Vec<(&'static str, f64)>,
    pub(super) rounds: u32,
    pub(super) change: f64,
    pub(super) header: Law,
    pub(super) latency_law: Law,
}

struct State {
    in_buffer: Law,
    first: f64,
    grant: Law,
    wait: Law,
    work: Law,
    blocked: Law,
}

impl Surroundings {
    pub(super) fn solve(&self, grid: &Grid, tolerance: f64) -> Result<Found, f64> {
        let m = self.message as f64;
        let b = self.buffer as f64;
        let header = self.stages as f64 - 3.0;
        // a crossbar output idles for a cycle between two messages where arbitration is a stage of its own
        let crossing = header.clamp(0.0, 1.0);
        let l = self.rate * self.contending;
        let short = self.buffer < self.message;
        let head = m.min(b);
        let rest = (m - b).max(0.0);
        let gap_law = |exponent: &Transform, flits: f64| {
            if flits > 0.0 { grid.law(grid.compound(exponent, flits)) } else { Law::zero() }
        };
        let gaps = [gap_law(&self.gaps_first, m), gap_law(&self.gaps_later, m)];
        let gaps_rest = [gap_law(&self.gaps_first, rest), gap_law(&self.gaps_later, rest)];
        let _ = head;
        let held: Vec<Law> = gaps_rest.iter().map(|gap| gap.less(b)).collect();
        let idle = Law::constant(crossing).sometimes(1.0 - self.seen);
        let completion = |flits: f64| grid.law(product(&grid.delay(flits), &grid.compound(&self.lagging, flits)));
        let service = grid.sum(&completion(m), &idle);
        let half_way = gap_law(&self.lagging, m / 2.0);
        let mut state = State {
            in_buffer: Law::zero(),
            first: 1.0,
            grant: Law::zero(),
            wait: self.set_up.clone(),
            work: Law::zero(),
            blocked: Law::zero(),
        };
        let mut rounds = 0;
        let mut last = f64::INFINITY;
        let mut result: Option<Found>;
        let (mut found_wait, mut found_in_buffer);
        loop {
            rounds += 1;
            let p0 = state.first;
            // 1. hole(y)
            let hole = |y: &Law, crossbar: bool| {
                let behind = grid.sum(&state.in_buffer, y);
                // of the gaps, those whose messages go to the same output are hidden by nothing
                let bare = 1.0 - self.contending;
                let seen = |lag: &Law, gap: &Law| {
                    let hidden = grid.excess(gap, &lag.plus(header));
                    if crossbar {
                        return hidden;
                    }
                    Law::mixture(&[(1.0 - bare * lag.positive(), &hidden), (bare * lag.positive(), gap)])
                };
                let mut first = seen(y, &gaps[0]);
                let mut later = seen(&behind, &gaps[1]);
                if short {
                    first = first.max(&held[0]);
                    later = later.max(&held[1]);
                }
                Law::mixture(&[(p0, &first), (1.0 - p0, &later)])
            };
            // 2. crossbar output
            let cross_first = hole(&Law::zero(), true).plus(m + crossing);
            let cross_later = hole(&state.grant.given_positive(), true).plus(m + crossing);
            let cross = Queue::new(grid, l, &cross_later, &cross_first, &Law::zero()).ok_or(l * cross_later.mean())?;
            let grant = cross.wait(grid);
            // 3. output link: what came before a gap, on average in half of the message, hides it too
            let behind_wait = grid.sum(&state.wait.given_positive(), &half_way);
            let behind_set_up = grid.sum(&self.set_up, &half_way);
            let later = grid.sum(&grid.sum(&service, &hole(&behind_wait, false)), &self.left_behind);
            let first = grid.sum(&grid.sum(&service, &hole(&behind_set_up, false)), &self.set_up);
            let link = Queue::new(grid, l, &later, &first, &self.set_up).ok_or(l * later.mean())?;
            let wait = link.wait(grid);
            let work = link.work(grid);
            // 4. back-pressure
            let per_flit = (service.mean() / m).max(1.0);
            let full = self.until_room(grid, &grid.sum(&wait, &service), l, per_flit);
            let blocked = if short {
                // the tail crosses when the flit b places ahead has left
                let delayed = gap_law(&self.lagging, rest);
                grant.max_in_step(&grid.sum(&wait, &delayed).less(b))
            } else {
                grant.max_in_step(&full)
            };
            let granted = if short { grant.max_in_step(&full) } else { blocked.clone() };
            let pressure = blocked.mean() - grant.mean();
            // 5. NI queue and input VC
            let stalls = |i: usize| {
                if !short {
                    return blocked.clone();
                }
                let stall: f64 = blocked.probabilities().iter().skip(self.buffer + 1).sum();
                let back = grid.sum(&gaps_rest[i], &self.regain).less(b);
                grid.sum(&blocked, &back.sometimes(stall))
            };
            let (x0, x1) = (stalls(0), stalls(1));
            let b0 = x0.max(&gaps[0].less(header)).plus(m + header);
            let b1 = x1.max(&grid.excess(&gaps[1], &state.in_buffer.plus(header))).plus(m + header);
            let source_load = self.rate * b1.mean();
            let after_set_up = grid.sum(&b0, &self.interface_set_up);
            let both = Queue::new(grid, self.rate, &b1, &after_set_up, &self.interface_set_up).ok_or(source_load)?;
            let alone_first = grid.sum(&gaps[0].plus(m), &self.interface_set_up);
            let alone = Queue::new(grid, self.rate, &gaps[1].plus(m), &alone_first, &self.interface_set_up)
                .ok_or(source_load)?;
            let p0 = both.empty;
            let in_network = (both.mean_wait - alone.mean_wait).max(0.0);
            // A message follows a first one if it comes during its service; it follows another one if it was there
            // when that one's service began (share `waiting` of them), or came during it.
            let e0 = b0.tilted(self.rate);
            let e1 = b1.tilted(self.rate);
            let p1 = p0 * (1.0 - e0);
            let p2 = (1.0 - p0 - p1).max(0.0);
            let later_share = (1.0 - p0).max(1e-12);
            let there = (1.0 - (1.0 - p2 / later_share) / e1).clamp(0.0, 1.0);
            let behind_first = self.met_in_service(grid, &x0.plus(header), &gaps[0]);
            let start_later = grid.sum(&state.in_buffer, &x1).plus(header);
            let behind_later = grid.excess(&start_later, &gaps[1]);
            let met_later = self.met_in_service(grid, &start_later, &gaps[1]);
            let pa = later_share * there;
            let pb = (p2 - pa).max(0.0);
            // whole messages ahead in the buffer, and the flits of one more
            let whole = (b / m).ceil() - 1.0;
            let cap = if short {
                b - 3.0 + pressure * (2.0 * b / m - 1.0).max(0.0)
            } else {
                b - whole * m - 3.0 + pressure + whole * b1.mean()
            }
            .max(0.0);
            let in_buffer = Law::mixture(&[(p1, &behind_first), (pa, &behind_later), (pb, &met_later)])
                .min(&Law::constant(cap));
            let recursion = p1 * behind_first.mean() + pa * behind_later.mean() + pb * met_later.mean();
            let residence = (1.0 - p0) * in_buffer.mean();
            let waiting = 1.0 + both.mean_wait - residence + p0 * self.header_wait;
            result = Some(Found {
                latency: 0.0,
                waiting,
                input: residence,
                arbitration: granted.mean(),
                output: wait.mean() - granted.mean(),
                gaps: 0.0,
                source_load,
                first: p0,
                debug: vec![
                    ("P0", p0),
                    ("E[w]", grant.mean()),
                    ("E[V]", wait.mean()),
                    ("E[V']", work.mean()),
                    ("E[x]", blocked.mean()),
                    ("bp", pressure),
                    ("E[B0]", b0.mean()),
                    ("E[B1]", b1.mean()),
                    ("Tq", both.mean_wait),
                    ("W_NI", alone.mean_wait),
                    ("rec", recursion),("there",there),("p1",p1),("cap",cap),
                    ("E[D]", in_network),
                    ("E[R]", residence),
                    ("E[G0]", gaps[0].mean()),
                    ("E[G1]", gaps[1].mean()),
                ],
                rounds,
                change: 0.0,
                header: Law::zero(),
                latency_law: Law::zero(),
            });
            let half = |old: &Law, new: &Law| Law::mixture(&[(0.5, old), (0.5, new)]);
            let measure = residence + wait.mean() + both.mean_wait + blocked.mean();
            found_wait = wait.clone();
            found_in_buffer = in_buffer.clone();
            state = State {
                in_buffer: half(&state.in_buffer, &in_buffer),
                first: 0.5 * (state.first + p0),
                grant: half(&state.grant, &grant),
                wait: half(&state.wait, &wait),
                work,
                blocked,
            };
            let change = (measure - last).abs();
            last = measure;
            if change < tolerance || rounds >= 200 {
                if let Some(found) = &mut result {
                    found.change = change;
                }
                break;
            }
        }
        let _ = (&state.work, &state.blocked);
        let mut found = result.expect("one round at least");
        // 6. latency
        let short_way = |in_buffer: &Law, gaps: &Transform| {
            let start = grid.sum(in_buffer, &found_wait).plus(header);
            self.passage_law(grid, &start, gaps, header)
        };
        let p0 = found.first;
        let u0 = short_way(&Law::zero(), &self.gaps_first);
        let u1 = short_way(&found_in_buffer, &self.gaps_later);
        let law = Law::mixture(&[(p0, &u0), (1.0 - p0, &u1)]);
        let lone = self.stages as f64 - 1.0 + m;
        found.latency = lone + law.mean();
        found.latency_law = law;
        found.gaps = found.latency - lone - found.input - found.arbitration - found.output;
        found.debug.push(("U0", u0.mean()));
        found.debug.push(("U1", u1.mean()));
        Ok(found)
    }

    /// Time until what is ahead of a message fits into the output buffer.
    ///
    /// A message leaves behind as many of its class as come during its time `sojourn` at the output (Little's law
    /// for laws), and finds as many: `N`. The last of them is through the crossbar when no more than `b` flits are
    /// left of `N M` less what has been sent of the first.
    fn until_room(&self, grid: &Grid, sojourn: &Law, rate: f64, per_flit: f64) -> Law {
        let (m, b) = (self.message, self.buffer);
        let first = b / m + 1;
        // P(N = n) for n >= first
        const MOST: usize = 64;
        let mut found = [0.0; MOST];
        let mut step = 1;
        while sojourn.probabilities().len() / step > 256 {
            step *= 2;
        }
        let log_factorials: Vec<f64> =
            (0..MOST + first).scan(0.0, |sum, n| { if n > 0 { *sum += (n as f64).ln(); } Some(*sum) }).collect();
        for (at, chunk) in sojourn.probabilities().chunks(step).enumerate() {
            let mass: f64 = chunk.iter().sum();
            if mass < 1e-12 {
                continue;
            }
            let mean = rate * ((at * step) as f64 + (step as f64 - 1.0) / 2.0);
            if mean <= 0.0 {
                continue;
            }
            let ln = mean.ln();
            for n in first..first + MOST {
                let p = mass * (n as f64 * ln - mean - log_factorials[n]).exp();
                found[n - first] += p;
                if p < 1e-14 && n as f64 > mean {
                    break;
                }
            }
        }
        // n M - u M - b flits, u uniform
        let mut weights = vec![0.0; (first + MOST) * m - b + 1];
        for (i, p) in found.iter().enumerate() {
            let n = first + i;
            for flit in 0..m {
                let ahead = ((n - 1) * m + flit).saturating_sub(b);
                weights[ahead] += 0.5 * p / m as f64;
                weights[((n - 1) * m + flit + 1).saturating_sub(b)] += 0.5 * p / m as f64;
            }
        }
        let none = 1.0 - found.iter().sum::<f64>();
        weights[0] += none.max(0.0);
        let room = Law::of(weights).stretched(per_flit);
        // others may hold the link at that moment
        let full = room.positive();
        let held = grid.sum(&room.given_positive(), &self.set_up);
        Law::mixture(&[(1.0 - full, &Law::zero()), (full, &held)])
    }

    /// In-buffer wait of a message that comes during the service `B = M + G + e`, `e = (start - G)+`, of another:
    /// `e`, or what is left of `B` if that is less.
    fn met_in_service(&self, grid: &Grid, start: &Law, gaps: &Law) -> Law {
        // P(R > r) = E[1 - exp(-l (B - r)); e > r]
        let rate = self.rate;
        let excess = grid.excess(start, gaps);
        let quiet = gaps.tilted(rate);
        let tilted = grid.excess(start, &gaps.tilted_law(rate));
        let m = self.message as f64;
        let mut weights = vec![0.0; excess.probabilities().len() + 1];
        let decay = (-rate).exp();
        let mut beyond = 0.0;
        for e in (0..excess.probabilities().len()).rev() {
            let later = quiet * tilted.at(e) * (-rate * m).exp();
            weights[e] += (excess.at(e) - later).max(0.0);
            // between e and e + 1
            weights[e] += 0.5 * beyond;
            weights[e + 1] += 0.5 * beyond;
            beyond = decay * (beyond + (1.0 / decay - 1.0) * later);
        }
        Law::of(weights)
    }

    /// Law of the tail's delay.
    fn passage_law(&self, grid: &Grid, start: &Law, gaps: &Transform, header: f64) -> Law {
        let m = self.message as f64;
        let all = grid.law(grid.compound(gaps, m));
        let some = all.positive();
        let gap = all.given_positive();
        // kernel over `flits` flits with `left` flits still to come, from a lag of law `lag`
        let mut sum: Transform = vec![Default::default(); grid.points().len()];
        let mut add = |weight: f64, lag: &Law, flits: f64, left: f64| {
            let edge = (left.max(header).floor() as usize + 1).min(lag.probabilities().len());
            let mut near = lag.probabilities().to_vec();
            let far: Vec<f64> = near.iter().enumerate().map(|(x, p)| if x < edge { 0.0 } else { *p }).collect();
            near[edge..].fill(0.0);
            for (weights, exponent) in [(near, &self.in_step), (far, &self.lagging)] {
                let share: f64 = weights.iter().sum();
                if share > 1e-12 {
                    let moved = product(&grid.transform(&Law::of(weights)), &grid.compound(exponent, flits));
                    for (sum, moved) in sum.iter_mut().zip(&moved) {
                        *sum += moved * (weight * share);
                    }
                }
            }
        };
        add(1.0 - some, start, m, m / 2.0);
        const POSITIONS: usize = 4;
        if some > 1e-12 {
            for position in 0..POSITIONS {
                let weight = some / POSITIONS as f64;
                let part = (position as f64 + 0.5) / POSITIONS as f64;
                let sent = part * m;
                let before = grid.law(product(&grid.transform(start), &grid.compound(&self.in_step, sent)));
                // the gap finds the lag greater, or the link runs dry
                let at = ((sent / 4.0) as usize).min(self.fresh.len() - 1);
                let (mut hidden, mut dry) = (Vec::new(), Vec::new());
                let (mut lag_below, mut gap_to) = (0.0, 0.0);
                let length = before.probabilities().len().max(gap.probabilities().len());
                for x in 0..length {
                    gap_to += gap.at(x);
                    hidden.push(before.at(x) * gap_to);
                    dry.push(gap.at(x) * lag_below);
                    lag_below += before.at(x);
                }
                let share: f64 = dry.iter().sum();
                let left = m - sent;
                // a gap that others of the same input make at the same output is hidden by no lag
                let bare = 1.0 - self.contending;
                let lagging: f64 = before.probabilities().iter().skip(header as usize + 1).sum();
                if bare * lagging > 1e-12 {
                    let mut weights = before.probabilities().to_vec();
                    weights.iter_mut().take(header as usize + 1).for_each(|p| *p = 0.0);
                    add(weight * bare * lagging, &grid.sum(&Law::of(weights), &gap), left, left / 2.0);
                }
                let weight = weight * (1.0 - bare * lagging);
                if share < 1.0 - 1e-12 {
                    add(weight * (1.0 - share), &Law::of(hidden), left, left / 2.0);
                }
                if share > 1e-12 {
                    let dry = grid.sum(&Law::of(dry), &self.fresh[at]);
                    add(weight * share, &dry, left, 1e9);
                }
            }
        }
        grid.law(sum).less(header)
    }
}
