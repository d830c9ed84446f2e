"""A rehearsal has a node for each machine, claims that are bound, and nothing that needs machines."""

from __future__ import annotations

import pytest
import yaml

from conftest import ROOT
from make import CLUSTER, REPOSITORY, TEAM, make_cluster, make_job_file, make_specs, make_team, write_repository
from trainyard.judge.frozen import check_specs
from trainyard.judge.preflight.cluster import simulated
from trainyard.judge.preflight.job.rehearsals import check as check_job
from trainyard.judge.preflight.subjects import OneJob
from trainyard.render.clusters import folders, node_files
from trainyard.render.kinds import build
from trainyard.render.sizing.machines import machine, quantities
from trainyard.specs.load import read_repository
from trainyard.specs.models.simulated import LEFT_OUT
from trainyard.specs.reading.rehearsals import copies
from trainyard.specs.releases import names
from trainyard.specs.run import digest
from trainyard.specs.sources import Source

KWOK = {"kwok": {"version": "0.8.0"}}
FAKE = {"effect": "NoSchedule", "key": "kwok.x-k8s.io/node", "value": "fake"}

KEPT = {
    *("appwrapper", "argo-cd", "cert-manager", "jobset", "keda", "kuberay", "kueue", "kwok", "lws", "mpi-operator"),
    *("scheduler-plugins", "sealed-secrets", "trainer", "training-operator", "volcano"),
}
"""Operators that a rehearsal installs: they admit, make or end jobs, or serve those that do."""


@pytest.fixture(scope="module")
def hydra():
    """What is rendered of hydra without machines: SR-IOV, burn-in, monitors, topology, a storage driver."""
    specs = read_repository(ROOT, listed=()).specs
    fields = {**specs.sources["cluster/hydra"].document.value, "simulated": {}}
    cluster = type(specs.clusters["hydra"]).model_validate(
        {**fields, "operators": {**fields["operators"], **KWOK}}, by_alias=True, by_name=False
    )
    here = make_specs(clusters={"hydra": cluster}, teams={name: specs.teams[name] for name in cluster.teams()})
    return cluster, folders(here, "hydra")


def test_every_known_operator_is_kept_or_left_out():
    """Whoever adds an operator decides whether a rehearsal has it."""
    assert {*LEFT_OUT} | KEPT == {*names()}
    assert not {*LEFT_OUT} & KEPT


def test_nothing_is_rendered_that_needs_machines(hydra):
    """No operator, network, monitor, burn-in or file of nodes is left."""
    cluster, found = hydra
    operators = {path.partition("/")[2] for path in found if path.startswith("operators/")}
    assert operators == {"kueue", "jobset", "trainer", "cert-manager", "kwok"}
    assert not {"hardware", "monitoring"} & {*found}
    groups = {one.identity.group for path, items in found.items() if path != "argocd" for one in items}
    assert not groups & {"k8s.cni.cncf.io", "batch", "monitoring.coreos.com", "mellanox.com"}
    assert node_files(cluster) == {}


def test_nodes_are_those_of_the_pools(hydra):
    """Each has the pool's labels, its place in the topology and the taint, which flavors tolerate and others do not."""
    cluster, found = hydra
    nodes = [one for one in found["operators/kwok"] if one.kind == "Node"]
    assert [one.name for one in nodes][:1] == ["h100-000"]
    assert len(nodes) == 68
    racks = {(one.labels["example.com/block"], one.labels["example.com/rack"]) for one in nodes[:64]}
    assert racks == {("block-0", "rack-0"), ("block-0", "rack-1"), ("block-1", "rack-2"), ("block-1", "rack-3")}
    assert all(one.fields["spec"]["taints"][-1] == FAKE for one in nodes)
    assert all(one.labels["kwok.x-k8s.io/node"] == "fake" for one in nodes), "runs select this label"
    assert all(one.annotations["kwok.x-k8s.io/node"] == "fake" for one in nodes)
    (flavor,) = (one for one in found["platform"] if one.kind == "ResourceFlavor" and one.name == "h100")
    assert {**FAKE, "operator": "Equal"} in flavor.fields["spec"]["tolerations"]
    (stage,) = (one for one in found["operators/kwok"] if one.name == "node-h100")
    template = stage.fields["spec"]["next"]["statusTemplate"]
    for name, amount in quantities(machine(cluster, "h100").allocatable).items():
        assert template.count(f'"{name}": "{amount}"') == 2, "allocatable and capacity"


def test_claims_are_bound_to_volumes_of_their_own(hydra):
    """No class makes a volume, and each claim has one that is its alone."""
    _, found = hydra
    classes = [one for one in found["platform"] if one.kind == "StorageClass"]
    assert {one.fields["provisioner"] for one in classes} == {"kubernetes.io/no-provisioner"}
    items = found["teams/nlp"]
    claims = {one.name for one in items if one.kind == "PersistentVolumeClaim"}
    assert claims
    assert {one.fields["spec"]["claimRef"]["name"] for one in items if one.kind == "PersistentVolume"} == claims


ASKING = {"provisioning": "queued-provisioning.gke.io"}

CLUSTERS = {
    "machines": ({}, None),
    "a rehearsal": ({"simulated": {}, "operators": KWOK}, None),
    "KWOK beside machines": ({"operators": KWOK}, "remove kwok, or add simulated"),
    "a rehearsal without KWOK": ({"simulated": {}}, "simulated needs operator 'kwok'"),
    "KWOK of others": ({"simulated": {}, "operators": {"kwok": {"version": "0.8.0", "managed": False}}}, "needs"),
    "too many nodes": (
        {"simulated": {}, "operators": KWOK, "pools": {"gpu": {"shape": "dgx-h100", "nodes": 2000}}},
        "at most 1000",
    ),
    "nodes that Kueue asks for": (
        {
            "simulated": {},
            "operators": KWOK,
            "pools": {"gpu": {"shape": "dgx-h100", "nodes": {"min": 0, "max": 4}, "scaling": ASKING}},
        },
        "nobody answers",
    ),
}


@pytest.mark.parametrize(("changes", "said"), CLUSTERS.values(), ids=CLUSTERS)
def test_a_cluster_is_simulated_whole_or_not_at_all(changes, said):
    """KWOK beside machines, and a rehearsal without it, are errors; so is what it cannot simulate."""
    found = [finding.message for finding in simulated.check(make_cluster(**changes), Source("c.yaml"))]
    assert bool(said) == bool(found), found
    assert said is None or said in found[0]


JOBS = {
    "not rehearsed": ({}, None),
    "on a rehearsal": ({"rehearse": "fake"}, None),
    "on machines": ({"rehearse": "atlas"}, "did you mean"),
    "a slip in the name": ({"rehearse": "fakke"}, "cluster 'fakke' does not exist; did you mean 'fake'?"),
    "a step": ({"rehearse": "fake", "after": []}, "pipeline"),
    "a job of a rehearsal": ({"cluster": "fake", "rehearse": "fake"}, "cluster 'fake' is a rehearsal itself"),
}


@pytest.mark.parametrize(("changes", "said"), JOBS.values(), ids=JOBS)
def test_a_job_is_rehearsed_without_machines_alone(changes, said):
    """The copy would train where nodes are machines."""
    clusters = {"atlas": make_cluster(), "fake": make_cluster(simulated={}, operators=KWOK)}
    file = make_job_file(**changes)
    specs = make_specs(file, clusters=clusters, teams={"nlp": make_team()})
    found = [finding.message for finding in check_job(OneJob(specs, file, None))]
    assert len(found) == (said is not None), found
    assert said is None or said in found[0] or "whose nodes are machines" in found[0]
    assert all(len(message.split()) <= 20 for message in found)


def test_a_copy_has_another_name_and_leaves_the_job_as_it_is():
    """The run of the job keeps its name, and the copy is on the rehearsal."""
    name = "a-name-of-exactly-thirty-chars"
    plain, file = make_job_file(name), make_job_file(name, rehearse="fake")
    (copy,) = copies([plain, file])
    assert (copy.name, copy.job.cluster, copy.job.rehearse) == ("a-name-of-exactly-thirty-c-sim", "fake", None)
    assert digest(plain.job, {}) == digest(file.job, {})
    assert not [*copies([make_job_file(rehearse="fake", after=[])])]


HERE = {"argocd": {"destination": {"name": None, "server": "https://kubernetes.default.svc"}}}
BASES = ("hydra", "mistral", "tundra", "zephyr")


def test_a_rehearsal_is_told_of_nothing_that_needs_machines(tmp_path):
    """GUIDs, virtual clusters, NVLink and waivers of a base are no findings, nor is a waiver of a copied job."""
    read = read_repository(ROOT, listed=()).specs.sources
    clusters = {name: read[f"cluster/{name}"].document.value for name in BASES}
    clusters |= {f"sim-{name}": {"base": name, "simulated": {}, "operators": KWOK, **HERE} for name in BASES}
    clusters |= {"kid": {"base": "mistral", "argocd": {"destination": {"name": "kid"}}}}
    more = {"teams": dict.fromkeys(("nlp", "vision"), TEAM), "repository": REPOSITORY | {"unsavedGpuHours": 50}}
    job = yaml.safe_load((ROOT / "jobs/nlp/moe-400b.yaml").read_text(encoding="utf-8"))
    job |= {"rehearse": "sim-zephyr", "data": [], "secrets": {}, "waive": {"ckp-none": "tried out"}}
    del job["checkpoint"]
    found = check_specs(write_repository(tmp_path, jobs={"nlp/moe": job}, clusters=clusters, **more), home=ROOT)
    assert [one for one in found.findings if one.is_error or one.rule == "spec/waive"] == []
    runs = {run.run.cluster.simulated is not None: list(build(run)) for run in found.runs}
    claims = {simulated: [item.kind for item in items].count("ComputeDomain") for simulated, items in runs.items()}
    assert claims == {False: 1, True: 0}, "channels that nobody makes"
    assert all("podset-slice-size" in str(items) for items in runs.values()), "placed in NVLink domains all the same"


def test_volumes_of_two_teams_have_two_names():
    """A name that joins team and claim by a hyphen may be that of another team's claim."""
    volumes = {"data": {"storage": "shared", "size": "1Ti"}, "lab-data": {"storage": "shared", "size": "1Ti"}}
    queues = {"all": {"teams": ["nlp", "nlp-lab"], "nominalQuota": {"gpu": {"gpus": 32}}}}
    cluster = make_cluster(simulated={}, operators={**CLUSTER["operators"], **KWOK}, queues=queues)
    team = make_team(volumes=volumes)
    found = folders(make_specs(clusters={"fake": cluster}, teams={"nlp": team, "nlp-lab": team}), "fake")
    names = [one.name for items in found.values() for one in items if one.kind == "PersistentVolume"]
    assert len({*names}) == len(names) == 4
