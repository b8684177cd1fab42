"""The kernel: seats, simultaneous decisions, chance, undo, player views and the log. It has no turn model."""
