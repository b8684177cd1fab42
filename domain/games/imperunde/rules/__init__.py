"""The rules, one module per chapter of the rules page, in its order."""
