"""The policies that clusters get, compiled, and what they say of objects that somebody applies."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from everything import EVERYTHING
from tenants import everything, found
from trainyard.render.tenancy import Allowance
from trainyard.render.tenancy.policies import binding, policies
from trainyard.specs import Cluster
from trainyard.upstream.apiserver.admission import policies as engine
from trainyard.upstream.apiserver.admission.policies import Decision, Request, Surroundings
from trainyard.upstream.apiserver.admission.policies.request import guess_of

CLUSTER = Cluster.model_validate(EVERYTHING)
ARGOCD = {
    "username": "system:serviceaccount:argocd:argocd-application-controller",
    "groups": ["system:serviceaccounts", "system:serviceaccounts:argocd", "system:authenticated"],
}
Objects = list[dict[str, Any]]


@cache
def shipped() -> tuple[tuple[engine.Policy, tuple[engine.Binding, ...]], ...]:
    """Return the policies of a cluster, compiled, each with its binding."""
    loaded = []
    for name, spec in policies("test", CLUSTER):
        policy = engine.load({"metadata": {"name": name}, "spec": spec}, minor=35)
        bound = engine.load_binding({"metadata": {"name": name}, "spec": binding(name, CLUSTER)})
        loaded.append((policy, (bound,)))
    return tuple(loaded)


def decided(values: Objects, user: dict[str, Any] = ARGOCD, allowed: Allowance | None = None) -> Iterator[Decision]:
    """Yield what the policies say of objects that somebody applies."""
    namespace = {"metadata": {"name": "nlp", "annotations": (allowed or everything()).annotations()}}
    around = Surroundings({"nlp": namespace}, complete=True)
    for value in values:
        resource = guess_of(value["apiVersion"], value["kind"])
        yield from engine.judge(shipped(), Request(resource, value, user=user), around)


def refused(values: Objects, user: dict[str, Any] = ARGOCD, allowed: Allowance | None = None) -> bool:
    """Whether a policy refuses, by one of its rules and not by an error of its own."""
    decisions = list(decided(values, user, allowed))
    assert all("(run/tenant-" in decision.message or "(sec-digest)" in decision.message for decision in decisions), (
        decisions[0]
    )
    return bool(decisions)


def agreed(values: Objects, allowed: Allowance | None = None) -> bool:
    """Return whether a run is refused; by the check and by the policies alike."""
    offline = bool(list(found(values, allowed)))
    assert offline == refused(values, allowed=allowed)
    return offline
