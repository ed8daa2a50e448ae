#![doc = include_str!("discriminatory_sharing.md")]
//!
//! ```
//! use flitwise_models::queueing::{DiscriminatorySharing, Sharer};
//!
//! let class = |weight| Sharer { rate: 0.01, mean: 32.0, weight };
//! let answers = DiscriminatorySharing { classes: vec![class(4.0), class(1.0)] }.measures();
//! let response = |k: usize| answers[k].reached().unwrap().mean_response;
//! assert_eq!(format!("{:.2} {:.2}", response(0), response(1)), "63.79 113.99");
//! ```

use nalgebra::{DMatrix, DVector};

use super::*;

const WEIGHT: Parameter = Parameter {
    key: "weight",
    field: "weight",
    need: Need::Default(1.0),
    domain: Domain::Weight,
    meaning: "Weight of the customers of a class",
};

/// One class of customers that share by weights: Poisson arrivals, exponential service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sharer {
    /// `λ` \[1/cycle\].
    pub rate: f64,
    /// `E[S] = 1 / μ` \[cycles\].
    pub mean: f64,
    /// `g`: its customers are served at speeds in this proportion.
    pub weight: f64,
}

/// One server; all who are there are served at once, each at a speed in proportion to the weight of its class.
#[derive(Clone, Debug, PartialEq)]
pub struct DiscriminatorySharing {
    /// In any order.
    pub classes: Vec<Sharer>,
}

impl DiscriminatorySharing {
    /// `ρ = Σ λ_k E[S_k]`.
    pub fn load(&self) -> f64 {
        self.classes.iter().map(|class| class.rate * class.mean).sum()
    }

    /// Long-run means of each class: all of them have some, or none. Nobody waits; the wait is by how much
    /// sharing makes the response longer.
    pub fn measures(&self) -> Vec<Steady<Measures>> {
        let load = self.load();
        if load >= 1.0 {
            return vec![Steady::Saturated { load }; self.classes.len()];
        }
        let means = |(class, delay): (&Sharer, f64)| {
            let customers = Customers::new(class.rate, class.mean, 1.0);
            Steady::Reached(Measures::of_wait(&customers, delay))
        };
        self.classes.iter().zip(self.delays(load)).map(means).collect()
    }

    /// `T_k - E[S_k]` \[cycles\].
    fn delays(&self, load: f64) -> Vec<f64> {
        let classes = &self.classes;
        if classes.iter().all(|class| class.weight == classes[0].weight) {
            // T_k = E[S_k] / (1 - ρ)
            return classes.iter().map(|class| class.mean * load / (1.0 - load)).collect();
        }
        if let [first, second] = classes.as_slice() {
            return [delay_of_two(first, second), delay_of_two(second, first)].to_vec();
        }
        self.delays_of_many(load)
    }

    /// The linear equations of \[FMI80\] for any number of classes.
    fn delays_of_many(&self, load: f64) -> Vec<f64> {
        let classes = &self.classes;
        let count = classes.len();
        let mut matrix = DMatrix::<f64>::zeros(count, count);
        let mut right = DVector::<f64>::zeros(count);
        for (k, class) in classes.iter().enumerate() {
            // D_k = Σ_j a_kj (D_k + D_j + E[S_k] + E[S_j]),  a_kj = λ_j g_j / (μ_j g_j + μ_k g_k)
            matrix[(k, k)] += 1.0;
            for (j, other) in classes.iter().enumerate() {
                let share =
                    other.rate * other.weight / (other.weight / other.mean + class.weight / class.mean);
                matrix[(k, k)] -= share;
                matrix[(k, j)] -= share;
                right[k] += share * (class.mean + other.mean);
            }
        }
        let solved = matrix.lu().solve(&right);
        let sound = solved
            .filter(|delays: &DVector<f64>| delays.iter().all(|delay| delay.is_finite() && *delay >= 0.0));
        // the equations are singular at load one; there delays are in proportion to E[S_k] / g_k
        let delays: Vec<f64> = match sound {
            Some(delays) => delays.iter().copied().collect(),
            None => classes.iter().map(|class| class.mean / class.weight).collect(),
        };
        // work is conserved, Σ ρ_k D_k = Σ ρ_k E[S_k] ρ / (1 - ρ): the scale that rounding loses next to load one
        let weighted = |times: &mut dyn Iterator<Item = f64>| -> f64 {
            classes.iter().zip(times).map(|(class, time)| class.rate * class.mean * time).sum()
        };
        let found = weighted(&mut delays.iter().copied());
        let wanted = weighted(&mut classes.iter().map(|class| class.mean)) * load / (1.0 - load);
        let scale = if found > 0.0 { wanted / found } else { 1.0 };
        delays.into_iter().map(|delay| scale * delay).collect()
    }
}

/// `T_1 - E[S_1]` of two classes \[cycles\].
fn delay_of_two(own: &Sharer, other: &Sharer) -> f64 {
    let (own_load, other_load) = (own.rate * own.mean, other.rate * other.mean);
    let idle = 1.0 - own_load - other_load;
    // D = μ_1 g_1 (1 - ρ_1) + μ_2 g_2 (1 - ρ_2)
    let pace = own.weight / own.mean * (1.0 - own_load) + other.weight / other.mean * (1.0 - other_load);
    // T_1 = E[S_1] / (1 - ρ) [1 + μ_1 ρ_2 (g_2 - g_1) / D], with E[S_1] taken off and no difference left but 1 - ρ:
    // T_1 - E[S_1] = (ρ_1 [g_1 (1 - ρ) + g_2 e] + ρ_2 g_2 [1 + e]) / (D (1 - ρ)),  e = μ_2 E[S_1] (1 - ρ_2)
    let e = own.mean / other.mean * (1.0 - other_load);
    let from_own = own_load * (own.weight * idle + other.weight * e);
    let from_other = other_load * other.weight * (1.0 + e);
    (from_own + from_other) / (pace * idle)
}

impl TextbookQueue for DiscriminatorySharing {
    const CLASS_PARAMETERS: &'static [Parameter] = &[RATE, MEAN, WEIGHT];

    fn of(station: &Station) -> Self {
        let sharer = |class: &Values| Sharer {
            rate: class.get(RATE),
            mean: class.get(MEAN),
            weight: class.get(WEIGHT),
        };
        Self { classes: station.classes.iter().map(sharer).collect() }
    }

    fn answers(&self, _: &Station) -> Vec<CustomersAnswer> {
        let load = self.load();
        let answer = |(class, means): (&Sharer, Steady<Measures>)| {
            let Sharer { rate, mean, weight } = *class;
            let answer = Demand { rate, mean, scv: Some(1.0), servers: 1 }.queueing(means);
            // of what is too little for all, nobody can say who gets how much
            let shared = |own: Option<f64>| own.filter(|_| !answer.saturated);
            CustomersAnswer {
                load,
                weight: Some(weight),
                wait_probability: None,
                utilization: shared(answer.utilization),
                throughput_per_cycle: shared(answer.throughput_per_cycle),
                ..answer.clone()
            }
        };
        self.classes.iter().zip(self.measures()).map(answer).collect()
    }

    fn saturated(class: &CustomersAnswer, load: &str) -> String {
        format!("{} is saturated: all together ask for {load} of the server's time", class.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::chain::counts;
    use crate::queueing::{PreemptiveResume, ProcessorSharing, assert_near};

    fn responses(classes: &[Sharer]) -> Vec<f64> {
        let answers = DiscriminatorySharing { classes: classes.to_vec() }.measures();
        answers.into_iter().map(|answer| answer.reached().unwrap().mean_response).collect()
    }

    fn sharer(rate: f64, mean: f64, weight: f64) -> Sharer {
        Sharer { rate, mean, weight }
    }

    #[test]
    fn equal_weights_are_processor_sharing() {
        let classes = [sharer(0.01, 32.0, 2.0), sharer(0.004, 100.0, 2.0)];
        let plain = ProcessorSharing { rate: 0.01, mean: 72.0 };
        for (class, response) in classes.iter().zip(responses(&classes)) {
            assert_near(response, plain.mean_response_to(class.mean).reached().unwrap(), 1e-14);
        }
        // by the formulas of unequal weights, too
        for (a, b) in [(0, 1), (1, 0)] {
            let delay = delay_of_two(&classes[a], &classes[b]);
            assert_near(delay, classes[a].mean * 0.72 / 0.28, 1e-13);
        }
        let delays = DiscriminatorySharing { classes: classes.to_vec() }.delays_of_many(0.72);
        assert_near(delays[1], 100.0 * 0.72 / 0.28, 1e-12);
    }

    #[test]
    fn the_closed_form_of_two_is_the_linear_equations() {
        for weight in [0.01, 0.5, 3.0, 1000.0] {
            let classes = [sharer(0.01, 32.0, weight), sharer(0.006, 90.0, 1.0)];
            let station = DiscriminatorySharing { classes: classes.to_vec() };
            let pair = [delay_of_two(&classes[0], &classes[1]), delay_of_two(&classes[1], &classes[0])];
            for (closed, solved) in pair.iter().zip(station.delays_of_many(station.load())) {
                assert_near(*closed, solved, 1e-10);
            }
            // and as printed: T_1 = E[S_1] / (1 - rho) [1 + mu_1 rho_2 (g_2 - g_1) / D]
            let (rho_1, rho_2) = (0.32, 0.54);
            let d = weight / 32.0 * (1.0 - rho_1) + (1.0 - rho_2) / 90.0;
            let printed = 32.0 / (1.0 - rho_1 - rho_2) * (1.0 + rho_2 * (1.0 - weight) / (32.0 * d));
            assert_near(32.0 + pair[0], printed, 1e-10);
        }
    }

    #[test]
    fn it_is_the_markov_chain() {
        let (rates, means, weights) = ([0.1, 0.06], [1.0, 2.0], [5.0, 1.0]);
        let chain = counts(&[6, 6], |class, up, at| {
            let all = weights[0] * at[0] as f64 + weights[1] * at[1] as f64;
            if up { rates[class] } else { weights[class] * at[class] as f64 / all / means[class] }
        });
        let found = responses(&[0, 1].map(|k| sharer(rates[k], means[k], weights[k])));
        for class in 0..2 {
            assert_near(found[class] * rates[class], chain.means[class], 1e-4);
        }
    }

    #[test]
    fn extreme_weights_are_preemptive_priority() {
        let classes = [sharer(0.01, 32.0, 1e9), sharer(0.006, 50.0, 1.0), sharer(0.001, 200.0, 1e-9)];
        let high = classes.map(|class| Customers::new(class.rate, class.mean, 1.0));
        let priority = PreemptiveResume { classes: high.to_vec() }.measures();
        for (found, exact) in responses(&classes).iter().zip(&priority) {
            assert_near(*found, exact.reached().unwrap().mean_response, 1e-6);
        }
        let pair = responses(&classes[..2]);
        assert_near(pair[0], priority[0].reached().unwrap().mean_response, 1e-8);
        assert_near(pair[1], priority[1].reached().unwrap().mean_response, 1e-8);
    }

    /// `Σ ρ_k T_k = Σ ρ_k E[S_k] / (1 - ρ)`, whatever the weights; next to load one, too.
    #[test]
    fn weights_conserve_work() {
        for idle in [0.3, 1e-6, 1e-13, f64::EPSILON] {
            for weights in [[1.0, 2.0, 9.0], [100.0, 1.0, 1e-3]] {
                let means = [32.0, 8.0, 200.0];
                let classes: Vec<Sharer> =
                    (0..3).map(|k| sharer((1.0 - idle) / 3.0 / means[k], means[k], weights[k])).collect();
                let load = DiscriminatorySharing { classes: classes.clone() }.load();
                if load < 1.0 {
                    let sum: f64 = responses(&classes).iter().sum::<f64>() / 3.0;
                    assert_near(sum, means.iter().sum::<f64>() / 3.0 / (1.0 - load), 1e-6);
                }
            }
        }
    }

    #[test]
    fn silent_and_saturated_classes_are_answered() {
        let silent = [sharer(0.0, 32.0, 3.0), sharer(0.0, 8.0, 1.0), sharer(0.0, 1.0, 1.0)];
        assert_eq!(responses(&silent), [32.0, 8.0, 1.0]);
        let station = DiscriminatorySharing { classes: vec![sharer(0.05, 32.0, 1.0), silent[1]] };
        assert_eq!(station.measures(), [Steady::Saturated { load: 1.6 }; 2]);
    }
}
