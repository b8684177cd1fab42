"""What the service itself says to clients, in their language.

`texts/<lang>.json` is a flat object: an English message as the code has it -> its form in that language, a template of
`domain.kernel.text.message_catalog`. The language puts in spaces before and inside marks. English has no file.
"""

from __future__ import annotations

import functools

from flask import g, request
from werkzeug.datastructures import LanguageAccept

from domain.kernel.text.grammar import GRAMMARS
from domain.kernel.text.message_catalog import LANGUAGES, Message, Texts
from domain.kernel.text.package_data import load
from domain.types import Json

DEFAULT = LANGUAGES[0]
"""Of who asks for no language, or for none that there is."""


def language() -> str:
    """The language that the client asks for, by `lang` or Accept-Language; the answer says that it is in it."""
    asked = request.args.get("lang", "")
    g.language = asked if asked in LANGUAGES else preferred(request.accept_languages)
    return str(g.language)


def preferred(accepted: LanguageAccept) -> str:
    """The language of ours that has the greatest weight; of equal ones that which was named first."""
    weights: dict[str, float] = {}
    for tag, weight in accepted:
        weights.setdefault(tag.partition("-")[0].lower(), weight)
    ours = [lang for lang in (*weights, *LANGUAGES) if lang in LANGUAGES]
    best = max(ours, key=lambda lang: weights.get(lang, weights.get("*", 0)))
    return best if weights.get(best, weights.get("*", 0)) else DEFAULT


def say(message: str, lang: str) -> str:
    """A message in a language; in English where it has no form in that."""
    known = Message.of(message)
    members = {name: translated(part, lang) for name, part in known.members.items()}
    return catalogue(lang).fill(known.template, members) or str(known)


def translated(value: Json, lang: str) -> Json:
    """The same with every message that stands in it in a language."""
    if isinstance(value, Message):
        return say(value, lang)
    if isinstance(value, dict):
        return {name: translated(part, lang) for name, part in value.items()}
    return [translated(part, lang) for part in value] if isinstance(value, list | tuple) else value


@functools.cache
def catalogue(lang: str) -> Texts:
    """The service's texts in a language of LANGUAGES."""
    found = {} if lang == DEFAULT else load("api", f"texts/{lang}.json")
    return Texts(lang, {message: GRAMMARS[lang].punctuated(text) for message, text in found.items()})
