"""What every store must do, on real servers."""
