//! The files of the page and of the lessons, but for the engine as WebAssembly, which is compiled when static files are
//! made.

use std::borrow::Cow;

use crate::lessons::{self, LESSONS};

/// A file of the page.
#[derive(Clone, Debug)]
pub struct PageFile {
    /// Its name; there are no folders.
    pub name: Cow<'static, str>,
    /// Its media type, as HTTP has it.
    pub media_type: &'static str,
    /// What it holds.
    pub bytes: Cow<'static, [u8]>,
}

/// Where the engine of a page runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnginePlace {
    /// In the browser, as WebAssembly.
    Browser,
    /// In the server that the page is from.
    Server,
}

macro_rules! page_file {
    ($name:literal, $source:literal, $media_type:literal) => {
        PageFile {
            name: Cow::Borrowed($name),
            media_type: $media_type,
            bytes: Cow::Borrowed(include_bytes!(concat!("../static/", $source))),
        }
    };
}

/// Of both.
const COMMON: [PageFile; 5] = [
    page_file!("index.html", "index.html", "text/html; charset=utf-8"),
    page_file!("page.css", "page.css", "text/css; charset=utf-8"),
    page_file!("page.js", "page.js", "text/javascript; charset=utf-8"),
    page_file!("parts.js", "parts.js", "text/javascript; charset=utf-8"),
    page_file!("lesson.js", "lesson.js", "text/javascript; charset=utf-8"),
];
const OF_BROWSER: [PageFile; 2] = [
    page_file!("engine.js", "engine-worker.js", "text/javascript; charset=utf-8"),
    page_file!("worker.js", "worker.js", "text/javascript; charset=utf-8"),
];
const OF_SERVER: [PageFile; 1] =
    [page_file!("engine.js", "engine-served.js", "text/javascript; charset=utf-8")];

/// All files of a page whose engine runs there; in the browser it also loads the modules of the engine.
///
/// # Errors
/// What is wrong with a lesson.
pub fn files(engine: EnginePlace) -> Result<Vec<PageFile>, String> {
    let own: &[PageFile] = match engine {
        EnginePlace::Browser => &OF_BROWSER,
        EnginePlace::Server => &OF_SERVER,
    };
    let html = |name: String, text: String| PageFile {
        name: name.into(),
        media_type: "text/html; charset=utf-8",
        bytes: text.into_bytes().into(),
    };
    let mut files: Vec<PageFile> = COMMON.iter().chain(own).cloned().collect();
    files.push(html("lessons.html".to_owned(), lessons::contents()));
    for lesson in LESSONS {
        files.push(html(format!("{}.html", lesson.name), lessons::page(lesson)?));
    }
    Ok(files)
}
