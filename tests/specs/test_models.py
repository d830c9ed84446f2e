"""What people write: names, forms, digests, node shapes and the schemas that editors read."""

from __future__ import annotations

import json
import re
import runpy
import sys
from functools import cache

import jsonschema
import pytest
from pydantic import ValidationError

import make
from conftest import ROOT
from trainyard.base.documents import load
from trainyard.base.quantities import Quantity
from trainyard.specs import Job, shapes
from trainyard.specs.run import digest, run_name, written_fields
from trainyard.specs.shapes import preset

IMAGE = "registry.example.com/nlp/llm@sha256:" + "4f0c7e2ab95d8136" * 4

SMALL = f"""\
cluster: atlas
launcher: torchrun
image: {IMAGE}
program: train.py
pool: h100
queue: research
"""

LARGE = f"""\
cluster: atlas
launcher: torchrun
kind: JobSet
image: {IMAGE}
module: llm.train
args: [--config, /etc/llm/llama3-8b.yaml, --steps, 1000]
files: [{{source: llama3-8b.yaml, mountPath: /etc/llm}}]
pool: h100
nodes: 8
gpusPerNode: 8
memoryPerNode: 1800Gi
sharedMemory: 64Gi
queue: research
priority: normal
topology: {{required: rack}}
fabric: rdma
env: {{OMP_NUM_THREADS: 8}}
secrets: {{WANDB_API_KEY: wandb/api-key}}
checkpoint: {{volume: checkpoints, mountPath: /checkpoints, everyMinutes: 20, size: 105Gi, keep: 3}}
data: [{{volume: corpus, mountPath: /corpus}}]
maxHours: 72
containers:
  - name: metrics
    image: {IMAGE}
    resources: {{requests: {{cpu: 500m, memory: 1Gi}}, limits: {{cpu: 500m, memory: 1Gi}}}}
patches: [{{object: JobSet, merge: {{spec: {{network: null}}}}, reason: a test}}]
labels: {{team: nlp}}
run: 2
"""


def job(text: str) -> Job:
    """Read a job as the loader does."""
    documents, findings = load(text.encode(), file="job.yaml")
    assert not findings
    return Job.model_validate(documents[0].value, by_alias=True, by_name=False)


DIGESTS = {
    "a job of six fields": (SMALL, {}, "hdimo6fu"),
    "a job of many fields and a file": (LARGE, {"llama3-8b.yaml": "layers: 32\n"}, "acrd24df"),
    "the same job with other bytes in its file": (LARGE, {"llama3-8b.yaml": "layers: 33\n"}, "i724wmqa"),
    "a field written as its default": (SMALL + "nodes: 1\n", {}, "niamrukq"),
}


@pytest.mark.parametrize(("text", "contents", "recorded"), DIGESTS.values(), ids=DIGESTS)
def test_digests_never_change(text, contents, recorded):
    """Digests recorded once stay: a change of them would restart every run that exists."""
    assert run_name("llm", digest(job(text), contents)) == f"llm-{recorded}"


SAME = {
    "another order of keys": "\n".join(reversed(SMALL.strip().split("\n"))),
    "comments and blank lines": f"# a job\n\n{SMALL}# the end\n",
    "flow style": "{" + ", ".join(SMALL.strip().split("\n")) + "}",
    "quotes": SMALL.replace("train.py", "'train.py'"),
    "a waiver": SMALL + "waive: {gpu-shm-mem: known}\n",
    "retired": SMALL + "retired: true\n",
    "words for people": SMALL + "description: a test\nowner: nlp\n",
    "an empty field": SMALL + "priority:\n",
    "an alias": SMALL.replace("cluster: atlas", "cluster: &c atlas"),
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_what_does_not_count(text):
    """Order, comments, style, and the fields outside the digest leave the run alone."""
    assert digest(job(text), {}) == digest(job(SMALL), {})


SPELLINGS = {
    "a quantity": ("memoryPerNode: 1Gi", "memoryPerNode: 1024Mi"),
    "a quantity as a number": ("scratch: 1000000", "scratch: 1M"),
    "a quantity in a container": (
        "containers: [{name: a, resources: {limits: {cpu: 1}}}]",
        "containers: [{name: a, resources: {limits: {cpu: 1000m}}}]",
    ),
    "a whole number in env": ("env: {A: 1}", "env: {A: '1'}"),
    "a whole number in args": ("args: [1]", "args: ['1']"),
    "hours": ("maxHours: 2", "maxHours: 2.0"),
}


@pytest.mark.parametrize(("one", "other"), SPELLINGS.values(), ids=SPELLINGS)
def test_spellings_do_not_count(one, other):
    """Two spellings of one value are one run."""
    assert digest(job(f"{SMALL}{one}\n"), {}) == digest(job(f"{SMALL}{other}\n"), {})


CHANGES = ("nodes: 2", "args: [a]", "env: {A: b}", "run: 1", "maxHours: 2", "spot: true", "labels: {a: b}", "files: []")


def test_every_other_change_counts():
    """Each field inside the digest gives another run, and so does each value."""
    digests = [digest(job(f"{SMALL}{change}\n"), {}) for change in ("", *CHANGES, "nodes: 3")]
    assert len(set(digests)) == len(digests)


def test_a_new_field_with_a_default_changes_no_digest():
    """A later release may add fields: what was written before means the same run."""

    class Later(Job):
        """A job of a later release."""

        cushions: int = 3

    documents, _ = load(LARGE.encode(), file="job.yaml")
    assert digest(Later.model_validate(documents[0].value), {}) == digest(job(LARGE), {})


def test_python_and_yaml_write_the_same_job():
    """A job made by Python's names is the run that the same fields in YAML are."""
    made = Job(cluster="atlas", launcher="torchrun", image=IMAGE, program="train.py", pool="h100", queue="research")
    assert digest(made, {}) == digest(job(SMALL), {})
    assert written_fields(made) == written_fields(job(SMALL))


def test_eight_letters_of_a_digest_are_in_names():
    """The digest ends a DNS label, so it is lower case and without padding; the ledger keeps all of it."""
    assert set(digest(job(LARGE), {})) <= set("abcdefghijklmnopqrstuvwxyz234567")
    assert len(digest(job(LARGE), {})) == 52


REFUSED = {
    "an image without a digest": {"image": "registry.example.com/a:latest"},
    "an image without a registry": {"image": "llm@sha256:" + "ab" * 32},
    "a short digest": {"image": "registry.example.com/a@sha256:abc"},
    "an upper-case queue": {"queue": "Research"},
    "a negative size": {"scratch": "-1Gi"},
    "a float of nodes": {"nodes": 2.5},
    "a number as text": {"nodes": "2"},
    "a boolean as a number": {"nodes": True},
    "a relative mount": {"scratch": "1Gi", "working_dir": "src"},
    "arguments in the program": {"program": "train.py --fast"},
    "python in front": {"program": "/usr/bin/python3 train.py"},
    "a module with its ending": {"program": None, "module": "llm/train.py"},
    "neither program nor module": {"program": None},
    "a program and a command": {"command": ["./train"]},
    "a command of no words": {"program": None, "command": []},
    "a line of a shell": {"program": None, "command": ["./train --fast"]},
    "no executable": {"program": None, "command": ["", "--fast"]},
    "a part of a GPU in two ways": {"gpu": {"profile": "1g.10gb", "shared": True}},
    "a part of a GPU in no way": {"gpu": {}},
    "a variable with a dash": {"env": {"A-B": "c"}},
    "a float in env": {"env": {"A": 0.5}},
    "a sub-path that leaves the volume": {"data": [{"volume": "a", "mountPath": "/a", "subPath": "../b"}]},
    "a label of Kubernetes": {"labels": {"app.kubernetes.io/name": "x"}},
    "an annotation of Trainyard": {"annotations": {"trainyard.dev/x": "y"}},
    "scratch on a medium that nobody knows": {"scratch": {"size": "1Gi", "medium": "tape"}},
    "scratch without a size": {"scratch": {"medium": "nvme"}},
    "a user below zero": {"run_as_user": -1},
    "a user by name": {"run_as_user": "root"},
    "variables of two sources": {"env_from": [{"secret": "a", "configMap": "b"}]},
    "variables of nothing": {"env_from": [{"prefix": "A_"}]},
    "files of nothing": {"mounts": [{"mountPath": "/a"}]},
    "files of two sources": {"mounts": [{"secret": "a", "volume": "b", "mountPath": "/a"}]},
    "keys of a volume": {"mounts": [{"volume": "b", "mountPath": "/a", "items": {"k": "p"}}]},
    "a key outside of the folder": {"mounts": [{"secret": "a", "mountPath": "/a", "items": {"k": "../p"}}]},
    "a Secret that is written": {"mounts": [{"secret": "a", "mountPath": "/a", "readOnly": False}]},
    "a folder of a Secret": {"mounts": [{"secret": "a", "mountPath": "/a", "subPath": "b"}]},
    "a token of a minute": {"mounts": [{"token": {"audience": "a", "expirationSeconds": 60}, "mountPath": "/a"}]},
}


@pytest.mark.parametrize("changes", REFUSED.values(), ids=REFUSED)
def test_job_refuses(changes):
    """What cannot be meant is refused where it is written."""
    with pytest.raises(ValidationError):
        make.make_job(**changes)


ACCEPTED = {
    "a module": {"program": None, "module": "llm.train"},
    "a command": {"program": None, "command": ["bash", "-c", "./train --steps $STEPS", 8]},
    "an image with tag and digest": {"image": "registry.example.com:5000/a/b_c:v1@sha256:" + "0a" * 32},
    "whole numbers bare": {"args": ["--steps", 10], "env": {"A": 1}},
    "a label of one's own": {"labels": {"example.com/project": "x", "team": "nlp"}},
    "a part of a GPU": {"gpus_per_node": None, "gpu": {"profile": "1g.10gb"}},
    "scratch as a map": {"scratch": {"size": "1Gi"}},
    "root and its group": {"run_as_user": 0, "run_as_group": 0, "supplemental_groups": [0, 5]},
    "a script in a folder": {"program": "scripts/torchrun_like.py"},
}


@pytest.mark.parametrize("changes", ACCEPTED.values(), ids=ACCEPTED)
def test_job_accepts(changes):
    """What looks odd and is right passes."""
    make.make_job(**changes)


@pytest.mark.parametrize("name", shapes.names())
def test_shape_is_whole(name):
    """A preset's devices hang on its NUMA nodes, their CPUs and memory are the node's, and every fact has a source."""
    shape = preset(name)
    cpus = [cpu for numa in shape.numa for cpu in cpu_list(numa.cpus)]
    assert sorted(cpus) == list(range(shape.cpus))
    assert sum(Quantity.parse(numa.memory).value() for numa in shape.numa) == Quantity.parse(shape.memory).value()
    assert sorted(gpu for numa in shape.numa for gpu in numa.gpus) == list(range(shape.gpus.count if shape.gpus else 0))
    assert sorted(nic for numa in shape.numa for nic in numa.nics) == list(range(len(shape.nics)))
    facts = set(shape.model_dump(by_alias=True, exclude_unset=True)) - {"sources"}
    facts |= {"virtualFunctions"} if shape.nics else set()
    facts |= {"pci"} if any(nic.pci for nic in shape.nics) else set()
    optional = {"virtualFunctions"} if shape.nics else set()
    assert facts - optional <= set(shape.sources) <= facts
    assert {"cpus", "threadsPerCore", "memory", "ephemeralStorage", "numa", "reserved", "daemons"} <= facts
    assert "virtualFunctions" in shape.sources or not any(nic.virtual_functions for nic in shape.nics)


@pytest.mark.parametrize("name", shapes.names())
def test_sources_are_documents_or_assumptions(name):
    """A source names a document with the part that says so, or says `assumed`."""
    sources = preset(name).sources
    assert not [field for field, source in sources.items() if not re.search(r"[:,;]|measured", source)]
    assert not [field for field, source in sources.items() if re.search(r"assumed(?![:.,;]|$)", source)]


def cpu_list(text: str) -> list[int]:
    """Read a list such as `0-3,8-11`."""
    spans = [part.split("-") for part in text.split(",")]
    return [cpu for first, *last in spans for cpu in range(int(first), int((last or [first])[0]) + 1)]


def test_pool_knows_its_own_addresses():
    """PCI addresses of a pool take the place of the shape's, in order; a wrong number of them changes nothing."""
    addresses = [f"0000:{bus:02x}:00.0" for bus in range(1, 9)]
    pool = make.make_pool(shape="mi300x", pci=addresses)
    assert [nic.pci for nic in pool.node.nics] == addresses
    assert [nic.pci for nic in make.make_pool(shape="mi300x", pci=addresses[:3]).node.nics] == [None] * 8


DISKS = {
    "the shape's": ({}, "200Gi"),
    "the pool's": ({"disk": "1Ti"}, "1Ti"),
    "local disks under the kubelet": ({"localDisks": {"size": "5Ti"}}, "5Ti"),
    "local disks beside it": ({"localDisks": {"size": "5Ti", "storage": "raid"}}, "200Gi"),
    "both": ({"disk": "1Ti", "localDisks": {"size": "5Ti", "storage": "raid"}}, "1Ti"),
}


@pytest.mark.parametrize(("pool", "expected"), DISKS.values(), ids=DISKS)
def test_pool_knows_the_disk_of_its_kubelet(pool, expected):
    """What a pool says goes before the shape, and disks that are under the kubelet's folder are its disk."""
    made = make.make_pool(shape=make.CPU_NODE, **pool)
    assert Quantity.parse(made.node.ephemeral_storage) == Quantity.parse(expected)


POOLS_REFUSED = {
    "two sizes for one disk": {"disk": "1Ti", "localDisks": {"size": "5Ti"}},
    "no group": {"deviceAccess": []},
    "a way that nobody knows": {"deviceAccess": "groups"},
}


@pytest.mark.parametrize("changes", POOLS_REFUSED.values(), ids=POOLS_REFUSED)
def test_pool_refuses(changes):
    """What cannot be meant of nodes is refused where it is written."""
    with pytest.raises(ValidationError):
        make.make_pool(**changes)


def test_levels_end_with_the_host():
    """Topology levels keep their order, and hostname is the last."""
    cluster = make.make_cluster(topology=[{"block": "example.com/block"}, {"rack": "example.com/rack"}])
    assert list(cluster.levels) == ["block", "rack", "hostname"]


WRITTEN = {
    "job": "jobs/*/*.yaml",
    "cluster": "platform/clusters/*.yaml",
    "team": "platform/teams/*.yaml",
    "repository": "platform/repository.yaml",
}


@cache
def editor_schema(name: str) -> jsonschema.Draft202012Validator:
    """Return a validator of the schema that editors read."""
    schema = json.loads((ROOT / "schemas" / "trainyard" / f"{name}.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", WRITTEN)
def test_editor_schema_accepts_every_spec(name):
    """What the repository holds is valid in an editor too."""
    files = sorted(ROOT.glob(WRITTEN[name]))
    assert files
    for file in files:
        documents, _ = load(file.read_bytes(), file=file.name)
        assert list(editor_schema(name).iter_errors(documents[0].value)) == []


BROKEN = {
    "unknown-field": "job",
    "wrong-types": "job",
    "missing-fields": "job",
    "program-and-module": "job",
    "image-by-tag": "job",
    "out-of-range": "job",
    "cluster-form": "cluster",
    "team": "team",
    "repository": "repository",
}


@pytest.mark.parametrize(("case", "name"), BROKEN.items(), ids=BROKEN)
def test_editor_schema_refuses_what_the_models_refuse(case, name):
    """An editor underlines a wrong field before anything runs."""
    documents, _ = load((ROOT / "tests" / "specs" / f"{case}.yaml").read_bytes(), file=case)
    assert list(editor_schema(name).iter_errors(documents[0].value))


def test_editor_schemas_are_fresh(monkeypatch, capsys):
    """The schemas in the repository are those of the models."""
    monkeypatch.setattr(sys, "argv", ["editor_schemas.py", "--check"])
    with pytest.raises(SystemExit) as done:
        runpy.run_path(str(ROOT / "tools" / "editor_schemas.py"), run_name="__main__")
    assert (done.value.code, capsys.readouterr().err) == (0, "")


BEYOND = {
    "hours without an end": ({"max_hours": 1e308}, "maxHours"),
    "hours whose seconds Kueue does not read": ({"max_hours": 600_000}, "maxHours"),
    "restarts of many pods": ({"restarts": 10**6}, "restarts"),
    "more than the API's numbers hold": ({"grace_seconds": 2**31}, "graceSeconds"),
}


@pytest.mark.parametrize(("job", "field"), BEYOND.values(), ids=BEYOND)
def test_numbers_end_where_those_of_the_api_do(job, field):
    """What no field of an object could hold is refused in the spec, in one sentence, and breaks no arithmetic."""
    with pytest.raises(ValidationError) as caught:
        make.make_job(**job)
    assert [(error["loc"], error["type"]) for error in caught.value.errors()] == [((field,), "less_than_equal")]
