"""Officers of a table: people acting for it, with their roles. A record names the officer behind it.

The opener of a table is its owner; no record says so before the table is handed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from domain.types import Doc

if TYPE_CHECKING:
    from domain.kernel.records.record import Record

Office = Literal["arbiter", "deputy", "director", "owner"]

OFFICES: tuple[Office, ...] = ("arbiter", "deputy", "director", "owner")
"""Roles of officers, rising: each includes the rights of those before it."""


@dataclass(frozen=True)
class Officer:
    """The officer behind a command."""

    player: str
    """Opaque id of the person."""
    office: Office
    reason: str = ""
    """Salted hash of the reason, if one was given."""

    def to_json(self) -> Doc:
        """Return the member `officer` of a record."""
        return {"player": self.player, "office": self.office} | ({"reason": self.reason} if self.reason else {})

    @classmethod
    def from_json(cls, doc: Doc) -> Officer:
        """Return the officer of the JSON form."""
        return cls(doc["player"], doc["office"], doc.get("reason", ""))

    @classmethod
    def from_record(cls, record: Record) -> Officer | None:
        """Return the officer behind a record, if it names one; older records do not."""
        doc = record.public.get("officer")
        return None if doc is None else cls.from_json(doc)


def includes_office(held: str | None, office: str) -> bool:
    """Return whether an officer with one role has the rights of another role."""
    return held is not None and OFFICES.index(held) >= OFFICES.index(office)


def may_give(giver: str, office: str | None) -> bool:
    """Return whether an officer gives and ends this role: an owner every one, others those below the own one."""
    return giver == "owner" or not includes_office(office, giver)


@dataclass(frozen=True)
class Staff:
    """The officers of a game, as far as its records name them."""

    owner: str = ""
    """Player id of the owner; empty until the table is handed over."""
    former_owner: str = ""
    """Player id of the first owner, from the first handing over."""
    offices: Mapping[str, Office] = field(default_factory=dict)
    """Player id -> role of all other officers."""
    people: frozenset[str] = frozenset()
    """All people with a role now or earlier, by records."""

    def office_of(self, player: str) -> Office | None:
        """Return a person's role, or None. The first owner is not known."""
        return "owner" if self.owner and player == self.owner else self.offices.get(player)

    def has(self, officer: Officer) -> bool:
        """Return whether the officer has the role; the first owner is believed."""
        is_first_owner = officer.office == "owner" and not self.owner
        return is_first_owner or self.office_of(officer.player) == officer.office

    def after(self, body: Doc) -> Staff:
        """Return the officers after a record `deputed` with this body."""
        player, role = body["player"], body["role"]
        offices = {p: office for p, office in self.offices.items() if p != player}
        people = self.people | {player, *filter(None, [body.get("from")])}
        if role == "owner":
            return Staff(player, self.former_owner or body.get("from", ""), offices, people)
        offices |= {} if role == "none" else {player: role}
        return Staff(self.owner, self.former_owner, offices, people)
