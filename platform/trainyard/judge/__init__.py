"""Findings on specs and objects, and predictions for runs."""
