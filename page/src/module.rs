//! Leaves out of a WebAssembly module what nothing runs by.

use std::ops::Range;

/// Kinds of sections.
const CUSTOM: u8 = 0;
const EXPORTS: u8 = 7;
/// What the page calls.
const CALLED: [&str; 4] = ["memory", "reserve", "answer", "answer_at"];

/// A module without custom sections, such as the names of its functions, and without exports that the page does not
/// call, such as those of dependencies. One that is not understood stays as it is.
pub(crate) fn trimmed(module: &[u8]) -> Vec<u8> {
    without_idle(module).unwrap_or_else(|| module.to_vec())
}

fn without_idle(module: &[u8]) -> Option<Vec<u8>> {
    const HEAD: usize = 8;
    let mut kept = module.get(..HEAD)?.to_vec();
    let mut at = HEAD;
    while at < module.len() {
        let (kind, body) = (module[at], body_at(module, at + 1)?);
        let section = module.get(body.clone())?;
        match kind {
            CUSTOM => {}
            EXPORTS => {
                let exports = called(section)?;
                kept.push(EXPORTS);
                kept.extend(written(exports.len()));
                kept.extend(exports);
            }
            _ => kept.extend_from_slice(&module[at..body.end]),
        }
        at = body.end;
    }
    Some(kept)
}

/// The exports that the page calls. Each is a name, a kind and a number.
fn called(section: &[u8]) -> Option<Vec<u8>> {
    let (count, mut at) = number_at(section, 0)?;
    let (mut kept, mut exports) = (0, Vec::new());
    for _ in 0..count {
        let name = body_at(section, at)?;
        let (_, end) = number_at(section, name.end + 1)?;
        let is_called = CALLED.iter().any(|called| section.get(name.clone()) == Some(called.as_bytes()));
        if is_called {
            kept += 1;
            exports.extend_from_slice(section.get(at..end)?);
        }
        at = end;
    }
    Some([written(kept), exports].concat())
}

/// Where the body is whose length stands at `at`.
fn body_at(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let (length, begin) = number_at(bytes, at)?;
    Some(begin..begin.checked_add(length)?)
}

/// The number at `at`, seven bits a byte, and where it ends.
fn number_at(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let digits = bytes.get(at..)?.iter().take(5);
    let count = digits.clone().position(|byte| byte & 0x80 == 0)? + 1;
    let number = digits.take(count).rev().fold(0, |sum, byte| sum << 7 | usize::from(byte & 0x7f));
    Some((number, at + count))
}

/// A number, seven bits a byte.
fn written(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let digit = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            bytes.push(digit);
            return bytes;
        }
        bytes.push(digit | 0x80);
    }
}
