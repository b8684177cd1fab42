"""ImpeRunde: state."""
