"""Trainer's own runtimes: what each holds, what a TrainJob makes of it, and who brings it to a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import ROOT
from make import IMAGE, make_cluster
from trainyard.base.documents import Document, dump
from trainyard.base.manifests import Manifest
from trainyard.base.system.data import policy_files
from trainyard.judge.checks.validate import strangers
from trainyard.judge.policies.policy import usable
from trainyard.judge.policies.world import World
from trainyard.render.operators.install import sites, values
from trainyard.render.operators.trainer import OPERATOR
from trainyard.upstream.workloads.brought import brought, switches
from trainyard.upstream.workloads.runtimes import change_runtime

STEPS = {"torch": 1, "jax": 1, "xgboost": 1, "deepspeed": 2, "mlx": 2, "torchtune": 3}
"""How many jobs the runtimes of a framework have."""


def train_job(name: str, **spec: Any) -> dict[str, Any]:
    """Return a TrainJob that names a runtime of the cluster."""
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob"}
    return {**head, "metadata": {"name": "train", "namespace": "nlp"}, "spec": {"runtimeRef": {"name": name}, **spec}}


def test_every_runtime_has_its_jobs() -> None:
    """Nodes alone, nodes with a launcher over SSH, or initializers before the nodes."""
    for value in brought().values():
        framework = value["metadata"]["labels"]["trainer.kubeflow.org/framework"]
        assert len(value["spec"]["template"]["spec"]["replicatedJobs"]) == STEPS[framework]
    assert brought().keys() == switches().keys()


def test_the_server_takes_every_runtime() -> None:
    """With images they are objects like any other: of the newest release, and of the one before."""
    everything = dict.fromkeys(
        [*STEPS, "dataset-initializer", "model-initializer"], f"registry.example.com/a/b@sha256:{'0' * 64}"
    )
    values = [value for release in ("2.3.0", "2.2.1") for value in brought(release, everything).values()]
    texts = [(f"{at}.yaml", dump(value).encode()) for at, value in enumerate(values)]
    result = strangers(texts, ROOT / "schemas")
    assert {item.verdict for item in result.objects} == {"valid"}


def test_initializers_fetch_what_the_job_says() -> None:
    """The address, variables and the Secret go to the container that fetches data or the model."""
    said = {
        "dataset": {"storageUri": "hf://org/data", "secretRef": {"name": "hugging-face"}},
        "model": {"storageUri": "s3://models/own", "env": [{"name": "REGION", "value": "eu"}]},
    }
    job = train_job("torchtune-llama3.2-1b", initializer=said)
    data, model, node = (
        item["template"]["spec"]["template"]["spec"]["containers"][0]
        for item in change_runtime(brought()["torchtune-llama3.2-1b"], job)["spec"]["template"]["spec"][
            "replicatedJobs"
        ]
    )
    assert data["env"] == [{"name": "STORAGE_URI", "value": "hf://org/data"}]
    assert data["envFrom"] == [{"secretRef": {"name": "hugging-face"}}]
    assert {item["name"]: item["value"] for item in model["env"]} == {"STORAGE_URI": "s3://models/own", "REGION": "eu"}
    assert "env" not in node


def test_a_strangers_job_is_judged_by_the_runtime_that_it_names() -> None:
    """Two nodes with eight GPUs each are two pods; a runtime of another name is not known."""
    trainer = {"numNodes": 2, "resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}}}
    for name, count in {"torch-distributed": [2], "deepspeed-distributed": [1, 1], "own": []}.items():
        value = train_job(name, trainer=trainer)
        (job,) = World((Manifest(Document("", 0, value), value),)).training_jobs()
        assert [pods.count for pods in job.pod_sets()] == count
        for pods in job.pod_sets():
            assert [limit.quantity.amount for limit in pods.limits()] == [8]


FOUND = {"torch-distributed": ["tor-nnodes"], "own": []}
"""What is found of a launcher that waits for five nodes, where two are known to be there."""


@pytest.mark.parametrize(("name", "rules"), FOUND.items(), ids=FOUND)
def test_policies_look_at_the_pods_of_a_known_runtime(name: str, rules: list[str]) -> None:
    """And say nothing of what Trainer's runtime holds by itself."""
    python = [policy for policy in usable(policy_files(ROOT)) if policy.check is not None]
    trainer = {"image": IMAGE, "numNodes": 2}
    wrong = {**trainer, "command": ["torchrun", "--nnodes=5", "train.py"]}
    for said, expected in ((trainer, []), (wrong, rules)):
        texts = [("a.yaml", dump(train_job(name, trainer=said)).encode())]
        found = strangers(texts, ROOT / "schemas", policies=python).findings
        assert [item.rule for item in found if item.rule != "cel/unknown"] == expected


def test_values_of_the_chart_become_objects() -> None:
    """The chart's installer downloads kubectl; its values are kept from it, and say which runtimes there are."""
    chosen = {
        "version": "2.3.0",
        "digests": {"torch": f"sha256:{'1' * 64}"},
        "values": {
            "manager": {"replicas": 2},
            "runtimes": {
                "torchDistributed": {"enabled": True},
                "xgboostDistributed": {"enabled": True, "image": {"registry": "registry.example.com", "tag": "own"}},
            },
        },
    }
    cluster = make_cluster(operators={"jobset": {"version": "0.12.0"}, "trainer": chosen})
    (site,) = (one for one in sites(cluster) if one.name == "trainer")
    made = {item.name: item.value() for item in OPERATOR.own(site)}
    assert sorted(made) == ["torch-distributed", "xgboost-distributed"]
    nodes = {
        name: value["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        for name, value in made.items()
    }
    images = {name: pod["containers"][0]["image"] for name, pod in nodes.items()}
    assert images["torch-distributed"].endswith(f"-runtime@sha256:{'1' * 64}")
    assert images["xgboost-distributed"] == "registry.example.com/kubeflow/trainer/xgboost-runtime:own"
    assert "runtimes" not in values(site, OPERATOR)
    assert values(site, OPERATOR)["manager"]["replicas"] == 2
    assert not list(OPERATOR.conflicts(site))
    ignored = {"runtimes": {"installer": {"image": {"tag": "3"}}, "commonLabels": {}}}
    ignored["dataCache"] = {"enabled": True, "runtimes": {"torchDistributedWithCache": {"enabled": True}}}
    (other,) = (one for one in sites(make_cluster(operators={"trainer": {**chosen, "values": ignored}})))
    paths = ["runtimes.commonLabels", "runtimes.installer", "dataCache.runtimes.torchDistributedWithCache.enabled"]
    assert [conflict.path for conflict in OPERATOR.conflicts(other)] == paths
    everything = {**chosen, "values": {"runtimes": {"defaultEnabled": True}}}
    (site,) = (one for one in sites(make_cluster(operators={"trainer": everything})) if one.name == "trainer")
    assert len(list(OPERATOR.own(site))) == len(brought())
