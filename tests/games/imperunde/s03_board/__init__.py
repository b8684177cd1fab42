"""ImpeRunde: board."""
