"""Abuse reports: complaints about players and tables, for moderators to settle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from domain.accounts.account_tables import AccountTable, write
from domain.accounts.accounts import require_account_role
from domain.errors import AccountError, CommandReused
from domain.kernel.text.message_catalog import Message
from domain.service.database import Execute, Statement
from domain.service.idempotency_keys import IdempotencyKey, bind_key

MOST_OPEN = 20
"""Open reports of one account at most."""

_FOR_MODERATORS = "NOT EXISTS (SELECT 1 FROM talk_reports t WHERE t.id = reports.id AND t.handler = 'officers')"
_SELECT = "SELECT id, account, at, player, game, said, outcome, settled FROM reports WHERE "


@dataclass(frozen=True)
class AbuseReport:
    """A complaint about a player, a table, or a player at a table."""

    id: str
    account: str
    at: int
    player: str
    game: str
    said: str
    outcome: str
    """The moderator's note; empty while the report is open."""
    settled: int = 0


class AbuseReports(AccountTable):
    """The table of reports. Every method may raise StoreUnavailable."""

    def file(
        self,
        account: str,
        player: str,
        game: str,
        said: str,
        *request: str,
        key: IdempotencyKey | None = None,
        more: Callable[[str], Sequence[Statement]] = lambda _: (),
    ) -> AbuseReport:
        """Store a report, once for the same request, and return it as it was filed.

        `more` returns further statements for the id of a new report. Raise AccountError for too many open ones, or
        CommandReused.
        """
        now = self._now()
        id_ = self._derive_bytes(request, "report", 12).hex()
        report = AbuseReport(id_, account, now, player, game, said, "")

        def work(execute: Execute) -> AbuseReport:
            bind_key(execute, key)
            for row in execute(f"{_SELECT}id = ?", (id_,)):
                stored = AbuseReport(*row)
                if (stored.player, stored.game, stored.said) != (player, game, said):
                    raise CommandReused(id_)
                return replace(stored, outcome="", settled=0)
            if len(execute("SELECT id FROM reports WHERE account = ? AND settled = 0", (account,))) >= MOST_OPEN:
                raise AccountError("too_many", Message("You already have {most} open reports.", most=MOST_OPEN))
            statement = "INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?, '', 0)"
            write(execute, [(statement, (id_, account, now, player, game, said)), *more(id_)])
            return report

        return self._for_account(account, work)

    def list_reports(
        self, *, settled: bool = False, after: AbuseReport | None = None, limit: int = 50
    ) -> list[AbuseReport]:
        """Return settled or open reports for moderators, oldest first; `after` continues a page."""
        at, id_ = (after.at, after.id) if after else (0, "")
        state = f"{_FOR_MODERATORS} AND settled {'>' if settled else '='} 0"
        where = f"{state} AND (at > ? OR (at = ? AND id > ?)) ORDER BY at, id LIMIT ?"
        return [AbuseReport(*row) for row in self._database.execute(_SELECT + where, (at, at, id_, limit))]

    def list_by_account(self, account: str) -> list[AbuseReport]:
        """Return all reports of an account."""
        return [AbuseReport(*row) for row in self._database.execute(f"{_SELECT}account = ? ORDER BY at", (account,))]

    def find(self, id_: str) -> AbuseReport | None:
        """Return the report with that id, or None."""
        return next((AbuseReport(*row) for row in self._database.execute(f"{_SELECT}id = ?", (id_,))), None)

    def settle(self, id_: str, outcome: str, *extra_statements: Statement, by: str = "") -> None:
        """Store a report's outcome, unless it has one; raise AccountError unless `by` is a moderator.

        Without `by` the caller has checked the right to settle it.
        """
        statement = "UPDATE reports SET outcome = ?, settled = ? WHERE id = ? AND settled = 0"

        def work(execute: Execute) -> None:
            require_account_role(execute, by, "moderator", self._now())
            write(execute, [(statement, (outcome, self._now(), id_)), *extra_statements])

        self._in_transaction(work)
