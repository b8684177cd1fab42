"""Stream events and their two wire formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import msgspec

from domain.types import Json


@dataclass(frozen=True)
class Event:
    """A stream event. `data` is a JSON document on one line."""

    name: str
    data: bytes
    id: int | None = None
    """Version or position up to which all events are sent after this one."""


def make_event(name: str, doc: Json, id_: int | None = None) -> Event:
    """Return an event with this document."""
    return Event(name, msgspec.json.encode(doc), id_)


def with_last_id(events: Iterable[Event], id_: int) -> list[Event]:
    """Return the events with the id on the last one only: after an interruption, clients get all of them again."""
    found = [replace(each, id=None) for each in events]
    return [*found[:-1], *(replace(each, id=id_) for each in found[-1:])]


@dataclass(frozen=True)
class EventFormat:
    """A wire format of events."""

    media: str
    preamble: bytes
    """Bytes at once, so that clients know that the stream is open."""
    first: bytes
    """Bytes within the first event: alone in a block, some clients make an empty message of them."""
    keep_alive: bytes
    """Bytes of a keep-alive."""
    encode: Callable[[Event], bytes]

    def encode_all(self, events: Iterable[Event]) -> bytes:
        """Return the encoded events, joined."""
        return b"".join(map(self.encode, events))


def _sse_bytes(each: Event) -> bytes:
    head = f"id: {each.id}\n" if each.id is not None else ""
    return f"{head}event: {each.name}\ndata: ".encode() + each.data + b"\n\n"


def _ndjson_bytes(each: Event) -> bytes:
    tail = f',"id":{each.id}' if each.id is not None else ""
    return f'{{"event":"{each.name}","data":'.encode() + each.data + tail.encode() + b"}\n"


SSE = EventFormat("text/event-stream", b": open\n\n", b"retry: 2000\n", b": still here\n\n", _sse_bytes)
PAGE_SSE = replace(SSE, keep_alive=b"event: alive\ndata:\n\n")
"""For pages: scripts of browsers hear no comments, and a silent connection may be dead."""

NDJSON = EventFormat("application/x-ndjson", b"", b"", b"\n", _ndjson_bytes)
FORMATS = {form.media: form for form in (SSE, NDJSON)}
"""Media type -> format. The first one is the default."""
