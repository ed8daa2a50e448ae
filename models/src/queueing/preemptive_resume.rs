#![doc = include_str!("preemptive_resume.md")]
//!
//! ```
//! use flitwise_models::queueing::{Customers, PreemptiveResume};
//!
//! let (high, low) = (Customers::new(0.01, 32.0, 0.0), Customers::new(0.005, 64.0, 0.0));
//! let answers = PreemptiveResume { classes: vec![high, low] }.measures();
//! let response = |k: usize| answers[k].reached().unwrap().mean_response;
//! // the high class is alone: M/D/1 at load 0.32
//! assert!((response(0) - (32.0 + 0.32 * 32.0 / (2.0 * 0.68))).abs() < 1e-9);
//! assert!((response(1) - (64.0 / 0.68 + 15.36 / (0.68 * 0.36))).abs() < 1e-9);
//! ```

use super::*;

/// One server that leaves a customer where it stands as soon as a higher one comes, and goes on there later.
#[derive(Clone, Debug, PartialEq)]
pub struct PreemptiveResume {
    /// The highest first.
    pub classes: Vec<Customers>,
}

impl PreemptiveResume {
    /// Long-run means of each class. The wait is all time in which a customer is not served, interruptions
    /// included.
    pub fn measures(&self) -> Vec<Steady<Measures>> {
        // W_k = W°_k + E[S_k] σ_(k-1) / (1 - σ_(k-1))
        let wait = |above: f64, load: f64, index: usize| {
            let interrupted = self.classes[index].service.mean * above / (1.0 - above);
            self.wait_before_service(above, load, index) + interrupted
        };
        by_priority(&self.classes, wait).collect()
    }

    /// Mean wait until service begins, of each class \[cycles\].
    pub fn waits_before_service(&self) -> Vec<Steady<f64>> {
        let wait = |above: f64, load: f64, index| self.wait_before_service(above, load, index);
        by_priority(&self.classes, wait).map(|means| means.map(|means| means.mean_wait)).collect()
    }

    /// `W°_k = R_k / ((1 - σ_(k-1)) (1 - σ_k))` with `R_k = Σ_{i<=k} λ_i E[S_i²] / 2`.
    fn wait_before_service(&self, above: f64, load: f64, index: usize) -> f64 {
        let under_way: f64 = self.classes[..=index].iter().map(Customers::residual_work).sum();
        under_way / ((1.0 - above) * (1.0 - load))
    }

    /// Share of the server's time that each class gets.
    pub fn utilizations(&self) -> Vec<f64> {
        shares_by_priority(&self.classes)
    }
}

impl TextbookQueue for PreemptiveResume {
    const CLASS_PARAMETERS: &'static [Parameter] = &[RATE, MEAN, SCV];

    fn of(station: &Station) -> Self {
        Self { classes: station.customers() }
    }

    fn answers(&self, station: &Station) -> Vec<CustomersAnswer> {
        let answers = answers_by_priority(station, &self.classes, self.measures(), self.utilizations());
        let with = |(answer, before): (CustomersAnswer, Steady<f64>)| CustomersAnswer {
            mean_wait_before_service_cycles: before.reached(),
            ..answer
        };
        answers.zip(self.waits_before_service()).map(with).collect()
    }

    fn saturated(class: &CustomersAnswer, load: &str) -> String {
        saturated_by_priority(class, load)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::assert_near;
    use crate::queueing::chain::counts;

    fn answers(classes: &[Customers]) -> Vec<Measures> {
        let answers = PreemptiveResume { classes: classes.to_vec() }.measures();
        answers.into_iter().map(|answer| answer.reached().unwrap()).collect()
    }

    /// What is below a class does not touch it, saturated or not.
    #[test]
    fn a_class_does_not_see_those_below() {
        let high = [Customers::new(0.01, 32.0, 0.5), Customers::new(0.002, 64.0, 0.0)];
        let alone = answers(&high);
        let classes = [high[0], high[1], Customers::new(1.0, 100.0, 8.0)];
        let station = PreemptiveResume { classes: classes.to_vec() };
        let beside = station.measures();
        assert_eq!((beside[0], beside[1]), (Steady::Reached(alone[0]), Steady::Reached(alone[1])));
        let load = 0.32 + 0.128 + 100.0;
        assert!(matches!(beside[2], Steady::Saturated { load: found } if (found - load).abs() < 1e-12));
        assert_near(station.utilizations()[2], 1.0 - 0.32 - 0.128, 1e-14);
    }

    /// Service without memory: work is conserved among them, `Σ ρ_k T_k = Σ ρ_k E[S_k] / (1 - ρ)`.
    #[test]
    fn exponential_service_conserves_work() {
        let classes = [
            Customers::new(0.01, 20.0, 1.0),
            Customers::new(0.002, 100.0, 1.0),
            Customers::new(0.06, 5.0, 1.0),
        ];
        let load: f64 = classes.iter().map(Customers::load).sum();
        let work: f64 = classes.iter().map(|class| class.load() * class.service.mean).sum();
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            let ordered = order.map(|index| classes[index]);
            let sum: f64 =
                ordered.iter().zip(answers(&ordered)).map(|(c, a)| c.load() * a.mean_response).sum();
            assert_near(sum, work / (1.0 - load), 1e-13);
        }
    }

    #[test]
    fn it_is_the_markov_chain() {
        let (rates, means) = ([0.1, 0.12], [1.0, 1.5]);
        let chain = counts(&[5, 7], |class, up, at| match (class, up) {
            (class, true) => rates[class],
            (1, false) if at[0] > 0 => 1e-12,
            (class, false) => 1.0 / means[class],
        });
        let found = answers(&[0, 1].map(|k| Customers::new(rates[k], means[k], 1.0)));
        for (answer, exact) in found.iter().zip(chain.means) {
            assert_near(answer.mean_number_in_system, exact, 1e-3);
        }
    }

    #[test]
    fn interruptions_are_waited_for_after_service_has_begun() {
        let classes = vec![Customers::new(0.01, 32.0, 0.0), Customers::new(0.0, 64.0, 0.0)];
        let station = PreemptiveResume { classes };
        let before = station.waits_before_service()[1].reached().unwrap();
        let whole = station.measures()[1].reached().unwrap().mean_wait;
        assert_near(whole - before, 64.0 * 0.32 / 0.68, 1e-13);
    }
}
