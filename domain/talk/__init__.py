"""Talk between players: messages, their mailboxes as hash chains, and the roots of these in records.

Talk is no record of a game. It stands in tables of its own in the ledger's database, and its texts can be erased.
"""
