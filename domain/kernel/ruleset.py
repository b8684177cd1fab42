"""The contract between the kernel and a game: a ruleset is pure, and this is all that the kernel asks of it."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_not
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from domain.cached import cached_property
from domain.errors import InvalidTable, NeedsChance, RuleError
from domain.ids import DIRECTOR, MAX_WORD, PUBLIC, Doc, Json, Seat, Viewer
from domain.kernel import audience, choices, declare, shapes
from domain.kernel.audience import ALL, ALL_KEY, Audience
from domain.kernel.choices import Builder, Choice
from domain.kernel.declare import UNSET, Admission, Context, Fact, Move, Part
from domain.kernel.draws import Draws, NoChance
from domain.kernel.flow import (
    FLOW,
    Answered,
    Asked,
    Decision,
    Ended,
    Finished,
    Frame,
    Noted,
    Reopened,
    S,
    State,
    Unsealed,
    evolved,
)
from domain.kernel.reading import FactReader, RecordFacts
from domain.kernel.record import Record
from domain.kernel.texts import Message

COMMON_CODES: Mapping[str, str] = {
    "malformed_move": "not a JSON object with a known set of well-typed fields",
    "unknown_move": "the game has no move of that type",
    "game_over": "the game has ended",
    "not_your_decision": "another seat decides now",
    "already_answered": "the seat has answered this decision",
    "wrong_phase": "this type of move does not answer what is being decided",
    "not_offered": "the move builder did not offer this pick",
    "barrier_in_list": "in a list only the last move may draw, reveal, or ask or answer in secret",
    "not_on_line": "that version was undone, or is none of a running game",
}
"""The refusals of the kernel, the same in every game."""

_MAX_STEPS = 10_000
M = TypeVar("M", bound=Move)
T = TypeVar("T")


# --- the table ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """What is agreed before a game: how many seats, and the value of every option."""

    seats: int
    options: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class OptionType:
    """One option of a ruleset."""

    shape: shapes.Shape
    default: Json
    rule: str = ""


@dataclass(frozen=True)
class Meta:
    """What is known of a ruleset without playing it."""

    ruleset: str
    """`struggle_of_empires@1`."""
    title: str
    prefix: str
    """Prefix of the numbers on the rules page, `SOE`."""
    seats: tuple[int, ...]
    """Seat counts that are allowed."""
    options: Mapping[str, OptionType] = field(default_factory=dict)
    codes: Mapping[str, str] = field(default_factory=dict)
    """Refusal code of the game -> rule number that defines it."""
    clocks: Mapping[str, str] = field(default_factory=dict)
    """Frame kind -> deadline class; `move` for a kind that is not named."""
    paces: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Preset (`live`, `correspondence`) -> deadline class -> seconds."""
    brief: Mapping[str, Json] = field(default_factory=dict)
    """Options with which a game of players who do not know what they want comes to an end soon: of a demo."""
    headlines: tuple[str, ...] = ()
    """Facts that a digest of a turn repeats: conquests, battles, what is scored."""
    undo: bool = True
    """Whether the rules allow seats to undo at all."""
    max_moves: int = 20_000
    """A game that takes more moves does not terminate: a fault."""


D_co = TypeVar("D_co", bound=Part, covariant=True)


@dataclass(frozen=True)
class Score(Generic[D_co]):
    """One line of the final table, or of the table as it stands."""

    seat: Seat
    place: int
    """1 is best; shared places are equal numbers."""
    points: int
    detail: D_co
    """The figures behind the points and the tie-breaks, in the order in which they count."""

    def to_json(self) -> dict[str, Json]:
        """As clients see it."""
        return {
            "seat": self.seat,
            "place": self.place,
            "points": self.points,
            "detail": declare.doc(self.detail),
        }


AnyScore = Score[Part]
"""Of whichever game."""


class Chapter(Part, frozen=True):
    """Where in a game: what is told stands under its heading. All of it is public."""

    turn: int = 0
    """A War, a decade, a game turn or a turn, as the game has them; 0 before the first."""
    round: int = 0
    """In the turn; 0 where rounds have no heading."""
    phase: str = ""
    """One of those that have a heading (`phase.<phase>` of the texts)."""


# --- the draft ------------------------------------------------------------------------------------------------


class Draft(Generic[S]):
    """The record in the making: `decide` reads the state as it becomes, asks for draws, adds facts."""

    def __init__(self, rules: Ruleset[S], state: S, draws: Draws) -> None:
        self.rules = rules
        self.state = state
        self.draws = draws
        self.facts: list[tuple[str, Fact[S]]] = []
        self.barred = False

    def add(self, fact: Fact[S], to: Audience = ALL, seal: str = "") -> None:
        """A fact for one audience; evolves the state at once. With `seal` it has a pack that `unseal` can publish."""
        self.facts.append((audience.key_of(to, seal), fact))
        self.state = fact.evolve(self.state)

    def ask(self, about: Context, *seats: Seat, engine: bool = False, secret: bool = False, timed_as: int = 0) -> None:
        """Open a frame. Who is asked depends on public facts only.

        `timed_as`: the `timer` of a frame that has ended, when the same question is asked anew on the same clock.
        """
        asked = Asked(
            self.state.opened + 1,
            declare.tag(type(about)),
            declare.doc(about),
            sorted(seats) or UNSET,
            engine or UNSET,
            secret or UNSET,
            timed_as or UNSET,
        )
        self.add(asked)

    def answered(self, seat: Seat, end: bool = False) -> None:
        """The seat owes the top frame nothing more; with `end` the frame is over as well."""
        self.add(Answered(seat), (seat,) if self.state.top.secret else ALL)
        if end:
            self.end()

    def reopened(self, seat: Seat) -> None:
        """The seat takes its answer back and owes the top frame again."""
        self.add(Reopened(seat), (seat,) if self.state.top.secret else ALL)

    def note(self, **data: Json) -> None:
        """Change members of the top frame's context."""
        self.add(Noted(data))
        self.state.top.of(self.rules.frames[self.state.top.kind])

    def end(self) -> None:
        """Close the top frame."""
        self.add(Ended())

    def finish(self) -> None:
        """The game is over: no frame is left."""
        self.add(Finished())

    def unseal(self, *keys: str) -> None:
        """Publish named packs (`0:card`) with their salts. A barrier."""
        self.add(Unsealed(keys))

    def barrier(self) -> None:
        """Past this record undo is not free, for a reason of the game's own."""
        self.barred = True

    @property
    def revealing(self) -> bool:
        """Whether something was drawn or shown so far."""
        return self.barred or bool(self.draws.taken) or any(isinstance(f, Unsealed) for _, f in self.facts)

    def confiding(self, seat: Seat | None) -> bool:
        """Whether seats were asked in secret so far, or this one has answered so.

        What comes next then rests on what the others have answered, or answer in advance. A sealed answer counts even
        where everybody sees that it was given: a record has one pack for it, and two of them would be opened together.
        """
        return any(
            (isinstance(f, Asked) and f.secret is True)
            or (isinstance(f, Answered) and f.seat == seat and key != ALL_KEY)
            or (":" in key and seat in audience.seats_of(key))
            for key, f in self.facts
        )


class Dice(Protocol):
    """What a bot may roll: random.Random has it."""

    def random(self) -> float:
        """0 <= x < 1."""

    def randint(self, a: int, b: int) -> int:
        """a..b."""


Bot = Callable[[dict[str, Json], dict[str, Json], Seat, Dice], Iterator[Doc]]
"""(sight: {"public", "own"}, decision as clients see it, seat, dice) -> moves, best first.

The first legal one is played. When none is legal, a seat that owes an answer lets the move builder pick at random, and
a seat that merely may interrupt stays quiet. A bot sees what its seat may see, no more.
"""


def _no_vacancy(draft: object, seat: Seat) -> None:
    """Nothing changes in a game when a player leaves: defaults go on for the seat."""


def _unchecked(_: object) -> None:
    """Nothing is asked of a state."""


def _sound(_: object) -> list[str]:
    """No invariant but those of the kernel."""
    return []


class Nothing(Part, frozen=True):
    """No member: there is nothing to see."""


class Everything(Part, frozen=True):
    """What the director sees besides the board, and everybody when the game is closed."""

    seats: Mapping[str, Part]
    """What each seat sees, by seat."""
    hidden: Part
    """What no seat sees."""


def _nothing_own(_: object, seat: Seat) -> Nothing:
    return Nothing()


def no_secret(_: object) -> Nothing:
    """There is nothing that no seat sees."""
    return Nothing()


def _as_it_lies(_: object, keep: tuple[Viewer, ...]) -> None:
    """Nothing is dealt face down."""


def no_powers(_: object) -> Mapping[Seat, str]:
    """Seats play no powers."""
    return {}


def _undivided(_: object) -> Chapter:
    """A game in one piece."""
    return Chapter()


def _nobody(_: object) -> tuple[Seat, ...]:
    return ()


def _returned(function: Callable[..., object]) -> Any:
    try:
        return typing.get_type_hints(function)["return"]
    except (KeyError, TypeError):
        raise TypeError(f"{function} does not say what document it returns") from None


# --- the ruleset ----------------------------------------------------------------------------------------------


Handler = Callable[[Draft[S], Frame, Any, Any], None]
"""(draft, top frame, seat or None for the engine, move)."""


Aside = Callable[[S, S, Any], Mapping[str, Json]]
"""(state before the fact, state after it, fact) -> members of a sentence."""

Gather = Callable[[Sequence[Doc]], Sequence[Doc]]
"""Facts of one kind that follow each other, with their asides -> what is told instead, no more than they are."""


def on(kind: type[M], do: Callable[[Draft[S], Frame, Any, M], None]) -> tuple[str, Handler[S]]:
    """What is done on a move, as an item of `Ruleset.do`."""
    return declare.tag(kind), do


@dataclass(frozen=True, eq=False)
class Ruleset(Generic[S]):
    """The rules of one game in one version, as tables of pure functions."""

    meta: Meta
    state: type[S]
    moves: Mapping[str, type[Move]]
    """What seats and the engine may ask for, by type."""
    do: Mapping[str, Handler[S]]
    """Move type -> handler (`on`); raises RuleError before it adds the first fact."""
    facts: Mapping[str, type[Fact[S]]]
    """The facts that it declares, by what `t` says, besides the kernel's (`flow.FLOW`)."""
    setup: Callable[[Draft[S]], None]
    build: Callable[[S, Seat], Builder]
    default: Callable[[S, Decision, Seat], Move]
    board: Callable[[S], Part]
    """What everybody sees."""
    scores: Callable[[S], Sequence[AnyScore]]
    blank: Callable[[Table], S]
    frames: Mapping[str, type[Context]]
    """The contexts that it declares, by the kind of frame."""
    own: Callable[[S, Seat], Part] = _nothing_own
    """What a seat sees besides."""
    hidden: Callable[[S], Part] = no_secret
    """What no seat sees."""
    go: Mapping[str, Callable[[Draft[S], Frame], None]] = field(default_factory=dict)
    """Frame kind -> goes on by itself while the top frame owes nothing."""
    check: Callable[[S], list[str]] = _sound
    """Broken invariants, for tests and simulations; a line about an unknown id begins with its JSON pointer."""
    fill: Callable[[S], S] | None = None
    """What follows from the rest of a state (supplies, sizes), for a scenario that begins from an empty board."""
    redeal: Callable[[Draft[S], tuple[Viewer, ...]], None] = _as_it_lies
    """Deals anew what none of these viewers can know; their sights stay as they are."""
    powers: Callable[[S], Mapping[Seat, str]] = no_powers
    """Seat -> id of the power that it plays, where the game has such: who does something is told by its name."""
    chapter: Callable[[S], Chapter] = _undivided
    """Where in the game a state is, by what everybody knows."""
    asides: Mapping[str, Aside[S]] = field(default_factory=dict)
    """Fact -> what its sentence takes besides its own members, by what each of its readers knows."""
    gathers: Mapping[str, Gather] = field(default_factory=dict)
    """Fact -> how several that follow each other are told together."""
    may: Callable[[S], tuple[Seat, ...]] = _nobody
    """Seats that may interrupt or change an answer, by public facts; never waited for."""
    vacated: Callable[[Draft[S], Seat], None] = _no_vacancy
    check_table: Callable[[Table], None] | None = None
    """Raises InvalidTable for options that do not go together."""
    package: str = ""
    """Where the game's texts are, `domain.games.<game>`."""
    bot: Bot | None = None
    """A heuristic player, for demos and simulations."""

    def __post_init__(self) -> None:
        if unknown := set(self.meta.headlines) - set(self.facts):
            raise TypeError(f"headlines that are no facts: {sorted(unknown)}")
        if unknown := {*self.asides, *self.gathers} - set(self.facts):
            raise TypeError(f"asides of what are no facts: {sorted(unknown)}")
        for kind in (*self.frames.values(), *self.documents.values()):
            declare.prepare(kind)
        _ = self._reader

    @cached_property
    def fact_kinds(self) -> Mapping[str, type[Fact[S]]]:
        """All facts that its records may hold, the kernel's last."""
        return {**self.facts, **FLOW}

    @cached_property
    def _reader(self) -> FactReader:
        return FactReader(self.fact_kinds.values())

    def read(self, docs: Sequence[Doc]) -> Sequence[Fact[S]]:
        """Facts as they stand in records; raises ValueError for one that is none of them, or ill-formed."""
        return self._reader.of_docs(docs)

    def read_record(self, record: Record) -> RecordFacts:
        """What a fold takes of a record of such a game; raises as `read`."""
        return self._reader.of_record(record)

    def fold(self, state: S, docs: Sequence[Doc]) -> S:
        """The state after facts as they stand in records."""
        return evolved(state, self.read(docs))

    def shown(self, state: S, viewer: Viewer) -> Part:
        """`public`: the common board; a seat: what it sees besides; the director: what all seats see, and nobody."""
        if viewer == PUBLIC:
            return self.board(state)
        if viewer == DIRECTOR:
            own = {str(seat): self.own(state, seat) for seat in range(state.seats)}
            return Everything(own, self.hidden(state))
        return self.own(state, int(viewer))

    def sight(self, state: S, viewer: Viewer) -> Doc:
        """The same as a document."""
        return declare.doc(self.shown(state, viewer))

    @cached_property
    def documents(self) -> Mapping[str, type[Part]]:
        """What the documents are that it shows: `board`, `own`, `hidden`, and the `detail` of a score."""
        shown = {name: _returned(getattr(self, name)) for name in ("board", "own", "hidden")}
        (line,) = typing.get_args(_returned(self.scores))
        (detail,) = typing.get_args(line)
        return {**shown, "detail": detail}

    def table(self, seats: int, options: Mapping[str, Json] | None = None) -> Table:
        """The table with every option, defaults filled in; raises InvalidTable."""
        if seats not in self.meta.seats:
            raise InvalidTable(Message("{seats} are possible", seats=", ".join(map(str, self.meta.seats))), "/seats")
        given = dict(options or {})
        if unknown := sorted(set(given) - set(self.meta.options)):
            raise InvalidTable(Message("no such option"), f"/options/{unknown[0]}")
        for name, value in given.items():
            if fault := self.meta.options[name].shape.fault(value, f"/options/{name}"):
                raise InvalidTable(shapes.expected(fault[1]), fault[0])
        table = Table(seats, {n: given.get(n, o.default) for n, o in self.meta.options.items()})
        if self.check_table:
            self.check_table(table)
        return table


AnyRuleset = Ruleset[Any]
"""The rules of whichever game."""


def decisions(rules: Ruleset[S], state: S, rewinds: int = 0, viewer: Viewer = PUBLIC) -> list[Decision]:
    """What is open now: the top frame, as a viewer may know it.

    In a secret frame all who were asked stand in `must` until it ends; a seat knows whether it has answered itself.
    """
    if not state.frames:
        return []
    f = state.top
    must, done = f.owing, f.done
    if f.secret and viewer != DIRECTOR:
        done = tuple(s for s in f.done if s == viewer)
        must = tuple(s for s in f.asked if s not in done)
    clock = rules.meta.clocks.get(f.kind, "move")
    return [Decision(f"{rewinds}-{f.n}", f.kind, must, rules.may(state), done, f.engine, clock, f.data)]


def check_shape(rules: Ruleset[S], seat: Seat | None, move: Json) -> Move:
    """The checks that ask for no state; the declared move. Raises RuleError."""
    if not isinstance(move, dict) or not isinstance(move.get("type"), str):
        raise RuleError("malformed_move", "", {"at": "/type", "expected": Message("an object with a `type`")})
    kind = rules.moves.get(move["type"])
    if kind is None or (kind.admission.by == "engine") != (seat is None):
        raise RuleError("unknown_move", "", {"type": move["type"][:MAX_WORD]})
    if fault := shapes.shape_of(kind).fault({k: v for k, v in move.items() if k != "type"}, ""):
        raise RuleError("malformed_move", kind.admission.rule, {"at": fault[0], "expected": fault[1]})
    return msgspec.convert(move, kind)


def check_common(rules: Ruleset[S], state: S, seat: Seat | None, move: Json) -> Move:
    """The checks that every game shares, in the design's order; the declared move. Raises RuleError."""
    declared = check_shape(rules, seat, move)
    admission = declared.admission
    if not state.frames:
        raise RuleError("game_over")
    if seat is not None and admission.by != "any":
        _check_turn(rules, state, seat, admission)
    elif seat is None and (not state.top.engine or (admission.at and state.top.kind not in admission.at)):
        raise RuleError("wrong_phase", admission.rule, {"deciding": state.top.kind})
    return declared


def _check_turn(rules: Ruleset[S], state: S, seat: Seat, kind: Admission) -> None:
    frame = state.top
    owes, may = seat in frame.owing, seat in rules.may(state)
    fits = not kind.at or frame.kind in kind.at
    entitled = (owes and kind.by in ("owing", "both")) or (may and kind.by in ("may", "both"))
    if entitled and fits:
        return
    if fits and seat in frame.done:
        raise RuleError("already_answered", kind.rule, {"deciding": frame.kind})
    if fits or not (owes or may or seat in frame.done):
        raise RuleError("not_your_decision", kind.rule, {"deciding": frame.kind})
    raise RuleError("wrong_phase", kind.rule, {"deciding": frame.kind})


def decide(draft: Draft[S], seat: Seat | None, move: Json) -> None:
    """One move of a seat, or of the engine (None): raises RuleError, or adds facts until somebody owes again."""
    declared = check_common(draft.rules, draft.state, seat, move)
    draft.rules.do[move["type"]](draft, draft.state.top, seat, declared)
    carry_on(draft)


def carry_on(draft: Draft[S]) -> None:
    """Resume frames while the top one owes nothing."""
    for _ in range(_MAX_STEPS):
        if not draft.state.frames:
            return
        frame = draft.state.top
        if frame.owing or frame.engine:
            return
        before = len(draft.facts)
        draft.rules.go[frame.kind](draft, frame)
        if len(draft.facts) == before:
            raise AssertionError(f"{draft.rules.meta.ruleset}: the frame {frame.kind} does not go on")
    raise AssertionError(f"{draft.rules.meta.ruleset}: the flow does not come to rest")


def ask(rules: Ruleset[S], state: S, seat: Seat, picks: Sequence[Json] = ()) -> Choice | Doc:
    """The move builder: the next Choice after the picks, or the finished move.

    Raises RuleError `game_over`, `not_your_decision`, `already_answered`, or `not_offered`.
    """
    found = choices.walk(_builder(rules, state, seat), picks)
    return found if isinstance(found, Choice) else declare.doc(found)


def build(rules: Ruleset[S], state: S, seat: Seat, pick: Callable[[Choice], Json]) -> Doc:
    """A finished move of the move builder, each of whose questions `pick` answers; raises as `ask` does."""
    return declare.doc(choices.answered(_builder(rules, state, seat), pick))


def _builder(rules: Ruleset[S], state: S, seat: Seat) -> choices.Builder:
    if not state.frames:
        raise RuleError("game_over")
    frame = state.top
    if seat not in frame.owing and seat not in rules.may(state):
        raise RuleError("already_answered" if seat in frame.done else "not_your_decision", "", {"deciding": frame.kind})
    return rules.build(state, seat)


def dry_run(rules: Ruleset[S], state: S, seat: Seat, moves: Sequence[Json]) -> Draft[S]:
    """What the moves would do, up to their first draw (NeedsChance); raises RuleError as `decide` does."""
    draft = Draft(rules, state, Draws(NoChance()))
    decide_all(draft, seat, moves)
    return draft


def decide_all(
    draft: Draft[S],
    seat: Seat | None,
    moves: Sequence[Json],
    before: Callable[[S], None] = _unchecked,
    *,
    again: bool = False,
) -> None:
    """An atomic list, which ends with what is drawn, revealed, or asked or answered in secret.

    The refusal of a later move would tell it for free, so that one is refused before anything is looked at. `before`
    each move the state is checked. `again`: a list that is in the log, where it may go on after a secret.
    """
    for i, move in enumerate(moves):
        if draft.revealing or (not again and draft.confiding(seat)):
            raise RuleError("barrier_in_list")
        before(draft.state)
        try:
            decide(draft, seat, move)
        except NeedsChance:
            if i + 1 < len(moves):
                raise RuleError("barrier_in_list") from None
            raise


def memo(state: State, key: str, make: Callable[[], T], of: tuple[object, ...] = ()) -> T:
    """A costly value of a state, made once per state object (a projected order sheet, reachability).

    `of`: all parts of the state that it depends on, always as many for a key. The value is then kept through the
    states that follow, for as long as they hold these very objects.
    """
    if of:
        parts: dict[str, tuple[tuple[object, ...], T]] = state.__dict__.setdefault("_kept", {})
        return _kept(parts, key, make, of)
    kept: dict[str, T] = state.__dict__.setdefault("_memo", {})
    if key not in kept:
        kept[key] = make()
    return kept[key]


def _kept(kept: dict[str, tuple[tuple[object, ...], T]], key: str, make: Callable[[], T], of: tuple[object, ...]) -> T:
    """Facts replace what they change, so the same object has the same value; a held object's identity is its own."""
    old = kept.get(key)
    if old is None or any(map(is_not, old[0], of)):
        old = kept[key] = of, make()
    return old[1]
