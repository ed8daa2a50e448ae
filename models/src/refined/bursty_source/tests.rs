use super::active_streams::told_apart;
use super::*;

/// A small generator of its own: splitmix64.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }
}

/// Mean wait and shares of messages, by following them one after the other. Services are drawn from two values,
/// equally likely, and those of first messages from two others.
fn simulated(source: BurstySource, service: [f64; 2], first: [f64; 2], messages: u32) -> SourceQueue {
    let mut random = Random(7);
    let spacing = 1.0 / source.peak_rate;
    let mean_off = source.messages_per_burst * (f64::from(source.streams) / source.rate - spacing);
    let off = |random: &mut Random| {
        let more = random.uniform() < 1.0 - 1.0 / source.messages_per_burst;
        if more { 0.0 } else { mean_off * random.exponential() }
    };
    let on = source.rate / f64::from(source.streams) * spacing;
    let mut next: Vec<f64> = (0..source.streams)
        .map(|_| {
            if random.uniform() < on {
                spacing * random.uniform() + off(&mut random)
            } else {
                mean_off * random.exponential()
            }
        })
        .collect();
    let (mut free, mut last_was_first) = (0.0f64, false);
    let (mut wait, mut firsts, mut seconds) = (0.0, 0.0, 0.0);
    let warm_up = messages / 10;
    for message in 0..messages + warm_up {
        let stream = (0..next.len()).min_by(|a, b| next[*a].total_cmp(&next[*b])).unwrap();
        let now = next[stream];
        next[stream] += spacing + off(&mut random);
        let is_first = free <= now;
        if message >= warm_up {
            wait += (free - now).max(0.0);
            firsts += f64::from(u8::from(is_first));
            seconds += f64::from(u8::from(!is_first && last_was_first));
        }
        let half = usize::from(random.uniform() < 0.5);
        free = if is_first { now + first[half] } else { free + service[half] };
        last_was_first = is_first;
    }
    let count = f64::from(messages);
    SourceQueue { wait: wait / count, first: firsts / count, second: seconds / count }
}

fn service(values: [f64; 2]) -> Service {
    let [a, b] = values;
    Service { mean: f64::midpoint(a, b), mean_square: f64::midpoint(a * a, b * b) }
}

fn source(rate: f64, streams: u32, messages_per_burst: f64, peak_rate: f64) -> BurstySource {
    BurstySource { rate, streams, messages_per_burst, peak_rate }
}

fn close(found: f64, wanted: f64, relative: f64) {
    assert!((found - wanted).abs() <= relative * wanted.abs(), "found {found}, wanted {wanted}");
}

/// M/G/1 with a first service of its own: mean wait and share of first messages.
fn poisson(rate: f64, service: Service, first: Service) -> (f64, f64) {
    let own = 1.0 - rate * service.mean;
    let both = 1.0 + rate * (first.mean - service.mean);
    let more = first.mean_square - service.mean_square;
    (rate / 2.0 * (service.mean_square / own + more / both), own / both)
}

#[test]
fn streams_that_hardly_ever_send_are_poisson() {
    for load in [0.05, 0.5, 0.95] {
        for (messages, first) in
            [(service([24.0, 44.0]), service([30.0, 50.0])), (service([34.0; 2]), service([20.0; 2]))]
        {
            let rate = load / 34.0;
            let found = source(rate, 10_000, 1.0, 0.05).queue(messages, first);
            let (wait, share) = poisson(rate, messages, first);
            close(found.wait, wait, 1e-3);
            close(found.first, share, 1e-3);
            // somebody comes during a first service
            close(found.second, share * (1.0 - (-rate * first.mean).exp()), 2e-3);
        }
    }
}

#[test]
fn bursts_thinned_out_are_poisson() {
    let rate = 0.5 / 34.0;
    let (messages, first) = (service([24.0, 44.0]), service([30.0, 40.0]));
    let (wait, share) = poisson(rate, messages, first);
    // half of the streams in a burst at a time, a message every million cycles each
    for burst in [1.0, 8.0, 1000.0] {
        let found = source(rate, 10_000, burst, 2.0 * rate / 10_000.0).queue(messages, first);
        close(found.wait, wait, 2e-3);
        close(found.first, share, 2e-3);
    }
}

#[test]
fn back_to_back_messages_are_geometric_batches() {
    // a service as long as a million spacings
    let b = 1e6;
    for (load, burst) in [(0.1, 3.0), (0.5, 8.0), (0.9, 100.0)] {
        for streams in [1, 14, 10_000] {
            let found =
                source(load / b, streams, burst, 1.0).queue(Service::constant(b), Service::constant(b));
            // batches of b X wait as in M/G/1; then a message waits for those of its batch before it
            let square = 2.0 * burst * burst - burst;
            let batch = load / burst / b * square * b * b / (2.0 * (1.0 - load));
            close(found.wait, batch + b * (square / burst - 1.0) / 2.0, 1e-4);
            close(found.first, (1.0 - load) / burst, 1e-4);
        }
    }
}

#[test]
fn one_stream_slower_than_the_server_never_waits() {
    for (burst, share) in [(1.0, 0.5), (8.0, 0.01), (1e6, 0.999)] {
        let source = source(0.02 * share, 1, burst, 0.02);
        let found = source.queue(Service::constant(35.0), Service::constant(40.0));
        assert!(found.wait < 1e-6, "{found:?}");
        close(found.first, 1.0, 1e-9);
        assert!(found.second < 1e-9);
        // known to vary, but not that they are never longer than the spacing: as if normal, one in 44 is
        let found = source.queue(service([30.0, 40.0]), service([35.0, 45.0]));
        assert!(found.wait < 0.15, "{found:?}");
        close(found.first, 1.0, 0.023);
    }
}

#[test]
fn one_stream_faster_than_the_server_is_m_g_1_of_what_a_burst_leaves() {
    for (rate, burst, peak) in [(0.001, 8.0, 0.05), (0.02, 8.0, 0.05), (0.025, 100.0, 0.9)] {
        let b = 34.0;
        let excess = b - 1.0 / peak;
        let bursts = 1.0 / (burst * (1.0 / rate - 1.0 / peak));
        // a burst of n messages leaves n excesses, and one spacing less than it lasts of OFF time is none
        let square = 2.0 * burst * burst - burst;
        let wait = bursts * square * excess * excess / (2.0 * (1.0 - bursts * burst * excess));
        let found = source(rate, 1, burst, peak).queue(Service::constant(b), Service::constant(b));
        close(found.wait, wait + excess * (burst - 1.0), 1e-9);
    }
}

#[test]
fn streams_that_never_stop_are_periodic() {
    // two of them: the second waits for what is left of the first, b² / 2 s on average
    let two =
        source(0.02 * (1.0 - 1e-9), 2, 8.0, 0.01).queue(Service::constant(30.0), Service::constant(30.0));
    close(two.wait, 30.0 * 30.0 / 200.0, 1e-6);
    close(two.first, 0.7, 1e-6);
}

#[test]
fn periodic_messages_wait_as_laid_out_on_a_circle() {
    let mut random = Random(3);
    for (active, r) in [(2.0, 0.4), (3.0, 0.3), (8.0, 0.1), (8.0, 0.124)] {
        let mut waits = 0.0;
        let rounds = 200_000;
        for _ in 0..rounds {
            // the others in the two periods before the tagged message, at time 2
            let mut others: Vec<f64> = (1..active as u32).map(|_| random.uniform()).collect();
            others.sort_by(f64::total_cmp);
            let mut free: f64 = 0.0;
            for period in 0..2 {
                for other in &others {
                    free = free.max(other + f64::from(period)) + r;
                }
                // the tagged message itself, once before
                if period == 0 {
                    free = free.max(1.0) + r;
                }
            }
            waits += (free - 2.0).max(0.0);
        }
        close(r / 2.0 * periodic_wait(active, r), waits / f64::from(rounds), 0.01);
    }
}

#[test]
fn near_saturation_the_dispersion_of_arrivals_is_all_that_counts() {
    let (b, idle) = (34.0, 1e-6);
    for (streams, burst, peak) in [(14, 8.0, 0.01), (4, 3.0, 0.02), (1000, 4.0, 0.0005), (14, 8.0, 0.5)] {
        let rate = (1.0 - idle) / b;
        let off = 1.0 - rate / f64::from(streams) / peak;
        let dispersion = (2.0 * burst - 1.0) * off * off;
        let found = source(rate, streams, burst, peak).queue(service([24.0, 44.0]), service([24.0, 44.0]));
        close(found.wait, b / 2.0 * (dispersion + 100.0 / (b * b)) / idle, 1e-4);
    }
}

#[test]
fn the_wait_is_that_of_messages_followed_one_by_one() {
    let alike = [34.0, 34.0];
    // relative error of the wait, absolute error of the shares
    for (load, streams, burst, peak, services, first, error) in [
        (0.3, 2, 8.0, 0.02, alike, alike, 0.03),
        (0.3, 2, 8.0, 0.02, alike, [38.0, 42.0], 0.03),
        (0.6, 4, 1.0, 0.02, alike, alike, 0.02),
        (0.3, 4, 8.0, 0.02, [30.0, 38.0], [26.0, 30.0], 0.04),
        (0.6, 4, 8.0, 0.02, alike, alike, 0.03),
        (0.3, 14, 2.0, 0.01, alike, [40.0, 40.0], 0.04),
        (0.6, 14, 8.0, 0.01, alike, alike, 0.05),
        (0.3, 14, 8.0, 0.05, [24.0, 44.0], [40.0, 40.0], 0.03),
        (0.6, 14, 8.0, 0.05, alike, alike, 0.03),
        (0.6, 100, 1.0, 0.002, alike, [40.0, 40.0], 0.02),
    ] {
        let source = source(load / 34.0, streams, burst, peak);
        let wanted = simulated(source, services, first, 1_000_000);
        let found = source.queue(service(services), service(first));
        close(found.wait, wanted.wait, error);
        assert!((found.first - wanted.first).abs() < 0.01, "{source:?}: {found:?}, {wanted:?}");
        assert!((found.second - wanted.second).abs() < 0.01, "{source:?}: {found:?}, {wanted:?}");
    }
}

#[test]
fn the_wait_rises_with_the_load() {
    for (streams, burst, peak) in [
        (2, 8.0, 0.02),
        (3, 1.0, 0.02),
        (14, 1.0, 0.01),
        (14, 8.0, 0.01),
        (14, 300.0, 0.028),
        (14, 8.0, 0.05),
        (200, 8.0, 0.001),
        (3000, 2.0, 0.0001),
    ] {
        let most = (f64::from(streams) * peak).min(1.0 / 34.0);
        let mut last = SourceQueue { wait: 0.0, first: 1.0, second: 0.0 };
        for step in 1..200 {
            let load = f64::from(step) / 200.0;
            let found = source(load * most, streams, burst, peak)
                .queue(Service::constant(34.0), Service::constant(36.0));
            assert!(
                found.wait >= last.wait * (1.0 - 1e-9),
                "{streams} {burst} {peak} at {load}: {last:?}, {found:?}"
            );
            assert!(
                found.first <= last.first * (1.0 + 1e-9),
                "{streams} {burst} {peak} at {load}: {last:?}, {found:?}"
            );
            last = found;
        }
    }
}

#[test]
fn every_source_that_a_scenario_may_have_is_answered() {
    for streams in [1, 2, 3, 16, 17, 41, 100, 1000, 10_000] {
        for burst in [1.0, 1.5, 8.0, 1e3, 1e6] {
            for peak in [1e-9, 1e-6, 1e-3, 0.01, 1.0 / 34.0, 0.0295, 0.5, 1.0] {
                for share in [1e-12, 1e-6, 0.01, 0.5, 0.9, 1.0 - 1e-9, 1.0 - 1e-15] {
                    for (b, f) in [(34.0, 34.0), (34.0, 60.0), (34.0, 20.0), (1.0, 500.0), (4096.0, 4096.0)] {
                        let source = source(f64::from(streams) * peak * share, streams, burst, peak);
                        let load = source.rate * b;
                        let found = source.queue(service([b * 0.7, b * 1.3]), Service::constant(f));
                        let told = || format!("{source:?} {b} {f}: {found:?}");
                        assert!((0.0..=1.0).contains(&found.first), "{}", told());
                        assert!((0.0..=1.0 - found.first).contains(&found.second), "{}", told());
                        assert!(found.wait >= 0.0, "{}", told());
                        assert_eq!(found.wait.is_finite(), load < 1.0, "{}", told());
                    }
                }
            }
        }
    }
}

#[test]
fn displaced_shares_balance() {
    for (streams, on, load) in
        [(4.0, 0.2, 0.4), (14.0, 0.1, 0.34), (14.0, 0.19, 0.34), (40.0, 0.3, 0.06), (1000.0, 0.5, 0.0018)]
    {
        let states = active_streams(streams, on, load);
        let share: f64 = states.iter().map(|state| state.share).sum();
        let balance: f64 = states.iter().map(|state| state.displaced * state.spare).sum();
        let overload: f64 = states.iter().map(|state| state.share * (-state.spare).max(0.0)).sum();
        close(share, 1.0, 1e-12);
        assert!(
            overload > 0.0 && balance.abs() <= 1e-9 * overload,
            "{streams} {on} {load}: {balance} {overload}"
        );
    }
}

/// Services that vary make messages of a burst wait that come as fast as they are served, and a little slower.
#[test]
fn services_that_vary_let_messages_of_one_stream_wait() {
    for (services, peak, error) in
        [([24.0, 64.0], 0.019, 0.25), ([24.0, 64.0], 0.022, 0.15), ([24.0, 64.0], 0.024, 0.1)]
    {
        let source = source(0.006, 1, 8.0, peak);
        let wanted = simulated(source, services, services, 1_000_000);
        let found = source.queue(service(services), service(services));
        close(found.wait, wanted.wait, error);
    }
}

/// Where overload is rare, strides show; what it adds to the wait is small then.
#[test]
fn strides_find_nearly_what_single_steps_find() {
    for (streams, on, rho, error) in [
        (100.0, 0.2, 0.6, 0.1),
        (1000.0, 0.05, 0.8, 0.06),
        (1000.0, 0.5, 0.9, 0.2),
        (1000.0, 0.5, 0.97, 0.01),
        (10_000.0, 0.02, 0.8, 0.12),
        (10_000.0, 0.5, 0.98, 0.03),
        (10_000.0, 0.5, 0.9995, 1e-3),
    ] {
        let overload = |states: Vec<State>| -> f64 {
            states.iter().map(|state| state.displaced * state.spare * state.spare).sum()
        };
        let load = rho / streams / on;
        let fine = overload(told_apart(streams, on, load, 200));
        close(overload(active_streams(streams, on, load)), fine, error);
    }
}

/// Whether a message of a stream that fills the server about finds nobody, and the next one it, is as followed one by
/// one, on either side of that, and does not jump.
#[test]
fn services_that_vary_decide_who_finds_nobody_where_one_stream_fills_the_server() {
    let services = [7.0, 15.0];
    for (streams, burst) in [(1, 4.0), (2, 4.0), (4, 8.0)] {
        let at = |r: f64| source(0.4 / 11.0, streams, burst, r / 11.0);
        for r in [0.9, 0.95, 0.99, 1.01, 1.05, 1.1] {
            let wanted = simulated(at(r), services, services, 300_000);
            let found = at(r).queue(service(services), service(services));
            assert!((found.first - wanted.first).abs() < 0.08, "{streams} {r}: {found:?} {wanted:?}");
            assert!((found.second - wanted.second).abs() < 0.04, "{streams} {r}: {found:?} {wanted:?}");
        }
        let [below, above] = [0.9999, 1.0001].map(|r| at(r).queue(service(services), service(services)));
        assert!((below.first - above.first).abs() < 2e-3, "{streams}: {below:?} {above:?}");
        assert!((below.second - above.second).abs() < 2e-3, "{streams}: {below:?} {above:?}");
    }
}
