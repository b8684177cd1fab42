"""JSON documents for routes and streams, built from views for one viewer."""
