"""The version of each table that a person has seen on its page, and since which version things are new to them."""

from __future__ import annotations

from domain.accounts.account_tables import AccountTable

VISIT_MS = 30 * 60_000
"""Pause between two looks at a table after which the next begins a new visit, ms."""

MOST_TABLES = 500
"""Tables for one account; those longest unseen are forgotten first."""

# A look within a visit moves `seen`, and the first look of the next visit makes it the new `since`.
_LOOK = """
INSERT INTO page_visits SELECT ?, ?, ?, ?, ? WHERE EXISTS
  (SELECT 1 FROM accounts WHERE id = ? AND state <> 'erased') ON CONFLICT (account, game) DO UPDATE
SET since = CASE WHEN excluded.at - page_visits.at > ? THEN page_visits.seen ELSE page_visits.since END,
  seen = excluded.seen, at = excluded.at RETURNING since"""
_COUNT = "SELECT count(*) FROM page_visits WHERE account = ?"
_FORGET = """
DELETE FROM page_visits WHERE account = ? AND game NOT IN
(SELECT game FROM page_visits WHERE account = ? ORDER BY at DESC, game LIMIT ?)"""


class PageVisits(AccountTable):
    """The table of visits. Every method may raise StoreUnavailable."""

    def note_look(self, account: str, game: str, version: int) -> int:
        """Store that a person looks at a version of a table; return the version last seen on the visit before, or 0."""
        at = self._now()
        rows = self._database.execute(_LOOK, (account, game, version, 0, at, account, VISIT_MS))
        since = int(rows[0][0]) if rows else 0
        if not since and int(self._database.execute(_COUNT, (account,))[0][0]) > MOST_TABLES:
            self._database.execute(_FORGET, (account, account, MOST_TABLES))
        return since

    def list_visits(self, account: str) -> dict[str, int]:
        """Return game -> version that the account has seen."""
        statement = "SELECT game, seen FROM page_visits WHERE account = ? ORDER BY game"
        return {str(game): int(seen) for game, seen in self._database.execute(statement, (account,))}
