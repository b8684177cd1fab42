"""A stage of a tournament in play: members, rounds, tables and official standings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from domain.errors import TournamentError, VerificationError
from domain.tournaments import result_rulings
from domain.tournaments.attendance import find_absent_seats
from domain.tournaments.results import VOID, Stage, TableResult
from domain.types import Doc

TablePlace = tuple[int, int]
"""Round and pod of a table, from 1."""

QUEUE_PLANS = FIRST_QUEUE_PLAN, QUEUE_PLAN = ("queue@1", "queue@2")
"""Names of the rules for pods from the queue of a ladder or arena. By the first one, the key of a day was enough to
compute a seat before joining."""

ABSENCES = UNCHECKED, WITHDREW, EXCLUDED, OUT, LATE = ("unchecked", "withdrew", "excluded", "out", "late")
"""Causes to have no table in a round: no check-in, a withdrawal, a ruling, a lost knockout, or a later entry."""

REPLAY = "replay"
"""Way to annul a table: it is played once more, in another game."""


class RoundPods(NamedTuple):
    """Pods of a round as drawn, entrants in order of their seats, and those with a bye."""

    pods: tuple[tuple[int, ...], ...]
    byes: tuple[int, ...]
    relations: tuple[tuple[int, int, str], ...] = ()
    """Pairs of entrants with a class of weight, `apart` or `near`."""

    def list_together(self) -> list[tuple[int, int, str]]:
        """Return the pairs with a class of weight and the same pod."""
        return [each for each in self.relations if any({*each[:2]} <= {*pod} for pod in self.pods)]


class RoundDraw(NamedTuple):
    """Number along the chain, and key in hex, of a draw."""

    number: int
    key: str
    at: int = 0
    """ms since 1970 UTC."""


class EnteredScores(NamedTuple):
    """Scores of a table elsewhere, before they are its result."""

    version: int
    """Of the record of their entry."""
    places: tuple[int, ...]
    points: tuple[int, ...]
    """By seat."""
    at: int
    """ms since 1970 UTC."""
    confirmed: frozenset[int]
    """Entrants behind them: by a confirmation, or by their entry."""
    officer: str = ""
    """Player id of an officer, after an entry by one."""

    def equals(self, body: Doc) -> bool:
        """Return whether another entry has the same places and points."""
        return self.places == tuple(body["places"]) and self.points == tuple(body["points"])


@dataclass(frozen=True)
class PodTable:
    """The game of a pod, and its result once reported."""

    entrants: tuple[int, ...]
    """By seat."""
    game: str = ""
    annulled: str = ""
    result: Doc | None = None
    """Body of the report."""
    ended_at: int = 0
    """Time of the first report, ms since 1970 UTC."""
    made_at: int = 0
    """Time of its making, ms since 1970 UTC."""
    elsewhere: bool = False
    """True if it is played outside of the service, without a game."""
    scores: EnteredScores | None = None
    """Of a table elsewhere: the last scores entered."""

    @property
    def is_reported_by_game(self) -> bool:
        """Return whether its result comes from a game here: it is not annulled, nor elsewhere."""
        return bool(self.game) and not self.annulled

    @property
    def is_open(self) -> bool:
        """Return whether it is in play, here or elsewhere."""
        return bool(self.game or self.elsewhere) and not self.annulled and self.result is None


@dataclass(frozen=True)
class SealedBid:
    """Bid or list of seats of an entrant. `version` is that of its record."""

    version: int
    seal: str
    """Hash of the pack."""
    pack: Doc | None = field(default=None, compare=False, repr=False)
    """`bid` and `salt`, in the service alone until the seats are given."""

    def open(self) -> Doc:
        """Return the pack; raise VerificationError without it."""
        if self.pack is None:
            raise VerificationError("seating_mismatch", self.version, "the bid is sealed")
        return self.pack


@dataclass(frozen=True)
class RulingAppeal:
    """An entrant's appeal against a ruling, and the answer of another officer once there is one."""

    version: int
    entrant: int
    at: int
    """ms since 1970 UTC."""
    reason: str
    """Salted hash of the reason."""
    outcome: str = ""
    """`upheld`, `overturned`, or empty before the answer."""
    officer: str = ""
    answered_at: int = 0
    answer: str = ""
    """Salted hash of the answer's reason."""


@dataclass(frozen=True)
class OfficerRuling:
    """A ruling of an officer. `version` is that of its record."""

    version: int
    kind: str
    body: Doc
    at: int = 0
    """ms since 1970 UTC."""
    reason: str = ""
    """Salted hash of the reason."""
    restored: bool = False
    """True once it has been taken back."""
    appeals: tuple[RulingAppeal, ...] = ()
    """One of each entrant at most."""

    @property
    def appeal(self) -> RulingAppeal | None:
        """The appeal to be answered next, else the last one, or None."""
        return next((each for each in self.appeals if not each.outcome), self.appeals[-1] if self.appeals else None)

    def find_appeal(self, entrant: int | None) -> RulingAppeal | None:
        """Return the appeal of an entrant, or without one `appeal`."""
        return self.appeal if entrant is None else next((e for e in self.appeals if e.entrant == entrant), None)


@dataclass(frozen=True)
class StagePlay:
    """A stage in play."""

    members: tuple[int, ...] = ()
    """Entrants with a part in the stage; from the second stage on in order of their seeds."""
    draws: Mapping[int, RoundDraw] = field(default_factory=dict)
    """Round -> its last draw. The first one of a league or design is that of all rounds."""
    plan: str = ""
    """Name of the design or search behind the rounds."""
    planned: int = 0
    """Number of rounds, known from the first draw."""
    rounds: tuple[RoundPods, ...] = ()
    tables: Mapping[TablePlace, PodTable] = field(default_factory=dict)
    attempts: Mapping[TablePlace, int] = field(default_factory=dict)
    """Number of attempts at a table before this one, of those played again."""
    rankings: tuple[Doc, ...] = ()
    """Body of each round's last `ranked`."""
    bidding: Mapping[int, int] = field(default_factory=dict)
    """Round -> end of the time for its bids, ms."""
    bids: Mapping[tuple[int, int], SealedBid] = field(default_factory=dict)
    """Round and entrant -> the last bid."""
    excused: frozenset[tuple[int, int]] = frozenset()
    """Round and entrant of withdrawals while bids were open. Nobody waits for these bids, even after a return."""
    seatings: Mapping[TablePlace, Doc] = field(default_factory=dict)
    """Body of each pod's `seated`."""
    queue: Mapping[int, int] = field(default_factory=dict)
    """Entrant waiting for a table -> the time since, ms; in order of the queue."""
    queue_closed: bool = False
    """True while nobody may wait for a table."""
    warnings: frozenset[tuple[int, bool]] = frozenset()
    """Rounds with a warning of their end, and True for the end before an extension."""
    absences: Mapping[int, Mapping[int, str]] = field(default_factory=dict)
    """Round -> each entrant without a pod or a bye at its draw -> the cause, one of ABSENCES."""

    @property
    def key(self) -> str:
        """Key of the last draw, hex, or an empty string."""
        return self.find_draw(len(self.rounds) + 1).key

    def find_draw(self, round_: int) -> RoundDraw:
        """Return the last draw up to a round; one without a key if there is none."""
        return next((self.draws[n] for n in range(round_, 0, -1) if n in self.draws), RoundDraw(0, ""))

    def list_pod(self, place: TablePlace) -> Sequence[int]:
        """Return the entrants of a pod by seat: those seated by bids or lists, before that all who were drawn."""
        seated = self.seatings.get(place)
        pod: Sequence[int] = seated["entrants"] if seated else self.rounds[place[0] - 1].pods[place[1] - 1]
        return pod

    def list_handicaps(self, place: TablePlace, entrants: Sequence[int]) -> tuple[int, ...]:
        """Return the handicaps of a table by seat, in ticks; empty without bids."""
        seated = self.seatings.get(place, {})
        found = dict(zip(seated["entrants"], seated["handicaps"], strict=True)) if "handicaps" in seated else {}
        return tuple(found[entrant] for entrant in entrants) if found else ()

    @property
    def has_ended(self) -> bool:
        """Return whether all rounds are drawn and ranked, with no table in play."""
        return 0 < self.planned == len(self.rankings) and self.find_open_round() is None

    def has_round_ended(self, round_: int) -> bool:
        """Return whether every table of a round has a result or is annulled."""
        tables = [self.tables.get((round_, pod + 1)) for pod in range(len(self.rounds[round_ - 1].pods))]
        return all(table is not None and bool(table.annulled or table.result) for table in tables)

    def find_open_round(self) -> int | None:
        """Return the first drawn round with a table in play, or None."""
        return next((n for n in range(1, len(self.rounds) + 1) if not self.has_round_ended(n)), None)

    def list_playing(self, round_: int = 0) -> list[PodTable]:
        """Return the tables in play of a round, or of all, those elsewhere too."""
        found = [table for place, table in self.tables.items() if round_ in (0, place[0])]
        return [table for table in found if table.is_open]

    def has_tables(self, round_: int = 0) -> bool:
        """Return whether a table of a round has been made, or of any round."""
        return any(round_ in (0, place[0]) for place in self.tables)

    def attempt_at(self, place: TablePlace) -> int:
        """Return the number of the attempt at a table, from 1."""
        return 1 + self.attempts.get(place, 0)


def read_result(place: TablePlace, table: PodTable, handicaps: tuple[int, ...] = ()) -> TableResult:
    """Return a table for totals and ties, `handicaps` in ticks by seat; a game without places does not count."""
    result = table.result or {}
    annulled = table.annulled or (VOID if result and not result["places"] else "")
    places, points = tuple(result.get("places", ())), tuple(result.get("points", ()))
    absent, lapses = find_absent_seats(result.get("decisions", ())), tuple(result.get("lapses", ()))
    absent |= frozenset(result.get("left", ()))
    return TableResult(
        *place,
        table.entrants,
        places,
        points,
        handicaps=handicaps,
        absent=absent,
        lapses=lapses,
        annulled=annulled,
    )


def apply_rulings(stage: Stage, number: int, play: StagePlay, rulings: tuple[OfficerRuling, ...]) -> Stage:
    """Return a stage with the rulings on it, in their order; those on tables that it lacks are left out."""
    penalties = dict(stage.penalties)
    for ruling in rulings:
        body = ruling.body
        if ruling.restored or body["stage"] != number:
            continue
        if ruling.kind == "penalised":
            penalties[body["entrant"]] = penalties.get(body["entrant"], 0) + body["ticks"]
        elif ruling.kind == "excluded":
            stage = result_rulings.exclude(stage, body["entrant"], body["results"])
        elif body.get("attempt") == play.attempt_at((body["round"], body["pod"])):
            stage = _rule_on_table(stage, ruling)
    return result_rulings.penalise(stage, penalties)


def _rule_on_table(stage: Stage, ruling: OfficerRuling) -> Stage:
    name = f"{ruling.body['round']}.{ruling.body['pod']}"
    try:
        if ruling.kind == "placed":
            return result_rulings.place(result_rulings.restore(stage, name), name, ruling.body["places"])
        return result_rulings.annul(stage, name, ruling.body["how"])
    except TournamentError:  # a table of a later round
        return stage
