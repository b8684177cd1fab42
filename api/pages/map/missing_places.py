"""Places on a board with things missing from the open question: there a person looks for them first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from api.pages.common.geometry import load_geometry
from api.pages.common.labels import Labels
from api.pages.common.presentation import load_lists
from api.pages.decision.move_choices import parse
from api.pages.decision.why_not import Missing, find_words
from api.pages.player_view.view_nodes import Path
from domain.types import Doc, Json, Seat

Places = Mapping[Path, str]
"""Path of a word or key in a board -> the missing value as a form sends it."""


def find_places(labels: Labels, board: Doc, seat: Seat | None, missing: Missing, about: Json = None) -> Places:
    """Return one place on the board for each missing thing: best the visitor's own, then the nearest to the top.

    `about`: what the question is about; a part of the board with a word of it comes before others. Regions have their
    places on the map, and kinds of moves beside the question.
    """
    geometry = load_geometry(labels.rules.package)
    elsewhere = geometry.regions if geometry else {}
    sought = {}
    for _, values in missing:
        for sent, _ in values:
            field, value = parse(sent)
            if field != "type" and isinstance(value, str) and value not in elsewhere:
                sought[value] = sent
    own = {str(seat), *(power for each, power in labels.names.powers.items() if each == seat)}
    named = {*find_words(about)}
    lists = [things for ids in load_lists(labels.rules.package) if not (things := {*ids}).isdisjoint(sought)]
    best: dict[str, tuple[int, int, Path]] = {}
    for path, word in _list_words({part: board.get(part) for part in ("own", "public")}, lists) if sought else ():
        if word in sought:
            rank = 0 if path[0] == "own" else 1 if own.intersection(path) else 2 if named.intersection(path) else 3
            place = (rank, len(path), path)
            best[word] = min(best.get(word, place), place, key=lambda each: each[:2])
    return {path: sought[word] for word, (_, _, path) in best.items()}


def _list_words(value: Json, lists: Sequence[Set[str]], path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield the words and keys of a document, each with its path. The names of its members are no keys."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        are_things = isinstance(value, dict) and any(value.keys() <= things for things in lists)
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            if are_things:
                yield (*path, str(key), ""), str(key)
            yield from _list_words(each, lists, (*path, str(key)))
