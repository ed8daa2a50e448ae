//! Processes, told from one another across machines and restarts.

use std::fs;
use std::process;

use serde::{Deserialize, Serialize};

/// A process. Numbers of processes come again; with the time of its start and the boot of its machine they do not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Name of its machine.
    pub host: String,
    /// Which start of the machine, and which of its spaces of process numbers; empty where the system does not say.
    pub boot: String,
    /// Its number there.
    pub id: u32,
    /// When it started, in ticks of its machine since the boot; 0 where the system does not say.
    pub started_ticks: u64,
}

impl Process {
    /// This one.
    pub fn own() -> Self {
        let id = process::id();
        Self { host: host(), boot: boot(), id, started_ticks: state(id).map_or(0, |(_, started)| started) }
    }

    /// Whether it has ended, if that can be seen from `own`: of processes of other machines it cannot.
    pub fn is_dead(&self, own: &Self) -> bool {
        let is_near = self.host == own.host && self.boot == own.boot && !own.boot.is_empty();
        is_near
            && match state(self.id) {
                // a dead process stays until its parent has heard of it
                Some((state, started)) => started != self.started_ticks || matches!(state, 'Z' | 'X'),
                None => true,
            }
    }
}

fn line(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
}

fn host() -> String {
    let of_variable = || std::env::var("HOSTNAME").ok().filter(|name| !name.is_empty());
    line("/proc/sys/kernel/hostname").or_else(of_variable).unwrap_or_else(|| "unknown".to_owned())
}

/// Containers of one machine share its boot, but do not see each other's processes.
fn boot() -> String {
    let space = fs::read_link("/proc/self/ns/pid").ok().map(|path| path.display().to_string());
    line("/proc/sys/kernel/random/boot_id")
        .zip(space)
        .map_or_else(String::new, |(boot, space)| boot + " " + &space)
}

/// State and start of a process of this machine.
fn state(id: u32) -> Option<(char, u64)> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // the name of the program, in parentheses, may hold anything
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    // field 22 of all, the first two and the state are gone
    Some((state, fields.nth(18)?.parse().ok()?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_is_dead_once_it_has_ended_and_others_cannot_be_seen() {
        let own = Process::own();
        assert!(!own.is_dead(&own), "{own:?}");
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let started_ticks = state(child.id()).unwrap().1;
        let other = Process { id: child.id(), started_ticks, ..own.clone() };
        assert!(!other.is_dead(&own), "{other:?}");
        child.kill().unwrap();
        // a zombie at first
        while !other.is_dead(&own) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(other.is_dead(&own));
        assert!(Process { started_ticks: own.started_ticks + 1, ..own.clone() }.is_dead(&own));
        assert!(!Process { host: "elsewhere".to_owned(), ..other.clone() }.is_dead(&own));
        assert!(!Process { boot: "another".to_owned(), ..other }.is_dead(&own));
    }
}
