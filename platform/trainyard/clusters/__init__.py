"""Folders of one cluster: what a chart is filled with is made by pure functions, and added to folders here."""

from trainyard.clusters.build import build

__all__ = ["build"]
