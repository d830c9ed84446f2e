"""What becomes of a node with a fault, step by step: which steps programs take, and which a person does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.base.findings import count_of
from trainyard.render.kinds import Resolved, available, lost_node
from trainyard.render.kinds.behaviour import MOVES
from trainyard.render.operators.kueue import Kueue, gates, recovers
from trainyard.render.prerequisites.base import names_text
from trainyard.render.sizing import Sized, burn_in
from trainyard.render.sizing.health import DETECTOR, TAINTER, conditions, taint_key, watched_pools
from trainyard.specs import Cluster

PERSON = "a person"

REPLACING = ("TopologyAwareScheduling", "TASFailedNodeReplacement", "TASReplaceNodeOnNodeTaints")
"""Gates of Kueue without which a run keeps its node; on by default in all known releases.

kueue v0.19.2 and v0.18.6 pkg/features/kube_features.go.
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One step between a fault and the node's return."""

    what: str
    who: str
    """The program that takes it, or a person."""
    how: str


def steps(cluster: Cluster) -> list[Step]:
    """Return the steps in their order; none for a cluster whose file says nothing of health."""
    if cluster.health is None:
        return []
    return [*noticed(cluster), *left(cluster), *replaced(cluster), *returned(cluster)]


def noticed(cluster: Cluster) -> Iterator[Step]:
    """Yield how a fault is found, and how the node is marked."""
    names = " or ".join(conditions(cluster)) or "no condition"
    where = f"on pools {names_text(watched_pools(cluster))}"
    if DETECTOR in cluster.operators:
        what = f"a fault sets the node's condition {names}"
        yield Step(what, DETECTOR, f"within seconds of the kernel's log, {where}")
    else:
        yield Step("a fault is found", PERSON, "nothing reads the kernel's log")
    keys = [taint_key(name) for name in conditions(cluster)]
    effect = cluster.health.effect if cluster.health else ""
    if cluster.installs(TAINTER):
        yield Step(f"the node gets taint {names_text(keys)}:{effect}", TAINTER, "as soon as the condition is True")
    else:
        set_by = " and ".join(f"`kubectl taint node NODE {key}=:{effect}`" for key in keys) or "`kubectl cordon NODE`"
        yield Step("the node gets a taint", PERSON, set_by)
    yield from tested(cluster)
    dead = "after five minutes; Kueue forces the last pods out" if recovers_here(cluster) else "after five minutes"
    yield Step("pods of a node that does not answer are deleted", "Kubernetes", dead)
    yield Step(
        "volumes of a node that does not answer are released",
        PERSON,
        "shut the node down, then `kubectl taint node NODE node.kubernetes.io/out-of-service=nodeshutdown:NoExecute`",
    )


def tested(cluster: Cluster) -> Iterator[Step]:
    """Yield how a node is found that computes wrongly or slowly, and what becomes of it; nothing where nobody tests."""
    pools, said = burn_in.tested_pools(cluster), burn_in.stated(cluster)
    if not pools or said is None:
        return
    when = f"at {said.schedule} ({said.time_zone}) on pools {names_text(pools)}, where no run is"
    yield Step("a GPU that computes wrongly or slowly is found", "the burn-in", when)
    looks = "`kubectl get pods -n burn-in --field-selector status.phase=Failed -o wide`, then `kubectl cordon NODE`"
    alert = f"the alert NodeBurnInFailed, or {looks}" if cluster.monitoring is not None else looks
    marked = burn_in.marks(cluster)
    if marked:
        most = f"within ten minutes, on at most {count_of(burn_in.most_marks(cluster), 'node')} at the same time"
        yield Step(f"a node that failed the test gets the condition {burn_in.FAILED}", burn_in.MARKER, most)
    if marked and cluster.installs(TAINTER):
        key = f"taint {taint_key(burn_in.FAILED)}:{cluster.health.effect if cluster.health else ''}"
        yield Step("a node that failed the test gets no runs", TAINTER, key)
        yield Step(
            "the condition goes", burn_in.MARKER, "when a person has restarted the node and its next test is good"
        )
    else:
        yield Step("a node that failed the test gets no runs", PERSON, alert)


def costs(run: Resolved) -> Iterator[tuple[str, Sized[str]]]:
    """Yield the costs of a lost node to a run, as `explain` and `plan` say them."""
    yield from lost_node.facts(run, forced=recovers_here(run.run.cluster))


def recovers_here(cluster: Cluster) -> bool:
    """Whether Kueue is there with the gate by which it deletes pods of dead nodes."""
    return cluster.installs(Kueue.name) and recovers(cluster)


def left(cluster: Cluster) -> Iterator[Step]:
    """Yield when the pods of a tainted node end."""
    if cluster.health and cluster.health.effect == "NoExecute":
        yield Step("running pods of the node end", "Kubernetes", "at once, in their grace period; the run starts again")
        return
    stay = [kind.name for kind in available(cluster) if kind.behaviour.faulty != MOVES]
    there = f"; {names_text(stay)} start ranks on the node again" if stay else ""
    how = f"when it fails for its GPU{there}; a run that does not notice goes on until it ends"
    yield Step("running pods of the node end", "the program", how)
    yield Step(
        "a run that goes on there is moved", PERSON, "`kubectl drain NODE --ignore-daemonsets --delete-emptydir-data`"
    )


def replaced(cluster: Cluster) -> Iterator[Step]:
    """Yield how a run gets another node, by pool."""
    if not cluster.queues_of("kueue"):
        yield Step("the run gets another node", "the scheduler", "any free node of its pool")
        return
    off = {name for name, on in gates(cluster).items() if not on} if Kueue.name in cluster.operators else set()
    for name in watched_pools(cluster):
        pool, moved = cluster.pools[name], f"a run of pool {name} gets another node"
        free = f"quotas leave {pool.spares} of {pool.nodes} nodes free" if pool.spares else "quotas leave no node free"
        if not cluster.levels_of(name):
            yield Step(moved, "the scheduler", f"any free node of the pool; {free}")
        elif missing := [gate for gate in REPLACING if gate in off]:
            how = f"delete its pods: gate {missing[0]} of Kueue is off; {free}"
            yield Step(moved, PERSON, how)
        else:
            how = f"when its pods there have ended; {free}"
            yield Step(moved, "Kueue", how)
            yield Step(
                f"a run of pool {name} is queued again",
                "Kueue",
                "where no free node is in its topology domain, or a second node fails before the first is replaced",
            )


def returned(cluster: Cluster) -> Iterator[Step]:
    """Yield how the node is repaired and comes back."""
    yield Step("the node is repaired and restarted", PERSON, "a condition stays until the node restarts")
    if cluster.installs(TAINTER):
        yield Step("the node takes runs again", TAINTER, "when the restarted detector finds no fault")
    else:
        yield Step("the node takes runs again", PERSON, "take the taint away")
