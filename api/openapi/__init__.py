"""The OpenAPI document: flask-smorest, ruleset components, and JSON Schema helpers."""
