"""Contract between the kernel and a game: a ruleset is pure, and the kernel asks nothing else of a game."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_not
from typing import Annotated, Any, Generic, NotRequired, Protocol, TypedDict, TypeVar

from domain.compat import cached_property
from domain.errors import InvalidTable
from domain.kernel.records.fact_decoder import DecodedFacts, FactDecoder, ReadableFacts
from domain.kernel.records.record import Record
from domain.kernel.rules.battles import Battle, ToldFact
from domain.kernel.rules.choices import Builder
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import (
    FLOW,
    Decision,
    Frame,
    S,
    State,
    evolve_all,
)
from domain.kernel.rules.meta import Meta, Table
from domain.kernel.rules.order_kinds import OrderKind
from domain.kernel.rules.treaties import NO_TREATIES, TreatyRules
from domain.kernel.schema import declarations, validators
from domain.kernel.schema.declarations import Context, Fact, Move, Part
from domain.kernel.schema.document_members import ScoreDetail
from domain.kernel.text.message_catalog import Message
from domain.types import DIRECTOR, PUBLIC, Doc, Json, Seat, Viewer

COMMON_CODES: Mapping[str, str] = {
    "malformed_move": "not a JSON object with a known set of well-typed fields",
    "unknown_move": "the game has no move of that type",
    "game_over": "the game has ended",
    "not_your_decision": "another seat decides now",
    "already_answered": "the seat has answered this decision",
    "wrong_phase": "this type of move does not answer the open decision",
    "not_offered": "the move builder did not offer this pick",
    "barrier_in_list": "in a list only the last move may draw, reveal, or ask or answer in secret",
    "not_on_line": "that version was undone, or is not of a running game",
}
"""The refusals of the kernel, the same in every game."""

M = TypeVar("M", bound=Move)

T = TypeVar("T")

D_co = TypeVar("D_co", bound=Part, covariant=True)


class ScoreDoc(TypedDict):
    seat: int
    place: int
    points: int
    detail: ScoreDetail
    alive: NotRequired[Annotated[bool, "False if the seat was eliminated; in games with elimination."]]
    solo: NotRequired[Annotated[bool, "True if the seat won alone; in games with shared victories."]]
    forfeited: NotRequired[Annotated[bool, "After a ruling: true if the seat forfeited the game."]]
    penalty: NotRequired[Annotated[int, "Penalty points by ruling, apart from `points`."]]


@dataclass(frozen=True)
class Score(Generic[D_co]):
    """One line of the final table, or of the current standings."""

    seat: Seat
    place: int
    """1 is best; shared places are equal numbers."""
    points: int
    detail: D_co
    """The figures behind the points and the tie-breaks, in order of precedence."""
    alive: bool | None = None
    """Whether the seat is still in the game, in games with elimination; else None."""
    solo: bool | None = None
    """Whether the seat has won alone, in games with shared victories; else None."""

    def to_json(self) -> ScoreDoc:
        """Return the line as sent to clients."""
        doc: ScoreDoc = {
            "seat": self.seat,
            "place": self.place,
            "points": self.points,
            "detail": declarations.doc(self.detail),
        }
        if self.alive is not None:
            doc["alive"] = self.alive
        if self.solo is not None:
            doc["solo"] = self.solo
        return doc


AnyScore = Score[Part]
"""A score of any game."""


class Chapter(Part, frozen=True):
    """Place in a game, used as a heading of the chronicle. All of it is public."""

    turn: int = 0
    """A War, a decade, a game turn or a turn, depending on the game; 0 before the first."""
    round: int = 0
    """In the turn; 0 if rounds have no heading."""
    phase: str = ""
    """One of the phases with a heading (`phase.<phase>` of the texts)."""


class Dice(Protocol):
    """Random numbers for a bot, implemented by random.Random."""

    def random(self) -> float:
        """Return a number, 0 <= x < 1."""

    def randint(self, a: int, b: int) -> int:
        """Return an integer a..b."""


Bot = Callable[[dict[str, Json], dict[str, Json], Seat, Dice], Iterator[Doc]]
"""(view: {"public", "own"}, decision as sent to clients, seat, dice) -> moves, best first.

The first legal one is played. Without a legal one, a seat owing an answer lets the move builder pick at random, and a
seat with an optional interruption stays quiet. A bot sees nothing beyond its seat's view.
"""


def _no_vacancy(draft: object, seat: Seat) -> None:
    """Change nothing after a player left: defaults go on for the seat."""


def no_check(_: object) -> None:
    """Accept any state."""


def _no_broken_invariants(_: object) -> list[str]:
    """Check no invariant besides those of the kernel."""
    return []


class Nothing(Part, frozen=True):
    """No member: there is nothing to see."""


class Everything(Part, frozen=True):
    """Private view of the director, and of everybody after the game is closed."""

    seats: Mapping[str, Part]
    """Private view of each seat, by seat."""
    hidden: Part
    """Hidden from every seat."""


def _no_private_view(_: object, seat: Seat) -> Nothing:
    return Nothing()


def no_hidden_view(_: object) -> Nothing:
    """Return an empty view: nothing is hidden from every seat."""
    return Nothing()


def _no_redeal(_: object, keep: tuple[Viewer, ...]) -> None:
    """Deal nothing: no card is face down."""


def no_powers(_: object) -> Mapping[Seat, str]:
    """Return no powers: seats play none."""
    return {}


def _single_chapter(_: object) -> Chapter:
    """Return the only chapter of an undivided game."""
    return Chapter()


def _unchanged(facts: Sequence[Doc]) -> Sequence[Doc]:
    """Return facts as they are."""
    return facts


def _no_seats(_: object) -> tuple[Seat, ...]:
    return ()


def _no_battles(_: Sequence[ToldFact]) -> Sequence[Battle]:
    return ()


def _no_move_context(state: object, seat: Seat | None, members: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return no further members of a sentence."""
    return {}


def _return_type(function: Callable[..., object]) -> Any:
    try:
        return typing.get_type_hints(function)["return"]
    except (KeyError, TypeError):
        raise TypeError(f"{function} does not say what document it returns") from None


Handler = Callable[[Draft[S], Frame, Any, Any], None]
"""(draft, top frame, seat or None for the engine, move)."""

ContextBuilder = Callable[[S, S, Any], Mapping[str, Json]]
"""(state before the fact, state after it, fact) -> extra members of its sentence."""

RollReader = Callable[[S, S, Any, Iterator[int]], Mapping[str, Json]]
"""(state before the fact, state after it, fact, dice not read yet) -> extra members of its sentence.

It reads the dice that were rolled for the fact, whether it tells them or not: the next reader goes on behind them.
"""

SentenceMerger = Callable[[Sequence[Doc]], Sequence[Doc]]
"""Consecutive facts of one kind, with their context -> facts to narrate instead, at most as many."""


def on(kind: type[M], handler: Callable[[Draft[S], Frame, Any, M], None]) -> tuple[str, Handler[S]]:
    """Return the handler of a type of move, as an item of `Ruleset.handlers`."""
    return declarations.type_name(kind), handler


@dataclass(frozen=True, eq=False)
class Ruleset(Generic[S]):
    """The rules of one game in one version, as tables of pure functions."""

    meta: Meta
    state: type[S]
    moves: Mapping[str, type[Move]]
    """Moves of seats and of the engine, by type."""
    handlers: Mapping[str, Handler[S]]
    """Move type -> handler (`on`); raises RuleError before it adds the first fact."""
    facts: Mapping[str, type[Fact[S]]]
    """Declared facts by their `t`, besides the kernel's (`flow.FLOW`)."""
    setup: Callable[[Draft[S]], None]
    build: Callable[[S, Seat], Builder]
    default: Callable[[S, Decision, Seat], Move]
    board: Callable[[S], Part]
    """View of the public."""
    scores: Callable[[S], Sequence[AnyScore]]
    """Standings from a state, also one with a viewer's knowledge alone. Raise ScoresHidden if that is not enough."""
    blank: Callable[[Table], S]
    frames: Mapping[str, type[Context]]
    """Declared contexts, by the kind of frame."""
    own: Callable[[S, Seat], Part] = _no_private_view
    """Private view of a seat, besides the board."""
    hidden: Callable[[S], Part] = no_hidden_view
    """View hidden from every seat."""
    continuations: Mapping[str, Callable[[Draft[S], Frame], None]] = field(default_factory=dict)
    """Frame kind -> function to continue while the top frame owes nothing."""
    check: Callable[[S], list[str]] = _no_broken_invariants
    """Broken invariants, for tests and simulations; a line about an unknown id begins with its JSON pointer."""
    fill: Callable[[S], S] | None = None
    """Derive the rest of a state (supplies, sizes), for a scenario beginning from an empty board."""
    redeal: Callable[[Draft[S], tuple[Viewer, ...]], None] = _no_redeal
    """Deal again everything unknown to all these viewers; their views stay as they are.

    It also completes a state folded only from the facts readable by one viewer (`state_known_to`).
    """
    powers: Callable[[S], Mapping[Seat, str]] = no_powers
    """Seat -> id of its power, if the game has powers: sentences name the power."""
    chapter: Callable[[S], Chapter] = _single_chapter
    """Chapter of a state, from public knowledge."""
    context_builders: Mapping[str, ContextBuilder[S]] = field(default_factory=dict)
    """Fact -> extra members of its sentence, limited to the knowledge of each reader."""
    roll_readers: Mapping[str, RollReader[S]] = field(default_factory=dict)
    """Fact -> reader of the record's public dice, for games with dice in no fact; such facts are public."""
    sentence_mergers: Mapping[str, SentenceMerger] = field(default_factory=dict)
    """Fact -> merger of several consecutive ones into one sentence."""
    complete_sentences: SentenceMerger = _unchanged
    """Facts of a record, with their context -> as many, with what only the others tell of one of them."""
    gather_headlines: SentenceMerger = _unchanged
    """Headline facts of a turn, with their context -> those for a digest, several of a kind as one."""
    read_battles: Callable[[Sequence[ToldFact]], Sequence[Battle]] = _no_battles
    """Facts of several records with their context -> the battles that they tell."""
    move_context: Callable[[S | None, Seat | None, Mapping[str, Json]], Mapping[str, Json]] = _no_move_context
    """(state, seat, members of a move or answers so far) -> further members of the seat's sentences about them.

    It uses only the knowledge of the seat, and without a state the members alone.
    """
    tie_breaks: tuple[str, ...] = ()
    """Members of a score's detail that rank equal points, in order of precedence (`apart.<member>` of the texts)."""
    may: Callable[[S], tuple[Seat, ...]] = _no_seats
    """Seats able to interrupt or change an answer, by public facts; the game never waits for them."""
    vacated: Callable[[Draft[S], Seat], None] = _no_vacancy
    check_table: Callable[[Table], None] | None = None
    """Raises InvalidTable for options in conflict."""
    package: str = ""
    """Package of the game's texts, `domain.games.<game>`."""
    bot: Bot | None = None
    """A heuristic player, for demos and simulations."""
    treaties: TreatyRules = NO_TREATIES
    """What players may propose to each other in their talk."""
    standing_orders: tuple[OrderKind, ...] = ()
    """What a seat may decide beforehand."""

    def __post_init__(self) -> None:
        if unknown := {*self.meta.headlines, *self.meta.weightless} - set(self.facts):
            raise TypeError(f"headlines that are no facts: {sorted(unknown)}")
        if unknown := {*self.context_builders, *self.roll_readers, *self.sentence_mergers} - set(self.facts):
            raise TypeError(f"asides of what are no facts: {sorted(unknown)}")
        for kind in (*self.frames.values(), *self.view_types.values()):
            declarations.prepare(kind)
        _ = self._fact_decoder

    @cached_property
    def fact_kinds(self) -> Mapping[str, type[Fact[S]]]:
        """Return all facts possible in its records, the kernel's last."""
        return {**self.facts, **FLOW}

    @cached_property
    def _fact_decoder(self) -> FactDecoder:
        return FactDecoder(self.fact_kinds.values())

    def decode_facts(self, docs: Sequence[Doc]) -> Sequence[Fact[S]]:
        """Decode facts of records; raise ValueError for unknown or ill-formed ones."""
        return self._fact_decoder.decode_docs(docs)

    def decode_record(self, record: Record) -> DecodedFacts:
        """Decode the parts of a record needed by a fold; raise as `decode_facts`."""
        return self._fact_decoder.decode_record(record)

    def decode_readable(self, record: Record) -> ReadableFacts:
        """Decode the facts of a record for several viewers; raise as `decode_facts`."""
        return self._fact_decoder.decode_readable(record)

    def fold(self, state: S, docs: Sequence[Doc]) -> S:
        """Return the state after facts in their JSON form."""
        return evolve_all(state, self.decode_facts(docs))

    def player_view_part(self, state: S, viewer: Viewer) -> Part:
        """Return the view of a viewer.

        `public`: the common board; a seat: its private view; the director: the private views of all seats, and the
        hidden one.
        """
        if viewer == PUBLIC:
            return self.board(state)
        if viewer == DIRECTOR:
            seats = {str(seat): self.own(state, seat) for seat in range(state.seats)}
            return Everything(seats, self.hidden(state))
        return self.own(state, int(viewer))

    def player_view(self, state: S, viewer: Viewer) -> Doc:
        """Return the view of a viewer as a document; see `player_view_part`."""
        return declarations.doc(self.player_view_part(state, viewer))

    @cached_property
    def view_types(self) -> Mapping[str, type[Part]]:
        """Return the classes of its views: `board`, `own`, `hidden`, and the `detail` of a score."""
        views = {name: _return_type(getattr(self, name)) for name in ("board", "own", "hidden")}
        (line,) = typing.get_args(_return_type(self.scores))
        (detail,) = typing.get_args(line)
        return {**views, "detail": detail}

    def make_table(self, seats: int, options: Mapping[str, Json] | None = None) -> Table:
        """Return the table with every option, defaults filled in; raise InvalidTable."""
        if seats not in self.meta.seats:
            raise InvalidTable(Message("{seats} are possible", seats=", ".join(map(str, self.meta.seats))), "/seats")
        chosen = dict(options or {})
        if unknown := sorted(set(chosen) - set(self.meta.options)):
            raise InvalidTable(Message("no such option"), f"/options/{unknown[0]}")
        for name, value in chosen.items():
            if fault := self.meta.options[name].validator.find_error(value, f"/options/{name}"):
                raise InvalidTable(validators.expected_message(fault[1]), fault[0])
        table = Table(seats, {n: chosen.get(n, o.default) for n, o in self.meta.options.items()})
        if self.check_table:
            self.check_table(table)
        return table


AnyRuleset = Ruleset[Any]
"""The rules of any game."""


def memo(state: State, key: str, make: Callable[[], T], depends_on: tuple[object, ...] = ()) -> T:
    """Return a costly value of a state, made once per state object (a projected order sheet, reachability).

    `depends_on`: all parts of the state behind the value, always as many for a key. The value is then kept in later
    states as long as they hold these very objects.
    """
    if depends_on:
        parts: dict[str, tuple[tuple[object, ...], T]] = state.__dict__.setdefault("_kept", {})
        return _memoize_parts(parts, key, make, depends_on)
    cache: dict[str, T] = state.__dict__.setdefault("_memo", {})
    if key not in cache:
        cache[key] = make()
    return cache[key]


def share_memo(state: State) -> None:
    """Let all states made from this one share the values kept for its parts, whichever of them makes a value first.

    Otherwise each of several states keeps its own, if none was made before they parted: as when a replay goes back.
    """
    state.__dict__.setdefault("_kept", {})


def _memoize_parts(
    cache: dict[str, tuple[tuple[object, ...], T]], key: str, make: Callable[[], T], depends_on: tuple[object, ...]
) -> T:
    """Return the value kept for these objects, or make it.

    Facts replace changed objects, and kept objects retain their identity.
    """
    old = cache.get(key)
    if old is None or any(map(is_not, old[0], depends_on)):
        old = cache[key] = depends_on, make()
    return old[1]
