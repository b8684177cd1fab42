"""Events, and the two forms in which they go over the wire."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import orjson

from domain.types import Json


@dataclass(frozen=True)
class Event:
    """One event; `data` is a JSON document without line breaks."""

    name: str
    data: bytes
    id: int | None = None
    """Up to where everything was sent, once this event was."""


def event(name: str, doc: Json, id_: int | None = None) -> Event:
    """An event with that document."""
    return Event(name, orjson.dumps(doc), id_)


def marked(events: Iterable[Event], id_: int) -> list[Event]:
    """What belongs together: the id stands on the last of them, so whoever misses a part gets all of it again."""
    found = [replace(each, id=None) for each in events]
    return [*found[:-1], *(replace(each, id=id_) for each in found[-1:])]


@dataclass(frozen=True)
class Form:
    """How events are written."""

    media: str
    opening: bytes
    """What comes before the first event."""
    alive: bytes
    """A sign of life."""
    line: Callable[[Event], bytes]

    def chunk(self, events: Iterable[Event]) -> bytes:
        """These events, one after the other."""
        return b"".join(map(self.line, events))


def _sent(each: Event) -> bytes:
    head = f"id: {each.id}\n" if each.id is not None else ""
    return f"{head}event: {each.name}\ndata: ".encode() + each.data + b"\n\n"


def _listed(each: Event) -> bytes:
    tail = f',"id":{each.id}' if each.id is not None else ""
    return f'{{"event":"{each.name}","data":'.encode() + each.data + tail.encode() + b"}\n"


SSE = Form("text/event-stream", b"retry: 2000\n\n", b": still here\n\n", _sent)
NDJSON = Form("application/x-ndjson", b"", b"\n", _listed)
FORMS = {form.media: form for form in (SSE, NDJSON)}
"""Media type -> form; the first one for whoever takes any."""
