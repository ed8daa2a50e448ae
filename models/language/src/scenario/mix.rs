//! `[mix]`: one load for several classes, and how the loads of classes become rates and numbers of streams.

use super::class::labels;
use super::declare::*;
use super::{ClassKind, ClassSpec, ScenarioSpec, Switching};
use crate::document::in_short;

table! {
    /// One load for several classes, each of which takes a share of it.
    #[derive(Copy)]
    pub struct MixSpec {
        /// Load of all classes that have a share.
        load: f64 ["of a link"] = 0.0, within(1e-9, 64.0).or_zero().wanted().magnitude(Magnitude::Flow);
    }
}

impl Rules for MixSpec {}

/// How far from 1 a sum of shares may be.
const ROUNDING: f64 = 1e-9;

impl ClassSpec {
    /// Whether it says itself how much it sends.
    fn has_load_of_its_own(&self) -> bool {
        self.rate > 0.0 || self.load.is_some() || self.source.streams().is_some()
    }

    /// What it sends in more than one way, each a key with what stands there.
    fn loads(&self) -> Vec<(&'static str, String)> {
        let given = [
            ("rate", Some(self.rate).filter(|rate| *rate > 0.0)),
            ("load", self.load),
            ("share", self.share),
            ("source.streams", self.source.streams().map(f64::from)),
        ];
        given.into_iter().filter_map(|(key, value)| Some((key, in_short(value?)))).collect()
    }

    /// Refuses a load that is given twice, or not at all where there are frames.
    pub(super) fn load_rules(&self, path: &str, door: &mut Door) {
        let mut loads = self.loads();
        if self.source.streams().is_some() && self.rate > 0.0 {
            // it follows from the streams, as `ScenarioSpec::check_loads` sees
            loads.retain(|(key, _)| *key != "rate");
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
        if self.mix.is_none() {
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

    /// Puts rates and numbers of streams in the place of loads and shares; whether there was anything to settle.
    ///
    /// Wants a scenario without a fault.
    pub(super) fn settle_loads(&mut self) -> bool {
        let flit_bits = self.units.as_ref().and_then(|units| units.flit_bits).map(f64::from);
        let mix = self.mix.take();
        let left = 1.0 - self.classes.iter().filter_map(|class| class.share).sum::<f64>();
        let lanes: u32 = self.classes.iter().map(|class| class.virtual_channels).sum();
        let lanes = self.router.virtual_channels.unwrap_or(lanes);
        let mut is_changed = mix.is_some();
        let has_circuits = self.router.switching == Switching::PipelinedCircuit;
        let comes_and_goes = self.has_coming_circuits().then_some(0.0);
        for class in &mut self.classes {
            let rest = || Some(left.max(0.0)).filter(|_| !class.has_load_of_its_own());
            let of_mix = mix.and_then(|mix| Some(mix.load * class.share.or_else(rest)?));
            let load = class.load.or(of_mix);
            is_changed |= load.is_some() || class.source.has_frames();
            (class.load, class.share) = (None, None);
            if has_circuits {
                class.source.leave_out_headers();
            }
            class.source.settle(load.or(comes_and_goes), lanes, flit_bits);
            if let Some(frames) = class.frames(flit_bits) {
                class.rate = frames.message_rate();
                // S9, but where every frame has a Vtick of its own
                let own = Some(1.0 / frames.flit_rate()).filter(|vtick| vtick.is_finite());
                let is_wanted = class.kind == ClassKind::RealTime
                    && self.switch.is_none()
                    && !self.router.scheduler.is_fine_grained();
                class.vtick = class.vtick.or(own.filter(|_| is_wanted));
            } else if let Some(load) = load {
                class.rate = load / f64::from(class.message_flits);
            }
        }
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
