"""What is wrong with a job and its run."""
