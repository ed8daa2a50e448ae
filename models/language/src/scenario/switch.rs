//! `[switch]`: what every packet switch of a multistage network is like, and how long each of its steps takes.

use super::declare::*;
use super::units::Packets;
use crate::document::in_short;
use crate::network::LinkTime;

/// The most ticks of the longest step.
const MOST_TICKS: u64 = 65_536;
/// The most ticks that a link takes on top of its flight.
const MOST_TICKS_OF_DELAY: u128 = 1 << 24;

table! {
    /// What every packet switch is like.
    #[derive(Copy)]
    pub struct SwitchSpec {
        /// How the queues of a port are organised.
        organisation: Organisation = Organisation::OneQueue;
        /// How egress queues of virtual output queues at the switch are organised.
        voq_output: VoqOutput = VoqOutput::NextSwitch;
        /// Ports of a switch, those without a link included; as many as the network joins where these are more.
        ports: u32 ["ports"] = 8, within(4.0, 128.0);
        /// Speed of a link.
        link_rate: f64 ["Gbps"] = 8.0, within(1e-3, 1e6).early().magnitude(Magnitude::LinkRate);
        /// Speed of a port of the crossbar.
        crossbar_rate: f64 ["Gbps"] = 12.0, within(1e-3, 1e6).magnitude(Magnitude::LinkRate);
        /// Length of every packet.
        packet: u32 ["bytes"] = 64, within(1.0, 65_536.0).early().magnitude(Magnitude::Length);
        /// The part of a packet that has to be there before it is passed on.
        flit: u32 ["bytes"] = 8, within(1.0, 65_536.0).magnitude(Magnitude::Length);
        /// Length of a packet of credits or control; 0 takes no time of a link.
        control_packet: u32 ["bytes"] = 8, within(1.0, 65_536.0).or_zero().magnitude(Magnitude::Length);
        /// Memory at either end of a port; by default 128 KB, 192 KB above 256 hosts.
        #[serde(skip_serializing_if = "Option::is_none")]
        port_memory: Option<u32> ["bytes"] = None,
            within(1.0, 1e9).magnitude(Magnitude::Room).parameter(3, Varies::Whole);
        /// Time from one end of a link to the other.
        flight_time: f64 ["ns"] = 16.0, within(0.0, 1e6).magnitude(Magnitude::Time);
        /// Time to choose the output of a packet.
        routing_time: f64 ["ns"] = 16.0, within(0.0, 1e6).magnitude(Magnitude::Time);
        /// When a packet may be passed on.
        forwarding: Forwarding = Forwarding::CutThrough;
        /// Credits that wait for each other before a packet of them is sent ahead of data.
        credit_batch: u32 ["credits"] = 8, within(1.0, 1024.0);
    }
}

words! {
    /// How the queues of a port are organised.
    pub enum Organisation {
        /// One queue.
        OneQueue "one-queue",
        /// Four queues; a packet takes the least occupied one.
        FourQueues "four-queues",
        /// A queue for each output port of the switch.
        VoqSwitch "voq-switch",
        /// A queue for each host of the network.
        VoqNetwork "voq-network",
        /// One queue, and queues set aside for the packets into congestion trees.
        Recn "recn",
    }
}

words! {
    /// How egress queues of virtual output queues at the switch are organised.
    pub enum VoqOutput {
        /// A queue for each output port of the next switch.
        NextSwitch "next-switch",
        /// One queue.
        Single "single",
    }
}

words! {
    /// When a packet may be passed on.
    pub enum Forwarding {
        /// As soon as its first flit is there.
        CutThrough "cut-through",
        /// Once all of it is there.
        StoreAndForward "store-and-forward",
    }
}

table! {
    /// The thresholds of queues that are set aside.
    #[derive(Copy)]
    pub struct RecnSpec {
        /// Queues that a port can set aside.
        set_aside_queues: u32 ["queues"] = 8, within(1.0, 64.0);
        /// Length of an egress queue that makes its port the root of a tree.
        detection: u32 ["bytes"] = 1024,
            within(1.0, 1e9).magnitude(Magnitude::Length).parameter(6, Varies::Whole);
        /// Length of a queue set aside from which the tree grows upstream.
        propagation: u32 ["bytes"] = 256, within(1.0, 1e9).magnitude(Magnitude::Length);
        /// Length of a queue set aside that stops the one upstream.
        xoff: u32 ["bytes"] = 2048, within(1.0, 1e9).magnitude(Magnitude::Length);
        /// Length below which the one upstream goes on.
        xon: u32 ["bytes"] = 1024, within(1.0, 1e9).magnitude(Magnitude::Length);
        /// Packets up to which a queue set aside that owns its token goes first.
        few_packets: u32 ["packets"] = 2, within(0.0, 65_536.0);
        /// Packets of the normal queue for each of those set aside.
        normal_weight: u32 ["packets"] = 8, within(1.0, 65_536.0);
        /// Age at which a queue that never held a packet is given back.
        hold: f64 ["ns"] = 1000.0, within(0.0, 1e9).magnitude(Magnitude::Time);
    }
}

impl Default for RecnSpec {
    fn default() -> Self {
        Self::unset()
    }
}

impl Default for SwitchSpec {
    fn default() -> Self {
        Self::unset()
    }
}

impl Rules for RecnSpec {
    fn rules(&self, path: &str, door: &mut Door) {
        let Self { propagation, xoff, xon, .. } = *self;
        if xon > xoff {
            let help = Some("what is stopped at xoff goes on below xon");
            let wanted = format!("at most xoff, {xoff} bytes");
            door.refuse(&format!("{path}.xon"), format!("{xon} bytes"), &wanted, help);
        }
        if propagation > xoff {
            let help = Some("Xoff would stop a queue that nobody upstream has set aside");
            let wanted = format!("at most xoff, {xoff} bytes");
            door.refuse(&format!("{path}.propagation"), format!("{propagation} bytes"), &wanted, help);
        }
    }
}

impl Rules for SwitchSpec {
    fn units(&self, _: &Units) -> Units {
        Units::of_packets(Packets { tick_ns: None, ..self.units_of_packets() })
    }

    fn rules(&self, path: &str, door: &mut Door) {
        let Self { link_rate, crossbar_rate, packet, flit, .. } = *self;
        if self.forwarding == Forwarding::CutThrough && crossbar_rate < link_rate {
            let wanted = format!("at least link_rate, {} Gbps", in_short(link_rate));
            let help = Some("the crossbar would run dry: use forwarding = \"store-and-forward\"");
            let found = format!("{} Gbps", in_short(crossbar_rate));
            door.refuse(&format!("{path}.crossbar_rate"), found, &wanted, help);
        }
        if flit > 0 && !packet.is_multiple_of(flit) {
            let wanted = format!("a multiple of flit, {flit} bytes");
            door.refuse(&format!("{path}.packet"), format!("{packet} bytes"), &wanted, None);
        }
        if !door.has_refused(&format!("{path}.")) && Timing::of(self).is_none() {
            let wanted = format!("times and rates that are whole ticks, at most {MOST_TICKS} of the longest");
            let help = "take rates and times with fewer digits: the tick divides all of them";
            door.refuse(path, "no such tick".to_owned(), &wanted, Some(help));
        }
    }
}

impl SwitchSpec {
    /// Bytes that a link carries in a nanosecond.
    pub fn link_bytes_per_ns(&self) -> f64 {
        self.link_rate / 8.0
    }

    /// Time of a packet on a link \[ns\].
    pub fn packet_ns(&self) -> f64 {
        f64::from(self.packet) / self.link_bytes_per_ns()
    }

    pub(super) fn units_of_packets(&self) -> Packets {
        Packets {
            link: self.link_bytes_per_ns(),
            packet: f64::from(self.packet),
            tick_ns: Timing::of(self).map(|timing| timing.tick_ns),
        }
    }

    /// Packets that a port memory holds.
    pub fn places(&self, memory: u32) -> u32 {
        memory / self.packet.max(1)
    }

    /// Queues among which a port memory is divided in a network of so many hosts, with so many ports of a switch.
    pub fn fixed_queues(&self, hosts: u32, ports: u32) -> u32 {
        match self.organisation {
            Organisation::OneQueue | Organisation::Recn => 1,
            Organisation::FourQueues => 4,
            Organisation::VoqSwitch => ports,
            Organisation::VoqNetwork => hosts,
        }
    }

    /// Refuses a memory of which a queue would have no place.
    pub(super) fn fits_queues(&self, memory: u32, hosts: u32, ports: u32, path: &str, door: &mut Door) {
        let queues = self.fixed_queues(hosts, ports);
        if self.places(memory) < queues {
            let found = format!(
                "{memory} bytes, which in {queues} queues leave {} each, and a packet has {}",
                memory / queues.max(1),
                self.packet
            );
            let wanted = format!("at least {} bytes", u64::from(queues) * u64::from(self.packet));
            door.refuse(path, found, &wanted, None);
        }
    }
}

/// How long each step of a packet takes, in ticks: the tick is the greatest common divisor of all durations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// The tick \[ns\].
    pub tick_ns: f64,
    /// A packet on a link.
    pub packet_link: u64,
    /// A packet over the crossbar.
    pub packet_crossbar: u64,
    /// A flit on a link.
    pub flit_link: u64,
    /// A flit over the crossbar.
    pub flit_crossbar: u64,
    /// A control packet on a link.
    pub control: u64,
    /// From one end of a link to the other.
    pub flight: u64,
    /// The choice of an output.
    pub routing: u64,
    /// From the first bit of a packet at a switch until it joins its queue.
    pub arrival: u64,
    /// How packets go on.
    pub forwarding: Forwarding,
}

/// A duration in nanoseconds, `numerator / denominator` in lowest terms.
type Fraction = (u128, u128);

fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

fn lowest((numerator, denominator): Fraction) -> Fraction {
    let divisor = greatest_common_divisor(numerator, denominator).max(1);
    (numerator / divisor, denominator / divisor)
}

impl Timing {
    /// The steps of a switch; `None` where the longest takes more than 65,536 ticks.
    pub fn of(switch: &SwitchSpec) -> Option<Self> {
        Self::with_links(switch, [])
    }

    /// The same where links take longer: the tick divides their delays, too, and no packet takes more than 65,536
    /// ticks on any of them.
    pub fn with_links(switch: &SwitchSpec, links: impl IntoIterator<Item = LinkTime>) -> Option<Self> {
        // rates to the bit per second, times to the femtosecond
        let on = |bytes: u32, gbps: f64| {
            lowest((u128::from(bytes) * 8_000_000_000, ((gbps * 1e9).round() as u128).max(1)))
        };
        let time = |ns: f64| lowest(((ns * 1e6).round() as u128, 1_000_000));
        let SwitchSpec { packet, flit, control_packet, link_rate, crossbar_rate, .. } = *switch;
        let durations = [
            on(packet, link_rate),
            on(packet, crossbar_rate),
            on(flit, link_rate),
            on(flit, crossbar_rate),
            on(control_packet, link_rate),
            time(switch.flight_time),
            time(switch.routing_time),
        ];
        let common = |(a, b): Fraction, (c, d): &Fraction| {
            let (left, right) = (a.checked_mul(*d)?, c.checked_mul(b)?);
            Some(lowest((greatest_common_divisor(left, right), b.checked_mul(*d)?)))
        };
        let links: Vec<LinkTime> = links.into_iter().collect();
        let slowest = links.iter().map(|link| u64::from(link.slowdown)).max().unwrap_or(1);
        let delays: Vec<Fraction> = links.iter().map(|link| (u128::from(link.delay), 1)).collect();
        let (numerator, denominator) = durations.iter().chain(&delays).try_fold((0, 1), common)?;
        let steps = |(n, d): Fraction| Some(n.checked_mul(denominator)? / d.checked_mul(numerator)?.max(1));
        let ticks = |duration: Fraction| {
            steps(duration).and_then(|ticks| u64::try_from(ticks).ok()).filter(|ticks| *ticks <= MOST_TICKS)
        };
        if !delays.iter().all(|delay| steps(*delay).is_some_and(|ticks| ticks <= MOST_TICKS_OF_DELAY)) {
            return None;
        }
        let [packet_link, packet_crossbar, flit_link, flit_crossbar, control, flight, routing] =
            durations.map(ticks);
        let (packet_link, packet_crossbar, routing) = (packet_link?, packet_crossbar?, routing?);
        let (flit_link, flit_crossbar) = (flit_link?, flit_crossbar?);
        if packet_link * slowest > MOST_TICKS {
            return None;
        }
        let (control, flight) = (control?, flight?);
        let tick_ns = numerator as f64 / denominator as f64;
        let timing = Self {
            tick_ns,
            packet_link,
            packet_crossbar,
            flit_link,
            flit_crossbar,
            control,
            flight,
            routing,
            arrival: 0,
            forwarding: switch.forwarding,
        };
        Some(timing.on(LinkTime::USUAL))
    }

    /// The same on a link of a delay and a capacity: all that is sent takes the link so many times as long, and a
    /// packet joins its queue so late that the crossbar never waits for the rest of it.
    ///
    /// ```text
    /// arrival = max(flit_link + routing, packet_link - packet_crossbar)   cut through
    /// arrival = packet_link + routing                                     store and forward
    /// ```
    #[must_use]
    pub fn on(&self, link: LinkTime) -> Self {
        let times = |ticks: u64| ticks * u64::from(link.slowdown);
        let (packet_link, flit_link) = (times(self.packet_link), times(self.flit_link));
        let arrival = match self.forwarding {
            Forwarding::CutThrough => {
                (flit_link + self.routing).max(packet_link.saturating_sub(self.packet_crossbar))
            }
            Forwarding::StoreAndForward => packet_link + self.routing,
        };
        let (control, flight) = (times(self.control), self.flight + self.ticks_of(link.delay));
        Self { packet_link, flit_link, control, flight, arrival, ..*self }
    }
}

impl Timing {
    /// A delay in ticks.
    pub fn ticks_of(&self, ns: u32) -> u64 {
        (f64::from(ns) / self.tick_ns).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tick_divides_all_durations() {
        let timing = Timing::of(&SwitchSpec::default()).unwrap();
        assert!((timing.tick_ns - 8.0 / 3.0).abs() < 1e-12);
        let Timing {
            packet_link, packet_crossbar, flit_link, flit_crossbar, control, flight, routing, ..
        } = timing;
        assert_eq!((packet_link, packet_crossbar, flit_link, flit_crossbar), (24, 16, 3, 2));
        assert_eq!((control, flight, routing, timing.arrival), (3, 6, 6, 9));
        for (link_rate, flight_time) in [(8.000000001, 16.0), (8.0, 16.000001), (1e6, 1e6), (1e-3, 1e-6)] {
            assert_eq!(Timing::of(&SwitchSpec { link_rate, flight_time, ..Default::default() }), None);
        }
    }
}
