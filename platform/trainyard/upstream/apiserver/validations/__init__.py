"""The CEL rules that a CRD states as `x-kubernetes-validations`: read, compiled, kept on disk, and evaluated."""
