"""Differences of runs and objects between two trees."""
