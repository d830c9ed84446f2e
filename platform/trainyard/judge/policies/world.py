"""What policies look at: all objects of one cluster and, where it is known, the cluster's declared inventory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from trainyard.base.documents import Path
from trainyard.base.labels import NETWORKS, QUEUE, RUN, networks
from trainyard.base.manifests import Identity, Manifest, strings, value_at
from trainyard.base.pools import Selectors
from trainyard.base.quantities import Quantity
from trainyard.judge.policies.amounts import Need, needs
from trainyard.judge.policies.mounted import mounted_texts
from trainyard.judge.policies.places import Amount, Place, Variable, variables_of
from trainyard.upstream.workloads import (
    ANY,
    Carrier,
    carrier,
    carriers,
    held_in,
    kubernetes,
    runtime_of,
    written_object,
)
from trainyard.upstream.workloads.brought import brought
from trainyard.upstream.workloads.runtimes import CLUSTER_WIDE

if TYPE_CHECKING:
    from trainyard.specs import Cluster

T = TypeVar("T")

Maps = Callable[[str, str], Mapping[str, str]]
"""The texts of a ConfigMap by key, given its namespace and its name."""


def no_maps(_namespace: str, _name: str) -> Mapping[str, str]:
    """Return nothing, where no objects are at hand beside a job."""
    return {}


@dataclass(frozen=True)
class Pods:
    """Equal pods of a training job."""

    manifest: Manifest
    name: str
    count: int
    template: Path
    maps: Maps = field(default=no_maps, compare=False, repr=False)
    """The texts of a ConfigMap of its namespace, by key."""
    counted: bool = True
    """Whether Kueue counts them: others of the object run beside its quota."""

    @cached_property
    def spec(self) -> Mapping[str, Any]:
        """The pod spec; empty where it is missing or malformed."""
        found = self.manifest.get(*self.template, "spec")
        return found if isinstance(found, Mapping) else {}

    @cached_property
    def annotations(self) -> Mapping[str, str]:
        """Annotations of the template whose values are strings."""
        return strings(self.manifest.get(*self.template, "metadata", "annotations"))

    @cached_property
    def needs(self) -> Mapping[str, Need]:
        """By resource, what one pod asks for, as Kueue and the scheduler count it."""
        return needs(self.manifest, self.template)

    def containers(self, *, init: bool = True) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Yield path and value of every container, init containers first."""
        return iter(self.once(_containers, init))

    def limits(self, *, init: bool = True) -> Iterator[Amount]:
        """Yield the most that containers may use, resource by resource, as far as it is a quantity."""
        return iter(self.once(_amounts, "limits", init))

    def requests(self, *, init: bool = True) -> Iterator[Amount]:
        """Yield the requests of containers as written: a limit alone is also the request."""
        return iter(self.once(_amounts, "requests", init))

    def variables(self, *, init: bool = True) -> Iterator[Variable]:
        """Yield the environment of every container, as far as the manifest writes it."""
        return iter(self.once(_variables, init))

    def files(self, container: Path) -> Mapping[str, str]:
        """Return the texts of ConfigMaps that a container mounts, by the path of each file."""
        return dict(self.once(mounted_texts, container))

    def networks(self) -> list[tuple[str, str]]:
        """Return the secondary networks that the pods name, each as namespace and name, in order."""
        return list(networks(self.annotations.get(NETWORKS, ""), self.manifest.namespace or "default"))

    def place(self, *path: str | int) -> Place:
        """Return a place inside the template."""
        return Place(self.manifest, (*self.template, *path))

    def once(self, walk: Callable[..., Iterable[T]], *given: str | bool | Path) -> tuple[T, ...]:
        """Return the remembered results of a walk over the pods: dozens of policies ask for the same."""
        found = self._walked.get((walk, *given))
        if found is None:
            found = self._walked[walk, *given] = tuple(walk(self, *given))
        return found

    @cached_property
    def _walked(self) -> dict[tuple[object, ...], tuple[Any, ...]]:
        return {}


def _containers(pods: Pods, init: bool) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for part in ("initContainers", "containers") if init else ("containers",):
        yield from pods.manifest.at(*pods.template, "spec", part, ANY, of=dict)


def _variables(pods: Pods, init: bool) -> Iterator[Variable]:
    if not init:
        staying = {container for container, _ in pods.containers(init=False)}
        yield from (variable for variable in pods.variables() if variable.container in staying)
        return
    for container, _ in pods.containers():
        yield from variables_of(pods.manifest, container)


def _amounts(pods: Pods, kind: str, init: bool) -> Iterator[Amount]:
    if not init:
        staying = {container for container, _ in pods.containers(init=False)}
        yield from (amount for amount in pods.once(_amounts, kind, True) if amount.place.path[:-3] in staying)
        return
    for container, value in pods.containers():
        amounts = value_at(value, ("resources", kind))
        for resource, said in amounts.items() if isinstance(amounts, dict) else ():
            try:
                quantity = Quantity.parse(said)
            except ValueError:
                continue
            yield Amount(Place(pods.manifest, (*container, "resources", kind, resource)), resource, quantity)


@dataclass(frozen=True)
class TrainingJob:
    """An object of a kind that carries training."""

    manifest: Manifest
    carrier: Carrier
    pods_in: Manifest | None
    """Where its pods are written: in the object itself, or in its runtime as it changes it, where that is known."""
    maps: Maps = field(default=no_maps, compare=False, repr=False)
    """The texts of a ConfigMap, by key."""

    @property
    def name(self) -> str:
        """The object's name."""
        return self.manifest.name

    @property
    def namespace(self) -> str:
        """The object's namespace; `default` where none is written, as the API server reads it."""
        return self.manifest.namespace or "default"

    @cached_property
    def queue_name(self) -> str | None:
        """Value of the queue label, or None where the job is not queued; what holds the job waits in its stead."""
        return self._waits.labels.get(QUEUE)

    @cached_property
    def _waits(self) -> Manifest:
        """What Kueue queues: the object that a person writes, but each Job that a CronJob makes."""
        return self.manifest if self.is_scheduled else self.manifest.outer

    @property
    def is_scheduled(self) -> bool:
        """Whether a CronJob makes it, so that its name is not known."""
        return self.manifest.holder is not None and self.manifest.holder.kind == "CronJob"

    def label(self, key: str) -> Place:
        """Return the place of a label's value, by which Kueue queues the job or what holds it."""
        return Place(self._waits, ("metadata", "labels", key))

    def place(self, *path: str | int) -> Place:
        """Return a place in the object."""
        return Place(self.manifest, path)

    def pod_sets(self) -> tuple[Pods, ...]:
        """Return the pod sets, as Kueue counts them."""
        return self._pods

    @cached_property
    def _pods(self) -> tuple[Pods, ...]:
        holder, runtime = self.pods_in, runtime_of(self.manifest.value)
        row = self.carrier if runtime is None else carrier(runtime.group, runtime.kind)
        if holder is None or row is None:
            return ()
        found = row.pod_sets(holder.value)
        return tuple(
            Pods(holder, pod_set.name, pod_set.count, pod_set.template, self.maps, pod_set.counted) for pod_set in found
        )

    def containers(self) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Yield path and value of the object's own containers, and of what a TrainJob says of its runtime's trainer."""
        for pods in self.pod_sets() if self.pods_in is self.manifest else ():
            yield from pods.containers()
        yield from self.manifest.at("spec", "trainer", of=dict)

    def variables(self) -> Iterator[Variable]:
        """Yield the environment of all of these, as far as the manifest writes it."""
        for pods in self.pod_sets() if self.pods_in is self.manifest else ():
            yield from pods.variables()
        for container, _ in self.manifest.at("spec", "trainer", of=dict):
            yield from variables_of(self.manifest, container)


@dataclass(frozen=True)
class World:
    """All objects of one cluster, and its inventory where that is known."""

    manifests: tuple[Manifest, ...]
    inventory: Cluster | None = None
    complete: bool = True
    """Whether the objects are all that the cluster has: else what is not among them may be there all the same."""

    @cached_property
    def selectors(self) -> Selectors:
        """The labels that select the nodes of each pool of the inventory, by its name."""
        return self.inventory.selectors if self.inventory else {}

    @cached_property
    def _by_kind(self) -> Mapping[str, list[Manifest]]:
        found: dict[str, list[Manifest]] = defaultdict(list)
        for manifest in self.manifests:
            for item in (manifest, *held_in(manifest)):
                found[item.kind].append(item)
        return found

    def of(self, kind: str, *, namespace: str | None = None, group: str | None = None) -> list[Manifest]:
        """Return the objects of a kind, of one namespace and API group where given.

        Objects that others hold, as an AppWrapper holds a JobSet, are among them.
        """
        return [
            manifest
            for manifest in self._by_kind.get(kind, [])
            if (namespace is None or (manifest.namespace or "default") == namespace)
            and (group is None or manifest.group == group)
        ]

    def texts(self, namespace: str, name: str) -> Mapping[str, str]:
        """Return the texts of a ConfigMap by key; none where it is not among the objects."""
        return self._texts.get((namespace, name), {})

    @cached_property
    def _texts(self) -> Mapping[tuple[str, str], Mapping[str, str]]:
        maps = self.of("ConfigMap", group="")
        return {(found.namespace or "default", found.name): strings(found.get("data")) for found in maps}

    @cached_property
    def _jobs(self) -> tuple[TrainingJob, ...]:
        return tuple(
            TrainingJob(manifest, row, self._written(manifest), self.texts)
            for row in carriers().values()
            if row.trains and row.embeds is None
            for manifest in self.of(row.kind, group=row.group)
        )

    def _written(self, manifest: Manifest) -> Manifest | None:
        """Return where an object's pods are written; what it makes of a runtime counts as written in itself.

        On a cluster that nobody describes, Trainer's own runtimes may be there by their names.
        """
        identity = runtime_of(manifest.value)
        if identity is None:
            return manifest
        runtime = self._find(identity)
        if runtime is None and self.inventory is None and identity.kind == CLUSTER_WIDE:
            known = brought().get(identity.name)
            changed = written_object(manifest.value, lambda _: known)
            return replace(manifest, value={**manifest.value, "spec": changed["spec"]}) if changed else None
        value = written_object(manifest.value, lambda _: runtime.value if runtime is not None else None)
        if runtime is None or value is None or (value is runtime.value and identity.namespace):
            return runtime
        own = {**manifest.value, **{key: part for key, part in value.items() if key == "spec"}}
        return replace(manifest, value=own)

    def _find(self, identity: Identity) -> Manifest | None:
        namespace = identity.namespace or None
        found = self.of(identity.kind, namespace=namespace, group=identity.group)
        return next((manifest for manifest in found if manifest.name == identity.name), None)

    def training_jobs(self) -> tuple[TrainingJob, ...]:
        """Return every object of a kind that carries training; of what holds such objects, these."""
        return self._jobs

    def scheduled(self) -> tuple[TrainingJob, ...]:
        """Return the Jobs that CronJobs make, under the names of these."""
        return self._scheduled

    @cached_property
    def _scheduled(self) -> tuple[TrainingJob, ...]:
        made = (made_job(manifest) for manifest in self.of("CronJob", group="batch"))
        row = carrier("batch", "Job")
        return tuple(TrainingJob(job, row, job, self.texts) for job in made if job is not None and row is not None)

    def all_jobs(self) -> tuple[TrainingJob, ...]:
        """Return every training job, and the Jobs that CronJobs make."""
        return (*self._jobs, *self._scheduled)

    def queued(self) -> tuple[TrainingJob, ...]:
        """Return every object that may wait in a queue: training jobs, and what holds other objects in their place.

        Jobs that CronJobs make are among them, and plain pods.
        """
        holders = (row for row in carriers().values() if row.embeds is not None)
        held = (
            TrainingJob(manifest, row, manifest, self.texts)
            for row in holders
            for manifest in self.of(row.kind, group=row.group)
        )
        pods = (job for job in self._workloads if job.carrier.kind == "Pod")
        return (*(job for job in (*self._jobs, *pods) if job.manifest.holder is None), *held, *self._scheduled)

    def workloads(self) -> tuple[TrainingJob, ...]:
        """Return the training jobs, what makes such jobs or is their template, and plain pods.

        Pods that are written in a runtime are the runtime's here, so that nothing is looked at twice.
        """
        return self._workloads

    @cached_property
    def _workloads(self) -> tuple[TrainingJob, ...]:
        makers = (row for row in carriers().values() if row.makes or (row.group, row.kind) == ("", "Pod"))
        made = [
            TrainingJob(manifest, row, manifest, self.texts)
            for row in makers
            for manifest in self.of(row.kind, group=row.group)
        ]
        apart = {id(training_job.manifest) for training_job in made}
        jobs = (replace(job, pods_in=None) if id(job.pods_in) in apart else job for job in self._jobs)
        return (*jobs, *made)

    @cached_property
    def synced(self) -> bool:
        """Whether Argo CD applies the objects from Git: one of our clusters, or Applications among the objects."""
        return self.inventory is not None or bool(self.of("Application", group="argoproj.io"))

    def renders(self, job: TrainingJob) -> bool:
        """Whether a job is a run of the described cluster: the preflight judges it by what its file says."""
        return self.inventory is not None and RUN in job.manifest.outer.labels


def made_job(manifest: Manifest) -> Manifest | None:
    """Return the Job that a CronJob makes, None where its template is malformed."""
    template = manifest.get("spec", "jobTemplate")
    if not isinstance(template, Mapping) or not isinstance(template.get("spec"), dict):
        return None
    return manifest.inside(("spec", "jobTemplate"), kubernetes.made_job(manifest.value))
