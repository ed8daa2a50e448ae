//! Routers with lane arbiters, channel adapters, and controls of congestion and power, where the outcome is known by
//! hand.

use flitwise_language::network::LinkEnd;
use flitwise_language::scenario::{ClassKind, Scenario};
use flitwise_simulator::plain::lanes;
use flitwise_simulator::plain::lanes::TwinActivity;
use flitwise_simulator::{
    Arrival, Booking, ChannelChoice, Delivery, FlitMoves, FramePart, Offer, replay_booked,
};

use crate::levels::{Draws, assert_all_delivered, messages};
use crate::sources::{cases, seed_of_sources};

/// The deliveries of messages and bookings within so many cycles, and what controls have done.
pub(crate) trait Replay:
    Fn(&Scenario, &[Offer], &[Booking], u64) -> (Vec<Delivery>, TwinActivity)
{
}

impl<F: Fn(&Scenario, &[Offer], &[Booking], u64) -> (Vec<Delivery>, TwinActivity)> Replay for F {}

/// The fast simulator, with what its controls have done as the twin tells it.
pub(crate) fn fast(
    scenario: &Scenario,
    offers: &[Offer],
    bookings: &[Booking],
    limit: u64,
) -> (Vec<Delivery>, TwinActivity) {
    let (delivered, control) = replay_booked(scenario, offers, bookings, limit);
    let moves = control.windows.iter().fold(FlitMoves::default(), |sum, moves| sum.and(*moves));
    let energy = |moves: &FlitMoves| scenario.energies().map_or(0.0, |energies| moves.energy(&energies));
    let mut windows: Vec<f64> = control.windows.iter().map(energy).collect();
    while windows.last() == Some(&0.0) {
        windows.pop();
    }
    let activity = TwinActivity {
        dropped: control.dropped,
        throttled: control.throttled.start,
        moves,
        windows,
        stopped: control.throttled.stopped,
        largest_epoch: 0.0,
    };
    (delivered, activity)
}

/// More cycles than any of the scenarios here needs.
pub(crate) const LIMIT: u64 = 2_000_000;

/// Places of the classes.
const RT: u8 = 0;
const BE: u8 = 1;
const CONTROL: u8 = 2;

const ROUTER: &str = "topology = \"router\"\nports = 8";
const MESH: &str = "topology = \"mesh\"\nradix = [4, 4]";

/// Two lanes of real time, two of best effort and one of control: lanes 0 and 1, 2 and 3, 4.
fn text(network: &str, router: &str, tables: &str) -> String {
    format!(
        "name = \"by hand\"\n[units]\nlink = \"1.6 Gbps\"\nflit_bits = 128\n[network]\n{network}\n[router]\n\
        scheduler = \"lane-arbiter\"\nvc_choice = \"drawn-input\"\ncrossbar = \"multiplexed\"\n{router}\n{tables}\n\
        [[class]]\nname = \"RT\"\nkind = \"real-time\"\nvirtual_channels = 2\nmessage_flits = 40\n\
        connections = {{ mean = 0.02, count = 10 }}\n[[class]]\nname = \"BE\"\nkind = \"best-effort\"\n\
        virtual_channels = 2\nmessage_flits = 40\nrate = 0.005\n\
        [[class]]\nname = \"control\"\nkind = \"control\"\nmessage_flits = 10\nrate = 0.001\n"
    )
}

fn scenario(network: &str, router: &str, tables: &str) -> Scenario {
    let text = text(network, router, tables);
    Scenario::from_toml("lanes.toml", &text).unwrap_or_else(|faults| panic!("{faults:?}\n{text}"))
}

/// A message: its cycle, class, sender, destination, lane and length.
type Sent = (u64, u8, u32, u32, u8, u32);

fn offer((cycle, class, source, destination, lane, flits): Sent) -> Offer {
    Offer {
        arrival: Arrival { cycle, source, destination, class },
        way: 0,
        flits,
        vtick: 0.0,
        drawn: Some(ChannelChoice { injection: lane, network: lane, ejection: lane }),
        part: FramePart::default(),
    }
}

fn offers(sent: impl IntoIterator<Item = Sent>) -> Vec<Offer> {
    let mut offers: Vec<Offer> = sent.into_iter().map(offer).collect();
    offers.sort_by_key(|offer| offer.arrival.cycle);
    offers
}

/// A connection over the injection link of node 0 of the router of 8 ports.
fn booking(channel: u8, mean: f64, peak: f64) -> Booking {
    Booking { cycle: 0, link: 8, at_input: false, channel, mean, peak }
}

/// When a message was posted, and when its tail left over the injection link.
fn posted_and_sent(delivery: &Delivery) -> (u64, u64) {
    let posted = delivery.generated_cycle + u64::from(delivery.host.doorbell);
    (posted, posted + u64::from(delivery.host.interface) - 1)
}

// ------------------------------------------------------------------------------------- lone messages

fn a_lone_message_takes_what_it_takes_everywhere(replay: impl Replay) {
    let adapters = [
        "",
        "[interface]\nkind = \"channel-adapter\"",
        "[interface]\nkind = \"channel-adapter\"\ninjection = \"flit\"\nbuffer = \"unlimited\"",
    ];
    let routers = ["", "allocation = \"input-first\"", "weights = { frame = \"large\", pointer = \"slow\" }"];
    for (adapter, router) in adapters.iter().flat_map(|one| routers.map(|router| (one, router))) {
        for (network, destination, latency) in
            [(ROUTER, 5, 44), (MESH, 1, 49), (MESH, 5, 54), (MESH, 15, 74), (MESH, 12, 59)]
        {
            let scenario = scenario(network, router, adapter);
            for (class, lane) in [(RT, 1), (BE, 3), (CONTROL, 4)] {
                let (deliveries, _) =
                    replay(&scenario, &offers([(7, class, 0, destination, lane, 40)]), &[], LIMIT);
                assert_eq!((deliveries[0].entered_cycle, deliveries.len()), (8, 1));
                assert_eq!(deliveries[0].network_latency_cycles(), latency);
                let in_interface = if adapter.is_empty() { 0 } else { 40 };
                assert_eq!((deliveries[0].host.doorbell, deliveries[0].host.interface), (0, in_interface));
            }
        }
    }
}

#[test]
fn lone_messages() {
    a_lone_message_takes_what_it_takes_everywhere(lanes::replay);
    a_lone_message_takes_what_it_takes_everywhere(fast);
}

// ------------------------------------------------------------------------------------- arbiters

/// The order in which messages of a flit from node 0 leave over its injection link: the lanes, told by destinations.
fn order(replay: &impl Replay, router: &str, bookings: &[Booking], lanes: &[u8], each: usize) -> Vec<u8> {
    let router = format!("buffer_flits = 2000\n{router}");
    let class = |lane: u8| [RT, RT, BE, BE, CONTROL][usize::from(lane)];
    let all = lanes
        .iter()
        .flat_map(|lane| (0..each).map(move |_| (0, class(*lane), 0, u32::from(*lane), *lane, 1)));
    let (mut deliveries, _) = replay(&scenario(ROUTER, &router, ""), &offers(all), bookings, LIMIT);
    assert_eq!(deliveries.len(), lanes.len() * each);
    deliveries.sort_by_key(|one| one.entered_cycle);
    deliveries.iter().map(|one| one.destination as u8).collect()
}

fn lanes_take_turns_by_weight(replay: impl Replay) {
    for (frame, rates, pointer, expected) in [
        (3, [0.1, 0.2], "slow", vec![0, 1, 1]),
        (3, [0.1, 0.2], "fast", vec![0, 1, 1]),
        (6, [0.1, 0.2], "slow", vec![0, 0, 1, 1, 1, 1]),
        (6, [0.1, 0.2], "fast", vec![0, 1, 0, 1, 1, 1]),
        (6, [0.101, 0.2], "slow", vec![0, 0, 1, 1, 1, 1]),
    ] {
        let router = format!("weights = {{ frame = {frame}, pointer = \"{pointer}\" }}");
        let bookings = [booking(0, rates[0], 0.0), booking(1, rates[1], 0.0)];
        let order = order(&replay, &router, &bookings, &[0, 1], 40);
        // remainders begin at 1: the fast pointer serves each lane once
        let first = if pointer == "fast" { 2 } else { 0 };
        assert_eq!(order[first..first + 3 * frame], expected.repeat(3), "{pointer} {frame}");
    }
    let bookings = [booking(0, 0.101, 0.0), booking(1, 0.2, 0.0)];
    let order = order(&replay, "weights = { frame = 301 }", &bookings, &[0, 1], 500);
    assert_eq!(order[2..303].iter().filter(|lane| **lane == 0).count(), 101);
}

#[test]
fn weights() {
    lanes_take_turns_by_weight(lanes::replay);
    lanes_take_turns_by_weight(fast);
}

fn best_effort_is_sure_of_a_flit_in_limit(replay: impl Replay) {
    for (peak, limit) in [(0.0, 1), (0.5, 2), (0.75, 4), (0.9, 10), (1.0, 255), (1.3, 255)] {
        let order = order(&replay, "", &[booking(0, 0.1, peak)], &[0, 2], 600);
        let period: Vec<u8> = [vec![0; limit - 1], vec![2]].concat();
        assert_eq!(order[..2 * limit], period.repeat(2), "{peak}");
    }
    // given back, a connection counts no more; control goes first
    let bookings = [booking(0, 0.1, 0.9), booking(0, -0.1, -0.9)];
    assert_eq!(order(&replay, "", &bookings, &[0, 2, 4], 5)[..10], [[4; 5], [2; 5]].concat());
    assert_eq!(order(&replay, "", &[], &[0, 1, 2, 3], 2), [2, 3, 2, 3, 0, 1, 0, 1]);
}

#[test]
fn limits() {
    best_effort_is_sure_of_a_flit_in_limit(lanes::replay);
    best_effort_is_sure_of_a_flit_in_limit(fast);
}

fn control_waits_for_nothing_at_the_injection_link(replay: impl Replay) {
    for injection in ["message", "flit"] {
        let interface = format!("[interface]\nkind = \"channel-adapter\"\ninjection = \"{injection}\"");
        let scenario = scenario(MESH, "", &interface);
        let others = (0..20).flat_map(|_| [(0, BE, 0, 3, 2, 40), (0, RT, 0, 7, 0, 40)]);
        let control = (0..20).map(|number| (number * 37, CONTROL, 0, 15, 4, 10));
        let (deliveries, _) = replay(&scenario, &offers(others.chain(control)), &[], LIMIT);
        assert_eq!(deliveries.len(), 60);
        for one in deliveries.iter().filter(|one| one.class == CONTROL) {
            assert_eq!((one.waiting_cycles(), one.host.interface), (1, 10));
        }
    }
}

#[test]
fn control() {
    control_waits_for_nothing_at_the_injection_link(lanes::replay);
    control_waits_for_nothing_at_the_injection_link(fast);
}

// ------------------------------------------------------------------------------------- interfaces

fn messages_leave_one_after_another(replay: impl Replay) {
    let times = |injection: &str, sent: &[Sent]| -> Vec<u32> {
        let interface = format!("[interface]\nkind = \"channel-adapter\"\ninjection = \"{injection}\"");
        let scenario = scenario(ROUTER, "buffer_flits = 100", &interface);
        let (mut deliveries, _) = replay(&scenario, &offers(sent.iter().copied()), &[], LIMIT);
        deliveries.sort_by_key(|one| one.destination);
        deliveries.iter().map(|one| one.host.interface).collect()
    };
    let two = [(0, BE, 0, 1, 2, 40), (0, BE, 0, 2, 3, 40)];
    assert_eq!(times("message", &two), [40, 80]);
    assert_eq!(times("flit", &two), [79, 80]);
    // a higher level goes before what has begun, which goes on behind it
    let three = [two[0], two[1], (10, CONTROL, 0, 3, 4, 10)];
    assert_eq!(times("message", &three), [50, 90, 10]);
    // without peak rates best effort goes first, but what has begun asks nobody
    assert_eq!(times("message", &[(0, RT, 0, 1, 0, 40), (5, BE, 0, 2, 2, 40)]), [40, 75]);
    // real time asks the arbiter, which names best effort by its limit
    assert_eq!(times("message", &[(0, BE, 0, 1, 2, 40), (5, RT, 0, 2, 0, 40)]), [40, 75]);
}

#[test]
fn injection() {
    messages_leave_one_after_another(lanes::replay);
    messages_leave_one_after_another(fast);
}

/// Messages of best effort from all nodes of the mesh, more than it can carry.
fn many(count: usize, classes: &[u8]) -> Vec<Offer> {
    let mut draws = Draws::new(7);
    let sent = (0..count).map(|_| {
        let class = draws.of(classes);
        let (source, other) = (draws.below(16), draws.below(15));
        let lane = [draws.below(2), 2 + draws.below(2), 4][usize::from(class)] as u8;
        (u64::from(draws.below(800)), class, source, (source + 1 + other) % 16, lane, 40)
    });
    let sent: Vec<Sent> = sent.collect();
    offers(sent)
}

const ADAPTER: &str = "[interface]\nkind = \"channel-adapter\"";

/// With an adapter and a control of congestion.
fn controlled(congestion: &str) -> Scenario {
    scenario(
        MESH,
        "buffer_flits = 10",
        &format!("{ADAPTER}\n[congestion]\nreal_time_drop = false\n{congestion}"),
    )
}

fn credits_that_suffice_change_nothing(replay: impl Replay) {
    let sent = many(400, &[RT, BE, CONTROL]);
    let none = replay(&controlled("control = \"none\""), &sent, &[], LIMIT);
    assert_eq!(none.0.len(), sent.len());
    for queues in ["global", "quad", "separate"] {
        let congestion = format!("control = \"credit\"\ncredits_per_queue = 1000\nqueues = \"{queues}\"");
        assert_eq!(replay(&controlled(&congestion), &sent, &[], LIMIT), none, "{queues}");
    }
    let few = replay(&controlled("control = \"credit\"\ncredits = 2"), &sent, &[], LIMIT);
    assert_eq!(few.0.len(), sent.len());
    assert_ne!(few, none);
}

fn a_buffer_of_as_many_messages_is_a_gate_of_credits(replay: impl Replay) {
    let sent = many(500, &[BE]);
    for credits in [1, 2, 5, 20] {
        let small = format!("{ADAPTER}\nbuffer = \"{credits} messages\"\n[congestion]\ncontrol = \"none\"");
        let small = scenario(MESH, "buffer_flits = 10", &small);
        let gated = controlled(&format!("control = \"credit\"\ncredits = {credits}"));
        assert_eq!(replay(&small, &sent, &[], LIMIT), replay(&gated, &sent, &[], LIMIT), "{credits}");
    }
}

fn a_saturated_interface_holds_all_credits(replay: impl Replay) {
    for credits in [1, 3, 8] {
        let gated = controlled(&format!("control = \"credit\"\ncredits = {credits}"));
        let sent = (0..60).map(|number| (0, BE, 0, 1 + number % 15, 2 + (number % 2) as u8, 40));
        let (deliveries, _) = replay(&gated, &offers(sent), &[], LIMIT);
        assert_eq!(deliveries.len(), 60);
        let times: Vec<(u64, u64)> = deliveries.iter().map(posted_and_sent).collect();
        for (now, _) in &times {
            let inside = times.iter().filter(|(posted, sent)| (posted..=sent).contains(&now)).count();
            assert_eq!(inside, credits, "in {now}");
        }
    }
}

#[test]
fn credits() {
    credits_that_suffice_change_nothing(lanes::replay);
    credits_that_suffice_change_nothing(fast);
    a_buffer_of_as_many_messages_is_a_gate_of_credits(lanes::replay);
    a_buffer_of_as_many_messages_is_a_gate_of_credits(fast);
    a_saturated_interface_holds_all_credits(lanes::replay);
    a_saturated_interface_holds_all_credits(fast);
}

fn connections_without_credits_lose_messages(replay: impl Replay) {
    let of = |congestion: &str, cycles: [u64; 4]| {
        let interface = "[interface]\nkind = \"channel-adapter\"\nbuffer = \"10 messages\"";
        let tables = format!("{interface}\n[congestion]\ncontrol = \"credit\"\ncredits = 5\n{congestion}");
        let text = text(ROUTER, "", &tables).replacen("mean = 0.02, count = 10", "mean = 0.1, count = 2", 1);
        let scenario = Scenario::from_toml("lanes.toml", &text).unwrap();
        let mut sent = offers(cycles.map(|cycle| (cycle, RT, 0, 1, 0, 40)));
        sent.iter_mut().for_each(|offer| offer.part.stream = 1);
        let (deliveries, activity) = replay(&scenario, &sent, &[], LIMIT);
        let times: Vec<u64> = deliveries.iter().map(|one| one.generated_cycle).collect();
        (times, activity.dropped)
    };
    // a credit each: the tail leaves in cycle 39, and what comes in 40 is before the credit
    assert_eq!(of("", [0, 0, 40, 41]), (vec![0, 41], vec![2, 0, 0]));
    assert_eq!(of("real_time_drop = false", [0, 0, 40, 41]), (vec![0, 0, 40, 41], vec![0, 0, 0]));
    // delivered in 44, back in 45 and three cycles later
    let delivery = "return = \"delivery\"\nack_delay = 2.5";
    assert_eq!(of(delivery, [0, 41, 48, 49]), (vec![0, 49], vec![2, 0, 0]));
}

#[test]
fn dropped_messages() {
    connections_without_credits_lose_messages(lanes::replay);
    connections_without_credits_lose_messages(fast);
}

fn gates_hold_messages_back_until_lanes_are_free(replay: impl Replay) {
    // four messages to one neighbour: in 44 and 84 the tail of one is in its lane behind the router, and the next
    // owns the other lane, so that those that wait could not begin even if the link were free
    let sent = || offers((0..4).map(|number| (0, BE, 0, 1, 2 + (number % 2) as u8, 40)));
    let of = |control: &str| replay(&controlled(control), &sent(), &[], LIMIT);
    let (free, activity) = of("control = \"none\"");
    assert_eq!((free.len(), activity.throttled), (4, 0));
    let (gated, activity) = of("control = \"at-least-one\"\ninclude_interface = false");
    assert_eq!((gated, activity.throttled), (free, 2));
    let all = many(600, &[BE]);
    for control in ["at-least-one", "self-tuned"] {
        for interface in [true, false] {
            let congestion = format!("control = \"{control}\"\ninclude_interface = {interface}");
            let (deliveries, activity) = replay(&controlled(&congestion), &all, &[], LIMIT);
            assert_eq!(deliveries.len(), all.len());
            assert!(activity.throttled > 0, "{congestion}");
        }
    }
}

#[test]
fn gates() {
    gates_hold_messages_back_until_lanes_are_free(lanes::replay);
    gates_hold_messages_back_until_lanes_are_free(fast);
}

// ------------------------------------------------------------------------------------- energy and power

/// Of a message of 40 flits over so many links.
fn energy(hops: u32) -> f64 {
    40.0 * (190.97586 * (f64::from(hops) + 1.0) + 1306.88 * f64::from(hops))
}

fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * other.abs()
}

fn energy_is_that_of_routers_and_links(replay: impl Replay) {
    let mesh = scenario(MESH, "", &format!("{ADAPTER}\n[power]"));
    for (destination, hops, known) in [(1, 1, 67553.2688), (5, 2, 127467.5032), (15, 6, f64::NAN)] {
        let (_, activity) = replay(&mesh, &offers([(990, BE, 0, destination, 2, 40)]), &[], LIMIT);
        let spent: f64 = activity.windows.iter().sum();
        assert!(is_near(spent, energy(hops)), "{spent}");
        assert!(known.is_nan() || is_near(known, energy(hops)));
        assert_eq!((activity.windows[0], activity.windows.len()), (0.0, 3));
    }
    let router = scenario(ROUTER, "", "[power]\ninjection_link = 2.0\ninterface = 0.5\nwindow = 10");
    let (_, activity) = replay(&router, &offers([(0, BE, 0, 1, 2, 40)]), &[], LIMIT);
    assert!(is_near(activity.windows.iter().sum(), 7639.0344 + 40.0 * 2.5));
    // ten flits leave the interface, and those of cycles 0 to 5 cross in 4 to 9, those of 0 to 4 leave in 5 to 9
    assert!(is_near(activity.windows[0], 10.0 * (27.075 + 2.5) + 6.0 * 132.77586 + 5.0 * 31.125));
    let sent = many(300, &[RT, BE]);
    let (deliveries, activity) = replay(&mesh, &sent, &[], LIMIT);
    let expected: f64 = deliveries.iter().map(|one| energy(one.hops.into())).sum();
    assert!(is_near(activity.windows.iter().sum(), expected));
    let hops: u64 = deliveries.iter().map(|one| u64::from(one.hops)).sum();
    let moves = activity.moves;
    let flits = 40 * sent.len() as u64;
    assert_eq!([moves.injected, moves.ejected], [flits; 2]);
    assert_eq!([moves.linked, moves.crossed], [40 * hops, 40 * hops + flits]);
}

fn accounts_bound_what_is_posted(replay: impl Replay) {
    let sent = many(300, &[RT, BE]);
    for (budget, account) in [(5_000.0, 500), (2_000.0, 500), (8_000.0, 100)] {
        let power = format!(
            "{ADAPTER}\n[power]\ncontrol = \"credit\"\nbudget = {budget:?}\nreal_time_share = 0.25\naccount = {account}"
        );
        let (deliveries, _) = replay(&scenario(MESH, "", &power), &sent, &[], LIMIT);
        assert_eq!(deliveries.len(), sent.len());
        let all = budget * 0.75 * account as f64 / 16.0;
        for node in 0..16 {
            let of_node = deliveries.iter().filter(|one| (one.source, one.class) == (node, BE));
            let posted: Vec<(u64, f64)> =
                of_node.map(|one| (posted_and_sent(one).0, energy(one.hops.into()))).collect();
            for (first, _) in &posted {
                let window = *first..first + account;
                let inside = posted.iter().filter(|(cycle, _)| window.contains(cycle));
                let (sum, most) = inside.fold((0.0, 0.0), |(sum, most): (f64, f64), (_, energy)| {
                    (sum + energy, most.max(*energy))
                });
                assert!(sum <= all + most, "{sum} at {node}");
            }
        }
        assert!(deliveries.iter().any(|one| one.class == BE && one.host.doorbell > 0));
        assert!(deliveries.iter().all(|one| one.class == BE || one.host.doorbell == 0));
    }
}

fn no_epoch_is_above_the_budget(replay: impl Replay) {
    let sent = many(500, &[RT, BE, CONTROL]);
    for (budget, epoch) in [(20_000.0, 500), (30_000.0, 100), (400_000.0, 500)] {
        let power =
            format!("{ADAPTER}\n[power]\ncontrol = \"powerherd\"\nbudget = {budget:?}\nepoch = {epoch}");
        let (deliveries, activity) = replay(&scenario(MESH, "", &power), &sent, &[], LIMIT);
        assert_eq!(deliveries.len(), sent.len());
        assert!(activity.largest_epoch <= budget * epoch as f64 * (1.0 + 1e-12));
        assert_eq!(activity.stopped > 0, budget < 100_000.0);
    }
}

#[test]
fn power() {
    energy_is_that_of_routers_and_links(lanes::replay);
    energy_is_that_of_routers_and_links(fast);
    accounts_bound_what_is_posted(lanes::replay);
    accounts_bound_what_is_posted(fast);
    no_epoch_is_above_the_budget(lanes::replay);
    no_epoch_is_above_the_budget(fast);
}

// ------------------------------------------------------------------------------------- random scenarios

/// A small network, the ports of a router and whether it has rings.
fn random_network(draws: &mut Draws) -> (String, bool) {
    match draws.below(7) {
        0 | 1 => (format!("topology = \"router\"\nports = {}", 2 + draws.below(5)), false),
        2 | 3 => {
            let radix = format!("[{}, {}]", 2 + draws.below(3), 2 + draws.below(3));
            (format!("topology = \"mesh\"\nradix = {radix}"), false)
        }
        4 => {
            let (nodes, links) = (1 + draws.below(2), 1 + draws.below(2));
            let more = format!("nodes_per_router = {nodes}\nlinks = {links}");
            (format!("topology = \"mesh\"\nradix = [{}, 2]\n{more}", 2 + draws.below(2)), false)
        }
        5 => (format!("topology = \"torus\"\nradix = [3{}]", draws.of(&["", ", 3"])), true),
        _ => (format!("topology = \"hypercube\"\ndimension = {}", 1 + draws.below(3)), false),
    }
}

fn random_router(draws: &mut Draws) -> String {
    let crossbar = draws.of(&[
        "crossbar = \"multiplexed\"\nallocation = \"rotating\"",
        "crossbar = \"multiplexed\"\nallocation = \"rotating\"",
        "crossbar = \"multiplexed\"\nallocation = \"input-first\"",
        "crossbar = \"full\"",
    ]);
    let frame = draws.of(&["\"small\"", "\"large\"", "3", "7", "40"]);
    let weights = format!(
        "weights = {{ frame = {frame}, per_lane = {}, pointer = \"{}\" }}",
        draws.of(&[1, 2, 4]),
        draws.of(&["fast", "slow"])
    );
    format!(
        "scheduler = \"lane-arbiter\"\nvc_choice = \"{}\"\npipeline_stages = {}\nbuffer_flits = {}\n{crossbar}\n{}",
        draws.of(&["drawn", "drawn-input"]),
        3 + draws.below(4),
        1 + draws.below(12),
        draws.of(&[weights.as_str(), ""])
    )
}

/// One or two classes of real time, one or two of best effort, at times one of control.
fn random_classes(draws: &mut Draws, has_rings: bool) -> String {
    let least = if has_rings { 2 } else { 1 };
    let mut kinds = vec!["real-time", "best-effort"];
    kinds.extend(draws.of(&[None, None, Some("real-time"), Some("best-effort")]));
    kinds.extend(draws.of(&[None, Some("control")]));
    kinds.rotate_left(draws.below(2) as usize);
    let class = |(number, kind): (usize, &&str)| {
        let lanes = match *kind {
            "real-time" => least + draws.below(7 - least),
            "best-effort" => least + draws.below(5 - least),
            _ => least,
        };
        let load = match (*kind, draws.below(2)) {
            ("real-time", _) => {
                format!("connections = {{ mean = {}, count = 2 }}", draws.of(&["0.05", "0.2"]))
            }
            _ => format!("rate = {}", draws.of(&["0.001", "0.01"])),
        };
        format!(
            "[[class]]\nname = \"c{number}\"\nkind = \"{kind}\"\nvirtual_channels = {lanes}\n\
            message_flits = 8\n{load}\n"
        )
    };
    kinds.iter().enumerate().map(class).collect()
}

/// An adapter and at times a control of congestion; nothing for an ideal interface.
fn random_interface(draws: &mut Draws, has_quadrants: bool) -> String {
    if draws.below(5) == 0 {
        return String::new();
    }
    let buffer = draws.of(&[Some(1), Some(2), Some(3), Some(8), Some(1000), None]);
    let shown = buffer.map_or("unlimited".to_owned(), |messages| format!("{messages} messages"));
    let injection = draws.of(&["message", "message", "flit"]);
    let adapter = format!(
        "[interface]\nkind = \"channel-adapter\"\nbuffer = \"{shown}\"\ninjection = \"{injection}\"\n"
    );
    let control = match draws.below(8) {
        0 => return adapter,
        1 | 2 => "at-least-one",
        3 | 4 => "self-tuned",
        _ => "credit",
    };
    let queues = match draws.below(3) {
        0 if has_quadrants => "quad",
        1 => "separate",
        _ => "global",
    };
    let credits = (1 + draws.below(3)).min(buffer.unwrap_or(10));
    let switch = |draws: &mut Draws| draws.below(2) == 0;
    format!(
        "{adapter}[congestion]\ncontrol = \"{control}\"\nqueues = \"{queues}\"\ncredits_per_queue = {credits}\n\
        return = \"{}\"\nack_delay = {}\nreal_time_drop = {}\ninclude_interface = {}\ngather = {}\n\
        raise = {}\nlower = {}\ninitial = {}\n",
        draws.of(&["injection", "delivery"]),
        draws.of(&["0.0", "2.5", "7.0"]),
        switch(draws),
        switch(draws),
        draws.of(&[1, 4, 7, 32]),
        draws.of(&["0.01", "0.05"]),
        draws.of(&["0.04", "0.02"]),
        draws.of(&["0.01", "0.1"])
    )
}

/// Energies, and at times a control with a budget for a few messages, or for a few cycles of every router.
fn random_power(draws: &mut Draws, scenario: &Scenario) -> String {
    let network = scenario.topology();
    let (nodes, routers) = (f64::from(network.nodes()), f64::from(network.routers()));
    let of_port = 2.0 + draws.of(&[0.0, 1.0]);
    let energies = format!(
        "[power]\nbuffer_read = 0.25\nbuffer_write = 0.125\narbitration = 0.1\ncrossbar = 0.6\nlink = {of_port:?}\n\
        injection_link = {}\ninterface = {}\nwindow = {}\n",
        draws.of(&["0.0", "0.3"]),
        draws.of(&["0.0", "0.2"]),
        draws.of(&[1, 10, 100])
    );
    let has_adapter = scenario.channel_adapter().is_some();
    match draws.below(5) {
        0 => String::new(),
        1 | 2 if has_adapter => {
            let account = 20 + draws.below(150);
            // a message of 4 flits over a link
            let messages = draws.of(&[0.4, 0.9, 2.1, 5.3]);
            let load = |kind: ClassKind| -> f64 {
                let classes = scenario.classes().iter().filter(|class| class.kind == kind);
                classes.map(|class| class.rate * f64::from(class.message_flits)).sum()
            };
            let best_effort = load(ClassKind::BestEffort);
            let share = best_effort / (best_effort + load(ClassKind::RealTime));
            let (share, given) = draws.of(&[(share, ""), (0.7, "real_time_share = 0.3")]);
            let budget = messages * 4.0 * (2.9 + of_port) * nodes / f64::from(account) / share;
            format!(
                "{energies}control = \"credit\"\nbudget = {budget:?}\naccount = {account}\nrestore = \"{}\"\n{}\n",
                draws.of(&["window", "arrival"]),
                given
            )
        }
        3 if routers > 1.0 => {
            let epoch = draws.of(&[10, 37, 100]);
            // more than the worst cycle of a router, so that all of them can go on at some time
            let worst = f64::from(network.ports()) * (of_port + 3.0);
            let budget = worst * draws.of(&[1.01, 1.3, 2.0, 6.0]) * routers / f64::from(epoch);
            let spare = draws.of(&["1.0", "1.1", "2.0"]);
            format!(
                "{energies}control = \"powerherd\"\nbudget = {budget:?}\nepoch = {epoch}\nspare_factor = {spare}\n"
            )
        }
        _ => energies,
    }
}

/// Connections over random links, most of which are given back later.
fn random_bookings(draws: &mut Draws, scenario: &Scenario, cycles: u32) -> Vec<Booking> {
    let network = scenario.topology();
    let (ports, output_links) = (network.ports(), network.routers() * network.ports());
    let real_time: Vec<u8> = (scenario.classes().iter().zip(scenario.virtual_channels()))
        .filter(|(class, _)| class.kind == ClassKind::RealTime)
        .flat_map(|(_, lanes)| lanes.map(|lane| lane as u8))
        .collect();
    let mut bookings = Vec::new();
    for _ in 0..draws.below(60) {
        let link = draws.below(output_links + network.nodes());
        let is_injection = link >= output_links;
        let end = || network.link_end(link / ports, link % ports);
        let (is_absent, enters) = match is_injection || end().input().is_some() {
            true => (false, true),
            false => (end() == LinkEnd::Absent, false),
        };
        if is_absent {
            continue;
        }
        let at_input = enters && draws.below(2) == 0;
        let mean = draws.of(&[0.02, 0.1, 0.1, 0.25, 0.31]);
        let (cycle, peak) = (u64::from(draws.below(cycles)), mean * draws.of(&[1.0, 2.0, 4.0]));
        let booking = Booking { cycle, link, at_input, channel: draws.of(&real_time), mean, peak };
        bookings.push(booking);
        if draws.below(4) > 0 {
            let end = cycle + 1 + u64::from(draws.below(cycles));
            bookings.push(Booking { cycle: end, mean: -mean, peak: -peak, ..booking });
        }
    }
    bookings.sort_by_key(|booking| booking.cycle);
    bookings
}

/// A small scenario with messages and bookings; messages of connections carry their numbers.
pub(crate) fn random_case(seed: u64) -> (Scenario, Vec<Offer>, Vec<Booking>) {
    let draws = &mut Draws::new(seed);
    let (network, has_rings) = random_network(draws);
    let has_quadrants = network.contains("radix = [") && network.contains(", ");
    let units = "[units]\nlink = \"1.6 Gbps\"\nflit_bits = 128\n";
    let router = random_router(draws);
    let interface = random_interface(draws, has_quadrants);
    let classes = random_classes(draws, has_rings);
    let text =
        format!("name = \"{seed}\"\n{units}[network]\n{network}\n[router]\n{router}\n{interface}{classes}");
    let parsed = |text: &str| {
        Scenario::from_toml("random.toml", text).unwrap_or_else(|faults| panic!("{seed}: {faults:?}\n{text}"))
    };
    let power = random_power(draws, &parsed(&text));
    let scenario = parsed(&format!("{text}{power}"));

    let (count, longest) = (20 + draws.below(100), draws.of(&[1, 3, 8, 20]));
    // flits per cycle and node while messages come
    let load = draws.of(&[0.2, 0.5, 0.8, 1.2, 5.0]);
    let flits = f64::from(count * (longest + 1)) / 2.0;
    let cycles = (flits / f64::from(scenario.topology().nodes()) / load).ceil() as u32;
    let mut offers = messages(draws, &scenario, count as usize, cycles, longest);
    for offer in &mut offers {
        if scenario.connections(usize::from(offer.arrival.class)).is_some() {
            offer.part.stream = 2 * offer.arrival.source + draws.below(2);
        }
    }
    let bookings = random_bookings(draws, &scenario, 2 * cycles);
    (scenario, offers, bookings)
}

/// All that is offered and not dropped is delivered, and what it costs adds up.
fn is_sound(replay: &impl Replay, seed: u64) -> (u64, u64, u64) {
    let (scenario, offers, bookings) = random_case(seed);
    let (deliveries, activity) = replay(&scenario, &offers, &bookings, LIMIT);
    let dropped: u64 = activity.dropped.iter().sum();
    assert_eq!(deliveries.len() + dropped as usize, offers.len(), "{seed}: {:?}", scenario.spec());
    if dropped == 0 {
        let mut sent = offers.clone();
        sent.sort_by_key(|offer| offer.arrival.cycle);
        assert_all_delivered(&scenario, &sent, &deliveries);
        let moves = activity.moves;
        let flits: u64 = offers.iter().map(|offer| u64::from(offer.flits)).sum();
        assert_eq!([moves.injected, moves.ejected, moves.crossed], [flits, flits, flits + moves.linked]);
        let energy = scenario.energies().map_or(0.0, |energies| {
            energies.flit(0.0) * flits as f64 + (energies.router() + energies.link) * moves.linked as f64
        });
        let spent: f64 = activity.windows.iter().sum();
        assert!((spent - energy).abs() <= 1e-9 * energy, "{seed}: {spent} of {energy}");
    }
    (dropped, activity.throttled, activity.stopped)
}

/// Whether the fast simulator and its twin agree message by message, window by window.
fn agree(seed: u64) {
    let (scenario, offers, bookings) = random_case(seed);
    let (expected, plain) = lanes::replay(&scenario, &offers, &bookings, LIMIT);
    let (found, fast) = fast(&scenario, &offers, &bookings, LIMIT);
    let differs = expected.iter().zip(&found).find(|(one, other)| one != other);
    assert_eq!(differs, None, "{seed}: {}", scenario.spec().to_toml());
    assert_eq!(expected.len(), found.len(), "{seed}");
    let lost = |activity: &TwinActivity| activity.dropped.iter().sum::<u64>();
    assert_eq!(
        (lost(&plain), plain.throttled, plain.stopped),
        (lost(&fast), fast.throttled, fast.stopped),
        "{seed}: {}",
        scenario.spec().to_toml()
    );
    assert_eq!(plain.windows.len(), fast.windows.len(), "{seed}");
    for (one, other) in plain.windows.iter().zip(&fast.windows) {
        assert!((one - other).abs() <= 1e-9 * one.abs(), "{seed}: {one} and {other}");
    }
}

#[test]
fn the_fast_simulator_agrees_with_its_twin() {
    (0..400).for_each(agree);
}

#[test]
fn random_scenarios_are_sound() {
    let counts: Vec<(u64, u64, u64)> = (0..200).map(|seed| is_sound(&lanes::replay, seed)).collect();
    assert!(counts.iter().filter(|(dropped, ..)| *dropped > 0).count() > 5);
    assert!(counts.iter().filter(|(_, throttled, _)| *throttled > 0).count() > 20);
    assert!(counts.iter().filter(|(.., stopped)| *stopped > 0).count() > 10);
}

/// Other cases with every change of the simulator.
#[test]
#[ignore = "5,000 random cases take a minute"]
fn many_other_random_scenarios_are_sound_and_alike() {
    let first = seed_of_sources() >> 1;
    for number in 0..u64::from(cases(5_000)) {
        is_sound(&lanes::replay, first + number);
        agree(first + number);
    }
}
