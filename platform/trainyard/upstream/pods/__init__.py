"""What a pod says to whoever places it, read once: containers, resources, quality of service, ports, nodes."""
