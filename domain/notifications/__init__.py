"""Notices: what people want to be told of outside of the service, where, and what has become of it.

All of it are ordinary tables of the ledger's database. What is owed is written there with how far the log was read; a
notice holds ids and figures, and no fact of a game.
"""
