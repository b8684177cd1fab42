"""Checks: legality as named steps, each with its code and the number of its rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain.errors import RuleError
from domain.types import Json


def require(ok: bool, code: str, rule: str, **detail: Json) -> None:
    """Raise RuleError with `code` unless `ok`."""
    if not ok:
        raise RuleError(code, rule, detail)


def is_legal(check: Callable[..., Any], *args: Any) -> bool:
    """Return whether a check passes: choices offer exactly the values accepted by the checks of `decide`."""
    try:
        check(*args)
    except RuleError:
        return False
    return True
