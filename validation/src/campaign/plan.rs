//! The blocks of a campaign: what can be simulated independently.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::slice;

use flitwise_experiment::goal::Goal;
use flitwise_experiment::packets;
use flitwise_experiment::{Host, Settings};
use flitwise_language::scenario::{Fault, Scenario, Setting};
use serde::Serialize;

use super::{Account, Listener, key, packets_key, run_telling};
use crate::store::{Key, Store};

/// One scenario, and who asks for it.
#[derive(Clone, Debug)]
pub struct Question {
    /// Who asks, such as `figure 4a`.
    pub asker: String,
    /// Values set beside those of the scenario's file or preset.
    pub set: Vec<Setting>,
    /// What is to be simulated.
    pub scenario: Scenario,
}

/// Scenarios that one machine would simulate in one go.
#[derive(Clone, Debug)]
pub struct Stage {
    /// How.
    pub settings: Settings,
    /// Of whom.
    pub questions: Vec<Question>,
}

/// What is kept under one key of the store, and all that is asked of it.
#[derive(Clone, Debug)]
pub struct CampaignBlock {
    /// Where results are kept.
    pub key: Key,
    /// The scenario, as it is asked for first.
    pub scenario: Scenario,
    /// The values set there.
    pub set: Vec<Setting>,
    /// How to simulate it, one after another: later ones add to what earlier ones have found.
    pub goals: Vec<Settings>,
    /// Who asks, each once.
    pub askers: Vec<String>,
}

/// The blocks of a campaign, in the order in which one machine would come to them.
#[derive(Clone, Debug, Default)]
pub struct CampaignPlan {
    /// Their keys differ.
    pub blocks: Vec<CampaignBlock>,
}

/// What a block has to do, as far as numbers depend on it.
#[derive(Serialize)]
struct Task<'p> {
    key: &'p str,
    goals: Vec<Goal>,
}

impl CampaignPlan {
    /// The blocks of stages that one machine would go through in this order.
    pub fn of(stages: &[Stage]) -> Self {
        let mut blocks: Vec<CampaignBlock> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        for Stage { settings, questions } in stages {
            // a stage asks once, whoever of it asks
            let mut of_stage: HashSet<usize> = HashSet::new();
            for Question { asker, set, scenario } in questions {
                let key = if packets::are_switched(scenario) { packets_key } else { key }(scenario, settings);
                let at = *known.entry(key.hash().to_owned()).or_insert(blocks.len());
                if at == blocks.len() {
                    let (scenario, set) = (scenario.clone(), set.clone());
                    blocks.push(CampaignBlock { key, scenario, set, goals: Vec::new(), askers: Vec::new() });
                }
                let block = &mut blocks[at];
                if of_stage.insert(at) {
                    block.goals.push(settings.clone());
                }
                if !block.askers.contains(asker) {
                    block.askers.push(asker.clone());
                }
            }
        }
        Self { blocks }
    }

    /// Tells the plan from every other one: blocks that do the same in the same order have the same, 64 hex digits.
    ///
    /// # Panics
    /// Never: hashes and numbers make a key.
    pub fn fingerprint(&self) -> String {
        let goals = |block: &CampaignBlock| block.goals.iter().map(Goal::of).collect();
        let tasks = self.blocks.iter().map(|block| Task { key: block.key.hash(), goals: goals(block) });
        let tasks: Vec<Task<'_>> = tasks.collect();
        Key::new(&tasks).expect("hashes and numbers make a key").hash().to_owned()
    }
}

impl CampaignBlock {
    /// Simulates what the goals ask for one after another, unless the store has it; calls `measured` with the messages
    /// behind each answer. What is broken off is not kept.
    ///
    /// # Errors
    /// What the simulator has no means for.
    pub fn simulate(
        &self,
        store: &Store,
        host: &Host<'_>,
        listener: &mut dyn Listener,
        measured: &mut dyn FnMut(u64),
    ) -> Result<Account, Vec<Fault>> {
        let replay = store.replay();
        let mut all = Account { simulated: 0, interrupted: false };
        for goal in &self.goals {
            let one = slice::from_ref(&self.scenario);
            let account = run_telling(one, goal, Some(&replay), host, listener, &mut |_, simulation| {
                measured(simulation.run.messages);
                ControlFlow::Continue(())
            })?;
            all.simulated += account.simulated;
            if account.interrupted {
                return Ok(Account { interrupted: true, ..all });
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::campaign;
    use crate::machine::Machine;
    use flitwise_language::scenario::Preset;

    fn question(asker: &str, rate: f64) -> Question {
        let mut spec = Preset::find("router16").unwrap().scenario().spec().clone();
        spec.name = asker.to_owned();
        spec.classes.iter_mut().for_each(|class| class.rate = rate);
        Question { asker: asker.to_owned(), set: Vec::new(), scenario: spec.check().unwrap() }
    }

    fn settings(precision: f64) -> Settings {
        Settings { precision, max_messages: 200_000, ..Settings::default() }
    }

    fn stages() -> Vec<Stage> {
        vec![
            Stage {
                settings: settings(0.2),
                questions: vec![
                    question("figure 1", 0.006),
                    question("figure 2", 0.002),
                    question("figure 3", 0.006),
                ],
            },
            Stage { settings: settings(0.005), questions: vec![question("claim", 0.006)] },
        ]
    }

    #[test]
    fn a_key_with_two_goals_is_one_block() {
        let plan = CampaignPlan::of(&stages());
        let goals = |block: &CampaignBlock| block.goals.iter().map(|goal| goal.precision).collect::<Vec<_>>();
        let [first, second] = plan.blocks.as_slice() else { panic!("{} blocks", plan.blocks.len()) };
        assert_eq!((goals(first), goals(second)), (vec![0.2, 0.005], vec![0.2]));
        assert_eq!(first.askers, ["figure 1", "figure 3", "claim"]);

        let mut other = stages();
        assert_eq!(CampaignPlan::of(&other).fingerprint(), plan.fingerprint());
        other[1].settings.precision = 0.03;
        assert_ne!(CampaignPlan::of(&other).fingerprint(), plan.fingerprint());
    }

    /// A block that is broken off between its goals and gone through again keeps what one machine keeps, and a replay
    /// answers the first question as if the second had never been asked.
    #[test]
    fn a_block_leaves_the_records_of_one_machine() {
        let scratch = tempfile::tempdir().unwrap();
        let store = |name: &str| Store::open(&scratch.path().join(name)).unwrap();
        let (machine, stop) = (Machine::default(), AtomicBool::new(false));
        let host = machine.host(&stop);
        let block = &CampaignPlan::of(&stages()).blocks[0];
        let scenarios = slice::from_ref(&block.scenario);

        let alone = store("alone").replay();
        let answers: Vec<_> = block
            .goals
            .iter()
            .map(|goal| campaign::run(scenarios, goal, Some(&alone), &host, &mut ()).unwrap())
            .map(|outcome| format!("{:?}", outcome.simulations))
            .collect();
        assert!(alone.whole().survey().unwrap().records > 1, "the second goal adds nothing");

        let shared = store("shared");
        campaign::run(scenarios, &block.goals[0], Some(&shared.replay()), &host, &mut ()).unwrap();
        let mut messages = Vec::new();
        for simulated in [1, 0] {
            let mut measured = |count| messages.push(count);
            let account = block.simulate(&shared, &host, &mut (), &mut measured).unwrap();
            // a recalled block counts as a point that was gone through
            assert!(!account.interrupted && account.simulated >= simulated);
        }
        assert_eq!(messages[..2], messages[2..]);
        assert_eq!(files(shared.directory()), files(alone.directory()));

        let replay = shared.replay();
        for (goal, wanted) in block.goals.iter().zip(&answers) {
            let found = campaign::run(scenarios, goal, Some(&replay), &host, &mut ()).unwrap();
            assert_eq!(format!("{:?}", found.simulations), *wanted);
        }
        assert_eq!(files(shared.directory()), files(alone.directory()));
    }

    /// Names and contents of all records.
    fn files(directory: &std::path::Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
        let shards = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = shards
            .flat_map(|shard| std::fs::read_dir(shard).unwrap())
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap()))
            .collect();
        files.sort();
        files
    }
}
