"""The rules beside the pages, and the names in them."""
