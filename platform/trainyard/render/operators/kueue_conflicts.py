"""A configuration of Kueue in a cluster's own values, which takes the place of the derived one.

Facts: kubernetes-sigs/kueue v0.19.2 charts/kueue/templates/manager, apis/config/v1beta2, pkg/config.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.documents import load
from trainyard.base.quantities import parse_duration
from trainyard.render.operators.base import Conflict, Site
from trainyard.render.operators.stated_values import stated
from trainyard.render.sizing import nvlink
from trainyard.specs import Cluster
from trainyard.specs.releases.facts import lookup

CONFIGURATION = "managerConfig.controllerManagerConfigYaml"
"""The chart's value that holds the whole configuration, as one text (kueue v0.19.2 charts/kueue/values.yaml)."""

TYPES = "kubernetes-sigs/kueue v0.19.2 apis/config/v1beta2/configuration_types.go"
GROUP = "config.kueue.x-k8s.io/"


def conflicts(site: Site) -> Iterator[Conflict]:
    """Yield settings that a configuration of the file's own leaves out, or has otherwise than the cluster's fields."""
    text = stated(site, CONFIGURATION)
    if not isinstance(text, str):
        return
    found = read(text)
    version, kind = (str((found or {}).get(field, "")) for field in ("apiVersion", "kind"))
    if found is None or kind != "Configuration" or not version.startswith(GROUP):
        message = f"Kueue does not start: its configuration has no kind Configuration of {GROUP}v1beta2; add them"
        yield Conflict(CONFIGURATION, message, f"{TYPES}; pkg/config/config.go")
        return
    yield from check_devices(site.cluster, found)
    yield from check_weights(site.cluster, found)
    yield from check_recovery(site.cluster, found)
    yield from check_retention(found)


def read(text: str) -> Mapping[str, Any] | None:
    """Return a configuration, None where the text is no map of YAML."""
    documents, problems = load(text.encode(), file=CONFIGURATION)
    value = documents[0].value if documents and not problems else None
    return value if isinstance(value, Mapping) else None


def check_devices(cluster: Cluster, found: Mapping[str, Any]) -> Iterator[Conflict]:
    """Yield a configuration without the device class of NVLink channels, which runs claim."""
    spanning = next((name for name, pool in cluster.pools.items() if nvlink.spans(cluster, pool)), None)
    listed = lookup(found, "resources.deviceClassMappings")
    mapped = (one.get("deviceClassNames") for one in listed if isinstance(one, Mapping)) if listed else ()
    if spanning is not None and not any(nvlink.CLASS in (names or ()) for names in mapped):
        message = (
            f"Kueue's configuration maps no device class {nvlink.CLASS}, so jobs on {spanning!r} stay pending; "
            "add deviceClassMappings"
        )
        yield Conflict(CONFIGURATION, message, TYPES, shared=(("pools", spanning, "nvlink"),))


def check_weights(cluster: Cluster, found: Mapping[str, Any]) -> Iterator[Conflict]:
    """Yield weights of queues that Kueue does not read."""
    if found.get("fairSharing") is not None:
        return
    for section, owners in (("queues", cluster.queues_of("kueue")), ("cohorts", cluster.cohorts)):
        weighed = next((name for name, owner in owners.items() if owner.fair_weight), None)
        if weighed is not None:
            message = f"Kueue's configuration has no fairSharing, so fairWeight of {weighed!r} has no effect; add it"
            yield Conflict(CONFIGURATION, message, TYPES, breaks=False, shared=((section, weighed, "fairWeight"),))
            return


def check_recovery(cluster: Cluster, found: Mapping[str, Any]) -> Iterator[Conflict]:
    """Yield minutes of recovery that the configuration replaces."""
    minutes = cluster.recovery_minutes
    if minutes is None:
        return
    waits = found.get("waitForPodsReady")
    said = waits.get("recoveryTimeout") if isinstance(waits, Mapping) else None
    if said is None or nanoseconds(said) != nanoseconds(f"{minutes}m"):
        has = "no recoveryTimeout" if said is None else f"recoveryTimeout {said}"
        message = f"recoveryMinutes is {minutes}, but Kueue's configuration in values has {has}; set {minutes}m there"
        yield Conflict(CONFIGURATION, message, TYPES, breaks=False, shared=(("recoveryMinutes",),))


def check_retention(found: Mapping[str, Any]) -> Iterator[Conflict]:
    """Yield the retention by which Kueue deletes jobs that it deactivates: what is in Git is then created again."""
    retention = "objectRetentionPolicies.workloads.afterDeactivatedByKueue"
    if lookup(found, retention) is not None:
        message = "Kueue deletes jobs afterDeactivatedByKueue, and Argo CD starts them again; remove the field"
        yield Conflict(CONFIGURATION, message, f"{TYPES}; pkg/controller/core/workload_controller.go")


def nanoseconds(time: Any) -> int | None:
    """Return a duration in nanoseconds, None where it is none."""
    try:
        return parse_duration(str(time))
    except ValueError:
        return None
