"""Public IP addresses, the only valid targets of deliveries.

The ranges are listed here, since the standard library's classification differs from version to version.
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
        "169.254.0.0/16",  # link-local: services of clouds answer there
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocols
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
]
_LOOPBACK_4 = ipaddress.IPv4Network("127.0.0.0/8")
_OPEN_6 = ipaddress.IPv6Network("2000::/3")
"""All allocated addresses; other prefixes that map or translate IPv4 lie outside."""

_CLOSED_6 = [
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # protocols, among them Teredo
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "3fff::/20",  # documentation
    )
]


def is_public_ip(text: str) -> bool:
    """Return whether a text is an address of the public network."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _CLOSED_4)
    plain = address.scope_id is None and address in _OPEN_6
    return plain and not any(address in network for network in _CLOSED_6)


def is_loopback_ip(text: str) -> bool:
    """Return whether a text is a loopback address in its usual form, without a zone and not IPv4 within IPv6."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return address in _LOOPBACK_4 if isinstance(address, ipaddress.IPv4Address) else str(address) == "::1"


def is_public_or_loopback_ip(text: str) -> bool:
    """Return whether an address is public or loopback, for trials with the operator's consent."""
    return is_public_ip(text) or is_loopback_ip(text)
