"""Settings of a service, from flags and environment variables."""
