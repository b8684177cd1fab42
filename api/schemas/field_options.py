"""Keyword arguments that field builders pass on to marshmallow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict


class ValueOptions(TypedDict, total=False):
    """Options of a field with its own description."""

    required: bool
    allow_none: bool
    load_default: object
    data_key: str


class FieldOptions(ValueOptions, total=False):
    """Options of a field, with its description in `metadata`."""

    metadata: Mapping[str, object]
