//! Lessons as pages: their texts as HTML, with places for what the engine answers.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd, html};
use serde_json::json;

use super::numbers::{Formula, Reference, found_in};
use super::screens::{Screens, set, with_settings};
use super::{Command, LESSONS, Lesson, QUESTION};

const PAGE: &str = include_str!("../../static/lesson.html");
const CONTENTS: &str = include_str!("../../static/lessons.html");

/// The list of all lessons, as a page.
pub fn contents() -> String {
    let item = |lesson: &Lesson| {
        let (name, title) = (lesson.name, escaped(lesson.title()));
        format!("<li><a href=\"{name}.html\">{title}</a><p>{}</p></li>\n", escaped(&lesson.surprise()))
    };
    CONTENTS.replace("{{ lessons }}", &LESSONS.iter().map(item).collect::<String>())
}

/// A lesson as a page. Its numbers and pictures are asked of the engine when it is opened.
///
/// # Errors
/// What is wrong with its commands or its screens.
pub fn page(lesson: &Lesson) -> Result<String, String> {
    let at = |fault: String| format!("{}: {fault}", lesson.name);
    let screens = Screens::read(lesson.screens).map_err(at)?;
    let mut text = Writer { formulas: found_in(lesson.text), commands: Vec::new() };
    let (before, answer) = lesson.parts();
    let (try_it, question) = before.split_once(QUESTION).unwrap_or((before, ""));
    let parts = [try_it, question, answer].map(|part| text.html(part));
    let further = screens.commands.iter().map(|line| (line.clone(), String::new()));
    let lines: Vec<(String, String)> = text.commands.iter().cloned().chain(further).collect();
    let commands: Result<Vec<Command>, String> =
        lines.iter().map(|(line, printed)| Command::read(line, printed)).collect();
    let commands = commands.map_err(at)?;
    let formulas: Vec<Formula> = text.formulas.iter().map(|(_, formula)| formula.clone()).collect();
    let wanted = screens
        .prediction
        .formula()
        .ok_or_else(|| at(format!("{}: no formula", screens.prediction.value)))?;
    let shown = screens.screen.iter().map(|screen| {
        let base = match (&screen.preset, commands.first().and_then(|first| first.asks.first())) {
            (None, Some(ask)) => Ok(ask["text"].as_str().unwrap_or_default().to_owned()),
            (preset, _) => with_settings(preset.as_deref().unwrap_or("router16"), &[]),
        };
        let settings: Vec<&str> = screen.set.iter().map(String::as_str).collect();
        let base = base.and_then(|text| set(text, &settings)).map_err(at)?;
        let about = text.html(&screen.about);
        let figure =
            screen.figure.as_ref().map(|figure| format!("title = {:?}\n{FIGURE_BASE}{figure}", screen.title));
        let mut shown = serde_json::to_value(screen).map_err(|error| at(error.to_string()))?;
        shown["text"] = json!(base);
        shown["about"] = json!(about);
        shown["figure"] = json!(figure);
        for (at_saying, saying) in screen.says.iter().enumerate() {
            let of = Reference::read(&format!("{}, command 1", saying.of));
            shown["says"][at_saying]["of"] =
                json!(of.ok_or_else(|| at(format!("{}: no number", saying.of)))?);
        }
        Ok(shown)
    });
    let shown: Result<Vec<serde_json::Value>, String> = shown.collect();
    let mut prediction = serde_json::to_value(&screens.prediction).map_err(|error| at(error.to_string()))?;
    prediction["value"] = json!(wanted);
    let data = json!({
        "name": lesson.name,
        "commands": commands,
        "shown": text.commands.len(),
        "formulas": formulas,
        "prediction": prediction,
        "screens": shown?,
    });
    let place = LESSONS.iter().position(|one| one.name == lesson.name).unwrap_or(0);
    let blanks = [
        ("{{ title }}", escaped(lesson.title())),
        ("{{ number }}", (place + 1).to_string()),
        ("{{ of }}", LESSONS.len().to_string()),
        ("{{ try }}", parts[0].clone()),
        ("{{ question }}", parts[1].clone()),
        ("{{ answer }}", parts[2].clone()),
        ("{{ before }}", link(place.checked_sub(1), "Previous")),
        ("{{ next }}", link(Some(place + 1), "Next")),
        // a script ends at the first of these, whatever it holds
        ("{{ data }}", data.to_string().replace('<', "\\u003c")),
    ];
    Ok(blanks.into_iter().fold(PAGE.to_owned(), |page, (blank, text)| page.replace(blank, &text)))
}

/// What stands before the keys of a screen's figure: an entry that needs no table of its own.
const FIGURE_BASE: &str = "scenario.file = \"scenario.toml\"\n";

fn link(place: Option<usize>, word: &str) -> String {
    let lesson = place.and_then(|place| LESSONS.get(place));
    lesson.map_or_else(String::new, |lesson| {
        format!("<a href=\"{}.html\">{word}: {}</a>", lesson.name, escaped(lesson.title()))
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Writes the parts of a lesson.
struct Writer {
    /// How numbers are spelled that are found in answers.
    formulas: Vec<(String, Formula)>,
    /// Commands so far, and what they print.
    commands: Vec<(String, String)>,
}

impl Writer {
    /// Markdown as HTML: commands become places for their answers, and so do numbers that are found in those.
    fn html(&mut self, markdown: &str) -> String {
        let mut events = Vec::new();
        let mut block: Option<String> = None;
        for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
            match event {
                Event::Html(_) | Event::InlineHtml(_) => {} // comments
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(kind))) if kind.starts_with("console") => {
                    block = Some(String::new());
                }
                Event::Text(text) if block.is_some() => {
                    block.iter_mut().for_each(|block| block.push_str(&text))
                }
                Event::End(TagEnd::CodeBlock) if block.is_some() => {
                    let block = block.take().unwrap_or_default();
                    events.push(Event::Html(self.commands(&block).into()));
                }
                Event::Text(text) => events.push(Event::InlineHtml(self.numbered(&text).into())),
                Event::Code(code) => {
                    let code = format!("<code>{}</code>", self.numbered(&code));
                    events.push(Event::InlineHtml(CowStr::from(code)));
                }
                other => events.push(other),
            }
        }
        let mut written = String::new();
        html::push_html(&mut written, events.into_iter());
        // text is escaped, so that only tags match
        written
            .replace("<table>", "<div class=\"wide\" tabindex=\"0\"><table>")
            .replace("</table>", "</table></div>")
    }

    /// A block of commands: places for their answers.
    fn commands(&mut self, block: &str) -> String {
        let mut written = String::new();
        for line in block.lines() {
            let Some(line) = line.strip_prefix("$ ") else {
                self.commands.iter_mut().next_back().into_iter().for_each(|(_, printed)| {
                    printed.push_str(line);
                    printed.push('\n');
                });
                continue;
            };
            let place = self.commands.len();
            self.commands.push((line.to_owned(), String::new()));
            let line = escaped(line);
            written.push_str(&format!(
                "<figure class=\"command\"><pre tabindex=\"0\">{line}</pre>\
                 <div data-command=\"{place}\"></div></figure>\n"
            ));
        }
        written
    }

    /// A text with places for numbers that are found in answers.
    fn numbered(&self, text: &str) -> String {
        let mut written = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(|letter: char| letter.is_ascii_digit()) {
            let (before, from) = rest.split_at(at);
            let end = from.find(|letter: char| !letter.is_ascii_digit() && !".,".contains(letter));
            let token = from[..end.unwrap_or(from.len())].trim_end_matches(['.', ',']);
            written.push_str(&escaped(before));
            // behind a letter it is a part of a name
            let is_number = !before.ends_with(|letter: char| letter.is_alphanumeric());
            let found = self.formulas.iter().position(|(spelled, _)| spelled == token).filter(|_| is_number);
            match found {
                Some(place) => {
                    let digits = token.split_once('.').map_or(0, |(_, digits)| digits.len());
                    written.push_str(&format!(
                        "<data data-formula=\"{place}\" data-digits=\"{digits}\">…</data>"
                    ));
                }
                None => written.push_str(token),
            }
            rest = &from[token.len()..];
        }
        written + &escaped(rest)
    }
}
