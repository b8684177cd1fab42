"""A tournament as an aggregate: a value, folded from its records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from domain.errors import VerificationError
from domain.kernel.records.record import Record
from domain.kernel.schema.json_codec import from_json
from domain.tournaments.records import FAMILY, KINDS
from domain.tournaments.results import VOID, Stage, TableResult
from domain.tournaments.terms import StageTerms, Terms
from domain.types import Doc

STATUSES = ("registering", "checking", "drawing", "running", "finished", "cancelled")

TablePlace = tuple[int, int]
"""Round and pod of a table, from 1."""


class Entrant(NamedTuple):
    """A person who entered; the number is the place in the list of entrants, from 0."""

    player: str
    withdrawn: bool = False


class RoundPods(NamedTuple):
    """Pods of a round as drawn, entrants in order of their seats, and those with a bye."""

    pods: tuple[tuple[int, ...], ...]
    byes: tuple[int, ...]


@dataclass(frozen=True)
class PodTable:
    """The game of a pod, and its result once reported."""

    entrants: tuple[int, ...]
    """By seat."""
    game: str = ""
    annulled: str = ""
    result: Doc | None = None
    """Body of the report."""


@dataclass(frozen=True)
class Tournament:
    """A tournament after its last record."""

    id: str
    director: str
    """Player id of the organiser."""
    terms: Terms
    status: str = "registering"
    version: int = 1
    hash: str = ""
    """Hash of the last record."""
    time: int = 0
    """Time of the last record, ms."""
    entrants: tuple[Entrant, ...] = ()
    commitments: Mapping[int, str] = field(default_factory=dict)
    """Checked-in entrant -> commitment to a nonce, or an empty string."""
    participants: tuple[int, ...] = ()
    """Entrants at the close of the check-in, within the capacity."""
    checkin_closed_at: int = 0
    nonces: Mapping[int, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    """Published secrets of the chain, hex: s_0, then one for each draw."""
    key: str = ""
    """Key of the last draw, hex."""
    plan: str = ""
    """Name of the design or search behind the rounds."""
    rounds: tuple[RoundPods, ...] = ()
    tables: Mapping[TablePlace, PodTable] = field(default_factory=dict)
    rankings: tuple[Doc, ...] = ()
    """Body of each `ranked`, by round."""

    @property
    def stage_terms(self) -> StageTerms:
        """Options of the stage."""
        return self.terms.stages[0]

    @property
    def is_over(self) -> bool:
        """Return whether it takes no further record."""
        return self.status in ("finished", "cancelled")

    @property
    def nonces_end(self) -> int:
        """Time until which nonces may be shown, ms."""
        return self.checkin_closed_at + self.terms.reveal * 1000

    @property
    def hidden_nonces(self) -> list[int]:
        """Participants with a commitment and no nonce shown."""
        return [e for e in self.participants if self.commitments.get(e) and e not in self.nonces]

    def find_entrant(self, players: Sequence[str]) -> int | None:
        """Return the number under which a person with these player ids has entered and not withdrawn, or None."""
        found = (n for n, each in enumerate(self.entrants) if each.player in players and not each.withdrawn)
        return next(found, None)

    def is_waiting(self, entrant: int) -> bool:
        """Return whether an entrant is on the waiting list: those before have taken all places."""
        before = sum(not each.withdrawn for each in self.entrants[:entrant])
        return not self.participants and before >= self.terms.capacity

    def list_present(self, round_: int, pod: int) -> tuple[int, ...]:
        """Return the entrants of a pod who have not withdrawn, by seat."""
        return tuple(e for e in self.rounds[round_ - 1].pods[pod - 1] if not self.entrants[e].withdrawn)

    def fits_pod(self, round_: int, pod: int, entrants: Sequence[int]) -> bool:
        """Return whether these are entrants of a pod by seat: all who are present, and nobody else.

        Somebody who withdraws while the table is made may be among them.
        """
        drawn = self.rounds[round_ - 1].pods[pod - 1]
        in_order = [entrant for entrant in drawn if entrant in entrants]
        return in_order == [*entrants] and set(self.list_present(round_, pod)) <= set(entrants)

    def has_ended(self, round_: int) -> bool:
        """Return whether every table of a round has a result or is annulled."""
        tables = [self.tables.get((round_, pod + 1)) for pod in range(len(self.rounds[round_ - 1].pods))]
        return all(table is not None and bool(table.annulled or table.result) for table in tables)

    def stage(self, upto: int | None = None) -> Stage:
        """Return results and options up to a round, or all of them, for totals and ties."""
        last = len(self.rounds) if upto is None else upto
        begun = max((round_ for round_, _ in self.tables), default=0)
        terms = self.stage_terms
        return Stage(
            len(self.entrants),
            tuple(_read_result(place, table) for place, table in sorted(self.tables.items()) if place[0] <= last),
            min(begun, last),
            frozenset((n, e) for n, each in enumerate(self.rounds[: min(begun, last)], 1) for e in each.byes),
            {},
            terms.scoring,
            terms.parameters,
            terms.total,
            terms.ties,
            bytes.fromhex(self.key),
            frozenset(range(len(self.entrants))) - set(self.participants),
        )


def _read_result(place: TablePlace, table: PodTable) -> TableResult:
    result = table.result or {}
    annulled = table.annulled or (VOID if result and not result["places"] else "")
    places, points = tuple(result.get("places", ())), tuple(result.get("points", ()))
    return TableResult(*place, table.entrants, places, points, annulled=annulled)


def initial_tournament(record: Record) -> Tournament:
    """Return the tournament after its first record; raise VerificationError `no_beginning` for any other."""
    body = record.body
    if record.kind != FAMILY + "opened" or record.version != 1:
        raise VerificationError("no_beginning", 1)
    terms = from_json(Terms, body["terms"])
    secrets = (str(body["secret"]),)
    return Tournament(body["tournament"], body["director"], terms, hash=record.hash, time=record.time, secrets=secrets)


# --- what each kind changes


def _enter(t: Tournament, record: Record) -> Tournament:
    return replace(t, entrants=(*t.entrants, Entrant(record.body["player"])))


def _withdraw(t: Tournament, record: Record) -> Tournament:
    entrant = record.body["entrant"]
    entrants = [each._replace(withdrawn=True) if n == entrant else each for n, each in enumerate(t.entrants)]
    return replace(t, entrants=tuple(entrants))


def _open_checkin(t: Tournament, _: Record) -> Tournament:
    return replace(t, status="checking")


def _check_in(t: Tournament, record: Record) -> Tournament:
    return replace(t, commitments={**t.commitments, record.body["entrant"]: record.body.get("nonce_hash", "")})


def _close_checkin(t: Tournament, record: Record) -> Tournament:
    return replace(t, status="drawing", participants=tuple(record.body["entrants"]), checkin_closed_at=record.time)


def _reveal(t: Tournament, record: Record) -> Tournament:
    return replace(t, nonces={**t.nonces, record.body["entrant"]: record.body["nonce"]})


def _draw(t: Tournament, record: Record) -> Tournament:
    return replace(t, secrets=(*t.secrets, record.body["secret"]), key=record.body["key"])


def _pair(t: Tournament, record: Record) -> Tournament:
    rounds = tuple(RoundPods(tuple(map(tuple, each["pods"])), tuple(each["byes"])) for each in record.body["rounds"])
    return replace(t, status="running", plan=record.body["plan"], rounds=rounds)


def _set_table(t: Tournament, record: Record, table: PodTable) -> Tournament:
    return replace(t, tables={**t.tables, (record.body["round"], record.body["pod"]): table})


def _add_table(t: Tournament, record: Record) -> Tournament:
    return _set_table(t, record, PodTable(tuple(record.body["entrants"]), record.body["game"]))


def _annul(t: Tournament, record: Record) -> Tournament:
    place = record.body["round"], record.body["pod"]
    table = t.tables.get(place) or PodTable(t.list_present(*place))
    return _set_table(t, record, replace(table, annulled=record.body["how"]))


def _report(t: Tournament, record: Record) -> Tournament:
    table = t.tables[record.body["round"], record.body["pod"]]
    return _set_table(t, record, replace(table, result=record.body))


def _rank(t: Tournament, record: Record) -> Tournament:
    return replace(t, rankings=(*t.rankings, record.body))


def _close(t: Tournament, _: Record) -> Tournament:
    return replace(t, status="finished")


def _cancel(t: Tournament, _: Record) -> Tournament:
    return replace(t, status="cancelled")


_CHANGES: Mapping[str, Callable[[Tournament, Record], Tournament]] = dict(
    zip(
        KINDS[1:],
        (
            _enter,
            _withdraw,
            _open_checkin,
            _check_in,
            _close_checkin,
            _reveal,
            _draw,
            _pair,
            _add_table,
            _annul,
            _report,
            _rank,
            _close,
            _cancel,
        ),
        strict=True,
    )
)


def apply_tournament_record(t: Tournament, record: Record) -> Tournament:
    """Return the tournament after one more record."""
    changed = _CHANGES[record.kind](t, record)
    return replace(changed, version=record.version, hash=record.hash, time=record.time)


def fold_tournament(records: Sequence[Record]) -> Tournament:
    """Return the tournament after its records; raise VerificationError without a beginning."""
    if not records:
        raise VerificationError("no_beginning", 1)
    t = initial_tournament(records[0])
    for record in records[1:]:
        t = apply_tournament_record(t, record)
    return t
