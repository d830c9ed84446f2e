"""A plan is true or fails: each way in which a change cannot be merged, on a little repository that is live."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from command import Done
from command import call as trainyard
from make import CLUSTER, JOB, REPOSITORY, TEAM, write_repository
from repo import Repo

pytestmark = [pytest.mark.node, pytest.mark.slow]

JOBS = {"nlp/train": JOB, "nlp/small": {**JOB, "nodes": 1}}
TEAMS = {"nlp": TEAM, "vision": {"group": "vision-people"}}
FOR_BOTH = {"research": {**CLUSTER["queues"]["research"], "teams": ["nlp", "vision"]}}
SITE = {**CLUSTER, "queues": FOR_BOTH}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Make a live repository with two jobs, synthesised and committed on main, and go to a branch."""
    repo = Repo(tmp_path_factory.mktemp("committed") / "repo")
    rewrite(repo)
    synthesised(repo)
    repo.commit()
    repo.git("switch", "-qc", "work")
    return repo


def rewrite(repo: Repo, **changes: Mapping[str, Any]) -> None:
    """Write the specs again with other values."""
    specs: dict[str, Any] = {"jobs": JOBS, "teams": TEAMS, "clusters": {"test": SITE}, **changes}
    write_repository(repo.root, **specs)


def job(**changes: Any) -> Callable[[Repo], None]:
    """Return what changes a job without a synth."""
    return lambda repo: rewrite(repo, jobs={**JOBS, "nlp/train": {**JOB, **changes}})


def cluster(**changes: Any) -> Callable[[Repo], None]:
    """Return what changes the cluster without a synth."""
    return lambda repo: rewrite(repo, clusters={"test": {**SITE, **changes}})


def rendered(change: Callable[[Repo], object]) -> Callable[[Repo], None]:
    """Return what makes a change with a synth."""

    def make(repo: Repo) -> None:
        change(repo)
        synthesised(repo)

    return make


def synthesised(repo: Repo) -> None:
    """Render what is there."""
    done = trainyard(repo.root, "synth")
    assert done.returncode == 0, done.stderr


def merged(repo: Repo) -> None:
    """Commit what is there, and have it on main."""
    repo.commit()
    repo.git("branch", "-f", "main", "work")


def reverted(change: Callable[[Repo], object]) -> Callable[[Repo], None]:
    """Return what merges a change, and takes it back as the button of a forge does."""

    def make(repo: Repo) -> None:
        rendered(change)(repo)
        merged(repo)
        repo.git("revert", "--no-edit", "HEAD")

    return make


def retired(repo: Repo) -> None:
    """Retire the job."""
    rewrite(repo, jobs={**JOBS, "nlp/train": {**JOB, "retired": True}})


def moved(old: str, new: str) -> Callable[[Repo], None]:
    """Return what moves a job's file."""

    def make(repo: Repo) -> None:
        (repo.root / f"jobs/{new}.yaml").parent.mkdir(parents=True, exist_ok=True)
        (repo.root / f"jobs/{old}.yaml").rename(repo.root / f"jobs/{new}.yaml")

    return make


def frozen_file(repo: Repo) -> Path:
    """Return a file of the run of the job `train`."""
    return next((repo.root / "generated/test/runs/nlp").glob("train-*/jobset.*.yaml"))


def edited(repo: Repo) -> None:
    """Edit a file of a frozen run by hand."""
    path = frozen_file(repo)
    path.write_text(path.read_text() + "# edited\n")


def ledger(change: Callable[[Any], object]) -> Callable[[Repo], None]:
    """Return what rewrites the ledger of the job `train`."""

    def make(repo: Repo) -> None:
        path = repo.root / "generated/test/ledger/nlp/train.json"
        value = json.loads(path.read_text())
        change(value)
        path.write_text(json.dumps(value))

    return make


def first_entry(value: Any) -> dict[str, Any]:
    """Return the first entry of a ledger."""
    return next(iter(value.values()))[0] if isinstance(value, dict) else value[0]


SIDECAR = {"name": "agent", "image": JOB["image"], "securityContext": {"privileged": True}}
ROOM = {"resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}}
HOST = [{"name": "host", "hostPath": {"path": "/"}}]
LOW = {"research": {**FOR_BOTH["research"], "nominalQuota": {"gpu": {"gpus": 8}}}}
HIGH = {"research": {**FOR_BOTH["research"], "nominalQuota": {"gpu": {"gpus": 24}, "cpu": {"nodes": 4}}}}


@dataclass(frozen=True)
class Case:
    """A change, the rule and the place that lead the plan, and what the rest of it says and must not say."""

    change: Callable[[Repo], object]
    rule: str
    place: str
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ("other objects: none", "unchanged")


UNTOLD = ("generated/ has not changed, so it does not show this change yet",)
BEHIND = "generated/ is out of date: this plan shows what `trainyard synth` would write"
UNKNOWN = "the effect of a merge is unknown until the errors are fixed"
KEPT = ("other objects: none",)
"""What must not be said where some runs are truly left alone."""

REFUSED = {
    "a job is edited and not rendered": Case(
        job(nodes=1),
        "run/stale",
        "jobs/nlp/train.yaml:1:1",
        (
            BEHIND,
            "cannot be merged, 1 error",
            "replaces nlp/train-",
            "changed: nodes (2 → 1)",
            "1 replaced, 1 unchanged",
        ),
        (),
    ),
    "two jobs are edited and not rendered": Case(
        lambda repo: rewrite(repo, jobs={name: {**value, "maxHours": 9} for name, value in JOBS.items()}),
        "run/stale",
        "jobs/nlp/small.yaml:1:1",
        (BEHIND, "cannot be merged, 1 error", "for job 'small' and 1 other job", "2 replaced"),
        (),
    ),
    "a job is added and not rendered": Case(
        lambda repo: rewrite(repo, jobs={**JOBS, "nlp/new": {**JOB, "nodes": 1}}),
        "run/stale",
        "jobs/nlp/new.yaml:1:1",
        (BEHIND, "starts nlp/new-"),
        (),
    ),
    "a job is retired and not rendered": Case(
        retired, "run/stale", "jobs/nlp/train.yaml:1:1", (BEHIND, "stops nlp/train-"), ()
    ),
    "a job runs again and is not rendered": Case(
        job(run=2), "run/stale", "jobs/nlp/train.yaml:1:1", (BEHIND, "changed: run (2 added)"), ()
    ),
    "a cluster is edited and not rendered": Case(
        cluster(queues=HIGH), "run/stale", "generated", (BEHIND, "changes ClusterQueue research"), KEPT
    ),
    "a team is edited and not rendered": Case(
        lambda repo: rewrite(repo, teams={**TEAMS, "vision": {"group": "others"}}),
        "run/stale",
        "generated",
        (BEHIND, "changes RoleBinding"),
        KEPT,
    ),
    "a job's file is gone": Case(
        lambda repo: (repo.root / "jobs/nlp/train.yaml").unlink(), "run/job-gone", "jobs/nlp/train.yaml", UNTOLD
    ),
    "a job and all that was rendered of it are gone": Case(
        lambda repo: [
            (repo.root / "jobs/nlp/train.yaml").unlink(),
            frozen_file(repo).unlink(),
            (repo.root / "generated/test/ledger/nlp/train.json").unlink(),
        ],
        "run/job-gone",
        "jobs/nlp/train.yaml",
        ("the effect of a merge is unknown", "stops nlp/train-"),
        ("unchanged",),
    ),
    "a job is renamed": Case(
        moved("nlp/train", "nlp/trained"),
        "run/job-gone",
        "jobs/nlp/train.yaml",
        ("cannot be merged, 1 error", "run `trainyard rename nlp/train trained`"),
        ("synth` first",),
    ),
    "a job moves to another team": Case(
        moved("nlp/train", "vision/train"), "run/job-gone", "jobs/nlp/train.yaml", UNTOLD
    ),
    "a job has a field that does not exist": Case(
        job(gpus=3), "spec/unknown-field", "jobs/nlp/train.yaml:10:1", UNTOLD
    ),
    "a job asks for more nodes than there are": Case(
        job(nodes=40), "spec/nodes", "jobs/nlp/train.yaml:", UNTOLD, ("synth` first",)
    ),
    "a quota falls below a run": Case(cluster(queues=LOW), "kq-max-quota", "platform/clusters/test.yaml", UNTOLD),
    "a queue is taken from a team": Case(
        cluster(queues={"research": {**FOR_BOTH["research"], "teams": ["vision"]}}),
        "spec/breaks-others",
        "platform/clusters/test.yaml",
        UNTOLD,
    ),
    "a cluster's file is unreadable": Case(
        lambda repo: repo.put("platform/clusters/test.yaml", "kubernetes: [\n"),
        "decode/syntax",
        "platform/clusters/test.yaml:2:1",
        UNTOLD,
    ),
    "a cluster's file is gone": Case(
        lambda repo: (repo.root / "platform/clusters/test.yaml").unlink(), "spec/unknown-cluster", "", UNTOLD
    ),
    "a team's file is unreadable": Case(
        lambda repo: repo.put("platform/teams/vision.yaml", "group: {\n"),
        "decode/syntax",
        "platform/teams/vision.yaml:2:1",
        UNTOLD,
    ),
    "live is no truth value": Case(
        lambda repo: repo.put("platform/repository.yaml", "live: maybe\nrepoURL: https://git.example.com/a.git\n"),
        "spec/type",
        "platform/repository.yaml:1:7",
        UNTOLD,
        ("live is false", "live changes"),
    ),
    "live is not said": Case(
        lambda repo: repo.put("platform/repository.yaml", "repoURL: https://git.example.com/a.git\n"),
        "spec/missing-field",
        "platform/repository.yaml:1:1",
        UNTOLD,
        ("live is false", "live changes"),
    ),
    "the settings are unreadable": Case(
        lambda repo: repo.put("platform/repository.yaml", "live: {\n"),
        "decode/syntax",
        "platform/repository.yaml:2:1",
        UNTOLD,
        ("live is false", "live changes"),
    ),
    "the settings are gone": Case(
        lambda repo: (repo.root / "platform/repository.yaml").unlink(),
        "spec/missing-file",
        "platform/repository.yaml",
        UNTOLD,
        ("live is false", "live changes"),
    ),
    "live is turned off": Case(
        lambda repo: rewrite(repo, repository={**REPOSITORY, "live": False}),
        "run/live",
        "platform/repository.yaml:1:7",
        ("live changes from true to false, but clusters still sync this repository", *UNTOLD),
        ("no cluster syncs this repository",),
    ),
    "an edit is reverted": Case(
        reverted(job(nodes=1)),
        "run/name-used",
        "jobs/nlp/train.yaml:1:1",
        (
            "cannot be merged, 1 error",
            "the effect of a merge is unknown",
            "brings back nlp/train-",
            "instead of train-",
        ),
        ("replaces", "it resumes", "unchanged"),
    ),
    "a retirement is reverted": Case(
        reverted(retired),
        "run/name-used",
        "jobs/nlp/train.yaml:1:1",
        ("the effect of a merge is unknown", "brings back nlp/train-"),
        ("starts nlp/train", "unchanged"),
    ),
    "a frozen file is edited": Case(
        edited,
        "run/frozen",
        "generated/test/runs/nlp/train-",
        ("which is refused: the run is frozen",),
        ("2 unchanged",),
    ),
    "a frozen file is gone": Case(
        lambda repo: frozen_file(repo).unlink(),
        "run/frozen",
        "generated/test/runs/nlp/train-",
        ("which is refused: the run is frozen",),
        ("2 unchanged",),
    ),
    "a ledger is rewritten": Case(
        ledger(lambda value: first_entry(value).update(version="9")),
        "run/ledger",
        "generated/test/ledger/nlp/train.json",
        (BEHIND,),
        (),
    ),
    "a ledger is damaged": Case(
        lambda repo: repo.put("generated/test/ledger/nlp/train.json", "{"),
        "run/ledger",
        "generated/test/ledger/nlp/train.json",
        (BEHIND,),
        ("stops",),
    ),
    "a hidden file is added": Case(
        lambda repo: repo.put("generated/test/runs/nlp/.trainyard-1-1.yaml", "kind: Job\n"),
        "run/foreign-file",
        "generated/test/runs/nlp/.trainyard-1-1.yaml",
        (),
        (),
    ),
    "a rendered file of the platform is edited": Case(
        lambda repo: repo.put("generated/test/platform/clusterqueue.research.yaml", "kind: ClusterQueue\n"),
        "run/stale",
        "generated",
        (BEHIND,),
        (),
    ),
    "a container is privileged": Case(
        job(containers=[{**SIDECAR, **ROOM}]),
        "core/security-context",
        "jobs/nlp/train.yaml:",
        (UNKNOWN, "[pod-security/privileged]"),
        (),
    ),
    "a volume is the node's": Case(
        job(volumes=HOST),
        "pod-security/",
        "jobs/nlp/train.yaml:",
        (UNKNOWN,),
        (),
    ),
    "a label is none": Case(
        job(labels={"example.com/who": "me & you"}), "meta/", "jobs/nlp/train.yaml:", (UNKNOWN,), ()
    ),
    "a container's image is named by tag, and nothing is rendered": Case(
        job(containers=[{**SIDECAR, **ROOM, "image": "registry.example.com/agent:v1", "securityContext": {}}]),
        "sec-digest",
        "jobs/nlp/train.yaml:",
        (UNKNOWN,),
        (),
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_a_plan_of_a_change_that_is_refused_fails(repo: Repo, case: Case) -> None:
    """It leads with what refuses the change and where, exits with 1, and says nothing that is not so."""
    case.change(repo)
    done = trainyard(repo.root, "plan", "--base", "main")
    assert done.returncode == 1, done.stdout
    assert done.stdout.startswith("cannot be merged, "), done.stdout
    block = done.stdout.partition("\ncompared with ")[0]
    found = [line for line in block.splitlines() if f"[{case.rule}" in line]
    assert found, done.stdout
    assert any(re.match(re.escape(case.place), line) for line in found), done.stdout
    assert all(said in done.stdout for said in case.says), done.stdout
    assert not any(said in done.stdout for said in case.never), done.stdout
    assert ": error: " not in done.stderr


def passing(repo: Repo, change: Callable[[Repo], object]) -> Done:
    """Return the plan of a change that nothing stands against."""
    change(repo)
    done = trainyard(repo.root, "plan", "--base", "main")
    assert done.returncode == 0, done.stdout
    assert "\ncompared with " in done.stdout
    assert "cannot be merged" not in done.stdout
    return done


def test_a_plan_of_what_may_be_merged_passes(repo: Repo) -> None:
    """Rendered, an edit is what it was before: a replacement, and nothing is refused."""
    said = passing(repo, rendered(job(nodes=1))).stdout
    assert "replaces nlp/train-" in said
    assert "runs: 1 replaced, 1 unchanged; other objects: none changed" in said


def test_a_job_with_a_waiver_passes(repo: Repo) -> None:
    """What validate lets pass for a reason is not refused by a plan either."""
    chosen = {"env": {"CUDA_VISIBLE_DEVICES": "0"}, "waive": {"gpu-visible-devices": "the program counts by itself"}}
    assert "replaces nlp/train-" in passing(repo, rendered(job(**chosen))).stdout


def test_going_live_says_that_every_run_starts(tmp_path: Path) -> None:
    """What was rendered long before starts when clusters begin to sync it."""
    repo = Repo(tmp_path / "repo")
    rewrite(repo, repository={**REPOSITORY, "live": False})
    synthesised(repo)
    repo.commit()
    repo.git("switch", "-qc", "work")
    said = passing(repo, rendered(rewrite)).stdout
    assert "live changes from false to true: once clusters sync this repository, all 2 runs start" in said
