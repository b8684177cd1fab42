"""Pages of talk between the players of a table."""
