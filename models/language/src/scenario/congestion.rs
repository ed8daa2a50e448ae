//! `[congestion]`: what keeps messages of best effort out of a full network.

use super::declare::*;
use super::interface::BUFFER_MESSAGES;
use super::{InterfaceBuffer, InterfaceKind, ScenarioSpec};

table! {
    /// What keeps messages of best effort out of a full network.
    #[derive(Copy)]
    pub struct CongestionSpec {
        /// By what.
        control: CongestionControl = CongestionControl::None;
        /// Credits of all queues of an interface, a message each, which the queues share equally.
        credits: u32 ["messages"] = 200, within(1.0, 1e6);
        /// Credits of each queue, in place of those of the interface.
        #[serde(skip_serializing_if = "Option::is_none")]
        credits_per_queue: Option<u32> ["messages"] = None, within(1.0, 1e6);
        /// Which messages wait for the same credits.
        queues: CompletionQueues = CompletionQueues::Global;
        /// When a credit comes back.
        return_at as "return": CreditReturn = CreditReturn::Injection;
        /// Time that a credit takes to come back from the receiver.
        ack_delay: f64 ["cycles"] = 0.0, within(0.0, 1e9).magnitude(Magnitude::Time);
        /// Whether a message of a connection is dropped that finds no credit of its own.
        real_time_drop: bool = true;
        /// Whether lanes of the network interface and its link count as those of routers.
        include_interface: bool = true;
        /// Self-tuned: time between looks at all buffers.
        gather: u32 ["cycles"] = 32, within(1.0, 1e6).magnitude(Magnitude::Bound);
        /// Self-tuned: what a period with throttled interfaces adds to the threshold, a share of all buffers.
        raise: f64 = 0.01, within(0.0, 1.0);
        /// Self-tuned: what a fall of the throughput takes from it.
        lower: f64 = 0.04, within(0.0, 1.0);
        /// Self-tuned: the threshold at first.
        initial: f64 = 0.01, within(0.01, 1.0);
    }
}

words! {
    /// What keeps messages of best effort out of a full network.
    pub enum CongestionControl {
        /// Nothing.
        None "none",
        /// Credits of the network interface.
        Credit "credit",
        /// A message may start if a lane of its class is free on its first network channel (ALO).
        AtLeastOne "at-least-one",
        /// No message may start while more buffers are full than a threshold, which is tuned for throughput.
        SelfTuned "self-tuned",
    }
}

words! {
    /// Which messages wait for the same credits.
    pub enum CompletionQueues {
        /// All of an interface.
        Global "global",
        /// Those to the same quadrant of a mesh.
        Quad "quad",
        /// Those to the same node.
        Separate "separate",
    }
}

words! {
    /// When a credit comes back.
    pub enum CreditReturn {
        /// When the message is on its injection link.
        Injection "injection",
        /// When it has left the network.
        Delivery "delivery",
    }
}

impl Rules for CongestionSpec {}

impl Default for CongestionSpec {
    fn default() -> Self {
        Self::unset()
    }
}

impl CongestionSpec {
    /// Queues of an interface in a network with so many destinations of a node.
    fn queue_count(&self, destinations: u32) -> u32 {
        match self.queues {
            CompletionQueues::Global => 1,
            CompletionQueues::Quad => 4,
            CompletionQueues::Separate => destinations,
        }
    }

    /// Credits of a queue \[messages\].
    pub fn credits_of_queue(&self, destinations: u32) -> u32 {
        self.credits_per_queue.unwrap_or(self.credits / self.queue_count(destinations).max(1))
    }
}

impl ScenarioSpec {
    /// Refuses controls that have nothing to hold on to, and credits that mean nothing.
    pub(super) fn congestion_rules(&self, door: &mut Door) {
        let Some(congestion) = self.congestion else { return };
        let kind = self.interface.map_or(InterfaceKind::Ideal, |interface| interface.kind);
        if kind != InterfaceKind::ChannelAdapter {
            if door.is_read("interface.kind") {
                let wanted = "an interface of kind \"channel-adapter\", which holds messages back";
                let help = Some("write kind = \"channel-adapter\" under [interface], or remove the table");
                door.refuse("congestion", format!("an interface \"{}\"", kind.word()), wanted, help);
            }
            return;
        }
        if congestion.control != CongestionControl::Credit {
            return;
        }
        let network = door.known_network();
        if congestion.queues == CompletionQueues::Quad
            && network.as_ref().is_some_and(|network| network.sides().len() != 2)
        {
            let wanted = "\"global\" or \"separate\": only a mesh or torus of two dimensions has quadrants";
            door.refuse("congestion.queues", "\"quad\"".to_owned(), wanted, None);
        }
        let Some(network) = network else { return };
        let destinations = network.nodes() - 1;
        let each = congestion.credits_of_queue(destinations);
        if each == 0 {
            let queues = congestion.queue_count(destinations);
            let wanted = format!("at least {queues}, one for each queue of an interface");
            let help = Some("write credits_per_queue = 1");
            door.refuse("congestion.credits", congestion.credits.to_string(), &wanted, help);
        }
        let room = self.interface.and_then(|interface| interface.buffer);
        if let InterfaceBuffer::Messages(room) = room.unwrap_or(InterfaceBuffer::Messages(BUFFER_MESSAGES)) {
            let all = congestion.credits_per_queue.unwrap_or(congestion.credits);
            let key = if congestion.credits_per_queue.is_some() { "credits_per_queue" } else { "credits" };
            if all > room {
                let wanted = format!("at most {room}: an interface of {room} messages cannot hold more");
                door.refuse(&format!("congestion.{key}"), all.to_string(), &wanted, None);
            }
        }
    }
}
