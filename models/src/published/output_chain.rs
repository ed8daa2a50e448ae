//! The chain of a router's output link at the fixed point: Fig. 3 of [KYD05] with the numbers of a scenario.

use super::sharing::{LinkChain, Shares, Sharing, Visitor};
use super::traffic::Traffic;
use crate::answer::Answer;
use crate::markov_chain::ToggleRates;
use crate::scenario::{NetworkSpec, Scenario};

/// States, rates and stationary probabilities of the chain of an output link.
#[derive(Clone, Debug)]
pub struct OutputChain {
    /// Places in the scenario of the classes that come and go; state `z` holds `classes[i]` if bit `i` is set.
    pub classes: Vec<usize>,
    /// `π_Z`, by state.
    pub occupancy: Vec<f64>,
    /// Rates between states \[1/cycle\].
    pub rates: ToggleRates,
    /// `S_c(Z)`, by state and class of `classes`; `None` where the state does not hold it.
    pub cycles_per_flit: Vec<Vec<Option<f64>>>,
}

/// Solves many-class chains to the end: each call improves them only so far.
const CALLS: usize = 50;

impl OutputChain {
    /// The chain of `answer`, the published model's answer to `scenario`; `None` for a hypercube, which has a
    /// chain per channel, and without numbers to fill it.
    pub fn of(scenario: &Scenario, answer: &Answer) -> Option<Self> {
        if !matches!(scenario.network(), NetworkSpec::Router { .. }) {
            return None;
        }
        let traffic = Traffic::of(scenario);
        let visitor = |class: &usize| {
            let found = &answer.classes[*class];
            Some(Visitor {
                rate: found.accepted_rate_messages_per_cycle?,
                fixed_cycles: f64::from(scenario.router().pipeline_stages) - 1.0,
                flits: f64::from(scenario.classes()[*class].message_flits) + found.blocking_length_flits?,
            })
        };
        let classes: Vec<usize> = traffic.real_time.iter().map(|flow| flow.class).collect();
        let visitors: Vec<Visitor> = classes.iter().map(visitor).collect::<Option<_>>()?;
        let shares = Shares::new(&traffic.vticks);
        let mut sharing = Sharing::unknown(classes.len());
        let mut chain = LinkChain::new(classes.len());
        for _ in 0..CALLS {
            chain.solve(&shares, &visitors, &mut sharing);
        }
        let cycles = |set: usize| {
            let of = |class: usize| (set >> class & 1 == 1).then(|| shares.cycles_per_flit(class, set));
            (0..classes.len()).map(of).collect()
        };
        let cycles_per_flit = (0..sharing.occupancy.len()).map(cycles).collect();
        Some(Self { classes, occupancy: sharing.occupancy, rates: chain.into_rates(), cycles_per_flit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::{Options, solve};
    use crate::scenario::Preset;

    #[test]
    fn the_chain_is_that_of_the_fixed_point() {
        for name in ["router16", "router16-3rt"] {
            let scenario = Preset::find(name).unwrap().scenario();
            let answer = solve(&scenario, &Options::default()).unwrap();
            let chain = OutputChain::of(&scenario, &answer).unwrap();
            assert!((chain.occupancy.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            for (bit, class) in chain.classes.iter().enumerate() {
                // (6) with (8)
                let holds = |set: &usize| set >> bit & 1 == 1;
                let present: f64 =
                    (0..chain.occupancy.len()).filter(holds).map(|set| chain.occupancy[set]).sum();
                let weighted: f64 = (0..chain.occupancy.len())
                    .filter_map(|set| Some(chain.cycles_per_flit[set][bit]? * chain.occupancy[set]))
                    .sum();
                let cycles_per_flit = answer.classes[*class].cycles_per_flit.unwrap();
                assert!((weighted / present - cycles_per_flit).abs() < 1e-9, "{name} {class}");
            }
        }
        let cube = Preset::find("cube6").unwrap().scenario();
        let answer = solve(&cube, &Options::default()).unwrap();
        assert!(OutputChain::of(&cube, &answer).is_none());
    }
}
