"""Checks a whole repository, or files from anywhere, and collects what is wrong."""
