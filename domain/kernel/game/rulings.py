"""Rulings about the end of a game, and its final places.

A ruling ends play at once. For a day, or the time in its record, it can be withdrawn, and nothing hidden is shown. Then
the game is closed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, get_args

from domain.kernel.game.deadlines import DAY, SECOND
from domain.kernel.game.officers import Office, Officer
from domain.kernel.game.playing_time import Pause
from domain.kernel.rules.ruleset import AnyRuleset, AnyScore
from domain.types import Seat

if TYPE_CHECKING:
    from domain.kernel.game.game import AnyGame
    from domain.kernel.records.record import Record

Ending = Literal["adjourned", "adjudicated", "forfeited", "annulled"]
ENDINGS: tuple[Ending, ...] = get_args(Ending)
"""Endings by ruling: ranked by the true state, by given places, with forfeiting seats last; without a result."""

WITHDRAWAL_MS = DAY
"""Time for withdrawing a ruling, ms, unless its record has another one."""

LEAST_FINAL_AFTER, DEFAULT_FINAL_AFTER = 600, WITHDRAWAL_MS // SECOND
"""Shortest time for withdrawing an officer's ruling, and that of a ruling without one, seconds."""


@dataclass(frozen=True)
class Ruling:
    """A ruling about the end."""

    version: int
    at: int
    """Its time, ms."""
    reason: Ending
    office: Office | None = None
    """The role of its author."""
    places: Sequence[int] = ()
    """Place of each seat, of `adjudicated`."""
    forfeits: Sequence[Seat] = ()
    """Seats ranked last, of `forfeited`."""
    penalties: Mapping[Seat, int] = field(default_factory=dict)
    """Seat -> penalty points, apart from the points of the game."""
    pause: Pause | None = None
    """The pause that it found."""
    window: int = WITHDRAWAL_MS
    """Time for withdrawing it, ms; 0 for one by the table's own time limit."""
    contested_until: int = 0
    """Time until which an appeal keeps it open, ms; 0 without one."""

    @property
    def final_at(self) -> int:
        """Return the end of the time for withdrawing it, ms."""
        return max(self.at + self.window, self.contested_until)

    @property
    def is_ranked(self) -> bool:
        """Return whether there are final places."""
        return self.reason != "annulled"

    def after_appeal(self, record: Record, times: Mapping[str, int]) -> Ruling:
        """Return the ruling after an appeal against it or an answer: it can be withdrawn while an answer may come.

        An overturned one can be withdrawn for another day.
        """
        if record.body["act"] == "appeal":
            until = record.time + times["answer"] * SECOND
            return replace(self, contested_until=max(self.contested_until, until))
        is_overturned = record.body["outcome"] == "overturned"
        return replace(self, contested_until=record.time + WITHDRAWAL_MS if is_overturned else 0)

    @classmethod
    def from_record(cls, record: Record, pause: Pause | None) -> Ruling:
        """Return the ruling of its record."""
        body, officer = record.body, Officer.from_record(record)
        penalties = {int(seat): points for seat, points in body.get("penalties", {}).items()}
        lists = tuple(body.get("places", ())), tuple(body.get("forfeits", ()))
        office = officer.office if officer else None
        window = body["final_after"] * SECOND if "final_after" in body else WITHDRAWAL_MS
        return cls(record.version, record.time, body["reason"], office, *lists, penalties, pause, window)

    def penalties_to_json(self) -> dict[str, int]:
        """Return seat -> penalty points."""
        return {str(seat): points for seat, points in self.penalties.items()}


def is_ranking(places: Sequence[int]) -> bool:
    """Return whether these are places with ties: each is one more than the number of better ones."""
    return all(place == 1 + sum(other < place for other in places) for place in places)


def final_scores(rules: AnyRuleset, game: AnyGame) -> list[AnyScore]:
    """Return the final table of a game that is over by its rules, or closed by a ruling; empty without places."""
    ruling = game.reversible.ruling
    if game.is_finished:
        return list(rules.scores(game.state))
    if game.status != "closed" or ruling is None or not ruling.is_ranked:
        return []
    scores = rules.scores(game.state)
    if ruling.places:
        return [replace(score, place=ruling.places[score.seat]) for score in scores]
    return [replace(score, place=_place_of(score, scores, ruling.forfeits)) for score in scores]


def _place_of(score: AnyScore, scores: Sequence[AnyScore], forfeits: Sequence[Seat]) -> int:
    if not forfeits:
        return score.place
    others = [other for other in scores if other.seat not in forfeits]
    if score.seat in forfeits:
        return 1 + len(others)
    return 1 + sum(other.place < score.place for other in others)
