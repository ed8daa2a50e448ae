//! The file of one record: its name, its bytes and their checksum.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::Key;

/// Most bytes of a file.
pub(super) const LARGEST: u64 = 1 << 30;
/// End of the names of records.
pub(super) const ENDING: &str = ".flitwise";

/// First word of every file.
const FORMAT: &str = "flitwise-record";
/// The format that is written here.
const VERSION: u32 = 1;

/// Why a file is not believed.
#[derive(Debug, PartialEq)]
pub(super) enum Fault {
    /// It is broken, now and ever.
    Damaged(&'static str),
    /// It cannot be judged.
    Skipped(String),
}

/// Name of a record's file.
pub(super) fn name(hash: &str, sequence: u32) -> String {
    format!("{hash}-{sequence}{ENDING}")
}

/// Hash and sequence of a name, if it is the name of a record.
pub(super) fn parse_name(name: &str) -> Option<(&str, u32)> {
    let (hash, sequence) = name.strip_suffix(ENDING)?.split_once('-')?;
    let sequence = sequence.parse().ok()?;
    // one spelling only: neither "+7" nor "007"
    (hash.len() == 64 && is_hex(hash) && self::name(hash, sequence) == name).then_some((hash, sequence))
}

/// Whether a text is lower-case hex digits.
pub(super) fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// SHA-256, 64 hex digits.
pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The whole file.
pub(super) fn encode(key: &Key, sequence: u32, record: &[u8]) -> Vec<u8> {
    let body = [key.text().as_bytes(), b"\n", record].concat();
    [header(sequence, &body).as_bytes(), b"\n", &body].concat()
}

/// The first line of the file with this body.
fn header(sequence: u32, body: &[u8]) -> String {
    let (length, checksum) = (body.len(), sha256_hex(body));
    sealed(format!("{FORMAT} {VERSION} sequence {sequence} length {length} sha256 {checksum} line "))
}

/// A first line with its check.
fn sealed(line: String) -> String {
    let check = &sha256_hex(line.as_bytes())[..16];
    line + check
}

/// The record in postcard that a file holds, if it is record `sequence` of the key with this hash.
pub(super) fn decode<'b>(bytes: &'b [u8], hash: &str, sequence: u32) -> Result<&'b [u8], Fault> {
    let (line, body) = split_line(bytes).ok_or(Fault::Damaged("it has no first line"))?;
    if line != header(sequence, body).as_bytes() {
        return Err(match version(line) {
            Some(version) if version > VERSION => {
                Fault::Skipped(format!("format version {version} is of a later flitwise"))
            }
            _ => Fault::Damaged("it is truncated, changed or renamed"),
        });
    }
    let (key, record) = split_line(body).ok_or(Fault::Damaged("it has no key"))?;
    if sha256_hex(key) == hash { Ok(record) } else { Err(Fault::Damaged("it holds another key")) }
}

/// What stands before and behind the end of the first line.
fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// The version in a first line that agrees with its own check.
fn version(line: &[u8]) -> Option<u32> {
    let line = str::from_utf8(line).ok()?;
    let (unsealed, _) = line.rsplit_once(' ')?;
    let mut words = line.split(' ');
    let is_ours = sealed(format!("{unsealed} ")) == line && words.next() == Some(FORMAT);
    words.next()?.parse().ok().filter(|_| is_ours)
}

/// All bytes of a file, `None` if there is none.
pub(super) fn load(path: &Path) -> Result<Option<Vec<u8>>, Fault> {
    let unreadable = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => Ok(None),
        _ => Err(Fault::Skipped(format!("it cannot be read: {error}"))),
    };
    // before it is opened: opening a pipe waits for its other end
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => return Err(Fault::Damaged("it is not a file")),
        Ok(metadata) if metadata.len() > LARGEST => {
            return Err(Fault::Skipped(format!("{} bytes are more than any record has", metadata.len())));
        }
        Ok(_) => {}
        Err(error) => return unreadable(error),
    }
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(LARGEST).read_to_end(&mut bytes)) {
        Ok(_) => Ok(Some(bytes)),
        Err(error) => unreadable(error),
    }
}

/// The record that all of `bytes` are.
pub(super) fn from_postcard<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Fault> {
    match postcard::take_from_bytes(bytes) {
        Ok((record, [])) => Ok(record),
        _ => Err(Fault::Damaged("the record cannot be decoded")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_one_spelling() {
        let hash = "0123456789abcdef".repeat(4);
        assert_eq!(parse_name(&name(&hash, 0)), Some((hash.as_str(), 0)));
        assert_eq!(parse_name(&name(&hash, u32::MAX)), Some((hash.as_str(), u32::MAX)));
        let others = [
            format!("{hash}-007.flitwise"),
            format!("{hash}-+7.flitwise"),
            format!("{hash}-4294967296.flitwise"),
            format!("{hash}-7.flitwise.1"),
            format!("{}-7.flitwise", &hash[1..]),
            format!("{}-7.flitwise", hash.to_uppercase()),
            format!("{}\u{e9}-7.flitwise", &hash[2..]),
        ];
        for other in others {
            assert_eq!(parse_name(&other), None, "{other}");
        }
    }

    /// With the right checksum, too.
    #[test]
    fn a_file_without_a_key_or_with_another_is_damaged() {
        let key = Key::new(&1).unwrap();
        let judge = |body: &[u8]| {
            let bytes = [header(7, body).as_bytes(), b"\n", body].concat();
            decode(&bytes, key.hash(), 7).map(<[u8]>::to_vec)
        };
        assert_eq!(judge(b"1\nx"), Ok(b"x".to_vec()));
        for body in [&b"1x"[..], b"2\nx", b"\xff\nx", b""] {
            assert!(matches!(judge(body), Err(Fault::Damaged(_))), "{body:?}");
        }
    }
}
