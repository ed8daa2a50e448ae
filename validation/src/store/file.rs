//! The file of one record: its name, its bytes and whether they are to be believed.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::{Key, Reason, is_there};

/// Most bytes of a file.
pub(super) const LARGEST: u64 = 1 << 30;
/// End of the names of records.
pub(super) const ENDING: &str = ".flitwise";

/// First word of every file.
const FORMAT: &str = "flitwise-record";
/// The format that is written here.
const VERSION: u32 = 1;
/// Most bytes of the first line, of any version.
const LONGEST_HEADER: usize = 512;

/// A file that is what it says.
pub(super) struct Contents<'b> {
    /// Text of the key.
    pub(super) key: &'b str,
    /// The record in postcard.
    pub(super) record: &'b [u8],
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

/// SHA-256 of the parts one after another, 64 hex digits.
pub(super) fn sha256_hex(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The whole file.
pub(super) fn encode(key: &Key, sequence: u32, record: &[u8]) -> Vec<u8> {
    let key = key.text().as_bytes();
    let length = key.len() + 1 + record.len();
    let checksum = sha256_hex(&[key, b"\n", record]);
    let mut bytes = header(sequence, length as u64, &checksum).into_bytes();
    bytes.push(b'\n');
    bytes.extend_from_slice(key);
    bytes.push(b'\n');
    bytes.extend_from_slice(record);
    bytes
}

/// The first line, without its end.
fn header(sequence: u32, length: u64, checksum: &str) -> String {
    sealed(format!("{FORMAT} {VERSION} sequence {sequence} length {length} sha256 {checksum} line "))
}

/// A first line with its check.
fn sealed(line: String) -> String {
    let check = &sha256_hex(&[line.as_bytes()])[..16];
    line + check
}

/// What a file holds that should be record `sequence` of the key with this hash.
///
/// # Errors
/// Why it is not believed.
pub(super) fn decode<'b>(bytes: &'b [u8], hash: &str, sequence: u32) -> Result<Contents<'b>, Reason> {
    let found = bytes.len() as u64;
    let start = &bytes[..bytes.len().min(LONGEST_HEADER)];
    let end = match start.iter().position(|byte| *byte == b'\n') {
        Some(end) => end,
        None if bytes.len() < LONGEST_HEADER => return Err(Reason::Truncated { wanted: None, found }),
        None => return Err(Reason::Header),
    };
    let line = str::from_utf8(&bytes[..end]).map_err(|_| Reason::Header)?;
    let body = &bytes[end + 1..];

    let (said_sequence, length, checksum) = parse_header(line)?;
    let wanted = length.saturating_add(end as u64 + 1);
    if found < wanted {
        return Err(Reason::Truncated { wanted: Some(wanted), found });
    }
    if found > wanted {
        return Err(Reason::TooLong { wanted, found });
    }
    if sha256_hex(&[body]) != checksum {
        return Err(Reason::Checksum);
    }

    let undecodable = |why: &str| Reason::Undecodable(why.to_owned());
    let end = body.iter().position(|byte| *byte == b'\n').ok_or_else(|| undecodable("no line of the key"))?;
    let key = str::from_utf8(&body[..end]).map_err(|_| undecodable("the key is not text"))?;
    if sha256_hex(&[key.as_bytes()]) != hash {
        return Err(Reason::AnotherKey);
    }
    if said_sequence != sequence {
        return Err(Reason::AnotherSequence { found: said_sequence });
    }
    Ok(Contents { key, record: &body[end + 1..] })
}

/// Sequence, length and checksum of a first line.
fn parse_header(line: &str) -> Result<(u32, u64, &str), Reason> {
    let (unsealed, _) = line.rsplit_once(' ').ok_or(Reason::Header)?;
    if sealed(format!("{unsealed} ")) != line {
        return Err(Reason::Header);
    }
    let words: Vec<&str> = line.split(' ').collect();
    let version = match words[..] {
        [FORMAT, version, ..] => version.parse().map_err(|_| Reason::Header)?,
        _ => return Err(Reason::Header),
    };
    if version > VERSION {
        return Err(Reason::NewerVersion { found: version });
    }
    if version < VERSION {
        return Err(Reason::UnknownVersion { found: version });
    }
    let (sequence, length, checksum) = match words[..] {
        [_, _, "sequence", sequence, "length", length, "sha256", checksum, "line", _] => {
            let sequence = sequence.parse().map_err(|_| Reason::Header)?;
            (sequence, length.parse().map_err(|_| Reason::Header)?, checksum)
        }
        _ => return Err(Reason::Header),
    };
    // one spelling only
    if header(sequence, length, checksum) == line {
        Ok((sequence, length, checksum))
    } else {
        Err(Reason::Header)
    }
}

/// All bytes of a file, `None` if there is none.
///
/// # Errors
/// It is not a file, too large, or cannot be read.
pub(super) fn load(path: &Path) -> Result<Option<Vec<u8>>, Reason> {
    let unreadable = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound if is_there(path) => Err(Reason::NotAFile), // a link to nowhere
        ErrorKind::NotFound => Ok(None),
        _ => Err(Reason::Unreadable(error.to_string())),
    };
    // before it is opened: opening a pipe waits for its other end
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => return Err(Reason::NotAFile),
        Ok(metadata) if metadata.len() > LARGEST => return Err(Reason::TooLarge { found: metadata.len() }),
        Ok(_) => {}
        Err(error) => return unreadable(error),
    }
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes)) {
        Ok(_) => Ok(Some(bytes)),
        Err(error) => unreadable(error),
    }
}

/// A record in postcard.
///
/// # Errors
/// It cannot be written, or not read back as what it was.
pub(super) fn to_postcard<T: Serialize + DeserializeOwned>(record: &T) -> Result<Vec<u8>, String> {
    let bytes = postcard::to_stdvec(record).map_err(|error| error.to_string())?;
    let back: T = from_postcard(&bytes).map_err(|reason| format!("once written, {reason}"))?;
    match postcard::to_stdvec(&back) {
        Ok(again) if again == bytes => Ok(bytes),
        _ => Err("written, read and written again it differs".to_owned()),
    }
}

/// The record that all of `bytes` are.
///
/// # Errors
/// They are not.
pub(super) fn from_postcard<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Reason> {
    match postcard::take_from_bytes(bytes) {
        Ok((record, [])) => Ok(record),
        Ok((_, rest)) => Err(Reason::Undecodable(format!("{} bytes are left over", rest.len()))),
        Err(error) => Err(Reason::Undecodable(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_the_documentation_says() {
        let key = Key::new(&("a", 1)).unwrap();
        let bytes = encode(&key, 7, &[1, 2, 3]);
        let text = [
            "flitwise-record 1 sequence 7 length 11 sha256 ",
            // the key, the end of its line, the record
            &sha256_hex(&[b"[\"a\",1]\n\x01\x02\x03"]),
            " line ",
        ]
        .concat();
        let check = sha256_hex(&[text.as_bytes()]);
        let wanted = [text.as_bytes(), &check.as_bytes()[..16], b"\n[\"a\",1]\n\x01\x02\x03"].concat();
        assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&wanted));
        let contents = decode(&bytes, key.hash(), 7).ok().unwrap();
        assert_eq!((contents.key, contents.record), ("[\"a\",1]", &[1, 2, 3][..]));
    }

    #[test]
    fn names_have_one_spelling() {
        let hash = "0123456789abcdef".repeat(4);
        assert_eq!(parse_name(&name(&hash, 0)), Some((hash.as_str(), 0)));
        assert_eq!(parse_name(&name(&hash, u32::MAX)), Some((hash.as_str(), u32::MAX)));
        let others = [
            format!("{hash}-007.flitwise"),
            format!("{hash}-+7.flitwise"),
            format!("{hash}--7.flitwise"),
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

    #[test]
    fn a_right_check_alone_is_not_enough() {
        let key = Key::new(&1).unwrap();
        let judge = |line: &str, body: &[u8]| {
            let bytes = [sealed(line.to_owned()).as_bytes(), b"\n", body].concat();
            decode(&bytes, key.hash(), 7).err()
        };
        let sum = sha256_hex(&[b"1\nx"]);
        let line = |text: &str| text.replace("SUM", &sum);
        assert_eq!(judge(&line("flitwise-record 1 sequence 7 length 3 sha256 SUM line "), b"1\nx"), None);
        let odd = [
            "flitwise-record 1 sequence 07 length 3 sha256 SUM line ",
            "flitwise-record 1 sequence 7 length +3 sha256 SUM line ",
            "flitwise-record 1 sequence 7 length 3  sha256 SUM line ",
            "flitwise-record 1 sequence 7 length 3 sha256 SUM more 1 line ",
            "flitwise-record 1 sequence -7 length 3 sha256 SUM line ",
            "flitwise-record 01 sequence 7 length 3 sha256 SUM line ",
            "flitwise-record one line ",
            "flitwise-records 1 sequence 7 length 3 sha256 SUM line ",
            " ",
        ];
        for odd in odd {
            assert_eq!(judge(&line(odd), b"1\nx"), Some(Reason::Header), "{odd}");
        }
        let huge = line("flitwise-record 1 sequence 7 length 18446744073709551615 sha256 SUM line ");
        assert!(matches!(judge(&huge, b"1\nx"), Some(Reason::Truncated { .. })));
        assert_eq!(judge("flitwise-record 0 line ", b""), Some(Reason::UnknownVersion { found: 0 }));
        assert_eq!(judge("flitwise-record 2 line ", b"?"), Some(Reason::NewerVersion { found: 2 }));
        for body in [&b"1x"[..], b"\xff\nx"] {
            let sum = sha256_hex(&[body]);
            let line = format!("flitwise-record 1 sequence 7 length {} sha256 {sum} line ", body.len());
            assert!(matches!(judge(&line, body), Some(Reason::Undecodable(_))));
        }
    }

    #[test]
    fn a_record_that_would_not_come_back_is_refused() {
        #[derive(serde::Serialize, serde::Deserialize)]
        struct Skipping {
            #[serde(skip_serializing_if = "Option::is_none", default)]
            a: Option<u8>,
            b: u8,
        }
        assert!(to_postcard(&Skipping { a: Some(1), b: 2 }).is_ok());
        assert!(to_postcard(&Skipping { a: None, b: 1 }).is_err());
        assert!(to_postcard(&vec![0.5, f64::NAN, f64::INFINITY]).is_ok());
    }
}
