"""From specs to plain objects, and the tree of files that holds them."""
