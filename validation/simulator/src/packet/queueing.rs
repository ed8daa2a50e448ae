//! How the queues of a port are organised (P9). An organisation is a file here and a line of the list below.

mod four;
mod one;
mod recn;
mod voq_network;
mod voq_switch;

use flitwise_language::scenario::Organisation;

use super::Fabric;
use super::memory::Row;
use super::switch::{Network, PacketSwitch};

/// Declares which type an organisation of the scenario is.
macro_rules! organisations {
    ($($word:ident => $queueing:ty,)+) => {
        /// Packet switches whose queues are organised as the fabric says.
        pub(super) fn with_queues(fabric: &Fabric, traffics: usize, bin: u64) -> Box<dyn Network> {
            match fabric.organisation {
                $(Organisation::$word => Box::new(PacketSwitch::<$queueing>::new(fabric, traffics, bin)),)+
            }
        }
    };
}

organisations! {
    OneQueue => one::OneQueue,
    FourQueues => four::FourQueues,
    VoqSwitch => voq_switch::VoqSwitch,
    VoqNetwork => voq_network::VoqNetwork,
    Recn => recn::SetAside,
}

/// Which queue a packet takes, which queue goes first, and what ports tell each other about queues.
///
/// The memory of a port is divided among its fixed queues. Beside them there may be queues set aside, which share the
/// memory of a fixed one. Numbers of queues count fixed ones first.
pub(super) trait Queueing: Sized + Send + 'static {
    /// What ports tell each other beside credits.
    type Control: Copy + Send;

    /// Whether each destination has its queue, also towards hosts. Sets of queues with room are kept then.
    const BY_DESTINATION: bool = false;

    /// Of a network with so many ports, those of hosts included.
    fn new(fabric: &Fabric, ports: usize) -> Self;

    /// Fixed queues of an ingress memory.
    fn ingress_queues(&self) -> usize;

    /// Fixed queues of an egress memory.
    fn egress_queues(&self) -> usize {
        self.ingress_queues()
    }

    /// Most queues that are set aside in a memory.
    fn set_aside_queues(&self) -> usize {
        0
    }

    /// Queues that are set aside in a memory now.
    fn set_aside_in(&self, _memory: usize) -> u32 {
        0
    }

    /// The fixed queue in whose place a packet of any queue is.
    fn fixed(queue: usize) -> usize {
        queue
    }

    /// The fixed ingress queue of a packet that is sent, by the `credits` that the sender has for each.
    fn ingress_queue(&self, row: &Row, credits: &[u32]) -> usize;

    /// The fixed egress queue of a packet that is to cross, by the places `taken` of each.
    fn egress_queue(&self, row: &Row, taken: &[u32]) -> usize;

    /// The queue that a packet joins in a memory; it has a place in that of its row.
    fn queue_of(&self, _memory: usize, row: &Row) -> usize {
        row.queue.into()
    }

    /// Whether the packet at the head of a queue may go.
    fn is_open(&self, _memory: usize, _queue: usize) -> bool {
        true
    }

    /// The smaller goes first; 0 is the least.
    fn level(&self, _memory: usize, _queue: usize) -> u8 {
        0
    }

    /// The queue that an egress port sends from and the queue behind its link, of those that could, in turn.
    fn choose(
        &self,
        _port: usize,
        mut eligible: impl Iterator<Item = (usize, usize)>,
    ) -> Option<(usize, usize)> {
        eligible.next()
    }

    /// Whether a host may admit a packet with these turns ahead into its injection memory.
    fn admits(&self, _memory: usize, _turns: u64) -> bool {
        true
    }

    /// A packet has joined an ingress queue.
    fn arrived(_switch: &mut PacketSwitch<Self>, _port: usize, _queue: usize) {}

    /// A packet from an input of the switch, or from a host, has joined an egress queue.
    fn joined(_switch: &mut PacketSwitch<Self>, _port: usize, _queue: usize, _input: u8) {}

    /// A packet has left a queue.
    fn left(_switch: &mut PacketSwitch<Self>, _memory: usize, _queue: usize) {}

    /// The control packet that a port sends next.
    fn next_control(&mut self, _port: usize) -> Option<Self::Control> {
        None
    }

    /// A control packet has come.
    fn take_control(_switch: &mut PacketSwitch<Self>, _port: usize, _control: Self::Control) {}

    /// The time has come for which a queue of a memory is held at least.
    fn end_hold(_switch: &mut PacketSwitch<Self>, _memory: usize, _queue: usize) {}

    /// Nothing is left of it.
    fn is_drained(&self) -> bool {
        true
    }
}
