"""The OAuth authorization server: Authlib over the tables of accounts."""
