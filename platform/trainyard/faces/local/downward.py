"""What a pod's own fields and resources say, as variables and files.

Facts: kubernetes v1.35 pkg/fieldpath/fieldpath.go, pkg/api/v1/resource/helpers.go, pkg/kubelet/kubelet_pods.go.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from math import ceil
from typing import Any

from trainyard.base.quantities import Quantity
from trainyard.faces.local.controllers.base import Object, RunError

KEYED = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")
NODE = "localhost"
MILLI = frozenset({"cpu"})
"""Resources whose quotient is worked out in thousandths."""


def field_of(pod: Mapping[str, Any], path: str, address: str) -> str:
    """Return a field of a pod, which has the address; raises RunError for one that is none."""
    metadata, spec = pod["metadata"], pod["spec"]
    keyed = KEYED.fullmatch(path)
    if keyed:
        found: Mapping[str, str] = metadata.get(keyed[1]) or {}
        return found.get(keyed[2], "")
    if path in {"metadata.labels", "metadata.annotations"}:
        values: Mapping[str, str] = metadata.get(path.partition(".")[2]) or {}
        return "\n".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in sorted(values.items()))
    known = {
        "metadata.name": metadata["name"],
        "metadata.namespace": metadata["namespace"],
        "metadata.uid": metadata["uid"],
        "spec.nodeName": NODE,
        "spec.serviceAccountName": spec.get("serviceAccountName") or "default",
        "status.hostIP": address,
        "status.hostIPs": address,
        "status.podIP": address,
        "status.podIPs": address,
    }
    if path not in known:
        raise RunError(f"pod {metadata['name']!r} uses field {path!r}, which the kubelet does not support")
    return str(known[path])


def resource_of(pod: Object, container: Mapping[str, Any], reference: Mapping[str, Any]) -> str:
    """Return an amount of a container in a divisor, rounded up; a limit that nobody says is this machine's own."""
    spec = pod["spec"]
    named = reference.get("containerName")
    if named:
        every = (*spec["containers"], *(spec.get("initContainers") or ()))
        container = next((item for item in every if item.get("name") == named), container)
    side, _, name = str(reference["resource"]).partition(".")
    amounts = container.get("resources") or {}
    limits, requests = amounts.get("limits") or {}, amounts.get("requests") or {}
    said = limits.get(name) if side == "limits" else requests.get(name, limits.get(name))
    if said is None:
        said = machine(name) if side == "limits" else 0
    divisor = Quantity.parse(reference.get("divisor") or 1) or Quantity.parse(1)
    quantity = Quantity.parse(said)
    if name in MILLI:
        return str(ceil(quantity.milli_value() / divisor.milli_value()))
    return str(ceil(quantity.value() / divisor.value()))


def machine(resource: str) -> int:
    """Return the CPUs or bytes of memory of this machine, in place of those of a node."""
    if resource == "cpu":
        return os.cpu_count() or 1
    if resource == "memory":
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 0
