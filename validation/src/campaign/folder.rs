//! The shared folder of a campaign.
//!
//! | path | what it is |
//! |---|---|
//! | `format` | one line: versions, and the hash of the blocks; made last |
//! | `inputs/` | the campaign file and the files that it names |
//! | `store/` | the results |
//! | `claims/<hash>.<generation>` | who has taken the block with that key; `.released` behind it: no longer |
//! | `workers/<name>` | the process of that name; `.beat`: moves while it lives, `.ended`: it has ended in order |
//! | `done/<hash>` | the block is done, and what it took |
//! | `failed/<hash>` | the block cannot be done, and why |
//! | `out/` | what is written once all blocks are done |
//!
//! Each file is whole or not there, and none is changed, but for beats.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use flitwise_simulator::{CONNECTIONS_REVISION, FRAMES_REVISION, PACKETS_REVISION, REVISION};

use super::FolderError;
use crate::store::{self, Store};

/// First word of the version line, and the version of the folder.
const FORMAT: &str = "flitwise-campaign 1";

/// A file that a campaign is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its place, seen from the campaign file.
    pub path: PathBuf,
    /// All of it.
    pub bytes: Vec<u8>,
}

/// The shared folder of a campaign.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The campaign file in the inputs.
    pub const CAMPAIGN: &'static str = "campaign.toml";

    /// The folder at this path, there or not.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The campaign file.
    pub fn campaign_file(&self) -> PathBuf {
        self.inputs().join(Self::CAMPAIGN)
    }

    fn inputs(&self) -> PathBuf {
        self.path.join("inputs")
    }

    /// Where outputs go.
    pub fn out(&self) -> PathBuf {
        self.path.join("out")
    }

    /// Where results are kept.
    pub fn store_path(&self) -> PathBuf {
        self.path.join("store")
    }

    pub(super) fn claims(&self) -> PathBuf {
        self.path.join("claims")
    }

    pub(super) fn workers(&self) -> PathBuf {
        self.path.join("workers")
    }

    pub(super) fn done(&self) -> PathBuf {
        self.path.join("done")
    }

    pub(super) fn failed(&self) -> PathBuf {
        self.path.join("failed")
    }

    fn format(&self) -> PathBuf {
        self.path.join("format")
    }

    /// Makes the folder of a campaign whose blocks have this fingerprint, or checks the one that is there.
    ///
    /// # Errors
    /// It cannot be written, or it is of another campaign or another version.
    pub fn make(&self, inputs: &[Input], fingerprint: &str) -> Result<(), FolderError> {
        if !self.format().exists() {
            for input in inputs {
                let path = self.inputs().join(&input.path);
                // where another process makes the same folder the file is there
                store::put(&path, &input.bytes).map_err(FolderError::io(&path, "write the file"))?;
            }
            let line = version() + " plan " + fingerprint + "\n";
            let path = self.format();
            store::put(&path, line.as_bytes()).map_err(FolderError::io(&path, "write the file"))?;
        }
        self.check_version()?;
        for input in inputs {
            let path = self.inputs().join(&input.path);
            let found = fs::read(&path).map_err(FolderError::io(&path, "read the file"))?;
            if found != input.bytes {
                return Err(FolderError::OtherInput { path });
            }
        }
        self.check_plan(fingerprint)
    }

    /// Checks that this version made it.
    ///
    /// # Errors
    /// There is no campaign, another version made it, or it cannot be read.
    pub fn check_version(&self) -> Result<(), FolderError> {
        let (found, wanted) = (self.line()?, version());
        if found.rsplit_once(" plan ").is_some_and(|(version, _)| version == wanted) {
            return Ok(());
        }
        let found = found.split(" plan ").next().unwrap_or_default().chars().take(200).collect();
        Err(FolderError::OtherVersion { path: self.path.clone(), found, wanted })
    }

    /// Checks that it has these blocks.
    ///
    /// # Errors
    /// As [`Folder::check_version`], or it has others.
    pub fn check_plan(&self, fingerprint: &str) -> Result<(), FolderError> {
        self.check_version()?;
        let line = self.line()?;
        let found = line.rsplit(' ').next().unwrap_or_default();
        if found == fingerprint {
            return Ok(());
        }
        let wanted = fingerprint.to_owned();
        Err(FolderError::OtherPlan { path: self.path.clone(), found: found.to_owned(), wanted })
    }

    /// The version line.
    fn line(&self) -> Result<String, FolderError> {
        match fs::read(self.format()) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned()),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Err(FolderError::NoCampaign { path: self.path.clone() })
            }
            Err(error) => Err(FolderError::io(&self.format(), "read the file")(error)),
        }
    }

    /// The store of results.
    ///
    /// # Errors
    /// It cannot be made or listed.
    pub fn store(&self) -> Result<Store, FolderError> {
        Ok(Store::open(&self.store_path())?)
    }
}

/// All that decides numbers, and the shape of the folder.
fn version() -> String {
    format!(
        "{FORMAT} flitwise {} wormhole {REVISION} frames {FRAMES_REVISION} connections {CONNECTIONS_REVISION} packets \
         {PACKETS_REVISION}",
        env!("CARGO_PKG_VERSION")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(text: &str) -> Vec<Input> {
        vec![Input { path: Folder::CAMPAIGN.into(), bytes: text.into() }]
    }

    #[test]
    fn a_folder_knows_its_campaign_and_its_version() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = Folder::at(&scratch.path().join("new"));
        assert!(matches!(folder.check_version(), Err(FolderError::NoCampaign { .. })));
        folder.make(&input("a"), "1234").unwrap();
        folder.make(&input("a"), "1234").unwrap();
        assert!(matches!(folder.make(&input("b"), "1234"), Err(FolderError::OtherInput { .. })));
        assert!(matches!(folder.make(&input("a"), "5678"), Err(FolderError::OtherPlan { .. })));

        let line = fs::read_to_string(folder.format()).unwrap();
        for (other, says) in [
            (line.replace("campaign 1", "campaign 2"), "flitwise-campaign 2 flitwise"),
            (line.replace(env!("CARGO_PKG_VERSION"), "0.0.1"), "flitwise 0.0.1"),
            (String::new(), "found a campaign of , wanted"),
        ] {
            fs::write(folder.format(), other).unwrap();
            let error = folder.check_plan("1234").unwrap_err();
            assert!(matches!(error, FolderError::OtherVersion { .. }) && error.is_bad_input());
            assert!(error.to_string().contains(says), "{error}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_says_so() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Folder::at(&file.join("below")).make(&input("a"), "1234").unwrap_err();
        assert!(matches!(error, FolderError::Io { .. }) && !error.is_bad_input());
        assert!(error.to_string().contains("cannot write the file: "), "{error}");
    }
}
