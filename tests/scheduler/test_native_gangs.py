"""Which groups of kube-scheduler never start: a scheduler 1.37.2 with their gates was asked, and the policy agrees.

With TRAINYARD_SCHEDULER_ORACLE naming the kubeconfig of a cluster to throw away, whose API server and scheduler have
the gates CompositePodGroup, TopologyAwareWorkloadScheduling and GenericWorkload on, it is asked again.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from runpy import run_path

import pytest

from conftest import ROOT
from scheduler.oracle import Scheduler
from trainyard.base.documents import load
from trainyard.base.manifests import Manifest
from trainyard.judge.policies.world import World

RECORDED = ROOT / "tests/scheduler/native_gangs.json"
GROUP = "scheduling.k8s.io"
NODE = {"name": "node-0", "labels": {}, "taints": [], "allocatable": {"cpu": "64", "memory": "64Gi", "pods": "110"}}
SECONDS = 4


def group(name, least=None, parent=None):
    """Return a PodGroup that waits for so many pods."""
    policy = {"gang": {"minCount": least}} if least else {"basic": {}}
    above = {"parentCompositePodGroupName": parent, "workloadRef": {"workloadName": "w", "templateName": "t"}}
    spec = {"schedulingPolicy": policy, **(above if parent else {})}
    return {"apiVersion": f"{GROUP}/v1beta1", "kind": "PodGroup", "metadata": {"name": name}, "spec": spec}


def composite(name, parent=None, least=1):
    """Return a CompositePodGroup that waits for so many groups."""
    reference = {"workloadName": "w", "templateName": "c"}
    spec = {"workloadRef": reference, "schedulingPolicy": {"gang": {"minGroupCount": least}}}
    spec |= {"parentCompositePodGroupName": parent} if parent else {}
    return {"apiVersion": f"{GROUP}/v1alpha3", "kind": "CompositePodGroup", "metadata": {"name": name}, "spec": spec}


def chain(*names):
    """Return composite groups below one another, and a group below the last."""
    parents = (None, *names)
    return [*(composite(name, parent) for name, parent in zip(names, parents, strict=False)), group("g", 1, names[-1])]


TWO = [group("g", 1, "c"), group("h", 1, "c")]
CASES = {
    "enough pods": ([group("g", 2)], "gg"),
    "one pod too few": ([group("g", 3)], "gg"),
    "more pods than needed": ([group("g", 1)], "gg"),
    "no such group": ([], "g"),
    "basic": ([group("g")], "g"),
    "composite with enough groups": ([composite("c", least=2), *TWO], "gh"),
    "composite with too few groups": ([composite("c", least=3), *TWO], "gh"),
    "a group of a composite without pods": ([composite("c", least=2), *TWO], "g"),
    "no such parent": ([group("g", 1, "c")], "g"),
    "no such grandparent": ([composite("c", "d"), group("g", 1, "c")], "g"),
    "below itself": ([composite("c", "c"), group("g", 1, "c")], "g"),
    "a circle of two": ([composite("c", "d"), composite("d", "c"), group("g", 1, "c")], "g"),
    "below a circle": ([composite("c", "d"), composite("d", "c"), composite("e", "c"), group("g", 1, "e")], "g"),
    "three composites deep": (chain("a", "b", "c"), "g"),
    "four composites deep": (chain("z", "a", "b", "c"), "g"),
    "five composites deep": (chain("y", "z", "a", "b", "c"), "g"),
}
"""Groups, and the group of each pod."""

OF_OTHERS = {"no such group", "a group of a composite without pods", "no such parent", "no such grandparent"}
"""What may still come from somebody else, so that the policy is silent: others look for missing objects."""


def pods(groups):
    """Return a pod of each of these groups."""
    for index, name in enumerate(groups):
        spec = {"schedulingGroup": {"podGroupName": name}, "containers": [{"name": "c", "image": "x"}]}
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{index}"}, "spec": spec}


@pytest.mark.parametrize("case", CASES)
def test_the_policy_says_which_groups_never_start(case):
    """It names a problem where the scheduler bound no pod, and none where it bound them all."""
    bound = json.loads(RECORDED.read_text(encoding="utf-8"))[case]
    objects, groups = CASES[case]
    text = "\n---\n".join(json.dumps(one) for one in (*objects, *pods(groups)))
    documents, _ = load(text.encode(), file="gangs.yaml")
    world = World(tuple(Manifest(document, document.value) for document in documents), complete=False)
    problems = list(run_path(str(ROOT / "policies/native_gang.py"))["check"](world))
    assert bool(problems) == (not bound and case not in OF_OTHERS)


@pytest.mark.slow
def test_the_scheduler_says_so_again(request):
    """Asked again it agrees."""
    kubeconfig = os.environ.get("TRAINYARD_SCHEDULER_ORACLE")
    if not kubeconfig:
        pytest.skip("a running scheduler: set TRAINYARD_SCHEDULER_ORACLE to the kubeconfig of a cluster to throw away")
    scheduler = Scheduler(Path(kubeconfig))
    if not scheduler.server.request("GET", f"/apis/{GROUP}/v1alpha3")[0].accepted:
        pytest.skip("a scheduler with composite groups: turn their gates on in the cluster to throw away")
    scheduler.node(NODE, "gangs-")
    said = {case: all_bound(scheduler, *CASES[case]) for case in CASES}
    if request.config.getoption("--update"):
        RECORDED.write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    assert said == json.loads(RECORDED.read_text(encoding="utf-8"))


def all_bound(scheduler, objects, groups):
    """Make groups and then pods, and say whether all pods have a node a while later."""
    made = []
    for one in (*objects, *pods(groups)):
        version, plural = one["apiVersion"], f"{one['kind'].lower()}s"
        path = f"/{'apis' if '/' in version else 'api'}/{version}/namespaces/alpha/{plural}"
        scheduler.must("POST", path, one)
        made.append(f"{path}/{one['metadata']['name']}")
    time.sleep(SECONDS)
    found = [scheduler.must("GET", path, None)["spec"].get("nodeName") for path in made[len(objects) :]]
    for path in reversed(made):
        scheduler.delete(path)
        scheduler.server.request(
            "PATCH", path, body={"metadata": {"finalizers": None}}, media_type="application/merge-patch+json"
        )
    assert len({*map(bool, found)}) == 1
    return bool(found[0])
