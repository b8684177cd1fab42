"""Pages before a game: the lobby, options of a ruleset, imports, cards of links."""
