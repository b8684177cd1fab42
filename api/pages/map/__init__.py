"""The map of a game: its geometry, its view on pages, its pictures."""
