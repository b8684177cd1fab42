"""ImpeRunde: combat."""
