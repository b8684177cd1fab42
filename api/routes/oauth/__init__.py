"""Routes of OAuth: endpoints for clients, and the account's own clients and grants."""
