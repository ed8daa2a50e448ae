//! The command `flitwise` as a function.

use std::io::Write;
use std::process::ExitCode;

use clap_complete::CompleteEnv;

use crate::args::Command;
use crate::outcome::Exit;
use crate::{
    accuracy, compare, complete, explain, figure, help, learn, man, output, plan, presets, report, schema,
    sensitivity, serve, signals, simulate, solve, station, store, sweep, traces, verify,
};

/// The program: reads the command line, prints, and returns the exit code.
pub fn main() -> ExitCode {
    // a shell that asks what may be typed next gets its answer, and the process ends
    CompleteEnv::with_factory(help::command).var(complete::VARIABLE).complete();
    let cli = help::parse();
    signals::handle();
    match run(&cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(ended) => {
            if !ended.is_silent() {
                let style = anstyle::AnsiColor::Red.on_default().bold();
                // a message that cannot be shown is lost; the exit code stays
                let _ = writeln!(anstream::stderr(), "{style}error:{style:#} {ended}");
            }
            ExitCode::from(ended.exit_code())
        }
    }
}

fn run(command: &Command) -> Result<(), Exit> {
    match command {
        Command::Solve(args) => solve::run(args),
        Command::Sweep(args) => sweep::run(args),
        Command::Sensitivity(args) => sensitivity::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Plan(question) => plan::run(question),
        Command::Explain(args) => explain::run(args),
        Command::Verify(args) if args.accuracy => accuracy::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Figure(args) => figure::run(args),
        Command::Report(args) => report::run(args),
        Command::Station(args) => station::run(args),
        Command::Learn(args) => learn::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Trace(command) => traces::run(command),
        Command::Store(args) => store::run(args),
        Command::Presets { action } => presets::run(action.as_ref()),
        Command::Schema { of } => schema::run(*of),
        Command::Completions { shell } => output::write(&complete::script(*shell)?),
        Command::Man { out } => man::run(out.as_deref()),
    }
}
