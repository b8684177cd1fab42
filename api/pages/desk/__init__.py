"""The desk of an officer: what waits, and the forms for it."""
