"""Text that people see: names, reasons. Nothing in it is invisible, or turns the direction of what follows.

Two characters that cannot be seen belong to how some languages are written, and stay where they do: the zero width
non-joiner between two letters of Arabic script or after a virama (Persian, and scripts of India), and the zero width
joiner after a virama. Nowhere else, so that two names that look alike are alike; and so not in sequences of pictures.
"""

from __future__ import annotations

import re
import unicodedata

from marshmallow import ValidationError

from domain.kernel.text.message_catalog import Message

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
"""Categories: control and format characters, private use, what is no character yet, separators."""

# Letters and marks that are blank all the same: fillers, variation selectors, the empty pattern of Braille.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)
_ARABIC = re.compile("[\u0620-\u064a\u066e-\u06d3\u06d5\u06ee\u06ef\u06fa-\u06ff\u0750-\u077f\u08a0-\u08c9]")
_NON_JOINER, _JOINER = "\u200c", "\u200d"
_VIRAMA = 9
"""Its class of combining marks."""


def visible(text: str, most: int) -> str:
    """The text in its composed form (NFC); raises ValidationError that names what cannot be seen, and where."""
    text = unicodedata.normalize("NFC", text)
    if not 1 <= len(text) <= most:
        raise ValidationError(Message("Between 1 and {most} characters are expected.", most=most))
    if text[0] == " " or unicodedata.category(text[0])[0] == "M":
        raise ValidationError("It begins with a space, or with a mark that would stand on what is before it.")
    for place, sign in enumerate(text):
        if _hidden(text, place):
            named = unicodedata.name(sign, Message("a character without a name"))
            code = f"U+{ord(sign):04X}"
            told = Message("{code} ({name}) at place {place} cannot be seen.", code=code, name=named, place=place)
            raise ValidationError(told)
    return text


def _hidden(text: str, place: int) -> bool:
    sign = text[place]
    if sign in (_NON_JOINER, _JOINER):
        return not _joins(sign, text[place - 1 : place], text[place + 1 : place + 2])
    return (sign != " " and unicodedata.category(sign) in _HIDDEN) or _BLANK.match(sign) is not None


def _joins(sign: str, before: str, after: str) -> bool:
    """Whether it changes how its neighbours are written."""
    if not before or not after or not unicodedata.category(after).startswith("L"):
        return False
    between = _ARABIC.match(before) and _ARABIC.match(after)
    return unicodedata.combining(before) == _VIRAMA or (sign == _NON_JOINER and between is not None)
