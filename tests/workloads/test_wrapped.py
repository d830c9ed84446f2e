"""What is found in a workload is found in an AppWrapper around it, at its place in the AppWrapper."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from conftest import ROOT
from trainyard.base.documents import Document, dump, load
from trainyard.base.findings import Finding
from trainyard.base.manifests import Manifest, expand
from trainyard.base.system.data import policy_files
from trainyard.judge.checks.cel_policies import check_judged
from trainyard.judge.checks.validate import strangers
from trainyard.judge.policies.policy import Policy, usable
from trainyard.judge.policies.run import check
from trainyard.judge.policies.world import World
from trainyard.specs import Cluster
from trainyard.upstream.apiserver import Judge, catalog
from trainyard.upstream.workloads import carrier_of

POLICIES = {policy.id: policy for policy in usable(policy_files(ROOT))}
QUEUE = "kueue.x-k8s.io/queue-name"
INSIDE = "spec.components[0].template"
LABELLED = re.compile(r"(move it|queue-name) to the \w+")
"""What a message says of the object that waits in a queue, which is the AppWrapper there."""

OUTER = {
    *("arg-generate-name", "arg-suspend-diff"),
    *("kq-label-place", "kq-podgroup", "kq-suspended"),
}
"""Policies about objects that Argo CD applies or that a queue starts; components of an AppWrapper are neither.

Kueue queues an AppWrapper that holds a Job of Volcano, whose own label it does not queue.
"""

OF_KINDS = {"kq-kind-off"}
"""Policies about the kind that a queue starts, which an AppWrapper changes."""

FAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "a privileged container": ("container", {"securityContext": {"privileged": True}}),
    "a container without an image": ("container", {"image": None}),
    "an image by its tag": ("container", {"image": "registry.example.com/nlp/bert:latest"}),
    "a device without an equal limit": ("container", {"resources": {"requests": {"nvidia.com/gpu": "2"}}}),
    "a part of a device": ("container", {"resources": {"limits": {"nvidia.com/gpu": "500m"}}}),
    "memory without a unit": ("container", {"resources": {"limits": {"memory": "8m"}}}),
    "a field that nobody knows": ("container", {"imagePullPolice": "Always"}),
    "a launcher that waits for other nodes": ("container", {"command": ["torchrun", "--nnodes=5", "train.py"]}),
    "a reference to no variable": ("container", {"command": ["python", "$(NOPE)"]}),
    "a folder of the node": ("pod", {"volumes": [{"name": "host", "hostPath": {"path": "/"}}]}),
    "processes of the node": ("pod", {"hostPID": True}),
    "a volume that is not there": ("container", {"volumeMounts": [{"name": "no", "mountPath": "/data"}]}),
    "a policy of restarts that Jobs lack": ("pod", {"restartPolicy": "Always"}),
    "fewer pods than completions": ("job", {"completions": 9, "parallelism": 2, "completionMode": "Sometimes"}),
    "a number that is none": ("job", {"parallelism": "two"}),
    "a job that goes when it ends": ("set", {"ttlSecondsAfterFinished": 0}),
    "a role that waits for none": ("replicated", {"dependsOn": [{"name": "none", "status": "Ready"}]}),
}
"""Where a JobSet is wrong, and what is written there."""


def jobset(place: str = "", change: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a JobSet with a change at one of its places."""
    changes = {place: change or {}}
    image = f"registry.example.com/nlp/bert@sha256:{'0' * 64}"
    container = {"name": "trainer", "image": image, **changes.get("container", {})}
    pod = {"restartPolicy": "Never", "containers": [container], **changes.get("pod", {})}
    job = {"parallelism": 2, "completions": 2, "template": {"spec": pod}, **changes.get("job", {})}
    replicated = {"name": "worker", "template": {"spec": job}, **changes.get("replicated", {})}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "train", "namespace": "nlp", "labels": {QUEUE: "research"}},
        "spec": {"replicatedJobs": [replicated], **changes.get("set", {})},
    }


def wrapped(value: dict[str, Any]) -> dict[str, Any]:
    """Return a workload in an AppWrapper that waits in its queue; anything else as it is."""
    row = carrier_of(value)
    if (
        row is None
        or row.embeds is not None
        or not row.namespaced
        or row.idle
        or not (row.trains or row.makes or row.kind == "Pod")
    ):
        return value
    held = deepcopy(value)
    metadata = {key: text for key, text in held["metadata"].items() if key in ("name", "namespace")}
    labels = held["metadata"].get("labels") or {}
    if QUEUE in labels:
        metadata["labels"] = {QUEUE: labels.pop(QUEUE)}
    head = {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper", "metadata": metadata}
    return {**head, "spec": {"components": [{"template": held}]}}


def values(policy: Policy) -> Iterator[dict[str, Any]]:
    """Yield the objects of a policy's cases."""
    path = ROOT / "tests" / "policies" / f"{policy.id}.yaml"
    yield from (item.value for item in expand(load(path.read_bytes(), file=path.name)[0])[0])


def inventory(policy: Policy) -> Cluster | None:
    """Return the cluster that the cases are on, None where none is described."""
    path = ROOT / "tests" / "policies" / f"{policy.id}.cluster.yaml"
    return Cluster.model_validate(load(path.read_bytes(), file=path.name)[0][0].value) if path.exists() else None


def found(policy: Policy, objects: list[dict[str, Any]]) -> list[Finding]:
    """Return the findings of a policy on objects."""
    manifests = tuple(Manifest(Document("", number, value), value) for number, value in enumerate(objects))
    if policy.check is not None:
        return check(World(manifests, inventory(policy)), [policy])[0]
    known = catalog.load(ROOT / "schemas")[0]
    judgements = [Judge(known).judge(manifest) for manifest in manifests]
    return check_judged(judgements, known, [policy], complete=False).findings


def told(findings: list[Finding]) -> Counter[tuple[str, str]]:
    """Return how often each field is found, whatever holds the object; of labels, that they are at the outer object."""
    return Counter(
        (LABELLED.sub(r"\1", finding.message), (finding.path or "").removeprefix(INSIDE).removeprefix("."))
        for finding in findings
    )


@pytest.mark.parametrize(
    "policy", [POLICIES[name] for name in sorted({*POLICIES} - OF_KINDS)], ids=lambda item: item.id
)
def test_a_policy_finds_the_same_in_an_app_wrapper(policy: Policy) -> None:
    """Every case of every policy, wrapped: the same messages at the same fields, and nothing more."""
    alone = list(values(policy))
    inside, outside = told(found(policy, [wrapped(item) for item in alone])), told(found(policy, alone))
    assert inside <= outside if policy.id in OUTER else inside == outside


NAMESPACE = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "nlp", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
}


def judged(value: dict[str, Any]) -> list[Finding]:
    """Return the findings on a stranger's object in a namespace that enforces a Pod Security level."""
    texts = [(f"{number}.yaml", dump(item).encode()) for number, item in enumerate((NAMESPACE, value))]
    python = [policy for policy in POLICIES.values() if policy.check is not None]
    return [finding for finding in strangers(texts, ROOT / "schemas", policies=python).findings if finding.is_error]


@pytest.mark.parametrize(("place", "change"), FAULTS.values(), ids=FAULTS)
def test_a_faulty_job_set_is_found_in_an_app_wrapper(place: str, change: dict[str, Any]) -> None:
    """Schema, Kubernetes' rules, webhooks, Pod Security and policies say the same, at fields of the AppWrapper."""
    alone, inside = judged(jobset(place, change)), judged(wrapped(jobset(place, change)))
    assert told(inside) == told(alone)
    assert alone
    assert {item.object.kind for item in inside if item.object} == {"AppWrapper"}


def test_a_good_job_set_is_good_in_an_app_wrapper() -> None:
    """What has no faults alone has none in an AppWrapper, in a namespace that asks for nothing."""
    text = dump(wrapped(jobset())).encode()
    assert strangers([("a.yaml", text)], ROOT / "schemas").objects[0].verdict == "valid"
