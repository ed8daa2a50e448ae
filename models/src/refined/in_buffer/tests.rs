use super::*;

const MESSAGE: f64 = 32.0;

/// Waits that have settled, of messages with gaps whose tails are blocked for `held_up` in a channel with `room`.
fn settled(grid: &Grid, rate: f64, gaps: &Law, held_up: &Law, room: f64) -> Round {
    let mut found = Round { waits: WaitsByState::none(), wait: 0.0 };
    loop {
        let before = std::array::from_fn(|j| {
            let waits = &found.waits.waits[j];
            let part = |(share, law): (f64, Law)| Part {
                share,
                late: grid.sum(&law.min(&Law::constant(room)), held_up),
                entering: gaps.max(&law.less(room)).plus(MESSAGE),
            };
            let (near, far) = waits.split(room as usize + 1);
            Predecessor {
                gaps: gaps.clone(),
                service: held_up.max(&grid.excess(gaps, waits)).plus(MESSAGE),
                parts: near.into_iter().chain(far).map(part).collect(),
            }
        });
        let after = next(grid, rate, &before).expect("a steady state");
        let moved = (in_buffer(&after) - in_buffer(&found)).abs();
        found = after;
        if moved < 1e-9 {
            return found;
        }
    }
}

/// `λ E[X^2] / 2 / (1 - λ E[X])`
fn pollaczek_khinchine(rate: f64, service: &Law) -> f64 {
    rate * service.second_moment() / 2.0 / (1.0 - rate * service.mean())
}

fn in_buffer(settled: &Round) -> f64 {
    settled.waits.means().iter().sum()
}

#[test]
fn without_gaps_the_interface_is_m_d_1_and_the_channel_m_g_1() {
    let grid = Grid::of(1024);
    let held_up = Law::mixture(&[(0.6, &Law::constant(2.0)), (0.4, &Law::constant(30.0))]);
    let service = held_up.plus(MESSAGE);
    for rate in [0.004, 0.010, 0.016] {
        let settled_waits = settled(&grid, rate, &Law::zero(), &held_up, 1e6);
        let whole = pollaczek_khinchine(rate, &service);
        assert!((settled_waits.wait - whole).abs() < 1e-6 * whole, "{} {whole}", settled_waits.wait);
        // the wait at the interface is that of M / D / 1, whatever the channel is like
        let interface = pollaczek_khinchine(rate, &Law::constant(MESSAGE));
        let found = settled_waits.wait - in_buffer(&settled_waits);
        assert!((found - interface).abs() < 0.02 * whole, "{rate}: {found} {interface}");
        let free = 1.0 - rate * MESSAGE;
        assert!((settled_waits.waits.shares[IDLE] - free).abs() < 1e-9, "{:?}", settled_waits.waits.shares);
        assert!((settled_waits.waits.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn a_full_buffer_sends_waits_back_to_the_source() {
    let grid = Grid::of(1024);
    let held_up = Law::mixture(&[(0.6, &Law::constant(2.0)), (0.4, &Law::constant(30.0))]);
    let mut last = f64::INFINITY;
    for room in [1e6, 200.0, 100.0, 50.0, 30.0] {
        let settled_waits = settled(&grid, 0.016, &Law::zero(), &held_up, room);
        let whole = pollaczek_khinchine(0.016, &held_up.plus(MESSAGE));
        assert!(
            (settled_waits.wait - whole).abs() < 1e-6 * whole,
            "room {room}: {} {whole}",
            settled_waits.wait
        );
        let found = in_buffer(&settled_waits);
        assert!(found < last, "room {room}: {found} after {last}");
        last = found;
    }
}

#[test]
fn gaps_longer_than_what_holds_up_leave_nothing_to_wait_for_in_the_buffer() {
    let grid = Grid::of(1024);
    let settled_waits = settled(&grid, 0.01, &Law::constant(12.0), &Law::constant(10.0), 1e6);
    assert!(in_buffer(&settled_waits) < 1e-12);
    // both are busy for M + G
    let whole = pollaczek_khinchine(0.01, &Law::constant(MESSAGE + 12.0));
    assert!((settled_waits.wait - whole).abs() < 1e-9 * whole, "{} {whole}", settled_waits.wait);
}

#[test]
fn less_an_exponential_time() {
    let rate = 0.05;
    let found = less_exponential(&Law::constant(20.0), rate);
    // P(20 - A <= 0)
    assert!((found.at(0) - (-20.0 * rate).exp()).abs() < 1e-12);
    let beyond = |x: usize| found.probabilities()[x + 1..].iter().sum::<f64>();
    for x in 0..20 {
        let exact = 1.0 - (-rate * (20.0 - x as f64)).exp();
        assert!((beyond(x) - exact).abs() < 1e-12, "{x}: {} {exact}", beyond(x));
    }
}

#[test]
fn arrivals_during_a_constant_time_are_poisson() {
    let found = arrivals(&Law::constant(30.0), 0.04);
    let mut exact = (-1.2_f64).exp();
    for (k, found) in found.into_iter().enumerate() {
        assert!((found - exact).abs() < 1e-12, "{k}: {found} {exact}");
        exact *= 1.2 / (k + 1) as f64;
    }
}
