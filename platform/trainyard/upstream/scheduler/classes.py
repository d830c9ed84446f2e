"""Extended resources that devices of a DeviceClass serve on nodes whose device plugins offer none of them.

Source: kubernetes v1.36.3 pkg/scheduler/framework/plugins/noderesources/fit.go shouldDelegateResourceToDRA,
pkg/features/kube_features.go: the gate DRAExtendedResource is on since 1.36, and off before. Running schedulers were
asked: 1.36.3 and 1.37.2 place pods that name the resource or the class, 1.35.4 places neither.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from trainyard.base.versions import order

SINCE = "1.36"
IMPLICIT = "deviceclass.resource.kubernetes.io/"
"""Prefix by which pods name a class itself (k8s.io/api v0.36.3 resource/v1/types.go ResourceDeviceClassPrefix)."""


def serving_class(
    resources: Iterable[str], classes: Mapping[str, Mapping[str, Any]], offered: Collection[str], kubernetes: str
) -> tuple[str, str] | None:
    """Return the first of these resources that only a class of devices serves, and the class; None where none does.

    `offered` are the resources that device plugins offer on some node: where they do, the scheduler counts those. Which
    nodes have devices of the class their ResourceSlices say, which nobody has before the cluster runs.
    """
    if order(kubernetes) < order(SINCE):
        return None
    named = {str((value.get("spec") or {}).get("extendedResourceName") or ""): name for name, value in classes.items()}
    for resource in resources:
        implied = resource.removeprefix(IMPLICIT) if resource.startswith(IMPLICIT) else ""
        found = implied if implied in classes else named.get(resource)
        if found and resource not in offered:
            return resource, found
    return None
