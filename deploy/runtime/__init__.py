"""Processes of a service: supervisor, servers, nginx, Redis."""
