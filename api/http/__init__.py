"""HTTP concerns: problems, conditional requests, limits, languages, logs and metrics."""
