"""The generator of maps: from a game's places and links to its `geometry.json`. Nothing imports it at run time."""
