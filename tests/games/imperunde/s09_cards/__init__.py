"""ImpeRunde: cards."""
