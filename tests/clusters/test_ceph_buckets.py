"""Buckets of the cluster's own Ceph: Rook makes them with keys that pods alone read, and nothing deletes them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from make import (
    CLUSTER,
    make_cluster,
    make_job_file,
    make_repository,
    make_resolved,
    make_run,
    make_specs,
    make_team,
)
from preflight.cluster.test_ceph import CEPH, PEM, ROOK
from trainyard.judge.preflight.job import buckets as of_job
from trainyard.judge.preflight.job import limits, unsaved
from trainyard.judge.preflight.subjects import OneJob
from trainyard.render.clusters import projects
from trainyard.render.clusters import team as _team
from trainyard.render.clusters.applications import Follower
from trainyard.render.operators.install import sites
from trainyard.render.operators.rook import OPERATOR
from trainyard.render.parts.ceph_buckets import secret_origins
from trainyard.render.tenancy import allowance
from trainyard.specs import Cluster

STORES = {
    "models": {
        "buckets": {"vectors": {"team": "nlp", "size": "2Ti"}, "more": {"team": "nlp", "size": "1Ti"}},
        "failureDomain": "rack",
    },
    "theirs": {"buckets": {"frames": {"team": "vision", "size": "1Ti"}}},
}


def cluster(values: dict[str, Any] | None = None, **changes: Any) -> Cluster:
    """Return a cluster with two stores; `values` are those of Rook's chart."""
    operators = {**CLUSTER["operators"], **ROOK, "rook": {**ROOK["rook"], "values": values or {}}}
    return make_cluster(ceph={**CEPH, "objectStores": STORES}, operators=operators, **changes)


def test_a_store_and_its_buckets_outlive_their_objects():
    """Pools and buckets stay when objects go, and a claim has the name by which it gets its bucket back."""
    (site,) = [site for site in sites(cluster()) if site.name == "rook"]
    objects = {f"{item.kind}/{item.name}": item.value() for item in OPERATOR.own(site)}
    store = objects["CephObjectStore/models"]
    assert store["metadata"]["annotations"] == {
        "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
        "argocd.argoproj.io/sync-wave": "1",
    }
    assert store["spec"]["preservePoolsOnDelete"]
    assert store["spec"]["dataPool"]["failureDomain"] == "rack"
    of_class = objects["StorageClass/ceph-buckets-models"]
    assert (of_class["provisioner"], of_class["reclaimPolicy"]) == ("rook-ceph.ceph.rook.io/bucket", "Retain")
    made = {item.name: item for item in _team.resources("test", cluster(), "nlp", make_team())}
    assert "bucket-theirs.frames" not in made
    claim = made["bucket-models.vectors"].value()
    assert claim["metadata"]["annotations"] == {"argocd.argoproj.io/sync-options": "Prune=false,Delete=false"}
    assert claim["spec"] == {
        "bucketName": "nlp.vectors",
        "storageClassName": "ceph-buckets-models",
        "additionalConfig": {"maxSize": "2Ti"},
    }


def test_pods_open_a_bucket_by_the_keys_that_rook_made():
    """Address and region are plain, keys come from the claim's Secret, and no account of a provider is needed."""
    run = make_resolved(cluster=cluster(), buckets=[{"bucket": "vectors"}])
    (found,) = (made.value() for made in run.kind.build(run) if made.kind == "JobSet")
    spec = found["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    env = {
        item["name"]: item.get("value") or item["valueFrom"]["secretKeyRef"] for item in spec["containers"][0]["env"]
    }
    assert env["AWS_ENDPOINT_URL_S3"] == "http://rook-ceph-rgw-models.rook-ceph.svc"
    assert env["BUCKET_VECTORS"] == "s3://nlp.vectors"
    assert {env["AWS_REGION"], env["AWS_DEFAULT_REGION"]} == {"us-east-1"}
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        assert env[name] == {"name": "bucket-models.vectors", "key": name}
        assert secret_origins(run.run)[name].value == f"Secret bucket-models.vectors/{name}"
    assert "serviceAccountName" not in spec
    assert unsaved.writes_bucket(run.run)
    allowed = allowance.of(make_repository(), "test", run.run.cluster, "nlp", make_team(secrets=["wandb"])).lists
    assert allowed["secrets"] == ("bucket-models.more", "bucket-models.vectors", "wandb")


def test_a_team_reaches_the_stores_of_its_buckets_alone():
    """Pods of a store listen at 8080, which a policy sees; a team without buckets reaches none."""
    for team, stores in {"nlp": ["models"], "vision": ["theirs"], "ads": []}.items():
        made = {item.name: item for item in _team.resources("test", cluster(), team, make_team())}
        rules = made["outside"].fields["spec"]["egress"]
        peers = [(rule["to"][0]["podSelector"], rule["ports"]) for rule in rules if "rook-ceph" in str(rule)]
        assert [pods["matchExpressions"][0]["values"] for pods, _ in peers] == ([stores] if stores else [])
        assert all(ports == [{"port": 8080, "protocol": "TCP"}] for _, ports in peers)


OURS, MORE = {"bucket": "vectors"}, {"bucket": "more"}
KEYS = "pods have the keys of one bucket, here of 'vectors', which open no other; remove one"
OF_JOB: dict[str, tuple[dict[str, Any], list[str]]] = {
    "one bucket": ({"buckets": [OURS]}, []),
    "with an account of its own": ({"buckets": [OURS], "serviceAccount": "reader"}, []),
    "two buckets": ({"buckets": [OURS, MORE]}, [KEYS]),
    "twice": ({"buckets": [OURS, OURS]}, ["bucket 'vectors' is listed twice; mount it once, at one mountPath"]),
    "a folder": (
        {"buckets": [{**OURS, "mountPath": "/vectors"}]},
        ["bucket 'vectors' is in Ceph, which no driver mounts; remove mountPath and use a client of S3"],
    ),
    "a bucket of another team": (
        {"buckets": [{"bucket": "frames"}]},
        ["cluster 'test' has no bucket 'frames' for team 'nlp'; there are: more, vectors"],
    ),
    "other keys": (
        {"buckets": [OURS], "secrets": {"AWS_ACCESS_KEY_ID": "s3/id"}},
        ["secrets sets AWS_ACCESS_KEY_ID, which Trainyard sets itself; remove it"],
    ),
    "another server": (
        {"buckets": [OURS], "env": {"AWS_ENDPOINT_URL_S3": "http://minio.example.com"}},
        ["env sets AWS_ENDPOINT_URL_S3, which Trainyard sets itself; remove it"],
    ),
    "another region": ({"buckets": [OURS], "env": {"AWS_REGION": "eu-west-1"}}, []),
    "keys without a bucket": ({"secrets": {"AWS_ACCESS_KEY_ID": "s3/id"}}, []),
}


@pytest.mark.parametrize(("job", "messages"), OF_JOB.values(), ids=OF_JOB)
def test_jobs_use_one_bucket_by_a_client(job, messages):
    """A pod has one pair of keys and one server, which its job may not change."""
    team = make_team(serviceAccounts=["reader"], secrets=["s3"])
    specs = make_specs(clusters={"test": cluster()}, teams={"nlp": team}, repository=make_repository())
    one = OneJob(specs, make_job_file(**job), make_run(cluster=cluster(), team=team, **job))
    run = make_resolved(cluster=cluster(), team=team, **job)
    found = [*of_job.check(one, team, cluster()), *limits.check_names(run)]
    assert [finding.message for finding in found] == messages


VALUES: dict[str, tuple[dict[str, Any], str]] = {
    "another provisioner": ({"enableOBCWatchOperatorNamespace": False}, "then no provisioner has the name"),
    "a prefix": ({"obcProvisionerNamePrefix": "site"}, "then no provisioner has the name"),
    "no sizes": ({"obcAllowAdditionalConfigFields": "maxObjects"}, "lacks maxSize"),
    "claims of anybody": ({"rbacAggregate": {"enableOBCs": True}}, "claim a bucket of another team"),
}


@pytest.mark.parametrize(("values", "said"), VALUES.values(), ids=VALUES)
def test_values_that_break_buckets_are_named(values, said):
    """Rook gives claims to the provisioner that its values name, and a bucket to whoever claims its name."""
    (site,) = [site for site in sites(cluster(values)) if site.name == "rook"]
    (found,) = OPERATOR.conflicts(site)
    assert said in found.message
    (site,) = [site for site in sites(cluster({"obcAllowAdditionalConfigFields": "maxSize"})) if site.name == "rook"]
    assert not list(OPERATOR.conflicts(site))


def secure(**tls: Any) -> Cluster:
    """Return a cluster whose store of team nlp serves HTTPS, as `tls` says."""
    stores = {**STORES, "models": {**STORES["models"], "tls": {"authority": PEM, **tls}}}
    operators = {**CLUSTER["operators"], **ROOK, "cert-manager": {"version": "1.21.1"}}
    return make_cluster(ceph={**CEPH, "objectStores": stores}, operators=operators)


@pytest.mark.parametrize("tls", [{"issuer": "site"}, {"secret": "rgw-models-tls"}])
def test_new_runs_reach_a_store_by_https(tls):
    """Client and gateway name one host, the pods have the authority's certificates, and old runs go on by HTTP."""
    there = secure(**tls)
    run = make_resolved(cluster=there, buckets=[{"bucket": "vectors"}])
    (found,) = (made.value() for made in run.kind.build(run) if made.kind == "JobSet")
    spec = found["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    env = {item["name"]: item.get("value") for item in spec["containers"][0]["env"]}
    host = "rook-ceph-rgw-models.rook-ceph.svc"
    assert (env["AWS_ENDPOINT_URL_S3"], env["AWS_CA_BUNDLE"]) == (f"https://{host}:8443", "/etc/ceph-authority/ca.crt")
    (volume,) = (item for item in spec["volumes"] if item["name"] == "ceph-authority")
    made = {item.name: item for item in _team.resources("test", there, "nlp", make_team())}
    assert made[volume["configMap"]["name"]].fields["data"] == {"ca.crt": PEM}
    assert (
        volume["configMap"]["name"]
        in allowance.of(make_repository(), "test", there, "nlp", make_team()).lists["configmaps"]
    )
    assert {"name": "ceph-authority", "mountPath": "/etc/ceph-authority", "readOnly": True} in spec["containers"][0][
        "volumeMounts"
    ]
    (rule,) = (rule for rule in made["outside"].fields["spec"]["egress"] if "rook-ceph" in str(rule))
    assert [port["port"] for port in rule["ports"]] == [8080, 8443]
    (site,) = [site for site in sites(there) if site.name == "rook"]
    objects = {f"{item.kind}/{item.name}": item.value()["spec"] for item in OPERATOR.own(site) if item.kind[0] == "C"}
    gateway = objects["CephObjectStore/models"]["gateway"]
    assert (gateway["port"], gateway["securePort"], gateway["sslCertificateRef"]) == (80, 8443, "rgw-models-tls")
    names = [objects[one]["dnsNames"] for one in objects if one.startswith("Certificate/")]
    assert names == ([[host]] if "issuer" in tls else [])
    assert "securePort" not in objects["CephObjectStore/theirs"]["gateway"]
    plain = {item.name: item for item in _team.resources("test", there, "vision", make_team())}
    assert not any("authority" in name for name in plain)


@pytest.mark.parametrize(("there", "told"), [(secure(issuer="site"), True), (cluster(), False)])
def test_pods_of_a_runtime_get_no_certificates(there, told):
    """Trainyard writes none of their volumes, so clients would refuse a store by HTTPS."""
    job: dict[str, Any] = {"buckets": [OURS], "kind": "TrainJob", "runtime": "torch-distributed"}
    one = OneJob(make_specs(clusters={"test": there}), make_job_file(**job), make_run(cluster=there, **job))
    found = [finding.message for finding in of_job.check(one, make_team(), there)]
    assert [message.startswith("pods of a runtime get no certificates") for message in found] == (
        [True] if told else []
    )


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no source": ({}, "must have exactly one of: issuer, secret"),
    "two": ({"issuer": "site", "secret": "rgw"}, "must have exactly one of: issuer, secret"),
    "a key": (
        {"issuer": "site", "authority": PEM.replace("CERTIFICATE", "PRIVATE KEY")},
        "has a block 'PRIVATE KEY'; only certificates belong here",
    ),
    "a name": ({"issuer": "site", "authority": "site-ca"}, "must be certificates in PEM"),
    "text in a block": ({"issuer": "site", "authority": PEM.replace("MAMCAQE", "secret!")}, "must be certificates in"),
}


@pytest.mark.parametrize(("tls", "message"), WRONG.values(), ids=WRONG)
def test_the_authority_is_certificates_and_nothing_else(tls, message):
    """A key in the file would be in Git, and in a ConfigMap of each team."""
    with pytest.raises(ValidationError, match=message):
        secure(**tls)


@pytest.mark.parametrize(("system", "allowed"), [({"distribution": "openshift"}, True), ({}, False)])
def test_argo_cd_applies_the_constraints_of_charts_on_openshift(system, allowed):
    """Rook's chart makes them where the server has their kind; a project that lacks it refuses the whole sync."""
    there = cluster(**({"system": system} if system else {}))
    follower = Follower("test", there, make_repository())
    (made,) = (item for item in projects.resources(follower, {}, {}) if item.name == "test-operators")
    kinds = [item["kind"] for item in made.fields["spec"]["clusterResourceWhitelist"]]
    assert ("SecurityContextConstraints" in kinds) == allowed
