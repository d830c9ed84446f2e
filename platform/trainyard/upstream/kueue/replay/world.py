"""A Kueue in memory: its tree of queues, its queues of Workloads, and what they hold (kueue v0.19.2 pkg/cache)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from trainyard.base.limits import COHORT_LEVELS
from trainyard.upstream.kueue.cycle.ledger import Ledger
from trainyard.upstream.kueue.cycle.waiting import Waiting
from trainyard.upstream.kueue.model.flavors import ResourceFlavor
from trainyard.upstream.kueue.model.placements import PlacedPods
from trainyard.upstream.kueue.model.queues import (
    MULTIKUEUE,
    PROVISIONING,
    RUN,
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    LocalQueue,
    Quota,
    ResourceGroup,
)
from trainyard.upstream.kueue.model.workloads import Workload
from trainyard.upstream.kueue.quota.state import Held, QueueState
from trainyard.upstream.kueue.quota.tree import QuotaNode
from trainyard.upstream.kueue.topology import Places
from trainyard.upstream.pods.resources import CPU

CYCLE_OF_COHORTS = "cohort has a cycle"

Why = tuple[str, str]
"""Why a queue is not active: a reason and a message."""


@dataclass(slots=True, eq=False)
class World:
    """Queues and what they hold. `states` has all queues by name, `active` those that take part in scheduling."""

    flavors: Mapping[str, ResourceFlavor]
    local: Mapping[str, LocalQueue]
    places: dict[str, Places] = field(default_factory=dict)
    states: dict[str, QueueState] = field(default_factory=dict)
    active: dict[str, QueueState] = field(default_factory=dict)
    inactive: dict[str, Why] = field(default_factory=dict)
    cohorts: dict[str, QuotaNode] = field(default_factory=dict)
    waiting: dict[str, Waiting] = field(default_factory=dict)
    held: dict[str, Held] = field(default_factory=dict)
    faults: list[tuple[str, str]] = field(default_factory=list)
    shared_hosts: bool = True

    def queue_of(self, namespace: str, name: str) -> tuple[str, bool]:
        """Return the ClusterQueue behind a LocalQueue that runs, and whether it exists."""
        found = self.local.get(f"{namespace}/{name}")
        if found is None or found.stop != RUN:
            return "", False
        return found.queue, found.queue in self.waiting

    def usage(self, ledger: Ledger, workload: Workload) -> float:
        """Return how heavily the LocalQueue of a Workload used what it may use."""
        key = f"{workload.namespace}/{workload.queue}"
        return ledger.usage(key, self.local[key].weight if key in self.local else 1.0)

    def used_by(self, namespace: str, local: str, queue: str) -> dict[str, Decimal]:
        """Return the amounts that the running Workloads of a LocalQueue hold, in whole units."""
        found: dict[str, Decimal] = {}
        for held in self.states[queue].workloads.values():
            if (held.workload.namespace, held.workload.queue) == (namespace, local) and held.admitted:
                for (_, resource), amount in held.usage.items():
                    part = Decimal(amount).scaleb(-3) if resource == CPU else Decimal(amount)
                    found[resource] = found.get(resource, Decimal(0)) + part
        return found

    def nodes(self) -> Iterator[QuotaNode]:
        """Yield every node of every tree."""
        yield from self.cohorts.values()
        for state in self.states.values():
            yield state.node

    def hold(self, held: Held) -> bool:
        """Count what a Workload holds, in place of what it held. Says whether its queue is there."""
        self.release(held.key)
        state = self.states.get(held.queue)
        if state is None:
            return False
        self.held[held.key] = state.workloads[held.key] = held
        state.node.add(held.usage)
        for places, pods in self._touched(held):
            places.add(pods)
        return True

    def release(self, key: str) -> None:
        """Take back what a Workload holds."""
        held = self.held.pop(key, None)
        if held is None:
            return
        state = self.states[held.queue]
        del state.workloads[key]
        state.node.remove(held.usage)
        for places, pods in self._touched(held):
            places.remove(pods)
        state.generation += 1

    def _touched(self, held: Held) -> Iterator[tuple[Places, PlacedPods]]:
        """Yield the topologies that pods stand in: of their own flavor, and of others on the same hosts."""
        for flavor, pods in held.placed.items():
            own = self.places.get(flavor)
            if own is None:
                continue
            shared = self.shared_hosts and own.lowest_is_node
            every = [place for place in self.places.values() if place.lowest_is_node] if shared else [own]
            for places in every:
                for pod in pods:
                    yield places, pod


def plant(world: World, cohorts: Iterable[Cohort], queues: Iterable[ClusterQueue]) -> None:
    """Build the trees. Cohorts in a cycle, and their queues, are faults, and hold nothing.

    Raises ValueError where cohorts go deeper than is judged.
    """
    parents: dict[str, str] = {}
    cohorts = list(cohorts)
    _bounded({cohort.name: cohort.parent for cohort in cohorts})
    for cohort in cohorts:
        parents[cohort.name] = cohort.parent
        if _circular(cohort.name, parents):
            world.faults.append((f"Cohort/{cohort.name}", CYCLE_OF_COHORTS))
        world.cohorts[cohort.name] = QuotaNode(cohort.name, _quotas(cohort.groups), cohort.weight)
    queues = list(queues)
    for name in [*parents.values(), *(queue.cohort for queue in queues)]:
        if name and name not in world.cohorts:
            world.cohorts[name] = QuotaNode(name, {}, 0.0)
    for queue in queues:
        world.states[queue.name] = QueueState(queue, QuotaNode(queue.name, _quotas(queue.groups), queue.weight))
        if queue.cohort and _circular(queue.cohort, parents):
            world.faults.append((f"ClusterQueue/{queue.name}", CYCLE_OF_COHORTS))
            world.inactive[queue.name] = ("Ready", "Can admit new workloads")
        elif queue.cohort:
            node, parent = world.states[queue.name].node, world.cohorts[queue.cohort]
            node.parent = parent
            parent.queues.append(node)
    for name, parent_name in sorted(parents.items()):
        if parent_name and not _circular(name, parents):
            world.cohorts[name].parent = world.cohorts[parent_name]
            world.cohorts[parent_name].cohorts.append(world.cohorts[name])
    for node in world.nodes():
        if node.parent is None:
            node.count()


def _bounded(parents: Mapping[str, str]) -> None:
    for name in parents:
        seen, above = {name}, parents[name]
        while above and above not in seen:
            seen.add(above)
            above = parents.get(above, "")
            if len(seen) > COHORT_LEVELS:
                raise ValueError(
                    f"cohort {name!r} has {COHORT_LEVELS} parents or more; Trainyard simulates fewer levels"
                )


def _circular(name: str, parents: Mapping[str, str]) -> bool:
    seen = set[str]()
    while parents.get(name):
        if name in seen:
            return True
        seen.add(name)
        name = parents[name]
    return False


def _quotas(groups: Iterable[ResourceGroup]) -> dict[tuple[str, str], Quota]:
    return {key: quota for group in groups for key, quota in group.quotas.items()}


def activate(world: World, checks: Mapping[str, AdmissionCheck], topologies: bool) -> None:
    """Find out which queues are active, and leave the others out of the trees' lists (not out of their sums)."""
    for name, state in world.states.items():
        with_topology = {
            flavor: str(world.flavors[flavor].topology)
            for flavor in sorted(state.spec.flavors)
            if flavor in world.flavors and world.flavors[flavor].topology is not None
        }
        state.topologies_only = state.spec.flavors <= with_topology.keys()
        state.places = {flavor: world.places[flavor] for flavor in sorted(state.spec.flavors) if flavor in world.places}
        by = {controller: sorted(_by(state.spec, checks, controller)) for controller in (MULTIKUEUE, PROVISIONING)}
        state.multikueue = bool(by[MULTIKUEUE])
        state.provisioned = frozenset(flavor for check in by[PROVISIONING] for flavor in state.spec.checks[check])
        why = list(_reasons(world, state, checks, by, with_topology if topologies else {}))
        if why and name not in world.inactive:
            world.inactive[name] = (why[0][0], f"Can't admit new workloads: {', '.join(text for _, text in why)}.")
        if name not in world.inactive:
            world.active[name] = state
    for cohort in world.cohorts.values():
        cohort.queues = [queue for queue in cohort.queues if queue.name in world.active]
    for node in world.nodes():
        if node.parent is None:
            node.measure(node)


def _by(queue: ClusterQueue, checks: Mapping[str, AdmissionCheck], controller: str) -> Iterator[str]:
    return (name for name in queue.checks if name in checks and checks[name].controller == controller)


def _reasons(
    world: World,
    state: QueueState,
    checks: Mapping[str, AdmissionCheck],
    by: Mapping[str, list[str]],
    with_topology: Mapping[str, str],
) -> Iterator[Why]:
    """Yield why a queue is not active, in Kueue's words (clusterqueue.go inactiveReason)."""
    queue = state.spec
    if queue.stop != RUN:
        yield "Stopped", "is stopped"
    missing = [flavor for group in queue.groups for flavor in group.flavors if flavor not in world.flavors]
    if missing:
        yield "FlavorNotFound", f"references missing ResourceFlavor(s): {','.join(missing)}"
    unknown = sorted(check for check in queue.checks if check not in checks)
    if unknown:
        yield "AdmissionCheckNotFound", f"references missing AdmissionCheck(s): {','.join(unknown)}"
    idle = sorted(check for check in queue.checks if check in checks and not checks[check].active)
    if idle:
        yield "AdmissionCheckInactive", f"references inactive AdmissionCheck(s): {','.join(idle)}"
    several, provisioned = by[MULTIKUEUE], by[PROVISIONING]
    if len(several) > 1:
        text = "Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, found: "
        yield "MultipleMultiKueueAdmissionChecks", text + ",".join(several)
    partial = [check for check in several if queue.checks[check] != queue.flavors]
    if partial:
        text = "Cannot specify MultiKueue AdmissionCheck per flavor, found: "
        yield "MultiKueueAdmissionCheckAppliedPerFlavor", text + ",".join(partial)
    if several and provisioned:
        text = "Cannot use both MultiKueue and ProvisioningRequest AdmissionChecks together, found: "
        yield "MultiKueueWithProvisioningRequest", f"{text}{','.join(several)}, {','.join(provisioned)}"
    if not several:
        for flavor, topology in with_topology.items():
            if flavor not in world.places:
                yield "TopologyNotFound", f'there is no Topology "{topology}" for TAS flavor "{flavor}"'
