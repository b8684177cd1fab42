"""ImpeRunde: movement."""
