"""Object metadata, and the formats of names, labels and annotations that all layers share."""
