"""Appeals of seats against acts of officers, as a game's records tell them.

They belong to the game, not to its versions. Their times are times of day: a pause does not stop them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from domain.kernel.game.deadlines import SECOND
from domain.kernel.game.officers import Office, Officer
from domain.types import Seat

if TYPE_CHECKING:
    from domain.kernel.game.game import AnyGame
    from domain.kernel.records.record import Record

Outcome = Literal["upheld", "overturned"]

APPEAL_ACTS = ("appeal", "answer")
"""Acts of records `ruled` for an appeal and its answer."""


@dataclass(frozen=True)
class OfficialAct:
    """An act of an officer, as everybody sees it: a look at hidden data cannot be told from a secret move."""

    version: int
    appeal_by: int
    """End of the time to appeal, ms."""
    player: str
    """The officer's player id; empty in records without officers."""
    office: Office | None


@dataclass(frozen=True)
class AppealAnswer:
    """The answer of an officer to all appeals against an act."""

    version: int
    at: int
    """Its time, ms."""
    outcome: Outcome
    officer: Officer | None
    by_owner: bool
    """The owner answers about an own act, for want of another officer."""


@dataclass(frozen=True)
class Appeal:
    """An appeal of a seat against an act."""

    version: int
    """Version of the contested act."""
    made_in: int
    """Version of the appeal's own record."""
    seat: Seat
    at: int
    """Its time, ms."""
    answer_by: int
    """End of the time to answer, ms."""
    reason: str = ""
    """Salted hash of the reason."""
    answer: AppealAnswer | None = None


@dataclass(frozen=True)
class Appeals:
    """The acts of officers at a table with appeals, and the appeals against them."""

    acts: tuple[OfficialAct, ...] = ()
    appeals: tuple[Appeal, ...] = ()

    @property
    def unanswered(self) -> tuple[Appeal, ...]:
        """Return the appeals without an answer: open ones, and those whose time is over."""
        return tuple(appeal for appeal in self.appeals if appeal.answer is None)

    def find_act(self, version: int) -> OfficialAct | None:
        """Return the act of an officer in this version, or None."""
        return next((act for act in self.acts if act.version == version), None)

    def list_against(self, version: int) -> tuple[Appeal, ...]:
        """Return the appeals against the act in this version."""
        return tuple(appeal for appeal in self.appeals if appeal.version == version)

    def after(self, record: Record, times: Mapping[str, int]) -> Appeals:
        """Return the appeals after a record `ruled` or `rewound`; `times` are the seconds to appeal and to answer."""
        head, body = record.head, record.body
        act, at = body.get("act"), head.at
        if act == "shift" and head.kind == "ruled":
            return self._shift(at - body["ms"], body["ms"])
        if act == "appeal" and head.seat is not None:
            answer_by, reason = at + times["answer"] * SECOND, body.get("reason", "")
            appeal = Appeal(body["version"], record.version, head.seat, at, answer_by, reason)
            return replace(self, appeals=(*self.appeals, appeal))
        if act == "answer":
            officer = Officer.from_record(record)
            answer = AppealAnswer(record.version, at, body["outcome"], officer, body.get("answered_by") == "owner")
            return replace(self, appeals=tuple(_settle(appeal, body["version"], answer) for appeal in self.appeals))
        if record.public.get("by") != "director":
            return self
        officer = Officer.from_record(record)
        author = (officer.player, officer.office) if officer else ("", None)
        return replace(self, acts=(*self.acts, OfficialAct(record.version, at + times["appeal"] * SECOND, *author)))

    def _shift(self, since: int, ms: int) -> Appeals:
        """Return them after the clock was set forward at `since`: times that were not over move."""
        acts = tuple(replace(a, appeal_by=a.appeal_by + ms) if a.appeal_by > since else a for a in self.acts)
        appeals = tuple(
            replace(a, answer_by=a.answer_by + ms) if a.answer is None and a.answer_by > since else a
            for a in self.appeals
        )
        return Appeals(acts, appeals)


def _settle(appeal: Appeal, version: int, answer: AppealAnswer) -> Appeal:
    return replace(appeal, answer=answer) if appeal.version == version and appeal.answer is None else appeal


def answering_role(game: AnyGame, act: OfficialAct) -> Literal["officer", "owner", "nobody"]:
    """Return the answerer of appeals against an act: another officer without a stake, or else the owner.

    Nobody answers if the owner has a stake, or names are hidden: whether the owner plays would be told. The first owner
    is known by own acts only.
    """
    staff = game.lasting.staff
    others = {*staff.offices, *filter(None, [staff.owner])} - {act.player}
    if any(not game.has_stake([player]) for player in others):
        return "officer"
    if not staff.owner and act.office != "owner":
        return "officer"
    return "nobody" if game.terms.get("names") == "hidden" or game.has_stake([act.player]) else "owner"
