"""What is said of containers beside the program is what the kubelet does with them."""

from __future__ import annotations

from typing import Any

import pytest

from make import IMAGE, make_resolved
from trainyard.base.labels import POOL
from trainyard.judge.preflight.job import containers
from trainyard.render.kinds import Resolved
from trainyard.render.kinds.objects import pod
from trainyard.render.sizing.kubelet import configuration
from trainyard.upstream.kubelet.answers import answer
from two_sockets import NUMA, PINNED, cluster

WHOLE = {**PINNED, "cpuManagerPolicyOptions": {"full-pcpus-only": "true"}}
STATIC = {**WHOLE, "topologyManagerScope": "pod", "memoryManagerPolicy": "Static"}


def beside(cpu: int | str, memory: int | str = "1Gi") -> dict[str, Any]:
    """Return a container of the job's own with these limits."""
    return {"name": "side", "image": IMAGE, "resources": {"limits": {"cpu": cpu, "memory": memory}}}


def decided(run: Resolved) -> tuple[str, str | None]:
    """Return whether an empty node admits the run's pod, or why not, and the CPUs of its program alone."""
    pool = run.specs[0].pool
    gpus = [{"count": len(numa["gpus"]), "numa": index} for index, numa in enumerate(NUMA)]
    numa = [{"cpus": item["cpus"], "memory": item["memory"]} for item in NUMA]
    node = {"threadsPerCore": 2, "numa": numa, "devices": {"nvidia.com/gpu": gpus}, "ephemeralStorage": "1000Gi"}
    node["labels"] = {POOL: run.run.job.pool}
    assert pool.kubelet is not None
    arrived = {"metadata": {"name": "a"}, "spec": pod(run, run.roles[0])["spec"]}
    settings = {key: value for key, value in configuration(pool, pool.kubelet).items() if value is not None}
    (found,) = answer({"name": "a", "node": node, "kubelet": settings, "pods": [arrived]})["pods"]
    parts = {container["name"]: container.get("cpus") for container in found.get("containers", ())}
    return found.get("reason") or found["outcome"], parts.get("trainer")


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str, bool]] = {
    "whole cores": (WHOLE, beside(2), "admitted", True),
    "whole cores of a pod": (STATIC, beside(2), "admitted", True),
    "parts of a CPU": (WHOLE, beside("500m"), "admitted", True),
    "more than one CPU, but no whole number": (STATIC, beside("1500m"), "admitted", True),
    "nothing at all": (STATIC, {"name": "side", "image": IMAGE}, "admitted", True),
    "half a core": (WHOLE, beside(1), "SMTAlignmentError", False),
    "half a core where no kubelet minds": (PINNED, beside(1), "admitted", True),
    "no CPU": (WHOLE, beside(0), "admitted", False),
    "no memory": (WHOLE, beside(2, 0), "admitted", False),
}


@pytest.mark.parametrize(("kubelet", "side", "outcome", "pinned"), CASES.values(), ids=CASES)
def test_a_finding_is_where_the_program_has_no_cpus_of_its_own(kubelet, side, outcome, pinned):
    """A container beside the program is a finding exactly where the pod is refused, or the program is not pinned."""
    run = make_resolved(cluster=cluster(kubelet=kubelet), nodes=1, gpus_per_node=4, containers=[side])
    assert (decided(run)[0], decided(run)[1] is not None) == (outcome, pinned)
    assert (list(containers.check(run)) == []) is pinned


LISTENING = {
    "where PyTorch's ranks meet": ({}, 29500, True),
    "a port of its own": ({}, 29501, False),
    "where they would meet if there were others": ({"nodes": 1}, 29500, False),
    "Ray's agent": ({"launcher": "ray", "kind": "RayJob"}, 52365, True),
    "no port of Ray's": ({"launcher": "ray", "kind": "RayJob"}, 29500, False),
    "TensorFlow's tasks": ({"launcher": "tensorflow"}, 2222, True),
    "sshd": ({"launcher": "mpirun", "kind": "MPIJob"}, 2222, True),
}


@pytest.mark.parametrize(("fields", "port", "taken"), LISTENING.values(), ids=LISTENING)
def test_a_port_that_the_launcher_listens_on_is_taken(fields: dict[str, Any], port: int, taken: bool) -> None:
    """Containers of a pod share its network, so that one of both cannot listen."""
    side = {"name": "side", "image": IMAGE, "ports": [{"containerPort": 8080}, {"containerPort": port}]}
    found = list(containers.check(make_resolved(**{"nodes": 2, **fields}, containers=[side])))
    assert [(item.rule, item.path) for item in found] == (
        [("run/port-taken", "containers[0].ports[1].containerPort")] if taken else []
    )
