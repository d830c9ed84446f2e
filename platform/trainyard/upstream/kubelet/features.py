"""The features that a kubelet declares of its node, and its own look at those that a pod needs (KEP-5328).

Source: k8s.io/kubernetes v1.37.2 pkg/kubelet/lifecycle/handlers.go NewDeclaredFeaturesAdmitHandler,
pkg/kubelet/kubelet_node_declared_features.go.
"""

from __future__ import annotations

from trainyard.upstream.kubelet.configuration.gates import Gates
from trainyard.upstream.kubelet.outcomes import Refused
from trainyard.upstream.kubelet.releases import number
from trainyard.upstream.pods.features import FEATURES, GATE, features_needed
from trainyard.upstream.pods.pod import Pod


def declared_features(gates: Gates) -> frozenset[str]:
    """Return the features that a kubelet with these gates declares, if its container runtime can do all of them."""
    if GATE not in gates.known or not gates.on(GATE):
        return frozenset()
    minor = number(gates.minor)
    return frozenset(name for name, one in FEATURES.items() if one.since <= minor and gates.on(name))


def unknown_features(pod: Pod, gates: Gates) -> tuple[str, ...]:
    """Return the features of a pod of which the container runtime says whether the node has them."""
    there = declared_features(gates)
    return tuple(name for name in _needed(pod, gates) if name in there and FEATURES[name].runtime)


def refused_features(pod: Pod, gates: Gates) -> Refused | None:
    """Return the refusal of a pod that needs what the kubelet does not declare; before 1.36 it does not look."""
    if GATE not in gates.known or not gates.on(GATE):
        return None
    there = declared_features(gates)
    lacking = [name for name in _needed(pod, gates) if name not in there]
    message = f"Pod requires node features that are not available: {', '.join(lacking)}"
    return Refused("PodFeatureUnsupported", message) if lacking else None


def _needed(pod: Pod, gates: Gates) -> tuple[str, ...]:
    """Return the features that a pod needs as the API server took it: with all that it says."""
    return features_needed(pod.spec, gates.minor, {GATE, *FEATURES})
