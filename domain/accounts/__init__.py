"""Accounts: names, passwords, other credentials, and everything else that the service stores of people.

All of it is in ordinary tables of the ledger's database. Records contain opaque player ids only; an account has one of
its own, and the ids of guests that it has claimed.
"""
