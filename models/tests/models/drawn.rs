//! Values in range of every key of a scenario, drawn from its JSON schema: what is declared there is drawn.

use flitwise_language::scenario::{PRESETS, Place, Preset, Scenario, ScenarioSpec};
use serde_json::{Map, Value, json};

/// A small generator with a fixed seed (PCG-like): the same draws on every machine.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as usize
    }

    /// In `[0, 1)`.
    fn share(&mut self) -> f64 {
        self.below(1 << 30) as f64 / f64::from(1 << 30)
    }

    pub(crate) fn one<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }
}

/// The keys of scenarios with what each may be.
pub(crate) struct Keys(Value);

/// The branches of a table that has several, or the table itself.
fn branches(schema: &Value) -> &[Value] {
    let several = schema["oneOf"].as_array().filter(|of| of[0].get("properties").is_some());
    several.map_or(std::slice::from_ref(schema), Vec::as_slice)
}

/// The keys of a table.
fn keys_of(table: &Value) -> impl Iterator<Item = (&String, &Value)> {
    table["properties"].as_object().into_iter().flatten().filter(|(name, _)| *name != "name")
}

impl Keys {
    pub(crate) fn new() -> Self {
        Self(schemars::schema_for!(ScenarioSpec).into())
    }

    /// Every key that is no table, or whose table is one key in a scenario, with its schema; those of every class.
    pub(crate) fn all(&self, classes: &[String]) -> Vec<(String, &Value)> {
        let mut found = Vec::new();
        let mut left: Vec<(String, &Value)> =
            keys_of(&self.0).map(|(name, schema)| (name.clone(), schema)).collect();
        while let Some((path, schema)) = left.pop() {
            let is_list = schema["items"].get("properties").is_some();
            let (tables, paths) = if is_list {
                let of = |class: &String| format!("{path}.{class}");
                (branches(&schema["items"]), classes.iter().map(of).collect())
            } else {
                (branches(schema), vec![path.clone()])
            };
            let keys: Vec<(&String, &Value)> = tables.iter().flat_map(keys_of).collect();
            if keys.is_empty() {
                found.push((path, schema));
            }
            for path in paths {
                left.extend(keys.iter().map(|(name, schema)| (format!("{path}.{name}"), *schema)));
            }
        }
        found
    }

    /// A value that a schema allows, as `--set` takes it.
    pub(crate) fn value(schema: &Value, draw: &mut Draw) -> String {
        written(&value(schema, draw))
    }

    /// A key, one of a class of the list or a whole table at times, and a value for it, as `--set` takes them. Tables
    /// that a scenario does not have are drawn less often.
    pub(crate) fn setting(&self, draw: &mut Draw, spec: &ScenarioSpec) -> (String, String) {
        let there = serde_json::to_value(spec).unwrap();
        let (mut path, mut at) = (String::new(), &self.0);
        loop {
            let several = branches(at);
            let keys: Vec<(&String, &Value)> = keys_of(draw.one(several)).collect();
            if keys.is_empty() || several.len() > 1 && draw.below(2) == 0 {
                return (path, written(&value(at, draw)));
            }
            let (name, schema) = *draw.one(&keys);
            if path.is_empty() && there[name].is_null() && draw.below(8) > 0 {
                continue;
            }
            path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            at = schema;
            if at["items"].get("properties").is_some() {
                let class = draw.below(spec.classes.len() + 1);
                path = format!("{path}.{}", spec.classes.get(class).map_or("*", |class| &class.name));
                at = &at["items"];
            }
        }
    }
}

impl Keys {
    /// A preset, seldom a large one, with drawn settings: the line of a command, and the scenario; none where the
    /// settings do not fit together.
    ///
    /// # Panics
    /// Where a scenario is refused without a fault.
    pub(crate) fn scenario(&self, draw: &mut Draw) -> (String, Option<Scenario>) {
        let mut preset: &Preset = draw.one(PRESETS);
        while preset.scenario().topology().nodes() > 64 && draw.below(16) > 0 {
            preset = draw.one(PRESETS);
        }
        let (mut document, mut line) = (preset.document(), format!("--preset {}", preset.name));
        let spec = preset.scenario().spec().clone();
        for _ in 0..=draw.below(3) {
            let (key, value) = self.setting(draw, &spec);
            line += &format!(" --set '{key}={value}'");
            if document.set(&key, &value, &Place::Program).is_err() {
                return (line, None);
            }
        }
        let read = document.scenario();
        assert!(!read.as_ref().is_err_and(Vec::is_empty), "refused without a fault: {line}");
        (line, read.ok())
    }
}

/// Something that a schema allows.
fn value(schema: &Value, draw: &mut Draw) -> Value {
    if let Some(only) = schema.get("const") {
        return only.clone();
    }
    if let Some(several) = ["enum", "oneOf", "anyOf"].into_iter().find_map(|of| schema[of].as_array()) {
        let one = draw.one(several);
        return if schema.get("enum").is_some() { one.clone() } else { value(one, draw) };
    }
    if let Some(keys) = schema["properties"].as_object() {
        let is_wanted =
            |name: &str| schema["required"].as_array().is_some_and(|all| all.contains(&json!(name)));
        let mut table = Map::new();
        for (name, key) in keys {
            if is_wanted(name) || draw.below(3) == 0 {
                table.insert(name.clone(), value(key, draw));
            }
        }
        return table.into();
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        only => only.as_str().into_iter().collect(),
    };
    let numbers = || ["integer", "number"].into_iter().find(|number| types.contains(number));
    match (numbers(), schema.get("pattern").is_some()) {
        (Some(_), true) if draw.below(2) == 0 => nodes(draw).into(),
        (Some(kind), _) => number(schema, kind == "integer", draw),
        _ if types.contains(&"boolean") => (draw.below(2) == 0).into(),
        _ if types.contains(&"array") => {
            let least = schema["minItems"].as_u64().unwrap_or(0);
            let count = least + draw.below(3) as u64;
            let count = count.min(schema["maxItems"].as_u64().unwrap_or(count));
            (0..count).map(|_| value(&schema["items"], draw)).collect()
        }
        _ => (*draw.one(&["400 Mbps", "8 ns", "1 GB/s"])).into(),
    }
}

/// Nodes such as `3-17/2`.
fn nodes(draw: &mut Draw) -> String {
    let first = draw.below(16);
    format!("{first}-{}/{}", first + draw.below(48), 1 + draw.below(3))
}

/// A number in the range of a key: an end of it at times, else any order of magnitude alike.
fn number(schema: &Value, is_whole: bool, draw: &mut Draw) -> Value {
    let least = schema["minimum"].as_f64().unwrap_or(0.0);
    let most = schema["maximum"].as_f64().unwrap_or(64.0);
    let tiny = if is_whole { 1.0 } else { (1e-6 * most).min(1e-4) };
    let drawn = match draw.below(10) {
        0 => least,
        1 => most,
        _ => least.max(tiny) * (most / least.max(tiny)).powf(draw.share()),
    };
    let drawn = drawn.clamp(least, most);
    if is_whole { json!(drawn.round() as u64) } else { json!(drawn) }
}

/// As TOML in one line.
fn written(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let keys = table.iter().map(|(key, value)| format!("{key} = {}", written(value)));
            format!("{{ {} }}", keys.collect::<Vec<_>>().join(", "))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(written).collect::<Vec<_>>().join(", ")),
        plain => plain.to_string(),
    }
}

/// Numbers that are none, as they stand in the debugging text of an answer.
pub(crate) fn no_numbers(text: &str) -> bool {
    let is_word = |at: usize, word: &str| {
        let neighbours = [at.checked_sub(1), Some(at + word.len())];
        let of = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_alphanumeric);
        !neighbours.into_iter().flatten().any(of)
    };
    ["NaN", "inf"].iter().any(|word| text.match_indices(word).any(|(at, _)| is_word(at, word)))
}
