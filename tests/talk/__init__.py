"""Tests of talk between players."""
