//! Options of `flitwise serve`.

use clap::Args;

pub(super) const EXAMPLES: &str = "\
Examples:
  flitwise serve                                     then open http://127.0.0.1:8417/ in a browser
  flitwise serve --port 0                            any free port; the first line printed is the address
  flitwise serve --simulations 1
  flitwise serve --listen 0.0.0.0 --host-name lab.example  for others in the network, too

The page has sliders, the file of a scenario, answers, curves, simulations and lessons; all is computed by this process.
It reads and writes no files, and keeps no results in the store. There is no password: whoever reaches the address may
use it. By default only programs of this computer do, and pages of other sites are refused.
Ctrl-C or a signal to terminate ends it, simulations included.
Exit codes: 0 ended by a signal, 1 output not written, 2 bad input or an address that cannot be had.";

/// Values are read by `serve`, not here, so that all that is wrong is reported at once.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Port of the page; 0: any that is free.
    #[arg(long, value_name = "PORT", default_value = "8417", allow_hyphen_values = true)]
    pub(crate) port: String,
    /// Address to listen on: of this computer alone unless another one is given; 0.0.0.0 or :: are all it has.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", allow_hyphen_values = true)]
    pub(crate) listen: String,
    /// Another name under which browsers reach the page, with its port where that is another one; repeatable.
    #[arg(long = "host-name", value_name = "NAME[:PORT]", allow_hyphen_values = true)]
    pub(crate) host_names: Vec<String>,
    /// Simulations under way at a time; a further one is refused [default: as many as cores, at least 2].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) simulations: Option<String>,
}
