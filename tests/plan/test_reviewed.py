"""What a reviewer reads of changes of every sort, on a little repository that is live: reviewed texts and pages."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from command import call as trainyard
from make import CLUSTER, IMAGE, JOB, TEAM, write_repository
from repo import Repo
from trainyard import __version__
from trainyard.change import plan
from trainyard.faces.report import View, render
from trainyard.faces.report.json_ import schema
from trainyard.judge.checks.result import Result
from trainyard.render.tree.commit import Base

pytestmark = [pytest.mark.node, pytest.mark.slow]

GPU, CPU = CLUSTER["pools"]["gpu"], CLUSTER["pools"]["cpu"]
SITE: dict[str, Any] = {
    **CLUSTER,
    "pools": {"gpu": {**GPU, "pricePerGpuHour": 2.5}, "cpu": CPU},
    "queues": {
        "research": {
            "teams": ["nlp", "vision"],
            "nominalQuota": {"gpu": {"gpus": 24}, "cpu": {"nodes": 4}},
            "cohort": "all",
            "preemption": {"withinClusterQueue": "LowerPriority"},
        },
        "batch": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 8}}, "cohort": "all"},
    },
}
TEAMS: dict[str, Any] = {"nlp": TEAM, "vision": {"group": "vision-people"}}
SAVES = {"checkpoint": {"volume": "checkpoints", "everyMinutes": 30, "size": "5Gi"}, "maxHours": 48}
JOBS: dict[str, Any] = {
    "nlp/train": {**JOB, **SAVES},
    "nlp/small": {**JOB, "nodes": 1, "gpusPerNode": 1, "maxHours": 4},
    "nlp/cores": {**JOB, "nodes": 2, "gpusPerNode": 0, "cpusPerNode": 4, "memoryPerNode": "8Gi", "pool": "cpu"},
    **{f"vision/net-{number}": {**JOB, "nodes": 1, "gpusPerNode": 1} for number in range(6)},
}
OTHER = IMAGE.replace("4f0c7e2ab95d8136", "5a0c7e2ab95d8136")
SIDECAR = {
    "name": "agent",
    "image": IMAGE,
    "resources": {part: {"cpu": "1", "memory": "1Gi"} for part in ("requests", "limits")},
    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
}
PATCH = {
    "object": "JobSet",
    "merge": {"spec": {"failurePolicy": {"maxRestarts": 1}}},
    "reason": "the loader | <b>hangs</b> on the @second start",
}

RARELY = {
    "checkpoint": {**SAVES["checkpoint"], "everyMinutes": 6000},
    "waive": {"ckp-deadline": "it saves when it is told to end"},
}


def jobs(**changes: dict[str, Any]) -> dict[str, Any]:
    """Return the jobs with other fields in some, named without their team."""
    return {"jobs": {name: {**job, **changes.get(name.partition("/")[2], {})} for name, job in JOBS.items()}}


def queue(**changes: Any) -> dict[str, Any]:
    """Return the cluster with other fields in a queue."""
    return {
        "clusters": {
            "test": {**SITE, "queues": {**SITE["queues"], "research": {**SITE["queues"]["research"], **changes}}}
        }
    }


def cluster(**changes: Any) -> dict[str, Any]:
    """Return the cluster with other fields."""
    return {"clusters": {"test": {**SITE, **changes}}}


CASES: dict[str, dict[str, Any]] = {
    "a quota shrinks": queue(nominalQuota={"gpu": {"gpus": 20}, "cpu": {"nodes": 4}}),
    "a quota shrinks so far that runs wait": queue(nominalQuota={"gpu": {"gpus": 8}, "cpu": {"nodes": 4}}),
    "a job preempts others": {"jobs": {**JOBS, "nlp/urgent": {**JOB, "nodes": 2, "priority": "high"}}},
    "a job waits for another one that the change adds": {
        "jobs": {**JOBS, **{f"vision/{name}": {**JOB, "nodes": 1, "gpusPerNode": 5} for name in ("early", "late")}}
    },
    "a team is admitted": queue(teams=["nlp", "rl", "vision"]) | {"teams": {**TEAMS, "rl": {"group": "rl-people"}}},
    "another image in all jobs": jobs(**{name.partition("/")[2]: {"image": OTHER} for name in JOBS}),
    "a job asks for more": jobs(train={"nodes": 3}),
    "a job retires": jobs(small={"retired": True}),
    "sixty jobs start": {
        "jobs": {**JOBS, **{f"nlp/lr-{number:02}": {**JOB, "nodes": 1, "gpusPerNode": 1} for number in range(60)}}
    },
    "a patch with its reason, a waiver and a container": jobs(
        train={"patches": [PATCH], "containers": [SIDECAR], **RARELY}
    ),
    "a volume grows": {
        "teams": {**TEAMS, "nlp": {**TEAM, "volumes": {"checkpoints": {"storage": "shared", "size": "2Ti"}}}}
    },
    "security is loosened": {
        "teams": {
            **TEAMS,
            "vision": {
                "group": "vision-people",
                "podSecurity": "baseline",
                "egress": [{"cidr": "10.9.0.0/16", "ports": [443]}],
            },
        }
    },
    "Kubernetes is upgraded": cluster(kubernetes="1.36"),
}

KINDS = {"Namespace", "LocalQueue", "ClusterQueue", "PersistentVolumeClaim", "NetworkPolicy"}
"""Kinds of objects that are shown here, so that one more on every cluster changes no reviewed text."""


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Make the repository, synthesised and committed on main, and go to a branch."""
    repo = Repo(tmp_path_factory.mktemp("reviewed") / "repo")
    rendered(repo)
    repo.commit()
    repo.git("switch", "-qc", "work")
    return repo


def rendered(repo: Repo, **changes: Any) -> None:
    """Write the specs with some changes, and render them."""
    specs: dict[str, Any] = {"jobs": JOBS, "teams": TEAMS, "clusters": {"test": SITE}, **changes}
    write_repository(repo.root, **specs)
    done = trainyard(repo.root, "synth")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("case", CASES)
def test_what_a_reviewer_reads(committed: Repo, tmp_path: Path, case: str, golden: Callable[[str, str], None]) -> None:
    """Text and Markdown are as they were reviewed, and the data is as its schema says."""
    repo = committed.copied(tmp_path / "repo")
    rendered(repo, **CASES[case])
    found = plan.make_plan(repo.root, __version__, ref="main")
    assert not found.refused, found.findings
    objects = tuple(item for item in found.objects if item.object.kind in KINDS)
    found = replace(found, base="0" * 40, compared=str(Base("0" * 40)), findings=(), objects=objects)
    name = case.replace(" ", "-").replace(",", "")
    golden(f"golden/plan/{name}.txt", plan.render(found))
    view = View("plan", plan=found, files_at="https://git.example.com/blob/abc")
    golden(f"golden/plan/{name}.md", render(Result(), "markdown", view))
    jsonschema.validate(json.loads(render(Result(), "json", view)), schema())
