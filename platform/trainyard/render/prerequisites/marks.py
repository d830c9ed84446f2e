"""How nodes get labels and taints that the next node of the pool has too: by their node group, where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from trainyard.base.pools import selector_text
from trainyard.render.prerequisites.base import Site
from trainyard.upstream.pods.taints import Taint

EFFECTS = {"NoSchedule": "NO_SCHEDULE", "NoExecute": "NO_EXECUTE", "PreferNoSchedule": "PREFER_NO_SCHEDULE"}
"""Effects as Amazon EKS names them (EKS API reference, Taint)."""

Form = Callable[[str, Mapping[str, str], Sequence[Taint]], str]


def kubectl(_pool: str, labels: Mapping[str, str], taints: Sequence[Taint]) -> str:
    """Return the commands for nodes that somebody makes one by one."""
    own = [f"`kubectl label node NODE {selector_text(labels, ' ')}`"] if labels else []
    return "; ".join([*own, *(f"`kubectl taint node NODE {taint}`" for taint in taints)])


def eks(pool: str, labels: Mapping[str, str], taints: Sequence[Taint]) -> str:
    """Return the command for a managed node group (AWS CLI reference, eks create-nodegroup)."""
    listed = (
        ",".join([f"key={taint.key}", *([f"value={taint.value}"] if taint.value else []), f"effect={effect}"])
        for taint in taints
        for effect in [EFFECTS[taint.effect]]
    )
    words = [f"--labels {selector_text(labels)}"] if labels else []
    return of_group(f"aws eks create-nodegroup --nodegroup-name {pool}", [*words, *tainted("--taints ", " ", listed)])


def gke(pool: str, labels: Mapping[str, str], taints: Sequence[Taint]) -> str:
    """Return the command for a node pool (gcloud reference, container node-pools create)."""
    words = [f"--node-labels={selector_text(labels)}"] if labels else []
    listed = (f"{taint.key}={taint.value}:{taint.effect}" for taint in taints)
    return of_group(f"gcloud container node-pools create {pool}", [*words, *tainted("--node-taints=", ",", listed)])


def aks(_pool: str, labels: Mapping[str, str], taints: Sequence[Taint]) -> str:
    """Return the command for a node pool (Azure CLI reference, aks nodepool add), whose name has its own rules."""
    words = [f"--labels {selector_text(labels, ' ')}"] if labels else []
    listed = (f"{taint.key}={taint.value}:{taint.effect}" for taint in taints)
    return of_group("az aks nodepool add", [*words, *tainted("--node-taints ", ",", listed)])


def tainted(option: str, between: str, taints: Iterable[str]) -> list[str]:
    """Return the option with the taints of a group; none where it has none."""
    listed = between.join(taints)
    return [f"{option}{listed}"] if listed else []


def of_group(command: str, options: Sequence[str]) -> str:
    """Return a command for a group of nodes, and why it is not one for a node."""
    return f"`{' '.join([command, *options])}`; what kubectl sets is lost when a node is replaced"


FORMS: Mapping[str, Form] = {
    "eks": eks,
    "eks-bottlerocket": eks,
    "gke-cos": gke,
    "gke-ubuntu": gke,
    "aks": aks,
}
"""Distributions whose provider replaces nodes by itself; a new Node object has the marks of its group alone."""


def marking(site: Site, pool: str, labels: Mapping[str, str], taints: Sequence[Taint] = ()) -> str:
    """Return how the nodes of a pool get labels and taints."""
    return FORMS.get(site.cluster.system_of(pool).distribution or "", kubectl)(pool, labels, taints)
