"""Who has to go so that a Workload fits."""
