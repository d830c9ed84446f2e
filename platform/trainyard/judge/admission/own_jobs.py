"""Jobs among the objects of one's own, `platform/extra/<cluster>/**/*.yaml`: each must fit on the empty cluster.

Nothing renders them, so no field of a job file was checked: only Kueue and the machines can tell that one never starts.
Jobs without a queue are left to `kq-unqueued`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from trainyard.base.errors import SpecError
from trainyard.base.findings import Finding, Location
from trainyard.base.labels import QUEUE
from trainyard.base.manifests import expand, mapping
from trainyard.base.system.data import schemas_dir
from trainyard.base.system.unforeseen import UNFORESEEN, judge_safely
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.sources import ExtraFile, Specs
from trainyard.specs.tracked import on
from trainyard.upstream.kueue.requests.jobs.groups import group_of
from trainyard.upstream.workloads import carrier_of
from trainyard.upstream.workloads.kubernetes import is_pod, made_job

if TYPE_CHECKING:
    from trainyard.judge.admission.cluster_jobs import Crowd
    from trainyard.judge.admission.job_workloads import Bid

Object = dict[str, Any]

NO_FLAVOR = "no flavor of its queue matches its pods"

LABEL = ("metadata", "labels", QUEUE)

REFUSED = "TopologyAffinityError"

ALIGNED = "request CPUs and memory on the NUMA nodes of the GPUs, as `trainyard explain` shows for jobs of this pool"

MALFORMED = (ArithmeticError, AttributeError, KeyError, TypeError, ValueError)
"""What reading an object raises that no API server takes; one that it takes is a fault of Trainyard."""

NOT_MADE = "Kueue creates no Workload for it"
"""How a reason begins for which a job waits without a Workload (`job_workloads.bid`)."""


def findings(
    specs: Specs, names: Iterable[str], told: Iterable[Finding] = (), without: Collection[str] = ()
) -> Iterator[Finding]:
    """Yield a finding at each job of these clusters that gets no quota or no nodes even alone.

    None is yielded for a file that has an error in `told`, or that is among those `without` which nobody can read.
    """
    wrong = {(finding.spec or finding.location).file for finding in told if finding.is_error}
    for name in names:
        files = [file for file in on(specs.extra, name) if queued(file)]
        left = [file for file in files if file.source.file not in wrong and file.source.file not in without]
        if left:
            yield from of_cluster(specs, name, left)


def queued(file: ExtraFile) -> bool:
    """Say whether a file holds one whole job that names a queue: a pod is one, too, and what a CronJob makes."""
    value = job_of(file)
    if not isinstance(value, dict) or not isinstance(value.get("spec"), dict):
        return False
    row = carrier_of(value) if isinstance(value.get("kind"), str) else None
    metadata = mapping(value.get("metadata"))
    named = isinstance(metadata.get("name"), str) and isinstance(mapping(metadata.get("labels")).get(QUEUE), str)
    return named and row is not None and (row.trains or is_pod(value)) and bool(row.framework)


def job_of(file: ExtraFile) -> Any:
    """Return the object of a file that Kueue queues, and of a CronJob the Job that it makes, under its own name."""
    value = file.source.document.value if file.source.document else None
    if not isinstance(value, dict) or not is_scheduled(value):
        return value
    return made_job(value)


def is_scheduled(value: Any) -> bool:
    """Say whether an object is a CronJob."""
    return isinstance(value, dict) and value.get("kind") == "CronJob" and value.get("apiVersion") == "batch/v1"


def heads(cluster: Cluster, files: Iterable[ExtraFile]) -> Iterator[ExtraFile]:
    """Yield files without those of pods whose group has another pod before them: Kueue queues a group once."""
    seen: set[str] = set()
    for file in files:
        value = with_namespace(job_of(file), cluster, file.folder)
        group = f"{value['metadata']['namespace']}/{group_of(value)}" if group_of(value) else ""
        if not group or group not in seen:
            yield file
        seen.add(group)


def of_cluster(specs: Specs, name: str, files: Iterable[ExtraFile]) -> Iterator[Finding]:
    """Yield the findings at jobs of one cluster, none where it has no queues or cannot be rendered."""
    from trainyard.judge.admission.before import Queue  # Kueue and the machines, for which most checks need not wait
    from trainyard.judge.admission.cluster_jobs import Crowd
    from trainyard.judge.admission.job_workloads import bid
    from trainyard.judge.admission.site import admits, site
    from trainyard.render.clusters import of_team

    if not admits(specs.clusters[name], "kueue"):
        return
    try:
        where = site(specs, name)
    except SpecError:
        return
    crowd, every, cluster = Crowd.of(where, Queue(())), list(files), specs.clusters[name]
    pods = [value for file in every if is_pod(value := with_namespace(job_of(file), cluster, file.folder))]
    for file in heads(cluster, every):
        value = with_namespace(job_of(file), cluster, file.folder)
        others = [pod for pod in pods if group_of(pod) and pod["metadata"]["name"] != value["metadata"]["name"]]
        try:
            beside = [*where.classes, *of_team(specs, name, file.folder.removeprefix("teams/")), *others]
            yield from list(judged(file, bid(name_of(value), [value], beside, where), crowd))
        except MALFORMED as error:
            if not is_refused(specs, name, file):
                yield judge_safely(partial(again, error), partial(unforeseen, file))


def again(error: Exception) -> Finding:
    """Raise an error once more, for whoever wants to see where it came from."""
    raise error


def unforeseen(file: ExtraFile, why: str) -> Finding:
    """Return the finding at a job that stops Trainyard, though the API server takes it."""
    return UNFORESEEN.at(file.source, (), f"Trainyard cannot check this job: {why}")


def is_refused(specs: Specs, name: str, file: ExtraFile) -> bool:
    """Say whether the cluster's API server refuses an object: then its own layers say what is wrong with it."""
    from trainyard.judge.preflight.cluster.served import served_catalog
    from trainyard.upstream.apiserver import Judge  # which takes long to import, for objects that nobody could read

    kinds, _ = served_catalog(specs.clusters[name], schemas_dir(), lambda _: Location(""))
    judge = Judge(kinds)
    objects, odd = expand([file.source.document] if file.source.document else [])
    return bool(odd) or any(finding.is_error for one in objects for finding in judge.judge(one).findings)


def name_of(value: Object) -> str:
    """Return the namespace and the name of an object."""
    return f"{value['metadata']['namespace']}/{value['metadata']['name']}"


def with_namespace(value: Any, cluster: Cluster, folder: str) -> Object:
    """Return an object with the namespace that it gets where it is applied: in a team's folder, the team's."""
    metadata: Mapping[str, Any] = value["metadata"]
    space = metadata.get("namespace") or cluster.namespace_of(folder.removeprefix("teams/"))
    return {**value, "metadata": {**metadata, "namespace": space}}


def judged(file: ExtraFile, asked: Bid, crowd: Crowd) -> Iterator[Finding]:
    """Yield why a job never starts, first for want of quota, then for want of nodes."""
    from trainyard.judge.admission import placed, reasons
    from trainyard.judge.admission.inactive_queues import closed_queue
    from trainyard.judge.admission.outcomes import has_pods, holds

    if asked.why.startswith(NOT_MADE) and not is_left(asked.why):
        yield never(file, "kueue", asked.why.replace(" for it", "", 1))
    if asked.why:
        return
    found = crowd.alone(asked)
    if "error" in found.answer or closed_queue(found.answer, found.said):
        return
    if not all(map(holds, found.said)):
        first = crowd.first(asked)
        why = reasons.kueue_reason(found.said) or (first and reasons.kueue_reason(first)) or NO_FLAVOR
        yield never(file, "kueue", why)
    elif all(map(has_pods, found.said)) and (lack := placed.empty_cluster_lack(crowd.empty.alone(asked, found.said))):
        yield never(file, "machines", lack)


def is_left(why: str) -> bool:
    """Say whether it is for `kq-podgroup` to say what a group of pods lacks."""
    return "group has fewer runnable pods" in why or "pod-group-total-count" in why


def never(file: ExtraFile, by: Any, why: str) -> Finding:
    """Return the finding at a job that never starts."""
    from trainyard.judge.admission.rules import BY

    fix = ALIGNED if REFUSED in why else None
    scheduled = is_scheduled(file.source.document.value if file.source.document else None)
    at = ("spec", "jobTemplate", *LABEL) if scheduled else LABEL
    return BY[by].at(file.source, at, f"job never fits: {why}", fix=fix)
