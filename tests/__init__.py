"""The tests of Annals."""
