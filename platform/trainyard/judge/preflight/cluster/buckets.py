"""Whether teams of a cluster get the buckets that it gives them: identities, drivers, and names that are free."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.cluster.storage import INSTALLED
from trainyard.judge.preflight.subjects import CLUSTER_BESIDE, OneCluster
from trainyard.render.clusters.buckets import DRIVERS
from trainyard.render.operators.install import driver_operators
from trainyard.render.parts.buckets import claim
from trainyard.render.parts.identity import PROVIDERS
from trainyard.specs import Cluster
from trainyard.specs.accounts import ANNOTATIONS, BUCKETS, ROLE
from trainyard.specs.models.buckets import DIRECT, ObjectStorage

BUCKET = Rule(
    id="sto-bucket",
    title="Each team of a bucket has an identity that its provider understands.",
    why="a pod without the identity starts, and every access to the bucket is refused",
    fix="correct objectStorage in the cluster's file",
    source="docs/buckets.md",
)
SHARED = Rule(
    id="sto-bucket-shared",
    title="Teams with one identity at the provider use the same buckets.",
    why="the provider sees the identity and not the team, so each team can do what the others may",
    fix="give each team an identity of its own",
    source="docs/buckets.md",
    severity=Severity.WARNING,
)
TWICE = Rule(
    id="sto-bucket-twice",
    title="A team has one right on a folder of a bucket.",
    why="the provider sees one identity: a team that writes to a folder by one name writes there by the other, too",
    fix="give the team the same right on both, or remove one",
    source="docs/buckets.md",
    severity=Severity.WARNING,
)
AT: Path = ("objectStorage",)


class Way(NamedTuple):
    """What a way to prove an identity goes with."""

    provider: str | None
    """Cloud whose clusters alone have it; None for those that a webhook brings to any cluster."""
    scheme: str


WAYS = {
    "irsa": Way(None, "s3"),
    "pod-identity": Way("aws", "s3"),
    "gke": Way("google", "gs"),
    "azure": Way(None, "az"),
}
ANSWERS = {"aws": "irsa or pod-identity", "google": "gke", "azure": "azure"}
"""What to write on clusters of a cloud."""

FORMS: dict[str, tuple[re.Pattern[str], str]] = {
    provider.annotation: (provider.form, provider.should) for provider in PROVIDERS
}


@CLUSTER_BESIDE.check()
def check(one: OneCluster) -> Iterator[Finding]:
    """Yield identities and buckets by which no pod of a team would come to its data."""
    store = one.cluster.object_storage
    if store is None:
        return
    provider, way = one.cluster.distribution.provider, WAYS[store.identity]
    if way.provider not in {None, provider}:
        message = f"identity {store.identity!r} does not exist on distribution {one.cluster.system.distribution!r}"
        use = ANSWERS.get(provider or "", "irsa or azure")
        yield BUCKET.at(one.source, (*AT, "identity"), f"{message}; use {use}")
    yield from check_identities(one, store)
    yield from check_shared(one, store)
    yield from check_twice(one, store)
    yield from check_buckets(one, store, way)


def check_shared(one: OneCluster, store: ObjectStorage) -> Iterator[Finding]:
    """Yield identities that a team shares with another one whose rights differ."""
    first: dict[str, str] = {}
    for team, said in store.teams.items():
        if team not in one.cluster.teams():
            continue
        other = first.setdefault(said, team)
        if said != DIRECT and rights(store, team) != rights(store, other):
            message = f"team {team!r} has the identity of team {other!r}, but other buckets or rights; use its own"
            yield SHARED.at(one.source, (*AT, "teams", team), message)


def check_twice(one: OneCluster, store: ObjectStorage) -> Iterator[Finding]:
    """Yield folders that a team only reads by one name, and writes to by another name of them or of what they are in.

    The other way round is usual: whoever reads a bucket writes into a folder of it.
    """
    for name, bucket in store.buckets.items():
        for other, around in store.buckets.items():
            same = (bucket.scheme, *bucket.parts[:2]) == (around.scheme, *around.parts[:2])
            if name == other or not same or not f"{bucket.folder}/".startswith(f"{around.folder}/".lstrip("/")):
                continue
            for team, right in bucket.teams.items():
                if right == "read" and around.teams.get(team) == "write":
                    message = f"team {team!r} only reads here, but writes to the same folder as bucket {other!r}"
                    yield TWICE.at(one.source, (*AT, "buckets", name, "teams", team), f"{message}; use one right")


def rights(store: ObjectStorage, team: str) -> dict[str, str]:
    """Return the buckets that a team may use, by name, with what it may do."""
    return {name: bucket.teams[team] for name, bucket in store.of_team(team).items()}


def check_identities(one: OneCluster, store: ObjectStorage) -> Iterator[Finding]:
    """Yield identities of another form than the provider's, of no team, and accounts of the same name."""
    form, should = FORMS[ANNOTATIONS.get(store.identity, ROLE)]
    direct = store.identity == "gke"
    for team, said in store.teams.items():
        place = (*AT, "teams", team)
        if not form.fullmatch(said) and not (direct and said == DIRECT):
            words = f"{should}, or {DIRECT!r}" if direct else should
            yield BUCKET.at(one.source, place, f"identity of team {team!r} is {said!r}, but must be {words}")
        yield from check_team(one, team, place)
        found = one.loaded.specs.teams.get(team)
        if found is not None and BUCKETS in found.accounts:
            message = f"team {team!r} has its own service account {BUCKETS!r}; use another name in the team's file"
            yield BUCKET.at(one.source, place, message, key=True)


def check_team(one: OneCluster, team: str, place: Path) -> Iterator[Finding]:
    """Yield a team that does not exist, or that no queue of the cluster admits."""
    if team not in one.teams:
        message = f"team {team!r} does not exist; {did_you_mean(team, one.teams)}"
        yield BUCKET.at(one.source, place, message, key=True)
    elif team not in one.cluster.teams():
        message = f"team {team!r} is in no queue of the cluster, so it gets no identity here; remove it"
        yield BUCKET.at(one.source, place, message, key=True)


def check_buckets(one: OneCluster, store: ObjectStorage, way: Way) -> Iterator[Finding]:
    """Yield buckets of another provider, without a driver, or under a name that is taken."""
    for name, bucket in store.buckets.items():
        place: Path = (*AT, "buckets", name)
        if bucket.scheme != way.scheme:
            message = f"url is {bucket.url!r}, but identity {store.identity!r} opens only {way.scheme}://"
            yield BUCKET.at(one.source, (*place, "url"), f"{message}; use a bucket of that provider")
            continue
        driver = DRIVERS[bucket.scheme]
        if bucket.mount and driver not in {*one.cluster.drivers, *driver_operators(one.cluster)}:
            message = f"bucket {name!r} is mounted by driver {driver!r}, which is not in drivers; add it"
            yield INSTALLED.at(one.source, (*place, "mount"), message)
        for team in bucket.teams:
            if team not in store.teams:
                message = f"team {team!r} has no identity in objectStorage.teams; {did_you_mean(team, store.teams)}"
                yield BUCKET.at(one.source, (*place, "teams", team), message, key=True)
            elif has_volume(one, team, name, one.cluster):
                message = f"team {team!r} has a volume {claim(name)!r} already; rename the bucket"
                yield BUCKET.at(one.source, (*place, "teams", team), message, key=True)


def has_volume(one: OneCluster, team: str, bucket: str, cluster: Cluster) -> bool:
    """Whether a team has a volume on the cluster with the name that the claim on a bucket would have."""
    found = one.loaded.specs.teams.get(team)
    volume = found.volumes.get(claim(bucket)) if found is not None else None
    return volume is not None and volume.storage in cluster.storage
