"""Keys of forms: a second click on a button repeats the request of the first. Previews keep the fields of a form."""

from __future__ import annotations

import re
import secrets

from flask import request

from api.http.problems import Problem

_KEY = re.compile(r"[A-Za-z0-9_-]{32,64}", re.ASCII)

_OF_PREVIEW = ("form", "sure", "back", "effect")
"""Fields that a preview gives anew."""


def new_form_key() -> str:
    """Return a new key."""
    return secrets.token_urlsafe(30)


def read_form_key() -> str:
    """Return the key of the submitted form. Raise Problem for a form that is not ours."""
    key = request.form.get("key", "")
    if not _KEY.fullmatch(key):
        raise Problem("form_stale")
    return key


def list_kept_fields() -> list[tuple[str, str]]:
    """Return names and values of the submitted form, for the form of its preview: to confirm it, or to go back."""
    return [(name, value) for name, value in request.form.items() if name not in _OF_PREVIEW]


def goes_back() -> bool:
    """Return True if the visitor comes back from a preview: the form has what was written."""
    return request.form.get("back") == "yes"
