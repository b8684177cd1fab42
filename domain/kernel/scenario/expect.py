"""Expectations: what a scenario says must hold, compared with what is found. Every fault is a ScenarioError."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from domain.errors import FormError, RuleError, ScenarioError
from domain.kernel.game.in_memory_game import AnyMatch
from domain.kernel.records.record import Record, facts_for
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.decide import ask
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.json_codec import has_place, resolve, to_json
from domain.types import DIRECTOR, Doc, Json, Viewer


def show(value: Json) -> str:
    """A value as messages show it."""
    return json.dumps(value, ensure_ascii=False)


def fits(want: Json, found: Json, subset: bool = True) -> bool:
    """Equal, types included; with `subset` an object may have more members than are expected, at any depth."""
    if type(want) is not type(found) and not (isinstance(want, list) and isinstance(found, tuple)):
        return False
    if isinstance(want, dict):
        known = want.keys() <= found.keys() if subset else want.keys() == found.keys()
        return known and all(fits(v, found[k], subset) for k, v in want.items())
    if isinstance(want, list):
        return len(want) == len(found) and all(fits(w, f, subset) for w, f in zip(want, found, strict=True))
    return bool(want == found)


# --- of a refusal, of draws ------------------------------------------------------------------------------------


def compare_refusal(expect: Json, found: RuleError) -> None:
    """Code, rule and members of the detail, as far as they are expected."""
    said = found.code + (f" ({found.rule})" if found.rule else "")
    if "refused" not in expect:
        raise ScenarioError(f"refused with {said} {show(found.detail)}")
    if expect["refused"] != found.code or expect.get("rule", found.rule) != found.rule:
        want = expect["refused"] + (f" ({expect['rule']})" if "rule" in expect else "")
        raise ScenarioError(f"a refusal {want} expected, {said} {show(found.detail)} found")
    if "detail" in expect and not fits(expect["detail"], plain(found.detail)):
        want, detail = show(expect["detail"]), show(found.detail)
        raise ScenarioError(f"the refusal {said} with {want} expected, with {detail} found")


def compare_draws(want: Sequence[Json], found: Sequence[tuple[str, Json]]) -> None:
    """Values, with their labels where these are told."""
    values = [{"label": label, "value": value} for label, value in found]
    told = [v if isinstance(w, dict) else v["value"] for w, v in zip(want, values, strict=False)]
    if len(want) != len(found) or not fits(list(want), told):
        raise ScenarioError(f"draws {show(want)} expected, {show(values)} found")


def plain(value: Json) -> Json:
    """As clients read it."""
    return json.loads(json.dumps(value))


# --- of what is known ------------------------------------------------------------------------------------------


def check_names(rules: AnyRuleset, seats: int, expect: Json, at: str) -> None:
    """What must not come can be misspelt unseen, so its names are checked first; raises ScenarioError."""
    for i, pointer in enumerate(expect.get("absent", ())):
        if not has_place(rules.state, pointer):
            raise ScenarioError(f"{at}/absent/{i}: the state has no place {pointer}")
    viewers: Mapping[str, Json] = expect.get("viewers", {})
    for key in (*expect.get("scores", ()), *(v for v in viewers if v not in ("public", DIRECTOR))):
        if int(key) >= seats:
            raise ScenarioError(f"{at}: the seats are 0 to {seats - 1}, not {key}")
    for place, facts in [("", expect), *((f"/viewers/{v}", seen) for v, seen in viewers.items())]:
        for i, fact in enumerate(facts.get("no_facts", ())):
            if fact.get("t") not in rules.fact_kinds:
                raise ScenarioError(f"{at}{place}/no_facts/{i}/t: {show(fact.get('t'))} is no kind of fact")


# --- of the game -----------------------------------------------------------------------------------------------


def compare(expect: Json, match: AnyMatch, records: Sequence[Record]) -> None:
    """All that is expected of a game after these records; raises ScenarioError for the first that differs."""
    form = to_json(match.state)
    _compare_places("state", expect.get("state", {}), form)
    _compare_absent("state", expect.get("absent", ()), form)
    decisions = [d.to_json() for d in match.decisions()]
    if "decisions" in expect and not fits(expect["decisions"], decisions):
        raise ScenarioError(f"decisions {show(expect['decisions'])} expected, {show(decisions)} found")
    _compare_facts(expect, _facts(records, DIRECTOR))
    _compare_scores(expect.get("scores", {}), match)
    for name, seen in expect.get("viewers", {}).items():
        viewer: Viewer = int(name) if name.isdecimal() else name
        _about(f"viewer {name}: ", _compare_viewer, seen, match, records, viewer)
    for at, offer in enumerate(expect.get("offers", ())):
        _about(f"offer {at}: ", _compare_offer, offer, match)


def _about(head: str, step: Callable[..., None], *of: object) -> None:
    try:
        step(*of)
    except ScenarioError as error:
        raise ScenarioError(f"{head}{error}") from None


def _facts(records: Iterable[Record], viewer: Viewer) -> list[Doc]:
    return [fact for record in records for fact in facts_for(record, viewer)]


def _compare_places(name: str, want: Mapping[str, Json], form: Json) -> None:
    for pointer, value in want.items():
        try:
            found = resolve(form, pointer)
        except FormError:
            raise ScenarioError(f"{name} {pointer}: {show(value)} expected, there is nothing") from None
        if not fits(value, found, subset=False):
            raise ScenarioError(f"{name} {pointer}: {show(value)} expected, {show(found)} found")


def _compare_absent(name: str, want: Iterable[str], form: Json) -> None:
    for pointer in want:
        try:
            found = resolve(form, pointer)
        except FormError:
            continue
        raise ScenarioError(f"{name} {pointer}: nothing expected, {show(found)} found")


def _compare_facts(expect: Json, found: Sequence[Doc]) -> None:
    left = iter(found)
    for at, fact in enumerate(expect.get("facts", ())):
        if not any(fits(fact, f) for f in left):
            raise ScenarioError(f"fact {at} {show(fact)} expected, in this order; {_alike(fact, found)}")
    for at, fact in enumerate(expect.get("no_facts", ())):
        if come := [f for f in found if fits(fact, f)]:
            raise ScenarioError(f"no fact {at} {show(fact)} expected, {show(come)} found")


def _alike(fact: Doc, found: Sequence[Doc]) -> str:
    """The facts of its kind; where there is none, the kinds that have come."""
    kind = fact.get("t")
    same = [f for f in found if kind in (None, f["t"])]
    if same or not found:
        return f"{show(same)} found"
    return f"none of that kind found, only {', '.join(dict.fromkeys(f['t'] for f in found))}"


def _compare_scores(want: Mapping[str, Json], match: AnyMatch) -> None:
    if not want:
        return
    found = {str(score.seat): score.to_json() for score in match.rules.scores(match.state)}
    for seat, line in want.items():
        if seat not in found:
            raise ScenarioError(f"score of seat {seat}: {show(line)} expected, there is none")
        if not fits(line, plain(found[seat])):
            raise ScenarioError(f"score of seat {seat}: {show(line)} expected, {show(found[seat])} found")


def _compare_viewer(seen: Json, match: AnyMatch, records: Sequence[Record], viewer: Viewer) -> None:
    sight = plain(match.rules.sight(match.state, viewer))
    _compare_places("sight", seen.get("sight", {}), sight)
    _compare_absent("sight", seen.get("absent", ()), sight)
    _compare_facts(seen, _facts(records, viewer))


# --- of the move builder ---------------------------------------------------------------------------------------


def _compare_offer(want: Json, match: AnyMatch) -> None:
    if want["seat"] >= (seats := match.game.table.seats):
        raise ScenarioError(f"the seats are 0 to {seats - 1}, not {want['seat']}")
    after = f"after the picks {show(want.get('picks', []))}"
    try:
        found = ask(match.rules, match.state, want["seat"], want.get("picks", ()))
    except RuleError as error:
        if want.get("refused") != error.code:
            raise ScenarioError(f"{after} refused with {error.code} {show(error.detail)}") from None
        return
    fault = next(_unlike(want, found), None)
    if fault is not None:
        asked = show(found.to_json()) if isinstance(found, Choice) else f"the move {show(found)}"
        raise ScenarioError(f"{after} {fault} expected, {asked} found")


def _unlike(want: Json, found: Choice | Doc) -> Iterator[str]:
    """What is expected of an offer and does not hold, in words."""
    if "refused" in want:
        yield f"a refusal {want['refused']}"
    if not isinstance(found, Choice):
        if "move" not in want or not fits(want["move"], plain(found)):
            yield f"the move {show(want['move'])}" if "move" in want else "a question"
        yield from (f"{name} {show(want[name])}" for name in _OF_A_CHOICE if name in want)
        return
    if "move" in want:
        yield f"the move {show(want['move'])}"
    yield from _unlike_choice(want, found)


_OF_A_CHOICE = ("field", "options", "offered", "not_offered", "range")


def _unlike_choice(want: Json, found: Choice) -> Iterator[str]:
    if want.get("field", found.field) != found.field:
        yield f"field {want['field']}"
    if "options" in want and not fits(want["options"], plain(found.values), subset=False):
        yield f"options {show(want['options'])}"
    yield from (f"{show(v)} offered" for v in want.get("offered", ()) if not _offered(found, v))
    yield from (f"{show(v)} not offered" for v in want.get("not_offered", ()) if _offered(found, v))
    if "range" in want and (found.kind == "one" or want["range"] != [found.lo, found.hi]):
        yield f"range {show(want['range'])}"


def _offered(found: Choice, value: Json) -> bool:
    if found.kind == "range":
        return type(value) is int and found.lo <= value <= found.hi
    return any(fits(value, option, subset=False) for option in plain(found.values))
