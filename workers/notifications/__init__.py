"""Notifications: made from the log, stored in the outbox and delivered by webhook or mail."""
