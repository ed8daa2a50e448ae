//! Text alternative of a picture, for readers who cannot see it.

use super::scale::label;
use crate::picture::{Axis, Origin, Picture};
use crate::rows;

/// What is drawn, over what, of which classes, and where the numbers come from.
pub(super) fn of(picture: &Picture) -> String {
    let mut sentences = vec![picture.subtitle.clone(), picture.content.chart().description()];
    let origins: Vec<&str> = rows::origins(picture).into_iter().map(Origin::legend).collect();
    if !origins.is_empty() {
        sentences.push(format!("Numbers from the {}", listed(&origins)));
    }
    sentences.retain(|sentence| !sentence.is_empty());
    let ended =
        |sentence: &String| if sentence.ends_with('.') { sentence.clone() } else { format!("{sentence}.") };
    sentences.iter().map(ended).collect::<Vec<String>>().join(" ")
}

/// Two axes.
pub(crate) fn over(y: &Axis, x: &Axis) -> String {
    format!("{} over {}", label(y), label(x))
}

/// `a, b and c`.
pub(crate) fn listed(words: &[&str]) -> String {
    match words {
        [] => "nothing".to_owned(),
        [alone] => (*alone).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
