"""Tables of the service in the ledger's database: tokens, seeds, job requests, heartbeat, clocks.

Where to look:
- migrations: ../../deploy/runtime/wiring.py migrate migrate_ledger
"""
