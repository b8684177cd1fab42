"""ImpeRunde: events."""
