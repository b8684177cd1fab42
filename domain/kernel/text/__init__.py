"""Texts in several languages: grammar, message catalogues and packaged data files."""
