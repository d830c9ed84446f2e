"""Services of NVIDIA NIM: apart from Kueue, called by their team alone, and bounded in GPUs."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, IMAGE, make_cluster, make_team
from trainyard.render.clusters import nim, team
from trainyard.render.parts.objects import Resource
from trainyard.specs import Cluster

CHAT = {"team": "nlp", "image": IMAGE, "pool": "gpu", "storage": "shared", "size": "100Gi", "profiles": ["a" * 64]}
TAINTED = {"gpu": {"shape": "dgx-h100", "nodes": 4, "taints": [{"key": "nvidia.com/gpu", "value": "present"}]}}


def cluster(**service: Any) -> Cluster:
    """Return a cluster with one service."""
    operators = {**CLUSTER["operators"], "nim-operator": {"version": "3.1.2"}}
    return make_cluster(pools=TAINTED, operators=operators, nim={"services": {"chat": {**CHAT, **service}}})


def found(of: Cluster) -> dict[str, Resource]:
    """Return its objects by kind and namespace or name."""
    return {f"{item.kind}/{item.name.rpartition('-')[0] or item.name}": item for item in nim.resources(of)}


def test_a_service_is_apart_from_kueue():
    """Its namespace has no team's label, by which Kueue would hold the Job of the download, and is no team's."""
    space = found(cluster())["Namespace/nim"]
    assert (space.name, "trainyard.dev/team" in space.labels) == ("nim-nlp", False)
    assert space.labels["pod-security.kubernetes.io/enforce"] == "baseline"


def test_its_pods_run_on_its_pool_and_ask_for_their_share():
    """Job and pods bear the pool's taints; two of eight GPUs have a quarter of the node, and no quota more of them."""
    every = found(cluster(gpusPerPod=2, replicas=3))
    for kind in ("NIMCache/chat", "NIMService/chat"):
        spec = every[kind].fields["spec"]
        assert spec["nodeSelector"] == {"trainyard.dev/pool": "gpu"}
        assert [item["key"] for item in spec["tolerations"]] == ["nvidia.com/gpu"]
    asked = every["NIMService/chat"].fields["spec"]["resources"]
    assert asked["limits"]["nvidia.com/gpu"] == 2
    assert 40 <= asked["requests"]["cpu"] <= 56, "a quarter of 224 CPUs, less what the system has"
    assert every["ResourceQuota/gpus"].fields["spec"]["hard"] == {"requests.nvidia.com/gpu": "6"}


CHANGES: dict[str, tuple[dict[str, Any], bool]] = {
    "another image": ({"image": IMAGE.replace("/train@", "/gpt@")}, True),
    "another profile": ({"profiles": ["all"]}, True),
    "more pods": ({"replicas": 2}, False),
}


@pytest.mark.parametrize(("change", "other"), CHANGES.values(), ids=CHANGES)
def test_another_model_is_another_cache(change, other):
    """The operator refuses another image for a cache that exists, so its name follows from what is downloaded."""
    before, after = (found(one)["NIMCache/chat"] for one in (cluster(), cluster(**change)))
    assert (before.name != after.name) is other
    served = found(cluster(**change))["NIMService/chat"].fields["spec"]["storage"]["nimCache"]
    assert served["name"] == after.name
    assert ("profile" in served) is (change.get("profiles") != ["all"])


def test_the_image_is_that_of_the_digest():
    """The operator writes `<repository>:<tag>`, which is a digest here."""
    image = found(cluster())["NIMService/chat"].fields["spec"]["image"]
    assert f"{image['repository']}:{image['tag']}" == IMAGE


@pytest.mark.parametrize(("clients", "called"), [((), False), (("vision",), True)])
def test_both_sides_let_calls_pass(clients, called):
    """A team may call its services and those that list it: its own policy and theirs say the same."""
    one = cluster(clients=list(clients))
    allowed, operator = found(one)["NetworkPolicy/chat"].fields["spec"]["ingress"][0]["from"]
    assert operator == {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "nim-operator"}}}
    assert allowed["namespaceSelector"]["matchExpressions"][0]["values"] == sorted({"nlp", *clients})
    for name, may in (("nlp", True), ("vision", called)):
        policies = {item.name: item for item in team.resources("test", one, name, make_team())}
        to = [rule.get("to", [{}])[0] for rule in policies["outside"].fields["spec"]["egress"]]
        assert any("nim-service" in str(peer.get("podSelector")) for peer in to) is may
