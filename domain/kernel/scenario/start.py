"""Beginning of a scenario: table, set-up, patch. Consequences of a patch are reported with their place in the patch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from domain.compat import cached_property
from domain.errors import FormError, InvalidTable, ScenarioError
from domain.kernel.game.in_memory_game import AnyInMemoryGame, InMemoryGame
from domain.kernel.game.record_builder import new_draft
from domain.kernel.game.table_commands import Start
from domain.kernel.records.record import facts_for
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.draws import Scripted
from domain.kernel.rules.flow import State
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.scenario.expect import format_json
from domain.kernel.scenario.patches import faulty_members, find_unknown_ids, make_patch, pointers_named_by
from domain.kernel.schema.canonical_json import digest
from domain.kernel.schema.json_codec import BY_SEAT, field_types, from_json, merge_patch, to_json
from domain.types import DIRECTOR, PUBLIC, Doc, Json, Viewer

_LINES = 10
"""Most unknown names reported at once."""

_NAMED = 5
"""Most places of a patch named for one fault."""


def begin(rules: AnyRuleset, doc: Json) -> AnyInMemoryGame:
    """Return the started game; raise ScenarioError.

    Without a seed and without draws the set-up is drawn from a fixed seed.
    """
    beginning = _ScenarioStart(rules, doc)
    try:
        beginning.check_names()
        return beginning.start(beginning.patch)
    except FormError as error:
        raise ScenarioError(f"/patch{error.pointer}: {error.reason}") from None
    except ScenarioError:
        raise
    except Exception as error:  # the rules meet a state not made by themselves
        if not beginning.patched:
            raise ScenarioError(f"set-up: the rules fail: {_describe_error(error)}") from error
        places = pointers_named_by(beginning.patch, error) or faulty_members(beginning.patch, beginning.works)
        told = f"/patch: the game does not go on: {_describe_error(error)}"
        raise ScenarioError(told + _suggest_places(places)) from error


def rules_failure(patch: Doc | None, error: Exception) -> ScenarioError:
    """Return the error for an exception raised by the rules in a game begun with the patch."""
    told = f"the rules fail: {_describe_error(error)}"
    if patch is None:
        return ScenarioError(told)
    return ScenarioError(told + _suggest_places(pointers_named_by(patch, error) or [f"/patch/{key}" for key in patch]))


def _describe_error(error: Exception) -> str:
    return f"{type(error).__name__} {error}"


def _suggest_places(places: list[str]) -> str:
    shown = [*places[:_NAMED], *(["..."] if len(places) > _NAMED else [])]
    return f"; look at {', '.join(shown)}" if shown else ""


class _ScenarioStart:
    """A fully seated table, and the document's description of the start."""

    def __init__(self, rules: AnyRuleset, doc: Json) -> None:
        self.rules, self.doc = rules, doc
        self.blank = "blank" in doc
        self.patched = self.blank or "patch" in doc
        self.patch: Doc = doc.get("patch", {})
        seed, table = bytes.fromhex(digest(["scenario", doc.get("seed", 0)])), doc["table"]
        try:
            self.table = InMemoryGame(rules, table["seats"], seed, options=table.get("options"), start=False)
        except InvalidTable as error:
            raise ScenarioError(f"/table{error.pointer}: {error.reason}") from None

    def _fork_table(self) -> tuple[AnyInMemoryGame, Scripted | None]:
        match, script = self.table.fork(), Scripted(self.doc["setup_draws"]) if "setup_draws" in self.doc else None
        match.source = script
        return match, script

    @cached_property
    def state_after_setup(self) -> State:
        """Return the state before a patch."""
        match, _ = self._fork_table()
        draft = new_draft(self.rules, match.game, match.context)
        with _in_setup():
            self.rules.setup(draft)
        state: State = draft.state
        return state

    def _patched(self, patch: Doc) -> Doc:
        """Return the JSON form of the patched state, supplies not filled in; raise FormError."""
        before = to_json(self.state_after_setup)
        if self.blank:
            before = {
                **to_json(self.rules.blank(self.table.game.table)),
                **{k: before[k] for k in ("frames", "opened")},
            }
            if isinstance(frames := patch.get("frames"), list):
                before["opened"] = max((n for f in frames if type(n := _frame_number(f)) is int), default=0)
        patched: Doc = merge_patch(before, patch)
        return patched

    def _whole_patch(self, patch: Doc) -> Doc:
        """Return all changes to the state after the set-up; from an empty board, all differences to it."""
        if not self.blank:
            return patch
        state: State = from_json(self.rules.state, self._patched(patch))
        return make_patch(to_json(self.state_after_setup), to_json(self._fill_in(state, patch)))

    def check_names(self) -> None:
        """Refuse names unknown to the rules before the rules meet them; raise ScenarioError, FormError."""
        if self.patched and (lines := [f"/patch{line}" for line in self._unknown_names()]):
            more = [f"and {len(lines) - _LINES} more"] if len(lines) > _LINES else []
            raise ScenarioError("; ".join([*lines[:_LINES], *more]))

    def _unknown_names(self) -> Iterator[str]:
        state: State = from_json(self.rules.state, self._patched(self.patch))
        kind: Any = self.rules.state
        by_seat = [n for n, hint in field_types(kind).items() if BY_SEAT in getattr(hint, "__metadata__", ())]
        full = [n for n in by_seat if len(getattr(self.state_after_setup, n)) == self.state_after_setup.seats]
        yield from find_unknown_ids(self.rules, state, self.state_after_setup.seats, full)
        if state.seats != self.state_after_setup.seats:  # the next checks would loop over the patch's own number
            return
        found: list[str] = []
        with contextlib.suppress(Exception):  # faults beyond names are reported at the start
            found = self.rules.check(state)
            found = self.rules.check(self._fill_in(state, self.patch))
        yield from (line for line in found if line.startswith("/"))

    def _fill_in(self, state: State, patch: Doc) -> State:
        """Return the state with derived values filled in, except those named by the patch."""
        if not self.blank or self.rules.fill is None:
            return state
        filled: State = from_json(self.rules.state, merge_patch(to_json(self.rules.fill(state)), patch))
        return filled

    def start(self, patch: Doc) -> AnyInMemoryGame:
        """Return the game after its start, sound and viewable; raise ScenarioError, or any error of the rules."""
        match, script = self._fork_table()
        whole = self._whole_patch(patch) if self.patched else None
        with _in_setup():
            match.execute(Start(whole))
        if script and script.remaining:
            raise ScenarioError(f"set-up: not drawn: {format_json(script.remaining)}")
        if broken := self.rules.check(match.state):
            raise ScenarioError(f"{'/patch' if self.patched else 'set-up'}: broken: {'; '.join(broken)}")
        if self.patched:
            _check_views(match)
        return match

    def works(self, patch: Doc) -> bool:
        """Return whether the rules can begin with another patch, sound or not."""
        with contextlib.suppress(Exception):
            with contextlib.suppress(ScenarioError):
                self.start(patch)
            return True
        return False


@contextlib.contextmanager
def _in_setup() -> Iterator[None]:
    try:
        yield
    except ScenarioError as error:
        raise ScenarioError(f"set-up: {error}") from None


def _frame_number(frame: Json) -> Json:
    return frame.get("n") if isinstance(frame, dict) else None


def _check_views(match: AnyInMemoryGame) -> None:
    """Compute everything any client can request: the record folded, decisions and views."""
    rules, game = match.rules, match.game
    rules.fold(rules.blank(game.table), facts_for(match.records[-1], DIRECTOR))
    viewers: tuple[Viewer, ...] = (PUBLIC, *range(game.table.seats), DIRECTOR)
    for viewer in viewers:
        decisions(rules, game.state, game.lasting.rewinds.count, viewer)
        rules.player_view(game.state, viewer)
