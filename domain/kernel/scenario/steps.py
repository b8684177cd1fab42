"""The course of a scenario: one step after the other, each with its draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from domain.errors import DecisionClosed, RuleError, ScenarioError
from domain.kernel.game.game import nonces
from domain.kernel.game.in_memory_game import AnyMatch
from domain.kernel.records.record import Record, facts_for
from domain.kernel.rules.draws import Scripted, Seeded, draw_key
from domain.kernel.scenario.expect import compare, compare_draws, compare_refusal, show
from domain.kernel.scenario.start import failed
from domain.types import DIRECTOR, Doc, Json, Seat

Done = Record | RuleError


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


class Play:
    """A started game, which goes on by steps; `patch` is what it began with, for whoever looks for a fault."""

    def __init__(self, match: AnyMatch, seeded: bool, patch: Doc | None) -> None:
        self.match, self.seeded, self.patch = match, seeded, patch

    def fork(self) -> Play:
        """The same game, to be played on by itself."""
        return Play(self.match.fork(), self.seeded, self.patch)

    def step(self, step: Json, told: Callable[[Done], None]) -> None:
        """One step with its draws and expectations; raises ScenarioError."""
        head = self.match.game
        done: Done = self._guarded(self._drawn, step)
        told(done)
        if isinstance(done, RuleError):
            if self.match.game is not head:
                raise ScenarioError(f"the refusal {done.code} changed the game")
            compare_refusal(step.get("expect", {}), done)
        else:
            self._guarded(self._accepted, step.get("expect", {}), done)

    def compare(self, expect: Json, since: int) -> None:
        """What is expected of the game after all records from number `since` on; raises ScenarioError."""
        self._guarded(compare, expect, self.match, self.match.records[since:])

    def _guarded(self, do: Callable[..., Any], *of: object) -> Any:
        try:
            return do(*of)
        except ScenarioError:
            raise
        except Exception as error:  # a fault of the rules, or of the state that a patch gave them
            raise failed(self.patch, error) from error

    def _accepted(self, expect: Json, done: Record) -> None:
        if "refused" in expect:
            facts = show(facts_for(done, DIRECTOR))
            raise ScenarioError(f"a refusal {expect['refused']} expected, accepted with the facts {facts}")
        if broken := self.match.rules.check(self.match.state):
            raise ScenarioError(f"broken: {'; '.join(broken)}")
        compare(expect, self.match, [done])

    def _drawn(self, step: Json) -> Done:
        """The step done with the draws that it tells; all of them must be drawn, none by a refusal."""
        if self.seeded:
            return self._seeded(step)
        script = Scripted(step.get("draws", ()))
        self.match.source = script
        done = self._done(step)
        if script.left:
            raise ScenarioError(f"not drawn: {show(script.left)}" + _because(done))
        if isinstance(done, RuleError) and step.get("draws"):
            raise ScenarioError(f"the refusal {done.code} has drawn {show(step['draws'])}")
        return done

    def _seeded(self, step: Json) -> Done:
        head = self.match.game
        epoch = head.epoch + bool(step.get("fresh"))
        watched = _Watched(Seeded(draw_key(self.match.seed, nonces(head)), head.id, epoch))
        self.match.source = watched
        done = self._done(step)
        if isinstance(done, RuleError) and watched.taken:
            raise ScenarioError(f"the refusal {done.code} has drawn {show(watched.taken)}")
        if "draws" in step:
            compare_draws(step["draws"], watched.taken)
        return done

    def _done(self, step: Json) -> Done:
        try:
            return self._act(step)
        except RuleError as error:
            return error
        except DecisionClosed:
            raise ScenarioError("no seat owes an answer, so that no deadline can pass") from None

    def _act(self, step: Json) -> Record:
        open_now = self.match.decisions()
        decision = open_now[0].id if open_now else "none"
        if "deadline" in step:
            return self.match.lapse(decision)
        if "engine" in step:
            return self.match.resolve(decision)
        if "rewind" in step:
            return self.match.rewind(step["rewind"], fresh="fresh" in step)
        return self._sit(step)

    def _sit(self, step: Json) -> Record:
        """What a seat does, or somebody with a seat."""
        if "leave" in step:
            return self.match.leave(self._seat(step["leave"]))
        if "join" in step:
            seat = self._seat(step["join"])
            return self.match.join(seat, step.get("player", f"p{seat}"))
        moves = step["moves"] if "moves" in step else [step["move"]]
        return self.match.play(self._seat(step["seat"]), *moves, director="director" in step)

    def _seat(self, seat: Seat) -> Seat:
        if seat >= (seats := self.match.game.table.seats):
            raise ScenarioError(f"the seats are 0 to {seats - 1}, not {seat}")
        return seat


def _because(done: Done) -> str:
    return f", the move is refused with {done.code}" if isinstance(done, RuleError) else ""
