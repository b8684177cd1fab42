"""Data files shipped with a ruleset: read once, from the package, as strict JSON."""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import NoReturn

from domain.types import Doc, Json


def _reject_float(text: str) -> NoReturn:
    raise ValueError(f"{text}: data hold integers only")


def _reject_repeated_keys(pairs: list[tuple[str, Json]]) -> Doc:
    doc = dict(pairs)
    if len(doc) != len(pairs):
        raise ValueError(f"a key comes twice among {sorted(k for k, _ in pairs)}")
    return doc


@functools.cache
def load(package: str, name: str) -> Json:
    """Return the JSON document `name` of a package; floats and repeated keys raise ValueError.

    Do not modify the result.
    """
    text = resources.files(package).joinpath(name).read_text("utf-8")
    return json.loads(
        text, parse_float=_reject_float, parse_constant=_reject_float, object_pairs_hook=_reject_repeated_keys
    )
