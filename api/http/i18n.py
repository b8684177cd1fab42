"""Translation of the service's own messages.

`texts/<lang>.json` is a flat object: the English message of the code -> its translation, a template of
`domain.kernel.text.message_catalog`. The language adds spaces around punctuation. English has no file.
"""

from __future__ import annotations

import functools

from flask import g, request
from werkzeug.datastructures import LanguageAccept

from domain.kernel.text.grammar import GRAMMARS
from domain.kernel.text.message_catalog import LANGUAGES, Message, Texts
from domain.kernel.text.package_data import load
from domain.types import Json

DEFAULT_LANGUAGE = LANGUAGES[0]
"""Language for clients without a supported preference."""


def request_language() -> str:
    """Return the language of `lang`, of the visitor's settings or of Accept-Language; note it for Content-Language."""
    lang = request.args.get("lang", "") or g.get("page_language", "")
    g.language = lang if lang in LANGUAGES else preferred_language(request.accept_languages)
    return str(g.language)


def preferred_language(accepted: LanguageAccept) -> str:
    """Return the supported language with the highest weight; the first one named wins ties."""
    weights: dict[str, float] = {}
    for tag, weight in accepted:
        weights.setdefault(tag.partition("-")[0].lower(), weight)
    ours = [lang for lang in (*weights, *LANGUAGES) if lang in LANGUAGES]
    best = max(ours, key=lambda lang: weights.get(lang, weights.get("*", 0)))
    return best if weights.get(best, weights.get("*", 0)) else DEFAULT_LANGUAGE


def translate(message: str, lang: str) -> str:
    """Return a message in a language, or in English without a translation."""
    text = Message.from_text(message)
    members = {name: translate_messages(part, lang) for name, part in text.members.items()}
    return load_texts(lang).fill(text.template, members) or str(text)


def translate_messages(value: Json, lang: str) -> Json:
    """Return the value with every message in it translated."""
    if isinstance(value, Message):
        return translate(value, lang)
    if isinstance(value, dict):
        return {name: translate_messages(part, lang) for name, part in value.items()}
    return [translate_messages(part, lang) for part in value] if isinstance(value, list | tuple) else value


@functools.cache
def load_texts(lang: str) -> Texts:
    """Return the service's texts in one of LANGUAGES."""
    translations = {} if lang == DEFAULT_LANGUAGE else load("api", f"texts/{lang}.json")
    return Texts(lang, {message: GRAMMARS[lang].punctuate(text) for message, text in translations.items()})
