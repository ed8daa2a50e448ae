//! `flitwise topology`: networks as files of nodes and links.

use std::fs;
use std::path::Path;

use flitwise_language::network::{exported, from_anynet, from_htsim, from_ibnetdiscover};

use crate::args::topology::{Export, GraphFormat, Import, TopologyCommand};
use crate::outcome::Exit;
use crate::{files, input, output, place};

/// Lines that are refused one by one.
const MOST_FAULTS: usize = 10;

pub(crate) fn run(command: &TopologyCommand) -> Result<(), Exit> {
    match command {
        TopologyCommand::Export(args) => export(args),
        TopologyCommand::Import(args) => import(args),
    }
}

fn export(args: &Export) -> Result<(), Exit> {
    let document = input::document(&args.source)?;
    // packets take ways that follow from these
    let network = input::scenario(&document)?.network().topology();
    let found = exported(&network).map_err(|because| {
        Exit::input(format!(
            "{}network: found {because}, wanted a network in which they do both at one",
            document.place_of("network")
        ))
    })?;
    match found.without_ways {
        None => eprintln!("ways are written for routing = \"tables\""),
        Some(because) => eprintln!("links only, for routing = \"shortest\" or \"up-down\": {because}"),
    }
    write(&found.text, args.out.as_deref())
}

fn import(args: &Import) -> Result<(), Exit> {
    let (name, text) = input::read_up_to(&args.file, files::LARGEST_TEXT)?;
    let tables = args.lft.as_deref().map(|path| input::read_up_to(path, files::LARGEST_TEXT)).transpose()?;
    if tables.is_some() && args.from != GraphFormat::Ibnetdiscover {
        let found = "--lft: found forwarding tables, wanted --from ibnetdiscover beside them".to_owned();
        return Err(Exit::input(found));
    }
    let imported = match args.from {
        GraphFormat::Anynet => from_anynet(&text).map_err(|faults| (faults, false)),
        GraphFormat::Ibnetdiscover => {
            from_ibnetdiscover(&text, tables.as_ref().map(|(_, text)| text.as_str()))
        }
        GraphFormat::Htsim => from_htsim(&text).map_err(|faults| (faults, false)),
    };
    let imported = imported.map_err(|(faults, is_of_tables)| {
        let of_tables = tables.as_ref().filter(|_| is_of_tables).map(|(name, _)| name);
        let name = of_tables.unwrap_or(&name);
        let said = |(line, fault): (Option<usize>, String)| match line {
            Some(line) => format!("{name}:{line}: {fault}"),
            None => format!("{name}: {fault}"),
        };
        let more = faults.len().saturating_sub(MOST_FAULTS);
        let mut faults: Vec<String> = faults.into_iter().take(MOST_FAULTS).map(said).collect();
        faults.extend((more > 0).then(|| format!("{name}: found {more} more lines like that")));
        Exit::BadInput(faults)
    })?;
    for note in &imported.notes {
        eprintln!("{name}: {note}");
    }
    write(&imported.text, args.out.as_deref())
}

fn write(text: &str, out: Option<&Path>) -> Result<(), Exit> {
    let Some(path) = out else { return output::write(text.as_bytes()) };
    place::file("--out", path)?;
    Ok(fs::write(path, text)?)
}
