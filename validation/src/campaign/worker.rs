//! A process that takes block after block of a campaign.

use std::collections::VecDeque;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::claims::{self, BEAT, ENDED, LastClaim, Listing, Watch, WorkerRecord};
use super::heart::Heart;
use super::{CampaignPlan, Folder, FolderError, Process};
use crate::store;

/// Beats in a lease.
const BEATS: u32 = 6;
/// After a block was taken by another process, what is known of all blocks is renewed, unless it is newer than that.
const FRESH: Duration = Duration::from_millis(200);

/// What a block took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockAccount {
    /// Who did it.
    pub process: Process,
    /// Time from the claim to the last record \[s\].
    pub seconds: f64,
    /// Messages behind the last answer.
    pub messages: u64,
}

/// A process that works on a campaign.
#[derive(Debug)]
pub struct Worker<'c> {
    folder: &'c Folder,
    plan: &'c CampaignPlan,
    process: Process,
    /// What it is called in the folder.
    name: String,
    heart: Option<Heart>,
    watch: Watch,
    /// Blocks that were free when they were last looked for, with the generation to claim.
    free: VecDeque<(usize, u32)>,
    listed: Option<Instant>,
    /// Where it begins among free blocks, so that processes that start together do not meet.
    offset: usize,
}

/// A block that this process has taken.
#[derive(Debug)]
pub struct Claim {
    /// Its place in the plan.
    pub block: usize,
    generation: u32,
    since: Instant,
}

/// What comes next for a process.
#[derive(Debug)]
pub enum Turn {
    /// A block to simulate.
    Block(Claim),
    /// Others are at work on all blocks that are left.
    Wait,
    /// All blocks are done, or have failed.
    Done,
}

impl<'c> Worker<'c> {
    /// Writes itself down in the folder and begins to beat.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn begin(folder: &'c Folder, plan: &'c CampaignPlan, lease: Duration) -> Result<Self, FolderError> {
        for directory in [folder.claims(), folder.workers(), folder.done(), folder.failed()] {
            fs::create_dir_all(&directory).map_err(FolderError::io(&directory, "make the directory"))?;
            store::remove_abandoned(&directory);
        }
        let random = RandomState::new().build_hasher().finish();
        let (process, name) = (Process::own(), format!("{random:016x}"));
        let path = folder.workers().join(&name);
        let record = WorkerRecord { process: process.clone(), began_unix_s: unix_s() };
        let bytes = serde_json::to_vec(&record).map_err(|error| FolderError::Unfit(error.to_string()))?;
        store::put(&path, &bytes).map_err(FolderError::io(&path, "write the file"))?;
        let beat = folder.workers().join(format!("{name}.{BEAT}"));
        let heart =
            Heart::begin(beat.clone(), lease / BEATS).map_err(FolderError::io(&beat, "write the file"))?;
        Ok(Self {
            folder,
            plan,
            watch: Watch::new(process.clone(), lease),
            process,
            name,
            heart: Some(heart),
            free: VecDeque::new(),
            listed: None,
            offset: random as usize,
        })
    }

    /// Takes the next block.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn turn(&mut self) -> Result<Turn, FolderError> {
        loop {
            let Some((block, generation)) = self.free.pop_front() else {
                if let Some(turn) = self.look()? {
                    return Ok(turn);
                }
                continue;
            };
            let hash = self.plan.blocks[block].key.hash();
            if !claims::take(self.folder, hash, generation, &self.name)? {
                if self.listed.is_none_or(|listed| listed.elapsed() >= FRESH) {
                    self.free.clear();
                }
                continue;
            }
            // a process that was thought lost may have ended it meanwhile
            if !claims::is_done(self.folder, hash)? {
                return Ok(Turn::Block(Claim { block, generation, since: Instant::now() }));
            }
        }
    }

    /// Looks for free blocks; what comes next if there are none.
    fn look(&mut self) -> Result<Option<Turn>, FolderError> {
        let listing = Listing::of(self.folder)?;
        self.listed = Some(Instant::now());
        let mut is_busy = false;
        let mut free: Vec<(usize, u32)> = Vec::new();
        for (at, block) in self.plan.blocks.iter().enumerate() {
            let hash = block.key.hash();
            if listing.done.contains(hash) || listing.failed.contains(hash) {
                continue;
            }
            let next = match listing.claims.get(hash) {
                None => Some(0),
                Some(LastClaim { generation, is_released }) => {
                    let holder = || claims::holder(self.folder, hash, *generation);
                    let is_free = *is_released || self.watch.is_lost(self.folder, &holder());
                    generation.checked_add(1).filter(|_| is_free)
                }
            };
            match next {
                Some(generation) => free.push((at, generation)),
                None => is_busy = true,
            }
        }
        if free.is_empty() {
            return Ok(Some(if is_busy { Turn::Wait } else { Turn::Done }));
        }
        let offset = self.offset % free.len();
        free.rotate_left(offset);
        self.free = free.into();
        Ok(None)
    }

    /// Marks a block as done.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn finish(&self, claim: &Claim, messages: u64) -> Result<(), FolderError> {
        let seconds = claim.since.elapsed().as_secs_f64();
        let account = BlockAccount { process: self.process.clone(), seconds, messages };
        let bytes = serde_json::to_vec(&account).map_err(|error| FolderError::Unfit(error.to_string()))?;
        self.mark(self.folder.done(), claim, &bytes)
    }

    /// Marks a block as one that cannot be done.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn fail(&self, claim: &Claim, why: &str) -> Result<(), FolderError> {
        self.mark(self.folder.failed(), claim, why.as_bytes())
    }

    fn mark(&self, directory: PathBuf, claim: &Claim, bytes: &[u8]) -> Result<(), FolderError> {
        let path = directory.join(self.plan.blocks[claim.block].key.hash());
        store::put(&path, bytes).map(drop).map_err(FolderError::io(&path, "mark a block"))
    }

    /// Gives a block back, so that others need not wait for the lease.
    ///
    /// # Errors
    /// The folder cannot be written; others then wait until the process has ended.
    pub fn release(&self, claim: &Claim) -> Result<(), FolderError> {
        claims::release(self.folder, self.plan.blocks[claim.block].key.hash(), claim.generation)
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        drop(self.heart.take());
        // without it others wait for the lease
        let _ = store::put(&self.folder.workers().join(format!("{}.{ENDED}", self.name)), b"");
    }
}

/// Seconds since 1970, for people.
fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::{Input, Question, Stage};
    use flitwise_experiment::Settings;
    use flitwise_language::scenario::ScenarioSpec;
    use std::thread;

    const LEASE: Duration = Duration::from_secs(60);

    /// A folder of so many blocks.
    fn campaign(blocks: usize) -> (tempfile::TempDir, Folder, CampaignPlan) {
        let question = |at: usize| {
            let mut spec = ScenarioSpec::default();
            spec.classes[0].rate = 0.000_1 * (at + 1) as f64;
            Question { asker: "test".to_owned(), set: Vec::new(), scenario: spec.check().unwrap() }
        };
        let questions = (0..blocks).map(question).collect();
        let plan = CampaignPlan::of(&[Stage { settings: Settings::default(), questions }]);
        assert_eq!(plan.blocks.len(), blocks);
        let scratch = tempfile::tempdir().unwrap();
        let folder = Folder::at(&scratch.path().join("campaign"));
        let input = Input { path: Folder::CAMPAIGN.into(), bytes: Vec::new() };
        folder.make(&[input], &plan.fingerprint()).unwrap();
        (scratch, folder, plan)
    }

    fn taken(turn: Turn) -> Claim {
        match turn {
            Turn::Block(claim) => claim,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn of_many_takers_each_block_has_one() {
        let (_scratch, folder, plan) = campaign(40);
        let work = || {
            let mut worker = Worker::begin(&folder, &plan, LEASE).unwrap();
            let mut blocks = Vec::new();
            loop {
                match worker.turn().unwrap() {
                    Turn::Block(claim) => {
                        worker.finish(&claim, 1).unwrap();
                        blocks.push(claim.block);
                    }
                    Turn::Wait => thread::yield_now(),
                    Turn::Done => return blocks,
                }
            }
        };
        let mut all: Vec<usize> = thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(work));
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        all.sort_unstable();
        assert_eq!(all, (0..40).collect::<Vec<_>>());
    }

    #[test]
    fn a_block_that_is_given_back_is_free_at_once() {
        let (_scratch, folder, plan) = campaign(1);
        let mut first = Worker::begin(&folder, &plan, LEASE).unwrap();
        let mut second = Worker::begin(&folder, &plan, LEASE).unwrap();
        let claim = taken(first.turn().unwrap());
        assert!(matches!(second.turn().unwrap(), Turn::Wait));
        first.release(&claim).unwrap();
        let claim = taken(second.turn().unwrap());
        assert_eq!(claim.generation, 1);
        assert!(matches!(first.turn().unwrap(), Turn::Wait));
        second.finish(&claim, 7).unwrap();
        assert!(matches!(first.turn().unwrap(), Turn::Done));
    }

    #[test]
    fn a_silent_process_is_lost_after_the_lease_and_one_successor_takes_over() {
        let (_scratch, folder, plan) = campaign(1);
        let mut silent = Worker::begin(&folder, &plan, LEASE).unwrap();
        let claim = taken(silent.turn().unwrap());
        drop(silent.heart.take());
        let lease = Duration::from_millis(300);
        let mut others = [(); 2].map(|()| Worker::begin(&folder, &plan, lease).unwrap());
        let begun = Instant::now();
        let mut next = Vec::new();
        while next.is_empty() {
            next.extend(others.iter_mut().filter_map(|other| match other.turn().unwrap() {
                Turn::Block(claim) => Some(claim.generation),
                _ => None,
            }));
            thread::sleep(Duration::from_millis(5));
        }
        assert!(begun.elapsed() >= lease, "{:?}", begun.elapsed());
        assert_eq!(next, [1]);
        // it goes on all the same: nothing breaks, and the block is done
        silent.finish(&claim, 1).unwrap();
        for other in &mut others {
            assert!(matches!(other.turn().unwrap(), Turn::Done));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_dead_process_is_lost_at_once() {
        let (_scratch, folder, plan) = campaign(1);
        let mut worker = Worker::begin(&folder, &plan, LEASE).unwrap();
        // of a process that had this one's number before
        let own = Process::own();
        let process = Process { started_ticks: own.started_ticks - 1, ..own };
        let record = WorkerRecord { process, began_unix_s: 0 };
        fs::write(folder.workers().join("dead"), serde_json::to_vec(&record).unwrap()).unwrap();
        assert!(claims::take(&folder, plan.blocks[0].key.hash(), 0, "dead").unwrap());
        assert_eq!(taken(worker.turn().unwrap()).generation, 1);
    }

    #[test]
    fn a_process_that_ended_in_order_holds_nothing() {
        let (_scratch, folder, plan) = campaign(2);
        let mut first = Worker::begin(&folder, &plan, LEASE).unwrap();
        let claim = taken(first.turn().unwrap());
        drop(first);
        let mut second = Worker::begin(&folder, &plan, LEASE).unwrap();
        let again = [taken(second.turn().unwrap()), taken(second.turn().unwrap())];
        let generations: Vec<(usize, u32)> = again.iter().map(|one| (one.block, one.generation)).collect();
        assert!(generations.contains(&(claim.block, 1)), "{generations:?}");
    }

    #[test]
    fn a_block_that_failed_is_left_alone() {
        let (_scratch, folder, plan) = campaign(1);
        let mut worker = Worker::begin(&folder, &plan, LEASE).unwrap();
        let claim = taken(worker.turn().unwrap());
        worker.fail(&claim, "it has had enough").unwrap();
        assert!(matches!(worker.turn().unwrap(), Turn::Done));
    }
}
