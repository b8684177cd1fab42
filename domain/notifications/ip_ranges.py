"""To which addresses anything may be sent: those of the public network alone.

The networks are named here, since what the standard library says of some addresses differs from version to version.
"""

from __future__ import annotations

import ipaddress

_CLOSED_4 = [
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared by customers of a carrier
        "127.0.0.0/8",
        "169.254.0.0/16",  # the link alone: services of clouds answer there
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocols
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # many at once
        "240.0.0.0/4",  # reserved, and all at once
    )
]
_LOOPBACK_4 = ipaddress.IPv4Network("127.0.0.0/8")
_OPEN_6 = ipaddress.IPv6Network("2000::/3")
"""All that was ever given out; whatever maps or translates IPv4 by another prefix lies outside."""

_CLOSED_6 = [
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # protocols, among them Teredo
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "3fff::/20",  # documentation
    )
]


def public(text: str) -> bool:
    """Whether that is an address of the public network, and leads to no other one."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _CLOSED_4)
    plain = address.scope_id is None and address in _OPEN_6
    return plain and not any(address in network for network in _CLOSED_6)


def loopback(text: str) -> bool:
    """Whether that is this machine, by an address in its usual form: none of IPv4 within IPv6, none with a zone."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return address in _LOOPBACK_4 if isinstance(address, ipaddress.IPv4Address) else str(address) == "::1"


def public_or_own(text: str) -> bool:
    """The same as `public`, or of this machine: for trials, where the operator lets them."""
    return public(text) or loopback(text)
