//! The kinds of outputs that a class meets, and the queues at each.

use super::super::ecube_paths::{Crossing, EcubePaths, Output};
use super::super::grid::product;
use super::super::law::Law;
use super::super::station::{Around, Arriving, Met, Overloaded, Waits};
use super::input_channel::InChannel;
use super::{Held, OneClass};

/// A kind of output with its queues.
pub(super) struct Station {
    pub(super) met: Met,
    pub(super) around: Around,
    /// Wait behind the own class only: as messages of other inputs come, and directly behind one of the own input.
    pub(super) own: [Law; 2],
    /// `I`: interruptions of a message by others.
    pub(super) interrupted: Law,
}

/// Outputs that are alike: first ones, later channels, and ejection links, by rounded shares.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Like {
    pub(super) first: bool,
    pub(super) last: bool,
    pub(super) contending: f64,
    pub(super) different: f64,
    pub(super) others: f64,
}

impl Like {
    /// Steps of the rounding: most shares in a cube are whole numbers of them.
    const PARTS: [f64; 2] = [16.0, 32.0];

    pub(super) fn new(paths: EcubePaths, output: Output) -> Self {
        let Crossing { contending, different, others } = paths.crossing(output);
        let fine = if paths.dimension() > 4 { 1.0 } else { 4.0 };
        let rounded = |share: f64, parts: f64| (share * parts * fine).round() / fine;
        Self {
            first: output.from.is_none(),
            last: output.to.is_none(),
            contending: rounded(contending, Self::PARTS[0]),
            different: rounded(different, Self::PARTS[1]),
            // hardly ever are more than three of them there
            others: others.min(3.0),
        }
    }

    /// For means alone: first ones where nobody contends and where somebody does, later channels, and ejection links at
    /// which more than about one half of the traffic contends, or less.
    pub(super) fn coarsely(self) -> Self {
        let f = self.crossing().contending;
        let contending = f64::from(u8::from(f > 0.3) + u8::from(self.last && f > 0.6));
        Self { contending, different: 0.0, others: 0.0, ..self }
    }

    pub(super) fn crossing(self) -> Crossing {
        let [contending, different] = Self::PARTS;
        Crossing {
            contending: self.contending / contending,
            different: self.different / different,
            others: self.others,
        }
    }
}

/// What a class meets of itself at an output.
pub(super) struct Contended {
    /// `v`
    pub(super) load: f64,
    /// `C` \[cells\]
    pub(super) completion: f64,
    /// `w`: mean wait in messages.
    pub(super) wait: f64,
    /// `(v_d + I - G)+`
    pub(super) slower: Law,
}

/// All stations of a class.
pub(super) struct Stations {
    pub(super) dimension: u32,
    pub(super) known: Vec<(Like, Station)>,
    /// Which of them an output is, by the channel it is reached from and its own.
    pub(super) places: Vec<usize>,
}

impl Stations {
    pub(super) fn new(dimension: u32) -> Self {
        let channels = dimension as usize + 1;
        Self { dimension, known: Vec::new(), places: vec![0; channels * channels] }
    }

    pub(super) fn index(&self, Output { from, to }: Output) -> usize {
        let channel = |dimension: Option<u32>| dimension.unwrap_or(self.dimension) as usize;
        channel(from) * (self.dimension as usize + 1) + channel(to)
    }

    pub(super) fn place(&self, output: Output) -> usize {
        self.places[self.index(output)]
    }

    /// How often each of the stations is met on a way over these outputs.
    pub(super) fn shares(&self, outputs: &[(f64, Output)]) -> Vec<(f64, usize)> {
        let mut shares = vec![0.0; self.known.len()];
        for (share, output) in outputs {
            shares[self.place(*output)] += share;
        }
        shares.into_iter().zip(0..).filter(|(share, _)| *share > 0.0).collect()
    }

    /// A mean over stations that are met so often.
    pub(super) fn mean(&self, shares: &[(f64, usize)], what: impl Fn(&Station) -> f64) -> f64 {
        shares.iter().map(|(share, at)| share * what(&self.known[*at].1)).sum()
    }
}

impl OneClass<'_> {
    /// Who shares an output with whom, on average over all messages at their first output, at a later channel or at the
    /// ejection link.
    pub(super) fn mean_crossing(&self, first: bool, last: bool) -> Crossing {
        let paths = self.paths;
        paths.mean(match (first, last) {
            (true, _) => paths.first(),
            (_, true) => paths.last(),
            _ => paths.middle(),
        })
    }

    /// The outputs that are taken to be alike.
    pub(super) fn like(&self, output: Output) -> Like {
        let like = Like::new(self.paths, output);
        if self.laws { like } else { like.coarsely() }
    }

    /// Who shares an output with whom, on average over all messages at outputs that are alike.
    pub(super) fn mean_of(&self, like: Like) -> Crossing {
        let outputs = match (like.first, like.last) {
            (true, _) => self.paths.first(),
            (_, true) => self.paths.last(),
            _ => self.paths.middle(),
        };
        let alike: Vec<(f64, Output)> =
            outputs.into_iter().filter(|(_, output)| self.like(*output) == like).collect();
        let all: f64 = alike.iter().map(|(share, _)| share).sum();
        self.paths.mean(alike.into_iter().map(|(share, output)| (share / all, output)))
    }

    /// What a class meets of itself at an output that it loads by `u = λ (M + 1) / (1 - Σ)`, `v = f u` of it over other
    /// inputs than the own.
    ///
    /// An input brings its messages one after another. Who comes at any moment meets the other inputs only: a message
    /// being sent, `v / 2`, or a backlog of them, `v² / 2`, which is worked off at `1 - u`, since more of all inputs
    /// come. The share `(1 - f) u` follows directly behind a message of the own input for the same output. It meets all
    /// that came while that one waited and was sent, none of which has been begun, and what others delayed that one
    /// by on the link beyond the gaps in which it had come, `(v_d + I - G)+`, as far as it left the crossbar, `b` (our own
    /// approximation; M/D/1 for `f = 1`):
    ///
    /// ```text
    /// w_0 = v / 2 + v² / 2 / (1 - u),   w_1 = v (1 + w) + E[(v_d + I - G)+] / C,   C = (M + 1) / (1 - Σ)
    /// w = (1 - (1 - f) u) w_0 + (1 - f) u w_1
    /// ```
    pub(super) fn contended(&self, last: bool, crossing: Crossing, around: &Around) -> Contended {
        let (grid, f) = (self.grid, crossing.contending);
        let link = self.link(last);
        let completion = (self.shape.message + self.shape.idle) / (1.0 - link.load).max(0.02);
        let u = (link.rate * completion).min(0.98);
        let (load, follows) = (f * u, (1.0 - f) * u);
        let alone = load / 2.0 + load * load / 2.0 / (1.0 - u);
        let delayed = grid.sum(&around.set_up, &grid.law(around.in_step.over(grid, self.shape.message)));
        let slower = grid.excess(&delayed, &self.gaps[0]).min(&Law::constant(self.shape.buffer));
        let behind = load + slower.mean() / completion;
        let wait = ((1.0 - follows) * alone + follows * behind) / (1.0 - follows * load);
        Contended { load, completion, wait, slower }
    }

    /// Rate of the own messages that contend for an output, that of a queue M/D/1 of the mean wait:
    /// `l C = 2 w / (1 + 2 w)`; not more than there are.
    pub(super) fn contending_rate(&self, last: bool, crossing: Crossing, contended: &Contended) -> f64 {
        if crossing.contending < 1e-9 {
            return 0.0;
        }
        let Contended { completion, wait, .. } = contended;
        (2.0 * wait / (1.0 + 2.0 * wait) / completion).min(self.link(last).rate)
    }

    /// Waits behind the own class: of those that come at any moment, `P(V > 0) = v`, and directly behind a message of
    /// the own input for the same output: a Poisson number of whole messages, `v (1 + w)` on average, and
    /// `(v_d + I - G)+`.
    pub(super) fn own_waits(
        &self,
        crossing: Crossing,
        around: &Around,
        contended: &Contended,
        met: &Met,
    ) -> [Law; 2] {
        let (grid, m) = (self.grid, self.shape.message);
        let Contended { load, wait, slower, .. } = contended;
        let positive = met.own.positive();
        if crossing.contending < 1e-9 || positive < 1e-12 {
            return [met.own.clone(), Law::zero()];
        }
        let whole = product(&grid.delay(m + self.shape.idle), &around.lagging.over(grid, m));
        let exponent: Vec<_> = whole.iter().map(|z| z - 1.0).collect();
        let came = grid.law(grid.compound(&exponent, load * (1.0 + wait)));
        // of a queue that is loaded by l C
        let alone = load * (1.0 + 2.0 * wait) / (2.0 * wait);
        [met.own.sometimes(alone.min(1.0)), grid.sum(&came, slower)]
    }

    /// Every kind of output on the paths. For means alone they are as the outputs that are alike are on average, and
    /// what is known of first outputs and of typical later ones is made use of.
    pub(super) fn stations(
        &self,
        entering: &Arriving,
        gaps: f64,
        held: &Held,
        first: &Met,
        middle: Option<(Around, Met)>,
    ) -> Result<Stations, Overloaded> {
        let n = self.dimension;
        let arriving_later = self.arriving(gaps);
        let mut stations = Stations::new(n);
        let mut arounds: Vec<((bool, bool, f64), Around)> = Vec::new();
        let mut starts = [None, None];
        if !self.laws {
            starts[0] = Some(&first.waits);
            if let Some((around, met)) = &middle {
                starts[1] = Some(&met.waits);
                arounds.push(((false, false, 1.0), around.clone()));
            }
        }
        for output in self.paths.all_outputs() {
            let like = self.like(output);
            let (at, known) = (stations.index(output), &mut stations.known);
            let place = known.iter().position(|(known, _)| *known == like);
            stations.places[at] = place.unwrap_or(known.len());
            if place.is_some() {
                continue;
            }
            let crossing = if self.laws { like.crossing() } else { self.mean_of(like) };
            let key = (like.first && !self.laws, like.last, like.contending);
            let around = match arounds.iter().find(|(known, _)| *known == key) {
                Some((_, around)) => around.clone(),
                None => {
                    let around = self.around(like.last, crossing);
                    arounds.push((key, around.clone()));
                    around
                }
            };
            let arriving = if like.first { entering } else { &arriving_later };
            let contended = self.contended(like.last, crossing, &around);
            let queues = self.queues(like.last, crossing, &around, &contended, held);
            let before =
                known.iter().rfind(|(known, _)| (known.first, known.last) == (like.first, like.last));
            let known_of = if like.last { None } else { starts[usize::from(!like.first)] };
            let start = before.map(|(_, station)| &station.met.waits).or(known_of);
            let start = start.map_or_else(|| queues.start(), Waits::clone);
            let met = self.meet(&queues, arriving, start).map_err(|over| over.at(like.last))?;
            let own = self.own_waits(crossing, &around, &contended, &met);
            known.push((like, Station { met, around, own, interrupted: Law::zero() }));
        }
        Ok(stations)
    }

    /// `I = K_f^(M - m) K^m`: others interrupt the `m` flits that lag at full rate, the rest as far as they come over
    /// other inputs.
    pub(super) fn interrupt(&self, stations: &mut Stations, in_channel: &[InChannel]) {
        let wait =
            in_channel.iter().map(|channel| channel.mean).sum::<f64>() / in_channel.len().max(1) as f64;
        for (like, station) in &mut stations.known {
            let Around { set_up, in_step, lagging, .. } = &station.around;
            let wait = if like.first { 0.0 } else { wait };
            let late = (station.met.own.mean() + wait + set_up.mean()).min(self.shape.message);
            station.interrupted = self.grid.law(product(
                &in_step.over(self.grid, self.shape.message - late),
                &lagging.over(self.grid, late),
            ));
        }
    }
}
