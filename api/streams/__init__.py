"""Streams of events: an ASGI application, its event loop and the sources of events."""
