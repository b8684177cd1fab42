"""The games: each folder holds the rulesets of one game; `common` knows no game."""
