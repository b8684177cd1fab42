"""Records: their public part, packs and seals, their audiences, and export files."""
