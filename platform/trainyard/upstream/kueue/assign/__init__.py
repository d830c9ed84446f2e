"""Which flavor each pod set gets, and what has to happen first."""
