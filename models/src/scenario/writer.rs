//! From a spec to a scenario file.

use std::fmt::Write as _;

use super::{DeadlineSpec, NetworkSpec, RouterSpec, ScenarioSpec, SourceSpec};

impl ScenarioSpec {
    /// A scenario file (TOML) that says the same.
    ///
    /// ```
    /// # use flitwise_models::scenario::{Document, ScenarioSpec};
    /// let text = ScenarioSpec::default().to_toml();
    /// assert!(text.contains("[router]\npipeline_stages = 5\n"));
    /// let read = Document::parse("mine.toml", &text).unwrap().scenario().unwrap();
    /// assert_eq!(read.spec(), &ScenarioSpec::default());
    /// ```
    pub fn to_toml(&self) -> String {
        let RouterSpec { pipeline_stages, buffer_flits, scheduler } = self.router;
        let network = match self.network {
            NetworkSpec::Router { ports } => format!("topology = \"router\"\nports = {ports}"),
            NetworkSpec::Hypercube { dimension } => {
                format!("topology = \"hypercube\"\ndimension = {dimension}")
            }
        };
        let mut text = format!(
            "name = {}\n\n[network]\n{network}\n\n[router]\npipeline_stages = {pipeline_stages}\n\
             buffer_flits = {buffer_flits}\nscheduler = \"{}\"\n",
            quoted(&self.name),
            scheduler.word()
        );
        for class in &self.classes {
            let (name, kind) = (quoted(&class.name), class.kind.word());
            let (rate, message_flits) = (class.rate, class.message_flits);
            let mut line = |line: std::fmt::Arguments<'_>| writeln!(text, "{line}").unwrap_or_default();
            line(format_args!("\n[[class]]\nname = {name}\nkind = \"{kind}\""));
            line(format_args!("rate = {rate:?}\nmessage_flits = {message_flits}"));
            if let Some(vtick) = class.vtick {
                line(format_args!("vtick = {vtick:?}"));
            }
            if let SourceSpec::OnOff { streams, messages_per_burst, peak_rate } = class.source {
                line(format_args!(
                    "source = {{ kind = \"on-off\", streams = {streams}, messages_per_burst = \
                     {messages_per_burst:?}, peak_rate = {peak_rate:?} }}"
                ));
            }
            if !class.deadlines.is_empty() {
                let deadline = |deadline: &DeadlineSpec| match deadline {
                    DeadlineSpec::Cycles(cycles) => cycles.to_string(),
                    DeadlineSpec::Hops(of) => {
                        format!("{{ hops = {}, deadlines = {:?} }}", of.hops, of.deadlines)
                    }
                };
                let all: Vec<String> = class.deadlines.iter().map(deadline).collect();
                line(format_args!("deadlines = [{}]", all.join(", ")));
            }
        }
        text
    }
}

/// A text as TOML has it.
fn quoted(text: &str) -> String {
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
    use crate::scenario::{Document, PRESETS};

    #[test]
    fn what_is_written_is_read_again() {
        for preset in PRESETS {
            let mut spec = preset.scenario().spec().clone();
            spec.name = "a \"b\" \\ ü".to_owned();
            spec.classes[0].vtick = Some(3.0);
            spec.classes[0].rate = 1e-9;
            let read = Document::parse("t", &spec.to_toml()).unwrap().scenario().unwrap();
            assert_eq!(read.spec(), &spec);
        }
    }
}
