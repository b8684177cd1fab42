"""Names of regions, pieces, cards and other things in the text of the rules, from the game's data."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from api.pages.common.geometry import load_geometry
from api.pages.common.presentation import load_map
from api.pages.map.map_drawing import region_name
from domain.kernel.text.message_catalog import Texts, load_texts
from domain.kernel.text.package_data import load
from domain.types import Json

LEAST = 3
"""Letters of the shortest name."""


@dataclass(frozen=True)
class Thing:
    """A region, a kind of piece, or an item of a list of the game's data."""

    id: str
    is_place: bool = False
    is_piece: bool = False
    names: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Language -> name of an item."""

    def find_name(self, texts: Texts) -> str:
        """Return the name in the language of some texts."""
        name = self.names.get(texts.lang) or region_name(texts, self.id)
        return name[:1].upper() + name[1:]

    def list_words(self, texts: Texts) -> list[str]:
        """Return the forms of the name in the rules. Those of pieces are no proper names: also small, and several."""
        if not self.is_piece:
            return [self.names.get(texts.lang) or region_name(texts, self.id)]
        noun = texts.noun(self.id)
        forms = {noun.bare, noun.plural or noun.bare}
        return [*forms, *(form[:1].upper() + form[1:] for form in forms)]


@dataclass(frozen=True, eq=False)
class Names:
    """The named things of a game."""

    things: Sequence[Thing]
    by_word: Mapping[str, Thing]

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return the pattern of all names, the longest first."""
        words = sorted(self.by_word, key=len, reverse=True)
        return re.compile(rf"(?<!\w)({'|'.join(map(re.escape, words))})(?!\w)" if words else "(?!)")

    def split(self, text: str) -> list[tuple[str, Thing | None]]:
        """Return a text in parts: names of regions and items, each with its thing, and the words between."""
        found: list[tuple[str, Thing | None]] = []
        for n, part in enumerate(self.pattern.split(text)):
            thing = self.by_word[part] if n % 2 else None
            found.append((part, None if thing is None or thing.is_piece else thing))
        return found

    def find_mentions(self, rules: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
        """Return the id of each thing with the numbers of the rules about it. `rules`: numbers and texts.

        A text without a number continues the rule before it.
        """
        found: dict[str, list[str]] = {}
        number = ""
        for own, text in rules:
            number = own or number
            for word in set(self.pattern.findall(text)) if number else ():
                numbers = found.setdefault(self.by_word[word].id, [])
                if number not in numbers:
                    numbers.append(number)
        return found


@functools.cache
def load_names(package: str) -> Names:
    """Return the named things of a game. Of several with one name, the region or else the first counts."""
    geometry, texts = load_geometry(package), load_texts(package, "en")
    places = [Thing(name, is_place=True) for name in geometry.regions] if geometry else []
    pieces = [Thing(kind, is_piece=True) for kind in load_map(package).get("symbols", {})]
    things: dict[str, Thing] = {}
    words: dict[str, Thing] = {}
    for thing in (*places, *_list_items(package, texts), *pieces):
        if thing.id not in things:
            things[thing.id] = thing
            ids = [thing.id] if "_" in thing.id else []  # the rules name moves and cards by their ids too
            for word in (*thing.list_words(texts), *ids):
                words.setdefault(word, thing)
    return Names(tuple(things.values()), {word: thing for word, thing in words.items() if len(word) >= LEAST})


def _list_items(package: str, texts: Texts) -> Iterator[Thing]:
    """Yield the items with a name in the lists of a game's data."""
    data: Json = {}
    with suppress(FileNotFoundError):
        data = load(package, "data.json") if package else {}
    parts = [part for part in data.values() if isinstance(part, dict)]
    lists = [items for part in parts for items in part.values() if isinstance(items, list)]
    for item in (each for items in lists for each in items if isinstance(each, dict) and "id" in each):
        if isinstance(item.get("name"), dict):
            yield Thing(item["id"], names=item["name"])
        elif texts.label(f"word.{item['id']}"):
            yield Thing(item["id"])
