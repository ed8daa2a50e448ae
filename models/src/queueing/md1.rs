#![doc = include_str!("md1.md")]
//!
//! ```
//! use flitwise_models::queueing::Md1;
//!
//! let station = Md1 { rate: 0.02, mean: 32.0 };
//! let answer = station.measures().reached().unwrap();
//! assert!((answer.mean_wait - 0.64 * 32.0 / (2.0 * 0.36)).abs() < 1e-9);
//! // whoever finds nobody does not wait
//! assert!((station.wait_exceeds(0.0).reached().unwrap() - 0.64).abs() < 1e-12);
//! ```

use super::*;
use crate::fixed_point::root_of_increasing;

/// Services after which the distribution of the wait is its exponential tail, to all digits of a double.
const TAIL: usize = 200;
/// Customers beyond those asked about whose probabilities are summed one by one.
const BEYOND: usize = 60;

/// One server, Poisson arrivals, constant service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Md1 {
    /// `λ` \[1/cycle\].
    pub rate: f64,
    /// `E[S] = D` \[cycles\].
    pub mean: f64,
}

impl Md1 {
    /// `ρ = λ D`.
    pub fn load(&self) -> f64 {
        self.rate * self.mean
    }

    /// Its long-run means.
    pub fn measures(&self) -> Steady<Measures> {
        let load = self.load();
        let customers = Customers { rate: self.rate, service: Service::constant(self.mean) };
        // W = ρ D / (2 (1 - ρ))
        below_one(load, || Measures::of_wait(&customers, load * self.mean / (2.0 * (1.0 - load))))
    }

    /// `E[W²]` \[cycles²\].
    pub fn wait_second_moment(&self) -> Steady<f64> {
        let load = self.load();
        // E[W²] = 2 W² + ρ D² / (3 (1 - ρ))
        let wait = load * self.mean / (2.0 * (1.0 - load));
        below_one(load, || 2.0 * wait * wait + load * self.mean * self.mean / (3.0 * (1.0 - load)))
    }

    /// Probability that a wait takes more than `time` cycles, in the order of arrival.
    pub fn wait_exceeds(&self, time: f64) -> Steady<f64> {
        below_one(self.load(), || exceeds(self.load(), time / self.mean))
    }

    /// Probability that a response takes more than `time` cycles.
    pub fn response_exceeds(&self, time: f64) -> Steady<f64> {
        below_one(self.load(), || {
            if time < self.mean { 1.0 } else { exceeds(self.load(), time / self.mean - 1.0) }
        })
    }
}

/// Probability that a wait takes more than `time`, where a service takes 1.
fn exceeds(load: f64, time: f64) -> f64 {
    if load == 0.0 {
        return 0.0;
    }
    if time >= TAIL as f64 {
        let decay = decay(load);
        // P(W > t) -> (1 - ρ) / (u - (1 - ρ)) exp(-u t / D)
        return (1.0 - load) / (decay - (1.0 - load)) * (-decay * time).exp();
    }
    // k - 1 <= t / D < k; y = λ (k D - t)
    let services = time.floor() as usize + 1;
    let offset = load * (services as f64 - time);
    // P(W > t) = Σ_{j<k} Q(k - j) y^j e^-y / j! + Σ_{j>=k} y^j e^-y / j!,  Q(n) = P(N > n)
    let more_than = number_exceeds(load, services);
    let mut poisson = (-offset).exp();
    let mut sum = 0.0;
    for arrivals in 0..services {
        sum += poisson * more_than[services - arrivals];
        poisson *= offset / (arrivals + 1) as f64;
    }
    let mut arrivals = services;
    while poisson > f64::MIN_POSITIVE && poisson > 1e-18 * sum {
        sum += poisson;
        arrivals += 1;
        poisson *= offset / arrivals as f64;
    }
    sum
}

/// `u`: the rate at which the tail of the wait falls, per service, the root of `ρ (e^u - 1) = u` above zero.
fn decay(load: f64) -> f64 {
    if load < 0.5 {
        // u = ln(1 + u / ρ), between 1 - ρ, where the difference is least, and 2 ln(4 / ρ)
        return root_of_increasing(1.0 - load, 2.0 * (4.0 / load).ln(), |u| {
            (u - (u / load).ln_1p(), 1.0 - 1.0 / (load + u))
        });
    }
    // (e^u - 1 - u) / u = u / 2! + u² / 3! + .. = (1 - ρ) / ρ; the first term alone gives an upper bound
    let wanted = (1.0 - load) / load;
    root_of_increasing(0.0, 2.0 * wanted, |u| {
        let (mut term, mut sum, mut slope) = (0.5, 0.0, 0.0);
        for power in 1..40 {
            slope += f64::from(power) * term;
            term *= u;
            sum += term;
            term /= f64::from(power + 2);
        }
        (sum - wanted, slope)
    })
}

/// `P(N > n)` for `n = 0 ..= most`, of the number `N` in the system.
fn number_exceeds(load: f64, most: usize) -> Vec<f64> {
    let count = most + BEYOND;
    // a(m): probability of m arrivals and more during a service
    let mut arrivals = vec![0.0; count + 2];
    let mut poisson = (-load).exp();
    for (number, arrivals) in arrivals.iter_mut().enumerate() {
        *arrivals = poisson;
        poisson *= load / (number + 1) as f64;
    }
    let none = arrivals[0];
    for number in (0..=count).rev() {
        arrivals[number] += arrivals[number + 1];
    }
    // p_0 = 1 - ρ; p_n a_0 = p_0 a(n) + Σ_{i=1}^{n-1} p_i a(n - i + 1): as many go up past n as come down
    let mut number = vec![1.0 - load];
    for n in 1..=count {
        let up: f64 = (1..n).map(|i| number[i] * arrivals[n - i + 1]).sum();
        number.push((number[0] * arrivals[n] + up) / none);
    }
    // beyond them every further one is e^-u times as likely
    let ratio = (-decay(load)).exp();
    let mut more_than = number[count] * ratio / (1.0 - ratio);
    let mut tails = vec![0.0; count + 1];
    for n in (0..=count).rev() {
        tails[n] = more_than;
        more_than += number[n];
    }
    tails.truncate(most + 1);
    tails
}

impl TextbookQueue for Md1 {
    const PARAMETERS: &'static [Parameter] = &[RATE, MEAN];
    const EXCEEDS: Option<Exceeds<Self>> =
        Some(|queue, t| (queue.wait_exceeds(t), queue.response_exceeds(t)));

    fn of(station: &Station) -> Self {
        Self { rate: station.values.get(RATE), mean: station.values.get(MEAN) }
    }

    fn answers(&self, _: &Station) -> Vec<CustomersAnswer> {
        let offered = Demand { rate: self.rate, mean: self.mean, scv: Some(0.0), servers: 1 };
        vec![offered.queueing(self.measures()).spread(self.wait_second_moment())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::assert_near;

    /// Erlang 1909: `P(W <= t) = (1 - ρ) Σ_{k<=t} (ρ (k - t))^k e^(ρ (t - k)) / k!`, whose terms alternate.
    fn erlang_1909(load: f64, time: f64) -> f64 {
        let mut sum = 0.0;
        for k in 0..=time.floor() as i32 {
            let x = load * (f64::from(k) - time);
            let factorial: f64 = (1..=k).map(f64::from).product();
            sum += x.powi(k) * (-x).exp() / factorial;
        }
        1.0 - (1.0 - load) * sum
    }

    #[test]
    fn the_wait_is_that_of_erlangs_alternating_sum_where_that_has_digits() {
        for load in [0.1, 0.5, 0.8, 0.95] {
            for time in [0.0, 0.3, 0.999, 1.0, 1.5, 2.0, 3.7, 5.25] {
                let (found, exact) = (exceeds(load, time), erlang_1909(load, time));
                assert!((found - exact).abs() < 1e-12, "load {load}, time {time}: {found} is not {exact}");
            }
        }
    }

    #[test]
    fn the_tail_joins_the_sum_and_keeps_its_digits() {
        for load in [0.02, 0.3, 0.7, 0.99, 0.9999] {
            let (before, after) = (exceeds(load, 199.999_999_999), exceeds(load, 200.0));
            if after > 0.0 {
                assert_near(before, after, 1e-7);
            }
            // and well before, where the difference would show
            let u = decay(load);
            assert_near(load * (u.exp_m1()), u, 1e-9);
            let (found, tail) = (exceeds(load, 30.5), (1.0 - load) / (u - (1.0 - load)) * (-u * 30.5).exp());
            if found > 1e-250 {
                assert_near(found, tail, 2e-2);
            }
            if load >= 0.3 {
                assert_near(found, tail, 1e-9);
            }
        }
    }

    #[test]
    fn the_means_are_those_of_the_distribution() {
        for load in [0.2, 0.8] {
            let station = Md1 { rate: load / 10.0, mean: 10.0 };
            let (mut wait, mut second) = (0.0, 0.0);
            for index in 0..20_000 {
                let time = (f64::from(index) + 0.5) * 0.02;
                let exceeds = station.wait_exceeds(time).reached().unwrap();
                wait += 0.02 * exceeds;
                second += 0.04 * time * exceeds;
            }
            assert_near(wait, station.measures().reached().unwrap().mean_wait, 1e-5);
            assert_near(second, station.wait_second_moment().reached().unwrap(), 1e-5);
        }
    }

    /// `P(N > 0) = ρ`, `P(N > 1) = 1 - (1 - ρ) e^ρ`, `P(N > 2) = P(N > 1) - (1 - ρ) e^ρ (e^ρ - 1 - ρ)`.
    #[test]
    fn the_numbers_in_the_system_have_their_closed_forms() {
        for load in [0.05f64, 0.5, 0.9, 0.999] {
            let found = number_exceeds(load, 2);
            assert_near(found[0], load, 1e-12);
            let (idle, e) = (1.0 - load, load.exp());
            assert!((found[1] - (1.0 - idle * e)).abs() < 1e-14);
            assert!((found[2] - (1.0 - idle * e - idle * e * (e - 1.0 - load))).abs() < 1e-14);
        }
    }

    /// Heavy traffic: the wait becomes exponential with mean `D / (2 (1 - ρ))`.
    #[test]
    fn next_to_saturation_the_wait_is_exponential() {
        let station = Md1 { rate: 1.0 - 1e-9, mean: 1.0 };
        let mean = station.measures().reached().unwrap().mean_wait;
        assert_near(station.wait_exceeds(mean).reached().unwrap(), (-1f64).exp(), 1e-7);
        assert_eq!(Md1 { rate: 1.0, mean: 1.0 }.wait_exceeds(3.0), Steady::Saturated { load: 1.0 });
    }
}
