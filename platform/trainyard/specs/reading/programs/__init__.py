"""Programs that yield jobs: run in another process, in worlds that are made up, and held against themselves."""
