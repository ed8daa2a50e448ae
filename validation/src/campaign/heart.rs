//! The beat of a process, which tells others that it lives.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Moves a file until it is dropped.
#[derive(Debug)]
pub(super) struct Heart {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heart {
    pub(super) fn begin(path: PathBuf, interval: Duration) -> io::Result<Self> {
        let mut file = File::create(&path)?;
        beat(&mut file, 0)?;
        let (stop, stopped) = mpsc::channel();
        let thread = thread::Builder::new().name("heart".to_owned()).spawn(move || {
            for count in 1.. {
                match stopped.recv_timeout(interval) {
                    // a beat that cannot be written is one that others do not see: they take over, with the same bytes
                    Err(RecvTimeoutError::Timeout) => drop(beat(&mut file, count)),
                    _ => break,
                }
            }
        })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

/// In its place and of one length, so that it takes no room that a full disk has not.
fn beat(file: &mut File, count: u64) -> io::Result<()> {
    file.rewind()?;
    file.write_all(format!("{count:020}\n").as_bytes())?;
    // a file server would hear of it only half a minute later
    file.sync_data()
}

impl Drop for Heart {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
