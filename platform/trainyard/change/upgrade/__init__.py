"""What it takes to run another release of an operator on a cluster, and what that does to its jobs and objects."""
