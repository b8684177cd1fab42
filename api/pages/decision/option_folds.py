"""Folds of a long question: its kinds of moves, or its groups of options, each one button that opens its options.

On a phone all folds of a question fit beside what ends the turn. A wide window shows their options below their names,
so a fold costs a tap only where there is no room. One option alone needs no fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from api.pages.common.labels import Labels, capital
from api.pages.decision.move_choices import Opened, OptionGroup, OptionShown, Question, WholeMove, parse
from domain.types import Json

MOST_FLAT = 4
"""Most options on a phone at once, without folds."""


@dataclass(frozen=True)
class Fold:
    """Options of one kind under its name."""

    name: str
    cost: str = ""
    ask: str = ""
    """The question that its options answer, if they all answer one."""
    groups: list[OptionGroup] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Return the number of options."""
        return sum(len(options) for _, options in self.groups)

    @property
    def only(self) -> OptionShown | None:
        """Return the only option, or None if there are several."""
        return self.groups[0][1][0] if self.count == 1 else None


def fold_question(labels: Labels, question: Question | None) -> list[Fold]:
    """Return the folds of a question, without what ends the turn; none for a short one or one without groups."""
    if question is None or question.kind not in ("one", "paths"):
        return []
    found: dict[str, Fold] = {}
    for name, options in question.groups:
        for option in options:
            if not option.ends:
                _add(found, _name_fold(labels, question, name, option), name, option)
    folds = [_name_ask(fold, question) for fold in found.values()]
    return folds if _is_worth(folds) else []


def fold_whole(moves: Sequence[WholeMove]) -> list[Fold]:
    """Return the folds of whole moves by their kinds; none for few moves or one kind."""
    found: dict[str, Fold] = {}
    for move in moves:
        if not move.ends:
            _add(found, move.kind if not move.rest else "", "", OptionShown(move.label, move.path, line=move.line))
    folds = list(found.values())
    return folds if _is_worth(folds) else []


def _add(found: dict[str, Fold], name: str, group: str, option: OptionShown) -> None:
    fold = found.setdefault(name or option.value, Fold(name))
    if not fold.groups or fold.groups[-1][0] != group:
        fold.groups.append((group, []))
    fold.groups[-1][1].append(option)


def _name_fold(labels: Labels, question: Question, group: str, option: OptionShown) -> str:
    """Return the name of an option's fold: the declared group of its kind of move, its kind, or the group it is in."""
    if question.field == "type":
        kind = _find_kind(question, option)
        return labels.group("type", kind) or capital(labels.option("type", kind))
    opened = _find_opened(question, group)
    return opened.name if opened else group


def _find_opened(question: Question, heading: str) -> Opened | None:
    return next((each for each in question.opened if each.heading == heading), None)


def _find_kind(question: Question, option: OptionShown) -> Json:
    value = parse(option.value)
    return value[0][1] if question.kind == "paths" else value


def _name_ask(fold: Fold, question: Question) -> Fold:
    """Return a fold with the question of its options, if there is one alone."""
    (group, options), *others = fold.groups
    opened = _find_opened(question, group)
    if others or opened is None:
        return fold
    return replace(fold, cost=opened.cost, ask=opened.ask, groups=[("", options)])


def _is_worth(folds: Sequence[Fold]) -> bool:
    """Return True for several folds that hide something, of more options than a phone shows at once."""
    return len(folds) > 1 and sum(fold.count for fold in folds) > max(MOST_FLAT, len(folds))
