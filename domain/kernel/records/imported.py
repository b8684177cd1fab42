"""Records of an imported game as its readers here see them.

The game has an id of its own, and its people have ids that nobody here can have. Salted hashes of reasons are left out,
or a text kept here could be found by one. Hashes of records stay those of the file, so the chain does too.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence

from domain.kernel.records.record import Record
from domain.types import Doc

PERSON = "imported-{}"
"""Id of a person of an imported game, numbered in the order of appearance."""

BOT = "bot-"

_PEOPLE = ("player", "from")
"""Members of a body with the id of a person."""


def localize_records(records: Sequence[Record], game: str) -> tuple[Record, ...]:
    """Return all records of an imported game for its readers, under its id here."""
    numbers = itertools.count(1)
    people: dict[str, str] = defaultdict(lambda: PERSON.format(next(numbers)))
    mark = {"game": records[0].body["game"], "head": records[-1].hash}
    return tuple(_localize(record, game, people, mark) for record in records)


def _localize(record: Record, game: str, people: Mapping[str, str], mark: Doc) -> Record:
    public, body = dict(record.public), dict(record.body)
    for name in _PEOPLE:
        if body.get(name):
            body[name] = _rename(body[name], people)
    if record.kind == "rewound" or body.get("act") == "appeal":
        body.pop("reason", None)
    if record.kind == "opened":
        body |= {"game": game, "listing": "unlisted", "imported": mark}
        body.pop("delay", None)
    if body:
        public["body"] = body
    if officer := public.get("officer"):
        public["officer"] = {"player": _rename(officer["player"], people), "office": officer["office"]}
    local = Record(public, record.packs)
    local.__dict__["hash"] = record.hash
    return local


def _rename(player: str, people: Mapping[str, str]) -> str:
    return player if player.startswith(BOT) else people[player]
