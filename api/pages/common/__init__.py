"""Parts that all pages share: sessions, labels, numbers, the client of the own API."""
