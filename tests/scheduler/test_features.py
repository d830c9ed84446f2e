"""Pods that need features of their nodes: each minor's scheduler was asked where they go.

With TRAINYARD_SCHEDULER_ORACLE naming the kubeconfig of a cluster to throw away (see oracle.py), whose API server has
the gates of SERVED on where its minor knows them, its scheduler is asked again; with --update its answers are recorded.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import ROOT
from kubelet.machines import gpu_node
from scheduler.oracle import Scheduler
from trainyard.base.labels import HOSTNAME
from trainyard.base.quantities import Quantity
from trainyard.base.versions import line
from trainyard.upstream.kubelet import Kubelet
from trainyard.upstream.kubelet.features import declared_features
from trainyard.upstream.pods.features import FEATURES, UNFIT
from trainyard.upstream.scheduler import Host, Nodes, Placed, State, Wanted
from trainyard.upstream.scheduler.releases import MEASURED

RECORDED = ROOT / "tests/scheduler/features.json"
SERVED = frozenset({"UserNamespacesHostNetworkSupport", "VolumeBindMountOptions"})
"""Gates that are off by default, without which no pod would come that needs the features."""

RULE = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [88]}}
SOME = {"cpu": "1", "memory": "1Gi"}
MOUNTED = {
    "volumes": [{"name": "v", "emptyDir": {}}],
    "mounts": [{"name": "v", "mountPath": "/v", "bindMountOptions": ["noexec"]}],
}
PODS = {
    "plain": {},
    "restart one": {"restartPolicy": "Never", "rules": [{**RULE, "action": "Restart"}]},
    "restart all": {"restartPolicy": "Never", "rules": [RULE]},
    "restart all, of an init container": {"init": {"restartPolicy": "Never", "restartPolicyRules": [RULE]}},
    "users of its own": {"spec": {"hostUsers": False}},
    "users of its own on the network of the host": {"spec": {"hostUsers": False, "hostNetwork": True}},
    "options of a mount": {**MOUNTED, "spec": {"volumes": MOUNTED["volumes"]}},
    "restart all, and too many CPUs": {"restartPolicy": "Never", "rules": [RULE], "cpu": "900"},
}
KUBELETS = {
    "as old as can be": ("1.34", {}),
    "of 1.35": ("1.35", {}),
    "of 1.35 with its gates": ("1.35", {"NodeDeclaredFeatures": True, "RestartAllContainersOnContainerExits": True}),
    "of 1.36": ("1.36", {}),
    "of 1.36 that does not restart": ("1.36", {"RestartAllContainersOnContainerExits": False}),
    "of 1.37": ("1.37", {}),
    "of 1.37 with all gates": ("1.37", dict.fromkeys(SERVED, True)),
}


def spec(what):
    """Return the specification of a pod."""
    found = PODS[what]
    own = {"name": "c", "image": "x", "resources": {"requests": {**SOME, "cpu": found.get("cpu", "1")}}}
    own |= {"restartPolicy": found["restartPolicy"], "restartPolicyRules": found["rules"]} if "rules" in found else {}
    own |= {"volumeMounts": found["mounts"]} if "mounts" in found else {}
    inits = {"initContainers": [{"name": "i", "image": "x", **found["init"]}]} if "init" in found else {}
    return {"containers": [own], "restartPolicy": "Never", **inits, **found.get("spec", {})}


def kubelet(which):
    """Return a started kubelet, with a node that offers enough of all."""
    release, gates = KUBELETS[which]
    found = Kubelet.start(gpu_node(), {"featureGates": gates}, release=release)
    offered = {"cpu": Quantity.parse("8"), "memory": Quantity.parse("16Gi"), "pods": Quantity.parse("110")}
    return replace(found, node=replace(found.node, allocatable=offered))


def case(what, which):
    """Return one node and one pod, as the oracle makes them."""
    own = kubelet(which)
    offered = {name: str(amount) for name, amount in own.node.allocatable.items()}
    node = {"name": "node-0", "labels": {HOSTNAME: "node-0"}, "taints": [], "allocatable": offered}
    declares = sorted(declared_features(own.configuration.gates))
    pod = {"namespace": "alpha", "labels": {}, "spec": spec(what), "takes": {}}
    return {"nodes": [{**node, "declares": declares}], "pods": [pod]}


def ours(what, which, minor):
    """Return what we have against the node."""
    state = State(kubelet(which), minor, SERVED)
    found = Nodes([Host("node-0", {HOSTNAME: "node-0"}, (), state)]).place(Wanted(spec(what), "alpha"), "node-0")
    return {} if isinstance(found, Placed) else dict(found.against)


SINCE = {"all": "1.36", "options": "1.37", "network": "1.35"}
"""The minor whose API server takes such a pod as it is, with its gates on."""


def asked(minor):
    """Yield the pods that a minor's API server takes, with the kubelets that may be beside it: none is newer."""
    for what in PODS:
        if all(minor >= first for word, first in SINCE.items() if word in what):
            yield from ((what, which) for which, (release, _) in KUBELETS.items() if release <= minor)


@pytest.mark.parametrize("minor", MEASURED)
def test_a_pod_goes_only_to_nodes_that_declare_what_it_needs(minor):
    """From 1.36 on; what else is against a node is said in the scheduler's order."""
    said = json.loads(RECORDED.read_text(encoding="utf-8"))[minor]
    assert said == {f"{what} / {which}": ours(what, which, minor) for what, which in asked(minor)}
    assert (sum(UNFIT in one for one in said.values()) > 10) == (minor >= "1.36")


def test_alpha_features_count_only_where_the_server_takes_them():
    """A server leaves the options of a mount out while its gate is off, so that any node will do."""
    own = Wanted(spec("options of a mount"), "alpha")
    assert State(kubelet("of 1.37"), "1.37").unfit(own) is None
    assert State(kubelet("of 1.37"), "1.37", SERVED).unfit(own) == UNFIT
    assert {name for name, one in FEATURES.items() if one.served is None} == SERVED


def test_nodes_that_lack_a_feature_are_none_that_a_pod_may_use():
    """Of two nodes it may use the one that declares what it needs."""
    hosts = [
        Host(f"n-{index}", {HOSTNAME: f"n-{index}"}, (), State(kubelet(which), "1.36"))
        for index, which in enumerate(("of 1.35", "of 1.36"))
    ]
    assert Nodes(hosts).usable(Wanted(spec("restart all"), "alpha")) == ["n-1"]


@pytest.mark.slow
def test_the_scheduler_says_so_again(request):
    """Asked again it agrees."""
    kubeconfig = os.environ.get("TRAINYARD_SCHEDULER_ORACLE")
    if not kubeconfig:
        pytest.skip("a running scheduler: set TRAINYARD_SCHEDULER_ORACLE to the kubeconfig of a cluster to throw away")
    scheduler = Scheduler(Path(kubeconfig))
    minor = line(scheduler.release())
    said = {}
    for what, which in asked(minor):
        (event,) = scheduler.answer(case(what, which))
        said[f"{what} / {which}"] = event.get("against", {})
    recorded = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    if request.config.getoption("--update"):
        RECORDED.write_text(json.dumps({**recorded, minor: said}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    else:
        assert said == recorded[minor]
