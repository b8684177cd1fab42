"""The HTTP API, over a house without processes."""
