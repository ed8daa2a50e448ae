//! Block traces of disks in two public formats, as traces of the hosts that ask and the disks that answer.

use std::collections::HashMap;

use flitwise_language::document::Fault;

use super::{Lines, MOST_LENGTH, Row};

/// Bytes of a request or an answer beside the data.
pub(super) const HEADER_BYTES: u32 = 64;
/// Length of a block of which all requests come from one initiator \[bytes\].
const BLOCK_BYTES: u64 = 1 << 20;
/// Bytes of a logical block of SPC traces.
const SECTOR_BYTES: u64 = 512;
/// Time to an answer where a trace has none \[ns\].
const USUAL_RESPONSE_NS: f64 = 5e6;

/// A public format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// MSR Cambridge: Timestamp and ResponseTime in 100 ns, Hostname, DiskNumber, Type, Offset and Size in bytes.
    Msr,
    /// SPC-1: ASU, LBA in sectors of 512 bytes, Size in bytes, Opcode, Timestamp in s; answers take 5 ms.
    Spc,
}

/// Onto which hosts disks and initiators are folded: disks on the last ones, initiators on the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostLayout {
    /// Hosts of the network.
    pub hosts: u32,
    /// Disks, fewer than hosts and at least one.
    pub disks: u32,
}

/// A record of a block trace.
struct Record<'l> {
    /// Since some time of the format \[ns\]; whole numbers of 100 ns since 1601 do not fit into a double.
    time_ns: i128,
    /// What tells a disk.
    disk: (&'l str, &'l str),
    offset: u64,
    size: u32,
    is_read: bool,
    response_ns: f64,
}

impl Format {
    fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Msr => &["Timestamp", "Hostname", "DiskNumber", "Type", "Offset", "Size", "ResponseTime"],
            Self::Spc => &["ASU", "LBA", "Size", "Opcode", "Timestamp"],
        }
    }

    /// Two messages for each record: the request to the disk, and its answer. The first record is at time 0.
    ///
    /// # Errors
    /// All faults of the text, the first hundred of them; `name` is what messages call it.
    pub fn converted(self, name: &str, text: &str, folded: HostLayout) -> Result<Vec<Row>, Vec<Fault>> {
        let (mut lines, mut disks, mut records) = (Lines::new(name), HashMap::new(), Vec::new());
        for line in text.lines() {
            lines.line += 1;
            let is_header = lines.line == 1 && line.starts_with(self.columns()[0]);
            if line.trim().is_empty() || line.starts_with('#') || is_header {
                continue;
            }
            let fields = lines.fields(line, self.columns(), self == Self::Spc);
            records.extend(fields.and_then(|fields| self.record(&mut lines, &fields)));
        }
        if !lines.faults.is_empty() {
            return Err(lines.faults);
        }
        let first = records.iter().map(|record| record.time_ns).min().unwrap_or(0);
        let mut rows = Vec::with_capacity(2 * records.len());
        for record in records {
            let next = disks.len() as u32;
            let disk = *disks.entry(record.disk).or_insert(next) % folded.disks;
            let initiators = folded.hosts - folded.disks;
            let initiator = (hash(record.offset / BLOCK_BYTES) % u64::from(initiators)) as u32;
            let time_ns = (record.time_ns - first) as f64;
            let pair = [initiator, initiators + disk];
            rows.extend(exchange(time_ns, record.response_ns, pair, (record.size, record.is_read)));
        }
        rows.sort_by(|one, other| one.time.total_cmp(&other.time));
        Ok(rows)
    }

    fn record<'l>(self, lines: &mut Lines, fields: &[(usize, &'l str)]) -> Option<Record<'l>> {
        let size_fits = |size: &u32| u64::from(*size) + u64::from(HEADER_BYTES) <= MOST_LENGTH;
        let whole = "a whole number of 0 or more";
        let size = format!("a whole number of bytes, 0 to {}", MOST_LENGTH - u64::from(HEADER_BYTES));
        let (kind, kinds) = if self == Self::Msr { (3, ["Read", "Write"]) } else { (3, ["R", "W"]) };
        let is_read = kinds.iter().position(|kind_of| kind_of.eq_ignore_ascii_case(fields[kind].1));
        if is_read.is_none() {
            let wanted = kinds.join(" or ");
            lines.refuse(fields[kind].0, self.columns()[kind], super::shown(fields[kind].1), &wanted);
        }
        let (time_ns, disk, offset, size, response_ns) = match self {
            Self::Msr => (
                lines
                    .number(fields[0], ("Timestamp", whole), |_: &u64| true)
                    .map(|time| 100 * i128::from(time)),
                (fields[1].1, fields[2].1),
                lines.number(fields[4], ("Offset", whole), |_: &u64| true),
                lines.number(fields[5], ("Size", &size), size_fits),
                lines
                    .number(fields[6], ("ResponseTime", whole), |_: &u64| true)
                    .map(|time| 100.0 * time as f64),
            ),
            Self::Spc => {
                let seconds = |time: &f64| (0.0..=1e9).contains(time);
                let time = lines.number(fields[4], ("Timestamp", "0 to 1e9 seconds"), seconds);
                (
                    time.map(|time| (1e9 * time).round() as i128),
                    (fields[0].1, ""),
                    lines
                        .number(fields[1], ("LBA", whole), |_: &u64| true)
                        .map(|at| at.saturating_mul(SECTOR_BYTES)),
                    lines.number(fields[2], ("Size", &size), size_fits),
                    Some(USUAL_RESPONSE_NS),
                )
            }
        };
        let is_read = is_read? == 0;
        Some(Record {
            time_ns: time_ns?,
            disk,
            offset: offset?,
            size: size?,
            is_read,
            response_ns: response_ns?,
        })
    }
}

/// A request of an initiator at a disk, and the answer that comes later.
pub(super) fn exchange(
    time_ns: f64,
    response_ns: f64,
    [initiator, disk]: [u32; 2],
    (bytes, is_read): (u32, bool),
) -> [Row; 2] {
    let (out, back) = if is_read { (0, bytes) } else { (bytes, 0) };
    [
        Row { time: time_ns, source: initiator, destination: disk, length: HEADER_BYTES + out, class: 0 },
        Row {
            time: time_ns + response_ns,
            source: disk,
            destination: initiator,
            length: HEADER_BYTES + back,
            class: 0,
        },
    ]
}

/// FNV-1a of the bytes of a number, the lowest first.
fn hash(number: u64) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    number.to_le_bytes().into_iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDED: HostLayout = HostLayout { hosts: 64, disks: 23 };

    #[test]
    fn a_record_becomes_a_request_and_an_answer() {
        let text = "128166372003061629,hm,0,Read,2096128,512,59\n128166372003061630,hm,1,Write,0,8192,10\n";
        let rows = Format::Msr.converted("t", text, FOLDED).unwrap();
        let short = |row: &Row| (row.time, row.source.max(row.destination), row.length);
        let wanted = [(0.0, 41, 64), (100.0, 42, 8256), (1100.0, 42, 64), (5900.0, 41, 576)];
        assert_eq!(rows.iter().map(short).collect::<Vec<_>>(), wanted);
        assert!(rows.iter().all(|row| row.source.min(row.destination) < 41));
        let rows = Format::Spc.converted("t", "0,20941264,8192,W,0.551706\n", FOLDED).unwrap();
        assert_eq!(rows.iter().map(short).collect::<Vec<_>>(), [(0.0, 41, 8256), (5e6, 41, 64)]);
        // 64-bit FNV-1a of eight zero bytes
        assert_eq!(hash(0), 0xa8c7_f832_281a_39c5);
    }

    #[test]
    fn every_fault_has_its_line() {
        let text = "1,hm,0,Read,0,512\n2,hm,0,Erase,-1,512,1\n";
        let faults: Vec<String> =
            Format::Msr.converted("t", text, FOLDED).unwrap_err().iter().map(ToString::to_string).collect();
        assert!(
            faults[0].starts_with("t:1:1: row: found 6 columns, wanted 7: Timestamp,Hostname"),
            "{faults:?}"
        );
        assert_eq!(faults[1], "t:2:8: Type: found \"Erase\", wanted Read or Write");
        assert_eq!(faults[2], "t:2:14: Offset: found -1, wanted a whole number of 0 or more");
    }
}
