"""Moves that begin at a region or a piece of the map: options from all parts of the open question, with their targets.

A person taps an own piece, and the page lists its moves alone; the map marks where they lead. The builder is asked as
for any other answer, so the page offers nothing beyond the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from api.http.i18n import request_language, translate
from api.pages.common.geometry import load_geometry
from api.pages.common.owners import find_values
from api.pages.common.presentation import load_map, load_sheet, load_usual
from api.pages.decision.move_choices import (
    MOST_CLOSED,
    MOST_OPENED,
    Builder,
    BuilderState,
    OptionShown,
    Pick,
    Question,
    name_opened,
    name_option,
    name_question,
    parse,
    rank_kinds,
    show_question,
)
from domain.kernel.text.message_catalog import Message
from domain.types import Doc, Json

MOST_ASKED = 80
"""Most answers of the builder for one region."""

MOST_DEEP = 3
"""Most answers before one with the region in it."""

MOST_SPREAD = 6
"""Most options without a region in a list with the answers after them."""


def locate_pieces(package: str, board: Doc) -> dict[str, str]:
    """Return piece -> region for the pieces with an id, as `pieces` of the map declares them. Later pointers count."""
    declared = load_map(package).get("pieces", {})
    found = {}
    for pointer in declared.get("at", ()):
        for taken, value in find_values(board, pointer):
            found[str(taken["piece"])] = str(value[declared["region"]])
    return found


def give_usual(builder: Builder, step: BuilderState) -> BuilderState:
    """Return the step after the usual answers of the game (`usual`) to the open question and those after it."""
    usual = load_usual(builder.labels.rules.package)
    while step.choice and step.choice["field"] in usual:
        step = builder.go_on(step, Pick(step.choice["field"], usual[step.choice["field"]]))
    return step


def find_next_piece(package: str, board: Doc, move: Json) -> str | None:
    """Return the piece whose turn it is after the order `move`: the next one without an order, or None."""
    declared, sheet = load_map(package).get("pieces", {}), load_sheet(package)
    if sheet is None or not isinstance(move, dict) or move["type"] != declared.get("order"):
        return None
    located = locate_pieces(package, board)
    filed = [each for each in sheet.list_orders(board["own"]) if each["type"] == move["type"]]
    ordered = {value for order in (move, *filed) for value in order.values() if isinstance(value, str)}
    pieces = list(located)
    last = max((pieces.index(each) for each in move.values() if isinstance(each, str) and each in located), default=0)
    return next((each for each in pieces[last:] + pieces[:last] if each not in ordered), None)


@dataclass
class StartFinder:
    """Finds the moves that begin at the places chosen on the map."""

    builder: Builder
    step: BuilderState
    """The open question, with the chosen places in its picks."""
    located: Mapping[str, str]
    """Piece -> region."""
    asked: int = 0
    regions: Mapping[str, Doc] = field(init=False)

    def __post_init__(self) -> None:
        geometry = load_geometry(self.builder.labels.rules.package)
        self.regions = geometry.regions if geometry else {}

    def find(self) -> Question | None:
        """Return the question with all moves from the first place to the others, or None without any."""
        first, *others = self.step.picks.at
        base = replace(self.step, picks=replace(self.step.picks, at=()))
        rows = [
            (name, option)
            for name, option in self._search(base, first, ())
            if all(self._names(parse(option.value), each) for each in others)
        ]
        if not rows:
            return None
        rows.sort(key=lambda row: not row[0])  # what has no group comes last
        groups = [(name, [option for _, option in some]) for name, some in groupby(rows, key=lambda row: row[0])]
        ends = self._list_ends(base)
        return Question("", self._name_place(first), "paths", groups=[*groups, ("", ends)] if ends else groups)

    def _list_ends(self, base: BuilderState) -> list[OptionShown]:
        """Return the options to bring the game on, such as the end of the turn."""
        choice = base.choice or {"options": ()}
        found = [option for option in choice["options"] if option.get("ends")]
        steps = [(option, self._go_on(base, option)) for option in found]
        return [OptionShown(self._word(choice, option), self._path(step), ends=True) for option, step in steps if step]

    def _name_place(self, place: str) -> str:
        """Return the name of a region, or the question what a piece in its region does."""
        labels = self.builder.labels
        name = labels.option("", place)
        if place not in self.located:
            return name
        named = f"{name} ({labels.option('', self.located[place])})"
        return translate(Message("What does {name} do?", name=named), request_language())

    def _names(self, value: Json, place: str) -> bool:
        """Return True if a value names the place, or a piece in it."""
        if isinstance(value, str):
            return place in (value, self.located.get(value))
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return any(self._names(each, place) for each in parts)

    def _is_placed(self, choice: Doc) -> bool:
        """Return True if the options of a question are about places."""
        return any(self._names(each["value"], place) for each in choice["options"] for place in self.regions)

    def _go_on(self, before: BuilderState, option: Doc) -> BuilderState | None:
        """Return the step after an option, or None if it is refused or too much has been asked."""
        self.asked += 1
        if self.asked > MOST_ASKED:
            return None
        after = self.builder.go_on(before, Pick((before.choice or {})["field"], option["value"]))
        return after if after.answer.status < 400 else None

    def _search(self, before: BuilderState, place: str, words: Sequence[str]) -> Iterator[tuple[str, OptionShown]]:
        """Yield the options at the place, each with its group. `words`: the answers before, in words."""
        choice = before.choice
        if choice is None or choice["kind"] != "one":
            return
        options = rank_kinds(self.builder.labels, choice)
        hits = [each for each in options if self._names(each["value"], place)]
        is_deep = len(words) < MOST_DEEP and len(options) <= MOST_OPENED and not (words and self._is_placed(choice))
        for option in hits or (options if is_deep else ()):
            if after := self._go_on(before, option):
                is_place = option["value"] == place and words
                said = words if is_place else (*words, self._word(choice, option))
                yield from self._follow(before, after, place, said, is_hit=bool(hits))

    def _follow(
        self,
        before: BuilderState,
        after: BuilderState,
        place: str,
        words: Sequence[str],
        *,
        is_hit: bool,
    ) -> Iterator[tuple[str, OptionShown]]:
        """Yield the outcome of an option: here if it or a forced answer after it names the place, else further on."""
        forced = after.picks.trail[len(before.picks.trail) + 1 :]
        if is_hit or any(self._names(pick.value, place) for pick in forced):
            known = self.located.keys()
            pieces = [pick for pick in forced if isinstance(pick.value, str) and pick.value in known]
            yield from self._show(after, (*words, *(self.builder.labels.option(p.field, p.value) for p in pieces)))
        elif not any(self._names(pick.value, region) for pick in forced for region in self.regions):
            yield from self._search(after, place, words)

    def _show(
        self, after: BuilderState, words: Sequence[str], *, is_spread: bool = False
    ) -> Iterator[tuple[str, OptionShown]]:
        """Yield a finished move, the options of the next question, or the option itself before any other question."""
        begun = replace(self.step, picks=replace(self.step.picks, at=()))
        labels, choice, cost = self.builder.labels, after.choice, self.builder.name_cost(begun, after)
        group = self._name_group(words)
        if choice is None:
            said = str(after.answer.doc.get("text") or labels.move(after.move or {}))
            is_told = any(part in said for part in cost.split(", "))  # the sentence of the move may say it
            yield "", OptionShown(said, self._path(after), "" if is_told else cost)
        elif choice["kind"] != "one" or len(choice["options"]) > MOST_OPENED:
            yield "", OptionShown(self._join_words(words), self._path(after), cost)
        elif not is_spread and len(choice["options"]) <= MOST_SPREAD and not self._is_placed(choice):
            yield from self._spread_all(after, choice, words)
        else:
            shown = [each for _, some in show_question(labels, choice).groups for each in some]
            heading = self._name_heading(f"{group} ({cost})" if cost else group, choice)
            for each in shown:
                yield (
                    heading,
                    replace(each, value=self._path(after, Pick(choice["field"], parse(each.value)))),
                )

    def _leads_on(self, after: BuilderState) -> bool:
        """Return True if the next question is about few places."""
        choice = after.choice
        is_short = choice is not None and choice["kind"] == "one" and len(choice["options"]) <= MOST_CLOSED
        return bool(choice and is_short and self._is_placed(choice))

    def _spread_all(self, before: BuilderState, choice: Doc, words: Sequence[str]) -> Iterator[tuple[str, OptionShown]]:
        """Yield options without a place. The first one with targets opens: a march before support."""
        is_spread = False
        for each in choice["options"]:
            if further := self._go_on(before, each):
                is_open = not is_spread and self._leads_on(further)
                is_spread = is_spread or is_open
                yield from self._spread(before, further, words, each, is_open=is_open)

    def _spread(
        self, before: BuilderState, after: BuilderState, words: Sequence[str], option: Doc, *, is_open: bool
    ) -> Iterator[tuple[str, OptionShown]]:
        """Yield the answers after an option, or the option alone."""
        word, labels = self._word(before.choice or {}, option), self.builder.labels
        if is_open:
            yield from self._show(after, (*words, word), is_spread=True)
        else:
            cost = labels.cost(option.get("cost", {}))
            yield self._name_group(words), OptionShown(word, self._path(after), cost)

    def _name_group(self, words: Sequence[str]) -> str:
        """Return the answers before an option in words. A piece says by itself what its order is about."""
        names = {self.builder.labels.option("", piece) for piece in self.located}
        return self._join_words(words[1:] if names.intersection(words[1:2]) else words)

    def _name_heading(self, group: str, choice: Doc) -> str:
        """Return the heading of the answers to a question. A question that names its piece says enough."""
        asked = name_question(self.builder.labels, choice)
        is_named = any(self.builder.labels.option("", piece) in asked for piece in self.located)
        return asked if is_named else name_opened(self.builder.labels, group, choice)

    def _join_words(self, words: Sequence[str]) -> str:
        return self.builder.labels.pair(words[0], ", ".join(words[1:])) if len(words) > 1 else "".join(words)

    def _word(self, choice: Doc, option: Doc) -> str:
        return name_option(self.builder.labels, choice["field"], option)

    def _path(self, after: BuilderState, *more: Pick) -> str:
        """Return the picks since the open question, as JSON."""
        new = after.picks.trail[len(self.step.picks.trail) :]
        return replace(after.picks, trail=(*new, *more)).to_json()


def find_only_path(question: Question) -> str | None:
    """Return the path of the only option, or None if there are several."""
    paths = [option.value for _, options in question.groups for option in options if not option.ends]
    return paths[0] if len(paths) == 1 else None
