"""The file of results of an event, as an organiser writes it: JSON with entrants, rounds and their pods."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from domain.errors import FormError, TournamentError
from domain.kernel.schema.json_codec import from_json
from domain.tournaments import result_rulings
from domain.tournaments.bids import DEFAULT_RATE, check_bid, count_handicap, fill_bid, find_best_assignments
from domain.tournaments.designs import MAX_ROUNDS
from domain.tournaments.next_round import Relations
from domain.tournaments.pods import Pair
from domain.tournaments.results import DEFAULT_TIES, Stage, TableResult
from domain.tournaments.scoring import USES_POINTS, ScoringParameters, check_places, find_scoring, rank_points
from domain.tournaments.sizes import MAX_SEATS
from domain.tournaments.ties import check_ties
from domain.tournaments.totals import check_total
from domain.types import MAX_WORD, Doc, Json

MAX_ENTRANTS = 1000
KEY_BYTES = 32


@dataclass(frozen=True)
class PodForm:
    """A pod in order of its seats. Places follow from points if they are left out; without both it is running."""

    entrants: tuple[Json, ...]
    places: tuple[int, ...] = ()
    points: tuple[int, ...] = ()
    alive: tuple[bool, ...] = ()
    solo: Json = None
    absent: tuple[Json, ...] = ()
    lapses: tuple[int, ...] = ()
    bids: tuple[Json, ...] = ()


@dataclass(frozen=True)
class RoundForm:
    """A round."""

    pods: tuple[PodForm, ...]
    byes: tuple[Json, ...] = ()


@dataclass(frozen=True)
class PenaltyForm:
    """Ticks subtracted from an entrant's total."""

    entrant: Json
    ticks: int
    reason: str = ""


@dataclass(frozen=True)
class AnnulledForm:
    """A table out of the count."""

    table: str
    how: str
    reason: str = ""


@dataclass(frozen=True)
class ResultsForm:
    """The file."""

    entrants: Json
    rounds: tuple[RoundForm, ...]
    scoring: str = "normal"
    unit: int = 1
    lists: dict[str, tuple[int, ...]] = field(default_factory=dict)
    total: str = "sum"
    ties: tuple[str, ...] = DEFAULT_TIES
    key: str = ""
    bid_rate: int = DEFAULT_RATE
    penalties: tuple[PenaltyForm, ...] = ()
    annulled: tuple[AnnulledForm, ...] = ()
    apart: tuple[tuple[Json, ...], ...] = ()
    near: tuple[tuple[Json, ...], ...] = ()


@dataclass(frozen=True)
class Results:
    """A stage, the names of its entrants, and their relations; without names they are numbers."""

    stage: Stage
    names: tuple[str, ...]
    relations: Relations

    def label(self, entrant: int) -> str | int:
        """Return the entrant as the file has it."""
        return self.names[entrant] if self.names else entrant

    def find_entrant(self, label: str) -> int:
        """Return the number of an entrant; raise TournamentError for an unknown one."""
        known = [str(self.label(entrant)) for entrant in range(self.stage.entrants)]
        if label not in known:
            raise TournamentError("unknown_entrant", f"there is no entrant {label}")
        return known.index(label)


def parse_results(text: str | bytes) -> Results:
    """Parse a file; raise FormError for another form, TournamentError for contradictory results."""
    return read_results(from_json(ResultsForm, _parse_json(text)))


def _parse_json(text: str | bytes) -> Json:
    def refuse_float(number: str) -> NoReturn:
        raise FormError(f"{number}: whole numbers are expected")

    def refuse_repeats(pairs: list[tuple[str, Json]]) -> Doc:
        doc = dict(pairs)
        if len(doc) != len(pairs):
            raise FormError(f"a key comes twice among {', '.join(sorted(key for key, _ in pairs))}")
        return doc

    try:
        return json.loads(text, parse_float=refuse_float, parse_constant=refuse_float, object_pairs_hook=refuse_repeats)
    except (ValueError, RecursionError) as error:
        raise FormError(f"not JSON: {error}") from None


def read_results(form: ResultsForm) -> Results:
    """Return the results of a form; raise TournamentError for the first contradiction."""
    names = _read_names(form.entrants)
    if len(form.rounds) > MAX_ROUNDS:
        raise TournamentError("rounds_invalid", f"at most {MAX_ROUNDS} rounds are expected", "/rounds")
    find_scoring(form.scoring)
    reader = _ResultsReader(form, names, len(names) or form.entrants)
    tables = tuple(table for number, each in enumerate(form.rounds) for table in reader.read_round(number, each))
    stage = Stage(
        reader.count,
        tables,
        len(form.rounds),
        frozenset(reader.byes),
        reader.read_penalties(),
        form.scoring,
        ScoringParameters(_check_unit(form.unit), reader.read_lists()),
        check_total(form.total),
        check_ties(form.ties),
        _read_key(form.key),
    )
    for each in form.annulled:
        stage = result_rulings.annul(stage, each.table, each.how)
    return Results(stage, names, Relations(reader.read_pairs("apart"), reader.read_pairs("near")))


def _read_names(entrants: Json) -> tuple[str, ...]:
    """Return the names of a list; none for a number of entrants."""
    count = len(entrants) if isinstance(entrants, list) else entrants
    if type(count) is not int or not 2 <= count <= MAX_ENTRANTS:
        raise TournamentError(
            "entrants_invalid", f"2 to {MAX_ENTRANTS} names, or their number, are expected", "/entrants"
        )
    if not isinstance(entrants, list):
        return ()
    for place, name in enumerate(entrants):
        pointer = f"/entrants/{place}"
        if not isinstance(name, str) or not 1 <= len(name) <= MAX_WORD or not name.isprintable():
            raise TournamentError("entrants_invalid", f"a name of 1 to {MAX_WORD} characters is expected", pointer)
    if len(set(entrants)) < count:
        twice = next(name for place, name in enumerate(entrants) if name in entrants[:place])
        raise TournamentError("entrant_repeated", f"{twice!r} is there twice", "/entrants")
    return tuple(entrants)


def _check_unit(unit: int) -> int:
    if unit < 1:
        raise TournamentError("scoring_invalid", "a number from 1 is expected", "/unit")
    return unit


def _read_key(text: str) -> bytes:
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b"?"
    if len(key) not in (0, KEY_BYTES):
        raise TournamentError("key_invalid", f"{2 * KEY_BYTES} hex digits are expected", "/key")
    return key


class _ResultsReader:
    """Reads the rounds of a form, and knows its entrants."""

    def __init__(self, form: ResultsForm, names: Sequence[str], count: int) -> None:
        self.form, self.count = form, count
        self.numbers: dict[Json, int] = {name: i for i, name in enumerate(names)} or {i: i for i in range(count)}
        self.byes: set[tuple[int, int]] = set()

    def find_entrant(self, label: Json, pointer: str) -> int:
        """Return the number of an entrant; raise TournamentError for an unknown one."""
        if type(label) not in (str, int) or label not in self.numbers:
            raise TournamentError("unknown_entrant", f"there is no entrant {json.dumps(label)}", pointer)
        return self.numbers[label]

    def read_round(self, number: int, form: RoundForm) -> list[TableResult]:
        """Return the tables of a round; nobody may be there twice."""
        tables, pointer, seen = [], f"/rounds/{number}", set[int]()
        for place, pod in enumerate(form.pods):
            table = self.read_pod(number + 1, place + 1, pod, f"{pointer}/pods/{place}")
            self._check_once(seen, [e for e in table.entrants if e is not None], f"{pointer}/pods/{place}/entrants")
            tables.append(table)
        resting = [self.find_entrant(label, f"{pointer}/byes/{i}") for i, label in enumerate(form.byes)]
        self._check_once(seen, resting, f"{pointer}/byes")
        self.byes.update((number + 1, entrant) for entrant in resting)
        return tables

    def _check_once(self, seen: set[int], entrants: Collection[int], pointer: str) -> None:
        for entrant in entrants:
            if entrant in seen:
                label = next(label for label, number in self.numbers.items() if number == entrant)
                raise TournamentError("entrant_repeated", f"{label!r} is there twice in this round", pointer)
            seen.add(entrant)

    def read_pod(self, round_: int, pod: int, form: PodForm, pointer: str) -> TableResult:
        """Return the result of a pod."""
        n = len(form.entrants)
        if not 2 <= n <= MAX_SEATS:
            raise TournamentError("sizes_impossible", f"2 to {MAX_SEATS} seats are expected", f"{pointer}/entrants")
        entrants = tuple(
            None if label is None else self.find_entrant(label, f"{pointer}/entrants/{seat}")
            for seat, label in enumerate(form.entrants)
        )
        for name in ("places", "points", "alive", "lapses", "bids"):
            if len(getattr(form, name)) not in (0, n):
                raise TournamentError(
                    "result_incomplete", f"{n} items are expected, one for each seat", f"{pointer}/{name}"
                )
        places = form.places or rank_points(form.points)
        self._check_result(form, places, pointer)
        return TableResult(
            round_,
            pod,
            entrants,
            places,
            form.points,
            form.alive,
            None if form.solo is None else self._find_seat(entrants, form.solo, f"{pointer}/solo"),
            self._read_handicaps(form.bids, f"{pointer}/bids"),
            frozenset(self._find_seat(entrants, e, f"{pointer}/absent/{i}") for i, e in enumerate(form.absent)),
            form.lapses,
        )

    def _check_result(self, form: PodForm, places: tuple[int, ...], pointer: str) -> None:
        if any(lapses < 0 for lapses in form.lapses):
            raise TournamentError("result_invalid", "numbers from 0 are expected", f"{pointer}/lapses")
        try:
            check_places(places)
        except TournamentError as error:
            raise TournamentError(error.code, error.reason, f"{pointer}/places") from None
        if places and self.form.scoring in USES_POINTS and not form.points:
            raise TournamentError(
                "result_incomplete", f"the scoring {self.form.scoring} needs game points", f"{pointer}/points"
            )

    def _find_seat(self, entrants: tuple[int | None, ...], label: Json, pointer: str) -> int:
        entrant = self.find_entrant(label, pointer)
        if entrant not in entrants:
            raise TournamentError("unknown_entrant", f"{label!r} is not in this pod", pointer)
        return entrants.index(entrant)

    def _read_handicaps(self, bids: Sequence[Json], pointer: str) -> tuple[int, ...]:
        """Return the handicaps in ticks; the seats must be those of the greatest sum of bids."""
        n = len(bids)
        rows = []
        for seat, bid in enumerate(bids):
            if not isinstance(bid, list | None):
                raise FormError("a list, or null, is expected", f"{pointer}/{seat}")
            rows.append(fill_bid(n) if bid is None else check_bid(bid, n, f"{pointer}/{seat}"))
        best = find_best_assignments(rows)[0] if rows else 0
        own = [row[seat] for seat, row in enumerate(rows)]
        if sum(own) != best:
            raise TournamentError(
                "bid_invalid", f"the bids for these seats add up to {sum(own)}, for others to {best}", pointer
            )
        return tuple(count_handicap(best, bid, n, self.form.bid_rate) for bid in own)

    def read_penalties(self) -> dict[int, int]:
        """Return the ticks to subtract, by entrant."""
        penalties: dict[int, int] = {}
        for place, each in enumerate(self.form.penalties):
            if each.ticks < 0:
                raise TournamentError("result_invalid", "a number from 0 is expected", f"/penalties/{place}/ticks")
            entrant = self.find_entrant(each.entrant, f"/penalties/{place}/entrant")
            penalties[entrant] = penalties.get(entrant, 0) + each.ticks
        return penalties

    def read_pairs(self, name: str) -> frozenset[Pair]:
        """Return the pairs of a member, the smaller number first."""
        pairs = set()
        for place, labels in enumerate(getattr(self.form, name)):
            one, *others = sorted(self.find_entrant(label, f"/{name}/{place}") for label in labels) or [0]
            if len(others) != 1 or one in others:
                raise TournamentError("pair_invalid", "two entrants are expected", f"/{name}/{place}")
            pairs.add((one, others[0]))
        return frozenset(pairs)

    def read_lists(self) -> dict[int, tuple[int, ...]]:
        """Return the points by place, for each number of seats in use."""
        lists = {}
        for seats, points in self.form.lists.items():
            if not seats.isdecimal() or len(points) != int(seats):
                raise TournamentError("scoring_invalid", "as many points as seats are expected", f"/lists/{seats}")
            lists[int(seats)] = points
        if self.form.scoring == "table":
            for number, each in enumerate(self.form.rounds):
                for place, pod in enumerate(each.pods):
                    if len(pod.entrants) not in lists:
                        pointer = f"/rounds/{number}/pods/{place}"
                        raise TournamentError(
                            "scoring_invalid", f"no list has the points of {len(pod.entrants)} seats", pointer
                        )
        return lists
