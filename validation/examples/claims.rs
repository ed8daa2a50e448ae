//! How many blocks a shared folder takes: claims, a record of 20 kB each, and marks, without any simulation.
//!
//! `cargo run --release -p flitwise-validation --example claims -- FOLDER BLOCKS PROCESSES` begins a new folder there.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use flitwise_experiment::Settings;
use flitwise_language::scenario::ScenarioSpec;
use flitwise_validation::campaign::{CampaignPlan, Folder, Input, Question, Stage, Turn, Worker};

const LEASE: Duration = Duration::from_secs(30);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, blocks, processes] = arguments.as_slice() else {
        return Err("wanted FOLDER BLOCKS PROCESSES".into());
    };
    let (folder, processes) = (Folder::at(Path::new(folder)), processes.parse::<usize>()?);
    let plan = plan(blocks.parse()?);
    if processes == 0 {
        return work(&folder, &plan);
    }
    let input = Input { path: Folder::CAMPAIGN.into(), bytes: Vec::new() };
    folder.make(&[input], &plan.fingerprint())?;
    let begun = Instant::now();
    let program = std::env::current_exe()?;
    let start = || Command::new(&program).arg(folder.path()).args([blocks, "0"]).spawn();
    let children: Vec<Child> = (0..processes).map(|_| start()).collect::<Result<_, _>>()?;
    for mut child in children {
        child.wait()?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    let records = folder.store()?.survey()?.records;
    println!(
        "{processes} processes: {records} blocks in {seconds:.2} s, {:.0} blocks/s",
        records as f64 / seconds
    );
    Ok(())
}

/// Blocks that differ in a rate.
fn plan(blocks: usize) -> CampaignPlan {
    let question = |at: usize| {
        let mut spec = ScenarioSpec::default();
        spec.classes[0].rate = 1e-8 * (at + 1) as f64;
        let scenario = spec.check().expect("a low load is sound");
        Question { asker: "nobody".to_owned(), set: Vec::new(), scenario }
    };
    let questions = (0..blocks).map(question).collect();
    CampaignPlan::of(&[Stage { settings: Settings::default(), questions }])
}

fn work(folder: &Folder, plan: &CampaignPlan) -> Result<(), Box<dyn Error>> {
    let store = folder.store()?;
    let mut worker = Worker::begin(folder, plan, LEASE)?;
    let record: Vec<f64> = (0..2_500).map(f64::from).collect();
    loop {
        match worker.turn()? {
            Turn::Block(claim) => {
                store.append(&plan.blocks[claim.block].key, 0, &record)?;
                worker.finish(&claim, 0)?;
            }
            Turn::Wait => std::thread::sleep(Duration::from_millis(10)),
            Turn::Done => return Ok(()),
        }
    }
}
