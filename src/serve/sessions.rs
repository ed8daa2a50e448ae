//! Sessions: engines, each on a thread of its own, and how many there may be.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use flitwise_page::request::Request;
use flitwise_page::{Clock, Engine};
use rayon::ThreadPool;
use tokio::sync::oneshot;

/// Requests that may wait for one engine.
const MOST_WAITING: usize = 16;
/// What an engine may need \[bytes\], as a main thread has it.
const STACK: usize = 8 << 20;

/// How much there may be, and how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Simulations under way.
    pub(super) simulations: usize,
    /// Sessions, those whose last answer is still being worked on included.
    pub(super) sessions: usize,
    /// A session that is asked nothing for so long is dropped.
    pub(super) idle: Duration,
    /// A simulation that nobody goes on with for so long makes room for another.
    pub(super) abandoned: Duration,
    /// What an answer may take.
    pub(super) answer: Duration,
}

impl Limits {
    pub(super) fn new(simulations: usize) -> Self {
        Self {
            simulations,
            sessions: simulations + 16,
            idle: Duration::from_secs(600),
            abandoned: Duration::from_secs(10),
            answer: Duration::from_secs(60),
        }
    }
}

/// An answer, and the session that gave it.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) session: String,
    pub(super) text: String,
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// There is no session of that name any more.
    Lapsed,
    /// There is too much to do.
    Busy(String),
    /// The engine has panicked.
    Broken,
}

/// All engines and the threads that their simulations share.
pub(super) struct Sessions {
    limits: Limits,
    clock: Clock,
    workers: Arc<ThreadPool>,
    by_name: Mutex<HashMap<String, Session>>,
    /// Every thread of an engine has one, whether its session is still there or not.
    alive: Arc<()>,
}

/// An engine that can be asked.
struct Session {
    questions: SyncSender<Question>,
    state: Arc<Mutex<State>>,
    thread: JoinHandle<()>,
}

/// What a session is doing.
#[derive(Clone, Copy, Debug)]
struct State {
    /// Questions not yet answered.
    pending: usize,
    /// Whether a simulation is under way, or about to be.
    is_simulating: bool,
    /// When the last question or answer was, by the clock.
    last: Duration,
}

impl State {
    /// Whether it is asked nothing, for so long.
    fn is_idle_for(&self, time: Duration, now: Duration) -> bool {
        self.pending == 0 && now.saturating_sub(self.last) > time
    }
}

/// A request and where its answer goes.
struct Question {
    request: String,
    answer: oneshot::Sender<String>,
    /// Whether it can be left out once nobody waits for its answer.
    is_for_answer: bool,
}

/// What a panic of another thread has left is whole: nothing is held while engines work.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sessions {
    pub(super) fn new(limits: Limits, clock: Clock, workers: Arc<ThreadPool>) -> Self {
        Self { limits, clock, workers, by_name: Mutex::default(), alive: Arc::default() }
    }

    /// The answer of a session; none: of a new one.
    pub(super) async fn answer(&self, session: Option<&str>, request: String) -> Result<Answer, Refusal> {
        let (session, answer) = self.ask(session, request)?;
        match tokio::time::timeout(self.limits.answer, answer).await {
            Ok(Ok(text)) => Ok(Answer { session, text }),
            broken => {
                // a thread that is late ends with its answer, which nobody hears
                locked(&self.by_name).remove(&session);
                let seconds = self.limits.answer.as_secs_f64();
                let late = format!("found no answer within {seconds} s, wanted a question that takes less");
                Err(if broken.is_err() { Refusal::Busy(late) } else { Refusal::Broken })
            }
        }
    }

    /// Drops sessions that have lapsed or panicked.
    pub(super) fn drop_lapsed(&self) {
        self.keep_living(&mut locked(&self.by_name));
    }

    fn keep_living(&self, sessions: &mut HashMap<String, Session>) {
        let (idle, now) = (self.limits.idle, (self.clock)());
        sessions.retain(|_, session| {
            !session.thread.is_finished() && !locked(&session.state).is_idle_for(idle, now)
        });
    }

    /// Hands a request to its session.
    fn ask(
        &self,
        session: Option<&str>,
        request: String,
    ) -> Result<(String, oneshot::Receiver<String>), Refusal> {
        let asked = serde_json::from_str(&request).ok();
        let starts = matches!(asked, Some(Request::SimulateStart { .. }));
        // a page that is left stops its simulation, and waits for no answer
        let is_for_answer = !matches!(asked, Some(Request::SimulateStop {}));
        let mut sessions = locked(&self.by_name);
        self.keep_living(&mut sessions);
        if session.is_some_and(|name| !sessions.contains_key(name)) {
            return Err(Refusal::Lapsed);
        }
        if starts {
            self.make_room_to_simulate(&mut sessions, session)?;
        }
        let name = session.map_or_else(|| self.begin(&mut sessions), |name| Ok(name.to_owned()))?;
        let session = sessions.get(&name).ok_or(Refusal::Lapsed)?;
        let (sender, receiver) = oneshot::channel();
        let mut state = locked(&session.state);
        session.questions.try_send(Question { request, answer: sender, is_for_answer }).map_err(|error| {
            match error {
                TrySendError::Full(_) => {
                    Refusal::Busy(format!("found {MOST_WAITING} requests that wait, wanted fewer"))
                }
                TrySendError::Disconnected(_) => Refusal::Broken,
            }
        })?;
        state.pending += 1;
        state.last = (self.clock)();
        state.is_simulating |= starts;
        drop(state);
        Ok((name, receiver))
    }

    /// Refuses a simulation beyond the limit; abandoned ones make room.
    fn make_room_to_simulate(
        &self,
        sessions: &mut HashMap<String, Session>,
        own: Option<&str>,
    ) -> Result<(), Refusal> {
        let others = sessions.iter().filter(|(name, _)| own != Some(name.as_str()));
        let others: Vec<(String, State)> =
            others.map(|(name, session)| (name.clone(), *locked(&session.state))).collect();
        let simulating = others.iter().filter(|(_, state)| state.is_simulating);
        if simulating.clone().count() < self.limits.simulations {
            return Ok(());
        }
        let now = (self.clock)();
        let abandoned = simulating.filter(|(_, state)| state.is_idle_for(self.limits.abandoned, now));
        let Some((name, _)) = abandoned.min_by_key(|(_, state)| state.last) else {
            let most = self.limits.simulations;
            let found = if most == 1 { "1 simulation".to_owned() } else { format!("{most} simulations") };
            return Err(Refusal::Busy(format!(
                "found {found} under way, which is all that may be at a time\n  help: wait, or start flitwise serve \
                 with more --simulations"
            )));
        };
        sessions.remove(name);
        Ok(())
    }

    /// Begins a session. Where there are too many, the one that has been idle for longest makes room.
    fn begin(&self, sessions: &mut HashMap<String, Session>) -> Result<String, Refusal> {
        if Arc::strong_count(&self.alive) > self.limits.sessions {
            let state = |session: &Session| *locked(&session.state);
            let all = sessions.iter().map(|(name, session)| (name.clone(), state(session)));
            let idle = all.filter(|(_, state)| state.pending == 0 && !state.is_simulating);
            let longest = idle.min_by_key(|(_, state)| state.last);
            let Some((name, _)) = longest else {
                let most = self.limits.sessions;
                return Err(Refusal::Busy(format!("found {most} sessions at work, wanted fewer")));
            };
            sessions.remove(&name);
        }
        let no_session = |error: &dyn std::fmt::Display| Refusal::Busy(format!("no session: {error}"));
        let mut random = [0_u8; 16];
        getrandom::fill(&mut random).map_err(|error| no_session(&error))?;
        let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let session = self.session().map_err(|error| no_session(&error))?;
        sessions.insert(name.clone(), session);
        Ok(name)
    }

    fn session(&self) -> std::io::Result<Session> {
        let (sender, receiver) = sync_channel(MOST_WAITING);
        let state = State { pending: 0, is_simulating: false, last: (self.clock)() };
        let state = Arc::new(Mutex::new(state));
        let (clock, workers) = (Arc::clone(&self.clock), Arc::clone(&self.workers));
        let (of_thread, alive) = (Arc::clone(&state), Arc::clone(&self.alive));
        let thread =
            thread::Builder::new().name("session".to_owned()).stack_size(STACK).spawn(move || {
                // an engine cannot move to another thread: it begins where it works
                work(&mut Engine::new(Arc::clone(&clock), workers), &receiver, &of_thread, &clock);
                drop(alive);
            })?;
        Ok(Session { questions: sender, state, thread })
    }
}

/// Answers questions in order until the session is dropped.
fn work(engine: &mut Engine, questions: &Receiver<Question>, state: &Mutex<State>, clock: &Clock) {
    for Question { request, answer, is_for_answer } in questions {
        let is_vain = is_for_answer && answer.is_closed();
        let text = (!is_vain).then(|| engine.answer(&request));
        let mut state = locked(state);
        state.pending -= 1;
        state.last = clock();
        if state.pending == 0 {
            state.is_simulating = engine.is_simulating();
        }
        drop(state);
        if let Some(text) = text {
            // it may have gone meanwhile
            let _ = answer.send(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Instant;

    use super::*;

    const CONTENTS: &str = r#"{ "ask": "contents" }"#;

    /// One simulation and two sessions at a time.
    fn sessions(clock: Clock, answer: Duration) -> Sessions {
        let limits = Limits { sessions: 2, answer, ..Limits::new(1) };
        let workers = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        Sessions::new(limits, clock, Arc::new(workers))
    }

    /// The same with a clock that stands until it is set \[s\].
    fn at_rest() -> (Sessions, Arc<AtomicU64>) {
        let now = Arc::new(AtomicU64::new(0));
        let seconds = Arc::clone(&now);
        let clock: Clock = Arc::new(move || Duration::from_secs(seconds.load(Ordering::Relaxed)));
        (sessions(clock, Duration::from_secs(60)), now)
    }

    fn asked(sessions: &Sessions, session: Option<&str>, request: &str) -> Result<Answer, Refusal> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(sessions.answer(session, request.to_owned()))
    }

    /// Waits until no more threads of engines are left: one whose session is gone ends a little later.
    fn until_threads(sessions: &Sessions, count: usize) {
        while Arc::strong_count(&sessions.alive) > 1 + count {
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn start() -> String {
        let text = flitwise_language::scenario::Preset::find("router16").unwrap().text;
        let run = serde_json::json!({ "precision": 0.001 });
        serde_json::json!({ "ask": "simulate_start", "text": text, "run": run }).to_string()
    }

    #[test]
    fn a_session_that_is_idle_lapses() {
        let (sessions, now) = at_rest();
        let name = asked(&sessions, None, CONTENTS).unwrap().session;
        now.store(600, Ordering::Relaxed);
        assert_eq!(asked(&sessions, Some(&name), CONTENTS).unwrap().session, name);
        now.store(1201, Ordering::Relaxed);
        assert_eq!(asked(&sessions, Some(&name), CONTENTS).unwrap_err(), Refusal::Lapsed);
        assert_eq!(asked(&sessions, Some("none"), CONTENTS).unwrap_err(), Refusal::Lapsed);
    }

    #[test]
    fn the_session_that_has_been_idle_for_longest_makes_room() {
        let (sessions, now) = at_rest();
        let names = [0, 1].map(|_| asked(&sessions, None, CONTENTS).unwrap().session);
        now.store(1, Ordering::Relaxed);
        asked(&sessions, Some(&names[0]), CONTENTS).unwrap();
        let third = asked(&sessions, None, CONTENTS).unwrap().session;
        assert_eq!(asked(&sessions, Some(&names[1]), CONTENTS).unwrap_err(), Refusal::Lapsed);
        for name in [&names[0], &third] {
            asked(&sessions, Some(name), CONTENTS).unwrap();
        }
    }

    #[test]
    fn a_simulation_beyond_the_limit_is_refused_until_one_is_abandoned_or_ends() {
        let (sessions, now) = at_rest();
        let first = asked(&sessions, None, &start()).unwrap().session;
        let second = asked(&sessions, None, CONTENTS).unwrap().session;
        now.store(10, Ordering::Relaxed);
        let refused = asked(&sessions, Some(&second), &start());
        assert!(
            matches!(refused, Err(Refusal::Busy(why)) if why.starts_with("found 1 simulation under way"))
        );
        asked(&sessions, Some(&first), &start()).unwrap();
        now.store(21, Ordering::Relaxed);
        asked(&sessions, Some(&second), &start()).unwrap();
        assert_eq!(asked(&sessions, Some(&first), CONTENTS).unwrap_err(), Refusal::Lapsed);
        until_threads(&sessions, 1);

        let third = asked(&sessions, None, CONTENTS).unwrap().session;
        assert!(matches!(asked(&sessions, Some(&third), &start()), Err(Refusal::Busy(_))));
        asked(&sessions, Some(&second), r#"{ "ask": "simulate_stop" }"#).unwrap();
        asked(&sessions, Some(&third), &start()).unwrap();
    }

    #[test]
    fn a_simulation_is_stopped_although_nobody_waits_for_the_answer() {
        let (sessions, _) = at_rest();
        let name = asked(&sessions, None, &start()).unwrap().session;
        drop(sessions.ask(Some(&name), r#"{ "ask": "simulate_stop" }"#.to_owned()).unwrap());
        asked(&sessions, Some(&name), CONTENTS).unwrap();
        asked(&sessions, None, &start()).unwrap();
    }

    #[test]
    fn a_session_whose_answer_is_late_is_dropped_and_its_thread_ends() {
        let started = Instant::now();
        let sessions = sessions(Arc::new(move || started.elapsed()), Duration::from_secs(1));
        let name = asked(&sessions, None, &start()).unwrap().session;
        let step = r#"{ "ask": "simulate_step", "milliseconds": 2000 }"#;
        let late = asked(&sessions, Some(&name), step).unwrap_err();
        assert!(matches!(late, Refusal::Busy(why) if why.starts_with("found no answer within 1 s")));
        assert_eq!(asked(&sessions, Some(&name), CONTENTS).unwrap_err(), Refusal::Lapsed);
        until_threads(&sessions, 0);
    }
}
