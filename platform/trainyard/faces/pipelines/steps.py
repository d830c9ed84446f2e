"""Runs of jobs as steps of a pipeline: what each makes, watches and waits for, as values."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trainyard.base.errors import SpecError
from trainyard.base.labels import SYNC_OPTIONS, SYNC_WAVE
from trainyard.faces.pipelines import follow
from trainyard.render.kinds import Resolved, build
from trainyard.render.parts.objects import Resource
from trainyard.specs.order import JobName, after_of

PROGRAM = inspect.getsource(follow)
"""What every step runs, with Python's own library alone."""

OF_ARGO_CD = frozenset({SYNC_OPTIONS, SYNC_WAVE})
"""Annotations that mean nothing where Argo CD does not apply the object."""


@dataclass(frozen=True, slots=True)
class Step:
    """One job as a step: its name, the steps before it, and the argument of its program."""

    job: JobName
    after: tuple[JobName, ...]
    plan: str
    """JSON: the run's name, its objects, and how the first of them says that it has ended."""

    @property
    def name(self) -> str:
        """As people call the job."""
        return "/".join(self.job)


def steps(runs: Sequence[Resolved]) -> Iterator[Step]:
    """Yield a step for each run, in the order of the runs."""
    there = {(run.run.team_name, run.run.job_name) for run in runs}
    for run in runs:
        job = run.run.team_name, run.run.job_name
        before = tuple(item for item in after_of(run.run.team_name, run.run.job) if item in there)
        yield Step(job, before, text(plan(run)))


def plan(run: Resolved) -> dict[str, Any]:
    """Return the input of a step's program for a run; raises SpecError for a kind that never ends."""
    carrier = run.kind.carrier
    if carrier.ending is None:
        raise SpecError(f"kind {run.kind.name!r} never finishes, so no step can wait for it; choose another kind")
    made = list(build(run))
    made.sort(key=lambda item: (item.api_version, item.kind) != (run.kind.api_version, run.kind.object_kind))
    return {
        "name": run.run.name,
        "objects": [{"object": without_argo_cd(resource.value()), "path": path(resource, run)} for resource in made],
        "ending": asdict(carrier.ending),
        "suspend": list(carrier.suspend or ()),
    }


def without_argo_cd(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object without what tells Argo CD how to apply it."""
    metadata = dict(value["metadata"])
    notes = {key: text for key, text in (metadata.pop("annotations", None) or {}).items() if key not in OF_ARGO_CD}
    return {**value, "metadata": {**metadata, **({"annotations": notes} if notes else {})}}


def path(resource: Resource, run: Resolved) -> str:
    """Return where the API server takes objects of a kind; all kinds that a run consists of end in s."""
    group, _, version = resource.api_version.rpartition("/")
    root = f"/apis/{group}/{version}" if group else f"/api/{version}"
    return f"{root}/namespaces/{run.run.namespace}/{resource.kind.lower()}s"


def text(plan: Mapping[str, Any]) -> str:
    """Return JSON in which nobody on the way to the program finds something to replace.

    Kubernetes expands `$(NAME)` in arguments, Kubeflow Pipelines and Argo Workflows `{{…}}`.
    """
    written = json.dumps(plan, separators=(",", ":"), ensure_ascii=False)
    return written.replace("$", "\\u0024").replace("{{", "\\u007b\\u007b")
