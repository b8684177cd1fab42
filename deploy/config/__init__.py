"""Settings and what the environment gives."""
