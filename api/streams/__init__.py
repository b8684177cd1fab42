"""Streams on one event loop: who follows the same is read for once, and waits in no thread."""
