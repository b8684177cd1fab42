"""ImpeRunde: conventions."""
