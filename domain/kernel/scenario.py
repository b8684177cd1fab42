"""Scenarios: a game in one JSON document, with its draws told and its results expected (docs/scenarios.md).

For tests, for judges who reproduce a dispute, for authors of clients. Every fault is a ScenarioError: one in the
document names its JSON pointer, one in the course of the game its step, what was expected and what was found.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from domain.errors import AnnalsError, FormError, InvalidTable, RuleError, ScenarioError, UnknownRuleset
from domain.ids import DIRECTOR, MAX_INT, Doc, Json
from domain.kernel.digest import digest
from domain.kernel.draws import Scripted, Seeded, draw_key
from domain.kernel.game import nonces
from domain.kernel.jsonform import resolve, to_json
from domain.kernel.match import Match
from domain.kernel.record import Record, facts_for
from domain.kernel.ruleset import AnyRuleset
from domain.kernel.shapes import Fault, Int, ListOf, Obj, Shape, Word

Trace = Callable[[int, Record | RuleError], None]
"""Called after each step (0: the set-up) with its record or refusal, before its expectations are compared."""


@dataclass(frozen=True)
class Result:
    """A scenario in which everything came as expected."""

    steps: int
    """How many steps were run."""
    match: Match[Any]
    """The game after the last of them."""


# --- the document ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Kind(Shape):
    """Any value of one JSON type; of any type where none is named."""

    of: type | None = None
    what: str = "a value"
    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        return None if self.of is None or type(value) is self.of else (at, self.what)


@dataclass(frozen=True)
class _Yes(Shape):
    """The value true, for members that only mark."""

    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        return None if value is True else (at, "true")


@dataclass(frozen=True)
class _Draw(Shape):
    """A value, or an object that also names the label."""

    def fault(self, value: Json, at: str) -> Fault | None:
        return _LABELLED.fault(value, at) if isinstance(value, dict) else None


@dataclass(frozen=True)
class _Expect(Shape):
    """A refusal, or what holds after the step."""

    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        form = _REFUSAL if isinstance(value, dict) and "refused" in value else _OUTCOME
        if fault := form.fault(value, at):
            return fault
        wrong = [p for p in value.get("state", {}) if p and not p.startswith("/")]
        return (f"{at}/state/{wrong[0]}", "a JSON pointer, which starts with /,") if wrong else None


@dataclass(frozen=True)
class _Step(Shape):
    """One of the five forms, told apart by the member that only it has."""

    def fault(self, value: Json, at: str) -> Fault | None:
        found = [name for name in _FORMS if isinstance(value, dict) and name in value]
        if len(found) != 1:
            return at, "an object with one of " + ", ".join(_FORMS)
        return _FORMS[found[0]].fault(value, at)


_LIMIT = 100_000
_ANY = _Kind()
_TEXT = _Kind(str, "a string", optional=True)
_OBJECT = _Kind(dict, "an object", optional=True)
_OBJECTS = ListOf(_Kind(dict, "an object"), 0, _LIMIT, optional=True)
_LABELLED = Obj({"label": Word(), "value": _ANY})
_DRAWS = ListOf(_Draw(), 0, _LIMIT, optional=True)
_REFUSAL = Obj({"refused": Word(), "rule": Word(optional=True)})
_OUTCOME = Obj({"state": _OBJECT, "decisions": _OBJECTS, "facts": _OBJECTS})
_MORE: Mapping[str, Shape] = {"about": _TEXT, "draws": _DRAWS, "expect": _Expect(optional=True)}
_MOVER: Mapping[str, Shape] = {"seat": Int(0, 99), "director": _Yes(optional=True), **_MORE}
_FORMS: Mapping[str, Obj] = {
    "move": Obj({"move": _ANY, **_MOVER}),
    "moves": Obj({"moves": ListOf(_ANY, 1), **_MOVER}),
    "deadline": Obj({"deadline": _Yes(), **_MORE}),
    "engine": Obj({"engine": _Yes(), **_MORE}),
    "rewind": Obj({"rewind": Int(0), "fresh": _Yes(optional=True), **_MORE}),
}
_DOCUMENT = Obj(
    {
        "about": _TEXT,
        "ruleset": Word(),
        "table": Obj({"seats": Int(1, 99), "options": _OBJECT}),
        "setup_draws": _DRAWS,
        "seed": Int(-MAX_INT, MAX_INT, optional=True),
        "patch": _OBJECT,
        "steps": ListOf(_Step(), 0, _LIMIT),
    }
)


def parse(text: str | bytes) -> Json:
    """The document in a file; raises ScenarioError for what is no JSON, holds a float or repeats a key."""

    def no_float(number: str) -> NoReturn:
        raise ScenarioError(f"{number}: scenarios hold integers only")

    def unique(pairs: list[tuple[str, Any]]) -> Doc:
        doc = dict(pairs)
        if len(doc) != len(pairs):
            raise ScenarioError(f"a key comes twice among {', '.join(sorted(k for k, _ in pairs))}")
        return doc

    try:
        return json.loads(text, parse_float=no_float, parse_constant=no_float, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"not JSON: {error}") from None


def check(doc: Json) -> None:
    """Raises ScenarioError, with a JSON pointer, for a document that is no scenario."""
    if fault := _DOCUMENT.fault(doc, ""):
        pointer, want = fault
        unknown = want == "no such field"
        raise ScenarioError(f"{pointer or '/'}: " + ("no such member" if unknown else f"{want} is expected"))
    if "seed" in doc and "setup_draws" in doc:
        raise ScenarioError("/setup_draws: with a seed nothing is told of the set-up")


# --- the game --------------------------------------------------------------------------------------------------


def run(get_ruleset: Callable[[str], AnyRuleset], doc: Json, trace: Trace | None = None) -> Result:
    """Plays a scenario; raises ScenarioError. `get_ruleset` raises UnknownRuleset for a name it does not know."""
    check(doc)
    told = trace or _silent
    play = _Play(_begin(_ruleset(get_ruleset, doc["ruleset"]), doc), "seed" in doc)
    told(0, play.match.records[-1])
    for at, step in enumerate(doc["steps"]):
        try:
            play.step(step, functools.partial(told, at + 1))
        except ScenarioError as error:
            raise ScenarioError(f"step {at + 1}: {error}") from error
    return Result(len(doc["steps"]), play.match)


def _silent(_: int, __: Record | RuleError) -> None:
    """Nobody listens."""


def _ruleset(get_ruleset: Callable[[str], AnyRuleset], name: str) -> AnyRuleset:
    try:
        return get_ruleset(name)
    except UnknownRuleset:
        raise ScenarioError(f"/ruleset: there is no ruleset {name}") from None


def _begin(rules: AnyRuleset, doc: Json) -> Match[Any]:
    """The started game. Without a seed and without draws the set-up is drawn from a fixed seed."""
    script = Scripted(doc["setup_draws"]) if "setup_draws" in doc else None
    seed = bytes.fromhex(digest(["scenario", doc.get("seed", 0)]))
    table, patch = doc["table"], doc.get("patch")
    try:
        match = Match(rules, table["seats"], seed, options=table.get("options"), source=script, patch=patch)
    except InvalidTable as error:
        raise ScenarioError(f"/table{error.pointer}: {error.reason}") from None
    except FormError as error:
        raise ScenarioError(f"/patch{error.pointer}: {error.reason}") from None
    except ScenarioError as error:
        raise ScenarioError(f"set-up: {error}") from None
    except Exception as error:  # the rules meet a state that they did not make themselves
        if patch is None or isinstance(error, AnnalsError):
            raise
        raise ScenarioError(f"/patch: the game does not go on: {type(error).__name__} {error}") from error
    if script and script.left:
        raise ScenarioError(f"set-up: not drawn: {_show(script.left)}")
    if broken := rules.check(match.state):
        raise ScenarioError(f"{'set-up' if patch is None else '/patch'}: broken: {'; '.join(broken)}")
    return match


class _Watched:
    """The seeded source, which also keeps what was drawn, in the order of the rules."""

    def __init__(self, source: Seeded) -> None:
        self.source = source
        self.taken: list[tuple[str, Json]] = []

    def index(self, channel: str, ordinal: int, label: str, items: Sequence[Json]) -> int:
        at = self.source.index(channel, ordinal, label, items)
        self.taken.append((label, items[at]))
        return at

    def order(self, channel: str, ordinal: int, label: str, items: Sequence[Json]) -> list[int]:
        order = self.source.order(channel, ordinal, label, items)
        self.taken.append((label, [items[i] for i in order]))
        return order


class _Play:
    """A started game, one step after the other."""

    def __init__(self, match: Match[Any], seeded: bool) -> None:
        self.match, self.seeded = match, seeded

    def step(self, step: Json, told: Callable[[Record | RuleError], None]) -> None:
        """One step with its draws and expectations; raises ScenarioError."""
        expect, head = step.get("expect", {}), self.match.head
        done = self._drawn(step)
        told(done)
        if isinstance(done, RuleError):
            if self.match.head is not head:
                raise ScenarioError(f"the refusal {done.code} changed the game")
            _compare_refusal(expect, done)
            return
        facts = facts_for(done, DIRECTOR)
        if "refused" in expect:
            raise ScenarioError(f"a refusal {expect['refused']} expected, accepted with the facts {_show(facts)}")
        if broken := self.match.rules.check(self.match.state):
            raise ScenarioError(f"broken: {'; '.join(broken)}")
        self._compare(expect, facts)

    def _drawn(self, step: Json) -> Record | RuleError:
        """The step done with the draws that it tells; all of them must be drawn, none by a refusal."""
        if self.seeded:
            return self._seeded(step)
        script = Scripted(step.get("draws", ()))
        self.match.source = script
        done = self._done(step)
        if script.left:
            raise ScenarioError(f"not drawn: {_show(script.left)}" + _because(done))
        if isinstance(done, RuleError) and step.get("draws"):
            raise ScenarioError(f"the refusal {done.code} has drawn {_show(step['draws'])}")
        return done

    def _seeded(self, step: Json) -> Record | RuleError:
        head = self.match.head
        epoch = head.epoch + bool(step.get("fresh"))
        watched = _Watched(Seeded(draw_key(self.match.seed, nonces(head)), head.id, epoch))
        self.match.source = watched
        done = self._done(step)
        if isinstance(done, RuleError) and watched.taken:
            raise ScenarioError(f"the refusal {done.code} has drawn {_show(watched.taken)}")
        if "draws" in step:
            _compare_draws(step["draws"], watched.taken)
        return done

    def _done(self, step: Json) -> Record | RuleError:
        try:
            return self._act(step)
        except RuleError as error:
            return error

    def _act(self, step: Json) -> Record:
        open_now = self.match.decisions()
        decision = open_now[0].id if open_now else "none"
        if "deadline" in step:
            return self.match.lapse(decision)
        if "engine" in step:
            return self.match.resolve(decision)
        if "rewind" in step:
            return self.match.rewind(step["rewind"], fresh="fresh" in step)
        if step["seat"] >= (seats := self.match.head.table.seats):
            raise ScenarioError(f"the seats are 0 to {seats - 1}, not {step['seat']}")
        moves = step["moves"] if "moves" in step else [step["move"]]
        return self.match.play(step["seat"], *moves, director="director" in step)

    def _compare(self, expect: Json, facts: Sequence[Doc]) -> None:
        form = to_json(self.match.state)
        for pointer, want in expect.get("state", {}).items():
            try:
                found = resolve(form, pointer)
            except FormError:
                raise ScenarioError(f"state {pointer}: {_show(want)} expected, there is nothing") from None
            if not _fits(want, found, subset=False):
                raise ScenarioError(f"state {pointer}: {_show(want)} expected, {_show(found)} found")
        decisions = [d.to_json() for d in self.match.decisions()]
        if "decisions" in expect and not _fits(expect["decisions"], decisions):
            raise ScenarioError(f"decisions {_show(expect['decisions'])} expected, {_show(decisions)} found")
        _compare_facts(expect.get("facts", ()), facts)


# --- expectations ----------------------------------------------------------------------------------------------


def _fits(want: Json, found: Json, subset: bool = True) -> bool:
    """Equal, types included; with `subset` an object may have more members than are expected, at any depth."""
    if type(want) is not type(found) and not (isinstance(want, list) and isinstance(found, tuple)):
        return False
    if isinstance(want, dict):
        known = want.keys() <= found.keys() if subset else want.keys() == found.keys()
        return known and all(_fits(v, found[k], subset) for k, v in want.items())
    if isinstance(want, list):
        return len(want) == len(found) and all(_fits(w, f, subset) for w, f in zip(want, found, strict=True))
    return bool(want == found)


def _compare_refusal(expect: Json, found: RuleError) -> None:
    said = found.code + (f" ({found.rule})" if found.rule else "")
    if "refused" not in expect:
        raise ScenarioError(f"refused with {said} {_show(found.detail)}")
    if expect["refused"] != found.code or expect.get("rule", found.rule) != found.rule:
        want = expect["refused"] + (f" ({expect['rule']})" if "rule" in expect else "")
        raise ScenarioError(f"a refusal {want} expected, {said} {_show(found.detail)} found")


def _compare_draws(want: Sequence[Json], found: Sequence[tuple[str, Json]]) -> None:
    values = [{"label": label, "value": value} for label, value in found]
    plain = [v if isinstance(w, dict) else v["value"] for w, v in zip(want, values, strict=False)]
    if len(want) != len(found) or not _fits(list(want), plain):
        raise ScenarioError(f"draws {_show(want)} expected, {_show(values)} found")


def _compare_facts(want: Sequence[Json], found: Sequence[Doc]) -> None:
    left = iter(found)
    for at, fact in enumerate(want):
        if not any(_fits(fact, f) for f in left):
            raise ScenarioError(f"fact {at} {_show(fact)} expected, in this order; {_show(found)} found")


def _because(done: Record | RuleError) -> str:
    return f", the move is refused with {done.code}" if isinstance(done, RuleError) else ""


def _show(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
