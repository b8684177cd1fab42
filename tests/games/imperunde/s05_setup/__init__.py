"""ImpeRunde: setup."""
