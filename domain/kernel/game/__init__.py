"""The game aggregate: its commands, its projector function, deadlines and undo."""
