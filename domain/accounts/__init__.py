"""Accounts: people with a name and a password, what they prove themselves by, and what is known of them.

All of it are ordinary tables of the ledger's database. Records know players by opaque ids alone; an account has one of
its own, and those of the guests that it has claimed.
"""
