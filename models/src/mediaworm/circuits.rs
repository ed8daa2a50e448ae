//! Pipelined circuits: setting them up by single draws, and loss where they come and go, §6.8.

use crate::fixed_point::{Options, Report, root_of_increasing, solve};
use crate::queueing::ErlangB;

/// Mean and standard deviation of the attempts that set up `established` circuits of a pool of `pool` virtual channels,
/// each attempt a uniform draw that is dropped where the channel is taken. Exact; `established <= pool`.
///
/// ```text
/// mean     Σ_(i<E) C / (C - i)
/// variance Σ_(i<E) C i / (C - i)²
/// ```
///
/// ```
/// use flitwise_models::mediaworm::attempts;
///
/// let (mean, deviation) = attempts(192, 187);
/// assert_eq!(format!("{mean:.1} +- {deviation:.1}"), "682.4 +- 76.2");
/// ```
pub fn attempts(pool: u32, established: u32) -> (f64, f64) {
    let all = f64::from(pool);
    let free = |taken: u32| all - f64::from(taken);
    let draws = 0..established.min(pool);
    // Σ C / (C - i)
    let mean = draws.clone().map(|taken| all / free(taken)).sum();
    // Σ C i / (C - i)²
    let variance: f64 = draws.map(|taken| all * f64::from(taken) / free(taken).powi(2)).sum();
    (mean, variance.sqrt())
}

/// Mean number of circuits after so many attempts `A`; at least one channel in the pool.
pub fn established(pool: u32, attempts: f64) -> f64 {
    let all = f64::from(pool);
    let log_missed = attempts * (-1.0 / all).ln_1p();
    // C (1 - (1 - 1/C)^A)
    all * -log_missed.exp_m1()
}

/// Share of the circuits that are lost where they come as a Poisson stream, `traffic` Erlang to each virtual channel,
/// are refused where the drawn channel is taken, and try `retries` times more at once. Insensitive to holding times.
///
/// ```text
/// p = a (1 - p^(r+1))    a channel is taken
/// loss = p^(r+1)         r = 0: a / (1 + a)
/// ```
pub fn drawn_loss(traffic: f64, retries: u32) -> f64 {
    let tries = retries as f64 + 1.0;
    let occupied = root_of_increasing(0.0, 1.0, |p| {
        let lost = p.powf(tries);
        let slope = 1.0 + traffic * tries * p.powf(tries - 1.0);
        // p = a (1 - p^(r+1))
        (p - traffic * (1.0 - lost), slope)
    });
    occupied.powf(tries)
}

/// One side of a circuit: a port that takes any free virtual channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// `c`.
    pub channels: u32,
    /// `a`: offered traffic of the port \[Erlang\].
    pub traffic: f64,
}

/// Loss at source and destination where circuits take any free virtual channel of both: Erlang fixed point (Kelly, Adv.
/// Appl. Prob. 18 (1986) 473), and the account of the iteration. A circuit is lost with `1 - (1 - B_s)(1 - B_d)`.
///
/// ```text
/// B_s = ErlB(c_s, a_s (1 - B_d)),   B_d = ErlB(c_d, a_d (1 - B_s))
/// ```
pub fn erlang_fixed_point(source: Side, destination: Side) -> ((f64, f64), Report) {
    let blocked = |side: Side, other: f64| {
        let rate = side.traffic * (1.0 - other);
        ErlangB { rate, mean: 1.0, servers: side.channels }.blocking_probability()
    };
    // the fixed point is unique: B_s falls with B_d and the other way round, which swings and is damped
    let mut x = [blocked(destination, blocked(source, 0.0))];
    let report = solve(&mut x, &Options::default(), |x, y| {
        y[0] = blocked(destination, blocked(source, x[0]));
    });
    ((blocked(source, x[0]), x[0]), report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixed_point::Status;
    use crate::mediaworm::assert_near;

    #[test]
    fn attempts_have_the_moments_of_the_chapter() {
        for (circuits, mean, deviation) in [(187, 682.4, 76.2), (160, 341.5, 24.5), (136, 235.4, 15.0)] {
            let found = attempts(192, circuits);
            assert_near(found.0, mean, 3e-4);
            assert_near(found.1, deviation, 3e-3);
        }
        assert_near(established(192, 718.0), 187.5, 3e-4);
        assert_near(established(1, 1.0), 1.0, 1e-12);
        assert_eq!(attempts(24, 0), (0.0, 0.0));
        assert!(attempts(24, 30).0.is_finite());
    }

    /// 60 seeds*: 341.3 +- 21.3 of 160, 234.9 +- 15.7 of 136.
    #[test]
    fn a_prototype_needs_as_many() {
        for (circuits, measured, deviation) in [(160, 341.3, 21.3), (136, 234.9, 15.7f64)] {
            assert!((attempts(192, circuits).0 - measured).abs() < 2.0 * deviation / 60f64.sqrt());
        }
    }

    #[test]
    fn drawn_channels_lose_what_one_server_does() {
        assert_near(drawn_loss(1.0, 0), 0.5, 1e-12);
        let golden = (5f64.sqrt() - 1.0) / 2.0;
        assert_near(drawn_loss(1.0, 1), golden * golden, 1e-12);
        assert_near(drawn_loss(1.0, 1).sqrt(), 0.618, 1e-3);
        assert_near(
            drawn_loss(3.0, 0),
            ErlangB { rate: 3.0, mean: 1.0, servers: 1 }.blocking_probability(),
            1e-12,
        );
        assert!(drawn_loss(0.0, 3) < 1e-100);
        assert!(drawn_loss(1e9, 5) <= 1.0);
    }

    #[test]
    fn two_sides_lose_less_than_their_sum() {
        let side = Side { channels: 24, traffic: 20.0 };
        let ((source, destination), report) = erlang_fixed_point(side, side);
        assert_eq!(report.status, Status::Converged);
        assert_near(source, destination, 1e-9);
        let alone = ErlangB { rate: 20.0, mean: 1.0, servers: 24 }.blocking_probability();
        assert!(source < alone && 1.0 - (1.0 - source) * (1.0 - destination) > alone);
        // overload, and one side without limits
        for traffic in [1e3, 1e6] {
            assert_eq!(erlang_fixed_point(Side { traffic, ..side }, side).1.status, Status::Converged);
        }
        let wide = Side { channels: 2000, traffic: 20.0 };
        assert_near(erlang_fixed_point(side, wide).0.0, alone, 1e-9);
    }
}
