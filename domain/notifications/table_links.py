"""The address of a table in notices and feeds."""

from __future__ import annotations


def table_url(service_url: str, game: str) -> str:
    """Return the address of a table's page for people."""
    return f"{service_url}/games/{game}"
