//! Options of `flitwise topology`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::Source;

pub(crate) const EXAMPLES: &str = "\
Examples:
  flitwise topology export --preset torus8x8 --out torus.txt     links and ways of a built-in network
  flitwise topology import --from anynet mesh.anynet --out mesh.txt
  ibnetdiscover | flitwise topology import --from ibnetdiscover - --out fabric.txt
  flitwise topology import --from ibnetdiscover links.txt --lft tables.txt --out fabric.txt

In a scenario: [network] with topology = \"file\", file = \"torus.txt\", and routing = \"shortest\",
\"up-down\" or \"tables\".
Exit codes: 0 written, 1 output not written, 2 bad input.";

/// Networks as files of nodes and links.
#[derive(Debug, Subcommand)]
pub(crate) enum TopologyCommand {
    /// Write the network of a scenario as a file of nodes, links and ways.
    Export(Export),
    /// Write such a file for another program's network.
    Import(Import),
}

/// A network as a file.
#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Write to this file [default: standard output].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// A file of another program.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file, or - for standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// What wrote it.
    #[arg(long, value_enum)]
    pub(crate) from: GraphFormat,
    /// Forwarding tables beside ibnetdiscover's links, as dump_lfts or ibroute print them: they become the ways.
    #[arg(long, value_name = "FILE")]
    pub(crate) lft: Option<PathBuf>,
    /// Write to this file [default: standard output].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// A format of networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// BookSim2's anynet: lines such as router 0 node 0 router 1.
    Anynet,
    /// What InfiniBand's ibnetdiscover prints.
    Ibnetdiscover,
    /// A .topo file of htsim: tiers of a tree.
    Htsim,
}
