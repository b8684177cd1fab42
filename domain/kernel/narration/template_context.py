"""Template context: extra members of sentences, limited to the readers' knowledge.

They come from the states before and after a fact, and from the record's public dice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, pairwise

from domain.kernel.records.record import Record, facts_for
from domain.kernel.rules.draws import dice_of
from domain.kernel.rules.flow import FLOW, Finished, S
from domain.kernel.rules.ruleset import AnyScore, Ruleset
from domain.kernel.schema import declarations
from domain.kernel.schema.declarations import type_name
from domain.types import DIRECTOR, Doc, Json

FINISHED = type_name(Finished)

SILENT: Doc = {"t": ""}
"""Placeholder of a fact narrated by another one."""

TemplateContext = Mapping[int, Mapping[str, Json]]
"""Index of a fact -> extra members of its sentence."""


def ranking(rules: Ruleset[S], state: S) -> Sequence[AnyScore]:
    """Return the current standings, best first; empty if unknown in a state folded for a reader."""
    try:
        return sorted(rules.scores(state), key=lambda score: (score.place, score.seat))
    except Exception:  # noqa: BLE001 - rules may fail in any way over things unknown to a reader
        return ()


def template_context(rules: Ruleset[S], state: S, facts: Sequence[Doc], dice: Sequence[int] = ()) -> TemplateContext:
    """Return the extra members of the facts' sentences; `state` is the state before the first fact.

    `dice` are the record's public ones; a dry run has none.
    """
    readers = rules.roll_readers if dice else {}
    told = (
        i
        for i, fact in enumerate(facts, 1)
        if (t := fact["t"]) == FINISHED or t in rules.context_builders or t in readers
    )
    facts = facts[: max(told, default=0)]  # later facts need no context, and folding is costly
    context: dict[int, Mapping[str, Json]] = {}
    unread = iter(dice)
    for i, (doc, fact) in enumerate(zip(facts, rules.decode_facts(facts) if facts else (), strict=True)):
        before, state = state, fact.evolve(state)
        if doc["t"] == FINISHED:
            context[i] = {"final": final_table(ranking(rules, state), rules.tie_breaks)}
        elif build := rules.context_builders.get(doc["t"]):
            context[i] = build(before, state, fact)
        if read := readers.get(doc["t"]):
            context[i] = {**context.get(i, {}), **read(before, state, fact, unread)}
    return context


def public_dice(rules: Ruleset[S], record: Record) -> Sequence[int]:
    """Return the values of the dice rolled in front of all in a record, in order; none if all stand in its facts."""
    return dice_of(record.head.draws) if rules.roll_readers else ()


def final_table(scores: Sequence[AnyScore], tie_breaks: Sequence[str]) -> list[Json]:
    """Return the standings with the figures behind them; `tied` marks seats with equal points in different places.

    Of those, the better of two neighbours has the other one as `ahead`, and as `apart` the figure that decides.
    """
    places: dict[int, set[int]] = {}
    for score in scores:
        places.setdefault(score.points, set()).add(score.place)
    lines = [x.to_json() | declarations.doc(x.detail) | {"tied": len(places[x.points]) > 1} for x in scores]
    for line, following in pairwise(lines):
        if line["points"] == following["points"] and line["place"] != following["place"]:
            apart = next((name for name in tie_breaks if line.get(name) != following.get(name)), None)
            line.update({"ahead": following["seat"], "apart": apart} if apart else {})
    return list(lines)


def record_template_context(rules: Ruleset[S], before: S, record: Record) -> Callable[[Sequence[Doc]], TemplateContext]:
    """Return a function from facts of the record (public ones, or of a pack) to their context by index there."""
    facts = facts_for(record, DIRECTOR)
    context = template_context(rules, before, facts, public_dice(rules, record)) if record.kind != "rewound" else {}
    members_by_fact = {id(facts[i]): members for i, members in context.items()}
    return lambda some: {i: members_by_fact[id(fact)] for i, fact in enumerate(some) if id(fact) in members_by_fact}


def with_context(rules: Ruleset[S], facts: Sequence[Doc], context: TemplateContext) -> Sequence[Doc]:
    """Return as many facts with their context merged in; facts merged into one sentence stand at their first."""
    sentences = (
        [{**context[i], **fact} if i in context else fact for i, fact in enumerate(facts)] if context else list(facts)
    )
    if not any(fact["t"] in rules.sentence_mergers for fact in facts):
        return rules.complete_sentences(sentences)
    spoken = (i for i, fact in enumerate(facts) if fact["t"] not in FLOW or fact["t"] == FINISHED)
    for kind, run in groupby(spoken, key=lambda i: str(facts[i]["t"])):
        if merge := rules.sentence_mergers.get(kind):
            indices = list(run)
            merged = merge([sentences[i] for i in indices])
            for n, i in enumerate(indices):
                sentences[i] = merged[n] if n < len(merged) else SILENT
    return rules.complete_sentences(sentences)
