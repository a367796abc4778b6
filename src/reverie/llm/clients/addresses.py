"""Where a model may be called: the name is resolved once, the address is judged, and only that one is connected to.

An address a person wrote may be private: models run on laptops and in cellars. A provider's usual one may not turn out
to be private, whatever the name server says. Where clouds keep their metadata no model lives, so it is never called.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Callable
from urllib.parse import urlsplit

from reverie.llm.settings import Choice

Resolve = Callable[[str, int], list[str]]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NEVER = frozenset(map(ipaddress.ip_address, ("fd00:ec2::254", "100.100.100.200", "168.63.129.16")))
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class NoAddress(Exception):
    """Why an endpoint may not or cannot be called. `again` says whether it may be otherwise soon."""

    def __init__(self, why: str, *, again: bool = False) -> None:
        super().__init__(why)
        self.again = again


def resolved(host: str, port: int) -> list[str]:
    """The addresses the system's name server gives."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def allowed_addresses(choice: Choice, seconds: float, resolve: Resolve = resolved) -> list[str]:
    """The addresses of an endpoint that may be called, or `NoAddress`."""
    parts = urlsplit(choice.base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    found = _within(seconds, resolve, parts.hostname or "", port)
    allowed = [text for text in found if _allowed(ipaddress.ip_address(text.partition("%")[0]), choice.given)]
    if not allowed:
        raise NoAddress("the endpoint's address is one that may not be called")
    return allowed


def _allowed(address: Address, given: bool) -> bool:
    address = _plain(address)
    if address in _NEVER or address.is_link_local or address.is_multicast:
        return False
    return given or address.is_global


def _plain(address: Address) -> Address:
    """The IPv4 address inside an IPv6 one, if that is where it leads."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _within(seconds: float, resolve: Resolve, host: str, port: int) -> list[str]:
    """A name server that does not answer must not hold us: its thread is left behind."""
    found: list[str] = []
    failed: list[str] = []

    def look() -> None:
        try:
            found.extend(resolve(host, port))
        except (OSError, UnicodeError) as error:
            failed.append(type(error).__name__)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise NoAddress("the endpoint's name was not resolved in time", again=True)
    if failed or not found:
        raise NoAddress("the endpoint's name cannot be resolved", again=True)
    return found
