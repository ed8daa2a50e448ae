//! What the command prints, word for word: every file of `golden/` holds the commands and their output. They are
//! made anew by `TRYCMD=overwrite cargo test --test command golden`, to be read before they are committed. What README,
//! guides and lessons show is held to the command by `guides.rs`.

#[test]
fn the_command_prints_what_it_printed() {
    trycmd::TestCases::new()
        .case("tests/golden/*.trycmd")
        // the examples of the stations' manual pages
        .case("models/src/queueing/*.md");
}
