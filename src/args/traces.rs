//! Options of `flitwise trace`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

pub(crate) const EXAMPLES: &str = "\
Examples:
  flitwise trace synthesise --out san.csv            64 hosts, 23 of them disks, for 1,600 us at compression 40
  flitwise trace convert --from msr hm_0.csv --hosts 64 --disks 23 --out hm.csv
  flitwise trace convert --from spc Financial1.spc | head

In a scenario with [switch]: source = { kind = \"trace\", file = \"san.csv\", compression = 40 }
Exit codes: 0 written, 1 output not written, 2 bad input.";

/// Where traces come from.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Make a self-similar trace of hosts that read from and write to disks.
    Synthesise(Synthesise),
    /// Make a trace of a block trace of disks in a public format.
    Convert(Convert),
}

/// Hosts onto which a trace is folded, and where it is written.
#[derive(Debug, Args)]
pub(crate) struct Fold {
    /// Hosts of the network.
    #[arg(long, value_name = "N", default_value = "64", allow_hyphen_values = true)]
    pub(crate) hosts: String,
    /// How many of them are disks: the last ones. The others read from disks and write to them.
    #[arg(long, value_name = "N", default_value = "23", allow_hyphen_values = true)]
    pub(crate) disks: String,
    /// Write to this file [default: standard output].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// A synthetic trace.
#[derive(Debug, Args)]
pub(crate) struct Synthesise {
    #[command(flatten)]
    pub(crate) fold: Fold,
    /// Factor by which a scenario will divide its times: the trace is so many times as long as the run.
    #[arg(long, value_name = "FACTOR", default_value = "40", allow_hyphen_values = true)]
    pub(crate) compression: String,
    /// Length of the run in microseconds.
    #[arg(long, value_name = "US", default_value = "1600", allow_hyphen_values = true)]
    pub(crate) run: String,
    /// Seed of the random numbers.
    #[arg(long, value_name = "N", default_value = "1", allow_hyphen_values = true)]
    pub(crate) seed: String,
}

/// A converted trace.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// The block trace.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Its format.
    #[arg(long, value_enum)]
    pub(crate) from: BlockFormat,
    #[command(flatten)]
    pub(crate) fold: Fold,
}

/// A public format of block traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BlockFormat {
    /// MSR Cambridge: Timestamp, Hostname, DiskNumber, Type, Offset, Size, ResponseTime.
    Msr,
    /// SPC-1: ASU, LBA, Size, Opcode, Timestamp.
    Spc,
}
