"""What several games share and no single game owns."""
