"""Where webhooks may lead."""

from __future__ import annotations

import pytest

from domain.errors import AccountError
from domain.notifications.ip_ranges import is_loopback_ip, is_public_ip, is_public_or_loopback_ip
from domain.notifications.webhook_urls import LONGEST, WebhookUrl, parse_webhook_url


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://example.org", WebhookUrl(True, "example.org", 443, "/")),
        ("https://EXAMPLE.org.:8443/a?b=c", WebhookUrl(True, "example.org", 8443, "/a?b=c")),
        ("https://[2606:4700::1]/x", WebhookUrl(True, "2606:4700::1", 443, "/x")),
        ("https://xn--bcher-kva.example:443/", WebhookUrl(True, "xn--bcher-kva.example", 443, "/")),
    ],
)
def test_an_address_has_parts(url: str, found: WebhookUrl) -> None:
    assert parse_webhook_url(url) == found


def test_the_header_names_the_host_as_the_address_does() -> None:
    told = [
        parse_webhook_url(f"https://{host}/").authority
        for host in ("example.org", "example.org:8443", "[2606:4700::1]:8443")
    ]
    assert told == ["example.org", "example.org:8443", "[2606:4700::1]:8443"]


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "ftp://example.org/",
        "https://",
        "https:///x",
        "https://localhost/",
        "https://a:b@example.org/",
        "https://@example.org/",
        "https://example.org/#x",
        "https://example.org\\@127.0.0.1/",
        "https://example.org:22/",
        "https://example.org:0/",
        "https://example.org:99999/",
        "https://example.org:x/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://127.1/",
        "https://017700000001/",
        "https://[::ffff:127.0.0.1%25eth0]/",
        "https://exam ple.org/",
        "https://example.org/\r\nHost: x",
        "https://b\u00fccher.example/",
        "https://-a.example/",
        "https://example.org/" + "x" * LONGEST,
    ],
)
@pytest.mark.parametrize("mode", ["https", "loopback", "none"])
def test_others_are_refused(url: str, mode: str) -> None:
    with pytest.raises(AccountError):
        parse_webhook_url(url, mode)


@pytest.mark.parametrize("url", ["https://10.0.0.1/", "https://169.254.169.254/", "https://[::ffff:8.8.8.8]/"])
def test_a_literal_address_is_judged_at_once(url: str) -> None:
    for mode in ("https", "loopback"):
        with pytest.raises(AccountError):
            parse_webhook_url(url, mode)


def test_plain_http_is_for_this_machine_where_operator_lets_it() -> None:
    assert parse_webhook_url("http://127.0.0.1:999/x", "loopback") == WebhookUrl(False, "127.0.0.1", 999, "/x")
    for url, mode in (("http://127.0.0.1/", "https"), ("http://127.0.0.1/", "none"), ("http://10.0.0.1/", "loopback")):
        with pytest.raises(AccountError):
            parse_webhook_url(url, mode)


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.1", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.8.8.8", "169.254.169.254", "172.16.0.1"),
        *("172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1"),
        *("203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:8.8.8.8", "64:ff9b::8.8.8.8"),
        *(
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2002:808:808::1",
            "3fff::1",
            "5f00::1",
        ),
        *("5f00::1", "fc00::1", "fd12::1", "fe80::1", "fe80::1%1", "fec0::1", "ff02::1", "2606:4700::1%eth0", "x", ""),
    ],
)
def test_addresses_that_are_not_of_public_network_are_closed(address: str) -> None:
    assert not is_public_ip(address)


def test_addresses_of_the_public_network_are_open() -> None:
    assert all(map(is_public_ip, ("8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1", "2a00:1450::1")))
    assert is_public_or_loopback_ip("127.0.0.1")
    assert is_public_or_loopback_ip("::1")
    assert not any(map(is_public_or_loopback_ip, ("10.0.0.1", "169.254.169.254", "::ffff:127.0.0.1", "0.0.0.1", "x")))


def test_this_machine_is_known_by_two_ways_to_write_it() -> None:
    assert all(map(is_loopback_ip, ("127.0.0.1", "127.8.9.10", "::1", "0:0::1")))
    others = ("::ffff:127.0.0.1", "::ffff:127.0.0.1%eth0", "::1%lo", "127.1", "localhost", "128.0.0.1", "::", "")
    assert not any(map(is_loopback_ip, others))
