//! What the command prints, word for word: every file of `golden/` holds the commands and their output. They are
//! made anew by `TRYCMD=overwrite cargo test --test golden`, to be read before they are committed.

#[test]
fn the_command_prints_what_it_printed() {
    trycmd::TestCases::new()
        .case("tests/golden/*.trycmd")
        .case("src/learn/lessons/*.md")
        // the examples of the stations' manual pages
        .case("models/src/queueing/*.md");
}
