"""Buckets come to pods by the identity of their team, on every provider, and nobody writes a key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from make import make_cluster, make_job_file, make_repository, make_resolved, make_run, make_specs, make_team
from trainyard.judge.preflight.cluster import buckets as of_cluster
from trainyard.judge.preflight.cluster import exports
from trainyard.judge.preflight.job import buckets as of_job
from trainyard.judge.preflight.job import unsaved
from trainyard.judge.preflight.subjects import OneCluster, OneJob
from trainyard.render.clusters import buckets, nets, rights
from trainyard.render.parts.buckets import REGIONS, environment
from trainyard.render.prerequisites.base import Site
from trainyard.render.prerequisites.buckets import stores
from trainyard.specs.load import Loaded
from trainyard.specs.models.buckets import Bucket

ROLE = "arn:aws:iam::111122223333:role/nlp"
CLIENT = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
S3 = {"url": "s3://example-crawls/filtered", "region": "us-west-2", "mount": True, "teams": {"nlp": "read"}}
GS = {"url": "gs://example-frames", "mount": True, "teams": {"nlp": "write"}}
AZ = {"url": "az://exampleaccount/frames/train", "mount": True, "teams": {"nlp": "write"}}
PROVIDERS = {"irsa": ("eks", ROLE, S3), "pod-identity": ("eks", ROLE, S3), "gke": ("gke-cos", "direct", GS)}
PROVIDERS |= {"azure": ("aks", CLIENT, AZ)}
DRIVERS = dict.fromkeys(buckets.DRIVERS.values(), "by the test")


def there(provider: str, **changes: Any) -> Any:
    """Return a cluster of a provider with one bucket; keywords are fields of its object storage."""
    distribution, said, bucket = PROVIDERS[provider]
    store = {"identity": provider, "teams": {"nlp": said}, "buckets": {"crawls": bucket}, **changes}
    return make_cluster(objectStorage=store, system={"distribution": distribution}, drivers=DRIVERS)


def pods(identity: str, **job: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return metadata and spec of the pods of a job that mounts the bucket."""
    use = [{"bucket": "crawls", "mountPath": "/crawls"}]
    run = make_resolved(cluster=there(identity), **{"buckets": use, **job})
    (found,) = (made.value() for made in run.kind.build(run) if made.kind == "JobSet")
    template = found["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    return template["metadata"], template["spec"]


SOURCES: dict[str, dict[str, Any]] = {
    "irsa": {"authenticationSource": "pod", "bucketName": "example-crawls"},
    "pod-identity": {"authenticationSource": "pod", "bucketName": "example-crawls"},
    "gke": {},
    "azure": {
        "clientID": CLIENT,
        "containerName": "frames",
        "protocol": "fuse2",
        "storageaccount": "exampleaccount",
    },
}
ANNOTATIONS = {"irsa": {"eks.amazonaws.com/role-arn": ROLE}, "azure": {"azure.workload.identity/client-id": CLIENT}}
LABELS = {"azure": {"azure.workload.identity/use": "true"}}
PORTS = {"pod-identity": {80}, "gke": {80, 8080, 987, 988}}


@pytest.mark.parametrize("identity", PROVIDERS)
def test_pods_mount_a_bucket_by_their_account(identity):
    """Pods run as the account that the provider trusts, and mount the one volume that its team has of the bucket."""
    cluster, team = there(identity), make_team()
    metadata, spec = pods(identity)
    assert spec["serviceAccountName"] == "buckets"
    assert spec["automountServiceAccountToken"] is False
    assert metadata["labels"].items() >= LABELS.get(identity, {}).items()
    assert ("gke-gcsfuse/volumes" in metadata["annotations"]) == (identity == "gke")
    (account,) = (made for made in rights.resources(cluster, "nlp", team) if made.kind == "ServiceAccount")
    assert (account.name, dict(account.annotations)) == ("buckets", ANNOTATIONS.get(identity, {}))
    (volume,) = (made.value()["spec"] for made in buckets.volumes(cluster))
    (claim,) = (made.value() for made in buckets.claims(cluster, "nlp"))
    assert volume["claimRef"]["name"] == claim["metadata"]["name"] == "bucket-crawls"
    assert {"name": "bucket-crawls", "persistentVolumeClaim": {"claimName": "bucket-crawls"}} in spec["volumes"]
    assert (claim["spec"]["accessModes"], claim["spec"]["storageClassName"]) == (volume["accessModes"], "")
    assert volume["csi"].get("volumeAttributes", {}) == SOURCES[identity]
    assert volume["accessModes"] == ["ReadWriteMany"]  # so that `read` may become `write`
    (mount,) = (mount for mount in spec["containers"][0]["volumeMounts"] if mount["name"] == "bucket-crawls")
    assert (mount["mountPath"], mount["readOnly"]) == ("/crawls", True)
    opened = {port["port"] for rule in nets.credentials(cluster, "nlp") for port in rule["ports"]}
    assert opened == PORTS.get(identity, set())
    specs = make_specs(clusters={"test": cluster})
    listed = " ".join(item.get for item in stores(Site("test", specs, {"nlp": team})))
    assert ("system:serviceaccount:nlp:buckets" if identity in {"irsa", "azure"} else "nlp") in listed


def test_options_say_folder_and_rights():
    """A folder of a bucket alone is mounted, and Mountpoint deletes and replaces only for teams that write."""
    names = {name: there(name).object_storage.buckets["crawls"] for name in PROVIDERS}
    assert buckets.options(names["irsa"], "read") == [
        "region us-west-2",
        "allow-other",
        "read-only",
        "prefix filtered/",
    ]
    assert {"allow-delete", "allow-overwrite"} <= set(buckets.options(names["irsa"], "write"))
    assert buckets.options(names["gke"], "write") == ["implicit-dirs"]
    assert buckets.options(names["azure"], "write") == ["-o allow_other", "--subdirectory=train"]
    (volume,) = buckets.volumes(there("gke"))
    assert volume.value()["spec"]["csi"]["volumeHandle"] == "example-frames:nlp-bucket-crawls"


def test_a_team_without_an_identity_gets_nothing():
    """A team that is not in a queue, or has no identity, gets no account and no volume."""
    assert not list(buckets.volumes(there("irsa", teams={"vision": ROLE})))
    assert not list(nets.credentials(there("pod-identity", teams={"vision": ROLE}), "nlp"))


def test_what_gke_adds_is_left_free_on_the_node():
    """The container that GKE puts into pods takes its part of what they would have."""
    with_mount, client = (
        make_resolved(cluster=there("gke"), buckets=[{"bucket": "crawls", **mount}]).sizing.roles[0]
        for mount in ({"mountPath": "/crawls"}, {})
    )
    assert client.cpus.value - with_mount.cpus.value == 2
    metadata, _ = pods("gke")
    assert metadata["annotations"]["gke-gcsfuse/cpu-limit"] == "2"


def test_programs_know_where_buckets_are():
    """A program gets the address, and what the provider's client asks for; with a client alone nothing is mounted."""
    _, spec = pods("irsa", buckets=[{"bucket": "crawls"}])
    said = {variable["name"]: variable.get("value") for variable in spec["containers"][0]["env"]}
    assert said["BUCKET_CRAWLS"] == "s3://example-crawls/filtered"
    assert said["AWS_REGION"] == said["AWS_DEFAULT_REGION"] == "us-west-2"
    assert not [volume for volume in spec["volumes"] if volume["name"].startswith("bucket")]
    assert spec["serviceAccountName"] == "buckets"
    found = environment(make_run(cluster=there("azure"), buckets=[{"bucket": "crawls"}]))
    assert found["AZURE_STORAGE_ACCOUNT_NAME"].value == "exampleaccount"


ARN = "the ARN of a role, such as arn:aws:iam::111122223333:role/reader"
OF_CLUSTER: dict[str, tuple[str, dict[str, Any], dict[str, Any], list[str]]] = {
    **{f"whole, {name}": (name, {}, {}, []) for name in PROVIDERS},
    "a Google account": ("gke", {"teams": {"nlp": "nlp@example.iam.gserviceaccount.com"}}, {}, []),
    "an account for a role": (
        "irsa",
        {"teams": {"nlp": "role/nlp"}},
        {},
        [f"identity of team 'nlp' is 'role/nlp', but must be {ARN}"],
    ),
    "direct on EKS": (
        "irsa",
        {"teams": {"nlp": "direct"}},
        {},
        [f"identity of team 'nlp' is 'direct', but must be {ARN}"],
    ),
    "a way of another provider": (
        "irsa",
        {"identity": "gke", "teams": {"nlp": "direct"}, "buckets": {"crawls": GS}},
        {},
        ["identity 'gke' does not exist on distribution 'eks'; use irsa or pod-identity"],
    ),
    "a bucket of another provider": (
        "irsa",
        {"buckets": {"frames": GS}},
        {},
        ["url is 'gs://example-frames', but identity 'irsa' opens only s3://; use a bucket of that provider"],
    ),
    "a team without identity": (
        "irsa",
        {"buckets": {"crawls": {**S3, "teams": {"nlq": "read"}}}},
        {},
        ["team 'nlq' has no identity in objectStorage.teams; did you mean 'nlp'?"],
    ),
    "a team that does not exist": (
        "irsa",
        {"teams": {"nlp": ROLE, "visoin": ROLE}},
        {},
        ["team 'visoin' does not exist; did you mean 'vision'?"],
    ),
    "a team of no queue": (
        "irsa",
        {"teams": {"nlp": ROLE, "vision": ROLE}},
        {},
        ["team 'vision' is in no queue of the cluster, so it gets no identity here; remove it"],
    ),
    "an account of the same name": (
        "irsa",
        {},
        {"serviceAccounts": ["buckets"]},
        ["team 'nlp' has its own service account 'buckets'; use another name in the team's file"],
    ),
    "a volume of the same name": (
        "irsa",
        {},
        {"volumes": {"bucket-crawls": {"storage": "shared", "size": "1Ti"}}},
        ["team 'nlp' has a volume 'bucket-crawls' already; rename the bucket"],
    ),
}


@pytest.mark.parametrize(("identity", "store", "team", "messages"), OF_CLUSTER.values(), ids=OF_CLUSTER)
def test_clusters_say_whole_identities(identity, store, team, messages):
    """Each team of a bucket has an identity of the bucket's provider, and no name is taken twice."""
    teams = {"nlp": make_team(**team), "vision": make_team()}
    specs = make_specs(clusters={"test": there(identity, **store)}, teams=teams)
    one = OneCluster(Loaded(specs, Path()), "test", Path())
    assert [finding.message for finding in of_cluster.check(one)] == messages


OTHER = "arn:aws:iam::111122223333:role/vision"
OTHERS = ["team 'vision' has the identity of team 'nlp', but other buckets or rights; use its own"]
OF_TEAMS: dict[str, tuple[str, dict[str, str], dict[str, str], list[str]]] = {
    "other rights": ("irsa", {"nlp": ROLE, "vision": ROLE}, {"nlp": "read", "vision": "write"}, OTHERS),
    "other buckets": ("irsa", {"nlp": ROLE, "vision": ROLE}, {"nlp": "read"}, OTHERS),
    "the same rights": ("irsa", {"nlp": ROLE, "vision": ROLE}, {"nlp": "read", "vision": "read"}, []),
    "two identities": ("irsa", {"nlp": ROLE, "vision": OTHER}, {"nlp": "read", "vision": "write"}, []),
    "their own accounts": ("gke", {"nlp": "direct", "vision": "direct"}, {"nlp": "read"}, []),
}


@pytest.mark.parametrize(("identity", "teams", "access", "messages"), OF_TEAMS.values(), ids=OF_TEAMS)
def test_teams_share_no_identity(identity, teams, access, messages):
    """A provider cannot tell teams with one identity apart, so each has the rights of both."""
    cluster = there(identity, teams=teams, buckets={"crawls": {**PROVIDERS[identity][2], "teams": access}})
    queues = {name: queue.model_copy(update={"teams": ("nlp", "vision")}) for name, queue in cluster.queues.items()}
    cluster = cluster.model_copy(update={"queues": queues})
    specs = make_specs(clusters={"test": cluster}, teams={"nlp": make_team(), "vision": make_team()})
    one = OneCluster(Loaded(specs, Path()), "test", Path())
    assert [finding.message for finding in of_cluster.check(one)] == messages


NAMES: dict[str, tuple[str, str]] = {
    "too short": ("s3://ab", "must have 3 to 63 characters, not 2"),
    "too long": (f"s3://{'a' * 64}", "must have 3 to 63 characters, not 64"),
    "an address": ("s3://192.168.5.4/x", "must not look like an IP address"),
    "two dots": ("s3://a..b", "must have no '\\.\\.'"),
    "an underscore of S3": ("s3://my_bucket", "must have no '_'"),
    "a name of Amazon's own": ("s3://logs-s3alias", "Amazon keeps for itself"),
    "upper case": ("s3://Crawls/Raw", "only lower-case letters; write 'crawls'"),
    "upper case at Azure": ("az://account/Crawls", "only lower-case letters; write 'crawls'"),
    "an address at Google": ("gs://10.0.0.1", "must not look like an IP address"),
    "two dots at Google": ("gs://a..b", "must have no '\\.\\.'"),
    "a word of Google": ("gs://my-google-data", "contain 'google'"),
    "a long part": (f"gs://{'a' * 64}.example.com", "at most 63 characters between dots"),
    "too short at Azure": ("az://account/ab", "must have 3 to 63 characters"),
    "two hyphens": ("az://account/a--b", "must have no '--'"),
    "a hyphen at the end": ("az://account/abc-", "must have no '--', and no '-' at its end"),
    "no container": ("az://account", "must be s3://bucket"),
}


@pytest.mark.parametrize(("url", "said"), NAMES.values(), ids=NAMES)
def test_a_bucket_has_a_name_that_its_provider_allows(url, said):
    """No provider has such a bucket, and the mount would fail with its name."""
    with pytest.raises(ValidationError, match=said):
        Bucket.model_validate({"url": url, "region": "us-west-2", "teams": {"nlp": "read"}})


@pytest.mark.parametrize(
    "url",
    [
        *("s3://abc", "s3://my.bucket-1/Raw", "s3://fast--usw2-az1--x-s3", "gs://my_bucket", "gs://data.example.com/x"),
        *("az://account/abc/Folder", "az://account/$root", f"gs://{'a' * 60}.{'b' * 60}.com"),
    ],
)
def test_names_that_providers_allow_are_taken(url):
    """Names with dots, underscores at Google, directory buckets and special containers exist."""
    region = {"region": "us-west-2"} if url.startswith("s3") else {}
    assert Bucket.model_validate({"url": url, **region, "teams": {"nlp": "read"}}).url == url


TWO: dict[str, tuple[str, str, str, str, list[str]]] = {
    "read and written": (
        *("s3://crawls/raw", "read", "s3://crawls/raw/", "write"),
        ["team 'nlp' only reads here, but writes to the same folder as bucket 'other'; use one right"],
    ),
    "read in what is written": (
        *("s3://crawls/raw/en", "read", "s3://crawls", "write"),
        ["team 'nlp' only reads here, but writes to the same folder as bucket 'other'; use one right"],
    ),
    "a folder of it is written": ("s3://crawls", "read", "s3://crawls/out", "write", []),
    "a folder with a longer name": ("s3://crawls/raw2", "read", "s3://crawls/raw", "write", []),
    "the same right": ("s3://crawls/raw", "read", "s3://crawls/raw", "read", []),
    "another bucket": ("s3://crawls", "read", "s3://crawls2", "write", []),
}


@pytest.mark.parametrize(("url", "right", "other", "also", "messages"), TWO.values(), ids=TWO)
def test_a_folder_has_one_right(url, right, other, also, messages):
    """A provider sees one identity, so a team that may write by one name may write by all."""
    buckets = {
        "crawls": {"url": url, "region": "us-west-2", "teams": {"nlp": right}},
        "other": {"url": other, "region": "us-west-2", "teams": {"nlp": also}},
    }
    specs = make_specs(clusters={"test": there("irsa", buckets=buckets)}, teams={"nlp": make_team()})
    one = OneCluster(Loaded(specs, Path()), "test", Path())
    assert [finding.message for finding in of_cluster.check(one)] == messages


@pytest.mark.parametrize("region", ["us-west2", "us-west-2a", "US West (Oregon)", "us-gov-west", "auto"])
def test_a_region_is_one(region):
    """A zone, a title and a typo are no region, and the mount would fail with them."""
    with pytest.raises(ValidationError):
        Bucket.model_validate({**S3, "region": region})
    assert Bucket.model_validate({**S3, "region": "us-gov-west-1"}).region == "us-gov-west-1"


CLIENT, MOUNTED = {"bucket": "models"}, {"bucket": "crawls", "mountPath": "/crawls"}
FOLLOW = "and not the team's identity for buckets; remove it"
OF_CLIENTS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "one region": ({"buckets": [CLIENT]}, []),
    "the other is mounted": ({"buckets": [MOUNTED, CLIENT]}, []),
    "two regions": (
        {"buckets": [{"bucket": "crawls"}, CLIENT]},
        ["bucket 'models' needs AWS_REGION 'eu-west-1', but an earlier bucket sets 'us-west-2'; mount one of them"],
    ),
    "two regions, and the job says one": (
        {"buckets": [{"bucket": "crawls"}, CLIENT], "env": dict.fromkeys(REGIONS, "eu-west-1")},
        [],
    ),
    "keys of a Secret": (
        {"buckets": [CLIENT], "secrets": {"AWS_ACCESS_KEY_ID": "s3/id"}},
        [f"clients follow AWS_ACCESS_KEY_ID, {FOLLOW}"],
    ),
    "another role": (
        {"buckets": [CLIENT], "env": {"AWS_ROLE_ARN": ROLE}},
        [f"clients follow AWS_ROLE_ARN, {FOLLOW}"],
    ),
    "credentials of a sidecar": (
        {"buckets": [CLIENT], "env": {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1/keys"}},
        [f"clients follow AWS_CONTAINER_CREDENTIALS_FULL_URI, {FOLLOW}"],
    ),
    "another server": (
        {"buckets": [CLIENT], "env": {"AWS_ENDPOINT_URL": "https://minio.example.com"}},
        ["by AWS_ENDPOINT_URL clients look for the job's buckets on another server; remove it"],
    ),
    "another server besides mounts": ({"buckets": [MOUNTED], "env": {"AWS_ENDPOINT_URL": "https://example.com"}}, []),
    "keys besides mounts": ({"buckets": [MOUNTED], "secrets": {"AWS_ACCESS_KEY_ID": "s3/id"}}, []),
    "keys without buckets": ({"secrets": {"AWS_ACCESS_KEY_ID": "s3/id"}}, []),
    "keys of another provider": (
        {"buckets": [CLIENT], "secrets": {"GOOGLE_APPLICATION_CREDENTIALS": "gcs/file"}},
        [],
    ),
}


@pytest.mark.parametrize(("job", "messages"), OF_CLIENTS.values(), ids=OF_CLIENTS)
def test_clients_find_their_buckets(job, messages):
    """A client gets the region of its bucket and the team's identity, and a bucket that is mounted takes neither."""
    models = {"url": "s3://models", "region": "eu-west-1", "teams": {"nlp": "write"}}
    cluster, team = there("irsa", buckets={"crawls": S3, "models": models}), make_team(secrets=["s3", "gcs"])
    specs = make_specs(clusters={"test": cluster}, teams={"nlp": team}, repository=make_repository())
    one = OneJob(specs, make_job_file(**job), make_run(cluster=cluster, team=team, **job))
    assert [finding.message for finding in of_job.check_clients(one, team, cluster)] == messages


def test_a_mount_needs_its_driver_in_the_list():
    """A bucket that jobs may mount names a driver that somebody installs."""
    cluster = there("irsa").model_copy(update={"drivers": {}})
    one = OneCluster(Loaded(make_specs(clusters={"test": cluster}), Path()), "test", Path())
    assert [finding.rule for finding in of_cluster.check(one)] == ["sto-driver-installed"]


def test_a_bucket_of_google_is_no_export():
    """GCS FUSE needs an annotation of the pod, which an export alone does not bring."""
    export = {"team": "nlp", "size": "1Ti", "handle": "frames", "volume": "checkpoints"}
    storage = {"shared": {"provisioner": "gcsfuse.csi.storage.gke.io", "exports": {"frames": export}}}
    cluster = make_cluster(storage=storage, drivers=DRIVERS)
    one = OneCluster(Loaded(make_specs(clusters={"test": cluster}), Path()), "test", Path())
    assert [finding.message for finding in exports.check(one)] == [
        "export 'frames' is a bucket, whose pods need more than a volume; use objectStorage.buckets"
    ]


MOUNT = {"bucket": "crawls", "mountPath": "/crawls"}
RENAMES = "neither files nor folders are renamed; save elsewhere, then upload"
OF_JOB: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "reads": ("irsa", {"buckets": [MOUNT]}, []),
    "by a client": ("irsa", {"buckets": [{"bucket": "crawls"}]}, []),
    "writes where it may": ("gke", {"buckets": [{**MOUNT, "readOnly": False}]}, []),
    "a typo": (
        "irsa",
        {"buckets": [{"bucket": "crawl"}]},
        ["cluster 'test' has no bucket 'crawl' for team 'nlp'; did you mean 'crawls'?"],
    ),
    "writes where it may not": (
        "irsa",
        {"buckets": [{**MOUNT, "readOnly": False}]},
        ["team 'nlp' only reads bucket 'crawls'; remove readOnly, or give it write there"],
    ),
    "twice": (
        "irsa",
        {"buckets": [MOUNT, {**MOUNT, "mountPath": "/more"}]},
        ["bucket 'crawls' is listed twice; mount it once, at one mountPath"],
    ),
    "another account": (
        "irsa",
        {"buckets": [MOUNT], "serviceAccount": "reader"},
        ["serviceAccount is 'reader', but buckets come by account 'buckets'; remove it"],
    ),
    "saves into a bucket": (
        "gke",
        {"buckets": [{**MOUNT, "readOnly": False}], "args": ["--save", "/crawls/run"], "checkpoint": None},
        ["--save saves into bucket 'crawls', where no folder is renamed in one piece; save elsewhere, then upload"],
    ),
    "saves beside it": (
        "gke",
        {"buckets": [{**MOUNT, "readOnly": False}], "args": ["--save", "/checkpoints"]},
        [],
    ),
}


@pytest.mark.parametrize(("identity", "job", "messages"), OF_JOB.values(), ids=OF_JOB)
def test_jobs_use_buckets_as_their_team_may(identity, job, messages):
    """A job names buckets of its team, as the team may use them, and saves nowhere on them."""
    cluster, team = there(identity), make_team(serviceAccounts=["reader"])
    specs = make_specs(clusters={"test": cluster}, teams={"nlp": team}, repository=make_repository())
    one = OneJob(specs, make_job_file(**job), make_run(cluster=cluster, team=team, **job))
    found = [*of_job.check(one, team, cluster), *of_job.check_saved(one, team, cluster)]
    assert [finding.message for finding in found] == messages


@pytest.mark.parametrize(
    ("driver", "messages"),
    {
        "nfs.csi.k8s.io": [],
        "s3.csi.aws.com": [f"volume 'checkpoints' is on Mountpoint for S3, where {RENAMES}"],
    }.items(),
)
def test_checkpoints_are_on_no_bucket(driver, messages):
    """A volume of checkpoints that cannot rename is named, whatever class it is of."""
    cluster, team = make_cluster(storage={"shared": {"provisioner": driver, "existing": True}}), make_team()
    specs = make_specs(clusters={"test": cluster}, teams={"nlp": team}, repository=make_repository())
    job = {"checkpoint": {"volume": "checkpoints", "size": "1Gi"}}
    one = OneJob(specs, make_job_file(**job), make_run(cluster=cluster, team=team, **job))
    assert [finding.message for finding in of_job.check_saved(one, team, cluster)] == messages


@pytest.mark.parametrize(("identity", "count"), {"irsa": 1, "gke": 0}.items())
def test_a_bucket_that_is_only_read_saves_nothing(identity, count):
    """A long run without a checkpoint is named, unless it uses a bucket that its team may write to."""
    job = {"buckets": [{"bucket": "crawls"}], "checkpoint": None, "max_hours": None, "args": []}
    cluster, team = there(identity), make_team()
    specs = make_specs(
        clusters={"test": cluster}, teams={"nlp": team}, repository=make_repository(unsaved_gpu_hours=50)
    )
    one = OneJob(specs, make_job_file(**job), make_run(cluster=cluster, team=team, **job))
    assert len(list(unsaved.check(one))) == count
