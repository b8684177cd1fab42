"""Names of accounts, and the comparison that finds confusable ones."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from domain.errors import AccountError

# Letters of other scripts that look like Latin ones, small and capital.
_LOOK_ALIKES = str.maketrans(
    {
        **dict(zip("авеёзкмнорстухіјѕһԁԛԝьѵӏґѐ", "abee3kmhopctyxijshdqwbvlre", strict=True)),
        **dict(zip("αβγεζηικμνορστυχωϲϳ", "abyeznikuvopotuxwcj", strict=True)),
        **dict(zip("օսհոցզյքԱՕՍ", "ouhngqjpuou", strict=True)),
    }
)
# Latin letters that look like others: without a dot, of phonetics, small capitals.
_LATIN_LOOK_ALIKES = str.maketrans(
    dict(zip("ıɩɪǀꞁʟɑᴀʙƅᴄᴅᴇꜰɡɢʜᴊȷᴋᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ", "iiilllaabbcdefgghjjkmnopqrstuvwyz", strict=True))
)
# Characters that differ in few pixels, or are dropped when a name is read aloud.
_SAME = {"0": "o", "1": "l", "i": "l", "3": "e", "5": "s", "rn": "m", "vv": "w"}
_KEPT_CATEGORIES = "LMN"
_MIXABLE_SCRIPTS = {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC", "KATAKANA-HIRAGANA"}
"""Scripts that one language mixes."""


def fold_name(name: str) -> str:
    """Return the key by which names are compared: case, spaces and look-alike characters make no difference."""
    return _fold(name, {**_LOOK_ALIKES, **_LATIN_LOOK_ALIKES})


def fold_name_as_before(name: str) -> str:
    """Return the key of a name in an earlier version, with more different Latin letters."""
    return _fold(name, _LOOK_ALIKES)


def _fold(name: str, look_alikes: Mapping[int, str]) -> str:
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).translate(look_alikes)
    letters = "".join(c for c in text if unicodedata.category(c)[0] in _KEPT_CATEGORIES)
    for look_alike, same in _SAME.items():
        letters = letters.replace(look_alike, same)
    return letters


def check_name(name: str) -> None:
    """Raise AccountError for an invalid name."""
    if not _list_letters(name) or len(fold_name(name)) < 2:
        raise AccountError("unfit_name", "A name has at least two letters or digits, and a letter among them.")
    check_script(name)


def check_script(name: str) -> None:
    """Raise AccountError for a name in several scripts: their letters look alike, and `fold_name` knows only some."""
    letters = _list_letters(name)
    scripts = {unicodedata.name(c, "UNKNOWN").split(" ", 1)[0] for c in letters if unicodedata.category(c) != "Lm"}
    if len(scripts) > 1 and not scripts <= _MIXABLE_SCRIPTS:
        raise AccountError("unfit_name", "A name must use a single script.")


def _list_letters(name: str) -> list[str]:
    return [c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c)[0] == "L"]
