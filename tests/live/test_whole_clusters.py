"""A cluster of this repository comes up from its root Application alone, on a real Argo CD without anything else.

Needs TRAINYARD_EMPTY_CLUSTER, the kubeconfig of a cluster that tools/oracles/cluster/empty has started,
TRAINYARD_EMPTY_NAME, the name of a cluster of the repository, TRAINYARD_ARGOCD_RELEASE where that is not the default,
and TRAINYARD_THROWAWAY=1. With `--update` what was seen
is recorded for docs/first-sync.md.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from argocd_site import RELEASE
from conftest import ROOT
from repo import Repo
from trainyard.base.documents import dump
from whole_clusters import Whole, commit, copied

pytestmark = [pytest.mark.argocd, pytest.mark.timeout(2400)]

RECORD = ROOT / "tests/live/whole_clusters.json"
BY_HAND = "hardware"
"""The Application that a person syncs."""

UNBUILT = {"operators-keda-chart", "operators-wandb-operator"}
"""Applications that wait for a program which is not among the oracles: an API server, and an operator's answer."""

LATER = 240
"""Seconds until what is added to a team whose runs are there must be there too."""

LIMIT = 1800
"""Seconds until everything must be there; most of them Argo CD reads definitions on a busy machine."""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """The repository that Argo CD reads, or a loud skip."""
    name = os.environ.get("TRAINYARD_EMPTY_NAME")
    if not os.environ.get("TRAINYARD_EMPTY_CLUSTER") or not name or os.environ.get("TRAINYARD_THROWAWAY") != "1":
        pytest.skip("set TRAINYARD_EMPTY_CLUSTER, TRAINYARD_EMPTY_NAME and TRAINYARD_THROWAWAY=1")
    return copied(tmp_path_factory.mktemp("whole") / name, name)


@pytest.fixture(scope="module")
def whole(repository: Repo) -> Whole:
    """The cluster on which it comes up."""
    return Whole(os.environ["TRAINYARD_EMPTY_CLUSTER"], repository.root, os.environ["TRAINYARD_EMPTY_NAME"])


def test_it_comes_up_from_the_root_alone(request: pytest.FixtureRequest, repository: Repo, whole: Whole) -> None:
    """Every Application is in sync and healthy, and those of runs as their runs are; nobody lends a hand.

    Runs that are there hold no later one up: Argo CD looks at each of them at every sync of their Application.
    """
    name = whole.name
    whole.make_nodes()
    whole.install_what_others_do()
    begun = time.monotonic()
    whole.apply_root()
    while left := unsettled(whole):
        assert time.monotonic() - begun < LIMIT, whole.report(left)
        time.sleep(3)
    seconds = round(time.monotonic() - begun)
    states = whole.states()
    later = whole.add_to_runs(repository)
    while missing := [team for team in later if not whole.has_added(team)]:
        names = [f"{name}-runs-{team}" for team in missing]
        assert time.monotonic() - begun < seconds + LATER, whole.report(names)
        time.sleep(3)
    if request.config.getoption("--update"):
        rows: dict[str, Any] = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
        runs = {key.rpartition("-runs-")[2]: state.health for key, state in states.items() if "-runs-" in key}
        rows.setdefault(name, {})[RELEASE] = {
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


TEAM, QUEUE, POOL = "nlp", "speech", "h100"
JOB = {
    "launcher": "torchrun",
    "kind": "VolcanoJob",
    "image": f"registry.example.com/nlp/speech@sha256:{'b7' * 32}",
    "program": "train.py",
    "pool": POOL,
    "nodes": 2,
    "gpusPerNode": 8,
    "queue": QUEUE,
    "priority": "normal",
    "maxHours": 1,
    "restarts": 0,
}
"""A job of half of the nodes that a cluster of Volcano has here."""


def test_volcano_runs_a_job_to_its_end(repository: Repo, whole: Whole) -> None:
    """It waits for nodes, starts when others end, and ends when its pods do."""
    if not (whole.tree / f"platform/queue.{QUEUE}.yaml").exists():
        pytest.skip(f"Volcano has no queue {QUEUE} on {whole.name}")
    put(repository, whole, "one")
    commit(repository, whole.name, "Add a job of Volcano's")
    wait(whole, "it has ended", lambda: whole.end_pods(TEAM) or phase(whole, "one") == "Completed")


def test_it_is_torn_down(whole: Whole) -> None:
    """In the order of docs/rebuilding.md nothing waits for an operator that has gone, and claims stay."""
    teams, claims = whole.teams(), whole.claims()
    whole.delete_application("argocd")
    for part in ordered(set(whole.states())):
        whole.delete_application(part, cascade=True)
        wait(whole, f"{part} is gone", lambda part=part: f"{whole.name}-{part}" not in whole.states())
    assert not whole.states()
    assert (whole.teams(), whole.claims()) == (teams, claims)


def ordered(names: set[str]) -> list[str]:
    """Return the Applications but the root, by part: runs first, then teams and platform, operators last."""
    classes = ("runs-", "teams-", "platform", "hardware", "monitoring")
    parts = sorted(name.partition("-")[2] for name in names)
    first = [part for of in classes for part in parts if part.startswith(of)]
    charts = [part for part in parts if part.endswith(("-chart", "-manifests"))]
    return [*first, *charts, *(part for part in parts if part not in {*first, *charts, "argocd"})]


def put(repository: Repo, whole: Whole, name: str) -> None:
    """Write a job."""
    (repository.root / f"jobs/{TEAM}/{name}.yaml").write_text(dump({"cluster": whole.name, **JOB}))


def phase(whole: Whole, job: str) -> str:
    """Return what Volcano says of the run of a job."""
    listed = whole.custom.list_namespaced_custom_object("batch.volcano.sh", "v1alpha1", TEAM, "jobs")["items"]
    found = [item for item in listed if item["metadata"]["labels"]["trainyard.dev/job"] == job]
    return str(found[0].get("status", {}).get("state", {}).get("phase", "")) if found else ""


def wait(whole: Whole, what: str, reached: Callable[[], bool]) -> None:
    """Wait until something holds; fail with what Argo CD says."""
    end = time.monotonic() + LATER
    while not reached():
        assert time.monotonic() < end, f"{what}\n{whole.report(list(whole.states()))}"
        time.sleep(2)
