"""The address of a table in notices and feeds."""

from __future__ import annotations


def table_url(service_url: str, game: str) -> str:
    """Return the address that stands for a table. There is no page for people yet, so it is that of the API."""
    return f"{service_url}/v1/games/{game}"
