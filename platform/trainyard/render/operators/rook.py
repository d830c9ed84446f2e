"""Rook: the operators of Ceph and of its storage drivers, and the Ceph cluster where the cluster's file has one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.operators.base import Conflict, Operator, Site
from trainyard.render.operators.rook_objects import resources
from trainyard.render.operators.stated_values import if_false, if_true, stated
from trainyard.render.parts.objects import Resource

CHART = "rook/rook v1.20.6 deploy/charts/rook-ceph/values.yaml"


class Rook(Operator):
    """The operator from its chart, with the definitions that outlive it, as Argo CD prunes nothing of a chart."""

    name = "rook"

    def values(self, _site: Site) -> dict[str, Any]:
        """Return the priority of the operator, without which nobody repairs a full cluster's storage."""
        return {"priorityClassName": "system-cluster-critical"}

    def own(self, site: Site) -> Iterator[Resource]:
        """Yield the Ceph cluster, its file systems, pools and object stores."""
        return resources(site)

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield values by which definitions go, drivers have no operator, or nobody repairs the storage."""
        why = "the definitions would go, and with them the Ceph cluster and its data; remove it"
        yield from if_false(site, {"crds.enabled": why}, CHART)
        yield from if_true(site, {"scaleDownOperator": "then nobody repairs the storage; remove it"}, CHART)
        if site.cluster.ceph is not None and any(site.cluster.ceph.buckets()):
            yield from of_buckets(site)
        drivers = site.cluster.operators.get("ceph-csi-drivers")
        if drivers is not None and drivers.managed:
            why = "ceph-csi-drivers needs this operator; remove it"
            yield from if_false(site, {"csi.installCsiOperator": why}, CHART)


def of_buckets(site: Site) -> Iterator[Conflict]:
    """Yield values by which claims on buckets wait for ever, or somebody takes a bucket of another team."""
    why = "then no provisioner has the name that classes of buckets say; remove it"
    yield from if_false(site, {"enableOBCWatchOperatorNamespace": why}, CHART)
    if stated(site, "obcProvisionerNamePrefix") not in {None, "", site.facts.namespace}:
        yield Conflict("obcProvisionerNamePrefix", f"obcProvisionerNamePrefix is set, but {why}", CHART)
    fields = stated(site, "obcAllowAdditionalConfigFields")
    if fields is not None and "maxSize" not in str(fields).split(","):
        message = "obcAllowAdditionalConfigFields lacks maxSize, the size of buckets; add it"
        yield Conflict("obcAllowAdditionalConfigFields", message, CHART)
    why = "whoever edits a namespace could then claim a bucket of another team by its name; remove it"
    yield from if_true(site, {"rbacAggregate.enableOBCs": why}, CHART)


OPERATOR = Rook()
