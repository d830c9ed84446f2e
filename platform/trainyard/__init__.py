"""Trainyard: from cluster and job descriptions to checked Kubernetes YAML."""
