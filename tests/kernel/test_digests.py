"""A digest tells every command of an officer, whatever became of the turn in which it was given."""

from __future__ import annotations

from typing import Any

import pytest

from domain.kernel.narration.chapters import Narration, OfficerCommand, Section
from domain.kernel.narration.turn_digests import digests
from domain.kernel.rules.ruleset import Chapter
from domain.kernel.text.message_catalog import load_texts
from tests.kernel.flows.orders import RULESET


def no_namer(*_: object) -> Any:
    return None


@pytest.mark.parametrize(("turn", "is_active"), [(2, False), (0, True), (0, False)], ids=["undone", "set-up", "both"])
def test_a_command_in_a_turn_without_a_digest_is_told(turn: int, is_active: bool) -> None:
    command = OfficerCommand(5, Chapter(turn, 0), "lapsed", None, {}, {})
    sections = [Section(5, is_active, Chapter(turn, 0), (), (), command)]
    found = digests(RULESET, load_texts("", "en"), no_namer, Narration(sections, {}, 0))
    assert [each.rulings for each in found] == [("The time is up: defaults are played.",)]
