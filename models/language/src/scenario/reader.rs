//! From a document to a spec: every key understood or refused, every fault at its place.

use std::sync::LazyLock;

use super::ScenarioSpec;
use super::check::Scenario;
use super::declare::{Branch, Declaration, Key, KeyValue, Kind, Shape};
use super::units::{Units, worded};
use crate::document::{Document, Fault, Heads, Reader, Table, Value, one_of};

/// Tables in which a key that is out of place may belong.
static HEADS: LazyLock<Heads> = LazyLock::new(|| {
    let head = |key: &Key| {
        let (head, shape) = match key.kind {
            Kind::Table(shape) => (format!("[{}]", key.name), shape),
            Kind::Tables(shape) => (format!("[[{}]]", key.name), shape),
            _ => return None,
        };
        Some((&*head.leak(), &*shape.names().leak()))
    };
    ScenarioSpec::SHAPE.keys().filter_map(head).collect::<Vec<_>>().leak()
});

impl Document {
    /// Understands and checks the document.
    ///
    /// # Errors
    /// Every fault of every kind, in the order of the text.
    pub fn scenario(&self) -> Result<Scenario, Vec<Fault>> {
        // places are wanted for faults only, and cost most of the time
        let mut reader = Reader::new(*HEADS);
        let spec = read(&mut reader, &self.root());
        if reader.faults().is_empty()
            && let Ok(scenario) = spec.check()
        {
            return Ok(scenario);
        }
        let mut reader = Reader::new(*HEADS).keeping_places();
        let spec = read(&mut reader, &self.root());
        let unread: Vec<&str> = reader.faults().iter().map(|fault| fault.key.as_str()).collect();
        let faults = spec.check_read(&unread).err().unwrap_or_default();
        reader.refuse_checked(faults, self.place());
        Err(reader.into_faults())
    }
}

impl Scenario {
    /// Reads and checks a scenario file's text; `text_name` is what messages call it.
    ///
    /// ```
    /// # use flitwise_language::scenario::Scenario;
    /// let faults = Scenario::from_toml("mine.toml", "[network]\ntopolgy = \"router\"\n").unwrap_err();
    /// assert!(faults[0].to_string().starts_with("mine.toml:"));
    /// assert!(faults.iter().any(|fault| fault.help.as_deref() == Some("did you mean topology?")));
    /// ```
    ///
    /// # Errors
    /// Every fault of the text.
    pub fn from_toml(text_name: &str, text: &str) -> Result<Self, Vec<Fault>> {
        Document::parse(text_name, text)?.scenario()
    }
}

fn read(reader: &mut Reader, root: &Table<'_>) -> ScenarioSpec {
    let mut spec = ScenarioSpec::unset();
    read_table(&mut spec, reader, root, None, &Units::default());
    spec
}

/// Reads a table within another; where something else stands, what it lacks is reported too.
pub(super) fn read_inner<T: Declaration>(
    spec: &mut T,
    reader: &mut Reader,
    table: &Table<'_>,
    key: &Key,
    units: &Units,
) -> bool {
    let example = key.example().filter(|_| !table.path.is_empty());
    let example = example.map(|example| format!("{} = {example}", key.name));
    if let (Some(node), Some(_)) = (table.get(key.name), &example)
        && !matches!(node.value, Value::Table(_))
    {
        reader.refuse_kind(node, table.key(key.name), &format!("a {}", key.name), example);
        return false;
    }
    let Some(inner) = reader.table(table, key.name) else { return false };
    read_table(spec, reader, &inner, example.as_deref(), units);
    true
}

/// Reads every key of a table; `example` is a whole one.
pub(super) fn read_table<T: Declaration>(
    spec: &mut T,
    reader: &mut Reader,
    table: &Table<'_>,
    example: Option<&str>,
    units: &Units,
) {
    let shape = spec.shape();
    reader.refuse_unknown(table, &shape.names());
    if let Some(tag) = shape.tag {
        reader.require(table, tag, &one_of(shape.words()), example);
        let all: Vec<&Branch> = shape.branches.iter().collect();
        let Some(branch) = reader.word(table, tag, &all, |branch| branch.word) else { return };
        *spec = T::branch(branch.word);
        refuse_strays(reader, table, (shape, tag), branch);
    }
    let is_wanted = |key: &&Key| key.limits.wanted && !key.is_replaced(table, units);
    for key in spec.keys().iter().filter(is_wanted) {
        let own = key.example().or(example);
        reader.require(table, key.name, &worded(key.value_wanted(), units.are_of_packets()), own);
    }
    let mut units = spec.units(units);
    for early in [true, false] {
        for key in spec.keys().iter().filter(|key| key.limits.early == early) {
            if table.get(key.name).is_none() {
                continue;
            }
            if let Some((_, value)) = spec.fields_mut().into_iter().find(|(one, _)| one.name == key.name) {
                value.read(reader, table, key, &units);
            }
            if early {
                // what is read early converts what follows
                units = spec.units(&units);
            }
        }
    }
    spec.settle(reader, table, &units);
}

/// Refuses keys that belong to another branch.
fn refuse_strays(reader: &mut Reader, table: &Table<'_>, (shape, tag): (&Shape, &str), branch: &Branch) {
    let has = |branch: &Branch, name: &str| branch.keys.iter().any(|key| key.name == name);
    for entry in table.entries.iter().filter(|entry| !has(branch, &entry.key)) {
        let Some(other) = shape.branches.iter().find(|other| has(other, &entry.key)) else { continue };
        let wanted = format!("no {} with {tag} = \"{}\"", entry.key, branch.word);
        let help = match branch.keys {
            [] => format!("{} belongs to {tag} = \"{}\"", entry.key, other.word),
            keys => {
                let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
                format!("{tag} = \"{}\" has {}", branch.word, names.join(", "))
            }
        };
        reader.refuse(&entry.node.place, table.key(&entry.key), entry.node.value.shown(), wanted, Some(help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{DeadlineSpec, HopDeadlines, NetworkSpec};

    fn faults(text: &str) -> Vec<String> {
        Scenario::from_toml("t", text).unwrap_err().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn faults_of_kind_range_and_spelling_come_together_in_the_order_of_the_text() {
        let text = "[network]\ntopology = \"cube\"\n[router]\nbuffer_flit = 3\nscheduler = \"round-robbin\"\n\
                    [[class]]\nname = \"R1\"\nkind = \"real-time\"\nrate = \"fast\"\n\
                    [[class]]\nname = \"R2\"\nkind = \"real-time\"\nrate = 7\n";
        let faults = faults(text);
        assert_eq!(faults.len(), 5, "{faults:#?}");
        assert!(faults[0].starts_with("t:2:12: network.topology: found \"cube\", wanted"));
        assert!(faults[1].contains("did you mean buffer_flits?"));
        assert!(faults[2].contains("did you mean \"round-robin\"?"));
        assert!(faults[3].starts_with("t:9:8: class.R1.rate: found \"fast\", wanted a number"));
        assert!(faults[4].starts_with("t:13:8: class.R2.rate: found 7, wanted 0, or 1e-12 to 1"));
    }

    #[test]
    fn a_key_of_another_table_is_shown_its_place() {
        let text = "buffer_flits = 3\n[network]\ntopology = \"router\"\nports = 4\ndimension = 3\n\
                    [[class]]\nname = \"a\"\nkind = \"best-effort\"\nrate = 0.01\n";
        let faults = faults(text);
        assert!(faults[0].contains("buffer_flits belongs under [router]"), "{faults:#?}");
        assert!(faults[1].contains("no dimension with topology = \"router\""), "{faults:#?}");
        assert_eq!(faults.len(), 2);
    }

    #[test]
    fn nothing_is_concluded_from_the_default_that_stands_in_for_what_could_not_be_read() {
        let text = "[network]\ntopology = \"mesh\"\nradix = 4\ndimensions = 2\n[router]\ncrossbar = \"partial\"\n\
                    allocation = \"rotating\"\n[[class]]\nname = \"a\"\nkind = \"real-time\"\nrate = 0.01\n\
                    nodes = \"some\"\ndestination = 5\n";
        let faults = faults(text);
        assert!(faults.len() == 2 && faults[0].contains("router.crossbar"), "{faults:#?}");
        assert!(faults[1].contains("class.a.nodes"), "{faults:#?}");
    }

    #[test]
    fn a_spec_survives_the_way_through_the_reader() {
        let text = "name = \"x\"\n[network]\ntopology = \"hypercube\"\ndimension = 4\n[router]\n\
                    pipeline_stages = 3\nbuffer_flits = 7\nscheduler = \"fifo\"\n[[class]]\nname = \"é\"\n\
                    kind = \"real-time\"\nrate = 0.5\nmessage_flits = 9\nvtick = 4\n\
                    deadlines = [9, { hops = 2, deadlines = [55, 60] }]\n\
                    source = { kind = \"on-off\", streams = 99, messages_per_burst = 2, peak_rate = 0.25 }\n";
        let spec = Scenario::from_toml("t", text).unwrap().spec().clone();
        assert_eq!(spec.network, NetworkSpec::Hypercube { dimension: 4, self_traffic: None });
        let class = &spec.classes[0];
        assert_eq!((class.vtick, class.message_flits), (Some(4.0), 9));
        assert_eq!(class.deadlines[1], DeadlineSpec::Hops(HopDeadlines { hops: 2, deadlines: vec![55, 60] }));
    }
}
