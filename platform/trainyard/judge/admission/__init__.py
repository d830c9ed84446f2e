"""Will a job be admitted, where, and at whose expense: Kueue's decision about the jobs and clusters of a repository."""
