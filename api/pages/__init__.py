"""Pages for people: logging in, allowing programs of others what they ask for, and one's account."""
