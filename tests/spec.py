"""Given / when / then for rulesets: the state is patched, draws are scripted, refusals change nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from domain.errors import RuleError
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.narration.template_context import public_dice, template_context
from domain.kernel.records.record import Record, facts_for
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.decide import query_builder
from domain.kernel.rules.draws import DrawSource, Extreme, Scripted, Seeded
from domain.kernel.rules.flow import Decision
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema.json_codec import resolve, to_json
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.types import DIRECTOR, Doc, Json, Seat

SEED = b"annals specification seed, fixed"
CLUMSY = re.compile(r"[a-z]_[a-z]|[{}\[\]]|\(\W*\)|[:,;]\W*\.|  |\s[.,]|\bNone\b|\bnull\b|\bTrue\b|\bFalse\b|, -")
"""An id, a list or an object that shows through, or a hole where something should stand."""


def _check_sentence(package: str, error: RuleError) -> None:
    """Both languages have a whole sentence for a refusal, and one of its own for each cause."""
    for lang in LANGUAGES if package else ():
        texts, cause = load_texts(package, lang), error.detail.get("cause")
        assert cause is None or texts.get(f"refusal.{error.code}.{cause}"), (error.code, cause)
        said = texts.refusal(error.code, error.detail) or ""
        assert said.endswith("."), (error.code, said)
        assert not CLUMSY.search(said), (error.code, said)


class Given:
    """A running game.

    `draws` are the values of the set-up (seeded when None), `patch` is merged into the state's JSON form afterwards.
    """

    def __init__(
        self,
        rules: Ruleset[Any],
        seats: int,
        *,
        options: Mapping[str, Json] | None = None,
        patch: Json = None,
        draws: Sequence[Json] | None = None,
    ) -> None:
        script = None if draws is None else Scripted(draws)
        source: DrawSource = script or Seeded(SEED, "match")
        self.match = InMemoryGame(rules, seats, SEED, options=options, source=source, patch=patch)
        assert script is None or not script.remaining, f"set-up did not draw {script.remaining}"
        assert not (broken := rules.check(self.match.state)), broken

    def when(self, seat: Seat, *moves: Doc, draws: Sequence[Json] = ()) -> list[Doc]:
        """The move, or atomic list, is accepted and draws exactly these values; returns all facts of the record."""
        return self._scripted(draws, lambda: self.match.play(seat, *moves))

    def deadline(self, draws: Sequence[Json] = ()) -> list[Doc]:
        """The deadline of the open decision passes."""
        return self._scripted(draws, self.match.lapse)

    def engine(self, draws: Sequence[Json] = ()) -> list[Doc]:
        """The engine does the batch work that is due."""
        return self._scripted(draws, self.match.resolve)

    def extreme(self, seat: Seat, *moves: Doc, last: bool = False) -> list[Doc]:
        """The move with every draw at its minimum, or with `last` at its maximum."""
        self.match.source = Extreme(last)
        return facts_for(self.match.play(seat, *moves), DIRECTOR)

    def _scripted(self, draws: Sequence[Json], act: Any) -> list[Doc]:
        script, before = Scripted(draws), self.state
        self.match.source = script
        record: Record = act()
        assert not script.remaining, f"not drawn: {script.remaining}"
        assert not (broken := self.match.rules.check(self.state)), broken
        assert reads_all_dice(self.match.rules, before, record)
        return facts_for(record, DIRECTOR)

    def refused(
        self, seat: Seat, move: Json, code: str, rule: str | None = None, cause: str | None = None
    ) -> RuleError:
        """The move is refused with that code (rule number, and cause), and nothing has changed or been drawn.

        Both languages have a whole sentence for it.
        """
        head = self.match.game
        self.match.source = Scripted(())
        with pytest.raises(RuleError) as caught:
            self.match.play(seat, move)
        error = caught.value
        assert error.code == code, f"{error.code} instead of {code}: {error.detail}"
        assert rule is None or error.rule == rule, f"{error.rule} instead of {rule}"
        assert cause in (None, error.detail.get("cause")), error.detail
        assert self.match.game is head
        _check_sentence(self.match.rules.package, error)
        return error

    def offered(self, seat: Seat, *picks: Json) -> Choice | Doc:
        """The next question of the move builder after the picks, or the finished move."""
        return query_builder(self.match.rules, self.state, seat, picks)

    @property
    def state(self) -> Any:
        """The state as it is in memory."""
        return self.match.state

    def at(self, pointer: str) -> Json:
        """The value at a JSON pointer of the state's JSON form."""
        return resolve(to_json(self.state), pointer)

    @property
    def decision(self) -> Decision:
        """What is open now."""
        return self.match.decisions()[0]

    def sight(self, viewer: Any) -> Json:
        """What a viewer sees."""
        return self.match.rules.player_view(self.state, viewer)


class CountedDice(list[int]):
    """Dice that count how many of them were read."""

    read = 0

    def __iter__(self) -> Iterator[int]:
        for value in super().__iter__():
            self.read += 1
            yield value


def reads_all_dice(rules: Ruleset[Any], before: Any, record: Record) -> bool:
    """Whether the sentences of a record read all of its public dice, and ask for no more."""
    dice = public_dice(rules, record)
    more = CountedDice([*dice, 0])
    if dice:
        template_context(rules, before, facts_for(record, DIRECTOR), more)
    return more.read == len(dice)


def kinds(facts: Sequence[Doc]) -> list[str]:
    """The kinds of facts, without the kernel's own steps of the flow."""
    return [f["t"] for f in facts if f["t"] not in ("asked", "answered", "noted", "ended")]
