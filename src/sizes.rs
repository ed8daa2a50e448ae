//! Files of frame sizes: a number of bytes on each line.

use std::path::Path;

use flitwise_language::document::{Document, Node, Place, Value};

use crate::input;

/// The largest frame \[bytes\].
const LARGEST_FRAME: u64 = 1 << 30;
/// Lines that are refused one by one.
const MOST_LINES: usize = 10;

/// Puts the sizes of files in the place of their names, which are looked for in `folder`; all that is wrong with them.
pub(crate) fn read(document: &mut Document, folder: &Path) -> Vec<String> {
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
