"""What a team's file says of clusters holds there: names, ways into the cluster, identities."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from make import TEAM, fields, make_cluster, make_job_file, make_source, make_specs, make_team
from trainyard.base.findings import Finding
from trainyard.judge.preflight.subjects import OneTeam
from trainyard.judge.preflight.team.clusters import check

RANGES = {"pods": "10.0.0.0/14", "services": "10.4.0.0/16", "nodes": "10.8.0.0/20"}
ELSEWHERE = {"pods": "10.100.0.0/14", "services": "10.104.0.0/16", "nodes": "10.108.0.0/20"}


def found(**changes: Any) -> list[Finding]:
    """Return what is wrong with a team on the clusters `test` and `far`, beside another team that is there too."""
    queues = {"research": {"teams": ["nlp", "ads"], "nominalQuota": {"gpu": {"gpus": 32}}}}
    clusters = {
        "test": make_cluster(cidrs=RANGES, queues=queues),
        "far": make_cluster(cidrs=ELSEWHERE, queues=queues),
    }
    specs = make_specs(make_job_file(), clusters=clusters, teams={"nlp": make_team(**changes), "ads": make_team()})
    source = make_source("platform/teams/nlp.yaml", fields(TEAM, changes))
    return list(check(OneTeam(replace(specs, sources={**specs.sources, "team/nlp": source}), "nlp")))


def server(cidr: str, **more: Any) -> dict[str, Any]:
    """Return a team's fields that open one port of a range."""
    return {"egress": [{"cidr": cidr, "ports": [443], **more}]}


CASES: dict[str, tuple[dict[str, Any], str | None, str]] = {
    "a server on a node": (server("10.8.0.7/32"), None, ""),
    "a node of one of two clusters": (server("10.108.0.7/32"), None, ""),
    "a server among the pods' addresses": (server("10.1.0.7/32"), None, ""),
    "a namespace of its own": ({"egress": [{"namespace": "storage", "ports": [9000]}]}, None, ""),
    "all there is": (server("0.0.0.0/0"), "spec/egress-too-wide", "cidr 0.0.0.0/0 contains every address; "),
    "all of IPv6": (server("::/0"), "spec/egress-too-wide", "cidr ::/0 contains every address; "),
    "all pods": (server("10.0.0.0/8"), "spec/egress-too-wide", "cidr 10.0.0.0/8 contains all pods of cluster 'test'"),
    "the pods of one of two clusters": (
        server("10.96.0.0/11", clusters=["far"]),
        "spec/egress-too-wide",
        "cidr 10.96.0.0/11 contains all pods of cluster 'far'; ",
    ),
    "a Service's address": (
        server("10.4.0.9/32", clusters=["test"]),
        "spec/egress-no-effect",
        "cidr 10.4.0.9/32 contains Services, but policies apply to the pods behind them; ",
    ),
    "the world": (server("93.184.216.0/24"), "spec/egress-no-effect", "cidr 93.184.216.0/24 is outside the cluster, "),
    "nodes of a team that reaches them already": (
        {**server("10.8.0.7/32"), "service_accounts": ["reader"]},
        "spec/egress-no-effect",
        "cidr 10.8.0.7/32 is of nodes, which a team with service accounts already reaches; ",
    ),
    "the metadata service": (
        server("169.254.169.254/32"),
        "spec/egress-metadata",
        "cidr 169.254.169.254/32 contains the nodes' metadata service; ",
    ),
    "that of EC2 over IPv6": (server("fd00:ec2::254/128"), "spec/egress-metadata", "cidr fd00:ec2::254/128 contains "),
    "its own namespace": (
        {"egress": [{"namespace": "nlp", "ports": [443]}]},
        "spec/egress-no-effect",
        "pods of namespace 'nlp' already reach each other; remove the entry",
    ),
    "another team's namespace": (
        {"egress": [{"namespace": "ads", "ports": [443]}]},
        "spec/egress-team",
        "namespace 'ads' belongs to another team, whose pods accept no connection; ",
    ),
    "a cluster that does not exist": (
        server("10.8.0.7/32", clusters=["tset"]),
        "spec/unknown-cluster",
        "cluster 'tset' does not exist; did you mean 'test'?",
    ),
    "a level on a cluster that does not exist": (
        {"pod_security": {"default": "restricted", "tset": "privileged"}},
        "spec/unknown-cluster",
        "cluster 'tset' does not exist; did you mean 'test'?",
    ),
    "a volume on a cluster that does not exist": (
        {"volumes": {"data": {"storage": "shared", "size": "1Ti", "clusters": ["tset"]}}},
        "spec/unknown-cluster",
        "cluster 'tset' does not exist; did you mean 'test'?",
    ),
    "a role of EKS": (
        {
            "service_accounts": {
                "a": {"annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/a"}}
            }
        },
        None,
        "",
    ),
    "a role by its name alone": (
        {"service_accounts": {"a": {"annotations": {"eks.amazonaws.com/role-arn": "reader"}}}},
        "spec/identity",
        "eks.amazonaws.com/role-arn is 'reader', but must be the ARN of a role, such as ",
    ),
    "an account of Google's without its project": (
        {"service_accounts": {"a": {"annotations": {"iam.gke.io/gcp-service-account": "reader"}}}},
        "spec/identity",
        "iam.gke.io/gcp-service-account is 'reader', but must be the address of an account, ",
    ),
    "an annotation that is nobody's identity": (
        {"service_accounts": {"a": {"annotations": {"example.com/owner": "reader"}}}},
        None,
        "",
    ),
}


@pytest.mark.parametrize(("changes", "rule", "message"), CASES.values(), ids=CASES)
def test_what_a_team_says_of_clusters(changes, rule, message):
    """Each wrong line is one finding, and what one of several clusters needs is none."""
    listed = found(**changes)
    assert [item.rule for item in listed] == ([rule] if rule else [])
    for item in listed:
        assert item.message.startswith(message)
        assert item.location.file == "platform/teams/nlp.yaml"
        assert item.location.line is not None
        assert item.location.line > 1
