"""The form of a player's treaty, and its request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from flask import request

from api.pages.common.in_process import require
from api.pages.common.numbers import parse_number
from api.pages.table.table_page import TablePage
from domain.types import MAX_INT, Doc, Json

HOURS = (24, 72, 168)
"""Times offered for an answer, hours."""

_WORDS = ("region", "card")


@dataclass(frozen=True)
class TreatyForm:
    """Kinds of treaties for some seats, and the kind being written."""

    to: Sequence[int]
    """Seats of a letter; empty: the table."""
    kinds: Sequence[Doc]
    chosen: Doc | None
    """The kind being written; None: none chosen yet."""
    counters: int = 0
    """Place of the treaty countered by this one; 0: none."""

    @property
    def hours(self) -> Sequence[int]:
        """Return the times for an answer."""
        return HOURS

    def query_of(self, kind: str) -> dict[str, Json]:
        """Return the query of the form for a kind."""
        return {"propose": kind, "to": ",".join(map(str, self.to)), "counter": self.counters}

    def name_field(self, found: Doc) -> str:
        """Return the name of a field in the form: a letter tells numbers from words."""
        return f"{'w' if found['kind'] in _WORDS else 'n'}.{found['field']}"


def load_form(page: TablePage, talk: Doc, conversation: Doc | None) -> TreatyForm | None:
    """Return the form asked for by the visitor, or None; None as well if nothing may be written there."""
    wanted, seat = request.values.get("propose", ""), talk["seat"]
    may_write = talk["public" if conversation and conversation["kind"] == "table" else "private"]
    if not wanted or not may_write:
        return None
    seats = _read_addressees(seat, conversation)
    query = urlencode({"to": ",".join(map(str, seats))})
    doc = require("GET", f"/games/{page.game}/talk/treaties?{query}", role=page.role)
    chosen = next((each for each in doc["kinds"] if each["kind"] == wanted), None)
    counters = parse_number(request.values.get("counter", ""), MAX_INT) or 0
    return TreatyForm(seats, doc["kinds"], chosen, counters)


def _read_addressees(seat: int, conversation: Doc | None) -> list[int]:
    """Return the other seats of the conversation, or those named by the query; none: the table."""
    if conversation is not None:
        return [] if conversation["kind"] == "table" else [each for each in conversation["seats"] if each != seat]
    named = [parse_number(each, 99) for each in request.values.get("to", "").split(",") if each]
    return [each for each in named if each is not None]


def read_treaty(form: Mapping[str, str]) -> Doc | None:
    """Return the treaty of a sent form, or None."""
    if not form.get("treaty"):
        return None
    values: Doc = {}
    for name, value in form.items():
        sort, _, member = name.partition(".")
        if sort in ("n", "w") and member:
            number = parse_number(value, MAX_INT) if sort == "n" else None
            values[member] = value if number is None else number
    return {"kind": form["treaty"], "values": values, "hours": parse_number(form.get("hours", ""), 720) or HOURS[1]}


def read_answer(form: Mapping[str, str]) -> Doc | None:
    """Return the answer of a sent form, or None."""
    entry = parse_number(form.get("entry", ""), MAX_INT)
    return {"entry": entry, "answer": form.get("answer", "")} if entry else None
