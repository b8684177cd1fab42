"""Data files that are shipped with a ruleset: read once, from the package, as strict JSON."""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import NoReturn

from domain.types import Doc, Json


def _no_float(text: str) -> NoReturn:
    raise ValueError(f"{text}: data hold integers only")


def _unique(pairs: list[tuple[str, Json]]) -> Doc:
    doc = dict(pairs)
    if len(doc) != len(pairs):
        raise ValueError(f"a key comes twice among {sorted(k for k, _ in pairs)}")
    return doc


@functools.cache
def load(package: str, name: str) -> Json:
    """The JSON document `name` of a package; floats and repeated keys raise ValueError. Not to be changed."""
    text = resources.files(package).joinpath(name).read_text("utf-8")
    return json.loads(text, parse_float=_no_float, parse_constant=_no_float, object_pairs_hook=_unique)
