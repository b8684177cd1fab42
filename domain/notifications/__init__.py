"""Notifications by mail and webhook: subscriptions, deliveries and their results.

All of it is in ordinary tables of the ledger's database. Pending deliveries and the log position read so far are
written together; a notice holds ids and figures, and no fact of a game.

Where to look:
- retries: outbox.py BACKOFF
"""
