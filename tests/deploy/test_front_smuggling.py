"""Request smuggling: the application sees no request that nginx did not answer."""

from __future__ import annotations

import re
from contextlib import closing

import httpx

from tests.deploy.harness import Service
from tests.deploy.raw_http import (
    Client,
    many_files,
    port_of,
    request,
    service,
    statuses,
)

__all__ = ["many_files", "service"]


SMUGGLED = request("/v1/rulesets")


def post(*headers: str, body: bytes = b"", version: str = "1.1") -> bytes:
    return "\r\n".join([f"POST /v1/games HTTP/{version}", "Host: a", *headers, "", ""]).encode("latin-1") + body


HIDDEN = b"0\r\n\r\n" + SMUGGLED
LENGTH = f"Content-Length: {len(HIDDEN)}"
CHUNKED = "Transfer-Encoding: chunked"

AMBIGUOUS = {
    "CL.TE": post(LENGTH, CHUNKED, body=HIDDEN),
    "TE.CL": post(CHUNKED, "Content-Length: 4", body=b"%x\r\n%s\r\n0\r\n\r\n" % (len(SMUGGLED), SMUGGLED)),
    "TE twice": post(CHUNKED, CHUNKED, LENGTH, body=HIDDEN),
    "TE twice, the last unknown": post(CHUNKED, "Transfer-Encoding: x", body=HIDDEN),
    "TE twice, the first unknown": post("Transfer-Encoding: x", CHUNKED, body=HIDDEN),
    "TE as a list": post("Transfer-Encoding: identity, chunked", LENGTH, body=HIDDEN),
    "TE unknown": post("Transfer-Encoding: xchunked", LENGTH, body=HIDDEN),
    "TE folded": post("Transfer-Encoding:\r\n chunked", LENGTH, body=HIDDEN),
    "TE folded on": post("Transfer-Encoding: x", " chunked", LENGTH, body=HIDDEN),
    "TE with a space before its colon": post("Transfer-Encoding : chunked", LENGTH, body=HIDDEN),
    "TE with a tab before its colon": post("Transfer-Encoding\t: chunked", LENGTH, body=HIDDEN),
    "TE after a space": post(" Transfer-Encoding: chunked", LENGTH, body=HIDDEN),
    "TE with an underscore": post("Transfer_Encoding: chunked", LENGTH, body=HIDDEN),
    "TE with a vertical tab": post("Transfer-Encoding: \x0bchunked", LENGTH, body=HIDDEN),
    "TE in quotes": post('Transfer-Encoding: "chunked"', LENGTH, body=HIDDEN),
    "TE in an old request": post(CHUNKED, LENGTH, version="1.0", body=HIDDEN),
    "TE after a bare CR": post("X: a\rTransfer-Encoding: chunked", LENGTH, body=HIDDEN),
    "TE after a bare LF": post("X: a\nTransfer-Encoding: chunked", LENGTH, body=HIDDEN),
    "TE and NUL": post("Transfer-Encoding: chunked\x00", LENGTH, body=HIDDEN),
    "CL twice, different": post("Content-Length: 0", f"Content-Length: {len(SMUGGLED)}", body=SMUGGLED),
    "CL twice, equal": post("Content-Length: 0", "Content-Length: 0", body=SMUGGLED),
    "CL as a list": post(f"Content-Length: 0, {len(SMUGGLED)}", body=SMUGGLED),
    "CL with a plus": post(f"Content-Length: +{len(SMUGGLED)}", body=SMUGGLED),
    "CL in hexadecimal": post(f"Content-Length: {len(SMUGGLED):#x}", body=SMUGGLED),
    "CL negative": post("Content-Length: -1", body=SMUGGLED),
    "CL with a space inside": post("Content-Length: 0 5", body=SMUGGLED),
    "CL empty": post("Content-Length: ", body=SMUGGLED),
    "CL huge": post(f"Content-Length: {2**64}", body=SMUGGLED),
    "CL with a space before its colon": post("Content-Length : 5", body=SMUGGLED),
    "CL with other digits": post("Content-Length: \u00b2", body=SMUGGLED),
    "chunk size too large": post(CHUNKED, body=b"ffffffffffffffff1\r\n" + SMUGGLED),
    "chunk size negative": post(CHUNKED, body=b"-1\r\n" + SMUGGLED),
    "chunk size with a plus": post(CHUNKED, body=b"+0\r\n\r\n" + SMUGGLED),
    "chunk size with 0x": post(CHUNKED, body=b"0x0\r\n\r\n" + SMUGGLED),
    "chunk without its end": post(CHUNKED, body=b"1\r\nab\r\n0\r\n\r\n" + SMUGGLED),
    "NUL in a name": post("X\x00Y: a", "Content-Length: 0", body=SMUGGLED),
    "NUL in a value": post("X: a\x00b", "Content-Length: 0", body=SMUGGLED),
    "CR in a name": post("X\rY: a", "Content-Length: 0", body=SMUGGLED),
    "CR in a value": post("X: a\rb", "Content-Length: 0", body=SMUGGLED),
    "LF alone": post("Content-Length: 0", body=SMUGGLED).replace(b"\r\n", b"\n"),
    "no colon": post("X", "Content-Length: 0", body=SMUGGLED),
    "no name": post(": a", "Content-Length: 0", body=SMUGGLED),
    "two hosts": post("Host: b", "Content-Length: 0", body=SMUGGLED),
    "no host": b"GET /v1/log HTTP/1.1\r\n\r\n" + SMUGGLED,
    "host with a path": b"GET /v1/log HTTP/1.1\r\nHost: a/b\r\n\r\n" + SMUGGLED,
    "absolute form": b"GET http://b/v1/log HTTP/1.1\r\nHost: a\r\n\r\n" + SMUGGLED,
    "absolute form of another scheme": b"GET ftp://b/v1/log HTTP/1.1\r\nHost: a\r\n\r\n" + SMUGGLED,
    "authority form": b"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n" + SMUGGLED,
    "asterisk form": b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n" + SMUGGLED,
    "space in the target": b"GET /v1/log HTTP/1.1\r\nX: y /v1 HTTP/1.1\r\nHost: a\r\n\r\n" + SMUGGLED,
    "CR in the target": b"GET /v1/log\rX HTTP/1.1\r\nHost: a\r\n\r\n" + SMUGGLED,
    "lines in the target": b"GET /v1/log%0d%0aX:%20y HTTP/1.1\r\nHost: a\r\n\r\n" + SMUGGLED,
    "a body with GET": b"GET /v1/log HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s" % (len(SMUGGLED), SMUGGLED),
    "a body with HEAD": b"HEAD /v1/log HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s" % (len(SMUGGLED), SMUGGLED),
    "expectation": post("Expect: 100-continue", f"Content-Length: {len(SMUGGLED)}", body=SMUGGLED),
    "upgrade": post("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AA", "Content-Length: 0"),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + SMUGGLED,
    "HTTP/0.9": b"GET /v1/log\r\n" + SMUGGLED,
    "connection names a header": post("Connection: Content-Length", f"Content-Length: {len(SMUGGLED)}", body=SMUGGLED),
    "pipelined with leftovers": request("/v1/log") + b"GET /v1/log HTTP/1.1\r\n",
}


def seen(http: httpx.Client) -> int:
    """Requests that the application has met, but for what the service itself asks to see that it is well."""
    counted = re.findall(
        r'^annals_requests_total\{[^}]*route="([^"]*)"[^}]*\} (\S+)', http.get("/metrics").text, re.MULTILINE
    )
    return sum(int(float(count)) for route, count in counted if route == "-" or route.startswith("/v1/"))


def test_the_application_sees_no_request_that_was_not_answered(service: Service) -> None:
    wrong = {}
    with httpx.Client(base_url=service.url) as http:
        met = seen(http)
        for name, raw in AMBIGUOUS.items():
            with closing(Client(port_of(service))) as client:
                client.send(raw)
                found = client.read(0.15)
                # Those who come on the same connection to the application get what they have asked for.
                others = [http.get("/healthz").text for _ in range(3)]
                before, met = met, seen(http)
                if met - before > len(statuses(found)):  # on a busy machine it may still be under way
                    found += client.read(3)
            smuggled = met - before - len(statuses(found))
            if smuggled > 0 or set(others) != {'{"status":"ok"}'} or (found and not statuses(found)):
                wrong[name] = smuggled, others, found
    assert not wrong
    assert met > 10  # some are no attack, and are counted
