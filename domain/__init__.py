"""The rules, the records and the commands: everything that decides."""
