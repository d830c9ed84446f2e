"""`live prerequisites`: a cluster's list beside what its API server shows, by questions that only read."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path

import pytest

from conftest import ROOT, TESTS
from make import make_cluster, make_job_file, make_specs, make_team
from nodes_of_pools import definition, node, objects
from trainyard.base.errors import SpecError
from trainyard.base.pools import selector_of
from trainyard.faces.live import prerequisites
from trainyard.faces.live.seen import METADATA, WHOLE, Seen, UnseenError
from trainyard.faces.live.server import Answer, Server
from trainyard.render.prerequisites import Prerequisite
from trainyard.render.prerequisites.questions import (
    CsiDriver,
    Definitions,
    Existing,
    GpuDriver,
    NodeKernel,
    NodeLabels,
    NodeOffers,
    NodeRelease,
    NodeRuntime,
    PoolNodes,
    ServerMinor,
    Webhooks,
)
from trainyard.specs.load import read_repository
from trainyard.upstream.pods.taints import Taint

RECORDING = TESTS / "live" / "prerequisites" / "cumulus.jsonl"
DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/mpijobs.kubeflow.org"
SECRET = "/api/v1/namespaces/nlp/secrets/wandb"
SELECTORS = {"h100": selector_of("h100"), "cpu": selector_of("cpu"), "two": {"a": "b", "c": "d"}}


class Recorded:
    """A server with recorded answers by path, and 404 for all else; it can only be read."""

    def __init__(self, answers, minor="1.35"):
        self.answers, self.minor, self.asked = answers, minor, []

    def version(self):
        """Return its minor version."""
        return self.minor

    def request(self, method, path, *, query=None, accept=WHOLE):
        """Return the recorded answer."""
        assert method == "GET"
        self.asked.append((path, accept))
        code, message, body = self.answers.get(path, (404, "not found", {}))
        return Answer(code, "", message), body


class Recorder(Server):
    """A real server whose answers are written down, without what changes from one server to another."""

    def __init__(self, kubeconfig):
        super().__init__(kubeconfig=kubeconfig)
        self.rows = {}

    def request(self, method, path, **words):
        """Ask, and write the answer down where somebody reads."""
        answer, body = super().request(method, path, **words)
        if method == "GET" and path != "/version":
            self.rows[path] = [answer.code, answer.message, trimmed(body)]
        return answer, body


KEPT = {"name", "labels", "taints", "drivers", "allocatable", "nodeInfo", "containerRuntimeVersion", "kernelVersion"}
KEPT |= {
    "rules",
    "apiGroups",
    "webhooks",
    "clientConfig",
    "service",
    "namespace",
    "failurePolicy",
    "endpoints",
    "conditions",
    "ready",
}
KEPT |= {"kubeletVersion", "versions", "served", "items", "metadata", "spec", "status", "data", "stringData"}


def trimmed(value, *, inside=False):
    """Return an answer with those fields alone that anybody may read; labels and amounts stay whole."""
    if isinstance(value, list):
        return [trimmed(item, inside=inside) for item in value]
    if not isinstance(value, dict) or inside:
        return value
    return {
        key: trimmed(item, inside=key in {"labels", "allocatable", "taints", "drivers"})
        for key, item in value.items()
        if key in KEPT
    }


@pytest.fixture(scope="module")
def specs():
    """The specs of this repository."""
    return read_repository(ROOT).specs


def recorded():
    """Return what the API server answered."""
    lines = RECORDING.read_text(encoding="utf-8").splitlines()
    return {row["path"]: row["answer"] for row in map(json.loads, lines)}


MISSING = {
    "8 nodes with the label": "p5-2 has the taint example.com/repair:NoSchedule",
    "vpc.amazonaws.com/efa 32": "p5-4 offers vpc.amazonaws.com/efa 0",
    "topology.k8s.aws": "p5-3 lacks topology.k8s.aws/network-node-layer-3",
    "storage driver `fsx.csi.aws.com`": "p5-5 does not run it",
    "storage driver `s3.csi.aws.com`": "CSIDriver s3.csi.aws.com does not exist",
    "mpi-operator": "mpijobs.kubeflow.org does not serve v2beta1",
    "gpu-operator": "none of its 5 CustomResourceDefinitions exists",
    "every admission webhook": "removed, webhook check.example.com: Service default/removed does not exist",
}
"""What the recorded cluster lacks, by words of the prerequisite."""


def check_rows(rows):
    """Hold the rows of cumulus to what its nodes lack on purpose."""
    missing = {row.item.what: row.verdict.detail for row in rows if row.verdict.word == "missing"}
    for words, detail in MISSING.items():
        assert [detail] == [found for what, found in missing.items() if words in what], words
    assert len(missing) == len(MISSING)
    there = [row.item.what for row in rows if row.verdict.word == "there"]
    assert any("NVIDIA's driver" in what for what in there)
    assert any("nlp/wandb" in what for what in there)
    assert not any("hugging-face" in row.item.what for row in rows)  # no job of the cluster names it
    assert all(row.item.look for row in rows if row.verdict.word == "unseen")


def test_a_recorded_cluster(specs):
    """Each fault of a cluster is named with its node; what only a person sees comes with a command."""
    server = Recorded(recorded())
    rows = prerequisites.compare(specs, "cumulus", server)
    check_rows(rows)
    text = "\n".join(prerequisites.lines(rows, "cumulus"))
    line = next(line for line in text.splitlines() if line.startswith("  missing  storage driver `fsx.csi.aws.com`"))
    assert f"{line}\n{'':11}now: p5-5 does not run it\n{'':11}get: `aws eks create-addon" in text
    assert text.endswith("cannot be seen from here; nothing was changed")
    assert [accept for path, accept in server.asked if "/secrets/" in path] == [METADATA]
    assert json.dumps(prerequisites.table(rows, "cumulus")).count('"verdict": "missing"') == len(MISSING)


def test_the_recording_has_no_value_of_a_secret():
    """The server was asked for names alone."""
    assert SECRET in recorded()
    assert "not-for-anybody" not in RECORDING.read_text(encoding="utf-8")
    assert not recorded()[SECRET][2].get("data")


@pytest.mark.cluster
def test_a_real_server(specs, request):
    """A real API server gives these answers; `--update` records them. Needs a cluster that may be thrown away."""
    kubeconfig = os.environ.get("TRAINYARD_KUBECONFIG")
    if not kubeconfig or os.environ.get("TRAINYARD_THROWAWAY") != "1":
        pytest.skip("live prerequisites against a real API server: set TRAINYARD_KUBECONFIG and TRAINYARD_THROWAWAY=1")
    server = Recorder(Path(kubeconfig))
    for collection, value in objects():
        answer, _ = server.request("POST", collection, body=value)
        assert answer.code in (201, 409), answer
    check_rows(prerequisites.compare(specs, "cumulus", server))
    lines = [json.dumps({"path": path, "answer": server.rows[path]}, sort_keys=True) for path in sorted(server.rows)]
    if request.config.getoption("--update"):
        RECORDING.write_text("\n".join([*lines, ""]), encoding="utf-8")


def listed(*items):
    """Return the answer to a list."""
    return 200, "", {"items": list(items), "metadata": {}}


def verdict(question, *nodes, answers=(), minor="1.35"):
    """Return the verdict of a server with these nodes on one question."""
    server = Recorded({"/api/v1/nodes": listed(*nodes), **dict(answers)}, minor)
    item = Prerequisite("what", "why", (), "get", question)
    found = prerequisites.verdict(item, Seen(server, SELECTORS))
    return found.word, found.detail


def changed(number=1, **info):
    """Return a node with other software."""
    value = node(number)
    value["status"]["nodeInfo"].update(info)
    return value


FORBIDDEN = (403, "secrets is forbidden", {})
OLD = definition("mpijobs", "kubeflow.org", "MPIJob", "v1")
CLASS = {"provisioner": "rancher.io/local-path", "volumeBindingMode": "Immediate"}
PLACE = "/apis/storage.k8s.io/v1/storageclasses/standard"
LABEL = "nvidia.com/cuda.driver-version.full"

HOOKS = "/apis/admissionregistration.k8s.io/v1"
SERVICE = {"/api/v1/namespaces/old/services/webhook": (200, "", {})}


def hook(policy="Fail", config=None):
    """Return a configuration with one webhook for a group of its own."""
    rules = [{"apiGroups": ["example.com"], "resources": ["widgets"], "operations": ["CREATE"]}]
    service = {"service": {"namespace": "old", "name": "webhook"}}
    webhook = {"name": "check.example.com", "failurePolicy": policy, "rules": rules, "clientConfig": config or service}
    return {"metadata": {"name": "old"}, "webhooks": [webhook]}


def webhooks(mutating=(), validating=()):
    """Return the lists of both kinds of configuration."""
    return {
        f"{HOOKS}/mutatingwebhookconfigurations": listed(*mutating),
        f"{HOOKS}/validatingwebhookconfigurations": listed(*validating),
    }


def slices(ready):
    """Return the endpoints of the Service."""
    value = {
        "metadata": {"labels": {"kubernetes.io/service-name": "webhook"}},
        "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": ready}}],
    }
    return {"/apis/discovery.k8s.io/v1/namespaces/old/endpointslices": listed(value)}


QUESTIONS = {
    "another release": (ServerMinor("1.35"), [], {}, "1.34", "missing", "the API server runs 1.34"),
    "a kubelet that is newer": (
        ServerMinor("1.35"), [changed(kubeletVersion="v1.36.0")], {}, "1.35", "missing", "p5-1 runs v1.36.0",
    ),
    "a kubelet that is too old": (
        ServerMinor("1.35"), [changed(kubeletVersion="v1.31.9")], {}, "1.35", "missing", "p5-1 runs v1.31.9",
    ),
    "a kubelet that is old enough": (ServerMinor("1.35"), [changed(kubeletVersion="v1.32.0")], {}, "1.35", "there", ""),
    "too few nodes": (PoolNodes("h100", 3), [node(1)], {}, "1.35", "missing", "only 1 node with the label"),
    "no node at all": (
        PoolNodes("h100", 3), [], {}, "1.35", "missing", "no node has the label trainyard.dev/pool=h100",
    ),
    "a taint that is not there": (
        PoolNodes("h100", 1, (Taint("a", "b", "NoSchedule"), Taint("nvidia.com/gpu", "", "NoSchedule"))),
        [node(1)], {}, "1.35", "missing", "p5-1 lacks the taint a=b:NoSchedule",
    ),
    "a label with another value": (
        NodeLabels(("h100",), (LABEL,), "570.1"), [node(1)], {}, "1.35", "missing", f"p5-1 has {LABEL}=580.126.20",
    ),
    "labels of a pool without nodes": (
        NodeLabels(("cpu",), ("a",)), [node(1)], {}, "1.35", "unseen", "no node has the label trainyard.dev/pool=cpu",
    ),
    "an amount as it must be": (NodeOffers("h100", {"cpu": Fraction("191.45")}), [node(1)], {}, "1.35", "there", ""),
    "an amount a little too small": (
        NodeOffers("h100", {"cpu": Fraction("191.451")}), [node(1)], {}, "1.35", "missing", "p5-1 offers cpu 191450m",
    ),
    "two nodes with the same fault": (
        NodeOffers("h100", {"x/y": Fraction(1)}), [node(1), node(2)], {}, "1.35", "missing",
        "p5-1 offers x/y 0 and 1 more",
    ),
    "another runtime": (
        NodeRuntime(("h100",), "cri-o"), [node(1)], {}, "1.35", "missing", "p5-1 runs containerd://2.1.4",
    ),
    "the runtime": (NodeRuntime(("h100",), "containerd"), [node(1)], {}, "1.35", "there", ""),
    "a kubelet that was upgraded": (
        NodeRelease("h100", "1.34"), [changed(kubeletVersion="v1.35.1")], {}, "1.35", "missing", "p5-1 runs v1.35.1",
    ),
    "a kubelet that is not upgraded yet": (
        NodeRelease("h100", "1.34"), [changed(kubeletVersion="v1.34.4-eks-1")], {}, "1.35", "there", "",
    ),
    "an older kernel": (
        NodeKernel("h100", "6.14"), [node(1)], {}, "1.35", "missing", "p5-1 runs 6.12.40-63.114.amzn2023.x86_64",
    ),
    "a newer kernel": (NodeKernel("h100", "6.8"), [node(1)], {}, "1.35", "there", ""),
    "a driver that is too new": (
        GpuDriver("h100", LABEL, None, 575), [node(1)], {}, "1.35", "missing", "p5-1 has 580.126.20",
    ),
    "another driver than the one that is named": (
        GpuDriver("h100", LABEL, exact="580.95.05"), [node(1)], {}, "1.35", "missing", "p5-1 has 580.126.20",
    ),
    "a driver that no label names": (
        GpuDriver("h100", "x/y"), [node(1)], {}, "1.35", "unseen", "p5-1 lacks the label x/y",
    ),
    "nodes that may not be listed": (
        NodeLabels(("h100",), ("a",)), [], {"/api/v1/nodes": (403, "nodes is forbidden", {})}, "1.35", "unseen",
        "nodes is forbidden",
    ),
    "a definition that serves another version": (
        Definitions({"mpijobs.kubeflow.org": ("v2beta1",)}), [], {DEFINITION: (200, "", OLD)}, "1.35", "missing",
        "mpijobs.kubeflow.org does not serve v2beta1",
    ),
    "one definition of several": (
        Definitions({"x.y": (), "mpijobs.kubeflow.org": ()}, some=True), [], {DEFINITION: (200, "", OLD)}, "1.35",
        "there", "",
    ),
    "a Secret that may not be read": (
        Existing("Secret", "nlp/wandb", SECRET), [], {SECRET: FORBIDDEN}, "1.35", "unseen", "secrets is forbidden",
    ),
    "a Secret that does not exist": (
        Existing("Secret", "nlp/wandb", SECRET), [], {}, "1.35", "missing", "Secret nlp/wandb does not exist",
    ),
    "a class with another binding": (
        Existing("StorageClass", "standard", PLACE, {"volumeBindingMode": "WaitForFirstConsumer"}), [],
        {PLACE: (200, "", CLASS)}, "1.35", "missing", "StorageClass standard has volumeBindingMode Immediate",
    ),
    "webhooks of a server without any": (Webhooks(), [], webhooks(), "1.35", "there", ""),
    "a webhook whose Service is gone": (
        Webhooks(), [], webhooks(validating=[hook()]), "1.35", "missing",
        "old, webhook check.example.com: Service old/webhook does not exist",
    ),
    "a webhook whose Service has no pod": (
        Webhooks(), [], {**webhooks(validating=[hook()]), **SERVICE, **slices(False)}, "1.35", "missing",
        "old, webhook check.example.com: no pod of Service old/webhook is ready",
    ),
    "a webhook that answers": (
        Webhooks(), [], {**webhooks(validating=[hook()]), **SERVICE, **slices(True)}, "1.35", "there", "",
    ),
    "two webhooks without a Service": (
        Webhooks(), [], webhooks(mutating=[hook()], validating=[hook()]), "1.35", "missing",
        "old, webhook check.example.com: Service old/webhook does not exist and 1 more",
    ),
    "a webhook that may be silent": (
        Webhooks(), [], webhooks(validating=[hook(policy="Ignore")]), "1.35", "there", "",
    ),
    "a webhook at an address": (
        Webhooks(), [], webhooks(validating=[hook(config={"url": "https://hook.example.com"})]), "1.35", "there", "",
    ),
    "webhooks of an operator that has none": (
        Webhooks(("kueue.x-k8s.io",)), [], webhooks(validating=[hook()]), "1.35", "missing",
        "no MutatingWebhookConfiguration has rules for kueue.x-k8s.io",
    ),
    "webhooks of an operator that let all pass": (
        Webhooks(("example.com",), ("ValidatingWebhookConfiguration",)), [],
        {**webhooks(validating=[hook(policy="Ignore")]), **SERVICE, **slices(True)}, "1.35", "missing",
        "old, webhook check.example.com has failurePolicy Ignore",
    ),
    "webhooks of an operator that answer": (
        Webhooks(("example.com",), ("ValidatingWebhookConfiguration",)), [],
        {**webhooks(validating=[hook()]), **SERVICE, **slices(True)}, "1.35", "there", "",
    ),
    "webhooks that may not be listed": (
        Webhooks(), [], {f"{HOOKS}/mutatingwebhookconfigurations": FORBIDDEN}, "1.35", "unseen", "secrets is forbidden",
    ),
    "a storage driver that is not registered": (
        CsiDriver("a.b", ("h100",)), [node(1)], {}, "1.35", "missing", "CSIDriver a.b does not exist",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("question", "nodes", "answers", "minor", "word", "detail"), QUESTIONS.values(), ids=QUESTIONS)
def test_each_question(question, nodes, answers, minor, word, detail):
    """Every question has its verdict, and the verdict names what differs."""
    assert verdict(question, *nodes, answers=answers, minor=minor) == (word, detail)


def test_lists_come_page_by_page():
    """A list that the server cuts is read to its end."""
    pages = [({"items": [node(1)], "metadata": {"continue": "more"}}), {"items": [node(2)], "metadata": {}}]

    class Paged(Recorded):
        def request(self, method, path, *, query=None, accept=WHOLE):
            return Answer(200, "", ""), pages[("continue", "more") in query]

    assert [one.name for one in Seen(Paged({}), SELECTORS).nodes] == ["p5-1", "p5-2"]


def test_conditions_of_nodes_are_no_taints_of_pools():
    """A node that is cordoned or not ready is not reported: it will be back."""
    value = node(1)
    value["spec"]["taints"].append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    wanted = PoolNodes("h100", 1, (Taint("nvidia.com/gpu", "present", "NoSchedule"),))
    assert verdict(wanted, value) == ("there", "")


def test_secrets_count_where_a_job_names_them():
    """A Secret of a team is looked for only where a job of the cluster names it."""
    specs = make_specs(
        make_job_file("a", secrets={"KEY": "tokens/key"}), teams={"nlp": make_team(secrets=["tokens", "unused"])}
    )
    rows = prerequisites.compare(specs, "test", Recorded({}))
    assert [row.item.what for row in rows if "Secret" in row.item.what] == ["Secret `nlp/tokens` is there"]


def test_a_cluster_that_does_not_exist():
    """The near miss is named before any server is asked."""
    server = Recorded({})
    with pytest.raises(SpecError, match="cluster 'tset' does not exist; did you mean 'test'"):
        prerequisites.compare(make_specs(clusters={"test": make_cluster()}), "tset", server)
    assert not server.asked


def test_an_answer_that_says_nothing_is_not_a_missing_object():
    """A server that fails is not taken for one without the object."""
    with pytest.raises(UnseenError, match="answers 500"):
        Seen(Recorded({SECRET: (500, "", {})}), SELECTORS).get(SECRET)
