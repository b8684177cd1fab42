"""Explanations of an order: the rules applied to two entrants, as data and as sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, NotRequired, TypedDict

from domain.errors import TournamentError
from domain.kernel.text.grammar import Noun, numbered_noun, person_noun
from domain.kernel.text.message_catalog import Texts, load_texts
from domain.tournaments.scoring import POINT
from domain.tournaments.ties import SHARED, Step, TieBreaks
from domain.types import Json

DECIMALS, MOST_DECIMALS = 3, 12
WHOLE = frozenset({"direct", "lapses", "reached", "finish"})
"""Rules with whole numbers as values."""


@dataclass(frozen=True)
class Explanation:
    """Order of two entrants: `first` stands before `second`, or they share a place."""

    first: int
    second: int
    is_shared: bool
    steps: tuple[Step, ...]
    """Rules in the order of their use; the last one parts the two, unless they share."""
    running: tuple[str, ...]
    """Tables whose results are missing: until then the order is provisional."""


def explain(ties: TieBreaks, one: int, other: int) -> Explanation:
    """Return why one entrant stands before another; raise TournamentError unless both are entrants."""
    for entrant in (one, other):
        if entrant not in ties.tally.members:
            raise TournamentError("unknown_entrant", f"there is no entrant {entrant}")
    if one == other:
        raise TournamentError("same_entrant", "two entrants are expected")
    first, second = (entrant for group in ties.ranking for entrant in group if entrant in (one, other))
    is_shared = ties.places[one] == ties.places[other]
    return Explanation(first, second, is_shared, tuple(ties.trace(one, other)), tuple(ties.tally.running))


class ExplainStepDoc(TypedDict):
    rule: str
    group: list[int]
    skipped: str
    values: list[str]
    tables: list[str]


class ExplainedDoc(TypedDict):
    first: int
    second: int
    verdict: Annotated[str, ("before", "shared")]
    rule: Annotated[str, "The rule that parts the two, or empty."]
    steps: list[ExplainStepDoc]
    running: list[str]
    handicaps: NotRequired[Annotated[list[int], "Ticks from bids for seats, of both."]]


def explanation_to_json(ties: TieBreaks, explanation: Explanation) -> ExplainedDoc:
    """Return the data of an explanation; values are exact fractions in points, places or numbers, as text."""
    first, second, handicaps = explanation.first, explanation.second, ties.tally.handicaps
    doc: ExplainedDoc = {
        "first": first,
        "second": second,
        "verdict": "shared" if explanation.is_shared else "before",
        "rule": "" if explanation.is_shared else explanation.steps[-1].rule,
        "steps": [
            {
                "rule": step.rule,
                "group": list(step.group),
                "skipped": step.skipped,
                "values": [] if step.skipped else [value_to_text(ties, step, e) for e in (first, second)],
                "tables": list(step.tables),
            }
            for step in explanation.steps
        ],
        "running": list(explanation.running),
    }
    if handicaps:
        doc["handicaps"] = [handicaps[entrant] for entrant in (first, second)]
    return doc


def value_to_text(ties: TieBreaks, step: Step, entrant: int) -> str:
    """Return an entrant's value of a rule as an exact fraction, or the hex digits of a draw."""
    value = step.values[entrant]
    return value.hex() if isinstance(value, bytes) else ties.write(step.rule, value)


class EntrantNames:
    """Names entrants: by their names, else by their numbers; `person` is the shorter form."""

    def __init__(self, texts: Texts, names: Sequence[str] = ()) -> None:
        self._texts, self._names = texts, names

    def __call__(self, entrant: int) -> Noun:
        return self.person(entrant) if self._names else numbered_noun(self._texts.noun("entrant"), entrant)

    def person(self, entrant: int) -> Noun:
        """Return the name, or the bare number."""
        return person_noun(self._names[entrant]) if self._names else Noun(str(entrant))


def explanation_sentences(ties: TieBreaks, explanation: Explanation, lang: str, names: Sequence[str] = ()) -> list[str]:
    """Return an explanation as sentences of a language."""
    return _Narrator(ties, explanation, load_texts("domain.tournaments", lang), names).sentences()


class _Narrator:
    """Writes one explanation. A group of three and more with all its meetings played has a sentence of its own."""

    def __init__(self, ties: TieBreaks, explanation: Explanation, texts: Texts, names: Sequence[str]) -> None:
        self._ties, self._explanation, self._texts = ties, explanation, texts
        self._namer = EntrantNames(texts, names)
        self._pair = {"a": explanation.first, "b": explanation.second}

    def sentences(self) -> list[str]:
        explanation, lines, clauses = self._explanation, list[str](), list[str]()
        for number, step in enumerate(explanation.steps):
            if step.rule == "direct" and not step.skipped and len(step.group) > 2:
                lines.append(self._describe_group(explanation.steps[:number], step))
                clauses = []
            else:
                clauses.append(self._describe_step(step, is_short=bool(lines)))
        key = f"explain.{'shared' if explanation.is_shared else 'before'}{'.short' if lines else ''}"
        lines.append(self._render(key, {"clauses": "; ".join(clauses)}))
        if (handicaps := self._ties.tally.handicaps) and any(handicaps[entrant] for entrant in self._pair.values()):
            lines.append(self._describe_handicaps(handicaps))
        if explanation.running:
            lines.append(self._render("explain.provisional", {"tables": list(explanation.running)}))
        return lines

    def _render(self, key: str, members: Mapping[str, Json]) -> str:
        return self._texts.render(key, {**self._pair, **members}, self._namer) or ""

    def _fill(self, key: str, members: Mapping[str, Json]) -> str:
        return self._texts.fill(key, {**self._pair, **members}, self._namer) or ""

    def _describe_handicaps(self, handicaps: Sequence[int]) -> str:
        """Return the sentence of the handicaps in the points of both."""
        points = [Fraction(handicaps[entrant], POINT) for entrant in self._pair.values()]
        signs = ["+" if value > 0 else "" for value in points]
        value, less = (
            sign + self._texts.grammar.decimal(value, DECIMALS) for sign, value in zip(signs, points, strict=True)
        )
        return self._render("explain.handicaps", {"value": value, "less": less})

    def _describe_group(self, before: Sequence[Step], step: Step) -> str:
        """Return the sentence of a group with all its meetings played."""
        rank = {entrant: place for place, entrant in enumerate(e for group in self._ties.ranking for e in group)}
        levels: dict[int, list[int]] = {}
        for entrant in sorted(step.group, key=rank.__getitem__):
            levels.setdefault(int(self._express(step, entrant)), []).append(entrant)
        told = ", ".join(
            self._fill("item.level", {"entrants": levels[value], "value": f"{value:+}" if value else "0"})
            for value in sorted(levels, reverse=True)
        )
        members = {"group": sorted(step.group, key=rank.__getitem__), "levels": told}
        if any(earlier.rule == "direct" for earlier in before):
            return self._render("explain.among.again", members)
        if [earlier.rule for earlier in before] == ["points"]:
            points = self._texts.grammar.decimal(self._express(before[0], step.group[0]), DECIMALS)
            return self._render("explain.among", {**members, "points": points})
        return self._render("explain.among.level", members)

    def _describe_step(self, step: Step, is_short: bool) -> str:
        """Return the clause of a rule for the two entrants."""
        if step.skipped:
            suffix = ".two" if step.skipped == "not_all_met" and len(step.group) == 2 else ""
            return self._fill(f"skip.{step.skipped}{suffix}", {"count": len(step.group)})
        kind = "equal" if step.values[self._pair["a"]] == step.values[self._pair["b"]] else "part"
        if step.rule in (SHARED, "draw"):
            return self._fill(f"{kind}.{step.rule}", {})
        one, other = (self._express(step, entrant) for entrant in self._pair.values())
        value, less = self._write_values(step.rule, one, other)
        members = {"value": value, "less": less, "number": 1 if one == 1 else 2}
        if step.rule != "direct":
            return self._fill(f"{kind}.{step.rule}", members)
        return self._describe_meetings(step, kind, is_short, members)

    def _describe_meetings(self, step: Step, kind: str, is_short: bool, members: Mapping[str, Json]) -> str:
        members = {**members, "tables": list(step.tables), "times": len(step.tables)}
        if len(step.tables) > 1:
            return self._fill(f"{kind}.direct", members)
        table = next(t for t, _ in self._ties.tally.tables if t.name == step.tables[0])
        first, second = (table.places[table.entrants.index(entrant)] for entrant in self._pair.values())
        suffix = "short" if is_short and kind == "part" else "once"
        return self._fill(f"{kind}.direct.{suffix}", {**members, "first": first, "second": second})

    def _express(self, step: Step, entrant: int) -> Fraction:
        value = step.values[entrant]
        return self._ties.express(step.rule, value) if isinstance(value, int) else Fraction(0)

    def _write_values(self, rule: str, one: Fraction, other: Fraction) -> tuple[str, str]:
        """Return both values with as many decimals as tell them apart, or else as fractions."""
        if rule in WHOLE or (rule == "wins" and one.denominator == other.denominator == 1):
            sign = "+" if rule == "direct" else ""
            return f"{int(one):{sign}}", f"{int(other):{sign}}"
        for digits in range(DECIMALS, MOST_DECIMALS + 1):
            texts = (self._texts.grammar.decimal(one, digits), self._texts.grammar.decimal(other, digits))
            if one == other or texts[0] != texts[1]:
                return texts
        return str(one), str(other)
