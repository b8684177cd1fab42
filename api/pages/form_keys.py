"""Keys of forms: a second click on a button repeats the request of the first."""

from __future__ import annotations

import re
import secrets

from flask import request

from api.http.problems import Problem

_KEY = re.compile(r"[A-Za-z0-9_-]{32,64}", re.ASCII)


def new_form_key() -> str:
    """Return a new key."""
    return secrets.token_urlsafe(30)


def read_form_key() -> str:
    """Return the key of the submitted form. Raise Problem for a form that is not ours."""
    key = request.form.get("key", "")
    if not _KEY.fullmatch(key):
        raise Problem("form_stale")
    return key
