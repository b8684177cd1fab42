"""Batch work: whatever the service does without being asked at that moment."""
