"""The tables of notices."""

from __future__ import annotations

TABLES = (
    # What opens anything rests sealed: the address, in which a token may stand, and the secrets. `since`: the position
    # of the log after which the webhook is told. `failing`: since when nothing came through, ms; `ms`: how long the
    # last delivery took; `next`: when the next may begin; `held`: until when one is under way.
    """CREATE TABLE IF NOT EXISTS webhooks (
  id TEXT PRIMARY KEY, account TEXT NOT NULL, about TEXT NOT NULL, game TEXT NOT NULL, events TEXT NOT NULL,
  host TEXT NOT NULL, box TEXT NOT NULL, state TEXT NOT NULL, made BIGINT NOT NULL, since BIGINT NOT NULL,
  failed BIGINT NOT NULL, failing BIGINT NOT NULL, ms BIGINT NOT NULL, next BIGINT NOT NULL, held BIGINT NOT NULL,
  used BIGINT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS webhooks_account ON webhooks (account)",
    # `tries`: how often it was tried since it was made, or replayed; `log`: how the last ones went.
    """CREATE TABLE IF NOT EXISTS deliveries (
  id TEXT PRIMARY KEY, webhook TEXT NOT NULL, type TEXT NOT NULL, game TEXT NOT NULL, box TEXT NOT NULL,
  state TEXT NOT NULL, made BIGINT NOT NULL, due BIGINT NOT NULL, until BIGINT NOT NULL, tries BIGINT NOT NULL,
  log TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS deliveries_webhook ON deliveries (webhook, made)",
    "CREATE INDEX IF NOT EXISTS deliveries_due ON deliveries (due) WHERE state = 'waiting'",
    "CREATE INDEX IF NOT EXISTS deliveries_waiting ON deliveries (webhook, due) WHERE state = 'waiting'",
    "CREATE INDEX IF NOT EXISTS deliveries_game ON deliveries (game) WHERE state = 'waiting'",
    "CREATE INDEX IF NOT EXISTS deliveries_made ON deliveries (made)",
    "CREATE TABLE IF NOT EXISTS notice_position (name TEXT PRIMARY KEY, position BIGINT NOT NULL)",
)
