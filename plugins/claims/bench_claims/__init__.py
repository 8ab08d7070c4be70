"""Checks the claims of papers against a suite's records."""
