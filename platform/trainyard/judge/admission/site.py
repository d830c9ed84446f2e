"""What Kueue knows of a cluster, made of the specs: queues, flavors, topologies, nodes, and how it is configured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from trainyard.base.errors import SpecError
from trainyard.base.labels import HOSTNAME, NAMESPACE
from trainyard.base.manifests import identity_of
from trainyard.base.pools import pools_with
from trainyard.base.quantities import Quantity
from trainyard.base.versions import order
from trainyard.judge.admission.coming_nodes import with_nodes
from trainyard.judge.admission.inventory import nodes
from trainyard.render.clusters import of_files, platform, team
from trainyard.render.operators.kueue import Kueue, configuration, gates, kueue_integrations
from trainyard.render.operators.volcano import OVERRIDE, Volcano
from trainyard.render.parts.objects import Resource
from trainyard.specs import Cluster, Scheduler
from trainyard.specs.releases.facts import lookup
from trainyard.specs.sources import Specs
from trainyard.upstream.kubelet.predicates import amount_of
from trainyard.upstream.kueue.model.gates import RELEASE, Gates

if TYPE_CHECKING:
    from trainyard.upstream.kueue.replay import Prepared

KUEUE = "kueue.x-k8s.io"

READ = frozenset({"DeviceClass", "LimitRange", "Namespace", "PriorityClass", "ResourceClaimTemplate", "RuntimeClass"})
"""Kinds of Kubernetes' own that Kueue reads beside its own."""

OWN = frozenset(
    {
        *("AdmissionCheck", "ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "Topology"),
        "WorkloadPriorityClass",
    }
)
"""Kinds of Kueue's own by which it decides."""

RUNTIMES = frozenset({"ClusterTrainingRuntime", "TrainingRuntime"})
"""Kinds that TrainJobs take their pods from."""

OF_VOLCANO = "scheduling.volcano.sh"
"""The group of Volcano's queues, which are of kind Queue."""

QUEUES = frozenset({"ClusterQueue", "LocalQueue"})

CLASSES = frozenset({"PriorityClass", "WorkloadPriorityClass"})

Object = Mapping[str, Any]


@dataclass(frozen=True)
class Site:
    """One cluster without any run: Kueue's configuration, and the objects that it reads."""

    name: str
    cluster: Cluster
    config: Object
    objects: Sequence[Object]

    @property
    def release(self) -> str:
        """The release of its Kueue; without one, the release that is restated."""
        choice = self.cluster.operators.get(Kueue.name)
        return choice.version if choice and order(choice.version) else RELEASE

    @property
    def gates(self) -> Gates:
        """The feature gates of its Kueue."""
        return Gates(self.config.get("featureGates"), self.release)

    @cached_property
    def integrated(self) -> frozenset[str]:
        """The kinds of jobs that its Kueue looks at, by the names of their integrations."""
        return kueue_integrations(self.cluster)

    @property
    def volcano(self) -> str:
        """Why it is not known what its Volcano does; empty where it is."""
        values = self.cluster.operators[Volcano.name].values if Volcano.name in self.cluster.operators else {}
        if lookup(values, OVERRIDE) is None:
            return ""
        return f"its Volcano has a custom configuration ({OVERRIDE}), which is not simulated"

    def varied(self, workload: Object) -> str:
        """Return the queue of a Workload that Kueue admits in one of several variants; empty where it has none."""
        if not self.gates["ConcurrentAdmission"]:
            return ""
        mine = workload["metadata"]["namespace"], workload["spec"].get("queueName")
        local = next((obj for obj in self.objects if obj["kind"] == "LocalQueue" and key_of(obj) == mine), None)
        name = local["spec"]["clusterQueue"] if local else ""
        spec = self.of("ClusterQueue").get(name, {}).get("spec") or {}
        return str(name) if spec.get("concurrentAdmissionPolicy") else ""

    @cached_property
    def opened(self) -> Site | None:
        """The cluster with all its queues open, None where none is held."""
        if not any(is_held(obj) for obj in self.objects):
            return None
        return replace(self, objects=[open_queue(obj) if is_held(obj) else obj for obj in self.objects])

    @property
    def case(self) -> dict[str, object]:
        """A case about the cluster, without objects."""
        return {"name": self.name, "mode": "rest", "release": self.release, "config": self.config}

    @cached_property
    def prepared(self) -> Prepared:
        """Its Kueue, with queues, flavors and topologies, and no Workload."""
        from trainyard.upstream.kueue.replay import Prepared  # which is not asked where all is remembered

        return Prepared({**self.case, "objects": self.objects})

    @cached_property
    def classes(self) -> list[Object]:
        """What Workloads are made with, beside the objects of their run: classes of priority, runtimes."""
        return [obj for obj in self.objects if obj["kind"] in CLASSES | RUNTIMES]

    def decided(self, workloads: Sequence[Object], *beside: Object, briefly: bool = True) -> dict[str, Any]:
        """Return Kueue's decision on these Workloads, in this order, if nothing else changes.

        Briefly it tells of the queues of these Workloads alone.
        """
        return self.prepared.decided([*beside, *workloads], briefly=briefly)

    def nominated(self, workloads: Sequence[Object], *beside: Object) -> dict[str, Any]:
        """Return Kueue's first nomination of each of these Workloads."""
        return self.prepared.decided([*beside, *workloads], briefly=True, mode="nominate")

    def answered(self, case: Object) -> dict[str, Any]:
        """Return Kueue's answer to `workloads`, in the `mode` of a case; `beside` them objects, some are `admitted`."""
        from trainyard.upstream.kueue.replay import replay  # which is not asked where all is remembered

        objects = [*self.objects, *case.get("beside", ()), *case["workloads"]]
        rest = {name: value for name, value in case.items() if name in {"mode", "admitted"}}
        return replay({**self.case, "objects": objects, **rest})

    @property
    def nodes(self) -> Mapping[str, Object]:
        """Its nodes by name."""
        return self.of("Node")

    @cached_property
    def offered(self) -> Mapping[str, int]:
        """What all its nodes offer together, as a scheduler counts it."""
        found = Counter[str]()
        for node in self.nodes.values():
            found.update(amounts(node["status"]["allocatable"]))
        return found

    @property
    def flavors(self) -> Mapping[str, Object]:
        """Its flavors by name."""
        return self.of("ResourceFlavor")

    def around(self, namespace: str) -> Mapping[str, str]:
        """Return the labels of a namespace, with the one that the API server gives it."""
        there = self.of("Namespace").get(namespace, {})
        return {**(there.get("metadata", {}).get("labels") or {}), NAMESPACE: namespace}

    def pool_of(self, host: str) -> str:
        """Return the pool of a node."""
        return self._pools[host]

    @cached_property
    def _pools(self) -> Mapping[str, str]:
        selectors = self.cluster.selectors
        found = {name: pools_with(node["metadata"]["labels"], selectors) for name, node in self.nodes.items()}
        return {name: pools[0] for name, pools in found.items() if pools}

    @cached_property
    def kinds(self) -> dict[str, dict[str, Object]]:
        """Its objects by kind and name."""
        found: dict[str, dict[str, Object]] = {}
        for obj in self.objects:
            found.setdefault(obj["kind"], {})[obj["metadata"]["name"]] = obj
        return found

    def of(self, kind: str) -> Mapping[str, Object]:
        """Return the objects of a kind by name."""
        return self.kinds.get(kind, {})

    def above(self, host: str) -> str:
        """Return the place that a host stands in by the lowest level of the topology that is no host, or nothing."""
        labels = self.nodes[host]["metadata"]["labels"]
        levels = [label for label in self.cluster.levels_of(self.pool_of(host)).values() if label != HOSTNAME]
        return labels[levels[-1]] if levels else ""


def amounts(resources: Object) -> dict[str, int]:
    """Return amounts as a scheduler counts them: thousandths of CPUs, bytes or pieces."""
    found = {name: Quantity.parse(str(text)) for name, text in resources.items()}
    return {name: amount_of(found, name) for name in found}


def admits(cluster: Cluster, by: Scheduler | None = None) -> bool:
    """Whether a cluster has queues, by default whosever they are."""
    names: Iterable[Scheduler] = ("kueue", "volcano") if by is None else (by,)
    return any(name in cluster.operators and cluster.queues_of(name) for name in names)


def site(specs: Specs, name: str) -> Site:
    """Return the cluster as Kueue sees it; raises SpecError where it cannot be rendered."""
    cluster = specs.clusters[name]
    try:
        return Site(name, cluster, configured(cluster), [*with_nodes(objects_read(specs, name)), *nodes(cluster)])
    except ValueError as error:
        raise SpecError(f"cluster {name!r} cannot be rendered: {error}") from error


def rendered(name: str, cluster: Cluster, values: Iterable[Object]) -> Site:
    """Return the cluster as Kueue sees it, made of these objects."""
    kinds = READ | OWN | RUNTIMES
    read = (value for value in values if value["kind"] in kinds or is_of_volcano(value))
    return Site(name, cluster, configured(cluster), [*with_nodes(read), *nodes(cluster)])


def configured(cluster: Cluster) -> dict[str, Any]:
    """Return Kueue's configuration; gates of the chart's own list are flags, and count instead of the text's.

    It is empty for a cluster without Kueue.
    """
    config = configuration(cluster)
    given = gates(cluster) if Kueue.name in cluster.operators else {}
    return {**config, "featureGates": given} if given else config


def objects_read(specs: Specs, name: str) -> Iterator[Object]:
    """Yield the objects of a cluster that Kueue reads; one of the repository's own takes the place of ours."""
    cluster, own = specs.clusters[name], of_files(specs, name)
    ours: dict[str, list[Resource]] = {"platform": list(platform.resources(cluster))}
    for one_team in cluster.teams():
        if one_team in specs.teams:
            spaces = team.resources(name, cluster, one_team, specs.teams[one_team], specs.repository)
            ours[f"teams/{one_team}"] = list(spaces)
    for folder in {**ours, **own}:
        theirs = {item.identity: item.value for item in own.get(folder, ())}
        values = [resource.value() for resource in ours.get(folder, ()) if resource.identity not in theirs]
        yield from (value for value in (*values, *theirs.values()) if is_read(value))


def key_of(value: Object) -> tuple[str, str]:
    """Return the namespace and the name of an object."""
    return value["metadata"].get("namespace") or "", value["metadata"]["name"]


def is_held(value: Object) -> bool:
    """Whether an object is a queue that somebody holds."""
    stop = (value.get("spec") or {}).get("stopPolicy") if value["kind"] in QUEUES else None
    return stop not in {None, "None"}


def open_queue(value: Object) -> Object:
    """Return a queue that nobody holds."""
    return {**value, "spec": {**value["spec"], "stopPolicy": "None"}}


def is_read(value: Object) -> bool:
    """Whether Kueue or Volcano reads an object."""
    identity = identity_of(value)
    return identity.group == KUEUE or identity.kind in READ or is_of_volcano(value)


def is_of_volcano(value: Object) -> bool:
    """Whether an object is a queue of Volcano's."""
    identity = identity_of(value)
    return (identity.group, identity.kind) == (OF_VOLCANO, "Queue")
