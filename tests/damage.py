"""Bytes of the log that change on their own, in whichever store."""

from __future__ import annotations

from collections.abc import Sequence

from domain.ledger import Ledger

UNREADABLE = b"j{"

_STATE = "SELECT state FROM records WHERE originator_version = ? AND originator_id = ?"
_SPOIL = "UPDATE records SET state = ? WHERE originator_version = ? AND originator_id = ?"
_LOSE = "DELETE FROM records WHERE originator_version = ? AND originator_id = ?"


def key(ledger: Ledger, game: str) -> object:
    """As the store writes the id of a game."""
    rows = ledger.execute("SELECT DISTINCT originator_id FROM records")
    return next(id_ for (id_,) in rows if str(id_).replace("-", "") == game.replace("-", ""))


def spoil(ledger: Ledger, game: str, version: int, state: bytes | None = UNREADABLE) -> bytes:
    """A stored record becomes these bytes, or is lost; returns those that it was."""
    where = (version, key(ledger, game))
    ((before,),) = ledger.execute(_STATE, where)
    overwrite(ledger, *((_LOSE, where) if state is None else (_SPOIL, (state, *where))))
    return bytes(before)


def overwrite(ledger: Ledger, statement: str, params: Sequence[object] = ()) -> None:
    """One statement that changes the log, as a disk or an intruder would: the database refuses it to everybody else."""
    with ledger.repair.transaction("a statement of a test", "to see what notices it") as execute:
        execute(statement, params)
