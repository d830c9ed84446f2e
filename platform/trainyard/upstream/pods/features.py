"""What pods need that not every kubelet can do: nodes declare it, and the scheduler looks for it (KEP-5328).

Source: k8s.io/component-helpers v0.37.2 nodedeclaredfeatures/features; k8s.io/kubernetes v1.37.2
pkg/scheduler/framework/plugins/nodedeclaredfeatures. A resize in place needs features as well, of a pod that has its
node: the API server refuses it there, and no pod is placed by it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainyard.base.versions import minor as number

GATE: Final = "NodeDeclaredFeatures"
"""The gate of scheduler and kubelet: alpha and off in 1.35, beta and on in 1.36, locked in 1.37."""

FILTERED: Final = 36
"""Minor from which schedulers look at what nodes declare."""

UNFIT: Final = "node(s) didn't match Pod's required features"
"""The scheduler's words."""

Spec = Mapping[str, Any]
KINDS = ("containers", "initContainers", "ephemeralContainers")


def parts(owner: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the maps of a list."""
    found = owner.get(name)
    yield from (part for part in found if isinstance(part, Mapping)) if isinstance(found, list) else ()


def restarts_all(spec: Spec) -> bool:
    """Whether the end of a container restarts the whole pod in its place."""
    containers = (container for kind in KINDS[:2] for container in parts(spec, kind))
    rules = (rule for container in containers for rule in parts(container, "restartPolicyRules"))
    return any(rule.get("action") == "RestartAllContainers" for rule in rules)


def has_host_users_apart(spec: Spec) -> bool:
    """Whether a pod has users of its own in the network of its host."""
    return bool(spec.get("hostNetwork")) and spec.get("hostUsers") is False


def has_mount_options(spec: Spec) -> bool:
    """Whether a mount has options of its own."""
    containers = (container for kind in KINDS for container in parts(spec, kind))
    return any(mount.get("bindMountOptions") for container in containers for mount in parts(container, "volumeMounts"))


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature that pods need by what they say."""

    needed: Callable[[Spec], bool]
    since: int
    """Minor whose kubelets declare it first, by the gate of its name."""
    served: int | None = None
    """Minor whose API server takes such a pod by default; None where its gate is off, which drops or refuses it."""
    runtime: bool = False
    """Whether the container runtime has to say that it can do it, which no file says."""


FEATURES = {
    "RestartAllContainersOnContainerExits": Feature(restarts_all, since=35, served=36),
    "UserNamespacesHostNetworkSupport": Feature(has_host_users_apart, since=36, runtime=True),
    "VolumeBindMountOptions": Feature(has_mount_options, since=37, runtime=True),
}
"""Those by which pods are placed, in the order of their names.

Nodes declare others that only count for updates of pods, for logins, or for drivers of devices.
"""


def features_needed(spec: Spec, release: str, gates: Collection[str] = ()) -> tuple[str, ...]:
    """Return the features that a pod needs of its node, as the scheduler of a release sees it.

    `gates` are those that somebody turned on in the API server, which else leaves the fields of alpha features out.

    >>> features_needed({"containers": [{"restartPolicyRules": [{"action": "RestartAllContainers"}]}]}, "1.36")
    ('RestartAllContainersOnContainerExits',)
    """
    minor = number(release)
    if minor < FILTERED and GATE not in gates:
        return ()
    known = ((name, one) for name, one in FEATURES.items() if one.since <= minor and one.needed(spec))
    return tuple(name for name, one in known if name in gates or (one.served or minor + 1) <= minor)
