//! `flitwise serve`: the page, and the whole program behind it.
//!
//! One thread has all connections. Engines have threads of their own; their simulations share a pool, their curves
//! another.

mod hosts;
mod sessions;
mod site;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::num::NonZero;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use hyper::http::uri::Authority;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::args::Serve;
use crate::outcome::Exit;
use crate::output::{self, note};
use crate::signals::Watch;
use crate::typed::{self, Options};
use hosts::{Hosts, host_of};
use sessions::{Limits, Sessions};
use site::Site;

/// How often to look for a signal.
const POLL: Duration = Duration::from_millis(50);
/// How long to leave the system alone when it has no further connection to give.
const PAUSE: Duration = Duration::from_millis(50);
/// Connections at a time; more wait.
const MOST_CONNECTIONS: usize = 128;
/// What the head of a request may take, and how long a connection may be silent.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// The longest head \[bytes\].
const LONGEST_HEAD: usize = 64 << 10;
/// After so long a connection ends with its next answer: one that takes none must not last.
const CONNECTION_TIME: Duration = Duration::from_secs(300);
/// What its last answer may take.
const LAST_ANSWER_TIME: Duration = Duration::from_secs(90);

/// What was typed.
struct Asked {
    address: SocketAddr,
    names: Vec<Authority>,
    simulations: usize,
}

pub(crate) fn run(args: &Serve) -> Result<(), Exit> {
    let asked = read(args)?;
    let watch = Watch::begin();
    let listener = listener(asked.address)?;
    let address = listener.local_addr()?;
    let workers = rayon::ThreadPoolBuilder::new().build().map_err(io::Error::other)?;
    let started = Instant::now();
    let clock = Arc::new(move || started.elapsed());
    let sessions = Sessions::new(Limits::new(asked.simulations), clock, Arc::new(workers));
    let site = Site::new(Hosts::new(address, &asked.names), sessions).map_err(io::Error::other)?;
    let site = Arc::new(site);
    output::write(format!("{}\n", link(address)).as_bytes())?;
    if !address.ip().is_loopback() {
        note(&format!("whoever reaches {address} may use it: there is no password"));
    }
    note("Ctrl-C ends it");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // simulations end with the process: they keep nothing that could be left half written
    runtime.block_on(serve(listener, &site, &watch))?;
    Ok(())
}

fn read(args: &Serve) -> Result<Asked, Exit> {
    let mut faults = Vec::new();
    let mut read = Options { faults: &mut faults };
    let port = read.value("port", &args.port, typed::within(0..=65_535, "a port from 0 to 65535"));
    let ip = read.value("listen", &args.listen, |typed| {
        let wanted = "an address of this computer, such as 127.0.0.1, ::1 or 0.0.0.0";
        typed.parse::<IpAddr>().map(Some).map_err(|_| wanted.to_owned())
    });
    let names: Vec<Option<Authority>> =
        args.host_names.iter().map(|typed| read.value("host-name", typed, host_name)).collect();
    let simulations =
        read.option("simulations", &args.simulations, typed::within(1..=1_024, "1 to 1024 simulations"));
    match ip {
        Some(ip) if faults.is_empty() => Ok(Asked {
            address: SocketAddr::new(ip, port as u16),
            names: names.into_iter().flatten().collect(),
            simulations: simulations
                .map(|number| number as usize)
                .unwrap_or_else(|| thread::available_parallelism().map_or(2, NonZero::get).max(2)),
        }),
        _ => Err(Exit::BadInput(faults)),
    }
}

/// What `--host-name` wants.
fn host_name(typed: &str) -> Result<Option<Authority>, String> {
    let name = typed.parse::<Authority>().ok().filter(|name| !typed.contains('@') && !name.host().is_empty());
    name.map(Some)
        .ok_or_else(|| "a name with or without a port, such as lab.example or lab.example:80".to_owned())
}

fn listener(address: SocketAddr) -> Result<TcpListener, Exit> {
    let refused = |error: io::Error| {
        let (ip, port) = (address.ip(), address.port());
        Exit::input(match error.kind() {
            io::ErrorKind::AddrInUse => format!(
                "--port {port}: found a port that another program has, wanted a free one\n  help: --port 0 takes any \
                 that is free"
            ),
            io::ErrorKind::PermissionDenied => {
                format!("--port {port}: found no right to it, wanted one that you may have\n  help: --port 0")
            }
            io::ErrorKind::AddrNotAvailable => {
                format!("--listen {ip}: found no such address here, wanted one of this computer")
            }
            _ => format!("--listen {ip}: cannot be listened on: {error}"),
        })
    };
    let listener = TcpListener::bind(address).map_err(refused)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Where a browser of this computer finds the page.
fn link(address: SocketAddr) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::from([127, 0, 0, 1]),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
        ip => ip,
    };
    format!("http://{}:{}/", host_of(ip), address.port())
}

/// Serves until a signal comes.
async fn serve(listener: TcpListener, site: &Arc<Site>, watch: &Watch) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    while !watch.stop().load(Ordering::Relaxed) {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        match timeout(POLL, next).await {
            Err(_) => site.sessions.drop_lapsed(),
            // such as too many open files
            Ok((_, Err(_))) => tokio::time::sleep(PAUSE).await,
            Ok((place, Ok((stream, _)))) => {
                let site = Arc::clone(site);
                tokio::spawn(async move {
                    converse(stream, site).await;
                    drop(place);
                });
            }
        }
    }
    Ok(())
}

/// Answers the requests of a connection. What is no HTTP ends it.
async fn converse(stream: TcpStream, site: Arc<Site>) {
    // an answer is sent at once, not with the next one
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let site = Arc::clone(&site);
        async move { Ok::<_, Infallible>(site.reply(request).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(LONGEST_HEAD);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    if timeout(CONNECTION_TIME, connection.as_mut()).await.is_err() {
        connection.as_mut().graceful_shutdown();
        let _ = timeout(LAST_ANSWER_TIME, connection).await;
    }
}
