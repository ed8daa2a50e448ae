//! Network interfaces between an application and its link: firmware, host bus and wire as stations in tandem.
//!
//! A message rings a doorbell and waits for the firmware; its descriptor and then its flits come over the host bus; it
//! goes over the wire and, at the other end, over the bus again. Arrivals are taken as Poisson at each station. A
//! *qos* interface serves classes in order of priority without interruption (Cobham 1954,
//! [`crate::queueing::non_preemptive`]), a *traditional* one in order of arrival (M/G/1).
//!
//! An upper estimate: the bus spaces messages by 18 cycles and more, so that the router behind it is calmer, and
//! streams are smoother than Poisson.

use super::{Part, Saturated};
use crate::queueing::{Customers, Mg1, NonPreemptive, Service, Steady};

/// The bus between host memory and interface. Times are whole router cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostBus {
    /// To arbitrate and to address, of each job \[cycles\].
    pub setup_cycles: f64,
    /// \[bytes/cycle\].
    pub bytes_per_cycle: f64,
    /// Bytes of a descriptor.
    pub descriptor_bytes: f64,
    /// Bytes of a flit.
    pub flit_bytes: f64,
}

impl Default for HostBus {
    /// 64 bits at 66 MHz against cycles of 80 ns, flits of 128 bits.
    fn default() -> Self {
        Self { setup_cycles: 2.0, bytes_per_cycle: 42.24, descriptor_bytes: 64.0, flit_bytes: 16.0 }
    }
}

impl HostBus {
    fn job(&self, bytes: f64) -> f64 {
        // setup + ceil(bytes / bytes per cycle)
        self.setup_cycles + (bytes / self.bytes_per_cycle - 1e-9).ceil()
    }

    /// `d`: job of a descriptor \[cycles\].
    pub fn descriptor(&self) -> f64 {
        self.job(self.descriptor_bytes)
    }

    /// `g`: job of a message \[cycles\].
    ///
    /// ```
    /// let bus = flitwise_models::router_nic::HostBus::default();
    /// assert_eq!((bus.descriptor(), bus.message(40.0), bus.message(20.0)), (4.0, 18.0, 10.0));
    /// ```
    pub fn message(&self, flits: f64) -> f64 {
        self.job(flits * self.flit_bytes)
    }
}

/// Order of service and of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterfaceKind {
    /// Classes by priority, sent flit by flit: the wire is part of the network.
    QosByFlit,
    /// Classes by priority, sent message by message.
    QosByMessage,
    /// In order of arrival, sent message by message.
    Traditional,
}

/// The interface of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostInterface {
    /// Order of service and of sending.
    pub kind: InterfaceKind,
    /// `f`: firmware per doorbell \[cycles\].
    pub firmware_cycles: f64,
    /// The host bus.
    pub bus: HostBus,
    /// `o`: programming of the send side per message \[cycles\]; none flit by flit.
    pub send_setup_cycles: f64,
}

/// A class of messages at an interface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InterfaceClass {
    /// `l_c` \[messages/cycle/node\].
    pub rate: f64,
    /// `M_c` \[flits\].
    pub message_flits: f64,
    /// `N_c`: mean total latency of the class with an ideal interface \[cycles\]; of control `P + M_c`.
    pub network_cycles: f64,
}

/// A number for each of the stations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerStation {
    /// Of the firmware.
    pub firmware: f64,
    /// Of the host bus.
    pub bus: f64,
    /// Of the wire, or of the send side where whole messages are sent.
    pub wire: f64,
}

/// Mean latency from the application to the application, and its parts \[cycles\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InterfaceLatency {
    /// `W_f + f`: doorbell and firmware.
    pub firmware: f64,
    /// `(W + d) + (W + g)`: descriptor and message over the bus, with their waits.
    pub send_bus: f64,
    /// `W_w + o`: wait for the send side and its programming; nothing flit by flit.
    pub send_setup: f64,
    /// `N`: wire and network.
    pub network: f64,
    /// `W + g`: message over the bus of the receiver, with its wait.
    pub receive_bus: f64,
}

impl InterfaceLatency {
    /// `T_c` \[cycles\].
    pub fn total(&self) -> f64 {
        self.firmware + self.send_bus + self.send_setup + self.network + self.receive_bus
    }
}

impl Default for HostInterface {
    /// A qos interface flit by flit: firmware of 0.8 µs, send side programmed in 1.6 µs, in cycles of 80 ns.
    fn default() -> Self {
        Self {
            kind: InterfaceKind::QosByFlit,
            firmware_cycles: 10.0,
            bus: HostBus::default(),
            send_setup_cycles: 20.0,
        }
    }
}

impl HostInterface {
    /// Whether whole messages are sent.
    fn is_by_message(&self) -> bool {
        self.kind != InterfaceKind::QosByFlit
    }

    /// Flits of a message over the wire, and what it takes to send them \[cycles\].
    fn sending(&self, message_flits: f64) -> f64 {
        if self.is_by_message() { message_flits + self.send_setup_cycles } else { message_flits }
    }

    /// The three jobs of a message on the bus, one for each end: a descriptor and the message, and one that comes.
    fn bus_jobs(&self, class: &InterfaceClass) -> Customers {
        let (descriptor, message) = (self.bus.descriptor(), self.bus.message(class.message_flits));
        // d and twice g
        let mean = (descriptor + 2.0 * message) / 3.0;
        let second_moment = (descriptor * descriptor + 2.0 * message * message) / 3.0;
        Customers { rate: 3.0 * class.rate, service: Service { mean, second_moment } }
    }

    /// Customers of each station.
    fn stations(&self, classes: &[InterfaceClass]) -> [(Part, Vec<Customers>); 3] {
        let firmware = |class: &InterfaceClass| Customers::new(class.rate, self.firmware_cycles, 0.0);
        let wire =
            |class: &InterfaceClass| Customers::new(class.rate, self.sending(class.message_flits), 0.0);
        [
            (Part::Firmware, classes.iter().map(firmware).collect()),
            (Part::Bus, classes.iter().map(|class| self.bus_jobs(class)).collect()),
            (Part::Wire, classes.iter().map(wire).collect()),
        ]
    }

    /// Mean wait of each class at a station.
    fn waits(&self, customers: &[Customers]) -> Vec<Steady<f64>> {
        if self.kind != InterfaceKind::Traditional {
            // W_c = V / ((1 - ρ_(<c)) (1 - ρ_(<=c))),  V = Σ l E[S²] / 2
            let station = NonPreemptive { classes: customers.to_vec() };
            return station.measures().into_iter().map(|means| means.map(|means| means.mean_wait)).collect();
        }
        // W = V / (1 - ρ)
        let sum = |of: fn(&Customers) -> f64| customers.iter().map(of).sum::<f64>();
        let work = Service {
            mean: sum(Customers::load),
            second_moment: sum(|one| one.rate * one.service.second_moment),
        };
        // all customers of a cycle as one
        let wait = Mg1 { rate: 1.0, service: work }.mean_wait();
        vec![wait; customers.len()]
    }

    /// Load of each station.
    ///
    /// ```
    /// use flitwise_models::router_nic::{HostInterface, InterfaceClass};
    ///
    /// let class = InterfaceClass { rate: 0.8 / 40.0, message_flits: 40.0, network_cycles: 45.0 };
    /// let loads = HostInterface::default().loads(&[class]);
    /// assert_eq!(format!("{:.1} {:.1} {:.1}", loads.firmware, loads.bus, loads.wire), "0.2 0.8 0.8");
    /// ```
    pub fn loads(&self, classes: &[InterfaceClass]) -> PerStation {
        let stations = self.stations(classes);
        let [firmware, bus, wire] =
            stations.map(|(_, customers)| customers.iter().map(Customers::load).sum());
        PerStation { firmware, bus, wire }
    }

    /// Loads of a node at which each station saturates, where all messages have `message_flits` \[flits/cycle\].
    ///
    /// ```
    /// use flitwise_models::router_nic::{HostInterface, InterfaceKind};
    ///
    /// let by_message = HostInterface { kind: InterfaceKind::QosByMessage, ..HostInterface::default() };
    /// let limits = by_message.limits(40.0);
    /// assert_eq!((limits.firmware, limits.bus), (4.0, 1.0));
    /// assert_eq!(format!("{:.4}", limits.wire), "0.6667"); // flit by flit 1
    /// ```
    pub fn limits(&self, message_flits: f64) -> PerStation {
        let bus = self.bus.descriptor() + 2.0 * self.bus.message(message_flits);
        PerStation {
            firmware: message_flits / self.firmware_cycles,
            // M / (d + 2 g)
            bus: message_flits / bus,
            // M / (M + o)
            wire: message_flits / self.sending(message_flits),
        }
    }

    /// Mean latency of each class, given in order of priority. Where a station is saturated for a class it is for
    /// those below it, and in a traditional interface for all.
    ///
    /// ```
    /// use flitwise_models::router_nic::{HostInterface, InterfaceClass};
    ///
    /// let class = |rate, message_flits, network_cycles| InterfaceClass { rate, message_flits, network_cycles };
    /// let interval = 416_667.0;
    /// let [control, video, rest] = HostInterface::default().latencies(&[
    ///     class(1.0 / interval, 20.0, 25.0),
    ///     class(0.0075, 40.0, 100.0),
    ///     class(0.0075, 40.0, 200.0),
    /// ])[..] else { panic!("three classes") };
    /// let totals = [control, video, rest].map(|latency| format!("{:.4}", latency.unwrap().total()));
    /// assert_eq!(totals, ["74.6918", "172.1579", "304.3261"]);
    /// ```
    pub fn latencies(&self, classes: &[InterfaceClass]) -> Vec<Result<InterfaceLatency, Saturated>> {
        let [firmware, bus, wire] = self.stations(classes).map(|(part, customers)| {
            let waits = self.waits(&customers).into_iter();
            waits.map(|wait| reached(part, wait)).collect::<Vec<Result<f64, Saturated>>>()
        });
        let of = |(index, class): (usize, &InterfaceClass)| {
            self.latency(class, [firmware[index], bus[index], wire[index]])
        };
        classes.iter().enumerate().map(of).collect()
    }

    /// The same where a message waits nowhere again for those that it has waited for before, and what is left of a
    /// wait `at_link` behind the wire \[cycles\]. Of stations in tandem whose times are constant the slowest one
    /// decides: all waits together are the longest of them, as if each station were alone (Avi-Itzhak, Management
    /// Science 11 (1965) 565-573).
    pub fn in_tandem(
        &self,
        class: &InterfaceClass,
        alone: InterfaceLatency,
        at_link: f64,
    ) -> (InterfaceLatency, f64) {
        let jobs = self.bus.descriptor() + self.bus.message(class.message_flits);
        let setup = if self.is_by_message() { self.send_setup_cycles } else { 0.0 };
        let firmware = alone.firmware - self.firmware_cycles;
        let bus = alone.send_bus - jobs;
        let (wire, before) = (alone.send_setup - setup, f64::max(firmware, bus));
        let left = |wait: f64, before: f64| (wait - before).max(0.0);
        let behind = left(at_link, before.max(wire));
        let found = InterfaceLatency {
            send_bus: jobs + left(bus, firmware),
            send_setup: setup + left(wire, before),
            network: alone.network - (at_link - behind),
            ..alone
        };
        (found, behind)
    }

    /// Latency of a class by its waits at the stations.
    fn latency(
        &self,
        class: &InterfaceClass,
        waits: [Result<f64, Saturated>; 3],
    ) -> Result<InterfaceLatency, Saturated> {
        let [firmware, bus, wire] = waits;
        let (firmware, bus) = (firmware?, bus?);
        let (descriptor, message) = (self.bus.descriptor(), self.bus.message(class.message_flits));
        // flit by flit the network has the wire
        let send_setup =
            wire.map(|wait| if self.is_by_message() { wait + self.send_setup_cycles } else { 0.0 })?;
        // T_c = f + W_f + (W + d) + (W + g) + N + (W + g)
        Ok(InterfaceLatency {
            firmware: self.firmware_cycles + firmware,
            send_bus: (bus + descriptor) + (bus + message),
            send_setup,
            network: class.network_cycles,
            receive_bus: bus + message,
        })
    }
}

fn reached(part: Part, wait: Steady<f64>) -> Result<f64, Saturated> {
    match wait {
        Steady::Reached(cycles) => Ok(cycles),
        Steady::Saturated { load } => Err(Saturated { part, load }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router_nic::{RealTimePath, TwoLinks, assert_digits, assert_near};

    /// Messages of a node in a frame interval.
    const CONTROL: f64 = 1.0 / 416_667.0;

    fn class(rate: f64, message_flits: f64, network_cycles: f64) -> InterfaceClass {
        InterfaceClass { rate, message_flits, network_cycles }
    }

    fn interface(kind: InterfaceKind) -> HostInterface {
        HostInterface { kind, ..HostInterface::default() }
    }

    fn totals(kind: InterfaceKind, classes: &[InterfaceClass]) -> Vec<f64> {
        let latencies = interface(kind).latencies(classes);
        latencies.into_iter().map(|latency| latency.unwrap().total()).collect()
    }

    fn classes(rate: f64) -> [InterfaceClass; 3] {
        [class(CONTROL, 20.0, 25.0), class(rate, 40.0, 100.0), class(rate, 40.0, 200.0)]
    }

    #[test]
    fn interfaces_have_the_digits_written_down() {
        for (kind, rate, expected) in [
            (InterfaceKind::QosByFlit, 0.0075, ["74.6918", "172.1579", "304.3261"]),
            (InterfaceKind::Traditional, 0.00625, ["194.6611", "285.6611", "385.6611"]),
        ] {
            for (found, expected) in totals(kind, &classes(rate)).into_iter().zip(expected) {
                assert_digits(found, expected);
            }
        }
    }

    /// The preemptive router at loads of .6 and .8 by share of real time, streams of 11.754 Mbps on links of 1600 with
    /// a header in 40 flits. Measured*: qos .6 126 128 149 178 207, .8 139 155 200 283 362; traditional .6 451 448 433
    /// 373 601; best effort of .8 597 599 851 1071 2223.
    #[test]
    fn end_to_end_latencies_have_the_digits_written_down() {
        let mixes = [(0.2, 3.0), (0.3, 5.0), (0.5, 8.0), (0.7, 11.0), (0.8, 12.0)];
        let found = |kind, load: f64, index: usize| {
            mixes.map(|(share, channels)| {
                let stream = 11.754 / 1600.0;
                let real_time = (share * load / stream).round() * stream * 40.0 / 39.0;
                let rest = (1.0 - share) * load;
                let video = RealTimePath::router(real_time, channels).latency().unwrap().total();
                let best_effort = TwoLinks::best_effort(real_time, rest, 12.0).latency().unwrap().total();
                let classes = [
                    class(CONTROL, 20.0, 25.0),
                    class(real_time / 40.0, 40.0, video),
                    class(rest / 40.0, 40.0, best_effort),
                ];
                totals(kind, &classes)[index].round()
            })
        };
        assert_eq!(found(InterfaceKind::QosByFlit, 0.6, 0), [75.0; 5]);
        assert_eq!(found(InterfaceKind::QosByFlit, 0.6, 1), [126.0, 138.0, 166.0, 212.0, 247.0]);
        assert_eq!(found(InterfaceKind::QosByFlit, 0.8, 1), [140.0, 158.0, 211.0, 338.0, 494.0]);
        assert_eq!(found(InterfaceKind::QosByFlit, 0.8, 2), [792.0, 904.0, 1073.0, 1485.0, 1792.0]);
        assert_eq!(found(InterfaceKind::Traditional, 0.6, 1), [440.0, 491.0, 520.0, 564.0, 598.0]);
    }

    /// A lone message of 40 flits has its tail out in cycle 76 and is delivered 19 cycles later; sent as a whole it
    /// takes the programming longer.
    #[test]
    fn an_idle_interface_is_the_sum_of_its_jobs() {
        let lone = class(0.0, 40.0, 45.0);
        let parts = interface(InterfaceKind::QosByFlit).latencies(&[lone])[0].unwrap();
        let InterfaceLatency { firmware, send_bus, send_setup, network, receive_bus } = parts;
        assert_eq!([firmware, send_bus, send_setup, network, receive_bus], [10.0, 22.0, 0.0, 45.0, 18.0]);
        assert_eq!(totals(InterfaceKind::QosByFlit, &[lone]), [95.0]);
        assert_eq!(totals(InterfaceKind::QosByMessage, &[lone]), [115.0]);
        assert_eq!(totals(InterfaceKind::Traditional, &[lone]), [115.0]);
        assert!(interface(InterfaceKind::Traditional).latencies(&[]).is_empty());
    }

    /// One class alone has no priority to use.
    #[test]
    fn a_class_alone_is_served_in_order_of_arrival_by_either() {
        let alone = [class(0.01, 40.0, 60.0)];
        let [by_priority, in_order] =
            [InterfaceKind::QosByMessage, InterfaceKind::Traditional].map(|kind| totals(kind, &alone)[0]);
        assert_near(by_priority, in_order, 1e-13);
    }

    /// Waits weighed by loads are the same in any order of service.
    #[test]
    fn work_is_conserved_on_the_bus() {
        let given = classes(0.009);
        let weighed = |kind: InterfaceKind| -> f64 {
            let interface = interface(kind);
            let [_, (_, bus), _] = interface.stations(&given);
            let waits = interface.waits(&bus).into_iter().map(|wait| wait.reached().unwrap());
            bus.iter().zip(waits).map(|(customers, wait)| customers.load() * wait).sum()
        };
        assert_near(weighed(InterfaceKind::QosByFlit), weighed(InterfaceKind::Traditional), 1e-13);
    }

    #[test]
    fn latencies_rise_with_load_until_a_station_is_named() {
        for kind in [InterfaceKind::QosByFlit, InterfaceKind::QosByMessage, InterfaceKind::Traditional] {
            let steps = (0..16).map(|step| totals(kind, &classes(f64::from(step) * 5e-4))[2]);
            let steps: Vec<f64> = steps.collect();
            assert!(steps.is_sorted_by(|less, more| less < more) && steps[15].is_finite(), "{steps:?}");
        }
        let parts = |kind, rate| {
            interface(kind).latencies(&classes(rate)).iter().map(|one| one.err()).collect::<Vec<_>>()
        };
        // the bus carries 1 flit/cycle of a node, whole messages only .667
        let by_flit = parts(InterfaceKind::QosByFlit, 0.013);
        let low = by_flit[2].unwrap();
        assert_eq!((by_flit[0], by_flit[1], low.part), (None, None, Part::Bus));
        assert_eq!(low.to_string(), "the host bus would have to work for 1.0401 of its time");
        assert_eq!(parts(InterfaceKind::QosByMessage, 0.009)[2].unwrap().part, Part::Wire);
        let all = parts(InterfaceKind::Traditional, 0.009);
        assert!(all.iter().all(|one| one.unwrap().part == Part::Wire));
        let slow = HostInterface { firmware_cycles: 60.0, ..HostInterface::default() };
        assert_eq!(slow.latencies(&classes(0.009))[2].unwrap_err().part, Part::Firmware);
    }

    #[test]
    fn loads_reach_one_at_the_limits() {
        for kind in [InterfaceKind::QosByFlit, InterfaceKind::QosByMessage, InterfaceKind::Traditional] {
            let interface = interface(kind);
            let limits = interface.limits(40.0);
            let at = |load: f64| interface.loads(&[class(load / 40.0, 40.0, 45.0)]);
            assert_near(at(limits.firmware).firmware, 1.0, 1e-14);
            assert_near(at(limits.bus).bus, 1.0, 1e-14);
            assert_near(at(limits.wire).wire, 1.0, 1e-14);
        }
        assert_digits(interface(InterfaceKind::Traditional).limits(40.0).wire, "0.6667");
    }

    /// All waits together are the longest one.
    #[test]
    fn nobody_waits_twice_in_tandem() {
        for kind in [InterfaceKind::QosByFlit, InterfaceKind::QosByMessage, InterfaceKind::Traditional] {
            let (interface, class) = (interface(kind), class(0.006, 40.0, 200.0));
            let alone = interface.latencies(&[class])[0].unwrap();
            for at_link in [0.0, 3.0, 100.0] {
                let (found, left) = interface.in_tandem(&class, alone, at_link);
                let idle = interface.latencies(&[InterfaceClass { rate: 0.0, ..class }])[0].unwrap();
                let waits = |of: InterfaceLatency| {
                    [
                        of.firmware - idle.firmware,
                        of.send_bus - idle.send_bus,
                        of.send_setup - idle.send_setup,
                    ]
                };
                let longest = waits(alone).into_iter().fold(at_link, f64::max);
                assert_near(waits(found).iter().sum::<f64>() + left, longest, 1e-9);
                assert_near(alone.network - found.network + left, at_link, 1e-9);
            }
        }
    }
}
