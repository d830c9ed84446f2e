"""The kinds of admissionregistration.k8s.io: admission policies with their bindings, and webhook configurations."""
