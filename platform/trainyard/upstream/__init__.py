"""Other people's programs, restated: pods, workloads, and what API servers, Kueue, schedulers and kubelets decide."""
