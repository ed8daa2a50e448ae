//! `flitwise report`: everything is on the pages, and the pages need nothing else.

use std::fs;
use std::time::{Duration, Instant};

use crate::process::{command, flitwise, piped, signal};

/// The tags and the texts between them, in order.
fn pieces(page: &str) -> Vec<(&str, &str)> {
    let mut pieces = Vec::new();
    for piece in page.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap_or_else(|| panic!("an open tag: {piece}"));
        pieces.push((tag, text));
    }
    pieces
}

/// What a page must have to be read on a telephone, as far as that can be told without drawing it.
fn assert_narrow(name: &str, page: &str) {
    const VOID: [&str; 9] = ["meta", "br", "wbr", "hr", "img", "link", "input", "col", "!doctype"];
    assert!(
        page.contains("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"),
        "{name}"
    );
    assert!(page.contains(".wide { overflow-x: auto;"), "{name}: boxes scroll");
    assert!(
        page.contains(".wide svg { display: block; max-width: none; }"),
        "{name}: pictures keep their size"
    );
    assert!(page.contains("pre { background: var(--box); padding: .8rem; overflow-x: auto;"), "{name}");
    let mut open: Vec<&str> = Vec::new();
    for (tag, text) in pieces(page) {
        let word = tag.trim_start_matches('/').split([' ', '/', '\n']).next().unwrap().to_lowercase();
        if tag.starts_with('/') {
            let opened = open.pop().unwrap_or_else(|| panic!("{name}: </{word}> closes nothing"));
            assert_eq!(opened.split([' ', '\n']).next().unwrap(), word, "{name}: {open:?}");
        } else if !tag.ends_with('/') && !VOID.contains(&word.as_str()) {
            let boxed = open.iter().any(|outer| outer.contains("class=\"wide"));
            if ["table", "svg"].contains(&word.as_str()) {
                assert!(boxed, "{name}: <{tag}> outside a box that scrolls");
            }
            if tag.contains(" width=\"") || tag.contains(" style=\"") {
                let inside_a_picture = open.iter().any(|outer| outer.starts_with("svg"));
                assert!(boxed || inside_a_picture, "{name}: <{tag}> has a width of its own");
            }
            open.push(tag);
        }
        let is_within = |words: &[&str]| {
            open.iter().any(|outer| words.contains(&outer.split([' ', '\n']).next().unwrap()))
        };
        if !is_within(&["style", "pre", "code"]) {
            for raw in ["**", "`", "](", "$", "{{", "{%", "&lt;code", "&lt;b&gt;"] {
                assert!(!text.contains(raw), "{name}: {raw} in {text:?}");
            }
        }
        // a formula on a line of its own does not break
        if word == "math" && tag.contains("displaystyle") {
            assert!(open.iter().any(|outer| outer.contains("class=\"wide")), "{name}: {tag} {text}");
        }
    }
    assert!(!page.contains("<th>π_") && !page.contains("<th>λ^"), "{name}: indices in heads");
    assert!(open.is_empty(), "{name}: {open:?} is not closed");
}

#[test]
fn explanations_and_lessons_fit_a_narrow_screen() {
    let printed = |arguments: &[&str]| {
        let output = flitwise(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for preset in ["router16", "cube6"] {
        for model in ["published", "refined"] {
            let page = printed(&["explain", "--preset", preset, "--model", model, "--format", "html"]);
            assert_narrow(&format!("explain {preset} {model}"), &page);
        }
    }
    assert_narrow("lessons", &printed(&["learn", "--format", "html"]));
}

/// Starts a quick report, interrupts it once `ready`, and returns its exit code, what it said and its page.
fn interrupted_report(
    folder: &std::path::Path,
    store: &std::path::Path,
    (name, more): (&str, &[&str]),
    ready: &dyn Fn(&str) -> bool,
) -> (Option<i32>, String, String) {
    let out = folder.join("pages");
    let words = ["report", "--quick", "--out", out.to_str().unwrap(), "--store", store.to_str().unwrap()];
    let child = piped(command(&words).args(more));
    let since = Instant::now();
    let page = || fs::read_to_string(out.join(format!("{name}.html"))).unwrap_or_default();
    let drawn = |name: &str| out.join(name).exists();
    while !(ready(&page()) || drawn("fig04a.json") && ready("fig04a is drawn")) {
        assert!(since.elapsed() < Duration::from_secs(900), "nothing happens");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(200));
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    // nothing half-written stays behind
    for entry in fs::read_dir(&out).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.starts_with('.'), "{name}");
    }
    (output.status.code(), said, page())
}

#[test]
#[cfg(unix)]
fn a_report_interrupted_while_it_draws_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let (code, said, page) =
        interrupted_report(folder.path(), &store, ("report", &[]), &|seen| seen == "fig04a is drawn");
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("0 of 54 claims judged"), "{said}");
    assert_narrow("report", &page);
    assert!(page.contains("id=\"fig04a\"") && page.contains("Figure 14b is missing: "));
    assert!(page.contains("This report is not complete") && page.contains("No claim has been judged"));
}

/// A page of one paper has its figures and claims, and no others. Interrupted while claims are judged it says so; the
/// same command goes on from there, and from the store it writes the same to the last byte.
fn assert_page_of_one_paper(folder: &std::path::Path, store: &std::path::Path, options: &[&str]) {
    let out = folder.join("pages");
    let options = [&["--paper", "mediaworm"], options].concat();
    #[cfg(unix)]
    {
        // the signal comes while claims are judged, or after the last of them
        let while_it_judges: &dyn Fn(&str) -> bool = &|page| page.contains("id=\"claims\"");
        let (code, said, page) = interrupted_report(folder, store, ("mediaworm", &options), while_it_judges);
        assert!(code == Some(130) || code == Some(0), "{said}");
        assert_narrow("mediaworm", &page);
        if code == Some(130) {
            assert!(said.contains(" figures are drawn, "), "{said}");
            let is_said =
                page.contains(" claims have been judged") && !page.contains("No claim has been judged");
            assert!(is_said, "{said}");
        }
    }
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let report = || {
        let places = ["--out", out.to_str().unwrap(), "--store", store.to_str().unwrap()];
        let output = flitwise(&[&["report", "--quick"], places.as_slice(), &options].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        (read("mediaworm.html"), read("mediaworm.md"))
    };
    let (html, page) = report();
    assert_narrow("mediaworm", &html);
    assert!(page.contains("## MediaWorm, Table 2: ") && page.contains("flitwise verify --quick --only mw "));
    let pictures: Vec<&str> = page.lines().filter(|line| line.starts_with("![")).collect();
    assert!(pictures.len() > 10 && pictures.iter().all(|line| line.contains("](mw-")), "{pictures:?}");
    assert!(!page.contains("fig04a") && !page.contains("The refined model over random scenarios"));
    assert_eq!(report(), (html, page));
}

#[test]
#[ignore = "simulates all points of all figures, coarsely: a minute and a half"]
fn every_figure_and_claim_is_on_both_pages() {
    let folder = tempfile::tempdir().unwrap();
    // results of an earlier check may be used: FLITWISE_REPORT_STORE is the folder of their store
    let store = std::env::var_os("FLITWISE_REPORT_STORE").map(std::path::PathBuf::from);
    let store = store.unwrap_or_else(|| folder.path().join("store"));
    let options = ["--precision", "50%", "--max-messages", "10000"];
    let all = fs::read_dir("figures/published").unwrap().count();
    assert_page_of_one_paper(folder.path(), &store, &options);
    let out = folder.path().join("pages");
    let places = ["--out", out.to_str().unwrap(), "--store", store.to_str().unwrap()];
    let output = flitwise(&[&["report", "--quick"], places.as_slice(), &options].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let (html, markdown) = (read("report.html"), read("report.md"));
    assert_narrow("report", &html);
    let unnamed: Vec<&str> = html.lines().filter(|line| line.contains("point 1:")).collect();
    assert_eq!(unnamed, Vec::<&str>::new(), "notes name their loads");
    assert!(markdown.contains("messages/cycle/node: "), "notes name their loads");

    // complete in itself: no address but those of name spaces
    for (at, _) in html.match_indices("http") {
        assert!(html[at..].starts_with("http://www.w3.org/"), "{}", &html[at..at + 60]);
    }
    assert!(!html.contains("<img") && !html.contains("<script") && !html.contains("<link"));
    for page in [&html, &markdown] {
        assert!(!page.contains("NaN") && !page.contains("{{") && !page.contains("{%"));
        for claim in ["fig04a-agreement", "fig04a-order", "not held"] {
            assert!(page.contains(claim), "{claim}");
        }
        assert!(page.contains("flitwise figure 4a --precision 50% --seed 1 --max-messages 10000"));
    }
    let mut figures = 0;
    for line in markdown.lines().filter(|line| line.starts_with("![")) {
        let file = line.rsplit_once('(').unwrap().1.trim_end_matches(')');
        assert!(read(file).starts_with("<svg"), "{file}");
        for ending in ["csv", "json"] {
            assert!(!read(&file.replace("svg", ending)).is_empty(), "{file}");
        }
        figures += 1;
    }
    assert_eq!(figures, all);
    assert_eq!(html.matches("<svg").count(), figures);
}
