"""Terms of a tournament, frozen at its opening: the table, the sizes, the chain of draws, and the stages."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields

from domain.errors import TournamentError
from domain.kernel.schema.json_codec import to_json
from domain.tournaments.bids import DEFAULT_RATE
from domain.tournaments.designs import MAX_ROUNDS
from domain.tournaments.draw import DEFAULT_CHAIN, MAX_CHAIN
from domain.tournaments.results import DEFAULT_TIES, WANTED_BYES
from domain.tournaments.results_file import MAX_ENTRANTS
from domain.tournaments.scoring import ScoringParameters, find_scoring
from domain.tournaments.sizes import SeatRange, check_seats
from domain.tournaments.ties import check_ties
from domain.tournaments.totals import check_total
from domain.types import Doc

FORMATS = ("league", "design", "swiss", "knockout", "ladder", "arena")
QUEUED = {"ladder": "best:8", "arena": "sum"}
"""Formats with a queue in place of rounds -> their total."""
ROUND_BY_ROUND = frozenset({"swiss", "knockout"})
"""Formats with a draw for each round; the others draw all rounds at once."""

SEATINGS = BY_DRAW, BY_PREFERENCE, BY_CHOICE, BY_BIDS = ("draw", "prefer", "choose", "bid")
"""Ways to give the seats of a pod: by the draw, by lists of seats at least cost, by lists in turn, by bids."""

RELATIONS = IGNORED, KEPT_APART, NEAR = ("ignore", "apart", "near")
"""Weight of the pairs with relations declared by both: none, or kept apart, or avoided like repeats."""

SEEDS = (BY_DRAW, "ratings")

ELSEWHERE = SOME, ALL = ("some", "all")
"""Tables outside of the service: those that an officer names, or all."""

BOTS = NO_BOTS, DECLARED = ("none", "declared")
"""Whether programs may play: none, or those that declare themselves."""

MOST_BID_SEATS = 8
"""Most seats of a table whose entrants bid: equal bids have as many assignments as the seats have orders."""

LEFT_OUT = {"left_out": True}
"""Marks options added later: their defaults stand in no record."""

MAX_STAGES = 10

DAY = 86_400
"""Seconds."""

MAX_REVEAL = 14 * DAY
"""Longest time to show nonces, to file bids, or to wait for a full table, seconds."""

MIN_WINDOW, MAX_WINDOW = 3_600, 366 * DAY
"""Shortest and longest window of a ladder or arena, seconds."""

MAX_RATE = 50_400
"""Most ticks of handicap for a whole bid: ten points."""


@dataclass(frozen=True)
class AdvanceTerms:
    """Step to the next round of a knockout: the first of each table, and wild cards by the standings."""

    first: int
    wild_cards: int = 0


@dataclass(frozen=True)
class StageTerms:
    """Options of a stage."""

    format: str = "league"
    rounds: int | None = None
    """Number of rounds; None: as the design or search has them."""
    concurrent: int = 1
    """Rounds that may be in play at once; of a ladder or arena, tables of an entrant."""
    scoring: str = "normal"
    unit: int = 1
    lists: dict[str, tuple[int, ...]] = field(default_factory=dict)
    total: str = "sum"
    ties: tuple[str, ...] = DEFAULT_TIES
    advance: tuple[AdvanceTerms, ...] = ()
    """Of a knockout: a step from each round to the next."""
    entrants: int | None = None
    """Most entrants of a later stage: the first of the stage before. None: all of them."""
    seating: str = field(default=BY_DRAW, metadata=LEFT_OUT)
    bidding: int = field(default=43_200, metadata=LEFT_OUT)
    """Time to file bids or lists of seats, seconds."""
    bid_rate: int = field(default=DEFAULT_RATE, metadata=LEFT_OUT)
    """Ticks of handicap for a whole bid."""
    relations: str = field(default=IGNORED, metadata=LEFT_OUT)
    seeds: str = field(default=BY_DRAW, metadata=LEFT_OUT)
    """Order of the first round: by the draw, or a stage before; or by ratings."""
    patience: int = field(default=DAY, metadata=LEFT_OUT)
    """Of a ladder or arena: longest time to wait for a table of the preferred size, seconds."""
    window: int = field(default=90 * DAY, metadata=LEFT_OUT)
    """Of a ladder or arena: tables count as long after their end, seconds."""
    wanted_bye: str | None = field(default=None, metadata=LEFT_OUT)
    """Worth of a wanted bye. None in stored events without this rule: all byes have the mean of the own tables."""

    @property
    def parameters(self) -> ScoringParameters:
        """Parameters of the scoring."""
        return ScoringParameters(self.unit, {int(seats): points for seats, points in self.lists.items()})


@dataclass(frozen=True)
class RatingBand:
    """Ratings in whole hundredths, and rated tables, of those who may enter; None: no bound."""

    least: int | None = None
    most: int | None = None
    tables: int = 0
    """Least number of rated tables."""

    def takes(self, rating: int, tables: int) -> bool:
        """Return whether a person with this rating and so many rated tables may enter."""
        is_high = self.least is None or rating >= self.least
        return is_high and (self.most is None or rating <= self.most) and tables >= self.tables


@dataclass(frozen=True)
class Terms:
    """Options of a tournament. `table` holds the terms of each game, as its first record has them."""

    ruleset: str
    least: int
    most: int
    preferred: int
    options: Doc
    table: Doc
    listing: str
    stages: tuple[StageTerms, ...]
    capacity: int = MAX_ENTRANTS
    chain: int = DEFAULT_CHAIN
    """Number of draws."""
    reveal: int = 43_200
    """Time to show nonces after the check-in, seconds."""
    elsewhere: str | None = field(default=None, metadata=LEFT_OUT)
    """Tables outside of the service, one of ELSEWHERE. None: there are none."""

    bots: str | None = field(default=None, metadata=LEFT_OUT)
    """Programs that may play, one of BOTS. None: those that declare themselves."""

    band: RatingBand | None = field(default=None, metadata=LEFT_OUT)
    """Ratings of people for an entry of their own. None: everybody may."""

    division: str | None = field(default=None, metadata=LEFT_OUT)
    """Name of the division, of an event within another."""
    division_of: str | None = field(default=None, metadata=LEFT_OUT)
    """The event with this division."""

    @property
    def seats(self) -> SeatRange:
        """Legal numbers of seats at a table, and the preferred one."""
        return SeatRange(self.least, self.most, self.preferred)


def terms_to_json(terms: Terms) -> Doc:
    """Return the terms as the first record has them."""
    doc: Doc = to_json(terms)
    parts: list[tuple[Terms | StageTerms, Doc]] = [(terms, doc), *zip(terms.stages, doc["stages"], strict=True)]
    for part, part_doc in parts:
        for each in fields(part):
            if each.metadata.get("left_out") and getattr(part, each.name) == each.default:
                del part_doc[each.name]
    return doc


def check_terms(terms: Terms) -> Terms:
    """Return the terms; raise TournamentError with a pointer for the first that cannot be."""
    _check_part("/seats", lambda: check_seats(terms.seats))
    _check(2 <= terms.capacity <= MAX_ENTRANTS, f"2 to {MAX_ENTRANTS} entrants are expected", "/capacity")
    _check(1 <= terms.chain <= MAX_CHAIN, f"a chain has 1 to {MAX_CHAIN} draws", "/chain")
    _check(0 <= terms.reveal <= MAX_REVEAL, f"0 to {MAX_REVEAL} seconds are expected", "/reveal")
    _check_people(terms)
    _check(1 <= len(terms.stages) <= MAX_STAGES, f"1 to {MAX_STAGES} stages are expected", "/stages")
    _check(terms.stages[0].entrants is None, "the first stage takes all entrants", "/stages/0/entrants")
    for number, stage in enumerate(terms.stages):
        _check_stage(terms, stage, f"/stages/{number}")
    draws = sum(map(_count_draws, terms.stages))
    _check(terms.chain >= draws, f"the stages need {draws} draws", "/chain")
    return terms


def _check_people(terms: Terms) -> None:
    """Check the bounds of entries, the place of tables, and who plays there."""
    band = terms.band or RatingBand()
    is_band = band.least is None or band.most is None or band.least <= band.most
    _check(is_band, "a band begins below its end", "/band")
    if terms.elsewhere is not None:
        _check_choice(terms.elsewhere, ELSEWHERE, "/elsewhere")
    if terms.bots is not None:
        _check_choice(terms.bots, BOTS, "/bots")


def _count_draws(stage: StageTerms) -> int:
    """Return the least number of draws of a stage."""
    if stage.format not in ROUND_BY_ROUND:
        return 1
    return len(stage.advance) + 1 if stage.format == "knockout" else stage.rounds or 1


def _check_stage(terms: Terms, stage: StageTerms, pointer: str) -> None:
    _check_choice(stage.format, FORMATS, f"{pointer}/format")
    _check(stage.rounds is None or 1 <= stage.rounds <= MAX_ROUNDS, f"1 to {MAX_ROUNDS} rounds are expected", pointer)
    _check(1 <= stage.concurrent <= MAX_ROUNDS, f"1 to {MAX_ROUNDS} rounds are expected", f"{pointer}/concurrent")
    _check_queue(stage, pointer)
    is_knockout = stage.format == "knockout"
    _check(bool(stage.advance) <= is_knockout, "only a knockout has steps", f"{pointer}/advance")
    _check(len(stage.advance) < MAX_ROUNDS, f"1 to {MAX_ROUNDS} rounds are expected", f"{pointer}/advance")
    is_whole = not is_knockout or stage.rounds in (None, len(stage.advance) + 1)
    _check(is_whole, "a knockout has a round more than steps", f"{pointer}/rounds")
    is_parallel = stage.concurrent > 1 and stage.format in ROUND_BY_ROUND
    _check(not is_parallel, "rounds drawn one by one are played one by one", f"{pointer}/concurrent")
    for number, step in enumerate(stage.advance):
        is_step = 1 <= step.first <= terms.most and 0 <= step.wild_cards <= MAX_ENTRANTS
        _check(is_step, "at least the first of each table goes on", f"{pointer}/advance/{number}")
    is_field = stage.entrants is None or 2 <= stage.entrants <= MAX_ENTRANTS
    _check(is_field, "2 entrants or more are expected", f"{pointer}/entrants")
    if stage.wanted_bye is not None:
        _check_choice(stage.wanted_bye, WANTED_BYES, f"{pointer}/wanted_bye")
    _check(stage.seating in SEATINGS, f"{stage.seating!r} is none of {', '.join(SEATINGS)}", f"{pointer}/seating")
    _check(
        stage.relations in RELATIONS, f"{stage.relations!r} is none of {', '.join(RELATIONS)}", f"{pointer}/relations"
    )
    keeps_apart = stage.relations == IGNORED or stage.format == "swiss"
    _check(keeps_apart, "only a Swiss event keeps people apart", f"{pointer}/relations")
    may_bid = stage.seating != BY_BIDS or terms.most <= MOST_BID_SEATS
    _check(may_bid, f"bids are for tables of up to {MOST_BID_SEATS} seats", f"{pointer}/seating")
    _check(0 <= stage.bidding <= MAX_REVEAL, f"0 to {MAX_REVEAL} seconds are expected", f"{pointer}/bidding")
    _check(0 <= stage.bid_rate <= MAX_RATE, f"0 to {MAX_RATE} ticks are expected", f"{pointer}/bid_rate")
    _check(stage.unit >= 1, "a number from 1 is expected", f"{pointer}/unit")
    _check_part(f"{pointer}/scoring", lambda: find_scoring(stage.scoring))
    _check_part(f"{pointer}/total", lambda: check_total(stage.total))
    _check_part(f"{pointer}/ties", lambda: check_ties(stage.ties))
    for seats, points in stage.lists.items():
        is_list = re.fullmatch("[1-9][0-9]?", seats) is not None and len(points) == int(seats)
        _check(is_list, "as many points as seats are expected", f"{pointer}/lists/{seats}")
    if stage.scoring == "table":
        missing = [size for size in range(terms.least, terms.most + 1) if str(size) not in stage.lists]
        _check(not missing, f"no list has the points of {missing[:1]} seats", f"{pointer}/lists")


def _check_queue(stage: StageTerms, pointer: str) -> None:
    """Check the options of a ladder or arena."""
    _check(0 <= stage.patience <= MAX_REVEAL, f"0 to {MAX_REVEAL} seconds are expected", f"{pointer}/patience")
    is_window = MIN_WINDOW <= stage.window <= MAX_WINDOW
    _check(is_window, f"{MIN_WINDOW} to {MAX_WINDOW} seconds are expected", f"{pointer}/window")
    if stage.format not in QUEUED:
        return
    _check(stage.rounds is None, "a queue has no rounds", f"{pointer}/rounds")
    total = QUEUED[stage.format]
    _check(stage.total == total, f"the total of this format is {total}", f"{pointer}/total")
    _check(stage.seating == BY_DRAW, "the draw gives the seats of a queue", f"{pointer}/seating")
    _check(stage.seeds == BY_DRAW, "a queue has no seeds", f"{pointer}/seeds")


def _check_choice(value: str, choices: Collection[str], pointer: str) -> None:
    _check(value in choices, f"{value!r} is none of {', '.join(choices)}", pointer)


def _check_part(pointer: str, check: Callable[[], object]) -> None:
    """Raise the error of a check with the pointer of the part that it checks."""
    try:
        check()
    except TournamentError as error:
        raise TournamentError(error.code, error.reason, pointer) from None


def _check(ok: bool, reason: str, pointer: str) -> None:
    if not ok:
        raise TournamentError("terms_invalid", reason, pointer)
