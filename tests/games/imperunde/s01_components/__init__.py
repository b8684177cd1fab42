"""ImpeRunde: components."""
