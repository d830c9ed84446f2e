"""The kinds of resource.k8s.io (dynamic resource allocation): device classes, claims, claim templates and slices."""
