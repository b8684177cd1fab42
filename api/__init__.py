"""HTTP: the service as clients see it."""
