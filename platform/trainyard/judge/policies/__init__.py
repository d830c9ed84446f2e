"""Policies: one file each in `policies/`, what those in Python look at, and how they are run over anybody's objects."""
