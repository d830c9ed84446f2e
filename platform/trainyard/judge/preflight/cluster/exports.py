"""Whether exports that exist are found by their driver, and each is the volume of one team."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, did_you_mean
from trainyard.base.quantities import Quantity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER_BESIDE, OneCluster
from trainyard.render.clusters.buckets import DRIVERS
from trainyard.specs import Storage

EXPORT = Rule(
    id="sto-export",
    title="Each export that exists is found by its driver, and is one volume of one team.",
    why="a claim without its PersistentVolume, or a volume that the driver cannot find, keeps pods pending",
    fix="correct the export in the cluster's file, or the volume in the team's file",
    source="docs/clusters.md#storage",
)


@CLUSTER_BESIDE.check()
def check(one: OneCluster) -> Iterator[Finding]:
    """Yield exports that lack an attribute, share a handle or a claim, or are for no volume of a team."""
    handles: dict[tuple[str, str], str] = {}
    claims: dict[tuple[str, str], str] = {}
    for name, storage in one.cluster.storage.items():
        for key, export in storage.exports.items():
            place: Path = ("storage", name, "exports", key)
            for missing in attributes_missing(storage, export.attributes):
                message = f"export {key!r} has no attribute {missing}, which {storage.provisioner} needs; add it"
                yield EXPORT.at(one.source, (*place, "handle"), message)
            if storage.provisioner == DRIVERS["gs"]:
                message = f"export {key!r} is a bucket, whose pods need more than a volume; use objectStorage.buckets"
                yield EXPORT.at(one.source, place, message, key=True)
            other = handles.setdefault((storage.provisioner, export.handle), key)
            if other != key:
                message = f"handle is that of export {other!r} too, and nodes would mount one for both; use another"
                yield EXPORT.at(one.source, (*place, "handle"), message)
            claim = (export.team, export.volume or key)
            other = claims.setdefault(claim, f"{name}.{key}")
            if other != f"{name}.{key}":
                message = f"volume {claim[1]!r} of team {export.team!r} is export {other!r} already; remove one"
                yield EXPORT.at(one.source, (*place, "team"), message)
            if export.team not in one.teams:
                message = f"team {export.team!r} does not exist; {did_you_mean(export.team, one.teams)}"
                yield EXPORT.at(one.source, (*place, "team"), message)
            yield from check_claim(one, name, key)


def attributes_missing(storage: Storage, given: dict[str, str]) -> tuple[str, ...]:
    """Return the attributes that the driver needs and an export does not have."""
    needed = storage.driver.export if storage.driver else ()
    return tuple(name for name in needed if name not in given)


def check_claim(one: OneCluster, name: str, key: str) -> Iterator[Finding]:
    """Yield an export that no volume of its team claims, or one that asks for more than there is."""
    export = one.cluster.storage[name].exports[key]
    team, place = one.loaded.specs.teams.get(export.team), ("storage", name, "exports", key)
    if team is None:
        return
    volume = export.volume or key
    claim = team.volumes.get(volume)
    if claim is None or claim.storage != name:
        message = f"team {export.team!r} has no volume {volume!r} with storage {name!r}; add it to the team's file"
        yield EXPORT.at(one.source, place, message, key=True)
    elif Quantity.parse(claim.size).amount > Quantity.parse(export.size).amount:
        message = f"size is {export.size}, but the team's volume asks for {claim.size}; raise it"
        yield EXPORT.at(one.source, (*place, "size"), message)
