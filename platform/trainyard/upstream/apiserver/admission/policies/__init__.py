"""Admission policies in CEL: ValidatingAdmissionPolicies and their bindings, run without a server."""

from trainyard.upstream.apiserver.admission.policies.evaluate import Decision, judge
from trainyard.upstream.apiserver.admission.policies.policy import (
    Binding,
    Policy,
    bound_everywhere,
    expressions,
    load,
    load_binding,
)
from trainyard.upstream.apiserver.admission.policies.request import (
    Request,
    Resource,
    Surroundings,
    guess,
    served_resource,
)

__all__ = [
    "Binding",
    "Decision",
    "Policy",
    "Request",
    "Resource",
    "Surroundings",
    "bound_everywhere",
    "expressions",
    "guess",
    "judge",
    "load",
    "load_binding",
    "served_resource",
]
