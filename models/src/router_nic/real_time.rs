//! Mean latency of real-time messages over the links of a path, wait at the interface included.
//!
//! Stamps restart with every message. Of two messages that share a link the one with the lower stamps goes first: with
//! long Vticks *least attained service* (foreground-background), with short ones first come, first served
//! ([`super::stamps`]). `r` virtual channels let at most `r` messages share; with one the link is first come, first
//! served. In between we take the form of limited processor sharing, with service by stamps in the place of processor
//! sharing. With long Vticks a message is as late as its worst link; in order of age its waits at the links
//! add up.
//!
//! Streams end where they happen to, and have long frames and short ones: a link behind a router is loaded unevenly,
//! for times that are long against a latency, and the delay is the mean over its loads ([`PathLink::unevenness`]).
//!
//! How good it is. Simulated* / model, Poisson messages of 40 flits, Vtick 250: within 3 % for loads up to .4 with 8
//! virtual channels, 7 % with 12, 13 % with 3. In networks later links get what earlier ones have spread out.

use super::integral::integral;
use super::{Part, Saturated, Vticks, channel_wait, steady};
use crate::mediaworm::PeriodicQueue;

/// Links of a path up to which [`mean_of_largest`] sums over subsets; beyond it integrates.
const MOST_SUBSETS: usize = 10;
/// Share of what a link has left that an uneven load takes at most: none is full for long.
const MOST_OF_THE_REST: f64 = 0.8;

/// `FCFS(x)`: mean response over service, first come, first served, M/D/1 at load `x < 1`.
///
/// ```
/// assert_eq!(flitwise_models::router_nic::real_time::first_come(0.5), 1.5);
/// ```
pub fn first_come(load: f64) -> f64 {
    // 1 + x / (2 (1 - x))
    1.0 + load / (2.0 * (1.0 - load))
}

/// `FB(x)`: mean response over service under least attained service, M/D/1 at load `x < 1`: the work found and the own
/// one, over the share of the time that later arrivals leave. For any law of service: Schrage, Management Science 13
/// (1967) 466-474.
///
/// ```
/// assert_eq!(flitwise_models::router_nic::real_time::least_attained(0.5), 3.0);
/// ```
pub fn least_attained(load: f64) -> f64 {
    // (1 + x / (2 (1 - x))) / (1 - x)
    first_come(load) / (1.0 - load)
}

/// `f(x)`: mean response over service where at most `virtual_channels` messages share a link of load `x < 1`.
///
/// ```
/// use flitwise_models::router_nic::real_time::limited_sharing;
///
/// assert_eq!(limited_sharing(0.5, 1.0), 1.5); // first come, first served
/// assert_eq!(limited_sharing(0.5, 2.0), 2.25);
/// ```
pub fn limited_sharing(load: f64, virtual_channels: f64) -> f64 {
    shared(load, virtual_channels, first_come(load), least_attained(load))
}

/// The same, where `first_come` is the mean response over service of first come, first served, and `by_stamps` that of
/// as many messages as come.
fn shared(load: f64, virtual_channels: f64, first_come: f64, by_stamps: f64) -> f64 {
    // f = FCFS + (1 - x^(r - 1)) (FB - FCFS)
    first_come + (1.0 - load.powf(virtual_channels - 1.0)) * (by_stamps - first_come)
}

/// How messages come to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// From so many sources that they are Poisson.
    Poisson,
    /// From so many streams, at least one, of equal rates. A message meets those of the others only: the load that it
    /// meets is `x (1 - 1/n)`.
    Streams(u32),
    /// From so many streams, each of which sends its messages evenly, such as at their interface. The work that a
    /// message finds is that of nD/D/1 ([`PeriodicQueue`]), less than that of M/D/1.
    EvenStreams(u32),
}

impl Arrivals {
    /// Load of a link of load `x` that a message meets.
    fn met(self, load: f64) -> f64 {
        match self {
            Self::Poisson => load,
            // x (1 - 1/n)
            Self::Streams(count) | Self::EvenStreams(count) => load * (1.0 - 1.0 / f64::from(count)),
        }
    }

    /// Mean wait over service, first come, first served, on a link of load `x < 1`.
    fn wait(self, load: f64) -> f64 {
        match self {
            Self::Poisson | Self::Streams(_) => first_come(self.met(load)) - 1.0,
            Self::EvenStreams(sources) => PeriodicQueue { sources, load }.mean_wait(),
        }
    }
}

/// A link of a path, as its real-time load sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathLink {
    /// `x`: real-time load \[flits/cycle\].
    pub load: f64,
    /// `1 - Σ w_i²`: probability that two messages of the link come from different inputs. Those of one input have
    /// been put in order before.
    pub contended: f64,
    /// How its messages come.
    pub arrivals: Arrivals,
    /// Standard deviation of `x` over links, and over times that are long against a latency: streams end where they
    /// happen to, and their frames are long and short.
    pub unevenness: f64,
}

impl PathLink {
    /// The link of an interface, or the output of a router that is the whole network: all messages contend.
    pub fn new(load: f64, arrivals: Arrivals) -> Self {
        Self { load, contended: 1.0, arrivals, unevenness: 0.0 }
    }

    /// A link in a network behind inputs that bring the shares `inputs` of its load; with a single one there is no
    /// contention.
    ///
    /// ```
    /// use flitwise_models::router_nic::{Arrivals, PathLink};
    ///
    /// let ejection = PathLink::behind(0.3, Arrivals::Poisson, &[1.0 / 3.0, 2.0 / 3.0]);
    /// assert!((ejection.contended - 4.0 / 9.0).abs() < 1e-15);
    /// ```
    pub fn behind(load: f64, arrivals: Arrivals, inputs: &[f64]) -> Self {
        // 1 - Σ w_i²
        let contended = 1.0 - inputs.iter().map(|share| share * share).sum::<f64>();
        Self { load, contended: contended.max(0.0), arrivals, unevenness: 0.0 }
    }

    /// `E[x e(x)] / E[x]`: mean delay of a message by others on the link \[cycles\].
    ///
    /// # Errors
    /// Where the link is saturated.
    pub fn excess(
        &self,
        virtual_channels: f64,
        message_flits: f64,
        vticks: &Vticks,
    ) -> Result<f64, Saturated> {
        let load = steady(Part::Link, self.load)?;
        let at = |load: f64| self.excess_at(load, virtual_channels, message_flits, vticks);
        if self.unevenness <= 0.0 || load <= 0.0 {
            return Ok(at(load));
        }
        // three places of a normal distribution, drawn together where the link would be full at the highest
        let reach = (3.0_f64.sqrt() * self.unevenness).min(MOST_OF_THE_REST * (1.0 - load)).min(load);
        let weight = (self.unevenness / reach).powi(2).min(1.0) / 2.0;
        let (low, high) = (load - reach, load + reach);
        Ok((1.0 - 2.0 * weight) * at(load) + weight * (low * at(low) + high * at(high)) / load)
    }

    /// `e(x)`.
    fn excess_at(&self, load: f64, virtual_channels: f64, message_flits: f64, vticks: &Vticks) -> f64 {
        let (met, wait) = (self.arrivals.met(load), self.arrivals.wait(load));
        let poisson = first_come(met) - 1.0;
        let by_stamps = vticks.response(met, if poisson > 0.0 { wait / poisson } else { 1.0 });
        let response = shared(met, virtual_channels, 1.0 + wait, by_stamps);
        // e = M (f - 1) (1 - Σ w_i²)
        message_flits * (response - 1.0) * self.contended
    }
}

/// Mean of the largest of independent exponential times of these means \[their unit\]; means of 0 count for nothing.
///
/// ```text
/// Emax = Σ_(A not empty) (-1)^(|A| + 1) / Σ_(i in A) 1 / e_i
/// ```
///
/// ```
/// use flitwise_models::router_nic::real_time::mean_of_largest;
///
/// assert_eq!(mean_of_largest(&[2.0, 2.0]), 3.0); // 1.5 e for two alike
/// ```
pub fn mean_of_largest(means: &[f64]) -> f64 {
    let rates: Vec<f64> = means.iter().filter(|mean| **mean > 0.0).map(|mean| 1.0 / mean).collect();
    if rates.len() > MOST_SUBSETS {
        return integrated_largest(&rates);
    }
    let mut sum = 0.0;
    for subset in 1_u32..1 << rates.len() {
        let chosen = rates.iter().enumerate().filter(|(index, _)| subset >> index & 1 == 1);
        let rate: f64 = chosen.map(|(_, rate)| rate).sum();
        sum += if subset.count_ones() % 2 == 1 { 1.0 / rate } else { -1.0 / rate };
    }
    sum
}

/// The same as `∫ 1 - Π (1 - exp(-t / e_i)) dt`: sums over subsets of many would lose their digits.
fn integrated_largest(rates: &[f64]) -> f64 {
    /// Means beyond which nothing is left of an exponential time.
    const REACH: f64 = 36.0;
    let longest = rates.iter().fold(0.0, |longest: f64, rate| longest.max(1.0 / rate));
    let exceeds = |t: f64| 1.0 - rates.iter().map(|rate| -(-t * longest * rate).exp_m1()).product::<f64>();
    longest * integral(exceeds, 0.0, REACH + (rates.len() as f64).ln(), 1e-10)
}

/// A path of real-time messages.
#[derive(Clone, Debug, PartialEq)]
pub struct RealTimePath {
    /// `R`: real-time load of a node \[flits/cycle\].
    pub load: f64,
    /// `r`: virtual channels of real time.
    pub virtual_channels: f64,
    /// `M` \[flits\].
    pub message_flits: f64,
    /// `P` \[cycles\].
    pub pipeline_stages: f64,
    /// `h`: channels between routers.
    pub hops: f64,
    /// Real-time streams of a node; none if they are too many to count.
    pub streams: Option<u32>,
    /// Their Vticks.
    pub vticks: Vticks,
    /// `σ`: how far the age of messages decides who goes first, see [`Vticks::in_order`].
    pub in_order: f64,
    /// What messages of lower classes that hold its virtual channel delay it \[cycles\].
    pub holders: f64,
    /// Links of the path at which messages contend, that of the interface first.
    pub links: Vec<PathLink>,
}

/// Mean total latency of real time and its parts \[cycles\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RealTimeLatency {
    /// `P + P h`: the cycle at the interface and `P - 1` for the header, `P` for every further router.
    pub pipeline: f64,
    /// `M`.
    pub transfer: f64,
    /// `Emax`: delay by other messages at the worst link of the path, and by those of lower classes that hold its
    /// virtual channel.
    pub contention: f64,
    /// `q S / (4 (1 - q))`: wait for a virtual channel.
    pub channel_wait: f64,
    /// `q`: share of the time that a virtual channel is held.
    pub channel_load: f64,
}

impl RealTimeLatency {
    /// `T`: wait at the interface and network latency \[cycles\].
    pub fn total(&self) -> f64 {
        self.pipeline + self.transfer + self.contention + self.channel_wait
    }

    /// `e`: what a message loses to others \[cycles\], see [`super::ExcessLaw`].
    pub fn excess(&self) -> f64 {
        self.contention + self.channel_wait
    }
}

impl RealTimePath {
    /// A single router with messages of 40 flits and five stages: the links of interface and output, both with the
    /// load of a node.
    pub fn router(load: f64, virtual_channels: f64) -> Self {
        let link = PathLink::new(load, Arrivals::Poisson);
        Self {
            load,
            virtual_channels,
            message_flits: 40.0,
            pipeline_stages: 5.0,
            hops: 0.0,
            streams: None,
            vticks: Vticks::long(),
            in_order: 0.0,
            holders: 0.0,
            links: vec![link; 2],
        }
    }

    /// Mean latency.
    ///
    /// ```
    /// use flitwise_models::router_nic::{Part, RealTimePath};
    ///
    /// let latency = RealTimePath::router(0.4, 8.0).latency().unwrap();
    /// assert_eq!(format!("{:.4}", latency.total()), "122.9145");
    /// // 3 virtual channels are held for all the time
    /// let saturated = RealTimePath::router(0.64, 3.0).latency().unwrap_err();
    /// assert_eq!(saturated.part, Part::VirtualChannels);
    /// ```
    ///
    /// # Errors
    /// Where a link or the virtual channels are saturated.
    pub fn latency(&self) -> Result<RealTimeLatency, Saturated> {
        let excess = |link: &PathLink| link.excess(self.virtual_channels, self.message_flits, &self.vticks);
        let excesses = self.links.iter().map(excess).collect::<Result<Vec<f64>, Saturated>>()?;
        self.latency_by(&excesses)
    }

    /// The same by the delays at its links.
    pub(super) fn latency_by(&self, excesses: &[f64]) -> Result<RealTimeLatency, Saturated> {
        let Self { load, virtual_channels, message_flits, pipeline_stages, .. } = *self;
        // in order of age waits at the links add up: σ Σ e + (1 - σ) Emax
        let (sum, largest) = (excesses.iter().sum::<f64>(), mean_of_largest(excesses));
        let contention = self.in_order * sum + (1.0 - self.in_order) * largest + self.holders;
        // S = M + Emax + holders
        let held = message_flits + contention;
        let wait = channel_wait(load, message_flits, virtual_channels, held)?;
        Ok(RealTimeLatency {
            // P + P h
            pipeline: pipeline_stages * (1.0 + self.hops),
            transfer: message_flits,
            contention,
            // half an M/D/1 wait with long Vticks: a virtual channel is slow just when all are
            channel_wait: self.of_other_streams() * wait.cycles * (1.0 + self.in_order) / 2.0,
            channel_load: wait.held_share,
        })
    }

    /// `1 - r / n`: share of the messages of a virtual channel that are of other streams than a given one; no stream
    /// waits for itself.
    fn of_other_streams(&self) -> f64 {
        self.streams.map_or(1.0, |streams| (1.0 - self.virtual_channels / f64::from(streams)).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::Md1;
    use crate::router_nic::{assert_digits, assert_near};

    fn router(load: f64, virtual_channels: f64) -> f64 {
        RealTimePath::router(load, virtual_channels).latency().unwrap().total()
    }

    #[test]
    fn a_router_has_the_digits_written_down() {
        for (load, channels, expected) in [
            (0.1, 8.0, "55.5718"),
            (0.4, 8.0, "122.9145"),
            (0.48, 12.0, "160.0992"),
            (0.64, 12.0, "345.4306"),
            (0.48, 3.0, "170.188"),
        ] {
            assert_digits(router(load, channels), expected);
        }
    }

    /// Simulated* with Poisson messages: within 3 % for loads up to .4 with 8 virtual channels, 7 % with 12, 13.5 %
    /// with 3.
    #[test]
    fn a_router_is_as_near_to_the_prototype_as_said() {
        let within = [
            (
                8.0,
                0.03,
                &[(0.1, 57.1, "55.6"), (0.2, 71.5, "70.0"), (0.3, 93.3, "90.9"), (0.4, 124.2, "122.9")][..],
            ),
            (
                3.0,
                0.135,
                &[(0.08, 53.3, "53.4"), (0.12, 57.6, "58.4"), (0.16, 63.1, "64.1"), (0.32, 91.9, "96.7")],
            ),
            (3.0, 0.135, &[(0.48, 150.1, "170.2")]),
            (12.0, 0.075, &[(0.32, 102.8, "95.4"), (0.48, 172.5, "160.1"), (0.64, 364.9, "345.4")]),
        ];
        for (channels, within, points) in within {
            for (load, simulated, expected) in points {
                let found = router(*load, channels);
                assert_digits(found, expected);
                assert!((found / simulated - 1.0).abs() < within, "{load}, {channels}: {found}");
            }
        }
    }

    /// Video at .8: R is 1.025 of the share of real time, for the header flits.
    #[test]
    fn video_beside_best_effort_has_the_latencies_written_down() {
        let points =
            [(0.2, 3.0, "65"), (0.3, 5.0, "79"), (0.5, 8.0, "127"), (0.7, 11.0, "241"), (0.8, 12.0, "385")];
        for (share, channels, expected) in points {
            assert_digits(router(0.8 * share * 1.025, channels), expected);
        }
    }

    /// Dimension order in a 2 x 2 mesh, five stages a hop: the mean over the three destinations.
    #[test]
    fn a_mesh_has_the_digits_written_down() {
        let load = 0.3;
        let own = PathLink::new(load, Arrivals::Poisson);
        let channel = 2.0 * load / 3.0;
        let along_x = PathLink::behind(channel, Arrivals::Poisson, &[1.0]);
        let along_y = PathLink::behind(channel, Arrivals::Poisson, &[0.5, 0.5]);
        let ejection = PathLink::behind(load, Arrivals::Poisson, &[1.0 / 3.0, 2.0 / 3.0]);
        let paths = [
            (1.0, vec![own, along_x, ejection]),
            (1.0, vec![own, along_y, ejection]),
            (2.0, vec![own, along_x, along_y, ejection]),
        ];
        let total = |(hops, links): (f64, Vec<PathLink>)| {
            RealTimePath { hops, links, ..RealTimePath::router(load, 8.0) }.latency().unwrap().total()
        };
        assert_digits(paths.map(total).iter().sum::<f64>() / 3.0, "87.137726");
    }

    #[test]
    fn one_virtual_channel_is_first_come_and_many_are_least_attained() {
        for load in [0.0, 0.1, 0.5, 0.9] {
            let response = Md1 { rate: load, mean: 1.0 }.measures().reached().unwrap().mean_response;
            assert_near(first_come(load), response, 1e-14);
            assert_eq!(limited_sharing(load, 1.0), first_come(load));
            assert_near(limited_sharing(load, 1e4), least_attained(load), 1e-14);
            // (2 - x) / (2 (1 - x)²)
            assert_near(least_attained(load), (2.0 - load) / (2.0 * (1.0 - load).powi(2)), 1e-14);
        }
    }

    #[test]
    fn nothing_offered_takes_the_pipeline_and_the_flits() {
        let idle = RealTimePath::router(0.0, 8.0).latency().unwrap();
        assert_eq!((idle.total(), idle.excess(), idle.channel_load), (45.0, 0.0, 0.0));
    }

    #[test]
    fn latency_rises_with_load_until_something_saturates() {
        for channels in [1.0, 3.0, 8.0, 12.0] {
            let latencies =
                (0..100).map(|percent| RealTimePath::router(f64::from(percent) / 100.0, channels).latency());
            let steady: Vec<f64> = latencies.map_while(Result::ok).map(|latency| latency.total()).collect();
            assert!(steady.len() > 30 && steady.is_sorted() && steady.iter().all(|total| total.is_finite()));
        }
        let saturated = |load, channels| RealTimePath::router(load, channels).latency().unwrap_err();
        assert_eq!(saturated(1.0, 8.0), Saturated { part: Part::Link, load: 1.0 });
        let channels = saturated(0.64, 3.0);
        assert_eq!(
            (channels.part, format!("{:.4}", channels.load)),
            (Part::VirtualChannels, "1.1322".to_owned())
        );
    }

    #[test]
    fn the_largest_of_many_is_that_of_all_subsets() {
        assert_eq!(mean_of_largest(&[]), 0.0);
        assert_eq!(mean_of_largest(&[7.0, 0.0]), 7.0);
        // alike: e H_n, by either method
        for count in [1, 3, 10, 11, 40] {
            let harmonic: f64 = (1..=count).map(|k| 1.0 / f64::from(k)).sum();
            assert_near(mean_of_largest(&vec![5.0; count as usize]), 5.0 * harmonic, 1e-9);
        }
        let means = [1.0, 20.0, 3.0, 0.1, 7.0];
        let rates = means.map(|mean| 1.0 / mean);
        assert_near(integrated_largest(&rates), mean_of_largest(&means), 1e-8);
    }

    /// Of two even streams a message waits for a quarter of the load and is passed by another quarter, at small loads:
    /// 1 + 3 x / 4.
    #[test]
    fn few_streams_meet_only_the_others() {
        let excess =
            |arrivals, load| PathLink::new(load, arrivals).excess(100.0, 1.0, &Vticks::long()).unwrap();
        assert_eq!(excess(Arrivals::EvenStreams(1), 0.5), 0.0);
        assert_eq!(excess(Arrivals::Streams(1), 0.5), 0.0);
        assert_near(excess(Arrivals::EvenStreams(2), 1e-4), 0.75e-4, 1e-3);
        assert_near(excess(Arrivals::Streams(2), 0.6), least_attained(0.3) - 1.0, 1e-8);
        // many are Poisson, fewer meet less, even ones less still
        assert_near(excess(Arrivals::EvenStreams(20_000), 0.5), excess(Arrivals::Poisson, 0.5), 1e-3);
        let few = [Arrivals::EvenStreams(4), Arrivals::Streams(4), Arrivals::Streams(8), Arrivals::Poisson];
        assert!(few.map(|arrivals| excess(arrivals, 0.6)).is_sorted());
        // uneven loads take longer, but none is full
        let uneven = |unevenness| {
            let link = PathLink { unevenness, ..PathLink::new(0.6, Arrivals::Poisson) };
            link.excess(100.0, 1.0, &Vticks::long()).unwrap()
        };
        let rising = [0.0, 0.05, 0.1, 0.2, 1.0, 9.0].map(uneven);
        assert!(rising.is_sorted() && rising[5].is_finite(), "{rising:?}");
        // a virtual channel for every stream: nobody waits for one
        let path = RealTimePath { streams: Some(8), ..RealTimePath::router(0.4, 8.0) };
        assert_eq!(path.latency().unwrap().channel_wait, 0.0);
    }
}
