"""The HTTP API, over a harness without processes."""
