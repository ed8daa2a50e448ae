//! The files of the page, but for the engine as WebAssembly, which is compiled when static files are made.

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub struct PageFile {
    /// Its name; there are no folders.
    pub name: &'static str,
    /// Its media type, as HTTP has it.
    pub media_type: &'static str,
    /// What it holds.
    pub bytes: &'static [u8],
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
            name: $name,
            media_type: $media_type,
            bytes: include_bytes!(concat!("../static/", $source)),
        }
    };
}

/// Of both.
const COMMON: [PageFile; 3] = [
    page_file!("index.html", "index.html", "text/html; charset=utf-8"),
    page_file!("page.css", "page.css", "text/css; charset=utf-8"),
    page_file!("page.js", "page.js", "text/javascript; charset=utf-8"),
];
const OF_BROWSER: [PageFile; 2] = [
    page_file!("engine.js", "engine-worker.js", "text/javascript; charset=utf-8"),
    page_file!("worker.js", "worker.js", "text/javascript; charset=utf-8"),
];
const OF_SERVER: [PageFile; 1] =
    [page_file!("engine.js", "engine-served.js", "text/javascript; charset=utf-8")];

/// All files of a page whose engine runs there; in the browser it also loads `engine.wasm`.
pub fn files(engine: EnginePlace) -> impl Iterator<Item = PageFile> {
    let own: &[PageFile] = match engine {
        EnginePlace::Browser => &OF_BROWSER,
        EnginePlace::Server => &OF_SERVER,
    };
    COMMON.iter().chain(own).copied()
}
