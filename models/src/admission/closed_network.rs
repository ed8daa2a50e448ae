//! Credits that are returned at delivery: a closed network of packets, a chain for each source.
//!
//! Mean value analysis after Bard and Schweitzer (P. J. Schweitzer, Approximate analysis of multiclass closed
//! networks of queues, 1979; M. Reiser and S. S. Lavenberg, J. ACM 27 (1980) 313): a packet that arrives at a channel
//! finds the others as they are on average, and of its own source those that are left without it. Channels serve
//! first come, first served, always for the same time. A packet is cut through: it is served by several channels at
//! once, so that its time is that of a packet alone, and waits.
//!
//! ```text
//! W_ik = S_k (Σ_j Q'_jk - Σ_j u'_jk / 2),   Q' = Q and u' = u, those of the own chain (w_i - 1)/w_i times
//! X_i  = w_i / (D_i + Σ_k v_ik W_ik),       u_ik = X_i v_ik S_k,   Q_ik = X_i v_ik (W_ik + S_k)
//! ```
//!
//! At given throughputs `X` the queues follow without iteration, and Newton's method finds the throughputs:
//! substitution needs some 15 steps for every packet of a chain, and only leads near where Newton's method does not
//! arrive.

use nalgebra::{DMatrix, DVector};

use crate::fixed_point::{Report, Status};

/// The packets of one source.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// `w`: packets that are under way at a time; 0, or 1 and more.
    pub packets: f64,
    /// `D`: time of a packet that meets no other, from credit to credit \[cycles\]; above 0.
    pub alone: f64,
    /// `v`: channels, and how often a packet visits each on average.
    pub visits: Vec<(usize, f64)>,
}

/// Channels, and the chains of packets over them.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedNetwork {
    /// `S`: time that each channel serves a packet \[cycles\].
    pub services: Vec<f64>,
    /// Each over channels that are there, none twice.
    pub chains: Vec<Chain>,
}

/// What goes round, by chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// `X`: throughput \[packets/cycle\].
    pub throughputs: Vec<f64>,
    /// `w / X`: time of a packet from credit to credit \[cycles\]; what it takes alone where no packet goes round.
    pub times: Vec<f64>,
}

/// Largest distance from the fixed point, relative to the packets.
const TOLERANCE: f64 = 1e-10;
/// Distance that rounding may explain where it no longer shrinks: what saturated channels have left loses digits.
const NOISE: f64 = 1e-6;
/// Newton's steps at a time; some ten are needed.
const MOST_STEPS: u32 = 30;
/// Steps of substitution before Newton's method is tried again, doubled each time, and the most.
const FIRST_STEPS: u32 = 8;
const MOST_SUBSTITUTIONS: u32 = 10_000;
/// Smallest part of a step.
const SHORTEST: f64 = 1e-12;

/// A channel at given throughputs.
#[derive(Clone, Copy, Debug, Default)]
struct Channel {
    /// `Σ_j u_j`.
    load: f64,
    /// `Σ_j u_j / (1 + u_j / w_j)`: below 1.
    taken: f64,
    /// `Σ_j (u_j² / 2 w_j) / (1 + u_j / w_j)`.
    own: f64,
}

impl Channel {
    /// Work that an arrival of no chain finds, in services: `Σ_j (Q_j - u_j / 2)`.
    fn work(&self) -> f64 {
        (self.load / 2.0 - self.own) / (1.0 - self.taken)
    }
}

impl ClosedNetwork {
    /// Throughput and time of every chain.
    ///
    /// # Errors
    /// If the iteration does not converge.
    pub fn solve(&self) -> Result<(Flow, Report), Report> {
        let (mut flows, mut residuals) = (self.start(), Vec::new());
        let mut queues = self.queues(&flows);
        let mut steps = FIRST_STEPS;
        loop {
            let (found, status) = self.approach(flows.clone(), &mut residuals);
            let (iterations, residual) =
                (residuals.len() as u32, residuals.last().copied().unwrap_or(f64::MAX));
            let report = |residuals| Report { status, iterations, residual, residuals };
            if status == Status::Converged {
                return Ok((self.flow(&found), report(residuals)));
            }
            if steps > MOST_SUBSTITUTIONS {
                return Err(report(residuals));
            }
            // Newton's method needs to be near
            (0..steps).for_each(|_| self.substitute(&mut flows, &mut queues));
            steps *= 2;
        }
    }

    /// Newton's steps to the fixed point.
    fn approach(&self, mut flows: DVector<f64>, residuals: &mut Vec<f64>) -> (DVector<f64>, Status) {
        let Some(mut missing) = self.missing(&flows) else { return (flows, Status::NotFinite) };
        for _ in 0..MOST_STEPS {
            let far = missing.amax();
            residuals.push(far);
            if far <= TOLERANCE {
                return (flows, Status::Converged);
            }
            let step = self.slopes(&flows).lu().solve(&missing);
            match step.and_then(|step| self.go(&flows, &step, far)) {
                Some(next) => (flows, missing) = next,
                None if far <= NOISE => return (flows, Status::Converged),
                None => break,
            }
        }
        (flows, Status::OutOfIterations)
    }

    /// `Q_ik` at given throughputs, visit by visit.
    fn queues(&self, flows: &DVector<f64>) -> Vec<Vec<f64>> {
        let channels = self.channels(flows);
        let of = |(chain, flow): (&Chain, &f64)| -> Vec<f64> {
            let queue = |(channel, visits): &(usize, f64)| {
                let load = flow * visits * self.services[*channel];
                let others = part(load, chain.packets);
                load * (1.0 + channels[*channel].work() * others - (1.0 - others) / 2.0)
            };
            chain.visits.iter().map(queue).collect()
        };
        self.chains.iter().zip(flows).map(of).collect()
    }

    /// The equations in the head of this file, one after another.
    fn substitute(&self, flows: &mut DVector<f64>, queues: &mut [Vec<f64>]) {
        // Σ_j (Q_jk - u_jk / 2)
        let mut work = vec![0.0; self.services.len()];
        let half = |flow: f64, (channel, visits): (usize, f64)| flow * visits * self.services[channel] / 2.0;
        for ((chain, flow), queues) in self.chains.iter().zip(flows.iter()).zip(queues.iter()) {
            for (visit, queue) in chain.visits.iter().zip(queues) {
                work[visit.0] += queue - half(*flow, *visit);
            }
        }
        for ((chain, flow), queues) in self.chains.iter().zip(flows.iter_mut()).zip(queues) {
            let wait = |(visit, queue): (&(usize, f64), &f64)| {
                let own = (queue - half(*flow, *visit)) / chain.packets.max(1.0);
                self.services[visit.0] * (work[visit.0] - own).max(0.0)
            };
            let waits: Vec<f64> = chain.visits.iter().zip(queues.iter()).map(wait).collect();
            let all: f64 = chain.visits.iter().zip(&waits).map(|((_, visits), wait)| visits * wait).sum();
            *flow = chain.packets / (chain.alone + all);
            for (((channel, visits), wait), queue) in chain.visits.iter().zip(waits).zip(queues) {
                *queue = *flow * visits * (wait + self.services[*channel]);
            }
        }
    }

    /// Throughputs at which no channel is full: every packet waits for all others that ever come there.
    fn start(&self) -> DVector<f64> {
        let mut packets = vec![0.0; self.services.len()];
        for chain in &self.chains {
            chain.visits.iter().for_each(|(channel, _)| packets[*channel] += chain.packets);
        }
        let flow = |chain: &Chain| {
            let wait =
                |(channel, visits): &(usize, f64)| visits * self.services[*channel] * packets[*channel];
            chain.packets / (chain.alone + chain.visits.iter().map(wait).sum::<f64>())
        };
        DVector::from_iterator(self.chains.len(), self.chains.iter().map(flow))
    }

    fn channels(&self, flows: &DVector<f64>) -> Vec<Channel> {
        let mut channels = vec![Channel::default(); self.services.len()];
        for (chain, flow) in self.chains.iter().zip(flows) {
            for (channel, visits) in &chain.visits {
                let load = flow * visits * self.services[*channel];
                let others = part(load, chain.packets);
                let channel = &mut channels[*channel];
                channel.load += load;
                channel.taken += load * others;
                channel.own += load * (1.0 - others) / 2.0;
            }
        }
        channels
    }

    /// `D_i + Σ_k v_ik W_ik`.
    fn time(&self, chain: &Chain, flow: f64, channels: &[Channel]) -> f64 {
        let wait = |(channel, visits): &(usize, f64)| {
            let service = self.services[*channel];
            let load = flow * visits * service;
            // W / S = (A - u / 2 w) / (1 + u / w)
            let others = part(load, chain.packets);
            visits * service * (channels[*channel].work() * others - (1.0 - others) / 2.0)
        };
        chain.alone + chain.visits.iter().map(wait).sum::<f64>()
    }

    /// `1 - X_i R_i / w_i`; none where a channel would be full.
    fn missing(&self, flows: &DVector<f64>) -> Option<DVector<f64>> {
        let channels = self.channels(flows);
        let is_open = channels.iter().all(|channel| channel.taken < 1.0);
        let of = |(chain, flow): (&Chain, &f64)| match chain.packets > 0.0 {
            true => 1.0 - flow * self.time(chain, *flow, &channels) / chain.packets,
            false => 0.0,
        };
        let found = DVector::from_iterator(flows.len(), self.chains.iter().zip(flows).map(of));
        (is_open && found.iter().all(|one| one.is_finite())).then_some(found)
    }

    /// `∂(X_i R_i / w_i)/∂ln X_j`.
    fn slopes(&self, flows: &DVector<f64>) -> DMatrix<f64> {
        let channels = self.channels(flows);
        let work: Vec<f64> = channels.iter().map(Channel::work).collect();
        // ∂A_k/∂X_j = (1/2 - γ' + A β') / (1 - β) v_jk S_k, dense by channel
        let mut of_channel = DMatrix::zeros(self.chains.len(), channels.len());
        let mut visits = DMatrix::zeros(self.chains.len(), channels.len());
        let mut own = DVector::<f64>::zeros(self.chains.len());
        for (index, (chain, flow)) in self.chains.iter().zip(flows).enumerate() {
            for (channel, count) in &chain.visits {
                let demand = count * self.services[*channel];
                let others = part(flow * demand, chain.packets);
                // β' = 1 / (1 + u / w)², γ' = (1 - β') / 2
                let slope = others * others * (0.5 + work[*channel]) * demand;
                of_channel[(index, *channel)] = slope / (1.0 - channels[*channel].taken);
                visits[(index, *channel)] = demand * others;
                // that of (A - u / 2 w) / (1 + u / w) at constant A
                own[index] -= slope * demand / chain.packets.max(1.0);
            }
        }
        let mut slopes = visits * of_channel.transpose();
        for (index, (chain, flow)) in self.chains.iter().zip(flows).enumerate() {
            slopes[(index, index)] += own[index];
            let time = self.time(chain, *flow, &channels);
            let rate = if chain.packets > 0.0 { flow / chain.packets } else { 0.0 };
            slopes.row_mut(index).scale_mut(rate);
            slopes.row_mut(index).component_mul_assign(&flows.transpose());
            slopes[(index, index)] += if chain.packets > 0.0 { rate * time } else { 1.0 };
        }
        slopes
    }

    /// As much of a step as leads closer without filling a channel.
    fn go(
        &self,
        flows: &DVector<f64>,
        step: &DVector<f64>,
        before: f64,
    ) -> Option<(DVector<f64>, DVector<f64>)> {
        let mut part = 1.0;
        while part > SHORTEST {
            let next = flows.zip_map(step, |flow, step| flow * (part * step).exp());
            if let Some(missing) = self.missing(&next).filter(|missing| missing.amax() < before) {
                return Some((next, missing));
            }
            part /= 2.0;
        }
        None
    }

    fn flow(&self, flows: &DVector<f64>) -> Flow {
        let channels = self.channels(flows);
        let times = self.chains.iter().zip(flows).map(|(chain, flow)| self.time(chain, *flow, &channels));
        Flow { times: times.collect(), throughputs: flows.iter().copied().collect() }
    }

    /// Upper bound of the throughput of each chain without iteration, if all have the same: a packet takes no less than
    /// alone, and no channel serves more than one at a time.
    ///
    /// ```text
    /// X <= min(w / D, 1 / max_k Σ_i v_ik S_k)
    /// ```
    ///
    /// Balanced-job bounds need channels one after another; packets are served by several at once.
    pub fn throughput_bound(&self) -> f64 {
        let alone = self.chains.iter().map(|chain| chain.packets / chain.alone).fold(f64::INFINITY, f64::min);
        let each = DVector::from_element(self.chains.len(), 1.0);
        let most = self.channels(&each).iter().map(|channel| channel.load).fold(0.0, f64::max);
        if most > 0.0 { alone.min(1.0 / most) } else { alone }
    }
}

/// `1 / (1 + u / w)`.
fn part(load: f64, packets: f64) -> f64 {
    if load > 0.0 { packets / (packets + load) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::admission::{assert_near, channels, mesh, paths};

    const MESSAGE: f64 = 40.0;

    /// All nodes of a mesh send to all others, `packets` at a time; 5 stages.
    fn of_mesh(side: u32, packets: f64) -> ClosedNetwork {
        let network = mesh(side);
        let nodes = (side * side) as usize;
        let mut services = vec![MESSAGE; channels(&*network)];
        let mut visits = vec![vec![0.0; services.len()]; nodes];
        let mut alone = vec![0.0; nodes];
        for path in paths(&*network) {
            let share = 1.0 / (nodes as f64 - 1.0);
            path.channels.iter().for_each(|channel| visits[path.source][*channel] += share);
            alone[path.source] += share * (4.0 + 5.0 * f64::from(path.hops()) + MESSAGE);
            for channel in &path.channels[1..path.channels.len() - 1] {
                services[*channel] = MESSAGE / 0.912;
            }
        }
        let chain = |(visits, alone): (Vec<f64>, f64)| {
            let visits = visits.into_iter().enumerate().filter(|(_, visits)| *visits > 0.0).collect();
            Chain { packets, alone, visits }
        };
        ClosedNetwork { services, chains: visits.into_iter().zip(alone).map(chain).collect() }
    }

    fn load(network: &ClosedNetwork) -> f64 {
        let (flow, _) = network.solve().unwrap_or_else(|report| panic!("{report}"));
        flow.throughputs.iter().sum::<f64>() / network.chains.len() as f64 * MESSAGE
    }

    /// Printed are 0.425, 0.562, 0.689, 0.783, 0.829 and 0.846: the last three are 0.2 % above the fixed point.
    #[test]
    fn throughputs_of_a_mesh_are_those_of_the_chapter() {
        let printed =
            [(1.0, 0.4252), (2.0, 0.5621), (4.0, 0.6890), (8.0, 0.7813), (16.0, 0.8282), (32.0, 0.8451)];
        for (packets, throughput) in printed {
            assert_near(load(&of_mesh(4, packets)), throughput, 1e-4);
        }
    }

    /// Substitution of the equations in the head of this file, which is what Newton's method saves.
    #[test]
    fn the_equations_hold() {
        let network = of_mesh(3, 5.0);
        let (flow, report) = network.solve().unwrap();
        assert!(report.iterations < 20, "{report}");
        let stations = network.services.len();
        let mut queues = vec![vec![0.0; stations]; network.chains.len()];
        let loads: Vec<Vec<f64>> = (network.chains.iter().zip(&flow.throughputs))
            .map(|(chain, flow)| {
                let mut loads = vec![0.0; stations];
                chain.visits.iter().for_each(|(k, visits)| loads[*k] = flow * visits * network.services[*k]);
                loads
            })
            .collect();
        let mut times = vec![0.0; network.chains.len()];
        for _ in 0..500 {
            let before = queues.clone();
            for (i, chain) in network.chains.iter().enumerate() {
                times[i] = chain.alone;
                for (k, visits) in &chain.visits {
                    let left = |j: usize| if i == j { 1.0 - 1.0 / chain.packets } else { 1.0 };
                    let found = |j: usize| left(j) * (before[j][*k] - loads[j][*k] / 2.0);
                    let wait: f64 = (0..network.chains.len()).map(found).sum::<f64>() * network.services[*k];
                    queues[i][*k] = flow.throughputs[i] * visits * (wait + network.services[*k]);
                    times[i] += visits * wait;
                }
            }
        }
        for ((time, found), throughput) in times.iter().zip(&flow.times).zip(&flow.throughputs) {
            assert_near(*time, *found, 1e-7);
            assert_near(throughput * time, 5.0, 1e-7);
        }
    }

    #[test]
    fn any_number_of_packets_has_a_throughput_within_the_bound() {
        let mut before = 0.0;
        for packets in [1.0, 1.5, 3.0, 10.0, 100.0, 1e3, 1e4, 1e6] {
            let network = of_mesh(4, packets);
            let throughput = load(&network);
            assert!(throughput > before, "{packets}: {throughput}");
            before = throughput;
        }
        assert_near(of_mesh(4, 1e3).throughput_bound() * MESSAGE, 0.912 / (16.0 / 15.0), 1e-9);
        assert_near(of_mesh(4, 1.0).throughput_bound() * MESSAGE, 40.0 / 60.0, 0.1);
        assert_eq!(load(&of_mesh(4, 0.0)), 0.0);
    }

    #[test]
    fn few_channels_and_no_packets_are_simple() {
        let one = |packets, services: &[f64], visits: &[(usize, f64)]| {
            let chain = Chain { packets, alone: 50.0, visits: visits.to_vec() };
            ClosedNetwork { services: services.to_vec(), chains: vec![chain] }.solve().unwrap().0
        };
        // one packet waits for none
        assert_near(one(1.0, &[40.0], &[(0, 1.0)]).throughputs[0], 1.0 / 50.0, 1e-9);
        assert_eq!(one(3.0, &[], &[]).throughputs, [3.0 / 50.0]);
        assert_eq!(one(0.0, &[40.0], &[(0, 1.0)]), Flow { throughputs: vec![0.0], times: vec![50.0] });
        let full = one(1e6, &[40.0, 20.0], &[(0, 1.0), (1, 1.0)]).throughputs[0];
        assert_near(full, 1.0 / 40.0, 1e-4);
        let silent = ClosedNetwork { services: vec![1.0], chains: Vec::new() };
        assert!(silent.solve().unwrap().0.throughputs.is_empty());
    }

    proptest! {
        #[test]
        fn any_chains_have_their_throughputs(
            services in prop::collection::vec(-1.0..3.0f64, 8),
            chains in prop::collection::vec((0.0..4.0f64, 0.0..4.0f64, prop::collection::vec(-3.0..1.0f64, 8)), 1..9),
        ) {
            let chain = |(packets, alone, visits): &(f64, f64, Vec<f64>)| {
                let visited = visits.iter().copied().enumerate().filter(|(_, visits)| *visits > -2.0);
                let visits = visited.map(|(channel, visits)| (channel, 10f64.powf(visits))).collect();
                Chain { packets: 10f64.powf(*packets).floor(), alone: 10f64.powf(*alone), visits }
            };
            let services = services.iter().map(|service| 10f64.powf(*service)).collect();
            let network = ClosedNetwork { services, chains: chains.iter().map(chain).collect() };
            let (flow, _) = network.solve().unwrap();
            let rounds = flow.throughputs.iter().zip(&flow.times).zip(&network.chains);
            for ((throughput, time), chain) in rounds {
                prop_assert!((throughput * time / chain.packets - 1.0).abs() < 1e-5 && *time >= chain.alone * 0.999);
            }
        }
    }
}
