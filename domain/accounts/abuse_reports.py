"""Reports: what people tell moderators of players and tables, until somebody has settled it."""

from __future__ import annotations

from dataclasses import dataclass

from domain.accounts.account_tables import Rows, write
from domain.accounts.accounts import holding
from domain.errors import AccountError, CommandReused
from domain.kernel.text.message_catalog import Message
from domain.service.database import Execute, Statement

MOST_OPEN = 20
"""Reports of one account that nobody has settled yet."""

_SELECT = "SELECT id, account, at, player, game, said, outcome, settled FROM reports WHERE "


@dataclass(frozen=True)
class Report:
    """What somebody has told of a player, a table, or a player at a table."""

    id: str
    account: str
    at: int
    player: str
    game: str
    said: str
    outcome: str
    """What a moderator has written of it; empty while it is open."""
    settled: int = 0


class Reports(Rows):
    """May raise StoreUnavailable."""

    def file(self, account: str, player: str, game: str, said: str, *request: str) -> Report:
        """Write it down, once for the same request; raises AccountError when too many wait, and CommandReused."""
        now = self._now()
        id_ = self._chance(request, "report", 12).hex()
        made = Report(id_, account, now, player, game, said, "")

        def work(execute: Execute) -> Report:
            for row in execute(f"{_SELECT}id = ?", (id_,)):
                found = Report(*row)
                if (found.player, found.game, found.said) != (player, game, said):
                    raise CommandReused(id_)
                return found
            if len(execute("SELECT id FROM reports WHERE account = ? AND settled = 0", (account,))) >= MOST_OPEN:
                raise AccountError("too_many", Message("{most} reports of yours wait for an answer.", most=MOST_OPEN))
            statement = "INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?, '', 0)"
            execute(statement, (id_, account, now, player, game, said))
            return made

        return self._on(account, work)

    def read(self, *, settled: bool = False, after: Report | None = None, limit: int = 50) -> list[Report]:
        """The oldest first of those that are settled, or that are not; `after` continues a page."""
        at, id_ = (after.at, after.id) if after else (0, "")
        where = f"settled {'>' if settled else '='} 0 AND (at > ? OR (at = ? AND id > ?)) ORDER BY at, id LIMIT ?"
        return [Report(*row) for row in self._database.execute(_SELECT + where, (at, at, id_, limit))]

    def of(self, account: str) -> list[Report]:
        """All that an account has written."""
        return [Report(*row) for row in self._database.execute(f"{_SELECT}account = ? ORDER BY at", (account,))]

    def find(self, id_: str) -> Report | None:
        """One of them."""
        return next((Report(*row) for row in self._database.execute(f"{_SELECT}id = ?", (id_,))), None)

    def settle(self, id_: str, outcome: str, *beside: Statement, by: str = "") -> None:
        """What came of it; what is written first stands. Raises AccountError unless `by` is a moderator's."""
        statement = "UPDATE reports SET outcome = ?, settled = ? WHERE id = ? AND settled = 0"

        def work(execute: Execute) -> None:
            holding(execute, by, "moderator", self._now())
            write(execute, [(statement, (outcome, self._now(), id_)), *beside])

        self._together(work)
