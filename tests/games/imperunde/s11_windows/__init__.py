"""ImpeRunde: windows."""
