//! `[mix]`: one load for several classes, and how the loads of classes become rates and numbers of streams.

use super::class::{MAX_TIME, labels};
use super::declare::*;
use super::phases::real_time_channels;
use super::{ClassKind, ClassSpec, PhaseSetting, PhaseSpec, ScenarioSpec, Switching};
use crate::document::in_short;

table! {
    /// One load for several classes, each of which takes a share of it.
    pub struct MixSpec {
        /// Load of all classes that have a share.
        load: f64 ["of a link"] = 0.0, within(1e-9, 64.0).or_zero().wanted().magnitude(Magnitude::Flow);
        /// Share of the real-time class, where the best-effort class takes the rest; several are phases of a run.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        real_time_shares: Vec<f64> = Vec::new(), within(0.0, 1.0).example("[0.2, 0.5, 0.8]");
        /// Length of each of these phases.
        #[serde(skip_serializing_if = "Option::is_none")]
        duration: Option<f64> ["cycles"] = None, within(1.0, MAX_TIME).magnitude(Magnitude::Time);
    }
}

impl Rules for MixSpec {}

/// How far from 1 a sum of shares may be.
const ROUNDING: f64 = 1e-9;

impl ClassSpec {
    /// Whether it says itself how much it sends.
    fn has_load_of_its_own(&self) -> bool {
        self.rate > 0.0
            || self.load.is_some()
            || self.source.streams().is_some()
            || self.connections.is_some_and(|one| one.count.is_some() || one.erlangs.is_some())
            || self.is_traced()
            || self.destination.has_rates()
    }

    /// What it sends in more than one way, each a key with what stands there.
    fn loads(&self) -> Vec<(&'static str, String)> {
        let given = [
            ("rate", Some(self.rate).filter(|rate| *rate > 0.0)),
            ("load", self.load),
            ("share", self.share),
            ("source.streams", self.source.streams().map(f64::from)),
            ("connections.count", self.connections.and_then(|one| one.count).map(f64::from)),
            ("connections.erlangs", self.connections.and_then(|one| one.erlangs)),
        ];
        given.into_iter().filter_map(|(key, value)| Some((key, in_short(value?)))).collect()
    }

    /// Refuses a load that is given twice, or not at all where there are frames.
    pub(super) fn load_rules(&self, path: &str, door: &mut Door) {
        let mut loads = self.loads();
        if (self.source.streams().is_some() || self.connections.is_some()) && self.rate > 0.0 {
            // it follows from the streams or connections, as the scenario's rules see
            loads.retain(|(key, _)| *key != "rate");
        }
        if self.connections.is_some() {
            // each connection is a stream
            loads.retain(|(key, _)| *key != "source.streams");
        }
        for (key, found) in loads.iter().skip(1) {
            let wanted = format!("none beside {}", loads[0].0);
            door.refuse(&format!("{path}.{key}"), found.clone(), &wanted, None);
        }
    }
}

impl ScenarioSpec {
    /// Refuses shares that are no parts of a mix, and classes that send nobody knows how much.
    pub(super) fn mix_rules(&self, door: &mut Door) {
        let names: Vec<&str> = self.classes.iter().map(|class| class.name.as_str()).collect();
        let labelled = || self.classes.iter().zip(labels(&names));
        let shares: f64 = self.classes.iter().filter_map(|class| class.share).sum();
        let Some(mix) = &self.mix else {
            for (class, label) in labelled() {
                if let Some(share) = class.share {
                    let help = Some("add  [mix]  with  load = 0.8, or give the class a load");
                    let wanted = "a table [mix], whose load it is a share of";
                    door.refuse(&format!("{label}.share"), in_short(share), wanted, help);
                } else if class.source.has_frames() && class.loads().is_empty() && !self.has_coming_circuits()
                {
                    let wanted = "source.streams, or load of the class";
                    door.refuse(&label, "no number of streams".to_owned(), wanted, None);
                }
            }
            return;
        };
        if !mix.real_time_shares.is_empty() {
            self.shares_rules(mix, door);
            return;
        }
        if let Some(duration) = mix.duration {
            let wanted = "none without real_time_shares, whose phases it is the length of";
            door.refuse("mix.duration", in_short(duration), wanted, None);
        }
        let without =
            || labelled().filter(|(class, _)| class.share.is_none() && !class.has_load_of_its_own());
        let left = 1.0 - shares;
        if self.classes.iter().all(|class| class.share.is_none()) {
            let wanted = "a share of the load in a class";
            door.refuse(
                "mix",
                "no class with a share".to_owned(),
                wanted,
                Some("write share = 0.8 in a class"),
            );
        } else if without().count() > 1 {
            for (_, label) in without().skip(1) {
                let wanted = "a share, or a rate of its own: one class may take the rest of [mix]";
                door.refuse(&label, "no share".to_owned(), wanted, None);
            }
        } else if left < -ROUNDING || (left > ROUNDING && without().count() == 0) {
            let found = format!("shares that sum to {}", in_short(shares));
            door.refuse("mix", found, "shares of all classes that sum to 1", None);
        }
    }

    /// The real-time and the best-effort class of a mix, if there is one of each.
    fn pair(&self) -> Option<[usize; 2]> {
        let only = |kind| {
            let mut of_kind = (0..self.classes.len()).filter(|class| self.classes[*class].kind == kind);
            of_kind.next().filter(|_| of_kind.next().is_none())
        };
        Some([only(ClassKind::RealTime)?, only(ClassKind::BestEffort)?])
    }

    /// Refuses shares of a mix that are no phases of this system.
    fn shares_rules(&self, mix: &MixSpec, door: &mut Door) {
        let shares = &mix.real_time_shares;
        let names: Vec<&str> = self.classes.iter().map(|class| class.name.as_str()).collect();
        let labels = labels(&names);
        if !self.phases.is_empty() {
            let wanted = "none beside [[phase]] tables, which say the same";
            door.refuse("mix.real_time_shares", "a list".to_owned(), wanted, None);
        }
        if shares.len() > 1 {
            for (at, share) in shares.iter().enumerate().filter(|(_, share)| !(1e-9..1.0).contains(*share)) {
                let key = format!("mix.real_time_shares[{}]", at + 1);
                door.refuse(&key, in_short(*share), "a share between 0 and 1 in a run with phases", None);
            }
            if mix.duration.is_none() && door.is_read("mix.duration") {
                let help = Some("add duration = \"10 frames\" or a number of cycles");
                door.refuse("mix.duration", "nothing".to_owned(), "the length of each phase", help);
            }
        }
        let Some(pair) = self.pair() else {
            let of_kind = |kind| self.classes.iter().filter(|class| class.kind == kind).count();
            let (real_time, best_effort) = (of_kind(ClassKind::RealTime), of_kind(ClassKind::BestEffort));
            let found = format!("{real_time} real-time and {best_effort} best-effort classes");
            door.refuse("mix.real_time_shares", found, "one of each, which share the load", None);
            return;
        };
        for class in pair {
            let loads = self.classes[class].loads();
            for (key, found) in loads {
                let wanted = "none beside real_time_shares, which say what the class sends";
                let key = format!("{}.{key}", labels[class]);
                door.refuse(&key, found, wanted, Some("remove the line"));
            }
        }
        let (lanes, others) = self.lanes_of_pair(pair);
        if lanes.is_none() && self.router.virtual_channels.is_none() {
            let wanted = "virtual channels of a port, which the classes share as the load";
            let help = Some("add virtual_channels = 16 under [router], or to both classes");
            door.refuse("router.virtual_channels", "nothing".to_owned(), wanted, help);
        } else if let Some(given) = self.router.virtual_channels.filter(|given| *given < others + 2) {
            let wanted = format!("{} or more: one for each class", others + 2);
            door.refuse("router.virtual_channels", given.to_string(), &wanted, None);
        }
    }

    /// Virtual channels of the classes of a mix, if they are given, and those of all others.
    fn lanes_of_pair(&self, pair: [usize; 2]) -> (Option<[u32; 2]>, u32) {
        let own = pair.map(|class| self.classes[class].virtual_channels);
        let others = (0..self.classes.len()).filter(|class| !pair.contains(class));
        let others = others.map(|class| self.classes[class].virtual_channels).sum();
        (Some(own).filter(|own| *own != [1, 1]), others)
    }

    /// Puts shares of classes, virtual channels and phases in the place of the shares of a mix.
    fn settle_shares(&mut self) {
        let Some(pair) = self.pair() else { return };
        let (lanes, others) = self.lanes_of_pair(pair);
        let flit_bits = self.units.as_ref().and_then(|units| units.flit_bits).map(f64::from);
        let Some(mix) = &mut self.mix else { return };
        let shares = std::mem::take(&mut mix.real_time_shares);
        let (Some(first), load) = (shares.first().copied(), mix.load) else { return };
        let duration = mix.duration.take();
        if let (None, Some(given)) = (lanes, self.router.virtual_channels) {
            let lanes = given.saturating_sub(others);
            let real_time = real_time_channels(lanes as usize, first) as u32;
            self.classes[pair[0]].virtual_channels = real_time;
            self.classes[pair[1]].virtual_channels = lanes - real_time;
        }
        let [real_time, best_effort] = pair.map(|class| &self.classes[class]);
        let phase = |share: f64| {
            let mut set = vec![
                real_time.sent_at(share * load, flit_bits),
                best_effort.sent_at((1.0 - share) * load, flit_bits),
            ];
            // as a table is read
            set.sort_by_key(PhaseSetting::path);
            PhaseSpec { duration: duration.unwrap_or(1.0), real_time_share: Some(share), set }
        };
        if duration.is_some() {
            self.phases = shares.iter().map(|share| phase(*share)).collect();
        }
        self.classes[pair[0]].share = Some(first);
        self.classes[pair[1]].share = Some(1.0 - first);
    }

    /// Puts rates and numbers of streams in the place of loads and shares; whether there was anything to settle.
    ///
    /// Wants a scenario without a fault.
    pub(super) fn settle_loads(&mut self) -> bool {
        let flit_bits = self.units.as_ref().and_then(|units| units.flit_bits).map(f64::from);
        self.settle_shares();
        let mix = self.mix.take();
        let left = 1.0 - self.classes.iter().filter_map(|class| class.share).sum::<f64>();
        let lanes: u32 = self.classes.iter().map(|class| class.virtual_channels).sum();
        let lanes = self.router.virtual_channels.unwrap_or(lanes);
        let mut is_changed = mix.is_some();
        let network = self.network.topology();
        let has_circuits = self.router.switching == Switching::PipelinedCircuit;
        let comes_and_goes = self.has_coming_circuits().then_some(0.0);
        for class in &mut self.classes {
            let rest = || Some(left.max(0.0)).filter(|_| !class.has_load_of_its_own());
            let of_mix = mix.as_ref().and_then(|mix| Some(mix.load * class.share.or_else(rest)?));
            let load = class.load.or(of_mix);
            is_changed |= load.is_some() || class.source.has_frames();
            (class.load, class.share) = (None, None);
            if has_circuits {
                class.source.leave_out_headers();
            }
            is_changed |= class.settle_connections(load, flit_bits);
            class.source.settle(load.or(comes_and_goes), lanes, flit_bits);
            if let Some(frames) = class.frames(flit_bits) {
                class.rate = frames.message_rate();
                // S9, but where every frame has a Vtick of its own
                let own = Some(1.0 / frames.flit_rate()).filter(|vtick| vtick.is_finite());
                let is_wanted = class.kind == ClassKind::RealTime
                    && self.switch.is_none()
                    && !self.router.scheduler.is_fine_grained();
                class.vtick = class.vtick.or(own.filter(|_| is_wanted));
            } else if let Some(load) = load.filter(|_| class.connections.is_none()) {
                class.rate = load / f64::from(class.message_flits);
            }
            if class.destination.has_rates() {
                class.rate = class.destination.on(&*network).mean_rate().unwrap_or(0.0);
                is_changed = true;
            }
        }
        is_changed |= self.settle_phases();
        if self.router.virtual_channels.is_some_and(|given| {
            given == self.classes.iter().map(|class| class.virtual_channels).sum::<u32>()
        }) {
            self.router.virtual_channels = None;
        }
        is_changed
    }

    /// Refuses rates beside frames that do not follow from them, streams for which there is no room, and virtual
    /// channels that are fewer than those of the classes.
    pub(super) fn frame_rules(&self, door: &mut Door) {
        let flit_bits = self.units.as_ref().and_then(|units| units.flit_bits).map(f64::from);
        let lanes: u32 = self.classes.iter().fold(0, |sum, class| sum.saturating_add(class.virtual_channels));
        if let Some(given) = self.router.virtual_channels.filter(|given| *given < lanes) {
            let wanted = format!("at least {lanes}, those of all classes together");
            door.refuse("router.virtual_channels", given.to_string(), &wanted, None);
        }
        let names: Vec<&str> = self.classes.iter().map(|class| class.name.as_str()).collect();
        for (class, label) in self.classes.iter().zip(labels(&names)) {
            if !class.source.has_frames() || door.has_refused(&label) {
                continue;
            }
            class.source.frame_rules(class, flit_bits, &format!("{label}.source"), door);
            let Some(frames) = class.frames(flit_bits).filter(|_| class.rate > 0.0) else { continue };
            let off = (class.rate / frames.message_rate() - 1.0).abs();
            if off.is_nan() || off > ROUNDING {
                let wanted = "no rate: it follows from the streams and their frames";
                door.refuse(&format!("{label}.rate"), in_short(class.rate), wanted, Some("remove the line"));
            }
        }
    }
}
