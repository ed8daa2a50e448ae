//! `flitwise serve` from outside: requests are written to a socket as they are, sound ones and others.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{command, flitwise, json as by_command, piped, signal};

/// How long to wait for an answer on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// What the end may take after a signal.
const SOON: Duration = Duration::from_secs(2);

/// A server at a free port; it ends with its value.
struct Server {
    child: Child,
    /// `127.0.0.1:PORT`.
    host: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer of HTTP.
#[derive(Debug)]
struct Reply {
    status: u16,
    head: String,
    body: String,
}

impl Reply {
    /// The value of a field.
    fn field(&self, name: &str) -> Option<&str> {
        let fields = self.head.lines().filter_map(|line| line.split_once(": "));
        fields.into_iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    fn json(&self) -> Value {
        assert_eq!((self.status, self.field("content-type")), (200, Some("application/json")), "{self:?}");
        serde_json::from_str(&self.body).unwrap()
    }
}

impl Server {
    fn start(options: &[&str]) -> Self {
        let mut child = piped(&mut command(&[&["serve", "--port", "0"], options].concat()));
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let host = line.trim_end().strip_prefix("http://").and_then(|host| host.strip_suffix('/'));
        Self { host: host.unwrap_or_else(|| panic!("{line}")).to_owned(), child }
    }

    fn connection(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// The answer to what is written, whatever it is.
    fn reply(&self, request: &str) -> Reply {
        let mut stream = self.connection();
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{request}: {text}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Reply { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// A request without a body; `fields` are lines.
    fn request(&self, line: &str, fields: &str) -> Reply {
        self.reply(&format!("{line} HTTP/1.1\r\nConnection: close\r\n{fields}\r\n"))
    }

    fn get(&self, path: &str) -> Reply {
        self.request(&format!("GET {path}"), &format!("Host: {}\r\n", self.host))
    }

    /// What the engine of a session says; none: of a new one.
    fn ask(&self, session: Option<&str>, request: &Value) -> Reply {
        let body = request.to_string();
        let session = session.map_or_else(String::new, |name| format!("Flitwise-Session: {name}\r\n"));
        let host = &self.host;
        self.reply(&format!(
            "POST /engine HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: close\r\n\
             Content-Type: application/json\r\n{session}Content-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    /// Begins a simulation that takes long, and says in which session.
    fn simulating(&self) -> String {
        let begun = self.ask(None, &start());
        assert_eq!(begun.json()["ended"], false);
        begun.field("flitwise-session").unwrap().to_owned()
    }

    /// The exit code, once it has ended after a signal, and what it had said.
    fn ended(mut self, how: &str) -> (Option<i32>, String) {
        signal(&self.child, how);
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(since.elapsed() < SOON, "it goes on");
            std::thread::sleep(Duration::from_millis(5));
        };
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (status.code(), said)
    }
}

fn preset() -> String {
    String::from_utf8(flitwise(&["presets", "show", "router16"]).stdout).unwrap()
}

fn start() -> Value {
    json!({ "ask": "simulate_start", "text": preset(), "run": { "precision": 0.0001 } })
}

#[test]
fn the_files_of_the_page_are_served_and_no_others() {
    let server = Server::start(&[]);
    for (path, media_type) in [("/", "text/html"), ("/page.js", "text/javascript"), ("/page.css", "text/css")]
    {
        let found = server.get(path);
        assert_eq!(found.status, 200, "{path}");
        assert!(found.field("content-type").unwrap().starts_with(media_type), "{path}");
        assert_eq!(found.field("x-content-type-options"), Some("nosniff"));
        assert_eq!(found.field("cache-control"), Some("no-cache"));
        assert!(found.field("content-security-policy").unwrap().starts_with("default-src 'none';"));
        assert!(found.body.len() > 1_000, "{path}");
    }
    assert!(server.get("/engine.js").body.contains("flitwise serve"));
    let paths = "/../Cargo.toml /%2e%2e/Cargo.toml /..%2fCargo.toml //etc/passwd /./page.js //page.js /page.js/ \
                 /Cargo.toml /worker.js /engine.wasm /engine/ /PAGE.JS";
    for path in paths.split(' ') {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    let host = format!("Host: {}\r\n", server.host);
    for (line, allowed) in [
        ("POST /", "GET, HEAD"),
        ("DELETE /page.js", "GET, HEAD"),
        ("GET /engine", "POST"),
        ("PUT /engine", "POST"),
    ] {
        let refused = server.request(line, &host);
        assert_eq!((refused.status, refused.field("allow")), (405, Some(allowed)), "{line}");
    }
}

#[test]
fn other_sites_are_refused() {
    let server = Server::start(&[]);
    let own = &server.host;
    let port = own.split(':').nth(1).unwrap();
    assert_eq!(server.request("GET /", &format!("Host: localhost:{port}\r\n")).status, 200);
    assert_eq!(server.request("GET /", &format!("Host: {own}\r\nOrigin: http://{own}\r\n")).status, 200);
    for fields in [
        String::new(),
        format!("Host: evil.example:{port}\r\n"),
        "Host: 127.0.0.1\r\n".to_owned(),
        format!("Host: {own}\r\nHost: evil.example\r\n"),
        format!("Host: {own}\r\nOrigin: http://evil.example\r\n"),
        format!("Host: {own}\r\nOrigin: null\r\n"),
        format!("Host: {own}\r\nOrigin: http://localhost:{port}\r\n"),
    ] {
        let refused = server.request("GET /", &fields);
        assert_eq!(refused.status, 403, "{fields}: {refused:?}");
        assert!(refused.body.contains(": found "), "{fields}: {}", refused.body);
    }
    let elsewhere = server.request(&format!("GET http://evil.example:{port}/"), &format!("Host: {own}\r\n"));
    assert_eq!(elsewhere.status, 403);
}

#[test]
fn the_engine_answers_as_the_command_does() {
    let server = Server::start(&[]);
    let contents = server.ask(None, &json!({ "ask": "contents" })).json();
    assert!(contents["presets"].as_array().unwrap().iter().any(|preset| preset["name"] == "router16"));
    let solved = server.ask(None, &json!({ "ask": "solve", "text": preset(), "expected_errors": false }));
    let class = |document: &Value| document["classes"][0]["network_latency_cycles"].as_f64().unwrap();
    let wanted = by_command(&["solve", "--format", "json"]);
    assert_eq!(class(&solved.json()["document"]), class(&wanted));
    let fault = server.ask(None, &json!({ "ask": "nothing" })).json();
    assert!(fault["fault"].as_str().unwrap().starts_with("found no request"), "{fault}");
}

#[test]
fn unsound_requests_are_refused_and_stop_nothing() {
    let server = Server::start(&[]);
    let host = format!("Host: {}\r\n", server.host);
    let post = |fields: &str| server.request("POST /engine", &format!("{host}{fields}"));
    const JSON: &str = "Content-Type: application/json\r\n";
    assert_eq!(post(&format!("{JSON}Content-Length: 2097153\r\n")).status, 413);
    assert_eq!(post("Content-Type: text/plain\r\nContent-Length: 0\r\n").status, 415);
    assert_eq!(post("Content-Length: 0\r\n").status, 415);
    assert_eq!(post(&format!("{JSON}Flitwise-Session: 0123\r\nContent-Length: 0\r\n")).status, 410);
    // a body whose length is not told before
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20)).repeat(2);
    let chunked = format!("{host}{JSON}Connection: close\r\nTransfer-Encoding: chunked\r\n");
    let longest = server.reply(&format!("POST /engine HTTP/1.1\r\n{chunked}\r\n{chunk}0\r\n\r\n"));
    assert!(longest.json()["fault"].as_str().unwrap().starts_with("found no request"));
    let too_long = server.reply(&format!("POST /engine HTTP/1.1\r\n{chunked}\r\n{chunk}1\r\n \r\n"));
    assert_eq!(too_long.status, 413);

    for garbage in [&b"\0\xff\x16\x03\x01"[..], b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HT", b""] {
        let mut stream = server.connection();
        stream.write_all(garbage).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        // whatever it says
        let _ = stream.read_to_end(&mut Vec::new());
    }
    let mut bytes = server.connection();
    let head = format!("POST /engine HTTP/1.1\r\n{host}{JSON}Connection: close\r\nContent-Length: 2\r\n\r\n");
    bytes.write_all(&[head.as_bytes(), b"\xff\xfe"].concat()).unwrap();
    let mut answer = String::new();
    bytes.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert_eq!(server.get("/").status, 200);
}

#[test]
fn sessions_are_independent_and_simulations_are_limited() {
    let server = Server::start(&["--simulations", "2"]);
    let [first, second] = [server.simulating(), server.simulating()];
    assert_ne!(first, second);
    let step = json!({ "ask": "simulate_step", "milliseconds": 20 });
    let refused = server.ask(None, &start());
    assert_eq!(refused.status, 503);
    assert!(
        refused
            .body
            .starts_with("found 2 simulations under way, which is all that may be at a time\n  help: ")
    );
    // which takes nothing from those that are there, nor from other questions
    assert_eq!(server.ask(Some(&first), &step).json()["ended"], false);
    assert_eq!(server.ask(Some(&second), &json!({ "ask": "simulate_stop" })).json()["ended"], true);
    assert_eq!(server.ask(Some(&first), &step).json()["ended"], false);
    let over = server.ask(Some(&second), &step).json();
    assert_eq!(over["fault"], "found no simulation under way, wanted simulate_start before");
    server.simulating();
}

#[test]
fn a_signal_ends_it_in_order_whatever_it_is_doing() {
    for how in ["-INT", "-TERM"] {
        let (code, said) = Server::start(&[]).ended(how);
        assert_eq!((code, said.as_str()), (Some(0), "note: Ctrl-C ends it\n"));

        let server = Server::start(&[]);
        let session = server.simulating();
        let mut stream = server.connection();
        let body = json!({ "ask": "simulate_step", "milliseconds": 60000 }).to_string();
        let (host, length) = (&server.host, body.len());
        let head = format!("Host: {host}\r\nContent-Type: application/json\r\nFlitwise-Session: {session}");
        write!(stream, "POST /engine HTTP/1.1\r\n{head}\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let (code, said) = server.ended(how);
        assert_eq!((code, said.as_str()), (Some(0), "note: Ctrl-C ends it\n"));
    }
}

#[test]
fn what_cannot_be_served_is_said_at_once() {
    let said = |arguments: &[&str]| {
        let output = flitwise(&[&["serve"], arguments].concat());
        assert!(output.stdout.is_empty());
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, faults) =
        said(&["--port", "65536", "--listen", "here", "--simulations", "0", "--host-name", "a@b"]);
    assert_eq!(code, Some(2));
    assert_eq!(
        faults,
        "error: 4 faults\n--port 65536: found 65536, wanted a port from 0 to 65535\n--listen here: found \"here\", \
         wanted an address of this computer, such as 127.0.0.1, ::1 or 0.0.0.0\n--host-name a@b: found \"a@b\", \
         wanted a name with or without a port, such as lab.example or lab.example:80\n--simulations 0: found 0, \
         wanted 1 to 1024 simulations\n"
    );
    let server = Server::start(&[]);
    let port = server.host.split(':').nth(1).unwrap();
    let (code, fault) = said(&["--port", port]);
    assert_eq!(code, Some(2));
    let wanted = format!("error: --port {port}: found a port that another program has, wanted a free one\n");
    assert_eq!(fault, wanted + "  help: --port 0 takes any that is free\n");
}

#[test]
fn an_address_that_others_reach_is_announced() {
    let server = Server::start(&["--listen", "0.0.0.0", "--host-name", "lab.example"]);
    let port = server.host.split(':').nth(1).unwrap();
    for (host, status) in [("lab.example", 200), ("10.1.2.3", 200), ("localhost", 200), ("evil.example", 403)]
    {
        assert_eq!(server.request("GET /", &format!("Host: {host}:{port}\r\n")).status, status, "{host}");
    }
    let wanted = format!("note: whoever reaches 0.0.0.0:{port} may use it: there is no password\n");
    let (code, said) = server.ended("-INT");
    assert_eq!((code, said), (Some(0), wanted + "note: Ctrl-C ends it\n"));
}
