"""Admission policies in CEL: ValidatingAdmissionPolicies and their bindings, run without a server."""

from trainyard.api.policies.evaluate import Decision, judge
from trainyard.api.policies.policy import Binding, Policy, bound_everywhere, load, load_binding
from trainyard.api.policies.request import Request, Resource, Surroundings, guess, served

__all__ = [
    "Binding",
    "Decision",
    "Policy",
    "Request",
    "Resource",
    "Surroundings",
    "bound_everywhere",
    "guess",
    "judge",
    "load",
    "load_binding",
    "served",
]
