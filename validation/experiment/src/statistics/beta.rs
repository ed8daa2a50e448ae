//! Regularised incomplete beta function, its inverse, and Student's quantile by it.
//!
//! Intervals need parameters from 1e-3 to 1e8. The continued fraction of `statrs` stops after 140 terms; parameters of
//! 1e7 need thousands. Its inverse does not end for some parameters that long runs have.

use std::cell::Cell;

use statrs::function::gamma::ln_gamma;

/// `I_x(a, b)`, relative error about 1e-15 (a + b).
///
/// Continued fraction DLMF 8.17.22, summed by Lentz's method.
pub(super) fn beta_regularised(a: f64, b: f64, x: f64) -> f64 {
    if a <= 0.0 || x >= 1.0 {
        return 1.0;
    }
    if b <= 0.0 || x <= 0.0 {
        return 0.0;
    }
    // x^a (1 - x)^b / B(a, b)
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    // The fraction converges fast up to the mean; beyond it I_x(a, b) = 1 - I_{1-x}(b, a).
    let value = if x < (a + 1.0) / (a + b + 2.0) {
        front / a * continued_fraction(a, b, x)
    } else {
        1.0 - front / b * continued_fraction(b, a, 1.0 - x)
    };
    value.clamp(0.0, 1.0)
}

fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |v: f64| if v.abs() < TINY { TINY } else { v };

    // terms needed: some multiple of sqrt(max(a, b))
    let limit = 200.0 + 20.0 * a.max(b).sqrt().min(1e5);
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    let mut m = 1.0;
    while m < limit {
        // d_2m = m (b - m) x / ((a + 2m - 1) (a + 2m))
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        fraction *= d * c;
        // d_2m+1 = -(a + m) (a + b + m) x / ((a + 2m) (a + 2m + 1))
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
        m += 1.0;
    }
    fraction
}

/// `x` with `I_x(a, b) = p`, by bisection, which no parameters can mislead.
///
/// The bit patterns of non-negative floats are ordered like the floats: halving between patterns finds
/// 1e-200 as surely as 0.5.
pub(super) fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let (mut below, mut above) = (0_u64, 1_f64.to_bits());
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if beta_regularised(a, b, f64::from_bits(middle)) < p {
            below = middle;
        } else {
            above = middle;
        }
    }
    f64::from_bits(above)
}

/// Student's quantile: `t` with `P(T <= t) = p` for `dof` degrees of freedom (real, above 0).
///
/// `None` unless `0 < p < 1` and `dof` is positive and finite.
///
/// ```
/// # use flitwise_experiment::statistics::student_quantile;
/// assert_eq!(format!("{:.5}", student_quantile(15.0, 0.975).unwrap()), "2.13145");
/// ```
pub fn student_quantile(dof: f64, p: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0 && dof > 0.0 && dof.is_finite()) {
        return None;
    }
    // looking for a percentile asks for the same quantile dozens of times in a row
    thread_local! {
        static LAST: Cell<[(f64, f64, f64); 4]> = const { Cell::new([(f64::NAN, 0.0, 0.0); 4]) };
    }
    let last = LAST.get();
    if let Some((_, _, t)) = last.into_iter().find(|known| (known.0, known.1) == (dof, p)) {
        return Some(t);
    }
    // T² / (dof + T²) is Beta(1/2, dof / 2), and P(|T| <= t) = |2 p - 1|
    let z = beta_quantile((2.0 * p - 1.0).abs(), 0.5, dof / 2.0);
    let t = (dof * z / (1.0 - z)).sqrt().min(f64::MAX);
    let t = if p < 0.5 { -t } else { t };
    LAST.set([(dof, p, t), last[0], last[1], last[2]]);
    Some(t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, StudentsT};
    use statrs::function::beta::beta_reg;

    fn assert_close(found: f64, wanted: f64, relative: f64) {
        assert!((found - wanted).abs() <= relative * wanted.abs(), "{found} is not {wanted}");
    }

    /// Where the fraction of statrs converges, both are the same; beyond, its own is off (3e-6 at a = b = 1e7) and its
    /// quantile is too, or loops for ever (Student's at 1e8 degrees of freedom).
    #[test]
    fn statrs_agrees_where_it_converges() {
        let parameters = [1e-3, 0.5, 1.0, 3.0, 12.3, 100.0, 1e3];
        for (a, b) in parameters.iter().flat_map(|a| parameters.map(|b| (*a, b))) {
            for p in [0.025, 0.3, 0.975] {
                let x = beta_quantile(p, a, b);
                assert_close(beta_regularised(a, b, x), beta_reg(a, b, x), 1e-12);
            }
        }
        for dof in [1.0, 1.5, 2.0, 3.7, 15.0, 31.0, 400.0, 1e4] {
            for p in [0.025, 0.6, 0.975] {
                let statrs = StudentsT::new(0.0, 1.0, dof).unwrap().inverse_cdf(p);
                assert_close(student_quantile(dof, p).unwrap(), statrs, 5e-12);
            }
        }
    }

    #[test]
    fn students_quantiles_at_the_ends() {
        assert_close(student_quantile(1e6, 0.975).unwrap(), 1.959_966_357, 1e-8);
        assert_close(student_quantile(1.0, 0.999).unwrap(), 318.308_839, 1e-8);
        assert!(student_quantile(7.0, 0.5).unwrap().abs() < 1e-100);
    }

    #[test]
    fn senseless_requests_have_no_quantile() {
        for (dof, p) in
            [(0.0, 0.9), (-1.0, 0.9), (f64::NAN, 0.9), (f64::INFINITY, 0.9), (3.0, 0.0), (3.0, 1.0)]
        {
            assert_eq!(student_quantile(dof, p), None);
        }
    }

    /// Closed forms: I_x(a, 1) = x^a, I_x(1, b) = 1 - (1 - x)^b.
    #[test]
    fn one_unit_parameter_is_a_power() {
        for exponent in [1e-3, 0.1, 1.0, 40.0, 1e4, 1e7] {
            for x in [1e-9, 1e-4, 0.3, 0.9, 0.999_999_9_f64] {
                assert_close(beta_regularised(exponent, 1.0, x), x.powf(exponent), 1e-7);
                let rest = -(exponent * (-x).ln_1p()).exp_m1();
                assert_close(beta_regularised(1.0, exponent, x), rest, 1e-7);
            }
        }
    }

    /// Over the whole range of parameters, alone and mixed.
    #[test]
    fn the_quantile_undoes_the_function() {
        for a in [1e-3, 0.5, 1.0, 12.3, 1e4, 1e7] {
            for b in [1e-3, 0.5, 1.0, 12.3, 1e4, 1e7] {
                for p in [0.025, 0.975] {
                    let x = beta_quantile(p, a, b);
                    assert!((0.0..=1.0).contains(&x));
                    // at the two ends of what an f64 can hold, x is rounded by more than p can bear
                    if x > 1e-300 && x < 1.0 - 1e-6 {
                        assert_close(beta_regularised(a, b, x), p, 1e-6);
                    }
                }
            }
        }
    }

    /// A large sample is nearly normal: mean ± 1.96 standard deviations of Beta(a, b).
    #[test]
    fn large_parameters_are_nearly_normal() {
        let (a, b): (f64, f64) = (3e6, 7e6);
        let deviation = (a * b / (a + b + 1.0)).sqrt() / (a + b);
        assert_close((beta_quantile(0.975, a, b) - 0.3) / deviation, 1.96, 1e-3);
    }
}
