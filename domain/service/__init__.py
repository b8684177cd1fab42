"""Rows beside the log, in its database and its transactions: tokens, seeds, errands, outages."""
