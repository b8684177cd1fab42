"""Expectations of a scenario, compared with the findings. Every fault is a ScenarioError."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from domain.errors import FormError, RuleError, ScenarioError
from domain.kernel.game.in_memory_game import AnyInMemoryGame
from domain.kernel.records.record import Record, facts_for
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.decide import query_builder
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.json_codec import has_place, resolve, to_json
from domain.types import DIRECTOR, Doc, Json, Viewer


def format_json(value: Json) -> str:
    """Return a value in the form used in messages."""
    return json.dumps(value, ensure_ascii=False)


def matches(want: Json, found: Json, subset: bool = True) -> bool:
    """Return whether both are equal, types included; with `subset` objects may have further members, at any depth."""
    if type(want) is not type(found) and not (isinstance(want, list) and isinstance(found, tuple)):
        return False
    if isinstance(want, dict):
        has_members = want.keys() <= found.keys() if subset else want.keys() == found.keys()
        return has_members and all(matches(v, found[k], subset) for k, v in want.items())
    if isinstance(want, list):
        return len(want) == len(found) and all(matches(w, f, subset) for w, f in zip(want, found, strict=True))
    return bool(want == found)


# --- refusals, draws ------------------------------------------------------------------------------------------


def compare_refusal(expect: Json, error: RuleError) -> None:
    """Compare the expected code, rule and members of the detail."""
    refusal = error.code + (f" ({error.rule})" if error.rule else "")
    if "refused" not in expect:
        raise ScenarioError(f"refused with {refusal} {format_json(error.detail)}")
    if expect["refused"] != error.code or expect.get("rule", error.rule) != error.rule:
        want = expect["refused"] + (f" ({expect['rule']})" if "rule" in expect else "")
        raise ScenarioError(f"a refusal {want} expected, {refusal} {format_json(error.detail)} found")
    if "detail" in expect and not matches(expect["detail"], as_clients_read(error.detail)):
        want, detail = format_json(expect["detail"]), format_json(error.detail)
        raise ScenarioError(f"the refusal {refusal} with {want} expected, with {detail} found")


def compare_draws(want: Sequence[Json], draws: Sequence[tuple[str, Json]]) -> None:
    """Compare values, and labels if expected."""
    values = [{"label": label, "value": value} for label, value in draws]
    comparable = [v if isinstance(w, dict) else v["value"] for w, v in zip(want, values, strict=False)]
    if len(want) != len(draws) or not matches(list(want), comparable):
        raise ScenarioError(f"draws {format_json(want)} expected, {format_json(values)} found")


def as_clients_read(value: Json) -> Json:
    """Return the value after a round trip through JSON."""
    return json.loads(json.dumps(value))


# --- known names -----------------------------------------------------------------------------------------------


def check_names(rules: AnyRuleset, seats: int, expect: Json, at: str) -> None:
    """Check the names in negative expectations, since a misspelling would go unnoticed; raise ScenarioError."""
    for i, pointer in enumerate(expect.get("absent", ())):
        if not has_place(rules.state, pointer):
            raise ScenarioError(f"{at}/absent/{i}: the state has no place {pointer}")
    viewers: Mapping[str, Json] = expect.get("viewers", {})
    for key in (*expect.get("scores", ()), *(v for v in viewers if v not in ("public", DIRECTOR))):
        if int(key) >= seats:
            raise ScenarioError(f"{at}: the seats are 0 to {seats - 1}, not {key}")
    for place, facts in [("", expect), *((f"/viewers/{v}", view) for v, view in viewers.items())]:
        for i, fact in enumerate(facts.get("no_facts", ())):
            if fact.get("t") not in rules.fact_kinds:
                raise ScenarioError(f"{at}{place}/no_facts/{i}/t: {format_json(fact.get('t'))} is no kind of fact")


# --- the game --------------------------------------------------------------------------------------------------


def compare(expect: Json, match: AnyInMemoryGame, records: Sequence[Record]) -> None:
    """Compare all expectations of a game after these records; raise ScenarioError for the first difference."""
    form = to_json(match.state)
    _compare_places("state", expect.get("state", {}), form)
    _compare_absent("state", expect.get("absent", ()), form)
    decisions = [d.to_json() for d in match.decisions()]
    if "decisions" in expect and not matches(expect["decisions"], decisions):
        raise ScenarioError(f"decisions {format_json(expect['decisions'])} expected, {format_json(decisions)} found")
    _compare_facts(expect, _facts(records, DIRECTOR))
    _compare_scores(expect.get("scores", {}), match)
    for name, expectations in expect.get("viewers", {}).items():
        viewer: Viewer = int(name) if name.isdecimal() else name
        _prefix_errors(f"viewer {name}: ", _compare_viewer, expectations, match, records, viewer)
    for at, offer in enumerate(expect.get("offers", ())):
        _prefix_errors(f"offer {at}: ", _compare_offer, offer, match)


def _prefix_errors(head: str, step: Callable[..., None], *of: object) -> None:
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
            raise ScenarioError(f"{name} {pointer}: {format_json(value)} expected, there is nothing") from None
        if not matches(value, found, subset=False):
            raise ScenarioError(f"{name} {pointer}: {format_json(value)} expected, {format_json(found)} found")


def _compare_absent(name: str, want: Iterable[str], form: Json) -> None:
    for pointer in want:
        try:
            found = resolve(form, pointer)
        except FormError:
            continue
        raise ScenarioError(f"{name} {pointer}: nothing expected, {format_json(found)} found")


def _compare_facts(expect: Json, facts: Sequence[Doc]) -> None:
    left = iter(facts)
    for at, fact in enumerate(expect.get("facts", ())):
        if not any(matches(fact, f) for f in left):
            raise ScenarioError(f"fact {at} {format_json(fact)} expected, in this order; {_similar_facts(fact, facts)}")
    for at, fact in enumerate(expect.get("no_facts", ())):
        if come := [f for f in facts if matches(fact, f)]:
            raise ScenarioError(f"no fact {at} {format_json(fact)} expected, {format_json(come)} found")


def _similar_facts(fact: Doc, facts: Sequence[Doc]) -> str:
    """Describe the facts of its kind, or else the kinds found."""
    kind = fact.get("t")
    same = [f for f in facts if kind in (None, f["t"])]
    if same or not facts:
        return f"{format_json(same)} found"
    return f"none of that kind found, only {', '.join(dict.fromkeys(f['t'] for f in facts))}"


def _compare_scores(want: Mapping[str, Json], match: AnyInMemoryGame) -> None:
    if not want:
        return
    scores = {str(score.seat): score.to_json() for score in match.rules.scores(match.state)}
    for seat, line in want.items():
        if seat not in scores:
            raise ScenarioError(f"score of seat {seat}: {format_json(line)} expected, there is none")
        if not matches(line, as_clients_read(scores[seat])):
            raise ScenarioError(
                f"score of seat {seat}: {format_json(line)} expected, {format_json(scores[seat])} found"
            )


def _compare_viewer(expect: Json, match: AnyInMemoryGame, records: Sequence[Record], viewer: Viewer) -> None:
    sight = as_clients_read(match.rules.player_view(match.state, viewer))
    _compare_places("sight", expect.get("sight", {}), sight)
    _compare_absent("sight", expect.get("absent", ()), sight)
    _compare_facts(expect, _facts(records, viewer))


# --- the move builder ------------------------------------------------------------------------------------------


def _compare_offer(want: Json, match: AnyInMemoryGame) -> None:
    if want["seat"] >= (seats := match.game.table.seats):
        raise ScenarioError(f"the seats are 0 to {seats - 1}, not {want['seat']}")
    after = f"after the picks {format_json(want.get('picks', []))}"
    try:
        offer = query_builder(match.rules, match.state, want["seat"], want.get("picks", ()))
    except RuleError as error:
        if want.get("refused") != error.code:
            raise ScenarioError(f"{after} refused with {error.code} {format_json(error.detail)}") from None
        return
    fault = next(_offer_differences(want, offer), None)
    if fault is not None:
        question = format_json(offer.to_json()) if isinstance(offer, Choice) else f"the move {format_json(offer)}"
        raise ScenarioError(f"{after} {fault} expected, {question} found")


def _offer_differences(want: Json, offer: Choice | Doc) -> Iterator[str]:
    """Yield the unmet expectations of an offer, in words."""
    if "refused" in want:
        yield f"a refusal {want['refused']}"
    if not isinstance(offer, Choice):
        if "move" not in want or not matches(want["move"], as_clients_read(offer)):
            yield f"the move {format_json(want['move'])}" if "move" in want else "a question"
        yield from (f"{name} {format_json(want[name])}" for name in _OF_A_CHOICE if name in want)
        return
    if "move" in want:
        yield f"the move {format_json(want['move'])}"
    yield from _choice_differences(want, offer)


_OF_A_CHOICE = ("field", "options", "offered", "not_offered", "range")


def _choice_differences(want: Json, choice: Choice) -> Iterator[str]:
    if want.get("field", choice.field) != choice.field:
        yield f"field {want['field']}"
    if "options" in want and not matches(want["options"], as_clients_read(choice.values), subset=False):
        yield f"options {format_json(want['options'])}"
    yield from (f"{format_json(v)} offered" for v in want.get("offered", ()) if not _is_offered(choice, v))
    yield from (f"{format_json(v)} not offered" for v in want.get("not_offered", ()) if _is_offered(choice, v))
    if "range" in want and (choice.kind == "one" or want["range"] != [choice.lo, choice.hi]):
        yield f"range {format_json(want['range'])}"


def _is_offered(choice: Choice, value: Json) -> bool:
    if choice.kind == "range":
        return type(value) is int and choice.lo <= value <= choice.hi
    return any(matches(value, option, subset=False) for option in as_clients_read(choice.values))
