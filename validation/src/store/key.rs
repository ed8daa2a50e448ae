//! The key of a record: a value as JSON text, and its hash.

use serde::Serialize;
use serde_json::Value;

use super::{StoreError, file};

/// What a record is of: a value as JSON text, and the SHA-256 of the text.
///
/// Equal values have equal text, whatever the order in which their fields are declared or their maps iterate.
///
/// ```
/// # use flitwise_validation::store::Key;
/// # use std::collections::HashMap;
/// let key = Key::new(&HashMap::from([("seed", 1), ("ports", 16)]))?;
/// assert_eq!(key.text(), r#"{"ports":16,"seed":1}"#);
/// # Ok::<(), flitwise_validation::store::StoreError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    text: String,
    hash: String,
}

impl Key {
    /// The key that says `value`, whose numbers must be finite: JSON has one word for NaN, infinity and nothing. Those
    /// of a checked scenario are.
    ///
    /// # Errors
    /// The value has no JSON.
    pub fn new<T: Serialize + ?Sized>(value: &T) -> Result<Self, StoreError> {
        let value = serde_json::to_value(value).map_err(|error| StoreError::Unfit(error.to_string()))?;
        let mut text = String::new();
        write(&value, &mut text);
        let hash = file::sha256_hex(text.as_bytes());
        Ok(Self { text, hash })
    }

    /// The value as JSON, one line.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// SHA-256 of the text, 64 hex digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

/// The order of an object's members depends on a feature of `serde_json` that any crate may turn on: they are
/// sorted here.
fn write(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (n, item) in items.iter().enumerate() {
                text.push_str(if n == 0 { "" } else { "," });
                write(item, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by(|a, b| a.0.cmp(b.0));
            text.push('{');
            for (n, (name, member)) in members.into_iter().enumerate() {
                text.push_str(if n == 0 { "" } else { "," });
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                write(member, text);
            }
            text.push('}');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_members_does_not_matter_that_of_items_does() {
        #[derive(Serialize)]
        struct Here {
            b: (f64, u8),
            a: Option<&'static str>,
        }
        #[derive(Serialize)]
        struct There {
            a: Option<&'static str>,
            b: (f64, u8),
        }
        let here = Key::new(&Here { b: (0.1, 2), a: Some("x\n\"y") }).unwrap();
        assert_eq!(here, Key::new(&There { b: (0.1, 2), a: Some("x\n\"y") }).unwrap());
        assert_eq!(here.text(), r#"{"a":"x\n\"y","b":[0.1,2]}"#);
        assert_ne!(Key::new(&[1, 2]).unwrap(), Key::new(&[2, 1]).unwrap());
    }

    #[test]
    fn the_hash_is_the_sha_256_of_the_text() {
        // `printf '"abc"' | sha256sum`
        let wanted = "6cc43f858fbb763301637b5af970e2a46b46f461f27e5a0f41e009c59b827b25";
        assert_eq!(Key::new("abc").unwrap().hash(), wanted);
    }
}
