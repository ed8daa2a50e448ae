//! One side of the paired bench: a scenario, simulated on by as many cycles as are asked for.
//!
//! The text of this file is also the program that is compiled against a commit of long ago, so it asks for little.

use std::io::{BufRead, Write};
use std::time::Instant;

use flitwise_language::scenario::Scenario;
use flitwise_simulator::Simulator;

/// A line of input is a number of cycles; a line of output is the flit-hops in them, and the seconds that they took.
pub(crate) fn answer(text: &str, cycles: impl BufRead, mut answers: impl Write) -> Result<(), String> {
    let scenario = Scenario::from_toml("a row of the bench", text).map_err(|faults| format!("{faults:?}"))?;
    let (mut simulator, mut delivered) = (Simulator::new(&scenario, 1), Vec::new());
    for line in cycles.lines() {
        let line = line.map_err(|error| error.to_string())?;
        let cycles: u64 = line.parse().map_err(|_| format!("not a number of cycles: {line}"))?;
        let (hops, end, clock) = (simulator.flit_hops(), simulator.now() + cycles, Clock::start());
        delivered.clear();
        simulator.run_until(end, &mut delivered);
        let seconds = clock.seconds();
        let said =
            writeln!(answers, "{} {seconds}", simulator.flit_hops() - hops).and_then(|()| answers.flush());
        said.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Seconds of the processor for this process where the system tells them, or else of the wall.
struct Clock {
    processor: Option<f64>,
    wall: Instant,
}

impl Clock {
    fn start() -> Self {
        Self { processor: Self::processor(), wall: Instant::now() }
    }

    fn seconds(&self) -> f64 {
        let wall = self.wall.elapsed().as_secs_f64();
        Self::processor().zip(self.processor).map_or(wall, |(now, start)| now - start)
    }

    fn processor() -> Option<f64> {
        // the system brings its count up to date when another process could have its turn
        std::thread::yield_now();
        let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
        Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
    }
}

/// The scenario is in the file that is named; one that is refused ends with code 3.
#[allow(dead_code)] // the bench itself only asks for answers
pub(crate) fn main() -> std::process::ExitCode {
    let text = std::env::args().nth(1).and_then(|path| std::fs::read_to_string(path).ok());
    let Some(text) = text else { return 2.into() };
    match answer(&text, std::io::stdin().lock(), std::io::stdout().lock()) {
        Ok(()) => 0.into(),
        Err(_) => 3.into(),
    }
}
