"""ImpeRunde: end."""
