"""Declared documents extended by many others."""

from __future__ import annotations

from typing import Annotated, TypedDict


class WrittenDoc(TypedDict):
    game: str
    version: Annotated[int, "The newest version after this request."]
    head: Annotated[str, "Hash of the last record of this write, hex."]
    position: Annotated[int, "Log position, for `wait` in reads."]


class PageDoc(TypedDict):
    next: Annotated[str | None, "URL of the next page."]
