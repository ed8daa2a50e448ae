//! `flitwise report`: everything is on the pages, and the pages need nothing else.

#![allow(clippy::unwrap_used)]

mod command;

use std::fs;

use command::flitwise;

#[test]
#[ignore = "simulates all points of all figures, coarsely: half a minute in release"]
fn every_figure_and_claim_is_on_both_pages() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("pages");
    let store = folder.path().join("store");
    let report = || {
        flitwise(&[
            "report",
            "--quick",
            "--out",
            out.to_str().unwrap(),
            "--store",
            store.to_str().unwrap(),
            "--precision",
            "50%",
            "--max-messages",
            "10000",
        ])
    };
    let output = report();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let (html, markdown) = (read("report.html"), read("report.md"));

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
    assert_eq!(figures, 23);
    assert_eq!(html.matches("<svg").count(), figures);

    // again from the store: the same to the last byte
    assert_eq!(report().status.code(), Some(0));
    assert_eq!((read("report.html"), read("report.md")), (html, markdown));
}
