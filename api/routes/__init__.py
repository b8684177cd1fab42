"""What can be asked for: one module for each part of the API."""
