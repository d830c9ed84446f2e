"""Nodes that a change takes out: who drains them, how many at a time, and which pods leave them."""
