"""Where labels of others select the pools with GPUs, containers without GPUs see none there, and are free elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from make import CPU_NODE, make_cluster, make_repository
from object_crossings import LITTLE, TORCH
from shipped import ARGOCD
from tenant_crossings import patched
from tenants import TEAM, found, rendered
from trainyard.base.labels import POOL
from trainyard.render.tenancy import Allowance
from trainyard.render.tenancy.allowance import of
from trainyard.render.tenancy.policies import binding, policies
from trainyard.upstream.apiserver.admission import policies as engine
from trainyard.upstream.apiserver.admission.policies import Request, Surroundings
from trainyard.upstream.apiserver.admission.policies.request import guess_of

NODES = {"shape": CPU_NODE, "nodes": 2}
H100 = {"shape": "dgx-h100", "nodes": 2}
SITES = {
    "one label": make_cluster(
        topology=None, pools={"gpu": {**H100, "selector": {"g": "gpu"}}, "cpu": {**NODES, "selector": {"g": "cpu"}}}
    ),
    "two labels": make_cluster(
        topology=None,
        pools={
            "gpu": {**H100, "selector": {"g": "a", "h": "gpu"}},
            "cpu": {**NODES, "selector": {"g": "a", "h": "cpu"}},
        },
    ),
    "other labels": make_cluster(topology=None, pools={"gpu": {**H100, "selector": {"g": "gpu"}}, "cpu": NODES}),
}


def refused(site: str, values: list[dict[str, Any]]) -> bool:
    """Return whether policies of a cluster refuse objects; the check of rendered ones says the same."""
    cluster = SITES[site]
    allowed = of(make_repository(), "test", cluster, "nlp", TEAM)
    lists = {**allowed.lists, "runtimes": ("ClusterTrainingRuntime/torch",)}
    allowed = Allowance(
        "nlp", lists, allowed.kinds | {"trainer.kubeflow.org/TrainJob", "trainer.kubeflow.org/TrainingRuntime"}
    )
    around = Surroundings({"nlp": {"metadata": {"name": "nlp", "annotations": allowed.annotations()}}}, complete=True)
    shipped = tuple(
        (
            engine.load({"metadata": {"name": name}, "spec": spec}, minor=35),
            (engine.load_binding({"metadata": {"name": name}, "spec": binding(name, cluster)}),),
        )
        for name, spec in policies("test", cluster)
    )
    said = [
        decision
        for value in values
        for decision in engine.judge(
            shipped, Request(guess_of(value["apiVersion"], value["kind"]), value, user=ARGOCD), around
        )
    ]
    assert all("run/tenant-" in decision.message for decision in said), said[0]
    assert bool(said) == bool(list(found(values, allowed)))
    return bool(said)


def seeing(site: str, **selector: Any) -> list[dict[str, Any]]:
    """Return a run without GPUs on other nodes, by its node selector, whose container says nothing of what it sees."""
    merge = {"spec": {"nodeSelector": {**dict.fromkeys(SITES[site].selector_of("cpu")), **selector}}}
    values = rendered(
        "Job", {"object": "Pod", "merge": merge}, cluster=SITES[site], pool="cpu", gpus_per_node=0, nodes=1
    )
    for value in values:
        for container in value.get("spec", {}).get("template", {}).get("spec", {}).get("containers", ()):
            container["env"] = [one for one in container["env"] if one["name"] != "NVIDIA_VISIBLE_DEVICES"]
    return values


PODS: dict[str, tuple[str, dict[str, str], bool]] = {
    "on the pool without": ("one label", {"g": "cpu"}, False),
    "on the pool with": ("one label", {"g": "gpu"}, True),
    "anywhere": ("one label", {}, True),
    "by another label": ("one label", {"zone": "a"}, True),
    "by the usual label": ("one label", {POOL: "cpu"}, True),
    "on the pool without, by two": ("two labels", {"g": "a", "h": "cpu"}, False),
    "on the pool with, by two": ("two labels", {"g": "a", "h": "gpu"}, True),
    "on either": ("two labels", {"g": "a"}, True),
    "on one that has the usual label": ("other labels", {POOL: "cpu"}, False),
}


@pytest.mark.parametrize("case", PODS)
def test_containers_without_gpus_are_free_where_none_are(case: str) -> None:
    """A policy and the check look at the labels that select the pools with GPUs."""
    site, selector, wrong = PODS[case]
    assert refused(site, seeing(site, **selector)) == wrong


@pytest.mark.parametrize("site", SITES)
def test_what_is_rendered_is_admitted(site: str) -> None:
    """On each pool, with GPUs and without."""
    for pool, gpus in (("cpu", 0), ("gpu", 8), ("gpu", 0)):
        assert not refused(site, rendered("Job", cluster=SITES[site], pool=pool, gpus_per_node=gpus, nodes=1))


PATCHES: dict[str, tuple[dict[str, str], dict[str, Any], bool]] = {
    "a runtime of the platform's on the pool without": ({"g": "cpu"}, {"runtimeRef": TORCH}, False),
    "a runtime of the platform's on the pool with": ({"g": "gpu"}, {"runtimeRef": TORCH}, True),
    "a runtime of the platform's anywhere": ({"zone": "a"}, {"runtimeRef": TORCH}, True),
    "the run's own on the pool with": ({"g": "gpu"}, {}, True),
    "the run's own on the pool without": ({"g": "cpu"}, {}, False),
    "the run's own in a zone": ({"zone": "a"}, {}, False),
}


@pytest.mark.parametrize("case", PATCHES)
def test_patches_of_trainjobs_lead_to_no_gpus(case: str) -> None:
    """By the same labels."""
    selector, spec, wrong = PATCHES[case]
    trainer = {"trainer": {"resourcesPerNode": LITTLE}} if spec else {}
    merge = {"spec": {**spec, **trainer, **patched(nodeSelector=selector)["spec"]}}
    values = rendered("TrainJob", {"object": "TrainJob", "merge": merge}, cluster=SITES["one label"], nodes=1)
    assert refused("one label", values) == wrong
