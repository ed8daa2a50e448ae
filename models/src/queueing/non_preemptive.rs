#![doc = include_str!("non_preemptive.md")]
//!
//! ```
//! use flitwise_models::queueing::{Customers, NonPreemptive};
//!
//! // constant service of 32 cycles, load 0.8 in equal halves
//! let class = Customers::new(0.0125, 32.0, 0.0);
//! let answers = NonPreemptive { classes: vec![class; 2] }.measures();
//! let response = |k: usize| answers[k].reached().unwrap().mean_response;
//! assert_eq!(format!("{:.2} {:.2}", response(0), response(1)), "53.33 138.67");
//! ```

use super::*;

/// One server that always takes the highest class waiting and finishes what it has begun.
#[derive(Clone, Debug, PartialEq)]
pub struct NonPreemptive {
    /// The highest first.
    pub classes: Vec<Customers>,
}

impl NonPreemptive {
    /// Long-run means of each class.
    pub fn measures(&self) -> Vec<Steady<Measures>> {
        let under_way = self.under_way();
        // W_k = R / ((1 - σ_(k-1)) (1 - σ_k))
        let wait = |above: f64, load: f64, _| under_way / ((1.0 - above) * (1.0 - load));
        by_priority(&self.classes, wait).collect()
    }

    /// `R`: what is left, on average, of the service that an arrival finds under way \[cycles\].
    ///
    /// A saturated class is served for all the time that higher ones leave, and whatever is below it never.
    pub fn under_way(&self) -> f64 {
        // R = Σ λ_i E[S_i²] / 2, with the rate at which class i is served in place of λ_i
        let shares = shares_by_priority(&self.classes);
        let served = self.classes.iter().zip(shares);
        served
            .map(|(class, share)| if share > 0.0 { share * class.service.mean_residual() } else { 0.0 })
            .sum()
    }

    /// Share of the server's time that each class gets.
    pub fn utilizations(&self) -> Vec<f64> {
        shares_by_priority(&self.classes)
    }
}

impl TextbookQueue for NonPreemptive {
    const CLASS_PARAMETERS: &'static [Parameter] = &[RATE, MEAN, SCV];

    fn of(station: &Station) -> Self {
        Self { classes: station.customers() }
    }

    fn answers(&self, station: &Station) -> Vec<CustomersAnswer> {
        let busy = cumulated_loads(&self.classes).last().map_or(0.0, |load| load.min(1.0));
        let answers = answers_by_priority(station, &self.classes, self.measures(), self.utilizations());
        let waits = |answer: CustomersAnswer| {
            let wait_probability = (!answer.saturated).then_some(busy);
            CustomersAnswer { wait_probability, ..answer }
        };
        answers.map(waits).collect()
    }

    fn saturated(class: &CustomersAnswer, load: &str) -> String {
        saturated_by_priority(class, load)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::{Mg1, Service, assert_near};

    fn waits(classes: &[Customers]) -> Vec<f64> {
        let answers = NonPreemptive { classes: classes.to_vec() }.measures();
        answers.into_iter().map(|answer| answer.reached().unwrap().mean_wait).collect()
    }

    #[test]
    fn one_class_is_m_g_1() {
        let exact = Mg1 { rate: 0.02, service: Service::new(32.0, 0.5) }.mean_wait().reached().unwrap();
        assert_near(waits(&[Customers::new(0.02, 32.0, 0.5)])[0], exact, 1e-14);
    }

    /// Kleinrock's conservation law: `Σ ρ_k W_k = ρ R / (1 - ρ)` in any order of priority.
    #[test]
    fn the_order_of_priority_conserves_work() {
        let classes = [
            Customers::new(0.01, 32.0, 0.0),
            Customers::new(0.002, 100.0, 4.0),
            Customers::new(0.05, 5.0, 1.0),
        ];
        let load: f64 = classes.iter().map(Customers::load).sum();
        let residual: f64 = classes.iter().map(Customers::residual_work).sum();
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            let ordered = order.map(|index| classes[index]);
            let sum: f64 = ordered.iter().zip(waits(&ordered)).map(|(class, wait)| class.load() * wait).sum();
            assert_near(sum, load * residual / (1.0 - load), 1e-13);
        }
    }

    #[test]
    fn higher_classes_are_answered_when_lower_ones_are_saturated() {
        let high = Customers::new(0.0125, 32.0, 0.0);
        let answer = |low: f64| {
            let low = Customers::new(low, 32.0, 0.0);
            NonPreemptive { classes: vec![high, low, Customers::new(0.001, 32.0, 0.0)] }
        };
        let saturated = answer(0.1).measures();
        // the server is never idle: whoever comes finds 16 cycles left on average
        assert_near(saturated[0].reached().unwrap().mean_wait, 16.0 / 0.6, 1e-14);
        assert_eq!(saturated[1], Steady::Saturated { load: 0.4 + 3.2 });
        assert!(matches!(saturated[2], Steady::Saturated { load } if load > 3.6));
        assert_eq!(answer(0.1).utilizations(), [0.4, 0.6, 0.0]);
        // and the step into saturation is none for them
        let almost = answer((0.6 - 1e-9) / 32.0).measures();
        assert_near(almost[0].reached().unwrap().mean_wait, 16.0 / 0.6, 1e-6);
    }

    #[test]
    fn a_silent_class_changes_nothing() {
        let (a, b) = (Customers::new(0.01, 32.0, 1.0), Customers::new(0.005, 64.0, 0.0));
        let silent = Customers::new(0.0, 500.0, 9.0);
        let (without, with) = (waits(&[a, b]), waits(&[a, silent, b]));
        assert_eq!((without[0], without[1]), (with[0], with[2]));
    }
}
