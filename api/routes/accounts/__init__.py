"""What people with accounts can ask for."""
