//! `[admission]`: which connections may enter.

use super::class::MAX_TIME;
use super::declare::*;
use super::{ScenarioSpec, Switching};

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
        /// Time of a request, an answer or a release for a hop.
        hop_delay: f64 ["cycles"] = 15.0, within(0.0, 1e9).magnitude(Magnitude::Time);
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

impl ScenarioSpec {
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
    }
}
