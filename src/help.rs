//! Help texts and manual pages of the command line.
//!
//! The text below the options has paragraphs, lists and examples. Paragraphs are wrapped at the width of the terminal,
//! and lists keep their columns. Example commands are never wrapped, so that they can be copied.

use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches};

use crate::args::Cli;

/// The widest help \[columns\].
const WIDEST: usize = 100;
/// The narrowest help that text is filled to \[columns\].
const NARROWEST: usize = 40;
/// Stands for a space at which the library that prints help must not break a line.
pub(crate) const FIRM: char = '\u{a0}';

/// All that can be typed.
pub(crate) fn command() -> Command {
    let width = width();
    with_texts(Cli::command(), &|text| firm(&filled(text, width)))
}

/// What was typed; help, versions and faults are printed and end the process.
pub(crate) fn parse() -> Cli {
    let error = match command().try_get_matches() {
        Ok(matches) => match Cli::from_arg_matches(&matches) {
            Ok(cli) => return cli,
            Err(error) => error.format(&mut command()),
        },
        Err(error) => error,
    };
    let text = error.render().ansi().to_string().replace(FIRM, " ");
    // who does not read it loses it; the exit code stays
    let _ = if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        crate::output::write_coloured(&text)
    } else {
        use std::io::Write;
        write!(anstream::stderr(), "{text}").map_err(Into::into)
    };
    std::process::exit(error.exit_code());
}

/// The command with its closing texts as `of` makes them, and those of all below it.
fn with_texts(command: Command, of: &dyn Fn(&str) -> String) -> Command {
    let text = command.get_after_help().map(|text| of(&text.to_string()));
    let command = match text {
        Some(text) => command.after_help(text),
        None => command,
    };
    command.mut_subcommands(|inner| with_texts(inner, of))
}

/// Columns of the terminal, as the library that prints help counts them.
pub(crate) fn width() -> usize {
    let of_terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let given = || std::env::var("COLUMNS").ok()?.parse().ok();
    of_terminal.or_else(given).unwrap_or(WIDEST).clamp(NARROWEST, WIDEST)
}

/// The text with its paragraphs and lists filled.
fn filled(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in paragraphs(text) {
        let indent = line.len() - line.trim_start().len();
        let fits = line.chars().count() <= width;
        match line.trim_start().find("  ").map(|at| line.split_at(indent + at)) {
            _ if fits => lines.push(line),
            Some((head, tail)) if is_example(head) => {
                lines.push(head.to_owned());
                fill(&mut lines, " ".repeat(indent + 4), indent + 4, tail.trim(), width);
            }
            None if is_example(&line) => lines.push(line),
            Some((_, tail)) => {
                let column = line.len() - tail.trim_start().len();
                fill(&mut lines, line[..column].to_owned(), column.min(width / 2), tail.trim(), width);
            }
            None => fill(&mut lines, " ".repeat(indent), indent, line.trim(), width),
        }
    }
    lines.join("\n")
}

/// Lines with those of a paragraph put together: one ends with a full stop or a colon, and indented lines stand alone.
fn paragraphs(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let goes_on = |last: &&mut String| {
            !last.is_empty() && !last.starts_with(' ') && !last.ends_with(['.', ':']) && !line.is_empty()
        };
        match lines.last_mut().filter(goes_on) {
            Some(last) if !line.starts_with(' ') => {
                last.push(' ');
                last.push_str(line);
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

/// Appends words to `line`, and further lines indented by `hang`.
fn fill(lines: &mut Vec<String>, mut line: String, hang: usize, words: &str, width: usize) {
    let mut is_begun = false;
    for word in words.split(' ') {
        if is_begun && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(hang)));
            is_begun = false;
        }
        if is_begun {
            line.push(' ');
        }
        line.push_str(word);
        is_begun = true;
    }
    lines.push(line);
}

/// Whether a line is a command to be copied, or goes on with its options.
fn is_example(line: &str) -> bool {
    let words = line.trim_start();
    line.starts_with(' ') && (words.starts_with("flitwise ") || words.starts_with("--"))
}

/// The same with spaces at which nothing breaks, after those at the beginning of a line.
fn firm(text: &str) -> String {
    let line = |line: &str| {
        let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
        format!("{indent}{}", rest.replace(' ', FIRM.encode_utf8(&mut [0; 4])))
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Manual pages: the name of each file and its text.
pub(crate) fn manual() -> std::io::Result<Vec<(String, Vec<u8>)>> {
    // the same wherever it is made
    let mut command = Cli::command().version(env!("CARGO_PKG_VERSION")).disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    add_pages(&command, &mut pages)?;
    Ok(pages)
}

fn add_pages(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    let notes = command.get_after_help().map(ToString::to_string);
    let page = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if command.get_subcommands().next().is_some() {
        page.render_subcommands_section(&mut text)?;
    }
    if let Some(notes) = notes {
        text.extend(b".SH NOTES\n.nf\n");
        for line in filled(&notes, 78).lines() {
            text.extend(roff(line).bytes());
        }
        text.extend(b".fi\n");
    }
    pages.push((page.get_filename(), text));
    let mut inner = command.get_subcommands().filter(|inner| inner.get_name() != "help");
    inner.try_for_each(|inner| add_pages(inner, pages))
}

/// A line of text for troff, which takes dots and quotes at its beginning for its own commands.
fn roff(line: &str) -> String {
    let plain = line.replace('\\', "\\e").replace('-', "\\-");
    let guard = if plain.starts_with(['.', '\'']) { "\\&" } else { "" };
    format!("{guard}{plain}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(command: &Command, see: &mut dyn FnMut(&Command)) {
        see(command);
        command.get_subcommands().for_each(|inner| all(inner, see));
    }

    /// Lines of all texts that are commands, as they are written.
    fn examples() -> Vec<String> {
        let mut found = Vec::new();
        all(&Cli::command(), &mut |command| {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let of_line = |line: &str| match line.trim_start().split_once("  ") {
                Some((head, _)) => head.trim().to_owned(),
                None => line.trim().to_owned(),
            };
            found.extend(text.lines().filter(|line| is_example(line)).map(of_line));
        });
        found
    }

    #[test]
    fn no_example_is_broken_and_no_other_line_is_too_wide_at_any_width() {
        assert!(examples().len() > 50);
        for width in [60, 80, 100] {
            let mut shown = String::new();
            let of_width = |text: &str| firm(&filled(text, width));
            all(&with_texts(Cli::command().term_width(width), &of_width), &mut |command| {
                let text = command.clone().term_width(width).render_long_help().to_string();
                shown.push_str(&text.replace(FIRM, " "));
            });
            let lines: Vec<&str> = shown.lines().collect();
            for example in examples() {
                let is_it = |line: &&str| line.trim_start().strip_prefix(example.as_str()).is_some();
                assert!(lines.iter().any(is_it), "{width} columns: {example}");
            }
            // the library keeps a usage in one line
            let is_kept = |line: &&&str| is_example(line) || line.starts_with("Usage: ");
            for line in lines.iter().filter(|line| !is_kept(line)) {
                assert!(line.chars().count() <= width, "{width} columns: {line}");
            }
        }
    }

    #[test]
    fn paragraphs_are_filled_and_lists_keep_their_columns() {
        let text = "One two three\nfour. Five\nsix.\nSeven:\n  a   eight nine ten\n  \
                    flitwise x --long option  why it is so";
        let wanted = "One two three\nfour. Five six.\nSeven:\n  a   eight nine\n      ten\n  \
                      flitwise x --long option\n      why it is\n      so";
        assert_eq!(filled(text, 16), wanted);
    }

    #[test]
    fn a_manual_page_has_every_command_and_its_examples_word_for_word() {
        let pages = manual().unwrap();
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        for name in ["flitwise.1", "flitwise-solve.1", "flitwise-plan-region.1", "flitwise-store-check.1"] {
            assert!(names.contains(&name), "{names:?}");
        }
        let text: String = pages.iter().map(|(_, page)| String::from_utf8_lossy(page)).collect();
        for example in examples() {
            assert!(text.contains(&example.replace('\\', "\\e").replace('-', "\\-")), "{example}");
        }
        assert!(!text.contains(FIRM));
    }
}
