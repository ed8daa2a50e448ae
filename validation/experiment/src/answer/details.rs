//! What every channel by itself carries, and how messages wait for it.

use schemars::JsonSchema;
use serde::Serialize;

use super::frame_deadlines::ratio;
use super::{Estimate, Utilization};
use crate::block::{Measurements, ReplicationRecord};
use crate::replication::ChannelLook;
use crate::statistics::{Batch, Mean, mean_of};
use flitwise_simulator::{Channel, ChannelKind, HeaderWaits};

/// What one channel carries, and how messages wait for it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChannelDetail {
    /// Where it starts and which way it leads, such as `(0,3) dimension 0 up`; of an injection or ejection channel its
    /// node.
    pub channel: String,
    /// `injection`, `dimension N` or `ejection`.
    pub kind: String,
    /// The router that it leaves; of an injection channel the one that it enters.
    pub router: u32,
    /// The port of that router.
    pub port: u32,
    /// Flits per cycle, the share of cycles in which a flit goes over it.
    pub utilization: Utilization,
    /// Mean time that a header waits for a virtual channel of it and for the link, beyond what a lone one takes; of an
    /// injection channel the time in the source queue; `null` if there is no message \[cycles\].
    pub wait_cycles: Option<Estimate>,
    /// Share of the messages that do not get a virtual channel of it at once; of an injection channel those that wait
    /// in the source queue.
    pub blocked_share: Option<Estimate>,
    /// What connections hold of it, on average over the measured part; absent without connections \[flits/cycle\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_share: Option<Utilization>,
}

/// Every channel, if looks at them were taken.
pub(super) fn of(measured: &Measurements<'_>) -> Option<Vec<ChannelDetail>> {
    let network = measured.scenario.topology();
    let look = measured.replications().find_map(|one| one.looks.first())?;
    let detail = |(index, (channel, ..)): (usize, &(Channel, u64, HeaderWaits))| {
        let (router, place) = match channel.kind.is_between_routers() {
            true => (channel.node, network.router_address(channel.node)),
            false => (network.entry(channel.node).0, network.address(channel.node)),
        };
        let way = match channel.kind {
            ChannelKind::Injection => channel.kind.to_string(),
            _ => network.port_name(router, channel.port),
        };
        let batch = |of: fn(u64, u64, HeaderWaits) -> Batch| batches(measured, index, of);
        let estimate = |batches: Vec<Vec<Batch>>| {
            let Mean { mean, student_half_width_95, count, .. } = mean_of(&batches)?;
            Some(Estimate { mean, half_width_95: student_half_width_95, messages: count })
        };
        let used = estimate(batch(|cycles, flits, _| Batch { count: cycles, sum: flits as f64 }))?;
        Some(ChannelDetail {
            channel: format!("{place} {way}"),
            kind: channel.kind.to_string(),
            router,
            port: channel.port,
            utilization: Utilization { mean: used.mean, half_width_95: used.half_width_95 },
            wait_cycles: estimate(batch(|_, _, waits| Batch {
                count: waits.headers,
                sum: waits.cycles as f64,
            })),
            blocked_share: estimate(batch(|_, _, waits| Batch {
                count: waits.headers,
                sum: waits.blocked as f64,
            })),
            reserved_share: reserved(measured, *channel),
        })
    };
    Some(look.channels.iter().enumerate().filter_map(detail).collect())
}

/// What connections hold of a channel, a mean over replications.
fn reserved(measured: &Measurements<'_>, channel: Channel) -> Option<Utilization> {
    let held = measured.control().filter_map(|one| {
        let (_, share) = one.reserved.iter().find(|(of, _)| *of == channel)?;
        Some(Batch { count: 1, sum: *share })
    });
    let Estimate { mean, half_width_95, .. } = ratio(held)?;
    Some(Utilization { mean, half_width_95 })
}

/// By replication, from look to look: what happened at a channel, cycles, flits and waits.
fn batches(
    measured: &Measurements<'_>,
    channel: usize,
    of: impl Fn(u64, u64, HeaderWaits) -> Batch,
) -> Vec<Vec<Batch>> {
    let between = |pair: &[ChannelLook]| {
        let ((_, flits, waits), (_, flits_before, before)) =
            (pair[1].channels[channel], pair[0].channels[channel]);
        let waits = HeaderWaits {
            headers: waits.headers - before.headers,
            blocked: waits.blocked - before.blocked,
            cycles: waits.cycles - before.cycles,
        };
        of(pair[1].cycle - pair[0].cycle, flits - flits_before, waits)
    };
    let one = |one: &ReplicationRecord| one.looks.windows(2).map(between).collect();
    measured.replications().map(one).collect()
}
