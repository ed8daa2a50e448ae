//! How a table of a scenario is declared once: keys with name, unit, range, default and one sentence.
//!
//! [`table!`] and [`words!`] make the plain type and its [`Shape`]. The reader, the check of ranges, the writer, the
//! JSON schema, `--set`, `--over` and the parameters of sensitivities walk over shapes and know no key by name. A file
//! of a table imports all of this module, whose names the macros use.

use serde_json::{Value, json};

use super::check::joined;
use super::reader::read_inner;
use super::writer::in_line;
use crate::document::{find, in_short, one_of};

/// What declarations need: every file of a table takes all of this module.
pub(super) use super::check::Door;
pub(super) use super::units::{Magnitude, Units};
pub(super) use crate::document::{Reader, Table};

/// A key of a table, as it is declared.
#[derive(Debug)]
pub struct Key {
    /// The key as it is written.
    pub name: &'static str,
    /// What it means, in one sentence.
    pub(super) sentence: &'static str,
    /// Its base unit, if it has one.
    pub unit: &'static str,
    pub(super) kind: &'static Kind,
    pub(super) limits: Limits,
}

/// What kind of value a key has.
#[derive(Debug)]
pub(super) enum Kind {
    Text,
    Truth,
    Whole,
    Real,
    /// Words, each with its sentence.
    Words(&'static [(&'static str, &'static str)]),
    Table(&'static Shape),
    /// `[[key]]` tables, each with a name.
    Tables(&'static Shape),
    /// Something else, with its schema.
    Other(fn() -> Value),
}

/// The keys of a table.
#[derive(Debug)]
pub(in crate::scenario) struct Shape {
    pub(super) sentence: &'static str,
    /// The key whose word says which branch it is.
    pub(super) tag: Option<&'static str>,
    /// One without a word, where there is no tag.
    pub(super) branches: &'static [Branch],
}

/// The keys that go with one word of the tag.
#[derive(Debug)]
pub(super) struct Branch {
    pub(super) word: &'static str,
    pub(super) sentence: &'static str,
    pub(super) keys: &'static [Key],
    /// Every key at its default.
    pub(super) defaults: fn() -> Value,
}

/// What a key may be, beside its kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    least: f64,
    most: f64,
    or_zero: bool,
    /// Whether there is no default.
    pub(super) wanted: bool,
    /// Whether it depends on other tables whether it is wanted: see [`Rules::settle`].
    depends: bool,
    /// Whether other keys of the table are converted by it.
    pub(super) early: bool,
    pub(super) magnitude: Magnitude,
    /// The place in the list of parameters, if it is one.
    pub(super) parameter: Option<(u8, Varies)>,
    /// Keys that may stand in its place.
    instead: &'static [&'static str],
    /// What to write, for who wrote nothing or something else.
    pub(super) example: &'static str,
    /// What helps against a number above the range.
    hint: &'static str,
}

/// How a parameter of sensitivities varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Varies {
    /// As any number.
    Real,
    /// As a whole number for which the published equations take any real one.
    Relaxed,
    /// As a whole number.
    Whole,
}

/// Anything goes.
pub(super) const ANY: Limits = Limits {
    least: f64::NEG_INFINITY,
    most: f64::INFINITY,
    or_zero: false,
    wanted: false,
    depends: false,
    early: false,
    magnitude: Magnitude::Count,
    parameter: None,
    instead: &[],
    example: "",
    hint: "",
};

/// Numbers from the least to the most.
pub(super) const fn within(least: f64, most: f64) -> Limits {
    Limits { least, most, ..ANY }
}

impl Limits {
    pub(super) const fn or_zero(self) -> Self {
        Self { or_zero: true, ..self }
    }

    pub(super) const fn wanted(self) -> Self {
        Self { wanted: true, ..self }
    }

    pub(super) const fn depends(self) -> Self {
        Self { depends: true, ..self }
    }

    pub(super) const fn early(self) -> Self {
        Self { early: true, ..self }
    }

    pub(super) const fn magnitude(self, magnitude: Magnitude) -> Self {
        Self { magnitude, ..self }
    }

    pub(super) const fn parameter(self, place: u8, varies: Varies) -> Self {
        Self { parameter: Some((place, varies)), ..self }
    }

    pub(super) const fn instead(self, instead: &'static [&'static str]) -> Self {
        Self { instead, ..self }
    }

    pub(super) const fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    pub(super) const fn hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }
}

impl Key {
    /// Whether it takes whole numbers only.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.kind, Kind::Whole)
    }

    /// The words that it may have, if it takes words.
    pub(super) fn words(&self) -> Vec<&'static str> {
        match self.kind {
            Kind::Words(words) => words.iter().map(|(word, _)| *word).collect(),
            _ => Vec::new(),
        }
    }

    pub(super) fn holds(&self, number: f64) -> bool {
        let is_zero = self.limits.or_zero && number == 0.0 && number.is_sign_positive();
        is_zero || (self.limits.least..=self.limits.most).contains(&number)
    }

    /// Whether something else says what it would, in its table or outside.
    pub(super) fn is_replaced(&self, table: &Table<'_>, units: &Units) -> bool {
        let instead = self.limits.instead;
        let stands = |path: &&str| find(table.entries, path).is_some();
        !instead.is_empty() && (units.is_mixed || instead.iter().any(stands))
    }

    /// The smallest and the largest number that it may be.
    pub(super) fn ends(&self) -> (f64, f64) {
        let least = if self.limits.or_zero { 0.0 } else { self.limits.least };
        (least, self.limits.most)
    }

    /// The range in words, such as `1 to 64 stages`.
    pub(super) fn range(&self) -> String {
        let zero = if self.limits.or_zero { "0, or " } else { "" };
        let (least, most) = (self.end(self.limits.least), self.end(self.limits.most));
        let range = if least == most { least } else { format!("{zero}{least} to {most}") };
        format!("{range} {}", self.unit).trim_end().to_owned()
    }

    fn end(&self, end: f64) -> String {
        if !matches!(self.kind, Kind::Real) || end == 0.0 || (1e-3..1e3).contains(&end) {
            in_short(end)
        } else {
            format!("{end:e}")
        }
    }

    /// What follows "a whole number of": `stages, 1 to 64`.
    pub(super) fn counted(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!("{}, ", self.unit) };
        format!("{unit}{} to {}", self.end(self.limits.least), self.end(self.limits.most))
    }

    /// What is wanted where there is nothing.
    pub(super) fn value_wanted(&self) -> String {
        match self.kind {
            Kind::Text => format!("a {}", self.name),
            Kind::Truth => "true or false".to_owned(),
            Kind::Whole => format!("a whole number of {}", self.counted()),
            Kind::Real if self.unit.is_empty() => "a number".to_owned(),
            Kind::Real => format!("a number of {}", self.unit),
            Kind::Words(_) => one_of(self.words()),
            Kind::Table(_) | Kind::Tables(_) | Kind::Other(_) => format!("a [{}] table", self.name),
        }
    }

    /// What helps against a number out of range.
    pub(super) fn help(&self, number: f64) -> Option<&'static str> {
        let above = number.is_finite() && number > self.limits.most && !self.limits.hint.is_empty();
        above.then_some(self.limits.hint)
    }

    pub(super) fn example(&self) -> Option<&'static str> {
        Some(self.limits.example).filter(|example| !example.is_empty())
    }

    fn schema(&self, default: Option<&Value>) -> Value {
        let mut schema = self.kind.schema();
        let unit = if self.unit.is_empty() { String::new() } else { format!(" [{}]", self.unit) };
        schema["description"] = format!("{}{unit}", self.sentence).into();
        if self.limits.least.is_finite() {
            let whole = |end: f64| if self.is_whole() { json!(end as u64) } else { json!(end) };
            schema["minimum"] = whole(if self.limits.or_zero { 0.0 } else { self.limits.least });
            schema["maximum"] = whole(self.limits.most);
        }
        if self.limits.magnitude != Magnitude::Count && !matches!(self.kind, Kind::Other(_)) {
            schema["type"] = json!([schema["type"], "string"]);
        }
        let is_plain = matches!(self.kind, Kind::Text | Kind::Truth | Kind::Whole | Kind::Real);
        if is_plain && default.is_some_and(Value::is_null) {
            // an answer repeats its scenario, with `null` for a key that was left out
            let types = [schema["type"].take(), json!("null")];
            let flat = |one: Value| one.as_array().cloned().unwrap_or_else(|| vec![one]);
            schema["type"] = types.into_iter().flat_map(flat).collect();
        }
        if let (Some(default), false) = (default, self.limits.wanted || self.limits.depends) {
            schema["default"] = default.clone();
        }
        schema
    }
}

impl Kind {
    /// What a JSON document may hold there.
    pub(super) fn schema(&self) -> Value {
        match self {
            Self::Text => json!({ "type": "string" }),
            Self::Truth => json!({ "type": "boolean" }),
            Self::Whole => json!({ "type": "integer" }),
            Self::Real => json!({ "type": "number" }),
            Self::Words(words) => {
                let one = |(word, sentence): &(&str, &str)| json!({ "const": word, "description": sentence });
                json!({ "type": "string", "oneOf": words.iter().map(one).collect::<Vec<_>>() })
            }
            Self::Table(shape) => shape.schema(),
            Self::Tables(shape) => json!({ "type": "array", "items": shape.schema() }),
            Self::Other(schema) => schema(),
        }
    }
}

impl Shape {
    /// Every name that a key of the table may have.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<&'static str> = self.tag.into_iter().collect();
        for key in self.keys() {
            // branches may have keys in common
            if !names.contains(&key.name) {
                names.push(key.name);
            }
        }
        names
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &'static Key> {
        self.branches.iter().flat_map(|branch| branch.keys)
    }

    pub(super) fn words(&self) -> Vec<&'static str> {
        self.branches.iter().map(|branch| branch.word).collect()
    }

    fn schema(&self) -> Value {
        let branch = |branch: &Branch| {
            let defaults = (branch.defaults)();
            let tag = self.tag.map(|tag| (tag.to_owned(), json!({ "type": "string", "const": branch.word })));
            let keys =
                branch.keys.iter().map(|key| (key.name.to_owned(), key.schema(defaults.get(key.name))));
            let properties: serde_json::Map<String, Value> = tag.into_iter().chain(keys).collect();
            let wanted = branch
                .keys
                .iter()
                .filter(|key| key.limits.wanted && key.limits.instead.is_empty())
                .map(|key| key.name);
            json!({
                "description": if self.tag.is_some() { branch.sentence } else { self.sentence },
                "type": "object",
                "properties": properties,
                "required": self.tag.into_iter().chain(wanted).collect::<Vec<_>>(),
                "additionalProperties": false,
            })
        };
        match self.branches {
            [only] => branch(only),
            several => json!({
                "description": self.sentence,
                "oneOf": several.iter().map(branch).collect::<Vec<_>>(),
            }),
        }
    }
}

/// A type of which a key has a value.
pub(super) trait KeyValue: Sized {
    /// What kind of value it is.
    const KIND: Kind;

    /// A value that is there before one is read.
    fn unset() -> Self;
}

/// The value of a key.
pub(super) trait Field {
    /// Takes over what stands in the table under the key, which is there; false where it was refused.
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, units: &Units) -> bool;

    /// Refuses what is out of range; `path` is that of the table.
    fn check(&self, door: &mut Door, key: &Key, path: &str);

    /// As TOML in one line; nothing where the key is left out.
    fn written(&self) -> Option<String>;

    /// The same for a message, which has the beginning of a text that may be long.
    fn in_short(&self) -> Option<String> {
        self.written()
    }

    fn number(&self) -> Option<f64> {
        None
    }

    fn set_number(&mut self, _number: f64) {}

    /// The tables that stand there: none, one, or those of a list, each with its name.
    fn tables(&self) -> Vec<(Option<&str>, &dyn Declaration)> {
        Vec::new()
    }

    fn tables_mut(&mut self) -> Vec<&mut dyn Declaration> {
        Vec::new()
    }
}

/// A table with its values.
pub(super) trait Declaration: Rules {
    fn shape(&self) -> &'static Shape;

    /// The word of its branch.
    fn word(&self) -> &'static str;

    /// The same table or branch with every key at its default.
    fn fresh(&self) -> Box<dyn Declaration>;

    /// The branch of that word, every key at its default; the first where the word is none.
    fn branch(word: &str) -> Self
    where
        Self: Sized;

    /// The values in the order of the keys.
    fn values(&self) -> Vec<&dyn Field>;

    fn values_mut(&mut self) -> Vec<&mut dyn Field>;

    fn keys(&self) -> &'static [Key] {
        let word = self.word();
        let branch = self.shape().branches.iter().find(|branch| branch.word == word);
        branch.map_or(&[], |branch| branch.keys)
    }

    fn fields(&self) -> Vec<(&'static Key, &dyn Field)> {
        self.keys().iter().zip(self.values()).collect()
    }

    fn fields_mut(&mut self) -> Vec<(&'static Key, &mut dyn Field)> {
        self.keys().iter().zip(self.values_mut()).collect()
    }
}

impl<T: Declaration + 'static> Field for T {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, units: &Units) -> bool {
        read_inner(self, reader, table, key, units)
    }

    fn check(&self, door: &mut Door, key: &Key, path: &str) {
        door.table(self, &joined(path, key.name));
    }

    fn written(&self) -> Option<String> {
        in_line(self)
    }

    fn tables(&self) -> Vec<(Option<&str>, &dyn Declaration)> {
        vec![(None, self)]
    }

    fn tables_mut(&mut self) -> Vec<&mut dyn Declaration> {
        vec![self]
    }
}

/// What ties the keys of a table to each other and to other tables.
pub(super) trait Rules {
    /// Refuses what does not fit together.
    fn rules(&self, _path: &str, _door: &mut Door) {}

    /// Looks at the whole table once its keys are read: refuses keys that its units do not know, and asks for those
    /// that they do.
    fn settle(&mut self, _reader: &mut Reader, _table: &Table<'_>, _units: &Units) {}

    /// The units in which the table is read, those of keys that are not early once the early ones are.
    fn units(&self, outside: &Units) -> Units {
        *outside
    }
}

/// The name of a key: of its field, but where another is given.
macro_rules! name_of {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:literal) => {
        $name
    };
}

/// What a key may be: anything, but where it is said.
macro_rules! limits_of {
    () => {
        ANY
    };
    ($limits:expr) => {
        $limits
    };
}

/// The list of keys of one branch.
macro_rules! keys {
    ($(
        $(#[doc = $sentence:literal])+
        $field:ident ($($name:literal)?) $type:ty, ($($unit:literal)?) ($($limits:expr)?);
    )*) => {
        &[$(Key {
            name: name_of!($field $($name)?),
            sentence: concat!($($sentence),+).trim_ascii(),
            unit: concat!($($unit)?),
            kind: &<$type as KeyValue>::KIND,
            limits: limits_of!($($limits)?),
        }),*]
    };
}

/// The shape of a table, which is its kind, and the schema that follows.
macro_rules! shape {
    ($Name:ident, $sentence:expr, $tag:expr, $(($word:literal, $about:expr, $keys:expr)),+) => {
        impl $Name {
            pub(in crate::scenario) const SHAPE: Shape = Shape {
                sentence: $sentence,
                tag: $tag,
                branches: &[$(Branch {
                    word: $word,
                    sentence: $about,
                    keys: $keys,
                    defaults: || serde_json::to_value($Name::branch($word)).unwrap_or_default(),
                }),+],
            };
        }

        valued!($Name, Kind::Table(&Self::SHAPE), Self::branch(""));
    };
}

/// A type of which a key has a value, with the schema that follows.
macro_rules! valued {
    ($Name:ident, $kind:expr, $unset:expr) => {
        impl KeyValue for $Name {
            const KIND: Kind = $kind;

            fn unset() -> Self {
                $unset
            }
        }

        impl schemars::JsonSchema for $Name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($Name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::Schema::try_from(Self::KIND.schema()).expect("a schema is an object")
            }
        }
    };
}

/// Declares a table: a struct whose fields are its keys, or an enum of which one key says the branch (the first,
/// where there is no table).
///
/// A field is `name: type ["unit"] = default, limits;` below its sentence. A key that has no default is `wanted()`, and
/// what stands there is put in its place until the file is mended.
macro_rules! table {
    (
        $(#[doc = $about:literal])+
        $(#[derive($($derive:path),+)])?
        pub struct $Name:ident {
            $(
                $(#[doc = $sentence:literal])+
                $(#[serde($($serde:tt)+)])?
                $field:ident $(as $name:literal)? : $type:ty $([$unit:literal])? = $default:expr $(, $limits:expr)?;
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, serde::Serialize $(, $($derive),+)?)]
        pub struct $Name {
            $(
                $(#[doc = $sentence])+
                $(#[doc = concat!(" \\[", $unit, "\\]")])?
                $(#[serde(rename = $name)])?
                $(#[serde($($serde)+)])?
                pub $field: $type,
            )+
        }

        impl Declaration for $Name {
            fn shape(&self) -> &'static Shape {
                &Self::SHAPE
            }

            fn word(&self) -> &'static str {
                ""
            }

            fn fresh(&self) -> Box<dyn Declaration> {
                Box::new(Self::unset())
            }

            fn branch(_: &str) -> Self {
                Self { $($field: $default),+ }
            }

            fn values(&self) -> Vec<&dyn Field> {
                vec![$(&self.$field),+]
            }

            fn values_mut(&mut self) -> Vec<&mut dyn Field> {
                vec![$(&mut self.$field),+]
            }
        }

        shape!($Name, concat!($($about),+).trim_ascii(), None, ("", "", keys!(
            $($(#[doc = $sentence])+ $field ($($name)?) $type, ($($unit)?) ($($limits)?);)+
        )));
    };
    (
        $(#[doc = $about:literal])+
        $(#[derive($($derive:path),+)])?
        pub enum $Name:ident by $tag:literal {
            $(
                $(#[doc = $sentence:literal])+
                $Branch:ident $word:literal $({
                    $(
                        $(#[doc = $key_sentence:literal])+
                        $(#[serde($($serde:tt)+)])?
                        $field:ident: $type:ty $([$unit:literal])? = $default:expr $(, $limits:expr)?;
                    )+
                })?,
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, serde::Serialize $(, $($derive),+)?)]
        #[serde(tag = $tag)]
        pub enum $Name {
            $(
                $(#[doc = $sentence])+
                #[serde(rename = $word)]
                $Branch $({
                    $(
                        $(#[doc = $key_sentence])+
                        $(#[doc = concat!(" \\[", $unit, "\\]")])?
                        $(#[serde($($serde)+)])?
                        $field: $type,
                    )+
                })?,
            )+
        }

        impl Declaration for $Name {
            fn shape(&self) -> &'static Shape {
                &Self::SHAPE
            }

            fn word(&self) -> &'static str {
                match self {
                    $(Self::$Branch { .. } => $word,)+
                }
            }

            fn fresh(&self) -> Box<dyn Declaration> {
                Box::new(Self::branch(self.word()))
            }

            fn branch(word: &str) -> Self {
                match word {
                    $($word => Self::$Branch $({ $($field: $default),+ })?,)+
                    _ => Self::branch(Self::SHAPE.branches[0].word),
                }
            }

            fn values(&self) -> Vec<&dyn Field> {
                match self {
                    $(Self::$Branch $({ $($field),+ })? => vec![$($($field),+)?],)+
                }
            }

            fn values_mut(&mut self) -> Vec<&mut dyn Field> {
                match self {
                    $(Self::$Branch $({ $($field),+ })? => vec![$($($field),+)?],)+
                }
            }
        }

        shape!($Name, concat!($($about),+).trim_ascii(), Some($tag), $(
            ($word, concat!($($sentence),+).trim_ascii(), keys!(
                $($($(#[doc = $key_sentence])+ $field () $type, ($($unit)?) ($($limits)?);)+)?
            ))
        ),+);
    };
}

/// Declares the words that a key may have; the first is there before one is read.
macro_rules! words {
    (
        $(#[doc = $about:literal])+
        pub enum $Name:ident { $($(#[doc = $sentence:literal])+ $Variant:ident $word:literal,)+ }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
        pub enum $Name {
            $($(#[doc = $sentence])+ #[serde(rename = $word)] $Variant,)+
        }

        impl $Name {
            /// All of them, in the order of the documentation.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$Variant),+];

            /// The word for it in a scenario file.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$Variant => $word,)+
                }
            }
        }

        impl Field for $Name {
            fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, _: &Units) -> bool {
                let read = reader.word(table, key.name, &Self::ALL, Self::word);
                *self = read.unwrap_or(*self);
                read.is_some()
            }

            fn check(&self, _: &mut Door, _: &Key, _: &str) {}

            fn written(&self) -> Option<String> {
                Some(format!("\"{}\"", self.word()))
            }
        }

        valued!(
            $Name,
            Kind::Words(&[$(($word, concat!($($sentence),+).trim_ascii())),+]),
            Self::ALL[0]
        );
    };
}

pub(super) use {keys, limits_of, name_of, shape, table, valued, words};
