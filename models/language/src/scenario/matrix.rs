//! A traffic matrix: by sender the weights of its destinations, from a table of comma-separated values.
//!
//! ```text
//! source,destination,weight
//! 0,5,2
//! 0,6,1
//! ```
//!
//! Every sender generates messages at the rate of the class. A message from `s` goes to `t` with probability
//! `w_st / Σ_u w_su`. A sender without weight sends nothing. Where the last column is `rate`, sender `s` generates
//! messages at the rate `Σ_u w_su` of its own, and the rate of the class is the mean over its senders.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::declare::*;
use super::text_file::{self, Wrong, text_file};
use crate::network::Topology;

table! {
    /// Destinations of each sender by weight, from a file.
    pub struct MatrixSpec {
        /// The file, or its lines: the columns `source`, `destination` and `weight`, or `rate`. Nodes go by number, in
        /// a graph from a file by name.
        matrix: MatrixFile = MatrixFile::unset(), ANY.wanted().example("\"traffic.csv\"");
    }
}

impl Rules for MatrixSpec {}

/// The columns.
const COLUMNS: [&str; 3] = ["source", "destination", "weight"];
/// The last of them, where it says how often messages are generated.
const RATE: &str = "rate";
/// The highest rate of a row \[messages/cycle, or messages/ns of packet switches\].
const HIGHEST_RATE: f64 = 1e3;

/// Rows of a matrix.
#[derive(Debug, Default)]
struct Rows {
    text: String,
    /// Whether the last column has rates.
    has_rates: bool,
    /// Nodes as they are written, each once.
    names: Vec<String>,
    /// By row: sender and destination by their places in `names`, the weight, and the line from 0.
    rows: Vec<(u32, u32, f64, u32)>,
    /// What the rows are in a network in which the names are these nodes.
    known: Mutex<Option<(Vec<u32>, Arc<Weights>)>>,
}

text_file! {
    /// A traffic matrix as it is written.
    pub struct MatrixFile(Rows), "the rows of a matrix";
}

/// Destinations of senders in a network.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Weights {
    /// By sender: where its destinations begin, and the next one's.
    first: Vec<u32>,
    /// Destinations, by sender and number.
    to: Vec<u32>,
    /// The share of the messages of its sender that goes to it or to one before it.
    up_to: Vec<f64>,
    /// By sender its rate, where the matrix has rates \[messages/cycle, or messages/ns of packet switches\].
    rates: Vec<f64>,
    /// Mean of them over those who send anything.
    pub(super) mean_rate: Option<f64>,
}

impl Weights {
    /// The rate of a sender over the mean of all.
    pub(super) fn relative_rate(&self, sender: u32) -> f64 {
        let rate = self.rates.get(sender as usize).zip(self.mean_rate);
        rate.map_or(1.0, |(rate, mean)| rate / mean)
    }

    /// The highest of these.
    pub(super) fn most_relative_rate(&self) -> f64 {
        let most = self.rates.iter().copied().fold(0.0, f64::max);
        self.mean_rate.map_or(1.0, |mean| most / mean)
    }

    /// The destinations of a sender, and the shares of messages up to each.
    pub(super) fn of(&self, sender: u32) -> (&[u32], &[f64]) {
        let ends = self.first.get(sender as usize).zip(self.first.get(sender as usize + 1));
        let range = ends.map_or(0..0, |(first, end)| *first as usize..*end as usize);
        (&self.to[range.clone()], &self.up_to[range])
    }
}

impl Rows {
    fn read(text: &str) -> Result<Self, Vec<Wrong>> {
        // a reader that trims copies every row
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        let mut wrong = Vec::new();
        let heads = format!("{}, or {RATE} in place of weight", COLUMNS.join(","));
        let has_rates = match reader.headers() {
            Ok(found) if found.iter().map(str::trim).eq(COLUMNS) => false,
            Ok(found) if found.iter().map(str::trim).eq([COLUMNS[0], COLUMNS[1], RATE]) => true,
            Ok(found) => {
                let found = found.iter().map(str::trim).collect::<Vec<_>>().join(",");
                let found: String = found.chars().take(60).collect();
                return Err(vec![Wrong::at(0, format!("\"{found}\""), heads)]);
            }
            Err(error) => return Err(vec![Wrong::whole(error.to_string(), heads)]),
        };
        let (value, most) = if has_rates { (RATE, HIGHEST_RATE) } else { (COLUMNS[2], f64::MAX) };
        let mut rows = Self { text: text.to_owned(), has_rates, ..Self::default() };
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut record = csv::StringRecord::new();
        loop {
            match reader.read_record(&mut record) {
                Ok(false) => break,
                Ok(true) => {}
                Err(error) => {
                    let line = error.position().map(|position| position.line() as usize - 1);
                    let wanted = format!("three values: source, destination, {value}");
                    wrong.push(Wrong { line, ..Wrong::whole("a line that is no row", wanted) });
                    continue;
                }
            }
            let line = record.position().map_or(0, |position| position.line() as usize - 1);
            let [from, to, weight] = [0, 1, 2].map(|column| record[column].trim());
            let Some(weight) = weight.parse::<f64>().ok().filter(|weight| (0.0..=most).contains(weight))
            else {
                let found: String = weight.chars().take(40).collect();
                let wanted = if has_rates { "a number, 0 to 1000" } else { "a number, 0 or more" };
                wrong.push(Wrong::at(line, format!("{value} {found}"), wanted));
                continue;
            };
            let [source, destination] = [from, to].map(|name| match numbers.get(name) {
                Some(number) => *number,
                None => {
                    let number = rows.names.len() as u32;
                    numbers.insert(name.to_owned(), number);
                    rows.names.push(name.to_owned());
                    number
                }
            });
            rows.rows.push((source, destination, weight, line as u32));
        }
        rows.check(&mut wrong);
        if wrong.is_empty() { Ok(rows) } else { Err(wrong) }
    }

    /// No rows, which stand in for a matrix that is refused.
    fn least() -> Self {
        Self::default()
    }

    fn text(&self) -> &str {
        &self.text
    }

    /// Refuses what is wrong in any network.
    fn check(&self, wrong: &mut Vec<Wrong>) {
        let mut sorted: Vec<(u32, u32, u32)> =
            self.rows.iter().map(|(from, to, _, line)| (*from, *to, *line)).collect();
        sorted.sort_unstable();
        for pair in sorted.windows(2) {
            let [(from, to, before), (again_from, again_to, line)] = [pair[0], pair[1]];
            if (from, to) == (again_from, again_to) {
                let (from, to) = (&self.names[from as usize], &self.names[to as usize]);
                let found = format!("a second row from {from} to {to}");
                wrong.push(Wrong::at(line as usize, found, format!("one, that of line {}", before + 1)));
            }
        }
        if wrong.is_empty() && self.rows.iter().all(|(_, _, weight, _)| *weight <= 0.0) {
            let value = if self.has_rates { RATE } else { COLUMNS[2] };
            wrong.push(Wrong::whole(format!("no {value} above 0"), format!("a row with a {value} above 0")));
        }
    }

    fn nodes(&self, network: &dyn Topology) -> Vec<u32> {
        self.names.iter().map(|name| network.node_named(name).unwrap_or(u32::MAX)).collect()
    }
}

impl MatrixFile {
    /// The weights in a network; rows with an unknown node, or by which a node sends to itself, are left out.
    pub(super) fn on(&self, network: &dyn Topology) -> Arc<Weights> {
        let nodes = self.0.nodes(network);
        let mut known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        let count = network.nodes() as usize;
        if let Some((of, weights)) = known.as_ref()
            && *of == nodes
            && weights.first.len() == count + 1
        {
            return Arc::clone(weights);
        }
        let node = |name: u32| nodes[name as usize];
        let rows = self.0.rows.iter().map(|(from, to, weight, _)| (node(*from), node(*to), *weight));
        let mut rows: Vec<(u32, u32, f64)> =
            rows.filter(|(from, to, weight)| *weight > 0.0 && *from != u32::MAX && *to != u32::MAX).collect();
        rows.sort_unstable_by_key(|(from, to, _)| (*from, *to));
        let rates = vec![0.0; if self.0.has_rates { count } else { 0 }];
        let mut weights = Weights { first: vec![0; count + 1], rates, ..Weights::default() };
        for of_sender in rows.chunk_by(|one, other| one.0 == other.0) {
            // as shares of the largest, so that no sum is infinite
            let most = of_sender.iter().map(|(.., weight)| *weight).fold(0.0, f64::max);
            let sum: f64 = of_sender.iter().map(|(.., weight)| weight / most).sum();
            let mut up_to = 0.0;
            for (_, to, weight) in of_sender {
                up_to += weight / most / sum;
                weights.to.push(*to);
                weights.up_to.push(up_to);
            }
            // nothing is left by rounding
            weights.up_to.pop();
            weights.up_to.push(1.0);
            weights.first[of_sender[0].0 as usize + 1] = of_sender.len() as u32;
            if let Some(rate) = weights.rates.get_mut(of_sender[0].0 as usize) {
                *rate = most * sum;
            }
        }
        let sending = weights.rates.iter().filter(|rate| **rate > 0.0);
        let (senders, all) = (sending.clone().count(), sending.sum::<f64>());
        weights.mean_rate = (senders > 0).then(|| all / senders as f64);
        for sender in 0..count {
            weights.first[sender + 1] += weights.first[sender];
        }
        let weights = Arc::new(weights);
        *known = Some((nodes, Arc::clone(&weights)));
        weights
    }

    /// Whether it says at which rate each sender generates messages.
    pub(super) fn has_rates(&self) -> bool {
        self.0.has_rates
    }

    /// Refuses nodes that the network does not have, and rows from a node to itself.
    pub(super) fn fits(&self, network: &dyn Topology, path: &str, door: &mut Door) {
        let nodes = self.0.nodes(network);
        let line_of = |name: usize| {
            let is_of = |row: &&(u32, u32, f64, u32)| [row.0, row.1].contains(&(name as u32));
            self.0.rows.iter().find(is_of).map_or(1, |row| row.3 + 1)
        };
        let unknown = nodes.iter().enumerate().filter(|(_, node)| **node == u32::MAX);
        for (name, _) in unknown.take(MOST_REFUSED) {
            let found = format!("line {}: node {}", line_of(name), self.0.names[name]);
            let wanted = format!("a node of the {}", network.name());
            door.refuse(path, found, &wanted, None);
        }
        let own = self.0.rows.iter().filter(|(from, to, weight, _)| from == to && *weight > 0.0);
        for (from, _, _, line) in own.take(if network.self_traffic() { 0 } else { MOST_REFUSED }) {
            let found = format!("line {}: from {} to itself", line + 1, self.0.names[*from as usize]);
            let help = Some("write self_traffic = true under [network], or remove the row");
            door.refuse(path, found, "a destination beside the sender", help);
        }
    }
}

/// Rows that are refused one by one.
const MOST_REFUSED: usize = 10;

#[cfg(test)]
mod tests {
    use crate::scenario::{DestinationSpec, Preset, Scenario};

    fn scenario(rows: &str, network: &str) -> Result<Scenario, Vec<String>> {
        let text = format!(
            "[network]\n{network}\n[[class]]\nname = \"a\"\nkind = \"best-effort\"\nrate = 0.01\n\
             destination = {{ matrix = \"\"\"\n{rows}\"\"\" }}\n"
        );
        Scenario::from_toml("t", &text).map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    const ROUTER: &str = "topology = \"router\"\nports = 4";

    #[test]
    fn messages_go_in_proportion_to_weights() {
        let rows = "source,destination,weight\n0,1,1\n0,2,3\n 2 , 0 , 5e-1\n3,1,0\n# remark\n";
        let scenario = scenario(rows, ROUTER).unwrap();
        let destinations = scenario.destinations(0);
        assert_eq!(destinations.towards(0).each().collect::<Vec<_>>(), [(1, 0.25), (2, 0.75)]);
        assert_eq!(destinations.towards(2).each().collect::<Vec<_>>(), [(0, 1.0)]);
        assert_eq!(scenario.senders(0), [0, 2]);
        assert!(!scenario.is_uniform(0));
    }

    /// Three senders of 1, 2 and 6 thousandths: the class has their mean, and each its own.
    #[test]
    fn rates_are_those_of_each_sender() {
        let text = |keys: &str, rows: &str| {
            format!(
                "[network]\ntopology = \"router\"\nports = 4\n[[class]]\nname = \"a\"\nkind = \"best-effort\"\n{keys}\
                 destination = {{ matrix = \"source,destination,rate\\n{rows}\" }}\n"
            )
        };
        let rows = "0,1,0.0005\\n0,2,0.0005\\n2,0,0.002\\n1,3,0.006\\n3,0,0\\n";
        let scenario = Scenario::from_toml("t", &text("", rows)).unwrap();
        let (class, destinations) = (&scenario.classes()[0], scenario.destinations(0));
        assert!((class.rate - 0.003).abs() < 1e-15, "{}", class.rate);
        assert_eq!(scenario.senders(0), [0, 1, 2]);
        for (sender, rate) in [(0, 0.001), (1, 0.006), (2, 0.002)] {
            assert!((destinations.relative_rate(sender) * class.rate - rate).abs() < 1e-15, "{sender}");
        }
        assert_eq!(destinations.towards(0).each().collect::<Vec<_>>(), [(1, 0.5), (2, 0.5)]);
        let scaled = scenario.with_rates_scaled(0.5).destinations(0).relative_rate(1);
        assert!((scaled - 2.0).abs() < 1e-12, "{scaled}");
        // the rate is written with the rows, and both are read again
        let again = scenario.spec().clone().check().unwrap();
        assert_eq!(again.spec(), scenario.spec());

        for (keys, rows, wanted) in [
            ("rate = 0.01\n", rows, "class.a.rate: found 0.01, wanted none"),
            ("rate = 0\n", rows, "class.a.rate: found 0, wanted none"),
            ("load = 0.1\n", rows, "class.a.load: found 0.1, wanted none"),
            ("nodes = \"0-1\"\n", rows, "class.a.nodes"),
            ("source = { kind = \"on-off\", streams = 2 }\n", rows, "class.a.source.kind"),
            ("", "0,1,1001\\n", "found rate 1001, wanted a number, 0 to 1000"),
            ("", "0,1,0.7\\n0,2,0.7\\n", "node 0 generates 1.4"),
            ("", "0,1,0\\n", "no rate above 0"),
            // weights say nothing of rates
            ("#", "", "class.a.rate: found nothing, wanted how many messages"),
        ] {
            let (keys, rows) = if keys == "#" { ("", "weights") } else { (keys, rows) };
            let text = match rows {
                "weights" => text(keys, "0,1,1\\n").replace("destination,rate", "destination,weight"),
                _ => text(keys, rows),
            };
            let faults = Scenario::from_toml("t", &text).unwrap_err();
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            assert!(faults.iter().any(|fault| fault.contains(wanted)), "{wanted}: {faults:#?}");
        }
    }

    #[test]
    fn names_of_a_graph_go_before_numbers() {
        let network = "topology = \"file\"\nfile = \"node 1 s\\nnode 0 s\\n\"";
        let scenario = scenario("source,destination,weight\n0,1,1\n", network).unwrap();
        assert_eq!(scenario.senders(0), [1]);
    }

    #[test]
    fn faults_name_their_lines() {
        let rows = "source,destination,weight\n0,1,-1\n0,2,x\n0,3,1\n1,2\n0,3,2\n";
        let faults = scenario(rows, ROUTER).unwrap_err();
        let places: Vec<&str> = faults.iter().map(|fault| fault.split(": ").next().unwrap()).collect();
        assert_eq!(places, ["t:10:1", "t:11:1", "t:13:1", "t:14:1"], "{faults:#?}");
        let faults = scenario("source,destination,share\n0,1,1\n", ROUTER).unwrap_err();
        assert!(
            faults[0].contains("wanted source,destination,weight, or rate in place of weight"),
            "{faults:#?}"
        );
        let faults = scenario("source,destination,weight\n0,1,0\n", ROUTER).unwrap_err();
        assert!(faults[0].contains("no weight above 0"), "{faults:#?}");
        let faults = scenario(
            "source,destination,weight\n0,9,1\n1,1,1\nx,0,1\n",
            "topology = \"hypercube\"\ndimension = 2",
        );
        let faults = faults.unwrap_err();
        assert_eq!(faults.len(), 3, "{faults:#?}");
        assert!(faults[0].contains("line 2: node 9") && faults[1].contains("line 4: node x"), "{faults:#?}");
        assert!(faults[2].contains("line 3: from 1 to itself"), "{faults:#?}");
    }

    /// A matrix of a pattern has its destinations and probabilities.
    #[test]
    fn a_matrix_of_a_pattern_is_the_pattern() {
        let preset = Preset::find("mesh4x4").unwrap().scenario();
        let network = preset.topology();
        for destination in ["\"transpose\"", "{ hot = 5, share = 0.25 }", "\"uniform\""] {
            let of = |destination: &str| {
                let mut document = Preset::find("mesh4x4").unwrap().document();
                document.set("class.BE.destination", destination, &crate::document::Place::Program).unwrap();
                document.scenario().unwrap()
            };
            let pattern = of(destination);
            let each =
                |scenario: &Scenario, node| scenario.destinations(1).towards(node).each().collect::<Vec<_>>();
            let rows = (0..network.nodes()).flat_map(|from| {
                each(&pattern, from).into_iter().map(move |(to, share)| format!("{from},{to},{share}\\n"))
            });
            let rows = format!("{{ matrix = \"source,destination,weight\\n{}\" }}", rows.collect::<String>());
            let matrix = of(&rows);
            assert!(matches!(matrix.classes()[1].destination, DestinationSpec::Matrix(_)));
            for node in 0..network.nodes() {
                let (found, wanted) = (each(&matrix, node), each(&pattern, node));
                assert_eq!(found.len(), wanted.len());
                let are_alike =
                    found.iter().zip(&wanted).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-12);
                assert!(are_alike, "{destination} {node}: {found:?} {wanted:?}");
            }
        }
    }
}
