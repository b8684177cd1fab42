"""JSON documents that routes and streams both send, made from views for one viewer."""
