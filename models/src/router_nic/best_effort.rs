//! Mean latency of best effort below real time in one router, and of every class in a traditional router.
//!
//! Best effort is the lowest level at two links, that of its interface and that of the output: preemptive-resume M/D/1
//! twice (White, Christie 1958; [`crate::queueing::preemptive_resume`]). Where messages wait for each other, a greedy
//! matching carries only [`MATCHED`] of a port's cycles. A traditional router has no levels: every class waits for
//! all.
//!
//! [`BestEffortPath`] is what answers have: the same over the links of a path, with the order of flits behind routers.
//! [`TwoLinks`] is the closed form of a single router.
//!
//! How good that is. Against the prototype*, 16 points at loads of .2 to .8: -17 to +7 %; -20 % at .8 with a share of
//! best effort of 20 % in the preemptive router, whose dummy flits are not in it.

use super::{Part, Saturated, channel_wait, steady};
use crate::queueing::Md1;

/// `c`: share of a port's cycles that a greedy matching with many candidates uses, measured*.
pub const MATCHED: f64 = 0.92;

/// A class of a single router at the link of its interface and that of its output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoLinks {
    /// `R`: load of the levels above \[flits/cycle\].
    pub above: f64,
    /// `B`: load of the class itself \[flits/cycle\].
    pub own: f64,
    /// Load of other classes of the same level \[flits/cycle\].
    pub beside: f64,
    /// `r_B`: virtual channels of the class.
    pub virtual_channels: f64,
    /// `M` \[flits\].
    pub message_flits: f64,
    /// `P` \[cycles\].
    pub pipeline_stages: f64,
    /// `c`, see [`MATCHED`].
    pub matched: f64,
}

/// Mean total latency and its parts \[cycles\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BestEffortLatency {
    /// `P`.
    pub pipeline: f64,
    /// `M`.
    pub transfer: f64,
    /// `2 M R / (1 - R)`: interruptions by the levels above at both links.
    pub interruptions: f64,
    /// `s M / ((1 - R) (1 - s))`: waits at both links until service begins.
    pub contention: f64,
    /// `q S / (2 (1 - q))`: wait for a virtual channel.
    pub channel_wait: f64,
    /// `q`: share of the time that a virtual channel is held.
    pub channel_load: f64,
}

impl BestEffortLatency {
    /// `T`: wait at the interface and network latency \[cycles\].
    pub fn total(&self) -> f64 {
        self.pipeline + self.transfer + self.interruptions + self.contention + self.channel_wait
    }
}

impl TwoLinks {
    /// Best effort of load `own` below real time of load `above`, with messages of 40 flits and five stages.
    pub fn best_effort(above: f64, own: f64, virtual_channels: f64) -> Self {
        Self {
            above,
            own,
            beside: 0.0,
            virtual_channels,
            message_flits: 40.0,
            pipeline_stages: 5.0,
            matched: MATCHED,
        }
    }

    /// Any class of load `own` in a traditional router, beside others; messages and stages as above.
    pub fn traditional(own: f64, beside: f64, virtual_channels: f64) -> Self {
        Self { beside, ..Self::best_effort(0.0, own, virtual_channels) }
    }

    /// Mean latency.
    ///
    /// ```
    /// use flitwise_models::router_nic::TwoLinks;
    ///
    /// let latency = TwoLinks::best_effort(0.3, 0.3, 7.0).latency().unwrap();
    /// assert_eq!(format!("{:.4}", latency.total()), "208.3172");
    /// ```
    ///
    /// # Errors
    /// Where a link, the crossbar or the virtual channels are saturated.
    pub fn latency(&self) -> Result<BestEffortLatency, Saturated> {
        let Self { above, own, message_flits, .. } = *self;
        let left = 1.0 - steady(Part::Link, above)?;
        // s = (R + B) / c
        let shared = steady(Part::Crossbar, (above + own + self.beside) / self.matched)?;
        // e = M R / (1 - R) + s M / (2 (1 - R) (1 - s)), twice
        let interruptions = 2.0 * message_flits * above / left;
        let contention = shared * message_flits / (left * (1.0 - shared));
        // S = M + 2 e
        let held = message_flits + interruptions + contention;
        let wait = channel_wait(own, message_flits, self.virtual_channels, held)?;
        Ok(BestEffortLatency {
            pipeline: self.pipeline_stages,
            transfer: message_flits,
            interruptions,
            contention,
            channel_wait: wait.cycles,
            channel_load: wait.held_share,
        })
    }
}

/// A link of a path of best effort, as the lowest level sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkBelow {
    /// `R`: load of the levels above \[flits/cycle\].
    pub above: f64,
    /// `B`: load of the level \[flits/cycle\].
    pub level: f64,
    /// `1 - Σ w_i²`: probability that two messages of the link come from different inputs; 1 at an interface.
    pub contended: f64,
}

/// Share of the work of even streams above that waits of best effort show, measured*: they come more evenly than
/// Poisson messages, of which it is 1. Of 14 points with streams of half the load and more .55 to .85.
pub const EVEN: f64 = 0.7;
/// Share of the wait for a virtual channel that is over before the header comes to the router, measured*: .30 to .38.
/// It moves in when the message in front of it begins to cross, and waits there for the rest.
const BEFORE_THE_LANE: f64 = 1.0 / 3.0;

/// A path of best effort: the link of its interface and those behind routers.
///
/// At the interface it is preemptive-resume M/D/1. Behind a router flits go in the order in which they came, so that
/// messages from different inputs alternate: *processor sharing*, twice the wait of M/D/1, of what a greedy matching
/// leaves. Messages of one input have been put in order before; interruptions and waits count with the probability
/// that two come from different ones.
///
/// ```text
/// S        M + M R / (1 - R) + Σ_links (1 - Σ w²) [M R / (1 - R) + s M / ((1 - R) (1 - s))],   s = x / c
/// network  P - 1 + P h + S + 2/3 q S / (2 (1 - q))
/// waiting  1 + x M / (2 (1 - R) (1 - x)) + 1/3 q S / (2 (1 - q)),   x = R + B
/// ```
///
/// How good it is. Simulated, 33 points at loads of .3 to .8, 4 to 16 ports: median 4 %, worst 14 %.
#[derive(Clone, Debug, PartialEq)]
pub struct BestEffortPath {
    /// Load of the class at its node \[flits/cycle\].
    pub load: f64,
    /// `r_B`: virtual channels of the class.
    pub virtual_channels: f64,
    /// `M` \[flits\].
    pub message_flits: f64,
    /// Share of the work above that waits show: 1 of Poisson messages, [`EVEN`] of even streams.
    pub shown: f64,
    /// Whether the interface sends whole messages, which have waited before they are here.
    pub is_by_message: bool,
    /// That of the interface first.
    pub links: Vec<LinkBelow>,
}

/// What a message of a [`BestEffortPath`] takes longer than one alone \[cycles\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BelowLatency {
    /// By the levels above while it is sent, at all links.
    pub interruptions: f64,
    /// By its own level behind routers.
    pub contention: f64,
    /// At the interface until its first flit is sent.
    pub link_wait: f64,
    /// For a virtual channel, at the interface.
    pub channel_wait: f64,
    /// For a virtual channel, in the lane of the router.
    pub lane_wait: f64,
    /// `q`: share of the time that a virtual channel is held.
    pub channel_load: f64,
}

impl BestEffortPath {
    /// Mean latency.
    ///
    /// # Errors
    /// Where a link, the crossbar or the virtual channels are saturated.
    pub fn latency(&self) -> Result<BelowLatency, Saturated> {
        let flits = self.message_flits;
        let (mut interruptions, mut contention, mut link_wait) = (0.0, 0.0, 0.0);
        for (place, link) in self.links.iter().enumerate() {
            let left = 1.0 - steady(Part::Link, link.above)?;
            let (load, work) = (link.above + link.level, self.shown * link.above + link.level);
            // M R / (1 - R)
            let interrupted = flits * link.above / left;
            if place > 0 {
                let shared = steady(Part::Crossbar, load / MATCHED)?;
                interruptions += link.contended * interrupted;
                // twice s M / (2 (1 - R) (1 - s))
                contention += link.contended * work / MATCHED * flits / (left * (1.0 - shared));
            } else if !self.is_by_message {
                interruptions += interrupted;
                // x M / (2 (1 - R) (1 - x))
                link_wait = work * flits / (2.0 * left * (1.0 - steady(Part::Link, load)?));
            }
        }
        let held = flits + interruptions + contention;
        let wait = channel_wait(self.load, flits, self.virtual_channels, held)?;
        Ok(BelowLatency {
            interruptions,
            contention,
            link_wait,
            channel_wait: BEFORE_THE_LANE * wait.cycles,
            lane_wait: (1.0 - BEFORE_THE_LANE) * wait.cycles,
            channel_load: wait.held_share,
        })
    }
}

/// Least possible mean total latency over all messages of a single router, in any order of service, for Poisson
/// messages of one length and a load `x < 1` of a node \[cycles\]. Proven: at the link of the interface first come,
/// first served is shortest remaining time first, which has the least mean (Schrage, Operations Research 16 (1968)
/// 687-690).
///
/// ```
/// use flitwise_models::router_nic::least_mean_latency;
///
/// assert_eq!(least_mean_latency(0.75, 40.0, 5.0), Some(105.0));
/// assert_eq!(least_mean_latency(1.0, 40.0, 5.0), None); // saturated
/// ```
pub fn least_mean_latency(load: f64, message_flits: f64, pipeline_stages: f64) -> Option<f64> {
    let link = Md1 { rate: load / message_flits, mean: message_flits };
    // P + M + M x / (2 (1 - x))
    link.measures().reached().map(|means| pipeline_stages + means.mean_response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::{Customers, PreemptiveResume};
    use crate::router_nic::{RealTimePath, assert_digits, assert_near};

    fn total(class: TwoLinks) -> f64 {
        class.latency().unwrap().total()
    }

    #[test]
    fn best_effort_has_the_digits_written_down() {
        for (above, own, channels, expected) in
            [(0.1, 0.1, 7.0, "66.9191"), (0.3, 0.3, 7.0, "208.3172"), (0.48, 0.12, 12.0, "271.9766")]
        {
            assert_digits(total(TwoLinks::best_effort(above, own, channels)), expected);
        }
    }

    /// At .8 in a traditional router, without header flits of real time: best effort of a share of 80 % has 418 cycles
    /// (measured* 386 ± 8); real time of 50 % saturates in its three virtual channels.
    #[test]
    fn a_traditional_router_has_the_digits_written_down() {
        assert_digits(total(TwoLinks::traditional(0.64, 0.16, 12.0)), "418");
        let saturated = TwoLinks::traditional(0.4, 0.4, 3.0).latency().unwrap_err();
        assert_eq!(
            (saturated.part, format!("{:.2}", saturated.load)),
            (Part::VirtualChannels, "1.02".to_owned())
        );
        // who sends what does not matter, but for the virtual channels
        let of = |own: f64| TwoLinks::traditional(own, 0.6 - own, 1e9);
        assert_near(total(of(0.1)), total(of(0.5)), 1e-6);
    }

    /// With a perfect matching it is the textbook station twice.
    #[test]
    fn links_are_preemptive_resume_stations() {
        let (above, own) = (0.4, 0.3);
        let class = TwoLinks { matched: 1.0, ..TwoLinks::best_effort(above, own, 1e12) };
        let customers = [above, own].map(|load| Customers::new(load / 40.0, 40.0, 0.0));
        let station = PreemptiveResume { classes: customers.to_vec() };
        let wait = station.measures()[1].reached().unwrap().mean_wait;
        assert_near(total(class), 45.0 + 2.0 * wait, 1e-12);
    }

    #[test]
    fn parts_add_up_and_rise_with_either_load() {
        let idle = TwoLinks::best_effort(0.0, 0.0, 7.0).latency().unwrap();
        assert_eq!((idle.total(), idle.channel_load), (45.0, 0.0));
        let along =
            |of: fn(f64) -> TwoLinks| (0..9).map(|tenth| total(of(f64::from(tenth) / 20.0))).is_sorted();
        assert!(along(|load| TwoLinks::best_effort(load, 0.4, 7.0)));
        assert!(along(|load| TwoLinks::best_effort(0.4, load, 7.0)));
        assert!(along(|load| TwoLinks::traditional(0.4, load, 7.0)));
        let part = |class: TwoLinks| class.latency().unwrap_err().part;
        assert_eq!(part(TwoLinks::best_effort(1.0, 0.1, 7.0)), Part::Link);
        assert_eq!(part(TwoLinks::best_effort(0.5, 0.45, 7.0)), Part::Crossbar);
        assert_eq!(part(TwoLinks::best_effort(0.4, 0.4, 1.0)), Part::VirtualChannels);
    }

    /// The mean over both classes is never below the bound.
    #[test]
    fn no_order_of_service_beats_the_bound() {
        for load in [0.1, 0.3, 0.5, 0.7, 0.8] {
            let bound = least_mean_latency(load, 40.0, 5.0).unwrap();
            for share in [0.2, 0.5, 0.8] {
                let (real_time, own) = (load * share, load * (1.0 - share));
                let first = RealTimePath::router(real_time, 12.0).latency().unwrap().total();
                let mean = share * first + (1.0 - share) * total(TwoLinks::best_effort(real_time, own, 12.0));
                assert!(mean >= bound, "{load} {share}: {mean} < {bound}");
            }
        }
    }

    /// Simulated: 8 ports, 12 virtual channels of best effort beside Poisson messages of real time.
    #[test]
    fn a_path_is_as_near_to_the_simulation_as_said() {
        let link = |above, level, contended| LinkBelow { above, level, contended };
        for (above, load, network, waiting) in [
            (0.06, 0.24, 65.6, 10.2),
            (0.24, 0.06, 87.9, 12.6),
            (0.14, 0.56, 201.8, 64.2),
            (0.56, 0.14, 419.6, 117.4),
        ] {
            let path = BestEffortPath {
                load,
                virtual_channels: 12.0,
                message_flits: 40.0,
                shown: 1.0,
                is_by_message: false,
                links: vec![link(above, load, 1.0), link(above, load, 0.875)],
            };
            let found = path.latency().unwrap();
            assert_near(44.0 + found.interruptions + found.contention + found.lane_wait, network, 0.04);
            assert_near(1.0 + found.link_wait + found.channel_wait, waiting, 0.04);
            // calmer above, and whole messages wait before they are here
            let calm = BestEffortPath { shown: EVEN, ..path.clone() }.latency().unwrap();
            assert!(calm.contention < found.contention && calm.link_wait < found.link_wait);
            let whole = BestEffortPath { is_by_message: true, ..path }.latency().unwrap();
            assert!(whole.link_wait == 0.0 && whole.interruptions < found.interruptions);
        }
        let full = |above, level| BestEffortPath {
            load: level,
            virtual_channels: 12.0,
            message_flits: 40.0,
            shown: 1.0,
            is_by_message: false,
            links: vec![link(above, level, 1.0), link(above, level, 0.875)],
        };
        assert_eq!(full(0.5, 0.45).latency().unwrap_err().part, Part::Crossbar);
        assert_eq!(full(0.5, 0.55).latency().unwrap_err().part, Part::Link);
    }
}
