"""Names of accounts: no two that people could take for one another."""

from __future__ import annotations

import unicodedata

from domain.errors import AccountError

# Letters of other scripts that look like one of ours, small and capital.
_ALIKE = str.maketrans(
    {
        **dict(zip("авеёзкмнорстухіјѕһԁԛԝьѵӏґѐ", "abee3kmhopctyxijshdqwbvlre", strict=True)),
        **dict(zip("αβγεζηικμνορστυχωϲϳ", "abyeznikuvopotuxwcj", strict=True)),
        **dict(zip("օսհոցզյքԱՕՍ", "ouhngqjpuou", strict=True)),
    }
)
# What differs in few pixels, or is left out when somebody reads the name aloud.
_SAME = {"0": "o", "1": "l", "i": "l", "3": "e", "5": "s", "rn": "m", "vv": "w"}
_KEPT = "LMN"
_TOGETHER = {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC", "KATAKANA-HIRAGANA"}
"""Scripts that one language writes side by side."""


def folded(name: str) -> str:
    """The key by which names are told apart: neither case nor spaces nor look-alikes make another one."""
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).translate(_ALIKE)
    kept = "".join(c for c in text if unicodedata.category(c)[0] in _KEPT)
    for seen, same in _SAME.items():
        kept = kept.replace(seen, same)
    return kept


def check(name: str) -> None:
    """Raises AccountError for a name that no account can have."""
    text = unicodedata.normalize("NFKC", name)
    letters = [c for c in text if unicodedata.category(c)[0] == "L"]
    if not letters or len(folded(name)) < 2:
        raise AccountError("unfit_name", "A name has at least two letters or digits, and a letter among them.")
    scripts = {unicodedata.name(c, "UNKNOWN").split(" ", 1)[0] for c in letters if unicodedata.category(c) != "Lm"}
    if len(scripts) > 1 and not scripts <= _TOGETHER:
        raise AccountError("unfit_name", "A name is written in one script.")
