"""The OpenAPI document: flask-smorest, components of rulesets, and JSON Schema helpers."""
