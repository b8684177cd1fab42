"""HTML pages: login, OAuth consent, and the account page."""
