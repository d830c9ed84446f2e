"""DaemonSets of platform/extra leave jobs the nodes that they are sized for, or a warning says what to state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from make import CLUSTER, write_repository
from trainyard.base.documents import dump
from trainyard.judge import preflight


def daemon(cpu: str, memory: str = "1Gi", **spec: Any) -> dict[str, Any]:
    """Return a DaemonSet whose pods request this much."""
    containers = [{"name": "agent", "image": "agent", "resources": {"requests": {"cpu": cpu, "memory": memory}}}]
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": containers, **spec}}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "kube-system"},
        "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": template},
    }


def found(root: Path, value: dict[str, Any], **pool: Any) -> list[str]:
    """Return what is said of a cluster with a DaemonSet of its own."""
    pools = {"gpu": {**CLUSTER["pools"]["gpu"], **pool}, "cpu": CLUSTER["pools"]["cpu"]}
    write_repository(root, jobs={}, clusters={"test": {**CLUSTER, "pools": pools}})
    path = root / "platform/extra/test/platform/agent.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(dump(value))
    findings = preflight.check_repository(root).findings
    return [f"{item.location}: {item.message}" for item in findings if item.rule == "node/extra-daemons"]


LARGE: dict[str, tuple[dict[str, Any], str]] = {
    "CPUs": (daemon("16"), "request 16 CPUs on nodes of pool 'gpu'"),
    "memory": (daemon("100m", "500Gi"), "request 500Gi on nodes of pool 'gpu'"),
    "a pool that it selects": (
        daemon("16", nodeSelector={"trainyard.dev/pool": "cpu"}),
        "request 16 CPUs on nodes of pool 'cpu'",
    ),
}


@pytest.mark.parametrize(("value", "said"), LARGE.values(), ids=LARGE)
def test_a_daemon_that_is_too_large_is_told(tmp_path, value, said):
    """At its name, with the pool whose nodes it fills."""
    (message,) = found(tmp_path, value)
    assert message.startswith("platform/extra/test/platform/agent.yaml:")
    assert said in message


SMALL: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a small one": (daemon("100m", "64Mi"), {}),
    "one that the pool states": (
        daemon("16", nodeSelector={"trainyard.dev/pool": "gpu"}),
        {"daemons": [{"name": "agent", "cpus": "16", "memory": "1Gi"}]},
    ),
    "one for other nodes": (daemon("16", nodeSelector={"example.com/other": "yes"}), {}),
    "one that no taint lets in": (
        daemon("16", nodeSelector={"trainyard.dev/pool": "gpu"}),
        {"taints": [{"key": "example.com/gpu", "value": "yes"}]},
    ),
    "a Deployment": ({**daemon("16"), "kind": "Deployment"}, {}),
}


@pytest.mark.parametrize(("value", "pool"), SMALL.values(), ids=SMALL)
def test_a_daemon_that_leaves_room_is_not_told(tmp_path, value, pool):
    """So is one that is counted, or that runs elsewhere."""
    assert found(tmp_path, value, **pool) == []
