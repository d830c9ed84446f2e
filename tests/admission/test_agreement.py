"""What is said of jobs is what became of them on a running cluster, with Kueue and the operators of jobs.

With TRAINYARD_CLUSTER_ORACLE naming the kubeconfig of a cluster to throw away (see oracle.py) the clusters of this
repository are asked about again, as they are. `tools/cluster_agreement.py --answers` records what it says.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from admission.compare import disagreements
from admission.oracle import Oracle
from admission.variations import CLUSTERS, Case, case
from command import call
from conftest import ROOT
from trainyard.faces.cli.admit import document
from trainyard.judge.admission import bound
from trainyard.judge.admission.job_workloads import Bid
from trainyard.judge.admission.site import site
from trainyard.judge.admission.verdicts import verdicts

RECORDED = ROOT / "tests/admission/clusters.jsonl.gz"
LINES = [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]
NATIVE = ROOT / "tests/admission/native.jsonl.gz"
GANGS = [json.loads(line) for line in gzip.decompress(NATIVE.read_bytes()).splitlines()]
"""Native gangs on a 1.37.2 with their gates on."""
FEW = 6
"""Cases that are asked about in every run of the tests."""


def differences(root, drawn, every):
    """What is said otherwise than it came in any of the answers, of every job of a case that Kueue is asked about."""
    found = [verdict for verdict in verdicts(drawn.written(root), clusters=[drawn.cluster]) if not verdict.ask.why]
    assert all({item.ask.name for item in found} == set(answers) for answers in every)
    said = {item.ask.name: json.loads(json.dumps(document(item, {}))) for item in found}
    wrong = {name: [[*disagreements(value, answers[name])] for answers in every] for name, value in said.items()}
    return {name: value for name, value in wrong.items() if all(value)}


def held(root, lines):
    """Hold verdicts to what was recorded; how many jobs there are."""
    for index, line in enumerate(lines):
        drawn = Case(line["cluster"], line["fields"], line["jobs"])
        assert not differences(root / str(index), drawn, line["answers"]), (index, drawn.cluster)
    return sum(len(line["jobs"]) for line in lines)


@pytest.mark.parametrize("line", LINES[:FEW], ids=range(FEW))
def test_a_job_becomes_what_is_said_of_it(tmp_path, line):
    """A running cluster admitted, preempted, placed and left waiting whom we say, and where."""
    assert held(tmp_path, [line]) > 0


def test_gangs_are_bound_as_kube_scheduler_bound_them(tmp_path):
    """A gang without room got no node, an elastic one started with its fewest, and all others found theirs."""
    waits = [line for line in GANGS if not all(all(pods.values()) for pods in of_pods(line))]
    assert len(waits) >= 3
    assert held(tmp_path, waits) > 5


ODD = {
    "a gang": ({"schedulingPolicy": {"gang": {"minCount": 2}}}, {"minCount": 2}),
    "a gang that says no number": ({"schedulingPolicy": {"gang": {}}}, {}),
    "no gang": ({"schedulingPolicy": {"basic": {}}}, None),
    "nothing": (None, None),
    "what is no gang": ({"schedulingPolicy": "gang"}, None),
}


@pytest.mark.parametrize(("scheduling", "policy"), ODD.values(), ids=ODD)
def test_a_job_is_a_gang_if_it_says_so(scheduling, policy):
    """Whatever a Job has in the field; only Jobs have it."""
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"scheduling": scheduling}}
    assert bound.policy(job) == policy
    assert bound.policy({**job, "kind": "JobSet"}) is None


GROUP = {"kind": "PodGroup", "metadata": {"name": "g"}, "spec": {"minMember": 2}}
PLACED = {
    "all pods of a group": (["g", "g", "g"], [0, 1, 2], set()),
    "enough of them": (["g", "g", "g"], [0, 2], set()),
    "too few of them": (["g", "g", "g"], [1], {"g"}),
    "pods that are bound one by one": (["", "", ""], [1], set()),
    "too few, beside others": (["g", "g", ""], [0, 2], {"g"}),
    "a group that says no number": (["h", "h"], [0], {"h"}),
}


@pytest.mark.parametrize(("groups", "placed", "late"), PLACED.values(), ids=PLACED)
def test_a_group_is_bound_with_as_many_pods_as_it_asks_for(groups, placed, late):
    """Of Coscheduling's groups that is minMember; a pod without a group keeps its node."""
    assert bound.unbound(Bid("nlp/a", beside=[GROUP]), groups, placed) == late


def of_pods(line):
    """Return the hosts of the pods of each job in the last answer of a case."""
    return [found["pods"] for found in line["answers"][-1].values()]


@pytest.mark.slow
def test_many_gangs_are_bound_as_kube_scheduler_bound_them(tmp_path):
    """As above."""
    assert held(tmp_path, GANGS) > 20


@pytest.mark.slow
def test_many_jobs_become_what_is_said_of_them(tmp_path):
    """As above."""
    assert held(tmp_path, LINES[FEW:]) > 100


@pytest.fixture(scope="module")
def oracle():
    """The cluster, or a loud skip."""
    kubeconfig = os.environ.get("TRAINYARD_CLUSTER_ORACLE")
    if not kubeconfig:
        pytest.skip("what becomes of all runs on a cluster: set TRAINYARD_CLUSTER_ORACLE to a kubeconfig")
    return Oracle(Path(kubeconfig))


@pytest.mark.cluster
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_job_becomes_what_is_said_of_it_on_a_cluster(oracle, cluster, tmp_path):
    """The cluster as it is, asked now; its Kueue is configured as that of the repository's cluster is."""
    drawn = case(tmp_path / "repository", cluster, 0)
    checked = drawn.written(tmp_path / "repository")
    call(tmp_path / "repository", "synth", "--quiet")
    bids = [verdict.ask for verdict in verdicts(checked, clusters=[cluster]) if not verdict.ask.why]
    folder = tmp_path / "repository/generated" / cluster
    answers = oracle.answer(folder, site(checked.specs, cluster), bids)
    assert not differences(tmp_path / "again", drawn, [answers])
