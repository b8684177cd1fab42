"""HTTP itself: problems, conditions, limits, languages, logs and metrics."""
