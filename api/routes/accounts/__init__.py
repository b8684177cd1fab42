"""Routes for people with accounts."""
