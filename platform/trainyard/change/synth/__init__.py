"""From specs to files: what is rendered, what is frozen, and how `generated/` follows."""
