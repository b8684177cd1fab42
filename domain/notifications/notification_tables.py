"""DDL of the tables of notifications."""

from __future__ import annotations

TABLES = (
    # Secrets are stored sealed: the address, since it may contain a token, and the signing secrets. `since`: the log
    # position after which events count. `failing`: start of continuous failure, ms; `ms`: duration of the last
    # delivery; `next`: earliest next delivery; `held`: end of the current claim.
    """CREATE TABLE IF NOT EXISTS webhooks (
  id TEXT PRIMARY KEY, account TEXT NOT NULL, about TEXT NOT NULL, game TEXT NOT NULL, events TEXT NOT NULL,
  host TEXT NOT NULL, box TEXT NOT NULL, state TEXT NOT NULL, made BIGINT NOT NULL, since BIGINT NOT NULL,
  failed BIGINT NOT NULL, failing BIGINT NOT NULL, ms BIGINT NOT NULL, next BIGINT NOT NULL, held BIGINT NOT NULL,
  used BIGINT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS webhooks_account ON webhooks (account)",
    "CREATE INDEX IF NOT EXISTS webhooks_held ON webhooks (held, host)",
    # `tries`: attempts since creation or replay; `log`: results of the last attempts.
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
    # Mail subscriptions. The address is a row of `webhooks` about `mail`, without events before confirmation. `token`:
    # hash of the secret that ends it; `code`: mark of the code that confirms it, valid until `until`; `next`: time of
    # the next digest. `last`: the log position after which the next digest reports.
    """CREATE TABLE IF NOT EXISTS mailboxes (
  account TEXT PRIMARY KEY, webhook TEXT NOT NULL, state TEXT NOT NULL, events TEXT NOT NULL, digest TEXT NOT NULL,
  hour BIGINT NOT NULL, language TEXT NOT NULL, token TEXT NOT NULL, code TEXT NOT NULL, until BIGINT NOT NULL,
  tries BIGINT NOT NULL, made BIGINT NOT NULL, next BIGINT NOT NULL, last BIGINT NOT NULL, bounces BIGINT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS mailboxes_webhook ON mailboxes (webhook)",
    "CREATE INDEX IF NOT EXISTS mailboxes_token ON mailboxes (token)",
    "CREATE INDEX IF NOT EXISTS mailboxes_next ON mailboxes (next) WHERE next > 0",
    # Codes requested in the last day, by marks of accounts and of addresses.
    "CREATE TABLE IF NOT EXISTS mail_asked (mark TEXT NOT NULL, at BIGINT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS mail_asked_mark ON mail_asked (mark, at)",
    # The group chat of a table: a row of `webhooks` about `chat`.
    """CREATE TABLE IF NOT EXISTS chats (
  game TEXT PRIMARY KEY, account TEXT NOT NULL, webhook TEXT NOT NULL, language TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS chats_webhook ON chats (webhook)",
    "CREATE INDEX IF NOT EXISTS chats_account ON chats (account)",
    # Mails about a table that were sent since the person last looked there.
    """CREATE TABLE IF NOT EXISTS mail_unread (
  account TEXT NOT NULL, game TEXT NOT NULL, type TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (account, game, type))""",
    # Browsers told by web push: each is a row of `webhooks` about `push`. `mark`: keyed hash of its address, so that a
    # browser belongs to one account; `box`: its sealed keys; `key`: the key of the service that it knows.
    """CREATE TABLE IF NOT EXISTS push_devices (
  webhook TEXT PRIMARY KEY, account TEXT NOT NULL, mark TEXT NOT NULL, name TEXT NOT NULL, language TEXT NOT NULL,
  key TEXT NOT NULL, box TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS push_devices_account ON push_devices (account)",
    "CREATE UNIQUE INDEX IF NOT EXISTS push_devices_mark ON push_devices (mark)",
    # The service's keys for web push, sealed; new devices get the newest one.
    "CREATE TABLE IF NOT EXISTS push_keys (id TEXT PRIMARY KEY, box TEXT NOT NULL, made BIGINT NOT NULL)",
    # Series that are followed, each by its newest event.
    """CREATE TABLE IF NOT EXISTS followed_series (
  account TEXT NOT NULL, tournament TEXT NOT NULL, since BIGINT NOT NULL, PRIMARY KEY (account, tournament))""",
    "CREATE INDEX IF NOT EXISTS followed_series_tournament ON followed_series (tournament)",
)
