"""From a case to a Kueue that has seen its objects, in the order in which its controllers see them after a restart."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.base.labels import NAMESPACE
from trainyard.base.quantities import Quantity, parse_duration
from trainyard.upstream.kueue.assign.assigner import Rules
from trainyard.upstream.kueue.cycle.ledger import Entry, Ledger
from trainyard.upstream.kueue.cycle.scheduler import Scheduler
from trainyard.upstream.kueue.cycle.waiting import Waiting
from trainyard.upstream.kueue.model.amounts import UNLIMITED
from trainyard.upstream.kueue.model.placements import Domain, Placement, Surroundings
from trainyard.upstream.kueue.model.queues import RUN
from trainyard.upstream.kueue.preempt.fair import FINAL, INITIAL
from trainyard.upstream.kueue.preempt.preemptor import Preemptor
from trainyard.upstream.kueue.quota.tree import QuotaNode, Used
from trainyard.upstream.kueue.replay import objects
from trainyard.upstream.kueue.replay.case import SECOND, Case, Given, nanoseconds
from trainyard.upstream.kueue.replay.controller import Controller
from trainyard.upstream.kueue.replay.reconcile import Reconciler
from trainyard.upstream.kueue.replay.records import Record, hold, record
from trainyard.upstream.kueue.replay.simulation import Simulation
from trainyard.upstream.kueue.replay.status import Admission, AdmittedSet
from trainyard.upstream.kueue.replay.webhooks import refusal_reason
from trainyard.upstream.kueue.replay.world import World, activate, plant
from trainyard.upstream.kueue.replay.writer import Writer
from trainyard.upstream.kueue.requests import held_by, refusal
from trainyard.upstream.kueue.topology import Places
from trainyard.upstream.pods.resources import PODS


@dataclass(slots=True)
class Start:
    """A case that is ready to run, with the names of its Workloads and what the webhooks refused."""

    case: Case
    simulation: Simulation
    names: list[str]
    invalid: list[tuple[str, str]]


class Setup:
    """Builds the world of a case."""

    def __init__(self, case: Case) -> None:
        self.case, self.gates = case, case.gates
        self.refused: list[tuple[int, str, str]] = []
        """Which objects the webhooks refuse: their places in the case, their names, and why."""
        self.queues: dict[str, Given] = {}
        self.namespaces: dict[str, dict[str, str]] = {}
        self.empty: list[tuple[QuotaNode, Used]] = []
        self.flavors = {one_case.name: objects.flavor(one_case) for one_case in self._accepted("ResourceFlavor")}
        local = [objects.local_queue(one_case) for one_case in case.of("LocalQueue")]
        self.world = World(self.flavors, {local_queue.key: local_queue for local_queue in local})
        self.world.shared_hosts = self.gates["TASHandleOverlappingFlavors"]

    def _accepted(self, kind: str) -> list[Given]:
        """Return the objects of a kind that the webhooks let in."""
        found = []
        for one_case in self.case.of(kind):
            message = refusal_reason(one_case, self.gates)
            if message is None:
                found.append(one_case)
            else:
                name = f"{kind}/{one_case.namespace}/{one_case.name}".replace("//", "/")
                self.refused.append((one_case.place, name, message))
        return found

    def build(self) -> None:
        """Build all but the Workloads."""
        cohorts = [objects.cohort(one_case) for one_case in self._accepted("Cohort")]
        self.queues = {one_case.name: one_case for one_case in self._accepted("ClusterQueue")}
        self._places()
        plant(self.world, cohorts, [objects.cluster_queue(queue) for queue in self.queues.values()])
        checks = {one_case.name: objects.check(one_case) for one_case in self.case.of("AdmissionCheck")}
        activate(self.world, checks, self.gates["TopologyAwareScheduling"])
        self.namespaces = namespaces(self.case.objects(), {})
        self.empty = self.snapshot()

    def start(self, case: Case, standing: Sequence[Record] = ()) -> Start:
        """Return this case with more Workloads, ready to run; `standing` are there and hold what they do."""
        ledger = self._ledger()
        for name, state in self.world.states.items():
            self.world.waiting[name] = Waiting(state.spec.strategy)
            if ledger is not None and state.spec.usage_based:
                self._by_usage(self.world.waiting[name], name, ledger)
        around, invalid = objects.surroundings(case), [(name, message) for _, name, message in sorted(self.refused)]
        simulation = self._simulation(ledger, around, namespaces(case.of("Workload"), self.namespaces))
        names = self._workloads(case, simulation, around, invalid, standing)
        return Start(case, simulation, names, invalid)

    def snapshot(self) -> list[tuple[QuotaNode, Used]]:
        """Return the usage of every quota node."""
        return [(node, node.used()) for node in self.world.nodes()]

    def restore(self, usage: Iterable[tuple[QuotaNode, Used]], kept: Container[str] = ()) -> None:
        """Have everybody give back what they hold but those whose keys are kept, who held this."""
        for key in [workload for workload in self.world.held if workload not in kept]:
            self.world.release(key)
        for node, used in usage:
            node.restore(used)
        for state in self.world.states.values():
            state.generation = 1

    def _places(self) -> None:
        """Build the topology of each flavor that has one."""
        if not self.gates["TopologyAwareScheduling"]:
            return
        topologies = {one_case.name: objects.topology(one_case) for one_case in self.case.of("Topology")}
        nodes = [objects.node(one_case) for one_case in self.case.of("Node")]
        held = held_by(objects.read_pod(one_case) for one_case in self.case.of("Pod"))
        for name, flavor in sorted(self.flavors.items()):
            if flavor.topology in topologies:
                self.world.places[name] = Places(topologies[flavor.topology], flavor, nodes, held, self.gates)

    def _ledger(self) -> Ledger | None:
        """Return the ledger of the LocalQueues' past usage, None where admission does not go by it."""
        config = self.case.config.get("admissionFairSharing")
        if config is None or not self.gates["AdmissionFairSharing"]:
            return None
        half_life, sampling = (
            parse_duration(str(config.get(field) or default)) / SECOND
            for field, default in (("usageHalfLifeTime", "0"), ("usageSamplingInterval", "5m"))
        )
        found = Ledger(half_life, sampling, config.get("resourceWeights") or {})
        for local_queue in self.world.local.values():
            if local_queue.consumed is not None:
                consumed = {name: Quantity.parse(amount).amount for name, amount in local_queue.consumed.items()}
                found.entries[local_queue.key] = Entry(consumed, local_queue.consumed_until)
        return found

    def _by_usage(self, waiting: Waiting, name: str, ledger: Ledger) -> None:
        """Have the Workloads of light users go first in a queue."""
        ways = [
            key
            for key, local_queue in self.world.local.items()
            if local_queue.queue == name and local_queue.stop == RUN
        ]
        waiting.usage = lambda pending: self.world.usage(ledger, pending.workload)
        waiting.charged = lambda: any(ledger.charged(key) for key in ways)

    def _simulation(self, ledger: Ledger | None, around: Surroundings, labels: dict[str, dict[str, str]]) -> Simulation:
        config = self.case.config
        fair = config.get("fairSharing")
        strategies = None if fair is None else tuple(fair.get("preemptionStrategies") or (FINAL, INITIAL))
        ignore = (config.get("resources") or {}).get("quotaCheckStrategy") == "IgnoreUndeclared"
        rules = Rules(self.flavors, self.gates, fair is not None, ignore and self.gates["QuotaCheckStrategy"])
        preemptor = Preemptor(self.world.active, self.gates, strategies, ledger is not None)
        reconciler = Reconciler(
            self.world,
            self.gates,
            labels,
            lambda workload, specs: refusal(workload, specs, around),
            lambda: simulation.now,
        )
        controller = Controller(self.world, {}, reconciler, ledger)
        scheduler = Scheduler(
            self.world.active,
            list(self.world.nodes()),
            rules,
            preemptor,
            lambda pending, queue: simulation.admissible(pending, queue),  # noqa: PLW0108  # it is made below
        )
        simulation = Simulation(controller, scheduler, Writer(controller, scheduler), self.case.now)
        return simulation

    def _workloads(
        self,
        case: Case,
        simulation: Simulation,
        around: Surroundings,
        invalid: list[tuple[str, str]],
        standing: Sequence[Record],
    ) -> list[str]:
        """Take in the Workloads, those with quota first."""
        short = {_key(admission["workload"]): admission for admission in case.admitted}
        waits = (self.case.config.get("waitForPodsReady") or {}).get("requeuingStrategy") or {}
        by_eviction = waits.get("timestamp", "Eviction") == "Eviction"
        names, valid = [], list[Record]()
        for given in case.of("Workload"):
            workload = objects.workload(given, case)
            names.append(workload.key)
            message = refusal_reason(given, self.gates)
            if message is not None:
                invalid.append((f"Workload/{workload.key}", message))
                continue
            found = record(workload, given, around, by_eviction)
            if workload.key in short:
                self._admit(found, short[workload.key])
            valid.append(found)
        self._check_cohorts(valid)
        controller = simulation.controller
        for found in standing:
            controller.records[found.key] = found
            controller.delivered[found.key] = found.status.copy()
        valid.sort(key=lambda one_workload: not one_workload.status.reserved)
        for found in valid:
            controller.records[found.key] = found
            controller.created(found)
        controller.retrying.update(name for name in self.queues if not controller.circular(name))
        for found in valid:
            controller.reconciler.reconcile(found)
            controller.changed.add(found.key)
        simulation.deliver()
        order = (*(one_record.key for one_record in standing), *names)
        controller.records = {name: controller.records[name] for name in order if name in controller.records}
        return names

    def _check_cohorts(self, valid: list[Record]) -> None:
        """Refuse quota that is held under a cycle of cohorts: Kueue overflows its stack."""
        faulty = {name.partition("/")[2] for name, _ in self.world.faults if name.startswith("ClusterQueue/")}
        for one_record in valid:
            if one_record.status.admission is not None and one_record.status.admission.queue in faulty:
                queue = one_record.status.admission.queue
                raise ValueError(
                    f"workload {one_record.key} holds quota in ClusterQueue {queue}, whose cohorts form a cycle: "
                    "Kueue would crash"
                )

    def _admit(self, found: Record, short: Mapping[str, Any]) -> None:
        """Have a Workload hold quota from the start."""
        workload = found.workload
        queue = short.get("clusterQueue") or ""
        if not queue:
            local = self.world.local.get(f"{workload.namespace}/{workload.queue}")
            if local is None:
                raise ValueError(f'admitted: {workload.key}: localqueues.kueue.x-k8s.io "{workload.queue}" not found')
            queue = local.queue
        given = next((one_case for one_case in self.case.of("ClusterQueue") if one_case.name == queue), None)
        if given is None or queue not in self.queues:
            raise ValueError(f'admitted: {workload.key}: clusterqueues.kueue.x-k8s.io "{queue}" not found')
        spec = objects.cluster_queue(given)
        sets = []
        for pod_set, amounts in zip(workload.pod_sets, found.quota, strict=True):
            how = (short.get("podSets") or {}).get(pod_set.name, short)
            count = pod_set.count if how.get("count") is None else how["count"]
            count = count if pod_set.count else 0
            requests = {name: min(amount * count, UNLIMITED) for name, amount in amounts.items()}
            if spec.group_of(PODS) is not None:
                requests[PODS] = count
            flavors = {name: flavor for name in requests if (flavor := _flavor(spec, name, how))}
            usage = {name: requests[name] for name in flavors}
            placement = self._placement(workload.key, flavors, how.get("domains"))
            sets.append(AdmittedSet(pod_set.name, count, flavors, usage, placement))
        found.status.admission = Admission(queue, tuple(sets))
        at = nanoseconds(short["at"]) if short.get("at") else workload.created
        hold(found.status, at, admitted=not short.get("reserved"))

    def _placement(
        self, key: str, flavors: Mapping[str, str], domains: list[Mapping[str, Any]] | None
    ) -> Placement | None:
        if not domains:
            return None
        names = [name for flavor in flavors.values() if (name := self.flavors[flavor].topology) is not None]
        name = names[-1] if names else ""
        topology = next(
            (objects.topology(one_case) for one_case in self.case.of("Topology") if one_case.name == name), None
        )
        if topology is None:
            raise ValueError(f'admitted: {key}: topologys.kueue.x-k8s.io "{name}" not found')
        levels = topology.levels[len(topology.levels) - len(domains[0]["values"]) :]
        return Placement(levels, tuple(Domain(tuple(domain["values"]), domain["count"]) for domain in domains))


def _flavor(spec: Any, resource: str, how: Mapping[str, Any]) -> str:
    """Return the flavor of a resource: the one given for it, or for all, or the first of its group."""
    own = (how.get("flavors") or {}).get(resource)
    if own:
        return str(own)
    group = spec.group_of(resource)
    if group is None:
        return ""
    return str(how["flavor"]) if how.get("flavor") in group.flavors else str(group.flavors[0])


def _key(text: str) -> str:
    return text if "/" in text else f"default/{text}"


def namespaces(objects: Iterable[Given], known: Mapping[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """Return the labels of namespaces beside those that are known; those that are only named are there, too."""
    every = list(objects)
    there = (one_case for one_case in every if one_case.kind == "Namespace")
    found = {**known, **{one_case.name: {**one_case.labels, NAMESPACE: one_case.name} for one_case in there}}
    for one_case in every:
        if one_case.namespace:
            found.setdefault(one_case.namespace, {NAMESPACE: one_case.namespace})
    return found


def set_up(case: Case) -> Start:
    """Return a case that is ready to run; raises ValueError for what Kueue could not hold."""
    setup = Setup(case)
    setup.build()
    return setup.start(case)
