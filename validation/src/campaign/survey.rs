//! Where a campaign stands.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, SystemTime};

use super::claims::{self, BEAT, LastClaim, Listing, Watch};
use super::{BlockAccount, CampaignPlan, Folder, FolderError, Process};
use crate::store;

/// A block that a process has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningBlock {
    /// Who.
    pub process: Process,
    /// Time since the claim was made, by the clocks of this machine and of the folder's.
    pub since: Duration,
}

/// Where a block stands.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockState {
    /// All goals are met. What it took, if that can be read.
    Done(Option<BlockAccount>),
    /// A process is at work.
    Running(RunningBlock),
    /// A process had taken it, which is dead or silent. The next one takes it over.
    Lost(Option<Process>),
    /// Nobody is at work.
    Left,
    /// It cannot be done: why.
    Failed(String),
}

/// Where all blocks stand.
#[derive(Clone, Debug)]
pub struct Survey {
    /// In the order of the plan.
    pub blocks: Vec<BlockState>,
    /// Processes that live, as far as can be seen.
    pub workers: usize,
}

impl Survey {
    /// Looks at all blocks. Processes of other machines are called lost by the times of files, which is a guess if
    /// clocks differ by more than the lease: those that work look longer.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn of(folder: &Folder, plan: &CampaignPlan, lease: Duration) -> Result<Self, FolderError> {
        let listing = Listing::of(folder)?;
        let mut watch = Watch::new(Process::own(), Duration::MAX);
        let mut is_lost =
            |worker: &str| watch.is_lost(folder, worker) || age(folder, worker).is_none_or(|age| age > lease);
        let mut blocks = Vec::with_capacity(plan.blocks.len());
        for block in &plan.blocks {
            let hash = block.key.hash();
            blocks.push(if listing.done.contains(hash) {
                let account = fs::read(folder.done().join(hash)).ok();
                BlockState::Done(account.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
            } else if listing.failed.contains(hash) {
                BlockState::Failed(fs::read_to_string(folder.failed().join(hash)).unwrap_or_default())
            } else {
                match listing.claims.get(hash) {
                    None | Some(LastClaim { is_released: true, .. }) => BlockState::Left,
                    Some(LastClaim { generation, .. }) => {
                        let worker = claims::holder(folder, hash, *generation);
                        let process = claims::record(folder, &worker).map(|record| record.process);
                        match process {
                            Some(process) if !is_lost(&worker) => {
                                let path = folder.claims().join(claims::name(hash, *generation));
                                let since = modified(&path).unwrap_or_default();
                                BlockState::Running(RunningBlock { process, since })
                            }
                            process => BlockState::Lost(process),
                        }
                    }
                }
            });
        }
        let names = store::names(&folder.workers())?;
        let beat = format!(".{BEAT}");
        let alive: BTreeSet<&str> = names.iter().filter_map(|name| name.strip_suffix(&beat)).collect();
        let workers = alive.into_iter().filter(|worker| !is_lost(worker)).count();
        Ok(Self { blocks, workers })
    }

    /// Time until the blocks that are not done are done, if they take as long as those that are and the processes at
    /// work stay; `None` without either.
    pub fn time_left(&self) -> Option<Duration> {
        let accounts = || {
            self.blocks.iter().filter_map(|block| match block {
                BlockState::Done(Some(account)) => Some(account.seconds),
                _ => None,
            })
        };
        let left: f64 = self.blocks.iter().map(|block| block.share_left()).sum();
        if left == 0.0 {
            return Some(Duration::ZERO);
        }
        let (count, workers) = (accounts().count(), self.workers);
        let seconds = accounts().sum::<f64>() / count as f64 * left / workers as f64;
        (count > 0 && workers > 0).then(|| Duration::try_from_secs_f64(seconds).ok()).flatten()
    }
}

impl BlockState {
    /// One word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Running(_) => "running",
            Self::Lost(_) => "lost",
            Self::Left => "left",
            Self::Failed(_) => "failed",
        }
    }

    /// How much of a block is to be done; one under way is half done.
    fn share_left(&self) -> f64 {
        match self {
            Self::Done(_) | Self::Failed(_) => 0.0,
            Self::Running(_) => 0.5,
            Self::Lost(_) | Self::Left => 1.0,
        }
    }
}

/// Time since the last beat of a process.
fn age(folder: &Folder, worker: &str) -> Option<Duration> {
    modified(&folder.workers().join(format!("{worker}.{BEAT}")))
}

/// Time since a file was changed.
fn modified(path: &std::path::Path) -> Option<Duration> {
    let changed = fs::metadata(path).ok()?.modified().ok()?;
    // by a clock that is ahead: just now
    Some(SystemTime::now().duration_since(changed).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_blocks_that_are_done() {
        let process = Process { host: "a".to_owned(), boot: String::new(), id: 1, started_ticks: 0 };
        let done =
            |seconds| BlockState::Done(Some(BlockAccount { process: process.clone(), seconds, messages: 1 }));
        let running = BlockState::Running(RunningBlock { process: process.clone(), since: Duration::ZERO });
        let lost = BlockState::Lost(Some(process.clone()));
        let blocks = vec![done(2.0), done(4.0), running, lost, BlockState::Left];
        let survey = Survey { blocks, workers: 2 };
        // two and a half blocks of three seconds, by two processes
        assert_eq!(survey.time_left(), Some(Duration::from_secs_f64(3.75)));
        assert_eq!(Survey { workers: 0, ..survey.clone() }.time_left(), None);
        assert_eq!(Survey { blocks: vec![BlockState::Left], ..survey.clone() }.time_left(), None);
        assert_eq!(Survey { blocks: vec![done(1.0)], workers: 0 }.time_left(), Some(Duration::ZERO));
    }
}
