"""What a sentence takes besides its fact's own members, from the states before and after; by what its readers know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from domain.kernel.records.record import Record, facts_for
from domain.kernel.rules.flow import FLOW, Finished, S
from domain.kernel.rules.ruleset import AnyScore, Ruleset
from domain.kernel.schema import declarations
from domain.kernel.schema.declarations import tag
from domain.types import DIRECTOR, Doc, Json

FINISHED = tag(Finished)

SILENT: Doc = {"t": ""}
"""In the place of a fact that another one tells."""

Asides = Mapping[int, Mapping[str, Json]]
"""Index of a fact -> members that its sentence takes besides."""


def ranked(rules: Ruleset[S], state: S) -> Sequence[AnyScore]:
    """The table as it stands, best first; nothing where the state, folded for a reader, does not say it."""
    try:
        return sorted(rules.scores(state), key=lambda score: (score.place, score.seat))
    except Exception:  # noqa: BLE001 - rules may trip in any way over what a reader does not know
        return ()


def asides(rules: Ruleset[S], state: S, facts: Sequence[Doc]) -> Asides:
    """What the sentences of facts take besides; `state` is the one before them."""
    last = max((i for i, fact in enumerate(facts, 1) if fact["t"] == FINISHED or fact["t"] in rules.asides), default=0)
    facts = facts[:last]  # what comes behind is not asked for, and folding costs
    found: dict[int, Mapping[str, Json]] = {}
    for i, (doc, fact) in enumerate(zip(facts, rules.read(facts) if facts else (), strict=True)):
        before, state = state, fact.evolve(state)
        if doc["t"] == FINISHED:
            found[i] = {"final": _final(ranked(rules, state))}
        elif aside := rules.asides.get(doc["t"]):
            found[i] = aside(before, state, fact)
    return found


def _final(scores: Sequence[AnyScore]) -> list[Json]:
    """The table with the figures behind it; `tied` are those whom something else than the points sets apart."""
    places: dict[int, set[int]] = {}
    for score in scores:
        places.setdefault(score.points, set()).add(score.place)
    return [x.to_json() | declarations.doc(x.detail) | {"tied": len(places[x.points]) > 1} for x in scores]


def asides_whole(rules: Ruleset[S], before: S, record: Record) -> Callable[[Sequence[Doc]], Asides]:
    """The same of a whole record and state, for its public facts or those of a pack, by their index there."""
    facts = facts_for(record, DIRECTOR)
    found = asides(rules, before, facts) if record.kind != "rewound" else {}
    more = {id(facts[i]): members for i, members in found.items()}
    return lambda some: {i: more[id(fact)] for i, fact in enumerate(some) if id(fact) in more}


def as_told(rules: Ruleset[S], facts: Sequence[Doc], found: Asides) -> Sequence[Doc]:
    """The facts as their sentences take them, as many as they are: what some say together stands at their first."""
    told = [{**found[i], **fact} if i in found else fact for i, fact in enumerate(facts)] if found else list(facts)
    if not any(fact["t"] in rules.gathers for fact in facts):
        return told
    spoken = (i for i, fact in enumerate(facts) if fact["t"] not in FLOW or fact["t"] == FINISHED)
    for kind, run in groupby(spoken, key=lambda i: str(facts[i]["t"])):
        if gather := rules.gathers.get(kind):
            places = list(run)
            said = gather([told[i] for i in places])
            for n, i in enumerate(places):
                told[i] = said[n] if n < len(said) else SILENT
    return told
