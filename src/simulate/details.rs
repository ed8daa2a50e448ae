//! Every channel by itself, in tables and CSV.

use flitwise_experiment::answer::{ChannelDetail, Estimate, Simulation, Utilization};
use indicatif::HumanCount;

use super::{messages, text};
use crate::outcome::Exit;
use crate::output::{self, Rows, share, with_interval};

/// Rows of the table; CSV and JSON have every channel.
const MOST_ROWS: usize = 20;

const HEADS: [&str; 13] = [
    "channel",
    "kind",
    "router",
    "port",
    "utilization",
    "utilization_half_width_95",
    "wait_cycles",
    "wait_half_width_95_cycles",
    "blocked_share",
    "blocked_share_half_width_95",
    "messages",
    "reserved_share",
    "reserved_share_half_width_95",
];

/// One row per channel; what does not exist is empty.
pub(super) fn csv(answer: &Simulation) -> Result<(), Exit> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    rows.write_record(HEADS)?;
    for detail in answer.channel_details.iter().flatten() {
        let ChannelDetail { channel, kind, router, port, utilization, wait_cycles, blocked_share, .. } =
            detail;
        let reserved = detail.reserved_share;
        let both = |found: Option<Estimate>| {
            [text(found.map(|found| found.mean)), text(found.and_then(|found| found.half_width_95))]
        };
        let [wait, wait_width] = both(*wait_cycles);
        let [blocked, blocked_width] = both(*blocked_share);
        rows.write_record([
            channel.clone(),
            kind.clone(),
            router.to_string(),
            port.to_string(),
            utilization.mean.to_string(),
            text(utilization.half_width_95),
            wait,
            wait_width,
            blocked,
            blocked_width,
            messages(*wait_cycles).to_string(),
            text(reserved.map(|found| found.mean)),
            text(reserved.and_then(|found| found.half_width_95)),
        ])?;
    }
    output::write_csv(rows)
}

/// The busiest channels, the busiest first, and how many there are of them.
pub(super) fn busiest(details: &[ChannelDetail], markdown: bool) -> (Rows, String) {
    let mut channels: Vec<&ChannelDetail> = details.iter().collect();
    channels.sort_by(|one, other| other.utilization.mean.total_cmp(&one.utilization.mean));
    let title = format!("Busiest {} of {} channels", channels.len().min(MOST_ROWS), channels.len());
    let has_connections = details.iter().any(|detail| detail.reserved_share.is_some());
    let heads = ["channel", "busy", "wait [cycles]", "blocked", "messages", "reserved"];
    let mut rows = Rows::new(&heads[..heads.len() - usize::from(!has_connections)], markdown);
    for detail in channels.into_iter().take(MOST_ROWS) {
        let interval = |mean: f64, width: Option<f64>| {
            format!("{} ±{}", share(Some(mean)), width.map_or("?".to_owned(), |width| share(Some(width))))
        };
        let wait = detail.wait_cycles;
        let wait_words = with_interval(wait.map(|wait| wait.mean), wait.and_then(|wait| wait.half_width_95));
        let blocked = detail.blocked_share;
        let of_share = |found: Utilization| interval(found.mean, found.half_width_95);
        let reserved = detail.reserved_share.map_or_else(|| share(None), of_share);
        let cells = [
            detail.channel.clone(),
            of_share(detail.utilization),
            wait_words,
            blocked.map_or_else(|| share(None), |found| interval(found.mean, found.half_width_95)),
            HumanCount(messages(wait)).to_string(),
        ];
        rows.add(cells.into_iter().chain(has_connections.then_some(reserved)));
    }
    (rows, title)
}
