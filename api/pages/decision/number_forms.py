"""Forms with several numbers: a division of points among fields, and several moves of one kind, such as purchases.

A division needs no declaration: it is a move with questions for numbers alone. `forms` in `presentation.json` of a game
adds what the builder does not tell. `rest` names the field for the points left, `presets` are named divisions, `then`
is the move made with it. With `number`, a form makes several moves of its `type`: a row for each way to the field of
that name, and no move for a row with 0. `purse` points to the means of all rows (`{seat}`: the visitor's), `unit` names
them. All forms with `beside` make one form below the question for the kind of move, which has this title.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice

from flask import request

from api.http.problems import Problem
from api.pages.common.in_process import Answer
from api.pages.common.owners import find_values
from api.pages.common.presentation import load_form
from api.pages.decision.move_choices import (
    Builder,
    BuilderState,
    Pick,
    Picks,
    dump,
    name_option,
    name_question,
    parse,
    rank_kinds,
)
from domain.types import MAX_INT, Doc, Json

MOST_ROWS = 60
"""Most rows of a form, and most numbers in a submitted one."""


@dataclass(frozen=True)
class Row:
    """A number to give."""

    name: str
    path: str
    """The picks before the number, and its field, as JSON."""
    lo: int
    hi: int
    cost: int = 0
    """Amount that one of it takes from the purse."""
    price: str = ""
    """The cost in words."""
    value: int = 0


@dataclass(frozen=True)
class NumberForm:
    """A form of rows, in named groups."""

    title: str
    groups: Sequence[tuple[str, Sequence[Row]]]
    several: bool
    """True for several moves, False for several numbers of one."""
    purse: int | None = None
    """Means of all rows together, or None if they are independent."""
    unit: str = ""
    """Name of the means."""
    rest: str = ""
    """Name of the field for the rest."""
    presets: Sequence[tuple[str, str, str]] = ()
    """Name of each division, its numbers in the order of the rows as JSON, and what it favours, or an empty text."""
    submits: bool = False
    """True if the form makes a further move, and so ends the decision."""

    @property
    def numbers(self) -> str:
        """Return the numbers of the rows, as those of a division."""
        return dump([row.value for _, rows in self.groups for row in rows])

    @property
    def remainder(self) -> int:
        """Return the rest in the purse after all rows."""
        return (self.purse or 0) - sum(row.cost * row.value for _, rows in self.groups for row in rows)


@dataclass(frozen=True)
class Numbers:
    """Numbers of a submitted form, each with the picks before it."""

    rows: Sequence[tuple[tuple[Pick, ...], int]] = ()
    paths: Mapping[str, int] = field(default_factory=dict)
    """Path as sent -> number."""

    @property
    def picks(self) -> list[Pick]:
        """Return the numbers as answers to the questions of one move."""
        return [replace(way[-1], value=number) for way, number in self.rows]

    def complete(self, picks: Picks) -> Picks:
        """Return the picks with all rows after them, as a name for the moves of the form."""
        ways = [(*way[:-1], replace(way[-1], value=number)) for way, number in self.rows]
        return picks.add(*(pick for way in ways for pick in way))


def read_numbers() -> Numbers:
    """Return the numbers of the submitted form; a preset replaces them. Raise Problem for a form of others."""
    paths, sent = request.form.getlist("row"), request.form.getlist("amount")
    if "preset" in request.form:
        preset = parse(request.form["preset"])
        sent = [str(each) for each in preset] if isinstance(preset, list) else []
    if len(paths) != len(sent) or len(paths) > MOST_ROWS:
        raise Problem("form_stale")
    rows = []
    for path, text in zip(paths, sent, strict=True):
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else 0 if not text else -1
        picks = parse(path)
        if not isinstance(picks, list) or not 0 <= number <= MAX_INT:
            raise Problem("form_stale")
        rows.append((tuple(Pick.from_json(each) for each in picks), number))
    return Numbers(rows, {path: number for path, (_, number) in zip(paths, rows, strict=True)})


def find_form(
    builder: Builder, step: BuilderState, board: Doc, seat: int, given: Numbers | None = None
) -> NumberForm | None:
    """Return the form for the question of a step and those after it, or None. `given`: numbers to show again."""
    choice = step.choice
    if choice is None or step.picks.replaces is not None:
        return None
    kind = next((pick.value for pick in step.picks.trail if pick.field == "type"), "")
    declared = load_form(builder.labels.rules.package, str(kind))
    values = given.paths if given else {}
    if "number" in declared:
        return _find_several(builder, step, declared, board, seat, values)
    return _find_division(builder, step, declared, values) if choice["kind"] == "range" else None


def _find_division(builder: Builder, step: BuilderState, declared: Doc, values: Mapping[str, int]) -> NumberForm | None:
    """Return the form for numbers asked one after another, or None unless nothing else follows."""
    labels, rows, at = builder.labels, list[Row](), step
    lang = labels.texts.lang
    while at.choice is not None:
        choice = at.choice
        if choice["kind"] != "range" or len(rows) == MOST_ROWS:
            return None
        path, lo = dump([[choice["field"], None, False]]), int(choice["lo"])
        name = name_question(labels, choice)
        rows.append(Row(name, path, lo, int(choice["hi"]), 1, value=values.get(path, lo)))
        at = builder.go_on(at, Pick(choice["field"], lo))
    if at.move is None or len(rows) < 2:
        return None
    fields = [parse(row.path)[0][0] for row in rows]
    presets = [
        (each["name"][lang], dump([each["values"][name] for name in fields]), str(each.get("line", {}).get(lang, "")))
        for each in declared.get("presets", ())
    ]
    is_shared = len({(row.lo, row.hi) for row in rows}) == 1 and rows[0].lo == 0
    rest = name_question(labels, {"field": declared["rest"]}) if "rest" in declared else ""
    title = labels.option("type", at.move["type"])
    purse = rows[0].hi if is_shared else None
    return NumberForm(title, [("", rows)], False, purse, "", rest, presets, submits="then" in declared)


def _find_several(
    builder: Builder, step: BuilderState, declared: Doc, board: Doc, seat: int, values: Mapping[str, int]
) -> NumberForm | None:
    """Return the form for several moves of a kind, or None if there are too many ways to its number."""
    ways = list(islice(_find_ways(builder, step, declared["number"]), MOST_ROWS + 1))
    if not 0 < len(ways) <= MOST_ROWS:
        return None
    labels, rows = builder.labels, [_show_way(builder, step, each, values) for each in ways]
    found = next(
        (value for _, value in find_values(board, declared.get("purse", "").replace("{seat}", str(seat)))), None
    )
    unit = labels.member(declared["unit"]).lower() if "unit" in declared else ""
    groups = [(name, [row for _, row in some]) for name, some in groupby(rows, key=lambda each: each[0])]
    title = labels.option("type", declared["type"])
    return NumberForm(title, groups, True, found if isinstance(found, int) else None, unit)


def find_beside(builder: Builder, step: BuilderState, given: Numbers | None = None) -> NumberForm | None:
    """Return the form below the question for the kind of move, or None. `given`: numbers to show again."""
    choice, package = step.choice, builder.labels.rules.package
    if choice is None or choice["field"] != "type" or step.picks.trail or step.picks.replaces is not None:
        return None
    kinds = [each["value"] for each in rank_kinds(builder.labels, choice)]
    forms = [(kind, load_form(package, str(kind))) for kind in kinds]
    shown = [(kind, declared) for kind, declared in forms if "beside" in declared]
    ways = list[BuilderState]()
    for kind, declared in shown:
        ways += _find_ways(builder, builder.follow(step, Pick("type", kind)), declared["number"])
    if not 0 < len(ways) <= MOST_ROWS:
        return None
    values = given.paths if given else {}
    rows = [_show_way(builder, step, each, values) for each in ways]
    groups = [(name, [row for _, row in some]) for name, some in groupby(rows, key=lambda each: each[0])]
    return NumberForm(shown[0][1]["beside"][builder.labels.texts.lang], groups, True)


def _show_way(builder: Builder, step: BuilderState, way: BuilderState, values: Mapping[str, int]) -> tuple[str, Row]:
    """Return the group and the row of a way to a number: the first answer, and the others in words."""
    ask, picks = way.choice or {}, way.picks.trail[len(step.picks.trail) :]
    words, cost, at = list[str](), dict[str, Json](), step
    for pick in picks:
        choice = at.choice or {}
        option = next(each for each in choice["options"] if each["value"] == pick.value)
        words.append(name_option(builder.labels, choice["field"], option))
        cost = option.get("cost") or cost
        at = builder.follow(at, pick)
    words = words or [name_question(builder.labels, ask)]
    path = dump([*([pick.field, pick.value, pick.forced] for pick in picks), [ask["field"], None, False]])
    amount = next((each for each in cost.values() if isinstance(each, int)), 1)
    row = Row(", ".join(words[1:]) or words[0], path, 0, int(ask["hi"]), amount, builder.labels.cost(cost))
    return words[0] if words[1:] else "", replace(row, value=values.get(path, 0))


def _find_ways(builder: Builder, step: BuilderState, number: str) -> Iterator[BuilderState]:
    """Yield each step with the question for the number."""
    choice = step.choice or {"kind": ""}
    if choice["kind"] == "range" and choice["field"] == number:
        yield step
    for option in choice["options"] if choice["kind"] == "one" else ():
        yield from _find_ways(builder, builder.follow(step, Pick(choice["field"], option["value"])), number)


def build_several(builder: Builder, picks: Picks, numbers: Numbers) -> list[Doc] | Answer:
    """Return the moves of all rows with a number, or the first refusal."""
    moves = list[Doc]()
    for way, number in numbers.rows:
        if number:
            state = builder.advance(picks.add(*way[:-1], replace(way[-1], value=number)))
            if state.answer.status >= 400:
                return state.answer
            if state.move is None:
                raise Problem("form_stale")
            moves.append(state.move)
    return moves
