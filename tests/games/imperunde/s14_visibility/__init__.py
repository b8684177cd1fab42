"""ImpeRunde: visibility."""
