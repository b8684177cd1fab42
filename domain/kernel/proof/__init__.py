"""Offline proof of an exported game: hash chain, seals, draws and rules."""
