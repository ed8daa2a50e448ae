//! `[admission]`: which connections may enter.

use super::class::MAX_TIME;
use super::declare::*;
use super::{ClassKind, Scenario, ScenarioSpec, Scheduler, Switching};

/// Length of a signal that is a message.
const SIGNAL_FLITS: f64 = 10.0;
/// Delay of a hop where none is given \[cycles\].
const HOP_DELAY: f64 = 15.0;

table! {
    /// Which connections may enter.
    #[derive(Copy)]
    pub struct AdmissionSpec {
        /// Whether a connection is refused for which a channel on its way has no room.
        test: bool = true;
        /// The rate of a connection for which there has to be room.
        reserve: Reserve = Reserve::Average;
        /// Share of a channel that connections may have.
        limit_share: f64 = 1.0, within(1e-6, 64.0);
        /// Time of a request, an answer or a release for a hop, where they travel beside the network; 15 by default.
        #[serde(skip_serializing_if = "Option::is_none")]
        hop_delay: Option<f64> ["cycles"] = None, within(0.0, 1e9).magnitude(Magnitude::Time);
        /// How requests and answers travel.
        signalling: Signalling = Signalling::Sideband;
        /// Time after which a connection that was refused is asked for again; 0: never.
        retry: f64 ["cycles"] = 0.0, within(1.0, MAX_TIME).or_zero().magnitude(Magnitude::Time);
    }
}

words! {
    /// The rate of a connection for which there has to be room.
    pub enum Reserve {
        /// Its mean rate.
        Average "average",
        /// Its peak rate.
        Peak "peak",
    }
}

words! {
    /// How requests and answers travel.
    pub enum Signalling {
        /// Beside the network, with a fixed delay for a hop.
        Sideband "sideband",
        /// As messages on the lane of control.
        InBand "in-band",
    }
}

impl Rules for AdmissionSpec {}

impl AdmissionSpec {
    /// Time of a signal beside the network for a hop \[cycles\].
    pub fn hop_delay(&self) -> f64 {
        self.hop_delay.unwrap_or(HOP_DELAY)
    }
}

/// Time that a lone connection takes to be set up over `h` network channels: `2 (h + 1) hop - ends`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalDelay {
    /// Of a signal for a hop \[cycles\].
    pub hop: f64,
    /// What the first and the last hop, those of the node, take less \[cycles\].
    pub ends: f64,
}

impl SignalDelay {
    /// Over so many network channels, or over a mean number of them \[cycles\].
    pub fn set_up(&self, hops: f64) -> f64 {
        2.0 * (hops + 1.0) * self.hop - self.ends
    }
}

impl Scenario {
    /// Whether requests for connections and their answers are messages in the network.
    pub fn has_signals_in_band(&self) -> bool {
        self.spec().admission.is_some_and(|admission| admission.signalling == Signalling::InBand)
    }

    /// How long a lone connection takes to be set up; 0 without admission.
    ///
    /// In-band a hop is the way of a message of 10 flits from the management station of one router to that of the next,
    /// store-and-forward: two routers, `2 P + 10` cycles. The request has one router before the first station, and the
    /// answer one behind the last: each takes `P` cycles less, and the request can leave in the cycle in which it is
    /// made, one earlier.
    pub fn signal_delay(&self) -> SignalDelay {
        let Some(admission) = self.spec().admission else { return SignalDelay { hop: 0.0, ends: 0.0 } };
        match admission.signalling {
            Signalling::Sideband => SignalDelay { hop: admission.hop_delay(), ends: 0.0 },
            Signalling::InBand => {
                let stages = f64::from(self.data_router().pipeline_stages);
                SignalDelay { hop: 2.0 * stages + SIGNAL_FLITS, ends: 2.0 * stages + 1.0 }
            }
        }
    }
}

impl ScenarioSpec {
    /// Refuses messages of admission where no lane carries them, and a fixed delay beside them.
    fn in_band_rules(&self, admission: AdmissionSpec, door: &mut Door) {
        if admission.signalling != Signalling::InBand {
            return;
        }
        let found = || "\"in-band\"".to_owned();
        if self.router.scheduler != Scheduler::LaneArbiter && door.is_read("router.scheduler") {
            let wanted = "\"sideband\" but where scheduler = \"lane-arbiter\" puts the lane of control first";
            let help = Some("write scheduler = \"lane-arbiter\" under [router]");
            door.refuse("admission.signalling", found(), wanted, help);
        }
        if self.classes.iter().all(|class| class.kind != ClassKind::Control) {
            let wanted = "\"sideband\" without a class of kind \"control\", whose last lane signals take";
            let help = Some("add a class of kind = \"control\"; its rate may be 0");
            door.refuse("admission.signalling", found(), wanted, help);
        }
        if let Some(given) = admission.hop_delay {
            let wanted = "none with signalling = \"in-band\": a signal takes what a message does";
            door.refuse(
                "admission.hop_delay",
                crate::document::in_short(given),
                wanted,
                Some("remove the line"),
            );
        }
    }

    /// Refuses admission where nobody asks for it.
    pub(super) fn admission_rules(&self, door: &mut Door) {
        let Some(admission) = self.admission else { return };
        if self.switch.is_some() || self.router.switching == Switching::PipelinedCircuit {
            let wanted = "none under [switch] and with circuits, which are set up in their own way";
            door.refuse("admission", "a table".to_owned(), wanted, Some("remove the table"));
        } else if self.classes.iter().all(|class| class.connections.is_none()) {
            let wanted = "a class with connections, which are admitted or refused";
            let help = Some("add connections = { mean = 0.02 } to a real-time class, or remove the table");
            door.refuse("admission", "no class with connections".to_owned(), wanted, help);
        }
        if admission.retry > 0.0 && !admission.test {
            let wanted = "0 where nothing is refused";
            door.refuse("admission.retry", crate::document::in_short(admission.retry), wanted, None);
        }
        self.in_band_rules(admission, door);
    }
}
