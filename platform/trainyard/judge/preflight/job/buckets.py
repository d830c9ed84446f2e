"""Whether a job's buckets are there for its team, and whether it writes files that an object store can take."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.policies.folders import within
from trainyard.judge.preflight.job.unmounted import folders_named
from trainyard.judge.preflight.subjects import PLACED, RESOLVED, OneJob
from trainyard.render.clusters.buckets import DRIVERS
from trainyard.render.kinds import Resolved
from trainyard.render.launchers.own_roles import named_variables
from trainyard.render.parts import ceph_buckets
from trainyard.render.parts.buckets import environment, mounted, of_provider, used
from trainyard.specs import Cluster, Job, Team
from trainyard.specs.accounts import BUCKETS
from trainyard.specs.drivers import Driver, driver
from trainyard.specs.models.buckets import Bucket, BucketUse

UNKNOWN = Rule(
    id="spec/unknown-bucket",
    title="The buckets of a job are those that its cluster gives its team.",
    why="the pods would have no identity for the bucket, or wait for a claim that nobody makes",
    fix="name a bucket of objectStorage in the cluster's file, or let the team use it there",
    source="docs/buckets.md",
)
STORE = Rule(
    id="ckp-object-store",
    title="Checkpoints are not saved on a mounted bucket.",
    why="savers write a file under another name and rename it; object stores rename no folder, and S3 no file",
    fix="save to a shared file system and upload from there, or use the store's own client; waive this if tried",
    source="awslabs/mountpoint-s3 doc/SEMANTICS.md; GoogleCloudPlatform/gcsfuse docs/semantics.md; "
    "pytorch v2.9 torch/distributed/checkpoint/filesystem.py",
    severity=Severity.WARNING,
)
NETWORK = Rule(
    id="sto-bucket-host",
    title="Pods that mount a bucket on GKE are not in their node's network.",
    why="in the node's network a pod has the node's identity, and the mount is refused",
    fix="use the bucket's client by another identity, or a pool without such a fabric",
    source="GoogleCloudPlatform/gcs-fuse-csi-driver docs/authentication.md",
    layer="run",
)

CLIENT = Rule(
    id="sto-bucket-client",
    title="The variables of a job let a client open its buckets.",
    why="a pod has one region, one storage account and one identity in its variables; with another, access is refused",
    fix="remove the variable, or say region and account in the program; waive this if it does",
    source="boto/botocore botocore/credentials.py create_credential_resolver; google-auth google/auth/_default.py; "
    "azure-identity azure/identity/_credentials/default.py; AWS SDKs and tools reference, service-specific endpoints",
    severity=Severity.WARNING,
)

KEYS = {
    "s3": frozenset(
        {
            *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ROLE_ARN"),
            *("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_SHARED_CREDENTIALS_FILE"),
            *("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONFIG_FILE"),
        }
    ),
    "gs": frozenset({"GOOGLE_APPLICATION_CREDENTIALS"}),
    "az": frozenset({"AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE", "AZURE_TENANT_ID"}),
}
"""By provider, the variables that its clients follow before the identity of the pod, or instead of it."""


ELSEWHERE = {
    "s3": frozenset({"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_STS"}),
    "gs": frozenset({"STORAGE_EMULATOR_HOST"}),
    "az": frozenset({"AZURE_AUTHORITY_HOST", "AZURE_STORAGE_CONNECTION_STRING"}),
}
"""By provider, the variables by which its clients talk to another server than the provider's."""


@PLACED.check()
def check(one: OneJob, team: Team, cluster: Cluster) -> Iterator[Finding]:
    """Yield buckets that the team may not use as the job does, and a service account that has no part in them."""
    del team
    file, job = one.file, one.file.job
    store = cluster.object_storage
    ours = ceph_buckets.of_team(cluster, file.team)
    known = {**(store.of_team(file.team) if store is not None else {}), **dict.fromkeys(ours)}
    seen: dict[str, int] = {}
    for index, use in enumerate(job.buckets):
        place: Path = ("buckets", index)
        bucket = known.get(use.bucket)
        if use.bucket not in known:
            hint = did_you_mean(use.bucket, known) if known else "add it to objectStorage of the cluster"
            message = f"cluster {job.cluster!r} has no bucket {use.bucket!r} for team {file.team!r}; {hint}"
            yield UNKNOWN.at(file.source, (*place, "bucket"), message)
            continue
        if seen.setdefault(use.bucket, index) != index:
            message = f"bucket {use.bucket!r} is listed twice; mount it once, at one mountPath"
            yield UNKNOWN.at(file.source, (*place, "bucket"), message)
        if bucket is None:
            yield from check_ceph(one, use, index)
        else:
            yield from check_use(one, use, bucket, place, file.team)
    if any(use.bucket not in ours for use in job.buckets) and job.service_account not in {None, BUCKETS}:
        message = f"serviceAccount is {job.service_account!r}, but buckets come by account {BUCKETS!r}; remove it"
        yield UNKNOWN.at(file.source, ("serviceAccount",), message)


def check_use(one: OneJob, use: BucketUse, bucket: Bucket, place: Path, team: str) -> Iterator[Finding]:
    """Yield a mount of a bucket that is not mounted, and writes of a team that only reads."""
    if use.mount_path is not None and not bucket.mount:
        message = f"bucket {use.bucket!r} cannot be mounted; remove mountPath, or set mount: true in the cluster's file"
        yield UNKNOWN.at(one.file.source, (*place, "mountPath"), message)
    elif not use.read_only and bucket.teams[team] == "read":
        message = f"team {team!r} only reads bucket {use.bucket!r}; remove readOnly, or give it write there"
        yield UNKNOWN.at(one.file.source, (*place, "readOnly"), message)


def check_ceph(one: OneJob, use: BucketUse, index: int) -> Iterator[Finding]:
    """Yield a mount of a bucket of Ceph, and a bucket for which the pods would have the keys of another."""
    place: Path = ("buckets", index)
    if use.mount_path is not None:
        message = f"bucket {use.bucket!r} is in Ceph, which no driver mounts; remove mountPath and use a client of S3"
        yield UNKNOWN.at(one.file.source, (*place, "mountPath"), message)
    if one.run is not None and one.file.job.runtime is not None and ceph_buckets.trusted(one.run) is not None:
        message = f"pods of a runtime get no certificates for {ceph_buckets.FOLDER}, so clients refuse the store"
        yield CLIENT.at(one.file.source, (*place, "bucket"), f"{message}; remove runtime")
    first = next((other for other in one.file.job.buckets if other.mount_path is None), use)
    if first.bucket != use.bucket:
        message = f"pods have the keys of one bucket, here of {first.bucket!r}, which open no other; remove one"
        yield CLIENT.at(one.file.source, (*place, "bucket"), message)


@PLACED.check()
def check_clients(one: OneJob, team: Team, cluster: Cluster) -> Iterator[Finding]:
    """Yield buckets of clients that get the region or account of another, and variables that replace the identity."""
    del team, cluster
    if one.run is None:
        return
    job, source = one.file.job, one.file.source
    opened = [(use, bucket) for use, bucket in used(one.run) if use.mount_path is None]
    told = environment(one.run)
    for use, bucket in opened:
        wrong = [name for name, value, _ in of_provider(bucket) if told[name].value != value and name not in job.env]
        if wrong:
            message = f"bucket {use.bucket!r} needs {wrong[0]} {next(of_provider(bucket))[1]!r}"
            message += f", but an earlier bucket sets {told[wrong[0]].value!r}; mount one of them"
            yield CLIENT.at(source, ("buckets", job.buckets.index(use), "bucket"), message)
    keys = {name for _, bucket in opened for name in KEYS[bucket.scheme]}
    servers = {name for _, bucket in opened for name in ELSEWHERE[bucket.scheme]}
    for path, names in named_variables(job):
        for name in names:
            if name in keys:
                message = f"clients follow {name}, and not the team's identity for buckets; remove it"
                yield CLIENT.at(source, (*path, name), message)
            elif name in servers:
                message = f"by {name} clients look for the job's buckets on another server; remove it"
                yield CLIENT.at(source, (*path, name), message)


@PLACED.check()
def check_saved(one: OneJob, team: Team, cluster: Cluster) -> Iterator[Finding]:
    """Yield checkpoints whose volume is a mounted bucket, and options that save into one."""
    job, source = one.file.job, one.file.source
    checkpoint = job.checkpoint
    claim = team.volumes.get(checkpoint.volume) if checkpoint else None
    storage = cluster.storage.get(claim.storage) if claim else None
    known = storage.driver if storage else None
    if checkpoint is not None and checkpoint.flush is None and known is not None and not known.renames:
        message = f"volume {checkpoint.volume!r} is on {known.title}, where {lacks(known)}"
        yield STORE.at(source, ("checkpoint", "volume"), f"{message}; save elsewhere, then upload")
    written = dict(written_buckets(job, cluster))
    contents = one.run.contents if one.run is not None and written else {}
    for named in folders_named(job, one.specs.repository, contents) if written else ():
        top = next((folder for folder in written if named.saves and within(named.folder, folder)), None)
        if top is not None:
            message = f"{named.name} saves into bucket {written[top][0]!r}, where {lacks(written[top][1])}"
            yield STORE.at(source, named.path, f"{message}; save elsewhere, then upload")


def written_buckets(job: Job, cluster: Cluster) -> Iterator[tuple[str, tuple[str, Driver]]]:
    """Yield the folders of buckets that a job writes to, with their names and drivers."""
    store = cluster.object_storage
    for use in job.buckets:
        bucket = store.buckets.get(use.bucket) if store is not None else None
        known = driver(DRIVERS[bucket.scheme]) if bucket is not None else None
        if use.mount_path is not None and not use.read_only and known is not None:
            yield use.mount_path.rstrip("/"), (use.bucket, known)


def lacks(known: Driver) -> str:
    """Return in words what savers cannot do on a mounted bucket."""
    return "no folder is renamed in one piece" if known.renames_files else "neither files nor folders are renamed"


@RESOLVED.check()
def check_network(run: Resolved) -> Iterator[Finding]:
    """Yield pods in their node's network that mount a bucket of Google."""
    if not any(bucket.scheme == "gs" for _, bucket in mounted(run.run)):
        return
    if any(role.fabric.host and role.trains for role in run.sizing.roles):
        message = "a pod in its node's network has the node's identity, so GKE mounts no bucket; remove mountPath"
        yield NETWORK.at(run.run.source, ("buckets",), message)
