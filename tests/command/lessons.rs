//! Numbers in the text of a lesson are those that its commands print.
//!
//! A number with a decimal point must round from one in the output blocks of the lesson. One that follows from printed
//! numbers stands in a comment behind its paragraph with its arithmetic, `<!-- 4.9 = 53.42 - 48.56 -->`; one that no
//! command prints with its source, `<!-- 1.96: quantile of the normal distribution -->`.

use std::fs;
use std::path::Path;

/// Decimal numbers in a text, as they are spelled.
fn decimals(text: &str) -> Vec<&str> {
    text.split(|c: char| !(c.is_ascii_digit() || ".,".contains(c)))
        .map(|word| word.trim_matches(['.', ',']))
        .filter(|word| word.split_once('.').is_some_and(|(_, digits)| digits.parse::<u64>().is_ok()))
        .collect()
}

fn value(spelled: &str) -> f64 {
    spelled.replace(',', "").parse().unwrap_or_else(|_| panic!("{spelled} is no number"))
}

/// Whether `exact`, rounded to the digits of `spelled`, is that.
fn rounds(exact: f64, spelled: &str) -> bool {
    let digits = spelled.split_once('.').map_or(0, |(_, digits)| digits.len());
    (exact - value(spelled)).abs() <= 0.500_1 * 10f64.powi(-(digits as i32))
}

/// A result of two printed or whole numbers.
fn result(sum: &str, printed: &[f64]) -> Option<f64> {
    let [left, sign, right] = sum.split_whitespace().collect::<Vec<_>>().try_into().ok()?;
    let operand = |spelled: &str| {
        let exact = value(spelled);
        (!spelled.contains('.') || printed.contains(&exact)).then_some(exact)
    };
    let (left, right) = (operand(left)?, operand(right)?);
    match sign {
        "+" => Some(left + right),
        "-" => Some(left - right),
        "*" => Some(left * right),
        "/" => Some(left / right),
        _ => None,
    }
}

/// What is wrong with the numbers of a lesson.
fn faults(lesson: &str) -> Vec<String> {
    let parts: Vec<&str> = lesson.split("```").collect();
    let printed: Vec<f64> =
        parts.iter().skip(1).step_by(2).flat_map(|block| decimals(block)).map(value).collect();
    let mut text = parts.into_iter().step_by(2).collect::<Vec<_>>().join(" ");
    let (mut known, mut faults) = (Vec::new(), Vec::new());
    while let Some((before, rest)) = text.split_once("<!--") {
        let (comment, after) = rest.split_once("-->").unwrap();
        if let Some((number, sum)) = comment.split_once('=') {
            match result(sum, &printed) {
                Some(exact) if rounds(exact, number.trim()) => {}
                found => faults.push(format!("{}: found {found:?}", comment.trim())),
            }
            known.push(number.trim().to_owned());
        } else if let Some((number, _)) = comment.split_once(": ") {
            known.push(number.trim().to_owned());
        }
        text = format!("{before}{after}");
    }
    let of_section = |number: &&str| number.starts_with("A.");
    for number in decimals(&text).into_iter().filter(|number| !of_section(number)) {
        let is_printed = printed.iter().any(|exact| rounds(*exact, number) || rounds(100.0 * exact, number));
        if !is_printed && !known.iter().any(|one| one == number) {
            faults.push(format!("{number} is printed by no command of the lesson"));
        }
    }
    faults
}

#[test]
fn numbers_of_lessons_are_printed_by_their_commands() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("page/lessons");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // settings of its page
        if path.extension().is_some_and(|extension| extension == "toml") {
            continue;
        }
        let of_lesson = faults(&fs::read_to_string(&path).unwrap());
        found.extend(of_lesson.iter().map(|fault| format!("{}: {fault}", path.display())));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_number_of_another_model_is_found() {
    let text = "Latency falls by 4.9 to 48.56.\n<!-- 4.9 = 53.42 - 48.56 -->\n";
    let lesson = format!("{text}```console\n R2 53.42\n R2 48.56\n```\n");
    assert_eq!(faults(&lesson), Vec::<String>::new());
    assert_eq!(faults(&lesson.replace("to 48.56.", "to 48.55.")).len(), 1);
    assert_eq!(faults(&lesson.replace("R2 53.42", "R2 53.50")).len(), 1);
    assert_eq!(faults(&lesson.replace("4.9 ", "4.7 ")).len(), 1);
}
