"""Five small rulesets with only the hardest flow of each game: the contract's own tests."""
