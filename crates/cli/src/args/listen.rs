//! Where to listen.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Reads an address to listen at: `127.0.0.1:9090`, `[::1]:9090`, `localhost:9090`, or a port alone, on this machine only.
pub(crate) fn listen(text: &str) -> Result<SocketAddr, String> {
    let here = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    if let Ok(port) = port.parse() {
        return Ok(here(port));
    }
    text.parse().map_err(|_| {
        format!(
            "'{text}' is no address; write for instance 127.0.0.1:9090, [::1]:9090 or 9090 (port 0: any that is free)"
        )
    })
}

#[cfg(test)]
mod tests;
