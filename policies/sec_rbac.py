"""No role in a team's namespace lets the team write what limits it: queues, quota, networks, roles.

Why: Quota, networks and rights of a team follow from files that are reviewed. Whoever may write the objects themselves
 gives himself more, and no review shows it.
Fix: name the resources that are needed, with get, list and watch; quota and queues are the platform's to write.
Source: kubernetes-sigs/kueue v0.19.2 site/content/en/docs/tasks/manage/rbac.md; kubernetes v1.35
 staging/src/k8s.io/api/rbac/v1/types.go PolicyRule
"""

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Manifest, Place, Problem, Severity, World, maps_in

NEEDS = {"inventory"}
GROUP = "rbac.authorization.k8s.io"
WRITING = {"create", "update", "patch", "delete", "deletecollection", "*"}
WIDENING = {"bind", "escalate", "impersonate"}
"""Verbs by which an account takes rights that it was not given."""

QUOTA = {
    "kueue.x-k8s.io": (
        *("localqueues", "clusterqueues", "cohorts", "resourceflavors", "topologies"),
        *("workloads/status", "workloadpriorityclasses"),
    ),
    "": ("resourcequotas", "limitranges"),
}
LIMITS = {
    GROUP: ("roles", "rolebindings", "clusterroles", "clusterrolebindings"),
    "networking.k8s.io": ("networkpolicies",),
    "k8s.cni.cncf.io": ("network-attachment-definitions",),
}
TENANCY = {"": ("namespaces",)}
"""A Role may let its team write the Namespace that it is in, whose labels and annotations say what the team may do."""


def check(world: World) -> Iterator[Problem]:
    """Look at roles that a team's namespace has, and binds to people or to accounts of its own."""
    teams = set(world.inventory.namespaces()) if world.inventory is not None else set()
    bindings = [item for item in world.of("RoleBinding", group=GROUP) if item.namespace in teams and of_team(item)]
    bound = {(item.namespace, item.text("roleRef", "kind"), item.text("roleRef", "name")) for item in bindings}
    for role in world.of("Role", group=GROUP):
        if (role.namespace, "Role", role.name) in bound:
            for path, rule in role.at("rules", "*", of=dict):
                yield from excess(Place(role, path), rule)
    for binding in bindings:
        if (binding.text("roleRef", "kind"), binding.text("roleRef", "name")) == ("ClusterRole", "cluster-admin"):
            message = "the team may do everything in its namespace, so it writes its own limits; bind another role"
            yield Problem(Place(binding, ("roleRef", "name")), message)


def of_team(binding: Manifest) -> bool:
    """Say whether a binding is for people, or for accounts of its own namespace."""
    return any(
        subject.get("kind") in {"User", "Group"} or subject.get("namespace", binding.namespace) == binding.namespace
        for subject in maps_in(binding.get("subjects"))
    )


def excess(place: Place, rule: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the first of its own limits that a rule lets a team write."""
    groups, resources, verbs = (names(rule.get(field)) for field in ("apiGroups", "resources", "verbs"))
    if "*" in resources and "*" in groups and verbs & WRITING:
        message = "the team may write everything in its namespace, its limits too; name resources"
        yield Problem(place, message, severity=Severity.ERROR)
        return
    weights = (
        (TENANCY, "rights", Severity.ERROR),
        (QUOTA, "quota", Severity.ERROR),
        (LIMITS, "rights", Severity.WARNING),
    )
    for known, what, weight in weights:
        for group, limiting in known.items():
            wanted = verbs & (WRITING | WIDENING if group == GROUP else WRITING)
            found = next((name for name in limiting if name in resources or "*" in resources), None)
            if wanted and found and groups & {group, "*"}:
                message = f"the team may write {found}, and so give itself more {what}; allow reading alone"
                yield Problem(place, message, severity=weight)
                return


def names(value: Any) -> set[str]:
    """Return the names of a list."""
    return {name for name in value if isinstance(name, str)} if isinstance(value, list) else set()
