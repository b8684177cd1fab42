"""ImpeRunde."""
