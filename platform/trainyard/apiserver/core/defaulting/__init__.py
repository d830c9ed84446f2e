"""Defaults that Kubernetes sets in code, and fields it drops because their feature gate is off, by family of kinds."""
