"""What follows from one operator's move: what restarts, what waits, what runs on, and what cannot be undone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from trainyard.base.findings import count_of
from trainyard.base.system.data import schemas_dir
from trainyard.base.versions import order
from trainyard.change.upgrade.definitions import Definitions, compare_kinds, folder, kinds
from trainyard.change.upgrade.effects import Step
from trainyard.change.upgrade.moves import Move
from trainyard.change.upgrade.runs import Head, used_fields
from trainyard.render.operators.install import installed_operators, values
from trainyard.render.operators.kueue import Kueue
from trainyard.render.sizing.daemons import is_among
from trainyard.specs import Cluster
from trainyard.specs.changes import Change, changes_between
from trainyard.specs.releases import Facts, releases
from trainyard.specs.releases.facts import lookup
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.upgrades import Upgrade, upgrades

OTHERWISE = Upgrade(
    running="jobs run on; only the operator's own pods are replaced",
    meanwhile="objects of its kinds are looked after again once the new pods are ready",
    source="docs/updating.md",
)
"""What is said of an operator of which nothing is known."""

WEBHOOKS = "its webhooks have failurePolicy Fail, and Argo CD applies again what they refuse"


def make_step(move: Move, cluster: Cluster, root: Path, heads: Collection[Head], *, drivers: bool) -> Step:
    """Return the effects of a move on a cluster of the repository at `root`.

    `heads` are the objects of its runs; `drivers` says whether nodes get another driver.
    """
    schemas = schemas_dir(root)
    facts = releases()[move.operator]
    found = compare_kinds(schemas, move.operator, move.known_before, move.after)
    known = upgrades().get(move.operator, OTHERWISE)
    older, newer = sorted((move.before, move.after), key=order)
    notes = changes_between(move.operator, older, newer)
    mine = [head for head in heads if is_of(move, head, schemas)]
    used = {(f"{head.group}/{head.kind}", head.version) for head in mine}
    return Step(
        move,
        found,
        before=(
            *(note.says for note in notes if note.word == "before" and not move.back),
            *first_steps(found, used),
            *users_of_lost_fields(root, found, mine),
        ),
        changes=tuple(note_words(note) for note in notes if note.word != "before"),
        restarts=tuple(restarted(move.operator, facts, cluster)) if move.managed else (),
        left=tuple(left_behind(known, move)) if move.managed else (),
        meanwhile="; ".join((known.meanwhile, *((WEBHOOKS,) if facts.webhooks else ()))),
        running=known.running,
        drains=tuple(drained(known, cluster)) if drivers and move.managed else (),
        permanent=tuple(permanent(move, found)),
        runs=len({(head.cluster, head.run) for head in mine}),
    )


def is_of(move: Move, head: Head, schemas: Path) -> bool:
    """Whether an operator looks after an object of a run; Kueue looks after all of them."""
    if move.operator == Kueue.name:
        return True
    release = folder(schemas, move.operator, move.known_before) or folder(schemas, move.operator, move.after)
    return release is not None and (head.group, head.kind) in kinds(schemas, move.operator, release)


def note_words(note: Change) -> str:
    """Return a difference to the release before in words."""
    gate = f" ({note.gate})" if note.gate else ""
    return f"{' '.join(filter(None, (note.kind, note.field)))}: {note.says}{gate}"


def first_steps(found: Definitions, used: Collection[tuple[str, str]]) -> Iterator[str]:
    """Yield the steps that a person takes before the definitions change.

    `used` are the kinds and versions of objects of runs.
    """
    for kind, version, stored in found.dropped:
        if (kind, version) in used:
            yield f"end the runs whose {kind} is of {version}, which the new release does not serve"
        if stored:
            name = kind.rpartition("/")[2]
            yield (
                f"the server refuses the new definition of {kind} while its status.storedVersions names {version}: "
                f"write all {name} objects again in a version of both, or delete the definition if there are none"
            )


def users_of_lost_fields(root: Path, found: Definitions, heads: Collection[Head]) -> Iterator[str]:
    """Yield the runs whose objects have fields that the new release does not know, and so loses."""
    lost: dict[str, list[str]] = {}
    for kind, field in found.lost:
        lost.setdefault(kind, []).append(field)
    for head in (one for one in heads if one.kind in lost):
        for field in used_fields(root, head, lost[head.kind])[:1]:
            run = head.run.rpartition("/")[2]
            yield f"end run {run} on {head.cluster}, whose {head.kind} has {field}, which the new release drops"


def restarted(operator: str, facts: Facts, cluster: Cluster) -> Iterator[str]:
    """Yield the programs of an operator whose pods are replaced, by the names in the cluster, with their nodes."""
    given = given_values(operator, cluster)
    for daemon in facts.daemons:
        if daemon.fabrics and (cluster.fabric is None or cluster.fabric.type not in daemon.fabrics):
            continue
        if daemon.switch is None or lookup(given, daemon.switch) is not False:
            yield from replaced(daemon.installed or daemon.name, daemon.nodes, cluster)
    for program in facts.programs:
        if program.brought_by is None or lookup(given, program.brought_by) is True:
            yield from replaced(program.name, program.nodes, cluster)
    for site, known in installed_operators(cluster):
        for instance in (known.instances(site) or ()) if site.name == operator else ():
            yield f"{instance.name} (1 pod)"


def given_values(operator: str, cluster: Cluster) -> Mapping[str, Any]:
    """Return the values that an operator's chart gets on a cluster."""
    found = (values(site, known) for site, known in installed_operators(cluster) if site.name == operator)
    return next(found, {})


def replaced(name: str, nodes: str, cluster: Cluster) -> Iterator[str]:
    """Yield a program with the number of its pods, unless no node has one."""
    if nodes == "any":
        yield f"{name} (1 pod)"
        return
    count = sum(pool.nodes for pool_name, pool in cluster.pools.items() if has_daemon(cluster, pool_name, nodes))
    if count:
        yield f"{name} (a pod on each of {count_of(count, 'node')})"


def left_behind(known: Upgrade, move: Move) -> Iterator[str]:
    """Yield the objects that the chart of the new release does not make, and that of the old one did."""
    older, newer = sorted(map(order, (move.before, move.after)))
    for left in known.made if move.back else known.left:
        if older < order(left.since) <= newer:
            yield from left.objects


def has_daemon(cluster: Cluster, pool: str, nodes: str) -> bool:
    """Whether nodes of a pool have a daemon of such nodes; of a shape that nobody knows, only one of all nodes."""
    return nodes == "all" or (is_known_shape(cluster.pools[pool].shape) and is_among(nodes, cluster, pool))


def drained(known: Upgrade, cluster: Cluster) -> Iterator[str]:
    """Yield the pools whose nodes are drained once somebody syncs `hardware/`."""
    if known.drains is not None:
        yield from (name for name in cluster.pools if has_daemon(cluster, name, known.drains))


def permanent(move: Move, found: Definitions) -> Iterator[str]:
    """Yield the changes that the old release in the file does not take back."""
    for kind, before, after, readable in found.stored:
        back = "which the old release serves too" if readable else "which the old release does not serve"
        yield f"{kind} is stored as {after} instead of {before}, {back}"
    for kind, version, _ in found.dropped:
        yield f"{kind} {version} is not served any more; whoever still writes it is refused"
    for kind in found.removed:
        yield f"{kind} is not part of the new release; its definition stays, and nothing looks after its objects"
    if found.lost:
        yield f"fields that the new release does not know are dropped from objects: {fields(found.lost)}"
    if found.new and not move.back:
        yield f"fields that only {move.after} knows are dropped if you go back: {fields(found.new)}"


SHOWN = 3
"""Fields of kinds that are named."""


def fields(found: Collection[tuple[str, str]]) -> str:
    """Return fields of kinds in words: the shortest ones, and how many there are."""
    chosen = sorted(found, key=lambda item: (item[1].count("."), item))[:SHOWN]
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return ", ".join(f"{kind} {field}" for kind, field in chosen) + more
