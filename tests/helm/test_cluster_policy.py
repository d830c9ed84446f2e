"""The ClusterPolicy says what the template of the GPU Operator's chart says of the same values.

Helm's answers to values by chance are recorded. With TRAINYARD_HELM_ORACLE naming a program that answers for Helm, they
are asked again, and with --update recorded.
"""

from __future__ import annotations

import pytest

from conftest import ROOT
from helm.cluster_policies import CATALOG, CHART, FIELDS, differences
from helm.drawn import draw
from helm.renders import ask, record, recorded
from make import make_cluster, make_source
from trainyard.base.documents import dump, load
from trainyard.base.manifests import expand
from trainyard.judge.preflight.cluster import values
from trainyard.render.operators.gpu_operator import policy
from trainyard.render.operators.install import installed_operators
from trainyard.upstream.apiserver import Judge

RECORDED = "cluster_policy.jsonl.gz"
SEEDS = range(160)
JUDGE = Judge(CATALOG)


def cases():
    """Return a case for each seed; the first one has no values."""
    place = {"chart": CHART, "release": "gpu-operator", "namespace": "gpu-operator", "kinds": ["ClusterPolicy"]}
    return [{"name": f"seed {seed}", **place, "values": draw(seed, FIELDS) if seed else {}} for seed in SEEDS]


def ours(said):
    """Return the spec of our ClusterPolicy for a cluster of NVIDIA GPUs whose file has such values."""
    operators = {"gpu-operator": {"version": "26.7.0", "values": said}}
    ((site, _),) = installed_operators(make_cluster(operators=operators))
    return policy(site)


def wrong(pairs):
    """Return the differences of all cases that Helm renders."""
    rendered = [(case, answer["objects"][0]["spec"]) for case, answer in pairs if not answer.get("error")]
    assert len(rendered) > 0.95 * len(pairs)
    found = {case["name"]: [*differences(spec, ours(case["values"]), case["values"])] for case, spec in rendered}
    return {name: lines for name, lines in found.items() if lines}


def test_the_template_says_the_same():
    """Every field that the operator reads is as the chart would have it, or is ours on purpose."""
    pairs = recorded(RECORDED)
    assert len(pairs) >= 150
    assert wrong(pairs) == {}


def test_a_difference_would_be_seen():
    """A mapping that leaves out one field of a case, or adds one, is told from the template."""
    pairs = [(case, answer) for case, answer in recorded(RECORDED) if not answer.get("error")]
    seen = 0
    for case, answer in pairs:
        spec = answer["objects"][0]["spec"]
        changed = {**spec, "toolkit": {**spec["toolkit"], "enabled": True, "installDir": "/elsewhere"}}
        seen += bool([*differences(spec, changed, case["values"])])
    assert seen == len(pairs)


def verdict(spec):
    """Return what a server says of a ClusterPolicy."""
    thing = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "p"}, "spec": spec}
    manifests, _ = expand(load(dump(thing).encode(), file="x.yaml")[0])
    return JUDGE.judge(manifests[0]).verdict


def test_the_server_takes_ours_where_it_takes_theirs():
    """No value becomes a field, or a type, that the definition does not have."""
    pairs = [(case, answer["objects"][0]["spec"]) for case, answer in recorded(RECORDED) if not answer.get("error")]
    refused = [case["name"] for case, spec in pairs if verdict(ours(case["values"])) != verdict(spec) == "valid"]
    assert refused == []


def test_nobody_is_told_that_such_a_value_does_not_exist():
    """Values that the template takes are no findings, also those of which the chart has no default."""
    path = "platform/clusters/test.yaml"
    found = set()
    for case, _ in recorded(RECORDED):
        operators = {"gpu-operator": {"version": "26.7.0", "values": case["values"]}}
        findings = values.check(make_cluster(operators=operators), make_source(path, {}), ROOT / "schemas")
        found |= {finding.message for finding in findings}
    assert found == set()


@pytest.mark.slow
def test_helm_says_so_again(request):
    """Asked again, Helm's own code makes the same ClusterPolicies."""
    asked = cases()
    pairs = [*zip(asked, ask(asked), strict=True)]
    assert wrong(pairs) == {}
    if request.config.getoption("--update"):
        record(RECORDED, pairs)
