"""Jobs that come after one another are compiled by the SDK of Kubeflow Pipelines, and loaded by it again."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from conftest import ROOT
from make import CLUSTER, JOB, write_repository
from trainyard.base.documents import load
from trainyard.base.system.distribution import remedy
from trainyard.faces.pipelines.steps import PROGRAM

LOADED = "from kfp import components; import sys; print(components.load_component_from_file(sys.argv[1]).name)"
PIPELINES = {"image": "registry.example.com/python@sha256:" + "0" * 64, "namespace": "kubeflow"}


@pytest.fixture(scope="module")
def python():
    """A Python that has the SDK, or a loud skip."""
    named = os.environ.get("TRAINYARD_KFP")
    if named is None and importlib.util.find_spec("kfp") is None:
        pytest.skip("pipelines by their own SDK: name a Python that has the extra pipelines in TRAINYARD_KFP")
    return named or sys.executable


def call(python, root, *arguments):
    """Run Python in a folder, on this source tree."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "platform")}
    return subprocess.run(
        [python, *arguments], cwd=root, env=env, capture_output=True, text=True, timeout=120, check=False
    )


def repository(folder, **jobs):
    """Write a repository whose cluster runs pipelines."""
    return write_repository(folder, jobs=jobs, clusters={"test": {**CLUSTER, "pipelines": PIPELINES}})


@pytest.mark.kfp
def test_a_chain_is_a_pipeline(python, tmp_path):
    """Each job is a task, after those that it comes after, in the image of the cluster; the SDK loads it again."""
    jobs = {"nlp/first": {**JOB, "after": []}, "nlp/second-job": {**JOB, "after": ["first"]}}
    root = repository(tmp_path, **jobs)
    done = call(python, root, "-m", "trainyard", "pipeline", "nlp/second-job", "-o", "p.yaml")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "p.yaml: 2 steps for cluster test: nlp/first, nlp/second-job\n"
    assert call(python, root, "-c", LOADED, "p.yaml").stdout == "nlp-second-job\n"
    ((document,), findings) = load((root / "p.yaml").read_bytes(), file="p.yaml")
    assert not findings
    tasks = document.value["root"]["dag"]["tasks"]
    assert {name: task.get("dependentTasks") for name, task in tasks.items()} == {
        "nlp-first": None,
        "nlp-second-job": ["nlp-first"],
    }
    assert all(task["cachingOptions"] == {} for task in tasks.values()), (
        "no end of an earlier run is taken for this one's"
    )
    assert {task["inputs"]["parameters"]["pipeline"]["runtimeValue"]["constant"] for task in tasks.values()} == {
        "{{$.pipeline_job_uuid}}"
    }
    executors = document.value["deploymentSpec"]["executors"]
    for name in tasks:
        container = executors[f"exec-{name}"]["container"]
        assert container["image"] == PIPELINES["image"]
        assert container["command"] == ["python3", "-c", PROGRAM]
        plan, run = container["args"]
        assert json.loads(plan)["objects"][0]["object"]["kind"] == "JobSet"
        assert run == "{{$.inputs.parameters['pipeline']}}"


@pytest.mark.kfp
def test_the_example_is_a_pipeline(python, tmp_path):
    """The chain of this repository compiles as its page says."""
    file = tmp_path / "wiki.yaml"
    done = call(python, ROOT, "-m", "trainyard", "pipeline", "nlp/wiki-eval", "-o", str(file))
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("3 steps for cluster atlas: nlp/wiki-shards, nlp/wiki-pretrain, nlp/wiki-eval\n")
    assert call(python, ROOT, "-c", LOADED, str(file)).stdout == "nlp-wiki-eval\n"


@pytest.mark.kfp
def test_a_repository_with_errors_has_no_pipeline(python, tmp_path):
    """Whatever is wrong with the specs is said, and nothing is written."""
    root = repository(tmp_path, **{"nlp/first": {**JOB, "after": [], "gpusPerNode": 9}})
    done = call(python, root, "-m", "trainyard", "pipeline", "nlp/first")
    assert (done.returncode, (root / "pipeline.yaml").exists()) == (1, False)
    assert "gpusPerNode is 9" in done.stderr


def test_without_the_sdk_the_command_says_what_to_install(tmp_path):
    """Everything but the last step works without it."""
    if importlib.util.find_spec("kfp") is not None:
        pytest.skip("the SDK is here")
    root = repository(tmp_path, **{"nlp/first": {**JOB, "after": []}})
    done = call(sys.executable, root, "-m", "trainyard", "pipeline", "nlp/first")
    assert done.returncode == 2
    assert done.stderr == f"trainyard: the SDK of Kubeflow Pipelines is missing; {remedy('pipelines')}\n"
