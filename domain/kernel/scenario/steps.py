"""The course of a scenario: one step after the other, each with its draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from domain.errors import DecisionClosed, RuleError, ScenarioError
from domain.kernel.game.in_memory_game import AnyInMemoryGame
from domain.kernel.game.pause_commands import PauseGame, ResumeGame
from domain.kernel.game.ruling_commands import RuleEnding, WithdrawRuling
from domain.kernel.records.record import Record, facts_for
from domain.kernel.rules.draws import Scripted, Seeded, draw_key
from domain.kernel.scenario.expect import compare, compare_draws, compare_refusal, format_json
from domain.kernel.scenario.start import rules_failure
from domain.types import DIRECTOR, Doc, Json, Seat

StepResult = Record | RuleError


class _RecordingSource:
    """The seeded source with a memory of its draws, in the order of the rules."""

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


class ScenarioRun:
    """A started game, continued by steps; `patch` is its initial patch, for the search of a fault."""

    def __init__(self, match: AnyInMemoryGame, seeded: bool, patch: Doc | None) -> None:
        self.match, self.seeded, self.patch = match, seeded, patch

    def fork(self) -> ScenarioRun:
        """Return an independent copy to play on from here."""
        return ScenarioRun(self.match.fork(), self.seeded, self.patch)

    def step(self, step: Json, observer: Callable[[StepResult], None]) -> None:
        """Run one step with its draws and expectations; raise ScenarioError."""
        head = self.match.game
        result: StepResult = self._blame_rules(self._run_scripted, step)
        observer(result)
        if isinstance(result, RuleError):
            if self.match.game is not head:
                raise ScenarioError(f"the refusal {result.code} changed the game")
            compare_refusal(step.get("expect", {}), result)
        else:
            self._blame_rules(self._check_accepted, step.get("expect", {}), result)

    def compare(self, expect: Json, since: int) -> None:
        """Compare the game after all records from number `since` on with its expectations; raise ScenarioError."""
        self._blame_rules(compare, expect, self.match, self.match.records[since:])

    def _blame_rules(self, do: Callable[..., Any], *of: object) -> Any:
        try:
            return do(*of)
        except ScenarioError:
            raise
        except Exception as error:  # a fault of the rules, or of their patched state
            raise rules_failure(self.patch, error) from error

    def _check_accepted(self, expect: Json, record: Record) -> None:
        if "refused" in expect:
            facts = format_json(facts_for(record, DIRECTOR))
            raise ScenarioError(f"a refusal {expect['refused']} expected, accepted with the facts {facts}")
        if broken := self.match.rules.check(self.match.state):
            raise ScenarioError(f"broken: {'; '.join(broken)}")
        compare(expect, self.match, [record])

    def _run_scripted(self, step: Json) -> StepResult:
        """Run the step with its given draws; all of them must be drawn, none by a refusal."""
        if self.seeded:
            return self._run_seeded(step)
        script = Scripted(step.get("draws", ()))
        self.match.source = script
        result = self._execute_or_refusal(step)
        if script.remaining:
            raise ScenarioError(f"not drawn: {format_json(script.remaining)}" + _refusal_hint(result))
        if isinstance(result, RuleError) and step.get("draws"):
            raise ScenarioError(f"the refusal {result.code} has drawn {format_json(step['draws'])}")
        return result

    def _run_seeded(self, step: Json) -> StepResult:
        head = self.match.game
        epoch = head.lasting.rewinds.epoch + bool(step.get("fresh"))
        source = _RecordingSource(Seeded(draw_key(self.match.seed, head.seating.nonces), head.id, epoch))
        self.match.source = source
        result = self._execute_or_refusal(step)
        if isinstance(result, RuleError) and source.taken:
            raise ScenarioError(f"the refusal {result.code} has drawn {format_json(source.taken)}")
        if "draws" in step:
            compare_draws(step["draws"], source.taken)
        return result

    def _execute_or_refusal(self, step: Json) -> StepResult:
        try:
            return self._execute(step)
        except RuleError as error:
            return error
        except DecisionClosed:
            raise ScenarioError("no seat owes an answer, so that no deadline can pass") from None

    def _execute(self, step: Json) -> Record:
        open_now = self.match.decisions()
        decision = open_now[0].id if open_now else "none"
        if "deadline" in step:
            return self.match.lapse(decision)
        if "engine" in step:
            return self.match.resolve(decision)
        if "rewind" in step:
            return self.match.rewind(step["rewind"], fresh="fresh" in step)
        if "end" in step:
            return self.match.execute(RuleEnding(**step["end"]))
        if "withdraw" in step:
            return self.match.execute(WithdrawRuling(self.match.game.version))
        if "pause" in step:
            return self.match.execute(PauseGame(moves="moves" in step["pause"]))
        if "resume" in step:
            return self.match.execute(ResumeGame())
        return self._execute_for_seat(step)

    def _execute_for_seat(self, step: Json) -> Record:
        """Execute a step of a seat, or of its player."""
        if "leave" in step:
            return self.match.leave(self._check_seat(step["leave"]))
        if "join" in step:
            seat = self._check_seat(step["join"])
            return self.match.join(seat, step.get("player", f"p{seat}"))
        moves = step["moves"] if "moves" in step else [step["move"]]
        return self.match.play(self._check_seat(step["seat"]), *moves, director="director" in step)

    def _check_seat(self, seat: Seat) -> Seat:
        if seat >= (seats := self.match.game.table.seats):
            raise ScenarioError(f"the seats are 0 to {seats - 1}, not {seat}")
        return seat


def _refusal_hint(result: StepResult) -> str:
    return f", the move is refused with {result.code}" if isinstance(result, RuleError) else ""
