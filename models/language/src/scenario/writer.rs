//! From a spec to a scenario file.

use super::declare::{Declaration, Field, Key, Kind};
use super::packets::WORMHOLE_KEYS;
use super::{Document, InterfaceSpec, Scenario, ScenarioSpec};

impl ScenarioSpec {
    /// A scenario file (TOML) that says the same.
    ///
    /// ```
    /// # use flitwise_language::scenario::{Document, ScenarioSpec};
    /// let text = ScenarioSpec::default().to_toml();
    /// assert!(text.contains("[router]\npipeline_stages = 5\n"));
    /// let read = Document::parse("mine.toml", &text).unwrap().scenario().unwrap();
    /// assert_eq!(read.spec(), &ScenarioSpec::default());
    /// ```
    pub fn to_toml(&self) -> String {
        let (mut text, mut tables) = (String::new(), String::new());
        let is_left_out = |name: &str| self.switch.is_some() && WORMHOLE_KEYS.contains(&name);
        for (key, value) in self.fields().into_iter().filter(|(key, _)| !is_left_out(key.name)) {
            let head = match key.kind {
                Kind::Table(_) => format!("\n[{}]\n", key.name),
                Kind::Tables(_) => format!("\n[[{}]]\n", key.name),
                _ => {
                    text.extend(value.written().map(|written| format!("{} = {written}\n", key.name)));
                    continue;
                }
            };
            for (_, table) in value.tables() {
                tables.push_str(&head);
                let lines = lines(table).filter(|(name, _)| !is_left_out(name));
                tables.extend(lines.map(|(name, value)| format!("{name} = {value}\n")));
            }
        }
        text + &tables
    }
}

impl Scenario {
    /// A scenario file with every value that there is, defaults included, each with where it comes from: the place in
    /// the document, and the document that `[source]` names for it.
    ///
    /// ```
    /// # use flitwise_language::scenario::Preset;
    /// let preset = Preset::find("ndr-2048").unwrap();
    /// let text = preset.scenario().resolved(&preset.document());
    /// assert!(text.contains("radix = 64"));
    /// assert!(text.contains("credit_batch = 8"));
    /// assert!(text.lines().filter(|line| line.starts_with("credit_batch")).all(|line| line.ends_with("# default")));
    /// ```
    pub fn resolved(&self, document: &Document) -> String {
        let mut spec = self.explicit().spec().clone();
        if let Some(switch) = &mut spec.switch {
            switch.ports = self.switch_ports();
            spec.interface =
                Some(InterfaceSpec { injection_memory: Some(self.injection_memory()), ..self.interface() });
            spec.measure = spec.measure.map(|_| self.measure());
            for (place, class) in spec.classes.iter_mut().enumerate() {
                class.message = Some(self.message_bytes(place));
            }
        }
        let is_left_out = |name: &str| spec.switch.is_some() && WORMHOLE_KEYS.contains(&name);
        let mut text = String::new();
        let mut tables = String::new();
        for (key, value) in spec.fields().into_iter().filter(|(key, _)| !is_left_out(key.name)) {
            let head = match key.kind {
                // what it says stands behind the values
                _ if key.name == "source" => continue,
                Kind::Table(_) => format!("\n[{}]\n", key.name),
                Kind::Tables(_) => format!("\n[[{}]]\n", key.name),
                _ => {
                    let written = value.written().map(|written| (key.name, written));
                    text += &self.with_origins(document, "", written.into_iter().collect());
                    continue;
                }
            };
            for (name, table) in value.tables() {
                let path = name.map_or_else(|| key.name.to_owned(), |name| format!("{}.{name}", key.name));
                let lines = lines(table).filter(|(name, _)| !is_left_out(name)).collect();
                tables += &head;
                tables += &self.with_origins(document, &path, lines);
            }
        }
        text + &tables
    }

    /// Lines of a table, each with where its value comes from.
    fn with_origins(&self, document: &Document, path: &str, lines: Vec<(&str, String)>) -> String {
        const WIDEST: usize = 44;
        let lines: Vec<(&str, String)> =
            lines.into_iter().map(|(name, value)| (name, format!("{name} = {value}"))).collect();
        let widths = lines.iter().map(|(_, line)| line.chars().count()).filter(|width| *width <= WIDEST);
        let width = widths.max().unwrap_or(0);
        let of = |(name, line): &(&str, String)| {
            let key = if path.is_empty() { (*name).to_owned() } else { format!("{path}.{name}") };
            let place = document.node(&key).map(|node| node.place.to_string());
            let place = place.as_deref().map_or("default", |place| place.trim_end_matches(": "));
            let source = self.spec().sources.of(&key).map(|source| match &source.range {
                Some([low, high]) => format!("; {low} to {high}: {}", source.document),
                None => format!("; {}", source.document),
            });
            let source = source.unwrap_or_default().replace(char::is_control, " ");
            format!("{line:width$}  # {place}{source}\n")
        };
        lines.iter().map(of).collect()
    }
}

/// Keys and values of a table.
fn lines(table: &dyn Declaration) -> impl Iterator<Item = (&'static str, String)> {
    let tag = table.shape().tag.map(|tag| (tag, format!("\"{}\"", table.word())));
    let line = |(key, value): (&'static Key, &dyn Field)| Some((key.name, value.written()?));
    tag.into_iter().chain(table.fields().into_iter().filter_map(line))
}

/// A table in one line; nothing where it is left out, which is where it says no more than its default.
pub(super) fn in_line(table: &dyn Declaration) -> Option<String> {
    let lines: Vec<String> = lines(table).map(|(name, value)| format!("{name} = {value}")).collect();
    let default = table.shape().branches[0].word;
    let is_default = !default.is_empty() && table.word() == default && lines.len() == 1;
    (!is_default).then(|| format!("{{ {} }}", lines.join(", ")))
}

/// A text as TOML has it.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(control))),
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use crate::scenario::{ClassKind, Document, PRESETS, SourceSpec};

    #[test]
    fn what_is_written_is_read_again() {
        for preset in PRESETS {
            let mut spec = preset.scenario().spec().clone();
            spec.name = "a \"b\" \\ ü".to_owned();
            let has_vtick = spec.switch.is_none() && spec.classes[0].kind == ClassKind::RealTime;
            spec.classes[0].vtick = has_vtick.then_some(3.0);
            let source = &spec.classes[0].source;
            let follows = source.has_frames() || spec.classes[0].connections.is_some();
            if !follows && !matches!(source, SourceSpec::San { .. }) {
                spec.classes[0].rate = 1e-9;
            }
            let read = Document::parse("t", &spec.to_toml()).unwrap().scenario().unwrap();
            assert_eq!(read.spec(), &spec);
        }
    }
}
