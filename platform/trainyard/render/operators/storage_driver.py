"""Storage drivers: what their charts take from the cluster, by the paths that the facts of each name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.operators.base import Conflict, Operator, Site, merge, nest_value, tolerations
from trainyard.render.operators.stated_values import check_tolerations, if_false, stated
from trainyard.render.parts.objects import Resource
from trainyard.specs import Storage
from trainyard.specs.releases import Provisions

RBAC = "rbac.authorization.k8s.io"

SNAPSHOTTER = "external-snapshotter"
"""The operator with the controller of snapshots and their definitions."""

ROLE = "eks.amazonaws.com/role-arn"
"""Annotation of a service account whose pods have a role (aws/amazon-eks-pod-identity-webhook README.md)."""


class StorageDriver(Operator):
    """A storage driver from its chart, on every node with jobs, with rights at its provider and with our classes."""

    def __init__(self, name: str) -> None:
        """Take the name of its file in `releases/`."""
        self.name = name

    def values(self, site: Site) -> dict[str, Any]:
        """Return values for Argo CD and our classes, tolerations of the pools' taints, snapshots and the role."""
        said, found = provisions(site), dict[str, Any]()
        for path, value in (*said.sets.items(), *snapshots(site), *rights(site)):
            found = merge(found, nest_value(path, value))
        wanted = tolerations(site.cluster.pools.values())
        for path in said.tolerations if said.tolerates_few and wanted else ():
            found = merge(found, nest_value(path, wanted))
        return found

    def own(self, site: Site) -> Iterator[Resource]:
        """Yield the binding by which OpenShift admits its privileged pods, where the chart makes none."""
        constraint, accounts = site.cluster.distribution.privileged_constraint, provisions(site).privileged
        if constraint is None or not accounts:
            return
        space = site.facts.namespace
        role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": f"system:openshift:scc:{constraint}"}
        subjects = [{"kind": "ServiceAccount", "name": name, "namespace": space} for name in accounts]
        fields = {"roleRef": role, "subjects": subjects}
        yield Resource(f"{RBAC}/v1", "RoleBinding", f"{self.name}-{constraint}", site.at, space, fields=fields)

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield values that rename the driver, keep it off nodes, or take away the snapshots that classes schedule."""
        said, source = provisions(site), site.facts.sources["provisions"]
        renamed = stated(site, said.name_value) if said.name_value else None
        if renamed is not None and renamed not in said.provisioners:
            message = f"{said.name_value} is {renamed!r}, but classes name driver {said.provisioners[0]!r}; remove it"
            yield Conflict(str(said.name_value), message, source)
        for path, why in said.keeps.items():
            if stated(site, path) is not None and stated(site, path) != said.sets[path]:
                yield Conflict(path, f"{path} is {str(stated(site, path)).lower()}, but {why}; remove it", source)
        pools = site.cluster.pools
        for path in said.tolerations:
            yield from check_tolerations(site, path, pools, source)
        tainted = next((name for name, pool in pools.items() if pool.taints), None)
        if said.all_taints and tainted:
            yield from if_false(site, {said.all_taints: f"nodes of pool {tainted!r} have taints; remove it"}, source)
        scheduled = next((name for name, storage in classes(site).items() if storage.snapshots), None)
        for switch in (said.snapshot_sidecar, said.snapshot_switch):
            if switch and scheduled:
                yield from if_false(site, {switch: f"class {scheduled!r} has snapshots; remove it"}, source)


def provisions(site: Site) -> Provisions:
    """Return the drivers in the facts of an operator; raises KeyError where it has none."""
    if site.facts.provisions is None:
        raise KeyError(site.name)
    return site.facts.provisions


def classes(site: Site) -> dict[str, Storage]:
    """Return the storages of the cluster whose driver the operator installs."""
    names = provisions(site).provisioners
    return {name: storage for name, storage in site.cluster.storage.items() if storage.provisioner in names}


def snapshots(site: Site) -> Iterator[tuple[str, bool]]:
    """Yield the switches of snapshots: its container beside the controller, and more where a class has some."""
    said = provisions(site)
    if said.snapshot_sidecar:
        yield said.snapshot_sidecar, SNAPSHOTTER in site.cluster.operators
    if said.snapshot_switch:
        yield said.snapshot_switch, any(storage.snapshots for storage in classes(site).values())


def rights(site: Site) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the annotation by which service accounts have a role; Pod Identity needs none."""
    if site.choice.identity == "irsa" and site.choice.role:
        for path in provisions(site).accounts.values():
            yield path, {ROLE: site.choice.role}
