//! Values of the equations' symbols, from the record and the answer of one solve.

use flitwise_models::answer::{ChannelAnswer, ClassAnswer};
use flitwise_models::published::{ClassRecord, PathRecord, RealTimeLoad, SourceWait};

use super::Subject;
use crate::explain::formula::Values;

/// Names of indices, and what they stand for.
pub(super) type Names = Vec<(&'static str, String)>;

pub(super) fn is_silent(path: &PathRecord) -> bool {
    path.accepted_rate == 0.0
}

impl Subject<'_> {
    /// Of a class as a whole.
    pub(super) fn of_class(&self, class: &ClassRecord) -> Values {
        let answer = self.answer.map(|answer| &answer.classes[class.class]);
        let known = |of: fn(&ClassAnswer) -> Option<f64>| answer.and_then(of).unwrap_or(f64::NAN);
        let (latency, lone) = (known(|of| of.network_latency_cycles), class.lone_latency.unwrap_or(f64::NAN));
        let mut values = Values::of([
            ("P", self.record.stages),
            ("b", class.buffering.buffer_flits),
            ("M_{c}", class.buffering.message_flits),
            ("m_{c}", class.buffering.room()),
            ("λ_{c}^{g}", class.offered_rate),
            ("V_{c}", class.vtick.unwrap_or(f64::NAN)),
            ("L_{c}", latency),
            ("S_{c}", known(|of| of.cycles_per_flit)),
            ("transfer_{c}", known(|of| of.transfer_cycles)),
            ("blocking_{c}", known(|of| of.blocking_cycles)),
            ("sharing_{c}", known(|of| of.sharing_cycles)),
            ("T_{c}", lone),
            ("δ_{c}^{2}", SourceWait::variance(latency, lone)),
            ("u_{c}", known(|of| of.source_load)),
            ("W_{c}", known(|of| of.waiting_cycles)),
            ("Latency_{c}", known(|of| of.total_latency_cycles)),
        ]);
        if let Some(blocking) = class.blocking {
            values = values.with([
                ("P_{b,c}", blocking.probability),
                ("λ'_{c}", blocking.accepted_rate),
                ("B_{c}", blocking.length),
            ]);
        }
        let (Some(path), Some(cube)) = (&class.path, &self.record.cube) else { return values };
        let n = cube.routes.dimension();
        values = values.with([
            ("n", n as f64),
            ("h", cube.routes.mean_hops()),
            ("P_{1}", cube.routes.share_of_hops(1)),
            ("λ_{c}", path.accepted_rate),
            ("P_{b,c}^{n}", path.probabilities[n]),
            ("O_{c}", path.ejection),
        ]);
        let channels = self.channels(class);
        let of_answer = channels.get(n).map(|ejection| {
            [
                ("λ_{c,s}", channels[0].rate_messages_per_cycle),
                ("S_{c,n}", ejection.cycles_per_flit),
                ("L_{c,n}", ejection.latency_cycles),
            ]
        });
        values.with(of_answer.into_iter().flatten())
    }

    /// Of a class where a rate is divided by a rate: of a silent one the shares that it would have stand for them.
    fn by_shares(&self, class: &ClassRecord) -> Values {
        let silent = class.path.as_ref().is_some_and(is_silent);
        self.of_class(class).with(silent.then_some(("λ_{c}", 1.0)))
    }

    /// Of channel `s` of a hypercube, or of the ejection channel, alone.
    fn channel(&self, class: &ClassRecord, s: usize) -> Values {
        let (Some(path), Some(cube)) = (&class.path, &self.record.cube) else { return Values::default() };
        let n = cube.routes.dimension();
        let channel = &self.channels(class)[s];
        let values = Values::of([
            ("L_{c,s}", channel.latency_cycles),
            ("λ_{c,s}", channel.rate_messages_per_cycle),
            ("P_{b,c}^{s}", path.probabilities[s]),
        ]);
        if s == n {
            return values;
        }
        let later = |j: usize| {
            vec![
                ("P_{b,c}^{j}", path.probabilities[j]),
                ("d_{c,j}", path.middle[j].delay),
                ("H_{j,s}", cube.middle.met_later(s, j)),
                ("G_{j,s}", cube.middle.crossed_later(s, j)),
            ]
        };
        let values = values.with([
            ("h_{s}", cube.routes.mean_hops_from(s)),
            ("f_{s}", cube.shares_started[s]),
            ("λ_{c,s}^{first}", channel.started_rate_messages_per_cycle),
            ("I_{c,s}", channel.blocking_length_flits),
            ("S_{c,s}", class.cycles_per_flit[s]),
            ("S_{c,n}", class.cycles_per_flit_at_ejection[s]),
            ("Pt_{s}", 1.0 - cube.middle.goes_on(s)),
            ("d_{c,s}", path.middle[s].delay),
            ("K_{c,s}", path.middle[s].chained),
            ("Bmid_{c,s}", path.middle[s].flits),
        ]);
        values.and("j > s", (s + 1..n).map(later))
    }

    /// As [`Self::channel`], by shares of a silent class.
    fn first_channel(&self, class: &ClassRecord, s: usize) -> Values {
        let silent = class.path.as_ref().filter(|path| is_silent(path));
        let share = silent.map(|path| ("λ_{c,s}^{first}", path.shares_started[s]));
        self.channel(class, s).with(share)
    }

    /// Of a class on a channel of a hypercube, the ejection channel last.
    pub(super) fn on_channel(&self, class: &ClassRecord, s: usize) -> Values {
        self.channel(class, s).and_outside(self.of_class(class))
    }

    /// The same by shares of a silent class.
    pub(super) fn on_first_channel(&self, class: &ClassRecord, s: usize) -> Values {
        self.first_channel(class, s).and_outside(self.by_shares(class))
    }

    /// Of a class, with the terms of sums over its first channels.
    pub(super) fn along(&self, class: &ClassRecord) -> Values {
        let n = self.channels(class).len().saturating_sub(1);
        self.by_shares(class).and("s", (0..n).map(|s| self.first_channel(class, s).symbols))
    }

    /// Of best effort on channel `s` of a hypercube, where it meets `loads`.
    pub(super) fn of_best_effort(&self, class: &ClassRecord, s: usize, loads: &[RealTimeLoad]) -> Values {
        let (Some(path), message) = (&class.path, class.buffering.message_flits) else {
            return Values::default();
        };
        let (load, at_ejection) = (loads[s], loads[loads.len() - 1]);
        let (share, middle) = (class.cycles_per_flit[s], path.middle[s].flits);
        Values::of([
            ("M_{C}", message),
            ("ρ_{s}", load.busy()),
            ("π_{∅,s}", load.idle),
            ("Busy_{s}", load.busy_period()),
            ("S_{C,s}", share),
            ("Bmid_{C,s}", middle),
            ("M_{s}", RealTimeLoad::spread(message, share, middle)),
            ("ρ_{n}", at_ejection.busy()),
            ("π_{∅,n}", at_ejection.idle),
            ("Busy_{n}", at_ejection.busy_period()),
            ("S_{C,n}^{s}", class.cycles_per_flit_at_ejection[s]),
        ])
    }

    /// The class on each channel of its answer.
    fn channels(&self, class: &ClassRecord) -> &[ChannelAnswer] {
        let answer = self.answer.map(|answer| &answer.classes[class.class]);
        answer.and_then(|answer| answer.per_channel.as_deref()).unwrap_or_default()
    }

    pub(super) fn names(&self, class: &ClassRecord) -> Names {
        vec![("c", self.name(class.class))]
    }

    pub(super) fn names_on(&self, class: &ClassRecord, s: usize) -> Names {
        vec![("c", self.name(class.class)), ("s", s.to_string())]
    }
}
