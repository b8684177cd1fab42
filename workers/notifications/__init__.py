"""Notices: what is owed to webhooks is made of the log, and delivered."""
