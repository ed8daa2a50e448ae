//! Packet switches on what can be reckoned by hand, and the fast simulator against the plain one.

use super::plain::Plain;
use super::*;

const OMEGA: Direction = Direction::Unidirectional { first_shuffle: true };
const ORGANISATIONS: [Organisation; 6] = [
    Organisation::OneQueue,
    Organisation::FourQueues,
    Organisation::VoqSwitch { single_output: false },
    Organisation::VoqSwitch { single_output: true },
    Organisation::VoqNetwork,
    RECN,
];
const RECN: Organisation = Organisation::Recn(DEFAULTS);
const DEFAULTS: Recn = Recn {
    set_aside_queues: 8,
    detection: 16,
    propagation: 4,
    xoff: 32,
    xon: 16,
    few_packets: 2,
    normal_weight: 8,
    hold: 375,
    marker: Marker::ParentQueue,
};

fn message(tick: u64, source: u32, destination: u32, packets: u32) -> Message {
    Message { tick, traffic: 0, source, destination, packets }
}

/// The deliveries of listed messages and the counts; both simulators agree and are empty at `end`.
fn replayed(fabric: &Fabric, messages: Vec<Message>, end: u64) -> (Vec<Delivery>, Counts) {
    let load = Load { messages, bin: 100, ..Load::default() };
    let (mut plain, mut delivered) = (Plain::new(fabric, &load), Vec::new());
    plain.run_until(end, &mut delivered);
    assert!(plain.is_drained(), "{fabric:?}");
    (delivered, *plain.counts())
}

fn latencies(fabric: &Fabric, messages: Vec<Message>) -> Vec<u64> {
    let (delivered, _) = replayed(fabric, messages, 700);
    delivered.iter().map(|delivery| delivery.delivered - delivery.generated).collect()
}

#[test]
fn a_lone_packet_takes_its_times_in_every_organisation() {
    let network = |hosts, direction| Fabric { hosts, direction, ..Fabric::default() };
    let cases = [
        (network(16, OMEGA), 9, 66),
        (network(64, OMEGA), 32, 83),
        (network(256, OMEGA), 77, 100),
        (network(64, Direction::Bidirectional), 2, 49),
        (network(64, Direction::Bidirectional), 17, 83),
        (network(64, Direction::Bidirectional), 63, 117),
        (Fabric { store_and_forward: true, ..Fabric::default() }, 32, 146),
        (
            Fabric {
                times: Times { packet_link: 192, packet_crossbar: 128, ..Times::default() },
                ..Fabric::default()
            },
            32,
            416,
        ),
    ];
    for (fabric, destination, ticks) in cases {
        for organisation in ORGANISATIONS {
            let fabric = Fabric { organisation, ..fabric };
            assert_eq!(latencies(&fabric, vec![message(7, 1, destination, 1)]), [ticks], "{fabric:?}");
        }
    }
}

#[test]
fn two_and_sixteen_packets_follow_each_other_on_the_link() {
    for organisation in ORGANISATIONS {
        let fabric = Fabric { organisation, ..Fabric::default() };
        assert_eq!(latencies(&fabric, vec![message(0, 0, 32, 1), message(0, 1, 32, 1)]), [83, 107]);
        assert_eq!(latencies(&fabric, vec![message(0, 0, 32, 2)]), [83, 107]);
        let sixteen = latencies(&fabric, (48..64).map(|host| message(0, host, 32, 1)).collect());
        assert_eq!(sixteen, (0..16).map(|place| 83 + 24 * place).collect::<Vec<u64>>());
    }
}

#[test]
fn a_tree_grows_and_goes() {
    let messages: Vec<Message> = (48..64).map(|host| message(0, host, 32, 40)).collect();
    for organisation in [Organisation::OneQueue, RECN] {
        for direction in [OMEGA, Direction::Bidirectional] {
            let fabric = Fabric { organisation, direction, ..Fabric::default() };
            let (delivered, counts) = replayed(&fabric, messages.clone(), 20_000);
            if direction == OMEGA {
                let times: Vec<u64> = delivered.iter().map(|delivery| delivery.delivered).collect();
                assert_eq!(times, (0..640).map(|place| 83 + 24 * place).collect::<Vec<u64>>());
            }
            let Counts { allocated, notifications, refusals, peak, .. } = counts;
            let wanted = match (organisation, direction) {
                (Organisation::OneQueue, _) => (0, 0, [0; 3]),
                (_, Direction::Bidirectional) => (171, 135, [49, 2, 1]),
                _ => (92, 56, [44, 2, 1]),
            };
            assert_eq!((allocated, notifications, peak), wanted);
            assert_eq!((refusals, counts.out_of_order), (0, 0));
        }
    }
}
