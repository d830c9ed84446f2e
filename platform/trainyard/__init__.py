"""Trainyard: from cluster and job descriptions to checked Kubernetes YAML."""

__version__ = "0.1.0"
"""Of the package; the build reads it here, so that a checkout and an installed wheel say the same."""
