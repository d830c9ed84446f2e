"""A cluster of this repository comes up from its root Application alone, on a real Argo CD without anything else.

Needs TRAINYARD_EMPTY_CLUSTER, the kubeconfig of a cluster that tools/oracles/cluster/empty has started,
TRAINYARD_EMPTY_NAME, the name of a cluster of the repository, and TRAINYARD_THROWAWAY=1. With `--update` what was seen
is recorded for docs/first-sync.md.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any

import pytest

from conftest import ROOT
from whole_clusters import Whole, copied

pytestmark = [pytest.mark.argocd, pytest.mark.timeout(2400)]

RECORD = ROOT / "tests/live/whole_clusters.json"
BY_HAND = "hardware"
"""The Application that a person syncs."""

UNBUILT = {"operators-keda-chart", "operators-wandb-operator"}
"""Applications that wait for a program which is not among the oracles: an API server, and an operator's answer."""

LIMIT = 1800
"""Seconds until everything must be there; most of them Argo CD reads definitions on a busy machine."""


def test_it_comes_up_from_the_root_alone(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Every Application is in sync and healthy, and those of runs as their runs are; nobody lends a hand."""
    kubeconfig, name = os.environ.get("TRAINYARD_EMPTY_CLUSTER"), os.environ.get("TRAINYARD_EMPTY_NAME")
    if not kubeconfig or not name or os.environ.get("TRAINYARD_THROWAWAY") != "1":
        pytest.skip("set TRAINYARD_EMPTY_CLUSTER, TRAINYARD_EMPTY_NAME and TRAINYARD_THROWAWAY=1")
    repository = copied(tmp_path_factory.mktemp("whole") / name, name)
    whole = Whole(kubeconfig, repository.root, name)
    whole.make_nodes()
    begun = time.monotonic()
    whole.apply_root()
    while left := unsettled(whole):
        assert time.monotonic() - begun < LIMIT, whole.report(left)
        time.sleep(3)
    seconds = round(time.monotonic() - begun)
    states = whole.states()
    if request.config.getoption("--update"):
        rows: dict[str, Any] = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
        runs = {key.rpartition("-runs-")[2]: state.health for key, state in states.items() if "-runs-" in key}
        rows[name] = {
            "kubernetes": whole.version(),
            "applications": len(states),
            "kinds": len(whole.kinds()),
            "seconds": seconds,
            "load": round(os.getloadavg()[1]),
            "attempts": max(state.attempts for state in states.values()),
            "runs": runs,
        }
        RECORD.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n")


def unsettled(whole: Whole) -> list[str]:
    """Return the Applications that are not as they shall be; runs are queued, run or have ended."""
    states = whole.states()
    wanted = {file.stem.removeprefix("application.") for file in whole.applications()}
    late = wanted - set(states)
    for key, state in sorted(states.items(), reverse=True):
        part = key.removeprefix(f"{whole.name}-")
        of_runs = {"Suspended", "Progressing"} if part.startswith("runs-") else set()
        waits = of_runs | ({"Progressing"} if part in UNBUILT else set())
        # The root shows what the others are.
        healthy = state.health == "Healthy" or state.health in waits or (part == "argocd" and not late)
        if part != BY_HAND and not (state.sync == "Synced" and healthy and state.operation == "Succeeded"):
            late.add(key)
    return sorted(late)
