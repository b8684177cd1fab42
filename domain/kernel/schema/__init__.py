"""Declarations of facts, moves and views, and the JSON forms and schemas made from them."""
