"""A kind around another: an AppWrapper holds the workload of any kind, which is rendered as it is alone.

Facts: appwrapper v1.2.1 api/v1beta2/appwrapper_types.go, internal/controller/appwrapper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from trainyard.base.labels import MAX_TIME, PRIORITY, QUEUE
from trainyard.render.kinds.base import Kind, Resolved
from trainyard.render.kinds.objects import apply_patches
from trainyard.render.parts.health import by_field
from trainyard.render.parts.objects import Resource

BY_KUEUE = frozenset({QUEUE, PRIORITY, MAX_TIME})
"""Labels that Kueue reads, of what waits in its queue: the AppWrapper."""

ARGO = "argocd.argoproj.io/"
"""What annotations that Argo CD reads begin with, of what it applies: the AppWrapper."""

HEALTH = by_field("phase", waiting="Waiting for quota", healthy="Succeeded", degraded="Failed")


class InAppWrapper(Kind):
    """An AppWrapper around a kind; a class has it before that kind, and says which it is by `inside`.

    Everything but the object itself is the other kind's: roles, names of hosts, variables, what patches reach.
    """

    name = "AppWrapper"
    group = "workload.codeflare.dev"
    version = "v1beta2"
    api_kind = "AppWrapper"
    inside: ClassVar[Kind]
    """The kind that is in the AppWrapper."""

    def __init_subclass__(cls) -> None:
        """Set the attributes that follow from the kind inside, instead of those of its class."""
        super().__init_subclass__()
        if hasattr(cls, "inside"):
            cls.objects = cls.inside.objects | {f"{cls.group}/{cls.api_kind}"}
            cls.ignore = ({"group": cls.group, "kind": cls.api_kind, "jsonPointers": ["/spec/suspend"]},)
            cls.health = HEALTH
            cls.inner = cls.inside.inner | {cls.inside.object_kind}

    def injected(self, role: str) -> frozenset[str]:
        """Return the variables that the operator of the kind inside sets."""
        return self.inside.injected(role)

    def arriving(self, pod_set: str, spec: dict[str, Any]) -> dict[str, Any]:
        """Return the specification of a pod with what the operator of the kind inside adds."""
        return self.inside.arriving(pod_set, spec)

    def build(self, run: Resolved) -> Iterator[Resource]:
        """Yield the objects of the kind inside, its workload in an AppWrapper."""
        for item in self.inside.build(replace(run, kind=self.inside)):
            own = (item.api_version, item.kind) == (self.inside.api_version, self.inside.object_kind)
            yield self.around(run, item) if own else item

    def around(self, run: Resolved, workload: Resource) -> Resource:
        """Return the AppWrapper of a workload with all of its labels and annotations, patched.

        The workload keeps those that neither Kueue nor Argo CD reads of it.
        """
        labels = {key: text for key, text in workload.labels.items() if key not in BY_KUEUE}
        notes = {key: text for key, text in workload.annotations.items() if not key.startswith(ARGO)}
        held = replace(workload, labels=labels, annotations=notes).value()
        metadata = {"labels": dict(workload.labels), "annotations": dict(workload.annotations)}
        body = apply_patches(
            run, self.object_kind, None, {"metadata": metadata, "spec": {"components": [{"template": held}]}}
        )
        said = body.pop("metadata")
        return replace(
            workload,
            api_version=self.api_version,
            kind=self.object_kind,
            labels=said.get("labels") or {},
            annotations=said.get("annotations") or {},
            fields=body,
        )
