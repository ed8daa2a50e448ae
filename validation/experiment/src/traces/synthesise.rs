//! A self-similar trace of hosts and disks, made in place of those that are not public.

use flitwise_simulator::{Periods, Random, exponential, stream_of, uniform};

use super::Row;
use super::convert::{HEADER_BYTES, exchange};

/// Streams of requests of an initiator.
const STREAMS: u32 = 8;
/// Index of the Pareto laws.
const ALPHA: f64 = 1.4;
/// Time between requests of an ON period \[ns\].
const SPACING_NS: f64 = 20_000.0;
/// The most requests of an ON period.
const MOST: u32 = 512;
/// Share of requests that read.
const READS: f64 = 0.6;
/// Data of a request \[bytes\].
const BYTES: u32 = 8192;
/// Mean time to an answer \[ns\].
const RESPONSE_NS: f64 = 2e6;
/// Mean load of 64 hosts \[bytes/ns\].
const LOAD: f64 = 0.4;

/// A trace to be made: initiators on the first hosts read from and write to disks on the last ones, of which some are
/// used more than others (Zipf's law).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Synthesis {
    /// Hosts of the network.
    pub hosts: u32,
    /// Disks, fewer than hosts and at least one.
    pub disks: u32,
    /// Length \[ns\].
    pub length_ns: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Synthesis {
    /// The messages: 0.4 bytes/ns of 64 hosts on average over a long time.
    pub fn rows(&self) -> Vec<Row> {
        let initiators = self.hosts - self.disks;
        let load = LOAD * f64::from(self.hosts) / 64.0;
        // a request and its answer: data once, headers twice
        let exchanged = f64::from(BYTES + 2 * HEADER_BYTES);
        let interval = f64::from(initiators * STREAMS) * exchanged / load;
        let periods = Periods::new(interval, ALPHA, SPACING_NS, MOST);
        let ranks: Vec<f64> = (1..=self.disks)
            .scan(0.0, |sum, rank| {
                *sum += 1.0 / f64::from(rank);
                Some(*sum)
            })
            .collect();
        let mut rows = Vec::new();
        for initiator in 0..initiators {
            for number in 0..STREAMS {
                let mut random = stream_of(self.seed, initiator, 0, number);
                self.stream(&mut random, initiator, (&periods, &ranks), &mut rows);
            }
        }
        rows.sort_by(|one, other| one.time.total_cmp(&other.time));
        rows
    }

    fn stream(
        &self,
        random: &mut Random,
        initiator: u32,
        (periods, ranks): (&Periods, &[f64]),
        rows: &mut Vec<Row>,
    ) {
        let mut now = periods.first_pause(random);
        while now < self.length_ns {
            let requests = periods.messages(random);
            let drawn = uniform(random) * ranks.last().copied().unwrap_or_default();
            let disk = ranks.partition_point(|sum| *sum < drawn) as u32;
            for request in 0..requests {
                let time = (now + f64::from(request) * periods.spacing).round();
                let is_read = uniform(random) <= READS;
                let response = (RESPONSE_NS * exponential(random)).round();
                let pair = [initiator, self.hosts - self.disks + disk];
                let both = exchange(time, response, pair, (BYTES, is_read));
                rows.extend(both.into_iter().filter(|row| row.time < self.length_ns));
            }
            now += f64::from(requests - 1) * periods.spacing + periods.pause(random);
        }
    }

    /// What a trace says of itself.
    pub fn note(&self) -> String {
        let Self { hosts, disks, seed, .. } = *self;
        format!("synthetic, self-similar: {hosts} hosts, {disks} disks on the last of them, seed {seed}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over 20 s the mean is within 20 % of the wanted one: bursts of infinite variance converge slowly.
    #[test]
    fn the_load_is_the_wanted_one_in_the_long_run() {
        let synthesis = Synthesis { hosts: 64, disks: 23, length_ns: 2e10, seed: 1 };
        let rows = synthesis.rows();
        let bytes: f64 = rows.iter().map(|row| f64::from(row.length)).sum();
        let load = bytes / synthesis.length_ns;
        assert!((load / 0.4 - 1.0).abs() < 0.2, "{load}");
        assert!(rows.is_sorted_by(|one, other| one.time <= other.time));
        assert_eq!(rows[..50], synthesis.rows()[..50]);
        assert!(rows.iter().all(|row| (row.source < 41) == (row.destination >= 41)));
    }
}
