"""ImpeRunde: options."""
