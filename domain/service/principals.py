"""Principals: the role, the player and the credential behind a request."""

from __future__ import annotations

from dataclasses import dataclass

from domain.types import DIRECTOR, PUBLIC, Seat, Viewer

Role = int | str
"""A seat, or "director"."""


def parse_role(text: str) -> Role:
    """Return the role of a stored text: "director", or the number of a seat."""
    return DIRECTOR if text == DIRECTOR else int(text)


@dataclass(frozen=True)
class Principal:
    """A seat or the director of one game, and the player behind it."""

    game: str
    role: Role
    player: str
    token: str
    """The token's id; alone it grants no access."""
    lent: bool = False
    """Issued by a director in place of a lost token: it grants access to the seat, and never acts for a person."""
    claimed: bool = False
    """No longer valid: the role belongs to an account."""
    account: str = ""
    """The account, if its session or personal token was sent instead of the role's own token."""
    credential: str = ""
    """The id of that session or personal token."""
    office: str = ""
    """The role of an officer: `owner`, `director`, `deputy` or `arbiter`; empty for a seat."""

    @property
    def caller(self) -> str:
        """The key under which requests are counted for rate limits."""
        return self.account or self.token

    @property
    def seat(self) -> Seat | None:
        """The seat, or None for the director."""
        return self.role if isinstance(self.role, int) else None

    @property
    def viewer(self) -> Viewer:
        """The viewer of the board. A director sees the public view: a look at hidden information is a command."""
        return PUBLIC if self.seat is None else self.seat
