"""Which field of a job, or of a patch, a field of a rendered object comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.labels import POOL
from trainyard.judge.policies.devices import is_gpu
from trainyard.judge.policies.places import Place
from trainyard.specs import Job
from trainyard.upstream.pods.resources import CPU, EPHEMERAL_STORAGE, MEMORY

CONTAINERS = ("initContainers", "containers")
TOPOLOGY = "kueue.x-k8s.io/podset-"


def in_fields(place: Place, job: Job) -> Path:
    """Return the job's field that is rendered at a place, empty where it is none that says so plainly."""
    path = place.path
    own = of_container(place, job) or of_volume(place, job) or of_size(place, job)
    if own:
        return own
    last = place.manifest.get(*path)
    if "env" in path:
        name = place.manifest.text(*path[: path.index("env") + 2], "name")
        return next(((field, name) for field in ("env", "secrets") if name in getattr(job, field)), ())
    if isinstance(last, str) and path and isinstance(path[-1], int) and last in job.args:
        return ("args", job.args.index(last))
    if isinstance(last, str) and path and isinstance(path[-1], int) and last in (job.command or ()):
        return ("command", (job.command or ()).index(last))
    if isinstance(last, str) and "nnodes" in last and job.min_nodes is not None:
        return ("minNodes",)
    if "nodeSelector" in path or "affinity" in path or POOL in path:
        return ("pool",)
    if any(isinstance(part, str) and part.startswith(TOPOLOGY) for part in path):
        return ("topology",)
    written = ((field, part) for field in ("labels", "annotations") for part in path if part in getattr(job, field))
    return next(written, ()) or said_by(path, job)


OF_PODS = {
    "terminationGracePeriodSeconds": ("grace_seconds", "graceSeconds"),
    "runAsUser": ("run_as_user", "runAsUser"),
    "serviceAccountName": ("service_account", "serviceAccount"),
    "imagePullSecrets": ("image_pull_secrets", "imagePullSecrets"),
    "envFrom": ("env_from", "envFrom"),
    "image": ("image", "image"),
}
"""Fields of pods and containers that a job says in one of its own, each by its names in Python and in YAML."""


def said_by(path: Path, job: Job) -> Path:
    """Return the job's field of a pod's field at a path, empty where it says none."""
    for part in reversed(path):
        field, alias = OF_PODS.get(str(part), ("", ""))
        if field and getattr(job, field):
            return (alias,)
    return ()


def of_container(place: Place, job: Job) -> Path:
    """Return the same place in one of the job's own containers, which are rendered as they are written."""
    for index, part in enumerate(place.path):
        if part in CONTAINERS and index + 1 < len(place.path):
            name = place.manifest.text(*place.path[: index + 2], "name")
            for field, listed in (("initContainers", job.init_containers), ("containers", job.containers)):
                for number, container in enumerate(listed):
                    if container.get("name") == name:
                        return (field, number, *place.path[index + 2 :])
    return ()


def of_volume(place: Place, job: Job) -> Path:
    """Return the same place in one of the job's own volumes."""
    for index, part in enumerate(place.path[:-1]):
        if part == "volumes":
            name = place.manifest.text(*place.path[: index + 2], "name")
            for number, volume in enumerate(job.volumes):
                if volume.get("name") == name:
                    return ("volumes", number, *place.path[index + 2 :])
    return ()


SIZES = {CPU: "cpusPerNode", MEMORY: "memoryPerNode", EPHEMERAL_STORAGE: "scratch"}
"""The field that says how much of a resource a pod gets."""


def of_size(place: Place, job: Job) -> Path:
    """Return the field of the job, or of one of its roles, that says how much a container has of a resource."""
    if place.path[-3:-1] not in (("resources", "limits"), ("resources", "requests")):
        return ()
    resource = str(place.path[-1])
    field = "gpusPerNode" if is_gpu(resource) else SIZES.get(resource)
    way = {step.lower().removesuffix("groupspec") for step in steps(place)}
    role = next((name for name in job.roles if name in way), None)
    said = job.roles[role] if role is not None else job
    written = {str(type(said).model_fields[name].alias) for name in said.model_fields_set}
    if field is None or field not in written:
        return ()
    return (field,) if role is None else ("roles", role, field)


def in_merge(place: Place, merge: Mapping[str, Any]) -> Path:
    """Return the path in a patch's merge that says most of a place: of items of lists, those of the same name."""
    keys = [key for key in steps(place) if key]
    best: tuple[int, Path] = (0, ())
    for path, said in nodes(merge):
        shared = common(keys, said)
        if shared > best[0]:
            best = shared, path
    return best[1]


def steps(place: Place) -> Iterator[str]:
    """Yield the keys on the way to a place; an item of a list is known by its name."""
    for end, part in enumerate(place.path, 1):
        if isinstance(part, int):
            item = place.manifest.get(*place.path[:end])
            yield item if isinstance(item, str) else place.manifest.text(*place.path[:end], "name")
        else:
            yield part


def nodes(value: Any, path: Path = (), said: tuple[str, ...] = ()) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield every path in a merge, shallow ones first, with the keys on the way to it."""
    if path:
        yield path, said
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from nodes(item, (*path, key), (*said, key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            name = item.get("name", "") if isinstance(item, Mapping) else item
            yield from nodes(item, (*path, index), (*said, name if isinstance(name, str) else ""))


def common(keys: list[str], said: tuple[str, ...]) -> int:
    """Return how many keys a way in the merge and the way to the place have in common, if the merge goes no other way.

    A merge begins inside the object: at a pod's template, say.
    """
    ways = [key for key in said if key]
    for start in range(len(keys)):
        if keys[start : start + len(ways)] == ways:
            return len(ways)
    return 0
