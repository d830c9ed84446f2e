"""Specs that commands write: a new job, one changed field."""
