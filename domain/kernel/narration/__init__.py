"""The chronicle: sentences about facts, chapters and digests."""
