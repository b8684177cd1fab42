"""The processes of a service: supervisor, servers, nginx, Redis."""
