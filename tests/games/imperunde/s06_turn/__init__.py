"""ImpeRunde: turn."""
