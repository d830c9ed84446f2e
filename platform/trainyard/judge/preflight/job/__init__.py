"""Checks of one job and its run."""
