"""What is wrong with specs and objects, and what will happen to a run."""
