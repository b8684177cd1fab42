"""What a sentence needs of its language beyond a template: names with articles, prepositions, numbers, punctuation.

A name is written as it stands in a sentence, and tells by its article what the language must know of it:

- English `the Baltic`, `Africa`, `an army, armies`; `(many)` after a name that is plural: `the Pirates (many)`.
- French `le Maroc`, `l'Afrique (f)`, `les Caraïbes (f)`, `Cuba (f)`, `une armée, armées`. An article that does not tell
  the gender is followed by `(m)` or `(f)`; without one the gender is masculine.

After a semicolon stands how the language says "in" and "to" of a place, where its rule would be wrong:
`la Baltique; en Baltique`.
"""

from __future__ import annotations

import functools
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from babel import Locale
from babel.lists import format_list
from babel.numbers import format_decimal
from babel.units import format_unit

from domain.compat import cached_property

_ARTICLE = re.compile(r"(the|an?|les?|la|une?) |l'")
_MARKS = re.compile(r"(?: \((?:m|f|many)\))+$")
START = "\u2060"
"""Before a person's name, which is never written otherwise at the beginning of a sentence."""


@dataclass(frozen=True)
class Noun:
    """A name of something, and what its language must know of it."""

    bare: str
    """Without an article: `Baltic`, `army`."""
    article: str = ""
    """As it was written: `the`, `an`, `l'` ..; empty for a name that has none."""
    plural: str = ""
    """Of what is counted: `armies`."""
    feminine: bool = False
    many: bool = False
    """Whether the name itself is plural: `the Pirates`."""
    where: str = ""
    """`en Baltique`, where the rule of the language would say otherwise."""

    @property
    def definite(self) -> bool:
        """Whether it has a definite article in sentences."""
        return self.article in ("the", "le", "la", "les", "l'")


@functools.cache
def noun(text: str) -> Noun:
    """A name as the texts write it."""
    text, _, where = text.partition("; ")
    marks = _MARKS.search(text)
    said = marks[0] if marks else ""
    bare = text.removesuffix(said)
    article = found[0] if (found := _ARTICLE.match(bare)) else ""
    bare, plural = bare.removeprefix(article), ""
    article = article.strip()
    if article in ("a", "an", "un", "une"):
        bare, _, plural = bare.partition(", ")
    return Noun(
        bare,
        article,
        plural,
        feminine=article in ("la", "une") or "(f)" in said,
        many=article == "les" or "(many)" in said,
        where=where,
    )


def named(person: str) -> Noun:
    """A person's name, however it is written."""
    return Noun(START + person)


_UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))


def numbered(of: Noun, number: int) -> Noun:
    """One of several: `seat 3`, `le siège 3`."""
    return Noun(f"{of.bare} {number}", of.article, "", of.feminine)


class Grammar(ABC):
    """One language."""

    lang: str
    region: str
    """Whose customs are followed: lists in British English have no comma before `and`."""
    forms: Mapping[str, Callable[[Noun], str]]
    """How a template asks for a form of a name -> the form."""
    subject: str
    """The form in which a name does something."""

    @cached_property
    def _locale(self) -> Locale:
        return Locale(self.lang, self.region)

    def number(self, value: int) -> str:
        """With the separators of the language."""
        return str(value) if -10_000 < value < 10_000 else str(format_decimal(value, locale=self._locale))

    def duration(self, seconds: int) -> str:
        """`2 hours and 30 minutes`: the two greatest units."""
        parts, left = [], seconds
        for unit, size in _UNITS:
            number, left = divmod(left, size)
            parts += [str(format_unit(number, f"duration-{unit}", locale=self._locale))] if number else []
        return self.listed(parts[:2])

    def singular(self, value: int) -> bool:
        """Whether so many take the singular."""
        return bool(self._locale.plural_form(abs(value)) == "one")

    def counted(self, value: int, of: Noun) -> str:
        """`1 army`, `3 armies`."""
        return f"{self.number(value)} {of.bare if self.singular(value) or not of.plural else of.plural}"

    def listed(self, items: Sequence[str]) -> str:
        """`a, b and c`."""
        if len(items) < 2:
            return "".join(items)
        return str(format_list(list(items), locale=self._locale))

    def sentence(self, text: str) -> str:
        """Single spaces, a capital at the beginning, the punctuation of the language."""
        text = re.sub(r" +(?=[,.)\n])|(?<=[(\n]) +", "", re.sub(r" {2,}", " ", text)).strip()
        return self.punctuated(_capital(text)).replace(START, "")

    def joined(self, before: str, form: str) -> str:
        """The text before a name, as the name's beginning has it."""
        return before

    @abstractmethod
    def punctuated(self, text: str) -> str:
        """With the spaces that the language has around its marks."""


def _capital(text: str) -> str:
    return re.sub(r"(^|[.!?] |\n)(\w)", lambda found: found[1] + found[2].upper(), text)


class English(Grammar):
    """`the Baltic`, `a fort`, `in the Baltic`."""

    lang = "en"
    region = "GB"
    subject = "the"

    def __init__(self) -> None:
        self.forms = {"bare": lambda n: n.bare, "the": _the, "a": _a, "in": lambda n: n.where or f"in {_the(n)}"}

    def punctuated(self, text: str) -> str:
        return text


def _the(n: Noun) -> str:
    return f"the {n.bare}" if n.definite else n.bare


def _a(n: Noun) -> str:
    return f"{n.article} {n.bare}" if n.article else n.bare


_VOWEL = re.compile(r"[aeiouàâäéèêëîïôöùûüœæ]", re.IGNORECASE)
_ELIDED = re.compile(r"\b(de|que|le|la|jusque|lorsque|puisque|se|ne) $", re.IGNORECASE)
_DE = {"le": "du ", "la": "de la ", "l'": "de l'", "les": "des "}
_A = {"le": "au ", "la": "à la ", "l'": "à l'", "les": "aux "}


class French(Grammar):
    """`le Maroc`, `du Maroc`, `au Maroc`; `de l'Afrique`, `en Afrique`; `d'Alice`."""

    lang = "fr"
    region = "FR"
    subject = "le"

    def __init__(self) -> None:
        own = {"le": _le, "un": _un, "de": _de, "depuis": _depuis, "à": _a_fr, "en": _en}
        self.forms = {"bare": lambda n: n.bare, **own}

    def joined(self, before: str, form: str) -> str:
        if not _VOWEL.match(form.lstrip(START)):
            return before
        return _ELIDED.sub(lambda found: f"{found[1][:-1]}'", before)

    def punctuated(self, text: str) -> str:
        """A narrow space that does not break before `;`, `!`, `?`, one of full width before `:` and inside quotes."""
        text = re.sub(r" ?([;!?])(?=\s|$)", "\u202f\\1", text)
        text = re.sub(r" ?:(?=\s|$)", "\u00a0:", text)
        return re.sub(r"« ?(.*?) ?»", "«\u00a0\\1\u00a0»", text)


def _le(n: Noun) -> str:
    if not n.definite:
        return n.bare
    return n.article + ("" if n.article == "l'" else " ") + n.bare


def _un(n: Noun) -> str:
    return f"{n.article} {n.bare}" if n.article in ("un", "une") else _le(n)


def _de(n: Noun) -> str:
    if n.definite:
        return _DE[n.article] + n.bare
    return ("d'" if _VOWEL.match(n.bare.lstrip(START)) else "de ") + n.bare


def _depuis(n: Noun) -> str:
    """Whence: `d'Afrique`, `de France`, `du Maroc`, `des Caraïbes`."""
    if n.article == "la" or (n.article == "l'" and n.feminine):
        return ("d'" if n.article == "l'" else "de ") + n.bare
    return _de(n)


def _a_fr(n: Noun) -> str:
    return (_A[n.article] if n.definite else "à ") + n.bare


def _en(n: Noun) -> str:
    """In a land, or to it: `en France`, `en Angola`, `au Maroc`, `aux Caraïbes`, `à Cuba`."""
    if n.where:
        return n.where
    return f"en {n.bare}" if n.article in ("la", "l'") else _a_fr(n)


GRAMMARS: Mapping[str, Grammar] = {g.lang: g for g in (English(), French())}
