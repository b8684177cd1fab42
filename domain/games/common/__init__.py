"""Code shared by several games and owned by no single game."""
