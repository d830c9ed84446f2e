"""A real cluster: asked in dry runs, never changed."""
