"""The addresses of tables and tournaments in notices and feeds."""

from __future__ import annotations


def table_url(service_url: str, game: str) -> str:
    """Return the address of a table's page for people."""
    return f"{service_url}/games/{game}"


def talk_url(service_url: str, game: str) -> str:
    """Return the address of the page with the letters of a table."""
    return f"{table_url(service_url, game)}/talk"


def tournament_url(service_url: str, tournament: str) -> str:
    """Return the address of a tournament's page for people."""
    return f"{service_url}/tournaments/{tournament}"
