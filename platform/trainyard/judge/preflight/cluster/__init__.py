"""Checks of one cluster's file."""
