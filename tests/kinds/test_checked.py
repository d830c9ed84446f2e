"""A check of the network comes before the launcher in every kind that carries it, with the run's own index."""

from __future__ import annotations

import json
from typing import Any

import pytest

from make import make_resolved
from trainyard.base.manifests import value_at
from trainyard.render.kinds import checked, kinds
from trainyard.render.launchers import launchers
from trainyard.upstream.workloads import pod_sets_of

PAIRS = [
    (launcher, kind)
    for launcher in launchers().values()
    if launcher.begins_together
    for kind in kinds().values()
    if launcher.needs <= kind.gives
]
STARTS: dict[str, dict[str, Any]] = {"exec": {"program": None, "command": ["train"]}}


def containers(launcher: str, kind: str, **changes: Any) -> list[dict[str, Any]]:
    """Return the training container of every pod set of a run."""
    run = make_resolved(kind=kind, launcher=launcher, **{**STARTS.get(launcher, {}), **changes})
    values = [resource.value() for resource in run.kind.build(run)]
    sets = [value_at(value, found.template) for value in values for found, _ in pod_sets_of(value, [])]
    found = [found["spec"]["containers"][0] for found in sets]
    return json.loads(json.dumps(found).replace(run.run.name, "the-run"))


@pytest.mark.parametrize(("launcher", "kind"), PAIRS, ids=[f"{one.name}-{two.name}" for one, two in PAIRS])
def test_every_pod_begins_with_the_check(launcher, kind):
    """Its program is mounted, its index is a variable that the pod has, and the launcher follows unchanged."""
    check = {"nccl": {"busBandwidth": "150G", "size": "256Mi", "minutes": 3}}
    with_it, without = (containers(launcher.name, kind.name, **changes) for changes in ({"check": check}, {}))
    assert len(with_it) == len(without) > 0
    for container, plain in zip(with_it, without, strict=True):
        words = container["command"]
        begin, end = words.index("python3"), words.index("--")
        said = dict(word.removeprefix("--").split("=", 1) for word in words[begin + 2 : end])
        assert words[begin + 1] == "/etc/trainyard/check.py"
        assert (*words[:begin], *words[end + 1 :]) == tuple(plain["command"])
        assert container.get("args") == plain.get("args")
        assert (said["nodes"], said["gpus"], said["floor"], said["bytes"]) == ("2", "8", "150", "268435456")
        assert (said["limit"], said["port"]) == ("180", str(checked.PORT))
        assert "/etc/trainyard" in [mount["mountPath"] for mount in container["volumeMounts"]]
        assert said["node"].startswith("$(")
        source = {one["name"]: one.get("valueFrom", {}) for one in container["env"]}
        assert source["CHECK_NODE_NAME"] == {"fieldRef": {"fieldPath": "spec.nodeName"}}
