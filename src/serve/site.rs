//! What the server answers: the files of the page and its engine, nothing else. No path of a request is ever one of a
//! file.

use std::fmt::Display;
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use flitwise_page::files::{EnginePlace, PageFile, files};

use super::hosts::Hosts;
use super::sessions::{Answer, Refusal, Sessions};

/// The longest request \[bytes\].
const LONGEST: u64 = 2 << 20;
/// What the body of a request may take.
const BODY_TIME: Duration = Duration::from_secs(10);
const PLAIN: &str = "text/plain; charset=utf-8";
const SESSION: HeaderName = HeaderName::from_static("flitwise-session");

/// Of every answer: the page runs its own scripts alone, asks this server alone, and stands in no other page.
const GUARDS: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::CACHE_CONTROL, "no-cache"),
];

type Reply = Response<Full<Bytes>>;

/// The page and the engines behind it.
pub(super) struct Site {
    hosts: Hosts,
    files: Vec<PageFile>,
    pub(super) sessions: Sessions,
}

impl Site {
    /// # Errors
    /// What is wrong with a file of the page.
    pub(super) fn new(hosts: Hosts, sessions: Sessions) -> Result<Self, String> {
        Ok(Self { hosts, files: files(EnginePlace::Server)?, sessions })
    }

    /// The answer to a request. Whatever is asked, there is one.
    pub(super) async fn reply(&self, request: Request<Incoming>) -> Reply {
        self.answered(request).await.unwrap_or_else(|refused| refused)
    }

    async fn answered(&self, request: Request<Incoming>) -> Result<Reply, Reply> {
        let checked = self.hosts.check(request.uri().authority(), request.headers());
        checked.map_err(|fault| plain(StatusCode::FORBIDDEN, fault))?;
        let path = request.uri().path();
        if path == "/engine" {
            allow(request.method(), &[Method::POST])?;
            return self.engine(request).await;
        }
        let name = if path == "/" { "index.html" } else { path.trim_start_matches('/') };
        let file = self.files.iter().find(|file| file.name == name && path.matches('/').count() == 1);
        let file = file
            .ok_or_else(|| plain(StatusCode::NOT_FOUND, "found no such page, wanted / or /lessons.html"))?;
        allow(request.method(), &[Method::GET, Method::HEAD])?;
        Ok(reply(StatusCode::OK, file.media_type, Bytes::copy_from_slice(&file.bytes)))
    }

    async fn engine(&self, request: Request<Incoming>) -> Result<Reply, Reply> {
        let (head, body) = request.into_parts();
        let media_type = text_of(&head.headers, &header::CONTENT_TYPE)?.unwrap_or_default();
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/json") {
            let fault = format!("Content-Type: found {media_type:?}, wanted application/json");
            return Err(plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, fault));
        }
        let session = text_of(&head.headers, &SESSION)?;
        let answer = self.sessions.answer(session, text(body).await?).await;
        let Answer { session, text } = answer.map_err(refused)?;
        let mut answer = reply(StatusCode::OK, "application/json", Bytes::from(text));
        if let Ok(session) = HeaderValue::from_str(&session) {
            answer.headers_mut().insert(SESSION, session);
        }
        Ok(answer)
    }
}

/// The body of a request.
async fn text(body: Incoming) -> Result<String, Reply> {
    let too_long = || plain(StatusCode::PAYLOAD_TOO_LARGE, "found a request of more than 2 MiB, wanted less");
    let bad = |fault: &str| plain(StatusCode::BAD_REQUEST, fault);
    if body.size_hint().lower() > LONGEST {
        return Err(too_long());
    }
    let whole = Limited::new(body, LONGEST as usize).collect();
    let late = "found no whole request within 10 s, wanted it sooner";
    let whole = tokio::time::timeout(BODY_TIME, whole).await;
    let whole = whole.map_err(|_| plain(StatusCode::REQUEST_TIMEOUT, late))?;
    let whole = whole.map_err(|error| {
        if error.is::<LengthLimitError>() { too_long() } else { bad("found a request that breaks off") }
    })?;
    String::from_utf8(whole.to_bytes().into()).map_err(|_| bad("found a request that is no text in UTF-8"))
}

fn refused(refusal: Refusal) -> Reply {
    match refusal {
        Refusal::Lapsed => plain(
            StatusCode::GONE,
            "The session is gone, and a simulation in it: one that is asked nothing makes room for others.",
        ),
        Refusal::Busy(fault) => plain(StatusCode::SERVICE_UNAVAILABLE, fault),
        Refusal::Broken => plain(
            StatusCode::INTERNAL_SERVER_ERROR,
            "The engine stopped. This is a fault of flitwise, please report it with what its terminal says.",
        ),
    }
}

/// Refuses other methods.
fn allow(method: &Method, allowed: &[Method]) -> Result<(), Reply> {
    if allowed.contains(method) {
        return Ok(());
    }
    let words = allowed.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
    let mut refused =
        plain(StatusCode::METHOD_NOT_ALLOWED, format!("found the method {method}, wanted {words}"));
    if let Ok(words) = HeaderValue::from_str(&words) {
        refused.headers_mut().insert(header::ALLOW, words);
    }
    Err(refused)
}

fn text_of<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Reply> {
    let value = headers.get(name).map(HeaderValue::to_str).transpose();
    value.map_err(|_| plain(StatusCode::BAD_REQUEST, format!("{name}: found no plain text")))
}

/// A sentence.
fn plain(status: StatusCode, text: impl Display) -> Reply {
    reply(status, PLAIN, Bytes::from(format!("{text}\n")))
}

fn reply(status: StatusCode, media_type: &'static str, body: Bytes) -> Reply {
    let mut reply = Response::new(Full::new(body));
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    for (name, value) in GUARDS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    reply
}
