//! `flitwise learn`: short lessons, each with a surprise, a question, a command and what it prints.

mod terminal;

use flitwise_page::lessons::{LESSONS, Lesson};
use pulldown_cmark::{Event, Options, Parser, html};

use crate::args::learn::{Learn, LessonFormat};
use crate::outcome::Exit;
use crate::output;

/// Names of the lessons.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    LESSONS.iter().map(|lesson| lesson.name)
}

fn find(typed: &str) -> Result<&'static Lesson, Exit> {
    Lesson::find(typed).map_err(|near| {
        let help = near
            .map_or_else(|| "flitwise learn  lists them".to_owned(), |near| format!("did you mean {near}?"));
        Exit::input(format!("lesson {typed}: there is none of that name or number\n  help: {help}"))
    })
}

pub(crate) fn run(args: &Learn) -> Result<(), Exit> {
    let chosen: Vec<&Lesson> = match args.lesson.as_deref() {
        None if args.format == LessonFormat::Terminal => return output::write_coloured(&contents()),
        None | Some("all") => LESSONS.iter().collect(),
        Some(typed) => vec![find(typed)?],
    };
    match args.format {
        LessonFormat::Terminal => {
            let page = |lesson: &&Lesson| {
                let (question, _) = lesson.parts();
                if args.answer {
                    return terminal::rendered(lesson.text);
                }
                let more = format!("\nThink first, then: flitwise learn {} --answer\n", lesson.name);
                terminal::rendered(question) + &more
            };
            output::write_coloured(&chosen.iter().map(page).collect::<Vec<_>>().join("\n"))
        }
        LessonFormat::Markdown => {
            let texts: Vec<&str> = chosen.iter().map(|lesson| lesson.text).collect();
            output::write(texts.join("\n").as_bytes())
        }
        LessonFormat::Html => output::write(page(&chosen).as_bytes()),
    }
}

/// The list of all lessons.
fn contents() -> String {
    let bold = anstyle::Style::new().bold();
    let mut text = String::new();
    for (index, lesson) in LESSONS.iter().enumerate() {
        let (number, name, title) = (index + 1, lesson.name, lesson.title());
        text.push_str(&format!("{number}  {bold}{name:14}{bold:#} {title}\n"));
        text.push_str(&terminal::wrapped(&lesson.surprise(), 18));
    }
    text + "\nflitwise learn NAME or NUMBER shows one; --answer its answer, too.\n"
}

/// All lessons as a page of HTML.
pub(crate) fn whole_page() -> String {
    page(&LESSONS.iter().collect::<Vec<_>>())
}

/// Lessons as a page of HTML that needs nothing else; answers stay closed until they are asked for.
fn page(lessons: &[&Lesson]) -> String {
    let mut body = String::new();
    for lesson in lessons {
        let (question, answer) = lesson.parts();
        body.push_str(&format!("<article id=\"{}\">\n", lesson.name));
        html::push_html(&mut body, parser(question));
        body.push_str("<details><summary>Answer</summary>\n");
        html::push_html(&mut body, parser(answer));
        body.push_str("</details>\n</article>\n");
    }
    let link = |lesson: &&Lesson| format!("<a href=\"#{}\">{}</a>", lesson.name, lesson.title());
    let nav = lessons.iter().map(link).collect::<Vec<_>>().join("\n");
    // text is escaped, so that only tags match
    let body = body.replace("<table>", "<div class=\"wide\"><table>").replace("</table>", "</table></div>");
    let blanks = [("{{ style }}", output::PAGE_STYLE), ("{{ nav }}", &nav), ("{{ body }}", &body)];
    let page = include_str!("learn/page.html").to_owned();
    blanks.into_iter().fold(page, |page, (blank, text)| page.replace(blank, text))
}

/// The pieces of a lesson without its comments, which are for the tests of its numbers.
fn parser(text: &str) -> impl Iterator<Item = Event<'_>> {
    let is_comment = |event: &Event<'_>| matches!(event, Event::Html(_) | Event::InlineHtml(_));
    Parser::new_ext(text, Options::ENABLE_TABLES).filter(move |event| !is_comment(event))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lesson_has_what_a_lesson_needs() {
        for lesson in LESSONS {
            let (question, answer) = lesson.parts();
            assert!(lesson.text.starts_with("# "), "{}: a title", lesson.name);
            assert!(!lesson.surprise().is_empty(), "{}: a surprise", lesson.name);
            assert!(question.contains("## Try it\n"), "{}: something to try", lesson.name);
            assert!(question.contains("\n$ flitwise "), "{}: a command", lesson.name);
            assert!(question.contains("## Question\n"), "{}: a question", lesson.name);
            assert!(answer.contains("\n$ flitwise "), "{}: the answer's command", lesson.name);
            let prose = lesson.text.lines().filter(|line| !line.starts_with("$ "));
            let longest = prose.map(|line| line.chars().count()).max();
            assert!(longest <= Some(136), "{}: a line of {longest:?} characters", lesson.name);
        }
    }

    #[test]
    fn lessons_are_found_by_name_and_number() {
        for (index, lesson) in LESSONS.iter().enumerate() {
            assert_eq!(Lesson::find(lesson.name).map(|found| found.name).ok(), Some(lesson.name));
            let number = (index + 1).to_string();
            assert_eq!(Lesson::find(&number).map(|found| found.name).ok(), Some(lesson.name));
        }
        for typed in ["0", "17", "", "litle", "-1"] {
            assert!(Lesson::find(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn the_page_has_all_lessons_and_hides_their_answers() {
        let page = whole_page();
        assert_eq!(page.matches("<article").count(), LESSONS.len());
        assert_eq!(page.matches("<details>").count(), LESSONS.len());
        assert!(!page.contains("{{"));
    }
}
