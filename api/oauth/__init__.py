"""The OAuth authorization server: Authlib on the account tables."""
