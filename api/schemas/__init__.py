"""Marshmallow schemas of requests, and declared documents of responses."""
