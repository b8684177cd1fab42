"""How a scenario begins: table, set-up, patch. Whatever a patch brings about is told with its place in the patch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from domain.compat import cached_property
from domain.errors import FormError, InvalidTable, ScenarioError
from domain.kernel.game.in_memory_game import AnyMatch, Match
from domain.kernel.game.record_builder import draft_of
from domain.kernel.game.table_commands import Start
from domain.kernel.records.record import facts_for
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.draws import Scripted
from domain.kernel.rules.flow import State
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.scenario.expect import show
from domain.kernel.scenario.patches import difference, guilty, named, strays
from domain.kernel.schema.canonical_json import digest
from domain.kernel.schema.json_codec import BY_SEAT, from_json, hints, merge_patch, to_json
from domain.types import DIRECTOR, PUBLIC, Doc, Json, Viewer

_LINES = 10
"""So many unknown names are told at once."""

_NAMED = 5
"""So many places of a patch are named for one fault."""


def begin(rules: AnyRuleset, doc: Json) -> AnyMatch:
    """The started game; raises ScenarioError.

    Without a seed and without draws the set-up is drawn from a fixed seed.
    """
    beginning = _Beginning(rules, doc)
    try:
        beginning.look_over()
        return beginning.started(beginning.patch)
    except FormError as error:
        raise ScenarioError(f"/patch{error.pointer}: {error.reason}") from None
    except ScenarioError:
        raise
    except Exception as error:  # the rules meet a state that they did not make themselves
        if not beginning.patched:
            raise ScenarioError(f"set-up: the rules fail: {_said(error)}") from error
        places = named(beginning.patch, error) or guilty(beginning.patch, beginning.works)
        told = f"/patch: the game does not go on: {_said(error)}"
        raise ScenarioError(told + _come_of(places)) from error


def failed(patch: Doc | None, error: Exception) -> ScenarioError:
    """What is told of an exception that the rules raise in the course of a game that began with that patch."""
    told = f"the rules fail: {_said(error)}"
    if patch is None:
        return ScenarioError(told)
    return ScenarioError(told + _come_of(named(patch, error) or [f"/patch/{key}" for key in patch]))


def _said(error: Exception) -> str:
    return f"{type(error).__name__} {error}"


def _come_of(places: list[str]) -> str:
    shown = [*places[:_NAMED], *(["..."] if len(places) > _NAMED else [])]
    return f"; look at {', '.join(shown)}" if shown else ""


class _Beginning:
    """A table where everybody sits, and what the document says of the start."""

    def __init__(self, rules: AnyRuleset, doc: Json) -> None:
        self.rules, self.doc = rules, doc
        self.blank = "blank" in doc
        self.patched = self.blank or "patch" in doc
        self.patch: Doc = doc.get("patch", {})
        seed, table = bytes.fromhex(digest(["scenario", doc.get("seed", 0)])), doc["table"]
        try:
            self.table = Match(rules, table["seats"], seed, options=table.get("options"), start=False)
        except InvalidTable as error:
            raise ScenarioError(f"/table{error.pointer}: {error.reason}") from None

    def _waiting(self) -> tuple[AnyMatch, Scripted | None]:
        match, script = self.table.fork(), Scripted(self.doc["setup_draws"]) if "setup_draws" in self.doc else None
        match.source = script
        return match, script

    @cached_property
    def set_up(self) -> State:
        """The state to which a patch is applied."""
        match, _ = self._waiting()
        draft = draft_of(self.rules, match.game, match.moment)
        with _draws_told():
            self.rules.setup(draft)
        state: State = draft.state
        return state

    def _patched(self, patch: Doc) -> Doc:
        """The JSON form of the state with its patch, supplies not filled in; raises FormError."""
        before = to_json(self.set_up)
        if self.blank:
            before = {
                **to_json(self.rules.blank(self.table.game.table)),
                **{k: before[k] for k in ("frames", "opened")},
            }
            if isinstance(frames := patch.get("frames"), list):
                before["opened"] = max((n for f in frames if type(n := _number(f)) is int), default=0)
        patched: Doc = merge_patch(before, patch)
        return patched

    def _whole(self, patch: Doc) -> Doc:
        """What is changed in the state after the set-up; from an empty board, all that differs from it."""
        if not self.blank:
            return patch
        state: State = from_json(self.rules.state, self._patched(patch))
        return difference(to_json(self.set_up), to_json(self._filled(state, patch)))

    def look_over(self) -> None:
        """Names that the rules do not know, before they meet them; raises ScenarioError, FormError."""
        if self.patched and (lines := [f"/patch{line}" for line in self._unknown()]):
            more = [f"and {len(lines) - _LINES} more"] if len(lines) > _LINES else []
            raise ScenarioError("; ".join([*lines[:_LINES], *more]))

    def _unknown(self) -> Iterator[str]:
        state: State = from_json(self.rules.state, self._patched(self.patch))
        kind: Any = self.rules.state
        by_seat = [n for n, hint in hints(kind).items() if BY_SEAT in getattr(hint, "__metadata__", ())]
        full = [n for n in by_seat if len(getattr(self.set_up, n)) == self.set_up.seats]
        yield from strays(self.rules, state, self.set_up.seats, full)
        if state.seats != self.set_up.seats:  # what follows would go over as many as the patch says there are
            return
        found: list[str] = []
        with contextlib.suppress(Exception):  # what is more than a name is told when the game has begun
            found = self.rules.check(state)
            found = self.rules.check(self._filled(state, self.patch))
        yield from (line for line in found if line.startswith("/"))

    def _filled(self, state: State, patch: Doc) -> State:
        """The state with what follows from the rest of it, as far as the patch does not name it."""
        if not self.blank or self.rules.fill is None:
            return state
        filled: State = from_json(self.rules.state, merge_patch(to_json(self.rules.fill(state)), patch))
        return filled

    def started(self, patch: Doc) -> AnyMatch:
        """The game after its start, sound and fit to be seen; raises ScenarioError, or whatever the rules raise."""
        match, script = self._waiting()
        whole = self._whole(patch) if self.patched else None
        with _draws_told():
            match.do(Start(whole))
        if script and script.left:
            raise ScenarioError(f"set-up: not drawn: {show(script.left)}")
        if broken := self.rules.check(match.state):
            raise ScenarioError(f"{'/patch' if self.patched else 'set-up'}: broken: {'; '.join(broken)}")
        if self.patched:
            _look(match)
        return match

    def works(self, patch: Doc) -> bool:
        """Whether the rules can begin with another patch, be it sound or not."""
        with contextlib.suppress(Exception):
            with contextlib.suppress(ScenarioError):
                self.started(patch)
            return True
        return False


@contextlib.contextmanager
def _draws_told() -> Iterator[None]:
    try:
        yield
    except ScenarioError as error:
        raise ScenarioError(f"set-up: {error}") from None


def _number(frame: Json) -> Json:
    return frame.get("n") if isinstance(frame, dict) else None


def _look(match: AnyMatch) -> None:
    """What everybody will ask of the game: its record folded, its decisions and sights."""
    rules, game = match.rules, match.game
    rules.fold(rules.blank(game.table), facts_for(match.records[-1], DIRECTOR))
    viewers: tuple[Viewer, ...] = (PUBLIC, *range(game.table.seats), DIRECTOR)
    for viewer in viewers:
        decisions(rules, game.state, game.rewinds, viewer)
        rules.sight(game.state, viewer)
