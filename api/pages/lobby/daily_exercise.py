"""The exercise of a day, for the front page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from api.http import i18n
from api.services import services
from domain.exercises import count_exercises
from domain.kernel.text.message_catalog import load_texts


@dataclass(frozen=True)
class DailyExercise:
    """The exercise of a day."""

    title: str
    """The title of its game."""
    address: str


def find_daily(rulesets: Sequence[str], day: date) -> DailyExercise | None:
    """Return the exercise of a day, or None without exercises.

    The games take turns. Each of them goes through its exercises, and then begins anew.
    """
    offered = {rules: count for rules in map(services().registry.get, rulesets) if (count := count_exercises(rules))}
    if not offered:
        return None
    turn, at = divmod(day.toordinal(), len(offered))
    rules, count = list(offered.items())[at]
    texts = load_texts(rules.package, i18n.request_language())
    number, title = turn % count + 1, texts.get("title") or rules.meta.title
    return DailyExercise(title, f"/learn/{rules.meta.ruleset}/exercises/{number}")
