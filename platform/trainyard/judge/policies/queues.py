"""The queue of a job, its flavors, and Kueue's configuration, as far as they are among the objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

from trainyard.base.labels import NAMESPACE
from trainyard.base.manifests import ANY, Identity, Manifest, mapping, strings
from trainyard.base.pools import pools_with, selected_pools
from trainyard.judge.policies.world import Pods, TrainingJob, World
from trainyard.upstream.apiserver.core.selectors import matches
from trainyard.upstream.kueue.quota.most import most_admitted
from trainyard.upstream.kueue.scope import Scope, configurations, scope_among

GROUP = "kueue.x-k8s.io"
MANAGER = "kueue-controller-manager"
FLAG = "--feature-gates="


@dataclass(frozen=True, slots=True)
class KueueSettings:
    """Kueue's configuration; empty if it is not among the objects."""

    value: Mapping[str, Any] = field(default_factory=dict)

    @property
    def resources(self) -> Mapping[str, Any]:
        """Its settings for resources: prefixes to exclude, and transformations."""
        found = self.value.get("resources")
        return found if isinstance(found, Mapping) else {}

    @property
    def ignores_undeclared(self) -> bool:
        """Whether Kueue ignores resources that a queue does not cover."""
        return self.resources.get("quotaCheckStrategy") == "IgnoreUndeclared"

    def changes(self, resource: str) -> bool:
        """Say whether the amount of a resource in quotas is not that of the pods: it is excluded, or transformed."""
        changed = self.resources.get("transformations")
        rules = [rule for rule in changed or () if isinstance(rule, Mapping)]
        names = {str(name) for rule in rules for name in (rule.get("input"), *mapping(rule.get("outputs")))}
        return self.leaves_out(resource) or resource in names

    def leaves_out(self, resource: str) -> bool:
        """Say whether a resource needs no quota of its name: it is excluded, or replaced by others."""
        prefixes = self.resources.get("excludeResourcePrefixes")
        if any(isinstance(prefix, str) and resource.startswith(prefix) for prefix in prefixes or ()):
            return True
        changed = self.resources.get("transformations")
        rules = [rule for rule in changed or () if isinstance(rule, Mapping)]
        return any(rule.get("input") == resource and rule.get("strategy") == "Replace" for rule in rules)


@dataclass(frozen=True)
class Queues:
    """The queues among the objects, to look up by job or pod set."""

    world: World

    @cached_property
    def settings(self) -> KueueSettings:
        """Kueue's configuration, from an object, a ConfigMap, or the values of its chart."""
        return next(map(KueueSettings, configurations(self._values)), KueueSettings())

    @cached_property
    def scope(self) -> Scope:
        """Which jobs Kueue looks at; everything where nobody says, as of a Kueue that somebody else installs."""
        if self.world.inventory is None:
            return scope_among(self._values)
        from trainyard.render.operators import kueue  # what needs no inventory starts without

        return kueue.scope(self.world.inventory)

    def is_selected(self, namespace: str) -> bool:
        """Whether Kueue looks at jobs of a namespace, or may: its labels can be unknown."""
        if self.scope.namespaces is None:
            return True
        found = [space for space in self.world.of("Namespace", group="") if space.name == namespace]
        labels = ({**space.labels, NAMESPACE: namespace} for space in found)
        return not found or any(matches(self.scope.namespaces, known) is not False for known in labels)

    @property
    def _values(self) -> Iterator[Mapping[str, Any]]:
        return (manifest.value for manifest in self.world.manifests)

    def gate(self, name: str) -> bool | None:
        """Say whether a feature gate of Kueue is on; None if Kueue's installation is not among the objects.

        It is set in the configuration, in a value of the chart, or as an argument of the manager.
        """
        said: dict[str, bool] = {}
        given = self.settings.value.get("featureGates")
        if isinstance(given, Mapping):
            said |= {key: value for key, value in given.items() if isinstance(value, bool)}
        starts = [manifest for manifest in self.world.of("Deployment", group="apps") if manifest.name == MANAGER]
        for deployment in starts:
            for _, text in deployment.at("spec", "template", "spec", "containers", ANY, "args", ANY, of=str):
                pairs = (part.partition("=") for part in text.removeprefix(FLAG).split(",") if text.startswith(FLAG))
                said |= {key: value.lower() == "true" for key, _, value in pairs}
        for chart in charts(self.world):
            starts.append(chart)
            for _, gates in chart.at("spec", ANY, "helm", "valuesObject", "controllerManager", "featureGates", ANY):
                if isinstance(gates, dict):
                    said[str(gates.get("name"))] = gates.get("enabled") is True
        return said.get(name, False if starts else None)

    def _clear(self, kind: str) -> list[Manifest]:
        """Return the objects of a kind, of a part of a cluster without those that files describe in several ways."""
        found = self.world.of(kind, group=GROUP)
        first: dict[Identity, Any] = {}
        several = {item.identity for item in found if first.setdefault(item.identity, item.value) != item.value}
        return [item for item in found if self.world.complete or item.identity not in several]

    @cached_property
    def _queues(self) -> Mapping[str, Manifest]:
        return {manifest.name: manifest for manifest in self._clear("ClusterQueue")}

    @cached_property
    def _local(self) -> Mapping[tuple[str, str], str]:
        return {
            (manifest.namespace or "default", manifest.name): manifest.text("spec", "clusterQueue")
            for manifest in self._clear("LocalQueue")
        }

    @cached_property
    def _flavors(self) -> Mapping[str, Manifest]:
        return {manifest.name: manifest for manifest in self._clear("ResourceFlavor")}

    @cached_property
    def _without(self) -> Mapping[str, frozenset[str]]:
        """By flavor, the resources for which no queue and no cohort has quota."""
        some: dict[str, set[str]] = defaultdict(set)
        none: dict[str, set[str]] = defaultdict(set)
        for holder in (*self._queues.values(), *self.world.of("Cohort", group=GROUP)):
            for path, name in holder.at("spec", "resourceGroups", "*", "flavors", "*", "name", of=str):
                for _, resource_ in holder.at(*path[:-1], "resources", "*", of=dict):
                    has = str(resource_.get("nominalQuota", 0)) != "0"
                    (some if has else none)[name].add(str(resource_.get("name")))
        return {name: frozenset(resources - some[name]) for name, resources in none.items()}

    def of(self, job: TrainingJob) -> Manifest | None:
        """Return the ClusterQueue of a job, None if it is not among the objects."""
        return self._queues.get(self._local.get((job.namespace, job.queue_name or ""), ""))

    def most_admitted(self, namespace: str) -> Mapping[str, Decimal]:
        """Return by resource the most that the queues of a namespace can admit together, borrowed quota included."""
        names = {queue for (space, _), queue in self._local.items() if space == namespace}
        cohorts = {manifest.name: mapping(manifest.get("spec")) for manifest in self._clear("Cohort")}
        return most_admitted(names, {name: mapping(queue.get("spec")) for name, queue in self._queues.items()}, cohorts)

    def pod_sets(self) -> Iterator[tuple[Pods, Manifest, Sequence[Manifest]]]:
        """Yield every pod set whose queue is among the objects, with that queue and its flavors for the resources."""
        for job in self.world.all_jobs():
            queue = self.of(job)
            if queue is None:
                continue
            for pods in job.pod_sets():
                resources = frozenset(name for name, need in pods.needs.items() if need.amount and pods.count)
                if flavors := self.flavors(queue, resources):
                    yield pods, queue, flavors

    def covered(self, queue: Manifest) -> frozenset[str]:
        """Return the resources that a queue covers."""
        found = self._covered.get(queue)
        if found is None:
            every = queue.at("spec", "resourceGroups", "*", "coveredResources", "*", of=str)
            found = self._covered[queue] = frozenset(name for _, name in every)
        return found

    @cached_property
    def _covered(self) -> dict[Manifest, frozenset[str]]:
        return {}

    def flavors(self, queue: Manifest, resources: frozenset[str]) -> Sequence[Manifest]:
        """Return the flavors of a queue for any of the resources; none if one is not among the objects.

        A flavor without quota for one of the resources, in any queue, is left aside.
        """
        found = self._usable.get((queue, resources))
        if found is None:
            found = self._usable[queue, resources] = tuple(self._found(queue, resources))
        return found

    @cached_property
    def _usable(self) -> dict[tuple[Manifest, frozenset[str]], Sequence[Manifest]]:
        return {}

    def _found(self, queue: Manifest, resources: frozenset[str]) -> list[Manifest]:
        named: list[str] = []
        for path, covered in queue.at("spec", "resourceGroups", "*", "coveredResources", of=list):
            if resources.intersection(name for name in covered if isinstance(name, str)):
                named += [name for _, name in queue.at(*path[:-1], "flavors", "*", "name", of=str)]
        usable = [name for name in named if not self._without.get(name, frozenset()) & resources]
        return [self._flavors[name] for name in usable] if self._flavors.keys() >= set(usable) else []

    def pools(self, job: TrainingJob, pods: Pods, resources: frozenset[str]) -> list[str | None]:
        """Return the described pools that pods may run on, by their queue's flavors for any of the resources.

        A flavor or a selector that no pool is known of is None.
        """
        queue, selector = self.of(job), strings(pods.spec.get("nodeSelector"))
        flavors = self.flavors(queue, resources) if queue else ()
        labels = [strings(flavor.get("spec", "nodeLabels")) for flavor in flavors] or [selector]
        named = selected_pools(pods.spec, self.world.selectors)
        found = (pool_of(self.world, {**one, **selector}) for one in labels if may_be_of(self.world, one, named))
        return [pool[0] if pool else None for pool in found]

    def labels(self, flavor: Manifest) -> Mapping[str, str]:
        """Return the known labels of a flavor's nodes: those of the flavor, and of the described pool."""
        own = strings(flavor.get("spec", "nodeLabels"))
        pool = pool_of(self.world, own)
        return {**pool[1], **own} if pool else own


def charts(world: World) -> Iterator[Manifest]:
    """Yield the Applications that install Kueue from its chart."""
    for application in world.of("Application", group="argoproj.io"):
        if application.text("spec", "source", "chart") == "kueue":
            yield application


def may_be_of(world: World, labels: Mapping[str, str], pools: Sequence[str]) -> bool:
    """Say whether a flavor with such labels may be of one of some pools; those that no pool is known of may."""
    known = selected_pools({"nodeSelector": dict(labels)}, world.selectors)
    return not pools or not known or known[0] in pools


def pool_of(world: World, labels: Mapping[str, str]) -> tuple[str, Mapping[str, str]] | None:
    """Return the described pool with such labels, and all labels of its nodes; None if there is none."""
    from trainyard.render.sizing.gpus import labels as of_nodes  # what needs no inventory starts without

    names = pools_with(labels, world.selectors)
    return (names[0], of_nodes(names[0], world.inventory.pools[names[0]])) if world.inventory and names else None
