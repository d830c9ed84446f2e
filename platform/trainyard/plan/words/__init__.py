"""A plan in sentences."""
