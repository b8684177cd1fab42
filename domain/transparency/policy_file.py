"""Witnesses and logs of others from a file, in lines of https://c2sp.org/tlog-policy.

witness NAME VKEY URL    a witness to ask for cosignatures; two lines with one URL: one witness with two keys
log VKEY [URL]           a log to cosign; two lines with one name of the key: one log with two keys
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from domain.errors import NoteError
from domain.transparency.signed_note import ED25519, ED25519_COSIGNATURE, ML_DSA_44, VerifierKey, expect

MAX_WITNESSES = 32
"""Most witnesses. Each is asked by a thread of its own."""
MAX_LOGS = 1000
"""Most logs to cosign."""
MAX_FILE = 4 * 1024 * 1024
"""Longest file, bytes."""

LogKeys = Mapping[str, tuple[VerifierKey, ...]]
"""Name of a log -> its verifier keys."""


@dataclass(frozen=True)
class KnownWitness:
    """A witness with its verifier keys."""

    name: str
    url: str
    """Submission prefix, without a slash at its end."""
    keys: tuple[VerifierKey, ...]


def parse_witnesses(text: str) -> tuple[KnownWitness, ...]:
    """Return the witnesses of a file; raise NoteError `policy_malformed` with the number of the line."""
    found: dict[str, KnownWitness] = {}
    names: set[str] = set()
    for number, key, (name, url) in _parse_lines(text, "witness", (ED25519_COSIGNATURE, ML_DSA_44)):
        if not _is_prefix(url) or name in names or name == "none":
            raise _malformed(number)
        names.add(name)
        first = found.get(url, KnownWitness(name, url.rstrip("/"), ()))
        found[url] = KnownWitness(first.name, first.url, (*first.keys, key))
    if len(found) > MAX_WITNESSES:
        raise NoteError("policy_malformed", f"more than {MAX_WITNESSES} witnesses")
    return tuple(found.values())


def parse_logs(text: str) -> LogKeys:
    """Return the logs of a file; raise NoteError `policy_malformed` with the number of the line."""
    found: dict[str, tuple[VerifierKey, ...]] = {}
    for _, key, _ in _parse_lines(text, "log", (ED25519, ML_DSA_44)):
        found[key.name] = (*found.get(key.name, ()), key)
    if len(found) > MAX_LOGS:
        raise NoteError("policy_malformed", f"more than {MAX_LOGS} logs")
    return found


def _parse_lines(text: str, word: str, kinds: tuple[int, ...]) -> Iterator[tuple[int, VerifierKey, tuple[str, str]]]:
    """Yield number, key, and name and URL of each line with this word; refuse other words, and a key twice."""
    known: set[bytes] = set()
    for number, line in enumerate(text.split("\n"), 1):
        parts = line.split()
        if not parts or parts[0].startswith("#"):
            continue
        try:
            first, *rest = parts
            name = rest.pop(0) if word == "witness" else ""
            vkey, url = rest if len(rest) == 2 else (*rest, "")
            key = VerifierKey.parse(vkey)
            expect(first == word and key.kind in kinds and key.key not in known)
        except (ValueError, IndexError, NoteError):
            raise _malformed(number) from None
        known.add(key.key)
        yield number, key, (name, url)


def _malformed(number: int) -> NoteError:
    return NoteError("policy_malformed", f"line {number}")


def _is_prefix(url: str) -> bool:
    """Return whether a URL can be a submission prefix."""
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return sound and url.isascii() and url.isprintable() and not (parts.query or parts.fragment or "@" in parts.netloc)
