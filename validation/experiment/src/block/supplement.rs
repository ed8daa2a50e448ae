//! What only some scenarios have measured: frames, deadlines, interfaces, preemption, phases, control.

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Saturation;
use crate::activity::ActivityLook;
use crate::by_phase::{HostSums, PhaseRecord};
use crate::control::ControlRecord;
use crate::frames::{FrameTally, WindowTally};

/// Stands last in a block: of what there is not nothing is kept on disk.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Supplement {
    /// By replication and class: frames of a steady state.
    pub(crate) frames: Vec<Vec<FrameTally>>,
    /// By replication; empty where there is nothing but frames.
    pub(crate) replications: Vec<FurtherRecord>,
    /// By phase and class: why it is saturated.
    pub(crate) saturated: Vec<Vec<Option<Saturation>>>,
    /// By replication: admission, congestion and power control; empty where there is none.
    pub(crate) control: Vec<ControlRecord>,
}

/// What one replication has measured beside messages and intervals of frames.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FurtherRecord {
    /// By class: frames that begin behind the warm-up; empty without deadlines and phases.
    pub(crate) frames: Vec<WindowTally>,
    /// By batch and class; empty without interfaces and preemption.
    pub(crate) host: Vec<Vec<HostSums>>,
    /// Behind the warm-up.
    pub(crate) activity: Vec<ActivityLook>,
    pub(crate) phases: Vec<PhaseRecord>,
}

impl FurtherRecord {
    /// By class: intervals of all frames that are measured.
    pub(crate) fn intervals(&self) -> Vec<FrameTally> {
        self.frames.iter().map(|one| one.intervals.clone()).collect()
    }

    fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.host.is_empty() && self.phases.is_empty()
    }

    fn fits(&self, classes: usize) -> bool {
        let is_of_phase = |one: &PhaseRecord| one.messages.len() == classes && one.frames.len() == classes;
        [0, classes].contains(&self.frames.len())
            && self.host.iter().all(|one| one.len() == classes)
            && self.phases.iter().all(is_of_phase)
    }
}

impl Supplement {
    pub(crate) fn new(
        frames: Vec<Vec<FrameTally>>,
        replications: Vec<FurtherRecord>,
        saturated: Vec<Vec<Option<Saturation>>>,
    ) -> Self {
        let replications =
            if replications.iter().all(FurtherRecord::is_empty) { Vec::new() } else { replications };
        Self { frames, replications, saturated, control: Vec::new() }
    }

    /// Whether it fits so many classes.
    pub(crate) fn fits(&self, classes: usize) -> bool {
        self.frames.iter().all(|one| one.len() == classes)
            && self.replications.iter().all(|one| one.fits(classes))
            && self.saturated.iter().all(|one| one.len() == classes)
            && self.control.iter().all(|one| one.fits(classes))
    }
}

impl Serialize for Supplement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { frames, replications, saturated, control } = self;
        match (frames.is_empty(), replications.is_empty(), control.is_empty()) {
            (true, true, true) => serializer.serialize_unit(),
            (false, true, true) => frames.serialize(serializer),
            (_, false, true) => (frames, replications, saturated).serialize(serializer),
            (_, _, false) => (frames, replications, saturated, control).serialize(serializer),
        }
    }
}

/// Reads what there is at the end of a block.
impl<'de> Deserialize<'de> for Supplement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parts;

        impl<'de> Visitor<'de> for Parts {
            type Value = Supplement;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("frames, and what else is measured")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Supplement, A::Error> {
                let mut found = Supplement::default();
                if let Ok(Some(frames)) = parts.next_element() {
                    found.frames = frames;
                    if let Ok(Some(replications)) = parts.next_element() {
                        found.replications = replications;
                        found.saturated = parts.next_element()?.unwrap_or_default();
                        if let Ok(Some(control)) = parts.next_element() {
                            found.control = control;
                        }
                    }
                }
                Ok(found)
            }
        }

        Ok(deserializer.deserialize_tuple(4, Parts).unwrap_or_default())
    }
}
