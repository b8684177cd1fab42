"""Tables of the service in the ledger's database: tokens, seeds, job requests, heartbeat, clocks."""
