"""The read side: views pumped from the log."""
