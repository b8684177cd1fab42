"""What programs of others can ask for, and what people can ask about them."""
