//! Markdown rendered for a terminal.

use anstyle::{AnsiColor, Style};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// Where lines of text are broken \[columns\].
const WIDTH: usize = 92;

/// A text in Markdown, styled for a terminal; commands and what they print are left as they are.
pub(super) fn rendered(markdown: &str) -> String {
    let mut page = String::new();
    let mut text = String::new();
    let (mut is_code, mut indent) = (false, 0);
    for event in Parser::new_ext(markdown, super::Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. } | Tag::Strong) => text.push_str(&bold().to_string()),
            Event::End(TagEnd::Strong) => text.push_str(&format!("{:#}", bold())),
            Event::Start(Tag::Emphasis) => text.push_str(&Style::new().italic().to_string()),
            Event::End(TagEnd::Emphasis) => text.push_str(&format!("{:#}", Style::new().italic())),
            Event::Code(code) => text.push_str(&format!("{}{code}{:#}", cyan(), cyan())),
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::Text(code) if is_code => {
                for line in code.lines() {
                    let shown = match line.strip_prefix("$ ") {
                        Some(command) => format!("$ {}{command}{:#}", bold(), bold()),
                        None => line.to_owned(),
                    };
                    page.push_str(format!("    {shown}").trim_end());
                    page.push('\n');
                }
            }
            Event::End(TagEnd::CodeBlock) => {
                is_code = false;
                page.push('\n');
            }
            Event::Text(plain) => text.push_str(&plain),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            Event::Start(Tag::Item) => text.push_str("- "),
            Event::Start(Tag::BlockQuote(_)) => indent = 2,
            Event::End(TagEnd::BlockQuote(_)) => indent = 0,
            Event::End(TagEnd::Heading(_)) => {
                text.push_str(&format!("{:#}", bold()));
                page.push_str(&wrapped(&std::mem::take(&mut text), 0));
                page.push('\n');
            }
            Event::End(TagEnd::Paragraph) => {
                page.push_str(&wrapped(&std::mem::take(&mut text), indent));
                page.push('\n');
            }
            Event::End(TagEnd::Item) if !text.is_empty() => {
                page.push_str(&wrapped(&std::mem::take(&mut text), indent));
            }
            Event::End(TagEnd::List(_)) => page.push('\n'),
            _ => {}
        }
    }
    page
}

fn bold() -> Style {
    Style::new().bold()
}

fn cyan() -> Style {
    AnsiColor::Cyan.on_default()
}

/// Lines of at most [`WIDTH`] columns, each behind `indent` blanks.
pub(super) fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let width = visible(word);
        if column == 0 {
            lines.push_str(&" ".repeat(indent));
            column = indent;
        } else if column + 1 + width > WIDTH {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            column = indent;
        } else {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += width;
    }
    lines + "\n"
}

/// Columns that a word takes: all but its styles.
fn visible(word: &str) -> usize {
    anstream::adapter::strip_str(word).to_string().chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(markdown: &str) -> String {
        anstream::adapter::strip_str(&rendered(markdown)).to_string()
    }

    #[test]
    fn text_is_wrapped_and_commands_are_not() {
        let long = "word ".repeat(40);
        let text = format!("# Title\n\n> A *surprise*.\n\n{long}\n\n```console\n$ {long}\n{long}\n```\n");
        let shown = plain(&text);
        assert!(shown.starts_with("Title\n\n  A surprise.\n\nword"), "{shown}");
        let of_commands = |line: &&str| line.starts_with("    ");
        assert_eq!(shown.lines().filter(of_commands).count(), 2);
        assert!(shown.lines().filter(|line| !of_commands(line)).all(|line| line.len() <= WIDTH));
    }

    #[test]
    fn nothing_of_a_lesson_is_lost() {
        for lesson in super::super::LESSONS {
            let shown = plain(lesson.text);
            // comments say where numbers come from
            let is_text = |line: &&str| !line.starts_with("<!--");
            let words = lesson.text.lines().filter(is_text).flat_map(str::split_whitespace);
            for word in words.filter(|word| word.chars().all(char::is_alphanumeric)) {
                assert!(shown.contains(word), "{}: {word}", lesson.name);
            }
        }
    }
}
