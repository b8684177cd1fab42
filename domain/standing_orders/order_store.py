"""The table of standing orders. The content of an order rests encrypted; a row tells game, seat, person and times."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace

from domain.errors import RuleError
from domain.kernel.schema.canonical_json import canonical
from domain.service.database import Database, Execute, Row, Statement, create_tables, placeholders
from domain.service.idempotency_keys import IdempotencyKey, bind_key
from domain.service.keyring import Keyring
from domain.standing_orders.order_rules import MOST_STANDING, Act, StandingOrder
from domain.types import Doc, Seat

_TABLES = (
    # `sealed` is what the order says, `acts` its moves: `acted` of them, the last one at `acted_at`, ms.
    """CREATE TABLE IF NOT EXISTS standing_orders (
  id TEXT PRIMARY KEY, game TEXT NOT NULL, seat INTEGER NOT NULL, player TEXT NOT NULL, at BIGINT NOT NULL,
  request TEXT NOT NULL, sealed TEXT NOT NULL, acts TEXT NOT NULL, acted BIGINT NOT NULL, acted_at BIGINT NOT NULL,
  state TEXT NOT NULL, reason TEXT NOT NULL, ended BIGINT NOT NULL,
  decision TEXT NOT NULL, wake BIGINT NOT NULL, seen BIGINT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS standing_orders_game ON standing_orders (game, seat, at)",
    "CREATE INDEX IF NOT EXISTS standing_orders_player ON standing_orders (player)",
    "CREATE INDEX IF NOT EXISTS standing_orders_state ON standing_orders (state, game)",
    "CREATE INDEX IF NOT EXISTS standing_orders_acted ON standing_orders (acted_at)",
    "CREATE INDEX IF NOT EXISTS standing_orders_ended ON standing_orders (ended)",
)

MOST_ENDED = 30
"""Ended orders kept for a seat, beside those with moves: everybody may read of these (`shown`)."""

PAD = 256
"""Sealed texts are padded to a multiple of this many bytes."""

_COLUMNS = "id, game, seat, player, at, sealed, acts, state, reason, ended, decision, wake, seen"
_SELECT = f"SELECT {_COLUMNS} FROM standing_orders WHERE "  # noqa: S608 - our own names
_INSERT = "INSERT INTO standing_orders VALUES (?, ?, ?, ?, ?, ?, ?, '', 0, 0, 'stands', '', 0, '', 0, 0)"
_COUNT = "SELECT count(*) FROM standing_orders WHERE game = ? AND seat = ? AND player = ? AND state = 'stands'"
_PRUNE = """
DELETE FROM standing_orders WHERE game = ? AND seat = ? AND state = 'ended' AND acted = 0 AND id NOT IN (
  SELECT id FROM standing_orders WHERE game = ? AND seat = ? AND state = 'ended' ORDER BY ended DESC, id LIMIT ?)"""
_END = """
UPDATE standing_orders SET state = 'ended', reason = ?, ended = ?, decision = '', wake = 0
WHERE id = ? AND state = 'stands'"""
_PLAN = "UPDATE standing_orders SET decision = ?, wake = ?, seen = ? WHERE id = ? AND state = 'stands'"
_ACTED = "UPDATE standing_orders SET acts = ?, acted = ?, acted_at = ?, decision = '', wake = 0 WHERE id = ?"
_WAITING = """
SELECT game, min(seen), min(CASE WHEN wake = 0 THEN NULL ELSE wake END) FROM standing_orders
WHERE state = 'stands' GROUP BY game"""


class OrderStore:
    """The table of standing orders. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database, keys: Callable[[], Keyring], clock: Callable[[], int]) -> None:
        self._database, self._ring, self._clock = database, keys, clock

    def migrate(self) -> None:
        """Create missing tables. Safe to repeat."""
        create_tables(self._database, _TABLES)

    # --- by the seat

    def add(
        self, game: str, seat: Seat, player: str, version: int, content: Doc, key: IdempotencyKey | None = None
    ) -> StandingOrder:
        """Store an order; a repeated request returns the stored one.

        Raise RuleError `too_many_orders`, and CommandReused.
        """
        self._ring().request_key()  # read from the same database: before the transaction
        id_, at, request = secrets.token_hex(12), self._clock(), key.id if key else ""
        sealed = self._seal(game, id_, {**content, "version": version})
        found: list[str] = []

        def work(execute: Execute) -> None:
            found.clear()
            if not bind_key(execute, key):
                rows = execute("SELECT id FROM standing_orders WHERE game = ? AND request = ?", (game, request))
                found.extend(str(row[0]) for row in rows)
                if found:
                    return
            if int(execute(_COUNT, (game, seat, player))[0][0]) >= MOST_STANDING:
                raise RuleError("too_many_orders", "", {"most": MOST_STANDING})
            execute(_PRUNE, (game, seat, game, seat, MOST_ENDED))
            execute(_INSERT, (id_, game, seat, player, at, request, sealed))
            found.append(id_)

        self._database.run_in_append_order(work)
        return self._parse(self._database.execute(f"{_SELECT}id = ?", (found[0],))[0])

    def list_by_seat(self, game: str, seat: Seat, players: Sequence[str]) -> list[StandingOrder]:
        """Return the orders of a person for a seat: the standing ones, then the ended ones, the oldest first."""
        where = f"game = ? AND seat = ? AND player IN ({placeholders(players)}) ORDER BY state DESC, at, id"
        return [self._parse(row) for row in self._database.execute(_SELECT + where, (game, seat, *players))]

    def revoke(self, order: StandingOrder) -> bool:
        """End an order by its owner; return False if it had ended."""
        self.end(order, "revoked")
        rows = self._database.execute("SELECT reason FROM standing_orders WHERE id = ?", (order.id,))
        return bool(rows) and rows[0][0] == "revoked"

    # --- by the worker

    def list_waiting(self) -> list[tuple[str, int, int]]:
        """Return the games with standing orders: game, least version judged, time of the next act (0: none)."""
        return [(str(game), int(seen), int(wake or 0)) for game, seen, wake in self._database.execute(_WAITING)]

    def list_standing(self, game: str) -> list[StandingOrder]:
        """Return the standing orders of a game, the oldest first."""
        rows = self._database.execute(f"{_SELECT}game = ? AND state = 'stands' ORDER BY at, id", (game,))
        return [self._parse(row) for row in rows]

    def stands(self, order: StandingOrder) -> bool:
        """Return whether an order has not ended."""
        return bool(
            self._database.execute("SELECT 1 FROM standing_orders WHERE id = ? AND state = 'stands'", (order.id,))
        )

    def list_acted(self, game: str) -> list[StandingOrder]:
        """Return the orders of a game with moves."""
        return [self._parse(row) for row in self._database.execute(f"{_SELECT}game = ? AND acted > 0", (game,))]

    def plan(self, order: StandingOrder, decision: str, wake: int, seen: int) -> None:
        """Store the next decision of an order with the time of its answer; an empty one while it waits."""
        self._database.execute(_PLAN, (decision, wake, seen, order.id))

    def end(self, order: StandingOrder, reason: str) -> None:
        """End a standing order."""
        self._database.execute(_END, (reason, self._clock(), order.id))

    def record_act(self, order: StandingOrder, act: Act) -> Statement:
        """Return the statement to note a move of an order, for the transaction of its record."""
        acts = [*order.acts, act]
        return _ACTED, (self._seal(order.game, order.id, {"acts": acts}, "acts"), len(acts), act.at, order.id)

    # --- of a person

    def list_own(self, players: Sequence[str]) -> list[StandingOrder]:
        """Return all orders of a person with these ids."""
        where = f"player IN ({placeholders(players)}) ORDER BY at, id"
        return [self._parse(row) for row in self._database.execute(_SELECT + where, players)] if players else []

    def list_by_account(self, game: str, seat: Seat, account: str) -> list[StandingOrder]:
        """Return the orders of a seat by an account, also the ended ones."""
        where = "game = ? AND seat = ? AND player IN (SELECT player FROM account_players WHERE account = ?)"
        return [self._parse(row) for row in self._database.execute(_SELECT + where, (game, seat, account))]

    # --- sealing

    def _seal(self, game: str, id_: str, content: Doc, part: str = "order") -> str:
        plain = canonical(content)
        return self._ring().seal(game, f"{part}|{id_}", plain + b" " * (-len(plain) % PAD)).hex()

    def _open(self, game: str, id_: str, sealed: str, part: str = "order") -> Doc:
        found: Doc = json.loads(self._ring().open(game, f"{part}|{id_}", bytes.fromhex(sealed)))
        return found

    def _parse(self, row: Row) -> StandingOrder:
        id_, game, seat, player, at, sealed, acts, state, reason, ended, decision, wake, seen = row
        content = self._open(game, id_, sealed)
        order = StandingOrder(
            id_,
            game,
            int(seat),
            player,
            int(at),
            content["kind"],
            content["values"],
            content["times"],
            content["turn"],
            content["chance"],
            tuple(content["stops"]),
            content["version"],
            (),
            state,
            reason,
            int(ended),
            decision,
            int(wake),
            int(seen),
        )
        told = self._open(game, id_, acts, "acts")["acts"] if acts else []
        return replace(order, acts=tuple(Act(*each) for each in told))


def erase_orders(players: Sequence[str]) -> Statement:
    """Return a statement to delete all orders of a person with these ids."""
    return f"DELETE FROM standing_orders WHERE player IN ({placeholders(players)})", players  # noqa: S608 - question marks only
