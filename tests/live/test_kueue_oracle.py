"""Kueue's own scheduler admits every run of every cluster on the inventory that the cluster declares.

Needs TRAINYARD_KUEUE_ORACLE, a program that answers with Kueue's code. `--update` records questions and answers, which
tests/queueing/test_recorded.py holds against what is rendered.
"""

from __future__ import annotations

import os

import pytest

from queueing import oracle
from queueing.recorded import CLUSTERS, current, name, written
from queueing.witness import problems
from trainyard.sizing import nvlink


@pytest.fixture(scope="module")
def program():
    """The program, or a loud skip."""
    found = os.environ.get("TRAINYARD_KUEUE_ORACLE")
    if not found:
        pytest.skip("Kueue's own verdict on generated/: set TRAINYARD_KUEUE_ORACLE to a program that answers for it")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_kueue_admits_every_run(program, cluster, golden):
    """Each run is admitted on the empty cluster, in its place, and the answers are those that are recorded."""
    asked = current(cluster)
    answers = oracle.answers(program, asked)
    found = {job: list(problems(asked, answer)) for job, answer in answers["alone"].items()}
    assert set(found) == set(asked.jobs)
    assert not any(found.values()), found
    golden(name(cluster), written(asked, answers))


@pytest.mark.slow
def test_kueue_refuses_what_is_not_declared(program):
    """Kueue wants a mapping of the claims' class, the resource in the quota, and a domain that is large enough."""
    asked = current("zephyr")
    del asked.config["resources"]
    assert "is not mapped" in oracle.answers(program, asked)["alone"]["moe-400b"]["message"]

    asked = current("zephyr")
    for group in asked.of("ClusterQueue")["frontier"]["spec"]["resourceGroups"]:
        group["coveredResources"].remove(nvlink.RESOURCE)
        for flavor in group["flavors"]:
            flavor["resources"] = [each for each in flavor["resources"] if each["name"] != nvlink.RESOURCE]
    assert nvlink.RESOURCE in oracle.answers(program, asked)["alone"]["moe-400b"]["message"]

    asked = current("atlas")
    for index, node in enumerate(asked.of("Node").values()):
        node["metadata"]["labels"]["example.com/rack"] = f"rack-{index % 3}"
    assert oracle.answers(program, asked)["alone"]["llama3-8b"]["outcome"] == "inadmissible"
