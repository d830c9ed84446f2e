"""`generated/` as data: where things are in it, what a commit or the disk holds, and what is frozen."""
