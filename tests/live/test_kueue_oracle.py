"""Kueue's own scheduler admits every run of every cluster on the inventory that the cluster declares.

Needs TRAINYARD_KUEUE_ORACLE, a program that answers with Kueue's code. `--update` records questions and answers, which
tests/kueue/test_recorded.py holds against what is rendered.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from conftest import ROOT
from kueue import drawn, oracle
from kueue.recorded import CLUSTERS, current, name, written
from kueue.witness import problems
from trainyard.judge.preflight import check_jobs
from trainyard.judge.preflight.jobs import run_of
from trainyard.render.kinds import build, resolve
from trainyard.render.sizing import nvlink
from trainyard.specs.load import read_repository


@pytest.fixture(scope="module")
def program():
    """The program, or a loud skip."""
    return oracle.kueue("Kueue's own verdict on generated/")


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


ROOM = {"kq-max-quota", "tas-domain-size"} | {
    *("spec/nodes", "spec/cpus-per-node", "spec/memory-per-node", "spec/containers")
}
"""Rules by which we say that a job has no room, in its queue or on its nodes.

Of local disk the kubelet offers more than jobs may ask for: some of it is for images.
"""


@pytest.mark.slow
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_kueue_decides_as_we_say(program, cluster):
    """Of jobs by chance, Kueue admits all that we let pass; where it looks at nodes, none that we say has no room."""
    loaded = read_repository(ROOT)
    specs = loaded.specs
    files = list(drawn.jobs(cluster, specs.clusters[cluster], specs.teams, seed="kueue", count=40))
    runs, findings = check_jobs(replace(loaded, specs=replace(specs, jobs=tuple(files))))
    said = {
        file.name: {
            finding.rule for finding in findings if finding.is_error and finding.location.file == file.source.file
        }
        for file in files
    }
    passed = {run.run.job_name for run in runs}
    assert passed == {name for name, rules in said.items() if not rules}
    if specs.clusters[cluster].topology:
        runs += [resolve(run_of(specs, file)) for file in files if said[file.name] and said[file.name] <= ROOM]
    asked = current(cluster).of_runs(item.value() for run in runs for item in build(run))
    answers = oracle.answers(program, asked)["alone"]
    assert len(answers) == len(runs) >= 10
    assert {name for name, answer in answers.items() if answer["outcome"] == "admitted"} == passed
    found = {name: list(problems(asked, answers[name])) for name in passed}
    assert not any(found.values()), found


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
            flavor["resources"] = [resource for resource in flavor["resources"] if resource["name"] != nvlink.RESOURCE]
    assert nvlink.RESOURCE in oracle.answers(program, asked)["alone"]["moe-400b"]["message"]

    asked = current("atlas")
    for index, node in enumerate(asked.of("Node").values()):
        node["metadata"]["labels"]["example.com/rack"] = f"rack-{index % 3}"
    assert oracle.answers(program, asked)["alone"]["llama3-8b"]["outcome"] == "inadmissible"
