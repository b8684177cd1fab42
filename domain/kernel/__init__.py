"""The kernel: seats, simultaneous decisions, chance, undo, sights and the log. It has no turn model."""
