"""Checks between several files."""
