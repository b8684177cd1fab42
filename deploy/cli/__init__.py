"""The command line `annals`."""
