"""The objects of a run, whole: by kind what each may be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from trainyard.base.labels import QUEUE
from trainyard.render.kinds.companions import DOMAIN
from trainyard.render.kinds.companions import GROUP as OF_DOMAIN
from trainyard.render.parts import gang
from trainyard.render.tenancy import workloads
from trainyard.render.tenancy.devices import TEMPLATE
from trainyard.render.tenancy.metadata import NOTES_OF_OBJECTS, OF_OBJECTS, metadata
from trainyard.render.tenancy.rights import inner
from trainyard.render.tenancy.shapes import ANY, About, Condition, Fields, Items, Same, Shape, only
from trainyard.upstream.workloads import carrier

META = metadata(
    "objects", OF_OBJECTS, NOTES_OF_OBJECTS, required=("labels",), name=Same("run"), namespace=Same("namespace")
)

PORT = Fields("a port", dict.fromkeys(("appProtocol", "name", "port", "protocol", "targetPort"), ANY))
SERVICE = Fields(
    "Services",
    {
        **dict.fromkeys(("internalTrafficPolicy", "ipFamilies", "ipFamilyPolicy", "publishNotReadyAddresses"), ANY),
        **dict.fromkeys(("selector", "sessionAffinity"), ANY),
        "clusterIP": only("None"),
        "clusterIPs": ANY,
        "ports": Items(PORT),
        "type": only("ClusterIP"),
    },
    required=("clusterIP", "selector"),
)
CHANNEL = Fields(
    "channels",
    {"allocationMode": only("Single"), "resourceClaimTemplate": Fields("channels", {"name": TEMPLATE})},
)


@cache
def queue_condition() -> Condition:
    """Return the condition of workloads that Kueue counts, or it holds them only where its configuration says so.

    Of kinds that are left to Volcano, a field names the queue: without it, a job is in one that has no bound.
    """
    labelled = [f"{group}/{kind}" for group, kind in workloads.queued_kinds()]
    name = "{x}.apiVersion.split('/')[0] + '/' + {x}.kind"
    return Condition(
        has_queue,
        f"!({name} in {json.dumps(labelled)}) || ({name} in variables.grouped ? "
        f"{{x}}.?spec.?runPolicy.?schedulingPolicy.?queue.hasValue() : "
        f"'{QUEUE}' in {{x}}.metadata.?labels.orValue({{}}))",
        f"label {QUEUE} or Volcano's queue is missing, so no quota would count the run; add it",
        "queue",
        ("metadata", "labels"),
    )


def has_queue(value: object, about: About) -> bool:
    """Whether a workload names its queue: by Kueue's label, or by its policy where it is left to Volcano."""
    held = value if isinstance(value, Mapping) else {}
    group = str(held.get("apiVersion")).split("/")[0]
    if f"{group}/{held.get('kind')}" in about.allowance.lists.get("grouped", ()):
        return "queue" in inner(inner(inner(value, "spec"), "runPolicy"), "schedulingPolicy")
    return QUEUE in inner(inner(value, "metadata"), "labels")


BESIDE: Mapping[tuple[str, str], Mapping[str, Shape]] = {
    ("", "ConfigMap"): {"data": ANY, "binaryData": ANY, "immutable": ANY},
    ("", "Service"): {"spec": SERVICE},
    (gang.GROUP, gang.KIND): {"spec": Fields("groups", dict.fromkeys(("minMember", "scheduleTimeoutSeconds"), ANY))},
    (OF_DOMAIN, DOMAIN): {"spec": Fields("domains", {"numNodes": ANY, "channel": CHANNEL})},
}
"""Objects beside the workload, by group and kind, with their fields beside metadata."""

ABOUT = {"metadata": "object", "spec": "field"}


@cache
def shape(group: str, kind: str) -> Fields | None:
    """Return the shape of objects of a kind, None for a kind that no run is made of."""
    if (group, kind) in BESIDE:
        about = {**ABOUT, "spec": "service"} if kind == "Service" else ABOUT
        return object_shape(BESIDE[group, kind], about)
    spec = workloads.specs_of_runs().get((group, kind))
    if spec is None:
        row = carrier(group, kind)
        if row is None or not row.templates:
            return None
        spec = workloads.of_carrier(row)
    return object_shape({"spec": spec}, ABOUT, queue_condition() if (group, kind) in workloads.queued_kinds() else None)


def object_shape(fields: Mapping[str, Shape], about: Mapping[str, str], more: Condition | None = None) -> Fields:
    """Return the shape of an object with such fields."""
    head = {"apiVersion": ANY, "kind": ANY, "metadata": META, "status": ANY}
    required = ("spec",) if "spec" in fields else ()
    return Fields("objects", {**head, **fields}, about, required, (more,) if more else ())
