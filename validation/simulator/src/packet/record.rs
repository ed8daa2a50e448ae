//! What a run of packet switches is asked for: deliveries, counts, a series of bins.

use serde::{Deserialize, Serialize};

use super::wiring::Wiring;

/// A packet that has come to its host; times are ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delivery {
    /// When its tail came in.
    pub delivered: u64,
    /// The host that it came to.
    pub destination: u32,
    /// The host that sent it.
    pub source: u32,
    /// Its traffic.
    pub traffic: u16,
    /// When its message was generated.
    pub generated: u64,
    /// When its transfer into the injection port began.
    pub admitted: u64,
}

/// Counts of a whole run; packets where nothing else is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Generated, the refused ones included.
    pub generated: u64,
    /// Of messages that did not fit into their admittance queue.
    pub refused: u64,
    /// Taken back at the end of their traffic.
    pub withdrawn: u64,
    /// Moved into an injection port.
    pub admitted: u64,
    /// Delivered.
    pub delivered: u64,
    /// Delivered after a later one of the same pair of hosts.
    pub out_of_order: u64,
    /// Sent on links.
    pub hops: u64,
    /// Control packets sent, those with credits included.
    pub control_packets: u64,
    /// Set-aside queues allocated.
    pub allocated: u64,
    /// Inputs notified by an egress port of their switch, those that refused left out.
    pub notifications: u64,
    /// Notifications that found no free set-aside queue.
    pub refusals: u64,
    /// Set-aside queues released that never held a packet.
    pub released_unused: u64,
    /// Most set-aside queues at a time: in the network, at an ingress port, at an egress port.
    pub peak: [u32; 3],
    /// Most roots of congestion trees at a time.
    pub roots_peak: u32,
}

/// Packets of a traffic in a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrafficCounts {
    /// Generated, the refused ones included.
    pub generated: u64,
    /// Of messages that did not fit into their admittance queue.
    pub refused: u64,
    /// Taken back at the end of the traffic.
    pub withdrawn: u64,
    /// Delivered.
    pub delivered: u64,
}

impl TrafficCounts {
    /// Neither delivered nor given up.
    pub fn backlog(&self) -> u64 {
        self.generated - self.refused - self.withdrawn - self.delivered
    }
}

/// A span of the series.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bin {
    /// Its first tick.
    pub start: u64,
    /// By traffic: packets delivered.
    pub delivered: Vec<u64>,
    /// Sum over packets delivered, from generation on \[ticks\].
    pub latency: u64,
    /// The same from the start of the transfer into the injection port on \[ticks\].
    pub network_latency: u64,
    /// Most set-aside queues at a time: in the network, at an ingress port, at an egress port.
    pub lines: [u32; 3],
    /// At its end, by stage and last for injection ports: packets in ingress and in egress memories.
    pub queued: Vec<[u32; 2]>,
}

/// Ports of a stage on one side, or of hosts, in the order of their lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// Packets in the memory of each on that side of it.
    pub packets: Vec<u32>,
    /// Queues that are set aside there.
    pub set_aside: Vec<u32>,
    /// The line of the next column to which the link of each leads; empty where a crossbar or a host follows.
    pub next: Vec<u32>,
}

/// Packets sent over the links that leave a stage, or hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageLoad {
    /// Links on which data packets are sent.
    pub data_links: u32,
    /// All links; control packets go against the data, too.
    pub links: u32,
    /// Data packets, each as often as the capacity of its link goes into that of others.
    pub data: u64,
    /// Control packets, those with credits included; the same.
    pub control: u64,
}

/// Ingress or egress side of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Ingress,
    Egress,
}

#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) counts: Counts,
    pub(crate) bins: Vec<Bin>,
    /// By stage, last for hosts.
    pub(crate) links: Vec<StageLoad>,
    /// As [`Bin::queued`].
    pub(crate) queued: Vec<[u32; 2]>,
    bin_ticks: u64,
    /// The first tick after the current bin.
    pub(crate) bin_end: u64,
    /// By traffic.
    pub(crate) traffics: Vec<TrafficCounts>,
    hosts: usize,
    /// By source and destination: the sequence number after the latest delivered one.
    sequence: Vec<u32>,
    /// By side and number of set-aside queues: ports.
    ports: [Vec<u32>; 2],
    /// Set-aside queues now: in the network, at the fullest ingress port, at the fullest egress port.
    lines: [u32; 3],
    roots: u32,
}

impl Record {
    pub(crate) fn new(wiring: &Wiring, traffics: usize, bin_ticks: u64) -> Self {
        let (hosts, stages) = (wiring.hosts, wiring.rows);
        let mut by_lines = vec![0; 66];
        by_lines[0] = wiring.peers.len() as u32;
        let mut record = Self {
            counts: Counts::default(),
            bins: Vec::new(),
            links: wiring.links(),
            queued: vec![[0; 2]; stages + 1],
            bin_ticks,
            bin_end: if bin_ticks == 0 { u64::MAX } else { 0 },
            traffics: vec![TrafficCounts::default(); traffics],
            hosts,
            sequence: vec![0; hosts * hosts],
            ports: [by_lines.clone(), by_lines],
            lines: [0; 3],
            roots: 0,
        };
        record.turn_bins(0);
        record
    }

    /// Closes the bins that end before or at `now`.
    #[inline]
    pub(crate) fn turn_bins(&mut self, now: u64) {
        while now >= self.bin_end {
            self.close_bin();
            let (start, delivered) = (self.bin_end, vec![0; self.traffics.len()]);
            self.bins.push(Bin { start, delivered, lines: self.lines, ..Bin::default() });
            self.bin_end += self.bin_ticks;
        }
    }

    /// What the current bin ends with.
    pub(crate) fn close_bin(&mut self) {
        if let Some(bin) = self.bins.last_mut() {
            bin.queued.clone_from(&self.queued);
        }
    }

    /// Packets of a traffic are generated.
    pub(crate) fn generate(&mut self, traffic: usize, packets: u32) {
        self.counts.generated += u64::from(packets);
        self.traffics[traffic].generated += u64::from(packets);
    }

    /// Packets of a traffic do not fit into their admittance queue.
    pub(crate) fn refuse(&mut self, traffic: usize, packets: u32) {
        self.counts.refused += u64::from(packets);
        self.traffics[traffic].refused += u64::from(packets);
    }

    /// Packets of a traffic are taken back.
    pub(crate) fn withdraw(&mut self, traffic: usize, packets: u64) {
        self.counts.withdrawn += packets;
        self.traffics[traffic].withdrawn += packets;
    }

    pub(crate) fn deliver(&mut self, delivery: &Delivery, sequence: u32) {
        self.counts.delivered += 1;
        self.traffics[usize::from(delivery.traffic)].delivered += 1;
        let next = &mut self.sequence[delivery.source as usize * self.hosts + delivery.destination as usize];
        if sequence < *next {
            self.counts.out_of_order += 1;
        }
        *next = (*next).max(sequence + 1);
        if let Some(bin) = self.bins.last_mut() {
            bin.delivered[usize::from(delivery.traffic)] += 1;
            bin.latency += delivery.delivered - delivery.generated;
            bin.network_latency += delivery.delivered - delivery.admitted;
        }
    }

    /// A port has now `lines` set-aside queues, one more.
    pub(crate) fn allocate(&mut self, side: Side, lines: u32) {
        self.counts.allocated += 1;
        let (ports, most) = (&mut self.ports[side as usize], 1 + side as usize);
        ports[lines as usize - 1] -= 1;
        ports[lines as usize] += 1;
        self.lines[0] += 1;
        self.lines[most] = self.lines[most].max(lines);
        let peaks = self.bins.last_mut().map(|bin| &mut bin.lines).into_iter().chain([&mut self.counts.peak]);
        for peak in peaks {
            (0..3).for_each(|which| peak[which] = peak[which].max(self.lines[which]));
        }
    }

    /// A port has now `lines` set-aside queues, one less.
    pub(crate) fn release(&mut self, side: Side, lines: u32, was_used: bool) {
        self.counts.released_unused += u64::from(!was_used);
        let (ports, most) = (&mut self.ports[side as usize], 1 + side as usize);
        ports[lines as usize + 1] -= 1;
        ports[lines as usize] += 1;
        self.lines[0] -= 1;
        while ports[self.lines[most] as usize] == 0 {
            self.lines[most] -= 1;
        }
    }

    /// A port becomes a root, or is none any more.
    pub(crate) fn root(&mut self, is_root: bool) {
        self.roots = if is_root { self.roots + 1 } else { self.roots - 1 };
        self.counts.roots_peak = self.counts.roots_peak.max(self.roots);
    }
}
