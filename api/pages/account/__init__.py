"""Pages of a person: account, login, consent, devices."""
