//! Files that a scenario names: sizes of frames, a number of bytes on each line; the lines of a graph.

use std::path::Path;

use flitwise_language::document::{Document, Node, Place, Value};

use crate::input;

/// The largest frame \[bytes\].
const LARGEST_FRAME: u64 = 1 << 30;
/// The largest text of a graph \[bytes\].
pub(crate) const LARGEST_TEXT: u64 = 64 << 20;
/// Lines that are refused one by one.
const MOST_LINES: usize = 10;

/// Puts what files say in the place of their names, which are looked for in `folder`; all that is wrong with them.
pub(crate) fn read(document: &mut Document, folder: &Path) -> Vec<String> {
    texts(document, folder);
    let mut faults = Vec::new();
    for (key, node) in document.of_classes_mut(&["source", "sizes"]) {
        let Value::Text(name) = &node.value else { continue };
        match of_file(&folder.join(name)) {
            Ok(sizes) => node.value = Value::List(sizes),
            Err(wrong) => {
                faults.extend(wrong.into_iter().map(|fault| format!("{}{key}: {fault}", node.place)));
                // stands in for what is refused
                let value = Value::Text("1 flits".to_owned());
                node.value = Value::List(vec![Node { value, place: node.place.clone() }]);
            }
        }
    }
    faults
}

/// Puts the texts of graphs and matrices in the place of their names.
fn texts(document: &mut Document, folder: &Path) {
    let graph = document.value_mut(&["network", "file"]);
    graph.into_iter().for_each(|node| put(node, folder));
    let matrices = document.of_classes_mut(&["destination", "matrix"]);
    matrices.into_iter().for_each(|(_, node)| put(node, folder));
}

/// Puts the text of a file in the place of its name, the first line below the place that it has then; of a file that
/// cannot be read why, which is refused there.
fn put(node: &mut Node, folder: &Path) {
    let Value::Text(name) = &node.value else { return };
    // lines that stand in the scenario itself
    if name.contains('\n') {
        return;
    }
    match input::read_up_to(&folder.join(name), LARGEST_TEXT) {
        Ok((name, text)) => {
            let end = if text.ends_with('\n') { "" } else { "\n" };
            node.value = Value::Text(text + end);
            node.place = Place::At { text: name.into(), line: 0, column: 1 };
        }
        Err(wrong) => node.value = Value::Other(wrong.to_string()),
    }
}

fn of_file(path: &Path) -> Result<Vec<Node>, Vec<String>> {
    let (name, text) = input::read(path).map_err(|ended| vec![ended.to_string()])?;
    let (mut sizes, mut faults) = (Vec::new(), Vec::new());
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match line.trim().parse::<u64>() {
            Ok(bytes @ 1..=LARGEST_FRAME) => {
                let place = Place::At { text: name.as_str().into(), line: at + 1, column: 1 };
                sizes.push(Node { value: Value::Text(format!("{bytes} B")), place });
            }
            _ => {
                let found: String = line.trim().chars().take(40).collect();
                faults.push(format!(
                    "{name}:{}: found \"{found}\", wanted a whole number of bytes, 1 to {LARGEST_FRAME}",
                    at + 1
                ));
            }
        }
    }
    if sizes.is_empty() && faults.is_empty() {
        faults.push(format!("{name}: found no line, wanted a number of bytes on each"));
    }
    let more = faults.len().saturating_sub(MOST_LINES);
    faults.truncate(MOST_LINES);
    if more > 0 {
        faults.push(format!("{name}: found {more} more lines that are no number of bytes"));
    }
    if faults.is_empty() { Ok(sizes) } else { Err(faults) }
}
