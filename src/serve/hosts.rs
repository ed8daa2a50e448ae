//! The names under which a browser may ask for the page.
//!
//! A page of another site can have a browser ask any address of this computer, and a site that changes the address of
//! its own name can even read the answers. Such requests name that site as `Host` or as `Origin`, and are refused.

use std::net::{IpAddr, SocketAddr};

use hyper::HeaderMap;
use hyper::header::{HOST, HeaderName, ORIGIN};
use hyper::http::uri::Authority;

/// The port that addresses leave out.
const USUAL_PORT: u16 = 80;

/// What `Host` may say.
#[derive(Clone, Debug)]
pub(super) struct Hosts {
    /// Names and addresses, with their ports, in small letters.
    names: Vec<(String, u16)>,
    /// Whether it may be any address, as it is not known which ones this computer has.
    any_address: Option<u16>,
}

impl Hosts {
    /// Those of a server that listens there, and further ones.
    pub(super) fn new(listens: SocketAddr, further: &[Authority]) -> Self {
        let (address, port) = (listens.ip(), listens.port());
        let own = (!address.is_unspecified()).then(|| host_of(address));
        let is_local = address.is_loopback() || address.is_unspecified();
        let local = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).into_iter().filter(|_| is_local);
        let mut names: Vec<(String, u16)> = own.into_iter().chain(local).map(|name| (name, port)).collect();
        names.extend(further.iter().map(|name| parts(name, port)));
        Self { names, any_address: address.is_unspecified().then_some(port) }
    }

    /// Refuses a request from elsewhere.
    pub(super) fn check(&self, target: Option<&Authority>, headers: &HeaderMap) -> Result<(), String> {
        let host = only(headers, &HOST)?.unwrap_or_default();
        let is_ours = |authority: &Authority| self.has(authority);
        let sound = host.parse::<Authority>().is_ok_and(|host| is_ours(&host)) && target.is_none_or(is_ours);
        if !sound {
            let (name, port) = &self.names[0];
            let found = target.map_or(host, Authority::as_str);
            return Err(format!(
                "Host: found {found:?}, wanted {name}:{port} or another name of this server\n  help: flitwise serve \
                 --host-name NAME adds one"
            ));
        }
        match only(headers, &ORIGIN)? {
            Some(origin) if !origin.eq_ignore_ascii_case(&format!("http://{host}")) => {
                Err(format!("Origin: found {origin:?}, wanted http://{host}, the page of this server"))
            }
            _ => Ok(()),
        }
    }

    fn has(&self, authority: &Authority) -> bool {
        if authority.as_str().contains('@') {
            return false;
        }
        let (name, port) = parts(authority, USUAL_PORT);
        let is_address = || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        // only names can change what they stand for
        self.any_address == Some(port) && is_address() || self.names.contains(&(name, port))
    }
}

/// An address as a link has it.
pub(super) fn host_of(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// Name and port.
fn parts(authority: &Authority, port: u16) -> (String, u16) {
    (authority.host().to_ascii_lowercase(), authority.port_u16().unwrap_or(port))
}

/// The value of a field that may be there once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, String> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| format!("{name}: found no plain text")),
        (Some(_), Some(_)) => Err(format!("{name}: found it twice, wanted it once")),
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn takes(hosts: &Hosts, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).unwrap());
        origin.map(|origin| headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap()));
        hosts.check(None, &headers).is_ok()
    }

    #[test]
    fn only_own_names_are_taken() {
        let hosts = Hosts::new("127.0.0.1:8417".parse().unwrap(), &[]);
        for host in ["127.0.0.1:8417", "localhost:8417", "LocalHost:8417", "[::1]:8417"] {
            assert!(takes(&hosts, host, None), "{host}");
            assert!(takes(&hosts, host, Some(&format!("http://{host}"))), "{host}");
            for origin in ["null", "http://evil.example", "https://127.0.0.1:8417", "http://127.0.0.1", ""] {
                assert!(!takes(&hosts, host, Some(origin)), "{host} {origin}");
            }
        }
        for host in [
            "",
            "127.0.0.1",
            "localhost",
            "localhost:80",
            "evil.example:8417",
            "127.0.0.1:8417.evil.example",
            "a@127.0.0.1:8417",
            "10.0.0.1:8417",
            "127.0.0.1:8417/",
            "localhost.:8417",
            "127.0.0.1:08417x",
        ] {
            assert!(!takes(&hosts, host, None), "{host}");
        }
        assert!(hosts.check(None, &HeaderMap::new()).is_err());
        let mut twice = HeaderMap::new();
        twice.append(HOST, HeaderValue::from_static("127.0.0.1:8417"));
        let target = Authority::from_static("evil.example");
        assert!(hosts.check(None, &twice).is_ok() && hosts.check(Some(&target), &twice).is_err());
        twice.append(HOST, HeaderValue::from_static("127.0.0.1:8417"));
        assert!(hosts.check(None, &twice).is_err());
    }

    #[test]
    fn whoever_listens_on_all_addresses_is_asked_by_any_of_them_but_by_no_unknown_name() {
        let further = ["Lab.Example".parse().unwrap(), "tunnel.example:9000".parse().unwrap()];
        let hosts = Hosts::new("0.0.0.0:80".parse().unwrap(), &further);
        for host in
            ["10.0.0.1", "10.0.0.1:80", "[fe80::1]", "localhost", "lab.example", "tunnel.example:9000"]
        {
            assert!(takes(&hosts, host, None), "{host}");
        }
        for host in ["evil.example", "10.0.0.1:8417", "tunnel.example", "lab.example:9000"] {
            assert!(!takes(&hosts, host, None), "{host}");
        }
    }
}
