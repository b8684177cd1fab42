"""Backups: snapshots, continuous archiving, point-in-time recovery, repair."""
