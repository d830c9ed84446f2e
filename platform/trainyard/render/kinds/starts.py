"""What the kubelet of a run's pool does with each of its pods, as the kind renders them and the job patches them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.base.errors import SpecError
from trainyard.base.manifests import value_at
from trainyard.render.kinds.base import Kind, Resolved
from trainyard.render.kinds.objects import pod
from trainyard.render.launchers import Role
from trainyard.render.sizing import Sized
from trainyard.render.sizing.starts import Node, Verdict, node
from trainyard.upstream.kubelet import Admitted, Exploded, Invalid, Refused, forms
from trainyard.upstream.workloads import pod_sets_of

POD = "Pod"
"""Object of patches that every template has in it already."""

UNSEEN = ("resourceClaims",)
"""Fields of a pod that the kubelet's managers do not decide on: claims are prepared after them."""


@dataclass(frozen=True, slots=True)
class Start:
    """A role's pod on a node of its pool."""

    role: Role
    pool: str
    node: Node
    pod: dict[str, Any]
    verdict: Verdict

    @property
    def outcome_text(self) -> str:
        """What becomes of it, in words."""
        outcome, against = self.verdict.decision.outcome, self.verdict.decision.unschedulable
        if against:
            return f"on no node: {against[0]}"
        if isinstance(outcome, Admitted):
            return f"with {self.verdict.beside} more on its node" if self.verdict.beside else "alone on a node"
        if isinstance(outcome, Refused):
            return f"refused: {outcome.reason}"
        return "freezes the kubelet" if isinstance(outcome, Exploded) else "crashes the kubelet"


def starts(run: Resolved) -> Iterator[Start]:
    """Yield the kubelet's verdict on a pod of every role; nothing for pools whose kubelet does not start.

    A job's own containers and patches may make a pod that the API server does not take: others name what is wrong.
    """
    pools = [(role, pool) for role in run.roles for pool in role.size.pools or (role.size.pool,)]
    for role, pool in pools:
        found = node(run.run.cluster, pool)
        if isinstance(found, Invalid):
            continue
        try:
            manifest = arriving_pod(run, role)
            verdict = found.verdict(manifest)
        except (SpecError, ValueError):
            continue
        yield Start(role, pool, found, manifest, verdict)


def arriving_pod(run: Resolved, role: Role) -> dict[str, Any]:
    """Return a role's pod as it arrives at a node; raises SpecError where a patch makes it none."""
    spec = complete_pod(run.kind, run.kind.called(role.name), template(run, role).get("spec") or {})
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{run.run.name}-{role.name}"}, "spec": spec}


def complete_pod(kind: Kind | None, pod_set: str, carried: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification of a pod as it arrives at a node, of the one that an object carries for a pod set.

    What the operator of an unknown kind adds is unknown. Raises SpecError where it is none.
    """
    forms.check({"spec": carried}, forms.STEP, pod_set)
    spec = dict(carried)
    spec = spec if kind is None else kind.arriving(pod_set, spec)
    for name in UNSEEN:
        spec.pop(name, None)
    for name in ("initContainers", "containers"):
        if spec.get(name):
            spec[name] = [claimless(one_template) for one_template in spec[name]]
    return spec


def claimless(container: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a container without its claims."""
    resources = container.get("resources") or {}
    if "claims" not in resources:
        return container
    return {**container, "resources": {name: part for name, part in resources.items() if name != "claims"}}


def template(run: Resolved, role: Role) -> Mapping[str, Any]:
    """Return a role's pod template as its object carries it: a patch of that object may reach into its pods."""
    if any(patch.object != POD for patch in run.run.job.patches):
        for value in (resource.value() for resource in run.kind.build(run)):
            found = [item for item, _ in pod_sets_of(value, [])]
            for pod_set in found:
                carried = value_at(value, pod_set.template)
                if (
                    (len(found) == 1 or pod_set.name == run.kind.called(role.name))
                    and isinstance(carried, Mapping)
                    and "spec" in carried
                ):
                    return carried
    return pod(run, role)


def facts(run: Resolved) -> Iterator[tuple[str, Sized[str]]]:
    """Yield where each role's pods start, for `explain`."""
    for start in starts(run):
        managers = "simulated with its kubelet settings and daemons"
        yield (
            f"{start.role.name}.starts" + (f".{start.pool}" if start.role.size.pools else ""),
            Sized(start.outcome_text, f"on a node of pool {start.pool!r}, {managers}"),
        )
