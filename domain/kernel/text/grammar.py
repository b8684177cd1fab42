"""Grammar of sentences beyond a template: names with articles, prepositions, numbers, punctuation.

A name is written as it stands in a sentence; its article tells its gender and number:

- English `the Baltic`, `Africa`, `an army, armies`; `(many)` after a plural name: `the Pirates (many)`.
- French `le Maroc`, `l'Afrique (f)`, `les Caraïbes (f)`, `Cuba (f)`, `une armée, armées`. An article without a visible
  gender is followed by `(m)` or `(f)`; without an article the gender is masculine.

After a semicolon stands the language's form for "in" and "to", for places where its rule would be wrong:
`la Baltique; en Baltique`.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from babel import Locale
from babel.dates import format_datetime
from babel.lists import format_list
from babel.numbers import get_decimal_symbol, get_group_symbol
from babel.units import format_unit

from domain.compat import cached_property

_ARTICLE = re.compile(r"(the|an?|les?|la|une?) |l'")
_MARKS = re.compile(r"(?: \((?:m|f|many)\))+$")
_WIDE_SPACES = re.compile(r" {2,}")
_LOOSE_SPACES = re.compile(r" +(?=[,.)\n])|(?<=[(\n]) +")
_FIRST_LETTER = re.compile(r"(^|[.!?] |\n)(\w)")
PERSON_MARK = "\u2060"
"""Mark before a person's name, to keep its spelling at the beginning of a sentence."""
ISOLATE, ISOLATE_END = "\u2068", "\u2069"
"""Marks around a name that is written from right to left: figures beside it would change places otherwise."""


@dataclass(frozen=True)
class Noun:
    """A name with its grammatical properties."""

    bare: str
    """Without an article: `Baltic`, `army`."""
    article: str = ""
    """As written: `the`, `an`, `l'` ..; empty for a name without one."""
    plural: str = ""
    """Plural of a countable: `armies`."""
    feminine: bool = False
    is_plural: bool = False
    """The name itself is plural: `the Pirates`."""
    locative: str = ""
    """`en Baltique`, if it differs from the rule of the language."""

    @property
    def is_definite(self) -> bool:
        """Return whether it takes a definite article in sentences."""
        return self.article in ("the", "le", "la", "les", "l'")


@functools.cache
def parse_noun(text: str) -> Noun:
    """Parse a name as written in the texts."""
    text, _, locative = text.partition("; ")
    marks = _MARKS.search(text)
    suffix = marks[0] if marks else ""
    bare = text.removesuffix(suffix)
    article = match[0] if (match := _ARTICLE.match(bare)) else ""
    bare, plural = bare.removeprefix(article), ""
    article = article.strip()
    if article in ("a", "an", "un", "une"):
        bare, _, plural = bare.partition(", ")
    return Noun(
        bare,
        article,
        plural,
        feminine=article in ("la", "une") or "(f)" in suffix,
        is_plural=article == "les" or "(many)" in suffix,
        locative=locative,
    )


def person_noun(person: str) -> Noun:
    """Return a person's name as a noun, spelled exactly as given. One from right to left is isolated."""
    is_turned = any(unicodedata.bidirectional(sign) in ("R", "AL") for sign in person)
    return Noun(PERSON_MARK + (f"{ISOLATE}{person}{ISOLATE_END}" if is_turned else person))


_UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))


def numbered_noun(kind: Noun, number: int) -> Noun:
    """Return one of several: `seat 3`, `le joueur 3`."""
    return Noun(f"{kind.bare} {number}", kind.article, "", kind.feminine)


class Grammar(ABC):
    """Grammar of one language."""

    lang: str
    region: str
    """Region of its customs: lists in British English have no comma before `and`."""
    forms: Mapping[str, Callable[[Noun], str]]
    """Name of a form in templates -> function returning the form."""
    subject: str
    """Form of a name as the subject of a sentence."""

    @cached_property
    def _locale(self) -> Locale:
        return Locale(self.lang, self.region)

    @cached_property
    def _separator(self) -> str:
        """Return the mark between thousands."""
        return str(get_group_symbol(self._locale))

    @cached_property
    def _point(self) -> str:
        """Return the mark before decimals."""
        return str(get_decimal_symbol(self._locale))

    @cached_property
    def _plural_form(self) -> Callable[[int], str]:
        return functools.lru_cache(4096)(self._locale.plural_form)

    def number(self, value: int) -> str:
        """Return the number with the separators of the language."""
        return str(value) if -10_000 < value < 10_000 else f"{value:,}".replace(",", self._separator)

    def decimal(self, value: Fraction, digits: int) -> str:
        """Return the number with so many decimals, of which there is one at least: `3.250`, `3,250`."""
        rounded = round(value * 10**digits)
        whole, part = divmod(abs(rounded), 10**digits)
        return f"{'-' if rounded < 0 else ''}{whole}{self._point}{part:0{digits}}"

    def duration(self, seconds: int) -> str:
        """Return `2 hours and 30 minutes`: the two greatest units."""
        parts, rest = [], seconds
        for unit, size in _UNITS:
            number, rest = divmod(rest, size)
            parts += [str(format_unit(number, f"duration-{unit}", locale=self._locale))] if number else []
        return self.join_list(parts[:2])

    def date_time(self, at: datetime) -> str:
        """Return `27 Nov 2026, 14:05`, in the zone of the argument."""
        return str(format_datetime(at, "d MMM y, HH:mm", tzinfo=at.tzinfo, locale=self._locale))

    def weekday(self, day: int) -> str:
        """Return the name of a day of the week, from 1 (Monday) to 7, as ISO 8601 numbers them."""
        return str(self._locale.days["format"]["wide"][day - 1])

    def is_singular(self, value: int) -> bool:
        """Return whether the number takes the singular."""
        return bool(self._plural_form(abs(value)) == "one")

    def count_phrase(self, value: int, kind: Noun) -> str:
        """Return `1 army`, `3 armies`."""
        return f"{self.number(value)} {kind.bare if self.is_singular(value) or not kind.plural else kind.plural}"

    def join_list(self, items: Sequence[str]) -> str:
        """Return `a, b and c`."""
        if len(items) < 2:
            return "".join(items)
        return str(format_list(list(items), locale=self._locale))

    def join_names(self, names: Sequence[str]) -> str:
        """Return names in one form as a list."""
        return self.join_list(names)

    def sentence(self, text: str) -> str:
        """Return the text with single spaces, a capital at the beginning and the punctuation of the language."""
        text = _WIDE_SPACES.sub(" ", text) if "  " in text else text
        text = _LOOSE_SPACES.sub("", text).strip()
        return self.punctuate(_capital(text)).replace(PERSON_MARK, "")

    def elide(self, before: str, name: str) -> str:
        """Return the text before a name, adapted to the name's first letter."""
        return before

    @abstractmethod
    def punctuate(self, text: str) -> str:
        """Return the text with the language's spaces around punctuation marks."""


def _capital(text: str) -> str:
    return _FIRST_LETTER.sub(_to_upper, text)


def _to_upper(found: re.Match[str]) -> str:
    return found[1] + found[2].upper()


class English(Grammar):
    """English: `the Baltic`, `a fort`, `in the Baltic`."""

    lang = "en"
    region = "GB"
    subject = "the"

    def __init__(self) -> None:
        self.forms = {"bare": lambda n: n.bare, "the": _the, "a": _a, "in": lambda n: n.locative or f"in {_the(n)}"}

    def join_names(self, names: Sequence[str]) -> str:
        """Return `in Georgia, the Baltic and Kiev`: one preposition, if all have the same."""
        if not all(name.startswith("in ") for name in names):
            return self.join_list(names)
        return self.join_list([*names[:1], *(name.removeprefix("in ") for name in names[1:])])

    def punctuate(self, text: str) -> str:
        return text


def _the(n: Noun) -> str:
    return f"the {n.bare}" if n.is_definite else n.bare


def _a(n: Noun) -> str:
    return f"{n.article} {n.bare}" if n.article else n.bare


_VOWEL = re.compile(r"[aeiouàâäéèêëîïôöùûüœæ]", re.IGNORECASE)
_ELIDED = re.compile(r"\b(de|que|le|la|jusque|lorsque|puisque|se|ne) $", re.IGNORECASE)
_DE = {"le": "du ", "la": "de la ", "l'": "de l'", "les": "des "}
_A = {"le": "au ", "la": "à la ", "l'": "à l'", "les": "aux "}


class French(Grammar):
    """French: `le Maroc`, `du Maroc`, `au Maroc`; `de l'Afrique`, `en Afrique`; `d'Alice`."""

    lang = "fr"
    region = "FR"
    subject = "le"

    def __init__(self) -> None:
        forms = {"le": _le, "un": _un, "de": _de, "depuis": _depuis, "à": _a_fr, "en": _en}
        self.forms = {"bare": lambda n: n.bare, **forms}

    def elide(self, before: str, name: str) -> str:
        if not _VOWEL.match(name.lstrip(PERSON_MARK)):
            return before
        return _ELIDED.sub(lambda found: f"{found[1][:-1]}'", before)

    def punctuate(self, text: str) -> str:
        """Put a narrow no-break space before `;`, `!`, `?`, one of full width before `:` and inside quotes.

        A text with these spaces stays as it is.
        """
        text = re.sub(r"[ \u202f]?([;!?])(?=\s|$)", "\u202f\\1", text)
        text = re.sub(r"[ \u00a0]?:(?=\s|$)", "\u00a0:", text)
        return re.sub(r"«[ \u00a0]?(.*?)[ \u00a0]?»", "«\u00a0\\1\u00a0»", text)


def _le(n: Noun) -> str:
    if not n.is_definite:
        return n.bare
    return n.article + ("" if n.article == "l'" else " ") + n.bare


def _un(n: Noun) -> str:
    return f"{n.article} {n.bare}" if n.article in ("un", "une") else _le(n)


def _de(n: Noun) -> str:
    if n.is_definite:
        return _DE[n.article] + n.bare
    return ("d'" if _VOWEL.match(n.bare.lstrip(PERSON_MARK)) else "de ") + n.bare


def _depuis(n: Noun) -> str:
    """Return the origin: `d'Afrique`, `de France`, `du Maroc`, `des Caraïbes`."""
    if n.article == "la" or (n.article == "l'" and n.feminine):
        return ("d'" if n.article == "l'" else "de ") + n.bare
    return _de(n)


def _a_fr(n: Noun) -> str:
    return (_A[n.article] if n.is_definite else "à ") + n.bare


def _en(n: Noun) -> str:
    """Return the place or destination: `en France`, `en Angola`, `au Maroc`, `aux Caraïbes`, `à Cuba`."""
    if n.locative:
        return n.locative
    return f"en {n.bare}" if n.article in ("la", "l'") else _a_fr(n)


GRAMMARS: Mapping[str, Grammar] = {g.lang: g for g in (English(), French())}
