//! Campaign files.

use std::path::{Component, Path, PathBuf};

use flitwise_language::document::{Document, Entry, Fault, Node, Reader, Table, Value};
use flitwise_language::scenario::{Grid, Scenario, Setting, is_whole};
use flitwise_validation::campaign::{Folder, Input};
use flitwise_validation::claims::Registry;
use flitwise_validation::machine;

use crate::figure::{self, FigureRequest};
use crate::outcome::{Exit, GridFaults};
use crate::{files, input, typed};

/// The most points of one study.
const MOST_POINTS: usize = 10_000;
/// The longest file beside the campaign file \[bytes\].
const LARGEST_INPUT: u64 = 1 << 20;

const ROOT: &[&str] = &["figures", "claims", "report", "precision", "max-messages", "seed", "study"];
const STUDY: &[&str] = &["name", "preset", "file", "set", "over", "couple"];
const HEADS: &[(&str, &[&str])] = &[("[[study]]", STUDY)];

/// Which pages of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportKind {
    Whole,
    Quick,
}

impl ReportKind {
    pub(super) fn is_quick(self) -> bool {
        self == Self::Quick
    }
}

/// A scenario over axes.
#[derive(Debug)]
pub(super) struct Study {
    pub(super) name: String,
    pub(super) grid: Grid,
    /// The last axis varies fastest.
    pub(super) points: Vec<StudyPoint>,
}

/// A point of a study.
#[derive(Debug)]
pub(super) struct StudyPoint {
    /// Values set here, coupled ones included.
    pub(super) set: Vec<Setting>,
    pub(super) scenario: Scenario,
}

/// What a campaign is to do.
pub(super) struct CampaignFile {
    pub(super) figures: Vec<FigureRequest>,
    /// Empty if no claims are judged.
    pub(super) registry: Registry,
    pub(super) report: Option<ReportKind>,
    pub(super) studies: Vec<Study>,
    /// As the options of the same names.
    pub(super) precision: Option<String>,
    pub(super) max_messages: Option<String>,
    pub(super) seed: String,
    /// The file and all files that it names.
    pub(super) inputs: Vec<Input>,
}

impl CampaignFile {
    /// Reads a campaign file, or reports all that is wrong with it.
    pub(super) fn read(path: &Path) -> Result<Self, Exit> {
        if path == Path::new("-") {
            return Err(Exit::input("found standard input, wanted a campaign file, which others read again"));
        }
        let (name, text) = input::read(path)?;
        let document = Document::parse(&name, &text).map_err(|faults| Exit::faults(&faults))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut reading = Reading { reader: Reader::new(HEADS), faults: Vec::new(), name: &name, folder };
        let mut file = reading.file(&document);
        let own = Input { path: Folder::CAMPAIGN.into(), bytes: text.into_bytes() };
        file.inputs = [own].into_iter().chain(reading.named(&document)).collect();
        let faults = reading.reader.into_faults();
        let faults: Vec<String> = faults.iter().map(Fault::to_string).chain(reading.faults).collect();
        if faults.is_empty() { Ok(file) } else { Err(Exit::BadInput(faults)) }
    }
}

/// A campaign file being read.
struct Reading<'r> {
    reader: Reader,
    /// What other readers have said, with its place.
    faults: Vec<String>,
    name: &'r str,
    folder: &'r Path,
}

impl Reading<'_> {
    fn file(&mut self, document: &Document) -> CampaignFile {
        let root = document.root();
        self.reader.refuse_unknown(&root, ROOT);
        if !["figures", "claims", "report", "study"].iter().any(|key| root.get(key).is_some()) {
            let help = Some("figures = [\"4a\"], claims = [\"quick\"], report = true or a [[study]]");
            self.reader.refuse_missing(&root, "", "something to simulate", help);
        }
        CampaignFile {
            figures: self.figures(&root),
            registry: self.registry(&root),
            report: self.report(&root),
            precision: self.value(&root, "precision", typed::precision),
            max_messages: self.value(&root, "max-messages", typed::max_messages),
            seed: self.value(&root, "seed", typed::seed).unwrap_or_else(|| "1".to_owned()),
            studies: self.studies(&root),
            inputs: Vec::new(),
        }
    }

    /// A value that is read as the option of the same name is.
    fn value<T>(
        &mut self,
        table: &Table<'_>,
        key: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<String> {
        let node = table.get(key)?;
        let typed = match &node.value {
            Value::Text(text) => text.trim().to_owned(),
            Value::Whole(number) => number.to_string(),
            Value::Real(number) => number.to_string(),
            _ => String::new(),
        };
        match read(&typed) {
            Ok(_) => Some(typed),
            Err(wanted) => {
                self.reader.refuse_kind(node, key.to_owned(), &wanted, None);
                None
            }
        }
    }

    /// The texts of a list, with their places.
    fn items<'d>(&mut self, table: &Table<'d>, key: &str, example: &str) -> Vec<(String, &'d Node)> {
        let Some((list, path)) = self.reader.list(table, key, "a list of texts", example) else {
            return Vec::new();
        };
        let mut items = Vec::new();
        for (at, node) in list.iter().enumerate() {
            match &node.value {
                Value::Text(text) => items.push((text.clone(), node)),
                _ => self.reader.refuse_kind(node, format!("{path}[{}]", at + 1), "a text in quotes", None),
            }
        }
        items
    }

    /// Keeps what another reader has said of a value.
    fn refuse(&mut self, node: &Node, key: &str, said: &[String]) {
        let place = |fault: &String| match fault.starts_with("found ") {
            true => format!("{}{key}: {fault}", node.place),
            // it has a place of its own, in another file
            false => fault.clone(),
        };
        self.faults.extend(said.iter().map(place));
    }

    fn figures(&mut self, root: &Table<'_>) -> Vec<FigureRequest> {
        let mut all: Vec<FigureRequest> = Vec::new();
        for (typed, node) in self.items(root, "figures", "[\"4a\", \"all\"]") {
            let is_file = typed.ends_with(".toml") || typed.contains(['/', '\\']);
            let named = if is_file { self.folder.join(&typed).display().to_string() } else { typed.clone() };
            match figure::wanted(&[named], None) {
                Ok(mut found) => {
                    // as the file names it, wherever the folder is
                    found.iter_mut().filter(|_| is_file).for_each(|one| one.typed.clone_from(&typed));
                    found.retain(|one| all.iter().all(|other| other.figure.name != one.figure.name));
                    if is_file && found.is_empty() {
                        let found =
                            format!("found a second figure of this name, {typed:?}, wanted another name");
                        self.refuse(node, "figures", &[found]);
                    }
                    all.extend(found);
                }
                Err(Exit::BadInput(said)) => self.refuse(node, "figures", &said),
                Err(other) => self.refuse(node, "figures", &[format!("found {other}, wanted a figure")]),
            }
        }
        all
    }

    fn registry(&mut self, root: &Table<'_>) -> Registry {
        let items = self.items(root, "claims", "[\"fig04a\", \"quick\"]");
        if items.is_empty() {
            return Registry::default();
        }
        let all = Registry::built_in();
        let mut wanted: Vec<String> = Vec::new();
        for (typed, node) in &items {
            let names: Vec<String> = match typed.as_str() {
                "all" | "quick" => {
                    let is_meant = |quick: bool| typed == "all" || quick;
                    let meant = all.claims.iter().filter(|claim| is_meant(claim.quick));
                    meant.map(|claim| claim.name.clone()).collect()
                }
                _ => {
                    let mut found = all.clone();
                    match found.keep_named(std::slice::from_ref(typed)) {
                        Ok(()) => found.claims.into_iter().map(|claim| claim.name).collect(),
                        Err(unknown) => {
                            let near = unknown.into_iter().find_map(|(_, near)| near);
                            let help = near.map(|near| format!("did you mean \"{near}\"?"));
                            let wanted = "the name of a claim, the beginning of one, \"all\" or \"quick\"";
                            self.reader.refuse_kind(node, "claims".to_owned(), wanted, help);
                            Vec::new()
                        }
                    }
                }
            };
            wanted.extend(names);
        }
        let claims = all.claims.into_iter().filter(|claim| wanted.contains(&claim.name)).collect();
        Registry { claims }
    }

    fn report(&mut self, root: &Table<'_>) -> Option<ReportKind> {
        let node = root.get("report")?;
        match &node.value {
            Value::Truth(true) => Some(ReportKind::Whole),
            Value::Truth(false) => None,
            Value::Text(text) if text == "quick" => Some(ReportKind::Quick),
            _ => {
                self.reader.refuse_kind(node, "report".to_owned(), "true, false or \"quick\"", None);
                None
            }
        }
    }

    fn studies(&mut self, root: &Table<'_>) -> Vec<Study> {
        let mut studies: Vec<Study> = Vec::new();
        for table in self.reader.tables(root, "study") {
            let study = self.study(&table);
            let is_twice = |study: &Study| studies.iter().any(|other| other.name == study.name);
            if let (Some(node), true) = (table.get("name"), study.as_ref().is_some_and(is_twice)) {
                self.reader.refuse_kind(node, table.key("name"), "a name of its own", None);
            }
            studies.extend(study);
        }
        studies
    }

    fn study(&mut self, table: &Table<'_>) -> Option<Study> {
        self.reader.refuse_unknown(table, STUDY);
        self.reader.require(table, "name", "what its files are called", Some("name = \"load\""));
        let name = self.reader.text(table, "name");
        let is_sound = |name: &str| {
            let is_plain = |one: char| one.is_ascii_alphanumeric() || "-_".contains(one);
            (1..=100).contains(&name.len()) && name.chars().all(is_plain)
        };
        if let (Some(node), false) = (table.get("name"), name.as_deref().is_none_or(is_sound)) {
            let wanted = "1 to 100 letters, digits, hyphens and underscores";
            self.reader.refuse_kind(node, table.key("name"), wanted, None);
        }
        let base = self.base(table);
        let over = self.reader.texts(table, "over").unwrap_or_default();
        let couple = self.reader.texts(table, "couple").unwrap_or_default();
        let grid = match Grid::read(base?, &over, &couple, is_whole) {
            Ok(grid) => grid,
            Err(said) => {
                self.refuse_grid(table, &said);
                return None;
            }
        };
        let points = self.points(table, &grid)?;
        Some(Study { name: name?, grid, points })
    }

    /// The scenario before its axes.
    fn base(&mut self, table: &Table<'_>) -> Option<Document> {
        let mut base = match (table.get("preset"), table.get("file")) {
            (Some(_), None) => self.reader.preset(table)?,
            (None, Some(node)) => {
                let file = self.reader.text(table, "file")?;
                match self.scenario_file(&self.folder.join(&file)) {
                    Ok(document) => document,
                    Err(said) => {
                        let here = |fault: String| format!("{}{}: {fault}", node.place, table.key("file"));
                        self.faults.extend(said.into_iter().map(here));
                        return None;
                    }
                }
            }
            (preset, _) => {
                let found = if preset.is_some() { "both" } else { "neither" };
                let wanted = "preset = \"router16\" or file = \"mine.toml\"".to_owned();
                self.reader.refuse(table.place, table.path.to_string(), found.to_owned(), wanted, None);
                return None;
            }
        };
        for entry in self.reader.settings(table, "set") {
            self.reader.refuse_all(base.set_entry(entry).err());
        }
        Some(base)
    }

    fn scenario_file(&self, path: &Path) -> Result<Document, Vec<String>> {
        let said = |ended: Exit| match ended {
            Exit::BadInput(faults) => faults,
            other => vec![other.to_string()],
        };
        let (name, text) = input::read(path).map_err(said)?;
        let words = |faults: Vec<Fault>| faults.iter().map(Fault::to_string).collect::<Vec<_>>();
        let mut document = Document::parse(&name, &text).map_err(words)?;
        let faults = files::read(&mut document, path.parent().unwrap_or(Path::new("")));
        if faults.is_empty() { Ok(document) } else { Err(faults) }
    }

    /// What is wrong with axes and ties, each at its list.
    fn refuse_grid(&mut self, table: &Table<'_>, said: &[String]) {
        for fault in said {
            let (key, rest) = match fault.strip_prefix("--couple ") {
                Some(rest) => ("couple", rest),
                None => ("over", fault.strip_prefix("--over ").unwrap_or(fault)),
            };
            let place = table.get(key).map_or(table.place, |node| &node.place);
            self.faults.push(format!("{place}{}: {rest}", table.key(key)));
        }
    }

    /// The points of a grid, or all that is wrong with any, each once.
    fn points(&mut self, table: &Table<'_>, grid: &Grid) -> Option<Vec<StudyPoint>> {
        let place = table.get("over").map_or(table.place, |node| &node.place);
        let Some(count) = grid.points().filter(|count| *count <= MOST_POINTS) else {
            let fault = format!("found a grid of more than {MOST_POINTS} points, wanted at most that");
            self.faults.push(format!("{place}{}: {fault}", table.key("over")));
            return None;
        };
        let (mut points, mut faults) = (Vec::with_capacity(count), GridFaults::default());
        for point in 0..count {
            let found = grid.at(grid.settings(point)).and_then(|(document, set)| {
                let scenario = document.scenario()?;
                let placed = |fault: Fault| Fault { place: document.place_of(&fault.key).clone(), ..fault };
                let placed = |faults: Vec<Fault>| faults.into_iter().map(placed).collect::<Vec<_>>();
                machine::supports(&scenario).map_err(placed)?;
                Ok(StudyPoint { set, scenario })
            });
            match found {
                Ok(point) => points.push(point),
                Err(found) => found.iter().for_each(|fault| faults.add(fault.to_string())),
            }
        }
        let faults = faults.told();
        let is_sound = faults.is_empty();
        // an override is told from this file
        self.faults.extend(faults.into_iter().map(|fault| match fault.starts_with("--") {
            true => format!("{place}{}: {}", table.path, fault.trim_start_matches('-')),
            false => fault,
        }));
        is_sound.then_some(points)
    }

    /// All files that a campaign names, copied; those that are not there are refused by whoever reads them.
    fn named(&mut self, document: &Document) -> Vec<Input> {
        let mut inputs: Vec<Input> = Vec::new();
        let root = document.root();
        let figures = root.get("figures").into_iter().flat_map(|node| match &node.value {
            Value::List(list) => list.as_slice(),
            _ => &[],
        });
        let of_figures = figures.filter(|node| match &node.value {
            Value::Text(text) => text.ends_with(".toml") || text.contains(['/', '\\']),
            _ => false,
        });
        let mut waiting: Vec<(PathBuf, Node)> =
            of_figures.chain(files(root.entries)).map(|node| (PathBuf::new(), node.clone())).collect();
        while let Some((within, node)) = waiting.pop() {
            let Value::Text(file) = &node.value else { continue };
            let path = within.join(file);
            let full = self.folder.join(&path);
            let is_known = inputs.iter().any(|input| input.path == path);
            if is_known || !full.is_file() {
                continue;
            }
            let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
            if !is_below || path == Path::new(Folder::CAMPAIGN) {
                self.faults.push(format!(
                    "{}found the file {file:?}, wanted one in the folder of {} or below it, of another name than \
                     {}\n  help: the folder of a campaign has copies of all files",
                    node.place,
                    self.name,
                    Folder::CAMPAIGN
                ));
                continue;
            }
            match std::fs::metadata(&full).map(|found| found.len()) {
                Ok(length) if length > LARGEST_INPUT => {
                    self.faults.push(format!(
                        "{}found {length} bytes in {file:?}, wanted at most 1 MiB",
                        node.place
                    ));
                    continue;
                }
                _ => {}
            }
            let Ok(bytes) = std::fs::read(&full) else { continue };
            let text = std::str::from_utf8(&bytes).unwrap_or_default();
            if let Ok(inner) = Document::parse(&full.display().to_string(), text) {
                let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
                waiting.extend(files(inner.root().entries).map(|node| (folder.clone(), node.clone())));
            }
            inputs.push(Input { path, bytes });
        }
        inputs.sort_by(|a, b| a.path.cmp(&b.path));
        inputs
    }
}

/// Values that may be names of files: under `file`, `sizes` and `matrix`, at any depth.
fn files<'d>(entries: &'d [Entry]) -> Box<dyn Iterator<Item = &'d Node> + 'd> {
    let of_node = |node: &'d Node| -> Box<dyn Iterator<Item = &'d Node> + 'd> {
        match &node.value {
            Value::Table(entries) => files(entries),
            Value::List(list) => Box::new(list.iter().flat_map(|node| match &node.value {
                Value::Table(entries) => files(entries),
                _ => Box::new(std::iter::empty()),
            })),
            _ => Box::new(std::iter::empty()),
        }
    };
    Box::new(entries.iter().flat_map(move |entry| {
        let own = matches!(entry.key.as_str(), "file" | "sizes" | "matrix").then_some(&entry.node);
        own.into_iter().chain(of_node(&entry.node))
    }))
}
