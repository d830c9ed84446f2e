"""What Kueue's scheduler sees of a cluster, as plain values: queues, flavors, nodes, Workloads, places."""
