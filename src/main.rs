//! The command `flitwise`.

use std::process::ExitCode;

fn main() -> ExitCode {
    flitwise::command::main()
}
