//! `flitwise campaign status`.

use std::time::Duration;

use flitwise_validation::campaign::{BlockState, CampaignBlock, Folder, Process, Survey};
use indicatif::{HumanCount, HumanDuration};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Means, Session, refused};
use crate::args::Format;
use crate::args::campaigns::CampaignStatus;
use crate::outcome::Exit;
use crate::output::{self, Rows};

/// After how long a silent process of another machine is called lost here.
const LEASE: Duration = Duration::from_secs(30);

/// The answer of `flitwise campaign status --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CampaignStatusDocument {
    /// `flitwise.campaign-status/1`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// Blocks of the campaign.
    blocks: usize,
    /// Blocks that are done.
    done: usize,
    /// Blocks that processes are at work on.
    running: usize,
    /// Blocks whose process is dead or silent; the next process takes them over.
    lost: usize,
    /// Blocks that nobody is at work on.
    left: usize,
    /// Blocks that cannot be done.
    failed: usize,
    /// Processes at work, as far as can be seen.
    processes: usize,
    /// Time that the blocks that are done took, together \[s\].
    done_seconds: f64,
    /// Messages behind the answers of blocks that are done.
    done_messages: u64,
    /// Time until all is done, by the time of blocks that are done and the processes at work \[s\]; `null` if there are
    /// none of either.
    left_seconds: Option<f64>,
    /// Blocks under way, lost and failed, in the order of the plan.
    details: Vec<BlockDetail>,
}

/// Where a block stands that is neither done nor left.
#[derive(Debug, Serialize, JsonSchema)]
struct BlockDetail {
    /// Its number in the plan, from 1.
    block: usize,
    /// Name of the scenario.
    scenario: String,
    /// `running`, `lost` or `failed`.
    state: &'static str,
    /// Machine of the process, if it is known.
    host: Option<String>,
    /// Number of the process there.
    process: Option<u32>,
    /// Time since the process took it, if it is at work \[s\].
    running_seconds: Option<f64>,
    /// Why it failed.
    reason: Option<String>,
}

pub(super) fn run(args: &CampaignStatus) -> Result<(), Exit> {
    let folder = Folder::at(&args.folder);
    let session = Session::of_folder(&folder, &Means::default())?;
    let survey = Survey::of(&folder, &session.plan, LEASE).map_err(|error| refused(&error))?;
    let document = CampaignStatusDocument::of(&survey, &session.plan.blocks);
    match args.format {
        Format::Json => output::write_json(&document),
        Format::Csv => csv(&document),
        Format::Table => output::write(document.page(false).as_bytes()),
        Format::Markdown => output::write(document.page(true).as_bytes()),
    }
}

impl CampaignStatusDocument {
    fn of(survey: &Survey, blocks: &[CampaignBlock]) -> Self {
        let count = |word: &str| survey.blocks.iter().filter(|state| state.word() == word).count();
        let accounts = survey.blocks.iter().filter_map(|state| match state {
            BlockState::Done(account) => account.as_ref(),
            _ => None,
        });
        let (mut done_seconds, mut done_messages) = (0.0, 0);
        for account in accounts {
            done_seconds += account.seconds;
            done_messages += account.messages;
        }
        let details = survey.blocks.iter().zip(blocks).enumerate();
        Self {
            schema: "flitwise.campaign-status/1",
            flitwise_version: env!("CARGO_PKG_VERSION"),
            blocks: blocks.len(),
            done: count("done"),
            running: count("running"),
            lost: count("lost"),
            left: count("left"),
            failed: count("failed"),
            processes: survey.workers,
            done_seconds,
            done_messages,
            left_seconds: survey.time_left().map(|left| left.as_secs_f64()),
            details: details
                .filter_map(|(at, (state, block))| BlockDetail::of(at + 1, state, block))
                .collect(),
        }
    }

    fn page(&self, markdown: bool) -> String {
        let mut text = String::new();
        if !self.details.is_empty() {
            let heads = ["scenario", "block", "state", "host", "process", "since"];
            let mut rows = Rows::new(&heads, markdown);
            for one in &self.details {
                rows.add([
                    one.scenario.clone(),
                    one.block.to_string(),
                    one.state.to_owned(),
                    one.host.clone().unwrap_or_else(|| "-".to_owned()),
                    one.process.map_or_else(|| "-".to_owned(), |process| process.to_string()),
                    one.running_seconds.map_or_else(|| "-".to_owned(), in_words),
                ]);
            }
            text = format!("{rows}\n");
        }
        for one in &self.details {
            if let Some(reason) = &one.reason {
                text.push_str(&output::folded(&format!("block {} has failed: {reason}", one.block)));
            }
        }
        let Self { blocks, done, running, lost, left, failed, processes, .. } = self;
        text.push_str(&format!(
            "{blocks} blocks: {done} done, {running} running, {lost} lost, {left} left, {failed} failed; {processes} \
             processes at work\n"
        ));
        let messages = HumanCount(self.done_messages);
        let done = in_words(self.done_seconds);
        let left = match self.left_seconds {
            Some(0.0) => "nothing is left to simulate".to_owned(),
            Some(left) => format!("{} left", in_words(left)),
            None => "the time left is not known".to_owned(),
        };
        text.push_str(&format!("{done} of work done, {messages} messages; {left}\n"));
        text
    }
}

impl BlockDetail {
    fn of(number: usize, state: &BlockState, block: &CampaignBlock) -> Option<Self> {
        let (process, since, reason): (Option<&Process>, Option<Duration>, Option<&String>) = match state {
            BlockState::Done(_) | BlockState::Left => return None,
            BlockState::Running(running) => (Some(&running.process), Some(running.since), None),
            BlockState::Lost(process) => (process.as_ref(), None, None),
            BlockState::Failed(why) => (None, None, Some(why)),
        };
        Some(Self {
            block: number,
            scenario: block.scenario.spec().name.clone(),
            state: state.word(),
            host: process.map(|process| process.host.clone()),
            process: process.map(|process| process.id),
            running_seconds: since.map(|since| since.as_secs_f64()),
            reason: reason.cloned(),
        })
    }
}

fn in_words(seconds: f64) -> String {
    match Duration::try_from_secs_f64(seconds.round()) {
        Ok(time) if seconds >= 60.0 => format!("{:#}", HumanDuration(time)),
        _ => format!("{seconds:.1} s"),
    }
}

/// One row.
fn csv(document: &CampaignStatusDocument) -> Result<(), Exit> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    rows.write_record([
        "blocks",
        "done",
        "running",
        "lost",
        "left",
        "failed",
        "processes",
        "done_seconds",
        "done_messages",
        "left_seconds",
    ])?;
    rows.write_record([
        document.blocks.to_string(),
        document.done.to_string(),
        document.running.to_string(),
        document.lost.to_string(),
        document.left.to_string(),
        document.failed.to_string(),
        document.processes.to_string(),
        document.done_seconds.to_string(),
        document.done_messages.to_string(),
        document.left_seconds.map_or_else(String::new, |left| left.to_string()),
    ])?;
    output::write_csv(rows)
}
