"""Checks of visible text such as names and reasons: no invisible and no direction-changing characters.

Two invisible characters belong to the spelling of some languages and are allowed there only: the zero width non-joiner
between two Arabic letters or after a virama (Persian, Indian scripts), and the zero width joiner after a virama. Two
names that look alike are then equal. Joined emoji are not allowed.
"""

from __future__ import annotations

import re
import unicodedata

from marshmallow import ValidationError

from domain.kernel.text.message_catalog import Message

_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
"""Unicode categories: control, format, private use, unassigned, separators."""

# Blank letters and marks: fillers, variation selectors, the empty Braille pattern.
_BLANK_CHARACTERS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)
_ARABIC = re.compile("[\u0620-\u064a\u066e-\u06d3\u06d5\u06ee\u06ef\u06fa-\u06ff\u0750-\u077f\u08a0-\u08c9]")
_NON_JOINER, _JOINER = "\u200c", "\u200d"
_VIRAMA = 9
"""Combining class of the virama."""


def check_visible_text(text: str, most: int) -> str:
    """Return the text in NFC. Raise ValidationError with the first invisible character and its position.

    Its characters are counted as they were sent: `maxLength` of a JSON schema counts the same.
    """
    if not 1 <= len(text) <= most:
        raise ValidationError(Message("Between 1 and {most} characters are expected.", most=most))
    text = unicodedata.normalize("NFC", text)
    if text[0] == " " or unicodedata.category(text[0])[0] == "M":
        raise ValidationError("It must not begin with a space or a combining mark.")
    for place, sign in enumerate(text):
        if _is_invisible(text, place):
            name = unicodedata.name(sign, Message("a character without a name"))
            code = f"U+{ord(sign):04X}"
            message = Message("{code} ({name}) at position {place} is invisible.", code=code, name=name, place=place)
            raise ValidationError(message)
    return text


def _is_invisible(text: str, place: int) -> bool:
    sign = text[place]
    if sign in (_NON_JOINER, _JOINER):
        return not _is_joiner_allowed(sign, text[place - 1 : place], text[place + 1 : place + 2])
    return (sign != " " and unicodedata.category(sign) in _INVISIBLE_CATEGORIES) or _BLANK_CHARACTERS.match(
        sign
    ) is not None


def _is_joiner_allowed(sign: str, before: str, after: str) -> bool:
    """Return True if the joiner changes the shape of its neighbours."""
    if not before or not after or not unicodedata.category(after).startswith("L"):
        return False
    between = _ARABIC.match(before) and _ARABIC.match(after)
    return unicodedata.combining(before) == _VIRAMA or (sign == _NON_JOINER and between is not None)
