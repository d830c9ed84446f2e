"""Admission by the server itself, last of all: policies in CEL, and Pod Security."""
