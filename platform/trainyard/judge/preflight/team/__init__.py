"""Checks of one team's file."""
