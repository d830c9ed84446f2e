"""Two projects that serve one kind: a server has one CRD of a name, the one applied last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from trainyard.base.findings import Finding, Location, Severity
from trainyard.base.rules import Rule
from trainyard.upstream.apiserver.catalog.releases import Choice
from trainyard.upstream.apiserver.catalog.served import Kind

OWNERS = {
    "k8s.cni.cncf.io": "network-attachment-definition",
    "resource.nvidia.com": "dra-driver-nvidia-gpu",
    "snapshot.storage.k8s.io": "external-snapshotter",
    "sriovnetwork.openshift.io": "network-operator",
    "topology.node.k8s.io": "node-feature-discovery",
}
"""Whose copy of a group counts where two projects bring one; network-operator's is the newer of two copies.

Said here and not with the operators: the verdict reads `schemas/` alone, and not every project is an operator.
"""


def prefer(first: dict[str, Kind], second: dict[str, Kind]) -> dict[str, Kind]:
    """Return the versions of both, the owner's where both have one: so that each object is judged by what knows it."""
    some = next(iter(second.values()))
    return {**first, **second} if OWNERS.get(some.group) == some.project else {**second, **first}


SERVED_TWICE = Rule(
    id="pairing/served-twice",
    title="No two projects serve one kind with different schemas.",
    why="the CRDs installed last win, and objects of the other project are refused or lose fields",
    fix="install one of them, or remove the CRDs of one",
    source="docs/apiserver.md",
    layer="pairing",
    may_warn=True,
)


@dataclass(frozen=True, slots=True)
class Clash:
    """How two projects that serve one kind differ."""

    kind: str
    how: str
    harmless: bool
    """Whether the versions that both have accept the same."""


def compare(first: Mapping[str, Kind], second: Mapping[str, Kind]) -> Clash | None:
    """Compare one kind of two projects; None where they serve it alike."""
    shared = first.keys() & second.keys()
    same = all(first[version].same_schema(second[version]) for version in shared)
    if same and first.keys() == second.keys():
        return None
    versions = " and ".join("/".join(sorted(group_versions)) for group_versions in (first, second))
    kind = next(iter(first.values())).kind
    return Clash(kind, f"as {versions}" if same else "with different schemas", harmless=same and bool(shared))


def origin(versions: Mapping[str, Kind]) -> Choice:
    """Return the project and release that serve a kind."""
    some = next(iter(versions.values()))
    return Choice(some.project, some.release)


def served_twice(pair: tuple[Choice, Choice], clashes: list[Clash], where: Callable[[str], Location]) -> Finding:
    """Report two projects that serve the same kinds differently."""
    worst = min(clashes, key=lambda clash: clash.harmless)
    sides = " and ".join(f"{choice.project} {choice.release}" for choice in pair)
    more = f" and {len(clashes) - 1} more" if len(clashes) > 1 else ""
    severity = Severity.WARNING if worst.harmless else None
    message = f"{sides} both serve {worst.kind}{more}, {worst.how}"
    return SERVED_TWICE.of(where(pair[1].project), message, severity=severity, fix=SERVED_TWICE.fix)
