"""Addresses inside the cluster that a job names are open to its team's pods, or a finding says that they are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from make import CLUSTER, JOB, TEAM, write_repository
from trainyard.base.documents import dump
from trainyard.judge import preflight

CIDRS = {"pods": "10.80.0.0/14", "services": "10.84.0.0/16", "nodes": "10.88.0.0/20"}
OPEN = [{"namespace": "mlops", "ports": [5000]}]


def found(
    root: Path,
    *,
    cidrs: dict[str, str] | None = CIDRS,
    extra: dict[str, Any] | None = None,
    team: dict[str, Any] | None = None,
    cluster: dict[str, Any] | None = None,
    **job: Any,
) -> list[str]:
    """Return what is said of the addresses of a job, in a repository with these objects besides."""
    write_repository(
        root,
        jobs={"nlp/train": {**JOB, **job}},
        teams={"nlp": {**TEAM, **(team or {})}},
        clusters={"test": {**CLUSTER, **({"cidrs": cidrs} if cidrs else {}), **(cluster or {})}},
    )
    for path, value in (extra or {}).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(value if isinstance(value, str) else dump(value))
    findings = preflight.check_repository(root).findings
    return [f"{finding.path}: {finding.message}" for finding in findings if finding.rule == "run/closed-address"]


CLOSED: dict[str, dict[str, Any]] = {
    "env.MLFLOW_TRACKING_URI: 'tracker.mlops.svc'": {"env": {"MLFLOW_TRACKING_URI": "http://tracker.mlops.svc:5000"}},
    "env.URL: 'tracker.mlops.svc.cluster.local'": {"env": {"URL": "https://a@tracker.mlops.svc.cluster.local/api"}},
    "env.DB: 'db-0.db.mlops.svc'": {"env": {"DB": "postgresql://me:$(WORD)@db-0.db.mlops.svc:5432/runs"}},
    "args[1]: 'tracker.mlops.svc'": {"args": ["--tracker", "tracker.mlops.svc"]},
    "args[0]: 'tracker.mlops.svc'": {"args": ["--tracker=http://tracker.mlops.svc"]},
    "env.URL: 'grafana.argocd'": {"env": {"URL": "http://grafana.argocd/d/1"}},
    "env.URL: 10.84.3.7": {"env": {"URL": "http://10.84.3.7:5000"}},
    "env.LICENSE: 10.88.0.9": {"env": {"LICENSE": "27000@tracker, 10.88.0.9:27000"}},
    "initContainers[0].args[0]: 'mirror.mlops.svc'": {
        "initContainers": [{"name": "fetch", "image": JOB["image"], "args": ["http://mirror.mlops.svc/data"]}]
    },
    "containers[0].env[0].value: 'push.mlops.svc'": {
        "containers": [
            {"name": "side", "image": JOB["image"], "env": [{"name": "GATEWAY", "value": "push.mlops.svc:9091"}]}
        ]
    },
}


@pytest.mark.parametrize(("place", "job"), CLOSED.items(), ids=CLOSED)
def test_an_address_that_is_closed_is_told(tmp_path: Path, place: str, job: dict[str, Any]) -> None:
    """At the field that names it: no policy of the team's namespace lets its pods reach another namespace."""
    (said,) = found(tmp_path, **job)
    assert said.startswith(place)
    assert "closed to team 'nlp'" in said


def test_a_tracker_of_the_cluster_that_is_closed_is_told(tmp_path: Path) -> None:
    """The program gets its address as a variable, so the job names the tracker alone."""
    said = {"cluster": {"tracking": {"mlflow": {"url": "http://tracker.mlops.svc:5000"}}}, "tracking": ["mlflow"]}
    (told,) = found(tmp_path / "closed", **said)
    assert told.startswith("tracking[0]: 'tracker.mlops.svc' is in namespace 'mlops', which is closed to team 'nlp'")
    assert not found(tmp_path / "opened", team={"egress": OPEN}, **said)
    assert not found(tmp_path / "unused", **{**said, "tracking": []})
    assert not found(
        tmp_path / "outside", **{**said, "cluster": {"tracking": {"mlflow": {"url": "https://m.example.com"}}}}
    )


def test_an_address_in_a_small_file_is_told_where_the_file_is_named(tmp_path: Path) -> None:
    """Comments name whatever they like."""
    text = "# http://old.mlops.svc\ntracker: http://tracker.mlops.svc:5000\n"
    files = [{"source": "train/config.yaml", "mountPath": "/config"}]
    (said,) = found(tmp_path, files=files, extra={"jobs/nlp/train/config.yaml": text})
    assert said.startswith("files[0].source: 'tracker.mlops.svc' is in namespace 'mlops'")


def test_a_namespace_that_is_open_elsewhere_is_told_with_the_cluster_to_add(tmp_path: Path) -> None:
    """An entry of egress may hold on some clusters only."""
    other = {"egress": [{**OPEN[0], "clusters": ["other"]}]}
    (said,) = found(tmp_path, team=other, env={"URL": "http://tracker.mlops.svc:5000"})
    assert said.endswith("which team 'nlp' opens only on other; add 'test'")


def test_pods_of_another_team_are_told_as_such(tmp_path: Path) -> None:
    """No entry of egress opens them: they accept nothing."""
    queue = {**CLUSTER["queues"]["research"], "teams": ["nlp", "ads"]}
    (said,) = found(tmp_path, cluster={"queues": {"research": queue}}, env={"URL": "http://redis.ads.svc:6379"})
    assert "pods accept no connection" in said


def policy(egress: list[Any], **metadata: str) -> dict[str, Any]:
    """Return a policy for all pods of the team."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "own", "namespace": "nlp", **metadata},
        "spec": {"podSelector": {}, "policyTypes": ["Egress"], "egress": egress},
    }


TRACKER = {"env": {"URL": "http://tracker.mlops.svc:5000"}}
SPACE = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "mlops"}}}
PLATFORM = "platform/extra/test/platform/own.yaml"
TEAMS = "platform/extra/test/teams/nlp/own.yaml"

QUIET: dict[str, dict[str, Any]] = {
    "the team opens the namespace": {"team": {"egress": OPEN}, **TRACKER},
    "a policy of one's own opens it": {"extra": {TEAMS: policy([{"to": [SPACE]}])}, **TRACKER},
    "one by labels that nobody knows": {
        "extra": {PLATFORM: policy([{"to": [{"namespaceSelector": {"matchLabels": {"open": "yes"}}}]}])},
        **TRACKER,
    },
    "one by the range of pods": {"extra": {TEAMS: policy([{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}])}, **TRACKER},
    "Cilium's": {
        "extra": {TEAMS: {**policy([]), "apiVersion": "cilium.io/v2", "kind": "CiliumNetworkPolicy"}},
        **TRACKER,
    },
    "a Service that leads outside": {
        "extra": {
            PLATFORM: {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "tracker", "namespace": "mlops"},
                "spec": {"type": "ExternalName", "externalName": "tracker.example.com"},
            }
        },
        **TRACKER,
    },
    "what a program may add": {
        "extra": {"platform/extra/test/teams/nlp/a.py": "def objects(s):\n    pass\n"},
        **TRACKER,
    },
    "a cluster whose ranges nobody knows": {"cidrs": None, **TRACKER},
    "the team's own Service": {"env": {"URL": "http://tracker.nlp.svc:5000"}},
    "a server outside": {"env": {"URL": "https://tracker.example.com", "OTHER": "https://svc.example.com"}},
    "a Service of another cluster": {"env": {"URL": "http://tracker.mlops.svc.clusterset.local"}},
    "a domain of the internet that a namespace is named as": {
        "cluster": {"queues": {"research": {**CLUSTER["queues"]["research"], "teams": ["nlp", "ai"]}}},
        "env": {"URL": "https://tracker.ai"},
    },
    "what keeps a proxy out": {"env": {"no_proxy": "tracker.mlops.svc,10.84.0.1:80"}},
    "the API server": {"env": {"URL": "https://kubernetes.default.svc"}},
    "a name server": {"env": {"URL": "10.84.0.10:53"}},
    "a file of that ending": {"args": ["/models/digits.rbf.svc", "--version=10.84.1.2"]},
    "an address outside": {"env": {"URL": "http://192.168.7.7:5000", "BIND": "0.0.0.0:8080"}},
    "an address of a node that the team opens": {
        "team": {"egress": [{"cidr": "10.88.0.9/32", "ports": [27000]}]},
        "env": {"LICENSE": "10.88.0.9:27000"},
    },
    "a node's, for a team with accounts": {
        "team": {"serviceAccounts": ["reader"]},
        "env": {"LICENSE": "10.88.0.9:27000"},
    },
    "a Service's address, where a namespace is open": {"team": {"egress": OPEN}, "env": {"URL": "http://10.84.3.7"}},
}


@pytest.mark.parametrize("quiet", QUIET.values(), ids=QUIET)
def test_an_address_that_may_be_open_is_none(tmp_path: Path, quiet: dict[str, Any]) -> None:
    """By whatever opens it, and where nobody knows."""
    assert found(tmp_path, **quiet) == []
