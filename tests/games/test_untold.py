"""Changes of the board that no sentence tells: each stands with its reason in the list of its game."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

import pytest

from domain.kernel.game.game_fold import initial_game
from domain.kernel.narration.chapters import narrate
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.records.record import facts_for
from domain.kernel.schema import declarations
from domain.kernel.schema.json_schema import schema_of
from domain.kernel.text.grammar import PERSON_MARK
from domain.kernel.text.message_catalog import load_texts
from domain.types import DIRECTOR, Json
from tests.games.pages import GROUPED, Pages
from tests.games.test_stories import namer_at, seeded
from tests.games.test_texts import words_of

Path = tuple[str, ...]
Change = tuple[Path, Json, Json]
"""Where on the board, what stood there, and what stands there now."""


def leaves(doc: Json, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    """The single values of a document; a list of them is one."""
    if isinstance(doc, dict):
        for key, value in doc.items():
            yield from leaves(value, (*path, key))
    elif isinstance(doc, list | tuple) and any(isinstance(each, dict | list) for each in doc):
        for i, value in enumerate(doc):
            yield from leaves(value, (*path, str(i)))
    else:
        yield path, tuple(doc) if isinstance(doc, list) else doc


@functools.cache
def members(pages: Pages) -> frozenset[str]:
    """The names of members of the board, which are no things; the keys of mappings are."""

    def walk(schema: Json) -> Iterator[str]:
        if isinstance(schema, dict):
            yield from schema.get("properties", ())
        for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
            yield from walk(part)

    return frozenset(walk(schema_of(pages.rules.view_types["board"])))


class Record:
    """What the sentences of a record name."""

    def __init__(self, pages: Pages, lines: list[str], names: SeatNames, seats: int) -> None:
        self.text, self.words = " ".join(lines).lower(), load_texts(pages.rules.package, "en")
        self.names = {str(seat): names(seat).bare.lower().replace(PERSON_MARK, "") for seat in range(seats)}
        self.members = members(pages)
        self.numbers = {int(n) for n in re.findall(r"\d+", self.text.replace(",", ""))}

    def named(self, key: Json) -> bool:
        """Whether a thing is named, or has no name."""
        known = [self.words.noun(key).bare, self.words.noun(key).plural] if self.words.get(f"word.{key}") else []
        known += [self.names[str(key)]] if str(key) in self.names else []
        return not known or any(name and name.lower().partition(" (")[0] in self.text for name in known)

    def tells(self, change: Change) -> bool:
        """Whether its place is named, and what stands there now, in full or by the difference."""
        path, old, new = change
        if not self.text or not all(map(self.named, (key for key in path if key not in self.members))):
            return False
        if isinstance(old, tuple) or isinstance(new, tuple):
            return all(map(self.named, {*(old or ())} ^ {*(new or ())}))
        if isinstance(new, int) and not isinstance(new, bool):
            more = abs(new - old) if isinstance(old, int) else new
            return (
                bool({new, more} & self.numbers)
                or new == 0
                or (more == 1 and re.search(r"\ban? ", self.text) is not None)
            )
        return new is None or isinstance(new, bool) or self.named(new)


@functools.cache
def untold(pages: Pages) -> dict[str, Change]:
    """Place -> an example of the changes there that the sentences of their record do not tell."""
    rules, game, words = pages.rules, seeded(pages, "heuristic"), load_texts(pages.rules.package, "en")
    lines: dict[int, list[str]] = {}
    for section in narrate(rules, game.records, DIRECTOR, words, namer_at(pages, words)).sections:
        lines.setdefault(section.version, []).extend(section.lines)
    state, found = initial_game(rules, game.records[0]).state, dict[str, Change]()
    board = dict(leaves(declarations.doc(rules.board(state))))
    for record in game.records:
        state = rules.fold(state, facts_for(record, DIRECTOR))
        old, board = board, dict(leaves(declarations.doc(rules.board(state))))
        told = Record(pages, lines.get(record.version, []), SeatNames(words, rules.powers(state), {}), state.seats)
        for path in {*old, *board}:
            change = path, old.get(path), board.get(path)
            if change[1] != change[2] and not told.tells(change):
                found[".".join(path)] = change
    return found


@pytest.mark.parametrize("pages", GROUPED)
def test_changes_on_the_board_are_told_or_unsaid_for_a_reason(pages: Pages) -> None:
    """A place on the board is a path of members; the list of a game, LEFT_UNSAID, has patterns of them."""
    reasons: dict[str, str] = words_of(pages).LEFT_UNSAID
    missing = {
        place: change for place, change in untold(pages).items() if not any(fnmatchcase(place, p) for p in reasons)
    }
    assert not missing, "\n".join(f"{place}: {old} -> {new}" for place, (_, old, new) in sorted(missing.items())[:40])
    assert all(reasons.values())
