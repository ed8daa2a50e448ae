//! scratch
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let doc = flitwise_models::document::Document::parse("x", &std::fs::read_to_string(path).unwrap()).unwrap();
    let s = doc.scenario().unwrap();
    for (name, lw, text, _) in flitwise_models::refined::prototype(&s, 2048) { println!("   {name} {lw:?}  {text}"); }
}
