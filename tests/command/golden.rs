//! What the command prints, word for word: every file `golden/NAME.trycmd` holds commands and their output, most
//! of them by the published model, whose digits are the paper's. `TRYCMD=overwrite cargo test --test command golden`
//! makes them anew, to be read before they are committed. `masked.rs` has what the refined model and the simulation
//! print; `guides.rs` holds README, guides and lessons to the command.

#[test]
fn the_command_prints_what_it_printed() {
    trycmd::TestCases::new()
        .case("tests/golden/*.trycmd")
        // the examples of the stations' manual pages
        .case("models/src/queueing/*.md");
}
