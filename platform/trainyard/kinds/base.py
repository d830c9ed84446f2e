"""A kind turns the roles of a run into API objects: a folder that knows its run, its names and the job's patches."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from trainyard.documents import Path
from trainyard.kinds.patches import merge
from trainyard.launchers import Role, Wiring
from trainyard.parts import objects, pods, storage
from trainyard.parts.containers import Process
from trainyard.sizing import Sizing
from trainyard.specs.run import Run
from trainyard.workloads import Workload, workloads

QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"
MAX_TIME = "kueue.x-k8s.io/max-exec-time-seconds"
"""Labels of a queued object (kueue v0.19.2 pkg/controller/constants/constants.go)."""

AFTER_DEADLINE = 600
"""Seconds after the Job's own deadline at which Kueue ends the whole run, restarts and preemptions included.

The Job's own end comes first, since that is a failure that Argo CD shows; Kueue's leaves the run suspended.
"""

NOT_WORTH_A_RETRY = (2, 126, 127)
"""Exit codes that the next attempt repeats: wrong arguments (Python, torchrun), not executable, not found (shells)."""


class Kind(objects.Folder):
    """The folder of one run, filled by one kind of workload."""

    name: ClassVar[str]
    container: ClassVar[str] = "trainer"
    """Name of the container that trains; some operators insist on one."""

    def __init__(self, scope: objects.Scope, run: Run) -> None:
        super().__init__(scope, f"runs/{run.team_name}/{run.name}")
        self.run = run

    @property
    def workload(self) -> Workload:
        """The facts about the kind."""
        return workloads()[self.name]

    @abstractmethod
    def wiring(self) -> Wiring:
        """Return how the pods find each other; a launcher asks before it writes arguments."""

    @abstractmethod
    def build(self, sizing: Sizing, roles: Sequence[Role]) -> None:
        """Add the run's objects; the roles are what the launcher made of the wiring."""

    def add(
        self,
        api_version: str,
        kind: str,
        *,
        at: Path = (),
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> None:
        """Add an object called as the run, patched; `at` is the job's field that it comes from."""
        metadata = {
            "labels": {**pods.labels(self.run), **(labels or {})},
            "annotations": {**self.run.job.annotations, **(annotations or {})},
        }
        body = self.patched(kind, None, {"metadata": metadata, **fields})
        metadata = body.pop("metadata")
        objects.add(
            self,
            api_version,
            kind,
            self.run.name,
            namespace=self.run.namespace,
            labels=metadata.get("labels"),
            annotations=metadata.get("annotations"),
            origin=objects.Origin(self.run.source.file, at),
            **body,
        )

    def add_workload(
        self, spec: Mapping[str, Any], *, sizing: Sizing, annotations: Mapping[str, str] | None = None
    ) -> None:
        """Add the object that Kueue queues."""
        facts, job = self.workload, self.run.job
        labels = {QUEUE: job.queue}
        if job.priority is not None:
            labels[PRIORITY] = job.priority
        if sizing.deadline is not None:
            labels[MAX_TIME] = str(sizing.deadline.value + AFTER_DEADLINE)
        notes = {**facts.annotations, **(annotations or {})}
        self.add(facts.api_version, facts.kind, labels=labels, annotations=notes, spec=spec)

    def add_files(self) -> None:
        """Add the ConfigMap of the job's small files, if it has any."""
        data = storage.config_map(self.run)
        if data:
            self.add("v1", "ConfigMap", at=("files",), immutable=True, data=data)

    def pod(self, sizing: Sizing, role: Role, *, subdomain: str | None = None) -> dict[str, Any]:
        """Return a role's pod template, patched."""
        env = {name: sized.value for name, sized in role.env.items()}
        process = Process(role.command, role.args, env, role.fields, self.workload.injected)
        template = pods.template(self.run, sizing, role.size, process, container=self.container, subdomain=subdomain)
        return self.patched("Pod", role.name, template)

    def patched(self, kind: str, role: str | None, body: dict[str, Any]) -> dict[str, Any]:
        """Return an object, or a part of one, with the job's patches for it."""
        for patch in self.run.job.patches:
            if patch.object == kind and patch.role in {None, role}:
                body = merge(body, patch.merge)
        return body
