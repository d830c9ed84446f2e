"""TopoLVM: logical volumes of the local disks of those pools whose scratch is made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.render.operators.base import Conflict, Site, merge, nest_value, tolerations
from trainyard.render.operators.stated_values import check_tolerations
from trainyard.render.operators.storage_driver import StorageDriver, classes
from trainyard.specs.releases.facts import lookup

CHART = "topolvm/topolvm topolvm-chart-v17.1.0 charts/topolvm/values.yaml"
DEVICES = "lvmd.deviceClasses"
"""Path of the value with the volume groups of nodes."""

PARAMETER = "topolvm.io/device-class"
"""Parameter of a StorageClass that names one of them; without it a volume is of the default one."""


class TopoLVM(StorageDriver):
    """The driver from its chart, on nodes that have a volume group; there is nothing to look for on the others."""

    def values(self, site: Site) -> dict[str, Any]:
        """Return also where its pods on nodes run: its daemon ends on a node without the volume group."""
        found, pools = super().values(site), with_disks(site)
        wanted = tolerations((site.cluster.pools[name] for name in pools) if pools else site.cluster.pools.values())
        terms = [{"matchExpressions": expressions(site.cluster.selector_of(name))} for name in pools]
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
        for part in ("node", "lvmd"):
            if wanted:
                found = merge(found, nest_value(f"{part}.tolerations", wanted))
            if terms:
                found = merge(found, nest_value(f"{part}.affinity", affinity))
        return found

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield also classes of a volume group that nodes are not said to have, and snapshots of one that is thick."""
        yield from super().conflicts(site)
        pools = {name: site.cluster.pools[name] for name in with_disks(site)} or site.cluster.pools
        for part in ("node", "lvmd"):
            yield from check_tolerations(site, f"{part}.tolerations", pools, CHART)
        said = lookup(site.choice.values, DEVICES)
        known = [item for item in said if isinstance(item, Mapping)] if isinstance(said, list) else []
        if not known:
            return
        for name, storage in classes(site).items():
            wanted = storage.parameters.get(PARAMETER)
            found = [one for one in known if (one.get("name") == wanted if wanted else one.get("default") is True)]
            shared = (("storage", name),)
            if not found:
                what = f"device class {wanted!r}" if wanted else "default device class"
                message = f"{DEVICES} has no {what}, which class {name!r} needs; add it"
                yield Conflict(DEVICES, message, CHART, shared=shared)
            elif storage.snapshots and found[0].get("type") != "thin":
                message = f"class {name!r} has snapshots, but device class {found[0].get('name')!r} is not thin"
                yield Conflict(DEVICES, f"{message}; set type: thin", CHART, shared=shared)


def with_disks(site: Site) -> list[str]:
    """Return the pools whose local disks are volumes of the driver."""
    ours = classes(site)
    return [name for name, pool in site.cluster.pools.items() if pool.local_disks and pool.local_disks.storage in ours]


def expressions(labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return labels as requirements of a node."""
    return [{"key": key, "operator": "In", "values": [value]} for key, value in labels.items()]


OPERATOR = TopoLVM("topolvm")
