"""The jobs that RQ workers run."""
