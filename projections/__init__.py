"""The read side: views projected from the log."""
