//! A simulation in slices.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use flitwise_experiment::answer::{self, SimulateDocument};
use flitwise_experiment::{Host, Listener, MAX_REPLICATIONS, Progress, Settings, Slice, run_in_slices};
use flitwise_language::scenario::{Fault, Scenario};
use flitwise_simulator::Delivery;
use rayon::ThreadPool;

use crate::engine::{Clock, READ};
use crate::request::{NoAnswer, Run, Simulating};
use crate::tables::{latencies, of_simulation};

/// Messages that may be asked for: those of the command.
const MOST_MESSAGES: u64 = 1_000_000_000_000_000;

type Outcome = Result<answer::Simulation, Vec<Fault>>;

/// A run that can be gone on with.
pub(crate) struct Simulation {
    run: Pin<Box<dyn Future<Output = Outcome>>>,
    shared: Rc<Shared>,
    clock: Clock,
}

/// What the run and who asks for it both know.
#[derive(Default)]
struct Shared {
    slice: Slice,
    stop: AtomicBool,
    told: RefCell<Told>,
}

/// What the run has told.
#[derive(Default)]
struct Told {
    progress: Option<Progress>,
    /// The answer so far, until it is taken.
    answer: Option<answer::Simulation>,
}

struct Ear(Rc<Shared>);

impl Listener for Ear {
    fn progress(&mut self, progress: &Progress) {
        self.0.told.borrow_mut().progress = Some(*progress);
    }

    fn measured(&mut self, _: u32, _: &[Delivery]) {}

    fn so_far(&mut self, answer: &dyn Fn() -> answer::Simulation) {
        self.0.told.borrow_mut().answer = Some(answer());
    }
}

impl Simulation {
    /// Begins a run; nothing is simulated yet.
    pub(crate) fn begin(
        scenario: Scenario,
        run: &Run,
        clock: Clock,
        workers: Arc<ThreadPool>,
    ) -> Result<Self, NoAnswer> {
        let Run { seed, precision, max_messages, replications } = *run;
        if !(0.000_1..=0.5).contains(&precision) {
            return Err(NoAnswer::new(format!(
                "--precision {precision}: wanted 0.01% to 50%, such as 1% or 0.01"
            )));
        }
        if !(1..=MOST_MESSAGES).contains(&max_messages) {
            let fault = "wanted 1 to 1e15 messages, such as 500000 or 1e6";
            return Err(NoAnswer::new(format!("--max-messages {max_messages}: {fault}")));
        }
        if replications.is_some_and(|count| !(1..=MAX_REPLICATIONS).contains(&count)) {
            let found = replications.unwrap_or_default();
            return Err(NoAnswer::new(format!("--replications {found}: wanted 1 to {MAX_REPLICATIONS}")));
        }
        let settings = Settings { seed, precision, max_messages, replications, ..Settings::default() };
        let shared = Rc::new(Shared::default());
        let (of_run, of_host) = (Rc::clone(&shared), Arc::clone(&clock));
        let run = async move {
            let now = move || of_host();
            let host = Host { clock: &now, workers: &workers, read: READ, stop: &of_run.stop };
            let mut ear = Ear(Rc::clone(&of_run));
            run_in_slices(&scenario, &settings, &host, &mut ear, &of_run.slice).await
        };
        Ok(Self { run: Box::pin(run), shared, clock })
    }

    /// Goes on for a while; whether it has ended.
    pub(crate) fn step(&mut self, length: Duration) -> Result<bool, Vec<Fault>> {
        self.shared.slice.end_at((self.clock)().saturating_add(length));
        match self.run.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => Ok(false),
            Poll::Ready(outcome) => {
                self.shared.told.borrow_mut().answer = Some(outcome?);
                Ok(true)
            }
        }
    }

    /// Ends it with what it has.
    pub(crate) fn stop(&mut self) -> Result<bool, Vec<Fault>> {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.step(Duration::ZERO)
    }

    /// Where it stands; an answer is told once.
    pub(crate) fn state(&self, ended: bool) -> Simulating {
        let mut told = self.shared.told.borrow_mut();
        let answer = told.answer.take();
        let progress = told.progress.unwrap_or(Progress {
            warming_up: true,
            messages: 0,
            precision: None,
            share_done: 0.0,
        });
        let messages = answer.as_ref().map_or(progress.messages, |answer| answer.run.messages);
        Simulating {
            ended,
            share_done: if ended { 1.0 } else { progress.share_done },
            warming_up: !ended && progress.warming_up,
            messages,
            precision: answer.as_ref().map_or(progress.precision, |answer| answer.run.reached_precision),
            tables: answer.as_ref().map(of_simulation).unwrap_or_default(),
            latencies: answer.as_ref().map(latencies).unwrap_or_default(),
            document: answer.map(SimulateDocument::of),
        }
    }
}
